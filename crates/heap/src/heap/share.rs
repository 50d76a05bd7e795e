//! The walk that freezes a graph of objects and publishes it, so that all may have it: `Ractor.make_shareable` and the segments.
//!
//! **Invariant.** What a cell with [`flag::SHAREABLE`] reaches can never change: each cell that Ruby code can read there is
//! frozen. A walk gives a cell its flags when it first meets it, which is how it knows it again, and keeps what they were; one that
//! is dropped before its end gives them back, and has changed nothing. Nobody else sees the flags meanwhile: a walk comes to no
//! safepoint, and either nobody else reaches the cell, or nobody else runs ([`Sharing::new`]). What others reach is not touched; the
//! walk says so ([`Met::Contended`]) and is made again at a stop.
//!
//! What the classes of objects say is its owner's knowledge. So it stops at each class that it meets, is told
//! ([`Sharing::tell`]), and goes on where it was. References wait on a list of its own, from which a few at a time come into the cache
//! while as many before them are looked at; and their buffers likewise. How a cell was reached it does not know: who is to be told looks
//! for the way (`trail.rs`).
//!
//! The same walk publishes large graphs ([`Raise`](crate::nursery)): it freezes nothing, asks of no class and goes to its end.

use super::Heap;
use super::trail::Trail;
use crate::cells::header::{Header, Kind, flag};
use crate::cells::layout::*;
use crate::cells::trace::{Visitor, cell_bytes, outside, outside_bytes, prefetch, step_bytes, trace_cell, trace_fields};
use crate::nursery::LEAVE;
use crate::space::block::{BLOCK, GRANULE};
use crate::{ClassObj, Gc, HashData, HashObj, Plain, Value};
use kumi_budget::{Grow, Whole};
use std::mem::MaybeUninit;
use std::sync::atomic::Ordering::*;

/// How the objects of a class are shared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Way(u8);

impl Way {
    /// By freezing the cell, and sharing what it refers to.
    pub const PLAIN: Way = Way(0);
    /// They have a `freeze` of their own, which the owner of the walk calls.
    pub const OWN: Way = Way(1);
    /// They are not.
    pub const REFUSED: Way = Way(2);
    /// As they are: threads use them together (Ractors, ports).
    pub const AS_IS: Way = Way(4);
    /// As [`PLAIN`](Self::PLAIN), where it is data that nothing in its payload changes.
    pub const DATA: Way = Way(8);
    /// Data of this class is never seen by itself: it belongs to the object that has it in a variable.
    pub const HIDDEN: Way = Way(16);
    fn is(self, o: Way) -> bool {
        self.0 & o.0 != 0
    }
}

/// Why a walk stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Met {
    /// It has seen all: [`Sharing::finish`].
    End,
    /// How is the class of this object shared? Then [`Sharing::tell`].
    Class(Value),
    /// Others reach this frozen cell. If it is shareable it has to get the flag; if not, the cell is contended.
    Frozen(Value),
    /// Others reach a cell that is to be frozen: the walk is made anew while they do not run.
    Contended,
    /// This cannot be shared. The way to it is [`Sharing::trail`]'s.
    Refused(Value),
    /// Many steps were made: a moment to look whether somebody waits.
    Breath,
}

/// A cell that holds much, and how much of it was looked at.
#[derive(Clone, Copy)]
struct Place {
    cell: Value,
    at: usize,
}

const WAYS: usize = 16;
/// Cells that come into the cache together.
const BATCH: usize = 16;
/// In an entry of those that have more outside: what it owns is counted.
const COUNTED: u64 = 1;
/// Of a long cell so many values are looked at at once.
const PIECE: usize = 128;

/// Some entries, in order.
///
/// **Invariant.** The first `n` are written, and `n` is at most [`BATCH`].
struct Batch {
    at: [MaybeUninit<u64>; BATCH],
    n: usize,
}

