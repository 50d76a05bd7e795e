//! What is there: names, counts, sizes.

use crate::keys::{name_value, with_key};
use crate::leaf;
use crate::state::made;
use kumi_segments::{KeyStats, Sum};
use kumi_vm::*;
use std::sync::Arc;

pub static TABLE: &[NativeDef] =
    &[leaf("__seg_names", 1, names), leaf("__seg_stats", 1, stats), leaf("__seg_totals", 0, totals), leaf("__seg_survey", 2, survey)];

/// `__seg_names(prefix)`: the names of keys that have segments, in order.
fn names(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let prefix = cx.arg_str(a, 0)?.bytes().to_vec();
    let (names, woken): (Vec<Vec<u8>>, _) = {
        let mut inner = made.shared.lock();
        let woken = inner.catch_up();
        (inner.node.manager().names(&prefix, None, usize::MAX).into_iter().map(<[u8]>::to_vec).collect(), woken)
    };
    woken.wake(cx);
    let names: Vec<Value> = names.iter().map(|n| name_value(cx, n)).collect();
    Ok(cx.array_vec(names))
}
/// `__seg_stats(key)`: [segments, delayed, leased, waiting, waiting puts, last index, limit]
fn stats(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let (s, woken) = with_key(cx, made, a[0], Value::NIL, |inner, key| {
        let woken = inner.catch_up();
        (inner.node.manager().stats(key), woken)
    })?;
    woken.wake(cx);
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
/// Keys are looked at in pieces of so many, so that nobody waits long for the lock.
const PIECE: usize = 4096;

/// `__seg_survey(part, most)`: [[keys, segments, delayed, leased, waiting, waiting puts], [entered, replaced, taken, back, ended],
/// [[key, segments, delayed, leased, waiting, waiting puts, last index, limit], ..]]: sums over the keys whose names contain `part`, what
/// has happened since the start, and the `most` of those keys with most segments, waiting ones and leases.
fn survey(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    type Row = (usize, Arc<[u8]>, KeyStats);
    let made = made(cx)?;
    let part = cx.arg_str(a, 0)?.bytes().to_vec();
    let most = cx.arg_i64(a, 1)?.clamp(0, 10_000) as usize;
    let finder = memchr::memmem::Finder::new(&part);
    let mut sum = Sum::default();
    let mut rows: Vec<Row> = Vec::new();
    let most_first = |a: &Row, b: &Row| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1));
    let mut from = 0;
    let counts = loop {
        let inner = made.shared.lock();
        let m = inner.node.manager();
        let more = m.survey(from, PIECE, |name, s| {
            if finder.find(name).is_none() {
                return;
            }
            sum.add(&s);
            let weight = s.segments + s.leased + s.delayed + s.waiting + s.waiting_puts;
            rows.push((weight, name.clone(), s));
            if rows.len() >= most * 2 + 64 {
                rows.sort_unstable_by(most_first);
                rows.truncate(most);
            }
        });
        if !more {
            break m.counts();
        }
        from += PIECE;
    };
    rows.sort_unstable_by(most_first);
    rows.truncate(most);
    let n = |n: usize| Value::fix(n as i64);
    let mut found = Vec::new();
    for (_, name, s) in rows {
        let limit = s.limit.map_or(Value::NIL, |l| n(l.get()));
        let row = [
            name_value(cx, &name),
            n(s.segments),
            n(s.delayed),
            n(s.leased),
            n(s.waiting),
            n(s.waiting_puts),
            cx.uint(s.last_index),
            limit,
        ];
        found.push(cx.array(&row));
    }
    let found = cx.array_vec(found);
    let sum = cx.array(&[n(sum.keys), n(sum.segments), n(sum.delayed), n(sum.leased), n(sum.waiting), n(sum.waiting_puts)]);
    let counts = [counts.entered, counts.replaced, counts.taken, counts.back, counts.ended].map(|c| cx.uint(c));
    let counts = cx.array(&counts);
    Ok(cx.array(&[sum, counts, found]))
}
