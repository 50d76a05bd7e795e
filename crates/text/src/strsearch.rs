//! Finding, summing, normalising, splitting into graphemes.
//!
//! Invariant: offsets returned are byte offsets on character boundaries of the encoding.

use crate::encoding::EncIndex;
use kumi_budget::Grow;
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

/// Whether every byte match of a valid needle begins a character.
fn self_synchronising(enc: EncIndex) -> bool {
    enc.is_single_byte() || enc.is_utf8()
}

/// First occurrence of `needle` at or after byte `from`.
pub fn find(hay: &[u8], needle: &[u8], from: usize, enc: EncIndex) -> Option<usize> {
    let mut at = from;
    loop {
        let rest = hay.get(at..)?;
        let found = at
            + match needle {
                [b] => memchr::memchr(*b, rest)?,
                _ => memchr::memmem::find(rest, needle)?,
            };
        if self_synchronising(enc) || enc.char_head(hay, found) == found {
            return Some(found);
        }
        at = found + 1;
    }
}

/// Last occurrence of `needle` that begins at or before byte `upto`.
pub fn rfind(hay: &[u8], needle: &[u8], upto: usize, enc: EncIndex) -> Option<usize> {
    let mut end = upto.saturating_add(needle.len()).min(hay.len());
    loop {
        let found = memchr::memmem::rfind(hay.get(..end)?, needle)?;
        if self_synchronising(enc) || enc.char_head(hay, found) == found {
            return Some(found);
        }
        end = (found + needle.len()).checked_sub(1)?;
    }
}

/// `String#sum`: the sum of the bytes in `bits` bits (all bits for 0 or fewer; a sum of
/// any string fits 128).
pub fn sum(s: &[u8], bits: i64) -> u128 {
    let total: u128 = s.iter().map(|&b| b as u128).sum();
    if (1..128).contains(&bits) { total & ((1 << bits) - 1) } else { total }
}

/// Unicode normalisation forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Canonical composition.
    Nfc,
    /// Canonical decomposition.
    Nfd,
    /// Compatibility composition.
    Nfkc,
    /// Compatibility decomposition.
    Nfkd,
}

impl Form {
    /// By its symbol: `nfc`, `nfd`, `nfkc`, `nfkd`.
    pub fn find(name: &[u8]) -> Option<Form> {
        Some(match name {
            b"nfc" => Form::Nfc,
            b"nfd" => Form::Nfd,
            b"nfkc" => Form::Nfkc,
            b"nfkd" => Form::Nfkd,
            _ => return None,
        })
    }
}

/// Normalises valid UTF-8; `None` for invalid bytes.
pub fn normalize(s: &[u8], form: Form) -> Option<String> {
    let text = std::str::from_utf8(s).ok()?;
    let mut out = Vec::room(s.len());
    let mut put = |c: char| out.put_all(c.encode_utf8(&mut [0; 4]).as_bytes());
    match form {
        Form::Nfc => text.nfc().for_each(&mut put),
        Form::Nfd => text.nfd().for_each(&mut put),
        Form::Nfkc => text.nfkc().for_each(&mut put),
        Form::Nfkd => text.nfkd().for_each(&mut put),
    }
    String::from_utf8(out).ok()
}

/// Whether UTF-8 text is in the form; `None` for invalid bytes.
pub fn is_normalized(s: &[u8], form: Form) -> Option<bool> {
    let text = std::str::from_utf8(s).ok()?;
    Some(match form {
        Form::Nfc => unicode_normalization::is_nfc(text),
        Form::Nfd => unicode_normalization::is_nfd(text),
        Form::Nfkc => unicode_normalization::is_nfkc(text),
        Form::Nfkd => unicode_normalization::is_nfkd(text),
    })
}

/// Byte ranges of the extended grapheme clusters; bytes that form no character are one
/// each. Characters are the clusters of encodings other than UTF-8.
pub fn graphemes(s: &[u8], enc: EncIndex) -> Vec<std::ops::Range<usize>> {
    let mut out = Vec::new();
    let mut at = 0;
    if !enc.is_utf8() {
        for c in enc.chars(s) {
            let crlf = c == b"\n" && at > 0 && s[at - 1] == b'\r' && enc.is_ascii_compatible();
            match out.last_mut() {
                Some(std::ops::Range { end, .. }) if crlf => *end = at + 1,
                _ => out.put(at..at + c.len()),
            }
            at += c.len();
        }
        return out;
    }
    while at < s.len() {
        let rest = &s[at..];
        let valid = match std::str::from_utf8(rest) {
            Ok(text) => text,
            Err(e) => std::str::from_utf8(&rest[..e.valid_up_to()]).unwrap_or(""),
        };
        for (i, cluster) in valid.grapheme_indices(true) {
            out.put(at + i..at + i + cluster.len());
        }
        at += valid.len();
        if at < s.len() {
            out.put(at..at + 1);
            at += 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding() {
        // 0x5C is a trail byte in Shift_JIS.
        let text = b"\x95\x5C\\";
        assert_eq!(find(text, b"\\", 0, EncIndex::WINDOWS_31J), Some(2));
        assert_eq!(rfind(b"abab", b"ab", 1, EncIndex::UTF_8), Some(0));
        assert_eq!(rfind(b"abab", b"ab", 9, EncIndex::UTF_8), Some(2));
        assert_eq!(find(b"abc", b"", 3, EncIndex::UTF_8), Some(3));
        assert_eq!(sum("ＲＵＢＹ".as_bytes(), 16), 2414);
    }

    #[test]
    fn clusters() {
        assert_eq!(graphemes("e\u{301}👨‍👩‍👧x".as_bytes(), EncIndex::UTF_8).len(), 3);
    }
}
