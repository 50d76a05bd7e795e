//! Strings that are put together: `+`, `<<`, `*`, `concat`, `prepend`.

use crate::text::*;
use kumi_text::encoding::{CodeRange, EncIndex};
use kumi_vm::*;

fn plus(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let a = me(cx, recv)?;
    let b = cx.arg_str(args, 0)?;
    concat_two(cx, a, b)
}
/// Appends the character with code point `c`.
fn append_code(cx: &mut Cx, s: Str, c: i64) -> Result<(), Exit> {
    let (s, mut e) = (s, enc(s));
    if e == EncIndex::US_ASCII && c > 127 {
        if c > 255 {
            return Err(cx.range_error(&format!("{c} out of char range")));
        }
        e = EncIndex::BINARY;
        let code = u32::try_from(c).unwrap_or(0);
        append(cx, s, &[code as u8], CodeRange::Unknown);
        s.set_enc(e.as_u8());
        return Ok(());
    }
    let ch = code_bytes(cx, c, e)?;
    append(cx, s, &ch, known(s).concat(e.scan(&ch)));
    Ok(())
}
/// What is known of a string to which something is appended. It is not looked through: who appends piece by piece would do so each time.
fn known(s: Str) -> CodeRange {
    match s.range() {
        _ if s.bytes().is_empty() => CodeRange::SevenBit,
        0 => CodeRange::Unknown,
        _ => range(s),
    }
}
fn shl(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    if let Some(b) = args[0].as_str() {
        append_str(cx, s, b)?;
        return Ok(recv);
    }
    if let Some(c) = args[0].as_fix() {
        append_code(cx, s, c)?;
        return Ok(recv);
    }
    if args[0].as_big().is_some() {
        return Err(cx.range_error("bignum out of char range"));
    }
    Err(Exit::Convert(0, Proto::Str))
}
fn concat(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    for i in 0..args.len() {
        if args[i].as_big().is_some() {
            return Err(cx.range_error("bignum out of char range"));
        }
        if !args[i].is_fix() {
            cx.arg_str(args, i)?;
        }
    }
    // `s.concat(s, s)` appends what `s` was before.
    let before = args.contains(&recv).then(|| copy(cx, s));
    for a in args {
        let a = if *a == recv { before.unwrap_or(*a) } else { *a };
        match a.as_str() {
            Some(b) => append_str(cx, s, b)?,
            None => append_code(cx, s, a.fix_val())?,
        }
    }
    Ok(recv)
}
fn append_as_bytes(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    let mut out = Vec::new();
    for a in args {
        if let Some(b) = a.as_str() {
            out.put_all(b.bytes());
        } else if let Some(i) = a.as_fix() {
            out.put(i as u8);
        } else if let Some(b) = a.as_big() {
            out.put(b.n.to_le_bytes().first().copied().unwrap_or(0));
        } else {
            let t = cx.describe_type(*a);
            return Err(cx.type_error(&format!("wrong argument type {t} (expected String or Integer)")));
        }
    }
    append(cx, s, &out, known(s).concat(enc(s).scan(&out)));
    Ok(recv)
}
fn prepend(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    for i in 0..args.len() {
        cx.arg_str(args, i)?;
    }
    let whole = cx.str_enc(b"", enc(s));
    let w = me(cx, whole)?;
    for a in args {
        let a = me(cx, *a)?;
        append_str(cx, w, a)?;
    }
    append_str(cx, w, s)?;
    if !args.is_empty() {
        set(cx, s, w.bytes(), enc(w), CodeRange::Unknown);
    }
    Ok(recv)
}
fn times(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    let n = cx.arg_i64(args, 0)?;
    if n < 0 {
        return Err(cx.arg_error("negative argument"));
    }
    let total = match s.bytes().len().checked_mul(n as usize).filter(|t| *t < isize::MAX as usize) {
        Some(t) => t,
        None => return Err(cx.arg_error("argument too big")),
    };
    cx.check_size(total)?;
    let r = if n == 0 || total == 0 { CodeRange::Unknown } else { range(s) };
    let r = if r == CodeRange::Broken { CodeRange::Unknown } else { r };
    let out = s.bytes().repeat(n as usize);
    Ok(make_vec(cx, out, enc(s), r))
}
fn clear(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    cx.heap.edit(s).buf.clear();
    cx.heap.edit(s).buf.shrink_to_fit();
    s.changed();
    Ok(recv)
}
/// `__str_append_slice(s, from, first, past)`: appends bytes `first...past` of `from`.
fn append_slice(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (s, from) = (me(cx, args[0])?, me(cx, args[1])?);
    let n = from.bytes().len();
    let past = (args[3].as_fix().unwrap_or(0).max(0) as usize).min(n);
    let first = (args[2].as_fix().unwrap_or(0).max(0) as usize).min(past);
    if first == past {
        return Ok(args[0]);
    }
    if s == from || s.enc() != from.enc() {
        let part = piece(cx, from, first..past);
        let part = me(cx, part)?;
        append_str(cx, s, part)?;
        return Ok(args[0]);
    }
    let part = &from.bytes()[first..past];
    let of_part = if from.range() == 1 { CodeRange::SevenBit } else { enc(s).scan(part) };
    append(cx, s, part, known(s).concat(of_part));
    Ok(args[0])
}
/// `__str_reserve(s, capacity)`
fn reserve(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    cx.check_frozen(args[0])?;
    let n = cx.arg_i64(args, 1)?;
    let have = s.buf.len();
    if n > have as i64 && n > 24 {
        cx.check_size(n as usize)?;
        // A hint: more than this is taken when it is needed.
        cx.heap.edit(s).buf.reserve((n as usize).min(1 << 24) - have.min(1 << 24));
    }
    Ok(args[0])
}

pub static TABLE: &[NativeDef] = &[
    n("String", "+", 1, 1, plus),
    n("String", "<<", 1, 1, shl),
    n("String", "concat", 0, -1, concat),
    n("String", "append_as_bytes", 0, -1, append_as_bytes),
    n("String", "prepend", 0, -1, prepend),
    n("String", "*", 1, 1, times),
    n("String", "clear", 0, 0, clear),
    intrinsic("__str_reserve", 2, 2, reserve),
    intrinsic("__str_append_slice", 4, 4, append_slice),
];
