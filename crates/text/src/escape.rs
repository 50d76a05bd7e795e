//! Strings and symbols as source text: inspect, dump, undump.
//!
//! Invariant: `inspect` gives text in the result encoding, whatever the bytes were; `dump`
//! gives ASCII that `undump` turns back into the same bytes and encoding.

use crate::encoding::{CharLen, Ctype, EncIndex};
use kumi_budget::Grow;

/// The letter after the backslash of a short escape.
fn short_escape(c: u32) -> Option<u8> {
    Some(match c {
        0x0A => b'n',
        0x0D => b'r',
        0x09 => b't',
        0x0C => b'f',
        0x0B => b'v',
        0x08 => b'b',
        0x07 => b'a',
        0x1B => b'e',
        _ => return None,
    })
}

fn hex_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for b in bytes {
        out.put_all(&[b'\\', b'x', HEX[(b >> 4) as usize], HEX[(b & 15) as usize]]);
    }
}

/// An escape for an unprintable or foreign character.
fn long_escape(out: &mut Vec<u8>, c: u32, bytes: &[u8], enc: EncIndex) {
    if enc.is_unicode() {
        let text = if c > 0xFFFF { format!("\\u{{{c:X}}}") } else { format!("\\u{c:04X}") };
        out.put_all(text.as_bytes());
    } else if c < 0x100 {
        hex_bytes(out, bytes);
    } else {
        out.put_all(format!("\\x{{{c:X}}}").as_bytes());
    }
}

/// Whether `inspect` may copy the bytes, but for `"`, `\` and `#`.
#[inline]
fn is_plain_ascii(b: u8) -> bool {
    (0x20..0x7F).contains(&b) && !matches!(b, b'"' | b'\\' | b'#')
}

/// `String#inspect` for a string in `enc`, as text in `result` (the default internal or
/// external encoding; US-ASCII if that isn't ASCII-compatible).
pub fn inspect(s: &[u8], enc: EncIndex, result: EncIndex) -> Vec<u8> {
    let result = if result.is_ascii_compatible() { result } else { EncIndex::US_ASCII };
    let special = enc.is_ascii_compatible() || enc.is_unicode();
    // A byte order mark chooses the half of a dummy encoding.
    let (enc, chars) = (enc, marked(enc, s));
    let mut out = Vec::room(s.len() + 2);
    out.put(b'"');
    let mut i = 0;
    while i < s.len() {
        if enc.is_ascii_compatible() {
            let run = s[i..].iter().take_while(|&&b| is_plain_ascii(b)).count();
            out.put_all(&s[i..i + run]);
            i += run;
            if i >= s.len() {
                break;
            }
        }
        let n = match chars.char_len(&s[i..]) {
            CharLen::Valid(n) => n,
            CharLen::Invalid(n) => {
                let n = n.max(1);
                hex_bytes(&mut out, &s[i..i + n]);
                i += n;
                continue;
            }
        };
        let bytes = &s[i..i + n];
        i += n;
        let Some((c, _)) = chars.decode(bytes) else {
            hex_bytes(&mut out, bytes);
            continue;
        };
        if special {
            match c {
                0x22 | 0x5C => {
                    out.put_all(&[b'\\', c as u8]);
                    continue;
                }
                0x23 => {
                    if let Some((0x7B | 0x24 | 0x40, _)) = chars.decode(&s[i..]) {
                        out.put(b'\\');
                    }
                    out.put(b'#');
                    continue;
                }
                _ => {}
            }
            if let Some(letter) = short_escape(c) {
                out.put_all(&[b'\\', letter]);
                continue;
            }
            if (0x20..0x7F).contains(&c) {
                out.put(c as u8);
                continue;
            }
        }
        if enc == result && enc.is_ctype(c, Ctype::Print) {
            out.put_all(bytes);
        } else {
            long_escape(&mut out, c, bytes, enc);
        }
    }
    out.put(b'"');
    out
}

/// The encoding whose characters a dummy encoding's bytes are.
fn marked(enc: EncIndex, s: &[u8]) -> EncIndex {
    match enc {
        EncIndex::UTF_16 if s.starts_with(b"\xFF\xFE") => EncIndex::UTF_16LE,
        EncIndex::UTF_32 if s.starts_with(b"\xFF\xFE\0\0") => EncIndex::UTF_32LE,
        _ => enc,
    }
}

