//! Which objects an operation such as `inspect` or `==` is at work on, task by task,
//! so that recursive structures end.
//!
//! Invariant: an entry lives while the prelude's `KumiSys.recursing` block of its task runs;
//! the values are held by that frame.

use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    intrinsic("__recursion_enter", 3, 3, enter).guard(Guard::None),
    intrinsic("__recursion_leave", 3, 3, leave).guard(Guard::None),
    intrinsic("__recursion_active", 3, 3, active).guard(Guard::None),
];

fn key(a: &[Value]) -> (u64, u64, u64) {
    (a[0].bits(), a[1].bits(), a[2].bits())
}
fn enter(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let k = key(a);
    if cx.task.guards().contains(&k) {
        return Ok(Value::FALSE);
    }
    cx.task.guards().push(k);
    Ok(Value::TRUE)
}
fn leave(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let k = key(a);
    if let Some(i) = cx.task.guards().iter().rposition(|e| *e == k) {
        cx.task.guards().remove(i);
    }
    Ok(Value::NIL)
}
fn active(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let k = key(a);
    Ok(Value::bool(cx.task.guards().contains(&k)))
}
