//! Stores into arrays that the loop does itself.
//!
//! **Invariant.** While others run, a store goes through the worker's gate (`heap/lockfree/gate.rs`), which whoever moves or removes
//! elements waits for, or takes the lock. So it is never lost, and never done twice. An array that was frozen or moved away since the
//! loop looked is left to the native, which raises.

use crate::Cx;
use kumi_heap::*;

/// `a[n] = v` where there is such an element.
#[inline(always)]
pub(super) fn store_at(cx: &mut Cx, a: Gc<ArrayObj>, n: usize, v: Value) -> bool {
    if cx.is_contended(a.val()) {
        return store_beside_others(cx, a, n, v);
    }
    cx.heap.edit(a).set(n, v)
}
/// `a << v` where it needs no memory.
#[inline(always)]
pub(super) fn push_if_room(cx: &mut Cx, a: Gc<ArrayObj>, v: Value) -> bool {
    if cx.is_parallel() { push_beside_others(cx, a, v) } else { cx.heap.edit(a).push_if_room(v) }
}
/// The same while others run: under the array's lock when they may reach it.
#[inline(never)]
fn push_beside_others(cx: &mut Cx, a: Gc<ArrayObj>, v: Value) -> bool {
    if !a.val().needs_lock() {
        return !a.hdr.frozen() && deferred::alone(|| cx.heap.edit(a).push_if_room(v));
    }
    let _l = a.val().locked();
    !a.hdr.frozen() && cx.heap.edit(a).push_if_room(v)
}
/// As `store_at` while others run, without the lock where nobody holds it.
#[inline(never)]
fn store_beside_others(cx: &mut Cx, a: Gc<ArrayObj>, n: usize, v: Value) -> bool {
    if let Some(there) = a.set_unlocked(n, v) {
        return there;
    }
    let _l = a.val().locked();
    !a.hdr.frozen() && cx.heap.edit(a).set(n, v)
}
