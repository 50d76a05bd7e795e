//! Marking for node collections, by one thread or several while the world is stopped.
//!
//! Invariant after [`Marking::run`]: a cell is marked exactly when it was marked before or a root, or the field of a
//! cell that was marked since or given to [`Roots::rescan`], refers to it. Marked cells are not entered, which is
//! all there is to a young collection: old cells keep their marks, and the remembered ones are rescanned.
//! Every cell is traced by the one thread that set its mark bit. Payloads are traced on whatever thread that is; they
//! only read, except for what belongs to their cell alone ([`crate::Payload::trace`]).
//!
//! A visit is a push, of what may be unmarked ([`Fresh`]). Between pop and look an entry waits in a short queue while its
//! mark word and cell come into the cache, and once more, when the cell has a buffer, while that comes. Mark bits are set
//! by atomic instructions only when more than one thread marks.

mod crew;
mod fresh;
mod grey;
mod helpers;
mod share;
mod slice;

use crate::cells::header::{Kind, flag};
use crate::cells::trace::{Visitor, cell_bytes, outside, outside_bytes, prefetch, refers, trace_fields};
use crate::lockfree::sync::{self, SPINS, spin};
use crate::space::block::Block;
use crate::{HashData, HashObj, Marker, Payload, ShapeId, Sym, Value};
pub(crate) use fresh::Fresh;
pub(crate) use grey::{AGAIN, Grey};
use grey::{LONG, Packet, Range};
pub(crate) use helpers::Helpers;
use share::Share;
pub(crate) use slice::Until;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Mutex, PoisonError};

/// Shows the variables in side tables of a cell that has some.
pub(crate) type Ivars<'a> = &'a (dyn Fn(Value, &mut dyn Visitor) + Sync);

/// Cells that are marked by one thread before others are called: about a tenth of a millisecond's work.
const ALONE: usize = if cfg!(test) { 64 } else { 6_000 };
/// Cells for which helpers are called though all cores are taken: some 5 milliseconds' work.
const LONG_WORK: usize = if cfg!(test) { 10_000 } else { 250_000 };
/// Cells between two looks whether somebody is hungry, or waits for the core: less than a tenth of a millisecond.
const STEPS: usize = if cfg!(test) { 16 } else { 512 };
/// Entries that wait for their cache lines. Powers of two.
const NEAR: usize = 16;
const FAR: usize = 8;

/// One marking.
pub(crate) struct Marking<'h> {
    fresh: Fresh<'h>,
    helpers: &'h Helpers,
    /// Cells newly marked.
    pub cells: usize,
    /// Bytes of newly marked cells and their buffers.
    pub bytes: usize,
}

/// Takes what a marking begins with.
pub(crate) struct Roots<'a> {
    grey: Grey,
    fresh: &'a Fresh<'a>,
}

impl Visitor for Roots<'_> {
    #[inline(always)]
    fn visit(&mut self, v: Value) {
        if v.is_heap() && self.fresh.may_hold(v.bits()) {
            self.grey.push(v.bits());
        } else if let Some(s) = v.as_sym() {
            self.fresh.sym(s);
        }
    }
    fn visit_fields(&mut self, vs: &[Value]) {
        self.fields(vs);
    }
    fn rows(&self) -> bool {
        self.fresh.rows.is_some()
    }
    fn sym(&mut self, s: Sym) {
        self.fresh.sym(s);
    }
    fn method(&mut self, n: u32) {
        if let Some(r) = self.fresh.rows {
            r.method(n, self);
        }
    }
    fn code(&mut self, at: u64) {
        if let Some(r) = self.fresh.rows {
            r.code(at, self);
        }
    }
}

impl Roots<'_> {
    /// Several threads read a long list.
    fn fields(&mut self, vs: &[Value]) {
        if vs.len() < LONG {
            self.grey.push_all(vs, self.fresh);
        } else {
            self.grey.push_range(Range::Fields(vs.as_ptr(), vs.len(), Value::NIL));
        }
    }
    /// The fields of `v`, which is marked, are roots: an old cell that was stored into.
    pub fn rescan(&mut self, v: Value) {
        if v.is_heap() {
            self.grey.push(v.bits() | AGAIN);
        }
    }
}

