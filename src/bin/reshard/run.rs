//! `reshard run`: carries tensors on threads, one a line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use crate::execute::execute;
use crate::line::Case;
use crate::trace::Trace;

/// Carry tensors from layout to layout on threads, one for each line of a file
///
/// Each line is a JSON object, and is answered by one line; blank lines are passed over. A line that
/// cannot be carried out is answered by {"error": {"kind", "message"}}, and the next line is read: the
/// exit code is 0 all the same. It is 2 if the file cannot be read, or that of `--trace` not be written.
#[derive(Args)]
#[command(after_long_help = include_str!("lines.txt"))]
pub(crate) struct RunArguments {
    /// The file, or `-` for standard input
    file: PathBuf,
    /// Write what every rank did, and for how long, to a file that trace viewers open
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

pub(crate) fn run(arguments: &RunArguments) -> io::Result<ExitCode> {
    let file = &arguments.file;
    let opened: io::Result<Box<dyn BufRead>> = if file.as_os_str() == "-" {
        Ok(Box::new(io::stdin().lock()))
    } else {
        File::open(file).map(|file| Box::new(BufReader::new(file)) as Box<dyn BufRead>)
    };
    let mut input = match opened {
        Ok(input) => input,
        Err(error) => return unreadable(file, &error),
    };
    let mut trace = match arguments.trace.as_deref().map(|path| (path, Trace::start(path))) {
        None => None,
        Some((_, Ok(trace))) => Some(trace),
        Some((path, Err(error))) => return unwritable(path, &error),
    };
    let code = answer_lines(file, &mut *input, trace.as_mut())?;
    trace.map_or(Ok(()), Trace::finish)?;
    Ok(code)
}

/// Answers line by line.
fn answer_lines(
    file: &Path,
    input: &mut dyn BufRead,
    mut trace: Option<&mut Trace>,
) -> io::Result<ExitCode> {
    let mut out = io::stdout().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        match input.read_until(b'\n', &mut line) {
            Ok(0) => return Ok(ExitCode::SUCCESS),
            Ok(_) => {}
            Err(error) => return unreadable(file, &error),
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let case = Case::read(&line);
        let world_len = case.as_ref().map_or(0, |case| case.world_len);
        let answer = case.and_then(|case| execute(&case));
        writeln!(out, "{}", answer.unwrap_or_else(|failure| failure.json()))?;
        out.flush()?;
        if let Some(trace) = &mut trace {
            trace.write(world_len)?;
        }
    }
}

fn unwritable(path: &Path, error: &io::Error) -> io::Result<ExitCode> {
    writeln!(io::stderr(), "error: {} cannot be written: {error}", path.display())?;
    Ok(ExitCode::from(2))
}

fn unreadable(file: &Path, error: &io::Error) -> io::Result<ExitCode> {
    writeln!(io::stderr(), "error: {} cannot be read: {error}", file.display())?;
    Ok(ExitCode::from(2))
}
