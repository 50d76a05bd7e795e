//! Tables that the running program fills, and how they are emptied: symbols, methods, compiled code.
//!
//! **Invariant.** A row is freed only at the stop of a full collection that no living cell, stack, pending call or other
//! row has named it to ([`Rows`]). All who hold a row's number or address across a safepoint show it in their trace:
//! classes, places (crefs), Procs, frames, Method objects, backtraces, calls to be made. Natives hold what they like: they
//! come to no safepoint. Inline caches hold a method's number beside a class serial; a row that no class names any more
//! was left by a change that gave its classes other serials, or its classes are dead, so that such a cache never hits
//! again. What was there when booting ended stays.

use crate::iseq::ISeq;
use crate::method::{Body, Method};
use crate::native::{Guard, Vis};
use crate::runtime::{Runtime, lock};
use crate::{Cx, Exit, sym};
use kumi_heap::{Marker, Rows, Sym, SymMarks, Value, Visitor};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
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

/// What a full collection has met.
pub(crate) struct Met<'r> {
    rt: &'r Runtime,
    syms: OnceLock<Option<SymMarks>>,
    methods: OnceLock<Box<[AtomicU64]>>,
}

impl<'r> Met<'r> {
    pub fn new(rt: &'r Runtime) -> Met<'r> {
        Met { rt, syms: OnceLock::new(), methods: OnceLock::new() }
    }
    /// A full collection begins.
    pub fn begin(&self) -> &dyn Rows {
        self.syms.get_or_init(|| self.rt.syms.marks());
        let n = self.rt.methods.len().div_ceil(64);
        self.methods.get_or_init(|| (0..n).map(|_| AtomicU64::new(0)).collect());
        for q in lock(&self.rt.codes).iter() {
            q.met.store(false, Relaxed);
            q.forget_consts();
        }
        self
    }
}

/// Sets a bit; true when it was clear.
fn set(bits: &[AtomicU64], n: u32) -> bool {
    let Some(w) = bits.get(n as usize / 64) else { return false };
    let bit = 1 << (n % 64);
    w.load(Relaxed) & bit == 0 && w.fetch_or(bit, Relaxed) & bit == 0
}
fn is_set(bits: &[AtomicU64], n: u32) -> bool {
    bits.get(n as usize / 64).is_some_and(|w| w.load(Relaxed) & 1 << (n % 64) != 0)
}

impl Rows for Met<'_> {
    fn syms(&self) -> Option<&SymMarks> {
        self.syms.get()?.as_ref()
    }
    #[inline]
    fn method(&self, n: u32, to: &mut dyn Visitor) {
        if let Some(bits) = self.methods.get()
            && set(bits, n)
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

/// Shows what a piece of code and the code inside it hold.
#[inline(never)]
fn show_code(q: &ISeq, to: &mut dyn Visitor) {
    let mut todo = vec![q];
    let mut m = Marker::new(to);
    while let Some(q) = todo.pop() {
        if q.met.swap(true, Relaxed) {
            continue;
        }
        q.show_values(&mut m);
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
    }
}

impl ISeq {
    /// Shows the values that the code has made.
    pub(crate) fn show_values(&self, m: &mut Marker) {
        for v in self.values.iter().chain(self.once.iter()) {
            m.mark(Value::from_bits(v.load(Relaxed)));
        }
        for e in lock(&self.const_cache).iter() {
            m.mark_all(&[e.value, Value::from_bits(e.scope)]);
        }
    }
    /// Forgets cached constants: they would keep values and places that nobody uses any more. The world is stopped.
    fn forget_consts(&self) {
        for e in lock(&self.const_cache).drain(..) {
            // SAFETY: the word is one of this code's.
            let word = unsafe { &*e.word };
            if word.load(Relaxed) == &raw const *e as u64 {
                word.store(0, Relaxed);
            }
        }
    }
    fn size(&self) -> usize {
        let lists = self.code.len() * 8 + self.syms.len() * 4 + self.sites.len() * 32 + self.lines.len() * 8 + self.values.len() * 8;
        std::mem::size_of::<ISeq>() + lists
    }
    /// Keeps the names that can die while the code lives.
    fn note_syms(&self, rt: &Runtime) {
        let mut all: Vec<Sym> = Vec::new();
        let mut add = |s: &Sym| {
            if rt.syms.is_weak(*s) {
                all.push(*s);
            }
        };
        [&self.syms, &self.env_names, &self.local_names].into_iter().flatten().for_each(&mut add);
        for s in &self.sites {
            add(&s.mid);
            s.kw.iter().for_each(&mut add);
        }
        self.bodies.iter().for_each(|b| add(&b.name));
        self.params.kw.iter().for_each(|k| add(&k.0));
        self.params.names.iter().flatten().for_each(&mut add);
        self.lits.iter().for_each(|l| l.each_sym(&mut add));
        if let Some(n) = &self.parent_names {
            n.each_sym(&mut add);
        }
        if !all.is_empty() {
            all.sort_unstable();
            all.dedup();
            let _ = self.weak_syms.set(all.into());
        }
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
        let profiled = self.workers.first().is_some_and(|w| {
            // SAFETY: the world is stopped: no other worker touches its context until this is over.
            unsafe { &mut (*w.cx).heap }.site_table().profiles()
        });
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
            if is_set(bits, n as u32) || self.methods[n].is_free() {
                continue;
            }
            // SAFETY: the world is stopped, and nobody names the row.
            unsafe {
                *self.methods.row_mut(n) = self.free_row();
                if n < self.hot.len() {
                    *self.hot.row_mut(n) = crate::interp::Hot::unset();
                }
            }
            free.push(n as u32);
        }
        self.tables.methods.collected(self.methods.len() - first - free.len());
        let mut bytes = 0;
        let mut codes = lock(&self.codes);
        codes.retain(|q| {
            let met = q.met.load(Relaxed);
            bytes += if met { q.size() } else { 0 };
            met
        });
        self.tables.code.collected(bytes);
        if let Some(marks) = met.syms()
            && self.syms.sweep(marks)
        {
            for f in &self.sym_sweepers {
                f(self, &|s| marks.is_marked(s) || !self.syms.is_weak(s));
            }
        }
        for w in &self.workers {
            // SAFETY: the world is stopped: no other worker touches its context until this is over.
            unsafe { (*w.cx).forget_found() };
        }
    }
    fn free_row(&self) -> Method {
        Method {
            native: None,
            guard: Guard::None,
            min: 0,
            max: 0,
            vis: Vis::Public,
            builtin: false,
            ruby2_keywords: false,
            body: Body::Undef,
            cref: Value::NIL,
            owner: self.k.object,
            name: sym::EMPTY,
            called: sym::EMPTY,
            forced: Default::default(),
        }
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
    /// What was found by symbols or serials that may mean something else now.
    fn forget_found(&mut self) {
        self.cache = crate::world::empty_cache();
        self.news.fill(Default::default());
        self.heap.shapes.forget_found();
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
        q.note_syms(&self.rt);
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
