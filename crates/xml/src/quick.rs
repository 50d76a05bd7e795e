//! The usual things, cut out by the masks of the input alone: text without references, tags without prefixes.
//!
//! Whatever is unusual or not whole in the buffer is left, with nothing changed, to the full reading of it, which
//! also says what is wrong with it. Runs only while [`fast`](Tokenizer::fast) holds.

use crate::chars::{NAME_START, is, is_space};
use crate::namespaces::NONE;
use crate::open::WIDE;
use crate::tokenizer::{Attr, Token, Tokenizer};

/// The most attributes that are compared each with each.
const FEW: usize = 8;

impl Tokenizer {
    /// The usual things, when they are whole in the buffer; `Wait` for everything else.
    #[inline]
    pub(crate) fn quick(&mut self) -> Token {
        let pos = self.pos;
        let end = self.input.end;
        let bytes = self.input.padded();
        if pos >= end {
            return Token::Wait;
        }
        // `bytes` has padding behind `end`; what was read there is refused by a comparison with `end`.
        if bytes[pos] != b'<' {
            let stop = self.input.stop(pos);
            if stop < end && bytes[stop] == b'<' && stop - pos <= self.options.limits.text_piece {
                self.event = self.input.base + pos as u64;
                self.pos = stop;
                self.cdata = false;
                return Token::Text(pos, stop);
            }
            return Token::Wait;
        }
        let first = bytes[pos + 1];
        if first == b'/' {
            let after = self.open.pop_if(bytes, pos + 2, end);
            if after == 0 {
                return Token::Wait;
            }
            self.event = self.input.base + pos as u64;
            self.pos = after;
            return Token::End;
        }
        if !is(first, NAME_START) {
            return Token::Wait;
        }
        let stop = self.input.name_break(pos + 1);
        let len = stop - pos - 1;
        let limits = &self.options.limits;
        if stop >= end
            || len > limits.name.min(WIDE)
            || self.open.depth() >= limits.depth
            || self.open.names_len() + len + 2 > limits.tag_bytes
        {
            return Token::Wait;
        }
        self.attributes.clear();
        let (mut after, mut empty) = (stop + 1, false);
        if bytes[stop] != b'>' {
            (after, empty) = self.quick_attributes(stop);
            if after == 0 {
                return Token::Wait;
            }
        }
        let bytes = self.input.padded();
        let Some(name) = bytes[pos + 1..].first_chunk::<WIDE>() else { return Token::Wait };
        if !self.open.push_short(name, len, self.namespaces.default) {
            return Token::Wait;
        }
        self.event = self.input.base + pos as u64;
        self.pos = after;
        if empty {
            self.end_due = true;
            self.fast = false;
        }
        Token::Start
    }

    /// The attributes that follow the name which ends at `at`, when all are plain: names without prefixes, values without
    /// references, in the quotes that they don't hold. The index after the tag, or 0, and whether it is that of an empty element.
    #[inline(never)]
    fn quick_attributes(&mut self, at: usize) -> (usize, bool) {
        const LEFT: (usize, bool) = (0, false);
        let bytes = self.input.padded();
        let limits = &self.options.limits;
        // The tag must end before it.
        let end = self.input.end.min(self.pos.saturating_add(limits.tag_bytes));
        let most = limits.attributes.min(FEW);
        let (mut at, mut lengths) = (at, 0u64);
        loop {
            let before = at;
            while at < end && is_space(bytes[at]) {
                at += 1;
            }
            if at + 1 >= end {
                return LEFT;
            }
            match bytes[at] {
                b'>' => return (at + 1, false),
                b'/' if bytes[at + 1] == b'>' => return (at + 2, true),
                first if at > before && is(first, NAME_START) => {}
                _ => return LEFT,
            }
            let name = at;
            let stop = self.input.name_break(name);
            let (len, value) = (stop - name, stop + 2);
            if value >= end || bytes[stop] != b'=' || len > limits.name || self.attributes.len() >= most {
                return LEFT;
            }
            let quote = bytes[stop + 1];
            let close = self.input.mark(value);
            if close >= end || bytes[close] != quote || !matches!(quote, b'"' | b'\'') || bytes[name..stop] == *b"xmlns" {
                return LEFT;
            }
            // Usually no two names are even of one length.
            let bit = 1 << (len % 64);
            if lengths & bit != 0 && self.attributes.iter().any(|a| bytes[a.name.0..a.name.1] == bytes[name..stop]) {
                return LEFT;
            }
            lengths |= bit;
            self.attributes.push(Attr {
                name: (name, stop),
                local: 0,
                namespace: NONE,
                value: (value, close),
                composed: false,
                specified: true,
            });
            at = close + 1;
        }
    }
}
