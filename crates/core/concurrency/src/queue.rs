//! Thread::Queue and Thread::SizedQueue.
//!
//! **Invariant.** Values leave in the order they came. A task waits for values only
//! while there are none and the queue is open, for room only while there is none and
//! the queue is open; whoever changes that wakes one waiter for each value or place.
//!
//! **One cache line.** Two workers that hand values over move as few lines as can be: a queue has a lock of its own beside
//! its first values and their number, and not the bit in its cell's header, so that the cell's line is only read. `empty?`
//! and the like take no lock: they load what is written last under it.

use crate::deadline;
use kumi_vm::*;
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

/// Values that stand in the queue's own cache line.
const NEAR: usize = 4;

#[derive(Default)]
#[repr(C, align(64))]
struct Queue {
    latch: Latch,
    /// `initialize` has run.
    ready: AtomicBool,
    closed: AtomicBool,
    /// How many values; changes under the lock.
    count: AtomicUsize,
    /// Changes under the lock.
    inner: UnsafeCell<Inner>,
}

#[derive(Default)]
#[repr(C)]
struct Inner {
    /// Place of the first near value, and how many there are.
    first: u8,
    held: u8,
    /// Most values it may hold; 0: a plain Queue, without limit.
    max: usize,
    /// The first values, a ring.
    near: [Value; NEAR],
    /// Those behind them. While there are any, no value becomes a near one.
    far: VecDeque<Value>,
    takers: WaitList,
    givers: WaitList,
}

impl Payload for Queue {
    fn trace(&self, m: &mut Marker) {
        // Natives of other cells may ask at any time. Whoever holds the lock makes no barrier.
        let q = self.hold(true);
        for i in 0..q.held {
            m.mark(q.near[usize::from(q.first.wrapping_add(i)) % NEAR]);
        }
        let (a, b) = q.far.as_slices();
        m.mark_all(a);
        m.mark_all(b);
    }
    fn shares(&self) -> bool {
        true
    }
    fn bytes(&self) -> usize {
        let q = self.hold(true);
        size_of::<Queue>() + q.far.capacity() * 8 + q.takers.bytes() + q.givers.bytes()
    }
}

/// The queue's lock, held until dropped.
struct Locked<'a> {
    q: &'a Queue,
    /// False: one worker runs alone, nothing was locked.
    locks: bool,
}

impl Deref for Locked<'_> {
    type Target = Inner;
    #[inline(always)]
    fn deref(&self) -> &Inner {
        // SAFETY: the lock is held, or nobody else runs.
        unsafe { &*self.q.inner.get() }
    }
}
impl DerefMut for Locked<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Inner {
        // SAFETY: as above; `self` is borrowed for as long.
        unsafe { &mut *self.q.inner.get() }
    }
}
impl Drop for Locked<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.locks {
            self.q.latch.let_go();
        }
    }
}

impl Queue {
    #[inline(always)]
    fn lock(&self, cx: &Cx) -> Locked<'_> {
        self.hold(cx.is_parallel())
    }
    #[inline(always)]
    fn hold(&self, locks: bool) -> Locked<'_> {
        if locks {
            self.latch.take();
        }
        Locked { q: self, locks }
    }
    fn len(&self) -> usize {
        self.count.load(Acquire)
    }
    fn is_closed(&self) -> bool {
        self.closed.load(Acquire)
    }
}

impl Locked<'_> {
    /// Adds a value; its barrier was seen to.
    #[inline]
    fn add(&mut self, v: Value) {
        if usize::from(self.held) < NEAR && self.far.is_empty() {
            let at = usize::from(self.first.wrapping_add(self.held)) % NEAR;
            self.near[at] = v;
            self.held += 1;
        } else {
            self.far.push_back(v);
        }
        self.q.count.store(self.q.count.load(Relaxed) + 1, Release);
    }
    #[inline(always)]
    fn put(&mut self, cx: &mut Cx, v: Value) {
        self.add(v);
        cx.heap.charge(8);
        self.takers.wake_one(cx);
    }
    #[inline]
    fn take(&mut self, cx: &mut Cx) -> Option<Value> {
        let v = if self.held > 0 {
            let at = usize::from(self.first) % NEAR;
            self.first = self.first.wrapping_add(1);
            self.held -= 1;
            std::mem::replace(&mut self.near[at], Value::NIL)
        } else {
            self.take_far()?
        };
        self.q.count.store(self.q.count.load(Relaxed).saturating_sub(1), Release);
        if self.max != 0 {
            self.givers.wake_one(cx);
        }
        Some(v)
    }
    fn take_far(&mut self) -> Option<Value> {
        let far = &mut self.far;
        let v = far.pop_front()?;
        if far.capacity() > 1024 && far.len() * 8 < far.capacity() {
            far.shrink_to(far.len() * 2);
        }
        Some(v)
    }
    fn clear(&mut self) {
        (self.first, self.held) = (0, 0);
        self.near = [Value::NIL; NEAR];
        self.far.clear();
        self.q.count.store(0, Release);
    }
}

