//! What all workers of one runtime share.
//!
//! **Invariant.** Everything here is either written at boot only (while there is
//! one worker), append-only, atomic, or behind its own lock. [`Cx`](crate::Cx)
//! derefs to it, so that natives read `cx.k`, `cx.syms`, `cx.main_object` without
//! knowing whose they are.
//!
//! Locks, in the order in which they may be taken: `leaf` (natives that touch state
//! of the whole runtime), the objects' own locks, `classes` (method tables,
//! constants, caches: slow paths only), then the small ones inside a structure,
//! which never take another.

use crate::doors::*;
use crate::names::stable::StableVec;
use crate::names::symbols::SymTab;
use crate::tasks::task::TaskTable;
use crate::tasks::worker::WorkerRef;
use crate::world::Global;
use crate::world::Known;
use crate::world::method::Method;
use crate::world::prelude::Prelude;
use kumi_bytecode::ISeq;
use kumi_heap::*;
use kumi_sched::Sched;
use kumi_sched::Stop;
use kumi_sched::Threads;
use rustc_hash::FxHashMap;
use std::any::{Any, TypeId};
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock};

/// See the module.
pub struct Runtime {
    pub syms: SymTab,
    pub k: Box<Known>,
    pub methods: StableVec<Method>,
    /// What fast paths need of each method, parallel to `methods`.
    pub(crate) hot: StableVec<crate::world::hot::Hot>,
    /// The last class serial given out.
    pub(crate) serial: AtomicU32,
    /// By symbol, modulo their number: changes when a constant of such a name does.
    pub const_epochs: Box<[AtomicU32]>,
    pub(crate) globals: StableVec<Global>,
    pub(crate) global_ids: RwLock<FxHashMap<Sym, usize>>,
    pub intrinsics: Vec<(&'static str, NativeFn, Guard)>,
    pub(crate) intrinsic_ids: FxHashMap<&'static str, u16>,
    /// Code that frames, methods and procs point to: what none of them does is freed (see `tables`).
    pub(crate) codes: Mutex<Vec<Arc<ISeq>>>,
    /// Secret of this runtime that all hashes start from.
    pub hash_seed: u64,
    /// A user redefined an operator that the loop has built in.
    pub(crate) ops_redefined: AtomicBool,
    /// Has a program defined a `!` anywhere?
    pub(crate) not_redefined: AtomicBool,
    pub(crate) booted: bool,
    /// The code below a task's first call.
    pub(crate) bottom: OnceLock<Arc<ISeq>>,
    /// Signals that came in: what to call for them (set by the system floor).
    pub signal_hook: Option<fn(&mut crate::Cx) -> Option<Call>>,
    /// Puts back what the system did for signals before this runtime had them.
    pub signals_back: Option<fn(&mut crate::Cx)>,
    /// Did a signal come that was not taken yet?
    pub signal_waits: Option<fn() -> bool>,
    pub(crate) prelude: Prelude,
    /// Values that must stay alive whatever happens: constants of native code.
    roots: Mutex<Vec<Value>>,
    /// Per-crate state of native code (IO tables, random generators), by type. The boxes never move.
    state: Mutex<FxHashMap<TypeId, Box<dyn Any>>>,
    /// Extra root markers, called at each collection.
    pub tracers: Vec<fn(&crate::Cx, &mut Marker)>,
    /// Markers of roots that a full collection marks after all others.
    pub apart: Vec<crate::memory::apart::Apart>,
    /// Called when symbols have died, with a test whether one lives: tables by symbol forget the dead ones. World stopped.
    pub sym_sweepers: Vec<fn(&Runtime, &dyn Fn(Sym) -> bool)>,
    pub(crate) tables: crate::world::tables::Tables,
    /// What native crates do around a fork, on the forking thread, while the world is stopped.
    pub around_fork: Vec<fn(&crate::Cx, crate::Fork)>,
    /// What native crates make anew in the child of a fork, which has one thread and its parent's memory.
    pub fork_hooks: Vec<fn(&mut crate::Cx)>,
    /// Called by worker 0 when the runtime begins to end, all of it being there still.
    pub end_hooks: Vec<fn(&mut crate::Cx)>,
    pub main_object: Value,
    pub(crate) top_cref: Value,
    pub options: crate::Options,
    /// What its memory is counted by, and limited.
    pub(crate) account: Arc<kumi_budget::Account>,
    /// How large stacks are.
    pub(crate) stack_sizes: crate::tasks::stack::StackSizes,
    pub tasks: Arc<TaskTable>,
    pub lock_book: crate::LockBook,
    /// Time limits that run.
    pub(crate) limits: crate::tasks::limit::Limits,
    /// Made when the first task waits or the first thread starts.
    pub(crate) sched: OnceLock<Arc<Sched>>,
    pub(crate) stop: Stop,
    /// Very long work of natives.
    pub(crate) aside: crate::tasks::aside::Pieces,
    /// Was a Ractor ever made? See `ractor`.
    pub ractors: AtomicBool,
    /// A pass that trims parked stacks is to come.
    pub(crate) trim_armed: AtomicBool,
    /// A last look for a deadlock is to come.
    pub(crate) look_armed: AtomicBool,
    pub(crate) give_back: crate::memory::give_back::GiveBack,
    /// Who says when to collect, if not the heap.
    pub(crate) scheduled: crate::memory::schedule::Scheduled,
    /// What hangs on cells.
    pub(crate) outside: crate::tasks::outside::Outside,
    /// Enabled TracePoints.
    pub(crate) hooks: crate::trace::Hooks,
    /// The other workers were started.
    pub(crate) started: AtomicBool,
    pub(crate) workers: StableVec<WorkerRef>,
    /// Their threads, and what those leave.
    pub(crate) threads: Arc<Threads>,
    pub(crate) leavers: crate::tasks::Leavers,
    /// Around natives that touch state of the whole runtime.
    pub(crate) leaf: parking_lot::Mutex<()>,
    /// Around changes and slow readings of classes, methods and constants.
    pub(crate) classes: parking_lot::ReentrantMutex<()>,
}

// SAFETY: see the module's invariant; raw pointers inside (cells, code) are kept alive by the runtime's own roots.
unsafe impl Sync for Runtime {}
// SAFETY: as above.
unsafe impl Send for Runtime {}

/// Constant epochs: names share one now and then, which only costs a look-up.
pub(crate) const EPOCHS: usize = 1 << 14;

impl Runtime {
    /// Empty tables; `boot.rs` fills them.
    pub(crate) fn empty(hash_seed: u64, options: crate::Options, account: Arc<kumi_budget::Account>) -> Runtime {
        let syms = SymTab::default();
        syms.intern(b"main");
        Runtime {
            syms,
            k: Known::placeholder(),
            methods: StableVec::new(1 << 21),
            hot: StableVec::new(1 << 21),
            serial: AtomicU32::new(0),
            const_epochs: (0..EPOCHS).map(|_| AtomicU32::new(0)).collect(),
            globals: StableVec::new(1 << 18),
            global_ids: RwLock::default(),
            intrinsics: Vec::new(),
            intrinsic_ids: FxHashMap::default(),
            codes: Mutex::default(),
            hash_seed,
            ops_redefined: AtomicBool::new(false),
            not_redefined: AtomicBool::new(false),
            booted: false,
            bottom: OnceLock::new(),
            signal_hook: None,
            signals_back: None,
            signal_waits: None,
            prelude: Prelude::default(),
            roots: Mutex::default(),
            state: Mutex::default(),
            tracers: Vec::new(),
            apart: Vec::new(),
            sym_sweepers: Vec::new(),
            tables: Default::default(),
            around_fork: Vec::new(),
            fork_hooks: Vec::new(),
            end_hooks: Vec::new(),
            main_object: Value::NIL,
            top_cref: Value::NIL,
            stack_sizes: crate::tasks::stack::StackSizes::from_env(),
            outside: crate::tasks::outside::Outside::new(options.patience),
            options,
            account,
            tasks: Arc::default(),
            lock_book: Default::default(),
            limits: Default::default(),
            sched: OnceLock::new(),
            stop: Stop::default(),
            aside: Default::default(),
            ractors: AtomicBool::new(false),
            trim_armed: AtomicBool::new(false),
            look_armed: AtomicBool::new(false),
            give_back: Default::default(),
            scheduled: Default::default(),
            hooks: Default::default(),
            started: AtomicBool::new(false),
            workers: StableVec::new(4096),
            threads: Default::default(),
            leavers: Default::default(),
            leaf: Default::default(),
            classes: Default::default(),
        }
    }
    /// Keeps a published value alive for the runtime's life.
    pub(crate) fn keep(&self, v: Value) {
        lock(&self.roots).push(v);
    }
    pub(crate) fn kept(&self) -> MutexGuard<'_, Vec<Value>> {
        lock(&self.roots)
    }
    /// The cell of a native crate's state, made on first use; it lives as long as the runtime.
    pub(crate) fn state_cell<T: Default + 'static>(&self) -> *const StateCell<T> {
        let mut s = lock(&self.state);
        let e = s.entry(TypeId::of::<T>()).or_insert_with(|| Box::new(StateCell::<T>::default()));
        match e.downcast_ref::<StateCell<T>>() {
            Some(t) => t,
            None => unreachable!("state is stored by its type"),
        }
    }
    /// The state of a native crate, if it was ever asked for. For tracers, which run at a stop.
    pub fn state_seen<T: Default + 'static>(&self) -> Option<&T> {
        let s = lock(&self.state);
        let t = s.get(&TypeId::of::<T>())?.downcast_ref::<StateCell<T>>()?.value.get();
        // SAFETY: boxes in the table are never dropped or moved while the runtime lives; at a stop nobody changes them.
        Some(unsafe { &*t })
    }
    #[inline(always)]
    pub(crate) fn const_epoch(&self, name: Sym) -> &AtomicU32 {
        &self.const_epochs[name.0 as usize % EPOCHS]
    }
}

