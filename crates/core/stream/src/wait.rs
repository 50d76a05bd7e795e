//! Waiting for documents: a native that found nothing parks its task until the source is ready, the time has come, or
//! another reader of the document has brought something.
//!
//! Invariant: a task that waits for a document has subscribed to its state as of the look that found nothing, so no
//! progress goes unnoticed. Subscriptions stay with what is read ([`Waits`]); the next look, of whatever task, takes back its
//! own and those whose wait is over, for a task that was killed looks no more.

use crate::doc::Doc;
use crate::list::CursorData;
use crate::{leaf, payload};
use kumi_flow::{Poll, Producer, Subscription, Wait};
use kumi_vm::*;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::time::Instant;

pub static TABLE: &[NativeDef] = &[leaf("__xwait", 1, wait_any), leaf("__xtry", 4, try_again)];

/// The subscriptions of tasks that wait for one thing.
#[derive(Default)]
pub struct Waits {
    any: AtomicBool,
    list: Mutex<Vec<(Ticket, Subscription)>>,
}

impl Waits {
    /// The running task looks again.
    #[inline]
    pub fn over(&self, cx: &Cx) {
        if self.any.load(Relaxed) {
            self.take_back(cx);
        }
    }
    #[cold]
    fn take_back(&self, cx: &Cx) {
        let me = cx.task.id();
        let mut list = self.list.lock();
        let over: Vec<_> = list.extract_if(.., |(wait, _)| wait.task == me || !cx.waits(*wait)).collect();
        self.any.store(!list.is_empty(), Relaxed);
        drop(list);
        // Dropped outside the lock: that asks the producer.
        drop(over);
    }
    fn keep(&self, wait: Ticket, s: Subscription) {
        let mut list = self.list.lock();
        list.push((wait, s));
        self.any.store(true, Relaxed);
    }
}

/// How an operation is called: by a program, or by a feed that tries it after each piece it has pushed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Wait,
    Try,
}

/// An operation that may wait, as [`try_again`] knows it.
#[derive(Clone, Copy)]
pub struct Op {
    pub number: i64,
    pub a: Value,
    pub b: Value,
}

/// Monotonic nanoseconds of a moment.
fn nanos(at: Instant) -> u64 {
    let now = Instant::now();
    match at.checked_duration_since(now) {
        Some(left) => now_ns().saturating_add(left.as_nanos().min(u64::MAX as u128 / 2) as u64),
        None => now_ns(),
    }
}

/// Nobody waits longer than this without a look, whatever happens to who was to wake them.
const LONGEST_WAIT: u64 = 1_000_000_000;

/// What the running task is about to wait for.
struct Parking<'w> {
    fds: Vec<(i32, bool, bool)>,
    deadline: u64,
    /// Somebody is to push.
    push: bool,
    /// Work was begun: look again at once.
    again: bool,
    states: Vec<(&'w Waits, Arc<Producer>, kumi_flow::Ticket)>,
}

impl<'w> Parking<'w> {
    fn new() -> Self {
        Parking { fds: Vec::new(), deadline: u64::MAX, push: false, again: false, states: Vec::new() }
    }

    /// Adds what a look came to.
    fn add<T>(&mut self, cx: &mut Cx, waits: &'w Waits, producer: &Arc<Producer>, poll: Poll<T>) {
        let state = match poll {
            Poll::Ready(_) => {
                self.again = true;
                return;
            }
            Poll::Busy(state) => {
                self.deadline = self.deadline.min(now_ns() + LONGEST_WAIT);
                state
            }
            Poll::Wait(wait, state) => {
                match wait {
                    Wait::Ready { fd, read, write, until } => {
                        self.fds.push((fd, read, write));
                        if let Some(at) = until {
                            self.deadline = self.deadline.min(nanos(at));
                        }
                    }
                    Wait::Until(at) => self.deadline = self.deadline.min(nanos(at)),
                    Wait::Push => self.push = true,
                    Wait::Job(job) => {
                        // Name resolution and the like: it may take seconds. Meanwhile the document is busy.
                        self.again |= cx.spawn_job(move || job.run());
                        self.deadline = self.deadline.min(now_ns() + LONGEST_WAIT / 100);
                    }
                }
                state
            }
        };
        self.states.push((waits, producer.clone(), state));
    }

    /// Ends the native: the task waits, or only gives way when there is something to look at already.
    fn park(self, cx: &mut Cx) -> Exit {
        if self.again {
            return cx.park(0);
        }
        for (waits, producer, state) in self.states {
            let waker = cx.waker();
            let wait = waker.ticket();
            match producer.subscribe(state, Box::new(move || waker.wake())) {
                Some(s) => waits.keep(wait, s),
                // The document has moved on.
                None => return cx.park(0),
            }
        }
        let deadline = if self.deadline <= now_ns() { 0 } else { self.deadline };
        if self.fds.is_empty() || deadline == 0 {
            return cx.park(deadline);
        }
        cx.park_io_any(&self.fds, deadline)
    }
}

/// Ends a native that found nothing: the task waits and the native runs again, or a feed brings more and tries `op`.
pub fn park<T>(cx: &mut Cx, waits: &Waits, producer: &Arc<Producer>, doc: Value, mode: Mode, op: Op, poll: Poll<T>) -> R {
    let mut parking = Parking::new();
    parking.add(cx, waits, producer, poll);
    if parking.push {
        if mode == Mode::Try {
            return Ok(Value::UNDEF);
        }
        if let Some(feed) = doc.as_data::<Doc>().map(|d| d.feed()).filter(|f| !f.is_nil()) {
            let run = cx.intern("run");
            return Err(cx.call(feed, run, &[Value::fix(op.number), doc, op.a, op.b]));
        }
    }
    Err(parking.park(cx))
}

/// `__xtry(operation, document, a, b)`: runs an operation; undef when more has to be pushed first.
fn try_again(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let number = cx.arg_i64(a, 0)?;
    if number < crate::tree::OPS { crate::list::again(cx, number, a[2], a[3]) } else { crate::tree::again(cx, number, a[2], a[3]) }
}

/// `__xwait(cursors)`: parks until one of them may have something.
fn wait_any(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let cursors = cx.arg_array(a, 0)?.seen().to_vec();
    for c in &cursors {
        payload::<CursorData>(cx, c, "a reader")?.waits.over(cx);
    }
    let mut parking = Parking::new();
    for c in &cursors {
        let data = payload::<CursorData>(cx, c, "a reader")?;
        match data.look() {
            Some(poll) => parking.add(cx, &data.waits, &data.producer, poll),
            None => return Ok(Value::NIL),
        }
        // What is pushed is asked for by whoever reads.
        if parking.push {
            return Ok(Value::NIL);
        }
    }
    Err(parking.park(cx))
}
