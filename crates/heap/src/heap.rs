//! One worker's heap: allocation by size class, the barrier, lazy sweeping; and
//! the collection of all workers' heaps together (`collect.rs`).
//!
//! Invariant: a block belongs to one heap, and only that heap's worker allocates
//! in it and sweeps it; the collector touches it while the worker is stopped.

use crate::block::Block;
use crate::header::{Gc, Header, Kind, flag};
use crate::layout::*;
use crate::retire::{self, Retired};
use crate::shape::Shapes;
use crate::shared::{HeapShared, lock};
use crate::stat::{Counters, GcStat};
use crate::trace::{Marker, drop_cell};
use crate::{ClassData, ClassObj, HashData, HashObj, Instance, RaceVec, Role, Sym, Value};
use kumi_num::BigInt;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::{Arc, PoisonError};

/// Cell sizes in bytes. A cell beyond the last is a large object.
pub(crate) const SIZES: [usize; 12] = [32, 48, 64, 80, 96, 128, 192, 256, 384, 512, 1024, 2048];
/// Size class by (bytes + 15) / 16.
const CLASS_OF: [u8; 129] = {
    let mut t = [0u8; 129];
    let mut i = 0;
    while i < 129 {
        let mut k = 0;
        while SIZES[k] < i * 16 {
            k += 1;
        }
        t[i] = k as u8;
        i += 1;
    }
    t
};

#[repr(C)]
struct FreeCell {
    hdr: Header,
    next: *mut FreeCell,
}

pub(crate) struct SizeClass {
    free: *mut FreeCell,
    pub blocks: Vec<*mut Block>,
    /// Blocks before this one are swept.
    cursor: usize,
}

impl SizeClass {
    /// Every block is to be swept again.
    pub fn restart(&mut self) {
        self.free = std::ptr::null_mut();
        self.cursor = 0;
    }
}

/// One worker's heap.
pub struct Heap {
    pub(crate) classes: [SizeClass; SIZES.len()],
    pub(crate) large: Vec<*mut Block>,
    /// Bytes until more must be taken from the common budget; checked by `charge` and on slow allocation paths.
    pub(crate) budget: isize,
    /// How much was taken last.
    pub(crate) piece: isize,
    /// Something waits for the next safepoint: a wished collection, or whatever the loop's owner put here.
    pub poll: AtomicBool,
    /// This worker's view of the shape tree.
    pub shapes: Shapes,
    counters: Arc<Counters>,
    pub(crate) retired: Box<Retired>,
    /// Sites of allocation (`site.rs`).
    pub(crate) sites: crate::site::Sites,
    /// While a profile is made (`sample.rs`).
    pub(crate) sampler: Option<Box<crate::sample::Sampler>>,
    pub(crate) shared: Arc<HeapShared>,
}

// SAFETY: its blocks are its own; a heap moves to another thread as a whole, between safepoints.
unsafe impl Send for Heap {}

pub(crate) const FIRST_BUDGET: isize = 24 << 20;
/// How much of the common budget a worker takes at a time.
const PIECE: isize = 256 << 10;

impl Default for Heap {
    fn default() -> Self {
        Heap::new()
    }
}

