//! Marking for node collections, by one thread or several while the world is stopped.
//!
//! Invariant after [`Marking::drain`]: a cell is marked exactly when it was marked before or a root, or the field of a
//! cell that was marked since or given to [`Marking::rescan`], refers to it. Marked cells are not entered, which is
//! all there is to a young collection: old cells keep their marks, and the remembered ones are rescanned.
//! Every cell is traced by the one thread that set its mark bit. Payloads are traced on whatever thread that is; they
//! only read, except for what belongs to their cell alone ([`crate::Payload::trace`]).
//!
//! A visit is a push. Between pop and look an entry waits in a short queue while its mark word and cell come into the
//! cache, and once more, when the cell has a buffer, while that comes. Mark bits are set by atomic instructions only
//! when more than one thread marks.

mod crew;
mod grey;
mod helpers;
mod share;
mod sync;

use crate::block::Block;
use crate::header::{Header, Kind, flag};
use crate::layout::*;
use crate::shared::HeapShared;
use crate::trace::{Visitor, cell_bytes, outside_bytes, trace_fields};
use crate::{ClassObj, HashData, HashObj, Value};
use grey::{AGAIN, Grey, LONG, Packet, Range};
pub(crate) use helpers::Helpers;
use share::Share;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// Shows the variables in side tables of a cell that has some.
pub(crate) type Ivars<'a> = &'a (dyn Fn(Value, &mut dyn Visitor) + Sync);

/// Cells that are marked by one thread before others are called: about a tenth of a millisecond's work.
const ALONE: usize = if cfg!(test) { 64 } else { 6_000 };
/// Cells between two looks whether somebody is hungry.
const TURN: usize = if cfg!(test) { 16 } else { 512 };
/// Entries that wait for their cache lines. Powers of two.
const NEAR: usize = 16;
const FAR: usize = 8;

/// A marking under way: takes roots, then [`drain`](Marking::drain)s.
pub(crate) struct Marking<'h> {
    grey: Grey,
    helpers: &'h Helpers,
    /// Cells newly marked.
    pub cells: usize,
    /// Bytes of newly marked cells and their buffers.
    pub bytes: usize,
}

impl Visitor for Marking<'_> {
    #[inline(always)]
    fn visit(&mut self, v: Value) {
        if v.is_heap() {
            self.grey.push(v.bits());
        }
    }
}

/// Is it marked (immediates always are)?
#[inline]
pub(crate) fn is_marked(v: Value) -> bool {
    // SAFETY: a heap value lies in a live block.
    !v.is_heap() || unsafe { marked::<false>(v.bits()) }
}

/// # Safety
/// `cell` is the address of a cell in a live block.
#[inline(always)]
unsafe fn marked<const MANY: bool>(cell: u64) -> bool {
    let (w, bit) = Block::mark_word(cell);
    // SAFETY: the word lies in the block; other threads write it atomically when there are many.
    unsafe { if MANY { AtomicU64::from_ptr(w).load(Relaxed) & bit != 0 } else { *w & bit != 0 } }
}

/// Sets the mark bit; true when it was clear.
///
/// # Safety
/// As for `marked`.
#[inline(always)]
unsafe fn set_mark<const MANY: bool>(cell: u64) -> bool {
    let (w, bit) = Block::mark_word(cell);
    // SAFETY: as in `marked`. Cells were written before the stop, so the bit need not order anything.
    unsafe {
        if MANY {
            let w = AtomicU64::from_ptr(w);
            w.load(Relaxed) & bit == 0 && w.fetch_or(bit, Relaxed) & bit == 0
        } else {
            let fresh = *w & bit == 0;
            *w |= bit;
            fresh
        }
    }
}

#[inline(always)]
fn prefetch<T>(p: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; any address will do.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch(p as *const i8, _MM_HINT_T0);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = p;
}

