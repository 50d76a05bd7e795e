//! Tasks begin and end.
//!
//! **Invariant.** A task that another worker may run is given published values only. A thread's last frame is left once what it
//! owes is done (its report, its fiber scheduler, its locks); then its entry is gone, and the worker goes on with another.

use crate::Cx;
use crate::doors::*;
use crate::tasks::outcome::Onward;
use crate::tasks::outcome::Outcome;
use crate::tasks::task::State;
use crate::tasks::task::Task;
use crate::tasks::task::TaskPtr;
use kumi_heap::*;
use std::sync::atomic::Ordering::*;

impl Cx {
    /// The first task of a new runtime, which becomes the main thread's.
    pub(crate) fn first_task(&mut self) {
        if let Some(mut t) = self.tasks.insert(Box::new(Task::new())) {
            t.pinned = true;
            self.tasks.main.store(t.id, Relaxed);
            self.task = t;
            self.root = t;
        }
    }
    /// A new task that will run `start`: a thread's first one when `thread` is given.
    ///
    /// # Errors
    /// ThreadError or FiberError when there are too many.
    pub fn new_task(&mut self, start: Call, thread: Option<Value>) -> Result<TaskPtr, Exit> {
        let mut t = Box::new(Task::new());
        if thread.is_some() {
            // Another worker may run it. What a fiber starts with stays its thread's (`note_recent`).
            self.publish_call(&start);
            let (storage, masks) = (self.task.storage, self.root.masks);
            self.heap.publish(storage);
            self.heap.publish(masks);
            if let Target::Proc(p) = &start.target {
                t.around = p.as_proc().map_or(Value::NIL, |p| p.env);
            }
        }
        t.start = Some(Box::new(start));
        t.thread = thread.unwrap_or(self.task.thread);
        t.storage = self.task.storage;
        t.isolated = self.task.isolated;
        if thread.is_some() {
            t.masks = self.root.masks;
        }
        if thread.is_none() {
            t.root = self.root.id;
        }
        let Some(p) = self.tasks.insert(t) else {
            let (c, m) = if thread.is_some() {
                (self.k.thread_error, "can't create Thread: too many threads")
            } else {
                (self.k.fiber_error, "can't alloc fiber: too many fibers")
            };
            return Err(self.raise_msg(c, m));
        };
        Ok(p)
    }
    /// A task's first frame was left.
    pub(crate) fn finish_task(&mut self) -> Outcome {
        if self.task.id == self.tasks.main.load(Relaxed) {
            return Outcome::Done;
        }
        let failed = self.task.failed;
        if !self.task.is_root() {
            self.task.state.set(State::Done);
            self.free_locks_of(self.task.id);
            self.task.stack.release();
            // A fiber: back to whoever resumed it.
            let to = self.fiber_returns_to();
            let killed = failed
                .cell::<UnwindObj>()
                .is_some_and(|u| u.hdr.x.get() == crate::tasks::outcome::KILL && u.target == crate::tasks::fiber::KILL_FIBER);
            let v = if failed.is_nil() || killed { Ok(self.task.result) } else { Err(failed) };
            self.task.forget_values();
            self.switch_fiber(to);
            self.task.child = None;
            return self.then(Onward::Continue(v));
        }
        if let Some(c) = self.report_death(failed) {
            // What was sent to it comes too late. A kill ends the report, whose reader may never come.
            let all = [Value::NIL, self.k.exception.val(), Value::fix(2)];
            let masks = self.array(&all);
            self.heap.publish(masks);
            self.task.masks = masks;
            let q = self.bottom_code();
            let (me, cref) = (self.main_object, self.top_cref);
            self.enter_bottom(&q, me, cref);
            return self.do_call(c, 1, 0);
        }
        if self.task.scheduled {
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
        self.task.state.set(State::Done);
        self.free_locks_of(self.task.id);
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
