//! `Thread#raise`, `Thread#kill`, `Thread.handle_interrupt`.

use kumi_vm::*;
use std::sync::atomic::Ordering::Relaxed;

/// `__thread_interrupt(thread, exception or true)`: to be raised there (true: kill).
fn thread_interrupt(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let Some(t) = cx.thread_root(a[0]) else { return Ok(Value::FALSE) };
    if t == cx.root {
        if a[1] == Value::TRUE {
            let u = cx.kill_unwind();
            cx.pending.exc = u;
            return Err(Exit::Unwind);
        }
        return Err(cx.raise(a[1]));
    }
    cx.send_interrupt(t, a[1]);
    Ok(Value::TRUE)
}
/// `__thread_masks()`: what is held back now, for `__thread_set_masks`.
fn masks(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(cx.masks())
}
fn set_masks(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    // Who sends an interrupt looks at them.
    cx.heap.publish(a[0]);
    cx.set_masks(a[0]);
    if cx.has_due_interrupt(false) {
        cx.heap.poll.store(true, Relaxed);
    }
    Ok(Value::NIL)
}
/// `__thread_pending(thread)`: exceptions waiting for it.
fn pending(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let v = cx.thread_root(a[0]).map_or(Vec::new(), |t| t.interrupts());
    Ok(cx.array(&v))
}
/// `__thread_rows(thread)`: the frames it is in, as `__caller` gives them.
fn rows(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    loop {
        let Some(t) = cx.thread_root(a[0]) else { return Ok(Value::NIL) };
        // Nobody runs its frames while the world is stopped.
        let e = cx.stop_world(|cx| {
            let id = cx.active_of(t).id();
            cx.capture_task(id)
        });
        if let Some(e) = e {
            return cx.location_rows(&e, 0, usize::MAX);
        }
    }
}
/// `__ignore_deadlock(flag or nil)`: `Thread.ignore_deadlock`.
fn ignore_deadlock(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if !a[0].is_nil() {
        cx.tasks.ignore_deadlock.store(a[0].truthy(), Relaxed);
    }
    Ok(Value::bool(cx.tasks.ignore_deadlock.load(Relaxed)))
}
/// `__thread_due()`: may an interrupt be taken now?
fn due(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    Ok(Value::bool(cx.has_due_interrupt(false)))
}
/// `__thread_check()`: takes an interrupt that is due, and raises it; or gives it, where its class has a say in what is raised.
fn check(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let Some(v) = cx.next_interrupt(false) else { return Ok(Value::NIL) };
    if v == Value::TRUE {
        let u = cx.kill_unwind();
        cx.pending.exc = u;
        return Err(Exit::Unwind);
    }
    let hook = cx.intern("exception");
    if v.as_array().is_some() || !cx.builtin(v, hook) { Ok(v) } else { Err(cx.raise(v)) }
}

pub(crate) static TABLE: &[NativeDef] = &[
    intrinsic("__thread_interrupt", 2, 2, thread_interrupt).guard(Guard::None),
    intrinsic("__thread_masks", 0, 0, masks),
    intrinsic("__thread_set_masks", 1, 1, set_masks),
    intrinsic("__thread_pending", 1, 1, pending),
    intrinsic("__thread_rows", 1, 1, rows).guard(Guard::None),
    intrinsic("__ignore_deadlock", 1, 1, ignore_deadlock),
    intrinsic("__backtrace_limit", 0, 0, |cx, _, _| Ok(Value::fix(cx.options.backtrace_limit))).guard(Guard::None),
    intrinsic("__thread_due", 0, 0, due),
    intrinsic("__thread_check", 0, 0, check),
];
