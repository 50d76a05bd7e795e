//! What the heaps of one runtime's workers have in common: limits and wishes, the
//! tables beside the cells (ids, instance variables of odd kinds, finalizers), the
//! blocks of workers that are gone.
//!
//! Invariant: each lock here is innermost: it is held for one look or change, and
//! nothing else is locked, called or allocated in a heap meanwhile. Values in
//! these tables are roots only where the collector says so (`Heap::collect_all`).

use crate::cells::trace::drop_cell;
use crate::lockfree::deferred::Deferred;
use crate::lockfree::gate::Gates;
use crate::lockfree::readers::Readers;
use crate::space::Lists;
use crate::space::block::Block;
use crate::space::young::Young;
use crate::watch::stat::{Counters, GcStat, Stats};
use crate::{ClassObj, Gc, Sym, Value};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

/// Ids both ways.
#[derive(Default)]
struct Ids {
    ids: FxHashMap<u64, u64>,
    by_id: FxHashMap<u64, Value>,
    /// Cells that got one since the last node collection: the others are old while they are here.
    fresh: Vec<u64>,
}

/// Instance variables of cells that are neither Object nor Class.
#[derive(Default)]
pub(crate) struct SideIvars {
    map: FxHashMap<u64, Vec<(Sym, Value)>>,
    /// As in [`Ids`].
    fresh: Vec<u64>,
}

impl SideIvars {
    pub fn get(&self, cell: &u64) -> Option<&Vec<(Sym, Value)>> {
        self.map.get(cell)
    }
    pub fn entry(&mut self, cell: u64) -> &mut Vec<(Sym, Value)> {
        self.map.entry(cell).or_insert_with(|| {
            self.fresh.push(cell);
            Vec::new()
        })
    }
    /// The variables of `from` are those of `to`.
    fn move_all(&mut self, from: u64, to: u64) {
        if let Some(all) = self.map.remove(&from) {
            self.fresh.push(to);
            self.map.insert(to, all);
        }
    }
    /// Drops what belonged to cells that a node collection found dead.
    pub fn forget(&mut self, full: bool, alive: impl Fn(Value) -> bool) {
        if full {
            self.map.retain(|b, _| alive(Value::from_bits(*b)));
        } else {
            for b in self.fresh.iter().filter(|b| !alive(Value::from_bits(**b))) {
                self.map.remove(b);
            }
        }
        self.fresh.clear();
    }
}

/// Memory of a worker that is gone.
pub(crate) struct Orphan {
    pub lists: Lists,
    /// What its nursery was.
    pub nursery: Vec<*mut Block>,
    pub remembered: Vec<Value>,
    /// Goes to who takes the cells over.
    pub retired: Box<Deferred>,
}

impl Orphan {
    /// All its blocks, large ones included.
    pub fn blocks(&self) -> impl Iterator<Item = *mut Block> + '_ {
        self.lists.each().chain(self.lists.each_large()).chain(self.nursery.iter().copied())
    }
}

/// Every class there is.
#[derive(Default)]
pub(crate) struct Classes {
    pub all: Vec<Gc<ClassObj>>,
    /// How many of them the last collection has left: they stand first.
    pub old: usize,
}

