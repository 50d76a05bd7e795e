//! Locks and atomics under one name, so that `tests/loom.rs` can put a model checker's in their place.
//!
//! Invariant: no lock of this crate is taken while another is held. A panic under a lock leaves the data as whole as
//! it was (only pushes and pops of plain entries happen there), so poisoning is ignored.

use std::sync::PoisonError;
use std::time::Duration;

pub use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
pub use std::sync::{Condvar, Mutex, MutexGuard};

/// Looks at what is likely to change soon, before a worker that waits for it goes to sleep: 100 microseconds and more.
pub const LOOKS: usize = 4000;

/// Between two looks.
#[inline(always)]
pub fn look_again() {
    std::hint::spin_loop();
}

/// Is a rule kept? A model takes one out at a time, to see that it fails without.
#[inline(always)]
pub const fn kept(_: &str) -> bool {
    true
}

/// Takes a lock.
pub fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits on a condition, at most for `limit_ns` (`u64::MAX`: without limit). Wakes may be spurious. False: time is over.
pub fn wait_on<'a, T>(cv: &Condvar, g: MutexGuard<'a, T>, limit_ns: u64) -> (MutexGuard<'a, T>, bool) {
    if limit_ns == u64::MAX {
        (cv.wait(g).unwrap_or_else(PoisonError::into_inner), true)
    } else {
        let (g, r) = cv.wait_timeout(g, Duration::from_nanos(limit_ns)).unwrap_or_else(PoisonError::into_inner);
        (g, !r.timed_out())
    }
}
