//! Bytes that form no character: finding and replacing them.
//!
//! Invariant: a bad run is the longest start of a character that its next byte breaks,
//! or one shortest unit; every run gets one replacement.

use super::codec::invalid_prefix;
use crate::encoding::{EncIndex, Precise};
use kumi_budget::Grow;
use std::ops::Range;

/// The first bad run at or after `from`.
pub fn next_bad(s: &[u8], enc: EncIndex, from: usize) -> Option<Range<usize>> {
    let mut i = from;
    if enc.is_utf8() {
        let rest = s.get(i..)?;
        i += match simdutf8::compat::from_utf8(rest) {
            Ok(_) => return None,
            Err(e) => e.valid_up_to(),
        };
    }
    while i < s.len() {
        match enc.precise_len(&s[i..]) {
            Precise::Found(n) => i += n,
            Precise::NeedMore(_) => return Some(i..s.len()),
            Precise::Invalid => {
                let (n, _) = invalid_prefix(enc, &s[i..]);
                return Some(i..i + n.max(1));
            }
        }
    }
    None
}

/// Replaces every bad run; `None` if there is none. `replacement` is in `enc`; without it
/// U+FFFD or `?` is used.
pub fn scrub(s: &[u8], enc: EncIndex, replacement: Option<&[u8]>) -> Option<Vec<u8>> {
    let mut bad = next_bad(s, enc, 0)?;
    let default = enc.encode(if enc.is_unicode() { 0xFFFD } else { b'?' as u32 }).unwrap_or_default();
    let replacement = replacement.unwrap_or(&default);
    let mut out = Vec::room(s.len() + replacement.len());
    let mut done = 0;
    loop {
        out.put_all(&s[done..bad.start]);
        out.put_all(replacement);
        done = bad.end;
        match next_bad(s, enc, done) {
            Some(next) => bad = next,
            None => break,
        }
    }
    out.put_all(&s[done..]);
    Some(out)
}
