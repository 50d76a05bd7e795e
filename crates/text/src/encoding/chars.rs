//! Characters one at a time: how long, which code point, where the previous one starts.
//!
//! Invariant: every length returned is at least 1 and at most the bytes given (0 only for
//! an empty slice), so that a loop which advances by it ends and stays in bounds.

use super::{EncIndex, Kind};

/// The length of the character at the start of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CharLen {
    /// A character of so many bytes.
    Valid(usize),
    /// No character; a step over the bad bytes has so many (the shortest character's
    /// length, or what is left).
    Invalid(usize),
}

impl CharLen {
    /// Bytes to step over either way.
    #[inline]
    pub fn step(self) -> usize {
        match self {
            CharLen::Valid(n) | CharLen::Invalid(n) => n,
        }
    }
}

/// What the bytes at a place are, told exactly enough to know whether more could help.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precise {
    /// A character of so many bytes.
    Found(usize),
    /// No continuation makes this a character.
    Invalid,
    /// A prefix of a character; at least so many bytes are missing.
    NeedMore(usize),
}

/// The bytes of one encoded character.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CharBuf {
    bytes: [u8; 8],
    len: u8,
}

impl CharBuf {
    /// Takes up to eight bytes.
    pub fn new(bytes: &[u8]) -> CharBuf {
        let mut buf = CharBuf::default();
        let n = bytes.len().min(8);
        buf.bytes[..n].copy_from_slice(&bytes[..n]);
        buf.len = n as u8;
        buf
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len as usize]
    }
}

impl std::ops::Deref for CharBuf {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        self.as_bytes()
    }
}

use Precise::{Found, Invalid, NeedMore};

/// UTF-8, Unicode table 3-7.
#[inline]
pub(super) fn utf8_precise(s: &[u8]) -> Precise {
    let b0 = s[0];
    if b0 < 0x80 {
        return Found(1);
    }
    let (n, lo, hi) = match b0 {
        0xC2..=0xDF => (2, 0x80, 0xBF),
        0xE0 => (3, 0xA0, 0xBF),
        0xED => (3, 0x80, 0x9F),
        0xE1..=0xEF => (3, 0x80, 0xBF),
        0xF0 => (4, 0x90, 0xBF),
        0xF1..=0xF3 => (4, 0x80, 0xBF),
        0xF4 => (4, 0x80, 0x8F),
        _ => return Invalid,
    };
    match s.get(1) {
        None => return NeedMore(n - 1),
        Some(&b) if b < lo || b > hi => return Invalid,
        _ => {}
    }
    for i in 2..n {
        match s.get(i) {
            None => return NeedMore(n - i),
            Some(b) if b & 0xC0 != 0x80 => return Invalid,
            _ => {}
        }
    }
    Found(n)
}

fn cesu8_precise(s: &[u8]) -> Precise {
    match s[0] {
        0xF0..=0xFF => Invalid,
        0xED if s.len() > 1 && s[1] >= 0xA0 => {
            // A high surrogate must be followed by a low one.
            let pattern: [(u8, u8); 6] = [(0xED, 0xED), (0xA0, 0xAF), (0x80, 0xBF), (0xED, 0xED), (0xB0, 0xBF), (0x80, 0xBF)];
            for (i, &(lo, hi)) in pattern.iter().enumerate() {
                match s.get(i) {
                    None => return NeedMore(6 - i),
                    Some(&b) if b < lo || b > hi => return Invalid,
                    _ => {}
                }
            }
            Found(6)
        }
        _ => utf8_precise(s),
    }
}

fn utf16_precise(s: &[u8], big: bool) -> Precise {
    if s.len() < 2 {
        return NeedMore(1);
    }
    let unit = |i: usize| if big { s[i] } else { s[i + 1] };
    match unit(0) {
        0xD8..=0xDB => match s.len() {
            2 => NeedMore(2),
            3 if big && !(0xDC..=0xDF).contains(&s[2]) => Invalid,
            3 => NeedMore(1),
            _ if (0xDC..=0xDF).contains(&unit(2)) => Found(4),
            _ => Invalid,
        },
        0xDC..=0xDF => Invalid,
        _ => Found(2),
    }
}

