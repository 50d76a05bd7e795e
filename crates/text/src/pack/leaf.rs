//! Encoders and decoders of single values.
//!
//! Invariant: decoders accept any bytes; what they can't read they leave out, as CRuby
//! does, or report with its message.

use kumi_budget::Grow;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// `a A Z`: `s` cut or padded to `count` bytes. `Z*` adds a null.
pub fn put_bytes(out: &mut Vec<u8>, letter: u8, s: &[u8], count: super::Count) {
    let n = count.or(1, s.len() + usize::from(letter == b'Z'));
    let pad = if letter == b'A' { b' ' } else { 0 };
    out.extend_from_slice(&s[..n.min(s.len())]);
    if n > s.len() {
        out.resize(out.len() + (n - s.len()), pad);
    }
}

/// `a A Z` from `s`, which holds all that is left: the value and the bytes used.
pub fn get_bytes(letter: u8, s: &[u8], count: super::Count) -> (&[u8], usize) {
    let n = count.or(1, s.len()).min(s.len());
    let part = &s[..n];
    match letter {
        b'A' => {
            let end = part.iter().rposition(|&b| b != b' ' && b != 0).map_or(0, |p| p + 1);
            (&part[..end], n)
        }
        b'Z' => match memchr::memchr(0, part) {
            Some(at) => (&part[..at], if count == super::Count::All { at + 1 } else { n }),
            None => (part, n),
        },
        _ => (part, n),
    }
}

/// `b B` of a string of digits (only the lowest bit of each byte counts).
pub fn put_bits(out: &mut Vec<u8>, msb: bool, s: &[u8], count: super::Count) {
    put_digits(out, s, count.or(1, s.len()), 8, |byte, i, c| {
        let bit = c & 1;
        byte | if msb { bit << (7 - i) } else { bit << i }
    });
}

/// `h H` of a string of hex digits; other letters count by their low bits.
pub fn put_hex(out: &mut Vec<u8>, high: bool, s: &[u8], count: super::Count) {
    put_digits(out, s, count.or(1, s.len()), 2, |byte, i, c| {
        let nibble = if c.is_ascii_alphabetic() { ((c & 15) + 9) & 15 } else { c & 15 };
        byte | if (i == 0) == high { nibble << 4 } else { nibble }
    });
}

fn put_digits(out: &mut Vec<u8>, s: &[u8], n: usize, per_byte: usize, add: impl Fn(u8, usize, u8) -> u8) {
    for chunk in s[..n.min(s.len())].chunks(per_byte) {
        out.push(chunk.iter().enumerate().fold(0, |byte, (i, &c)| add(byte, i, c)));
    }
    if n > s.len() {
        // CRuby's padding for bits, too, counts as if two digits made a byte.
        let pad = if per_byte == 2 { n.div_ceil(2) - s.len().div_ceil(2) } else { (n - s.len()).div_ceil(2) };
        out.resize(out.len() + pad, 0);
    }
}

/// `b B`: digits and the bytes used.
pub fn get_bits(msb: bool, s: &[u8], count: super::Count) -> (Vec<u8>, usize) {
    let n = count.or(1, usize::MAX).min(s.len().saturating_mul(8));
    let digits = (0..n).map(|i| {
        let byte = s[i / 8];
        let bit = if msb { byte >> (7 - i % 8) } else { byte >> (i % 8) };
        b'0' + (bit & 1)
    });
    (digits.collect(), n.div_ceil(8))
}

/// `h H`: digits and the bytes used.
pub fn get_hex(high: bool, s: &[u8], count: super::Count) -> (Vec<u8>, usize) {
    let n = count.or(1, usize::MAX).min(s.len().saturating_mul(2));
    let digits = (0..n).map(|i| {
        let byte = s[i / 2];
        let nibble = if (i % 2 == 0) == high { byte >> 4 } else { byte & 15 };
        b"0123456789abcdef"[nibble as usize]
    });
    (digits.collect(), n.div_ceil(2))
}

/// An integer given as two's complement little-endian bytes, cut or sign-extended to
/// `size` bytes.
pub fn put_int(out: &mut Vec<u8>, le: &[u8], negative: bool, size: usize, big: bool) {
    let fill = if negative { 0xFF } else { 0 };
    let byte = |i: usize| le.get(i).copied().unwrap_or(fill);
    if big {
        out.extend((0..size).rev().map(byte));
    } else {
        out.extend((0..size).map(byte));
    }
}

