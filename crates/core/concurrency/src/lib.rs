//! Leaf natives of the classes of concurrency.
//!
//! One file a class. What a thread, a fiber or a wait *is* belongs to the runtime (`kumi-vm`): here is what programs ask of
//! them.
//!
//! - `thread`, `interrupt` (`raise`, `kill`, `handle_interrupt`), `timeout`.
//! - `lock`: what `mutex` and `monitor` share; `condition_variable`; `queue`.
//! - `fiber`, `ractor`.
#![deny(missing_docs)]

mod condition_variable;
mod fiber;
mod interrupt;
mod lock;
mod monitor;
mod mutex;
mod queue;
mod ractor;
mod thread;
mod timeout;

use kumi_vm::task::Wait;
use kumi_vm::{Cx, Exit, Value, now_ns};

/// Registers this floor's natives.
pub fn register(cx: &mut Cx) {
    for table in [
        thread::TABLE,
        mutex::TABLE,
        condition_variable::TABLE,
        monitor::TABLE,
        queue::TABLE,
        fiber::TABLE,
        ractor::TABLE,
        timeout::TABLE,
        interrupt::TABLE,
    ] {
        cx.natives(table);
    }
}

/// Argument `i`: monotonic nanoseconds, or nil for no limit.
fn deadline(cx: &mut Cx, a: &[Value], i: usize) -> Result<u64, Exit> {
    match a.get(i) {
        None | Some(&Value::NIL) => Ok(u64::MAX),
        Some(_) => Ok(u64::try_from(cx.arg_i64(a, i)?).unwrap_or(0)),
    }
}

/// For natives that wait to be woken, not for something they can look at: `None` on the first run, then whether the wait
/// ended before `deadline`: somebody woke the task, or a signal's handler ran (what was signalled meanwhile may be lost, so
/// that its caller has to look for itself).
fn was_woken(cx: &mut Cx, deadline: u64) -> Option<bool> {
    if !matches!(cx.task.wait(), Wait::Signal) {
        return None;
    }
    cx.task.set_wait(Wait::Nothing);
    Some(cx.task.is_woken() || deadline == u64::MAX || now_ns() < deadline)
}
