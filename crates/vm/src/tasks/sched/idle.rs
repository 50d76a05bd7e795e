//! What a worker looks after that finds nothing to run: deadlock, and stacks that have been too large for a while.
//!
//! **Invariant.** A runtime is stuck only when no worker runs, nothing is ready, watched, offloaded or timed but the
//! runtime's own timers, and no thread may wait for ever. Each of the runtime's own timers is armed at most once.

use super::now_ns;
use crate::Cx;
use crate::doors::*;
use crate::tasks::frame::ff;
use crate::tasks::task::{Again, Next, State, Ticket, Wait};
use kumi_heap::*;
use std::sync::atomic::Ordering::*;

impl Cx {
    pub(super) fn is_stuck(&self) -> bool {
        if self.is_excused() {
            return false;
        }
        let s = self.sched();
        // Waits that ended early and limits that were left in time keep nobody awake.
        if s.timers_may_be_stale(self.own_timers()) {
            s.compact_timers(|task, seq| self.timer_lives(task, seq));
        }
        if self.workers_started() {
            // What was runnable when it was asked first may wait for ever by now, and what waited may have been woken.
            return (0..2).all(|_| s.stuck(self.own_timers()) && !self.is_excused());
        }
        let timers = s.timers().saturating_sub(self.own_timers());
        // A job's event comes before the job counts as done.
        s.watching() == 0 && s.jobs_running() == 0 && timers == 0 && !s.has_ready(self.worker) && !s.events_pending(now_ns())
    }
    /// Nothing that stands still is taken for stuck now.
    fn is_excused(&self) -> bool {
        self.tasks.sleepers.load(SeqCst) > 0 || self.limits.armed.load(Relaxed) > 0 || self.tasks.ignore_deadlock.load(Relaxed)
    }
    /// No thread can ever run again: the main thread gets `fatal`, which tells where each of them waits.
    pub(super) fn deadlock(&mut self) {
        self.main_thread();
        let mut waiting = Vec::new();
        self.tasks.each(|t| {
            if t.state() == State::Waiting && !t.thread.is_nil() {
                waiting.push((t.root() as u32, t.id, t.thread));
            }
        });
        waiting.sort_unstable_by_key(|t| t.0);
        let mut list = Vec::new();
        for (_, id, thread) in waiting {
            let entries = self.capture_task(id);
            let Ok(rows) = self.location_rows(&entries, 0, usize::MAX) else { continue };
            list.push(self.array(&[thread, rows]));
        }
        let list = self.array_vec(list);
        self.fatal_class();
        let call = Call::new(Target::Helper(self.intern("deadlock")), Value::NIL, Args::from_slice(&[list]));
        let Some(mut main) = self.tasks.get_changing(self.tasks.main.load(Relaxed)) else { return };
        if let Some(f) = main.first_mut() {
            f.interrupts.let_through();
        }
        let mut t = self.active_of(main);
        let (id, seq) = (t.id, t.beside.seq());
        self.publish_call(&call);
        t.wait = Wait::Nothing;
        t.next = Next::Call(Box::new(Again { call, dst: 0, flags: ff::DISCARD, words: t.next.words() }));
        self.end_wait(Ticket { task: id, seq }, true);
    }
    /// Timers that are the runtime's own and no task's.
    fn own_timers(&self) -> usize {
        [&self.trim_armed, &self.look_armed, &self.outside.armed, &self.outside.rung].into_iter().filter(|a| a.load(Relaxed)).count()
    }
    /// A worker goes idle and nothing is to come: should the others lie down at the same moment, none of them would
    /// see that all have. So somebody looks once more in a while.
    pub(crate) fn arm_look(&self) {
        let Some(s) = self.sched_cell().get() else { return };
        let excused = self.is_excused();
        let nothing = s.watching() == 0 && s.jobs_running() == 0 && s.timers() <= self.own_timers();
        if self.workers_started() && !excused && nothing && !self.look_armed.swap(true, Relaxed) {
            s.timer(now_ns() + 20_000_000, 0, 1);
        }
    }
    /// A worker goes idle: what its tasks' stacks do not use is looked for in a second, and what is free given back.
    pub(crate) fn arm_trim(&self) {
        if (self.tasks.threads.load(Relaxed) > 0 || self.give_back.waits()) && !self.trim_armed.swap(true, Relaxed) {
            self.sched().timer(now_ns() + 1_000_000_000, 0, 0);
        }
    }
    /// Tasks that have waited since the last pass are made small.
    pub(super) fn trim_all(&mut self) -> bool {
        self.trim_armed.store(false, Relaxed);
        let more = self.stop_world(|cx| {
            let mut parked = Vec::new();
            cx.tasks.each(|t| {
                let s = t.state();
                if s.is_suspended() || matches!(s, State::Waiting | State::Resuming) {
                    parked.push(t);
                }
            });
            cx.trim_pass(parked.iter_mut().map(|t| &mut **t))
        });
        if more != Some(false) {
            self.arm_trim();
        }
        true
    }
}
