//! The node collection: over all heaps of a runtime, young or full; and walks over them.
//!
//! One thread directs it while every worker is stopped at a safepoint, with the heaps
//! of all of them in hand: a heap left out would keep unmarked cells that others
//! refer to.
//!
//! Generations: marks are *sticky*. A cell that a node collection marked is old and
//! stays marked until a full one begins; a young collection enters only unmarked
//! cells, from the roots and from old cells that were stored into since
//! (`remembered`). Nurseries end at every node collection: what lives in them leaves.
//!
//! Whoever collects decides before the stop whether it is a full one (`HeapShared::is_full_next`), so that others may be
//! told, or asked, meanwhile. A full one that is asked for after that is the next: a request is forgotten only by a full
//! collection that begins after it.
//!
//! Policy (as in "Scheduling local collections", section 3.2, with f = 1): a full
//! collection comes when as many bytes as were live after the last one, H, have grown
//! old since (and at least some MB: `Young::least_promoted`); a young one each young space
//! of bytes, whose size follows what lives and the time that collections take (`young.rs`).

use crate::cells::rows::{Rows, SymMarks};
use crate::heap::Heap;
use crate::mark::{Fresh, Marking, Roots, is_marked};
use crate::shared::{HeapShared, lock};
use crate::space::block::Block;
use crate::watch::gclog::{Cause, Collected};

use crate::cells::trace::{Marker, Visitor, as_value, drop_cell};
use crate::space::young::process_ns;
use crate::{ClassObj, DataObj, Gc, Value};
use std::sync::PoisonError;
use std::sync::atomic::Ordering::*;
use std::time::Instant;

/// What full collections are decided by, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Live after the last full one.
    pub old: usize,
    /// What has grown old since.
    pub grown: usize,
    /// What is to have grown old before the next is worth its time, however little was live.
    pub least: usize,
    /// Allocated between two young ones.
    pub young: usize,
}

/// What a marking has come to.
pub(crate) struct Marked<'a> {
    pub full: bool,
    /// Symbols that were met, where those that were not die.
    pub syms: Option<&'a SymMarks>,
    pub cells: usize,
    pub bytes: usize,
    pub mark_ns: u64,
    /// When it began, of the processors' time ([`process_ns`]).
    pub begun: u64,
}

impl Heap {
    /// Takes over what workers that are gone have left. The world is stopped.
    pub(crate) fn adopt(&mut self) {
        let orphans = std::mem::take(&mut *lock(&self.shared.orphans));
        for o in orphans {
            self.lists.take_over(o.lists, o.nursery);
            self.remembered.extend(o.remembered);
            self.retired.take_over(&o.retired);
        }
    }
    /// Takes over another heap's cells: its worker is gone (a fork). Its own thread must not exist any more.
    pub fn absorb(&mut self, other: &mut Heap) {
        other.close();
        other.retire_nursery(|_| true);
        self.lists.take_over(std::mem::take(&mut other.lists), std::mem::take(&mut other.nursery.blocks));
        self.remembered.append(&mut other.remembered);
        self.retired.take_over(&other.retired);
    }
    /// Ends all cursors: every block stands in a list.
    pub(crate) fn close(&mut self) {
        self.seal_born();
        for p in 0..2 {
            self.settle(p);
        }
        // The nursery's blocks stand in its own list.
        self.cursors[0].leave();
        for _ in 0..2 {
            self.settle(1);
            let b = self.cursors[1].leave();
            if !b.is_null() {
                self.lists.young(b);
            }
            std::mem::swap(&mut self.cursors[1], &mut self.medium);
        }
    }

