//! Tasks: a stack and the little a suspended computation needs besides.
//!
//! **Invariant.** Frames, registers, blocks and handlers of a task live in its
//! stack and nowhere else. Every slot below the top of the running frame is a valid
//! [`Value`]: frame-header words that are addresses or offsets carry the fixnum tag.
//! So the roots of a task are one slice. Nothing outside the stack holds an address
//! into it: frames, blocks and Home cells use slot numbers.
//!
//! Who may touch a task: the worker that runs it (or, for a suspended fiber, its
//! thread's worker); others only its atomics, and those that belong together only
//! under the table's lock. At a stop, everybody.

use crate::doors::Call;
use crate::names::stable::StableVec;
use crate::tasks::stack::Stack;
use kumi_heap::{Gc, HomeObj, Marker, Value};
use smallvec::SmallVec;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering::*};
use thin_vec::ThinVec;

/// What a task is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum State {
    /// Made, `start` not yet called.
    New,
    /// May run (threads), or is the running one.
    Ready,
    /// Fiber that yielded or was never resumed; runs only when resumed.
    Suspended,
    /// Fiber that resumed another one and waits for it.
    Resuming,
    /// Waits for a time, a descriptor or a wake-up.
    Waiting,
    Done,
}

/// A state that other workers may look at.
pub struct StateCell(AtomicU8);
impl StateCell {
    #[inline]
    pub fn get(&self) -> State {
        match self.0.load(Acquire) {
            0 => State::New,
            1 => State::Ready,
            2 => State::Suspended,
            3 => State::Resuming,
            4 => State::Waiting,
            _ => State::Done,
        }
    }
    #[inline]
    pub fn set(&self, s: State) {
        self.0.store(s as u8, Release)
    }
}

/// Names one wait of one task, for the wait lists of locks and queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ticket {
    pub task: u64,
    pub seq: u64,
}

/// The native that parked, to be called again: call, result register, frame flags.
pub type Again = (Call, usize, u64);

/// Which native waits, so that it knows its own wait when it is called again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Waits {
    Nothing,
    Sleep,
    Join,
    Park,
    Signal,
    Pass,
    Job,
    /// For a child process.
    Child,
    /// For the collection it asked for.
    Collect,
    /// For a descriptor, but not for ever.
    Io,
}

/// A wait that a signal handler interrupts.
pub struct Interrupted {
    /// The native that waited; `None`: its instruction is executed again.
    pub call: Option<Call>,
    pub waits: Waits,
    pub since: u64,
    pub until: u64,
    pub aside: Option<Box<crate::tasks::aside::Wanted>>,
}

/// Descriptors that are watched for a wait which something else may end, and that wait's number.
pub struct Watched {
    pub seq: u64,
    pub fds: SmallVec<[i32; 4]>,
}

