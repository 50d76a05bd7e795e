//! What one thread sends another: `Thread#raise`, `Thread#kill`, and `Thread.handle_interrupt`, which holds it back.
//!
//! **Invariant.** A task's interrupts are taken in the order they came, except that one which is held back
//! lets later ones pass. The masks of a task are a list that is never changed in place, only replaced, so that
//! other workers may read it.

use crate::Cx;
use crate::interp::Flow;
use crate::native::*;
use crate::task::TaskPtr;
use kumi_heap::*;
use std::sync::atomic::Ordering::Relaxed;

impl Cx {
    /// Place of the first interrupt that the thread whose first task is `t` may take now (`waiting`: at a wait).
    pub(crate) fn due_interrupt(&self, t: TaskPtr, waiting: bool) -> Option<usize> {
        let list = t.interrupts.lock();
        if list.is_empty() || t.held || self.active_of(t).finalizing.is_on() {
            return None;
        }
        if t.masks.is_nil() {
            return Some(0);
        }
        list.iter().position(|e| match self.timing(t.masks, *e) {
            0 => true,
            1 => waiting,
            _ => false,
        })
    }
    /// How the innermost mask that knows the interrupt wants it: 0 at once, 1 at a wait, 2 never.
    fn timing(&self, masks: Value, e: Value) -> i64 {
        // A kill is an Integer to CRuby's masks.
        let e = if e == Value::TRUE { Value::fix(0) } else { e };
        // A time limit's class and message.
        let class = e.as_array().and_then(|p| p.get(0)?.as_class());
        let mut at = masks;
        while let Some(m) = at.as_array() {
            let s = m.seen().to_vec();
            let mut best: Option<(Gc<ClassObj>, i64)> = None;
            for pair in s.get(1..).unwrap_or_default().chunks_exact(2) {
                let Some(c) = pair[0].as_class() else { continue };
                let fits = class.map_or_else(|| self.is_a(e, c), |k| k == c || k.inherits(c));
                if fits && best.is_none_or(|(b, _)| c.inherits(b)) {
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
    /// The first interrupt that is due, taken out.
    fn next_interrupt(&mut self, waiting: bool) -> Option<Value> {
        let i = self.due_interrupt(self.root, waiting)?;
        let mut list = self.root.interrupts.lock();
        let v = list.remove(i);
        self.root.mail.store(!list.is_empty(), Relaxed);
        drop(list);
        self.task.aside = None;
        Some(v)
    }
    /// Takes the first interrupt that is due.
    pub(crate) fn take_interrupt(&mut self, waiting: bool) -> Flow {
        if let Some(fault) = self.fault.take() {
            // The work that this thread's native gave away panicked.
            let e = self.of_fault(fault);
            return self.raise_exc(e);
        }
        let Some(v) = self.next_interrupt(waiting) else { return Flow::Go };
        if v == Value::TRUE {
            let u = self.heap.unwind(crate::interp::KILL, Value::NIL, Value::fix(-1));
            return self.unwind(u.val());
        }
        let hook = self.intern("exception");
        if v.as_array().is_some() || !self.builtin(v, hook) {
            // Its class has a say in what is raised.
            let name = self.intern("raise_sent");
            let call = Call::new(Target::Helper(name), Value::NIL, Args::from_slice(&[v]));
            return self.do_call(call, 0, crate::interp::frame::ff::DISCARD);
        }
        self.raise_exc(v)
    }
}

/// `__thread_interrupt(thread, exception or true)`: to be raised there (true: kill).
fn thread_interrupt(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(t) = cx.thread_root(a[0]) else { return Ok(Value::FALSE) };
    if t == cx.root {
        if a[1] == Value::TRUE {
            let u = cx.heap.unwind(crate::interp::KILL, Value::NIL, Value::fix(-1));
            cx.pending.exc = u.val();
            return Err(Exit::Unwind);
        }
        return Err(cx.raise(a[1]));
    }
    cx.send_interrupt(t, a[1]);
    Ok(Value::TRUE)
}
/// `__thread_masks()`: what is held back now, for `__thread_set_masks`.
fn masks(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.root.masks)
}
fn set_masks(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    // Who sends an interrupt looks at them.
    cx.heap.publish(a[0]);
    cx.root.masks = a[0];
    if cx.due_interrupt(cx.root, false).is_some() {
        cx.heap.poll.store(true, Relaxed);
    }
    Ok(Value::NIL)
}
/// `__thread_pending(thread)`: exceptions waiting for it.
fn pending(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let v = cx.thread_root(a[0]).map_or(Vec::new(), |t| t.interrupts.lock().to_vec());
    Ok(cx.array(&v))
}
/// `__thread_rows(thread)`: the frames it is in, as `__caller` gives them.
fn rows(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    loop {
        let Some(t) = cx.thread_root(a[0]) else { return Ok(Value::NIL) };
        // Its frames stand still while the world does.
        let e = cx.stop_world(|cx| {
            let id = cx.active_of(t).id;
            cx.capture_task(id)
        });
        if let Some(e) = e {
            return cx.location_rows(&e, 0, usize::MAX);
        }
    }
}
/// `__ignore_deadlock(flag or nil)`: `Thread.ignore_deadlock`.
fn ignore_deadlock(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if !a[0].is_nil() {
        cx.tasks.ignore_deadlock.store(a[0].truthy(), Relaxed);
    }
    Ok(Value::bool(cx.tasks.ignore_deadlock.load(Relaxed)))
}
/// `__thread_due()`: may an interrupt be taken now?
fn due(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::bool(cx.due_interrupt(cx.root, false).is_some()))
}
/// `__thread_check()`: takes an interrupt that is due.
fn check(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let Some(v) = cx.next_interrupt(false) else { return Ok(Value::NIL) };
    if v == Value::TRUE {
        let u = cx.heap.unwind(crate::interp::KILL, Value::NIL, Value::fix(-1));
        cx.pending.exc = u.val();
        return Err(Exit::Unwind);
    }
    Err(cx.raise(v))
}

pub(crate) static TABLE: &[NativeDef] = &[
    intrinsic("__thread_interrupt", 2, 2, thread_interrupt).guard(Guard::None),
    intrinsic("__thread_masks", 0, 0, masks),
    intrinsic("__thread_set_masks", 1, 1, set_masks),
    intrinsic("__thread_pending", 1, 1, pending),
    intrinsic("__thread_rows", 1, 1, rows).guard(Guard::None),
    intrinsic("__ignore_deadlock", 1, 1, ignore_deadlock),
    intrinsic("__backtrace_limit", 0, 0, |cx, _, _| Ok(Value::fix(cx.options.backtrace_limit))).guard(Guard::None),
    intrinsic("__thread_due", 0, 0, due),
    intrinsic("__thread_check", 0, 0, check),
];
