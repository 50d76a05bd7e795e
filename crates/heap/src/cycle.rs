//! The interruptible full collection: a *cycle* that marks in slices, between which the program goes on.
//!
//! A cycle begins when a full collection is due. Its phases, each as many stops as it takes: what waits to be swept is swept; marks are cleared;
//! cells are marked; and when none is grey any more the roots and the cells that were stored into are looked at again, until that
//! finds no more than one slice marks. Then, at the same stop, the cycle ends as any full collection does, with lazy sweeping to follow.
//!
//! **Invariant** (an incremental-update barrier, in Wilson's terms). Between two slices a marked cell refers to marked cells, to grey ones, or
//! stands in `remembered`, or is a long list and what was stored into it since stands there: the barrier of young collections notes stores
//! into marked cells. A new cell is unmarked and is found from what
//! refers to it. Private cells are never marked before the last slice, since nurseries are collected meanwhile: whoever shows roots
//! walks through them. No cell outside nurseries is freed before the end, as nothing waits to be swept. There are no young
//! collections during a cycle, for what is marked is not old.
//!
//! A look at the roots may take several slices: who shows them stops when its time is over. Nothing ends before a look that was whole.
//!
//! A symbol, shape, method or piece of code is stored without a barrier. So a cycle keeps all rows of the runtime's tables, as a young
//! collection does. Who wants rows freed asks for a full collection at one stop, which abandons the cycle.
//!
//! How much may be allocated between two slices follows what the last one marked, so that all is marked when the heap has grown by an
//! eighth. Where it has grown by twice as much, or comes to its limit, the next stop marks all the rest: the last resort.

use crate::cells::header::Kind;
use crate::cells::trace::{Marker, Visitor, cell_bytes, outside_bytes, trace_cell};
use crate::heap::Heap;
use crate::lockfree::halves::LEAST;
use crate::mark::{AGAIN, Fresh, Grey, Marking, Until, is_marked, set_marked};
use crate::shared::{HeapShared, lock};
use crate::space::block::Block;
use crate::space::young::process_ns;
use crate::space::{PIECE, STEPS};
use crate::watch::gclog::Cause;
use crate::{ArrayObj, HashObj, Value, flag};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*};
use std::time::{Duration, Instant};

/// In `remembered`: a value that was stored into a long list, not a cell that was stored into.
const STORED: u64 = 2;

/// The entry for a value that was stored into a long list while a cycle is open. Such a list is not looked at again for each store.
pub(crate) fn stored(v: Value) -> Value {
    Value::from_bits(v.bits() | STORED)
}

/// The cell that an entry names: is it a value that was stored, or a cell that was stored into?
pub(crate) fn remembered(entry: Value) -> (Value, bool) {
    (Value::from_bits(entry.bits() & !STORED), entry.bits() & STORED != 0)
}

/// Is it a list of which more is left than a slice should mark again?
pub(crate) fn is_long(holder: Value) -> bool {
    match holder.header().map(|h| h.kind) {
        Some(Kind::Array) => holder.cell::<ArrayObj>().is_some_and(|a| a.capacity() >= LEAST),
        Some(Kind::Hash) => holder.cell::<HashObj>().is_some_and(|h| h.h.slots() >= LEAST),
        _ => false,
    }
}

/// How long a slice marks, and for how long roots are shown before that.
const SLICE: Duration = Duration::from_millis(1);
const SHOW: Duration = Duration::from_micros(500);
/// A slice comes after so long though little is allocated.
pub const SLICE_EVERY_NS: u64 = 4_000_000;
/// One part in so many of what lives may be allocated during a cycle, and at least so many bytes.
const GROWTH: usize = 8;
const LEAST_GROWTH: usize = 8 << 20;
/// Looks at the roots in one cycle. That many show that the program stores faster than it is looked at.
const LOOKS: u32 = 16;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Phase {
    /// Blocks wait to be swept, by the marks of the collection before.
    #[default]
    Sweep,
    /// Marks are cleared, block by block.
    Clear,
    Mark,
}