/// `String#dump`. The result has the string's encoding if that is ASCII-compatible, else
/// it is binary and names the encoding.
pub fn dump(s: &[u8], enc: EncIndex) -> Vec<u8> {
    let mut out = Vec::room(s.len() + 2);
    out.put(b'"');
    let mut i = 0;
    while i < s.len() {
        let b = s[i];
        match b {
            b'"' | b'\\' => out.put_all(&[b'\\', b]),
            b'#' => {
                if matches!(s.get(i + 1), Some(b'{' | b'$' | b'@')) {
                    out.put(b'\\');
                }
                out.put(b'#');
            }
            0x20..=0x7E => out.put(b),
            _ => {
                if let Some(letter) = short_escape(b as u32) {
                    out.put_all(&[b'\\', letter]);
                } else if b >= 0x80
                    && enc.is_utf8()
                    && let Some((c, n)) = enc.decode(&s[i..])
                {
                    long_escape(&mut out, c, &s[i..i + n], enc);
                    i += n;
                    continue;
                } else {
                    hex_bytes(&mut out, &[b]);
                }
            }
        }
        i += 1;
    }
    out.put(b'"');
    if !enc.is_ascii_compatible() {
        out.put_all(format!(".dup.force_encoding(\"{}\")", enc.name()).as_bytes());
    }
    out
}

const NOT_WRAPPED: &str = "invalid dumped string; not wrapped with '\"' nor '\"...\".force_encoding(\"...\")' form";

/// `String#undump`: bytes and encoding.
///
/// # Errors
/// The message of `RuntimeError`.
pub fn undump(s: &[u8], enc: EncIndex) -> Result<(Vec<u8>, EncIndex), &'static str> {
    if !s.is_ascii() {
        return Err("non-ASCII character detected");
    }
    if s.contains(&0) {
        return Err("string contains null byte");
    }
    if s.len() < 2 || s[0] != b'"' {
        return Err(NOT_WRAPPED);
    }
    let mut out = Vec::room(s.len());
    let mut enc = enc;
    let (mut utf8, mut binary) = (false, false);
    let mut i = 1;
    loop {
        let Some(&b) = s.get(i) else { return Err("unterminated dumped string") };
        match b {
            b'"' => break,
            b'\\' => {
                let Some(&e) = s.get(i + 1) else { return Err("invalid escape") };
                i += 2;
                match e {
                    b'\\' | b'"' | b'#' => out.put(e),
                    b'n' => out.put(b'\n'),
                    b'r' => out.put(b'\r'),
                    b't' => out.put(b'\t'),
                    b'f' => out.put(0x0C),
                    b'v' => out.put(0x0B),
                    b'b' => out.put(0x08),
                    b'a' => out.put(0x07),
                    b'e' => out.put(0x1B),
                    b'x' => {
                        if utf8 {
                            return Err("hex escape and Unicode escape are mixed");
                        }
                        binary = true;
                        let (value, n) = hex(&s[i..], 2);
                        if n != 2 {
                            return Err("invalid hex escape");
                        }
                        out.put(value as u8);
                        i += 2;
                    }
                    b'u' => {
                        if binary {
                            return Err("hex escape and Unicode escape are mixed");
                        }
                        utf8 = true;
                        i = undump_unicode(s, i, &mut out)?;
                        enc = if enc.is_utf8() { enc } else { EncIndex::UTF_8 };
                    }
                    _ => out.put_all(&[b'\\', e]),
                }
                continue;
            }
            _ => out.put(b),
        }
        i += 1;
    }
    let rest = &s[i + 1..];
    if rest.is_empty() {
        return Ok((out, enc));
    }
    let rest = rest.strip_prefix(b".dup").unwrap_or(rest);
    let Some(name) = rest.strip_prefix(b".force_encoding(\"") else { return Err(NOT_WRAPPED) };
    if utf8 {
        return Err("dumped string contained Unicode escape but used force_encoding");
    }
    let Some(end) = memchr::memchr(b'"', name) else { return Err("unterminated dumped string") };
    if &name[end..] != b"\")" {
        return Err(NOT_WRAPPED);
    }
    match EncIndex::find(&name[..end]) {
        Some(found) => Ok((out, found)),
        None => Err("dumped string has unknown encoding name"),
    }
}

