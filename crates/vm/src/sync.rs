//! Locks: Mutex, ConditionVariable, Monitor, and the lists of tasks that wait for them.
//!
//! **Invariant.** A lock is free or has one owner, a task (a fiber, as in CRuby, not
//! its thread). A [`Ticket`] in a list names a wait that is still on, or it is void
//! and whoever wakes skips it. Whoever frees a lock wakes the first that really
//! waits; that one runs its native again from the start and takes the lock, or waits
//! once more when another was quicker. The owner of a lock somebody waits for is
//! noted in the [`LockBook`], so that its death frees the lock.

use crate::native::*;
use crate::sched::now_ns;
use crate::task::{State, Waits};
use crate::{Cx, Ticket};
use kumi_heap::*;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex as Lock, PoisonError};

/// Owner of a free lock.
const FREE: u64 = u64::MAX;
/// `seq` of a ticket that ends whatever wait its task is in, as `Thread#wakeup` does.
const ANY_WAIT: u64 = u64::MAX;

/// Who waits, first come first.
#[derive(Default)]
pub(crate) struct WaitList {
    list: VecDeque<Ticket>,
    /// Length at which void tickets are looked for and dropped.
    prune_at: usize,
}

impl WaitList {
    /// The running native is about to park and wants to be woken from here.
    pub(crate) fn enter(&mut self, cx: &mut Cx) {
        let t = cx.ticket();
        self.add(cx, t);
    }
    /// The wait `t` is to be ended from here.
    pub(crate) fn add(&mut self, cx: &mut Cx, t: Ticket) {
        if self.list.len() >= self.prune_at.max(32) {
            self.list.retain(|t| cx.waits(*t));
            self.prune_at = self.list.len() * 2;
        }
        self.list.push_back(t);
    }
    /// The running task waits here no more (its time was over).
    pub(crate) fn leave(&mut self, task: u64) {
        if let Some(i) = self.list.iter().position(|t| t.task == task) {
            self.list.remove(i);
        }
    }
    /// Wakes the first that waits. False when nobody did.
    #[inline]
    pub(crate) fn wake_one(&mut self, cx: &mut Cx) -> bool {
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
    pub(crate) fn wake_all(&mut self, cx: &mut Cx) {
        while self.wake_one(cx) {}
    }
    /// How many wait.
    pub(crate) fn waiting(&self, cx: &mut Cx) -> usize {
        self.list.iter().filter(|t| cx.waits(**t)).count()
    }
    pub(crate) fn bytes(&self) -> usize {
        self.list.capacity() * size_of::<Ticket>()
    }
}

/// Locks that somebody waits for, by the task that owns them. Shared by all workers; its lock is innermost.
#[derive(Clone, Default)]
pub(crate) struct LockBook(Arc<Lock<FxHashMap<u64, Vec<Value>>>>);

impl LockBook {
    fn with<T>(&self, f: impl FnOnce(&mut FxHashMap<u64, Vec<Value>>) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
    fn note(&self, owner: u64, lock: Value) {
        self.with(|b| {
            let l = b.entry(owner).or_default();
            if !l.contains(&lock) {
                l.push(lock);
            }
        })
    }
    fn forget(&self, owner: u64, lock: Value) {
        self.with(|b| {
            if let Some(l) = b.get_mut(&owner) {
                l.retain(|v| *v != lock);
                if l.is_empty() {
                    b.remove(&owner);
                }
            }
        })
    }
    fn take(&self, owner: u64) -> Vec<Value> {
        self.with(|b| b.remove(&owner).unwrap_or_default())
    }
    pub(crate) fn trace(&self, m: &mut Marker) {
        self.with(|b| b.values().for_each(|l| m.mark_all(l)))
    }
}

/// What a Mutex and a Monitor have in common; a Mutex is held once at most.
struct Held {
    owner: u64,
    /// How often the owner holds it.
    count: u64,
    /// Is it in the lock book?
    noted: bool,
    waiters: WaitList,
}

impl Held {
    fn new() -> Held {
        Held { owner: FREE, count: 0, noted: false, waiters: WaitList::default() }
    }
    /// Makes it free and wakes who waits.
    fn free(&mut self, cx: &mut Cx, me: Value) {
        let owner = std::mem::replace(&mut self.owner, FREE);
        self.count = 0;
        if std::mem::take(&mut self.noted) {
            cx.lock_book.forget(owner, me);
        }
        self.waiters.wake_one(cx);
    }
    /// Is it free, or was its owner's death the end of holding it?
    fn is_free(&mut self, cx: &mut Cx) -> bool {
        if self.owner == FREE {
            return true;
        }
        if self.owner == cx.task.id || cx.task_lives(self.owner) {
            return false;
        }
        self.owner = FREE;
        self.count = 0;
        true
    }
    /// Takes it for the running task, which may have it already. False: another one has it.
    fn enter(&mut self, cx: &mut Cx) -> bool {
        let me = cx.task.id;
        let mine = self.owner == me || self.is_free(cx);
        if mine {
            self.owner = me;
            self.count += 1;
        }
        mine
    }
    /// Parks until it may be free.
    fn wait(&mut self, cx: &mut Cx, me: Value) -> Exit {
        self.noted = true;
        cx.heap.publish(me);
        cx.lock_book.note(self.owner, me);
        self.waiters.enter(cx);
        if !cx.task_lives(self.owner) {
            // It died after we looked and before it stood in the book.
            self.free(cx, me);
        }
        cx.park(u64::MAX)
    }
}

struct Mutex(Held);
impl Payload for Mutex {
    fn bytes(&self) -> usize {
        64 + self.0.waiters.bytes()
    }
}
struct Monitor(Held);
impl Payload for Monitor {
    fn bytes(&self) -> usize {
        64 + self.0.waiters.bytes()
    }
}
#[derive(Default)]
struct CondVar {
    waiters: WaitList,
}
impl Payload for CondVar {
    fn bytes(&self) -> usize {
        32 + self.waiters.bytes()
    }
}

impl Cx {
    pub(crate) fn task_lives(&mut self, id: u64) -> bool {
        self.task_mut(id).is_some_and(|t| t.state.get() != State::Done)
    }
    /// A task has ended: locks it still holds become free.
    pub(crate) fn free_locks_of(&mut self, task: u64) {
        for v in self.lock_book.take(task) {
            if self.parallel {
                v.lock();
            }
            if let Some(h) = held(v).filter(|h| h.owner == task) {
                h.noted = false;
                h.free(self, v);
            }
            if self.parallel {
                v.unlock();
            }
        }
    }
    pub(crate) fn thread_error(&mut self, msg: &str) -> Exit {
        self.raise_msg(self.k.thread_error, msg)
    }
    /// For natives that wait to be woken, not for something they can look at: `None` on the first run,
    /// then whether the wait ended before `deadline`: somebody woke the task, or a signal's handler ran
    /// (what was signalled meanwhile may be lost, so that its caller has to look for itself).
    fn was_woken(&mut self, deadline: u64) -> Option<bool> {
        if self.task.waits != Waits::Signal {
            return None;
        }
        self.task.waits = Waits::Nothing;
        Some(self.task.woken.load(Relaxed) || deadline == u64::MAX || now_ns() < deadline)
    }
    /// Argument `i`: monotonic nanoseconds, or nil for no limit.
    pub(crate) fn arg_deadline(&mut self, a: &[Value], i: usize) -> Result<u64, Exit> {
        match a.get(i) {
            None | Some(&Value::NIL) => Ok(u64::MAX),
            Some(_) => Ok(u64::try_from(self.arg_i64(a, i)?).unwrap_or(0)),
        }
    }
}

fn held(v: Value) -> Option<&'static mut Held> {
    if let Some(m) = v.as_data::<Mutex>() {
        return Some(&mut m.0);
    }
    v.as_data::<Monitor>().map(|m| &mut m.0)
}
fn mutex(cx: &mut Cx, v: Value) -> Result<&'static mut Held, Exit> {
    match v.as_data::<Mutex>() {
        Some(m) => Ok(&mut m.0),
        None => Err(cx.type_error("wrong argument type (expected mutex)")),
    }
}
fn monitor(cx: &mut Cx, v: Value) -> Result<&'static mut Held, Exit> {
    match v.as_data::<Monitor>() {
        Some(m) => Ok(&mut m.0),
        None => Err(cx.type_error("wrong argument type (expected monitor)")),
    }
}

