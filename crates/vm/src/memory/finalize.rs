//! Finalizers of dead objects. Whichever thread comes by a safepoint first runs them, between two bytecodes of what it does.
//!
//! They are none of its own affair, so nothing that happens to the thread may end them: interrupts for it (`Thread#kill`,
//! `Thread#raise`, a time limit) wait until they are done, and what leaves a run all the same (a `throw`, `Thread.exit` in
//! a finalizer) has the rest run later.
//!
//! **Invariant.** Each finalizer that was taken out of the pending ones has been begun or is put back. While the helper that
//! runs them is being entered they are still pending, and nothing is raised; when it has taken them its `ensure` puts back
//! what is left.

use crate::Cx;
use crate::doors::*;
use crate::tasks::outcome::Outcome;
use crate::tasks::task::Finalizing;
use kumi_bytecode::HEADER;
use kumi_heap::Value;
use std::sync::atomic::Ordering::Relaxed;

/// Slots for the helper's frame.
const ROOM: usize = 128;

impl Cx {
    /// At a safepoint: the running task goes on with the finalizers that are pending, if there are some.
    pub(crate) fn begin_finalizers(&mut self) -> Option<Outcome> {
        if !self.heap.shared().has_pending_finalizers() || self.task.beside.finalizing.is_on() {
            return None;
        }
        // Where the stack is at its end, another thread does it, or this one farther down.
        let up = self.fp().iseq().nregs as usize + HEADER as usize + ROOM;
        if !self.has_room(self.fp(), up) && !self.grow_stack(up) {
            self.heap.poll.store(true, Relaxed);
            return None;
        }
        self.task.beside.finalizing.set(Finalizing::ENTERING);
        let x = self.call_helper("run_finalizers", &[]);
        Some(self.leaf_exit_drop(x))
    }
    /// Finalizers as [[callable, heap id], ..].
    pub fn finalizer_list(&mut self, all: Vec<(Vec<Value>, u64)>) -> Value {
        let mut list = Vec::with_capacity(all.len());
        for (procs, id) in all {
            for f in procs {
                list.push(self.array(&[f, Value::fix(id as i64)]));
            }
        }
        self.array_vec(list)
    }
}

/// `__take_pending_finalizers()`: those of dead objects, as [[callable, heap id], ..]. Who takes them calls the next.
fn take_pending(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    cx.task.beside.finalizing.set(Finalizing::RUNNING);
    let all = cx.heap.shared().take_pending_finalizers();
    Ok(cx.finalizer_list(all))
}
/// `__finalized(list)`: the run is over; what is left of the list is pending again.
fn finalized(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    if let Some(list) = a[0].as_array().filter(|l| !l.is_empty()) {
        let rest = list.seen().iter().filter_map(|pair| {
            let pair = pair.as_array()?;
            Some((vec![pair.get(0)?], pair.get(1)?.as_fix()? as u64))
        });
        cx.heap.shared().put_back_finalizers(rest.collect());
    }
    cx.task.beside.finalizing.set(Finalizing::NO);
    if cx.heap.shared().has_pending_finalizers() || cx.due_interrupt(cx.root, false).is_some() {
        cx.heap.poll.store(true, Relaxed);
    }
    Ok(Value::NIL)
}

pub(crate) static TABLE: &[NativeDef] =
    &[intrinsic("__take_pending_finalizers", 0, 0, take_pending), intrinsic("__finalized", 1, 1, finalized)];
