//! Rules on the book: every chapter is reachable, and every Rust example in it runs.

use super::source::{Source, words};

/// What is wrong with the chapters, given the table of contents and the front page of the crate.
pub(super) fn violations(chapters: &[Source], summary: &str, front_page: &Source) -> Vec<String> {
    let linked = links(summary);
    let mut found = Vec::new();
    for chapter in chapters {
        let Some(path) = chapter.path.strip_prefix("docs/src/") else { continue };
        if path == "SUMMARY.md" {
            continue;
        }
        if !linked.contains(&path) {
            found.push(chapter.at(1, "SUMMARY.md does not name this chapter"));
        }
        let include = format!("include_str!(\"../{}\")", chapter.path);
        let fences = rust_fences(&chapter.text);
        if !fences.is_empty() && !front_page.text.contains(&include) {
            found.push(chapter.at(fences[0].0, &format!("src/lib.rs must run this by {include}")));
        }
        let ignored = |fence: &&(usize, &str)| words(fence.1, "ignore").next().is_some();
        let skipped = fences.iter().filter(ignored);
        found.extend(skipped.map(|&(line, _)| chapter.at(line, "an example that is ignored")));
    }
    for path in linked {
        if !chapters.iter().any(|chapter| chapter.path == format!("docs/src/{path}")) {
            found.push(format!("docs/src/SUMMARY.md: there is no chapter {path}"));
        }
    }
    found
}

/// The targets of `[title](target)`.
fn links(summary: &str) -> Vec<&str> {
    summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect()
}

/// The lines, counted from 1, that open a block of Rust.
fn rust_fences(text: &str) -> Vec<(usize, &str)> {
    let lines = (1..).zip(text.lines());
    lines.filter(|(_, line)| line.trim_start().starts_with("```rust")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUST: &str = "# A\n\n```rust\nassert!(true);\n```\n";

    fn check(chapters: &[(&str, &str)], summary: &str, front: &str) -> Vec<String> {
        let chapters: Vec<_> = chapters
            .iter()
            .map(|(path, text)| Source::new(&format!("docs/src/{path}"), text))
            .collect();
        violations(&chapters, summary, &Source::new("src/lib.rs", front))
    }

    #[test]
    fn chapters_are_named_and_names_lead_to_chapters() {
        assert_eq!(check(&[("a.md", "# A\n")], "- [A](a.md)\n", ""), [""; 0]);
        assert_eq!(check(&[("b/a.md", "# A\n")], "- [A](a.md)\n", "").len(), 2);
        assert_eq!(check(&[("SUMMARY.md", "")], "", ""), [""; 0]);
    }

    #[test]
    fn rust_in_a_chapter_is_run() {
        let found = check(&[("a.md", RUST)], "[A](a.md)", "//! Front.\n");
        assert_eq!(
            found,
            ["docs/src/a.md:3: src/lib.rs must run this by include_str!(\"../docs/src/a.md\")"]
        );
        let front = "#[doc = include_str!(\"../docs/src/a.md\")]\nmod a {}\n";
        assert_eq!(check(&[("a.md", RUST)], "[A](a.md)", front), [""; 0]);
        let ignored = RUST.replace("```rust", "```rust,ignore");
        assert_eq!(check(&[("a.md", &ignored)], "[A](a.md)", front).len(), 1);
    }
}