/// A fixed-width integer of up to 8 bytes.
pub fn get_int(s: &[u8], signed: bool, big: bool) -> i128 {
    let mut bytes: Vec<u8> = s.iter().take(8).copied().collect();
    if big {
        bytes.reverse();
    }
    let value = bytes.iter().rev().fold(0u64, |v, &b| v << 8 | b as u64);
    let bits = bytes.len() * 8;
    if signed && bits > 0 { ((value as i128) << (128 - bits)) >> (128 - bits) } else { value as i128 }
}

/// A float; single precision rounds.
pub fn put_float(out: &mut Vec<u8>, value: f64, double: bool, big: bool) {
    match (double, big) {
        (true, true) => out.extend_from_slice(&value.to_be_bytes()),
        (true, false) => out.extend_from_slice(&value.to_le_bytes()),
        (false, true) => out.extend_from_slice(&(value as f32).to_be_bytes()),
        (false, false) => out.extend_from_slice(&(value as f32).to_le_bytes()),
    }
}

/// A float; `None` if too few bytes are left.
pub fn get_float(s: &[u8], double: bool, big: bool) -> Option<f64> {
    if double {
        let b: [u8; 8] = s.get(..8)?.try_into().ok()?;
        Some(if big { f64::from_be_bytes(b) } else { f64::from_le_bytes(b) })
    } else {
        let b: [u8; 4] = s.get(..4)?.try_into().ok()?;
        Some((if big { f32::from_be_bytes(b) } else { f32::from_le_bytes(b) }) as f64)
    }
}

/// `U`: a code point up to 0x7FFFFFFF in UTF-8, surrogates included.
///
/// # Errors
/// `RangeError` "pack(U): value out of range".
pub fn put_utf8(out: &mut Vec<u8>, c: u32) -> Result<(), &'static str> {
    let (lead, more) = match c {
        0..=0x7F => (0, 0),
        0x80..=0x7FF => (0xC0, 1),
        0x800..=0xFFFF => (0xE0, 2),
        0x1_0000..=0x1F_FFFF => (0xF0, 3),
        0x20_0000..=0x3FF_FFFF => (0xF8, 4),
        0x400_0000..=0x7FFF_FFFF => (0xFC, 5),
        _ => return Err("pack(U): value out of range"),
    };
    out.push(lead | (c >> (6 * more)) as u8);
    for i in (0..more).rev() {
        out.push(0x80 | (c >> (6 * i) & 0x3F) as u8);
    }
    Ok(())
}

/// `U`: a code point and its length, from bytes that are not empty.
///
/// # Errors
/// `ArgumentError`: malformed, or redundant, UTF-8 character.
pub fn get_utf8(s: &[u8]) -> Result<(u32, usize), String> {
    let Some(&b0) = s.first() else { return Err("malformed UTF-8 character".into()) };
    if b0 < 0x80 {
        return Ok((b0 as u32, 1));
    }
    let (n, mut c) = match b0 {
        0x80..=0xBF | 0xFE.. => return Err("malformed UTF-8 character".into()),
        0xC0..=0xDF => (2, (b0 & 0x1F) as u32),
        0xE0..=0xEF => (3, (b0 & 0x0F) as u32),
        0xF0..=0xF7 => (4, (b0 & 0x07) as u32),
        0xF8..=0xFB => (5, (b0 & 0x03) as u32),
        _ => (6, (b0 & 0x01) as u32),
    };
    if n > s.len() {
        return Err(format!("malformed UTF-8 character (expected {n} bytes, given {} bytes)", s.len()));
    }
    for &b in &s[1..n] {
        if b & 0xC0 != 0x80 {
            return Err("malformed UTF-8 character".into());
        }
        c = c << 6 | (b & 0x3F) as u32;
    }
    const LEAST: [u32; 7] = [0, 0, 0x80, 0x800, 0x1_0000, 0x20_0000, 0x400_0000];
    if c < LEAST[n] {
        return Err("redundant UTF-8 sequence".into());
    }
    Ok((c, n))
}

