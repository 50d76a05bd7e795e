//! The heap: allocation by size class, the barrier, collection.

use crate::block::Block;
use crate::gc::{Marker, as_value, drop_cell};
use crate::header::{Gc, Header, Kind, flag};
use crate::layout::*;
use crate::shape::Shapes;
use crate::{ClassData, ClassObj, HashData, HashObj, Instance, Role, Sym, Value};
use kumi_num::BigInt;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;

/// Cell sizes in bytes. A cell beyond the last is a large object.
const SIZES: [usize; 12] = [32, 48, 64, 80, 96, 128, 192, 256, 384, 512, 1024, 2048];
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

struct SizeClass {
    free: *mut FreeCell,
    blocks: Vec<*mut Block>,
    /// Blocks before this one are swept.
    cursor: usize,
}

/// Counters for `GC.stat`.
#[derive(Clone, Copy, Default, Debug)]
pub struct GcStat {
    pub count: u64,
    pub time_ns: u64,
    pub live_cells: usize,
    pub live_bytes: usize,
    pub heap_bytes: usize,
    pub allocated_cells: u64,
    pub allocated_bytes: u64,
}

/// One runtime's heap.
pub struct Heap {
    classes: [SizeClass; SIZES.len()],
    large: Vec<*mut Block>,
    /// Bytes until the next wish for a collection; checked by `charge` and on slow allocation paths.
    budget: isize,
    wants: bool,
    /// Something waits for the next safepoint: a wished collection, or whatever the loop's owner put here.
    pub poll: AtomicBool,
    /// Limit in bytes (`KUMI_HEAP_MAX`, else the machine's or cgroup's memory).
    pub max: usize,
    /// Bytes beyond the limit that are let pass after a NoMemoryError, so that its rescue has
    /// room to work in; none once the heap is below its limit again, never more than the limit.
    grace: usize,
    /// Collections are off (`GC.disable`).
    pub disabled: bool,
    pub shapes: Shapes,
    /// Instance variables of cells that are neither Object nor Class.
    ivars: FxHashMap<u64, Vec<(Sym, Value)>>,
    ids: FxHashMap<u64, u64>,
    by_id: FxHashMap<u64, Value>,
    next_id: u64,
    weak: Vec<Value>,
    finalizers: FxHashMap<u64, Vec<Value>>,
    /// Finalizers whose object died: (procs, object id), for the loop to run.
    pub pending_finalizers: Vec<(Vec<Value>, u64)>,
    pub stat: GcStat,
}

const FIRST_BUDGET: isize = 24 << 20;

impl Default for Heap {
    fn default() -> Self {
        Heap::new()
    }
}

impl Heap {
    pub fn new() -> Heap {
        Heap {
            classes: std::array::from_fn(|_| SizeClass { free: std::ptr::null_mut(), blocks: Vec::new(), cursor: 0 }),
            large: Vec::new(),
            budget: FIRST_BUDGET,
            wants: false,
            poll: AtomicBool::new(false),
            max: usize::MAX / 4,
            grace: 0,
            disabled: false,
            shapes: Shapes::default(),
            ivars: FxHashMap::default(),
            ids: FxHashMap::default(),
            by_id: FxHashMap::default(),
            next_id: 8,
            weak: Vec::new(),
            finalizers: FxHashMap::default(),
            pending_finalizers: Vec::new(),
            stat: GcStat::default(),
        }
    }

