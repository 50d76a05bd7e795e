//! What compiled code asks of lists that it walks by itself (`when *list`, array and find patterns), and how a `case` ends that
//! matched nothing.
//!
//! **Invariant.** The compiler's own counting dispatches to no method: whatever a program redefines or refines, these answer
//! the same. Programs cannot name them.

use crate::Cx;
use crate::doors::*;
use kumi_heap::*;

fn int(a: &[Value], i: usize) -> usize {
    a[i].as_fix().unwrap_or(0).max(0) as usize
}
fn part(cx: &mut Cx, list: Value, from: usize, to: usize) -> R {
    let Some(all) = list.as_array() else { return Ok(Value::NIL) };
    let all = all.seen();
    let to = to.min(all.len());
    let from = from.min(to);
    cx.heap.charge((to - from) * 8);
    Ok(cx.array_seen(all.part(from..to)))
}

/// `__walk_len(list)`
fn len(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::fix(a[0].as_array().map_or(0, |l| l.len() as i64)))
}
/// `__walk_item(list, i)`: undef beyond the end.
fn item(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(a[0].as_array().and_then(|l| l.get(int(a, 1))).unwrap_or(Value::UNDEF))
}
/// `__walk_next(i)`
fn next(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::fix(int(a, 0) as i64 + 1))
}
/// `__walk_exact(length, n)`
fn exact(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::bool(int(a, 0) == int(a, 1)))
}
/// `__walk_least(length, n)`
fn least(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::bool(int(a, 0) >= int(a, 1)))
}
/// `__walk_fits(length, i, n)`: do `n` elements stand from `i` on?
fn fits(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(Value::bool(int(a, 1) + int(a, 2) <= int(a, 0)))
}
/// `__walk_at(list, i, j)`: element `i + j`, nil beyond the end.
fn at(_: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(a[0].as_array().and_then(|l| l.get(int(a, 1) + int(a, 2))).unwrap_or(Value::NIL))
}
/// `__walk_before(list, i)`
fn before(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    part(cx, a[0], 0, int(a, 1))
}
/// `__walk_behind(list, i, n)`: what follows the `n` elements from `i` on.
fn behind(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    part(cx, a[0], int(a, 1) + int(a, 2), usize::MAX)
}
/// `__walk_array(v)`: TypeError unless `deconstruct` gave an Array.
fn array(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if a[0].as_array().is_some() { Ok(a[0]) } else { Err(cx.type_error("deconstruct must return Array")) }
}
/// `__walk_hash(v)`: the same for `deconstruct_keys`.
fn hash(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if a[0].as_hash().is_some() { Ok(a[0]) } else { Err(cx.type_error("deconstruct_keys must return Hash")) }
}
/// `__no_pattern(value, why)`, `__no_pattern_key(value, key)`: the exception is made in Ruby, since it shows values.
fn no_pattern(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Err(cx.call_helper("no_pattern", a))
}
fn no_pattern_key(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Err(cx.call_helper("no_pattern_key", a))
}

pub(super) static TABLE: &[NativeDef] = &[
    intrinsic("__walk_len", 1, 1, len).guard(Guard::None),
    intrinsic("__walk_item", 2, 2, item).guard(Guard::None),
    intrinsic("__walk_next", 1, 1, next).guard(Guard::None),
    intrinsic("__walk_exact", 2, 2, exact).guard(Guard::None),
    intrinsic("__walk_least", 2, 2, least).guard(Guard::None),
    intrinsic("__walk_fits", 3, 3, fits).guard(Guard::None),
    intrinsic("__walk_at", 3, 3, at).guard(Guard::None),
    intrinsic("__walk_before", 2, 2, before).guard(Guard::None),
    intrinsic("__walk_behind", 3, 3, behind).guard(Guard::None),
    intrinsic("__walk_array", 1, 1, array).guard(Guard::None),
    intrinsic("__walk_hash", 1, 1, hash).guard(Guard::None),
    intrinsic("__no_pattern", 2, 2, no_pattern).guard(Guard::None),
    intrinsic("__no_pattern_key", 2, 2, no_pattern_key).guard(Guard::None),
];
