//! Whose turn it is next: ready tasks, then what events make ready.
//!
//! **Invariant.** A worker in `run_next` runs no task, so it may stop, collect, steal and sleep. It sleeps only when nothing
//! is ready, no event has come and nothing is left to sweep.

use super::now_ns;
use crate::Cx;
use crate::interp::Flow;
use crate::task::Ticket;
use kumi_sched::Event;
use std::sync::atomic::Ordering::*;

/// Turn length of a thread while others are ready.
pub(super) const TURN_NS: u64 = 10_000_000;

/// Blocks that a worker sweeps before it looks again whether there is something to run: a tenth of a millisecond or so.
const IDLE_SWEEP: usize = 16;

impl Cx {
    /// Finds a task that may run and goes on with it; sleeps while there is none.
    pub(crate) fn run_next(&mut self) -> Flow {
        let mut swept = false;
        loop {
            self.stop_here();
            if let Some(id) = self.sched().pop(self.worker) {
                if let Some(f) = self.run_task(id) {
                    return f;
                }
                continue;
            }
            if self.take_events() {
                continue;
            }
            if self.worker == 0 {
                if let Some(c) = self.signal_hook.and_then(|h| h(self)) {
                    self.signal_wakes_main(c);
                    continue;
                }
            }
            if self.is_stuck() {
                self.deadlock();
                continue;
            }
            if self.heap.wants_gc() {
                self.collect_garbage();
                continue;
            }
            // What waits to be swept would stay until this worker allocates again.
            if self.heap.sweep_some(IDLE_SWEEP) {
                swept = true;
                continue;
            }
            if std::mem::take(&mut swept) {
                let bytes = self.heap.shared().stats.take_released();
                self.trimmed(bytes as usize);
            }
            self.go_idle();
        }
    }
    /// Makes tasks ready whose events have come. True when there was any.
    pub(crate) fn take_events(&mut self) -> bool {
        let Some(sched) = self.sched_cell().get().cloned() else { return false };
        if !sched.events_pending(now_ns()) && sched.watching() == 0 {
            return false;
        }
        let mut list = std::mem::take(&mut self.events);
        sched.poll_events(now_ns(), &mut list);
        let some = !list.is_empty();
        for e in list.drain(..) {
            match e {
                Event::Timer(0, 0) => self.trim_all(),
                Event::Timer(0, crate::outside::TIMER) => self.look_outside(),
                Event::Timer(0, _) => self.look_armed.swap(false, Relaxed),
                Event::Timer(crate::limit::LIMIT, id) => self.limit_due(id),
                Event::Timer(task, seq) => self.end_wait(Ticket { task, seq }, false),
                Event::Wake(task, seq) => self.end_wait(Ticket { task, seq }, true),
                Event::Io { task, seq, .. } => self.end_wait(Ticket { task, seq }, true),
                Event::Job(task, seq, v) => self.job_done(Ticket { task, seq }, v),
            };
        }
        self.events = list;
        some
    }
    fn job_done(&mut self, w: Ticket, v: Box<dyn std::any::Any + Send>) -> bool {
        {
            let table = self.shared_tasks();
            let _order = table.lock();
            let Some(mut t) = table.get(w.task).filter(|t| t.wait_seq.load(Relaxed) == w.seq) else { return false };
            t.job = Some(v);
        }
        self.end_wait(w, true)
    }
}
