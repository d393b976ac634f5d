//! What no compiler holds: who may use whom, what a file may contain, and that the book runs.

mod book;
mod rooms;
mod rules;
mod source;

use rooms::Exports;
use source::{Source, read_all};

/// Every room uses only rooms that its line of the table names.
#[test]
fn rooms_keep_to_their_arrows() {
    let front_page = front_page();
    let exports = Exports::of(&front_page);
    nothing_in(rooms::undeclared(&front_page));
    nothing_in(library().iter().flat_map(|source| rooms::violations(source, &exports)));
}

/// Every file of the repository says what it is for, is short, and leaves nothing undone.
#[test]
fn files_are_short_and_finished() {
    let folders = ["src", "tests", "examples", "benches"];
    let sources: Vec<Source> = folders.iter().flat_map(|folder| read_all(folder, ".rs")).collect();
    nothing_in(sources.iter().flat_map(rules::shape));
    nothing_in(sources.iter().flat_map(rules::unfinished));
}

/// Clocks, output, `unsafe` and hash-map order stay where they belong.
#[test]
fn the_library_contains_nothing_forbidden() {
    nothing_in(library().iter().flat_map(rules::forbidden));
}

/// A public signature uses `Vec`, slices and iterators.
#[test]
fn public_signatures_hide_small_vec() {
    nothing_in(library().iter().flat_map(rules::small_vec_in_public));
}

/// The book's contents are complete and its Rust examples are doc tests.
#[test]
fn the_book_is_whole() {
    let chapters = read_all("docs/src", ".md");
    let summary = chapters.iter().find(|page| page.path == "docs/src/SUMMARY.md");
    let summary = &summary.expect("the book has a table of contents").text;
    nothing_in(book::violations(&chapters, summary, &front_page()));
}

fn library() -> Vec<Source> {
    let sources = read_all("src", ".rs");
    assert!(sources.len() > 10, "only {} files were found under src", sources.len());
    sources
}

fn front_page() -> Source {
    let front_page = library().into_iter().find(|source| source.path == "src/lib.rs");
    front_page.expect("a library has a front page")
}

fn nothing_in(found: impl IntoIterator<Item = String>) {
    let found: Vec<String> = found.into_iter().collect();
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}