#[inline]
fn queue<'v>(cx: &mut Cx, v: &'v Value) -> Result<&'v Queue, Exit> {
    match v.as_data::<Queue>() {
        Some(q) if q.ready.load(Relaxed) => Ok(q),
        _ => Err(uninitialized(cx, *v)),
    }
}
/// The same with its lock, which is taken before the line is read: a line that another processor has comes once, to be written.
#[inline]
fn locked<'v>(cx: &mut Cx, v: &'v Value) -> Result<(&'v Queue, Locked<'v>), Exit> {
    if let Some(q) = v.as_data::<Queue>() {
        let h = q.lock(cx);
        if q.ready.load(Relaxed) {
            return Ok((q, h));
        }
    }
    Err(uninitialized(cx, *v))
}
#[cold]
#[inline(never)]
fn uninitialized(cx: &mut Cx, v: Value) -> Exit {
    let n = cx.describe_type(v);
    cx.type_error(&format!("{n} not initialized"))
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
    cx.heap.before_store(recv, a[0]);
    let (q, mut h) = locked(cx, &recv)?;
    if q.is_closed() {
        return Err(closed(cx));
    }
    h.put(cx, a[0]);
    Ok(recv)
}
/// `Queue#pop(non_block = false)`; a time limit is the prelude's affair.
fn pop(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    match a {
        [] => wait_pop(cx, recv, u64::MAX),
        [v] if !v.truthy() => wait_pop(cx, recv, u64::MAX),
        [v] if v.as_hash().is_none() => match locked(cx, &recv)?.1.take(cx) {
            Some(v) => Ok(v),
            None => Err(cx.thread_error("queue empty")),
        },
        _ => {
            queue(cx, &recv)?;
            Err(Exit::Miss)
        }
    }
}
fn wait_pop(cx: &mut Cx, me: Value, deadline: u64) -> R {
    let (q, mut h) = locked(cx, &me)?;
    if let Some(v) = h.take(cx) {
        return Ok(v);
    }
    if q.is_closed() {
        return Ok(Value::NIL);
    }
    if deadline != u64::MAX && now_ns() >= deadline {
        h.takers.leave(cx.task.id());
        return Ok(Value::NIL);
    }
    if cx.hooked() {
        let d = limit(cx, deadline);
        return Err(cx.call_helper("hooked_pop", &[me, d]));
    }
    h.takers.enter(cx);
    Err(cx.park(deadline))
}
/// `__queue_pop(queue, deadline)`
fn pop_until(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let until = deadline(cx, a, 1)?;
    wait_pop(cx, a[0], until)
}
/// `__port_take(queue)`: a Ractor's message; undef: the queue is closed, and empty.
fn port_take(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (q, mut h) = locked(cx, &a[0])?;
    if let Some(v) = h.take(cx) {
        return Ok(v);
    }
    if q.is_closed() {
        return Ok(Value::UNDEF);
    }
    if cx.hooked() {
        return Err(cx.call_helper("hooked_take", a));
    }
    h.takers.enter(cx);
    Err(cx.park(u64::MAX))
}
/// `__port_poll(queue)`: the same at once; undef: there is none.
fn port_poll(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(locked(cx, &a[0])?.1.take(cx).unwrap_or(Value::UNDEF))
}
/// `__port_put(queue, message)`: false: it is closed.
fn port_put(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.heap.before_store(a[0], a[1]);
    let (q, mut h) = locked(cx, &a[0])?;
    if q.is_closed() {
        return Ok(Value::FALSE);
    }
    h.put(cx, a[1]);
    Ok(Value::TRUE)
}
/// `SizedQueue#push(value, non_block = false)`; a time limit is the prelude's affair.
fn sized_push(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    match a {
        [v] => wait_push(cx, recv, *v, u64::MAX),
        [v, nb] if !nb.truthy() => wait_push(cx, recv, *v, u64::MAX),
        [v, nb] if nb.as_hash().is_none() => {
            cx.heap.before_store(recv, *v);
            let (q, mut h) = locked(cx, &recv)?;
            if q.is_closed() {
                return Err(closed(cx));
            }
            if q.len() >= h.max {
                return Err(cx.thread_error("queue full"));
            }
            h.put(cx, *v);
            Ok(recv)
        }
        _ => {
            queue(cx, &recv)?;
            Err(Exit::Miss)
        }
    }
}
fn wait_push(cx: &mut Cx, recv: Value, v: Value, deadline: u64) -> R {
    cx.heap.before_store(recv, v);
    let (q, mut h) = locked(cx, &recv)?;
    if q.is_closed() {
        return Err(closed(cx));
    }
    if q.len() < h.max {
        h.put(cx, v);
        return Ok(recv);
    }
    if deadline != u64::MAX && now_ns() >= deadline {
        h.givers.leave(cx.task.id());
        return Ok(Value::NIL);
    }
    if cx.hooked() {
        let d = limit(cx, deadline);
        return Err(cx.call_helper("hooked_push", &[recv, v, d]));
    }
    h.givers.enter(cx);
    Err(cx.park(deadline))
}
/// `__queue_push(queue, value, deadline)`
fn push_until(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let until = deadline(cx, a, 2)?;
    wait_push(cx, a[0], a[1], until)
}
/// `Queue#close`
fn close(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let q = queue(cx, &recv)?;
    let mut h = q.lock(cx);
    if !q.is_closed() {
        q.closed.store(true, Release);
        h.takers.wake_all(cx);
        h.givers.wake_all(cx);
    }
    Ok(recv)
}
/// `Queue#clear`
fn clear(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let q = queue(cx, &recv)?;
    let mut h = q.lock(cx);
    h.clear();
    h.givers.wake_all(cx);
    Ok(recv)
}
/// `Queue#num_waiting`
fn num_waiting(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let q = queue(cx, &recv)?;
    let h = q.lock(cx);
    Ok(Value::fix((h.takers.waiting(cx) + h.givers.waiting(cx)) as i64))
}
/// `__queue_fill(queue, array)`: first values of a new Queue.
fn fill(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(q) = a[0].as_data::<Queue>() else { return Ok(Value::NIL) };
    q.ready.store(true, Relaxed);
    if let Some(l) = a[1].as_array() {
        let l = l.seen().to_vec();
        cx.heap.before_store_all(a[0], &l);
        cx.heap.charge(l.len() * 8);
        let mut h = q.lock(cx);
        l.into_iter().for_each(|v| h.add(v));
    }
    Ok(Value::NIL)
}
/// `__queue_set_max(queue, max)`
fn set_max(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let max = usize::try_from(cx.arg_i64(a, 1)?).unwrap_or(0).max(1);
    let Some(q) = a[0].as_data::<Queue>() else { return Ok(Value::NIL) };
    q.ready.store(true, Relaxed);
    let mut h = q.lock(cx);
    let more = max.saturating_sub(h.max);
    h.max = max;
    for _ in 0..more {
        if !h.givers.wake_one(cx) {
            break;
        }
    }
    Ok(Value::NIL)
}
fn allocate(cx: &mut Cx, c: Value, _: &[Value]) -> R {
    let c = cx.arg_class(&[c], 0)?;
    Ok(cx.data(c, Queue::default()))
}
fn max_of(cx: &mut Cx, recv: Value) -> R {
    let q = queue(cx, &recv)?;
    Ok(Value::fix(q.lock(cx).max as i64))
}
fn length(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::fix(queue(cx, &recv)?.len() as i64))
}