// --- Mutex ----------------------------------------------------------------------

/// `Mutex#lock`
fn lock(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = mutex(cx, recv)?;
    if m.owner == FREE {
        m.owner = cx.task.id;
        return Ok(recv);
    }
    lock_slow(cx, recv, m)
}
#[cold]
#[inline(never)]
fn lock_slow(cx: &mut Cx, recv: Value, m: &mut Held) -> R {
    let me = cx.task.id;
    if m.owner == me {
        return Err(cx.thread_error("deadlock; recursive locking"));
    }
    if m.is_free(cx) {
        m.owner = me;
        return Ok(recv);
    }
    if cx.hooked() {
        return Err(cx.call_helper("hooked_lock", &[recv]));
    }
    let thread = cx.task.thread;
    if cx.task_mut(m.owner).is_some_and(|t| t.thread == thread) {
        return Err(cx.thread_error("deadlock; lock already owned by another fiber belonging to the same thread"));
    }
    Err(m.wait(cx, recv))
}
/// `__mutex_relock(lock, count)`: takes a lock back after a wait; interrupts are held until it is there.
/// A lock that is held already stays as it is.
fn relock(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(m) = held(a[0]) else { return Ok(Value::NIL) };
    let me = cx.task.id;
    if m.owner == me {
        return Ok(Value::NIL);
    }
    if m.is_free(cx) {
        m.owner = me;
        m.count = a.get(1).and_then(|v| v.as_fix()).unwrap_or(0) as u64;
        cx.root.held = false;
        return Ok(Value::NIL);
    }
    if cx.hooked() {
        let count = a.get(1).copied().unwrap_or(Value::fix(0));
        return Err(cx.call_helper("hooked_relock", &[a[0], count]));
    }
    cx.root.held = true;
    Err(m.wait(cx, a[0]))
}
/// `Mutex#try_lock`
fn try_lock(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = mutex(cx, recv)?;
    if m.is_free(cx) {
        m.owner = cx.task.id;
        return Ok(Value::TRUE);
    }
    Ok(Value::FALSE)
}
/// `Mutex#unlock`
fn unlock(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = mutex(cx, recv)?;
    assert_owner(cx, m)?;
    if m.noted || !m.waiters.list.is_empty() {
        m.free(cx, recv);
    } else {
        m.owner = FREE;
    }
    Ok(recv)
}
fn assert_owner(cx: &mut Cx, m: &mut Held) -> Result<(), Exit> {
    if m.owner == cx.task.id {
        return Ok(());
    }
    Err(if m.is_free(cx) {
        cx.thread_error("Attempt to unlock a mutex which is not locked")
    } else {
        cx.thread_error("Attempt to unlock a mutex which is locked by another thread/fiber")
    })
}
fn mutex_lock_of(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    lock(cx, a[0], &[])
}
fn mutex_unlock_of(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    unlock(cx, a[0], &[])
}
/// `__mutex_assert(mutex)`: raises unless the running fiber holds it.
fn mutex_assert(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let m = mutex(cx, a[0])?;
    assert_owner(cx, m)?;
    Ok(Value::NIL)
}
/// `__mutex_sleep(mutex, deadline)`: frees it and sleeps; true when woken. The caller takes it back.
fn mutex_sleep(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let deadline = cx.arg_deadline(a, 1)?;
    if let Some(woken) = cx.was_woken(deadline) {
        return Ok(Value::bool(woken));
    }
    let m = mutex(cx, a[0])?;
    assert_owner(cx, m)?;
    m.free(cx, a[0]);
    cx.task.waits = Waits::Signal;
    Err(cx.park(deadline))
}

