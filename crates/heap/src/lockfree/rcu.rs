//! A value that is replaced as a whole while others read it without a lock.
//!
//! Invariant: readers see one of the values that were set, whole. What was
//! replaced lives until the next collection's stop; readers keep no borrow across
//! a safepoint. Setting happens under a lock of the owner's.
//!
//! `tests/loom_deferred.rs` runs this file in every interleaving.

use super::sync::{AtomicPtr, Ordering::*};
use std::cell::UnsafeCell;
use std::ops::Deref;

/// See the module.
pub struct RcuCell<T> {
    now: AtomicPtr<T>,
    /// Replaced values, freed at the next stop.
    old: UnsafeCell<Vec<*mut T>>,
}

// SAFETY: `now` is published with Release; `old` is touched under the owner's lock or at a stop.
unsafe impl<T: Send + Sync> Sync for RcuCell<T> {}
// SAFETY: it owns its values.
unsafe impl<T: Send> Send for RcuCell<T> {}

impl<T> RcuCell<T> {
    pub fn new(v: T) -> RcuCell<T> {
        RcuCell { now: AtomicPtr::new(Box::into_raw(Box::new(v))), old: UnsafeCell::new(Vec::new()) }
    }
    /// Replaces the value. One caller at a time (the owner's lock).
    pub fn set(&self, v: T) {
        let p = self.now.swap(Box::into_raw(Box::new(v)), AcqRel);
        // SAFETY: one caller at a time.
        unsafe { (*self.old.get()).push(p) };
    }
    /// What was replaced. Only while the world is stopped.
    #[cfg(loom)]
    #[allow(dead_code, reason = "only the models ask")]
    pub(crate) fn each_old(&self, f: impl Fn(&T)) {
        // SAFETY: as in `forget_old`.
        unsafe { (*self.old.get()).iter().for_each(|p| f(&**p)) };
    }
    /// Frees what was replaced. Only while the world is stopped.
    pub(crate) fn forget_old(&self) {
        // SAFETY: at a stop nobody else is here, and no reader holds a borrow.
        for p in unsafe { std::mem::take(&mut *self.old.get()) } {
            // SAFETY: made by a Box, replaced once.
            drop(unsafe { Box::from_raw(p) });
        }
    }
}

impl<T> Deref for RcuCell<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: never null; lives until a stop after it was replaced.
        unsafe { &*self.now.load(Acquire) }
    }
}

impl<T: Default> Default for RcuCell<T> {
    fn default() -> Self {
        RcuCell::new(T::default())
    }
}

impl<T> Drop for RcuCell<T> {
    fn drop(&mut self) {
        self.forget_old();
        // SAFETY: made by a Box; nobody reads any more.
        drop(unsafe { Box::from_raw(self.now.load(Relaxed)) });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn replaced_values_stay_until_told() {
        let p = RcuCell::new(vec![1, 2]);
        let old: &[i32] = &p;
        let at = old.as_ptr();
        p.set(vec![3]);
        // SAFETY: not yet forgotten.
        assert_eq!(unsafe { *at }, 1);
        p.forget_old();
        assert_eq!(*p, vec![3]);
    }
}