impl Batch {
    #[inline(always)]
    fn new() -> Batch {
        Batch { at: [const { MaybeUninit::uninit() }; BATCH], n: 0 }
    }
    /// Adds one.
    ///
    /// # Safety
    /// There are less than [`BATCH`].
    #[inline(always)]
    unsafe fn put(&mut self, e: u64) {
        debug_assert!(self.n < BATCH);
        // SAFETY: the caller's promise.
        unsafe { self.at.get_unchecked_mut(self.n) }.write(e);
        self.n += 1;
    }
    #[inline(always)]
    fn all(&self) -> &[u64] {
        // SAFETY: those are written.
        unsafe { std::slice::from_raw_parts(self.at.as_ptr() as *const u64, self.n) }
    }
    /// So many of them go.
    #[cold]
    fn drop_first(&mut self, n: usize) {
        let n = n.min(self.n);
        self.at.copy_within(n..self.n, 0);
        self.n -= n;
    }
    /// The one that was put last on `grey`; its lines are asked for.
    ///
    /// # Safety
    /// There are less than [`BATCH`].
    #[inline(always)]
    unsafe fn take(&mut self, grey: &mut Vec<Value>) -> bool {
        let Some(v) = grey.pop() else { return false };
        prefetch(v.bits() as *const u8);
        // A cell that does not begin at the start of a line often ends in the next.
        prefetch((v.bits() + 32) as *const u8);
        // SAFETY: the caller's promise.
        unsafe { self.put(v.bits()) };
        true
    }
    /// As many as there is room for.
    #[inline(always)]
    fn fill(&mut self, grey: &mut Vec<Value>) {
        // SAFETY: there is room.
        while self.n < BATCH && unsafe { self.take(grey) } {}
    }
}

/// What is on its way.
struct Coming<'a> {
    here: &'a mut Batch,
    next: &'a mut Batch,
    /// Cells with something outside, which comes.
    far: Batch,
}

/// Cells that were given flags, and the flags they had. Fresh memory is dear, so an entry is short, and none is moved but the first
/// few: it is the cell's place in its block above its flags. The block is told before, wherever it changes, in two entries with [`TOLD`].
#[derive(Default)]
struct Log {
    full: Vec<Vec<u32>>,
    now: Vec<u32>,
    /// Of the last entry.
    block: u64,
}

const TOLD: u32 = 1 << 31;
/// Bits of a block's number in the second of the two.
const LOW: u32 = 24;
/// Entries of a piece of the log.
const LOG: usize = 1 << 13;
/// Of one cell.
const ENTRIES: usize = 3;
const _: () = assert!((BLOCK / GRANULE) << 8 < TOLD as usize && 64 - BLOCK.trailing_zeros() <= 31 + LOW);

impl Log {
    #[inline(always)]
    fn put(&mut self, cell: u64, flags: u8) {
        self.want(1);
        // SAFETY: there is room for one.
        unsafe { self.put_one(cell, flags) };
    }
    /// Makes room for so many cells.
    #[inline(always)]
    fn want(&mut self, cells: usize) {
        if self.now.capacity() - self.now.len() < cells * ENTRIES {
            self.make_room();
        }
    }
    /// Adds one.
    ///
    /// # Safety
    /// There is room for it.
    #[inline(always)]
    unsafe fn put_one(&mut self, cell: u64, flags: u8) {
        let block = cell / BLOCK as u64;
        let at = cell % BLOCK as u64 / GRANULE as u64;
        // SAFETY: the caller's promise.
        unsafe {
            if block != self.block {
                self.block = block;
                self.push(TOLD | (block >> LOW) as u32);
                self.push(TOLD | block as u32 & ((1 << LOW) - 1));
            }
            self.push((at as u32) << 8 | flags as u32);
        }
    }
    /// # Safety
    /// There is room for it.
    #[inline(always)]
    unsafe fn push(&mut self, e: u32) {
        let n = self.now.len();
        debug_assert!(n < self.now.capacity());
        // SAFETY: the caller's promise.
        unsafe {
            self.now.as_mut_ptr().add(n).write(e);
            self.now.set_len(n + 1);
        }
    }
    /// For [`BATCH`] cells at least.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        if self.now.capacity() < LOG {
            let n = (self.now.capacity() * 2).clamp(BATCH * ENTRIES, LOG);
            self.now.want(n - self.now.len());
        } else {
            self.full.put(std::mem::replace(&mut self.now, Vec::room(LOG)));
        }
    }
    fn each(&self, mut f: impl FnMut(u64, u8)) {
        let (mut block, mut high) = (0, None);
        for &e in self.full.iter().flatten().chain(&self.now) {
            match (high, (e & !TOLD) as u64) {
                (Some(h), low) if e & TOLD != 0 => (block, high) = (h << LOW | low, None),
                (None, h) if e & TOLD != 0 => high = Some(h),
                (_, e) => f(block * BLOCK as u64 + (e >> 8) * GRANULE as u64, e as u8),
            }
        }
    }
}

