//! A signal handler that the main thread runs though it waits.
//!
//! **Invariant.** The wait that a handler interrupts is kept in the task, with what it had waited for and until when, and
//! begins again after the handler; several such waits lie on one another.

use crate::Cx;
use crate::doors::*;
use crate::tasks::frame::ff;
use crate::tasks::task::{Again, Interrupted, Next, State};
use kumi_heap::*;
use std::sync::atomic::Ordering::*;

impl Cx {
    /// The main task is made to run a signal handler: its wait ends for it and begins again afterwards.
    pub(super) fn signal_wakes_main(&mut self, c: Call) {
        let Some(main) = self.tasks.get(self.tasks.main.load(Relaxed)) else { return };
        let mut t = self.active_of(main);
        let id = t.id;
        {
            let table = self.shared_tasks();
            let order = table.lock();
            match t.state() {
                State::Waiting => {
                    table.end_wait(t, false, &order);
                }
                State::Ready => self.sched().remove(id),
                _ => return,
            }
        }
        // A native that waits runs again after the handler, and what it gives goes where it would have gone.
        let mut c = c;
        c.target = Target::Helper(self.intern("signal_came_again"));
        self.publish_call(&c);
        let words = t.next.words();
        let (call, dst, flags) = match std::mem::take(&mut t.next) {
            Next::Call(a) => (Some(a.call), a.dst, a.flags),
            Next::Here | Next::Instruction(_) => (None, 0, ff::DISCARD),
        };
        let wait = t.take_wait();
        t.after_signal.push(Interrupted { call, wait });
        t.next = Next::Call(Box::new(Again { call: c, dst, flags, words }));
        self.sched().push_front(0, id, true);
    }
}

impl Cx {
    /// What the main thread waited for has come, and so has a signal: its handler runs first, then `c`, or the
    /// instruction that waited. A native may be
    /// all that is left to run, and no safepoint behind it.
    #[inline]
    pub(super) fn signal_before(&mut self, c: Option<&Call>) -> Option<Call> {
        if self.worker != 0 || !self.heap.poll.load(Relaxed) || self.root.id != self.tasks.main.load(Relaxed) {
            return None;
        }
        self.signal_before_slow(c)
    }
    #[cold]
    fn signal_before_slow(&mut self, c: Option<&Call>) -> Option<Call> {
        let mut handler = self.signal_hook?(self)?;
        handler.target = Target::Helper(self.intern("signal_came_again"));
        let wait = self.task.take_wait();
        self.task.after_signal.push(Interrupted { call: c.cloned(), wait });
        Some(handler)
    }
}

pub(super) static TABLE: &[NativeDef] = &[
    intrinsic("__after_signal", 0, 0, |cx, _, _| match cx.task.after_signal.pop() {
        Some(w) => {
            cx.task.set_wait(w.wait);
            match w.call {
                Some(call) => {
                    cx.pending.call = Some(call);
                    Err(Exit::Call)
                }
                None => Ok(Value::NIL),
            }
        }
        None => Ok(Value::NIL),
    })
    .guard(Guard::None),
    intrinsic("__after_signal_drop", 0, 0, |cx, _, _| {
        cx.task.after_signal.pop();
        Ok(Value::NIL)
    })
    .guard(Guard::None),
];
