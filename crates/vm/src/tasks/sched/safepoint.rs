//! What waits for a moment between two bytecodes.
//!
//! **Invariant.** `heap.poll` is taken back before anything is looked at, so that what is asked for meanwhile raises it
//! again. Whatever is found is done here or handed on; nothing of it stays unseen until somebody else asks.

use super::now_ns;
use super::slice::Look;
use crate::Cx;
use crate::tasks::frame::ff;
use crate::tasks::outcome::Onward;
use crate::tasks::outcome::Outcome;
use crate::tasks::task::State;
use kumi_heap::*;
use kumi_sched::Rank;
use std::sync::atomic::Ordering::*;

impl Cx {
    /// What waits for a moment between two bytecodes.
    #[cold]
    #[inline(never)]
    pub(crate) fn safepoint(&mut self) -> Outcome {
        self.heap.end_place();
        // In one step: what was asked for before the flag was set is seen below.
        self.heap.poll.swap(false, AcqRel);
        self.room_asked = 0;
        if self.stop.is_asked() {
            self.stop_here();
            if self.is_called_off() {
                return Outcome::Done;
            }
        }
        if self.heap.has_replaced() {
            self.tend_replaced();
        }
        if self.trace.on != self.hooks.are_on() {
            // All else is looked at in the other loop.
            self.heap.poll.store(true, Relaxed);
            return Outcome::Swap;
        }
        if self.task.beside.finalizing.is_entering() {
            // Nothing may be raised here; the next safepoint does what is wished for.
            self.heap.poll.store(true, Relaxed);
            return Outcome::Go;
        }
        self.shrink_stack();
        if self.heap.wants_nursery() {
            self.collect_nursery();
        }
        if self.gc_stress > 0 {
            self.heap.poll.store(true, Relaxed);
            self.gc_tick += 1;
            if self.gc_tick >= self.gc_stress {
                self.gc_tick = 0;
                self.heap.shared().stats.because(Cause::Stress);
                match self.heap.shared().stat().count % 8 {
                    _ if self.heap.shared().young_only() => {}
                    // The tables are swept by full ones at one stop only.
                    7 => self.heap.shared().request_full(),
                    1 | 4 if self.heap.shared().is_interruptible() => self.heap.shared().request_cycle(),
                    _ => {}
                }
                self.collect_garbage();
                self.heap.poll.store(true, Relaxed);
            }
        }
        if self.heap.wants_gc() || self.heap.shared().slice_is_due() {
            self.collect_garbage();
            if self.is_short() {
                let e = self.make_exc(self.k.no_memory_error, "failed to allocate memory");
                return self.raise_exc(e);
            }
        }
        if self.give_back.is_asked() {
            self.give_back_here();
        }
        if let Some(f) = self.begin_finalizers() {
            return f;
        }
        if let Some(h) = self.signal_hook.filter(|_| self.worker == 0) {
            if let Some(c) = h(self) {
                // Handlers run on the main thread.
                let main = self.tasks.main.load(Relaxed);
                let waits = self.tasks.get(main).is_some_and(|t| matches!(self.active_of(t).state(), State::Ready | State::Waiting));
                if self.root.id == main || !waits {
                    return self.do_call(c, 0, ff::DISCARD);
                }
                self.park_state(0, ff::DISCARD);
                self.requeue(false);
                self.signal_wakes_main(c);
                return self.then(Onward::Run);
            }
        }
        if self.has_due_interrupt(false) {
            return self.take_interrupt(false);
        }
        if let Some(f) = self.stress_switch() {
            return f;
        }
        let outside = self.outside.armed.load(Relaxed);
        if outside {
            self.heap.sweep_some(crate::tasks::outside::SWEEP);
        }
        let watches = outside || self.tasks.threads.load(Relaxed) > 0 || self.limits.armed.load(Relaxed) > 0;
        let now = if watches { now_ns() } else { 0 };
        if !watches {
            return Outcome::Go;
        }
        self.record_looks();
        let look = self.slice.look(now);
        self.take_events();
        let (sched, w) = (self.sched(), self.worker);
        let ready = sched.has_ready(w);
        let gives_way = ready && self.root.first().is_some_and(|f| f.is_speculative());
        if look == Look::Over || gives_way {
            // Whoever is ready by now, waiters included, comes first.
            let spent_waits = sched.has_ready_of(w, Rank::Spent);
            self.slice.end(now, spent_waits);
            if ready {
                return self.preempt(false);
            }
            self.slice.go_on();
        } else if look == Look::MayCut && sched.has_ready_of(w, Rank::Fresh) {
            self.slice.cut(now, self.task.id);
            return self.preempt(true);
        } else if ready {
            sched.call();
        }
        Outcome::Go
    }
    /// `KUMI_SCHED_STRESS`: gives way at random safepoints.
    fn stress_switch(&mut self) -> Option<Outcome> {
        if self.stress == 0 {
            return None;
        }
        self.heap.poll.store(true, Relaxed);
        self.stress = self.stress.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        if !(self.stress >> 33).is_multiple_of(4) {
            return None;
        }
        self.take_events();
        self.sched().has_ready(self.worker).then(|| self.preempt(false))
    }
}
