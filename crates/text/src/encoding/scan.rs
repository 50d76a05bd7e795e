//! Whole strings: code range, character counts and offsets.
//!
//! Invariant: offsets returned never exceed the string's length and lie on a character
//! boundary as [`EncIndex::char_len`] walks it.

use super::{CharLen, EncIndex, Kind};

/// What is known of a string's bytes under its encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum CodeRange {
    /// Not scanned yet.
    #[default]
    Unknown = 0,
    /// ASCII characters only, in an ASCII-compatible encoding.
    SevenBit = 1,
    /// Valid, with other characters.
    Valid = 2,
    /// Some bytes form no character.
    Broken = 3,
}

impl CodeRange {
    /// The code range of a concatenation.
    pub fn concat(self, other: CodeRange) -> CodeRange {
        use CodeRange::*;
        match (self, other) {
            (Unknown, _) | (_, Unknown) => Unknown,
            // Two broken halves may join into a character.
            (Broken, _) | (_, Broken) => Unknown,
            (SevenBit, SevenBit) => SevenBit,
            _ => Valid,
        }
    }
}

/// Continuation bytes among the eight of a word.
#[inline]
fn continuations(word: u64) -> u64 {
    // Bit 7 set and bit 6 clear.
    ((word >> 7) & (!word >> 6) & 0x0101_0101_0101_0101).count_ones() as u64
}

/// Characters in valid UTF-8.
fn count_utf8(s: &[u8]) -> usize {
    let mut cont = 0u64;
    let mut chunks = s.chunks_exact(8);
    for chunk in &mut chunks {
        cont += continuations(u64::from_le_bytes(chunk.try_into().unwrap_or([0; 8])));
    }
    let rest = chunks.remainder().iter().filter(|&&b| b & 0xC0 == 0x80).count();
    s.len() - cont as usize - rest
}

impl EncIndex {
    /// Scans for the code range; never `Unknown`.
    pub fn scan(self, s: &[u8]) -> CodeRange {
        let kind = self.kind();
        if self.is_ascii_compatible() && s.is_ascii() {
            return CodeRange::SevenBit;
        }
        let valid = match kind {
            Kind::Binary | Kind::Single => true,
            Kind::Ascii => false,
            Kind::Utf8 => simdutf8::basic::from_utf8(s).is_ok(),
            _ => {
                let mut i = 0;
                loop {
                    if i >= s.len() {
                        break true;
                    }
                    match self.char_len(&s[i..]) {
                        CharLen::Valid(n) => i += n,
                        CharLen::Invalid(_) => break false,
                    }
                }
            }
        };
        if valid { CodeRange::Valid } else { CodeRange::Broken }
    }

    /// `String#valid_encoding?`.
    pub fn is_valid(self, s: &[u8]) -> bool {
        self.scan(s) != CodeRange::Broken
    }

    /// `String#ascii_only?`.
    pub fn is_ascii_only(self, s: &[u8]) -> bool {
        self.is_ascii_compatible() && s.is_ascii()
    }

    /// Characters in `s`, a bad byte counting as one. `range` may be `Unknown`; knowing it
    /// makes this fast.
    pub fn char_count(self, s: &[u8], range: CodeRange) -> usize {
        match self.fixed_width(range) {
            Some(w) => s.len().div_ceil(w),
            None if range == CodeRange::Valid && self.is_utf8() => count_utf8(s),
            None => {
                let (mut i, mut n) = (0, 0);
                while i < s.len() {
                    i += self.step(&s[i..], range);
                    n += 1;
                }
                n
            }
        }
    }

    /// Bytes per character when all have the same number.
    #[inline]
    pub(crate) fn fixed_width(self, range: CodeRange) -> Option<usize> {
        if range == CodeRange::SevenBit || self.is_single_byte() {
            return Some(1);
        }
        matches!(self.kind(), Kind::Utf32Be | Kind::Utf32Le).then_some(4)
    }

    /// Length of the character at the start of non-empty `s`.
    #[inline]
    fn step(self, s: &[u8], range: CodeRange) -> usize {
        if range == CodeRange::Valid && self.is_utf8() {
            let n = match s[0] {
                0..=0xBF => 1,
                0xC0..=0xDF => 2,
                0xE0..=0xEF => 3,
                _ => 4,
            };
            return n.min(s.len());
        }
        self.char_len(s).step().max(1)
    }

    /// Byte offset of character `n`; of the end when the string has `n` characters.
    ///
    /// # Errors
    /// How many characters there are, when they are fewer.
    pub fn nth_char(self, s: &[u8], n: usize, range: CodeRange) -> Result<usize, usize> {
        if let Some(w) = self.fixed_width(range) {
            let count = s.len().div_ceil(w);
            return if n <= count { Ok((n.saturating_mul(w)).min(s.len())) } else { Err(count) };
        }
        let (mut i, mut left) = (0, n);
        if range == CodeRange::Valid && self.is_utf8() {
            // A word holds 8 minus its continuation bytes characters; skip while all of
            // them are before the one sought.
            while left >= 8 && i + 8 <= s.len() {
                let word = u64::from_le_bytes(s[i..i + 8].try_into().unwrap_or([0; 8]));
                left -= 8 - continuations(word) as usize;
                i += 8;
            }
            // Now inside or at the end of a character: its tail was counted already.
            while i < s.len() && s[i] & 0xC0 == 0x80 {
                i += 1;
            }
        }
        while left > 0 {
            if i >= s.len() {
                return Err(n - left);
            }
            i += self.step(&s[i..], range);
            left -= 1;
        }
        Ok(i)
    }

    /// Byte offset of the character `n` places before the end, or `None` if there are
    /// fewer.
    pub fn nth_char_from_end(self, s: &[u8], n: usize, range: CodeRange) -> Option<usize> {
        if self.fixed_width(range).is_none() && range == CodeRange::Valid && self.is_utf8() {
            let mut i = s.len();
            for _ in 0..n {
                if i == 0 {
                    return None;
                }
                i -= 1;
                while i > 0 && s[i] & 0xC0 == 0x80 {
                    i -= 1;
                }
            }
            return Some(i);
        }
        let count = self.char_count(s, range);
        self.nth_char(s, count.checked_sub(n)?, range).ok()
    }

    /// The index in characters of byte `offset`.
    pub fn char_index(self, s: &[u8], offset: usize, range: CodeRange) -> usize {
        self.char_count(&s[..offset.min(s.len())], range)
    }

    /// The characters of `s` as byte slices, bad bytes one by one.
    pub fn chars<'a>(self, s: &'a [u8]) -> Chars<'a> {
        Chars { enc: self, rest: s }
    }
}

/// Iterator over the characters of a string.
#[derive(Clone)]
pub struct Chars<'a> {
    enc: EncIndex,
    rest: &'a [u8],
}

impl<'a> Iterator for Chars<'a> {
    type Item = &'a [u8];
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let n = self.enc.char_len(self.rest).step().max(1);
        let (c, rest) = self.rest.split_at(n);
        self.rest = rest;
        Some(c)
    }
}
