//! A place in a text, and the words that every form is made of.

use super::ParseLayoutError;
use crate::mesh::{Axis, Mesh};

/// A place in a text. Every method first skips blanks.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The position of the next word.
    pub(super) fn start(&mut self) -> usize {
        self.at = self.text.len() - self.text[self.at..].trim_start().len();
        self.at
    }

    pub(super) fn peek(&mut self) -> Option<char> {
        let start = self.start();
        self.text[start..].chars().next()
    }

    /// Steps over the character if it is next.
    pub(super) fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.at += wanted.len_utf8();
        }
        found
    }

    /// Steps over the character; `what` says what could stand here.
    pub(super) fn expect(&mut self, wanted: char, what: &str) -> Result<(), ParseLayoutError> {
        if self.eat(wanted) { Ok(()) } else { Err(self.expected(what)) }
    }

    /// Nothing may follow; `what` says what could go on here.
    pub(super) fn expect_end(&mut self, what: &str) -> Result<(), ParseLayoutError> {
        match self.peek() {
            Some(_) => Err(self.expected(&format!("{what} or the end"))),
            None => Ok(()),
        }
    }

    /// A name by the rule for names of axes, or nothing.
    pub(super) fn name(&mut self) -> Option<&'a str> {
        let start = self.start();
        let rest = &self.text[start..];
        let letter = |c: char| c.is_alphabetic() || c == '_';
        if !rest.starts_with(letter) {
            return None;
        }
        let len = rest.find(|c| !letter(c) && !c.is_ascii_digit()).unwrap_or(rest.len());
        self.at += len;
        Some(&rest[..len])
    }

    /// The name of an axis of the mesh.
    pub(super) fn axis(&mut self, mesh: &Mesh) -> Result<Axis, ParseLayoutError> {
        let start = self.start();
        let name = self.name().ok_or_else(|| self.expected("the name of an axis"))?;
        mesh.axis(name).map_err(|unknown| self.error_at(start, unknown.to_string()))
    }

    pub(super) fn number(&mut self) -> Result<usize, ParseLayoutError> {
        let start = self.start();
        let digits = self.digits().ok_or_else(|| self.expected("a number"))?;
        digits.parse().map_err(|_| self.error_at(start, format!("{digits} is too large")))
    }

    /// A number that may be negative.
    pub(super) fn integer(&mut self) -> Result<isize, ParseLayoutError> {
        let start = self.start();
        let sign = if self.eat('-') { "-" } else { "" };
        let digits = self.digits().ok_or_else(|| self.expected("a number"))?;
        let number = format!("{sign}{digits}");
        number.parse().map_err(|_| self.error_at(start, format!("{number} is out of range")))
    }

    /// Numbers parted by commas, perhaps none.
    pub(super) fn numbers(&mut self) -> Result<Vec<usize>, ParseLayoutError> {
        let mut numbers = Vec::new();
        if self.peek().is_some_and(|c| c.is_ascii_digit()) {
            numbers.push(self.number()?);
            while self.eat(',') {
                numbers.push(self.number()?);
            }
        }
        Ok(numbers)
    }

    fn digits(&mut self) -> Option<&'a str> {
        let start = self.start();
        let rest = &self.text[start..];
        let len = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        self.at += len;
        (len > 0).then(|| &rest[..len])
    }

    /// The error that something else stands here than `what`.
    pub(super) fn expected(&mut self, what: &str) -> ParseLayoutError {
        let start = self.start();
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(c) => format!("`{}`", self.name().map_or_else(|| c.to_string(), str::to_owned)),
        };
        self.error_at(start, format!("expected {what}, found {found}"))
    }

    /// The same at an earlier place, whose word turned out wrong.
    pub(super) fn expected_at(&mut self, position: usize, what: &str) -> ParseLayoutError {
        self.at = position;
        self.expected(what)
    }

    pub(super) fn error_at(&self, position: usize, message: String) -> ParseLayoutError {
        ParseLayoutError { text: self.text.to_owned(), position, message }
    }
}
