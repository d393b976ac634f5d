//! Rules on single files.

use super::source::{Source, line_of, words};

const MAX_LINES: usize = 600;

/// Every file says what it is for, and is short enough to be read.
pub(super) fn shape(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    if !source.text.starts_with("//! ") {
        found.push(source.at(1, "the first line must be `//!` and say what the file is for"));
    }
    let lines = source.text.lines().count();
    if lines > MAX_LINES {
        found.push(source.at(lines, &format!("{lines} lines; {MAX_LINES} is the limit")));
    }
    found
}

/// Nothing is left undone and no test is skipped, in code or in the examples of doc comments.
pub(super) fn unfinished(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    for word in ["todo!", "unimplemented!", "#[ignore"] {
        forbid(source, word, "is not allowed", &mut found);
    }
    for (index, line) in source.text.lines().enumerate() {
        let comment = line.trim_start().starts_with("//");
        let fence = line.split_once("```").map_or("", |(_, fence)| fence);
        if comment && words(fence, "ignore").next().is_some() {
            found.push(source.at(index + 1, "an example that is ignored proves nothing"));
        }
    }
    found
}

/// What the library itself must not contain, by folder.
pub(super) fn forbidden(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    for word in ["HashMap", "HashSet"] {
        forbid(source, word, "iterates in another order on every rank", &mut found);
    }
    forbid(source, "#[path", "hides which room a file is in", &mut found);
    if !source.under("src/mem") && !source.under("src/comm") {
        forbid(source, "unsafe", "belongs in mem and comm", &mut found);
    }
    if !source.under("src/comm") && !source.under("src/bin") {
        for word in ["Instant::now", "SystemTime"] {
            forbid(
                source,
                word,
                "reads a clock, which only comm and the command line may",
                &mut found,
            );
        }
    }
    if !source.under("src/bin") {
        for word in ["println!", "eprintln!", "print!", "eprint!", "dbg!"] {
            forbid(source, word, "prints, which only the command line may", &mut found);
        }
    }
    found
}

/// `SmallVec` is a detail: no public signature shows it.
pub(super) fn small_vec_in_public(source: &Source) -> Vec<String> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in source.code.split_inclusive('\n') {
        if line.trim_start().starts_with("pub ") || words(line, "pub SmallVec").next().is_some() {
            let item = signature(&source.code[start..]);
            if words(item, "SmallVec").next().is_some() {
                let line = line_of(&source.code, start);
                found.push(source.at(line, "a public signature shows `SmallVec`"));
            }
        }
        start += line.len();
    }
    found
}

/// From the start of a public item, what its users see of it first: up to the body, the end of the
/// item or field, or the private fields of a tuple.
fn signature(code: &str) -> &str {
    let (mut nested, mut end) = (0usize, code.len());
    let tuple = ["pub struct ", "pub enum "].iter().any(|word| code.trim_start().starts_with(word));
    for (at, c) in code.char_indices() {
        match c {
            '(' if tuple && nested == 0 && !code[at..].starts_with("(pub ") => end = at,
            '(' | '[' | '<' => nested += 1,
            '>' if code[..at].ends_with('-') => {}
            ')' | ']' | '>' => nested = nested.saturating_sub(1),
            '{' | ';' | ',' if nested == 0 => end = at,
            _ => {}
        }
        if end <= at {
            break;
        }
    }
    &code[..end]
}

fn forbid(source: &Source, word: &str, why: &str, found: &mut Vec<String>) {
    for at in words(&source.code, word) {
        found.push(source.at(line_of(&source.code, at), &format!("`{word}` {why}")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(rule: fn(&Source) -> Vec<String>, path: &str, text: &str) -> Vec<usize> {
        let line = |what: String| what.split(':').nth(1).unwrap().parse().unwrap();
        rule(&Source::new(path, text)).into_iter().map(line).collect()
    }

    #[test]
    fn a_file_starts_with_its_purpose_and_ends_in_time() {
        assert_eq!(lines(shape, "src/a.rs", "//! A.\nfn a() {}\n"), [0; 0]);
        assert_eq!(lines(shape, "src/a.rs", "// A.\nfn a() {}\n"), [1]);
        let long = format!("//! A.\n{}", "\n".repeat(MAX_LINES));
        assert_eq!(lines(shape, "src/a.rs", &long), [MAX_LINES + 1]);
        assert_eq!(lines(shape, "src/a.rs", &long[..long.len() - 1]), [0; 0]);
    }

    #[test]
    fn unfinished_work_is_found_in_code_only() {
        let text = "#[test]\n#[ignore = \"slow\"]\nfn a() {\n    todo!()\n}\n// todo! or not\n";
        assert_eq!(lines(unfinished, "tests/a.rs", text), [4, 2]);
        assert_eq!(lines(unfinished, "src/a.rs", "/// ```rust,ignore\n/// ```\n"), [1]);
        assert_eq!(lines(unfinished, "src/a.rs", "/// ```\n/// let ignore = 1;\n"), [0; 0]);
    }

    #[test]
    fn words_are_forbidden_by_folder() {
        let unsafe_block = "// unsafe here\nlet x = unsafe { read(\"unsafe\") };\n";
        assert_eq!(lines(forbidden, "src/plan/mod.rs", unsafe_block), [2]);
        assert_eq!(lines(forbidden, "src/mem/copy.rs", unsafe_block), [0; 0]);
        assert_eq!(lines(forbidden, "src/memory/copy.rs", unsafe_block), [2]);
        assert_eq!(lines(forbidden, "src/mesh/mod.rs", "#![allow(unsafe_code)]\n"), [0; 0]);
        let clock = "let now = std::time::Instant::now();\n";
        assert_eq!(lines(forbidden, "src/plan/mod.rs", clock), [1]);
        assert_eq!(lines(forbidden, "src/comm/mod.rs", clock), [0; 0]);
        assert_eq!(lines(forbidden, "src/bin/reshard/trace.rs", clock), [0; 0]);
        let print = "/// println!(\"x\")\nfn f() { println!(\"y\") }\n";
        assert_eq!(lines(forbidden, "src/plan/mod.rs", print), [2]);
        assert_eq!(lines(forbidden, "src/bin/reshard/main.rs", print), [0; 0]);
        assert_eq!(
            lines(forbidden, "src/bin/reshard/main.rs", "use std::collections::HashMap;"),
            [1]
        );
    }

    #[test]
    fn small_vec_shows_only_in_public_signatures() {
        let found = |text| lines(small_vec_in_public, "src/a.rs", text);
        assert_eq!(found("pub fn a(x: [u8; 4]) -> SmallVec<[u8; 4]> {\n}\n"), [1]);
        assert_eq!(found("\npub fn a(\n    x: &SmallVec<[u8; 4]>,\n) {\n}\n"), [2]);
        assert_eq!(found("pub fn a() {\n    let x: SmallVec<[u8; 4]> = b();\n}\n"), [0; 0]);
        assert_eq!(found("pub(crate) fn a() -> SmallVec<[u8; 4]> {}\n"), [0; 0]);
        assert_eq!(found("pub struct A(SmallVec<[u8; 4]>);\n"), [0; 0]);
        assert_eq!(found("pub struct A(pub SmallVec<[u8; 4]>);\n"), [1]);
        assert_eq!(
            found("pub struct A {\n    pub b: usize,\n    c: SmallVec<[u8; 4]>,\n}\n"),
            [0; 0]
        );
        assert_eq!(found("pub struct A {\n    pub c: SmallVec<[u8; 4]>,\n}\n"), [2]);
        assert_eq!(found("pub type A = SmallVec<[u8; 4]>;\n"), [1]);
    }
}