/// A walk that goes on.
///
/// Without `FREEZE` it gives cells the flags `need` and no others.
pub struct Sharing<const FREEZE: bool = true> {
    root: Value,
    /// What is to be looked at; what was is passed.
    grey: Vec<Value>,
    /// What comes next: the root, or what it stopped at.
    again: Option<Value>,
    long: Vec<Place>,
    done: Log,
    own: Vec<Value>,
    /// Published at the end.
    later: Vec<Value>,
    /// Singleton classes of what is frozen.
    singletons: Vec<Gc<ClassObj>>,
    ways: [(u64, Way); WAYS],
    /// Classes of which there is nothing else to know, at the same places.
    plain: [u64; WAYS],
    alone: bool,
    /// What publishing gives.
    need: u8,
    /// A cell with one of these flags is no common one.
    rare: u8,
    cells: u64,
    bytes: usize,
    outside: usize,
}

/// A fresh cell's frozen state and publication, in one.
const ALL: u8 = flag::FROZEN | flag::SHAREABLE | LEAVE;
/// Kinds of which most cells are.
const COMMON: u32 = {
    let (buffered, slots) = (1 << Kind::Str as u32 | 1 << Kind::Array as u32 | 1 << Kind::Hash as u32, 1 << Kind::Struct as u32);
    buffered | slots | 1 << Kind::Object as u32 | 1 << Kind::Record as u32 | 1 << Kind::Range as u32
};
const PASSED: u8 = flag::SHAREABLE | LEAVE;

/// What a cell refers to, or a piece of it from `at` on.
struct Referred<'a> {
    to: &'a mut Vec<Value>,
    at: usize,
    more: bool,
}

impl Referred<'_> {
    /// Where this piece of `n` values ends.
    #[inline(always)]
    fn end(&mut self, n: usize) -> usize {
        let end = n.min(self.at + PIECE);
        self.more = end < n;
        end
    }
}

/// So many values are looked at first whether they are all numbers.
const NUMBERS: usize = 32;

/// Those that are cells, the first on top.
#[inline(always)]
fn push_all(to: &mut Vec<Value>, vs: &[Value]) {
    // Long lists of numbers are common.
    if vs.len() >= NUMBERS && vs.iter().fold(true, |all, v| all & v.is_fix()) {
        return;
    }
    to.want(vs.len());
    let mut n = to.len();
    // SAFETY: room for all of them. Which are wanted follows no order: each is written, and the next over those that are not.
    unsafe {
        let p = to.as_mut_ptr();
        for v in vs.iter().rev() {
            let v = <Value as Plain>::load(v);
            *p.add(n) = v;
            n += v.is_heap() as usize;
        }
        to.set_len(n);
    }
}

impl Visitor for Referred<'_> {
    #[inline(always)]
    fn visit(&mut self, v: Value) {
        if v.is_heap() && self.at == 0 {
            self.to.put(v);
        }
    }
    #[inline(always)]
    fn visit_all(&mut self, vs: &[Value]) {
        if self.at == 0 {
            push_all(self.to, vs);
        }
    }
    #[inline(always)]
    fn visit_fields(&mut self, vs: &[Value]) {
        let end = self.end(vs.len());
        push_all(self.to, vs.get(self.at..end).unwrap_or(&[]));
    }
    #[inline(always)]
    fn visit_entries(&mut self, _: Value, h: &HashData) {
        let end = self.end(h.slots());
        for e in (self.at..end).rev().filter_map(|i| h.at(i)) {
            for v in [e.val, e.key] {
                if v.is_heap() {
                    self.to.put(v);
                }
            }
        }
    }
}