impl<'h> Marking<'h> {
    pub fn new(shared: &'h HeapShared) -> Marking<'h> {
        Marking { grey: Grey::default(), helpers: &shared.helpers, cells: 0, bytes: 0 }
    }
    /// The fields of `v`, which is marked, are roots: an old cell that was stored into.
    pub fn rescan(&mut self, v: Value) {
        if v.is_heap() {
            self.grey.push(v.bits() | AGAIN);
        }
    }
    /// Marks all that the grey cells reach. `ivars` shows variables in side tables.
    pub fn drain(&mut self, ivars: Ivars) {
        let many = self.helpers.threads() > 1;
        let mut t = Tracer::<false>::new(std::mem::take(&mut self.grey), ivars);
        let finished = t.run(if many { ALONE } else { usize::MAX });
        t.put_back();
        self.cells += t.cells;
        self.bytes += t.bytes;
        if !finished {
            self.drain_together(t.grey, ivars);
        }
    }
    fn drain_together(&mut self, first: Grey, ivars: Ivars) {
        let share = Share::<Packet>::new();
        let (cells, bytes) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let part = |grey: Grey| {
            let mut t = Tracer::<true>::new(grey, ivars);
            t.work(&share);
            cells.fetch_add(t.cells, Relaxed);
            bytes.fetch_add(t.bytes, Relaxed);
        };
        // The caller joins first: a helper alone would find all members hungry.
        share.join();
        let job = || {
            if share.join() {
                part(Grey::default());
            }
        };
        self.helpers.run(&job, || part(first));
        self.cells += cells.into_inner();
        self.bytes += bytes.into_inner();
    }
}

/// First in, first out, of at most `N`.
struct Queue<const N: usize> {
    at: [u64; N],
    head: usize,
    len: usize,
}

impl<const N: usize> Queue<N> {
    const fn new() -> Self {
        Queue { at: [0; N], head: 0, len: 0 }
    }
    #[inline(always)]
    fn push(&mut self, e: u64) {
        self.at[(self.head + self.len) % N] = e;
        self.len += 1;
    }
    #[inline(always)]
    fn take(&mut self) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        let e = self.at[self.head % N];
        self.head = (self.head + 1) % N;
        self.len -= 1;
        Some(e)
    }
}

/// One thread's part.
struct Tracer<'a, const MANY: bool> {
    grey: Grey,
    /// Entries whose mark word and cell are on their way.
    near: Queue<NEAR>,
    /// Entries that are marked, whose buffer is on its way.
    far: Queue<FAR>,
    ivars: Ivars<'a>,
    cells: usize,
    bytes: usize,
}

impl<const MANY: bool> Visitor for Tracer<'_, MANY> {
    #[inline(always)]
    fn visit(&mut self, v: Value) {
        if v.is_heap() {
            self.grey.push(v.bits());
        }
    }
    #[inline]
    fn visit_fields(&mut self, vs: &[Value]) {
        if vs.len() < LONG {
            self.visit_all(vs);
        } else {
            self.grey.push_range(Range::Fields(vs.as_ptr(), vs.len()));
        }
    }
    #[inline]
    fn visit_entries(&mut self, h: &HashData) {
        self.entries(h, 0);
    }
}

/// The fields of a remembered cell: nearly all are marked, whose words lie closer together than the cells. What is
/// marked takes no turn in the queues, and its cell is not brought into the cache.
struct Again<'t, 'a, const MANY: bool>(&'t mut Tracer<'a, MANY>);

impl<const MANY: bool> Visitor for Again<'_, '_, MANY> {
    #[inline(always)]
    fn visit(&mut self, v: Value) {
        // SAFETY: a heap value lies in a live block.
        if v.is_heap() && unsafe { !marked::<MANY>(v.bits()) } {
            self.0.grey.push(v.bits());
        }
    }
    fn visit_fields(&mut self, vs: &[Value]) {
        // A very long one may want several threads.
        if vs.len() < LONG * 64 { self.visit_all(vs) } else { self.0.visit_fields(vs) }
    }
}

/// What lies outside the cell and is looked at when it is traced.
///
/// # Safety
/// `h` is a live cell.
#[inline(always)]
unsafe fn buffer_of(h: *const Header) -> *const u8 {
    // SAFETY: the kind byte names the layout.
    unsafe {
        match (*h).kind {
            Kind::Str => (*(h as *const StrObj)).buf.outside(),
            Kind::Array => (*(h as *const ArrayObj)).outside(),
            Kind::Object => (*(h as *const ObjectObj)).ext.outside(),
            Kind::Hash => &raw const *(*(h as *const HashObj)).h as *const u8,
            Kind::Data => &raw const *(*(h as *const DataObj)).payload as *const u8,
            Kind::Class => (*(h as *const ClassObj)).tables(),
            _ => std::ptr::null(),
        }
    }
}

