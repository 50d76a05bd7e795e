//! The context natives receive: one worker's view of a runtime.
//!
//! Nothing is global (rule 4): a process may hold several. The helpers that every native file needs are in the files beside
//! this one, by what they are for: making values, reading arguments, answering, instance variables, describing. They are
//! small and free of policy.
//!
//! **Invariant.** A `Cx` is one OS thread's at a time; what workers share is in the [`Runtime`] behind it.

mod answer;
mod arguments;
mod describe;
mod ivars;
mod make;
mod options;
pub mod runtime;

pub use options::Options;

use crate::cx::runtime::{Runtime, StateCell, StateRef};
use crate::doors::*;
use crate::interp::NEWS;
use crate::interp::NewEntry;
use crate::tasks::task::{First, Role, Task, TaskPtr, TaskTable};
use crate::world::CacheEntry;
use kumi_heap::*;
use std::any::TypeId;
use std::sync::Arc;

/// One worker of a runtime: what natives receive. Derefs to the `Runtime` that all workers share.
pub struct Cx {
    /// This worker's heap.
    pub heap: Heap,
    pub(crate) rt: Arc<Runtime>,
    /// Its number; 0 is the process's first thread.
    pub worker: usize,
    pub(crate) cache: Box<[CacheEntry]>,
    /// The serial that class Proc had when its `call` was last found to be the runtime's.
    pub(crate) proc_serial: u32,
    pub(crate) news: Box<[NewEntry; NEWS]>,
    pub(crate) ways: crate::tasks::share::Ways,
    /// Details of the running native's [`Exit`].
    pub pending: Pending,
    /// The running native's last argument is its keywords: true only where a native is called with some.
    pub native_keywords: bool,
    /// The running frame and the next instruction, valid while a native or slow path runs.
    pub(crate) fp: *mut Value,
    pub(crate) pc: *const std::sync::atomic::AtomicU64,
    pub(crate) stack_end: *mut Value,
    /// The runtime's, copied.
    pub(crate) stack_sizes: crate::tasks::stack::StackSizes,
    /// The native that raises just now, for the backtrace.
    pub(crate) raising_native: u32,
    /// The native that asked for the helper which is about to be called (`ff::BEHALF`).
    pub(crate) behalf: u32,
    /// Where a suspended native goes on; see `sched`.
    pub(crate) switch_to: Option<(u64, Result<Value, Value>)>,
    /// What comes before the loop goes on, while a slow path answers `Outcome::Next`.
    pub(crate) onward: crate::tasks::outcome::Onward,
    /// What the detached work of the running task's native panicked with.
    pub(crate) fault: Option<crate::tasks::fault::Fault>,
    /// Calls that natives made of natives, one within the other.
    pub(crate) nested: u32,
    /// Why the default method_missing is about to run.
    pub(crate) missing: crate::interp::Missing,
    /// `KUMI_GC_STRESS`: collect at every k-th safepoint.
    pub gc_stress: u32,
    /// The heap is verified at collections: see `verify`.
    pub(crate) verifies: bool,
    /// Nursery collections until the next look.
    pub(crate) verify_pause: u32,
    pub(crate) gc_tick: u32,
    /// Names of what is being compiled may die with the code.
    pub(crate) weak_names: bool,
    /// What is being compiled may be left off.
    pub(crate) compiling: Option<crate::tasks::patience::Patience>,
    /// Steps of walks through plain values, since when and until when somebody was seen to wait for their end.
    pub(crate) walked: u32,
    pub(crate) walks_since: Option<(std::time::Instant, std::time::Instant)>,
    /// The running task. Its stack bounds and base are mirrored in the loop's locals.
    pub task: TaskPtr,
    /// The first task of its thread.
    pub root: TaskPtr,
    /// Stands where no task runs.
    pub(crate) nobody: Box<Task>,
    /// Which task runs and how long.
    pub(crate) slice: crate::tasks::sched::Slice,
    /// `KUMI_SCHED_STRESS`: state of the dice; 0: off.
    pub(crate) stress: u64,
    /// `KUMI_TWIN_STRESS`: what user code calls runs its Ruby twin instead of the native, so that any program compares the two.
    pub(crate) twins: bool,
    pub(crate) events: Vec<kumi_sched::Event>,
    /// Tasks of the running thread that may hold private values and do not run now: see `gc`.
    pub(crate) recent: Vec<u64>,
    /// What it knows of enabled TracePoints.
    pub(crate) trace: crate::trace::View,
    /// A native waits for a collection that makes room: see `budget`.
    pub(crate) room_wanted: bool,
    /// What was in use after the last such collection.
    pub(crate) room_used: usize,
    /// How often one native has asked for one.
    pub(crate) room_asked: u8,
    /// Long work of the running task's native.
    pub(crate) detour: crate::tasks::detach::Detour,
    /// What it has told the schedule of this epoch to do.
    pub(crate) told: (u32, crate::memory::schedule::Doing),
    /// The last grace period that this worker has passed (`kumi_sched`'s `stop.rs`).
    pub(crate) grace: std::cell::Cell<u64>,
    /// Where states of native crates are, by type.
    states: rustc_hash::FxHashMap<TypeId, *const ()>,
}