    /// Those that were allocated in since the last node collection, all cursors being closed.
    fn fresh_blocks(&self) -> impl Iterator<Item = *mut Block> + '_ {
        let l = &self.lists;
        [&self.nursery.blocks, &l.young_recycled, &l.young_full, &l.young_large].into_iter().flatten().copied()
    }

    /// Calls `f` with every class there is. The world is stopped.
    pub fn each_class(&self, f: impl FnMut(&mut Gc<ClassObj>)) {
        lock(&self.shared.classes).all.iter_mut().for_each(f);
    }
    /// Calls `f` with every live cell of this heap. Sweeps first. For a runtime of one worker.
    pub fn each_cell(&mut self, f: impl FnMut(Value)) {
        Heap::each_cell_all(&mut [self], f)
    }
    /// Calls `f` with every live cell of all heaps of a runtime. The world is stopped. Sweeps first.
    pub fn each_cell_all(heaps: &mut [&mut Heap], mut f: impl FnMut(Value)) {
        if let Some(h) = heaps.first_mut() {
            h.adopt();
        }
        for h in heaps.iter_mut() {
            h.sweep_all();
            h.seal();
            for b in h.blocks() {
                // SAFETY: blocks in the lists are live and walkable; swept, so what is not free is a cell.
                unsafe { (*b).each(|h, _| f(as_value(h))) };
            }
        }
    }

    /// A full collection for a runtime of one worker. `roots` marks everything the caller holds.
    pub fn collect(&mut self, roots: &mut dyn FnMut(&mut Marker)) {
        self.shared.wants_full.store(true, Relaxed);
        Heap::collect_all(&mut [self], &mut |_, m| roots(m))
    }

    /// A node collection over all heaps of a runtime, while all workers but the calling one are stopped, young or full as is
    /// due ([`HeapShared::is_full_next`]).
    /// `roots` marks everything that any worker holds; it is told whether the collection is a full one, where
    /// what did not change since the last one must be shown too.
    pub fn collect_all(heaps: &mut [&mut Heap], roots: &mut dyn FnMut(bool, &mut Marker)) {
        let Some(full) = heaps.first().map(|h| h.shared.is_full_next()) else { return };
        Heap::collect_rows(heaps, full, None, &mut |m| roots(full, m), &mut |_, _| false);
    }
    /// As [`Heap::collect_all`]; the caller has decided whether it is a full one, which tells `rows` what living things name.
    ///
    /// A full collection marks in stages: when all that `roots` showed is marked, `later` sees by its first argument what is, and
    /// shows more; it is asked again, all of that being marked, as long as it says true. What is weak, and finalizers, are looked
    /// at after the last stage.
    pub fn collect_rows(
        heaps: &mut [&mut Heap],
        full: bool,
        rows: Option<&dyn Rows>,
        roots: &mut dyn FnMut(&mut Marker),
        later: &mut dyn FnMut(&dyn Fn(Value) -> bool, &mut Marker) -> bool,
    ) {
        let (t0, begun) = (Instant::now(), process_ns());
        let Some(first) = heaps.first_mut() else { return };
        first.adopt();
        let shared = first.shared.clone();
        // Marks of a cycle that is not over tell nothing.
        let full = shared.abandon_cycle() | full;
        if full {
            shared.wants_full.store(false, Relaxed);
        }
        for h in heaps.iter_mut() {
            h.close();
            if full {
                for b in h.blocks() {
                    // SAFETY: live blocks.
                    unsafe { (*b).clear_marks() };
                }
                h.remembered.clear();
            }
        }
        let rows = rows.filter(|_| full);
        let fresh = if full { Fresh::all(rows) } else { Fresh::of(heaps.iter().flat_map(|h| h.fresh_blocks())) };
        let mut m = Marking::new(&shared.helpers, fresh);
        let gather = |m: &mut Roots| {
            if !full {
                for h in heaps.iter_mut() {
                    for v in std::mem::take(&mut h.remembered) {
                        // SAFETY: an old cell of a live block.
                        unsafe { (*Block::of(v.bits())).unlog(v.bits()) };
                        m.rescan(v);
                    }
                }
                for c in &mut lock(&shared.classes).all {
                    // SAFETY: the world is stopped, and the mark is this thread's to begin.
                    if unsafe { c.alone() }.data.take_changed() && is_marked(c.val()) {
                        m.rescan(c.val());
                    }
                }
            }
            roots(&mut Marker::new(m));
            for (procs, _) in lock(&shared.pending).iter() {
                m.visit_all(procs);
            }
            for procs in lock(&shared.finalizers).values() {
                m.visit_all(procs);
            }
        };
        let ivars = |v: Value, to: &mut dyn Visitor| shared.side_ivars_of(v, to);
        m.run(shared.expected(full), gather, &ivars);
        let mut more = full;
        while more {
            // One thread at first: nothing is marked while `later` looks.
            m.run(0, |r| more = later(&is_marked, &mut Marker::new(r)), &ivars);
        }
        let (cells, bytes, mark_ns) = (m.cells, m.bytes, t0.elapsed().as_nanos() as u64);
        let syms = rows.and_then(|r| r.syms());
        Heap::end_collection(heaps, &shared, Marked { full, syms, cells, bytes, mark_ns, begun });
    }

    /// All is marked that lives, and the cursors are closed: forgets the rest, and has it swept.
    pub(crate) fn end_collection(heaps: &mut [&mut Heap], shared: &HeapShared, m: Marked) {
        let (t0, full) = (Instant::now(), m.full);
        forget_dead(shared, full, m.syms);
        let (stop, oldest) = shared.stop_for_readers();
        let mine = heaps.iter().map(|h| &*h.retired).find(|r| r.is_bound());
        heaps.iter().for_each(|h| h.retired.hand_on(mine));
        for h in heaps.iter_mut() {
            h.after_mark(full);
            // SAFETY: the world is stopped.
            unsafe { h.retired.release_old(stop, oldest) };
            h.retired.spares_grow_old(full);
        }
        shared.next_budget(full, m.cells, m.bytes, m.begun);
        let what = if full { Collected::Full } else { Collected::Young };
        let (bytes, cells) = (shared.live_bytes.load(Relaxed) as u64, shared.live_cells.load(Relaxed) as u64);
        shared.stats.marked(what, m.mark_ns + t0.elapsed().as_nanos() as u64, bytes, cells);
        // What waits to be swept or freed is, before a heap's share of the next budget is spent; no sooner, since a block that
        // was just swept is in the cache when it is filled.
        let share = (shared.budget.load(Relaxed) / crate::space::PIECE).max(1) as usize / heaps.len().max(1);
        for h in heaps.iter_mut() {
            h.lists.pace = (h.lists.unswept.len() + h.retired.batches()).div_ceil(share * 3 / 4 + 1);
        }
    }

    /// Prepares lazy sweeping and drops dead large cells.
    fn after_mark(&mut self, full: bool) {
        self.sift_marked();
        self.give_up_nursery();
        self.lists.restart(full);
        let mut old = std::mem::take(&mut self.lists.large);
        let young = std::mem::take(&mut self.lists.young_large);
        let look = if full { std::mem::take(&mut old) } else { Vec::new() };
        for b in look.into_iter().chain(young) {
            // SAFETY: live block with one cell; dropped and freed only when unmarked.
            unsafe {
                let h = (*b).first();
                if (*b).marked(h) {
                    old.push(b);
                } else {
                    drop_cell(h as *mut _);
                    self.shared.heap_bytes.fetch_sub((*b).bytes(), Relaxed);
                    self.shared.stats.released_bytes.fetch_add((*b).bytes() as u64, Relaxed);
                    Block::free(b);
                }
            }
        }
        self.lists.large = old;
    }
}

