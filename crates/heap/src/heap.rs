//! One worker's heap: its parts, and how it begins and ends. Cells get their place and flags in `heap/birth.rs`, are
//! made in `heap/cells.rs`, and what stands in tables beside them is in `heap/side.rs`. Where the memory comes
//! from: `space.rs`; private cells and the barrier: `nursery.rs`; the collection of all
//! workers' heaps together: `collect.rs`.
//!
//! Invariant: a block is in one place, which is a heap's nursery or lists, the spare blocks of all, or what a heap left
//! when it ended (`shared.rs`): cells outlive the heap that made them.

mod birth;
mod cells;
mod moving;
pub(crate) mod share;
mod side;
#[cfg(test)]
mod tests;
pub(crate) mod trail;

use crate::Value;
use crate::alloc_site::Sites;
use crate::cells::shape::Shapes;
use crate::lockfree::deferred::{self, Deferred};
use crate::nursery::{LEAVE, Nursery};
use crate::shared::{HeapShared, lock};
use crate::space::young::Young;
use crate::space::{Cursor, IN, Lists, OUTSIDE};
use crate::watch::stat::{Counters, GcStat};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};

/// What makes a private cell leave its nursery (`KUMI_TLH`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// No nurseries: every cell is born shared.
    Off,
    /// The paper's: being stored in any field.
    Paper,
    /// Being stored in a field of a cell that has left.
    Closure,
}

/// How a runtime's heaps are to work.
#[derive(Clone, Copy, Debug)]
pub struct HeapConfig {
    /// What makes a private cell leave its nursery.
    pub rule: Rule,
    /// Bytes of a nursery.
    pub nursery: usize,
    /// Bytes that may be allocated outside nurseries between two node collections: at least, and at most unless collections
    /// take much of the time.
    pub young: (usize, usize),
    /// Seed of random publishing, retirement and nursery sizes; 0: none.
    pub stress: u64,
}

impl Default for HeapConfig {
    fn default() -> Self {
        HeapConfig { rule: Rule::Closure, nursery: 32 << 10, young: (crate::space::young::LEAST, crate::space::young::MOST), stress: 0 }
    }
}

/// One worker's heap.
pub struct Heap {
    /// Where cells are born: in the nursery, outside.
    pub(crate) cursors: [Cursor; 2],
    /// The cursor in use: [`IN`] or [`OUTSIDE`].
    pub(crate) place: usize,
    /// Flags of cells born there.
    pub(crate) birth: u8,
    /// Flags that a stored cell gets whatever it is stored into.
    pub(crate) always: u8,
    /// What a new cell is made with must be looked at.
    pub(crate) attend: bool,
    /// A birth outside the nursery is nothing but the cell and its flag: the paper's rule shares it, profiles and stress modes
    /// want to hear of it.
    pub(crate) plain: bool,
    pub(crate) rule: Rule,
    pub(crate) nursery: Nursery,
    /// For cells of middling size outside the nursery.
    pub(crate) medium: Cursor,
    pub(crate) lists: Lists,
    /// Old cells that were stored into since the last node collection.
    pub(crate) remembered: Vec<Value>,
    /// A worklist, kept for its memory.
    pub(crate) grey: Vec<Value>,
    /// Bytes outside cells that were charged and belong to nobody yet.
    pub(crate) outside: usize,
    pub(crate) outside_limit: usize,
    /// Bytes until more must be taken from the common budget.
    pub(crate) budget: isize,
    /// How much was taken last.
    pub(crate) piece: isize,
    /// Something waits for the next safepoint: a wished collection, or whatever the loop's owner put here.
    pub poll: AtomicBool,
    /// This worker's view of the shape tree.
    pub shapes: Shapes,
    pub(crate) counters: Arc<Counters>,
    pub(crate) retired: Box<Deferred>,
    /// Others run beside this heap's worker. Set with the binding of its thread to `retired`, and nowhere else.
    parallel: bool,
    /// Sites of allocation (`site.rs`).
    pub(crate) sites: Sites,
    /// While a profile is made (`sample.rs`).
    pub(crate) sampler: Option<Box<crate::alloc_site::sample::Sampler>>,
    pub(crate) shared: Arc<HeapShared>,
}

// SAFETY: its blocks are its own; a heap moves to another thread as a whole, between safepoints.
unsafe impl Send for Heap {}

impl Default for Heap {
    fn default() -> Self {
        Heap::new()
    }
}

