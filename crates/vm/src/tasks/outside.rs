//! What hangs on cells and is nobody's memory: a connection, a file that is read ahead. It is to end soon after its last
//! cell became unreachable, though the program allocates nothing any more, or does nothing at all.
//!
//! While a registered watch says that there is something of the kind, a full collection comes at least every [`LEAST_NS`],
//! or after fifty times as long as the last one took, so that it takes two per cent of the time at most; none
//! while no Ruby code has run since the last. Then every worker sweeps what is its own at once, so that payloads are dropped. The drops
//! come one by one beside running code, never at the stop.
//!
//! A watch may want one in any case, for what others wait for: that comes after [`SOON_NS`], or ten times as long as the last one took.
//! Where others may take longer than usual ([`Options::patience`](crate::Options)), so do both.
//!
//! Invariant: while `armed`, one timer of the scheduler is set (task 0, [`TIMER`]); while `rung`, another one ([`BELL`]). While armed the
//! clock ticks, so that a busy worker sees it.

use crate::Cx;
use crate::cx::runtime::{Runtime, lock};
use kumi_heap::Cause;
use kumi_sched::now_ns;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::sync::{Arc, Mutex, Weak};

/// The shortest time between two collections for this reason.
const LEAST_NS: u64 = 500_000_000;
/// That many times as long as the last one took, at least.
const PAUSES: u64 = 50;
/// The same where one is wanted in any case.
const SOON_NS: u64 = 50_000_000;
const SOON_PAUSES: u64 = 10;
/// Where others hold objects, so often a full collection is at one stop though they go in slices.
const WHOLE_NS: u64 = 30_000_000_000;
/// The wait number of the timer.
pub(crate) const TIMER: u64 = 2;
/// The wait number of the other one, which a bell sets.
pub(crate) const BELL: u64 = 3;
/// The wait number of the timer that has an idle worker go on with a full collection in slices.
pub(crate) const SLICE: u64 = 4;
/// Blocks that a busy worker sweeps at one tick of the clock: some tenths of a millisecond.
pub(crate) const SWEEP: usize = 64;

/// What a watch wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Asks {
    /// Nothing. It is asked again when [`Cx::watch_outside`] is called, or a bell rung.
    Nothing,
    /// There is something whose end is to be noticed soon: a full collection, where code has run since the last one.
    WhereCodeRan,
    /// A full collection in any case.
    Collection,
}

/// Knows things outside the heap that payloads of cells keep alive.
pub trait OutsideWatch: Send + Sync {
    /// What is wanted now? Asked some times a second at most; must not wait.
    fn asks(&self) -> Asks;
}

/// Has watches asked at once, from any thread. Keeps no runtime.
#[derive(Clone)]
pub struct OutsideBell(Weak<Runtime>);

impl OutsideBell {
    /// An idle worker looks, or the next one that comes to a safepoint.
    pub fn ring(&self) {
        if let Some(rt) = self.0.upgrade()
            && let Some(sched) = rt.sched.get()
            && !rt.outside.rung.swap(true, AcqRel)
        {
            sched.timer(now_ns(), 0, BELL);
        }
    }
}

/// See the module.
pub(crate) struct Outside {
    watches: Mutex<Vec<Arc<dyn OutsideWatch>>>,
    pub armed: AtomicBool,
    pub rung: AtomicBool,
    /// Ruby code has run since the last full collection.
    pub ran: AtomicBool,
    /// When the last full collection ended, and how long it worked.
    last: AtomicU64,
    pause: AtomicU64,
    /// That timer is set.
    slice: AtomicBool,
    /// When the last full collection at one stop was.
    whole: AtomicU64,
    /// How many times longer than usual others may take.
    patience: u64,
}

