//! One character in, one character out: decoding to and encoding from Unicode.
//!
//! Invariant: decoding never reads past the window it is given, and says how many bytes
//! it used; an escape-switched encoding keeps its character set in [`Shift`].

use super::legacy;
use crate::encoding::single;
use crate::encoding::{EncIndex, Kind, Precise};

/// The character set that an escape-switched encoding is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Shift {
    #[default]
    Ascii,
    Roman,
    Jis0208,
    Katakana,
}

/// What the bytes at the front of a window are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Decoded {
    /// A character of so many bytes.
    Char(char, usize),
    /// Bytes without a character of their own (escape sequence, byte order mark).
    Skip(usize),
    /// A character of the encoding that Unicode doesn't have.
    Undefined(usize),
    /// So many bytes that begin no character, and so many after them that showed it.
    Invalid(usize, usize),
    /// The window ends inside a character.
    Incomplete,
}

/// How an encoding converts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Codec {
    Utf,
    /// UTF-16 or UTF-32 with a byte order mark; the encoding once it is known.
    Marked(Option<EncIndex>),
    Ascii,
    Latin,
    Multi,
    Iso2022Jp(Shift),
}

/// Whether and how `enc` converts.
pub(super) fn codec(enc: EncIndex) -> Option<Codec> {
    use EncIndex as E;
    Some(match enc {
        E::UTF_16 | E::UTF_32 => Codec::Marked(None),
        E::BINARY | E::US_ASCII => Codec::Ascii,
        E::ISO_2022_JP | E::CP50220 | E::CP50221 => Codec::Iso2022Jp(Shift::Ascii),
        _ if enc.is_unicode() && !enc.is_dummy() => Codec::Utf,
        _ if single::has_table(enc) => Codec::Latin,
        _ if legacy::base(enc).is_some() => Codec::Multi,
        _ => return None,
    })
}

/// Bytes that form no character at the front of `w`: how many, and how many after them
/// were needed to see it.
pub(crate) fn invalid_prefix(enc: EncIndex, w: &[u8]) -> (usize, usize) {
    let longest = enc.max_len().min(w.len());
    for n in (1..longest).rev() {
        if matches!(enc.precise_len(&w[..n]), Precise::NeedMore(_)) && n >= enc.min_len() {
            // Little-endian surrogates are told apart by their second byte.
            return if enc == EncIndex::UTF_16LE && n == 3 { (2, 2) } else { (n, 1) };
        }
    }
    (enc.min_len().min(w.len()), 0)
}

impl Codec {
    /// Whether ASCII runs can be copied.
    pub(super) fn is_plain(self, enc: EncIndex) -> bool {
        !matches!(self, Codec::Marked(_) | Codec::Iso2022Jp(_)) && enc.is_ascii_compatible()
    }

    /// Reads what stands at the front of a window that is not empty.
    pub(super) fn decode(&mut self, enc: EncIndex, w: &[u8]) -> Decoded {
        match self {
            Codec::Marked(Some(actual)) => {
                let actual = *actual;
                structural(actual, w, char::from_u32)
            }
            Codec::Marked(known) => {
                let (be, le, mark_be, mark_le): (_, _, &[u8], &[u8]) = if enc == EncIndex::UTF_16 {
                    (EncIndex::UTF_16BE, EncIndex::UTF_16LE, b"\xFE\xFF", b"\xFF\xFE")
                } else {
                    (EncIndex::UTF_32BE, EncIndex::UTF_32LE, b"\0\0\xFE\xFF", b"\xFF\xFE\0\0")
                };
                for (actual, mark) in [(be, mark_be), (le, mark_le)] {
                    if w.starts_with(mark) {
                        *known = Some(actual);
                        return Decoded::Skip(mark.len());
                    }
                }
                if w.len() < mark_be.len() { Decoded::Incomplete } else { Decoded::Invalid(mark_be.len(), 0) }
            }
            Codec::Utf => structural(enc, w, char::from_u32),
            Codec::Ascii => match w[0] {
                b if b < 0x80 => Decoded::Char(b as char, 1),
                _ if enc == EncIndex::BINARY => Decoded::Undefined(1),
                _ => Decoded::Invalid(1, 0),
            },
            Codec::Latin => match single::to_unicode(enc, w[0] as u32) {
                Some(c) => Decoded::Char(c, 1),
                None => Decoded::Undefined(1),
            },
            Codec::Multi => structural(enc, w, |code| match code {
                0..=0x7F => char::from_u32(code),
                0x80..=0xFFFF => legacy::chart(enc)?.to_unicode(code as u16),
                _ => {
                    let bytes = code.to_be_bytes();
                    let skip = code.leading_zeros() as usize / 8;
                    if enc == EncIndex::CP51932 { None } else { legacy::decode_one(enc, &bytes[skip..]) }
                }
            }),
            Codec::Iso2022Jp(shift) => decode_2022(shift, enc, w),
        }
    }

