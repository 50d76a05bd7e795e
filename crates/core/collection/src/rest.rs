//! Intrinsics of the prelude that read a rest parameter.
//!
//! **Invariant.** A rest parameter that is only counted and passed on (`Params::passes`) holds undef for no value, an Array with
//! `is_list` for several, and one value as it is, whatever that may be: an Array without the flag is that one value. The compiler
//! calls `__rest_len`, `__rest_at`, `__rest_pack` and `__rest_list` where such a parameter is read by `__ary_len`, `__ary_at`, `__pack`
//! and `__rest`, which are for any other rest parameter: an Array.

use kumi_vm::*;

/// The Array of several values.
fn list(v: Value) -> Option<Gc<ArrayObj>> {
    v.as_array().filter(|a| a.is_list())
}

/// `__rest_len(rest)`: how many values.
fn len(_: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(Value::fix(list(args[0]).map_or(!args[0].is_undef() as i64, |a| a.len() as i64)))
}

/// `__rest_at(rest, i)`: one of them, nil beyond the end.
fn at(_: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(match list(args[0]) {
        Some(a) => a.get(args[1].fix_val() as usize).unwrap_or(Value::NIL),
        None if args[0].is_undef() || args[1].fix_val() != 0 => Value::NIL,
        None => args[0],
    })
}

/// `__rest_pack(rest)`: what the values count as when they are one element.
fn rest_pack(_: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(match list(args[0]) {
        Some(a) => packed(a),
        None if args[0].is_undef() => Value::NIL,
        None => args[0],
    })
}

/// `__rest_list(rest)`: an Array of the values.
fn rest_list(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(match list(args[0]) {
        Some(a) => a.val(),
        None if args[0].is_undef() => cx.array(&[]),
        None => cx.array(&[args[0]]),
    })
}

fn packed(a: Gc<ArrayObj>) -> Value {
    match a.len() {
        0 => Value::NIL,
        1 => a.get(0).unwrap_or(Value::NIL),
        _ => a.val(),
    }
}

/// `__pack(values)`: what several yielded values count as.
fn pack(_: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(args[0].as_array().map_or(args[0], packed))
}

/// `__rest(rest)`
fn rest(_: &mut Cx, _: Value, args: &[Value]) -> R {
    Ok(args[0])
}

/// The intrinsics.
pub static TABLE: &[NativeDef] = &[
    intrinsic("__pack", 1, 1, pack),
    intrinsic("__rest", 1, 1, rest),
    intrinsic("__rest_len", 1, 1, len).guard(Guard::None),
    intrinsic("__rest_at", 2, 2, at).guard(Guard::None),
    intrinsic("__rest_pack", 1, 1, rest_pack),
    intrinsic("__rest_list", 1, 1, rest_list),
];