/// One Thread or Fiber.
pub struct Task {
    pub id: u64,
    pub stack: Stack,
    /// Slot of the running frame's base.
    pub base: usize,
    /// Address of the next instruction word.
    pub pc: usize,
    /// Slot that receives the value a suspended task is resumed with.
    pub dst: usize,
    /// `$!`
    pub err: Value,
    /// Running `catch` calls, outermost first: tag, the frame it returns from, `$!` when it began.
    pub catches: ThinVec<(Value, usize, Value)>,
    /// Objects that `inspect`, `==` and the like are at work on, so that recursive structures end (bits of
    /// values that running frames hold).
    pub guards: ThinVec<(u64, u64, u64)>,
    /// Descriptors that may still be watched when its wait is over.
    pub watched: Option<Box<Watched>>,
    /// Home cells of frames whose closures escaped, by frame, outermost first.
    pub homes: ThinVec<(usize, Gc<HomeObj>)>,
    pub state: StateCell,
    /// The Thread it belongs to and the Fiber it is (values of their objects; nil: none made yet).
    pub thread: Value,
    pub fiber: Value,
    /// The first task of its thread (its own number when it is that).
    pub root: u64,
    /// Of a first task: the thread's fiber that runs or waits now.
    pub active: AtomicU64,
    /// The task that resumed this fiber.
    pub resumer: Option<u64>,
    /// The fiber this one resumed and waits for.
    pub child: Option<u64>,
    /// Belongs to a Ractor that is not the main one.
    pub isolated: bool,
    /// Fiber: to be ended when control comes back to it.
    pub killed: bool,
    /// What it runs first.
    pub start: Option<Box<Call>>,
    /// Result of a finished task, or the exception that ended it.
    pub result: Value,
    pub failed: Value,
    /// Of a first task: exceptions other threads sent, oldest first; `true` stands for kill.
    pub interrupts: parking_lot::Mutex<ThinVec<Value>>,
    /// Is there one?
    pub mail: AtomicBool,
    /// The last wait was ended by whoever it waited for.
    pub woken: AtomicBool,
    /// Number of the present wait: a [`Ticket`] is good for the wait it was made for.
    pub wait_seq: AtomicU64,
    /// A wake-up that came before the wait.
    pub wake_token: AtomicBool,
    /// Which native waits, since when and until when (monotonic nanoseconds).
    pub waits: Waits,
    pub since: u64,
    pub until: u64,
    /// Waits for something outside (a signal): no deadlock.
    pub forever: bool,
    /// Fiber: its waits go to the thread's fiber scheduler, if there is one.
    pub nonblocking: bool,
    /// First task: the thread has a fiber scheduler.
    pub scheduled: bool,
    /// Runs on worker 0 only.
    pub pinned: bool,
    /// The present wait has a timer.
    pub timed: AtomicBool,
    /// It was interrupted while it ran, not while it waited.
    pub gave_way: bool,
    /// Times that the native to be called again was called away (`patience.rs`).
    pub attempts: u8,
    /// Words of the instruction before which `pc` stands, to be executed again after a wait.
    pub rewound: u8,
    /// Fiber storage (inherited), and fiber-locals (`Thread#[]`).
    pub storage: Value,
    pub locals: Value,
    /// Of a first task: the environment of its thread's block (nil: none), and `$~` of the scopes around that block.
    pub around: Value,
    pub matched: Value,
    /// A resumed value decides the fused jump before `pc`.
    pub jump: bool,
    pub again: Option<Box<Again>>,
    /// Fiber: left by `Fiber.yield`.
    pub yielding: bool,
    /// What `Thread.handle_interrupt` holds back, innermost first: `[outer, class, how, class, how, ...]`, where
    /// how is 0 at once, 1 at a wait, 2 never; nil: nothing.
    pub masks: Value,
    /// Interrupts wait until a lock is taken back.
    pub held: bool,
    /// It runs finalizers, and interrupts of its thread wait meanwhile.
    pub finalizing: Finalizing,
    /// Very long work that was begun for its native.
    pub aside: Option<Box<crate::tasks::aside::Wanted>>,
    /// What the pool's job gave.
    pub job: Option<Box<dyn std::any::Any + Send>>,
    /// Waits that go on when the signal handler above them is done, innermost last.
    pub after_signal: ThinVec<Interrupted>,
    /// Events it is being told of.
    pub(crate) tracing: Option<Box<crate::trace::Tracing>>,
    /// Its place among the roots of nursery collections: bits of [`recent`].
    pub(crate) recent: u8,
    /// A frame of it may have `ff::SHOWN` or `ff::AGED`: who writes into frames below the running one publishes.
    pub(crate) marked: bool,
}

/// Bits of [`Task::recent`].
pub(crate) mod recent {
    /// It stands in its worker's list.
    pub const LISTED: u8 = 1;
    /// It ran since the last nursery collection.
    pub const RAN: u8 = 2;
    /// It ran since the last node collection: a young one looks at it whoever holds its object.
    pub const TOUCHED: u8 = 4;
}