/// Is it marked (immediates always are)?
#[inline]
pub(crate) fn is_marked(v: Value) -> bool {
    // SAFETY: a heap value lies in a live block.
    !v.is_heap() || unsafe { marked::<false>(v.bits()) }
}

/// How many of these are marked before the first that is not: live, where what is weak is looked at ([`crate::Payload::weak`]).
pub fn marked_before(vs: &[Value]) -> usize {
    vs.iter().take_while(|v| is_marked(**v)).count()
}

/// Marks it, while one thread marks; true when it was not.
#[inline]
pub(crate) fn set_marked(v: Value) -> bool {
    // SAFETY: as in `is_marked`.
    v.is_heap() && unsafe { set_mark::<false>(v.bits()) }
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

impl<'h> Marking<'h> {
    /// Cells outside the blocks of `fresh` are marked already, or dead.
    pub fn new(helpers: &'h Helpers, fresh: Fresh<'h>) -> Marking<'h> {
        Marking { fresh, helpers, cells: 0, bytes: 0 }
    }
    /// Marks what `roots` shows and all that is reached from there. `ivars` shows variables in side tables. When some
    /// `expected` cells are worth it, others are called while the roots are being gathered.
    pub fn run(&mut self, expected: usize, roots: impl FnOnce(&mut Roots), ivars: Ivars) {
        let long = expected > LONG_WORK;
        let many = self.helpers.are_there(long);
        if many && expected > ALONE {
            self.together(long, roots, ivars, &Until::NEVER);
            return;
        }
        let mut r = Roots { grey: Grey::default(), fresh: &self.fresh };
        roots(&mut r);
        if many && r.grey.least() > ALONE {
            let rest = r.grey;
            self.together(long, |r| r.grey = rest, ivars, &Until::NEVER);
            return;
        }
        let mut t = Tracer::<false>::new(r.grey, &self.fresh, ivars);
        let finished = match many {
            true => t.run(ALONE),
            false if self.helpers.gives_way() => {
                while !t.run(STEPS) {
                    self.helpers.give_way();
                }
                true
            }
            false => t.run(usize::MAX),
        };
        t.put_back();
        self.cells += t.cells;
        self.bytes += t.bytes;
        let rest = t.grey;
        if !finished {
            self.together(long, |r| r.grey = rest, ivars, &Until::NEVER);
        }
    }
    /// What was not looked at `until` then comes back.
    fn together(&mut self, long: bool, roots: impl FnOnce(&mut Roots), ivars: Ivars, until: &Until) -> Grey {
        /// Set when it goes, by whatever way.
        struct Gathered<'a>(&'a AtomicBool);
        impl Drop for Gathered<'_> {
            fn drop(&mut self) {
                self.0.store(true, Release);
            }
        }
        let share = Share::<Packet>::new();
        let gathered = AtomicBool::new(false);
        let (cells, bytes, left) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Grey::default()));
        let part = |grey: Grey| {
            let mut t = Tracer::<true>::new(grey, &self.fresh, ivars);
            t.work(&share, self.helpers, until, &left);
            cells.fetch_add(t.cells, Relaxed);
            bytes.fetch_add(t.bytes, Relaxed);
        };
        let job = || {
            // The caller joins first: a helper alone would find all members hungry.
            wait_until(&gathered);
            if share.join() {
                part(Grey::default());
            }
        };
        self.helpers.run(long, &job, || {
            let mut r = Roots { grey: Grey::default(), fresh: &self.fresh };
            let done = Gathered(&gathered);
            roots(&mut r);
            share.join();
            drop(done);
            part(r.grey);
        });
        self.cells += cells.into_inner();
        self.bytes += bytes.into_inner();
        left.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Roots are gathered in a tenth of a millisecond, unless there are very many tasks.
fn wait_until(flag: &AtomicBool) {
    for _ in 0..SPINS * 8 {
        if flag.load(Acquire) {
            return;
        }
        spin();
    }
    while !flag.load(Acquire) {
        std::thread::sleep(std::time::Duration::from_micros(100));
    }
}

/// A queue that is always full: what goes in drives out what went in `N` steps before. 0 stands for nothing.
struct Ring<const N: usize> {
    at: [u64; N],
    next: usize,
}

impl<const N: usize> Ring<N> {
    const fn new() -> Self {
        Ring { at: [0; N], next: 0 }
    }
    #[inline(always)]
    fn step(&mut self, e: u64) -> u64 {
        let i = self.next % N;
        self.next = i + 1;
        std::mem::replace(&mut self.at[i], e)
    }
}

