//! What is counted: cells, bytes and collections, by worker and for the whole node.
//!
//! Invariant: a [`Counters`] is written by its worker alone, with plain relaxed stores on cache lines of its
//! own; [`Stats`] is written by whoever collects, at or after a stop. Everybody may read both at any time;
//! numbers of one reading need not be of one moment. All of them only grow, but for the site counts.

use crate::shared::lock;
use crate::watch::gclog::{Cause, Collected, Collection, Cycled, Log};
use crate::watch::histogram::Histogram;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::*};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Collections that the profiler keeps at most; the oldest go first.
const PROFILED: usize = 100_000;

/// One worker's counters. See the module.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Counters {
    /// Its number in order of registration: that of its worker.
    pub worker: u32,
    /// Cells handed out, counted by the list or run of free cells that is taken.
    pub allocated_cells: AtomicU64,
    /// Bytes taken from the budget between node collections, buffers included: cells born outside nurseries and
    /// those that left theirs. What nursery collections free is not among them.
    pub allocated_bytes: AtomicU64,
    /// Bytes of cells born in this worker's nurseries.
    pub private_bytes: AtomicU64,
    /// Bytes of cells born outside nurseries: shared births, and sites sent there.
    pub shared_bytes: AtomicU64,
    /// Bytes of cells born in a nursery and published by a barrier, or by `publish`.
    pub published_bytes: AtomicU64,
    /// As `published_bytes`, in cells.
    pub published_cells: AtomicU64,
    /// Bytes of cells still private when their nursery retired in place.
    pub retired_bytes: AtomicU64,
    /// As `retired_bytes`, in cells.
    pub retired_cells: AtomicU64,
    /// Nurseries retired.
    pub retirements: AtomicU64,
    /// Nursery collections (their number and time are the histogram's), and what they freed.
    pub nursery_freed_cells: AtomicU64,
    pub nursery_freed_bytes: AtomicU64,
    /// How long each nursery collection took.
    pub nursery_pauses: Histogram,
}

/// What a nursery collection did.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct NurseryDone {
    pub cause: Cause,
    pub ns: u64,
    /// Bytes of private cells and their buffers before.
    pub before_bytes: u64,
    pub freed_cells: u64,
    pub freed_bytes: u64,
    /// The nursery retired in place afterwards, with that many private cells and bytes.
    pub retired: bool,
    pub retired_cells: u64,
    pub retired_bytes: u64,
}

impl Counters {
    /// Adds to one of this worker's own counters.
    #[inline(always)]
    pub(crate) fn add(at: &AtomicU64, n: u64) {
        at.store(at.load(Relaxed).wrapping_add(n), Relaxed);
    }
    /// A nursery collection of this worker is over.
    pub(crate) fn nursery(&self, stats: &Stats, w: NurseryDone) {
        self.nursery_pauses.add_own(w.ns);
        Counters::add(&self.nursery_freed_cells, w.freed_cells);
        Counters::add(&self.nursery_freed_bytes, w.freed_bytes);
        if w.retired {
            self.retire(w.retired_cells, w.retired_bytes);
        }
        if stats.log.nurseries() {
            stats.log.queue(&Collection {
                what: if w.retired { Collected::Retired } else { Collected::Nursery },
                cause: w.cause,
                worker: self.worker,
                start_ns: stats.now_ns().saturating_sub(w.ns),
                before_bytes: w.before_bytes,
                after_bytes: w.before_bytes.saturating_sub(w.freed_bytes),
                freed_cells: w.freed_cells,
                pause_ns: w.ns,
                mark_ns: 0,
                to_safepoint_ns: 0,
                ..Collection::default()
            });
            stats.log.write();
        }
    }
    /// A nursery of this worker retires in place with so much in it that nobody published.
    pub(crate) fn retire(&self, cells: u64, bytes: u64) {
        Counters::add(&self.retirements, 1);
        Counters::add(&self.retired_cells, cells);
        Counters::add(&self.retired_bytes, bytes);
    }
    fn snapshot(&self) -> WorkerStat {
        WorkerStat {
            worker: self.worker,
            allocated_cells: self.allocated_cells.load(Relaxed),
            allocated_bytes: self.allocated_bytes.load(Relaxed) + self.nursery_freed_bytes.load(Relaxed),
            private_bytes: self.private_bytes.load(Relaxed),
            shared_bytes: self.shared_bytes.load(Relaxed),
            published_bytes: self.published_bytes.load(Relaxed),
            published_cells: self.published_cells.load(Relaxed),
            retired_bytes: self.retired_bytes.load(Relaxed),
            retired_cells: self.retired_cells.load(Relaxed),
            retirements: self.retirements.load(Relaxed),
            nursery_count: self.nursery_pauses.count(),
            nursery_ns: self.nursery_pauses.total_ns(),
            nursery_freed_cells: self.nursery_freed_cells.load(Relaxed),
            nursery_freed_bytes: self.nursery_freed_bytes.load(Relaxed),
        }
    }
}

