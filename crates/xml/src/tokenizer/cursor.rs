//! Reading the pieces that all markup is made of.

use crate::error::{ErrorKind, LimitKind};
use crate::input::chars::{self, is, is_space};

/// Why something could not be read.
#[derive(Debug)]
pub enum Trouble {
    /// The bytes ended first. With more of them it may be read yet.
    Short,
    Bad(Box<Bad>),
}

/// What is wrong, at which byte.
#[derive(Debug)]
pub struct Bad {
    pub kind: ErrorKind,
    pub at: usize,
    pub message: String,
}

pub type Read<T> = Result<T, Trouble>;

#[cold]
pub fn bad<T>(kind: ErrorKind, at: usize, message: impl Into<String>) -> Read<T> {
    Err(Trouble::Bad(Box::new(Bad { kind, at, message: message.into() })))
}

/// A reference, as it stands.
#[derive(Debug, PartialEq, Eq)]
pub enum Reference {
    /// To a character, or to one of the five predefined entities.
    Char(char),
    /// To the general entity with the name at `start..end`.
    Entity { start: usize, end: usize },
}

/// A place in bytes that are whole characters.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
    /// The longest name.
    pub name_limit: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8], at: usize, name_limit: usize) -> Cursor<'a> {
        Cursor { bytes, at, name_limit }
    }

    #[inline]
    pub fn peek(&self) -> Read<u8> {
        self.bytes.get(self.at).copied().ok_or(Trouble::Short)
    }

    /// The character here, for a message.
    pub fn shown(&self) -> String {
        match self.bytes.get(self.at) {
            Some(_) => format!("{:?}", chars::decode(self.bytes, self.at).0),
            None => "the end".into(),
        }
    }

    /// Passes over white space. Whether there was any.
    #[inline]
    pub fn space(&mut self) -> Read<bool> {
        let from = self.at;
        while is_space(self.peek()?) {
            self.at += 1;
        }
        Ok(self.at > from)
    }

    pub fn require_space(&mut self, place: &str) -> Read<()> {
        if !is_space(self.peek()?) {
            return bad(ErrorKind::Syntax, self.at, format!("white space expected {place}, not {}", self.shown()));
        }
        self.space()?;
        Ok(())
    }

    /// Passes over `byte`, or says what it should have been.
    pub fn expect(&mut self, byte: u8, place: &str) -> Read<()> {
        if self.peek()? != byte {
            return bad(ErrorKind::Syntax, self.at, format!("'{}' expected {place}, not {}", byte as char, self.shown()));
        }
        self.at += 1;
        Ok(())
    }

    /// Passes over `word` if it stands here. `Short` only when what is there could become it.
    pub fn word(&mut self, word: &[u8]) -> Read<bool> {
        let here = &self.bytes[self.at.min(self.bytes.len())..];
        if here.starts_with(word) {
            self.at += word.len();
            return Ok(true);
        }
        if here.len() < word.len() && word.starts_with(here) { Err(Trouble::Short) } else { Ok(false) }
    }

    /// Passes over a name. Its beginning.
    #[inline]
    pub fn name(&mut self, what: &str) -> Read<usize> {
        let start = self.at;
        let first = self.peek()?;
        if first < 0x80 {
            if !is(first, chars::NAME_START) {
                return self.no_name(what);
            }
        } else if !chars::is_name_start(chars::decode(self.bytes, start).0) {
            return self.no_name(what);
        }
        self.name_characters(start)?;
        Ok(start)
    }

    #[cold]
    fn no_name(&self, what: &str) -> Read<usize> {
        bad(ErrorKind::Name, self.at, format!("{} can't begin the name of {what}", self.shown()))
    }

    /// Passes over a name token (production [7]). Its beginning.
    pub fn token(&mut self, what: &str) -> Read<usize> {
        let start = self.at;
        self.name_characters(start)?;
        if self.at == start {
            return bad(ErrorKind::Name, start, format!("{} can't stand in {what}", self.shown()));
        }
        Ok(start)
    }

    #[inline]
    fn name_characters(&mut self, start: usize) -> Read<()> {
        let limit = start.saturating_add(self.name_limit);
        let bytes = &self.bytes[..self.bytes.len().min(limit)];
        loop {
            let Some(&b) = bytes.get(self.at) else {
                // A character can stand across the limit.
                if self.at < limit || (self.at == limit && self.bytes.len() <= limit) {
                    return Err(Trouble::Short);
                }
                if self.at == limit && !self.more_name() {
                    return Ok(());
                }
                return bad(
                    ErrorKind::Limit(LimitKind::Name),
                    start,
                    format!("a name is longer than {} bytes (limit name)", self.name_limit),
                );
            };
            if b < 0x80 {
                if !is(b, chars::NAME) {
                    return Ok(());
                }
                self.at += 1;
            } else {
                let (c, len) = chars::decode(self.bytes, self.at);
                if !chars::is_name_char(c) {
                    return Ok(());
                }
                self.at += len;
            }
        }
    }

    fn more_name(&self) -> bool {
        chars::is_name_char(chars::decode(self.bytes, self.at).0)
    }

    /// A literal in quotes: where what stands between them begins and ends.
    pub fn literal(&mut self, what: &str) -> Read<(usize, usize)> {
        let quote = self.peek()?;
        if !matches!(quote, b'"' | b'\'') {
            return bad(ErrorKind::Syntax, self.at, format!("a quote expected before {what}, not {}", self.shown()));
        }
        let start = self.at + 1;
        let len = memchr::memchr(quote, &self.bytes[start..]).ok_or(Trouble::Short)?;
        self.at = start + len + 1;
        Ok((start, start + len))
    }

    /// `=` with white space around it.
    pub fn equals(&mut self, place: &str) -> Read<()> {
        self.space()?;
        self.expect(b'=', place)?;
        self.space()?;
        Ok(())
    }

    /// The reference that begins here with `&`.
    #[inline]
    pub fn reference(&mut self) -> Read<Reference> {
        let start = self.at;
        self.at += 1;
        if self.peek()? == b'#' {
            return self.character_reference(start);
        }
        let first = self.peek()?;
        if first < 0x80 && !is(first, chars::NAME_START) {
            return bad(ErrorKind::Reference, start, "'&' begins no reference; text that holds one writes &amp;");
        }
        let name = match self.name("an entity") {
            Err(Trouble::Bad(b)) if b.kind == ErrorKind::Name => {
                return bad(ErrorKind::Reference, start, "'&' begins no reference; text that holds one writes &amp;");
            }
            other => other?,
        };
        let end = self.at;
        if self.peek()? != b';' {
            return bad(ErrorKind::Reference, start, format!("';' expected at the end of the reference, not {}", self.shown()));
        }
        self.at += 1;
        Ok(match predefined(&self.bytes[name..end]) {
            Some(c) => Reference::Char(c),
            None => Reference::Entity { start: name, end },
        })
    }

    fn character_reference(&mut self, start: usize) -> Read<Reference> {
        self.at += 1;
        let hex = self.peek()? == b'x';
        if hex {
            self.at += 1;
        }
        let first = self.at;
        let mut value = 0u32;
        loop {
            let b = self.peek()?;
            let digit = match b {
                b'0'..=b'9' => b - b'0',
                b'a'..=b'f' if hex => b - b'a' + 10,
                b'A'..=b'F' if hex => b - b'A' + 10,
                b';' if self.at > first => break,
                _ => {
                    return bad(ErrorKind::Reference, start, format!("{} can't stand in a character reference", self.shown()));
                }
            };
            value = value.saturating_mul(if hex { 16 } else { 10 }).saturating_add(digit as u32);
            self.at += 1;
            if self.at - start > self.name_limit {
                let message = format!("a reference is longer than {} bytes (limit name)", self.name_limit);
                return bad(ErrorKind::Limit(LimitKind::Name), start, message);
            }
        }
        self.at += 1;
        match char::from_u32(value).filter(|_| chars::is_char(value)) {
            Some(c) => Ok(Reference::Char(c)),
            None => bad(ErrorKind::Reference, start, "a reference to a character that XML does not allow"),
        }
    }
}

/// The five entities that need no declaration.
pub fn predefined(name: &[u8]) -> Option<char> {
    match name {
        b"lt" => Some('<'),
        b"gt" => Some('>'),
        b"amp" => Some('&'),
        b"quot" => Some('"'),
        b"apos" => Some('\''),
        _ => None,
    }
}