impl Sharing {
    /// Steps between two breaths.
    pub const BREATH: usize = 8192;
    /// The walk from `root`. `alone`: no other worker runs until it is finished or dropped, one worker runs alone or the world
    /// is stopped.
    pub fn new(root: Value, alone: bool) -> Sharing {
        let rare = flag::SHAREABLE | flag::SINGLETON | flag::IVARS | if alone { 0 } else { flag::SHARED };
        let mut s = Sharing::of(root, alone, ALL, rare);
        s.again = root.is_heap().then_some(root);
        s
    }
    /// How objects of `v`'s class are shared.
    pub fn tell(&mut self, v: Value, way: Way) {
        if let Some(h) = v.header() {
            let (class, at) = (h.class().bits(), slot(h.class()));
            self.ways[at] = (class, way);
            self.plain[at] = if way == Way::PLAIN { class } else { 0 };
        }
    }
    /// Goes on until there is something to say.
    pub fn run(&mut self, heap: &mut Heap) -> Met {
        if self.grey.capacity() == 0 {
            self.grey = std::mem::take(&mut heap.grey);
        }
        // What was told of its class may be forgotten when the class of another is: it comes first.
        if let Some(v) = self.again.take()
            && let Some(met) = self.look(heap, v)
        {
            return met;
        }
        self.walk(heap)
    }
    /// Gives up. How is the part reached that was refused?
    pub fn trail(self, part: Value) -> Trail {
        let hidden = part.is_kind(Kind::Data) && part.header().is_some_and(|h| self.ways[slot(h.class())].1.is(Way::HIDDEN));
        let root = self.root;
        // It passes what is shareable, as all is that the walk has met.
        drop(self);
        Trail::new(root, part, hidden)
    }
    /// What has to be made shareable by other means first: Procs, and objects with a `freeze` of their own that are not frozen.
    pub fn own(&self) -> &[Value] {
        &self.own
    }
    /// All is walked, and nothing is left to be made shareable by other means: so it stays.
    pub fn finish(mut self, heap: &mut Heap) {
        self.done = Log::default();
        heap.grey = std::mem::take(&mut self.grey);
        heap.left(self.cells, self.bytes, self.outside);
        for s in std::mem::take(&mut self.singletons) {
            s.hdr.set(flag::FROZEN);
        }
        for v in std::mem::take(&mut self.later) {
            heap.publish(v);
        }
    }
}

impl Sharing<false> {
    /// Gives the flags `need` to all that the cells of `grey` reach, which have them. The list comes back empty. It is refused no memory.
    #[cold]
    #[inline(never)]
    pub(crate) fn raise(heap: &mut Heap, need: u8, grey: Vec<Value>) -> Vec<Value> {
        // A part that has left refers to nothing that stays.
        let _whole = Whole::new();
        let mut walk = Sharing::<false>::of(Value::NIL, false, need, flag::SINGLETON | flag::IVARS);
        grey.iter().for_each(|v| walk.follow_all(*v));
        while walk.walk(heap) != Met::End {}
        heap.left(walk.cells, walk.bytes, walk.outside);
        let mut grey = grey;
        grey.clear();
        grey
    }
}

