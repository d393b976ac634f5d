//! The chapter on reading a plan shows what the program prints.

use std::fs;
use std::path::Path;

use super::{reshard, shell_words};

#[test]
fn the_chapter_shows_what_is_printed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src/how-to/read-a-plan.md");
    let chapter = fs::read_to_string(path).unwrap();
    let blocks: Vec<&str> = chapter
        .split("```console\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    assert!(blocks.len() > 2, "{} commands are shown", blocks.len());
    for block in blocks {
        let (command, shown) = block.split_once('\n').unwrap();
        let (fed, command) = match command.strip_prefix("$ echo ") {
            Some(piped) => piped.split_once(" | ").unwrap(),
            None => ("", command.strip_prefix("$ ").unwrap()),
        };
        let words = shell_words(command);
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let ran = reshard(&words, fed.trim_matches('\''));
        assert_eq!(ran.out + &ran.err, shown, "{command}");
    }
}