fn utf32_precise(s: &[u8], big: bool) -> Precise {
    if s.len() < 4 {
        return NeedMore(4 - s.len());
    }
    let q = [s[0], s[1], s[2], s[3]];
    let c = if big { u32::from_be_bytes(q) } else { u32::from_le_bytes(q) };
    if char::from_u32(c).is_some() { Found(4) } else { Invalid }
}

/// Two bytes with the given trail set.
#[inline]
fn two(s: &[u8], trail: impl Fn(u8) -> bool) -> Precise {
    match s.get(1) {
        None => NeedMore(1),
        Some(&b) if trail(b) => Found(2),
        _ => Invalid,
    }
}

fn high(b: u8) -> bool {
    (0xA1..=0xFE).contains(&b)
}

/// A lead byte followed by `n - 1` bytes that all satisfy `trail`.
fn lead_and(s: &[u8], n: usize, trail: impl Fn(u8) -> bool) -> Precise {
    for i in 1..n {
        match s.get(i) {
            None => return NeedMore(n - i),
            Some(&b) if !trail(b) => return Invalid,
            _ => {}
        }
    }
    Found(n)
}

impl EncIndex {
    /// What stands at the start of `s`. Empty bytes need one more.
    pub fn precise_len(self, s: &[u8]) -> Precise {
        if s.is_empty() {
            return NeedMore(1);
        }
        let b = s[0];
        match self.kind() {
            Kind::Binary | Kind::Single => Found(1),
            Kind::Ascii => {
                if b < 0x80 {
                    Found(1)
                } else {
                    Invalid
                }
            }
            Kind::Utf8 => utf8_precise(s),
            Kind::Cesu8 => cesu8_precise(s),
            Kind::Utf16Be => utf16_precise(s, true),
            Kind::Utf16Le => utf16_precise(s, false),
            Kind::Utf32Be => utf32_precise(s, true),
            Kind::Utf32Le => utf32_precise(s, false),
            _ if b < 0x80 => Found(1),
            Kind::EucJp => match b {
                0x8F => lead_and(s, 3, high),
                0x8E | 0xA1..=0xFE => two(s, high),
                _ => Invalid,
            },
            Kind::Sjis => match b {
                0xA1..=0xDF => Found(1),
                0x81..=0x9F | 0xE0..=0xFC => two(s, |t| matches!(t, 0x40..=0x7E | 0x80..=0xFC)),
                _ => Invalid,
            },
            Kind::Big5 => match b {
                0x81..=0xFE if b >= 0xA1 || self == EncIndex::BIG5_UAO || (b >= 0x87 && self == EncIndex::BIG5_HKSCS) => {
                    two(s, |t| matches!(t, 0x40..=0x7E | 0xA1..=0xFE))
                }
                _ => Invalid,
            },
            Kind::Cp949 => match b {
                0x80 => Found(1),
                0x81..=0xFE => two(s, |t| matches!(t, 0x41..=0x5A | 0x61..=0x7A | 0x81..=0xFE)),
                _ => Invalid,
            },
            Kind::EucKr => {
                if high(b) {
                    two(s, high)
                } else {
                    Invalid
                }
            }
            Kind::EucTw => match b {
                0x8E => match s.get(1) {
                    Some(&p) if !(0xA1..=0xB0).contains(&p) => Invalid,
                    _ => lead_and(s, 4, high),
                },
                0xA1..=0xFE => two(s, high),
                _ => Invalid,
            },
            Kind::Gbk => match b {
                0x80 => Found(1),
                0x81..=0xFE => two(s, |t| matches!(t, 0x40..=0x7E | 0x80..=0xFE)),
                _ => Invalid,
            },
            Kind::Gb18030 => match b {
                0x81..=0xFE => match s.get(1) {
                    Some(0x30..=0x39) => match (s.get(2), s.get(3)) {
                        (None, _) => NeedMore(2),
                        (Some(0x81..=0xFE), None) => NeedMore(1),
                        (Some(0x81..=0xFE), Some(0x30..=0x39)) => Found(4),
                        _ => Invalid,
                    },
                    _ => two(s, |t| matches!(t, 0x40..=0x7E | 0x80..=0xFE)),
                },
                _ => Invalid,
            },
            Kind::EmacsMule => match b {
                0x81..=0x8F => two(s, |t| t >= 0xA0),
                0x90..=0x99 => lead_and(s, 3, |t| t >= 0xA0),
                _ => Invalid,
            },
        }
    }