/// State of a native crate behind a lock of its own, an innermost one: its holder calls nothing of the runtime.
#[derive(Default)]
pub(crate) struct StateCell<T> {
    lock: parking_lot::Mutex<()>,
    value: std::cell::UnsafeCell<T>,
}

impl<T> StateCell<T> {
    /// The state for one user at a time; `parallel`: others may ask.
    #[inline]
    pub(crate) fn borrow(&self, parallel: bool) -> StateRef<'_, T> {
        let held = parallel.then(|| self.lock.lock());
        // SAFETY: the lock is held, or no other worker runs; who borrows borrows the worker too.
        StateRef { value: unsafe { &mut *self.value.get() }, _held: held }
    }
    /// The state of a type that needs no lock.
    ///
    /// # Safety
    /// Nobody borrows it, and the cell lives while the result is used.
    pub(crate) unsafe fn shared<'a>(&self) -> &'a T
    where
        T: Sync,
    {
        // SAFETY: the caller's promise.
        unsafe { &*self.value.get() }
    }
}

/// State of a native crate, its caller's alone until dropped. It borrows the context, so that
/// nothing else can be locked meanwhile.
pub struct StateRef<'a, T> {
    value: &'a mut T,
    _held: Option<parking_lot::MutexGuard<'a, ()>>,
}

impl<T> std::ops::Deref for StateRef<'_, T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        self.value
    }
}
impl<T> std::ops::DerefMut for StateRef<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.value
    }
}

/// A lock whose holder never panics while it matters.
pub(crate) fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(|e| e.into_inner())
}
