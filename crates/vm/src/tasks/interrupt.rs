//! What one thread sends another: `Thread#raise`, `Thread#kill`, and `Thread.handle_interrupt`, which holds it back.
//!
//! **Invariant.** A task's interrupts are taken in the order they came, except that one which is held back
//! lets later ones pass. The masks of a task are a list that is never changed in place, only replaced, so that
//! other workers may read it.

use crate::Cx;
use crate::doors::*;
use crate::tasks::outcome::Outcome;
use crate::tasks::task::{Task, TaskPtr, Wait};
use kumi_heap::*;

impl Cx {
    /// The unwinding that ends a thread through its ensure clauses.
    pub fn kill_unwind(&mut self) -> Value {
        self.heap.unwind(crate::tasks::outcome::KILL, Value::NIL, Value::fix(-1)).val()
    }
    /// May the running thread take an interrupt now (`waiting`: at a wait)?
    #[inline]
    pub fn has_due_interrupt(&self, waiting: bool) -> bool {
        self.root.first().is_some_and(|f| f.interrupts.has_mail()) && self.due_interrupt(self.root, waiting).is_some()
    }
    /// What the running thread's `Thread.handle_interrupt` holds back: see `Interrupts::masks`.
    pub fn masks(&self) -> Value {
        self.root.first().map_or(Value::NIL, |f| f.interrupts.masks)
    }
    /// `masks` is published: who sends an interrupt looks at it.
    pub fn set_masks(&mut self, masks: Value) {
        if let Some(f) = self.root.first_mut() {
            f.interrupts.masks = masks;
        }
    }
    /// The running thread's interrupts wait, or do so no more.
    pub fn hold_interrupts(&mut self, held: bool) {
        if let Some(f) = self.root.first_mut() {
            f.interrupts.held = held;
        }
    }
    /// Place of the first interrupt that the thread whose first task is `t` may take now (`waiting`: at a wait).
    pub fn due_interrupt(&self, t: TaskPtr, waiting: bool) -> Option<usize> {
        let sent = &t.first()?.interrupts;
        sent.look(|list| {
            if list.is_empty() || sent.held || self.active_of(t).beside.finalizing.is_on() {
                return None;
            }
            if sent.masks.is_nil() {
                return Some(0);
            }
            list.iter().position(|e| match self.timing(sent.masks, *e) {
                0 => true,
                1 => waiting,
                _ => false,
            })
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
        let v = self.root.first()?.interrupts.with(|list| list.remove(i));
        // The native that waited is not called again.
        self.task.wait = Wait::Nothing;
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

impl Task {
    /// What was sent to the thread whose first task this is, and not taken.
    pub fn interrupts(&self) -> Vec<Value> {
        self.first().map_or(Vec::new(), |f| f.interrupts.look(|list| list.to_vec()))
    }
}
