//! Tables that the running program fills, and how they are emptied: symbols, methods, compiled code.
//!
//! **Invariant.** A row is freed only at the stop of a full collection that no living cell, stack, pending call or other
//! row has named it to ([`Rows`]). All who hold a row's number or address across a safepoint show it in their trace:
//! classes, places (crefs), Procs, frames, Method objects, backtraces, calls to be made. Natives hold what they like: they
//! come to no safepoint. Inline caches hold a method's number beside a class serial; a row that no class names any more
//! was left by a change that gave its classes other serials, or its classes are dead, so that such a cache never hits
//! again. What was there when booting ended stays.

use crate::cx::runtime::{Runtime, lock};
use crate::world::method::{Body, Method};
use crate::{Cx, Exit, sym};
use kumi_bytecode::ISeq;
use kumi_heap::{AllocSiteKey, Bits, Heap, Marker, Rows, Sym, SymMarks, Value, Visitor};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};

/// How much a table may grow between two full collections: as much as lived after the last one, and `least` at any rate.
pub(crate) struct Growth {
    made: AtomicUsize,
    most: AtomicUsize,
    least: usize,
}

impl Growth {
    const fn new(least: usize) -> Growth {
        Growth { made: AtomicUsize::new(0), most: AtomicUsize::new(least), least }
    }
    /// The table grew by `n`. Is a full collection due?
    fn grew(&self, n: usize) -> bool {
        self.made.fetch_add(n, Relaxed) + n >= self.most.load(Relaxed)
    }
    fn collected(&self, live: usize) {
        self.made.store(0, Relaxed);
        self.most.store(live.max(self.least), Relaxed);
    }
}

/// What is known of the tables' growth.
pub(crate) struct Tables {
    /// Rows of methods that nobody can call.
    free_methods: Mutex<Vec<u32>>,
    methods: Growth,
    /// Bytes of compiled code.
    code: Growth,
    /// Methods that were there when booting ended.
    first_method: AtomicUsize,
}

impl Default for Tables {
    fn default() -> Self {
        Tables {
            free_methods: Mutex::default(),
            methods: Growth::new(1 << 14),
            code: Growth::new(8 << 20),
            first_method: AtomicUsize::new(usize::MAX),
        }
    }
}

/// Rows of methods that are kept for definitions whose maker cannot be told that there are no more.
const RESERVE: usize = 4096;

/// Above that class serial a full collection gives classes new ones.
pub(crate) const MOST_SERIALS: u32 = 1 << 31;

/// What a full collection has met.
pub(crate) struct Met<'r> {
    rt: &'r Runtime,
    syms: OnceLock<Option<SymMarks>>,
    shapes: OnceLock<Option<Bits>>,
    methods: OnceLock<Bits>,
}

impl<'r> Met<'r> {
    pub fn new(rt: &'r Runtime) -> Met<'r> {
        Met { rt, syms: OnceLock::new(), shapes: OnceLock::new(), methods: OnceLock::new() }
    }
    /// A full collection begins.
    pub fn begin(&self) -> &dyn Rows {
        self.syms.get_or_init(|| self.rt.syms.marks());
        self.shapes.get_or_init(|| self.rt.first_worker().and_then(|w| w.heap.shapes.marks(w.verifies)));
        self.methods.get_or_init(|| Bits::new(self.rt.methods.len()));
        for q in lock(&self.rt.codes).iter() {
            q.met.store(false, Relaxed);
            q.forget_consts();
        }
        self
    }
}

impl Rows for Met<'_> {
    fn syms(&self) -> Option<&SymMarks> {
        self.syms.get()?.as_ref()
    }
    fn shapes(&self) -> Option<&Bits> {
        self.shapes.get()?.as_ref()
    }
    #[inline]
    fn method(&self, n: u32, to: &mut dyn Visitor) {
        if let Some(bits) = self.methods.get()
            && bits.set(n)
        {
            let row = &self.rt.methods[n as usize];
            debug_assert!(!row.is_free(), "somebody names a method that died");
            row.show(&mut Marker::new(to));
        }
    }
    #[inline]
    fn code(&self, at: u64, to: &mut dyn Visitor) {
        // SAFETY: who shows an address of code keeps it (module invariant), so it has not been freed.
        if let Some(q) = unsafe { (at as *const ISeq).as_ref() }
            && !q.met.load(Relaxed)
        {
            show_code(q, to);
        }
    }
}

/// Code that no value leads to stays, with the code inside it.
fn keep_code(q: &ISeq) {
    let mut todo = vec![q];
    while let Some(q) = todo.pop() {
        if !q.met.swap(true, Relaxed) {
            todo.extend(q.children.iter().map(|c| &**c));
        }
    }
}

/// Shows what a piece of code and the code inside it hold.
#[inline(never)]
fn show_code(q: &ISeq, to: &mut dyn Visitor) {
    let mut todo = vec![q];
    let mut m = Marker::new(to);
    while let Some(q) = todo.pop() {
        if q.met.swap(true, Relaxed) {
            continue;
        }
        show_values(q, &mut m);
        m.syms(q.weak_syms.get().into_iter().flatten());
        todo.extend(q.children.iter().map(|c| &**c));
    }
}

