//! Which objects an operation such as `inspect` or `==` is at work on, task by task,
//! so that recursive structures end.
//!
//! Invariant: an entry lives while the prelude's `KumiSys.guard` block of its task runs;
//! the values are held by that frame.

use kumi_vm::*;

pub static TABLE: &[NativeDef] =
    &[intrinsic("__guard_enter", 3, 3, enter), intrinsic("__guard_leave", 3, 3, leave), intrinsic("__guard_active", 3, 3, active)];

#[derive(Default)]
struct Guards {
    open: Vec<(u64, u64, u64, u64)>,
}

fn key(cx: &Cx, a: &[Value]) -> (u64, u64, u64, u64) {
    (cx.task.id, a[0].bits(), a[1].bits(), a[2].bits())
}
fn enter(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let k = key(cx, a);
    let g = cx.state::<Guards>();
    if g.open.contains(&k) {
        return Ok(Value::FALSE);
    }
    g.open.push(k);
    Ok(Value::TRUE)
}
fn leave(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let k = key(cx, a);
    let g = cx.state::<Guards>();
    if let Some(i) = g.open.iter().rposition(|e| *e == k) {
        g.open.remove(i);
    }
    Ok(Value::NIL)
}
fn active(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let k = key(cx, a);
    Ok(Value::bool(cx.state::<Guards>().open.contains(&k)))
}
