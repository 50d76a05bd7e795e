//! Thread::ConditionVariable: a list of tasks that wait to be told, and gave a lock away meanwhile.

use crate::lock::held;
use crate::{deadline, was_woken};
use kumi_vm::task::Wait;
use kumi_vm::*;

#[derive(Default)]
struct CondVar {
    waiters: WaitList,
}
impl Payload for CondVar {
    fn bytes(&self) -> usize {
        32 + self.waiters.bytes()
    }
}

fn condvar(cx: &mut Cx, v: Value) -> Result<&'static mut CondVar, Exit> {
    // SAFETY: the cell's lock is held around each native of the class, which asks once.
    match unsafe { v.payload_mut::<CondVar>() } {
        Some(c) => Ok(c),
        None => Err(cx.type_error("wrong argument type (expected condvar)")),
    }
}
/// `__cv_wait(cv, lock, deadline)`: frees a Mutex or Monitor and waits; true when woken. The caller takes the lock back.
fn cv_wait(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = condvar(cx, a[0])?;
    let until = deadline(cx, a, 2)?;
    if let Some(woken) = was_woken(cx, until) {
        if !cx.task.is_woken() {
            c.waiters.leave(cx.task.id());
        }
        return Ok(Value::bool(woken));
    }
    let Some(m) = held(a[1]) else { return Err(cx.type_error("wrong argument type (expected mutex)")) };
    if m.owner != cx.task.id() {
        return Err(cx.thread_error("current thread not owner"));
    }
    c.waiters.enter(cx);
    m.free(cx, a[1]);
    cx.task.set_wait(Wait::Signal);
    Err(cx.park(until))
}
/// `__cv_enter(cv)`: whatever the running task waits for next, a signal ends it (locks of users' own making).
fn cv_enter(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = condvar(cx, a[0])?;
    c.waiters.enter_any_wait(cx);
    Ok(Value::NIL)
}
/// `__cv_leave(cv)`: ends what `__cv_enter` began.
fn cv_leave(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = condvar(cx, a[0])?;
    c.waiters.leave(cx.task.id());
    cx.task.take_wake_token();
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

pub(crate) static TABLE: &[NativeDef] = &[
    n("Thread::ConditionVariable.", "allocate", 0, 0, |cx, c, _| {
        let c = cx.arg_class(&[c], 0)?;
        Ok(cx.data(c, CondVar::default()))
    }),
    n("Thread::ConditionVariable", "signal", 0, 0, signal),
    n("Thread::ConditionVariable", "broadcast", 0, 0, broadcast),
    intrinsic("__cv_wait", 3, 3, cv_wait),
    intrinsic("__cv_enter", 1, 1, cv_enter),
    intrinsic("__cv_leave", 1, 1, cv_leave),
];
