//! Which characters XML 1.0 (5th edition) allows where. ASCII by one table, the rest by the ranges of the
//! specification's productions [2], [4] and [4a].

use std::borrow::Cow;

/// May begin a name (`:` included).
pub const NAME_START: u8 = 1;
/// May stand in a name (`:` included).
pub const NAME: u8 = 2;
/// White space; line ends are normalised before anything looks, so CR comes from references only.
pub const SPACE: u8 = 4;
/// Ends the plain part of an attribute's value: quotes, `<`, `&`, and white space other than a blank.
pub const VALUE_STOP: u8 = 8;
/// Ends the plain part of text: `<`, `&`, `]`.
pub const TEXT_STOP: u8 = 16;
/// ASCII that may stand in a name, without `:`.
pub const PLAIN_NAME: u8 = 32;
/// May stand in a public identifier.
pub const PUBLIC: u8 = 64;

pub static CLASS: [u8; 256] = table();

const fn table() -> [u8; 256] {
    let mut t = [0; 256];
    let mut i = 0;
    while i < 128 {
        let b = i as u8;
        let letter = b.is_ascii_alphabetic();
        if letter || b == b'_' || b == b':' {
            t[i] |= NAME_START;
        }
        if letter || b.is_ascii_digit() || matches!(b, b'_' | b':' | b'-' | b'.') {
            t[i] |= NAME;
            if b != b':' {
                t[i] |= PLAIN_NAME;
            }
        }
        if matches!(b, b' ' | b'\t' | b'\n' | b'\r') {
            t[i] |= SPACE;
        }
        if matches!(b, b'"' | b'\'' | b'<' | b'&' | b'\t' | b'\n' | b'\r') {
            t[i] |= VALUE_STOP;
        }
        if matches!(b, b'<' | b'&' | b']') {
            t[i] |= TEXT_STOP;
        }
        if letter
            || b.is_ascii_digit()
            || matches!(
                b,
                b' ' | b'\n'
                    | b'\r'
                    | b'-'
                    | b'\''
                    | b'('
                    | b')'
                    | b'+'
                    | b','
                    | b'.'
                    | b'/'
                    | b':'
                    | b'='
                    | b'?'
                    | b';'
                    | b'!'
                    | b'*'
                    | b'#'
                    | b'@'
                    | b'$'
                    | b'_'
                    | b'%'
            )
        {
            t[i] |= PUBLIC;
        }
        i += 1;
    }
    t
}

#[inline]
pub fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

#[inline]
pub fn is_space(byte: u8) -> bool {
    is(byte, SPACE)
}

/// Production [2]: what a document may hold at all.
pub fn is_char(c: u32) -> bool {
    matches!(c, 0x9 | 0xA | 0xD | 0x20..=0xD7FF | 0xE000..=0xFFFD | 0x10000..=0x10FFFF)
}

/// Production [4].
pub fn is_name_start(c: char) -> bool {
    if c.is_ascii() {
        return is(c as u8, NAME_START);
    }
    matches!(c as u32,
        0xC0..=0xD6 | 0xD8..=0xF6 | 0xF8..=0x2FF | 0x370..=0x37D | 0x37F..=0x1FFF | 0x200C..=0x200D | 0x2070..=0x218F
        | 0x2C00..=0x2FEF | 0x3001..=0xD7FF | 0xF900..=0xFDCF | 0xFDF0..=0xFFFD | 0x10000..=0xEFFFF)
}

/// Production [4a].
pub fn is_name_char(c: char) -> bool {
    if c.is_ascii() {
        return is(c as u8, NAME);
    }
    is_name_start(c) || matches!(c as u32, 0xB7 | 0x300..=0x36F | 0x203F..=0x2040)
}

/// The character that begins at `i` of well-formed UTF-8, and its length. A sequence cut short (which the callers
/// never have) reads as U+FFFD.
pub fn decode(bytes: &[u8], i: usize) -> (char, usize) {
    let b = bytes[i];
    let len = match b {
        0..0x80 => return (b as char, 1),
        0xF0.. => 4,
        0xE0.. => 3,
        _ => 2,
    };
    let mut c = b as u32 & (0x7F >> len);
    for k in 1..len {
        let Some(&next) = bytes.get(i + k) else { return ('\u{FFFD}', 1) };
        c = c << 6 | (next as u32 & 0x3F);
    }
    (char::from_u32(c).unwrap_or('\u{FFFD}'), len)
}

/// The last character boundary at or before `i`.
pub fn floor_boundary(bytes: &[u8], i: usize) -> usize {
    if i >= bytes.len() {
        return bytes.len();
    }
    let mut i = i;
    while i > 0 && bytes[i] & 0xC0 == 0x80 {
        i -= 1;
    }
    i
}

/// Bytes before the local part of a name, if it is a qualified name (Namespaces in XML, production [7]).
pub fn qualified(name: &[u8]) -> Option<usize> {
    let Some(colon) = memchr::memchr(b':', name) else { return Some(0) };
    let local = &name[colon + 1..];
    if colon == 0 || local.is_empty() || memchr::memchr(b':', local).is_some() {
        return None;
    }
    is_name_start(decode(local, 0).0).then_some(colon + 1)
}

/// The bytes as they are shown in a message.
#[cold]
pub fn shown(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// The bytes as text.
///
/// **The rule.** Everything that the tokeniser cuts from the document was validated when it was fed and is cut at ASCII
/// delimiters or at boundaries from [`floor_boundary`]; everything that it composes is put together from such cuts and
/// from `char`s.
///
/// # Safety
/// The bytes are whole characters of UTF-8, as the rule makes all that it names.
#[inline]
pub unsafe fn text(bytes: &[u8]) -> &str {
    debug_assert!(std::str::from_utf8(bytes).is_ok());
    // SAFETY: the caller's promise.
    unsafe { std::str::from_utf8_unchecked(bytes) }
}
