//! What hangs on cells and is nobody's memory: a connection, a file that is read ahead. It is to end soon after its last
//! cell became unreachable, though the program allocates nothing any more, or does nothing at all.
//!
//! While a registered watch says that there is something of the kind, a full collection comes at least every [`LEAST_NS`],
//! or after fifty times as long as the last one stopped the world, so that it takes two per cent of the time at most; none
//! while no Ruby code has run since the last. Then every worker sweeps what is its own at once, so that payloads are dropped.
//! The drops come one by one beside running code, never at the stop.
//!
//! Invariant: while `armed`, one timer of the scheduler is set (task 0, [`TIMER`]); the clock ticks, so that a busy
//! worker sees it.

use crate::Cx;
use crate::cx::runtime::{Runtime, lock};
use kumi_heap::Cause;
use kumi_sched::now_ns;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::sync::{Arc, Mutex};

/// The shortest time between two collections for this reason.
const LEAST_NS: u64 = 500_000_000;
/// That many times as long as the last one took, at least.
const PAUSES: u64 = 50;
/// The wait number of the timer.
pub(crate) const TIMER: u64 = 2;
/// Blocks that a busy worker sweeps at one tick of the clock: some tenths of a millisecond.
pub(crate) const SWEEP: usize = 64;

/// Knows things outside the heap that payloads of cells keep alive.
pub trait OutsideWatch: Send + Sync {
    /// Is there anything now whose end is to be noticed soon? Asked twice a second or less; must not wait.
    fn needed(&self) -> bool;
}

/// See the module.
pub(crate) struct Outside {
    watches: Mutex<Vec<Arc<dyn OutsideWatch>>>,
    pub armed: AtomicBool,
    /// Ruby code has run since the last full collection.
    pub ran: AtomicBool,
    /// When the last full collection ended, and how long the world stood.
    last: AtomicU64,
    pause: AtomicU64,
}

impl Default for Outside {
    fn default() -> Self {
        Outside {
            watches: Mutex::default(),
            armed: AtomicBool::new(false),
            ran: AtomicBool::new(true),
            last: AtomicU64::new(0),
            pause: AtomicU64::new(0),
        }
    }
}

impl Outside {
    fn interval(&self) -> u64 {
        LEAST_NS.max(self.pause.load(Relaxed).saturating_mul(PAUSES))
    }
    fn needed(&self) -> bool {
        let mut all = lock(&self.watches);
        // Whose maker has dropped it has nothing more to say.
        all.retain(|w| Arc::strong_count(w) > 1);
        all.iter().any(|w| w.needed())
    }
    /// A full collection is over.
    pub fn collected(&self, pause: u64) {
        self.pause.store(pause, Relaxed);
        self.last.store(now_ns(), Relaxed);
    }
}

impl Runtime {
    /// At a full collection's stop, by a worker that runs a task or not: will any code go on that ran before?
    pub(crate) fn note_runners(&self, running: bool) {
        self.outside.ran.store(running || self.stop.others_run(), Relaxed);
    }
}

impl Cx {
    /// Registers a watch and has it asked from now on; called again with the same one, when there is something new to
    /// watch, it only does the latter. The runtime forgets a watch that nobody else holds.
    pub fn watch_outside(&mut self, watch: &Arc<dyn OutsideWatch>) {
        {
            let mut all = lock(&self.outside.watches);
            if !all.iter().any(|w| std::ptr::addr_eq(Arc::as_ptr(w), Arc::as_ptr(watch))) {
                all.push(watch.clone());
            }
        }
        self.arm_outside();
    }
    /// Sets the timer, if there is something to watch.
    pub(crate) fn arm_outside(&mut self) {
        if !self.outside.armed.load(Relaxed) && self.outside.needed() && !self.outside.armed.swap(true, AcqRel) {
            let at = now_ns() + self.outside.interval();
            self.sched().timer(at, 0, TIMER);
            self.start_ticker();
            self.sched().ticker_on(true);
        }
    }
    /// The timer's time has come.
    pub(crate) fn look_outside(&mut self) -> bool {
        if !self.outside.needed() {
            self.outside.armed.store(false, Release);
            // Something may have come just now, whose maker saw the timer still set.
            self.arm_outside();
            return true;
        }
        let (now, interval) = (now_ns(), self.outside.interval());
        let due = self.outside.last.load(Relaxed).saturating_add(interval);
        let ran = self.outside.ran.load(Relaxed);
        if ran && due <= now {
            self.heap.shared().stats.because(Cause::Outside);
            self.heap.request_full();
        }
        let next = if ran && due > now { due } else { now + interval };
        self.sched().timer(next, 0, TIMER);
        true
    }
    /// After a collection: every worker is to sweep, a busy one at its safepoints.
    pub(crate) fn sweep_everywhere(&mut self) {
        let rt = self.runtime();
        for (w, r) in rt.workers.iter().enumerate() {
            rt.poll_worker(w);
            if !std::ptr::eq(r.cx, self) {
                self.sched().wake_worker(w);
            }
        }
    }
}
