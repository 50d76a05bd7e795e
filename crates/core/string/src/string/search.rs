//! Finding text in text: `index`, `include?`, `start_with?`, `partition` and their like.

use crate::regexp::{self, ReObj};
use crate::text::*;
use kumi_text::encoding::CodeRange;
use kumi_vm::*;

/// Byte offset of `o` in `s` at or after byte `from`, at a character boundary.
pub fn find(cx: &mut Cx, s: Str, o: Str, from: usize) -> Result<Option<usize>, Exit> {
    compat(cx, s, o)?;
    Ok(find_bytes(s, o.bytes(), from, range(o) == CodeRange::Broken))
}
/// The search itself, on compatible strings.
pub fn find_bytes(s: Str, needle: &[u8], from: usize, broken: bool) -> Option<usize> {
    let hay = s.bytes();
    if from > hay.len() || broken && range(s) != CodeRange::Broken {
        return None;
    }
    let e = enc(s);
    let simple = single_byte(s) || (e.is_utf8() && !needle.first().is_some_and(|b| b & 0xc0 == 0x80));
    let mut at = from;
    loop {
        let off = memchr::memmem::find(&hay[at..], needle)? + at;
        if simple || e.char_head(hay, off) == off {
            return Some(off);
        }
        at = off + 1;
    }
}
/// Last byte offset of `o` in `s` at or before byte `from`.
pub fn rfind(cx: &mut Cx, s: Str, o: Str, from: usize) -> Result<Option<usize>, Exit> {
    compat(cx, s, o)?;
    let (hay, needle) = (s.bytes(), o.bytes());
    if needle.len() > hay.len() || range(o) == CodeRange::Broken && range(s) != CodeRange::Broken {
        return Ok(None);
    }
    let mut end = from.min(hay.len() - needle.len()) + needle.len();
    loop {
        let Some(off) = memchr::memmem::rfind(&hay[..end], needle) else { return Ok(None) };
        if on_boundary(s, off) {
            return Ok(Some(off));
        }
        if off == 0 {
            return Ok(None);
        }
        end = off + needle.len() - 1;
    }
}

fn byte_of(s: Str, i: i64, total: impl Fn() -> i64) -> Option<usize> {
    let i = if i < 0 { i + total() } else { i };
    if i < 0 { None } else { byte_offset(s, i as usize) }
}

/// Is it a Regexp that is looked for? Else it is a String.
fn is_regexp(cx: &mut Cx, args: &[Value]) -> Result<bool, Exit> {
    let re = args[0].as_data::<ReObj>().is_some();
    if !re {
        cx.arg_str(args, 0)?;
    }
    Ok(re)
}

