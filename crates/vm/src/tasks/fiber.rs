//! Fibers: tasks that run only when another task of their thread hands over to them.
//!
//! **Invariant.** Of the tasks of a thread one runs (or waits); each task that resumed another is
//! `Resuming` and has that one in `resumed` until it goes on; a fiber that was resumed and not left since has its
//! `resumer`. A fiber that ends without a resumer gives way to the innermost fiber that was resumed from the thread's
//! first task, as in CRuby.

use crate::Cx;
use crate::doors::*;
use crate::tasks::task::{Resumed, Stage, State, Task, TaskPtr};
use kumi_heap::*;

/// `target` of the Unwind cell that ends a fiber, not its thread.
pub(crate) const KILL_FIBER: Value = Value::fix(-2);

/// Most fibers that resume each other: a recursion through them ends there, as one through methods does.
const MOST_NESTED: u32 = 100_000;

impl Cx {
    /// Where control goes when the running fiber is left for good or by `Fiber.yield`.
    pub fn fiber_returns_to(&mut self) -> u64 {
        if let Some(to) = self.task.as_fiber_mut().and_then(|f| f.resumer.take()) {
            return to;
        }
        let mut at = self.root.id;
        while let Some(c) = self.task_mut(at).and_then(|t| t.resumed_fiber()) {
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
        self.task.is_nonblocking() && self.is_scheduled()
    }
    /// Has the running thread a fiber scheduler?
    #[inline]
    pub fn is_scheduled(&self) -> bool {
        self.root.first().is_some_and(|f| f.scheduled)
    }
    /// From now on it has one, or has none.
    pub fn set_scheduled(&mut self, on: bool) {
        if let Some(f) = self.root.first_mut() {
            f.scheduled = on;
        }
    }
    /// Has the running task been resumed through so many that none may begin below it?
    pub fn is_deepest(&self) -> bool {
        self.task.depth() >= MOST_NESTED
    }
    /// Ends the native: control goes to another task of the thread, with a value or an exception.
    pub fn hand_over(&mut self, to: u64, v: Result<Value, Value>) -> Exit {
        self.switch_to = Some((to, v));
        Exit::Switch
    }
    /// The running task resumes the fiber `t`, which may be: it is to be handed over to.
    #[inline]
    pub fn resumes(&mut self, mut t: TaskPtr) {
        let depth = self.task.depth() + 1;
        if let Some(f) = t.as_fiber_mut() {
            (f.resumer, f.depth) = (Some(self.task.id), depth);
        }
        self.task.resumed = Some(Resumed { fiber: t.id, killed: false });
        self.task.beside.set_state(State::Resuming);
    }
    /// The running fiber is left by `Fiber.yield`, for what this gives.
    pub fn yields(&mut self) -> u64 {
        let to = self.fiber_returns_to();
        self.task.beside.set_state(State::Yielded);
        to
    }
    /// The running task is left by `Fiber#transfer`.
    pub fn transfers(&mut self) {
        self.task.beside.set_state(State::Transferred);
    }
}

impl Task {
    /// The fiber that it resumed and waits for.
    pub fn resumed_fiber(&self) -> Option<u64> {
        self.resumed.map(|r| r.fiber)
    }
    /// How many resumed each other down to it; 0: a thread's first task.
    fn depth(&self) -> u32 {
        self.as_fiber().map_or(0, |f| f.depth)
    }
    /// Was it resumed, and not left since?
    pub fn is_resumed(&self) -> bool {
        self.as_fiber().is_some_and(|f| f.resumer.is_some())
    }
    /// Do its waits go to the thread's fiber scheduler, if there is one?
    #[inline]
    pub fn is_nonblocking(&self) -> bool {
        self.as_fiber().is_some_and(|f| f.nonblocking)
    }
    /// Those of a thread's first task never do.
    pub fn set_nonblocking(&mut self, on: bool) {
        if let Some(f) = self.as_fiber_mut() {
            f.nonblocking = on;
        }
    }
    /// What it begins with, if it has not begun.
    pub fn start_mut(&mut self) -> Option<&mut Call> {
        match &mut self.stage {
            Stage::NotBegun(start) => start.as_deref_mut(),
            _ => None,
        }
    }
    /// It is ended: at once if it has not begun, or when control comes back to it. Not of a suspended one, which its killer resumes.
    pub fn kill(&mut self) {
        if self.state() == State::New {
            self.beside.set_state(State::Done);
            self.forget_values();
        } else if let Some(r) = &mut self.resumed {
            r.killed = true;
        }
    }
    /// Its Fiber; nil: none was made yet.
    pub fn fiber(&self) -> Value {
        self.fiber
    }
    /// Its Fiber was made.
    pub fn set_fiber(&mut self, v: Value) {
        self.fiber = v;
    }
}