impl Heap {
    /// The first heap of a runtime.
    pub fn new() -> Heap {
        Heap::with(Arc::new(HeapShared::new(FIRST_BUDGET)), Shapes::default())
    }
    /// Another worker's heap of the same runtime.
    pub fn sibling(&self) -> Heap {
        let mut h = Heap::with(self.shared.clone(), self.shapes.sibling());
        if self.sampler.is_some() {
            h.start_profile();
        }
        h
    }
    fn with(shared: Arc<HeapShared>, shapes: Shapes) -> Heap {
        Heap {
            classes: std::array::from_fn(|_| SizeClass { free: std::ptr::null_mut(), blocks: Vec::new(), cursor: 0 }),
            large: Vec::new(),
            budget: 0,
            piece: 0,
            poll: AtomicBool::new(false),
            shapes,
            counters: shared.register(),
            retired: Box::default(),
            sites: crate::site::Sites::new(shared.book.policy),
            sampler: None,
            shared,
        }
    }
    /// What all heaps of the runtime have in common.
    pub fn shared(&self) -> &Arc<HeapShared> {
        &self.shared
    }
    /// Tells the calling thread, which is to run with this heap, whether others run beside it.
    /// In parallel mode what is replaced is kept until the next collection.
    ///
    /// Must be called anew when the heap goes to another thread, and with `false` by the thread before.
    pub fn set_parallel(&mut self, on: bool) {
        // SAFETY: the list is in a box of its own, and unbound before the box goes (`drop`).
        unsafe { retire::bind(on.then_some(&*self.retired)) };
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
    /// Counts bytes outside cells (string and array buffers) towards the next collection.
    #[inline]
    pub fn charge(&mut self, bytes: usize) {
        // The budget is not negative here, so that no request of a possible size overflows.
        self.budget = self.budget.wrapping_sub(bytes as isize);
        if self.budget < 0 {
            self.more_budget();
        }
    }
    /// Takes a piece of the common budget; asks for a collection when there is none left.
    #[cold]
    #[inline(never)]
    fn more_budget(&mut self) {
        let used = self.piece.saturating_sub(self.budget);
        Counters::add(&self.counters.allocated_bytes, used as u64);
        let need = used.saturating_add_unsigned(self.retired.take_fresh()).min(isize::MAX / 4);
        let had = self.shared.budget.fetch_update(Relaxed, Relaxed, |b| Some(b.saturating_sub(need)));
        self.piece = self.sampler.as_mut().map_or(PIECE, |s| s.piece());
        self.budget = self.piece;
        if self.sampler.is_some() {
            self.sample(used as u64);
        }
        if had.is_ok_and(|b| b < need) {
            self.request_gc();
        }
    }
    /// May `bytes` more be allocated at once? Natives ask before large requests.
    pub fn can_allocate(&self, bytes: usize) -> bool {
        self.shared.can_allocate(bytes)
    }
    /// As [`HeapShared::over_limit`].
    pub fn over_limit(&mut self) -> bool {
        self.shared.over_limit()
    }
    /// The write barrier: `v` is about to be stored into a field of `holder`.
    ///
    /// Called before every store into a cell that was not just allocated.
    #[inline(always)]
    pub fn before_store(&mut self, _holder: Value, _v: Value) {}
    /// `v` is about to go where another worker may find it: a structure outside the heap.
    #[inline(always)]
    pub fn publish(&mut self, _v: Value) {}
    /// Publishes all that `roots` shows: what the stacks of a thread hold that stops running here.
    pub fn publish_roots(&mut self, _roots: impl FnOnce(&mut Marker)) {}
    /// Takes all that `roots` shows out of the window: stacks that have not run for a while are its roots no more.
    pub fn retire_roots(&mut self, _roots: impl FnOnce(&mut Marker)) {}
    /// May there be private cells?
    #[inline(always)]
    pub fn has_private(&self) -> bool {
        true
    }
    /// Is a window collection due?
    #[inline(always)]
    pub fn wants_window(&self) -> bool {
        false
    }
    /// A window collection. `roots` shows what the running thread's stacks and the worker itself hold.
    pub fn collect_window(&mut self, _roots: impl FnMut(&mut Marker)) {}
    /// [`Heap::before_store`] for each of the values.
    #[inline]
    pub fn before_store_all(&mut self, holder: Value, vs: &[Value]) {
        for &v in vs {
            self.before_store(holder, v);
        }
    }

    #[inline(always)]
    fn raw(&mut self, bytes: usize) -> *mut u8 {
        let k = bytes.div_ceil(16);
        if k < CLASS_OF.len() {
            let c = CLASS_OF[k] as usize;
            let f = self.classes[c].free;
            if !f.is_null() {
                // SAFETY: free-list cells are unused cells of at least `bytes`.
                self.classes[c].free = unsafe { (*f).next };
                return f as *mut u8;
            }
            return self.refill(c);
        }
        self.raw_large(bytes)
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self, c: usize) -> *mut u8 {
        loop {
            let sc = &mut self.classes[c];
            if sc.cursor < sc.blocks.len() {
                let b = sc.blocks[sc.cursor];
                sc.cursor += 1;
                // SAFETY: blocks in the list are live.
                let got = unsafe { self.sweep(b, c) };
                let f = self.classes[c].free;
                if got > 0 {
                    Counters::add(&self.counters.allocated_cells, got as u64);
                    self.charge(got * SIZES[c]);
                    // SAFETY: as in `raw`.
                    self.classes[c].free = unsafe { (*f).next };
                    return f as *mut u8;
                }
                continue;
            }
            let Some(b) = Block::new(SIZES[c]) else { std::alloc::handle_alloc_error(std::alloc::Layout::new::<Block>()) };
            self.shared.heap_bytes.fetch_add(crate::block::BLOCK, Relaxed);
            // SAFETY: just made.
            unsafe { (*b).unswept = true };
            self.classes[c].blocks.push(b);
        }
    }

    fn raw_large(&mut self, bytes: usize) -> *mut u8 {
        let Some(b) = Block::new(bytes) else { std::alloc::handle_alloc_error(std::alloc::Layout::new::<Block>()) };
        self.large.push(b);
        // SAFETY: just made, one cell.
        unsafe {
            self.shared.heap_bytes.fetch_add((*b).bytes(), Relaxed);
            self.charge((*b).bytes());
            (*b).at(0) as *mut u8
        }
    }

    /// Drops dead cells of a block and links its free cells; returns their number.
    ///
    /// # Safety
    /// `b` is a live block of size class `c` whose marks are those of the last collection.
    unsafe fn sweep(&mut self, b: *mut Block, c: usize) -> usize {
        let mut n = 0;
        // SAFETY: the caller's promise; cells not marked are dead.
        unsafe {
            if !(*b).unswept {
                return 0;
            }
            (*b).unswept = false;
            let mut list = self.classes[c].free;
            for i in (0..(*b).count).rev() {
                let h = (*b).at(i);
                if (*h).kind != Kind::Free {
                    if (*b).marked(h as u64) {
                        continue;
                    }
                    drop_cell(h);
                }
                let f = h as *mut FreeCell;
                (*f).next = list;
                list = f;
                n += 1;
            }
            self.classes[c].free = list;
        }
        n
    }

    /// Finishes all lazy sweeping.
    pub fn sweep_all(&mut self) {
        for c in 0..SIZES.len() {
            while self.classes[c].cursor < self.classes[c].blocks.len() {
                let b = self.classes[c].blocks[self.classes[c].cursor];
                self.classes[c].cursor += 1;
                // SAFETY: as in refill.
                unsafe { self.sweep(b, c) };
            }
        }
    }

    #[inline(always)]
    fn put<T>(&mut self, v: T) -> Gc<T> {
        let p = self.raw(std::mem::size_of::<T>()) as *mut T;
        // SAFETY: fresh cell of T's size.
        unsafe { p.write(v) };
        Gc::from_ptr(p)
    }

    #[inline(always)]
    fn put_slots<T>(&mut self, v: T, n: usize, fill: Value) -> Gc<T> {
        let head = std::mem::size_of::<T>();
        let p = self.raw(head + n * 8);
        // SAFETY: fresh cell of head and n words.
        unsafe {
            (p as *mut T).write(v);
            let s = p.add(head) as *mut Value;
            for i in 0..n {
                s.add(i).write(fill);
            }
        }
        Gc::from_ptr(p as *mut T)
    }

    // --- making cells ---------------------------------------------------

    /// A plain object with `slots` inline variables.
    #[inline(always)]
    pub fn object(&mut self, class: Gc<ClassObj>) -> Value {
        let n = class.slots;
        let mut hdr = Header::new(class.val(), Kind::Object);
        hdr.x = n;
        #[repr(C)]
        struct Head {
            hdr: Header,
            ext: RaceVec<Value, 0>,
        }
        self.put_slots(Head { hdr, ext: RaceVec::new() }, n as usize, Value::UNDEF).val()
    }
    /// A Float, flonum where it fits. `class`: Float.
    #[inline(always)]
    pub fn float(&mut self, class: Value, f: f64) -> Value {
        match Value::try_flo(f) {
            Some(v) => v,
            None => self.put(FloatObj { hdr: Header::with(class, Kind::Float, flag::FROZEN), f }).val(),
        }
    }
    /// An Integer from a big one: a fixnum where it fits. `class`: Integer.
    pub fn big(&mut self, class: Value, n: BigInt) -> Value {
        if let Some(v) = n.to_i64().and_then(Value::try_fix) {
            return v;
        }
        self.charge(n.heap_size());
        self.put(BigObj { hdr: Header::with(class, Kind::Big, flag::FROZEN), n }).val()
    }
    /// A string from bytes; `enc` is the encoding index.
    #[inline]
    pub fn str(&mut self, class: Value, bytes: &[u8], enc: u8) -> Gc<StrObj> {
        if bytes.len() > 24 {
            self.charge(bytes.len());
        }
        let p = self.raw(std::mem::size_of::<StrObj>()) as *mut StrObj;
        let mut hdr = Header::new(class, Kind::Str);
        hdr.x = enc as u16;
        // SAFETY: a fresh cell of that size.
        unsafe {
            (&raw mut (*p).hdr).write(hdr);
            RaceVec::write(&raw mut (*p).buf, bytes);
        }
        Gc::from_ptr(p)
    }
    /// A string that takes over a buffer.
    #[inline]
    pub fn str_buf(&mut self, class: Value, buf: StrBuf, enc: u8) -> Gc<StrObj> {
        if buf.spilled() {
            self.charge(buf.capacity());
        }
        let mut hdr = Header::new(class, Kind::Str);
        hdr.x = enc as u16;
        self.put(StrObj { hdr, buf })
    }
    #[inline]
    pub fn array(&mut self, class: Value, elems: &[Value]) -> Gc<ArrayObj> {
        if elems.len() > 3 {
            self.charge(elems.len() * 8);
        }
        let p = self.raw(std::mem::size_of::<ArrayObj>()) as *mut ArrayObj;
        // SAFETY: a fresh cell of that size.
        unsafe { ArrayObj::write(p, class, elems) };
        Gc::from_ptr(p)
    }
    /// An array that takes over a buffer.
    #[inline]
    pub fn array_buf(&mut self, class: Value, buf: ArrayBuf) -> Gc<ArrayObj> {
        if buf.spilled() {
            self.charge(buf.capacity() * 8);
        }
        self.put(ArrayObj::new(class, buf))
    }
    pub fn hash(&mut self, class: Value, h: HashData) -> Gc<HashObj> {
        self.charge(128);
        self.put(HashObj { hdr: Header::new(class, Kind::Hash), h: Box::new(h) })
    }
    pub fn range(&mut self, class: Value, lo: Value, hi: Value, exclusive: bool) -> Value {
        let mut hdr = Header::with(class, Kind::Range, flag::FROZEN);
        hdr.x = exclusive as u16;
        self.put(RangeObj { hdr, lo, hi }).val()
    }
    /// A Rational or Complex (by class).
    pub fn pair(&mut self, class: Value, a: Value, b: Value) -> Value {
        self.put(PairObj { hdr: Header::with(class, Kind::Pair, flag::FROZEN), a, b }).val()
    }
    /// A Struct or Data instance of `n` nil members.
    pub fn structure(&mut self, class: Value, n: u16) -> Gc<StructObj> {
        let mut hdr = Header::new(class, Kind::Struct);
        hdr.x = n;
        #[repr(C)]
        struct Head(Header);
        let g = self.put_slots(Head(hdr), n as usize, Value::NIL);
        // SAFETY: Head is StructObj without its empty tail.
        unsafe { g.val().cell_unchecked() }
    }
    pub fn proc(&mut self, p: ProcObj) -> Gc<ProcObj> {
        self.put(p)
    }
    #[inline(always)]
    pub fn env(&mut self, parent: Value, n: u32) -> Gc<EnvObj> {
        let mut hdr = Header::new(Value::FALSE, Kind::Env);
        hdr.aux = n;
        #[repr(C)]
        struct Head {
            hdr: Header,
            parent: Value,
        }
        let g = self.put_slots(Head { hdr, parent }, n as usize, Value::NIL);
        // SAFETY: Head is EnvObj without its empty tail.
        unsafe { g.val().cell_unchecked() }
    }
    pub fn cref(&mut self, c: CrefObj) -> Gc<CrefObj> {
        self.put(c)
    }
    pub fn home(&mut self, base: u64, task: u64, at: u32, outer: Value) -> Gc<HomeObj> {
        let mut hdr = Header::new(Value::FALSE, Kind::Home);
        hdr.x = 1;
        hdr.aux = at;
        self.put(HomeObj { hdr, base, task, outer })
    }
    pub fn unwind(&mut self, what: u16, value: Value, target: Value) -> Gc<UnwindObj> {
        let mut hdr = Header::new(Value::FALSE, Kind::Unwind);
        hdr.x = what;
        self.put(UnwindObj { hdr, value, target })
    }
    /// A Rust payload with a class.
    pub fn data<T: Payload>(&mut self, class: Value, payload: T) -> Value {
        self.charge(payload.bytes());
        let mut hdr = Header::new(class, Kind::Data);
        hdr.x = payload.shares() as u16;
        self.put(DataObj { hdr, payload: Box::new(payload) }).val()
    }
    pub fn class(&mut self, meta: Value, role: Role, data: ClassData) -> Gc<ClassObj> {
        self.charge(512);
        self.put(ClassObj { hdr: Header::new(meta, Kind::Class), serial: 0, role, slots: 1, data: Box::new(data) })
    }
    /// An instance that is empty in the way of `class`; `None` for `Instance::None` and `Data`.
    pub fn instance(&mut self, class: Gc<ClassObj>) -> Option<Value> {
        let cv = class.val();
        Some(match class.data.instance {
            Instance::Object => self.object(class),
            Instance::Str => self.str(cv, b"", 0).val(),
            Instance::Array => self.array(cv, &[]).val(),
            Instance::Hash => self.hash(cv, HashData::default()).val(),
            Instance::Struct(n) => self.structure(cv, n).val(),
            _ => return None,
        })
    }

    // --- instance variables of cells that are neither Object nor Class --------

    /// Side-table variables of `v`, copied.
    pub fn side_ivars(&self, v: Value) -> Vec<(Sym, Value)> {
        if !v.header().is_some_and(|h| h.has(flag::IVARS)) {
            return Vec::new();
        }
        self.shared.ivars.read().unwrap_or_else(PoisonError::into_inner).get(&v.bits()).cloned().unwrap_or_default()
    }
    /// Has `v` side-table variables?
    pub fn has_side_ivars(&self, v: Value) -> bool {
        v.header().is_some_and(|h| h.has(flag::IVARS))
            && self.shared.ivars.read().unwrap_or_else(PoisonError::into_inner).get(&v.bits()).is_some_and(|e| !e.is_empty())
    }
    /// The side-table variable `name` of `v`; undef when never set.
    pub fn side_ivar(&self, v: Value, name: Sym) -> Value {
        if !v.header().is_some_and(|h| h.has(flag::IVARS)) {
            return Value::UNDEF;
        }
        let t = self.shared.ivars.read().unwrap_or_else(PoisonError::into_inner);
        t.get(&v.bits()).and_then(|e| e.iter().find(|p| p.0 == name)).map_or(Value::UNDEF, |p| p.1)
    }
    /// Sets a side-table variable; an undef value removes it.
    pub fn set_side_ivar(&mut self, v: Value, name: Sym, val: Value) {
        let Some(h) = v.header() else { return };
        let mut t = self.shared.ivars.write().unwrap_or_else(PoisonError::into_inner);
        let e = t.entry(v.bits()).or_default();
        let at = e.iter().position(|p| p.0 == name);
        match (at, val.is_undef()) {
            (Some(i), true) => {
                e.remove(i);
            }
            (Some(i), false) => e[i].1 = val,
            (None, false) => e.push((name, val)),
            (None, true) => {}
        }
        drop(t);
        h.set(flag::IVARS);
        self.before_store(v, val);
    }

    // --- identity, weakness, finalizers --------------------------------------

    /// `object_id` of a heap cell: a running number, given when first asked for.
    pub fn object_id(&mut self, v: Value) -> u64 {
        let (id, new) = self.shared.id_of(v);
        if new && let Some(h) = v.header() {
            h.set(flag::SIDE);
        }
        id
    }
    /// The live cell with that object id.
    pub fn by_object_id(&self, id: u64) -> Option<Value> {
        self.shared.by_object_id(id)
    }
    /// Was that id ever given out?
    pub fn id_was_used(&self, id: u64) -> bool {
        self.shared.id_was_used(id)
    }
    /// Registers a Data cell whose payload's `weak` is called at each collection it survives.
    pub fn add_weak(&mut self, v: Value) {
        lock(&self.shared.weak).push(v);
    }
    pub fn add_finalizer(&mut self, v: Value, f: Value) {
        if let Some(h) = v.header() {
            lock(&self.shared.finalizers).entry(v.bits()).or_default().push(f);
            h.set(flag::SIDE);
        }
    }
    /// Finalizers of a cell.
    pub fn finalizers_of(&self, v: Value) -> Vec<Value> {
        self.shared.finalizers_of(v)
    }
    pub fn remove_finalizers(&mut self, v: Value) {
        self.shared.remove_finalizers(v)
    }
    /// All finalizers that have not run, for process exit.
    pub fn take_finalizers(&mut self) -> Vec<(Vec<Value>, u64)> {
        self.shared.take_finalizers()
    }
}

impl Drop for Heap {
    /// The cells live on: another worker's may refer to them. The next collection takes them over, or
    /// the end of the shared part frees them.
    fn drop(&mut self) {
        if self.retired.is_bound() {
            self.set_parallel(false);
        }
        let blocks = self.classes.iter_mut().enumerate().map(|(c, k)| (c, std::mem::take(&mut k.blocks))).collect();
        let large = std::mem::take(&mut self.large);
        lock(&self.shared.orphans).push(crate::shared::Orphan { blocks, large, _retired: std::mem::take(&mut self.retired) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_roots_reach_and_reuses_the_rest() {
        let mut h = Heap::new();
        let keep = h.array(Value::FALSE, &[]).val();
        for i in 0..10_000 {
            let s = h.str(Value::FALSE, format!("a string that is long enough {i}").as_bytes(), 1).val();
            if i % 10 == 0 {
                keep.as_array().unwrap().push(s);
            }
        }
        h.collect(&mut |m| m.mark(keep));
        assert_eq!(h.stat().live_cells, 1001);
        let mut n = 0;
        h.each_cell(|_| n += 1);
        assert_eq!(n, 1001);
        let before = h.stat().heap_bytes;
        for _ in 0..5_000 {
            h.array(Value::FALSE, &[]);
        }
        assert_eq!(h.stat().heap_bytes, before);
        let a = keep.as_array().unwrap();
        assert_eq!(a.get(1000 - 1).unwrap().as_str().unwrap().bytes(), b"a string that is long enough 9990");
    }

    #[test]
    fn large_cells_and_cycles_die() {
        let mut h = Heap::new();
        let e = h.env(Value::NIL, 10_000);
        let mut e2 = e;
        e2.slots_mut()[9_999] = e.val();
        h.collect(&mut |m| m.mark(e.val()));
        assert_eq!(h.stat().live_cells, 1);
        h.collect(&mut |_| {});
        assert_eq!(h.stat().live_cells, 0);
    }

    #[test]
    fn arrays_shift_without_moving_much() {
        let mut h = Heap::new();
        let mut a = h.array(Value::FALSE, &[]);
        for i in 0..1000 {
            a.push(Value::fix(i));
        }
        for i in 0..900 {
            assert_eq!(a.shift(), Some(Value::fix(i)));
        }
        assert_eq!(a.len(), 100);
        assert_eq!(a.vec()[0], Value::fix(900));
    }
}