impl HeapShared {
    /// Is the next node collection to be a full one? For who is about to collect: what speaks for it is noted as its cause.
    pub fn is_full_next(&self) -> bool {
        let s = self.sizes();
        self.why_full(s.old.max(s.least)).inspect(|c| self.stats.because(*c)).is_some() || self.is_full_only()
    }
    /// There are full collections only from now on, each when as much was allocated outside nurseries as was live after the last one; or
    /// young ones too, as else.
    pub fn set_full_only(&self, on: bool) {
        self.full_only.store(on, Relaxed);
    }
    /// Are there?
    pub fn is_full_only(&self) -> bool {
        self.full_only.load(Relaxed)
    }
    /// So much may be allocated in all since the last full collection, where there are no others.
    pub fn allow(&self, room: usize) {
        let room = room.min(self.max().saturating_sub(self.held_bytes())).max(1 << 20) as isize;
        let before = self.granted.swap(room, Relaxed);
        self.budget.fetch_add(room - before, Relaxed);
        self.put_off();
    }
    /// Why the next node collection should be a full one, where `room` bytes may grow old between two; `None`: it need not.
    pub fn why_full(&self, room: usize) -> Option<Cause> {
        self.full_due.store(false, Relaxed);
        if self.wants_full.load(Relaxed) || self.cycle_is_open() {
            return Some(self.stats.cause());
        }
        let s = self.sizes();
        if s.grown >= room {
            if !self.young_only() {
                return Some(Cause::Promoted);
            }
            self.full_due.store(true, Relaxed);
        }
        let new = if self.is_full_only() { s.grown } else { 0 };
        let live = self.held_bytes().saturating_add(new);
        (s.grown > 0 && live.saturating_add(s.young / 2) > self.max()).then_some(Cause::Limit)
    }
    /// What full collections are decided by.
    pub fn sizes(&self) -> Sizes {
        Sizes {
            old: self.old_bytes.load(Relaxed),
            grown: match self.is_full_only() {
                true => self.granted.load(Relaxed).saturating_sub(self.budget.load(Relaxed)).max(0) as usize,
                false => self.promoted.load(Relaxed),
            },
            least: self.young.least_promoted(),
            young: self.young.bytes(),
        }
    }
    /// Is a young collection due, because so much was allocated?
    pub fn is_young_due(&self) -> bool {
        self.budget.load(Relaxed) <= 0
    }
    /// The full collection that is wished for because of things outside comes later, unless somebody else asks for one as well.
    pub fn put_off_full(&self) {
        self.wants_full.swap(false, AcqRel);
        if !self.stats.forget_cause(Cause::Outside) {
            self.wants_full.store(true, SeqCst);
        }
    }
    /// Nothing that was wished for is due. False: so much was allocated that a young collection is.
    pub fn put_off(&self) -> bool {
        if self.is_young_due() {
            return false;
        }
        self.wants.store(false, SeqCst);
        if self.wants_full.load(SeqCst) {
            self.wants.store(true, Release);
        }
        true
    }
    /// How many cells the collection that begins is likely to mark: as many as live, or as the last young one marked.
    fn expected(&self, full: bool) -> usize {
        if full { self.live_cells.load(Relaxed) } else { self.marked_young.load(Relaxed) }
    }
    /// A collection that began at `begun` (`young::process_ns`) marked so much: how much may be allocated until the next.
    fn next_budget(&self, full: bool, cells: usize, bytes: usize, begun: u64) {
        if full {
            self.live_cells.store(cells, Relaxed);
            self.live_bytes.store(bytes, Relaxed);
            self.old_bytes.store(bytes, Relaxed);
            self.promoted.store(0, Relaxed);
        } else {
            self.marked_young.store(cells, Relaxed);
            self.live_cells.fetch_add(cells, Relaxed);
            self.live_bytes.fetch_add(bytes, Relaxed);
            self.promoted.fetch_add(bytes, Relaxed);
        }
        let live = self.live_bytes.load(Relaxed) as isize;
        if full {
            // A young one counts old cells that have died.
            kumi_budget::lives(live.max(0) as usize);
        }
        kumi_budget::watch();
        self.young.collected(begun, live.max(0) as usize);
        let room = if self.is_full_only() { (live.max(0) as usize).max(self.young.least_promoted()) } else { self.young.bytes() };
        let mut budget = room as isize;
        let max = self.max();
        if max < usize::MAX / 8 {
            budget = budget.min(max.saturating_sub(self.held_bytes()).max(1 << 20) as isize);
        }
        self.grant(budget);
    }
    /// So much may be allocated until the next collection.
    pub(crate) fn grant(&self, budget: isize) {
        self.budget.store(budget, Relaxed);
        self.granted.store(budget, Relaxed);
        // Who asks says what he wants first.
        self.wants.store(false, SeqCst);
        if self.wants_full.load(SeqCst) || self.wants_cycle() {
            self.wants.store(true, Release);
        }
    }
}

