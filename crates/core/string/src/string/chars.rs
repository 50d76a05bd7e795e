//! What a string is made of: bytes, characters, code points, grapheme clusters.

use crate::text::*;
use kumi_text::encoding::{CodeRange, EncIndex};
use kumi_vm::*;

fn length(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    Ok(Value::fix(char_count(s) as i64))
}
fn bytesize(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    Ok(Value::fix(s.bytes().len() as i64))
}
fn is_empty(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    Ok(Value::bool(s.bytes().is_empty()))
}
fn getbyte(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let i = cx.arg_i64(args, 0)?;
    // One look: it is read without its lock.
    let b = s.bytes();
    let i = if i < 0 { i.saturating_add(b.len() as i64) } else { i };
    Ok(usize::try_from(i).ok().and_then(|i| b.get(i)).map_or(Value::NIL, |c| Value::fix(*c as i64)))
}
fn setbyte(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let i = cx.arg_i64(args, 0)?;
    let b = cx.arg_int(args, 1)?;
    cx.check_frozen(recv)?;
    let n = s.bytes().len() as i64;
    let at = if i < 0 { i + n } else { i };
    if at < 0 || at >= n {
        return Err(cx.index_error(&format!("index {i} out of string")));
    }
    let low = match (b.as_fix(), b.as_big()) {
        (Some(x), _) => x as u8,
        (_, Some(x)) => x.n.to_le_bytes().first().copied().unwrap_or(0),
        _ => 0,
    };
    cx.heap.edit(s).buf.set(at as usize, low);
    s.changed();
    Ok(args[1])
}
fn bytes(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    let mut v = Vec::room(s.bytes().len());
    let mut patience = cx.patience();
    for part in s.bytes().chunks(1 << 16) {
        patience.steps(cx, 1 << 10)?;
        v.extend(part.iter().map(|b| Value::fix(*b as i64)));
    }
    cx.heap.charge(v.len() * 8);
    Ok(cx.array_vec(v))
}
fn chars(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    let (e, r) = (enc(s), range(s));
    let mut out = Vec::room(s.bytes().len().min(1 << 20));
    let mut patience = cx.patience();
    if single_byte(s) {
        for i in 0..s.bytes().len() {
            patience.step(cx)?;
            out.put(make(cx, &s.bytes()[i..i + 1], e, piece_range(s)));
        }
    } else {
        for c in e.chars(s.bytes()) {
            patience.step(cx)?;
            let k = if r == CodeRange::Valid && e.is_utf8() {
                if c[0] < 0x80 { CodeRange::SevenBit } else { CodeRange::Valid }
            } else {
                CodeRange::Unknown
            };
            out.put(make(cx, c, e, k));
        }
    }
    cx.heap.charge(out.len() * 8);
    Ok(cx.array_vec(out))
}
fn codepoints(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    let e = enc(s);
    if single_byte(s) && e != EncIndex::US_ASCII {
        return bytes(cx, recv, &[]);
    }
    let (mut out, mut patience) = (Vec::new(), cx.patience());
    let mut i = 0;
    while i < s.bytes().len() {
        patience.step(cx)?;
        match e.decode(&s.bytes()[i..]) {
            Some((c, n)) => {
                out.put(Value::fix(c as i64));
                i += n;
            }
            None => return Err(cx.arg_error(&format!("invalid byte sequence in {}", e.name()))),
        }
    }
    Ok(cx.array_vec(out))
}
fn ord(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    if s.bytes().is_empty() {
        return Err(cx.arg_error("empty string"));
    }
    match enc(s).decode(s.bytes()) {
        Some((c, _)) => Ok(Value::fix(c as i64)),
        None => Err(cx.arg_error(&format!("invalid byte sequence in {}", enc(s).name()))),
    }
}
fn chr(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    let n = enc(s).char_len(s.bytes()).step();
    Ok(piece(cx, s, 0..n))
}
fn sum(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let bits = if args.is_empty() { 16 } else { cx.arg_c_int(args, 0)? as i64 };
    let total: u64 = s.bytes().iter().map(|b| *b as u64).sum();
    let total = if (1..64).contains(&bits) { total & ((1u64 << bits) - 1) } else { total };
    Ok(cx.uint(total))
}
fn valid_encoding(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    Ok(Value::bool(range(s) != CodeRange::Broken))
}
fn ascii_only(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    Ok(Value::bool(is_ascii(s)))
}
fn b(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    Ok(make(cx, s.bytes(), EncIndex::BINARY, CodeRange::Unknown))
}
/// `__str_graphemes(s)`: all extended grapheme clusters.
fn graphemes(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    let e = enc(s);
    let mut ranges = Vec::new();
    let mut patience = cx.patience();
    if e.is_unicode() && !e.is_utf8() && range(s) != CodeRange::Broken {
        // By way of UTF-8, character by character.
        let (mut text, mut at, mut ends) = (Vec::new(), 0, Vec::new());
        while let Some((c, n)) = e.decode(&s.bytes()[at..]) {
            patience.step(cx)?;
            EncIndex::UTF_8.push_code(&mut text, c);
            at += n;
            ends.push((text.len(), at));
        }
        let (mut from, mut k) = (0, 0);
        for r in kumi_text::strsearch::graphemes(&text, EncIndex::UTF_8) {
            while k < ends.len() && ends[k].0 < r.end {
                k += 1;
            }
            let to = ends.get(k).map_or(at, |p| p.1);
            ranges.push(from..to);
            from = to;
        }
    } else {
        ranges = crate::away::away(cx, s, s.bytes().len() as u64 * 20, move |b| kumi_text::strsearch::graphemes(b, e))?;
    }
    let mut v = Vec::room(ranges.len());
    for r in ranges {
        patience.step(cx)?;
        v.push(piece(cx, s, r));
    }
    Ok(cx.array_vec(v))
}
/// Bytes of the character at byte `args[1]`.
fn char_step(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    let at = cx.arg_i64(args, 1)?.max(0) as usize;
    if at >= s.bytes().len() {
        return Ok(Value::fix(0));
    }
    Ok(Value::fix(enc(s).char_len(&s.bytes()[at..]).step().max(1) as i64))
}
/// Code point at byte `args[1]`, or ArgumentError.
fn code_at(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    let at = (cx.arg_i64(args, 1)?.max(0) as usize).min(s.bytes().len());
    match enc(s).decode(&s.bytes()[at..]) {
        Some((c, _)) => Ok(Value::fix(c as i64)),
        None => Err(cx.arg_error(&format!("invalid byte sequence in {}", enc(s).name()))),
    }
}

