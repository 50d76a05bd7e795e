//! Thread::Queue and Thread::SizedQueue.
//!
//! **Invariant.** Values leave in the order they came. A task waits for values only
//! while there are none and the queue is open, for room only while there is none and
//! the queue is open; whoever changes that wakes one waiter for each value or place.

use crate::Cx;
use crate::native::*;
use crate::sched::now_ns;
use crate::sync::WaitList;
use kumi_heap::*;
use std::collections::VecDeque;

#[derive(Default)]
struct Queue {
    items: VecDeque<Value>,
    /// Most values it may hold; 0: a plain Queue, without limit.
    max: usize,
    closed: bool,
    /// `initialize` has run.
    ready: bool,
    takers: WaitList,
    givers: WaitList,
}

impl Payload for Queue {
    fn trace(&self, m: &mut Marker) {
        let (a, b) = self.items.as_slices();
        m.mark_all(a);
        m.mark_all(b);
    }
    fn bytes(&self) -> usize {
        160 + self.items.capacity() * 8 + self.takers.bytes() + self.givers.bytes()
    }
}

impl Queue {
    #[inline]
    fn put(&mut self, cx: &mut Cx, me: Value, v: Value) {
        cx.heap.before_store(me, v);
        self.items.push_back(v);
        cx.heap.charge(8);
        self.takers.wake_one(cx);
    }
    #[inline]
    fn take(&mut self, cx: &mut Cx) -> Option<Value> {
        let v = self.items.pop_front()?;
        if self.items.capacity() > 1024 && self.items.len() * 8 < self.items.capacity() {
            self.items.shrink_to(self.items.len() * 2);
        }
        if self.max != 0 {
            self.givers.wake_one(cx);
        }
        Some(v)
    }
}

fn queue(cx: &mut Cx, v: Value) -> Result<&'static mut Queue, Exit> {
    match v.as_data::<Queue>() {
        Some(q) if q.ready => Ok(q),
        _ => {
            let n = cx.describe_type(v);
            Err(cx.type_error(&format!("{n} not initialized")))
        }
    }
}
/// A deadline as the prelude has it.
fn limit(cx: &mut Cx, deadline: u64) -> Value {
    if deadline == u64::MAX { Value::NIL } else { cx.uint(deadline) }
}
fn closed(cx: &mut Cx) -> Exit {
    cx.raise_msg(cx.k.closed_queue_error, "queue closed")
}