/// The cycle that is open.
#[derive(Default)]
struct Cycle {
    phase: Phase,
    grey: Grey,
    cells: usize,
    bytes: usize,
    /// Bytes that were allocated outside nurseries since it began, and what was granted at the last slice.
    grown: usize,
    granted: isize,
    /// Looks at the roots that were whole, and all.
    looks: u32,
    begun_looks: u32,
    mark_ns: u64,
    /// What its slices took of the processors' time.
    worked: u64,
}

/// Whoever shows roots to a slice is told.
pub struct Showing {
    /// It is the cycle's first look: nothing was shown yet.
    pub first: bool,
    until: Until,
}

impl Showing {
    /// So many were shown of what need not be shown at once. Is there no time for more?
    pub fn is_over(&self, shown: usize) -> bool {
        shown > 0 && (shown.is_multiple_of(32) || self.until.counts()) && self.until.is_over(shown)
    }
}

/// What a runtime knows of its cycles.
#[derive(Default)]
pub(crate) struct Cycles {
    on: AtomicBool,
    wants: AtomicBool,
    is_open: AtomicBool,
    /// Of the cycle that is open, or was last.
    number: AtomicU64,
    open: Mutex<Cycle>,
    /// By how much the heap grew during the last one.
    grew: AtomicUsize,
    /// When the last slice ended.
    last: AtomicU64,
    /// `KUMI_GC_STRESS`: state of the random sizes of slices; 0: slices are as long as they are.
    stress: AtomicU64,
    /// Cycles that ended by the last resort.
    hurried: AtomicU64,
}

impl Cycles {
    fn until(&self, begun: Instant) -> Until {
        let s = self.stress.load(Relaxed);
        match s {
            0 => return Until::time(begun + SLICE),
            u64::MAX => return Until::cells(1),
            _ => {}
        }
        let s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407) | 1;
        self.stress.store(s, Relaxed);
        Until::cells(1 << ((s >> 33) % 17))
    }
}