fn hex(s: &[u8], max: usize) -> (u32, usize) {
    s.iter().take(max).map_while(|&b| (b as char).to_digit(16)).fold((0, 0), |(v, n), d| (v * 16 + d, n + 1))
}

/// Reads after `\u`; the place behind it.
fn undump_unicode(s: &[u8], mut i: usize, out: &mut Vec<u8>) -> Result<usize, &'static str> {
    let mut push = |code: u32| match char::from_u32(code) {
        Some(c) => {
            out.put_all(c.encode_utf8(&mut [0; 4]).as_bytes());
            Ok(())
        }
        None if code > 0x10FFFF => Err("invalid Unicode codepoint (too large)"),
        None => Err("invalid Unicode codepoint"),
    };
    if s.get(i) != Some(&b'{') {
        let (code, n) = hex(&s[i..], 4);
        if n != 4 {
            return Err("invalid Unicode escape");
        }
        push(code)?;
        return Ok(i + 4);
    }
    i += 1;
    loop {
        match s.get(i) {
            None => return Err("unterminated Unicode escape"),
            Some(b'}') => return Ok(i + 1),
            Some(b' ') => i += 1,
            Some(_) => {
                let (code, n) = hex(&s[i..], 7);
                if n == 0 {
                    return Err("invalid Unicode escape");
                }
                if n > 6 {
                    return Err("invalid Unicode codepoint (too large)");
                }
                push(code)?;
                i += n;
            }
        }
    }
}

/// What kind of name a symbol is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SymbolKind {
    /// `foo`, `Foo`, with `?` or `!` allowed behind.
    Name,
    /// `foo=`
    Setter,
    /// `@foo`, `@@foo`, `$foo`, `$1`
    Variable,
    /// `+`, `[]=` ...
    Operator,
    /// Anything else: needs quotes.
    Other,
}

/// Bytes of the identifier at the start of `s`.
fn identifier(s: &[u8], enc: EncIndex) -> usize {
    let mut i = 0;
    while i < s.len() {
        match s[i] {
            b'0'..=b'9' if i == 0 => return 0,
            b'_' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => i += 1,
            0x80.. => match enc.char_len(&s[i..]) {
                CharLen::Valid(n) => i += n,
                CharLen::Invalid(_) => return 0,
            },
            _ => break,
        }
    }
    i
}

/// Classifies a symbol's name.
pub(crate) fn symbol_kind(s: &[u8], enc: EncIndex) -> SymbolKind {
    use SymbolKind::*;
    if !enc.is_ascii_compatible() || s.is_empty() {
        return Other;
    }
    match s {
        b"+" | b"-" | b"*" | b"/" | b"**" | b"%" | b"==" | b"===" | b"=~" | b"!=" | b"!~" | b"!" | b"<" | b"<=" | b"<=>" | b">" | b">="
        | b"<<" | b">>" | b"[]" | b"[]=" | b"+@" | b"-@" | b"~" | b"`" | b"&" | b"|" | b"^" => return Operator,
        _ => {}
    }
    let whole = |rest: &[u8]| !rest.is_empty() && identifier(rest, enc) == rest.len();
    match s[0] {
        b'@' => {
            let rest = s[1..].strip_prefix(b"@").unwrap_or(&s[1..]);
            if whole(rest) { Variable } else { Other }
        }
        b'$' => match &s[1..] {
            [c] if b"~*$?!@/\\;,.=:<>\"&`'+0_".contains(c) => Variable,
            [b'-', rest @ ..] => {
                let one = match rest.first() {
                    Some(b) if b.is_ascii() => rest.len() == 1 && (b.is_ascii_alphanumeric() || *b == b'_'),
                    Some(_) => enc.char_len(rest) == CharLen::Valid(rest.len()),
                    None => false,
                };
                if one { Variable } else { Other }
            }
            rest if !rest.is_empty() && rest.iter().all(u8::is_ascii_digit) => Variable,
            rest if whole(rest) => Variable,
            _ => Other,
        },
        _ => match s[identifier(s, enc)..] {
            _ if identifier(s, enc) == 0 => Other,
            [] | [b'?' | b'!'] => Name,
            [b'='] => Setter,
            _ => Other,
        },
    }
}

