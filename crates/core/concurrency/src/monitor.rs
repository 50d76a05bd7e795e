//! Monitor: a lock that its owner may take again.

use crate::lock::{Held, Monitor, monitor};
use kumi_vm::*;

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
    if m.owner != cx.task.id() {
        return Err(cx.thread_error("current thread not owner"));
    }
    m.count = m.count.saturating_sub(1);
    if m.count == 0 {
        m.free(cx, recv);
    }
    Ok(Value::NIL)
}
fn mon_check_owner(cx: &mut Cx, recv: Value, _: &[Value]) -> R {
    if monitor(cx, recv)?.owner != cx.task.id() {
        return Err(cx.thread_error("current thread not owner"));
    }
    Ok(Value::NIL)
}

pub(crate) static TABLE: &[NativeDef] = &[
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
    n("Monitor", "mon_owned?", 0, 0, |cx, r, _| Ok(Value::bool(monitor(cx, r)?.owner == cx.task.id()))),
    n("Monitor", "mon_check_owner", 0, 0, mon_check_owner),
    intrinsic("__mon_enter", 1, 1, |cx, _, a| mon_enter(cx, a[0], &[])),
    intrinsic("__mon_exit", 1, 1, |cx, _, a| mon_exit(cx, a[0], &[])),
    intrinsic("__mon_count", 1, 1, |cx, _, a| Ok(Value::fix(monitor(cx, a[0])?.count as i64))),
];
