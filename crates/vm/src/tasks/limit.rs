//! Time limits on blocks (`Timeout.timeout`): a timer of the scheduler that interrupts a thread.
//!
//! **Invariant.** A limit is armed (it stands in the table, its timer is set, and no deadlock is reported) or
//! over: left in time, or fired once. One that fired and was not taken yet is taken back when its block is left,
//! so that it never comes late.

use crate::Cx;
use kumi_heap::*;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*};

/// What the scheduler's timers of limits have instead of a task's number.
pub(crate) const LIMIT: u64 = u64::MAX;

/// All limits of a runtime. Under its lock only that of a thread's interrupts is taken.
#[derive(Default)]
pub(crate) struct Limits {
    /// Thread, what is raised there (an exception, or `[class, message]`), when.
    table: Mutex<FxHashMap<u64, (Value, Value, u64)>>,
    next: AtomicU64,
    pub armed: AtomicUsize,
}

impl Limits {
    pub(crate) fn trace(&self, m: &mut Marker) {
        for (t, e, _) in self.table.lock().values() {
            m.mark(*t);
            m.mark(*e);
        }
    }
    pub(crate) fn lives(&self, id: u64) -> bool {
        self.table.lock().contains_key(&id)
    }
    /// In a forked child only the limits of `thread` go on: times and numbers for a new scheduler's timers.
    pub(crate) fn after_fork(&self, thread: Value) -> Vec<(u64, u64)> {
        let mut t = self.table.lock();
        t.retain(|_, l| l.0 == thread);
        self.armed.store(t.len(), Relaxed);
        t.iter().map(|(id, l)| (l.2, *id)).collect()
    }
    /// Is the time of one of `thread`'s limits over, though nobody looked?
    pub(crate) fn are_due(&self, thread: Value) -> bool {
        if self.armed.load(Relaxed) == 0 {
            return false;
        }
        let now = crate::tasks::sched::now_ns();
        self.table.lock().values().any(|l| l.0 == thread && l.2 <= now)
    }
    fn thread_of(&self, id: u64) -> Option<Value> {
        self.table.lock().get(&id).map(|l| l.0)
    }
    /// Takes it out, and does `f` of what is raised while nobody else looks; what that returned. False: it is over.
    fn take_and(&self, id: u64, f: impl FnOnce(Value) -> bool) -> bool {
        let mut table = self.table.lock();
        let Some((_, what, _)) = table.remove(&id) else { return false };
        self.armed.fetch_sub(1, Relaxed);
        f(what)
    }
}

impl Cx {
    /// Has `what` raised in the running thread at `deadline` (monotonic nanoseconds); the limit's number.
    pub fn arm_limit(&mut self, deadline: u64, what: Value) -> u64 {
        let thread = self.current_thread();
        let id = self.limits.next.fetch_add(1, Relaxed);
        self.heap.publish(thread);
        self.heap.publish(what);
        self.limits.table.lock().insert(id, (thread, what, deadline));
        if self.limits.armed.fetch_add(1, Relaxed) == 0 {
            self.start_ticker();
            self.sched().ticker_on(true);
        }
        self.sched().timer(deadline, LIMIT, id);
        id
    }
    /// The block of a limit was left: what it sent and nobody took is taken back.
    pub fn leave_limit(&mut self, id: u64, what: Value) {
        if self.limits.take_and(id, |_| true) {
            return self.timer_over();
        }
        if let Some(f) = self.root.first() {
            f.interrupts.with(|list| {
                if let Some(i) = list.iter().position(|v| *v == what) {
                    list.remove(i);
                }
            });
        }
    }
    /// The time of a limit is over.
    pub(crate) fn limit_due(&mut self, id: u64) -> bool {
        let Some(thread) = self.limits.thread_of(id) else { return false };
        let root = self.thread_root(thread);
        // Whoever leaves the block finds the limit, or what it has sent.
        let first = root.as_ref().and_then(|r| r.first());
        let fired = self.limits.take_and(id, |what| first.map(|f| f.interrupts.send(what)).is_some());
        if let Some(root) = root.filter(|_| fired) {
            self.tasks.get_changing(root.id);
            self.tell_interrupt(root);
        }
        fired
    }
    /// Is a timer of the scheduler still good for something?
    pub(crate) fn timer_lives(&self, task: u64, seq: u64) -> bool {
        match task {
            LIMIT => self.limits.lives(seq),
            0 if seq == 0 => self.trim_armed.load(Relaxed),
            0 if seq == crate::tasks::outside::TIMER => self.outside.armed.load(Relaxed),
            0 if seq == crate::tasks::outside::BELL => self.outside.rung.load(Relaxed),
            0 => self.look_armed.load(Relaxed),
            _ => self.tasks.get(task).is_some_and(|t| t.beside.seq() == seq),
        }
    }
}