    /// Appends character `c`; false if the encoding doesn't have it.
    pub(super) fn encode(&mut self, enc: EncIndex, c: char, out: &mut Vec<u8>) -> bool {
        match self {
            Codec::Marked(known) => {
                let be = if enc == EncIndex::UTF_16 { EncIndex::UTF_16BE } else { EncIndex::UTF_32BE };
                if known.is_none() {
                    *known = Some(be);
                    be.push_code(out, 0xFEFF);
                }
                be.push_code(out, c as u32)
            }
            Codec::Utf => enc.push_code(out, c as u32),
            _ if c.is_ascii() && !matches!(self, Codec::Iso2022Jp(_)) => {
                out.push(c as u8);
                true
            }
            Codec::Ascii => false,
            Codec::Latin => match single::from_unicode(enc, c) {
                Some(b) => {
                    out.push(b);
                    true
                }
                None => false,
            },
            Codec::Multi => encode_multi(enc, c, out),
            Codec::Iso2022Jp(shift) => encode_2022(shift, enc, c, out),
        }
    }

    /// Appends what returns the encoding to its first state.
    pub(super) fn finish(&mut self, out: &mut Vec<u8>) {
        if let Codec::Iso2022Jp(shift) = self
            && *shift != Shift::Ascii
        {
            *shift = Shift::Ascii;
            out.extend_from_slice(b"\x1B(B");
        }
    }
}

/// Decodes by the encoding's byte structure and a chart of codes.
fn structural(enc: EncIndex, w: &[u8], to_char: impl Fn(u32) -> Option<char>) -> Decoded {
    match enc.precise_len(w) {
        Precise::Found(n) => match enc.decode(&w[..n]).and_then(|(code, _)| to_char(code)) {
            Some(c) => Decoded::Char(c, n),
            None => Decoded::Undefined(n),
        },
        Precise::NeedMore(_) => Decoded::Incomplete,
        Precise::Invalid => {
            let (n, again) = invalid_prefix(enc, w);
            Decoded::Invalid(n, again)
        }
    }
}

fn encode_multi(enc: EncIndex, c: char, out: &mut Vec<u8>) -> bool {
    if let Some(code) = legacy::chart(enc).and_then(|chart| chart.from_unicode(c)) {
        if code > 0xFF {
            out.push((code >> 8) as u8);
        }
        out.push(code as u8);
        return true;
    }
    // Three and four byte codes.
    let long = match enc.kind() {
        Kind::Gb18030 => encoding_rs::GB18030.encode(c.encode_utf8(&mut [0; 4])).0.into_owned(),
        Kind::EucJp if enc != EncIndex::CP51932 => match jis0212().get(&(c as u32)) {
            Some(code) => vec![0x8F, (code >> 8) as u8, *code as u8],
            None => return false,
        },
        _ => return false,
    };
    let fits = legacy::decode_one(enc, &long) == Some(c);
    if fits {
        out.extend_from_slice(&long);
    }
    fits
}