/// Allocation by one worker, or by all: fields as in `Counters`, but for `allocated_bytes`, which has in it what
/// nursery collections freed.
#[derive(Clone, Copy, Default, Debug)]
pub struct WorkerStat {
    /// Number of the worker; 0 in a sum.
    pub worker: u32,
    /// Cells handed out.
    pub allocated_cells: u64,
    /// Bytes allocated, what nursery collections freed included.
    pub allocated_bytes: u64,
    /// Bytes of cells born in nurseries.
    pub private_bytes: u64,
    /// Bytes of cells born outside nurseries.
    pub shared_bytes: u64,
    /// Bytes of cells born in a nursery and published.
    pub published_bytes: u64,
    /// As `published_bytes`, in cells.
    pub published_cells: u64,
    /// Bytes of cells still private when their nursery retired.
    pub retired_bytes: u64,
    /// As `retired_bytes`, in cells.
    pub retired_cells: u64,
    /// Nurseries retired.
    pub retirements: u64,
    /// Nursery collections.
    pub nursery_count: u64,
    /// Nanoseconds they took.
    pub nursery_ns: u64,
    /// Cells they freed.
    pub nursery_freed_cells: u64,
    /// Bytes they freed.
    pub nursery_freed_bytes: u64,
}

impl WorkerStat {
    fn add(&mut self, o: &WorkerStat) {
        self.allocated_cells += o.allocated_cells;
        self.allocated_bytes += o.allocated_bytes;
        self.private_bytes += o.private_bytes;
        self.shared_bytes += o.shared_bytes;
        self.published_bytes += o.published_bytes;
        self.published_cells += o.published_cells;
        self.retired_bytes += o.retired_bytes;
        self.retired_cells += o.retired_cells;
        self.retirements += o.retirements;
        self.nursery_count += o.nursery_count;
        self.nursery_ns += o.nursery_ns;
        self.nursery_freed_cells += o.nursery_freed_cells;
        self.nursery_freed_bytes += o.nursery_freed_bytes;
    }
    /// Bytes that were allocated in a nursery for nothing: published or retired later.
    pub fn misspeculated_bytes(&self) -> u64 {
        self.published_bytes + self.retired_bytes
    }
}

/// A runtime's counters, summed over its workers. Times are in nanoseconds.
#[derive(Clone, Copy, Default, Debug)]
pub struct GcStat {
    /// Node collections, young and full, and their time from request to resume.
    pub count: u64,
    /// See `count`.
    pub time_ns: u64,
    /// Of that, marking.
    pub mark_ns: u64,
    /// Young collections.
    pub young_count: u64,
    /// Their time.
    pub young_ns: u64,
    /// Full collections.
    pub full_count: u64,
    /// Their time.
    pub full_ns: u64,
    /// Those of them that went in slices.
    pub cycle_count: u64,
    /// Their slices, of those too that were given up.
    pub slice_count: u64,
    /// Live after the last node collection.
    pub live_cells: usize,
    /// See `live_cells`.
    pub live_bytes: usize,
    /// Live after the last full one.
    pub old_cells: usize,
    /// Memory of blocks, and of those that were given back.
    pub heap_bytes: usize,
    /// See `heap_bytes`.
    pub released_bytes: u64,
    /// Bytes allocated since the last node collection that no nursery collection freed.
    pub since_bytes: u64,
    /// Cells that collections of either sort have freed.
    pub freed_cells: u64,
    /// Cells handed out since the runtime began.
    pub allocated_cells: u64,
    /// Bytes allocated since the runtime began, what nursery collections freed included.
    pub allocated_bytes: u64,
    /// Sites that allocate in nurseries after their history was decided, and those that were sent to the shared heap.
    pub sites_nursery: u64,
    /// See `sites_nursery`.
    pub sites_shared: u64,
    /// The workers' counters, summed.
    pub all: WorkerStat,
}

