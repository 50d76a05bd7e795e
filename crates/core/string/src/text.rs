//! What every string native needs: the cell with its encoding and code range, compatible
//! encodings, pieces, and arguments that name a part of a string.
//!
//! Invariant: a cached code range in a string's header is right for its bytes; whoever
//! changes bytes calls [`StrObj::changed`] or sets the range it knows.

use kumi_text::encoding::{CodeRange, EncIndex};
use kumi_vm::*;
use std::cmp::Ordering;
use std::ops::Range;

/// A string cell.
pub type Str = Gc<StrObj>;

/// The receiver (or first argument of an intrinsic) as a string.
#[inline(always)]
pub fn me(cx: &mut Cx, v: Value) -> Result<Str, Exit> {
    match v.as_str() {
        Some(s) => Ok(s),
        None => Err(not_a_string(cx, v)),
    }
}
#[cold]
fn not_a_string(cx: &mut Cx, v: Value) -> Exit {
    let t = cx.describe_type(v);
    cx.type_error(&format!("no implicit conversion of {t} into String"))
}

/// The string's encoding.
#[inline(always)]
pub fn enc(s: Str) -> EncIndex {
    EncIndex::from_u8(s.enc())
}

/// The string's code range, found out when not known.
#[inline]
pub fn range(s: Str) -> CodeRange {
    match s.range() {
        1 => CodeRange::SevenBit,
        2 => CodeRange::Valid,
        3 => CodeRange::Broken,
        _ => scan(s),
    }
}
fn scan(s: Str) -> CodeRange {
    let state = s.state();
    let r = enc(s).scan(s.bytes());
    s.cache_range(state, r as u8);
    r
}

/// Only ASCII characters, in an ASCII-compatible encoding.
#[inline]
pub fn is_ascii(s: Str) -> bool {
    range(s) == CodeRange::SevenBit
}
/// Characters and bytes are the same.
#[inline]
pub fn single_byte(s: Str) -> bool {
    enc(s).is_single_byte() || is_ascii(s)
}
/// Number of characters.
#[inline]
pub fn char_count(s: Str) -> usize {
    if s.bytes().is_empty() {
        return 0;
    }
    enc(s).char_count(s.bytes(), range(s))
}

/// How messages name an encoding.
pub fn enc_shown(e: EncIndex) -> &'static str {
    if e == EncIndex::BINARY { "BINARY (ASCII-8BIT)" } else { e.name() }
}

/// The encoding of an operation on both strings, or Encoding::CompatibilityError.
#[inline]
pub fn compat(cx: &mut Cx, a: Str, b: Str) -> Result<EncIndex, Exit> {
    if a.enc() == b.enc() {
        return Ok(enc(a));
    }
    match compatible(a, b) {
        Some(e) => Ok(e),
        None => Err(incompatible(cx, enc(a), enc(b))),
    }
}
/// The encoding of an operation on both strings, if there is one.
pub fn compatible(a: Str, b: Str) -> Option<EncIndex> {
    EncIndex::compatible(enc(a), a.bytes(), is_ascii(a), enc(b), b.bytes(), is_ascii(b))
}
/// Encoding::CompatibilityError for two encodings.
#[cold]
pub fn incompatible(cx: &mut Cx, a: EncIndex, b: EncIndex) -> Exit {
    let m = format!("incompatible character encodings: {} and {}", enc_shown(a), enc_shown(b));
    cx.raise_msg(cx.k.compatibility_error, &m)
}

/// Could equal bytes mean equal strings?
pub fn comparable(a: Str, b: Str) -> bool {
    if a.enc() == b.enc() || a.bytes().is_empty() || b.bytes().is_empty() {
        return true;
    }
    (is_ascii(b) && enc(a).is_ascii_compatible()) || (is_ascii(a) && enc(b).is_ascii_compatible())
}
/// `String#==` on two strings.
#[inline]
pub fn equal(a: Str, b: Str) -> bool {
    a.bytes() == b.bytes() && comparable(a, b)
}

