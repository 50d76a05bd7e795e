//! Lists of tasks that wait, and the book of locks that somebody waits for.
//!
//! **Invariant.** A [`Ticket`] in a list names a wait that is still on, or it is void and whoever wakes skips it. The owner of
//! a lock somebody waits for is noted in the [`LockBook`], so that its death frees the lock.

use crate::doors::Exit;
use crate::tasks::task::State;
use crate::{Cx, Ticket};
use kumi_heap::*;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex as Lock, PoisonError};

/// `seq` of a ticket that ends whatever wait its task is in, as `Thread#wakeup` does.
const ANY_WAIT: u64 = u64::MAX;

/// Who waits, first come first.
#[derive(Default)]
pub struct WaitList {
    list: VecDeque<Ticket>,
    /// Length at which void tickets are looked for and dropped.
    prune_at: usize,
}

impl WaitList {
    /// The running native is about to park and wants to be woken from here.
    pub fn enter(&mut self, cx: &mut Cx) {
        let t = cx.ticket();
        self.add(cx, t);
    }
    /// The wait `t` is to be ended from here.
    pub fn add(&mut self, cx: &mut Cx, t: Ticket) {
        if self.list.len() >= self.prune_at.max(32) {
            self.list.retain(|t| cx.waits(*t));
            self.prune_at = self.list.len() * 2;
        }
        self.list.push_back(t);
    }
    /// Whatever the running task waits for next, being woken from here ends it, as `Thread#wakeup` does.
    pub fn enter_any_wait(&mut self, cx: &mut Cx) {
        let t = Ticket { task: cx.task.id, seq: ANY_WAIT };
        self.add(cx, t);
    }
    /// Does nobody stand here, not even one that waits no more?
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
    /// The running task waits here no more (its time was over).
    pub fn leave(&mut self, task: u64) {
        if let Some(i) = self.list.iter().position(|t| t.task == task) {
            self.list.remove(i);
        }
    }
    /// Wakes the first that waits. False when nobody did.
    #[inline]
    pub fn wake_one(&mut self, cx: &mut Cx) -> bool {
        while let Some(t) = self.list.pop_front() {
            if t.seq == ANY_WAIT {
                cx.wake_any(t.task, true);
            } else if !cx.wake(t) {
                continue;
            }
            return true;
        }
        false
    }
    pub fn wake_all(&mut self, cx: &mut Cx) {
        while self.wake_one(cx) {}
    }
    /// How many wait.
    pub fn waiting(&self, cx: &mut Cx) -> usize {
        self.list.iter().filter(|t| cx.waits(**t)).count()
    }
    pub fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<Ticket>()
    }
}

/// Frees the lock of a class, whose cell is given and locked, if that task, which is dead, has it.
pub type FreeLock = fn(&mut Cx, Value, u64);
type Noted = (Value, FreeLock);

/// Locks that somebody waits for, by the task that owns them. Shared by all workers; its lock is innermost.
#[derive(Clone, Default)]
pub struct LockBook(Arc<Lock<FxHashMap<u64, Vec<Noted>>>>);

impl LockBook {
    fn with<T>(&self, f: impl FnOnce(&mut FxHashMap<u64, Vec<Noted>>) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
    /// `owner` has the lock, somebody waits for it, and `free` makes it free of a dead owner.
    pub fn note(&self, owner: u64, lock: Value, free: FreeLock) {
        self.with(|b| {
            let l = b.entry(owner).or_default();
            if !l.iter().any(|n| n.0 == lock) {
                l.push((lock, free));
            }
        })
    }
    pub fn forget(&self, owner: u64, lock: Value) {
        self.with(|b| {
            if let Some(l) = b.get_mut(&owner) {
                l.retain(|n| n.0 != lock);
                if l.is_empty() {
                    b.remove(&owner);
                }
            }
        })
    }
    fn take(&self, owner: u64) -> Vec<Noted> {
        self.with(|b| b.remove(&owner).unwrap_or_default())
    }
    pub fn trace(&self, m: &mut Marker) {
        self.with(|b| b.values().flatten().for_each(|n| m.mark(n.0)))
    }
}

impl Cx {
    pub fn task_lives(&mut self, id: u64) -> bool {
        self.task_mut(id).is_some_and(|t| t.state() != State::Done)
    }
    /// A task has ended: locks it still holds become free.
    pub fn free_locks_of(&mut self, task: u64) {
        for (v, free) in self.lock_book.take(task) {
            let _l = self.lock_cell(v);
            free(self, v, task);
        }
    }
    pub fn thread_error(&mut self, msg: &str) -> Exit {
        self.raise_msg(self.k.thread_error, msg)
    }
}
