//! The usual things, cut out by the masks of the input alone: text without references, tags that declare no namespace
//! and refer to no entity.
//!
//! Whatever is unusual or not whole in the buffer is left, with nothing changed, to the full reading of it, which
//! also says what is wrong with it. Runs only while [`fast`](Tokenizer::fast) holds.

use crate::input::chars::{NAME_START, is, is_space};
use crate::tokenizer::dtd::Expander;
use crate::tokenizer::namespaces::{NONE, XMLNS};
use crate::tokenizer::open::WIDE;
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
        let mut stop = self.input.name_break(pos + 1);
        let (mut local, mut namespace) = (0, self.namespaces.default);
        if bytes[stop] == b':' && stop < end {
            (local, namespace) = self.quick_prefix(pos + 1, stop);
            if local == 0 {
                return Token::Wait;
            }
            stop = self.input.name_break(stop + 1);
        }
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
        if !self.open.push_short(name, len, local, namespace) {
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

    /// What the prefix from `start` to the colon at `colon` says: the bytes before the local part, or 0, and the namespace.
    fn quick_prefix(&self, start: usize, colon: usize) -> (u32, u32) {
        let bytes = self.input.padded();
        if colon == start || !self.options.namespaces || colon + 1 >= self.input.end || !is(bytes[colon + 1], NAME_START) {
            return (0, NONE);
        }
        match self.namespaces.find(&bytes[start..colon]) {
            Some(namespace) if namespace != XMLNS && bytes[colon + 1] != b':' => ((colon + 1 - start) as u32, namespace),
            _ => (0, NONE),
        }
    }

    /// The attributes that follow the name which ends at `at`, when all are plain: names that declare nothing, values
    /// that refer to no entity but the predefined. The index after the tag, or 0, and whether it is that of an empty element.
    #[inline(never)]
    fn quick_attributes(&mut self, at: usize) -> (usize, bool) {
        const LEFT: (usize, bool) = (0, false);
        self.values.clear();
        let bytes = self.input.padded();
        let limits = &self.options.limits;
        // The tag must end before it.
        let end = self.input.end.min(self.pos.saturating_add(limits.tag_bytes));
        let most = limits.attributes.min(FEW);
        let (mut at, mut lengths, mut prefixed) = (at, 0u64, false);
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
            let mut stop = self.input.name_break(name);
            let (mut local, mut namespace) = (0, NONE);
            if bytes[stop] == b':' && stop < end {
                (local, namespace) = self.quick_prefix(name, stop);
                // Two prefixes could stand for one namespace.
                if local == 0 || prefixed {
                    return LEFT;
                }
                prefixed = true;
                stop = self.input.name_break(stop + 1);
            }
            let (len, value) = (stop - name, stop + 2);
            if value >= end || bytes[stop] != b'=' || len > limits.name || self.attributes.len() >= most {
                return LEFT;
            }
            let quote = bytes[stop + 1];
            if !matches!(quote, b'"' | b'\'') || bytes[name..stop] == *b"xmlns" {
                return LEFT;
            }
            let (mut close, mut plain) = (self.input.mark(value), true);
            while close < end && bytes[close] != quote {
                match bytes[close] {
                    b'<' => return LEFT,
                    b'"' | b'\'' => {}
                    _ => plain = false,
                }
                close = self.input.mark(close + 1);
            }
            if close >= end {
                return LEFT;
            }
            let mut span = (value, close);
            if !plain {
                let start = self.values.len();
                let mut expander = Expander { dtd: None, limits, spent: &mut self.spent, budget: 0 };
                let composed = expander.value(bytes, value, close, &mut self.values);
                if composed.is_err() || self.values.len() > limits.tag_bytes {
                    return LEFT;
                }
                span = (start, self.values.len());
            }
            // Usually no two names are even of one length.
            let bit = 1 << (len % 64);
            if lengths & bit != 0 && self.attributes.iter().any(|a| bytes[a.name.0..a.name.1] == bytes[name..stop]) {
                return LEFT;
            }
            lengths |= bit;
            self.attributes.push(Attr {
                name: (name, stop),
                local: local as usize,
                namespace,
                value: span,
                composed: !plain,
                specified: true,
            });
            at = close + 1;
        }
    }
}
