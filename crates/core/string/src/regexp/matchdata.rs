//! MatchData: the answer of a search, and the groups of `$~`.
//!
//! Invariant: `text` is a frozen String that nobody else changes; group offsets are bytes on
//! character boundaries of it, (-1, -1) for a group that took no part. `re` is the Regexp, or
//! the String that was searched for.

use crate::regexp::{self, ReObj};
use crate::text::*;
use kumi_regexp::{Regex, Region};
use kumi_text::encoding::EncIndex;
use kumi_vm::*;
use std::ops::Range;
use std::sync::Arc;

/// The payload.
pub struct MatchObj {
    pub text: Value,
    pub re: Value,
    pub region: Vec<(isize, isize)>,
}
impl Payload for MatchObj {
    fn trace(&self, m: &mut Marker) {
        m.mark(self.text);
        m.mark(self.re);
    }
    fn shares(&self) -> bool {
        true
    }
    /// Made whole; only `regexp` puts something else in, by the rule.
    fn confined(&self) -> bool {
        true
    }
    fn bytes(&self) -> usize {
        64 + self.region.capacity() * 16
    }
}

fn md<'v>(cx: &mut Cx, v: &'v Value) -> Result<&'v MatchObj, Exit> {
    v.as_data::<MatchObj>().ok_or_else(|| cx.type_error("uninitialized MatchData"))
}
fn text(m: &MatchObj) -> Str {
    match m.text.as_str() {
        Some(s) => s,
        None => unreachable!("a MatchData holds a String"),
    }
}
fn span(m: &MatchObj, i: usize) -> Option<Range<usize>> {
    m.region.get(i).filter(|g| g.0 >= 0).map(|g| g.0 as usize..g.1 as usize)
}
fn group(cx: &mut Cx, m: &MatchObj, i: usize) -> Value {
    match span(m, i) {
        Some(r) => piece(cx, text(m), r),
        None => Value::NIL,
    }
}
/// The pattern, when it is a Regexp.
fn pattern(m: &MatchObj) -> Option<Arc<Regex>> {
    m.re.as_data::<ReObj>().and_then(|r| r.re.clone())
}

/// Group `n` of a match value (nil: nil), for `$1` and its like.
pub fn nth_match(cx: &mut Cx, m: Value, n: usize) -> Value {
    match m.as_data::<MatchObj>() {
        Some(m) => group(cx, m, n),
        None => Value::NIL,
    }
}
/// `` $& $` $' $+ `` of a match value, by character or as the compiler counts them (1 to 4).
pub fn back_ref(cx: &mut Cx, m: Value, x: u8) -> Value {
    let Some(m) = m.as_data::<MatchObj>() else { return Value::NIL };
    let s = text(m);
    let Some(all) = span(m, 0) else { return Value::NIL };
    match x {
        b'&' | 1 => piece(cx, s, all),
        b'`' | 2 => piece(cx, s, 0..all.start),
        b'\'' | 3 => piece(cx, s, all.end..s.bytes().len()),
        _ => match (1..m.region.len()).rev().find(|i| span(m, *i).is_some()) {
            Some(i) => group(cx, m, i),
            None => Value::NIL,
        },
    }
}

/// Group number of an Integer, name or index-like argument.
fn which(cx: &mut Cx, m: &MatchObj, args: &[Value], i: usize) -> Result<Option<usize>, Exit> {
    let v = args[i];
    let name = match v.as_sym() {
        Some(y) => Some(cx.syms.name(y).to_vec()),
        None => v.as_str().map(|s| s.bytes().to_vec()),
    };
    if let Some(name) = name {
        let region = Region { groups: m.region.clone() };
        return match pattern(m).and_then(|r| r.name_to_backref(&name, &region)) {
            Some(g) => Ok(Some(g)),
            None => Err(regexp::undefined_group(cx, &name)),
        };
    }
    let k = cx.arg_c_int(args, i)? as i64;
    let n = m.region.len() as i64;
    let k = if k < 0 && k + n > 0 { k + n } else { k };
    Ok((k >= 0 && k < n).then_some(k as usize))
}
/// Group number for `begin` and its like: no negative ones, IndexError outside.
fn strict(cx: &mut Cx, m: &MatchObj, args: &[Value]) -> Result<usize, Exit> {
    if args[0].is_sym() || args[0].as_str().is_some() {
        return Ok(which(cx, m, args, 0)?.unwrap_or(0));
    }
    let k = cx.arg_i64(args, 0)?;
    if k < 0 || k >= m.region.len() as i64 {
        return Err(cx.index_error(&format!("index {k} out of matches")));
    }
    Ok(k as usize)
}