/// Node collections of one sort.
#[derive(Default)]
pub struct Pauses {
    /// From request to resume.
    pub pauses: Histogram,
    pub(crate) mark_ns: AtomicU64,
}

/// The node's counters and the record of its collections.
pub struct Stats {
    start: Instant,
    /// Young collections.
    pub young: Pauses,
    /// Full collections.
    pub full: Pauses,
    /// Stops of full collections that go in slices, from request to resume.
    pub slices: Histogram,
    /// Of the one that goes on, and of the last ones of all.
    cycle: Mutex<Cycled>,
    last_slices_ns: AtomicU64,
    cycles: AtomicU64,
    /// From the request of a node collection until the last worker was stopped.
    pub to_safepoint: Histogram,
    /// Cells freed, as known at the last stop; and what nursery collections had freed by then.
    freed_cells: AtomicU64,
    nursery_freed_then: AtomicU64,
    /// Live bytes at the last stop, and bytes allocated (and not freed by nurseries) by then.
    live_then: AtomicU64,
    allocated_then: AtomicU64,
    pub(crate) old_cells: AtomicU64,
    /// Memory of blocks given back.
    pub(crate) released_bytes: AtomicU64,
    /// What of it was told to [`take_released`](Self::take_released).
    released_then: AtomicU64,
    /// Time of collections while it was measured (`GC.measure_total_time`).
    measured_ns: AtomicU64,
    unmeasured: AtomicBool,
    cause: AtomicU8,
    /// Node collections that are over.
    number: AtomicU64,
    /// The node collection that is under way, or was last.
    last: Mutex<Collection>,
    profiling: AtomicBool,
    profiled: Mutex<VecDeque<Collection>>,
    /// The collector's log.
    pub log: Log,
    workers: Mutex<Vec<Arc<Counters>>>,
}

impl Default for Stats {
    fn default() -> Self {
        Stats {
            start: Instant::now(),
            young: Pauses::default(),
            full: Pauses::default(),
            slices: Histogram::default(),
            cycle: Mutex::default(),
            last_slices_ns: AtomicU64::new(0),
            cycles: AtomicU64::new(0),
            to_safepoint: Histogram::default(),
            freed_cells: AtomicU64::new(0),
            nursery_freed_then: AtomicU64::new(0),
            live_then: AtomicU64::new(0),
            allocated_then: AtomicU64::new(0),
            old_cells: AtomicU64::new(0),
            released_bytes: AtomicU64::new(0),
            released_then: AtomicU64::new(0),
            measured_ns: AtomicU64::new(0),
            unmeasured: AtomicBool::new(false),
            cause: AtomicU8::new(Cause::Budget as u8),
            number: AtomicU64::new(0),
            last: Mutex::default(),
            profiling: AtomicBool::new(false),
            profiled: Mutex::default(),
            log: Log::default(),
            workers: Mutex::default(),
        }
    }
}

impl Stats {
    /// Nanoseconds since the runtime began.
    pub fn now_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
    pub(crate) fn register(&self) -> Arc<Counters> {
        let mut all = lock(&self.workers);
        let c = Arc::new(Counters { worker: all.len() as u32, ..Counters::default() });
        all.push(c.clone());
        c
    }
    /// Why the next node collection is asked for; until it ran, the strongest reason given counts.
    pub fn because(&self, c: Cause) {
        self.cause.fetch_max(c as u8, Relaxed);
    }