impl Task {
    pub fn new() -> Task {
        Task {
            id: 0,
            stack: Stack::new(),
            base: 0,
            pc: 0,
            dst: 0,
            err: Value::NIL,
            catches: ThinVec::new(),
            guards: ThinVec::new(),
            watched: None,
            homes: ThinVec::new(),
            state: StateCell(AtomicU8::new(State::New as u8)),
            thread: Value::NIL,
            fiber: Value::NIL,
            root: 0,
            active: AtomicU64::new(0),
            resumer: None,
            child: None,
            isolated: false,
            killed: false,
            start: None,
            result: Value::NIL,
            failed: Value::NIL,
            interrupts: parking_lot::Mutex::new(ThinVec::new()),
            mail: AtomicBool::new(false),
            woken: AtomicBool::new(false),
            wait_seq: AtomicU64::new(0),
            wake_token: AtomicBool::new(false),
            waits: Waits::Nothing,
            since: 0,
            until: u64::MAX,
            forever: false,
            nonblocking: false,
            scheduled: false,
            pinned: false,
            timed: AtomicBool::new(false),
            gave_way: false,
            rewound: 0,
            attempts: 0,
            storage: Value::NIL,
            locals: Value::NIL,
            around: Value::NIL,
            matched: Value::NIL,
            jump: false,
            again: None,
            yielding: false,
            masks: Value::NIL,
            held: false,
            finalizing: Default::default(),
            aside: None,
            job: None,
            after_signal: ThinVec::new(),
            tracing: None,
            recent: 0,
            marked: false,
        }
    }
    /// A fiber that is over holds no values any more: nobody asks for them, and nobody keeps them alive.
    pub fn forget_values(&mut self) {
        for v in [
            &mut self.err,
            &mut self.result,
            &mut self.failed,
            &mut self.storage,
            &mut self.locals,
            &mut self.masks,
            &mut self.around,
            &mut self.matched,
        ] {
            *v = Value::NIL;
        }
        self.catches.clear();
        self.guards.clear();
        self.homes.clear();
        self.after_signal.clear();
        self.tracing = None;
        (self.start, self.again) = (None, None);
    }
    /// Is it a thread's first task (not a fiber)?
    pub fn is_root(&self) -> bool {
        self.root == self.id
    }
    /// Marks the stack and all else it holds.
    pub fn trace(&self, m: &mut Marker) {
        self.mark_parked_stack(m);
        for v in
            [self.err, self.thread, self.fiber, self.result, self.failed, self.storage, self.locals, self.masks, self.around, self.matched]
        {
            m.mark(v);
        }
        m.mark_all(&self.interrupts.lock());
        self.show_lists(m);
    }
    pub(crate) fn show_lists(&self, m: &mut Marker) {
        for (t, _, e) in &self.catches {
            m.mark(*t);
            m.mark(*e);
        }
        for (_, h) in &self.homes {
            m.mark(h.val());
        }
        if let Some(c) = &self.start {
            crate::doors::trace_call(c, m);
        }
        if let Some(a) = &self.again {
            crate::doors::trace_call(&a.0, m);
        }
        for c in self.after_signal.iter().filter_map(|i| i.call.as_ref()) {
            crate::doors::trace_call(c, m);
        }
        if let Some(t) = &self.tracing {
            t.show(m);
        }
    }
}

/// The task of a Fiber object.
pub struct TaskRef {
    pub id: u64,
    /// Code of the block, for `inspect`: address of its `ISeq`; 0: none.
    pub code: u64,
    /// The task, when it lives as long as this object (it is no thread's first).
    pub own: Option<(TaskPtr, std::sync::Arc<TaskTable>)>,
}

impl kumi_heap::Payload for TaskRef {
    fn trace(&self, m: &mut Marker) {
        m.code(self.code);
        if let Some((t, _)) = &self.own {
            t.trace(m);
        }
    }
    fn rooted(&self) -> bool {
        self.own.is_some()
    }
    fn bytes(&self) -> usize {
        64 + self.own.as_ref().map_or(0, |(t, _)| size_of::<Task>() + t.stack.capacity() * 8)
    }
}

impl Drop for TaskRef {
    fn drop(&mut self) {
        if let Some((_, table)) = &self.own {
            table.remove(self.id);
        }
    }
}

/// Address of a task in the table: good while the task is (see the module).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TaskPtr(NonNull<Task>);

impl TaskPtr {
    pub(crate) fn of(t: &mut Task) -> TaskPtr {
        TaskPtr(NonNull::from(t))
    }
}
impl Deref for TaskPtr {
    type Target = Task;
    #[inline(always)]
    fn deref(&self) -> &Task {
        // SAFETY: the table keeps it; see the module for who may touch what.
        unsafe { self.0.as_ref() }
    }
}
impl DerefMut for TaskPtr {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Task {
        // SAFETY: as above: only the task's own worker writes plain fields.
        unsafe { self.0.as_mut() }
    }
}

#[derive(Default)]
struct Slot {
    task: AtomicPtr<Task>,
    generation: AtomicU32,
}

/// All tasks of a runtime, by number: generation in the upper half, slot below.
pub struct TaskTable {
    slots: StableVec<Slot>,
    /// Order of waits and wakes: states, wait numbers and wake flags that belong together change under it. Innermost
    /// but for the scheduler's own locks. Holds the free slots.
    free: parking_lot::Mutex<Vec<u32>>,
    /// Tasks taken out since the last stop: a worker that found one before may look at it until its next safepoint.
    dead: parking_lot::Mutex<Vec<Box<Task>>>,
    /// Threads that have not ended.
    pub threads: AtomicUsize,
    /// Waits that are no deadlock however long they last.
    pub sleepers: AtomicUsize,
    /// `Thread.ignore_deadlock`
    pub ignore_deadlock: AtomicBool,
    /// The main thread's first task.
    pub main: AtomicU64,
}

