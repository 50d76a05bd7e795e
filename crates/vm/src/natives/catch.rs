//! `catch` and `throw`.
//!
//! **Invariant.** `task.catches` lists the prelude frames that catch, outermost first, each with its tag and the `$!` from before;
//! a frame takes itself and all above it off when it ends.

use crate::Cx;
use crate::doors::*;
use kumi_heap::*;

/// `__catch_begin(tag)`: the running prelude frame returns what is thrown to the tag.
fn catch_begin(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let slot = cx.running_slot();
    let err = cx.task.err;
    cx.task.catches.push((a[0], slot, err));
    Ok(Value::NIL)
}

fn catch_end(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let slot = cx.running_slot();
    cx.task.catches.retain(|c| c.1 < slot);
    Ok(Value::NIL)
}

/// `__throw(tag, value)`: undef when nobody catches it.
fn throw(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    match cx.task.catches.iter().rev().find(|c| c.0 == a[0]).copied() {
        Some((_, slot, err)) => {
            cx.task.err = err;
            cx.pending.exc = cx.return_from(slot, a[1]);
            Err(Exit::Unwind)
        }
        None => Ok(Value::UNDEF),
    }
}

pub(super) static TABLE: &[NativeDef] = &[
    intrinsic("__catch_begin", 1, 1, catch_begin).guard(Guard::None),
    intrinsic("__catch_end", 0, 0, catch_end).guard(Guard::None),
    intrinsic("__throw", 2, 2, throw).guard(Guard::None),
];