/// The common part.
pub struct HeapShared {
    /// How much may be allocated outside nurseries between two node collections.
    pub(crate) young: Young,
    /// Sites of allocation.
    pub(crate) book: crate::alloc_site::AllocSiteBook,
    /// A collection is wished for.
    pub(crate) wants: AtomicBool,
    /// Somebody waits for workers to come to a safepoint: what can be put off is.
    pub(crate) hurry: AtomicBool,
    /// It is to be a full one, whatever the policy says.
    pub(crate) wants_full: AtomicBool,
    /// Only who asks gets a full one, and who comes to the limit (`GC.config(rgengc_allow_full_mark: false)`).
    pub(crate) young_only: AtomicBool,
    /// ... though it was time for one.
    pub(crate) full_due: AtomicBool,
    pub(crate) disabled: AtomicBool,
    /// Bytes until the next wish; workers take it in pieces.
    pub(crate) budget: AtomicIsize,
    /// How much that was when it was granted, or added to.
    pub(crate) granted: AtomicIsize,
    /// There are no young collections.
    pub(crate) full_only: AtomicBool,
    pub(crate) max: AtomicUsize,
    /// Bytes beyond the limit that are let pass after a NoMemoryError, so that its rescue has
    /// room to work in; none once the heap is below its limit again, never more than the limit.
    grace: AtomicUsize,
    pub(crate) live_cells: AtomicUsize,
    /// Cells that the last young collection marked.
    pub(crate) marked_young: AtomicUsize,
    pub(crate) live_bytes: AtomicUsize,
    pub(crate) heap_bytes: AtomicUsize,
    next_id: AtomicU64,
    ids: Mutex<Ids>,
    pub(crate) ivars: RwLock<SideIvars>,
    pub(crate) weak: Mutex<Vec<Value>>,
    pub(crate) finalizers: Mutex<FxHashMap<u64, Vec<Value>>>,
    /// Finalizers whose object died: (procs, object id), for the loop to run.
    pub(crate) pending: Mutex<Vec<(Vec<Value>, u64)>>,
    pub(crate) has_pending: AtomicBool,
    /// What is counted, and the collections' log.
    pub stats: Stats,
    /// Samples of an allocation profile whose cells left their nurseries, by address.
    pub(crate) births: Mutex<FxHashMap<u64, crate::alloc_site::sample::Birth>>,
    pub(crate) orphans: Mutex<Vec<Orphan>>,
    /// Stores that are begun without a lock.
    pub(crate) gates: Arc<Gates>,
    /// Threads for marking.
    pub(crate) helpers: crate::mark::Helpers,
    /// Empty blocks.
    pub(crate) spare: Mutex<Vec<*mut Block>>,
    pub(crate) classes: Mutex<Classes>,
    /// Live bytes after the last full collection, and bytes that young ones let live since.
    pub(crate) old_bytes: AtomicUsize,
    pub(crate) promoted: AtomicUsize,
    /// Full collections that go in slices.
    pub(crate) cycles: crate::cycle::Cycles,
    /// Who reads cells beside the stops.
    readers: Readers,
}

// SAFETY: the values and blocks in it are touched under its locks, or while the world is stopped.
unsafe impl Send for HeapShared {}
// SAFETY: as above.
unsafe impl Sync for HeapShared {}

