//! What prelude code asks of a value past all that users may redefine: its class, instance variables, frozenness.
//!
//! **Invariant.** None of these calls a method; each answers the same whatever the program has defined.

use crate::Cx;
use crate::doors::*;
use kumi_heap::*;

fn class_i(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(cx.real_class(a[0]).val())
}

fn is_a(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(c) = a[1].as_class() else { return Ok(Value::FALSE) };
    Ok(Value::bool(cx.is_a(a[0], c)))
}

fn builtin(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_name(a, 1)?;
    Ok(Value::bool(cx.builtin(a[0], s)))
}

fn responds(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_name(a, 1)?;
    Ok(Value::bool(cx.has_method(a[0], s)))
}

fn same(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::bool(a[0] == a[1]))
}

fn undef(_: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::UNDEF)
}

fn is_undef(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::bool(a[0].is_undef()))
}

fn frozen(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::bool(a[0].frozen()))
}

fn ivar_get(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_name(a, 1)?;
    let v = cx.ivar_get(a[0], s);
    Ok(if v.is_undef() { Value::NIL } else { v })
}

fn ivar_set(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let s = cx.arg_name(a, 1)?;
    cx.ivar_set(a[0], s, a[2]);
    Ok(a[2])
}

fn raise_i(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Err(cx.raise(a[0]))
}

fn check_frozen(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.check_frozen(a[0])?;
    Ok(Value::NIL)
}

fn check_modifiable(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    cx.check_modifiable(c)?;
    Ok(Value::NIL)
}

/// `__address(x)`: the 16 digits of `#<Foo:0x...>`.
fn address(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let id = if a[0].is_heap() { cx.heap.object_id(a[0]) } else { a[0].bits() };
    Ok(cx.str_ascii(&format!("0x{:016x}", id * 8)))
}

fn call_native(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let args = a[2].as_array().map_or(Args::new(), |l| l.seen().iter().collect());
    cx.pending.call = Some(Call {
        kw: a.get(3).copied().filter(|k| !k.is_nil()).unwrap_or(Value::UNDEF),
        block: a.get(4).copied().unwrap_or(Value::NIL),
        ..Call::new(Target::Method(a[0].as_fix().unwrap_or(0) as u32), a[1], args)
    });
    Err(Exit::Call)
}

/// `__call_plain(proc, arg)`: the argument is not taken apart.
fn call_plain(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.pending.call = Some(Call::new(Target::ProcPlain(a[0]), Value::NIL, Args::from_slice(&[a[1]])));
    Err(Exit::Call)
}

/// `__not_frozen_main()`: the main object.
fn main_object(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.main_object)
}

fn mm(cx: &mut Cx, recv: Value, args: &[Value]) -> R {
    let Some(name) = args.first().and_then(|v| v.as_sym()) else {
        return Err(cx.arg_error("no method name given"));
    };
    Err(cx.missing_error(recv, name, &args[1..]))
}

pub(super) static TABLE: &[NativeDef] = &[
    intrinsic("__class", 1, 1, class_i).guard(Guard::None),
    intrinsic("__is_a", 2, 2, is_a).guard(Guard::None),
    intrinsic("__builtin", 2, 2, builtin).guard(Guard::None),
    intrinsic("__responds", 2, 2, responds).guard(Guard::None),
    intrinsic("__same", 2, 2, same).guard(Guard::None),
    intrinsic("__undef", 0, 0, undef).guard(Guard::None),
    intrinsic("__undef?", 1, 1, is_undef).guard(Guard::None),
    intrinsic("__frozen", 1, 1, frozen).guard(Guard::None),
    intrinsic("__ivar_get", 2, 2, ivar_get).guard(Guard::None),
    intrinsic("__ivar_set", 3, 3, ivar_set),
    intrinsic("__raise", 1, 1, raise_i).guard(Guard::None),
    intrinsic("__check_frozen", 1, 1, check_frozen).guard(Guard::None),
    intrinsic("__check_modifiable", 1, 1, check_modifiable).guard(Guard::None),
    intrinsic("__call_native", 3, 5, call_native),
    intrinsic("__call_plain", 2, 2, call_plain).guard(Guard::None),
    intrinsic("__address", 1, 1, address),
    intrinsic("__main_object", 0, 0, main_object).guard(Guard::None),
    private("BasicObject", "method_missing", 0, -1, mm).guard(Guard::None),
];
