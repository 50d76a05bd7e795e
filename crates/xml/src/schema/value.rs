//! Typed values out of text, by the lexical rules of XML Schema 1.1 part 2: white space around a value is allowed,
//! everything else must be exactly as the type says (no underscores, no `0x`, no local number formats).
//!
//! Nothing is rounded silently: integers and decimals that don't fit 64 bits come as their digits.

mod date;
mod number;

pub use date::{Date, DateTime, date, date_time};
pub(crate) use number::plain_decimal;
pub use number::{Decimal, Integer, decimal, decimal_within, float, integer, integer_within};

use std::fmt;

/// Text that is no value of the type asked for. One word, so that results are small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueError(Box<Refusal>);

impl std::ops::Deref for ValueError {
    type Target = Refusal;

    fn deref(&self) -> &Refusal {
        &self.0
    }
}

/// What is wrong with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// With its article: "an integer".
    pub expected: &'static str,
    /// The text, shortened when it is long.
    pub found: String,
    /// What in particular is wrong with it, when that isn't plain.
    pub why: Option<&'static str>,
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {:?}", self.expected, self.found)?;
        match self.why {
            Some(why) => write!(f, ": {why}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ValueError {}

/// Characters of the text that an error quotes.
const QUOTED: usize = 40;

#[cold]
#[inline(never)]
fn refuse<T>(expected: &'static str, text: &[u8], why: Option<&'static str>) -> Result<T, ValueError> {
    // A character is at most four bytes: this much always holds the characters that are quoted.
    let text = String::from_utf8_lossy(&text[..text.len().min(4 * QUOTED + 4)]).into_owned();
    let found = match text.char_indices().nth(QUOTED) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    };
    Err(ValueError(Box::new(Refusal { expected, found, why })))
}

/// Without the white space around it (space, tab, line feed, carriage return).
#[inline]
pub fn trim(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\n' | b'\r', rest @ ..] = text {
        text = rest;
    }
    while let [rest @ .., b' ' | b'\t' | b'\n' | b'\r'] = text {
        text = rest;
    }
    text
}

/// An `xs:boolean`: `true`, `false`, `1` or `0`.
///
/// # Errors
/// The text is no such value: what is wrong with it.
pub fn boolean(text: &[u8]) -> Result<bool, ValueError> {
    match trim(text) {
        b"true" | b"1" => Ok(true),
        b"false" | b"0" => Ok(false),
        _ => refuse("a boolean (true, false, 1 or 0)", text, None),
    }
}