impl HeapShared {
    /// Full collections go in slices from now on, where nobody asks for one at once; or do no more.
    pub fn set_interruptible(&self, on: bool) {
        self.cycles.on.store(on, Relaxed);
    }
    /// Do they?
    pub fn is_interruptible(&self) -> bool {
        self.cycles.on.load(Relaxed) && !self.is_full_only()
    }
    /// Has slices mark few cells, by chance; 0: one cell each.
    pub fn stress_slices(&self, seed: u64) {
        self.cycles.stress.store(if seed == 0 { u64::MAX } else { seed << 1 | 1 }, Relaxed);
    }
    /// Asks for a full collection, which may go in slices.
    pub fn request_cycle(&self) {
        if self.is_interruptible() {
            // One that is under way serves whoever asks meanwhile.
            if !self.cycle_is_open() {
                self.cycles.wants.store(true, SeqCst);
            }
            self.request_gc();
        } else {
            self.request_full();
        }
    }
    /// Was one asked for that has not begun?
    pub fn wants_cycle(&self) -> bool {
        self.cycles.wants.load(SeqCst)
    }
    /// Has a full collection that goes in slices begun?
    #[inline]
    pub fn cycle_is_open(&self) -> bool {
        self.cycles.is_open.load(Relaxed)
    }
    /// Are there marks that are not complete?
    pub(crate) fn is_marking(&self) -> bool {
        self.cycle_is_open() && lock(&self.cycles.open).phase == Phase::Mark
    }
    /// Is it time for the next slice, though little was allocated? Asked at safepoints.
    #[inline]
    pub fn slice_is_due(&self) -> bool {
        self.cycle_is_open() && !self.disabled() && self.stats.now_ns().saturating_sub(self.cycles.last.load(Relaxed)) >= SLICE_EVERY_NS
    }
    /// Cycles that the last resort has ended.
    pub fn hurried_cycles(&self) -> u64 {
        self.cycles.hurried.load(Relaxed)
    }
    /// May a full collection that begins now go in slices? Not where somebody asked for one at one stop.
    pub fn may_go_in_slices(&self) -> bool {
        self.is_interruptible() && !self.wants_full.load(Relaxed)
    }
    /// Is the collection that begins a slice ([`Heap::collect_slice`])? Else it is [`Heap::collect_rows`].
    pub fn next_is_slice(&self) -> bool {
        if !self.may_go_in_slices() {
            return false;
        }
        if self.cycle_is_open() {
            return true;
        }
        if self.held_bytes().saturating_add(self.young.bytes() / 2) > self.max() {
            return false;
        }
        if self.wants_cycle() {
            return true;
        }
        let (old, new) = (self.old_bytes.load(Relaxed), self.promoted.load(Relaxed));
        // It begins as much sooner as the heap grows until it ends.
        let early = self.cycles.grew.load(Relaxed).min(old / GROWTH);
        let due = new.saturating_add(early) >= old.max(self.young.least_promoted()) && !self.young_only();
        if due {
            self.stats.because(Cause::Promoted);
        }
        due
    }
    /// What was marked in slices counts for nothing. Was a cycle open?
    pub(crate) fn abandon_cycle(&self) -> bool {
        let was_open = self.cycles.is_open.swap(false, Relaxed);
        if was_open {
            *lock(&self.cycles.open) = Cycle::default();
            self.stats.cycle_is_over();
        }
        was_open
    }
    /// Calls `f` with each grey cell of a cycle that marks, true for those that are marked but are to be traced again. False: there is none.
    pub(crate) fn each_grey(&self, mut f: impl FnMut(u64, bool)) -> bool {
        let c = lock(&self.cycles.open);
        let marks = self.cycle_is_open() && c.phase == Phase::Mark && c.looks > 0;
        if marks {
            c.grey.each(|e| f(e & !AGAIN, e & AGAIN != 0));
        }
        marks
    }
}

impl Heap {
    /// A slice of a full collection over all heaps, while all workers but the calling one are stopped; the first begins it. Is it the last?
    ///
    /// `roots` marks what it would for a young collection: all that any worker holds, but for what old cells hold that did not change.
    /// It may leave out what was shown before in this cycle and cannot have changed since. False: it was over before all was shown, and is
    /// asked again, for the rest and for what has changed by then.
    pub fn collect_slice(heaps: &mut [&mut Heap], roots: &mut dyn FnMut(&mut Marker, &Showing) -> bool) -> bool {
        let (t0, begun) = (Instant::now(), process_ns());
        let Some(first) = heaps.first_mut() else { return true };
        first.adopt();
        let shared = first.shared.clone();
        let mut c = std::mem::take(&mut *lock(&shared.cycles.open));
        if !shared.cycles.is_open.swap(true, Relaxed) {
            shared.cycles.number.fetch_add(1, Relaxed);
            shared.cycles.wants.store(false, Relaxed);
            c.granted = shared.budget.load(Relaxed);
        }
        c.grown += c.granted.saturating_sub(shared.budget.load(Relaxed)).max(0) as usize;
        heaps.iter_mut().for_each(|h| h.seal_born());
        let hurry = c.must_hurry(&shared);
        let until = if hurry { Until::NEVER } else { shared.cycles.until(t0) };
        let before = c.bytes;
        let over = c.go_on(heaps, &shared, &until, roots);
        c.mark_ns += t0.elapsed().as_nanos() as u64;
        if over {
            shared.cycles.is_open.store(false, Relaxed);
            shared.cycles.grew.store(c.grown, Relaxed);
            shared.cycles.hurried.fetch_add(hurry as u64, Relaxed);
            heaps.iter_mut().for_each(|h| h.close());
            let marked = crate::collect::Marked {
                full: true,
                syms: None,
                cells: c.cells,
                bytes: c.bytes,
                mark_ns: c.mark_ns,
                begun: begun - c.worked.min(begun),
            };
            Heap::end_collection(heaps, &shared, marked);
        } else {
            // Replaced buffers that nobody looks at any more: grey cells name none.
            let (stop, oldest) = shared.stop_for_readers();
            for h in heaps.iter_mut() {
                // SAFETY: the world is stopped.
                unsafe { h.retired.release_old(stop, oldest) };
                h.lists.pace = h.lists.pace.max(h.retired.batches().div_ceil(4));
            }
            c.worked += process_ns().saturating_sub(begun);
            c.grant(&shared, c.bytes - before);
            *lock(&shared.cycles.open) = c;
        }
        shared.cycles.last.store(shared.stats.now_ns(), Relaxed);
        over
    }
}