fn index(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let re = is_regexp(cx, args)?;
    let i = if args.len() > 1 { cx.arg_i64(args, 1)? } else { 0 };
    let Some(from) = byte_of(s, i, || char_count(s) as i64) else {
        if re {
            regexp::set_last(cx, Value::NIL);
        }
        return Ok(Value::NIL);
    };
    let at = if re { regexp::match_from(cx, args[0], s, from)? } else { args[0].as_str().map_or(Ok(None), |o| find(cx, s, o, from))? };
    Ok(at.map_or(Value::NIL, |a| Value::fix(char_index(s, a) as i64)))
}
fn byteindex(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let re = is_regexp(cx, args)?;
    let i = if args.len() > 1 { cx.arg_i64(args, 1)? } else { 0 };
    let n = s.bytes().len() as i64;
    let from = if i < 0 { i + n } else { i };
    if from < 0 || from > n {
        if re {
            regexp::set_last(cx, Value::NIL);
        }
        return Ok(Value::NIL);
    }
    if !on_boundary(s, from as usize) {
        return Err(cx.index_error(&format!("offset {from} does not land on character boundary")));
    }
    let at = if re {
        regexp::match_from(cx, args[0], s, from as usize)?
    } else {
        args[0].as_str().map_or(Ok(None), |o| find(cx, s, o, from as usize))?
    };
    Ok(at.map_or(Value::NIL, |a| Value::fix(a as i64)))
}
fn rindex_common(cx: &mut Cx, recv: Value, args: &[Value], bytes: bool) -> R {
    let s = me(cx, recv)?;
    let re = is_regexp(cx, args)?;
    let total = if bytes { s.bytes().len() } else { char_count(s) } as i64;
    let mut from = total;
    if args.len() > 1 {
        let i = cx.arg_i64(args, 1)?;
        from = if i < 0 { i + total } else { i };
        if from < 0 {
            if re {
                regexp::set_last(cx, Value::NIL);
            }
            return Ok(Value::NIL);
        }
        from = from.min(total);
    }
    let from = if bytes { from as usize } else { byte_offset(s, from as usize).unwrap_or(s.bytes().len()) };
    if bytes && !on_boundary(s, from) {
        return Err(cx.index_error(&format!("offset {from} does not land on character boundary")));
    }
    let at = if re { regexp::match_back(cx, args[0], s, from)? } else { args[0].as_str().map_or(Ok(None), |o| rfind(cx, s, o, from))? };
    Ok(at.map_or(Value::NIL, |a| Value::fix(if bytes { a } else { char_index(s, a) } as i64)))
}
fn rindex(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    rindex_common(cx, recv, args, false)
}
fn byterindex(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    rindex_common(cx, recv, args, true)
}
fn include(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let o = cx.arg_str(args, 0)?;
    Ok(Value::bool(find(cx, s, o, 0)?.is_some()))
}
/// Does `s` begin with `o`, and does the next character start right behind it?
pub fn starts(s: Str, o: Str) -> bool {
    s.bytes().starts_with(o.bytes()) && on_boundary(s, o.bytes().len())
}
/// Does `s` end with `o`, at a character's start?
pub fn ends(s: Str, o: Str) -> bool {
    s.bytes().ends_with(o.bytes()) && on_boundary(s, s.bytes().len() - o.bytes().len())
}
fn start_with(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    for i in 0..args.len() {
        if args[i].as_data::<ReObj>().is_some() {
            if regexp::match_start(cx, args[i], s, args.len() == 1)? {
                return Ok(Value::TRUE);
            }
            continue;
        }
        let o = cx.arg_str(args, i)?;
        compat(cx, s, o)?;
        if starts(s, o) {
            return Ok(Value::TRUE);
        }
    }
    Ok(Value::FALSE)
}
fn end_with(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    for i in 0..args.len() {
        let o = cx.arg_str(args, i)?;
        compat(cx, s, o)?;
        if ends(s, o) {
            return Ok(Value::TRUE);
        }
    }
    Ok(Value::FALSE)
}
fn delete_prefix(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let o = cx.arg_str(args, 0)?;
    compat(cx, s, o)?;
    let n = if starts(s, o) { o.bytes().len() } else { 0 };
    Ok(piece(cx, s, n..s.bytes().len()))
}
fn delete_suffix(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let o = cx.arg_str(args, 0)?;
    compat(cx, s, o)?;
    let n = if ends(s, o) { o.bytes().len() } else { 0 };
    Ok(piece(cx, s, 0..s.bytes().len() - n))
}
fn delete_affix_bang(cx: &mut Cx, recv: Value, args: &[Value], front: bool) -> R {
    let s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    let o = cx.arg_str(args, 0)?;
    compat(cx, s, o)?;
    let k = o.bytes().len();
    if k == 0 || !(if front { starts(s, o) } else { ends(s, o) }) {
        return Ok(Value::NIL);
    }
    let n = s.bytes().len();
    splice(cx, s, if front { 0..k } else { n - k..n }, b"", enc(s));
    s.changed();
    Ok(recv)
}
fn delete_prefix_bang(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    delete_affix_bang(cx, recv, args, true)
}
fn delete_suffix_bang(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    delete_affix_bang(cx, recv, args, false)
}
fn three(cx: &mut Cx, s: Str, at: std::ops::Range<usize>) -> R {
    let n = s.bytes().len();
    let a = piece(cx, s, 0..at.start);
    let b = piece(cx, s, at.clone());
    let c = piece(cx, s, at.end..n);
    Ok(cx.array(&[a, b, c]))
}
fn partition(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    if args[0].as_data::<ReObj>().is_some() {
        let at = regexp::match_span(cx, args[0], s, 0, false)?;
        let at = at.unwrap_or(s.bytes().len()..s.bytes().len());
        return three(cx, s, at);
    }
    let o = cx.arg_str(args, 0)?;
    match find(cx, s, o, 0)? {
        Some(a) => around(cx, s, a, o),
        None => {
            let n = s.bytes().len();
            three(cx, s, n..n)
        }
    }
}
/// What is before and behind `o` at byte `a`, with `o` itself between them.
fn around(cx: &mut Cx, s: Str, a: usize, o: Str) -> R {
    let before = piece(cx, s, 0..a);
    let sep = copy(cx, o);
    let behind = piece(cx, s, a + o.bytes().len()..s.bytes().len());
    Ok(cx.array(&[before, sep, behind]))
}
fn rpartition(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let n = s.bytes().len();
    if args[0].as_data::<ReObj>().is_some() {
        let at = regexp::match_span(cx, args[0], s, n, true)?;
        return three(cx, s, at.unwrap_or(0..0));
    }
    let Some(o) = args[0].as_str() else {
        if args[0].is_heap() {
            return Err(Exit::Convert(0, Proto::Str));
        }
        let t = cx.describe_type(args[0]);
        return Err(cx.type_error(&format!("type mismatch: {t} given")));
    };
    match rfind(cx, s, o, n)? {
        Some(a) => around(cx, s, a, o),
        None => three(cx, s, 0..0),
    }
}

pub static TABLE: &[NativeDef] = &[
    n("String", "index", 1, 2, index),
    n("String", "byteindex", 1, 2, byteindex),
    n("String", "rindex", 1, 2, rindex),
    n("String", "byterindex", 1, 2, byterindex),
    n("String", "include?", 1, 1, include),
    n("String", "start_with?", 0, -1, start_with),
    n("String", "end_with?", 0, -1, end_with),
    n("String", "delete_prefix", 1, 1, delete_prefix),
    n("String", "delete_suffix", 1, 1, delete_suffix),
    n("String", "delete_prefix!", 1, 1, delete_prefix_bang),
    n("String", "delete_suffix!", 1, 1, delete_suffix_bang),
    n("String", "partition", 1, 1, partition),
    n("String", "rpartition", 1, 1, rpartition),
];
