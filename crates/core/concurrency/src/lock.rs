//! What a Mutex and a Monitor have in common.
//!
//! **Invariant.** A lock is free or has one owner, a task (a fiber, as in CRuby, not its thread). Whoever frees a lock wakes
//! the first that really waits; that one runs its native again from the start and takes the lock, or waits once more when
//! another was quicker. The owner of a lock somebody waits for is noted in the runtime's lock book, so that its death frees
//! the lock.

use kumi_vm::*;

/// Owner of a free lock.
pub(crate) const FREE: u64 = u64::MAX;

/// What a Mutex and a Monitor have in common; a Mutex is held once at most.
pub(crate) struct Held {
    pub owner: u64,
    /// How often the owner holds it.
    pub count: u64,
    /// Is it in the lock book?
    pub noted: bool,
    pub waiters: WaitList,
}

impl Held {
    pub(crate) fn new() -> Held {
        Held { owner: FREE, count: 0, noted: false, waiters: WaitList::default() }
    }
    /// Makes it free and wakes who waits.
    pub(crate) fn free(&mut self, cx: &mut Cx, me: Value) {
        let owner = std::mem::replace(&mut self.owner, FREE);
        self.count = 0;
        if std::mem::take(&mut self.noted) {
            cx.lock_book.forget(owner, me);
        }
        self.waiters.wake_one(cx);
    }
    /// Is it free, or was its owner's death the end of holding it?
    pub(crate) fn is_free(&mut self, cx: &mut Cx) -> bool {
        if self.owner == FREE {
            return true;
        }
        if self.owner == cx.task.id() || cx.task_lives(self.owner) {
            return false;
        }
        self.owner = FREE;
        self.count = 0;
        true
    }
    /// Takes it for the running task, which may have it already. False: another one has it.
    pub(crate) fn enter(&mut self, cx: &mut Cx) -> bool {
        let me = cx.task.id();
        let mine = self.owner == me || self.is_free(cx);
        if mine {
            self.owner = me;
            self.count += 1;
        }
        mine
    }
    /// Parks until it may be free.
    pub(crate) fn wait(&mut self, cx: &mut Cx, me: Value) -> Exit {
        self.noted = true;
        cx.heap.publish(me);
        cx.lock_book.note(self.owner, me, free_of_dead);
        self.waiters.enter(cx);
        if !cx.task_lives(self.owner) {
            // It died after we looked and before it stood in the book.
            self.free(cx, me);
        }
        cx.park(u64::MAX)
    }
}

pub(crate) struct Mutex(pub Held);
impl Payload for Mutex {
    fn bytes(&self) -> usize {
        64 + self.0.waiters.bytes()
    }
}
pub(crate) struct Monitor(pub Held);
impl Payload for Monitor {
    fn bytes(&self) -> usize {
        64 + self.0.waiters.bytes()
    }
}

/// Who has a Mutex or a Monitor. The cell's lock is held around each native of the two classes, which uses one of them at a time.
pub(crate) fn held(v: Value) -> Option<&'static mut Held> {
    // SAFETY: as said above.
    unsafe {
        match v.payload_mut::<Mutex>() {
            Some(m) => Some(&mut m.0),
            None => v.payload_mut::<Monitor>().map(|m| &mut m.0),
        }
    }
}
pub(crate) fn mutex(cx: &mut Cx, v: Value) -> Result<&'static mut Held, Exit> {
    match v.as_data::<Mutex>().is_some().then(|| held(v)).flatten() {
        Some(m) => Ok(m),
        None => Err(cx.type_error("wrong argument type (expected mutex)")),
    }
}
pub(crate) fn monitor(cx: &mut Cx, v: Value) -> Result<&'static mut Held, Exit> {
    match v.as_data::<Monitor>().is_some().then(|| held(v)).flatten() {
        Some(m) => Ok(m),
        None => Err(cx.type_error("wrong argument type (expected monitor)")),
    }
}
pub(crate) fn assert_owner(cx: &mut Cx, m: &mut Held) -> Result<(), Exit> {
    if m.owner == cx.task.id() {
        return Ok(());
    }
    Err(if m.is_free(cx) {
        cx.thread_error("Attempt to unlock a mutex which is not locked")
    } else {
        cx.thread_error("Attempt to unlock a mutex which is locked by another thread/fiber")
    })
}
/// [`FreeLock`] of both.
fn free_of_dead(cx: &mut Cx, v: Value, owner: u64) {
    if let Some(h) = held(v).filter(|h| h.owner == owner) {
        h.noted = false;
        h.free(cx, v);
    }
}