/// A plain String of bytes whose code range is known (or `Unknown`).
#[inline]
pub fn make(cx: &mut Cx, b: &[u8], e: EncIndex, r: CodeRange) -> Value {
    let s = cx.heap.str(cx.k.string.val(), b, e.as_u8());
    s.set_range(r as u8);
    s.val()
}
/// Like [`make`], taking over a vector.
pub fn make_vec(cx: &mut Cx, b: Vec<u8>, e: EncIndex, r: CodeRange) -> Value {
    let v = cx.str_vec(b, e);
    if let Some(s) = v.as_str() {
        s.set_range(r as u8);
    }
    v
}
/// The code range of a piece of `s` cut at character boundaries.
#[inline]
pub fn piece_range(s: Str) -> CodeRange {
    if s.range() == 1 { CodeRange::SevenBit } else { CodeRange::Unknown }
}
/// The bytes `r` of `s` as a plain String in its encoding.
#[inline]
pub fn piece(cx: &mut Cx, s: Str, r: Range<usize>) -> Value {
    let k = piece_range(s);
    let n = s.bytes().len();
    let (a, b) = (r.start.min(n), r.end.min(n));
    make(cx, if a < b { &s.bytes()[a..b] } else { b"" }, enc(s), k)
}
/// As [`piece`], when there are more of them than a nursery holds: born outside it.
#[inline]
pub fn piece_out(cx: &mut Cx, s: Str, r: Range<usize>) -> Value {
    let n = s.bytes().len();
    let (a, b) = (r.start.min(n), r.end.min(n));
    let bytes = if a < b { &s.bytes()[a..b] } else { b"" };
    match cx.heap.str_out(cx.k.string.val(), bytes, enc(s).as_u8()) {
        Some(made) => {
            made.set_range(piece_range(s) as u8);
            made.val()
        }
        None => piece(cx, s, r),
    }
}
/// A plain copy.
pub fn copy(cx: &mut Cx, s: Str) -> Value {
    let known = if cx.may_change(s.val()) { 0 } else { s.range() };
    let c = cx.heap.str(cx.k.string.val(), s.bytes(), s.enc());
    c.set_range(known);
    c.val()
}

/// Appends bytes and keeps the accounts; the code range becomes `r`.
pub fn append(cx: &mut Cx, s: Str, b: &[u8], r: CodeRange) {
    let room = s.buf.capacity();
    cx.heap.edit(s).buf.extend_from_slice(b);
    if s.buf.capacity() != room {
        cx.heap.charge(s.buf.capacity() - room.min(s.buf.capacity()));
    }
    s.set_range(r as u8);
}
/// New bytes and encoding for `s`.
pub fn set(cx: &mut Cx, s: Str, b: &[u8], e: EncIndex, r: CodeRange) {
    cx.heap.charge(b.len());
    cx.heap.edit(s).buf.assign(b);
    s.set_enc(e.as_u8());
    s.set_range(r as u8);
}
/// Takes `r`'s place in `s` with other bytes.
pub fn splice(cx: &mut Cx, s: Str, r: Range<usize>, b: &[u8], e: EncIndex) {
    let n = s.buf.len();
    let (from, to) = (r.start.min(n), r.end.min(n).max(r.start.min(n)));
    cx.heap.charge(b.len());
    cx.heap.edit(s).buf.splice(from, to - from, b);
    s.set_enc(e.as_u8());
}

/// Byte range of `len` characters from character `start` (negative: from the end), or
/// `None` when `start` is outside.
pub fn char_span(s: Str, start: i64, len: i64) -> Option<Range<usize>> {
    if len < 0 {
        return None;
    }
    let n = s.bytes().len();
    if single_byte(s) {
        let start = if start < 0 { start + n as i64 } else { start };
        if start < 0 || start as usize > n {
            return None;
        }
        let a = start as usize;
        return Some(a..a + (len as usize).min(n - a));
    }
    let (e, r) = (enc(s), range(s));
    let a = if start >= 0 {
        e.nth_char(s.bytes(), start as usize, r).ok()?
    } else {
        e.nth_char_from_end(s.bytes(), start.unsigned_abs() as usize, r)?
    };
    let b = match e.nth_char(&s.bytes()[a..], len as usize, r) {
        Ok(o) => a + o,
        Err(_) => n,
    };
    Some(a..b)
}

/// Start and length that a Range names in something of `total` elements: `Ok(None)` when its
/// start is outside. Ends that are no Integers are for the prelude.
pub fn range_span(cx: &mut Cx, r: Gc<RangeObj>, total: i64) -> Result<Option<(i64, i64)>, Exit> {
    let lo = end_of(cx, r.lo)?.unwrap_or(0);
    let hi = end_of(cx, r.hi)?;
    let excl = r.exclusive() && hi.is_some();
    let mut hi = hi.unwrap_or(-1);
    let mut lo = lo;
    if lo < 0 {
        lo += total;
        if lo < 0 {
            return Ok(None);
        }
    }
    if lo > total {
        return Ok(None);
    }
    if hi < 0 {
        hi += total;
    }
    if !excl {
        hi = hi.saturating_add(1);
    }
    Ok(Some((lo, hi.min(total).saturating_sub(lo).max(0))))
}
fn end_of(cx: &mut Cx, v: Value) -> Result<Option<i64>, Exit> {
    if v.is_nil() {
        return Ok(None);
    }
    if let Some(i) = v.as_fix() {
        return Ok(Some(i));
    }
    if v.as_big().is_some() {
        return Err(cx.range_error("bignum too big to convert into 'long'"));
    }
    match v.as_float() {
        Some(f) if f.is_finite() && f.abs() < 9e18 => Ok(Some(f as i64)),
        _ => Err(Exit::Miss),
    }
}