/// `Queue#push(value)`
fn push(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let q = queue(cx, recv)?;
    if q.closed {
        return Err(closed(cx));
    }
    q.put(cx, recv, a[0]);
    Ok(recv)
}
/// `Queue#pop(non_block = false)`; a time limit is the prelude's affair.
fn pop(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let q = queue(cx, recv)?;
    match a {
        [] => wait_pop(cx, recv, q, u64::MAX),
        [v] if !v.truthy() => wait_pop(cx, recv, q, u64::MAX),
        [v] if v.as_hash().is_none() => match q.take(cx) {
            Some(v) => Ok(v),
            None => Err(cx.thread_error("queue empty")),
        },
        _ => Err(Exit::Miss),
    }
}
fn wait_pop(cx: &mut Cx, me: Value, q: &mut Queue, deadline: u64) -> R {
    if let Some(v) = q.take(cx) {
        return Ok(v);
    }
    if q.closed {
        return Ok(Value::NIL);
    }
    if deadline != u64::MAX && now_ns() >= deadline {
        q.takers.leave(cx.task.id);
        return Ok(Value::NIL);
    }
    if cx.hooked() {
        let d = limit(cx, deadline);
        return Err(cx.call_helper("hooked_pop", &[me, d]));
    }
    q.takers.enter(cx);
    Err(cx.park(deadline))
}
/// `__queue_pop(queue, deadline)`
fn pop_until(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let deadline = cx.arg_deadline(a, 1)?;
    let q = queue(cx, a[0])?;
    wait_pop(cx, a[0], q, deadline)
}
/// `SizedQueue#push(value, non_block = false)`; a time limit is the prelude's affair.
fn sized_push(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let q = queue(cx, recv)?;
    match a {
        [v] => wait_push(cx, recv, q, *v, u64::MAX),
        [v, nb] if !nb.truthy() => wait_push(cx, recv, q, *v, u64::MAX),
        [v, nb] if nb.as_hash().is_none() => {
            if q.closed {
                return Err(closed(cx));
            }
            if q.items.len() >= q.max {
                return Err(cx.thread_error("queue full"));
            }
            q.put(cx, recv, *v);
            Ok(recv)
        }
        _ => Err(Exit::Miss),
    }
}
fn wait_push(cx: &mut Cx, recv: Value, q: &mut Queue, v: Value, deadline: u64) -> R {
    if q.closed {
        return Err(closed(cx));
    }
    if q.items.len() < q.max {
        q.put(cx, recv, v);
        return Ok(recv);
    }
    if deadline != u64::MAX && now_ns() >= deadline {
        q.givers.leave(cx.task.id);
        return Ok(Value::NIL);
    }
    if cx.hooked() {
        let d = limit(cx, deadline);
        return Err(cx.call_helper("hooked_push", &[recv, v, d]));
    }
    q.givers.enter(cx);
    Err(cx.park(deadline))
}
/// `__queue_push(queue, value, deadline)`
fn push_until(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let deadline = cx.arg_deadline(a, 2)?;
    let q = queue(cx, a[0])?;
    wait_push(cx, a[0], q, a[1], deadline)
}
/// `Queue#close`
fn close(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let q = queue(cx, recv)?;
    if !q.closed {
        q.closed = true;
        q.takers.wake_all(cx);
        q.givers.wake_all(cx);
    }
    Ok(recv)
}
/// `Queue#clear`
fn clear(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let q = queue(cx, recv)?;
    q.items.clear();
    q.givers.wake_all(cx);
    Ok(recv)
}
/// `Queue#num_waiting`
fn num_waiting(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let q = queue(cx, recv)?;
    Ok(Value::fix((q.takers.waiting(cx) + q.givers.waiting(cx)) as i64))
}
/// `__queue_fill(queue, array)`: first values of a new Queue.
fn fill(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(q) = a[0].as_data::<Queue>() else { return Ok(Value::NIL) };
    q.ready = true;
    if let Some(l) = a[1].as_array() {
        cx.heap.charge(l.len() * 8);
        for v in l.as_slice() {
            cx.heap.before_store(a[0], *v);
            q.items.push_back(*v);
        }
    }
    Ok(Value::NIL)
}
/// `__queue_set_max(queue, max)`
fn set_max(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let max = usize::try_from(cx.arg_i64(a, 1)?).unwrap_or(0).max(1);
    let Some(q) = a[0].as_data::<Queue>() else { return Ok(Value::NIL) };
    q.ready = true;
    let more = max.saturating_sub(q.max);
    q.max = max;
    for _ in 0..more {
        if !q.givers.wake_one(cx) {
            break;
        }
    }
    Ok(Value::NIL)
}
fn allocate(cx: &mut Cx, c: Value, _: &[Value]) -> R {
    let c = cx.arg_class(&[c], 0)?;
    Ok(cx.data(c, Queue::default()))
}
fn length(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::fix(queue(cx, recv)?.items.len() as i64))
}

pub(crate) static TABLE: &[NativeDef] = &[
    n("Thread::Queue.", "allocate", 0, 0, allocate),
    n("Thread::Queue", "push", 1, 1, push),
    n("Thread::Queue", "<<", 1, 1, push),
    n("Thread::Queue", "enq", 1, 1, push),
    n("Thread::Queue", "pop", 0, 2, pop),
    n("Thread::Queue", "shift", 0, 2, pop),
    n("Thread::Queue", "deq", 0, 2, pop),
    n("Thread::Queue", "close", 0, 0, close),
    n("Thread::Queue", "closed?", 0, 0, |cx, r, _| Ok(Value::bool(queue(cx, r)?.closed))),
    n("Thread::Queue", "empty?", 0, 0, |cx, r, _| Ok(Value::bool(queue(cx, r)?.items.is_empty()))),
    n("Thread::Queue", "length", 0, 0, length),
    n("Thread::Queue", "size", 0, 0, length),
    n("Thread::Queue", "clear", 0, 0, clear),
    n("Thread::Queue", "num_waiting", 0, 0, num_waiting),
    n("Thread::SizedQueue", "push", 1, 3, sized_push),
    n("Thread::SizedQueue", "<<", 1, 3, sized_push),
    n("Thread::SizedQueue", "enq", 1, 3, sized_push),
    n("Thread::SizedQueue", "max", 0, 0, |cx, r, _| Ok(Value::fix(queue(cx, r)?.max as i64))),
    intrinsic("__queue_pop", 2, 2, pop_until),
    intrinsic("__queue_push", 3, 3, push_until),
    intrinsic("__queue_fill", 2, 2, fill),
    intrinsic("__queue_set_max", 2, 2, set_max),
];
