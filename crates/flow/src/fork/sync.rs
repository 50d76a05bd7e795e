//! The gate's lock under a name of its own, so that a model checker's can stand in its place.
//!
//! Invariant: a panic under it leaves the counts whole, so poisoning is ignored.

use std::sync::PoisonError;

pub(crate) use std::sync::{Condvar, Mutex, MutexGuard};

/// Is a rule kept? A model takes one out at a time, to see that it fails without.
#[inline(always)]
pub(crate) const fn kept(_: &str) -> bool {
    true
}

pub(crate) fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn wait<'a, T>(cv: &Condvar, g: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    cv.wait(g).unwrap_or_else(PoisonError::into_inner)
}
