//! What one thread sends another: `Thread#raise`, `Thread#kill`, and `Thread.handle_interrupt`, which holds it back.
//!
//! **Invariant.** A task's interrupts are taken in the order they came, except that one which is held back
//! lets later ones pass. The masks of a task are a list that is never changed in place, only replaced, so that
//! other workers may read it.

use crate::Cx;
use crate::doors::*;
use crate::tasks::outcome::Outcome;
use crate::tasks::task::TaskPtr;
use kumi_heap::*;
use std::sync::atomic::Ordering::Relaxed;

impl Cx {
    /// The unwinding that ends a thread through its ensure clauses.
    pub fn kill_unwind(&mut self) -> Value {
        self.heap.unwind(crate::tasks::outcome::KILL, Value::NIL, Value::fix(-1)).val()
    }
    /// Place of the first interrupt that the thread whose first task is `t` may take now (`waiting`: at a wait).
    pub fn due_interrupt(&self, t: TaskPtr, waiting: bool) -> Option<usize> {
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
    pub fn next_interrupt(&mut self, waiting: bool) -> Option<Value> {
        let i = self.due_interrupt(self.root, waiting)?;
        let mut list = self.root.interrupts.lock();
        let v = list.remove(i);
        self.root.mail.store(!list.is_empty(), Relaxed);
        drop(list);
        self.task.aside = None;
        Some(v)
    }
    /// Takes the first interrupt that is due.
    pub(crate) fn take_interrupt(&mut self, waiting: bool) -> Outcome {
        if let Some(fault) = self.fault.take() {
            // The work that this thread's native gave away panicked.
            let e = self.of_fault(fault);
            return self.raise_exc(e);
        }
        let Some(v) = self.next_interrupt(waiting) else { return Outcome::Go };
        if v == Value::TRUE {
            let u = self.kill_unwind();
            return self.unwind(u);
        }
        let hook = self.intern("exception");
        if v.as_array().is_some() || !self.builtin(v, hook) {
            // Its class has a say in what is raised.
            let name = self.intern("raise_sent");
            let call = Call::new(Target::Helper(name), Value::NIL, Args::from_slice(&[v]));
            return self.do_call(call, 0, crate::tasks::frame::ff::DISCARD);
        }
        self.raise_exc(v)
    }
}
