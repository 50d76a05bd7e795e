//! The end of an unfinished token, searched as its bytes come in.
//!
//! A token is read when it is whole. The first try usually succeeds; when it doesn't, `scan` remembers how far the
//! token's end was searched, and reading is tried again only when the search found one: each byte is looked at once here
//! and once by the reader, however small the pieces.

use crate::input::chars::{self, is};
use crate::tokenizer::Tokenizer;
use crate::tokenizer::cursor::{Read, Trouble};
use crate::tokenizer::finder::Finder;

/// How far the end of an unfinished token of the buffer was searched: up to the index.
#[derive(Clone, Debug)]
pub(crate) enum Scan {
    Nothing,
    /// `>` outside quotes, or a `<`.
    Tag(usize, u8),
    /// `>`
    EndTag(usize),
    /// `--`
    Comment(usize),
    /// `?>`
    Instruction(usize),
    Doctype(usize, Finder),
    /// A byte that can't stand in a reference.
    Reference(usize),
    Text(usize),
}

impl Scan {
    /// The buffer lost that many bytes at its beginning.
    pub fn shift(&mut self, gone: usize) {
        match self {
            Scan::Nothing => {}
            Scan::Tag(at, _)
            | Scan::EndTag(at)
            | Scan::Comment(at)
            | Scan::Instruction(at)
            | Scan::Doctype(at, _)
            | Scan::Reference(at)
            | Scan::Text(at) => *at -= gone,
        }
    }
}

impl Tokenizer {
    /// Whether an unfinished token was found not to end in what came since: most calls, when the pieces are small.
    #[inline]
    pub(crate) fn still_waiting(&mut self) -> bool {
        if matches!(self.scan, Scan::Nothing) || self.input.is_last() || !self.frames.is_empty() {
            return false;
        }
        match self.scan {
            Scan::Nothing => false,
            Scan::Text(at) => {
                let end = self.input.end;
                let grown = at < end && !self.in_cdata && self.scratch.is_empty();
                if grown && end - self.pos < self.options.limits.text_piece && self.input.stop(at) == end {
                    self.scan = Scan::Text(end);
                    return true;
                }
                at == end
            }
            _ => self.input.end - self.pos <= self.cap.0 && !self.search(),
        }
    }

    /// Whether reading a token that was found unfinished is worth another try. `fresh` is the search for its end from its
    /// beginning.
    pub(crate) fn ready(&mut self, fresh: Scan) -> Read<()> {
        if !self.frames.is_empty() {
            return Ok(());
        }
        let first = matches!(self.scan, Scan::Nothing | Scan::Text(_));
        if first {
            // Usually it is whole; the search begins at the next call.
            self.scan = fresh;
            return Ok(());
        }
        let end = self.input.end;
        if self.search() || self.input.is_last() || end - self.pos > self.cap.0 { Ok(()) } else { Err(Trouble::Short) }
    }

    /// Goes on searching. Whether it found an end.
    fn search(&mut self) -> bool {
        let bytes = self.input.bytes();
        match &mut self.scan {
            Scan::Nothing | Scan::Text(_) => return true,
            Scan::Tag(at, quote) => loop {
                let rest = &bytes[*at..];
                if *quote != 0 {
                    match memchr::memchr2(*quote, b'<', rest) {
                        None => break,
                        Some(i) if rest[i] == b'<' => return true,
                        Some(i) => {
                            *at += i + 1;
                            *quote = 0;
                        }
                    }
                } else {
                    match rest.iter().position(|b| matches!(b, b'>' | b'<' | b'"' | b'\'')) {
                        None => break,
                        Some(i) if matches!(rest[i], b'"' | b'\'') => {
                            *at += i + 1;
                            *quote = rest[i];
                        }
                        Some(_) => return true,
                    }
                }
            },
            Scan::EndTag(at) => {
                if memchr::memchr(b'>', &bytes[*at..]).is_some() {
                    return true;
                }
            }
            Scan::Comment(at) => {
                if memchr::memmem::find(&bytes[*at..], b"--").is_some_and(|i| *at + i + 2 < bytes.len()) {
                    return true;
                }
            }
            Scan::Instruction(at) => {
                if memchr::memmem::find(&bytes[*at..], b"?>").is_some() {
                    return true;
                }
            }
            Scan::Doctype(at, finder) => {
                if finder.find(&bytes[*at..]).is_some() {
                    return true;
                }
            }
            Scan::Reference(at) => {
                let stays = |&b: &u8| b >= 0x80 || b == b'#' || is(b, chars::NAME);
                if !bytes[*at..].iter().all(stays) {
                    return true;
                }
            }
        }
        let end = self.input.end;
        match &mut self.scan {
            // Two bytes can be the first of the three that are looked for.
            Scan::Comment(at) => *at = (*at).max(end.saturating_sub(2)),
            Scan::Instruction(at) => *at = (*at).max(end.saturating_sub(1)),
            Scan::Tag(at, _) | Scan::EndTag(at) | Scan::Doctype(at, _) | Scan::Reference(at) => *at = end,
            Scan::Nothing | Scan::Text(_) => {}
        }
        false
    }
}