    /// The length of the character at the start of `s`; `Invalid(0)` for no bytes.
    #[inline]
    pub fn char_len(self, s: &[u8]) -> CharLen {
        if s.is_empty() {
            return CharLen::Invalid(0);
        }
        match self.precise_len(s) {
            Found(n) => CharLen::Valid(n),
            _ => CharLen::Invalid(self.min_len().min(s.len())),
        }
    }

    /// The code point at the start of `s` and its length, or `None` if no valid character
    /// stands there. Unicode scalar values in Unicode encodings, else the character's
    /// bytes read as a big-endian number (what `String#ord` gives).
    #[inline]
    pub fn decode(self, s: &[u8]) -> Option<(u32, usize)> {
        let n = match self.char_len(s) {
            CharLen::Valid(n) => n,
            CharLen::Invalid(_) => return None,
        };
        Some((self.code_of(&s[..n]), n))
    }

    /// The code point of exactly one valid character.
    fn code_of(self, s: &[u8]) -> u32 {
        let be = |s: &[u8]| s.iter().fold(0u32, |a, &b| a << 8 | b as u32);
        let six = |b: u8| (b & 0x3F) as u32;
        let pair = |hi: u32, lo: u32| 0x10000 + ((hi & 0x3FF) << 10) + (lo & 0x3FF);
        match self.kind() {
            Kind::Utf8 | Kind::Cesu8 => match s.len() {
                1 => s[0] as u32,
                2 => ((s[0] & 0x1F) as u32) << 6 | six(s[1]),
                3 => ((s[0] & 0x0F) as u32) << 12 | six(s[1]) << 6 | six(s[2]),
                4 => ((s[0] & 0x07) as u32) << 18 | six(s[1]) << 12 | six(s[2]) << 6 | six(s[3]),
                _ => pair(0xD000 | six(s[1]) << 6 | six(s[2]), 0xD000 | six(s[4]) << 6 | six(s[5])),
            },
            Kind::Utf16Be if s.len() == 4 => pair(be(&s[..2]), be(&s[2..])),
            Kind::Utf16Le => {
                let unit = |i: usize| u16::from_le_bytes([s[i], s[i + 1]]) as u32;
                if s.len() == 4 { pair(unit(0), unit(2)) } else { unit(0) }
            }
            Kind::Utf32Le => u32::from_le_bytes([s[0], s[1], s[2], s[3]]),
            _ => be(s),
        }
    }

