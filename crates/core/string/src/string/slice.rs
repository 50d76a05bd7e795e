//! Parts of a string: `[]`, `[]=`, `slice!`, `byteslice`, `insert`, by index, range, text and pattern.

use crate::regexp;
use crate::text::*;
use kumi_text::encoding::CodeRange;
use kumi_vm::*;

fn is_re(cx: &Cx, v: Value) -> bool {
    let _ = cx;
    v.as_data::<regexp::ReObj>().is_some()
}

fn aref(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    if args.len() == 2 {
        if is_re(cx, args[0]) {
            return regexp::aref(cx, s, args[0], args[1]);
        }
        let i = cx.arg_i64(args, 0)?;
        let n = cx.arg_i64(args, 1)?;
        return Ok(match char_span(s, i, n) {
            Some(r) => piece(cx, s, r),
            None => Value::NIL,
        });
    }
    if let Some(i) = args[0].as_fix() {
        return Ok(char_at(cx, s, i));
    }
    if let Some(r) = args[0].as_range() {
        let total = char_count(s) as i64;
        return Ok(match range_span(cx, r, total)? {
            Some((a, n)) => match char_span(s, a, n) {
                Some(r) => piece(cx, s, r),
                None => Value::NIL,
            },
            None => Value::NIL,
        });
    }
    if let Some(o) = args[0].as_str() {
        return Ok(match crate::string::search::find(cx, s, o, 0)? {
            Some(_) => copy(cx, o),
            None => Value::NIL,
        });
    }
    if is_re(cx, args[0]) {
        return regexp::aref(cx, s, args[0], Value::fix(0));
    }
    if cx.is_a(args[0], cx.k.arith_seq) {
        return Err(Exit::Miss);
    }
    let i = cx.arg_i64(args, 0)?;
    Ok(char_at(cx, s, i))
}
fn char_at(cx: &mut Cx, s: Str, i: i64) -> Value {
    match char_span(s, i, 1) {
        Some(r) if !r.is_empty() => piece(cx, s, r),
        _ => Value::NIL,
    }
}

fn byte_span(s: Str, i: i64, n: i64) -> Option<std::ops::Range<usize>> {
    let total = s.bytes().len() as i64;
    let i = if i < 0 { i + total } else { i };
    if n < 0 || i < 0 || i > total {
        return None;
    }
    Some(i as usize..i.saturating_add(n).min(total) as usize)
}
fn byteslice(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let span = if args.len() == 2 {
        let (i, n) = (cx.arg_i64(args, 0)?, cx.arg_i64(args, 1)?);
        byte_span(s, i, n)
    } else if let Some(r) = args[0].as_range() {
        range_span(cx, r, s.bytes().len() as i64)?.and_then(|(a, n)| byte_span(s, a, n))
    } else {
        let i = cx.arg_i64(args, 0)?;
        byte_span(s, i, 1).filter(|r| !r.is_empty())
    };
    Ok(match span {
        Some(r) => piece(cx, s, r),
        None => Value::NIL,
    })
}

/// `bytesplice(index, length, str[, sindex, slength])`, `bytesplice(range, str[, srange])`.
fn bytesplice(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let (at, from, rest): (Option<(i64, i64)>, usize, usize) = match args.len() {
        2 | 3 if args[0].as_range().is_some() => (None, 1, 2),
        2 => {
            let t = cx.describe_type(args[0]);
            return Err(cx.type_error(&format!("wrong argument type {t} (expected Range)")));
        }
        3 | 5 => (Some((cx.arg_i64(args, 0)?, cx.arg_i64(args, 1)?)), 2, 3),
        n => return Err(cx.arg_error(&format!("wrong number of arguments (given {n}, expected 2, 3, or 5)"))),
    };
    let val = cx.arg_str(args, from)?;
    let inside = |cx: &mut Cx, s: Str, i: i64, n: i64| -> Result<std::ops::Range<usize>, Exit> {
        let total = s.bytes().len() as i64;
        if n < 0 {
            return Err(cx.index_error(&format!("negative length {n}")));
        }
        let a = if i < 0 { i + total } else { i };
        if a < 0 || a > total {
            return Err(cx.index_error(&format!("index {i} out of string")));
        }
        Ok(a as usize..a.saturating_add(n).min(total) as usize)
    };
    let ranged = |cx: &mut Cx, s: Str, v: Value| -> Result<std::ops::Range<usize>, Exit> {
        let Some(r) = v.as_range() else {
            let t = cx.describe_type(v);
            return Err(cx.type_error(&format!("wrong argument type {t} (expected Range)")));
        };
        match range_span(cx, r, s.bytes().len() as i64)? {
            Some((a, n)) => Ok(a as usize..(a + n) as usize),
            None => Err(range_out(cx, r)),
        }
    };
    let dst = match at {
        Some((i, n)) => inside(cx, s, i, n)?,
        None => ranged(cx, s, args[0])?,
    };
    let src = match args.len() - rest {
        0 => 0..val.bytes().len(),
        1 => ranged(cx, val, args[rest])?,
        _ => {
            let (i, n) = (cx.arg_i64(args, rest)?, cx.arg_i64(args, rest + 1)?);
            inside(cx, val, i, n)?
        }
    };
    for (s, at) in [(s, dst.start), (s, dst.end), (val, src.start), (val, src.end)] {
        if !on_boundary(s, at) {
            return Err(cx.index_error(&format!("offset {at} does not land on character boundary")));
        }
    }
    let e = compat(cx, s, val)?;
    cx.check_frozen(recv)?;
    let new = Vec::copy(&val.bytes()[src]);
    splice(cx, s, dst, &new, e);
    Ok(recv)
}
/// RangeError for a range outside of the string.
pub fn range_out(cx: &mut Cx, r: Gc<RangeObj>) -> Exit {
    let show = |v: Value| v.as_fix().map_or(String::new(), |i| i.to_string());
    let m = format!("{}{}{} out of range", show(r.lo), if r.exclusive() { "..." } else { ".." }, show(r.hi));
    cx.range_error(&m)
}