/// What the tables beside the cells say of dead cells: weak payloads are told, finalizers become pending.
fn forget_dead(shared: &HeapShared, full: bool, syms: Option<&SymMarks>) {
    let alive = |v: Value| match (v.as_sym(), syms) {
        (Some(s), Some(m)) => m.is_marked(s),
        _ => is_marked(v),
    };
    let mut weak = std::mem::take(&mut *lock(&shared.weak));
    weak.retain(|v| alive(*v));
    for v in &weak {
        if let Some(d) = v.cell::<DataObj>() {
            // SAFETY: the world is stopped.
            unsafe { d.alone() }.payload.weak(&alive);
        }
    }
    lock(&shared.weak).append(&mut weak);
    let dead: Vec<(u64, Vec<Value>)> = lock(&shared.finalizers).extract_if(|b, _| !alive(Value::from_bits(*b))).collect();
    for (b, p) in dead {
        let id = shared.id_of(Value::from_bits(b)).0;
        lock(&shared.pending).push((p, id));
        shared.has_pending.store(true, Relaxed);
    }
    shared.ivars.write().unwrap_or_else(PoisonError::into_inner).forget(full, alive);
    shared.forget_ids(full, alive);
    shared.sift_births(alive);
    let mut classes = lock(&shared.classes);
    let (before, old) = (classes.all.len(), if full { 0 } else { classes.old });
    let young = classes.all.split_off(old);
    classes.all.extend(young.into_iter().filter(|c| alive(c.val())));
    classes.old = classes.all.len();
    if full || classes.old < before {
        for c in &mut classes.all {
            // Class tables hold weak lists of dependents.
            // SAFETY: the world is stopped, and the tables' lock is held.
            unsafe { c.alone() }.data.unnoted().dependents.retain(|d| alive(d.val()));
            c.data.mro.forget_old();
        }
    }
}