    /// The bytes of code point `c`, or `None` where the encoding has no such character
    /// (`Integer#chr`: "invalid codepoint 0x... in UTF-8", "... out of char range").
    pub fn encode(self, c: u32) -> Option<CharBuf> {
        let scalar = || char::from_u32(c);
        let units = |big: bool| {
            let mut u = [0u16; 2];
            let mut out = Vec::with_capacity(4);
            for &unit in scalar()?.encode_utf16(&mut u).iter() {
                out.extend_from_slice(&if big { unit.to_be_bytes() } else { unit.to_le_bytes() });
            }
            Some(CharBuf::new(&out))
        };
        match self.kind() {
            Kind::Binary | Kind::Single => u8::try_from(c).ok().map(|b| CharBuf::new(&[b])),
            Kind::Ascii => (c < 0x80).then(|| CharBuf::new(&[c as u8])),
            Kind::Utf8 => Some(CharBuf::new(scalar()?.encode_utf8(&mut [0; 4]).as_bytes())),
            Kind::Cesu8 if c >= 0x10000 => {
                let mut u = [0u16; 2];
                let mut out = Vec::with_capacity(6);
                for &unit in scalar()?.encode_utf16(&mut u).iter() {
                    out.extend_from_slice(&[0xE0 | (unit >> 12) as u8, 0x80 | (unit >> 6 & 0x3F) as u8, 0x80 | (unit & 0x3F) as u8]);
                }
                Some(CharBuf::new(&out))
            }
            Kind::Cesu8 => Some(CharBuf::new(scalar()?.encode_utf8(&mut [0; 4]).as_bytes())),
            Kind::Utf16Be => units(true),
            Kind::Utf16Le => units(false),
            Kind::Utf32Be => Some(CharBuf::new(&(scalar()? as u32).to_be_bytes())),
            Kind::Utf32Le => Some(CharBuf::new(&(scalar()? as u32).to_le_bytes())),
            _ => {
                let bytes = c.to_be_bytes();
                let skip = (c.leading_zeros() as usize / 8).min(3);
                let bytes = &bytes[skip..];
                (self.precise_len(bytes) == Found(bytes.len())).then(|| CharBuf::new(bytes))
            }
        }
    }

    /// Appends code point `c`; false if the encoding has no such character.
    pub fn push_code(self, out: &mut Vec<u8>, c: u32) -> bool {
        if c < 0x80 && self.is_ascii_compatible() {
            out.push(c as u8);
            return true;
        }
        match self.encode(c) {
            Some(buf) => {
                out.extend_from_slice(&buf);
                true
            }
            None => false,
        }
    }

    /// What ends a paragraph: two newlines.
    pub fn two_newlines(self) -> &'static [u8] {
        match self.kind() {
            Kind::Utf16Be => b"\0\n\0\n",
            Kind::Utf16Le => b"\n\0\n\0",
            Kind::Utf32Be => b"\0\0\0\n\0\0\0\n",
            Kind::Utf32Le => b"\n\0\0\0\n\0\0\0",
            _ => b"\n\n",
        }
    }

    /// The start of the character that contains byte `at` (or `at` itself at the end or
    /// in bytes that form no character). `at` beyond the end counts as the end.
    pub fn char_head(self, s: &[u8], at: usize) -> usize {
        let at = at.min(s.len());
        if at == s.len() || at == 0 {
            return at;
        }
        match self.kind() {
            Kind::Binary | Kind::Ascii | Kind::Single => at,
            Kind::Utf8 => {
                if s[at] & 0xC0 != 0x80 {
                    return at;
                }
                for back in 1..=3.min(at) {
                    let i = at - back;
                    if s[i] & 0xC0 != 0x80 {
                        return match utf8_precise(&s[i..]) {
                            Found(n) if i + n > at => i,
                            _ => at,
                        };
                    }
                }
                at
            }
            Kind::Utf16Be | Kind::Utf16Le => {
                let even = at & !1;
                if even >= 2 && matches!(self.precise_len(&s[even - 2..]), Found(4)) { even - 2 } else { even }
            }
            Kind::Utf32Be | Kind::Utf32Le => at & !3,
            _ => {
                // Trail bytes look like leads: go back to a byte that certainly starts a
                // character, then forward.
                let mut start = at;
                let after_ascii = self.kind() != Kind::Gb18030;
                while start > 0 && s[start] >= 0x30 && !(after_ascii && s[start - 1] < 0x80) {
                    start -= 1;
                }
                loop {
                    let n = self.char_len(&s[start..]).step().max(1);
                    if start + n > at {
                        return start;
                    }
                    start += n;
                }
            }
        }
    }

    /// The start of the character before `at`; `None` at the start.
    pub fn prev_char(self, s: &[u8], at: usize) -> Option<usize> {
        let at = at.min(s.len());
        if at == 0 { None } else { Some(self.char_head(s, at - 1)) }
    }
}