/// Puts `val` in the place of the bytes `r`.
fn put(cx: &mut Cx, s: Str, r: std::ops::Range<usize>, val: Str) -> Result<(), Exit> {
    let e = compat(cx, s, val)?;
    cx.check_frozen(s.val())?;
    let known = if s.range() == 1 && is_ascii(val) { CodeRange::SevenBit } else { CodeRange::Unknown };
    let new = Vec::copy(val.bytes());
    splice(cx, s, r, &new, e);
    s.set_range(known as u8);
    Ok(())
}
fn aset(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    let last = args.len() - 1;
    if args.len() == 3 {
        if is_re(cx, args[0]) {
            let r = regexp::span_for_assignment(cx, s, args[0], args[1])?;
            let val = cx.arg_str(args, 2)?;
            put(cx, s, r, val)?;
            return Ok(args[last]);
        }
        let (i, n) = (cx.arg_i64(args, 0)?, cx.arg_i64(args, 1)?);
        let val = cx.arg_str(args, 2)?;
        let r = span_at(cx, s, i, n)?;
        put(cx, s, r, val)?;
        return Ok(args[last]);
    }
    if let Some(r) = args[0].as_range() {
        let total = char_count(s) as i64;
        let span = range_span(cx, r, total)?;
        let val = cx.arg_str(args, 1)?;
        let Some(span) = span.and_then(|(a, n)| char_span(s, a, n)) else { return Err(range_out(cx, r)) };
        put(cx, s, span, val)?;
        return Ok(args[last]);
    }
    if let Some(o) = args[0].as_str() {
        let val = cx.arg_str(args, 1)?;
        match crate::string::search::find(cx, s, o, 0)? {
            Some(at) => put(cx, s, at..at + o.bytes().len(), val)?,
            None => return Err(cx.index_error("string not matched")),
        }
        return Ok(args[last]);
    }
    if is_re(cx, args[0]) {
        let r = regexp::span_for_assignment(cx, s, args[0], Value::fix(0))?;
        let val = cx.arg_str(args, 1)?;
        put(cx, s, r, val)?;
        return Ok(args[last]);
    }
    let i = cx.arg_i64(args, 0)?;
    let val = cx.arg_str(args, 1)?;
    let r = span_at(cx, s, i, 1)?;
    if r.is_empty() && i != char_count(s) as i64 {
        return Err(cx.index_error(&format!("index {i} out of string")));
    }
    put(cx, s, r, val)?;
    Ok(args[last])
}
fn span_at(cx: &mut Cx, s: Str, i: i64, n: i64) -> Result<std::ops::Range<usize>, Exit> {
    if n < 0 {
        return Err(cx.index_error(&format!("negative length {n}")));
    }
    match char_span(s, i, n) {
        Some(r) => Ok(r),
        None => Err(cx.index_error(&format!("index {i} out of string"))),
    }
}
fn slice_bang(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    let span = if is_re(cx, args[0]) {
        let which = args.get(1).copied().unwrap_or(Value::fix(0));
        regexp::span_of(cx, s, args[0], which)?
    } else if args.len() == 2 {
        let (i, n) = (cx.arg_i64(args, 0)?, cx.arg_i64(args, 1)?);
        char_span(s, i, n)
    } else if let Some(r) = args[0].as_range() {
        let total = char_count(s) as i64;
        range_span(cx, r, total)?.and_then(|(a, n)| char_span(s, a, n))
    } else if let Some(o) = args[0].as_str() {
        crate::string::search::find(cx, s, o, 0)?.map(|at| at..at + o.bytes().len())
    } else {
        let i = cx.arg_i64(args, 0)?;
        char_span(s, i, 1).filter(|r| !r.is_empty())
    };
    let Some(r) = span else { return Ok(Value::NIL) };
    let out = if args.len() == 1 && args[0].as_str().is_some() {
        let o = me(cx, args[0])?;
        copy(cx, o)
    } else {
        piece(cx, s, r.clone())
    };
    let known = s.range();
    splice(cx, s, r, b"", enc(s));
    s.set_range(if known == 1 { 1 } else { 0 });
    Ok(out)
}
fn insert(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let i = cx.arg_i64(args, 0)?;
    let val = cx.arg_str(args, 1)?;
    cx.check_frozen(recv)?;
    let total = char_count(s) as i64;
    let at = if i < 0 { i + total + 1 } else { i };
    if at < 0 || at > total {
        return Err(cx.index_error(&format!("index {i} out of string")));
    }
    let r = span_at(cx, s, at, 0)?;
    put(cx, s, r, val)?;
    Ok(recv)
}

pub static TABLE: &[NativeDef] = &[
    n("String", "[]", 1, 2, aref),
    n("String", "[]=", 2, 3, aset),
    n("String", "slice!", 1, 2, slice_bang),
    n("String", "byteslice", 1, 2, byteslice),
    n("String", "bytesplice", 2, 5, bytesplice),
    n("String", "insert", 2, 2, insert),
];