impl<'a, const MANY: bool> Tracer<'a, MANY> {
    fn new(grey: Grey, ivars: Ivars<'a>) -> Self {
        Tracer { grey, near: Queue::new(), far: Queue::new(), ivars, cells: 0, bytes: 0 }
    }
    /// What waits for its cache lines is no longer waited for.
    fn put_back(&mut self) {
        while let Some(e) = self.far.take() {
            self.finish(e);
        }
        while let Some(e) = self.near.take() {
            self.grey.push(e);
        }
    }
    /// Looks at `turns` entries; true when none is left.
    fn run(&mut self, mut turns: usize) -> bool {
        while turns > 0 {
            turns -= 1;
            while self.near.len < NEAR {
                let Some(e) = self.grey.pop() else { break };
                prefetch(Block::mark_word(e).0);
                prefetch(e as *const u8);
                // A cell that does not begin at the start of a line often ends in the next.
                if e & 32 != 0 {
                    prefetch((e + 32) as *const u8);
                }
                self.near.push(e);
            }
            if self.near.len < NEAR && self.grey.has_ranges() {
                self.grey.read_range();
                turns = turns.saturating_sub(16);
            } else if let Some(e) = self.near.take() {
                self.look(e);
            } else if let Some(e) = self.far.take() {
                self.finish(e);
            } else {
                return true;
            }
        }
        false
    }
    #[inline(always)]
    fn look(&mut self, e: u64) {
        let cell = e & !AGAIN;
        // SAFETY: entries are live cells.
        unsafe {
            if e & AGAIN == 0 {
                if !set_mark::<MANY>(cell) {
                    return;
                }
                self.cells += 1;
            }
            let out = buffer_of(cell as *const Header);
            if out.is_null() {
                return self.finish(e);
            }
            prefetch(out);
        }
        if self.far.len == FAR {
            if let Some(e) = self.far.take() {
                self.finish(e);
            }
        }
        self.far.push(e);
    }
    #[inline(always)]
    fn finish(&mut self, e: u64) {
        let v = Value::from_bits(e & !AGAIN);
        let Some(h) = v.header() else { return };
        if e & AGAIN == 0 {
            self.bytes += cell_bytes(h) + outside_bytes(v);
        }
        if h.has(flag::IVARS) {
            (self.ivars)(v, self);
        }
        // Nearly every class is marked already, and its word in the cache.
        // SAFETY: a heap value lies in a live block.
        if h.class.is_heap() && unsafe { !marked::<MANY>(h.class.bits()) } {
            self.grey.push(h.class.bits());
        }
        if e & AGAIN == 0 {
            return trace_fields(v, self);
        }
        match v.cell::<HashObj>() {
            // What a remembered one held at the last collection is marked: a young collection pays for what came since.
            Some(o) => {
                self.visit(o.h.default);
                self.entries(&o.h, o.h.unseen());
            }
            None => trace_fields(v, &mut Again(self)),
        }
    }
    /// Marks the entries of a Hash from a position on.
    #[inline]
    fn entries(&mut self, h: &HashData, from: usize) {
        let n = h.slots();
        if n.saturating_sub(from) < LONG {
            for e in (from..n).filter_map(|i| h.at(i)) {
                self.visit(e.key);
                self.visit(e.val);
            }
        } else {
            self.grey.push_range(Range::Entries(h, from, n));
        }
        h.set_seen();
    }
}

impl Tracer<'_, true> {
    /// Marks and shares until all is marked.
    fn work(&mut self, share: &Share<Packet>) {
        loop {
            if self.run(TURN) {
                match share.take() {
                    Some(p) => self.grey.accept(p),
                    None => return,
                }
            } else if share.wanted() {
                // With nothing on the stack, what waits for its cache line may still be much: a few long lists.
                let p = self.grey.split().or_else(|| if self.near.len > 1 { self.near.take().map(Grey::packet) } else { None });
                if let Some(p) = p {
                    share.give(p);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