impl Method {
    /// Shows all that the row holds.
    pub(crate) fn show(&self, m: &mut Marker) {
        m.mark_all(&[self.cref, self.owner.val()]);
        m.syms(&[self.name, self.called]);
        match &self.body {
            Body::Code(q) => m.code(Arc::as_ptr(q) as u64),
            Body::Proc(p) => m.mark(*p),
            Body::AttrGet(s) | Body::AttrSet(s) => m.sym(*s),
            _ => {}
        }
        if let Some((q, c)) = self.forced.get() {
            m.code(Arc::as_ptr(q) as u64);
            m.mark(*c);
        }
        if let Some(n) = self.place.next.get() {
            m.method(*n);
        }
    }
}

/// Shows the values that the code has made.
pub(crate) fn show_values(q: &ISeq, m: &mut Marker) {
    for v in q.values.iter().chain(q.once.iter()) {
        m.mark(Value::from_bits(v.load(Relaxed)));
    }
    for e in lock(&q.const_cache).iter() {
        m.mark_all(&[e.value, Value::from_bits(e.scope)]);
    }
}
/// Keeps the names that can die while the code lives.
fn note_syms(q: &ISeq, rt: &Runtime) {
    let mut all: Vec<Sym> = Vec::new();
    let mut add = |s: &Sym| {
        if rt.syms.is_weak(*s) {
            all.push(*s);
        }
    };
    [&q.syms, &q.env_names, &q.local_names].into_iter().flatten().for_each(&mut add);
    for s in &q.sites {
        add(&s.mid);
        s.kw.iter().for_each(&mut add);
    }
    q.bodies.iter().for_each(|b| add(&b.name));
    q.params.kw.iter().for_each(|k| add(&k.0));
    q.params.names.iter().flatten().for_each(&mut add);
    q.lits.iter().for_each(|l| l.each_sym(&mut add));
    if let Some(n) = &q.parent_names {
        n.each_sym(&mut add);
    }
    if !all.is_empty() {
        all.sort_unstable();
        all.dedup();
        let _ = q.weak_syms.set(all.into());
    }
}