/// One thread's part.
struct Tracer<'a, const MANY: bool> {
    grey: Grey,
    /// Entries whose mark word and cell are on their way.
    near: Ring<NEAR>,
    /// Entries that are marked, whose buffer is on its way.
    far: Ring<FAR>,
    fresh: &'a Fresh<'a>,
    ivars: Ivars<'a>,
    cells: usize,
    bytes: usize,
}

impl<const MANY: bool> Visitor for Tracer<'_, MANY> {
    #[inline(always)]
    fn visit(&mut self, v: Value) {
        if v.is_heap() && self.fresh.may_hold(v.bits()) {
            self.grey.push(v.bits());
        } else if let Some(s) = v.as_sym() {
            self.fresh.sym(s);
        }
    }
    #[inline]
    fn rows(&self) -> bool {
        self.fresh.rows.is_some()
    }
    #[inline]
    fn sym(&mut self, s: Sym) {
        self.fresh.sym(s);
    }
    #[inline(always)]
    fn shape(&mut self, s: ShapeId) {
        if let Some(b) = self.fresh.shapes {
            b.set(s);
        }
    }
    #[inline]
    fn method(&mut self, n: u32) {
        if let Some(r) = self.fresh.rows {
            r.method(n, self);
        }
    }
    #[inline]
    fn code(&mut self, at: u64) {
        if let Some(r) = self.fresh.rows {
            r.code(at, self);
        }
    }
    #[inline(always)]
    fn visit_all(&mut self, vs: &[Value]) {
        self.grey.push_all(vs, self.fresh);
    }
    #[inline(always)]
    fn visit_fields(&mut self, vs: &[Value]) {
        self.visit_list(Value::NIL, vs);
    }
    #[inline(always)]
    fn visit_list(&mut self, owner: Value, vs: &[Value]) {
        if vs.len() < LONG {
            self.visit_all(vs);
        } else {
            self.grey.push_range(Range::Fields(vs.as_ptr(), vs.len(), owner));
        }
    }
    #[inline]
    fn visit_entries(&mut self, owner: Value, h: &HashData) {
        self.entries(owner, h, 0);
    }
    fn visit_payload(&mut self, p: &dyn Payload) {
        if self.fresh.sliced {
            p.trace(&mut Marker::new(&mut slice::Outside(self)));
        } else {
            p.trace(&mut Marker::new(self));
        }
    }
}

/// The fields of a remembered cell: nearly all are marked. What is marked takes no step in the queues, and its cell is
/// not brought into the cache.
struct Again<'t, 'a, const MANY: bool>(&'t mut Tracer<'a, MANY>);

impl<const MANY: bool> Visitor for Again<'_, '_, MANY> {
    #[inline(always)]
    fn visit(&mut self, v: Value) {
        // SAFETY: a heap value lies in a live block.
        if v.is_heap() && self.0.fresh.may_hold(v.bits()) && unsafe { !marked::<MANY>(v.bits()) } {
            self.0.grey.push(v.bits());
        }
    }
    fn visit_fields(&mut self, vs: &[Value]) {
        self.visit_list(Value::NIL, vs);
    }
    fn visit_list(&mut self, owner: Value, vs: &[Value]) {
        // A very long one may want several threads.
        if vs.len() < LONG * 64 { self.visit_all(vs) } else { self.0.visit_list(owner, vs) }
    }
    fn visit_payload(&mut self, p: &dyn Payload) {
        self.0.visit_payload(p);
    }
}