/// Takes an innermost lock. A panic elsewhere leaves these tables whole, so poison means nothing.
pub(crate) fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HeapShared {
    pub(crate) fn new(young: Young) -> HeapShared {
        let first = young.bytes();
        HeapShared {
            young,
            book: Default::default(),
            wants: AtomicBool::new(false),
            wants_full: AtomicBool::new(false),
            young_only: AtomicBool::new(false),
            full_due: AtomicBool::new(false),
            disabled: AtomicBool::new(false),
            budget: AtomicIsize::new(first as isize),
            granted: AtomicIsize::new(first as isize),
            full_only: AtomicBool::new(false),
            max: AtomicUsize::new(usize::MAX / 4),
            grace: AtomicUsize::new(0),
            live_cells: AtomicUsize::new(0),
            marked_young: AtomicUsize::new(0),
            live_bytes: AtomicUsize::new(0),
            heap_bytes: AtomicUsize::new(0),
            next_id: AtomicU64::new(8),
            ids: Mutex::default(),
            ivars: RwLock::default(),
            weak: Mutex::default(),
            finalizers: Mutex::default(),
            pending: Mutex::default(),
            has_pending: AtomicBool::new(false),
            hurry: AtomicBool::new(false),
            stats: Stats::default(),
            births: Mutex::default(),
            orphans: Mutex::default(),
            gates: Default::default(),
            helpers: Default::default(),
            spare: Mutex::default(),
            classes: Mutex::default(),
            old_bytes: AtomicUsize::new(0),
            promoted: AtomicUsize::new(0),
            cycles: Default::default(),
            readers: Readers::default(),
        }
    }
    pub(crate) fn register(&self) -> Arc<Counters> {
        self.stats.register()
    }
    /// Somebody begins to read cells whatever stops come, up to [`reader_ends`](Self::reader_ends), to which the number goes
    /// back: buffers that are replaced meanwhile are not freed. Not during a stop.
    pub fn reader_begins(&self) -> u64 {
        self.readers.begins()
    }
    /// See [`reader_begins`](Self::reader_begins). Not during a stop.
    pub fn reader_ends(&self, seen: u64) {
        self.readers.ends(seen);
    }
    /// A grace period of the active workers begins (`stop.rs` of the crate `sched`): its number.
    pub fn grace_begins(&self) -> u64 {
        self.readers.grace()
    }
    /// The last stop or grace period that all readers beside the stops have seen, if there are any.
    pub(crate) fn oldest_reader(&self) -> Option<u64> {
        self.readers.oldest()
    }
    /// A stop that frees replaced buffers: its number, and the last one that all readers have seen, if there are any.
    pub(crate) fn stop_for_readers(&self) -> (u64, Option<u64>) {
        self.readers.stop()
    }
    /// The counters, summed over all workers that ever were.
    pub fn stat(&self) -> GcStat {
        let (nursery, out) = self.book.counts();
        GcStat {
            sites_nursery: nursery as u64,
            sites_shared: out as u64,
            live_cells: self.live_cells.load(Relaxed),
            live_bytes: self.live_bytes.load(Relaxed),
            heap_bytes: self.heap_bytes.load(Relaxed),
            ..self.stats.sum()
        }
    }
    /// Threads that mark, the collecting one among them (`KUMI_GC_THREADS`, else the number of cores).
    pub fn gc_threads(&self) -> usize {
        self.helpers.threads()
    }
    /// Before there is a second worker: what helping needs is made now, since a stop may be a fork's, at which nobody allocates.
    pub fn prepare_help(&self) {
        self.helpers.prepare();
    }
    /// The calling thread is stopped, and helps the collection with its marking as long as `stays` says. It comes
    /// back sooner where there are enough of its kind or nothing to do for some 100 microseconds.
    pub fn help(&self, stays: impl Fn() -> bool) {
        self.helpers.lend(stays);
    }
    /// The stop that begins goes on beside the work of so many threads.
    pub fn set_taken_cores(&self, n: usize) {
        self.helpers.set_taken(n);
    }
    /// Sets that number; 0 counts as 1.
    pub fn set_gc_threads(&self, n: usize) {
        self.helpers.set_threads(n);
    }
    /// A thread that works for a moment at a time (a node's connections) may wait for the core of one that collects, which gives it away
    /// every tenth of a millisecond or so; or does so no more. Waking alone does not always get it one.
    pub fn set_gives_way(&self, on: bool) {
        self.helpers.set_gives_way(on);
    }
    /// The sites of allocation.
    pub fn book(&self) -> &crate::alloc_site::AllocSiteBook {
        &self.book
    }
    /// Somebody waits for workers to come to a safepoint, or does no longer.
    pub fn set_hurry(&self, on: bool) {
        self.hurry.store(on, Relaxed);
    }
    /// Asks for a collection, young or full as policy says; who polls must be told by other means.
    pub fn request_gc(&self) {
        self.wants.store(true, Release);
    }
    /// Asks for a full one.
    pub fn request_full(&self) {
        self.wants_full.store(true, SeqCst);
        self.request_gc();
    }
    /// Are full collections left to the program, but for the heap's limit?
    pub fn young_only(&self) -> bool {
        self.young_only.load(Relaxed)
    }
    /// Sets that.
    pub fn set_young_only(&self, on: bool) {
        self.young_only.store(on, Relaxed);
    }
    /// Would the last collection have been a full one, had it been allowed?
    pub fn full_due(&self) -> bool {
        self.full_due.load(Relaxed)
    }
    /// Bytes that may be allocated until a collection is asked for.
    pub fn left(&self) -> u64 {
        self.budget.load(Relaxed).max(0) as u64
    }
    /// Is a collection wished for and allowed?
    #[inline(always)]
    pub(crate) fn wants_gc(&self) -> bool {
        self.wants.load(Relaxed) && !self.disabled.load(Relaxed)
    }
    /// Are collections off (`GC.disable`)?
    pub fn disabled(&self) -> bool {
        self.disabled.load(Relaxed)
    }
    /// Turns collections off or on; what was before.
    pub fn set_disabled(&self, off: bool) -> bool {
        self.disabled.swap(off, Relaxed)
    }
    /// Limit in bytes: `KUMI_HEAP_MAX`, else what the machine, the control group and `ulimit -v` leave.
    pub fn max(&self) -> usize {
        self.max.load(Relaxed)
    }
    /// Sets that limit.
    pub fn set_max(&self, bytes: usize) {
        self.max.store(bytes, Relaxed);
    }
    /// What the limit is for: bytes that lived at the last collection, and stacks of now.
    pub(crate) fn held_bytes(&self) -> usize {
        self.live_bytes.load(Relaxed).saturating_add(kumi_budget::in_all_stacks())
    }
    /// May `bytes` more be allocated at once? Natives ask before large requests; small ones are never refused.
    #[inline]
    pub(crate) fn can_allocate(&self, bytes: usize) -> bool {
        bytes < kumi_budget::LARGE || self.has_room(bytes)
    }
    #[cold]
    fn has_room(&self, bytes: usize) -> bool {
        bytes < isize::MAX as usize / 4 && self.held_bytes().saturating_add(bytes) < self.max() && kumi_budget::fits(bytes)
    }
    /// Is the limit reached, and the eighth of it that is left for a rescue? By the last collection's view.
    pub fn is_full(&self) -> bool {
        let max = self.max();
        self.held_bytes() > max.saturating_add(max / 8)
    }
    /// Live bytes at the last collection are beyond the limit.
    ///
    /// Asked when NoMemoryError would follow: a yes leaves an eighth of the limit for the rescue.
    pub(crate) fn over_limit(&self) -> bool {
        let (live, max) = (self.held_bytes(), self.max());
        if live <= max {
            self.grace.store(0, Relaxed);
            return false;
        }
        if live <= max.saturating_add(self.grace.load(Relaxed)) {
            return false;
        }
        self.grace.store((live - max).saturating_add(max / 8).min(max), Relaxed);
        true
    }

    /// The side-table variables of `from` become those of `to`.
    pub(crate) fn move_side_ivars(&self, from: Value, to: Value) {
        self.ivars.write().unwrap_or_else(PoisonError::into_inner).move_all(from.bits(), to.bits());
    }
    /// Shows the side-table variables of `v`.
    pub(crate) fn side_ivars_of(&self, v: Value, to: &mut dyn crate::Visitor) {
        let t = self.ivars.read().unwrap_or_else(PoisonError::into_inner);
        for (s, x) in t.get(&v.bits()).into_iter().flatten() {
            to.sym(*s);
            to.visit(*x);
        }
    }

    // --- ids ---------------------------------------------------------------------

    /// The number of a heap cell, and whether it is new.
    pub(crate) fn id_of(&self, v: Value) -> (u64, bool) {
        let mut t = lock(&self.ids);
        if let Some(&id) = t.ids.get(&v.bits()) {
            return (id, false);
        }
        let id = self.next_id.fetch_add(8, Relaxed);
        t.ids.insert(v.bits(), id);
        t.by_id.insert(id, v);
        t.fresh.push(v.bits());
        (id, true)
    }
    /// The live cell with that object id.
    pub(crate) fn by_object_id(&self, id: u64) -> Option<Value> {
        lock(&self.ids).by_id.get(&id).copied()
    }
    /// Was that id ever given out?
    pub(crate) fn id_was_used(&self, id: u64) -> bool {
        id >= 8 && id < self.next_id.load(Relaxed) && id.is_multiple_of(8)
    }
    pub(crate) fn forget_ids(&self, full: bool, alive: impl Fn(Value) -> bool) {
        let mut t = lock(&self.ids);
        let t = &mut *t;
        if full {
            t.ids.retain(|b, _| alive(Value::from_bits(*b)));
            t.by_id.retain(|_, v| alive(*v));
        } else {
            for b in t.fresh.iter().filter(|b| !alive(Value::from_bits(**b))) {
                if let Some(id) = t.ids.remove(b) {
                    t.by_id.remove(&id);
                }
            }
        }
        t.fresh.clear();
    }

    // --- finalizers -----------------------------------------------------------------

    /// Finalizers of a cell.
    pub(crate) fn finalizers_of(&self, v: Value) -> Vec<Value> {
        lock(&self.finalizers).get(&v.bits()).cloned().unwrap_or_default()
    }
    /// Forgets a cell's finalizers.
    pub(crate) fn remove_finalizers(&self, v: Value) {
        lock(&self.finalizers).remove(&v.bits());
    }
    /// All finalizers that have not run, for process exit.
    pub(crate) fn take_finalizers(&self) -> Vec<(Vec<Value>, u64)> {
        let all: Vec<_> = lock(&self.finalizers).drain().collect();
        all.into_iter().map(|(b, p)| (p, self.id_of(Value::from_bits(b)).0)).collect()
    }
    /// Do finalizers of dead objects wait to be run?
    #[inline]
    pub fn has_pending_finalizers(&self) -> bool {
        self.has_pending.load(Relaxed)
    }
    /// Takes the finalizers of dead objects: (procs, object id). The caller keeps them as roots.
    pub fn take_pending_finalizers(&self) -> Vec<(Vec<Value>, u64)> {
        let mut p = lock(&self.pending);
        self.has_pending.store(false, Relaxed);
        std::mem::take(&mut *p)
    }
    /// Some of them were not run after all.
    pub fn put_back_finalizers(&self, rest: Vec<(Vec<Value>, u64)>) {
        let mut p = lock(&self.pending);
        p.extend(rest);
        self.has_pending.store(!p.is_empty(), Relaxed);
    }
}

impl Drop for HeapShared {
    fn drop(&mut self) {
        for o in std::mem::take(&mut *lock(&self.orphans)) {
            for b in o.blocks() {
                // SAFETY: the last heap is gone and with it every value.
                unsafe { (*b).each(|h, _| drop_cell(h)) };
            }
            for b in o.blocks() {
                // SAFETY: as above.
                unsafe { Block::free(b) };
            }
        }
        for b in std::mem::take(&mut *lock(&self.spare)) {
            // SAFETY: empty.
            unsafe { Block::free(b) };
        }
    }
}
