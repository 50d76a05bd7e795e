//! A view of what comes next, for a caller who knows better than a tokeniser can what that will be.

use crate::error::Position;
use crate::tokenizer::Tokenizer;
use crate::tokenizer::search::Scan;

impl Tokenizer {
    /// What comes next, for a caller who guesses it: bytes from the current position that are allowed characters
    /// in UTF-8, with line ends normalised. Empty when they would not be content of an open element of the document
    /// itself, when an event is half read (a text node not at its beginning), or when the document type declares attributes
    /// (defaults could be missed).
    #[inline]
    pub fn lookahead(&self) -> Lookahead<'_> {
        if self.fast || self.is_clean() {
            Lookahead { padded: self.input.padded(), stops: self.input.stops(), pos: self.pos, end: self.input.end }
        } else {
            Lookahead { padded: self.input.padded(), stops: self.input.stops(), pos: self.input.end, end: self.input.end }
        }
    }

    /// The caller found the first `n` bytes of the lookahead to be balanced content (whole elements, comments, text
    /// that ends at the next `<`) and checked that they are well-formed: the next event is the one after them. An `n` that
    /// ends within a character is refused: nothing is accepted.
    #[inline]
    pub fn accept(&mut self, n: usize) {
        let n = n.min(self.input.end - self.pos);
        // Cutting a character would break the rule of `chars::text`.
        let whole = self.pos + n == self.input.end || self.input.padded()[self.pos + n] & 0xC0 != 0x80;
        if n > 0 && whole && (self.fast || self.is_clean()) {
            self.pos += n;
            self.event = self.input.base + self.pos as u64;
            self.scan = Scan::Nothing;
            self.fast = true;
        }
    }

    /// Nothing comes after what was taken in: the input is finished, or can't be read further.
    pub(crate) fn has_all(&self) -> bool {
        self.input.is_last()
    }

    /// [`accept`](Tokenizer::accept) for a caller who counted lines and columns: the place after the `n` bytes.
    pub(crate) fn accept_at(&mut self, n: usize, line: u64, column: u64) {
        let before = self.pos;
        self.accept(n);
        if self.pos == before + n {
            self.input.lines.know(Position { line, column, offset: self.input.base + self.pos as u64 });
        }
    }

    /// Where the byte `n` of the [`lookahead`](Tokenizer::lookahead) stands.
    pub fn position_ahead(&self, n: usize) -> Position {
        self.place(self.input.base + (self.pos + n) as u64)
    }
}

/// What [`Tokenizer::lookahead`] shows.
#[derive(Clone, Copy, Debug)]
pub struct Lookahead<'a> {
    pub(crate) padded: &'a [u8],
    pub(crate) stops: &'a [u64],
    /// The bytes shown are `padded[pos..end]`; at least [`PADDING`](crate::input::PADDING) that mean nothing follow.
    pub(crate) pos: usize,
    pub(crate) end: usize,
}

impl<'a> Lookahead<'a> {
    /// The bytes that were taken in and not read yet: whole characters of UTF-8.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        &self.padded[self.pos..self.end]
    }

    /// The index of the first `<`, `&` or `]` at or after `from`, or the length: faster than searching, because the
    /// tokeniser has looked for them already.
    #[inline]
    pub fn stop(&self, from: usize) -> usize {
        if from >= self.end - self.pos {
            return self.end - self.pos;
        }
        crate::input::next(self.stops, self.pos + from) - self.pos
    }
}

#[cfg(test)]
mod tests {
    use crate::{Event, Options, Tokenizer};

    #[test]
    fn no_character_is_cut() {
        let mut tokenizer = Tokenizer::new(Options::default());
        tokenizer.feed("<a>\u{e4}b</a>".as_bytes()).unwrap();
        assert!(matches!(tokenizer.next(), Ok(Some(Event::Start(_)))));
        assert_eq!(tokenizer.lookahead().bytes(), "\u{e4}b</a>".as_bytes());
        tokenizer.accept(1);
        assert_eq!(tokenizer.lookahead().bytes().len(), 7);
        tokenizer.accept(2);
        assert!(matches!(tokenizer.next(), Ok(Some(Event::Text("b")))));
        // Up to the end, and beyond it.
        tokenizer.accept(100);
        assert_eq!(tokenizer.lookahead().bytes(), b"");
    }
}