impl Heap {
    /// The first heap of a runtime, as configured by default.
    pub fn new() -> Heap {
        Heap::configured(HeapConfig::default())
    }
    /// The first heap of a runtime.
    pub fn configured(c: HeapConfig) -> Heap {
        Heap::with(Arc::new(HeapShared::new(Young::new(c.young.0, c.young.1))), Shapes::default(), c)
    }
    /// Another worker's heap of the same runtime.
    pub fn sibling(&self) -> Heap {
        let seed = self.nursery.stress();
        let stress = if seed == 0 { 0 } else { seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 };
        let c = HeapConfig { rule: self.rule, nursery: self.nursery.size(), young: Default::default(), stress };
        let mut h = Heap::with(self.shared.clone(), self.shapes.sibling(), c);
        h.sample_like(self);
        h
    }
    fn with(shared: Arc<HeapShared>, shapes: Shapes, c: HeapConfig) -> Heap {
        let nursery = Nursery::new(c.nursery.clamp(1 << 10, 16 << 20).next_multiple_of(1 << 10), c.stress);
        let (place, birth, always) = match c.rule {
            Rule::Off => (OUTSIDE, LEAVE, 0),
            Rule::Paper => (IN, 0, LEAVE),
            Rule::Closure => (IN, 0, 0),
        };
        let counters = shared.register();
        Heap {
            cursors: Default::default(),
            place,
            birth,
            always,
            attend: c.rule == Rule::Paper || c.stress != 0,
            plain: c.rule == Rule::Closure && c.stress == 0,
            rule: c.rule,
            outside_limit: nursery.outside_limit(),
            nursery,
            medium: Cursor::default(),
            lists: Lists::default(),
            remembered: Vec::new(),
            grey: Vec::new(),
            outside: 0,
            budget: 0,
            piece: 0,
            poll: AtomicBool::new(false),
            shapes,
            counters,
            retired: Box::new(Deferred::with_gate(&shared.gates)),
            parallel: false,
            sites: Sites::new(shared.book.policy),
            sampler: None,
            shared,
        }
    }
    /// What all heaps of the runtime have in common.
    pub fn shared(&self) -> &Arc<HeapShared> {
        &self.shared
    }
    /// Tells the calling thread, which is to run with this heap, whether others run beside it (*parallel mode*; who decides it
    /// is the crate `sched`, in `stop.rs`). All who have the heap ask [`is_parallel`](Self::is_parallel); what knows only a cell asks the
    /// thread (`deferred::parallel`). In parallel mode what is replaced is kept until the next collection.
    ///
    /// Must be called anew when the heap goes to another thread, and with `false` by the thread before.
    pub fn set_parallel(&mut self, on: bool) {
        // SAFETY: the list is in a box of its own, and unbound before the box goes (`drop`).
        unsafe { deferred::bind(on.then_some(&*self.retired)) };
        self.parallel = on;
    }
    /// Do others run beside this heap's worker?
    #[inline(always)]
    pub fn is_parallel(&self) -> bool {
        self.parallel
    }
    /// Has this worker replaced large buffers that others may still look at?
    #[inline]
    pub fn has_replaced(&self) -> bool {
        self.retired.has_large()
    }
    /// Is what the calling thread replaces kept for others who look at it? Not in parallel mode where it changes what is its own.
    pub fn keeps_replaced(&self) -> bool {
        self.retired.is_bound()
    }
    /// Are they worth a grace period, at whose end active workers look at them no more?
    pub fn has_much_replaced(&self) -> bool {
        self.retired.has_much_large()
    }
    /// A native has replaced a large buffer: that may be seen to at the next safepoint.
    #[inline]
    pub fn mind_replaced(&self) {
        if self.retired.has_much_large() {
            self.poll.store(true, Relaxed);
        }
    }
    /// A grace period has begun, before which they were replaced.
    pub fn replaced_before(&self, grace: u64) {
        self.retired.begin_grace(grace);
    }
    /// Frees those that were replaced before a grace period that `is_over`, and are looked at by no reader beside the stops.
    pub fn free_replaced(&self, is_over: impl Fn(u64) -> bool) {
        // SAFETY: since a period that is over began, each worker that was active has been at a safepoint, and keeps no look at a buffer
        // across that, or was quiescent (`stop.rs` of the crate `sched`), and looked at none that others replace; other readers are known, by the number of the stop or period that they began after.
        unsafe { self.retired.end_grace(is_over, self.shared.oldest_reader()) }
    }
    /// Bytes of large buffers that are free and kept for this worker's next ones.
    pub fn spare_bytes(&self) -> usize {
        self.retired.spare_bytes()
    }
    /// The worker detaches, or is back: between, it leaves them to who stops the world.
    pub fn close_spares(&mut self, closed: bool) {
        self.retired.close_spares(closed);
    }
    /// Gives those to the allocator.
    pub fn free_spares(&mut self) {
        self.retired.free_spares();
    }
    /// The counters of the whole runtime. Allocated bytes are exact to a quarter of a megabyte for each worker.
    pub fn stat(&self) -> GcStat {
        self.shared.stat()
    }

    /// Asks for a collection at the next safepoint.
    pub fn request_gc(&mut self) {
        self.shared.request_gc();
        self.poll.store(true, Relaxed);
    }
    /// Asks for a full collection at the next safepoint.
    pub fn request_full(&mut self) {
        self.shared.request_full();
        self.poll.store(true, Relaxed);
    }
    /// Does the heap want a collection?
    #[inline(always)]
    pub fn wants_gc(&self) -> bool {
        self.shared.wants_gc()
    }
    /// May `bytes` more be allocated at once? Natives ask before large requests.
    #[inline]
    pub fn can_allocate(&self, bytes: usize) -> bool {
        self.shared.can_allocate(bytes)
    }
    /// Live bytes at the last collection are beyond the limit.
    ///
    /// Asked when NoMemoryError would follow: a yes leaves an eighth of the limit for the rescue.
    pub fn over_limit(&mut self) -> bool {
        self.shared.over_limit()
    }
}

impl Drop for Heap {
    /// The cells live on: another worker's may refer to them. The next collection takes them over, or
    /// the end of the shared part frees them.
    fn drop(&mut self) {
        if self.retired.is_bound() {
            self.set_parallel(false);
        }
        self.close();
        self.retire_nursery(|_| true);
        let orphan = crate::shared::Orphan {
            lists: std::mem::take(&mut self.lists),
            nursery: std::mem::take(&mut self.nursery.blocks),
            remembered: std::mem::take(&mut self.remembered),
            retired: std::mem::take(&mut self.retired),
        };
        lock(&self.shared.orphans).push(orphan);
    }
}