    /// The strongest reason that was given for the next one.
    pub fn cause(&self) -> Cause {
        Cause::from_u8(self.cause.load(Relaxed))
    }
    /// Is the next one made to find faults?
    pub fn is_stressed(&self) -> bool {
        self.cause() == Cause::Stress
    }
    /// This is no reason any more; false: it was not the strongest.
    pub(crate) fn forget_cause(&self, c: Cause) -> bool {
        self.cause.compare_exchange(c as u8, Cause::Budget as u8, AcqRel, Relaxed).is_ok()
    }

    // --- a node collection, in three steps -----------------------------------------

    /// In the pause, after marking: what was marked, how long that took, and the bytes (cells and what hangs on
    /// them) and cells that live, old ones included.
    pub(crate) fn marked(&self, what: Collected, mark_ns: u64, after_bytes: u64, live_cells: u64) {
        let mut all = WorkerStat::default();
        lock(&self.workers).iter().for_each(|c| all.add(&c.snapshot()));
        let freed = all.allocated_cells.saturating_sub(live_cells);
        let known = self.freed_cells.swap(freed, Relaxed);
        let nursery_then = self.nursery_freed_then.swap(all.nursery_freed_cells, Relaxed);
        let by_nurseries = all.nursery_freed_cells.saturating_sub(nursery_then);
        let allocated = all.allocated_bytes.saturating_sub(all.nursery_freed_bytes);
        let since = allocated.saturating_sub(self.allocated_then.swap(allocated, Relaxed));
        let before_bytes = self.live_then.swap(after_bytes, Relaxed).saturating_add(since).max(after_bytes);
        if what == Collected::Full {
            self.old_cells.store(live_cells, Relaxed);
        }
        *lock(&self.last) = Collection {
            what,
            mark_ns,
            before_bytes,
            after_bytes,
            live_cells,
            freed_cells: freed.saturating_sub(known).saturating_sub(by_nurseries),
            ..Collection::default()
        };
    }
    /// After the world goes on: when the stop was requested, when all were stopped, when they were let go, all as
    /// [`now_ns`](Self::now_ns). Counts the collection and writes its line.
    pub fn resumed(&self, worker: usize, requested: u64, stopped: u64, resumed: u64) {
        let c = {
            let mut last = lock(&self.last);
            last.cause = Cause::from_u8(self.cause.swap(Cause::Budget as u8, Relaxed));
            last.worker = worker as u32;
            last.start_ns = requested;
            last.pause_ns = resumed.saturating_sub(requested);
            last.to_safepoint_ns = stopped.saturating_sub(requested);
            last.number = self.number.fetch_add(1, Relaxed) + 1;
            last.cycle = std::mem::take(&mut *lock(&self.cycle));
            *last
        };
        if c.cycle.slices > 0 {
            self.last_slices_ns.fetch_add(c.pause_ns, Relaxed);
            self.cycles.fetch_add(1, Relaxed);
        }
        let p = if c.what == Collected::Young { &self.young } else { &self.full };
        p.pauses.add(c.pause_ns);
        p.mark_ns.fetch_add(c.mark_ns, Relaxed);
        self.to_safepoint.add(c.to_safepoint_ns);
        if self.measuring() {
            self.measured_ns.fetch_add(c.pause_ns, Relaxed);
        }
        if self.profiling.load(Relaxed) {
            let mut list = lock(&self.profiled);
            if list.len() >= PROFILED {
                list.pop_front();
            }
            list.push_back(c);
        }
        if self.log.nodes() {
            self.log.queue(&c);
            self.log.write();
        }
    }

