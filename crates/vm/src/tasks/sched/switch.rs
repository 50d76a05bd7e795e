//! A task leaves its worker and comes back: by being switched from, by giving way, or after a wait.
//!
//! **Invariant.** Between `park_state` and `take_up` the loop's state stands in the task and nowhere else. A thread that gives
//! its worker up publishes its stacks before anybody may see it queued or waiting.

use crate::Cx;
use crate::doors::Target;
use crate::tasks::frame::ff;
use crate::tasks::outcome::Onward;
use crate::tasks::outcome::Outcome;
use crate::tasks::task::{Again, Next, Role, Stage, State, Takes, TaskPtr, Wait};
use crate::trace::{After, ev};
use kumi_heap::*;
use kumi_sched::{Position, Rank};
use std::sync::atomic::Ordering::*;

impl Cx {
    /// Where the running task goes on, for a time in which it does not run.
    pub(crate) fn park_state(&mut self, dst: usize, flags: u64) {
        let fp = self.fp();
        self.task.base = self.slot_of(fp);
        self.task.pc = self.pc as usize;
        self.task.takes = match flags & (ff::DISCARD | ff::JUMP) {
            0 => Takes::Slot(self.task.base + dst),
            ff::DISCARD => Takes::Nothing,
            _ => Takes::Jump,
        };
    }
    /// The task that ran belongs to this worker no more.
    pub(super) fn leave_task(&mut self) {
        self.record_leaves();
        self.task = TaskPtr::of(&mut self.nobody);
        self.root = self.task;
    }
    /// Queues the running task with the spent ones, before or behind them.
    pub(super) fn requeue(&mut self, first: bool) {
        self.publish_stacks();
        let (id, pinned) = (self.task.id, self.task.pinned);
        self.leave_task();
        self.sched().push_at(self.worker, id, pinned, Position { rank: Rank::Spent, first });
    }
    /// Puts the running thread at the end of the queue; `first`: before the other spent ones.
    pub(super) fn preempt(&mut self, first: bool) -> Outcome {
        self.park_state(0, ff::DISCARD);
        self.task.gave_way = true;
        self.task.beside.not_woken();
        self.requeue(first);
        self.then(Onward::Run)
    }
    /// Makes a fiber of this thread (or its first task) the running one.
    #[inline]
    pub(super) fn switch_fiber(&mut self, id: u64) {
        let Some(t) = self.tasks.get_changing(id) else { return };
        if self.task.state() != State::Done {
            self.note_recent(self.task);
        }
        self.task = t;
        if let Some(f) = self.root.first() {
            f.set_active(id);
        }
        self.stack_end = self.task.stack.resume();
    }
    /// Takes the frame of the (now current) task up again.
    fn take_up(&mut self) {
        self.task.beside.set_state(State::Ready);
        self.stack_end = self.task.stack.resume();
        self.fp = self.frame_at(self.task.base).0;
        self.pc = self.task.pc as *const _;
    }
    /// Continues the (now current) task with a value or an exception.
    pub(crate) fn continue_current(&mut self, v: Result<Value, Value>) -> Outcome {
        if let Stage::NotBegun(start) = &mut self.task.stage {
            let start = start.take();
            let q = self.bottom_code();
            let (me, cref) = (self.main_object, self.top_cref);
            self.enter_bottom(&q, me, cref);
            return match (v, start) {
                (Err(e), _) => self.raise_exc(e),
                (Ok(_), Some(c)) => {
                    let kind = if self.task.is_root() { ev::THREAD_BEGIN } else { ev::FIBER_SWITCH };
                    match self.trace_task(kind, After::Call(Box::new((*c, 1, 0)))) {
                        Ok(f) => f,
                        Err(After::Call(c)) => self.do_call(c.0, c.1, c.2),
                        Err(_) => Outcome::Go,
                    }
                }
                (Ok(_), None) => Outcome::Go,
            };
        }
        self.take_up();
        if self.task.resumed.take().is_some_and(|r| r.killed) {
            let u = self.fiber_kill_unwind();
            return self.unwind(u);
        }
        match v {
            Ok(v) => {
                match self.task.takes {
                    Takes::Jump => match self.fused_jump(v) {
                        Outcome::Go => {}
                        f => return f,
                    },
                    Takes::Slot(slot) => self.frame_at(slot).set_r(0, v),
                    Takes::Nothing => {}
                }
                if self.has_due_interrupt(false) {
                    return self.take_interrupt(false);
                }
                self.trace_task(ev::FIBER_SWITCH, After::Nothing).unwrap_or(Outcome::Go)
            }
            Err(e) => self.raise_exc(e),
        }
    }
    /// A native asked to go on with another task of the thread (`cx.switch_to`).
    pub(crate) fn switch_now(&mut self, dst: usize, flags: u64) -> Outcome {
        self.park_state(dst, flags);
        let Some((id, v)) = self.switch_to.take() else { return Outcome::Go };
        self.switch_fiber(id);
        if self.task.state() == State::New {
            // What it starts with may switch again.
            return self.then(Onward::Continue(v));
        }
        self.continue_current(v)
    }
    /// Runs what a task parked with once more, or goes on where it was.
    pub(crate) fn resume_again(&mut self) -> Outcome {
        self.take_up();
        self.has_awaited();
        if let Some(w) = self.task.watched.take() {
            let id = self.task.id;
            w.fds.iter().for_each(|fd| self.sched().unwatch(*fd, id, w.seq));
        }
        let waited = !std::mem::take(&mut self.task.gave_way);
        let next = std::mem::take(&mut self.task.next);
        if !self.task.is_woken() && self.has_due_interrupt(waited) {
            self.task.wait = Wait::Nothing;
            // It is raised by the instruction that waited.
            self.pc = self.pc.wrapping_add(next.words() as usize);
            return self.take_interrupt(waited);
        }
        match next {
            Next::Call(a) => {
                let Again { call: c, dst, flags, .. } = *a;
                // A native that is called again has told of its call.
                self.trace.told = self.trace.on && matches!(c.target, Target::Method(_));
                match self.signal_before(Some(&c)) {
                    Some(handler) => self.do_call(handler, dst, flags),
                    None => self.do_call(c, dst, flags),
                }
            }
            Next::Here | Next::Instruction(_) if waited => match self.signal_before(None) {
                Some(handler) => self.do_call(handler, 0, ff::DISCARD),
                None => Outcome::Go,
            },
            Next::Here | Next::Instruction(_) => Outcome::Go,
        }
    }
    /// Makes a ready task this worker's.
    pub(super) fn run_task(&mut self, id: u64, rank: Rank) -> Option<Outcome> {
        let t = self.tasks.get_changing(id)?;
        let root = match &t.role {
            Role::First(_) => t,
            Role::Fiber(f) => self.tasks.get_changing(f.first)?,
        };
        self.task = t;
        self.root = root;
        if !self.outside.ran.load(Relaxed) {
            self.outside.ran.store(true, Relaxed);
        }
        self.tell_runs();
        self.slice.begin(id, rank);
        self.record_takes_up();
        Some(if t.state() == State::New { self.continue_current(Ok(Value::NIL)) } else { self.resume_again() })
    }
}
