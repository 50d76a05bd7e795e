//! Symbols: names as strings, order, inspection. How names are encoded: `names`.

use crate::names::{SymState, intern_str, name_str, sym_enc};
use crate::text::*;
use kumi_text::encoding::{CodeRange, EncIndex};
use kumi_vm::*;

fn me_sym(cx: &mut Cx, v: Value) -> Result<Sym, Exit> {
    match v.as_sym() {
        Some(y) => Ok(y),
        None => Err(cx.type_error("not a symbol")),
    }
}
fn to_s(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let y = me_sym(cx, recv)?;
    Ok(name_str(cx, y))
}
fn name(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let y = me_sym(cx, recv)?;
    let st = cx.shared_state::<SymState>();
    if let Some(v) = st.names.read().unwrap_or_else(|e| e.into_inner()).get(&y) {
        return Ok(Value::from_bits(*v));
    }
    let v = name_str(cx, y);
    if let Some(h) = v.header() {
        h.set(flag::FROZEN);
    }
    cx.heap.publish(v);
    // Another worker may have been faster: its string is the one.
    Ok(Value::from_bits(*st.names.write().unwrap_or_else(|e| e.into_inner()).entry(y).or_insert(v.bits())))
}
fn itself(_: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(recv)
}
fn length(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let y = me_sym(cx, recv)?;
    let e = sym_enc(cx, y);
    Ok(Value::fix(e.char_count(cx.syms.name(y), CodeRange::Unknown) as i64))
}
fn is_empty(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let y = me_sym(cx, recv)?;
    Ok(Value::bool(cx.syms.name(y).is_empty()))
}
fn eq(_: &mut Cx, recv: Value, args: &[Value]) -> R {
    Ok(Value::bool(recv == args[0]))
}
fn cmp(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let (a, Some(b)) = (me_sym(cx, recv)?, args[0].as_sym()) else { return Ok(Value::NIL) };
    let (a, b) = (name_str(cx, a), name_str(cx, b));
    let (a, b) = (me(cx, a)?, me(cx, b)?);
    Ok(Value::fix(crate::text::compare(a, b) as i64))
}
fn hash(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(match cx.plain_hash(recv) {
        Some(h) => Value::fix(h as i64),
        None => Value::fix(0),
    })
}
fn inspect(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let y = me_sym(cx, recv)?;
    let e = sym_enc(cx, y);
    let result = crate::encoding::inspect_encoding(cx);
    let out = kumi_text::escape::symbol_inspect(cx.syms.name(y), e, result);
    Ok(if out.is_ascii() { cx.str_vec(out, EncIndex::US_ASCII) } else { cx.str_vec(out, EncIndex::UTF_8) })
}
fn encoding(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let y = me_sym(cx, recv)?;
    let e = sym_enc(cx, y);
    Ok(crate::encoding::value(cx, e))
}
fn start_with(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let y = me_sym(cx, recv)?;
    let s = name_str(cx, y);
    let s = me(cx, s)?;
    for i in 0..args.len() {
        let Some(o) = args[i].as_str() else { return Err(Exit::Miss) };
        if crate::string::search::starts(s, o) {
            return Ok(Value::TRUE);
        }
    }
    Ok(Value::FALSE)
}
fn end_with(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let y = me_sym(cx, recv)?;
    let s = name_str(cx, y);
    let s = me(cx, s)?;
    for i in 0..args.len() {
        let o = cx.arg_str(args, i)?;
        compat(cx, s, o)?;
        if crate::string::search::ends(s, o) {
            return Ok(Value::TRUE);
        }
    }
    Ok(Value::FALSE)
}
fn all(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let v: Vec<Value> = cx.syms.all().into_iter().map(Value::sym).collect();
    Ok(cx.array_vec(v))
}

fn to_proc(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let y = me_sym(cx, recv)?;
    Ok(cx.symbol_proc(y))
}

/// `:"#{x}"`: the symbol of a joined string.
fn joined(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = cx.arg_str(args, 0)?;
    intern_str(cx, s)
}

pub static TABLE: &[NativeDef] = &[
    intrinsic("__str_to_sym", 1, 1, joined),
    n("Symbol.", "all_symbols", 0, 0, all),
    n("Symbol", "to_s", 0, 0, to_s),
    n("Symbol", "id2name", 0, 0, to_s),
    n("Symbol", "name", 0, 0, name),
    n("Symbol", "to_sym", 0, 0, itself),
    n("Symbol", "to_proc", 0, 0, to_proc),
    n("Symbol", "length", 0, 0, length),
    n("Symbol", "size", 0, 0, length),
    n("Symbol", "empty?", 0, 0, is_empty),
    n("Symbol", "==", 1, 1, eq),
    n("Symbol", "===", 1, 1, eq),
    n("Symbol", "<=>", 1, 1, cmp),
    n("Symbol", "hash", 0, 0, hash),
    n("Symbol", "inspect", 0, 0, inspect),
    n("Symbol", "encoding", 0, 0, encoding),
    n("Symbol", "start_with?", 0, -1, start_with),
    n("Symbol", "end_with?", 0, -1, end_with),
];
