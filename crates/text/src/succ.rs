//! `String#succ`: the next string, as odometers count.
//!
//! Invariant: a character's successor has as many bytes as the character; what overflows
//! carries to the left, letters among letters and digits among digits.

use crate::encoding::{CharLen, Ctype, EncIndex};
use kumi_budget::Grow;

enum Next {
    /// The next character.
    Found(Vec<u8>),
    /// There is none; counting starts again here.
    Wrapped(Vec<u8>),
}

/// The next or previous valid character of the same length.
fn neighbour(c: &[u8], enc: EncIndex, up: bool) -> Option<Vec<u8>> {
    if enc.is_unicode()
        && let Some((code, _)) = enc.decode(c)
    {
        let mut code = if up { code.checked_add(1)? } else { code.checked_sub(1)? };
        if (0xD800..=0xDFFF).contains(&code) {
            code = if up { 0xE000 } else { 0xD7FF };
        }
        let bytes = enc.encode(code)?;
        return (bytes.len() == c.len()).then(|| bytes.to_vec());
    }
    let mut bytes = c.to_vec();
    // Gaps between valid codes are shorter than this.
    for _ in 0..0x2_0000 {
        let mut carried = true;
        for b in bytes.iter_mut().rev() {
            let (next, over) = if up { b.overflowing_add(1) } else { b.overflowing_sub(1) };
            *b = next;
            if !over {
                carried = false;
                break;
            }
        }
        if carried {
            return None;
        }
        if enc.char_len(&bytes) == CharLen::Valid(bytes.len()) || (bytes.len() == 1 && enc.is_single_byte()) {
            return Some(bytes);
        }
    }
    None
}

/// The first valid character with so many bytes.
fn lowest(len: usize, enc: EncIndex) -> Vec<u8> {
    let zero = vec![0u8; len];
    if enc.char_len(&zero) == CharLen::Valid(len) {
        return zero;
    }
    if enc.is_unicode() {
        let code = match (len, enc.min_len()) {
            (2, 1) => 0x80,
            (3, 1) => 0x800,
            (4 | 6, _) => 0x1_0000,
            _ => 0,
        };
        return enc.encode(code).map_or(zero, |b| b.to_vec());
    }
    neighbour(&zero, enc, true).unwrap_or(zero)
}

fn class_of(c: &[u8], enc: EncIndex) -> Option<Ctype> {
    let (code, _) = enc.decode(c)?;
    [Ctype::Digit, Ctype::Alpha].into_iter().find(|&class| enc.is_ctype(code, class))
}

/// The next letter or digit, with what is carried where it wraps; `None` for others.
fn next_alnum(c: &[u8], enc: EncIndex) -> Option<(Next, Vec<u8>)> {
    let class = class_of(c, enc)?;
    let same = |c: &[u8]| enc.decode(c).is_some_and(|(code, _)| enc.is_ctype(code, class));
    let mut next = Some(c.to_vec());
    // One gap is stepped over.
    for _ in 0..2 {
        next = next.and_then(|n| neighbour(&n, enc, true));
        match next {
            Some(ref n) if same(n) => return Some((Next::Found(n.clone()), vec![])),
            Some(_) => {}
            None => break,
        }
    }
    let mut first = c.to_vec();
    while let Some(before) = neighbour(&first, enc, false) {
        if !same(&before) {
            break;
        }
        first = before;
    }
    let carry = if class == Ctype::Digit { neighbour(&first, enc, true).unwrap_or(first.clone()) } else { first.clone() };
    Some((Next::Wrapped(first), carry))
}

fn put(out: &mut Vec<u8>, place: std::ops::Range<usize>, bytes: Vec<u8>) {
    if bytes.len() == place.len() {
        out[place].copy_from_slice(&bytes);
    } else {
        out.splice(place, bytes);
    }
}