    /// Asks for a collection at the next safepoint.
    pub fn request_gc(&mut self) {
        self.wants = true;
        self.poll.store(true, Relaxed);
    }
    /// Does the heap want a collection?
    #[inline(always)]
    pub fn wants_gc(&self) -> bool {
        self.wants && !self.disabled
    }
    /// Counts bytes outside cells (string and array buffers) towards the next collection.
    #[inline]
    pub fn charge(&mut self, bytes: usize) {
        self.budget -= bytes as isize;
        self.stat.allocated_bytes += bytes as u64;
        if self.budget < 0 {
            self.request_gc();
        }
    }
    /// May `bytes` more be allocated at once? Natives ask before large requests.
    pub fn can_allocate(&self, bytes: usize) -> bool {
        bytes < isize::MAX as usize / 4 && self.stat.live_bytes.saturating_add(bytes) < self.max
    }
    /// Live bytes at the last collection are beyond the limit.
    ///
    /// Asked when NoMemoryError would follow: a yes leaves an eighth of the limit for the rescue.
    pub fn over_limit(&mut self) -> bool {
        let live = self.stat.live_bytes;
        if live <= self.max {
            self.grace = 0;
            return false;
        }
        if live <= self.max.saturating_add(self.grace) {
            return false;
        }
        self.grace = (live - self.max).saturating_add(self.max / 8).min(self.max);
        true
    }
    /// The write barrier: `v` was stored into a field of `holder`.
    ///
    /// Every store into a cell that was not just allocated goes through here. The
    /// first collector marks the whole heap at a stop, so there is nothing to
    /// record; generations and private windows hang on this call.
    #[inline(always)]
    pub fn wrote(&mut self, _holder: Value, _v: Value) {}

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
                    let bytes = got * SIZES[c];
                    self.budget -= bytes as isize;
                    self.stat.allocated_bytes += bytes as u64;
                    self.stat.allocated_cells += got as u64;
                    if self.budget < 0 {
                        self.request_gc();
                    }
                    // SAFETY: as in `raw`.
                    self.classes[c].free = unsafe { (*f).next };
                    return f as *mut u8;
                }
                continue;
            }
            let Some(b) = Block::new(SIZES[c]) else { std::alloc::handle_alloc_error(std::alloc::Layout::new::<Block>()) };
            self.stat.heap_bytes += crate::block::BLOCK;
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
            self.stat.heap_bytes += (*b).bytes();
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
            ext: Option<Box<Vec<Value>>>,
        }
        self.put_slots(Head { hdr, ext: None }, n as usize, Value::UNDEF).val()
    }
    /// A Float, flonum where it fits. `class`: Float.
    #[inline(always)]
    pub fn float(&mut self, class: Value, f: f64) -> Value {
        match Value::try_flo(f) {
            Some(v) => v,
            None => {
                let mut o = FloatObj { hdr: Header::new(class, Kind::Float), f };
                o.hdr.flags = flag::FROZEN;
                self.put(o).val()
            }
        }
    }
    /// An Integer from a big one: a fixnum where it fits. `class`: Integer.
    pub fn big(&mut self, class: Value, n: BigInt) -> Value {
        if let Some(v) = n.to_i64().and_then(Value::try_fix) {
            return v;
        }
        self.charge(n.heap_size());
        let mut o = BigObj { hdr: Header::new(class, Kind::Big), n };
        o.hdr.flags = flag::FROZEN;
        self.put(o).val()
    }
    /// A string from bytes; `enc` is the encoding index.
    #[inline]
    pub fn str(&mut self, class: Value, bytes: &[u8], enc: u8) -> Gc<StrObj> {
        self.str_buf(class, SmallVec::from_slice(bytes), enc)
    }
    /// A string that takes over a buffer.
    #[inline]
    pub fn str_buf(&mut self, class: Value, buf: SmallVec<[u8; 24]>, enc: u8) -> Gc<StrObj> {
        if buf.spilled() {
            self.charge(buf.capacity());
        }
        let mut hdr = Header::new(class, Kind::Str);
        hdr.x = enc as u16;
        self.put(StrObj { hdr, buf })
    }
    #[inline]
    pub fn array(&mut self, class: Value, elems: &[Value]) -> Gc<ArrayObj> {
        self.array_buf(class, SmallVec::from_slice(elems))
    }
    /// An array that takes over a buffer.
    #[inline]
    pub fn array_buf(&mut self, class: Value, buf: SmallVec<[Value; 3]>) -> Gc<ArrayObj> {
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
        let mut hdr = Header::new(class, Kind::Range);
        hdr.x = exclusive as u16;
        hdr.flags = flag::FROZEN;
        self.put(RangeObj { hdr, lo, hi }).val()
    }
    /// A Rational or Complex (by class).
    pub fn pair(&mut self, class: Value, a: Value, b: Value) -> Value {
        let mut hdr = Header::new(class, Kind::Pair);
        hdr.flags = flag::FROZEN;
        self.put(PairObj { hdr, a, b }).val()
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
        self.put(DataObj { hdr: Header::new(class, Kind::Data), payload: Box::new(payload) }).val()
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

    /// Side-table variables of `v`.
    pub fn side_ivars(&self, v: Value) -> &[(Sym, Value)] {
        if v.header().is_some_and(|h| h.has(flag::IVARS)) { self.ivars.get(&v.bits()).map_or(&[], |e| e.as_slice()) } else { &[] }
    }
    /// Sets a side-table variable; an undef value removes it.
    pub fn set_side_ivar(&mut self, v: Value, name: Sym, val: Value) {
        let Some(mut h) = v.header_mut() else { return };
        h.flags |= flag::IVARS;
        let e = self.ivars.entry(v.bits()).or_default();
        let at = e.iter().position(|p| p.0 == name);
        match (at, val.is_undef()) {
            (Some(i), true) => {
                e.remove(i);
            }
            (Some(i), false) => e[i].1 = val,
            (None, false) => e.push((name, val)),
            (None, true) => {}
        }
        self.wrote(v, val);
    }

    // --- identity, weakness, finalizers --------------------------------------

    /// `object_id` of a heap cell: a running number, given when first asked for.
    pub fn object_id(&mut self, v: Value) -> u64 {
        if let Some(&id) = self.ids.get(&v.bits()) {
            return id;
        }
        let id = self.next_id;
        self.next_id += 8;
        self.ids.insert(v.bits(), id);
        self.by_id.insert(id, v);
        if let Some(mut h) = v.header_mut() {
            h.flags |= flag::OBJECT_ID;
        }
        id
    }
    /// The live cell with that object id.
    pub fn by_object_id(&self, id: u64) -> Option<Value> {
        self.by_id.get(&id).copied()
    }
    /// Was that id ever given out?
    pub fn id_was_used(&self, id: u64) -> bool {
        id >= 8 && id < self.next_id && id.is_multiple_of(8)
    }
    /// Registers a Data cell whose payload's `weak` is called at each collection it survives.
    pub fn add_weak(&mut self, v: Value) {
        self.weak.push(v);
    }
    pub fn add_finalizer(&mut self, v: Value, f: Value) {
        if let Some(mut h) = v.header_mut() {
            h.flags |= flag::FINALIZER;
            self.finalizers.entry(v.bits()).or_default().push(f);
        }
    }
    /// Finalizers of a cell.
    pub fn finalizers_of(&self, v: Value) -> Vec<Value> {
        self.finalizers.get(&v.bits()).cloned().unwrap_or_default()
    }
    pub fn remove_finalizers(&mut self, v: Value) {
        self.finalizers.remove(&v.bits());
    }
    /// All finalizers that have not run, for process exit.
    pub fn take_finalizers(&mut self) -> Vec<(Vec<Value>, u64)> {
        let all: Vec<_> = self.finalizers.drain().collect();
        all.into_iter().map(|(b, p)| (p, self.object_id(Value::from_bits(b)))).collect()
    }

    /// Calls `f` with every live cell. Sweeps first.
    pub fn each_cell(&mut self, mut f: impl FnMut(Value)) {
        self.sweep_all();
        for b in self.classes.iter().flat_map(|c| &c.blocks).chain(&self.large) {
            // SAFETY: blocks in the lists are live; swept, so what is not free is live.
            unsafe { (**b).each_live(|h| f(as_value(h))) };
        }
    }

    // --- collection -------------------------------------------------------

    /// A whole collection. `roots` marks everything the caller holds.
    pub fn collect(&mut self, roots: &mut dyn FnMut(&mut Marker)) {
        let t0 = Instant::now();
        self.sweep_all();
        for b in self.classes.iter().flat_map(|c| &c.blocks).chain(&self.large) {
            // SAFETY: live blocks.
            unsafe { (**b).clear_marks() };
        }
        let mut m = Marker::default();
        roots(&mut m);
        for (procs, _) in &self.pending_finalizers {
            m.mark_all(procs);
        }
        for procs in self.finalizers.values() {
            m.mark_all(procs);
        }
        let side = &self.ivars;
        let ivars = |v: Value, m: &mut Marker| {
            for (_, x) in side.get(&v.bits()).into_iter().flatten() {
                m.mark(*x);
            }
        };
        m.drain(&ivars);
        self.after_mark();
        self.stat.count += 1;
        self.stat.live_cells = m.cells;
        self.stat.live_bytes = m.bytes;
        self.budget = FIRST_BUDGET.max(m.bytes as isize);
        if self.max < usize::MAX / 8 {
            let room = (self.max as isize - m.bytes as isize).max(1 << 20);
            self.budget = self.budget.min(room);
        }
        self.wants = false;
        self.stat.time_ns += t0.elapsed().as_nanos() as u64;
    }

    fn after_mark(&mut self) {
        let alive = |v: Value| Marker::is_marked(v);
        self.weak.retain(|v| alive(*v));
        for v in self.weak.clone() {
            if let Some(mut d) = v.cell::<DataObj>() {
                d.payload.weak(&alive);
            }
        }
        let dead: Vec<u64> = self.finalizers.keys().copied().filter(|b| !alive(Value::from_bits(*b))).collect();
        for b in dead {
            if let Some(p) = self.finalizers.remove(&b) {
                let id = self.object_id(Value::from_bits(b));
                self.pending_finalizers.push((p, id));
            }
        }
        self.ivars.retain(|b, _| alive(Value::from_bits(*b)));
        self.ids.retain(|b, _| alive(Value::from_bits(*b)));
        self.by_id.retain(|_, v| alive(*v));
        for sc in &mut self.classes {
            sc.free = std::ptr::null_mut();
            sc.cursor = 0;
            for b in &sc.blocks {
                // SAFETY: live block.
                unsafe {
                    (**b).unswept = true;
                    (**b).each_live(|h| {
                        // Class tables hold weak lists of dependents.
                        if (*h).kind == Kind::Class && alive(as_value(h)) {
                            (*(h as *mut ClassObj)).data.dependents.retain(|d| alive(d.val()));
                        }
                    });
                }
            }
        }
        let mut kept = Vec::with_capacity(self.large.len());
        for b in std::mem::take(&mut self.large) {
            // SAFETY: live block with one cell; dropped and freed only when unmarked.
            unsafe {
                let h = (*b).at(0);
                if (*b).marked(h as u64) {
                    kept.push(b);
                } else {
                    drop_cell(h);
                    self.stat.heap_bytes -= (*b).bytes();
                    Block::free(b);
                }
            }
        }
        self.large = kept;
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        let blocks: Vec<_> = self.classes.iter().flat_map(|c| c.blocks.clone()).chain(self.large.clone()).collect();
        for b in blocks {
            // SAFETY: the heap goes away and with it every value.
            unsafe {
                (*b).each_live(|h| drop_cell(h));
                Block::free(b);
            }
        }
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
        assert_eq!(h.stat.live_cells, 1001);
        let mut n = 0;
        h.each_cell(|_| n += 1);
        assert_eq!(n, 1001);
        let before = h.stat.heap_bytes;
        for _ in 0..5_000 {
            h.array(Value::FALSE, &[]);
        }
        assert_eq!(h.stat.heap_bytes, before);
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
        assert_eq!(h.stat.live_cells, 1);
        h.collect(&mut |_| {});
        assert_eq!(h.stat.live_cells, 0);
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