impl<'a, const MANY: bool> Tracer<'a, MANY> {
    fn new(grey: Grey, fresh: &'a Fresh<'a>, ivars: Ivars<'a>) -> Self {
        Tracer { grey, near: Ring::new(), far: Ring::new(), fresh, ivars, cells: 0, bytes: 0 }
    }
    /// What waits for its cache lines is no longer waited for.
    fn put_back(&mut self) {
        self.finish_all();
        for _ in 0..NEAR {
            match self.near.step(0) {
                0 => {}
                e => self.grey.push(e),
            }
        }
    }
    /// Those whose buffers are on their way are looked at. False: there are none.
    fn finish_all(&mut self) -> bool {
        let mut any = false;
        // What they refer to is pushed: none comes in anew.
        for _ in 0..FAR {
            match self.far.step(0) {
                0 => {}
                e => {
                    any = true;
                    self.finish(e);
                }
            }
        }
        any
    }
    /// Looks at `steps` entries; true when none is left.
    fn run(&mut self, steps: usize) -> bool {
        let (mut step, mut idle) = (0, 0);
        while step < steps {
            let fresh = match self.grey.pop() {
                Some(e) => {
                    step += 1;
                    idle = 0;
                    prefetch(Block::mark_word(e).0);
                    prefetch(e as *const u8);
                    // A cell that does not begin at the start of a line often ends in the next.
                    prefetch((e + 32) as *const u8);
                    e
                }
                None if self.grey.has_ranges() => {
                    self.grey.read_range(self.fresh);
                    step += 16;
                    continue;
                }
                None if idle < NEAR => {
                    idle += 1;
                    0
                }
                None if self.finish_all() => continue,
                None => return true,
            };
            let e = self.near.step(fresh);
            if e != 0 {
                self.look(e);
            }
        }
        false
    }
    #[inline(always)]
    fn look(&mut self, e: u64) {
        let v = Value::from_bits(e & !AGAIN);
        let Some(h) = v.header() else { return };
        // SAFETY: entries are live cells.
        let out = unsafe {
            if e & AGAIN == 0 {
                if !set_mark::<MANY>(v.bits()) {
                    return;
                }
                self.cells += 1;
                self.bytes += cell_bytes(h);
            }
            outside(h)
        };
        if h.has(flag::IVARS) {
            (self.ivars)(v, self);
        }
        // Nearly every class is marked already, and its word in the cache.
        // SAFETY: a heap value lies in a live block.
        if h.class().is_heap() && unsafe { !marked::<MANY>(h.class().bits()) } {
            self.grey.push(h.class().bits());
        }
        if !out.is_null() {
            prefetch(out);
            let e = self.far.step(e);
            if e != 0 {
                self.finish(e);
            }
        } else if e & AGAIN != 0 {
            trace_fields(v, &mut Again(self));
        } else if refers(h.kind) {
            // A leaf: the words that say so are in the cache.
            if h.kind == Kind::Data {
                self.bytes += outside_bytes(v);
            }
            trace_fields(v, self);
        } else if h.kind == Kind::Big {
            self.bytes += outside_bytes(v);
        }
    }
    /// What lies outside the cell is in the cache.
    #[inline(always)]
    fn finish(&mut self, e: u64) {
        let v = Value::from_bits(e & !AGAIN);
        if e & AGAIN == 0 {
            self.bytes += outside_bytes(v);
            return trace_fields(v, self);
        }
        match v.cell::<HashObj>() {
            // What a remembered one held at the last collection is marked: a young collection pays for what came since.
            Some(o) => {
                self.visit(o.h.missing().either());
                self.entries(v, &o.h, o.h.unseen());
            }
            None => trace_fields(v, &mut Again(self)),
        }
    }
    /// Marks the entries of the Hash `owner` from a position on.
    #[inline]
    fn entries(&mut self, owner: Value, h: &HashData, from: usize) {
        let n = h.slots();
        if n.saturating_sub(from) < LONG {
            for e in (from..n).filter_map(|i| h.at(i)) {
                self.visit(e.key);
                self.visit(e.val);
            }
        } else {
            self.grey.push_range(Range::Entries(h, from, n, owner));
        }
        h.set_seen();
    }
}

impl Tracer<'_, true> {
    /// Marks and shares until all is marked, or it is over; then what it and others had to look at yet goes to `left`.
    fn work(&mut self, share: &Share<Packet>, helpers: &Helpers, until: &Until, left: &Mutex<Grey>) {
        loop {
            if until.is_over(self.cells) {
                self.leave();
                let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
                left.append(std::mem::take(&mut self.grey));
            } else if until.is_never() {
                helpers.give_way();
            }
            if self.run(STEPS) {
                match share.take() {
                    Some(p) => self.grey.accept(p),
                    None => return,
                }
            } else if share.wanted() {
                // With nothing on the stack, what waits for its cache line may still be much: a few long lists.
                let p = self.grey.split().or_else(|| Some(self.near.step(0)).filter(|e| *e != 0).map(Grey::packet));
                if let Some(p) = p {
                    share.give(p);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