impl Runtime {
    /// Booting is over: what there is stays.
    pub(crate) fn pin_tables(&self) {
        self.syms.pin_all();
        self.tables.first_method.store(self.methods.len(), Relaxed);
    }
    /// Rows that a full collection keeps whoever names them.
    pub(crate) fn pinned_rows(&self, m: &mut Marker) {
        for n in 0..self.tables.first_method.load(Relaxed).min(self.methods.len()) {
            m.method(n as u32);
        }
        // An allocation profile names lines of code that may be over.
        let profiled = self.first_heap().is_some_and(|h| h.site_table().profiles());
        for q in lock(&self.codes).iter().filter(|q| q.system || profiled) {
            m.code(Arc::as_ptr(q) as u64);
        }
        if let Some(q) = self.bottom.get() {
            m.code(Arc::as_ptr(q) as u64);
        }
        m.syms(self.global_ids.read().unwrap_or_else(|e| e.into_inner()).keys());
    }
    /// Frees what a full collection has not met. The world is stopped.
    pub(crate) fn sweep_tables(&self, met: &Met) {
        let Some(bits) = met.methods.get() else { return };
        let mut free = lock(&self.tables.free_methods);
        let first = self.tables.first_method.load(Relaxed).min(self.methods.len());
        for n in first..self.methods.len() {
            if bits.get(n as u32) == Some(true) || self.methods[n].is_free() {
                continue;
            }
            // SAFETY: the world is stopped, and nobody names the row.
            unsafe {
                *self.methods.row_mut(n) = self.free_row();
                if n < self.hot.len() {
                    *self.hot.row_mut(n) = crate::world::hot::Hot::unset();
                }
            }
            free.push(n as u32);
        }
        self.tables.methods.collected(self.methods.len() - first - free.len());
        self.sweep_code();
        let shapes = match (met.shapes(), self.first_heap()) {
            (Some(marks), Some(h)) => h.shapes.sweep(marks),
            _ => false,
        };
        let serials = self.serial.load(Relaxed) > MOST_SERIALS || self.first_worker().is_some_and(|w| w.verifies);
        if serials {
            self.renumber_classes();
        }
        if shapes || serials {
            lock(&self.codes).iter().for_each(|q| q.forget_caches(shapes, serials));
        }
        if shapes {
            self.hot.iter().for_each(|h| h.seen.store(0, Relaxed));
        }
        if let Some(marks) = met.syms()
            && self.syms.sweep(marks)
        {
            for f in &self.sym_sweepers {
                f(self, &|s| marks.is_marked(s) || !self.syms.is_weak(s));
            }
        }
        for w in &self.workers {
            // SAFETY: the world is stopped: no other worker touches its context until this is over.
            unsafe { (*w.cx).forget_found(shapes) };
        }
    }
    /// Frees the code that was not met, and what is known of its allocation sites.
    fn sweep_code(&self) {
        // A fiber that nobody reaches has frames until its cell is swept, and collections before that look at them.
        self.tasks.each(|t| t.each_code(keep_code));
        let (mut bytes, mut freed) = (0, Vec::new());
        lock(&self.codes).retain(|q| {
            let met = q.met.load(Relaxed);
            if met {
                bytes += q.size();
            } else {
                let from = q.code.as_ptr() as u64;
                freed.push((from, from + 8 * q.code.len() as u64));
            }
            met
        });
        self.tables.code.collected(bytes);
        if freed.is_empty() {
            return;
        }
        freed.sort_unstable();
        // A site is the address behind an instruction.
        let lies_in = |at: u64| match freed.partition_point(|f| f.0 < at) {
            0 => false,
            i => at <= freed[i - 1].1,
        };
        let dead = |k: &AllocSiteKey| lies_in(k.at) || lies_in(k.caller);
        if let Some(h) = self.first_heap() {
            h.site_book().forget(&dead);
        }
        for w in &self.workers {
            // SAFETY: as in `first_worker`.
            unsafe { &mut (*w.cx).heap }.site_table().forget(&dead);
        }
    }
    /// Gives all classes serials from 1 on, before there are no more: caches that hold older ones are emptied.
    fn renumber_classes(&self) {
        let mut last = 0;
        if let Some(h) = self.first_heap() {
            h.each_class(|c| {
                last += 1;
                c.serial.set(last);
            });
            self.serial.store(last, Relaxed);
        }
    }
    #[allow(clippy::mut_from_ref)]
    fn first_worker(&self) -> Option<&mut Cx> {
        // SAFETY: asked at a stop: no other worker touches its context until that is over.
        self.workers.first().map(|w| unsafe { &mut *w.cx })
    }
    #[allow(clippy::mut_from_ref)]
    fn first_heap(&self) -> Option<&mut Heap> {
        self.first_worker().map(|w| &mut w.heap)
    }
    fn free_row(&self) -> Method {
        Method { max: 0, ..Method::new(self.k.object, sym::EMPTY, Body::Undef) }
    }
    /// Rows in use of the tables that a program fills, by table.
    pub fn table_sizes(&self) -> [(&'static str, usize); 4] {
        let methods = self.methods.len() - lock(&self.tables.free_methods).len();
        let globals = self.globals.len();
        [("symbols", self.syms.count()), ("methods", methods), ("codes", lock(&self.codes).len()), ("globals", globals)]
    }
}

impl Method {
    /// A row that waits to be used again: no definition is without a name.
    fn is_free(&self) -> bool {
        self.called == sym::EMPTY && matches!(self.body, Body::Undef)
    }
}

impl Cx {
    /// Forgets what was found by symbols, serials and, if so, shapes that may mean something else now.
    fn forget_found(&mut self, shapes: bool) {
        self.cache = crate::world::empty_cache();
        self.news.fill(Default::default());
        self.ways = Default::default();
        if shapes {
            self.heap.shapes.forget();
        } else {
            self.heap.shapes.forget_found();
        }
    }
    /// The row of a new method. `None`: the table is full. The class lock is held.
    pub(crate) fn new_method(&mut self, m: Method) -> Option<u32> {
        if self.booted && self.tables.methods.grew(1) {
            self.heap.request_full();
        }
        let free = lock(&self.tables.free_methods).pop();
        match free {
            Some(n) => {
                // SAFETY: nobody names a free row, and it is this worker's since it left the list.
                unsafe { *self.methods.row_mut(n as usize) = m };
                Some(n)
            }
            None => self.methods.push(m).map(|n| n as u32),
        }
    }
    /// May another method be defined?
    ///
    /// # Errors
    /// NoMemoryError: the table of methods is full.
    pub fn check_method_room(&mut self) -> Result<(), Exit> {
        if self.methods.len() + RESERVE < self.methods.most() || !lock(&self.tables.free_methods).is_empty() {
            return Ok(());
        }
        self.heap.request_full();
        Err(self.no_memory("too many methods"))
    }
    /// Enters a piece of code into the table: it lives as long as something names it.
    pub(crate) fn enter_code(&mut self, q: &Arc<ISeq>) {
        note_syms(q, &self.rt);
        lock(&self.codes).push(q.clone());
        self.code_grew(q.size());
    }
    /// Compiled code takes so many bytes more.
    pub(crate) fn code_grew(&mut self, n: usize) {
        if self.tables.code.grew(n) && self.booted {
            self.heap.request_full();
        }
    }
    /// The symbol of a name that the running program made: it dies when nothing names it any more.
    ///
    /// # Errors
    /// NoMemoryError: the table of symbols is full.
    pub fn sym_of(&mut self, name: &[u8]) -> Result<Sym, Exit> {
        let s = self.syms.intern_weak(name);
        if self.syms.is_due() || s.is_none() {
            self.heap.request_full();
        }
        s.ok_or_else(|| self.no_memory("too many symbols"))
    }
}
