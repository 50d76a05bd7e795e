//! Exception's leaves: message, text, equality of class.
//!
//! An exception keeps its parts in hidden instance variables (`sym::IV_*`), so that
//! one raised by native code needs no `initialize`.

use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    private("Exception", "initialize", 0, 1, initialize),
    n("Exception", "to_s", 0, 0, to_s),
    n("Exception", "message", 0, 0, message),
    n("Exception", "cause", 0, 0, |cx, r, _| Ok(iv(cx, r, sym::IV_CAUSE))),
    intrinsic("__exit_now", 1, 1, exit_now).guard(Guard::None),
];

fn iv(cx: &mut Cx, v: Value, s: Sym) -> Value {
    let x = cx.ivar_get(v, s);
    if x.is_undef() { Value::NIL } else { x }
}
fn initialize(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let m = a.first().copied().unwrap_or(Value::NIL);
    cx.ivar_set(recv, sym::IV_MESSAGE, m);
    Ok(Value::NIL)
}
/// The message as it was given when it is a String, the class's name when there is none.
fn to_s(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = iv(cx, recv, sym::IV_MESSAGE);
    if m.as_str().is_some() {
        return Ok(m);
    }
    if m.is_nil() {
        let c = cx.real_class(recv);
        let n = cx.class_name(c);
        return Ok(cx.str(&n));
    }
    Err(Exit::Miss)
}
fn message(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let c = cx.class_of(recv);
    let m = cx.find_method(c, sym::TO_S);
    if m != NO_METHOD && cx.method(m).owner == cx.k.exception {
        return to_s(cx, recv, a);
    }
    Err(Exit::Miss)
}
/// Ends the process at once: no at_exit blocks, no ensure clauses.
fn exit_now(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let n = cx.arg_i64(a, 0)?;
    use std::io::Write;
    let _ = std::io::stdout().flush();
    // SAFETY: _exit has no memory effects that anybody could see afterwards.
    unsafe { libc::_exit(n as i32) }
}
