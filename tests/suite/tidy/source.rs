//! Rust files as text, and the same text with comments and literals blanked out.

use std::fs;
use std::path::Path;

/// One file of the repository.
pub(super) struct Source {
    /// From the root of the repository, parted by `/`.
    pub path: String,
    pub text: String,
    /// The text without what stands in comments, strings and character literals, line by line.
    pub code: String,
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        Self { path: path.to_owned(), text: text.to_owned(), code: code_of(text) }
    }

    /// Whether the file lies under a folder.
    pub(super) fn under(&self, folder: &str) -> bool {
        self.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    }

    /// What is wrong on a line, counted from 1.
    pub(super) fn at(&self, line: usize, what: &str) -> String {
        format!("{}:{line}: {what}", self.path)
    }
}

/// Every file with this ending under a folder of the repository, sorted by path; none if there is no
/// such folder.
pub(super) fn read_all(folder: &str, ending: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    collect(&root.join(folder), &mut paths);
    paths.sort();
    let wanted = paths.iter().filter(|path| path.ends_with(ending));
    wanted.map(|path| Source::new(relative(path), &fs::read_to_string(path).unwrap())).collect()
}

fn collect(folder: &Path, paths: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(&path, paths);
        } else {
            paths.push(path.to_str().unwrap().to_owned());
        }
    }
}

fn relative(path: &str) -> &str {
    path.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap().trim_start_matches('/')
}

/// Whether a name could go on with this character.
pub(super) fn in_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The line, counted from 1, of a byte of the text.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

/// Byte offsets at which a word stands by itself: no letter, digit or `_` before it, nor after it if
/// it ends in one.
pub(super) fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    text.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let starts = !text[..at].ends_with(in_name);
        let goes_on = word.ends_with(in_name) && text[at + word.len()..].starts_with(in_name);
        starts && !goes_on
    })
}

/// The text with every comment and literal turned into blanks; lines stay where they are.
fn code_of(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = match comment_len(rest).or_else(|| literal_len(rest)) {
            Some(len) => {
                code.extend(rest[..len].chars().map(|c| if c == '\n' { c } else { ' ' }));
                len
            }
            None => {
                let name = rest.find(|c| !in_name(c)).unwrap_or(rest.len());
                let len = name.max(first.len_utf8());
                code.push_str(&rest[..len]);
                len
            }
        };
        rest = &rest[len..];
    }
    code
}

fn comment_len(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let mut open = usize::from(text.starts_with("/*"));
    let mut at = 2;
    while open > 0 && at < text.len() {
        let rest = &text.as_bytes()[at..];
        let step = if rest.starts_with(b"/*") { 1 } else { -isize::from(rest.starts_with(b"*/")) };
        open = open.checked_add_signed(step).unwrap();
        at += 1 + step.unsigned_abs();
    }
    text.starts_with("/*").then_some(at)
}

fn literal_len(text: &str) -> Option<usize> {
    let prefix = ["br", "cr", "r", "b", "c", ""].into_iter().find(|&prefix| {
        let rest = text.strip_prefix(prefix).unwrap_or_default();
        rest.starts_with(['"', '\'']) || prefix.ends_with('r') && rest.starts_with('#')
    })?;
    let body = &text[prefix.len()..];
    let len = if prefix.ends_with('r') {
        raw_len(body)
    } else if body.starts_with('"') {
        escaped_len(body, '"')
    } else {
        char_len(body)
    };
    len.map(|len| prefix.len() + len)
}

/// `"…"` or `#"…"#`
fn raw_len(body: &str) -> Option<usize> {
    let hashes = body.len() - body.trim_start_matches('#').len();
    let inside = body[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", &body[..hashes]);
    Some(hashes + 1 + inside.find(&close)? + close.len())
}

/// `'a'` or `'\n'`, but no lifetime.
fn char_len(body: &str) -> Option<usize> {
    let mut chars = body.chars().skip(1);
    match (chars.next()?, chars.next()) {
        ('\\', _) => escaped_len(body, '\''),
        (c, Some('\'')) => Some(2 + c.len_utf8()),
        _ => None,
    }
}

fn escaped_len(body: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in body.char_indices().skip(1) {
        if c == quote && !escaped {
            return Some(at + 1);
        }
        escaped = c == '\\' && !escaped;
    }
    None
}

#[test]
fn comments_and_literals_are_no_code() {
    let blank = |text| code_of(text).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(blank("a // unsafe\nb"), "a b");
    assert_eq!(blank("a /* x /* y */ z */ b"), "a b");
    assert_eq!(blank(r#"f("un\"safe") + g"#), "f( ) + g");
    assert_eq!(blank("f(r#\"a \" b\"#, br\"c\\\", b\"d\")"), "f( , , )");
    assert_eq!(blank(r"x == '\'' || y == '\u{e9}' || z == 'é'"), "x == || y == || z ==");
    assert_eq!(
        blank("fn f<'a>(x: &'a str) -> &'static str"),
        "fn f<'a>(x: &'a str) -> &'static str"
    );
    assert_eq!(blank("r#unsafe(b'x', bar, c)"), "r#unsafe( , bar, c)");
    assert_eq!(code_of("\"two\nlines\"\nc").lines().count(), 3);
}

#[test]
fn words_stand_alone() {
    let found = |text, word| words(text, word).collect::<Vec<_>>();
    assert_eq!(found("unsafe_code unsafe {", "unsafe"), [12]);
    assert_eq!(found("eprintln!() println!()", "println!"), [12]);
}