// --- ConditionVariable --------------------------------------------------------------

fn condvar(cx: &mut Cx, v: Value) -> Result<&'static mut CondVar, Exit> {
    match v.as_data::<CondVar>() {
        Some(c) => Ok(c),
        None => Err(cx.type_error("wrong argument type (expected condvar)")),
    }
}
/// `__cv_wait(cv, lock, deadline)`: frees a Mutex or Monitor and waits; true when woken. The caller takes the lock back.
fn cv_wait(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = condvar(cx, a[0])?;
    let deadline = cx.arg_deadline(a, 2)?;
    if let Some(woken) = cx.was_woken(deadline) {
        if !cx.task.woken.load(Relaxed) {
            c.waiters.leave(cx.task.id);
        }
        return Ok(Value::bool(woken));
    }
    let Some(m) = held(a[1]) else { return Err(cx.type_error("wrong argument type (expected mutex)")) };
    if m.owner != cx.task.id {
        return Err(cx.thread_error("current thread not owner"));
    }
    c.waiters.enter(cx);
    m.free(cx, a[1]);
    cx.task.waits = Waits::Signal;
    Err(cx.park(deadline))
}
/// `__cv_enter(cv)`: whatever the running task waits for next, a signal ends it (locks of users' own making).
fn cv_enter(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = condvar(cx, a[0])?;
    let t = Ticket { task: cx.task.id, seq: ANY_WAIT };
    c.waiters.add(cx, t);
    Ok(Value::NIL)
}
/// `__cv_leave(cv)`: ends what `__cv_enter` began.
fn cv_leave(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = condvar(cx, a[0])?;
    c.waiters.leave(cx.task.id);
    cx.task.wake_token.store(false, Relaxed);
    Ok(Value::NIL)
}
/// `ConditionVariable#signal`
fn signal(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    condvar(cx, recv)?.waiters.wake_one(cx);
    Ok(recv)
}
/// `ConditionVariable#broadcast`
fn broadcast(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    condvar(cx, recv)?.waiters.wake_all(cx);
    Ok(recv)
}