    /// After the world goes on: a stop for a slice was over, times as for [`resumed`](Self::resumed). The last one of a
    /// full collection is counted here before it is there.
    pub fn sliced(&self, requested: u64, resumed: u64, last: bool) {
        let ns = resumed.saturating_sub(requested);
        self.slices.add(ns);
        {
            let mut c = lock(&self.cycle);
            c.slices += 1;
            c.longest_ns = c.longest_ns.max(ns);
            c.stopped_ns += ns;
        }
        if self.measuring() && !last {
            self.measured_ns.fetch_add(ns, Relaxed);
        }
    }
    /// A full collection in slices was given up.
    pub(crate) fn cycle_is_over(&self) {
        *lock(&self.cycle) = Cycled::default();
    }
    /// Is the time of collections measured for [`measured_ns`](Self::measured_ns)? All other times always are.
    pub fn measuring(&self) -> bool {
        !self.unmeasured.load(Relaxed)
    }
    /// Sets that.
    pub fn set_measuring(&self, on: bool) {
        self.unmeasured.store(!on, Relaxed);
    }
    /// Time of node collections, of those that were measured.
    pub fn measured_ns(&self) -> u64 {
        self.measured_ns.load(Relaxed)
    }

    // --- reading -------------------------------------------------------------------

    /// Node collections so far.
    pub(crate) fn number(&self) -> u64 {
        self.number.load(Relaxed)
    }
    /// Memory of blocks given back to the allocator since this was last asked: it may go on to the system.
    pub fn take_released(&self) -> u64 {
        let now = self.released_bytes.load(Relaxed);
        now.saturating_sub(self.released_then.swap(now, Relaxed))
    }
    /// The last node collection; `None` when there was none.
    pub fn last(&self) -> Option<Collection> {
        let c = *lock(&self.last);
        (c.number > 0).then_some(c)
    }
    /// Does the profiler keep what is collected? What it was before.
    pub fn set_profiling(&self, on: bool) -> bool {
        self.profiling.swap(on, Relaxed)
    }
    /// Does the profiler keep what is collected?
    pub fn profiling(&self) -> bool {
        self.profiling.load(Relaxed)
    }
    /// The node collections since the profiler was on and last cleared.
    pub fn profiled(&self) -> Vec<Collection> {
        lock(&self.profiled).iter().copied().collect()
    }
    /// Forgets the collections that the profiler kept.
    pub fn clear_profiled(&self) {
        lock(&self.profiled).clear();
    }
    /// Each worker's counters, in order of their numbers.
    pub fn workers(&self) -> Vec<WorkerStat> {
        lock(&self.workers).iter().map(|c| c.snapshot()).collect()
    }
    /// The nursery collections' times, of all workers.
    pub fn nursery_pauses(&self) -> Histogram {
        let h = Histogram::default();
        lock(&self.workers).iter().for_each(|c| h.merge(&c.nursery_pauses));
        h
    }
    /// Everything that is counted here, summed.
    pub(crate) fn sum(&self) -> GcStat {
        let mut all = WorkerStat::default();
        self.workers().iter().for_each(|w| all.add(w));
        let slices_ns = self.slices.total_ns().saturating_sub(self.last_slices_ns.load(Relaxed));
        let (young_ns, full_ns) = (self.young.pauses.total_ns(), self.full.pauses.total_ns() + slices_ns);
        let (young_count, full_count) = (self.young.pauses.count(), self.full.pauses.count());
        let by_nurseries = all.nursery_freed_cells.saturating_sub(self.nursery_freed_then.load(Relaxed));
        GcStat {
            count: young_count + full_count,
            time_ns: young_ns + full_ns,
            mark_ns: self.young.mark_ns.load(Relaxed) + self.full.mark_ns.load(Relaxed),
            young_count,
            young_ns,
            full_count,
            full_ns,
            cycle_count: self.cycles.load(Relaxed),
            slice_count: self.slices.count(),
            old_cells: self.old_cells.load(Relaxed) as usize,
            released_bytes: self.released_bytes.load(Relaxed),
            since_bytes: all.allocated_bytes.saturating_sub(all.nursery_freed_bytes).saturating_sub(self.allocated_then.load(Relaxed)),
            freed_cells: self.freed_cells.load(Relaxed) + by_nurseries,
            allocated_cells: all.allocated_cells,
            allocated_bytes: all.allocated_bytes,
            all,
            ..GcStat::default()
        }
    }
}
