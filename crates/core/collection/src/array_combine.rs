//! Array: the steps of combinations, permutations and products.
//!
//! The prelude yields; these intrinsics pick the elements and move the positions on.
//! Positions are fixnums in arrays of ours.

use crate::array::me;
use kumi_vm::*;

fn num(v: Value) -> usize {
    v.as_fix().unwrap_or(0).max(0) as usize
}

/// `__ary_pick(pool, at, n)`: the elements of pool at the first n positions of at.
fn i_pick(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (pool, at) = (me(cx, args[0])?, me(cx, args[1])?);
    let n = num(args[2]).min(at.len());
    let v: Vec<Value> = at.as_slice()[..n].iter().map(|i| pool.get(num(*i)).unwrap_or(Value::NIL)).collect();
    cx.heap.charge(n * 8);
    Ok(cx.array_vec(v))
}

/// `__ary_row(lists, at)`: element at[i] of every lists[i].
fn i_row(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (lists, at) = (me(cx, args[0])?, me(cx, args[1])?);
    let v: Vec<Value> =
        lists.as_slice().iter().zip(at.as_slice()).map(|(l, i)| l.as_array().and_then(|l| l.get(num(*i))).unwrap_or(Value::NIL)).collect();
    cx.heap.charge(v.len() * 8);
    Ok(cx.array_vec(v))
}

/// `__comb_step(at, n, repeated)`: the next combination of n things; false after the last one.
fn i_comb_step(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let mut at = me(cx, args[0])?;
    let (n, repeated) = (num(args[1]), args[2].truthy());
    let s = at.as_mut_slice();
    let k = s.len();
    let limit = |i: usize| if repeated { n - 1 } else { n - k + i };
    let Some(i) = (0..k).rev().find(|&i| num(s[i]) != limit(i)) else { return Ok(Value::FALSE) };
    let mut v = num(s[i]) + 1;
    for slot in &mut s[i..] {
        *slot = Value::fix(v as i64);
        if !repeated {
            v += 1;
        }
    }
    Ok(Value::TRUE)
}

/// `__perm_step(at, turns)`: the next permutation in order; `turns` counts the choices left at each place.
fn i_perm_step(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (mut at, mut turns) = (me(cx, args[0])?, me(cx, args[1])?);
    let (at, turns) = (at.as_mut_slice(), turns.as_mut_slice());
    let n = at.len();
    for i in (0..turns.len()).rev() {
        let t = num(turns[i]).saturating_sub(1);
        if t == 0 {
            // This place has had them all: its element goes back to the end.
            at[i..].rotate_left(1);
            turns[i] = Value::fix((n - i) as i64);
        } else {
            turns[i] = Value::fix(t as i64);
            at.swap(i, n - t);
            return Ok(Value::TRUE);
        }
    }
    Ok(Value::FALSE)
}

/// `__odo_step(at, sizes)`: counts up like an odometer whose wheels have these sizes; false when it is through.
fn i_odo_step(cx: &mut Cx, _: Value, args: &[Value]) -> R {
    let (mut at, sizes) = (me(cx, args[0])?, me(cx, args[1])?);
    let at = at.as_mut_slice();
    for i in (0..at.len()).rev() {
        let v = num(at[i]) + 1;
        if v < sizes.get(i).map_or(0, num) {
            at[i] = Value::fix(v as i64);
            return Ok(Value::TRUE);
        }
        at[i] = Value::fix(0);
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
