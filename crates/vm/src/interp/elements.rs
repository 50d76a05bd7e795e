//! Stores into arrays that the loop does itself.
//!
//! **Invariant.** While others run, a store is never lost to whoever moves the array's elements at the same time: either
//! the lock is held, or the array was unlocked and its elements in place after the store.

use crate::Cx;
use kumi_heap::*;
use std::sync::atomic::{Ordering::SeqCst, fence};

/// `a[n] = v` where there is such an element.
#[inline(always)]
pub(super) fn store_at(cx: &Cx, a: &mut Gc<ArrayObj>, n: usize, v: Value) -> bool {
    if cx.parallel && a.val().needs_lock() {
        return store_beside_others(a, n, v);
    }
    match a.as_mut_slice().get_mut(n) {
        Some(slot) => {
            *slot = v;
            true
        }
        None => false,
    }
}
/// `a << v` while others run: under the array's lock when they may reach it.
#[inline(never)]
pub(super) fn push_beside_others(mut a: Gc<ArrayObj>, v: Value) {
    if !a.val().needs_lock() {
        return retire::alone(|| a.push(v));
    }
    let _l = a.val().locked();
    a.push(v);
}
/// As `store_at` while others run, without the lock where nobody holds it: whoever moves elements takes the lock
/// first, so that a store which finds the array unlocked and its elements in place afterwards was not lost.
#[inline(never)]
fn store_beside_others(a: &mut Gc<ArrayObj>, n: usize, v: Value) -> bool {
    let s = a.as_mut_slice();
    let at = s.as_mut_ptr();
    let Some(slot) = s.get_mut(n) else { return false };
    *slot = v;
    fence(SeqCst);
    if !a.hdr.has(flag::LOCK) && a.as_slice().as_ptr() == at {
        return true;
    }
    a.val().lock();
    let there = match a.as_mut_slice().get_mut(n) {
        Some(slot) => {
            *slot = v;
            true
        }
        None => false,
    };
    a.val().unlock();
    there
}