impl Cycle {
    fn most_growth(shared: &HeapShared) -> usize {
        (shared.live_bytes.load(Relaxed) / GROWTH).max(LEAST_GROWTH)
    }
    /// Must this stop be the last one?
    fn must_hurry(&self, shared: &HeapShared) -> bool {
        let live = shared.held_bytes().saturating_add(self.grown);
        let at_limit = self.grown > 0 && live.saturating_add(shared.young.bytes() / 2) > shared.max();
        if at_limit {
            shared.stats.because(Cause::Limit);
        }
        at_limit || self.looks > LOOKS || self.grown > 2 * Cycle::most_growth(shared)
    }
    /// As much may be allocated until the next slice as has the last one come, at the pace of this one, when the heap has grown enough.
    fn grant(&mut self, shared: &HeapShared, marked: usize) {
        let live = shared.live_bytes.load(Relaxed);
        let left = (live + self.grown).saturating_sub(self.bytes).max(live / 16) as u128 + 1;
        let most = Cycle::most_growth(shared);
        let room = most.saturating_sub(self.grown).max(most / 16);
        let mut n = ((room as u128 * marked as u128 / left) as usize).clamp(PIECE as usize, most / 8);
        if shared.max() < usize::MAX / 8 {
            n = n.min(shared.max().saturating_sub(shared.held_bytes() + self.grown).max(PIECE as usize));
        }
        self.granted = n as isize;
        shared.grant(self.granted);
    }

    /// One slice. Is all marked that lives?
    fn go_on(&mut self, heaps: &mut [&mut Heap], shared: &HeapShared, until: &Until, roots: ShowRoots) -> bool {
        let number = shared.cycles.number.load(Relaxed) as u32;
        if self.phase == Phase::Sweep {
            if !sweep(heaps, until) {
                return false;
            }
            self.phase = Phase::Clear;
        }
        if self.phase == Phase::Clear {
            if !clear(heaps, number, until) {
                return false;
            }
            self.phase = Phase::Mark;
        }
        let ivars = |v: Value, to: &mut dyn Visitor| shared.side_ivars_of(v, to);
        let mut m = Marking::new(&shared.helpers, Fresh::sliced());
        let (mut private, mut whole) = (Vec::new(), false);
        let looks = self.grey.is_empty();
        if looks {
            let showing = Showing { first: self.begun_looks == 0, until: until.with_time(SHOW) };
            self.begun_looks += 1;
            (private, whole) = show_roots(&mut self.grey, heaps, shared, &showing, roots);
            self.looks += whole as u32;
        }
        m.slice(&mut self.grey, until, &ivars);
        self.cells += m.cells;
        self.bytes += m.bytes;
        if !self.grey.is_empty() {
            return false;
        }
        if !whole {
            // The roots are worth a slice of their own.
            return until.is_never() && self.go_on(heaps, shared, until, roots);
        }
        // All that these hold was shown with them.
        for v in private {
            if let Some(h) = v.header()
                && set_marked(v)
            {
                self.cells += 1;
                self.bytes += cell_bytes(h) + outside_bytes(v);
            }
        }
        true
    }
}

