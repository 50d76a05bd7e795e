//! Array: the steps of combinations, permutations and products.
//!
//! The prelude yields; these intrinsics pick the elements and move the positions on.
//! Positions are fixnums in arrays of ours.

use crate::array::{me, me_held};
use kumi_vm::*;

fn num(v: Value) -> usize {
    v.as_fix().unwrap_or(0).max(0) as usize
}

/// `__ary_pick(pool, at, n)`: the elements of pool at the first n positions of at.
fn i_pick(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (pool, at) = (me(cx, args[0])?, me(cx, args[1])?);
    let (at, pool) = (at.seen(), pool.seen());
    let v: Vec<Value> = at.part(0..num(args[2])).iter().map(|i| pool.get(num(i)).unwrap_or(Value::NIL)).collect();
    cx.heap.charge(v.len() * 8);
    Ok(cx.array_vec(v))
}

/// `__ary_row(lists, at)`: element at[i] of every lists[i].
fn i_row(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (lists, at) = (me(cx, args[0])?, me(cx, args[1])?);
    let v: Vec<Value> =
        lists.seen().iter().zip(at.seen()).map(|(l, i)| l.as_array().and_then(|l| l.get(num(i))).unwrap_or(Value::NIL)).collect();
    cx.heap.charge(v.len() * 8);
    Ok(cx.array_vec(v))
}

/// `__comb_step(at, n, repeated)`: the next combination of n things; false after the last one.
fn i_comb_step(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let mut at = me_held(cx, args[0])?;
    let (n, repeated) = (num(args[1]), args[2].truthy());
    Ok(Value::bool(at.edit(|s| {
        let k = s.len();
        let limit = |i: usize| if repeated { n.saturating_sub(1) } else { (n + i).saturating_sub(k) };
        let Some(i) = (0..k).rev().find(|&i| num(s[i]) != limit(i)) else { return false };
        let mut v = num(s[i]) + 1;
        for slot in &mut s[i..] {
            *slot = Value::fix(v as i64);
            if !repeated {
                v += 1;
            }
        }
        true
    })))
}

/// `__perm_step(at, turns)`: the next permutation in order; `turns` counts the choices left at each place.
fn i_perm_step(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (mut at, mut turns) = (me_held(cx, args[0])?, me_held(cx, args[1])?);
    if at.gc() == turns.gc() {
        return Ok(Value::FALSE);
    }
    Ok(Value::bool(at.edit(|at| {
        turns.edit(|turns| {
            let n = at.len();
            for i in (0..turns.len().min(n)).rev() {
                let t = num(turns[i]).saturating_sub(1);
                if t == 0 {
                    // This place has had them all: its element goes back to the end.
                    at[i..].rotate_left(1);
                    turns[i] = Value::fix((n - i) as i64);
                } else {
                    turns[i] = Value::fix(t as i64);
                    at.swap(i, n.saturating_sub(t));
                    return true;
                }
            }
            false
        })
    })))
}

/// `__odo_step(at, sizes)`: counts up like an odometer whose wheels have these sizes; false when it is through.
fn i_odo_step(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (at, sizes) = (me(cx, args[0])?, me(cx, args[1])?);
    for (i, v) in at.seen().to_vec().into_iter().enumerate().rev() {
        let v = num(v) + 1;
        if v < sizes.get(i).map_or(0, num) {
            cx.heap.edit(at).set(i, Value::fix(v as i64));
            return Ok(Value::TRUE);
        }
        cx.heap.edit(at).set(i, Value::fix(0));
    }
    Ok(Value::FALSE)
}

/// Intrinsics.
pub static TABLE: &[NativeDef] = &[
    intrinsic("__ary_pick", 3, 3, i_pick),
    intrinsic("__ary_row", 2, 2, i_row),
    intrinsic("__comb_step", 3, 3, i_comb_step),
    intrinsic("__perm_step", 2, 2, i_perm_step),
    intrinsic("__odo_step", 2, 2, i_odo_step),
];