/// JIS X 0212, which `encoding_rs` decodes but doesn't encode.
fn jis0212() -> &'static std::collections::HashMap<u32, u16> {
    static MAP: std::sync::OnceLock<std::collections::HashMap<u32, u16>> = std::sync::OnceLock::new();
    MAP.get_or_init(|| {
        let mut map = std::collections::HashMap::new();
        for lead in 0xA1..=0xFEu8 {
            for trail in 0xA1..=0xFEu8 {
                if let Some(c) = legacy::decode_one(EncIndex::EUC_JP, &[0x8F, lead, trail])
                    && c != '\u{FF5E}'
                {
                    map.entry(c as u32).or_insert((lead as u16) << 8 | trail as u16);
                }
            }
        }
        map
    })
}

/// The EUC flavour that holds the characters of an ISO-2022-JP flavour.
fn euc_of(enc: EncIndex) -> EncIndex {
    if enc == EncIndex::ISO_2022_JP { EncIndex::EUC_JP } else { EncIndex::CP51932 }
}

fn decode_2022(shift: &mut Shift, enc: EncIndex, w: &[u8]) -> Decoded {
    if w[0] == 0x1B {
        let sets: [(&[u8], Shift); 5] = [
            (b"\x1B(B", Shift::Ascii),
            (b"\x1B(J", Shift::Roman),
            (b"\x1B$@", Shift::Jis0208),
            (b"\x1B$B", Shift::Jis0208),
            (b"\x1B(I", Shift::Katakana),
        ];
        for (escape, to) in sets {
            if w.starts_with(escape) {
                *shift = to;
                return Decoded::Skip(3);
            }
            if w.len() < 3 && escape.starts_with(w) {
                return Decoded::Incomplete;
            }
        }
        return Decoded::Invalid(1, usize::from(w.len() > 1));
    }
    match *shift {
        _ if w[0] >= 0x80 => {
            // Eight-bit katakana passes in the Windows flavours.
            match (enc == EncIndex::ISO_2022_JP, w[0]) {
                (false, b @ 0xA1..=0xDF) => katakana(b & 0x7F),
                _ => Decoded::Invalid(1, 0),
            }
        }
        Shift::Ascii | Shift::Roman => Decoded::Char(w[0] as char, 1),
        _ if w[0] < 0x21 => Decoded::Char(w[0] as char, 1),
        Shift::Katakana => katakana(w[0]),
        Shift::Jis0208 => match w.get(1) {
            None => Decoded::Incomplete,
            Some(&t) if !(0x21..=0x7E).contains(&t) || w[0] == 0x7F => Decoded::Invalid(1, 1),
            Some(&t) => {
                let code = (w[0] as u16 | 0x80) << 8 | (t as u16 | 0x80);
                match legacy::chart(euc_of(enc)).and_then(|chart| chart.to_unicode(code)) {
                    Some(c) => Decoded::Char(c, 2),
                    None => Decoded::Undefined(2),
                }
            }
        },
    }
}

fn katakana(b: u8) -> Decoded {
    match b {
        0x21..=0x5F => char::from_u32(0xFF61 + (b - 0x21) as u32).map_or(Decoded::Undefined(1), |c| Decoded::Char(c, 1)),
        _ => Decoded::Invalid(1, 0),
    }
}

fn encode_2022(shift: &mut Shift, enc: EncIndex, c: char, out: &mut Vec<u8>) -> bool {
    let mut switch = |to: Shift, escape: &[u8], out: &mut Vec<u8>| {
        if *shift != to {
            *shift = to;
            out.extend_from_slice(escape);
        }
    };
    if c.is_ascii() {
        switch(Shift::Ascii, b"\x1B(B", out);
        out.push(c as u8);
        return true;
    }
    if let 0xFF61..=0xFF9F = c as u32 {
        if enc != EncIndex::CP50221 {
            return false;
        }
        switch(Shift::Katakana, b"\x1B(I", out);
        out.push((c as u32 - 0xFF61 + 0x21) as u8);
        return true;
    }
    match legacy::chart(euc_of(enc)).and_then(|chart| chart.from_unicode(c)) {
        Some(code) if code > 0x8FFF => {
            switch(Shift::Jis0208, b"\x1B$B", out);
            out.extend_from_slice(&[(code >> 8) as u8 & 0x7F, code as u8 & 0x7F]);
            true
        }
        _ => false,
    }
}