impl Outside {
    pub fn new(patience: u32) -> Self {
        Outside {
            watches: Mutex::default(),
            armed: AtomicBool::new(false),
            rung: AtomicBool::new(false),
            ran: AtomicBool::new(true),
            last: AtomicU64::new(0),
            pause: AtomicU64::new(0),
            slice: AtomicBool::new(false),
            whole: AtomicU64::new(now_ns()),
            patience: patience.into(),
        }
    }
    fn interval(&self, asks: Asks) -> u64 {
        let (least, pauses) = if asks == Asks::Collection { (SOON_NS, SOON_PAUSES) } else { (LEAST_NS, PAUSES) };
        least.saturating_mul(self.patience).max(self.pause.load(Relaxed).saturating_mul(pauses))
    }
    /// When the next collection may come.
    fn due(&self, asks: Asks) -> u64 {
        self.last.load(Relaxed).saturating_add(self.interval(asks))
    }
    fn asks(&self) -> Asks {
        let mut all = lock(&self.watches);
        // Whose maker has dropped it has nothing more to say.
        all.retain(|w| Arc::strong_count(w) > 1);
        all.iter().map(|w| w.asks()).max().unwrap_or(Asks::Nothing)
    }
    /// A full collection at one stop is over.
    pub fn whole_is_done(&self) {
        self.whole.store(now_ns(), Relaxed);
    }
    /// Is it time for one, where objects are held by others?
    pub fn whole_is_due(&self) -> bool {
        now_ns().saturating_sub(self.whole.load(Relaxed)) >= WHOLE_NS
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
    /// Rings for the watches of this runtime.
    pub fn outside_bell(&mut self) -> OutsideBell {
        self.sched();
        OutsideBell(Arc::downgrade(&self.runtime()))
    }
    /// Sets the timer, if there is something to watch.
    pub(crate) fn arm_outside(&mut self) {
        let idle = !self.outside.armed.load(Relaxed);
        if idle && self.outside.asks() > Asks::Nothing && !self.outside.armed.swap(true, AcqRel) {
            let at = now_ns() + self.outside.interval(Asks::WhereCodeRan);
            self.sched().timer(at, 0, TIMER);
            self.start_ticker();
            self.sched().ticker_on(true);
        }
    }
    /// This worker is about to sleep while a full collection in slices is under way: it is woken for the next one.
    pub(crate) fn wake_for_slice(&mut self) {
        if self.heap.shared().cycle_is_open() && !self.outside.slice.swap(true, AcqRel) {
            self.sched().timer(now_ns() + kumi_heap::SLICE_EVERY_NS, 0, SLICE);
        }
    }
    /// It is.
    pub(crate) fn hear_slice(&mut self) -> bool {
        self.outside.slice.store(false, Release);
        true
    }
    /// The timer's time has come.
    pub(crate) fn look_outside(&mut self) -> bool {
        let asks = self.outside.asks();
        if asks == Asks::Nothing {
            self.outside.armed.store(false, Release);
            // Something may have come just now, whose maker saw the timer still set.
            self.arm_outside();
            return true;
        }
        let (now, due) = (now_ns(), self.outside.due(asks));
        let wanted = asks == Asks::Collection || self.outside.ran.load(Relaxed);
        if wanted && due <= now {
            self.collect_for_outside();
        }
        let next = if wanted && due > now { due } else { now + self.outside.interval(Asks::WhereCodeRan) };
        self.sched().timer(next, 0, TIMER);
        true
    }
    /// A bell was rung.
    pub(crate) fn hear_bell(&mut self) -> bool {
        self.outside.rung.store(false, Release);
        self.heap.shared().stats.log.write();
        self.arm_outside();
        if self.outside.asks() == Asks::Collection {
            let due = self.outside.due(Asks::Collection);
            if due <= now_ns() {
                self.collect_for_outside();
            } else if !self.outside.rung.swap(true, AcqRel) {
                self.sched().timer(due, 0, BELL);
            }
        }
        true
    }
    fn collect_for_outside(&mut self) {
        self.heap.shared().stats.because(Cause::Outside);
        // What is wanted in any case is to be told by it what only others hold.
        if self.outside.asks() == Asks::Collection {
            self.heap.request_full();
        } else {
            self.heap.shared().request_cycle();
            self.heap.poll.store(true, Relaxed);
        }
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
