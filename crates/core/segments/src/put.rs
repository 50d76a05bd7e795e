//! Puts and updates.

use crate::cell::Cell;
use crate::keys::{named, with_key};
use crate::state::{Made, made};
use crate::{clock, leaf};
use kumi_segments::{New, Stored, Time};
use kumi_vm::*;
use kumi_wire::Trace;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

pub static TABLE: &[NativeDef] = &[
    leaf("__seg_put", 3, put),
    leaf("__seg_put_timed", 5, put_timed),
    leaf("__seg_put_moved", 5, put_moved),
    leaf("__seg_limit", 2, limit),
    leaf("__seg_own", 1, own),
    leaf("__seg_export", 1, export),
    leaf("__seg_trace", 2, trace),
    leaf("__seg_traces", 0, traces),
];

/// Bits that say how something is put.
pub const OWNED: i64 = 1;
pub const UPDATE: i64 = 2;

/// How something is put: bits; or [bits, traceparent, tracestate], then it is on behalf of that trace.
pub fn how(v: Value) -> (i64, Option<Arc<Trace>>) {
    match v.as_fix() {
        Some(bits) => (bits, None),
        None => how_traced(v),
    }
}
#[cold]
fn how_traced(v: Value) -> (i64, Option<Arc<Trace>>) {
    let parts = crate::list(v);
    let text = |i: usize| parts.get(i).and_then(|v| v.as_str()).map(|s| String::from_utf8_lossy(s.bytes()).into_owned());
    let trace = text(1).and_then(|parent| Trace::parse(&parent, &text(2).unwrap_or_default()));
    (parts.first().and_then(|v| v.as_fix()).unwrap_or(0), trace.map(Arc::new))
}
/// A trace as the library has it: its traceparent, or that and its tracestate; nil: there is none.
pub fn trace_value(cx: &mut Cx, cell: &Cell) -> Value {
    match cell.trace().cloned() {
        Some(trace) => told(cx, &trace),
        None => Value::NIL,
    }
}
/// The same, of a trace.
pub fn told(cx: &mut Cx, trace: &Trace) -> Value {
    let parent = cx.str(&trace.traceparent());
    if trace.state.is_empty() {
        return parent;
    }
    let parts = [parent, cx.str(&trace.state)];
    cx.array(&parts)
}
/// `__seg_trace(traceparent, tracestate)`: are they what they should be? From now on puts may be traced.
fn trace(_: &mut Cx, _: Value, a: &[Value]) -> R {
    let text = |v: Value| v.as_str().map(|s| String::from_utf8_lossy(s.bytes()).into_owned()).unwrap_or_default();
    let (parent, state) = (text(a[0]), text(a[1]));
    Ok(Value::bool(Trace::parse(&parent, &state).is_some_and(|t| *t.state == *state)))
}
/// `__seg_traces()`: from now on puts may be traced, which the library does.
fn traces(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    made(cx)?.traces.store(true, Relaxed);
    Ok(Value::NIL)
}

/// What the arguments say of a put: value, bits, delay and time to live in nanoseconds (nil: none).
pub fn new_of(value: Cell, bits: i64, delay: Value, ttl: Value) -> New<Cell> {
    let ns = |v: Value| v.as_fix().and_then(|n| Time::try_from(n).ok());
    let not_before = ns(delay).map(|d| clock::now().saturating_add(d));
    New { value, owned: bits & OWNED != 0, not_before, ttl: ns(ttl) }
}

/// A value to be put under a key: with its encoding, where others ask for the key.
pub fn cell_for(cx: &mut Cx, made: &'static Made, key: Value, value: Value) -> Result<Cell, Exit> {
    let cell = Cell::of(value);
    if named(cx, made, key)?.exported { cell.encode(cx) } else { Ok(cell) }
}