/// Most tasks at once.
pub const MOST_TASKS: usize = 1 << 25;

impl Default for TaskTable {
    fn default() -> Self {
        TaskTable {
            slots: StableVec::new(MOST_TASKS),
            free: Default::default(),
            dead: Default::default(),
            threads: AtomicUsize::new(0),
            sleepers: AtomicUsize::new(0),
            ignore_deadlock: AtomicBool::new(false),
            main: AtomicU64::new(0),
        }
    }
}

impl TaskTable {
    pub fn lock(&self) -> parking_lot::MutexGuard<'_, Vec<u32>> {
        self.free.lock()
    }
    /// Enters a task, a thread's first one if no `root` was set; `None` when there are too many.
    pub fn insert(&self, mut b: Box<Task>) -> Option<TaskPtr> {
        let mut free = self.lock();
        let i = match free.pop() {
            Some(i) => i as usize,
            None if self.slots.len() < MOST_TASKS - 1 => self.slots.push(Slot::default())?,
            None => return None,
        };
        let generation = self.slots[i].generation.load(Relaxed).wrapping_add(1).max(1);
        b.id = (generation as u64) << 32 | i as u64;
        if b.root == 0 {
            b.root = b.id;
        }
        *b.active.get_mut() = b.id;
        let p = Box::into_raw(b);
        self.slots[i].generation.store(generation, Relaxed);
        self.slots[i].task.store(p, Release);
        NonNull::new(p).map(TaskPtr)
    }
    /// The task of that number, when it still is.
    #[inline]
    pub fn get(&self, id: u64) -> Option<TaskPtr> {
        let s = self.slots.get(id as u32 as usize)?;
        let p = NonNull::new(s.task.load(Acquire))?;
        (s.generation.load(Relaxed) == (id >> 32) as u32).then_some(TaskPtr(p))
    }
    /// Frees tasks that were taken out. Only at a stop.
    pub(crate) fn bury(&self) {
        self.dead.lock().clear();
    }
    /// Takes a task out; it is freed at the next stop.
    pub fn remove(&self, id: u64) {
        if let Some(mut t) = self.take_out(id) {
            t.stack.release();
            self.dead.lock().push(t);
        }
    }
    /// As [`TaskTable::remove`] by the only active worker, when none of its natives runs: nobody looks at the task, and
    /// it is freed at once.
    pub(crate) fn remove_alone(&self, id: u64) {
        drop(self.take_out(id));
    }
    fn take_out(&self, id: u64) -> Option<Box<Task>> {
        let mut free = self.lock();
        let s = self.slots.get(id as u32 as usize)?;
        if s.generation.load(Relaxed) != (id >> 32) as u32 {
            return None;
        }
        let p = NonNull::new(s.task.swap(std::ptr::null_mut(), AcqRel))?;
        s.generation.fetch_add(1, Relaxed);
        free.push(id as u32);
        // SAFETY: made by `insert`; taken out under the lock, so nobody finds it any more.
        Some(unsafe { Box::from_raw(p.as_ptr()) })
    }
    /// All tasks there are. Only under the lock or at a stop.
    pub fn each(&self, mut f: impl FnMut(TaskPtr)) {
        for s in &self.slots {
            if let Some(p) = NonNull::new(s.task.load(Acquire)) {
                f(TaskPtr(p));
            }
        }
    }
}

impl Drop for TaskTable {
    fn drop(&mut self) {
        for s in &self.slots {
            let p = s.task.load(Relaxed);
            if !p.is_null() {
                // SAFETY: made by `insert`, owned by the table.
                drop(unsafe { Box::from_raw(p) });
            }
        }
    }
}

/// Of a task: does it run finalizers? Other workers may read it.
#[derive(Default)]
pub struct Finalizing(AtomicU8);

impl Finalizing {
    pub(crate) const NO: u8 = 0;
    pub(crate) const ENTERING: u8 = 1;
    pub(crate) const RUNNING: u8 = 2;

    /// Interrupts wait; no second run begins.
    pub(crate) fn is_on(&self) -> bool {
        self.0.load(Relaxed) != Self::NO
    }
    /// The helper has not come to its first instruction.
    pub(crate) fn is_entering(&self) -> bool {
        self.0.load(Relaxed) == Self::ENTERING
    }
    pub(crate) fn set(&self, state: u8) {
        self.0.store(state, Relaxed)
    }
}
