//! The command line `reshard`: plans printed before a byte moves, and tensors carried on threads.

mod elements;
mod execute;
mod failure;
mod input;
mod limits;
mod line;
mod output;
mod plan;
mod run;
mod trace;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use failure::Failure;

/// Placement and redistribution of distributed tensors.
///
/// Say on which ranks a tensor lives, where it is and where it is needed; a plan of few collectives
/// is found, shown beside the least that any plan could move, and run.
#[derive(Parser)]
#[command(name = "reshard", version, after_long_help = include_str!("notation.txt"))]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Plan(plan::PlanArguments),
    Run(run::RunArguments),
}

fn main() -> ExitCode {
    let given: Vec<OsString> = std::env::args_os().collect();
    let done = match Arguments::try_parse_from(&given) {
        Ok(Arguments { command: Command::Plan(arguments) }) => plan::plan(&arguments),
        Ok(Arguments { command: Command::Run(arguments) }) => run::run(&arguments),
        Err(error) => Ok(misread(&error, &given)),
    };
    match done {
        Ok(code) => code,
        // Whoever read the output has read enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: the output cannot be written: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Help and versions are answers; anything else is an error, in JSON where JSON is asked for.
fn misread(error: &clap::Error, given: &[OsString]) -> ExitCode {
    let is_answer = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if is_answer || !wants_json(given) {
        // An answer that nobody can read is no failure.
        let _ = error.print();
        return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
    }
    let text = error.to_string();
    let message = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
    let _ = writeln!(io::stdout(), "{}", Failure::new("usage", message).json());
    ExitCode::from(2)
}

fn wants_json(given: &[OsString]) -> bool {
    let pair = |pair: &[OsString]| pair[0] == "--format" && pair[1] == "json";
    given.iter().any(|argument| argument == "--format=json") || given.windows(2).any(pair)
}