/// `w`: an integer that is not negative, given as little-endian bytes.
pub fn put_ber(out: &mut Vec<u8>, le: &[u8]) {
    let bits = le.iter().rposition(|&b| b != 0).map_or(0, |p| p * 8 + 8 - le[p].leading_zeros() as usize);
    let groups = bits.div_ceil(7).max(1);
    for g in (0..groups).rev() {
        let at = g * 7;
        let low = le.get(at / 8).copied().unwrap_or(0) as u16;
        let high = le.get(at / 8 + 1).copied().unwrap_or(0) as u16;
        let group = ((high << 8 | low) >> (at % 8)) as u8 & 0x7F;
        out.push(group | if g > 0 { 0x80 } else { 0 });
    }
}

/// `w`: little-endian bytes and the length; `None` if the number doesn't end.
pub fn get_ber(s: &[u8]) -> Option<(Vec<u8>, usize)> {
    let n = s.iter().position(|b| b & 0x80 == 0)? + 1;
    let mut out = Vec::room(n);
    let (mut acc, mut bits) = (0u16, 0);
    for &b in s[..n].iter().rev() {
        acc |= ((b & 0x7F) as u16) << bits;
        bits += 7;
        if bits >= 8 {
            out.push(acc as u8);
            acc >>= 8;
            bits -= 8;
        }
    }
    out.push(acc as u8);
    Some((out, n))
}

/// `m`: base64, in lines of `count / 3 * 3` bytes (45 by default); 0 for no line breaks.
pub fn put_base64(out: &mut Vec<u8>, s: &[u8], count: super::Count) {
    let count = count.or(45, 45);
    out.want(s.len().saturating_mul(3) / 2 + 8);
    if count == 0 {
        return base64_line(out, s);
    }
    let line = if count < 3 { 45 } else { count / 3 * 3 };
    for part in s.chunks(line) {
        base64_line(out, part);
        out.push(b'\n');
    }
}

fn base64_line(out: &mut Vec<u8>, s: &[u8]) {
    let letters = |[a, b, c]: [u8; 3]| {
        let v = (a as usize) << 16 | (b as usize) << 8 | c as usize;
        [BASE64[v >> 18], BASE64[v >> 12 & 63], BASE64[v >> 6 & 63], BASE64[v & 63]]
    };
    let (groups, rest) = s.as_chunks::<3>();
    for group in groups {
        out.extend_from_slice(&letters(*group));
    }
    match *rest {
        [a] => {
            let [x, y, ..] = letters([a, 0, 0]);
            out.extend_from_slice(&[x, y, b'=', b'=']);
        }
        [a, b] => {
            let [x, y, z, _] = letters([a, b, 0]);
            out.extend_from_slice(&[x, y, z, b'=']);
        }
        _ => {}
    }
}

/// Letters' values; [`NO_LETTER`] for what is none.
static BASE64_VALUES: [u8; 256] = {
    let mut values = [NO_LETTER; 256];
    let mut i = 0;
    while i < 64 {
        values[BASE64[i] as usize] = i as u8;
        i += 1;
    }
    values
};
const NO_LETTER: u8 = 0x80;

/// `m`: `strict` for count 0. Otherwise letters outside the alphabet are skipped.
///
/// # Errors
/// `ArgumentError` "invalid base64".
pub fn get_base64(s: &[u8], strict: bool) -> Result<Vec<u8>, &'static str> {
    const BAD: &str = "invalid base64";
    let mut out = Vec::room(s.len() / 4 * 3 + 3);
    let (mut acc, mut n) = (0u32, 0);
    let body = if strict {
        if !s.len().is_multiple_of(4) {
            return Err(BAD);
        }
        s.strip_suffix(b"==").or_else(|| s.strip_suffix(b"=")).unwrap_or(s)
    } else {
        s
    };
    let value = |b: u8| BASE64_VALUES[b as usize];
    let mut at = 0;
    while let Some(&b) = body.get(at) {
        // Groups of four letters, as nearly all are.
        if n == 0
            && let Some(&[a, b, c, d]) = body[at..].first_chunk()
        {
            let [a, b, c, d] = [value(a), value(b), value(c), value(d)].map(u32::from);
            if (a | b | c | d) & NO_LETTER as u32 == 0 {
                let [_, group @ ..] = (a << 18 | b << 12 | c << 6 | d).to_be_bytes();
                out.extend_from_slice(&group);
                at += 4;
                continue;
            }
        }
        at += 1;
        match value(b) {
            NO_LETTER if strict => return Err(BAD),
            NO_LETTER if b == b'=' && n >= 2 => break,
            NO_LETTER => continue,
            v => acc = acc << 6 | v as u32,
        }
        n += 1;
        if n == 4 {
            out.extend_from_slice(&acc.to_be_bytes()[1..]);
            (acc, n) = (0, 0);
        }
    }
    match n {
        2 if !strict || acc & 15 == 0 => out.push((acc >> 4) as u8),
        3 if !strict || acc & 3 == 0 => out.extend_from_slice(&[(acc >> 10) as u8, (acc >> 2) as u8]),
        1.. if strict => return Err(BAD),
        _ => {}
    }
    Ok(out)
}

