//! One worker's heap: making cells, and the tables beside them. Where the memory comes
//! from: `space.rs`; private cells and the barrier: `window.rs`; the collection of all
//! workers' heaps together: `collect.rs`.
//!
//! Invariant: a new cell's flags say where it was born, and what it is made with is
//! raised to them before anybody sees it ([`Heap::born`]).

use crate::block::MAX_CELL;
use crate::class::Tables;
use crate::header::{Gc, Header, Kind, flag};
use crate::layout::*;
use crate::retire::{self, Retired};
use crate::shape::Shapes;
use crate::shared::{HeapShared, lock};
use crate::site::{Place, Sites};
use crate::space::{Cursor, IN, Lists, OUTSIDE};
use crate::stat::{Counters, GcStat};
use crate::trace::{Visitor, trace_cell};
use crate::window::{LEAVE, Window};
use crate::young::Young;
use crate::{ClassData, ClassObj, HashData, HashObj, Instance, RaceVec, Role, Sym, Value};
use kumi_num::BigInt;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::{Arc, PoisonError};

/// What makes a private cell leave its window (`KUMI_TLH`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// No windows: every cell is born shared.
    Off,
    /// The paper's: being stored in any field.
    Paper,
    /// Being stored in a field of a cell that has left.
    Closure,
}

/// How a runtime's heaps are to work.
#[derive(Clone, Copy, Debug)]
pub struct HeapConfig {
    pub rule: Rule,
    /// Bytes of a window.
    pub window: usize,
    /// Bytes that may be allocated outside windows between two node collections: at least, and at most unless collections
    /// take much of the time.
    pub young: (usize, usize),
    /// Seed of random publishing, retirement and window sizes; 0: none.
    pub stress: u64,
}

impl Default for HeapConfig {
    fn default() -> Self {
        HeapConfig { rule: Rule::Closure, window: 32 << 10, young: (crate::young::LEAST, crate::young::MOST), stress: 0 }
    }
}

