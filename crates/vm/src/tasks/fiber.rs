//! Fibers: tasks that run only when another task of their thread hands over to them.
//!
//! **Invariant.** Of the tasks of a thread one runs (or waits); each task that resumed another is
//! `Resuming` and has that one as its `child`; a fiber that was resumed and not left since has its
//! `resumer`. A fiber that ends without a resumer gives way to the innermost child of the thread's
//! first task, as in CRuby.

use crate::Cx;
use crate::doors::*;
use kumi_heap::*;

/// `target` of the Unwind cell that ends a fiber, not its thread.
pub(crate) const KILL_FIBER: Value = Value::fix(-2);

impl Cx {
    /// Where control goes when the running fiber is left for good or by `Fiber.yield`.
    pub fn fiber_returns_to(&mut self) -> u64 {
        if let Some(to) = self.task.resumer.take() {
            return to;
        }
        let mut at = self.root.id;
        while let Some(c) = self.task_mut(at).and_then(|t| t.child) {
            if c == self.task.id {
                break;
            }
            at = c;
        }
        at
    }
    /// The unwinding that ends a fiber through its ensure clauses.
    pub fn fiber_kill_unwind(&mut self) -> Value {
        self.heap.unwind(crate::tasks::outcome::KILL, Value::NIL, KILL_FIBER).val()
    }
    /// Do waits of the running fiber go to a fiber scheduler? Natives that would park hand over to a helper then.
    #[inline]
    pub fn hooked(&self) -> bool {
        self.task.nonblocking && self.root.scheduled
    }
    pub fn hand_over(&mut self, to: u64, v: Result<Value, Value>) -> Exit {
        self.switch_to = Some((to, v));
        Exit::Switch
    }
}
