//! What is there: names, counts, sizes.

use crate::keys::{name_value, with_key};
use crate::leaf;
use crate::state::made;
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[leaf("__seg_names", 1, names), leaf("__seg_stats", 1, stats), leaf("__seg_totals", 0, totals)];

/// `__seg_names(prefix)`: the names of keys that have segments, in order.
fn names(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let prefix = cx.arg_str(a, 0)?.bytes().to_vec();
    let names: Vec<Vec<u8>> = {
        let inner = made.shared.lock();
        inner.node.manager().names(&prefix, None, usize::MAX).into_iter().map(<[u8]>::to_vec).collect()
    };
    let names: Vec<Value> = names.iter().map(|n| name_value(cx, n)).collect();
    Ok(cx.array_vec(names))
}
/// `__seg_stats(key)`: [segments, delayed, leased, waiting, waiting puts, last index, limit]
fn stats(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let s = with_key(cx, made, a[0], Value::NIL, |inner, key| inner.node.manager().stats(key))?;
    let n = |n: usize| Value::fix(n as i64);
    let last = cx.uint(s.last_index);
    let limit = s.limit.map_or(Value::NIL, |l| n(l.get()));
    Ok(cx.array(&[n(s.segments), n(s.delayed), n(s.leased), n(s.waiting), n(s.waiting_puts), last, limit]))
}
/// `__seg_totals()`: [keys, requests, leases, bytes of tables, incarnation]
fn totals(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let made = made(cx)?;
    let (keys, requests, leases, bytes, incarnation) = {
        let inner = made.shared.lock();
        let m = inner.node.manager();
        (m.known_keys(), m.requests(), m.leases(), m.bytes(), inner.node.incarnation())
    };
    let n = |n: usize| Value::fix(n as i64);
    let incarnation = cx.uint(incarnation);
    Ok(cx.array(&[n(keys), n(requests), n(leases), n(bytes), incarnation]))
}