/// The string after `s`.
pub fn succ(s: &[u8], enc: EncIndex) -> Vec<u8> {
    if s.is_empty() {
        return Vec::new();
    }
    // Each character's place. Its successor takes it, mostly as long: the places of those before stay what they are.
    let single = enc.is_single_byte() || enc.is_ascii_compatible() && s.is_ascii();
    let starts: Vec<usize> = if single {
        Vec::new()
    } else {
        let mut at = 0;
        Vec::gather(enc.chars(s).map(|c| {
            at += c.len();
            at - c.len()
        }))
    };
    let count = if single { s.len() } else { starts.len() };
    let place = |i: usize| if single { i..i + 1 } else { starts[i]..starts.get(i + 1).copied().unwrap_or(s.len()) };
    let mut out = Vec::copy(s);
    let mut carry: Option<(usize, Vec<u8>)> = None;
    let mut last_alnum: Option<u8> = None;
    let mut neighbour_found = true;
    for i in (0..count).rev() {
        if !neighbour_found && let Some(last) = last_alnum {
            let here = out[place(i).start];
            let other_kind =
                if last.is_ascii_alphabetic() { here.is_ascii_digit() } else { last.is_ascii_digit() && here.is_ascii_alphabetic() };
            if other_kind {
                break;
            }
        }
        match next_alnum(&out[place(i)], enc) {
            None => neighbour_found = false,
            Some((Next::Found(next), _)) => {
                put(&mut out, place(i), next);
                return out;
            }
            Some((Next::Wrapped(first), carried)) => {
                neighbour_found = true;
                last_alnum = Some(out[place(i).start]);
                put(&mut out, place(i), first);
                carry = Some((place(i).start, carried));
            }
        }
    }
    if carry.is_none() {
        // No letter or digit: every character counts.
        for i in (0..count).rev() {
            let c = &out[place(i)];
            match neighbour(c, enc, true) {
                Some(next) => {
                    put(&mut out, place(i), next);
                    return out;
                }
                None => {
                    let low = lowest(c.len(), enc);
                    put(&mut out, place(i), low);
                }
            }
        }
        let one = enc.encode(1).map_or(vec![1], |b| b.to_vec());
        carry = Some((0, one));
    }
    if let Some((at, carried)) = carry {
        out.splice(at..at, carried);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_recorded() {
        let pairs = "a b|z aa|az ba|zz aaa|a9 b0|Az Ba|Zz AAa|-9 -10|9 10|-a -b|<<koala>> <<koalb>>|1999zzz 2000aaa|ZZZ9999 AAAA0000|*** **+|a-9 a-10|1.9.9 2.0.0|Z AA|1.9 2.0|a.z b.a|-z- -aa-|zZ9 aaA0|あ ぃ|ん ゔ|é ê|ÿ Ā|a!9 a!10|--z --aa|A99 B00|y.10 y.11|1.0.9-rc9 1.0.9-rd0|z~ aa~|zあ zぃ|あ9 ぃ0|あz ぃa|ァ ア|a-Z9- b-A0-|...1.9 ...2.0|я ѐ|٩ ١٠|ｚ ａａ";
        for pair in pairs.split('|') {
            let (from, to) = pair.split_once(' ').unwrap();
            assert_eq!(String::from_utf8_lossy(&succ(from.as_bytes(), EncIndex::UTF_8)), to, "{from}");
        }
        assert_eq!(succ(b"\xFF", EncIndex::BINARY), b"\x01\x00");
        assert_eq!(succ(b"a\xFF", EncIndex::BINARY), b"b\xFF");
        assert_eq!(succ("\u{10FFFF}".as_bytes(), EncIndex::UTF_8), "\u{1}\u{10000}".as_bytes());
        assert_eq!(succ(b"\xA4\xF3", EncIndex::EUC_JP), b"\xA4\xF4");
        assert_eq!(succ(b"\xFF", EncIndex::ISO_8859_1), b"\xF8\xF8");
    }
}