/// `u`: uuencode.
pub fn put_uu(out: &mut Vec<u8>, s: &[u8], count: super::Count) {
    let count = count.or(45, 45);
    let line = if count < 3 { 45 } else { (count / 3 * 3).min(63) };
    let letter = |v: u32| if v == 0 { b'`' } else { b' ' + v as u8 };
    for part in s.chunks(line) {
        out.push(b' ' + part.len() as u8);
        for group in part.chunks(3) {
            let b = |i: usize| group.get(i).copied().unwrap_or(0) as u32;
            let v = b(0) << 16 | b(1) << 8 | b(2);
            for i in 0..4 {
                // Missing bytes are written as a backquote.
                out.push(if i <= group.len() { letter(v >> (18 - 6 * i) & 63) } else { b'`' });
            }
        }
        out.push(b'\n');
    }
}

/// `u`: decodes up to a line that is not uuencoded. Three quarters of the letters are the most that come out, however long the
/// lines say they are.
pub fn get_uu(s: &[u8]) -> Vec<u8> {
    let most = s.len() * 3 / 4;
    let mut out = Vec::new();
    let mut i = 0;
    while i < s.len() && s[i] > b' ' && s[i] < b'a' {
        let mut left = (((s[i] - b' ') & 0x3F) as usize).min(most - out.len());
        i += 1;
        while left > 0 {
            let mut v = 0u32;
            for _ in 0..4 {
                let digit = match s.get(i) {
                    Some(&b) if b != b'\n' => {
                        i += 1;
                        (b.wrapping_sub(b' ') & 0x3F) as u32
                    }
                    _ => 0,
                };
                v = v << 6 | digit;
            }
            let n = left.min(3);
            out.extend_from_slice(&v.to_be_bytes()[1..1 + n]);
            left -= n;
            if i >= s.len() {
                break;
            }
        }
        if s.get(i) == Some(&b'\r') {
            i += 1;
        }
        match s.get(i) {
            Some(b'\n') => i += 1,
            Some(_) if s.get(i + 1) == Some(&b'\n') => i += 2,
            _ => {}
        }
    }
    out
}

/// `M`: encodes a text piece by piece.
pub struct Quoted {
    limit: usize,
    column: usize,
    previous: Option<u8>,
}

impl Quoted {
    /// The beginning. Lines are broken after `count` columns, from 2 on; else after 72.
    pub fn new(count: super::Count) -> Quoted {
        let limit = match count {
            super::Count::Times(n) if n > 1 => n,
            _ => 72,
        };
        Quoted { limit, column: 0, previous: None }
    }
    /// The next piece of the text.
    pub fn put(&mut self, out: &mut Vec<u8>, piece: &[u8]) {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        for &b in piece {
            if b > 126 || (b < 32 && b != b'\n' && b != b'\t') || b == b'=' {
                out.extend_from_slice(&[b'=', DIGITS[(b >> 4) as usize], DIGITS[(b & 15) as usize]]);
                self.column += 3;
                self.previous = None;
            } else if b == b'\n' {
                if matches!(self.previous, Some(b' ' | b'\t')) {
                    out.extend_from_slice(b"=\n");
                }
                out.push(b'\n');
                self.column = 0;
                self.previous = Some(b);
            } else {
                out.push(b);
                self.column += 1;
                self.previous = Some(b);
            }
            if self.column > self.limit {
                out.extend_from_slice(b"=\n");
                self.column = 0;
                self.previous = Some(b'\n');
            }
        }
    }
    /// After the last piece.
    pub fn end(self, out: &mut Vec<u8>) {
        if self.column > 0 {
            out.extend_from_slice(b"=\n");
        }
    }
}

