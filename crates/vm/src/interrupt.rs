//! What one thread sends another: `Thread#raise`, `Thread#kill`, and `Thread.handle_interrupt`, which holds it back.
//!
//! **Invariant.** A task's interrupts are taken in the order they came, except that one which is held back
//! lets later ones pass. The masks of a task are a list that is never changed in place, only replaced, so that
//! other workers may read it.

use crate::Cx;
use crate::interp::Flow;
use crate::native::*;
use crate::task::{State, Task};
use kumi_heap::*;
use std::sync::atomic::Ordering::Relaxed;

impl Cx {
    /// Place of the first interrupt that `t` may take now (`waiting`: at a wait).
    pub(crate) fn due_interrupt(&self, t: &Task, waiting: bool) -> Option<usize> {
        if t.interrupts.is_empty() || t.held {
            return None;
        }
        if t.masks.is_nil() {
            return Some(0);
        }
        t.interrupts.iter().position(|e| match self.timing(t.masks, *e) {
            0 => true,
            1 => waiting,
            _ => false,
        })
    }
    /// How the innermost mask that knows the interrupt wants it: 0 at once, 1 at a wait, 2 never.
    fn timing(&self, masks: Value, e: Value) -> i64 {
        // A kill is an Integer to CRuby's masks.
        let e = if e == Value::TRUE { Value::fix(0) } else { e };
        let mut at = masks;
        while let Some(m) = at.as_array() {
            let s = m.as_slice();
            let mut best: Option<(Gc<ClassObj>, i64)> = None;
            for pair in s.get(1..).unwrap_or_default().chunks_exact(2) {
                let Some(c) = pair[0].as_class() else { continue };
                if self.is_a(e, c) && best.is_none_or(|(b, _)| c.inherits(b)) {
                    best = Some((c, pair[1].as_fix().unwrap_or(0)));
                }
            }
            if let Some((_, how)) = best {
                return how;
            }
            at = s.first().copied().unwrap_or(Value::NIL);
        }
        0
    }
    /// Takes the first interrupt that is due.
    pub(crate) fn take_interrupt(&mut self, waiting: bool) -> Flow {
        let Some(i) = self.due_interrupt(&self.task, waiting) else { return Flow::Go };
        let v = self.task.interrupts.remove(i);
        if v == Value::TRUE {
            let u = self.heap.unwind(crate::interp::KILL, Value::NIL, Value::fix(-1));
            return self.unwind(u.val());
        }
        let hook = self.intern("exception");
        if !self.builtin(v, hook) {
            // Its class has a say in what is raised.
            let name = self.intern("raise_sent");
            let call = Call {
                target: Target::Helper(name),
                recv: Value::NIL,
                args: Args::from_slice(&[v]),
                kw: Value::UNDEF,
                block: Value::NIL,
                fcall: true,
                result: Value::UNDEF,
            };
            return self.do_call(call, 0, crate::interp::frame::ff::DISCARD);
        }
        self.raise_exc(v)
    }
}

/// `__thread_interrupt(thread, exception or true)`: to be raised there (true: kill).
fn thread_interrupt(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let id = cx.active_task(a[0]);
    let me = cx.task.id;
    let Some(t) = cx.task_mut(id) else { return Ok(Value::FALSE) };
    if t.state == State::Done {
        return Ok(Value::FALSE);
    }
    if id == me {
        if a[1] == Value::TRUE {
            let u = cx.heap.unwind(crate::interp::KILL, Value::NIL, Value::fix(-1));
            cx.pending.exc = u.val();
            return Err(Exit::Unwind);
        }
        return Err(cx.raise(a[1]));
    }
    t.interrupts.push(a[1]);
    // A wait it may end is over from now on: a wake-up that comes later goes to the next waiter.
    if cx.tasks.all.get(&id).is_some_and(|t| t.state == State::Waiting && cx.due_interrupt(t, t.deadline != 0).is_some()) {
        if let Some(t) = cx.task_mut(id) {
            t.wait_seq += 1;
            t.woken = false;
        }
    }
    Ok(Value::TRUE)
}
/// `__thread_masks()`: what is held back now, for `__thread_set_masks`.
fn masks(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.task.masks)
}
fn set_masks(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.task.masks = a[0];
    if cx.due_interrupt(&cx.task, false).is_some() {
        cx.heap.poll.store(true, Relaxed);
    }
    Ok(Value::NIL)
}
/// `__thread_pending(thread)`: exceptions waiting for it.
fn pending(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let id = cx.active_task(a[0]);
    let v = cx.task_mut(id).map_or(Vec::new(), |t| t.interrupts.clone());
    Ok(cx.array(&v))
}
/// `__thread_rows(thread)`: the frames it is in, as `__caller` gives them.
fn rows(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let id = cx.active_task(a[0]);
    let e = cx.capture_task(id);
    cx.location_rows(&e, 0, usize::MAX)
}
/// `__ignore_deadlock(flag or nil)`: `Thread.ignore_deadlock`.
fn ignore_deadlock(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if !a[0].is_nil() {
        cx.tasks.ignore_deadlock = a[0].truthy();
    }
    Ok(Value::bool(cx.tasks.ignore_deadlock))
}
/// `__thread_due()`: may an interrupt be taken now?
fn due(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::bool(cx.due_interrupt(&cx.task, false).is_some()))
}
/// `__thread_check()`: takes an interrupt that is due.
fn check(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let Some(i) = cx.due_interrupt(&cx.task, false) else { return Ok(Value::NIL) };
    let v = cx.task.interrupts.remove(i);
    if v == Value::TRUE {
        let u = cx.heap.unwind(crate::interp::KILL, Value::NIL, Value::fix(-1));
        cx.pending.exc = u.val();
        return Err(Exit::Unwind);
    }
    Err(cx.raise(v))
}

pub(crate) static TABLE: &[NativeDef] = &[
    intrinsic("__thread_interrupt", 2, 2, thread_interrupt),
    intrinsic("__thread_masks", 0, 0, masks),
    intrinsic("__thread_set_masks", 1, 1, set_masks),
    intrinsic("__thread_pending", 1, 1, pending),
    intrinsic("__thread_rows", 1, 1, rows),
    intrinsic("__ignore_deadlock", 1, 1, ignore_deadlock),
    intrinsic("__thread_due", 0, 0, due),
    intrinsic("__thread_check", 0, 0, check),
];