fn shows_plain(s: &[u8], enc: EncIndex, result: EncIndex) -> bool {
    (s.is_ascii() || enc == result) && enc.chars(s).all(|c| enc.decode(c).is_some_and(|(code, _)| enc.is_ctype(code, Ctype::Print)))
}

/// `Symbol#inspect`.
pub fn symbol_inspect(s: &[u8], enc: EncIndex, result: EncIndex) -> Vec<u8> {
    let mut out = vec![b':'];
    if symbol_kind(s, enc) != SymbolKind::Other && shows_plain(s, enc, result) {
        out.put_all(s);
    } else {
        out.extend(inspect(s, enc, result));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(s: &[u8], enc: EncIndex) -> String {
        String::from_utf8(inspect(s, enc, EncIndex::UTF_8)).unwrap()
    }

    #[test]
    fn inspects_as_recorded() {
        let s = "a\0\u{1b}\u{7f}😀\u{E000}\u{378}#{x}#$a#@b#c\"\\";
        assert_eq!(shown(s.as_bytes(), EncIndex::UTF_8), "\"a\\u0000\\e\\u007F😀\u{E000}\\u0378\\#{x}\\#$a\\#@b#c\\\"\\\\\"");
        assert_eq!(shown(b"\xC3\xA9\xFF", EncIndex::UTF_8), "\"é\\xFF\"");
        assert_eq!(shown(b"\xE9", EncIndex::ISO_8859_1), "\"\\xE9\"");
        assert_eq!(shown(b"\xA4\xA2", EncIndex::EUC_JP), "\"\\x{A4A2}\"");
        assert_eq!(shown(b"B0\xFF\xDB\xFF\xDF", EncIndex::UTF_16LE), "\"\\u3042\\u{10FFFF}\"");
        assert_eq!(shown(b"\xD8\x00", EncIndex::UTF_16BE), "\"\\xD8\\x00\"");
    }

    #[test]
    fn dumps_and_undumps() {
        let d = dump("é\u{1}あ😀".as_bytes(), EncIndex::UTF_8);
        assert_eq!(d, b"\"\\u00E9\\x01\\u3042\\u{1F600}\"");
        let d = dump(b"B0", EncIndex::UTF_16LE);
        assert_eq!(d, b"\"B0\".dup.force_encoding(\"UTF-16LE\")");
        assert_eq!(undump(&d, EncIndex::UTF_8), Ok((b"B0".to_vec(), EncIndex::UTF_16LE)));
        for (text, message) in [
            ("a", NOT_WRAPPED),
            ("\"a", "unterminated dumped string"),
            ("\"\\x\"", "invalid hex escape"),
            ("\"\\u\"", "invalid Unicode escape"),
            ("\"\\u{110000}\"", "invalid Unicode codepoint (too large)"),
            ("\"a\".force_encoding(\"x\")", "dumped string has unknown encoding name"),
            ("\"\\u{61 62", "unterminated Unicode escape"),
            ("é", "non-ASCII character detected"),
            ("\"a\"b", NOT_WRAPPED),
            ("\"\\xE3\\u3042\"", "hex escape and Unicode escape are mixed"),
        ] {
            assert_eq!(undump(text.as_bytes(), EncIndex::UTF_8), Err(message), "{text}");
        }
    }

    #[test]
    fn symbols_as_recorded() {
        let recorded = ":foo :foo? :foo! :foo= :Foo :Foo= :Foo? :@a :@@a :$a :$1 :$-w :\"$-ww\" :$~ :$12 :\"$1a\" :\"@1\" :\"@\" :\"$\" :\"1a\" :+ :- :* :/ :** :% :== :=== :=~ :!= :!~ :! :< :<= :<=> :> :>= :<< :>> :[] :[]= :+@ :-@ :~ :` :& :| :^ :\"&&\" :\"||\" :\"..\" :\"=>\" :\"=\" :\"?\" :あ :あ? :@あ :$あ :\"a-b\" :nil :self :\"a?=\" :\"foo==\" :\"[]?\" :\"$??\" :\"@a?\" :\"!@\" :\"~@\" :\"$-\"";
        for want in recorded.split(' ') {
            let name = want[1..].trim_matches('"');
            let got = symbol_inspect(name.as_bytes(), EncIndex::UTF_8, EncIndex::UTF_8);
            assert_eq!(String::from_utf8_lossy(&got), want);
        }
    }
}
