//! Timeout.timeout: a limit of the runtime for as long as a block runs.

use kumi_vm::*;

/// `__limit(deadline_ns, what)`: has `what` raised in the running thread at that time; the limit's number.
fn arm(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let deadline = u64::try_from(cx.arg_i64(a, 0)?).unwrap_or(0).max(1);
    Ok(Value::fix(cx.arm_limit(deadline, a[1]) as i64))
}
/// `__limit_over(number, what)`: the block was left.
fn over(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.leave_limit(a[0].as_fix().unwrap_or(-1) as u64, a[1]);
    Ok(Value::NIL)
}

pub(crate) static TABLE: &[NativeDef] =
    &[intrinsic("__limit", 2, 2, arm).guard(Guard::None), intrinsic("__limit_over", 2, 2, over).guard(Guard::None)];