// --- Monitor --------------------------------------------------------------------------

/// `Monitor#enter`
fn mon_enter(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = monitor(cx, recv)?;
    if m.enter(cx) {
        return Ok(Value::NIL);
    }
    if cx.hooked() {
        return Err(cx.call_helper("hooked_enter", &[recv]));
    }
    Err(m.wait(cx, recv))
}
/// `Monitor#try_enter`
fn mon_try_enter(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    Ok(Value::bool(monitor(cx, recv)?.enter(cx)))
}
/// `Monitor#exit`
fn mon_exit(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = monitor(cx, recv)?;
    if m.owner != cx.task.id {
        return Err(cx.thread_error("current thread not owner"));
    }
    m.count = m.count.saturating_sub(1);
    if m.count == 0 {
        m.free(cx, recv);
    }
    Ok(Value::NIL)
}
fn mon_check_owner(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    if monitor(cx, recv)?.owner != cx.task.id {
        return Err(cx.thread_error("current thread not owner"));
    }
    Ok(Value::NIL)
}

pub(crate) static TABLE: &[NativeDef] = &[
    n("Thread::Mutex.", "allocate", 0, 0, |cx, c, _| {
        let c = cx.arg_class(&[c], 0)?;
        Ok(cx.data(c, Mutex(Held::new())))
    }),
    n("Thread::Mutex", "lock", 0, 0, lock),
    n("Thread::Mutex", "try_lock", 0, 0, try_lock),
    n("Thread::Mutex", "unlock", 0, 0, unlock),
    n("Thread::Mutex", "locked?", 0, 0, |cx, r, _| Ok(Value::bool(!mutex(cx, r)?.is_free(cx)))),
    n("Thread::Mutex", "owned?", 0, 0, |cx, r, _| Ok(Value::bool(mutex(cx, r)?.owner == cx.task.id))),
    intrinsic("__mutex_lock", 1, 1, mutex_lock_of),
    intrinsic("__mutex_unlock", 1, 1, mutex_unlock_of),
    intrinsic("__mutex_assert", 1, 1, mutex_assert),
    intrinsic("__mutex_sleep", 2, 2, mutex_sleep),
    intrinsic("__mutex_relock", 1, 2, relock),
    n("Thread::ConditionVariable.", "allocate", 0, 0, |cx, c, _| {
        let c = cx.arg_class(&[c], 0)?;
        Ok(cx.data(c, CondVar::default()))
    }),
    n("Thread::ConditionVariable", "signal", 0, 0, signal),
    n("Thread::ConditionVariable", "broadcast", 0, 0, broadcast),
    intrinsic("__cv_wait", 3, 3, cv_wait),
    intrinsic("__cv_enter", 1, 1, cv_enter),
    intrinsic("__cv_leave", 1, 1, cv_leave),
    n("Monitor.", "allocate", 0, 0, |cx, c, _| {
        let c = cx.arg_class(&[c], 0)?;
        Ok(cx.data(c, Monitor(Held::new())))
    }),
    n("Monitor", "enter", 0, 0, mon_enter),
    n("Monitor", "mon_enter", 0, 0, mon_enter),
    n("Monitor", "try_enter", 0, 0, mon_try_enter),
    n("Monitor", "mon_try_enter", 0, 0, mon_try_enter),
    n("Monitor", "try_mon_enter", 0, 0, mon_try_enter),
    n("Monitor", "exit", 0, 0, mon_exit),
    n("Monitor", "mon_exit", 0, 0, mon_exit),
    n("Monitor", "mon_locked?", 0, 0, |cx, r, _| Ok(Value::bool(!monitor(cx, r)?.is_free(cx)))),
    n("Monitor", "mon_owned?", 0, 0, |cx, r, _| Ok(Value::bool(monitor(cx, r)?.owner == cx.task.id))),
    n("Monitor", "mon_check_owner", 0, 0, mon_check_owner),
    intrinsic("__mon_enter", 1, 1, |cx, _, a| mon_enter(cx, a[0], &[])),
    intrinsic("__mon_exit", 1, 1, |cx, _, a| mon_exit(cx, a[0], &[])),
    intrinsic("__mon_count", 1, 1, |cx, _, a| Ok(Value::fix(monitor(cx, a[0])?.count as i64))),
];
