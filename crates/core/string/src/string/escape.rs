//! `inspect`, `dump`, `undump`, `scrub`.

use crate::away::away;
use crate::text::*;
use kumi_text::encoding::{CodeRange, EncIndex};
use kumi_text::{escape, transcode};
use kumi_vm::*;

fn inspect(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    let result = crate::encoding::inspect_encoding(cx);
    let (e, ns) = (enc(s), s.bytes().len() as u64 * 10);
    let out = away(cx, s, ns, move |b| escape::inspect(b, e, result))?;
    Ok(cx.str_vec(out, result))
}
fn dump(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    let (e, ns) = (enc(s), s.bytes().len() as u64 * 10);
    let out = away(cx, s, ns, move |b| escape::dump(b, e))?;
    let e = if enc(s).is_ascii_compatible() { enc(s) } else { EncIndex::BINARY };
    Ok(make_vec(cx, out, e, CodeRange::SevenBit))
}
fn undump(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    if !enc(s).is_ascii_compatible() {
        let m = format!("ASCII incompatible encoding: {}", enc(s).name());
        return Err(cx.raise_msg(cx.k.compatibility_error, &m));
    }
    let (e, ns) = (enc(s), s.bytes().len() as u64 * 10);
    match away(cx, s, ns, move |b| escape::undump(b, e))? {
        Ok((b, e)) => Ok(cx.str_vec(b, e)),
        Err(m) => Err(cx.runtime_error(m)),
    }
}
/// `__str_scrub(s, replacement or nil)`: the scrubbed bytes as a new string, nil when nothing is bad.
fn scrub(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    if range(s) != CodeRange::Broken {
        return Ok(Value::NIL);
    }
    let rep = if args[1].is_nil() {
        None
    } else {
        let r = me(cx, args[1])?;
        if range(r) == CodeRange::Broken {
            let shown = escape::inspect(r.bytes(), enc(r), EncIndex::UTF_8);
            let shown = String::from_utf8_lossy(&shown).trim_matches('"').to_string();
            return Err(cx.arg_error(&format!("replacement must be valid byte sequence '{shown}'")));
        }
        if !is_ascii(r) && enc(r) != enc(s) {
            return Err(incompatible(cx, enc(s), enc(r)));
        }
        Some(r)
    };
    let (e, ns) = (enc(s), s.bytes().len() as u64 * 10);
    let rep = rep.map(|r| r.bytes().to_vec());
    Ok(match away(cx, s, ns, move |b| transcode::scrub(b, e, rep.as_deref()))? {
        Some(b) => cx.str_vec(b, enc(s)),
        None => Value::NIL,
    })
}
/// `__str_next_bad(s, from)`: `[begin, end]` of the next bad bytes or nil.
fn next_bad(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    let from = args[1].as_fix().unwrap_or(0).max(0) as usize;
    if from >= s.bytes().len() || from == 0 && range(s) != CodeRange::Broken {
        return Ok(Value::NIL);
    }
    Ok(match transcode::next_bad(s.bytes(), enc(s), from) {
        Some(r) => cx.array(&[Value::fix(r.start as i64), Value::fix(r.end as i64)]),
        None => Value::NIL,
    })
}

/// `__str_shown(s)`: what an object's `inspect` gave, as it stands in a longer text: itself when it is ASCII or in the encoding that
/// `inspect` writes in, else escaped.
fn shown(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    let result = crate::encoding::inspect_encoding(cx);
    if is_ascii(s) || enc(s) == result {
        return Ok(args[0]);
    }
    let quoted = escape::inspect(s.bytes(), enc(s), EncIndex::US_ASCII);
    let mut out = Vec::with_capacity(quoted.len());
    let mut rest = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().iter().copied();
    while let Some(c) = rest.next() {
        match (c, rest.clone().next()) {
            // Quotes are none here, so what could end them is not escaped.
            (b'\\', Some(b'"' | b'\\' | b'#')) => out.extend(rest.next()),
            (b'\\', Some(e)) => {
                rest.next();
                out.extend_from_slice(&[c, e]);
            }
            _ => out.push(c),
        }
    }
    Ok(cx.str_vec(out, EncIndex::US_ASCII))
}

pub static TABLE: &[NativeDef] = &[
    intrinsic("__str_shown", 1, 1, shown),
    n("String", "inspect", 0, 0, inspect),
    n("String", "dump", 0, 0, dump),
    n("String", "undump", 0, 0, undump),
    intrinsic("__str_scrub", 2, 2, scrub),
    intrinsic("__str_next_bad", 2, 2, next_bad),
];
