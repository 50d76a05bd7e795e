//! Tasks begin and end.
//!
//! **Invariant.** A task that another worker may run is given published values only. A thread's last frame is left once what it
//! owes is done (its report, its fiber scheduler, its locks); then its entry is gone, and the worker goes on with another.

use crate::Cx;
use crate::doors::*;
use crate::tasks::outcome::Onward;
use crate::tasks::outcome::Outcome;
use crate::tasks::task::{Fiber, First, Role, State, Task, TaskPtr};
use crate::tasks::thread::task_bytes;
use kumi_heap::*;
use std::sync::atomic::Ordering::*;

impl Cx {
    /// The first task of a new runtime, which becomes the main thread's.
    pub(crate) fn first_task(&mut self) {
        if let Some(mut t) = self.tasks.insert(Box::new(Task::new(Role::First(First::new()), None))) {
            t.pinned = true;
            self.tasks.main.store(t.id, Relaxed);
            self.task = t;
            self.root = t;
        }
    }
    /// The first task of a thread, whose object is `thread`: it will run `start`.
    ///
    /// # Errors
    /// ThreadError when there are too many.
    pub(crate) fn new_thread_task(&mut self, start: Call, thread: Value) -> Result<TaskPtr, Exit> {
        // Another worker may run it.
        self.publish_call(&start);
        let (storage, masks) = (self.task.storage, self.masks());
        self.heap.publish(storage);
        self.heap.publish(masks);
        let mut first = First::new();
        if let Target::Proc(p) = &start.target {
            first.around = p.as_proc().map_or(Value::NIL, |p| p.env);
        }
        first.interrupts.masks = masks;
        let mut t = Box::new(Task::new(Role::First(first), Some(Box::new(start))));
        t.thread = thread;
        self.inherit(&mut t);
        match self.tasks.insert(t) {
            Some(p) => {
                self.record_born(p.id);
                Ok(p)
            }
            None => Err(self.raise_msg(self.k.thread_error, "can't create Thread: too many threads")),
        }
    }
    /// A fiber of the running thread, whose waits do not block it where it has a fiber scheduler: it will run `start`.
    ///
    /// # Errors
    /// FiberError when there are too many.
    pub fn new_fiber(&mut self, start: Call) -> Result<TaskPtr, Exit> {
        // What it starts with stays its thread's (`note_recent`).
        let role = Role::Fiber(Fiber { first: self.root.id, resumer: None, depth: 0, nonblocking: true });
        let mut t = Box::new(Task::new(role, Some(Box::new(start))));
        t.thread = self.task.thread;
        t.pinned = self.root.pinned;
        self.inherit(&mut t);
        match self.tasks.insert(t) {
            Some(p) => {
                self.heap.spend(task_bytes());
                Ok(p)
            }
            None => Err(self.raise_msg(self.k.fiber_error, "can't alloc fiber: too many fibers")),
        }
    }
    /// What every task has of the one that made it.
    fn inherit(&self, t: &mut Task) {
        t.storage = self.task.storage;
        t.isolated = self.task.isolated;
    }
    /// A task's first frame was left.
    pub(crate) fn finish_task(&mut self) -> Outcome {
        if self.task.id == self.tasks.main.load(Relaxed) {
            return Outcome::Done;
        }
        let left = self.task.left();
        if !self.task.is_root() {
            self.task.beside.set_state(State::Done);
            self.free_locks_of(self.task.id);
            self.task.stack.release();
            // A fiber: back to whoever resumed it.
            let to = self.fiber_returns_to();
            let v = match left {
                // It was ended by a kill.
                Err(e) if is_fiber_kill(e) => Ok(Value::NIL),
                left => left,
            };
            self.task.forget_values();
            self.switch_fiber(to);
            return self.then(Onward::Continue(v));
        }
        if let Some(c) = self.report_death(left) {
            // What was sent to it comes too late. A kill ends the report, whose reader may never come.
            let all = [Value::NIL, self.k.exception.val(), Value::fix(2)];
            let masks = self.array(&all);
            self.heap.publish(masks);
            self.set_masks(masks);
            let q = self.bottom_code();
            let (me, cref) = (self.main_object, self.top_cref);
            self.enter_bottom(&q, me, cref);
            return self.do_call(c, 1, 0);
        }
        if self.is_scheduled() {
            // Its fiber scheduler runs what is left to do.
            let q = self.bottom_code();
            let (me, cref) = (self.main_object, self.top_cref);
            self.enter_bottom(&q, me, cref);
            let x = self.call_helper("close_scheduler", &[]);
            return self.leaf_exit_drop(x);
        }
        if self.hooks.are_on()
            && let Some(f) = self.trace_thread_end()
        {
            return f;
        }
        self.task.beside.set_state(State::Done);
        self.free_locks_of(self.task.id);
        self.record_over();
        self.thread_ended();
        self.publish_fibers();
        let id = self.task.id;
        self.leave_task();
        if self.is_parallel() {
            self.tasks.remove(id);
        } else {
            self.tasks.remove_alone(id);
        }
        self.tasks.threads.fetch_sub(1, Relaxed);
        self.then(Onward::Run)
    }
}

/// Is it the unwinding that ends a fiber, not its thread?
fn is_fiber_kill(e: Value) -> bool {
    e.cell::<UnwindObj>().is_some_and(|u| u.hdr.x.get() == crate::tasks::outcome::KILL && u.target == crate::tasks::fiber::KILL_FIBER)
}
