//! Copies of a string, frozen and not, and the symbol of its name.

use crate::text::*;
use kumi_text::encoding::CodeRange;
use kumi_vm::*;

fn to_s(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    if cx.real_class(recv) == cx.k.string {
        return Ok(recv);
    }
    let _l = cx.lock_objects(recv, &[]);
    Ok(copy(cx, s))
}
fn to_sym(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    crate::names::intern_str(cx, s)
}
fn initialize_copy(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let s = me(cx, recv)?;
    cx.check_frozen(recv)?;
    let o = cx.arg_str(args, 0)?;
    if s == o {
        return Ok(recv);
    }
    set(cx, s, o.bytes(), enc(o), CodeRange::Unknown);
    s.set_range(o.range());
    Ok(recv)
}
/// A copy of the receiver's class without copying singleton or instance variables: the plain case of dup.
fn dup(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    if cx.class_of(recv) != cx.k.string || s.hdr.has(flag::IVARS) {
        return Err(Exit::Miss);
    }
    Ok(copy(cx, s))
}
fn uplus(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    if recv.frozen() {
        let s = me(cx, recv)?;
        return Ok(copy(cx, s));
    }
    Ok(recv)
}
fn uminus(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let s = me(cx, recv)?;
    let plain = cx.class_of(recv) == cx.k.string && !s.hdr.has(flag::IVARS);
    if !plain && recv.frozen() {
        return Ok(recv);
    }
    // One with more than its bytes stays out of the table.
    Ok(if plain { cx.fstring_of(s) } else { cx.fstring(s.bytes(), enc(s)) })
}
/// `__str_copy(s)`: a plain String of the same bytes.
fn copy_m(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    Ok(copy(cx, s))
}
/// `__str_frozen(s)`: a frozen plain String of the same bytes, `s` itself when it is one.
fn frozen_m(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let s = me(cx, args[0])?;
    Ok(frozen_copy(cx, s))
}
/// `__str_set(s, other)`: what `replace` does, whatever a user made of that name.
fn set_m(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    initialize_copy(cx, args[0], &args[1..])
}

pub static TABLE: &[NativeDef] = &[
    n("String", "to_s", 0, 0, to_s).guard(Guard::None),
    n("String", "to_str", 0, 0, to_s).guard(Guard::None),
    n("String", "to_sym", 0, 0, to_sym),
    n("String", "intern", 0, 0, to_sym),
    private("String", "initialize_copy", 1, 1, initialize_copy),
    n("String", "replace", 1, 1, initialize_copy),
    n("String", "dup", 0, 0, dup),
    n("String", "+@", 0, 0, uplus),
    n("String", "-@", 0, 0, uminus),
    n("String", "dedup", 0, 0, uminus),
    intrinsic("__str_copy", 1, 1, copy_m),
    intrinsic("__str_set", 2, 2, set_m),
    intrinsic("__str_frozen", 1, 1, frozen_m),
];