fn to_a(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = md(cx, &recv)?;
    let v: Vec<Value> = (0..m.region.len()).map(|i| group(cx, m, i)).collect();
    Ok(cx.array_vec(v))
}
fn captures(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = md(cx, &recv)?;
    let v: Vec<Value> = (1..m.region.len()).map(|i| group(cx, m, i)).collect();
    Ok(cx.array_vec(v))
}
fn aref(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let m = md(cx, &recv)?;
    if args.len() == 2 {
        let (a, n) = (cx.arg_i64(args, 0)?, cx.arg_i64(args, 1)?);
        let total = m.region.len() as i64;
        let a = if a < 0 { a + total } else { a };
        if a < 0 || a > total || n < 0 {
            return Ok(Value::NIL);
        }
        let v: Vec<Value> = (a..a.saturating_add(n).min(total)).map(|i| group(cx, m, i as usize)).collect();
        return Ok(cx.array_vec(v));
    }
    if let Some(r) = args[0].as_range() {
        let Some((a, n)) = range_span(cx, r, m.region.len() as i64)? else { return Ok(Value::NIL) };
        let v: Vec<Value> = (a..a + n).map(|i| group(cx, m, i as usize)).collect();
        return Ok(cx.array_vec(v));
    }
    Ok(match which(cx, m, args, 0)? {
        Some(i) => group(cx, m, i),
        None => Value::NIL,
    })
}
fn size(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::fix(md(cx, &recv)?.region.len() as i64))
}
fn pre_match(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    md(cx, &recv)?;
    Ok(back_ref(cx, recv, b'`'))
}
fn post_match(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    md(cx, &recv)?;
    Ok(back_ref(cx, recv, b'\''))
}
fn to_s(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = md(cx, &recv)?;
    let v = group(cx, m, 0);
    Ok(if v.is_nil() { cx.str("") } else { v })
}
fn string(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(md(cx, &recv)?.text)
}
fn regexp_m(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = md(cx, &recv)?;
    if let Some(s) = m.re.as_str() {
        let src = kumi_regexp::escape(s.bytes(), enc(s));
        let v = cx.str_enc(&src, enc(s));
        let v = me(cx, v)?;
        let re = crate::regexp::methods::literal(cx, v, 0)?;
        cx.heap.before_store(recv, re);
        if let Some(m) = cx.heap.edit_data::<MatchObj>(recv) {
            m.re = re;
        }
        return Ok(re);
    }
    Ok(m.re)
}
fn char_at(m: &MatchObj, at: usize) -> Value {
    Value::fix(char_index(text(m), at) as i64)
}
fn begin(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let m = md(cx, &recv)?;
    let i = strict(cx, m, args)?;
    Ok(span(m, i).map_or(Value::NIL, |r| char_at(m, r.start)))
}
fn end(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let m = md(cx, &recv)?;
    let i = strict(cx, m, args)?;
    Ok(span(m, i).map_or(Value::NIL, |r| char_at(m, r.end)))
}
fn offset(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let m = md(cx, &recv)?;
    let i = strict(cx, m, args)?;
    let (a, b) = span(m, i).map_or((Value::NIL, Value::NIL), |r| (char_at(m, r.start), char_at(m, r.end)));
    Ok(cx.array(&[a, b]))
}
fn byteoffset(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let m = md(cx, &recv)?;
    let i = strict(cx, m, args)?;
    let (a, b) = span(m, i).map_or((Value::NIL, Value::NIL), |r| (Value::fix(r.start as i64), Value::fix(r.end as i64)));
    Ok(cx.array(&[a, b]))
}
fn bytebegin(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let m = md(cx, &recv)?;
    let i = strict(cx, m, args)?;
    Ok(span(m, i).map_or(Value::NIL, |r| Value::fix(r.start as i64)))
}
fn byteend(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let m = md(cx, &recv)?;
    let i = strict(cx, m, args)?;
    Ok(span(m, i).map_or(Value::NIL, |r| Value::fix(r.end as i64)))
}
fn match_m(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let m = md(cx, &recv)?;
    let i = strict(cx, m, args)?;
    Ok(group(cx, m, i))
}
fn match_length(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let m = md(cx, &recv)?;
    let i = strict(cx, m, args)?;
    Ok(match span(m, i) {
        Some(r) => {
            let s = text(m);
            Value::fix(enc(s).char_count(&s.bytes()[r], range(s)) as i64)
        }
        None => Value::NIL,
    })
}
fn names(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = md(cx, &recv)?;
    let mut out = Vec::new();
    if let Some(r) = pattern(m) {
        let e = crate::regexp::methods::name_encoding(&r);
        for (n, _) in r.names() {
            out.push(cx.str_enc(n, e));
        }
    }
    Ok(cx.array_vec(out))
}
fn eq(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let m = md(cx, &recv)?;
    let Some(o) = args[0].as_data::<MatchObj>() else { return Ok(Value::FALSE) };
    let same_re = match (pattern(m), pattern(o)) {
        (Some(a), Some(b)) => crate::regexp::methods::same(&a, &b),
        (None, None) => m.re.as_str().zip(o.re.as_str()).is_some_and(|(a, b)| equal(a, b)),
        _ => false,
    };
    Ok(Value::bool(same_re && equal(text(m), text(o)) && m.region == o.region))
}
fn hash(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = md(cx, &recv)?;
    let h = crate::text::str_hash(cx, text(m)).fix_val();
    let h = m.region.iter().fold(h, |h, g| h.wrapping_mul(31) ^ (g.0 as i64) ^ ((g.1 as i64) << 7));
    Ok(Value::fix(h >> 2))
}
fn inspect(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let Some(m) = recv.as_data::<MatchObj>() else {
        let t = cx.any_to_s(recv);
        return Ok(cx.str(&t));
    };
    let c = cx.real_class(recv);
    let mut out = format!("#<{}", cx.class_name(c)).into_bytes();
    let named = pattern(m);
    let s = text(m);
    let result = crate::encoding::inspect_encoding(cx);
    for i in 0..m.region.len() {
        out.push(b' ');
        if i > 0 {
            let name = named.as_ref().and_then(|r| r.names().iter().find(|(_, g)| g.contains(&(i as u32))).map(|(n, _)| n.clone()));
            match name {
                Some(n) => out.extend(n),
                None => out.extend(i.to_string().bytes()),
            }
            out.push(b':');
        }
        match span(m, i) {
            Some(r) => out.extend(kumi_text::escape::inspect(&s.bytes()[r], enc(s), result)),
            None => out.extend(b"nil"),
        }
    }
    out.push(b'>');
    Ok(cx.str_vec(out, EncIndex::UTF_8))
}
/// `__nth_match(m, n)`
fn nth(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let n = args[1].as_fix().unwrap_or(0).max(0) as usize;
    Ok(nth_match(cx, args[0], n))
}
/// `__back_ref(m, character code)`
fn back(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(back_ref(cx, args[0], args[1].as_fix().unwrap_or(0) as u8))
}
/// `__match_copy(to_class, m)`: another MatchData with the same answer.
fn match_copy(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let m = md(cx, &args[0])?;
    let c = cx.real_class(args[0]);
    let (text, re, region) = (m.text, m.re, m.region.clone());
    Ok(cx.data(c, MatchObj { text, re, region }))
}
/// `__match_begin0(m)`: byte offset where the match begins; `__match_end0(m)`: where it ends.
fn match_begin0(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let m = md(cx, &args[0])?;
    Ok(span(m, 0).map_or(Value::NIL, |r| Value::fix(r.start as i64)))
}
fn match_end0(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let m = md(cx, &args[0])?;
    Ok(span(m, 0).map_or(Value::NIL, |r| Value::fix(r.end as i64)))
}