impl<const FREEZE: bool> Sharing<FREEZE> {
    fn of(root: Value, alone: bool, need: u8, rare: u8) -> Self {
        Sharing {
            root,
            grey: Vec::new(),
            again: None,
            long: Vec::new(),
            done: Log::default(),
            own: Vec::new(),
            later: Vec::new(),
            singletons: Vec::new(),
            ways: [(0, Way::PLAIN); WAYS],
            plain: [0; WAYS],
            alone,
            need,
            rare,
            cells: 0,
            bytes: 0,
            outside: 0,
        }
    }
    /// Goes on with what is on the list.
    fn walk(&mut self, heap: &mut Heap) -> Met {
        let (mut here, mut next) = (Batch::new(), Batch::new());
        let mut coming = Coming { here: &mut here, next: &mut next, far: Batch::new() };
        let mut steps = 0;
        let met = loop {
            if coming.here.n == 0 && self.grey.len() <= 1 && coming.far.n < BATCH {
                // It waits for nobody.
                match self.grey.pop() {
                    Some(v) => {
                        steps += 1;
                        self.done.want(1);
                        // SAFETY: there is room.
                        if let Some(met) = unsafe { self.look_at(heap, v, &mut coming.far) } {
                            break met;
                        }
                    }
                    None if self.goes_on(&mut coming) => {}
                    None => break Met::End,
                }
            } else {
                coming.here.fill(&mut self.grey);
                steps += coming.here.n;
                if let Some(met) = self.look_at_all(heap, &mut coming) {
                    break met;
                }
            }
            if steps >= Sharing::BREATH {
                break Met::Breath;
            }
        };
        self.put_back(coming);
        met
    }
    /// Nothing waits for its line: what waits for more is looked at. False: there is nothing.
    #[inline(never)]
    fn goes_on(&mut self, coming: &mut Coming) -> bool {
        let some = coming.far.n > 0;
        self.look_outside(&mut coming.far);
        some || self.read_long()
    }
    /// What lies outside of cells is here.
    #[inline(always)]
    fn look_outside(&mut self, far: &mut Batch) {
        far.all().iter().for_each(|e| self.look_into(*e));
        far.n = 0;
    }
    /// What has not come yet waits on the list.
    #[inline(never)]
    fn put_back(&mut self, mut coming: Coming<'_>) {
        self.look_outside(&mut coming.far);
        for e in coming.next.all().iter().rev().chain(coming.here.all().iter().rev()) {
            self.grey.put(Value::from_bits(*e));
        }
    }
    /// Looks at those that are here; the next ones are here then.
    #[inline(always)]
    fn look_at_all(&mut self, heap: &Heap, coming: &mut Coming) -> Option<Met> {
        let Coming { here, next, far } = coming;
        self.done.want(BATCH);
        self.look_outside(far);
        for (i, e) in here.all().iter().enumerate() {
            // SAFETY: one more at most for each that is here; there is room in the log for all of them.
            if let Some(met) = unsafe { self.look_at(heap, Value::from_bits(*e), far) } {
                here.drop_first(i + 1);
                return Some(met);
            }
            // One comes for each that goes: they are asked for evenly.
            // SAFETY: no more than are here.
            unsafe { next.take(&mut self.grey) };
        }
        std::mem::swap(here, next);
        next.n = 0;
        None
    }
    /// Looks at one reference.
    fn look(&mut self, heap: &Heap, v: Value) -> Option<Met> {
        let mut far = Batch::new();
        self.done.want(1);
        // SAFETY: there is room.
        let met = unsafe { self.look_at(heap, v, &mut far) };
        far.all().iter().for_each(|e| self.look_at_rest(*e));
        met
    }
    /// The same; what lies outside of it comes.
    ///
    /// # Safety
    /// There is room in `far`, and in the log.
    #[inline(always)]
    unsafe fn look_at(&mut self, heap: &Heap, v: Value, far: &mut Batch) -> Option<Met> {
        // SAFETY: only cells come here, which live.
        let h = unsafe { &*(v.bits() as *const Header) };
        let f = h.flags.load(Relaxed);
        let (passed, all) = if FREEZE { (PASSED, ALL) } else { (self.need, self.need) };
        if f & passed == passed {
            return None;
        }
        // The commonest ones; what freezes them knows their classes.
        let (class, kind) = (h.class(), h.kind);
        if f & self.rare != 0 || COMMON >> kind as u32 & 1 == 0 || FREEZE && self.plain[slot(class)] != class.bits() {
            return self.look_closely(heap, v, h, f);
        }
        if FREEZE {
            // SAFETY: there is room.
            unsafe { self.done.put_one(v.bits(), f) };
        }
        let counted = f & flag::OUT == 0;
        if counted {
            self.cells += 1;
            self.bytes += step_bytes(h);
        }
        // SAFETY: the header of a live cell.
        let out = unsafe { outside(h) };
        // Nobody else changes its flags now. After all looks at the header: a wider one would wait for this store.
        h.flags.store(f | all, Release);
        if !out.is_null() {
            prefetch(out);
            // What is small, and few are smaller than a line, ends in the next one.
            prefetch(out.wrapping_add(64));
            // SAFETY: there is room.
            unsafe { far.put(v.bits() | if counted { COUNTED } else { 0 }) };
            return None;
        }
        // SAFETY: the kind names the layout; nobody else stores into the cell ([`Sharing::new`]; what is published was private).
        unsafe {
            match kind {
                Kind::Str => {}
                Kind::Array => push_all(&mut self.grey, v.cell_unchecked::<ArrayObj>().unraced()),
                Kind::Struct => {
                    let all = v.cell_unchecked::<StructObj>();
                    if all.hdr.x.get() as usize <= PIECE { push_all(&mut self.grey, all.unraced()) } else { self.follow(v, 0) }
                }
                Kind::Object => push_all(&mut self.grey, v.cell_unchecked::<ObjectObj>().inline()),
                _ => self.follow(v, 0),
            }
        }
        None
    }
    /// What lies outside the cell is in the cache.
    #[inline(always)]
    fn look_into(&mut self, e: u64) {
        let v = Value::from_bits(e & !COUNTED);
        // SAFETY: only cells come here, whose kind names the layout; nobody else stores into this one ([`Sharing::new`]; what is published was private).
        unsafe {
            match (*(v.bits() as *const Header)).kind {
                Kind::Hash => self.look_into_table(e),
                Kind::Array => {
                    let o = v.cell_unchecked::<ArrayObj>();
                    let all = o.unraced();
                    if all.len() > PIECE {
                        return self.look_at_rest(e);
                    }
                    if e & COUNTED != 0 {
                        self.outside += o.capacity() * 8;
                    }
                    push_all(&mut self.grey, all);
                }
                _ => self.look_at_rest(e),
            }
        }
    }
    #[inline(always)]
    fn look_into_table(&mut self, e: u64) {
        // SAFETY: such entries are Hashes.
        let o = unsafe { Value::from_bits(e & !COUNTED).cell_unchecked::<HashObj>() };
        let n = o.h.slots();
        if n > PIECE {
            return self.look_at_rest(e);
        }
        if e & COUNTED != 0 {
            self.outside += o.h.bytes();
        }
        self.grey.want(2 * n + 1);
        let mut len = self.grey.len();
        // SAFETY: room for all of them, as in `push_all`.
        unsafe {
            let p = self.grey.as_mut_ptr();
            let mut put = |v: Value| {
                *p.add(len) = v;
                len += v.is_heap() as usize;
            };
            put(o.h.missing().either());
            for i in (0..n).rev() {
                if let Some(e) = o.h.at(i) {
                    put(e.val);
                    put(e.key);
                }
            }
            self.grey.set_len(len);
        }
    }
    #[inline(never)]
    fn look_at_rest(&mut self, e: u64) {
        let v = Value::from_bits(e & !COUNTED);
        if e & COUNTED != 0 {
            self.outside += outside_bytes(v);
        }
        self.follow(v, 0);
    }
    /// What the cell refers to, from `at` on, is to be looked at.
    fn follow(&mut self, cell: Value, at: usize) {
        let mut r = Referred { to: &mut self.grey, at, more: false };
        trace_fields(cell, &mut r);
        if r.more {
            self.long.put(Place { cell, at: at + PIECE });
        }
    }
    /// What the cell refers to, its class too.
    fn follow_all(&mut self, cell: Value) {
        if let Some(h) = cell.header()
            && COMMON >> h.kind as u32 & 1 != 0
        {
            if h.class().is_heap() {
                self.grey.put(h.class());
            }
            return self.follow(cell, 0);
        }
        /// A list of all cells that it is shown.
        struct All<'a>(&'a mut Vec<Value>);
        impl Visitor for All<'_> {
            fn visit(&mut self, v: Value) {
                if v.is_heap() {
                    self.0.put(v);
                }
            }
        }
        trace_cell(cell, &mut All(&mut self.grey));
    }
    /// The next piece of the youngest long cell.
    fn read_long(&mut self) -> bool {
        self.long.pop().map(|p| self.follow(p.cell, p.at)).is_some()
    }
    #[inline(never)]
    fn look_closely(&mut self, heap: &Heap, v: Value, h: &Header, f: u8) -> Option<Met> {
        if !FREEZE {
            self.mark(v, h, f, self.need);
            self.follow_all(v);
            return None;
        }
        if f & flag::SHAREABLE != 0 {
            self.later.put(v);
            return None;
        }
        let others = !self.alone && f & flag::SHARED != 0;
        match h.kind {
            Kind::Class => return None,
            Kind::Float | Kind::Big => {
                if !others {
                    self.mark(v, h, f, ALL);
                }
                return None;
            }
            Kind::Pair if others => return None,
            Kind::Pair => {
                self.mark(v, h, f, ALL);
                self.follow(v, 0);
                return None;
            }
            Kind::Proc => {
                let shareable = v.as_proc().is_some_and(|p| p.hdr.x.get() & (ProcObj::SHAREABLE | ProcObj::FROM_SYMBOL) != 0);
                let list = if shareable { &mut self.later } else { &mut self.own };
                list.put(v);
                return None;
            }
            Kind::Str | Kind::Array | Kind::Hash | Kind::Object | Kind::Struct | Kind::Range | Kind::Record | Kind::Data => {}
            _ => return Some(Met::Refused(v)),
        }
        let class = h.class();
        let (known, way) = self.ways[slot(class)];
        if known != class.bits() {
            return self.stop(v, Met::Class(v));
        }
        if way.is(Way::AS_IS) {
            self.later.put(v);
            return None;
        }
        let data = v.cell::<DataObj>();
        if way.is(Way::REFUSED) || data.is_some_and(|d| !way.is(Way::DATA) && !d.payload.constant()) {
            return Some(Met::Refused(v));
        }
        if others {
            return match h.kind {
                _ if f & flag::FROZEN == 0 => self.stop(v, Met::Contended),
                // It is so already, whatever becomes of the walk.
                Kind::Str | Kind::Data if f & flag::IVARS == 0 => {
                    h.set(flag::SHAREABLE);
                    None
                }
                _ => self.stop(v, Met::Frozen(v)),
            };
        }
        if way.is(Way::OWN) && f & flag::FROZEN == 0 {
            self.own.put(v);
        }
        if f & flag::SINGLETON != 0
            && let Some(s) = class.as_class()
            && s.is_singleton()
            && s.data.attached == v
        {
            self.singletons.put(s);
        }
        if data.is_some() {
            // What it holds is published with it.
            self.later.put(v);
            self.mark(v, h, f, flag::FROZEN | flag::SHAREABLE);
        } else {
            self.mark(v, h, f, ALL);
        }
        if f & flag::IVARS != 0 {
            heap.side_ivars(v).into_iter().rev().filter(|p| p.1.is_heap()).for_each(|p| self.grey.put(p.1));
        }
        if data.is_none() {
            self.follow(v, 0);
        }
        None
    }
    fn stop(&mut self, v: Value, met: Met) -> Option<Met> {
        self.again = Some(v);
        Some(met)
    }
    fn mark(&mut self, v: Value, h: &Header, f: u8, need: u8) {
        if FREEZE {
            self.done.put(v.bits(), f);
        }
        // Nobody else changes its flags now.
        h.flags.store(f | need, Release);
        if f & flag::OUT == 0 && need & flag::OUT != 0 {
            self.cells += 1;
            self.bytes += cell_bytes(h);
            self.outside += outside_bytes(v);
        }
    }
}

impl<const FREEZE: bool> Drop for Sharing<FREEZE> {
    fn drop(&mut self) {
        self.done.each(|cell, flags| {
            if let Some(h) = Value::from_bits(cell).header() {
                h.flags.store(flags, Release);
            }
        });
    }
}

#[inline(always)]
fn slot(class: Value) -> usize {
    (class.bits() >> 5) as usize % WAYS
}
