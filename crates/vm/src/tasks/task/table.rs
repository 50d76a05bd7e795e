//! All tasks of a runtime, by number, and the order in which their waits begin and end.

use super::{Role, Task};
use crate::names::stable::StableVec;
use kumi_heap::Marker;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering::*};

/// The task of a Fiber object.
pub struct TaskRef {
    /// The task's number.
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
        64 + self.own.as_ref().map_or(0, |(t, _)| size_of::<Task>() + t.stack.bytes_of_task())
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
    /// What the task holds may have changed since a slice of a collection was shown it. Always true where none has been.
    changed: AtomicBool,
    /// Bits of its [`recent`](super::recent) may be set.
    recent: AtomicBool,
}

/// The table's lock is held: waits begin and end under it alone.
pub struct Order<'a> {
    _held: parking_lot::MutexGuard<'a, Vec<u32>>,
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
    /// Tasks whose present wait is no deadlock however long it lasts.
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
    /// Takes the lock under which waits begin and end.
    pub fn lock(&self) -> Order<'_> {
        Order { _held: self.free.lock() }
    }
    /// The running task's wait is known from here on. False: it is over already.
    pub(crate) fn begin_wait(&self, t: TaskPtr, order: &Order) -> bool {
        if t.beside.is_woken() {
            return false;
        }
        if t.beside.is_forever() {
            self.sleepers.fetch_add(1, Relaxed);
        }
        t.beside.begin_wait(order);
        true
    }
    /// The task's present wait is over, for whoever names it from here on; `woken`: by what it was for. True when the task waited: it
    /// is ready now, and whoever ended the wait queues it.
    pub(crate) fn end_wait(&self, t: TaskPtr, woken: bool, order: &Order) -> bool {
        let waited = t.beside.end_wait(woken, order);
        if waited && t.beside.is_forever() {
            self.sleepers.fetch_sub(1, Relaxed);
        }
        waited
    }
    /// Enters a task; `None` when there are too many.
    pub(crate) fn insert(&self, mut b: Box<Task>) -> Option<TaskPtr> {
        let mut free = self.free.lock();
        let i = match free.pop() {
            Some(i) => i as usize,
            None if self.slots.len() < MOST_TASKS - 1 => self.slots.push(Slot::default())?,
            None => return None,
        };
        let generation = self.slots[i].generation.load(Relaxed).wrapping_add(1).max(1);
        b.id = (generation as u64) << 32 | i as u64;
        if let Role::First(f) = &b.role {
            f.set_active(b.id);
        }
        let p = Box::into_raw(b);
        self.slots[i].generation.store(generation, Relaxed);
        self.slots[i].changed.store(true, Relaxed);
        self.slots[i].recent.store(false, Relaxed);
        self.slots[i].task.store(p, Release);
        NonNull::new(p).map(TaskPtr)
    }
    /// The task of that number, when it still is.
    #[inline]
    pub fn get(&self, id: u64) -> Option<TaskPtr> {
        self.find(id).map(|(_, t)| t)
    }
    #[inline(always)]
    fn find(&self, id: u64) -> Option<(&Slot, TaskPtr)> {
        let s = self.slots.get(id as u32 as usize)?;
        let p = NonNull::new(s.task.load(Acquire))?;
        (s.generation.load(Relaxed) == (id >> 32) as u32).then_some((s, TaskPtr(p)))
    }
    /// The same, which is about to run, or to hold something else.
    #[inline]
    pub(crate) fn get_changing(&self, id: u64) -> Option<TaskPtr> {
        let (s, t) = self.find(id)?;
        // Looked at first: the slots beside it are other workers' business.
        if !s.changed.load(Relaxed) {
            s.changed.store(true, Relaxed);
        }
        Some(t)
    }
    /// Bits of its `recent` are set.
    pub(crate) fn note_recent(&self, t: TaskPtr) {
        if let Some(s) = self.slots.get(t.id as u32 as usize) {
            s.recent.store(true, Relaxed);
        }
    }
    /// All tasks whose bits of `recent` may be set; none are, afterwards. Only at a stop.
    pub(crate) fn each_recent(&self, mut f: impl FnMut(TaskPtr)) {
        for s in self.slots.iter().filter(|s| s.recent.load(Relaxed)) {
            s.recent.store(false, Relaxed);
            if let Some(p) = NonNull::new(s.task.load(Acquire)) {
                f(TaskPtr(p));
            }
        }
    }
    /// No slice of a collection has been shown any task. Only at a stop.
    pub(crate) fn all_changed(&self) {
        self.slots.iter().for_each(|s| s.changed.store(true, Relaxed));
    }
    /// Shows what changed since it was shown last, as long as `f` says so; true: that was all. Only at a stop.
    pub(crate) fn each_changed(&self, mut f: impl FnMut(TaskPtr) -> bool) -> bool {
        for s in self.slots.iter().filter(|s| s.changed.load(Relaxed)) {
            s.changed.store(false, Relaxed);
            if NonNull::new(s.task.load(Acquire)).is_some_and(|p| !f(TaskPtr(p))) {
                return false;
            }
        }
        true
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
        let mut free = self.free.lock();
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