pub static TABLE: &[NativeDef] = &[
    n("String", "length", 0, 0, length),
    n("String", "size", 0, 0, length),
    n("String", "bytesize", 0, 0, bytesize).guard(Guard::None),
    n("String", "empty?", 0, 0, is_empty).guard(Guard::None),
    n("String", "getbyte", 1, 1, getbyte).guard(Guard::None),
    n("String", "setbyte", 2, 2, setbyte),
    n("String", "bytes", 0, 0, bytes),
    n("String", "chars", 0, 0, chars),
    n("String", "codepoints", 0, 0, codepoints),
    n("String", "ord", 0, 0, ord),
    n("String", "chr", 0, 0, chr),
    n("String", "sum", 0, 1, sum),
    n("String", "valid_encoding?", 0, 0, valid_encoding),
    n("String", "ascii_only?", 0, 0, ascii_only),
    n("String", "b", 0, 0, b),
    intrinsic("__str_bytes", 1, 1, |cx, _, a| bytes(cx, a[0], &[])),
    intrinsic("__str_chars", 1, 1, |cx, _, a| chars(cx, a[0], &[])),
    intrinsic("__str_codepoints", 1, 1, |cx, _, a| codepoints(cx, a[0], &[])),
    intrinsic("__str_graphemes", 1, 1, graphemes),
    intrinsic("__str_char_step", 2, 2, char_step),
    intrinsic("__str_code_at", 2, 2, code_at),
];