/// One worker's heap.
pub struct Heap {
    /// Where cells are born: in the window, outside.
    pub(crate) cursors: [Cursor; 2],
    /// The cursor in use: [`IN`] or [`OUTSIDE`].
    pub(crate) place: usize,
    /// Flags of cells born there.
    pub(crate) birth: u8,
    /// Flags that a stored cell gets whatever it is stored into.
    pub(crate) always: u8,
    /// What a new cell is made with must be looked at.
    pub(crate) attend: bool,
    pub(crate) rule: Rule,
    pub(crate) window: Window,
    /// For cells of middling size outside the window.
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
    pub(crate) retired: Box<Retired>,
    /// Sites of allocation (`site.rs`).
    pub(crate) sites: Sites,
    /// While a profile is made (`sample.rs`).
    pub(crate) sampler: Option<Box<crate::sample::Sampler>>,
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
        let seed = self.window.stress();
        let stress = if seed == 0 { 0 } else { seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 };
        let c = HeapConfig { rule: self.rule, window: self.window.size(), young: Default::default(), stress };
        let mut h = Heap::with(self.shared.clone(), self.shapes.sibling(), c);
        h.sample_like(self);
        h
    }
    fn with(shared: Arc<HeapShared>, shapes: Shapes, c: HeapConfig) -> Heap {
        let window = Window::new(c.window.clamp(1 << 10, 16 << 20).next_multiple_of(1 << 10), c.stress);
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
            rule: c.rule,
            outside_limit: window.outside_limit(),
            window,
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
            retired: Box::default(),
            sites: Sites::new(shared.book.policy),
            sampler: None,
            shared,
        }
    }
    /// What all heaps of the runtime have in common.
    pub fn shared(&self) -> &Arc<HeapShared> {
        &self.shared
    }
    /// Cells are born at `p` until [`Heap::end_place`]. In between the caller comes to no safepoint.
    ///
    /// They get `OUT` alone and are noted in `born`, whatever `p` is: were they `SHARED` already, a publication
    /// would stop at them before what they hold is published.
    #[inline]
    pub fn begin_place(&mut self, p: Place) {
        if self.rule != Rule::Off && p != Place::Window {
            self.sites.place = p;
            (self.birth, self.place, self.attend) = (flag::OUT, OUTSIDE, true);
        }
    }
    /// Cells are born in the window again. Those born since [`Heap::begin_place`] were filled like any new
    /// cell, without a barrier: what they hold now gets their flags.
    #[inline]
    pub fn end_place(&mut self) {
        if self.sites.place != Place::Window {
            let shared = self.suspend_place() == Place::Shared || self.rule == Rule::Paper;
            if !self.sites.born.is_empty() {
                self.raise_born(shared);
            }
        }
    }
    /// Cells are born in the window until the place that is given back begins anew. What was born there remains to be
    /// looked at when it ends.
    #[inline]
    pub(crate) fn suspend_place(&mut self) -> Place {
        (self.birth, self.place, self.attend) = (0, IN, self.rule == Rule::Paper || self.window.stress() != 0);
        std::mem::take(&mut self.sites.place)
    }
    /// As [`Heap::end_place`] where one cell was born, which is empty yet: later stores have their barriers.
    #[inline]
    pub fn end_place_empty(&mut self) {
        let place = self.sites.place;
        if place == Place::Out && self.rule == Rule::Closure && self.sites.born.len() == 1 && !self.sites.table.profiles() {
            self.sites.born.clear();
            self.confined_born();
        }
        self.end_place();
    }
    /// Large cells, which are born outside and filled like any new one, get their flags to all they hold. At safepoints.
    #[inline]
    pub fn seal_born(&mut self) {
        if !self.sites.born.is_empty() {
            self.raise_born(self.rule == Rule::Paper);
        }
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
    /// May `bytes` more be allocated at once? Natives ask before large requests.
    pub fn can_allocate(&self, bytes: usize) -> bool {
        self.shared.can_allocate(bytes)
    }
    /// As [`HeapShared::over_limit`].
    pub fn over_limit(&mut self) -> bool {
        self.shared.over_limit()
    }
    /// Raises what a new cell was made with to the cell's own flags.
    #[inline(always)]
    fn born(&mut self, v: Value) -> Value {
        if self.attend {
            self.born_slow(v, true);
        }
        v
    }
    #[inline(never)]
    fn born_slow(&mut self, v: Value, filled_later: bool) {
        struct Children(Vec<Value>);
        impl Visitor for Children {
            fn visit(&mut self, v: Value) {
                if v.header().is_some_and(|h| h.flags.load(Relaxed) & LEAVE != LEAVE) {
                    self.0.push(v);
                }
            }
        }
        if self.sites.place != Place::Window && filled_later {
            // All it will hold is looked at when this place ends.
            self.sites.born.push(v);
            return;
        }
        let Some(h) = v.header() else { return };
        self.stress_publish(v);
        let own = h.flags.load(Relaxed) & LEAVE;
        let need = own | self.always;
        if need != 0 {
            let mut c = Children(Vec::new());
            trace_cell(v, &mut c);
            for x in c.0 {
                if x.header().is_some_and(|h| h.flags.load(Relaxed) & need != need) {
                    self.raise(x, need);
                }
            }
        }
        if filled_later && own != 0 && self.rule != Rule::Off {
            // It may yet be filled without a barrier, as new cells are.
            self.sites.born.push(v);
        }
    }

    #[inline(always)]
    fn put<T>(&mut self, v: T) -> Gc<T> {
        let p = self.raw(std::mem::size_of::<T>(), self.place) as *mut T;
        // SAFETY: fresh cell of T's size, which starts with a Header.
        unsafe {
            p.write(v);
            *(*(p as *mut Header)).flags.get_mut() |= self.birth;
        }
        Gc::from_ptr(p)
    }
    /// A cell that others than this worker know from the start.
    fn put_shared<T>(&mut self, v: T) -> Gc<T> {
        let p = self.raw(std::mem::size_of::<T>(), OUTSIDE) as *mut T;
        // SAFETY: as in `put`.
        unsafe {
            p.write(v);
            *(*(p as *mut Header)).flags.get_mut() |= LEAVE;
        }
        self.born_slow(Value::from_bits(p as u64), false);
        Gc::from_ptr(p)
    }

    #[inline(always)]
    fn put_slots<T>(&mut self, v: T, n: usize, fill: Value) -> Gc<T> {
        let head = std::mem::size_of::<T>();
        let p = self.raw(head + n * 8, self.place);
        // SAFETY: fresh cell of head and n words; T starts with a Header.
        unsafe {
            (p as *mut T).write(v);
            *(*(p as *mut Header)).flags.get_mut() |= self.birth;
            let s = p.add(head) as *mut Value;
            for i in 0..n {
                s.add(i).write(fill);
            }
        }
        if self.attend || head + n * 8 > MAX_CELL {
            self.slots_born(p, head + n * 8);
        }
        Gc::from_ptr(p as *mut T)
    }
    /// A cell with slots was made, that is large (so it lies outside the window), or must be looked at.
    #[cold]
    #[inline(never)]
    pub(crate) fn slots_born(&mut self, p: *mut u8, bytes: usize) {
        if bytes > MAX_CELL {
            // SAFETY: a cell that was just written.
            unsafe { *(*(p as *mut Header)).flags.get_mut() |= flag::OUT };
            self.poll.store(true, Relaxed);
            self.confined_born();
        }
        self.born_slow(Value::from_bits(p as u64), true);
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
            None => {
                let f = self.put(FloatObj { hdr: Header::with(class, Kind::Float, flag::FROZEN), f }).val();
                self.born(f)
            }
        }
    }
    /// An Integer from a big one: a fixnum where it fits. `class`: Integer.
    pub fn big(&mut self, class: Value, n: BigInt) -> Value {
        if let Some(v) = n.to_i64().and_then(Value::try_fix) {
            return v;
        }
        self.charge(n.heap_size());
        let b = self.put(BigObj { hdr: Header::with(class, Kind::Big, flag::FROZEN), n }).val();
        self.born(b)
    }
    /// A string from bytes; `enc` is the encoding index.
    #[inline]
    pub fn str(&mut self, class: Value, bytes: &[u8], enc: u8) -> Gc<StrObj> {
        if bytes.len() > 24 {
            self.charge(bytes.len());
        }
        let p = self.raw(std::mem::size_of::<StrObj>(), self.place) as *mut StrObj;
        let mut hdr = Header::new(class, Kind::Str);
        hdr.x = enc as u16;
        // SAFETY: a fresh cell of that size.
        unsafe {
            *hdr.flags.get_mut() |= self.birth;
            (&raw mut (*p).hdr).write(hdr);
            RaceVec::write(&raw mut (*p).buf, bytes);
        }
        self.born(Value::from_bits(p as u64));
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
        let s = self.put(StrObj { hdr, buf });
        self.born(s.val());
        s
    }
    #[inline]
    pub fn array(&mut self, class: Value, elems: &[Value]) -> Gc<ArrayObj> {
        if elems.len() > 3 {
            self.charge(elems.len() * 8);
        }
        let p = self.raw(std::mem::size_of::<ArrayObj>(), self.place) as *mut ArrayObj;
        // SAFETY: a fresh cell of that size.
        unsafe {
            ArrayObj::write(p, class, elems);
            *(*p).hdr.flags.get_mut() |= self.birth;
        }
        self.born(Value::from_bits(p as u64));
        Gc::from_ptr(p)
    }
    /// An array that takes over a buffer.
    #[inline]
    pub fn array_buf(&mut self, class: Value, buf: ArrayBuf) -> Gc<ArrayObj> {
        if buf.spilled() {
            self.charge(buf.capacity() * 8);
        }
        let a = self.put(ArrayObj::new(class, buf));
        self.born(a.val());
        a
    }
    pub fn hash(&mut self, class: Value, h: HashData) -> Gc<HashObj> {
        self.charge(128);
        let h = self.put(HashObj { hdr: Header::new(class, Kind::Hash), h: Box::new(h) });
        self.born(h.val());
        h
    }
    pub fn range(&mut self, class: Value, lo: Value, hi: Value, exclusive: bool) -> Value {
        let mut hdr = Header::with(class, Kind::Range, flag::FROZEN);
        hdr.x = exclusive as u16;
        let r = self.put(RangeObj { hdr, lo, hi }).val();
        self.born(r)
    }
    /// A Rational or Complex (by class).
    pub fn pair(&mut self, class: Value, a: Value, b: Value) -> Value {
        let p = self.put(PairObj { hdr: Header::with(class, Kind::Pair, flag::FROZEN), a, b }).val();
        self.born(p)
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
        let p = self.put(p);
        self.born(p.val());
        p
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
        self.put_shared(c)
    }
    pub fn home(&mut self, base: u64, task: u64, at: u32, outer: Value) -> Gc<HomeObj> {
        let mut hdr = Header::new(Value::FALSE, Kind::Home);
        hdr.x = 1;
        hdr.aux = at;
        let h = self.put(HomeObj { hdr, base, task, outer });
        self.born(h.val());
        h
    }
    pub fn unwind(&mut self, what: u16, value: Value, target: Value) -> Gc<UnwindObj> {
        let mut hdr = Header::new(Value::FALSE, Kind::Unwind);
        hdr.x = what;
        let u = self.put(UnwindObj { hdr, value, target });
        self.born(u.val());
        u
    }
    /// A Rust payload with a class.
    pub fn data<T: Payload>(&mut self, class: Value, payload: T) -> Value {
        self.charge(payload.bytes());
        let mut hdr = Header::new(class, Kind::Data);
        hdr.x = payload.shares() as u16;
        let confined = payload.confined();
        let cell = DataObj { hdr, payload: Box::new(payload) };
        if confined {
            let d = self.put(cell).val();
            self.born(d)
        } else {
            self.put_shared(cell).val()
        }
    }
    pub fn class(&mut self, meta: Value, role: Role, data: ClassData) -> Gc<ClassObj> {
        self.charge(512);
        let c = self.put_shared(ClassObj { hdr: Header::new(meta, Kind::Class), serial: 0, role, slots: 1, data: Tables::new(data) });
        lock(&self.shared.classes).all.push(c);
        c
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
        // Tables know shared cells only.
        self.publish(v);
        self.publish(val);
        let mut t = self.shared.ivars.write().unwrap_or_else(PoisonError::into_inner);
        let e = t.entry(v.bits());
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
        self.remember(v);
    }

    // --- identity, weakness, finalizers --------------------------------------

    /// `object_id` of a heap cell: a running number, given when first asked for.
    pub fn object_id(&mut self, v: Value) -> u64 {
        self.publish(v);
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
        self.publish(v);
        lock(&self.shared.weak).push(v);
    }
    pub fn add_finalizer(&mut self, v: Value, f: Value) {
        self.publish(v);
        self.publish(f);
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
        self.close();
        self.retire_window(|_| true);
        let orphan = crate::shared::Orphan {
            lists: std::mem::take(&mut self.lists),
            window: std::mem::take(&mut self.window.blocks),
            remembered: std::mem::take(&mut self.remembered),
            retired: std::mem::take(&mut self.retired),
        };
        lock(&self.shared.orphans).push(orphan);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Young collections look at what came to an old Hash since the last one, wherever it was put.
    #[test]
    fn what_comes_to_an_old_hash_is_seen_by_the_next_young_collection() {
        type Change = fn(&mut HashData, Value);
        let changes: [(&str, Change); 9] = [
            ("push", |h, v| h.push(1000, Value::fix(1), v)),
            ("overwrite the first", |h, v| h.set_val(0, v)),
            ("overwrite one in the midst", |h, v| h.set_val(40, v)),
            ("overwrite, then push another", |h, v| {
                h.set_val(40, v);
                h.push(1000, Value::fix(1), Value::NIL);
            }),
            ("grow", |h, v| {
                h.reserve(1000);
                h.push(1000, Value::fix(1), v);
            }),
            ("grow after an overwrite", |h, v| {
                h.set_val(7, v);
                h.reserve(1000);
            }),
            ("close holes", |h, v| {
                for i in 0..5 {
                    h.remove_at(i);
                }
                h.set_val(h.slots() - 1, v);
                h.reserve(1000);
            }),
            ("fill again", |h, v| {
                h.clear();
                h.push(1000, Value::fix(1), v);
            }),
            ("another's table", |h, v| {
                let mut other = h.clone();
                other.set_val(9, v);
                h.assign(other);
            }),
        ];
        for small in [false, true] {
            for (what, change) in changes {
                let mut h = Heap::configured(HeapConfig { rule: Rule::Off, ..HeapConfig::default() });
                let mut t = HashData::default();
                (0..if small { 60 } else { 600 }).for_each(|i| t.push(i, Value::fix(i as i64), Value::NIL));
                let mut hash = h.hash(Value::FALSE, t);
                let kept = hash.val();
                let mut roots = |m: &mut crate::Marker| m.mark(kept);
                h.collect(&mut roots);
                for round in 0..3 {
                    let v = h.array(Value::FALSE, &[Value::fix(7)]).val();
                    h.before_store(kept, v);
                    change(&mut hash.h, v);
                    Heap::collect_all(&mut [&mut h], &mut |full, m| {
                        assert!(!full);
                        roots(m);
                    });
                    assert!(crate::mark::is_marked(v), "{what}, round {round}");
                    if round == 1 {
                        // A full one looks at all of it, and the next young one begins where that ended.
                        h.collect(&mut roots);
                        assert!(crate::mark::is_marked(v), "{what}, after a full collection");
                    }
                }
            }
        }
    }
    #[test]
    fn a_heap_that_ends_hands_on_each_block_once() {
        let mut h = Heap::configured(HeapConfig { rule: Rule::Closure, ..HeapConfig::default() });
        for i in 0..20_000 {
            h.array(Value::FALSE, &[Value::fix(i)]);
        }
        h.collect(&mut |_| ());
        h.array(Value::FALSE, &[]);
        assert!(h.lists.unswept.len() > 2, "empty blocks that nobody has swept yet");
        h.lists.pace = 2;
        // What lives in the window is charged as the heap ends, and pays by sweeping.
        h.budget = 0;
        let shared = h.shared.clone();
        drop(h);
        let mut all: Vec<_> = crate::shared::lock(&shared.spare).clone();
        assert!(!all.is_empty(), "something was swept");
        all.extend(crate::shared::lock(&shared.orphans).iter().flat_map(|o| o.blocks()));
        all.sort();
        assert!(all.windows(2).all(|w| w[0] != w[1]), "a block in two places");
    }
    #[test]
    fn keeps_what_roots_reach_and_reuses_the_rest() {
        let mut h = Heap::configured(HeapConfig { rule: Rule::Off, ..HeapConfig::default() });
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
