//! The command line: what it answers, and how it says no.
#![cfg(feature = "cli")]

mod book;
mod plan;
mod run;
mod trace;
mod twins;

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

/// What a run of the program left behind.
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

/// Runs the program with this standard input.
fn reshard(arguments: &[&str], input: &str) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_reshard"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    // A program that does not read its input closes it.
    let _ = writer.join().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// The words of a command line as a shell parts them; quotes are single.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in line.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

#[test]
fn help_teaches_the_notation_by_examples_that_run() {
    for arguments in [&["--help"][..], &["plan", "--help"]] {
        let help = reshard(arguments, "");
        assert_eq!((help.code, help.err.as_str()), (Some(0), ""));
        for taught in ["S(0; seg=8,4,4)", "[dp.tp, -] + P(sum: pp)", "P(sum)", "Examples:"] {
            assert!(help.out.contains(taught), "{taught} in {}", help.out);
        }
        let joined = help.out.replace("\\\n", " ");
        let examples: Vec<&str> = joined
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("reshard plan -"))
            .collect();
        assert_eq!(examples.len(), 3, "{joined}");
        for example in examples {
            let words = shell_words(example);
            let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
            let ran = reshard(&words, "");
            assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{example}");
        }
    }
}

#[test]
fn help_of_run_names_every_field_and_kind() {
    let help = reshard(&["run", "--help"], "");
    assert_eq!(help.code, Some(0));
    for field in
        ["to_ranks", "world", "locals", "full", "intervals", "1024", "16777216", "\"kind\""]
    {
        assert!(help.out.contains(field), "{field} in {}", help.out);
    }
}

#[test]
fn a_command_line_that_cannot_be_read_is_an_error() {
    for arguments in [&[][..], &["fly"], &["plan"], &["run"], &["plan", "--shape"]] {
        let ran = reshard(arguments, "");
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ran.err.contains("--help"), "{arguments:?}: {}", ran.err);
    }
    for format in [&["--format=json"][..], &["--format", "json"]] {
        let ran = reshard(&[&["plan", "--mesh", "a=2"], format].concat(), "");
        assert_eq!((ran.code, ran.err.as_str()), (Some(2), ""));
        assert_eq!(ran.json()["error"]["kind"], "usage");
        assert!(ran.json()["error"]["message"].as_str().unwrap().contains("--shape"));
    }
}

#[test]
fn the_version_is_the_crates() {
    let ran = reshard(&["--version"], "");
    assert_eq!(ran.out, concat!("reshard ", env!("CARGO_PKG_VERSION"), "\n"));
}