/// `__seg_put(key, value, bits)`: the segment's index; nil: the queue is full.
fn put(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    store(cx, a[0], a[1], a[2], Value::NIL, Value::NIL)
}
/// `__seg_put_timed(key, value, bits, delay, ttl)`: the same; true: it enters later.
fn put_timed(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    store(cx, a[0], a[1], a[2], a[3], a[4])
}
#[inline]
fn store(cx: &mut Cx, key: Value, value: Value, bits: Value, delay: Value, ttl: Value) -> R {
    let made = made(cx)?;
    let (bits, trace) = how(bits);
    let cell = cell_for(cx, made, key, value)?.traced(trace);
    let new = new_of(cell, bits, delay, ttl);
    let timed = new.not_before.is_some() || new.ttl.is_some();
    let (stored, woken) = with_key(cx, made, key, value, |inner, id| {
        let now = if timed { clock::now() } else { inner.now() };
        inner.act(|m, w| match bits & UPDATE != 0 {
            true => m.update(now, id, new, w).map(Stored::At),
            false => m.put(now, id, new, w).ok(),
        })
    })?;
    woken.wake(cx);
    Ok(stored.map_or(Value::NIL, |s| stored_value(cx, s)))
}
/// `__seg_put_moved(key, value, bits, delay, ttl)`: the same of a value that is handed over; it moves only where it is stored. false: the
/// key has a limit, and room is to be asked for.
fn put_moved(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let (bits, trace) = how(a[2]);
    let limited = with_key(cx, made, a[0], Value::NIL, |inner, id| inner.node.manager().has_limit(id))?;
    if limited && bits & UPDATE == 0 {
        return Ok(Value::FALSE);
    }
    let (root, cell) = moved(cx, made, a[0], a[1])?;
    let new = new_of(cell.traced(trace), bits, a[3], a[4]);
    let timed = new.not_before.is_some() || new.ttl.is_some();
    let (stored, woken) = with_key(cx, made, a[0], root, |inner, id| {
        let now = if timed { clock::now() } else { inner.now() };
        inner.act(|m, w| match bits & UPDATE != 0 {
            true => m.update(now, id, new, w).map_or(Stored::Later, Stored::At),
            false => m.put_anyway(now, id, new, w),
        })
    })?;
    woken.wake(cx);
    Ok(stored_value(cx, stored))
}
/// What is handed over under a key: its new root, and what is stored. Everything that can fail comes before it moves.
pub fn moved(cx: &mut Cx, made: &'static Made, key: Value, value: Value) -> Result<(Value, Cell), Exit> {
    let cell = cell_for(cx, made, key, value)?;
    let root = cx.move_root(value)?;
    cx.heap.publish(root);
    // References to what stays are to the new root.
    let cell = if cell.luggage().is_some() { Cell::of(root).encode(cx)? } else { cell.made_of(root) };
    Ok((root, cell))
}
/// An index; true: it enters later.
pub fn stored_value(cx: &mut Cx, stored: Stored) -> Value {
    match stored {
        Stored::At(index) => cx.uint(index),
        Stored::Later => Value::TRUE,
    }
}
/// `__seg_export(key)`: what is put there is encoded at once.
fn export(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    with_key(cx, made, a[0], Value::NIL, |inner, key| {
        let name = inner.node.manager().name(key).cloned();
        if let Some(name) = name.filter(|n| inner.export(n)) {
            if let Some(c) = &inner.clients {
                c.encode_key(&name);
            }
        }
    })?;
    Ok(Value::NIL)
}
/// `__seg_own(value)`: the same object under a new root, that nobody has; what is frozen comes back as it is.
fn own(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let v = cx.move_root(a[0])?;
    cx.heap.publish(v);
    Ok(v)
}
/// `__seg_limit(key, limit)`: 0: none.
fn limit(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let made = made(cx)?;
    let limit = cx.arg_i64(a, 1)?;
    let limit = std::num::NonZeroUsize::new(usize::try_from(limit).unwrap_or(0));
    let ((), woken) = with_key(cx, made, a[0], Value::NIL, |inner, id| {
        let now = inner.now();
        inner.act(|m, w| m.set_limit(now, id, limit, w))
    })?;
    woken.wake(cx);
    Ok(Value::NIL)
}