// A queue locks itself: see the module.
pub(crate) static TABLE: &[NativeDef] = &[
    n("Thread::Queue.", "allocate", 0, 0, allocate),
    n("Thread::Queue", "push", 1, 1, push).guard(Guard::None),
    n("Thread::Queue", "<<", 1, 1, push).guard(Guard::None),
    n("Thread::Queue", "enq", 1, 1, push).guard(Guard::None),
    n("Thread::Queue", "pop", 0, 2, pop).guard(Guard::None),
    n("Thread::Queue", "close", 0, 0, close).guard(Guard::None),
    n("Thread::Queue", "closed?", 0, 0, |cx, r, _| Ok(Value::bool(queue(cx, &r)?.is_closed()))).guard(Guard::None),
    n("Thread::Queue", "empty?", 0, 0, |cx, r, _| Ok(Value::bool(queue(cx, &r)?.len() == 0))).guard(Guard::None),
    n("Thread::Queue", "length", 0, 0, length).guard(Guard::None),
    n("Thread::Queue", "size", 0, 0, length).guard(Guard::None),
    n("Thread::Queue", "clear", 0, 0, clear).guard(Guard::None),
    n("Thread::Queue", "num_waiting", 0, 0, num_waiting).guard(Guard::None),
    n("Thread::SizedQueue", "push", 1, 3, sized_push).guard(Guard::None),
    n("Thread::SizedQueue", "max", 0, 0, |cx, r, _| max_of(cx, r)).guard(Guard::None),
    intrinsic("__queue_pop", 2, 2, pop_until).guard(Guard::None),
    intrinsic("__queue_push", 3, 3, push_until).guard(Guard::None),
    intrinsic("__queue_fill", 2, 2, fill),
    intrinsic("__port_take", 1, 1, port_take).guard(Guard::None),
    intrinsic("__port_poll", 1, 1, port_poll).guard(Guard::None),
    intrinsic("__port_put", 2, 2, port_put).guard(Guard::None),
    intrinsic("__port_close", 1, 1, |cx, _, a| close(cx, a[0], &[])).guard(Guard::None),
    intrinsic("__queue_set_max", 2, 2, set_max).guard(Guard::None),
];
