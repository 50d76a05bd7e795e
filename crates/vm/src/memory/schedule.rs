//! When this runtime collects, where that is not for it alone to say.
//!
//! A floor above may set a [`Schedule`], as a node of a cluster has one. It is asked before each node collection, at a safepoint or where
//! no task runs, and before the stop. It is told of each collection, and of what workers do.
//!
//! **Invariant.** `epoch` is 0 while there is none: then a worker loads it where it takes up a task and where it lies down, and pays for
//! nothing else. What a worker has told counts for the epoch in which it did; before that it rests. A task is counted in `awaiting`
//! from when it parks until it is taken up again, and says so by `Task::awaits`.

use crate::Cx;
use crate::cx::runtime::Runtime;
use kumi_heap::{HeapShared, Value};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::*};
use std::sync::{Arc, Weak};

/// What comes of a node collection that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It begins now, as a full one.
    Full,
    /// It begins now, as a young one.
    Young,
    /// It comes later, or not at all.
    Nothing,
}

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// It has no task that can run.
    Rests = 0,
    /// It runs tasks.
    Works = 1,
    /// It runs a task that is run only because no other can ([`Cx::set_speculative`]).
    Speculates = 2,
}

/// Says when a runtime collects. Calls come from workers, which hold none of the runtime's locks; they must not wait for anybody.
pub trait Schedule: Send + Sync {
    /// A node collection is wished for. Asked again if another worker stopped the world first.
    fn next(&self, heap: &HeapShared) -> Next;
    /// The stop is about to be asked for.
    fn begins(&self);
    /// The stop for a slice of a collection is about to be asked for.
    fn slice_begins(&self);
    /// A slice has ended, and the collection goes on; or there was no stop, since another worker had it.
    fn pauses(&self);
    /// A collection is over.
    fn ended(&self, heap: &HeapShared, full: bool);
    /// A worker does something else. `awaits`: some task waits for a message of another node.
    fn changes(&self, was: Doing, is: Doing, awaits: bool);
}

/// A runtime's schedule, if it has one.
#[derive(Default)]
pub(crate) struct Scheduled {
    pub epoch: AtomicU32,
    /// Of the last one that was set.
    last: AtomicU32,
    with: parking_lot::Mutex<Option<Arc<dyn Schedule>>>,
    /// Tasks that wait for messages.
    pub awaiting: AtomicUsize,
}

/// Has a collection looked at soon, from any thread. Keeps no runtime.
#[derive(Clone)]
pub struct Collector(Weak<Runtime>, Weak<HeapShared>);

impl Collector {
    /// A worker asks the schedule at its next safepoint, or at once where it has nothing to do.
    pub fn ask(&self) {
        let (Some(rt), Some(heap)) = (self.0.upgrade(), self.1.upgrade()) else { return };
        heap.request_gc();
        rt.poll_all();
        if let Some(sched) = rt.sched.get() {
            (0..rt.workers.len()).for_each(|w| sched.wake_worker(w));
        }
    }
    /// What all heaps of the runtime have in common, while there is one.
    pub fn heap(&self) -> Option<Arc<HeapShared>> {
        self.1.upgrade()
    }
}

impl Cx {
    /// Has this schedule say when to collect from now on; none: the heap says so itself.
    pub fn set_schedule(&mut self, with: Option<Arc<dyn Schedule>>) {
        let epoch = if with.is_some() { self.scheduled.last.fetch_add(1, Relaxed) % (u32::MAX >> 2) + 1 } else { 0 };
        *self.scheduled.with.lock() = with;
        self.scheduled.epoch.store(epoch, Release);
        self.tell_runs();
    }
    /// The schedule, if there is one.
    pub(crate) fn schedule(&self) -> Option<Arc<dyn Schedule>> {
        if self.scheduled.epoch.load(Relaxed) == 0 {
            return None;
        }
        self.scheduled.with.lock().clone()
    }
    /// See [`Collector`].
    pub fn collector(&self) -> Collector {
        Collector(Arc::downgrade(&self.runtime()), Arc::downgrade(self.heap.shared()))
    }
    /// The wait that the running native is about to begin is for what another node sends: while nothing can run meanwhile, the node is
    /// idle.
    pub fn expect_message(&mut self) {
        self.expect_service();
        self.pending.awaits = true;
    }
    /// A program's own wait for other nodes begins, or has ended, in whatever tasks it goes on.
    pub fn awaits_nodes(&self, on: bool) {
        if on {
            self.scheduled.awaiting.fetch_add(1, Relaxed);
        } else {
            self.scheduled.awaiting.fetch_sub(1, Relaxed);
        }
    }
    /// A thread is to be run only where no other can, or no more: schedules may count its time as idle.
    pub fn set_speculative(&mut self, thread: Value, on: bool) {
        let Some(root) = self.thread_root(thread) else { return };
        if let Some(f) = root.first() {
            f.set_speculative(on);
        }
        if root == self.root {
            self.tell_runs();
        }
    }
    /// This worker runs the present task from here on.
    #[inline]
    pub(crate) fn tell_runs(&mut self) {
        if self.scheduled.epoch.load(Relaxed) != 0 {
            let speculates = self.root.first().is_some_and(|f| f.is_speculative());
            self.tell(if speculates { Doing::Speculates } else { Doing::Works });
        }
    }
    /// This worker has nothing to run.
    #[inline]
    pub(crate) fn tell_rests(&mut self) {
        if self.scheduled.epoch.load(Relaxed) != 0 {
            self.tell(Doing::Rests);
        }
    }
    fn tell(&mut self, is: Doing) {
        let epoch = self.scheduled.epoch.load(Relaxed);
        let (of, was) = self.told;
        let was = if of == epoch { was } else { Doing::Rests };
        self.told = (epoch, is);
        if was != is
            && let Some(s) = self.schedule()
        {
            s.changes(was, is, self.scheduled.awaiting.load(Relaxed) > 0);
        }
    }
    /// The task that is about to park waits for a message.
    #[inline]
    pub(crate) fn note_awaits(&mut self) {
        if std::mem::take(&mut self.pending.awaits) && self.scheduled.epoch.load(Relaxed) != 0 {
            self.task.awaits = true;
            self.scheduled.awaiting.fetch_add(1, Relaxed);
        }
    }
    /// The task that is taken up waits no more.
    #[inline]
    pub(crate) fn has_awaited(&mut self) {
        if std::mem::take(&mut self.task.awaits) {
            self.scheduled.awaiting.fetch_sub(1, Relaxed);
        }
    }
    /// What the next node collection is to be, before the stop for it; `None`: there is none now.
    pub(crate) fn next_collection(&mut self) -> Option<bool> {
        let shared = self.heap.shared();
        let Some(s) = self.schedule().filter(|_| !shared.stats.is_stressed()) else { return Some(shared.is_full_next()) };
        match s.next(shared) {
            Next::Nothing => None,
            next => {
                s.begins();
                Some(next == Next::Full)
            }
        }
    }
}

impl Runtime {
    /// A fork's child is no node.
    pub(crate) fn forget_schedule(&mut self) {
        self.scheduled = Scheduled::default();
    }
}
