//! A text that is not in the notation.

use std::fmt;

/// A text that is no placement or layout: where it goes wrong and what was expected there.
///
/// # Example
///
/// ```
/// use reshard::layout::Placement;
/// let error = "S(0; unit=x)".parse::<Placement>().unwrap_err();
/// assert_eq!(error.position, 10);
/// assert_eq!(error.to_string(), "expected a number, found `x`\n  S(0; unit=x)\n            ^");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ParseLayoutError {
    /// The whole text.
    pub text: String,
    /// The byte at which it goes wrong: the start of a character, or the length of the text.
    pub position: usize,
    /// What is wrong there.
    pub message: String,
}

/// The message, the line of the text, and a caret under the character.
impl fmt::Display for ParseLayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, after) = self.text.split_at(self.position);
        let before = before.rsplit('\n').next().unwrap_or_default();
        let after = after.split('\n').next().unwrap_or_default();
        let pad: String = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        write!(f, "{}\n  {before}{after}\n  {pad}^", self.message)
    }
}

impl std::error::Error for ParseLayoutError {}