/// Does a character of `s` start at byte `at` (the end counts)?
pub fn on_boundary(s: Str, at: usize) -> bool {
    let n = s.bytes().len();
    at <= n && (single_byte(s) || at == n || enc(s).char_head(s.bytes(), at) == at)
}

/// Character index of byte `at`.
pub fn char_index(s: Str, at: usize) -> usize {
    if single_byte(s) { at } else { enc(s).char_index(s.bytes(), at, range(s)) }
}
/// Byte offset of character `i` (the end counts), `None` beyond it.
pub fn byte_offset(s: Str, i: usize) -> Option<usize> {
    if single_byte(s) {
        return (i <= s.bytes().len()).then_some(i);
    }
    enc(s).nth_char(s.bytes(), i, range(s)).ok()
}

/// `a + b` as a new plain string.
pub fn concat_two(cx: &mut Cx, a: Str, b: Str) -> R {
    let e = compat(cx, a, b)?;
    let (x, y) = (a.bytes(), b.bytes());
    cx.check_size(x.len().saturating_add(y.len()))?;
    let r = if a.enc() == b.enc() { range(a).concat(range(b)) } else { CodeRange::Unknown };
    let mut buf = StrBuf::with_capacity(x.len() + y.len());
    buf.extend_from_slice(x);
    buf.extend_from_slice(y);
    let s = cx.heap.str_buf(cx.k.string.val(), buf, e.as_u8());
    s.set_range(r as u8);
    Ok(s.val())
}

/// Appends string `b` to `s`, whose frozenness was checked.
pub fn append_str(cx: &mut Cx, s: Str, b: Str) -> Result<(), Exit> {
    let e = compat(cx, s, b)?;
    let n = s.bytes().len().saturating_add(b.bytes().len());
    if n > s.buf.capacity() {
        cx.check_size(n)?;
    }
    let r = if s.range() != 0 || s.bytes().is_empty() { range(s).concat(range(b)) } else { CodeRange::Unknown };
    let r = if s.enc() == b.enc() || r == CodeRange::SevenBit {
        r
    } else if is_ascii(s) {
        range(b)
    } else {
        r
    };
    if s == b {
        let copy = b.bytes().to_vec();
        append(cx, s, &copy, r);
    } else {
        append(cx, s, b.bytes(), r);
    }
    if s.enc() != e.as_u8() {
        s.set_enc(e.as_u8());
    }
    Ok(())
}

/// The bytes of code point `c` in `e`, or CRuby's RangeError.
pub fn code_bytes(cx: &mut Cx, c: i64, e: EncIndex) -> Result<kumi_text::encoding::CharBuf, Exit> {
    if let Ok(code) = u32::try_from(c) {
        if let Some(ch) = e.encode(code) {
            return Ok(ch);
        }
        if e.is_unicode() || !e.is_single_byte() {
            return Err(cx.range_error(&format!("invalid codepoint 0x{code:X} in {}", e.name())));
        }
    }
    Err(cx.range_error(&format!("{c} out of char range")))
}

/// The value of `hash` for a string: what hash tables use for plain ones.
pub fn str_hash(cx: &mut Cx, s: Str) -> Value {
    let h = kumi_text::hash_bytes(cx.hash_seed, s.bytes());
    Value::fix((h as i64) >> 2)
}

/// `<=>` of two strings.
pub fn compare(a: Str, b: Str) -> Ordering {
    match a.bytes().cmp(b.bytes()) {
        Ordering::Equal if !comparable(a, b) => a.enc().cmp(&b.enc()),
        o => o,
    }
}

/// A frozen string with the bytes of `s`: what a MatchData keeps.
pub fn frozen_copy(cx: &mut Cx, s: Str) -> Value {
    if s.hdr.frozen() && cx.class_of(s.val()) == cx.k.string {
        return s.val();
    }
    let v = copy(cx, s);
    if let Some(h) = v.header() {
        h.set(flag::FROZEN);
    }
    v
}