/// `M`: decodes; from a broken escape on the text is kept as it is.
pub fn get_quoted(s: &[u8]) -> Vec<u8> {
    let mut out = Vec::room(s.len());
    let mut i = 0;
    while i < s.len() {
        if s[i] != b'=' {
            out.push(s[i]);
            i += 1;
            continue;
        }
        match (s.get(i + 1), s.get(i + 2)) {
            (None, _) => return finish(out, &s[i..]),
            (Some(b'\n'), _) => i += 2,
            (Some(b'\r'), Some(b'\n')) => i += 3,
            (Some(&a), Some(&b)) => match ((a as char).to_digit(16), (b as char).to_digit(16)) {
                (Some(a), Some(b)) => {
                    out.push((a << 4 | b) as u8);
                    i += 3;
                }
                _ => return finish(out, &s[i..]),
            },
            _ => return finish(out, &s[i..]),
        }
    }
    out
}

fn finish(mut out: Vec<u8>, rest: &[u8]) -> Vec<u8> {
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::super::Count;
    use super::*;

    fn put(f: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        f(&mut out);
        out
    }

    /// What CRuby's `pack` and `unpack` answer, here and below.
    #[test]
    fn bytes_are_cut_padded_and_stripped() {
        for (letter, count, s, packed, unpacked) in [
            (b'a', Count::None, &b"ab "[..], &b"a"[..], &b"a"[..]),
            (b'a', Count::Times(0), b"ab ", b"", b""),
            (b'a', Count::Times(5), b"ab ", b"ab \0\0", b"ab "),
            (b'a', Count::All, b"ab\0 ", b"ab\0 ", b"ab\0 "),
            (b'A', Count::Times(5), b"ab ", b"ab   ", b"ab"),
            (b'A', Count::All, b"ab\0\0 ", b"ab\0\0 ", b"ab"),
            (b'Z', Count::Times(5), b"ab ", b"ab \0\0", b"ab "),
            (b'Z', Count::All, b"abc\0d", b"abc\0d\0", b"abc"),
            (b'Z', Count::Times(2), b"abc\0d", b"ab", b"ab"),
        ] {
            assert_eq!(put(|o| put_bytes(o, letter, s, count)), packed, "{} {count:?} of {s:?}", letter as char);
            assert_eq!(get_bytes(letter, s, count).0, unpacked, "{} {count:?} of {s:?}", letter as char);
        }
    }

    #[test]
    fn bits_and_nibbles_stand_in_either_order() {
        assert_eq!(put(|o| put_bits(o, false, b"1011", Count::All)), b"\x0D");
        assert_eq!(put(|o| put_bits(o, true, b"1011", Count::All)), b"\xB0");
        assert_eq!(put(|o| put_bits(o, true, b"hello world, this", Count::Times(12))), b"K\0");
        assert_eq!(get_bits(false, b"\x0D\x01", Count::Times(9)), (b"101100001".to_vec(), 2));
        assert_eq!(get_bits(true, b"\xB0", Count::All), (b"10110000".to_vec(), 1));
        assert_eq!(get_hex(true, b"\x1f\xa0", Count::Times(3)), (b"1fa".to_vec(), 2));
        assert_eq!(get_hex(false, b"\x1f\xa0", Count::All), (b"f10a".to_vec(), 2));
    }

    #[test]
    fn base64_is_read_leniently_or_strictly() {
        for (text, lenient, strict) in [
            ("", "", Some("")),
            ("YQ==", "a", Some("a")),
            ("YWI=", "ab", Some("ab")),
            ("YWJj", "abc", Some("abc")),
            ("YW\nJj", "abc", None),
            ("YQ", "a", None),
            ("YQ=", "a", None),
            ("Y", "", None),
            ("====", "", None),
            ("YQ==YQ==", "a", None),
            ("Y-Q=", "a", None),
            ("YWJ=", "ab", None),
            ("YR==", "a", None),
        ] {
            assert_eq!(get_base64(text.as_bytes(), false), Ok(lenient.as_bytes().to_vec()), "{text}");
            assert_eq!(get_base64(text.as_bytes(), true).ok(), strict.map(|s| s.as_bytes().to_vec()), "{text}");
        }
        assert_eq!(put(|o| put_base64(o, b"abcdefg", Count::Times(5))), b"YWJj\nZGVm\nZw==\n");
    }

    #[test]
    fn uuencoded_text_gives_no_more_than_it_holds() {
        for (text, want) in [
            ("#86)C\n", "abc"),
            ("#86)C", "abc"),
            ("\"86(`\n", "ab"),
            ("", ""),
            ("`\n", ""),
            ("a\n", ""),
            ("#86)C\r\n#86)C\r\n", "abcabc"),
            ("#86)CX\n#86)C\n", "abcabc"),
            ("!", ""),
            ("#8", "`"),
        ] {
            assert_eq!(get_uu(text.as_bytes()), want.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn quoted_text_is_kept_from_a_broken_escape_on() {
        for (text, want) in [
            ("=41", &b"A"[..]),
            ("=4", b"=4"),
            ("=", b"="),
            ("=\n", b""),
            ("a=\r\nb", b"ab"),
            ("=4G", b"=4G"),
            ("=zz1", b"=zz1"),
            ("a=3Db", b"a=b"),
            ("=e9", b"\xE9"),
        ] {
            assert_eq!(get_quoted(text.as_bytes()), want, "{text:?}");
        }
    }

    #[test]
    fn compressed_integers_come_back() {
        for (n, want) in [
            (0u128, &b"\0"[..]),
            (1, b"\x01"),
            (127, b"\x7F"),
            (128, b"\x81\0"),
            (16383, b"\xFF\x7F"),
            (16384, b"\x81\x80\0"),
            (1 << 32, b"\x90\x80\x80\x80\0"),
            (1 << 64, b"\x82\x80\x80\x80\x80\x80\x80\x80\x80\0"),
            ((1 << 70) - 1, b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"),
        ] {
            assert_eq!(put(|o| put_ber(o, &n.to_le_bytes())), want, "{n}");
            let (bytes, used) = get_ber(want).unwrap();
            let back = bytes.iter().rev().fold(0u128, |v, &b| v << 8 | b as u128);
            assert_eq!((back, used), (n, want.len()));
        }
        assert_eq!(get_ber(b"\x81"), None);
    }

    #[test]
    fn characters_beyond_unicode_have_up_to_six_bytes() {
        for (c, want) in [
            (0, &b"\0"[..]),
            (0x7F, b"\x7F"),
            (0x80, b"\xC2\x80"),
            (0x7FF, b"\xDF\xBF"),
            (0x800, b"\xE0\xA0\x80"),
            (0xD800, b"\xED\xA0\x80"),
            (0xFFFF, b"\xEF\xBF\xBF"),
            (0x10000, b"\xF0\x90\x80\x80"),
            (0x1F_FFFF, b"\xF7\xBF\xBF\xBF"),
            (0x20_0000, b"\xF8\x88\x80\x80\x80"),
            (0x3FF_FFFF, b"\xFB\xBF\xBF\xBF\xBF"),
            (0x400_0000, b"\xFC\x84\x80\x80\x80\x80"),
            (0x7FFF_FFFF, b"\xFD\xBF\xBF\xBF\xBF\xBF"),
        ] {
            let mut out = Vec::new();
            assert_eq!((put_utf8(&mut out, c), out.as_slice()), (Ok(()), want), "{c:x}");
            assert_eq!(get_utf8(want), Ok((c, want.len())));
        }
        assert!(put_utf8(&mut Vec::new(), 0x8000_0000).is_err());
        let messages: [(&[u8], &str); 6] = [
            (b"\xC3", "malformed UTF-8 character (expected 2 bytes, given 1 bytes)"),
            (b"\x80", "malformed UTF-8 character"),
            (b"\xFE", "malformed UTF-8 character"),
            (b"\xC3(", "malformed UTF-8 character"),
            (b"\xC0\x80", "redundant UTF-8 sequence"),
            (b"\xE0\x80\x80", "redundant UTF-8 sequence"),
        ];
        for (bytes, want) in messages {
            assert_eq!(get_utf8(bytes), Err(want.to_string()));
        }
    }
}