impl std::ops::Deref for Cx {
    type Target = Runtime;
    #[inline(always)]
    fn deref(&self) -> &Runtime {
        &self.rt
    }
}

impl Cx {
    /// A worker of `rt`.
    pub(crate) fn worker(rt: Arc<Runtime>, heap: Heap, worker: usize) -> Box<Cx> {
        let mut nobody = Box::new(Task::new(Role::First(First::new()), None));
        let task = TaskPtr::of(&mut nobody);
        let stress = std::env::var("KUMI_SCHED_STRESS").ok().and_then(|v| v.trim().parse::<u64>().ok());
        let mut cx = Box::new(Cx {
            worker,
            slice: Default::default(),
            twins: std::env::var_os("KUMI_TWIN_STRESS").is_some_and(|v| !v.is_empty() && v != "0"),
            stress: stress.map_or(0, |s| s.wrapping_mul(2).wrapping_add(2 * worker as u64 + 1)),
            events: Vec::new(),
            recent: Vec::new(),
            trace: Default::default(),
            detour: Default::default(),
            told: (0, crate::memory::schedule::Doing::Rests),
            grace: Default::default(),
            states: Default::default(),
            root: task,
            task,
            nobody,
            heap,
            stack_sizes: rt.stack_sizes,
            rt,
            cache: crate::world::empty_cache(),
            proc_serial: u32::MAX,
            news: Box::new([NewEntry::default(); NEWS]),
            ways: Default::default(),
            pending: Pending::default(),
            native_keywords: false,
            fp: std::ptr::null_mut(),
            pc: std::ptr::null(),
            stack_end: std::ptr::null_mut(),
            raising_native: crate::doors::NO_METHOD,
            behalf: crate::doors::NO_METHOD,
            switch_to: None,
            onward: Default::default(),
            fault: None,
            nested: 0,
            missing: Default::default(),
            gc_stress: 0,
            verifies: false,
            verify_pause: 0,
            gc_tick: 0,
            weak_names: false,
            compiling: None,
            walked: 0,
            walks_since: None,
            room_wanted: false,
            room_used: 0,
            room_asked: 0,
        });
        cx.tell_heap_where();
        cx
    }
    /// The table of tasks, for threads that are no workers.
    pub fn shared_tasks(&self) -> Arc<TaskTable> {
        self.rt.tasks.clone()
    }
    pub(crate) fn sched_cell(&self) -> &std::sync::OnceLock<Arc<kumi_sched::Sched>> {
        &self.rt.sched
    }
    /// The runtime for writing, at boot: while this is its only worker.
    ///
    /// # Panics
    /// When other workers were started, as the first `Thread.new` does.
    pub fn boot(&mut self) -> &mut Runtime {
        assert!(!self.workers_started(), "what belongs to the boot comes before the first thread");
        // SAFETY: no other worker runs, so nobody else holds a reference into the runtime.
        unsafe { self.alone() }
    }
    /// The runtime for writing.
    ///
    /// # Safety
    /// No other worker runs: at boot, or in the child of a fork.
    pub(crate) unsafe fn alone(&mut self) -> &mut Runtime {
        // SAFETY: the caller's promise, and the borrow of this worker's context.
        unsafe { &mut *(Arc::as_ptr(&self.rt) as *mut Runtime) }
    }
    /// State of a native crate, made on first use; locked until dropped, so keep it for a statement.
    pub fn state<T: Default + 'static>(&mut self) -> StateRef<'_, T> {
        let cell = self.state_place::<T>();
        // SAFETY: cells live as long as the runtime, which this worker keeps.
        unsafe { (*cell).borrow(self.is_parallel()) }
    }
    fn state_place<T: Default + 'static>(&mut self) -> *const StateCell<T> {
        match self.states.get(&TypeId::of::<T>()) {
            Some(p) => *p as *const StateCell<T>,
            None => {
                let p = self.rt.state_cell::<T>();
                self.states.insert(TypeId::of::<T>(), p as *const ());
                p
            }
        }
    }
    /// State of a native crate that is safe to share by itself.
    pub fn shared_state<T: Default + Sync + 'static>(&mut self) -> &'static T {
        let cell = self.state_place::<T>();
        // SAFETY: as in `state`; workers end before their runtime, and nobody borrows a `Sync` state for writing.
        unsafe { (*cell).shared() }
    }
    /// Locks an object that is neither receiver nor argument, for a native of [`Guard::None`]; it must not hold other objects.
    #[inline]
    pub fn lock_objects(&self, recv: Value, args: &[Value]) -> Option<LockSet> {
        self.is_parallel().then(|| LockSet::new(recv, args))
    }
}