/// Sweeps what waits for it; false: not all.
fn sweep(heaps: &mut [&mut Heap], until: &Until) -> bool {
    for h in heaps.iter_mut() {
        let mut n = 0;
        while h.sweep_some(1) {
            n += 1;
            if n % STEPS == 0 && until.is_over(0) {
                return false;
            }
        }
    }
    true
}

/// Clears marks that cycle `number` has not cleared yet; false: not all.
fn clear(heaps: &mut [&mut Heap], number: u32, until: &Until) -> bool {
    let mut n = 0;
    for h in heaps.iter() {
        debug_assert!(h.lists.unswept.is_empty(), "a block whose marks are cleared waits to be swept by them");
        for b in h.blocks() {
            // SAFETY: a live block; the world is stopped.
            unsafe {
                if (*b).cleared != number {
                    (*b).clear_marks();
                    (*b).cleared = number;
                    n += 1;
                    if n % 64 == 0 && until.is_over(n) {
                        return false;
                    }
                }
            }
        }
    }
    // What was stored into before is looked at as any other.
    for h in heaps.iter_mut() {
        for (v, _) in h.remembered.drain(..).map(remembered) {
            // SAFETY: a cell outside the nurseries, which nothing has freed since.
            unsafe { (*Block::of(v.bits())).unlog(v.bits()) };
        }
    }
    true
}

/// Takes what roots show: cells outside nurseries are grey, those in nurseries are walked through.
struct Found<'a> {
    grey: &'a mut Grey,
    /// Blocks of nurseries.
    nursery: Fresh<'a>,
    todo: Vec<Value>,
}

impl Visitor for Found<'_> {
    #[inline]
    fn visit(&mut self, v: Value) {
        if !v.is_heap() {
            return;
        }
        let private = self.nursery.may_hold(v.bits()) && v.header().is_some_and(|h| h.flags.load(Relaxed) & flag::OUT == 0);
        if !private {
            self.grey.push(v.bits());
        // SAFETY: a private cell lies in a block of a nursery, whose worker is stopped.
        } else if unsafe { (*Block::of(v.bits())).set_live(v.bits()) } {
            self.todo.push(v);
        }
    }
}

type ShowRoots<'a, 'b> = &'a mut (dyn FnMut(&mut Marker, &Showing) -> bool + 'b);

/// Shows everything a cycle begins with, and what changed since it was shown last. The private cells that were met; was that all?
fn show_roots(grey: &mut Grey, heaps: &mut [&mut Heap], shared: &HeapShared, showing: &Showing, roots: ShowRoots) -> (Vec<Value>, bool) {
    for h in heaps.iter_mut() {
        for entry in h.remembered.drain(..) {
            let (v, stored) = remembered(entry);
            if stored {
                grey.push(v.bits());
                continue;
            }
            // SAFETY: as in `clear`.
            unsafe { (*Block::of(v.bits())).unlog(v.bits()) };
            grey.push(v.bits() | AGAIN);
        }
    }
    for c in &mut lock(&shared.classes).all {
        // SAFETY: the world is stopped.
        if unsafe { c.alone() }.data.take_changed() && is_marked(c.val()) {
            grey.push(c.val().bits() | AGAIN);
        }
    }
    let nursery = Fresh::of(heaps.iter().flat_map(|h| h.nursery.blocks.iter().copied()));
    let mut f = Found { grey, nursery, todo: Vec::new() };
    let whole = roots(&mut Marker::new(&mut f), showing);
    for (procs, _) in lock(&shared.pending).iter() {
        f.visit_all(procs);
    }
    for procs in lock(&shared.finalizers).values() {
        f.visit_all(procs);
    }
    let mut private = Vec::new();
    while let Some(v) = f.todo.pop() {
        private.push(v);
        trace_cell(v, &mut f);
    }
    for b in heaps.iter().flat_map(|h| &h.nursery.blocks) {
        // SAFETY: as in `Found::visit`.
        unsafe { (**b).clear_live() };
    }
    (private, whole)
}