pub static TABLE: &[NativeDef] = &[
    n("MatchData", "to_a", 0, 0, to_a),
    n("MatchData", "captures", 0, 0, captures),
    n("MatchData", "deconstruct", 0, 0, captures),
    n("MatchData", "[]", 1, 2, aref),
    n("MatchData", "size", 0, 0, size),
    n("MatchData", "length", 0, 0, size),
    n("MatchData", "pre_match", 0, 0, pre_match),
    n("MatchData", "post_match", 0, 0, post_match),
    n("MatchData", "to_s", 0, 0, to_s),
    n("MatchData", "string", 0, 0, string),
    n("MatchData", "regexp", 0, 0, regexp_m),
    n("MatchData", "begin", 1, 1, begin),
    n("MatchData", "end", 1, 1, end),
    n("MatchData", "offset", 1, 1, offset),
    n("MatchData", "byteoffset", 1, 1, byteoffset),
    n("MatchData", "bytebegin", 1, 1, bytebegin),
    n("MatchData", "byteend", 1, 1, byteend),
    n("MatchData", "match", 1, 1, match_m),
    n("MatchData", "match_length", 1, 1, match_length),
    n("MatchData", "names", 0, 0, names),
    n("MatchData", "==", 1, 1, eq),
    n("MatchData", "eql?", 1, 1, eq),
    n("MatchData", "hash", 0, 0, hash),
    n("MatchData", "inspect", 0, 0, inspect),
    intrinsic("__nth_match", 2, 2, nth),
    intrinsic("__back_ref", 2, 2, back),
    intrinsic("__match_copy", 1, 1, match_copy),
    intrinsic("__match_begin0", 1, 1, match_begin0),
    intrinsic("__match_end0", 1, 1, match_end0),
];
