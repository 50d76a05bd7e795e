//! Thread::Mutex: a lock that its owner may hold once.

use crate::lock::{FREE, Held, Mutex, assert_owner, held, mutex};
use crate::{deadline, was_woken};
use kumi_vm::task::Wait;
use kumi_vm::*;

/// `Mutex#lock`
fn lock(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = mutex(cx, recv)?;
    if m.owner == FREE {
        m.owner = cx.task.id();
        return Ok(recv);
    }
    lock_slow(cx, recv, m)
}
#[cold]
#[inline(never)]
fn lock_slow(cx: &mut Cx, recv: Value, m: &mut Held) -> R {
    let me = cx.task.id();
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
    let thread = cx.task.thread();
    if cx.task_mut(m.owner).is_some_and(|t| t.thread() == thread) {
        return Err(cx.thread_error("deadlock; lock already owned by another fiber belonging to the same thread"));
    }
    Err(m.wait(cx, recv))
}
/// `__mutex_relock(lock, count)`: takes a lock back after a wait; interrupts are held until it is there.
/// A lock that is held already stays as it is.
fn relock(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(m) = held(a[0]) else { return Ok(Value::NIL) };
    let me = cx.task.id();
    if m.owner == me {
        return Ok(Value::NIL);
    }
    if m.is_free(cx) {
        m.owner = me;
        m.count = a.get(1).and_then(|v| v.as_fix()).unwrap_or(0) as u64;
        cx.hold_interrupts(false);
        return Ok(Value::NIL);
    }
    if cx.hooked() {
        let count = a.get(1).copied().unwrap_or(Value::fix(0));
        return Err(cx.call_helper("hooked_relock", &[a[0], count]));
    }
    cx.hold_interrupts(true);
    Err(m.wait(cx, a[0]))
}
/// `Mutex#try_lock`
fn try_lock(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = mutex(cx, recv)?;
    if m.is_free(cx) {
        m.owner = cx.task.id();
        return Ok(Value::TRUE);
    }
    Ok(Value::FALSE)
}
/// `Mutex#unlock`
fn unlock(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    let m = mutex(cx, recv)?;
    assert_owner(cx, m)?;
    if m.noted || !m.waiters.is_empty() {
        m.free(cx, recv);
    } else {
        m.owner = FREE;
    }
    Ok(recv)
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
    let until = deadline(cx, a, 1)?;
    if let Some(woken) = was_woken(cx, until) {
        return Ok(Value::bool(woken));
    }
    let m = mutex(cx, a[0])?;
    assert_owner(cx, m)?;
    m.free(cx, a[0]);
    cx.task.set_wait(Wait::Signal);
    Err(cx.park(until))
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
    n("Thread::Mutex", "owned?", 0, 0, |cx, r, _| Ok(Value::bool(mutex(cx, r)?.owner == cx.task.id()))),
    intrinsic("__mutex_lock", 1, 1, mutex_lock_of),
    intrinsic("__mutex_unlock", 1, 1, mutex_unlock_of),
    intrinsic("__mutex_assert", 1, 1, mutex_assert),
    intrinsic("__mutex_sleep", 2, 2, mutex_sleep),
    intrinsic("__mutex_relock", 1, 2, relock),
];
