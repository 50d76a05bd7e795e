//! What the models have in common: a rule that can be taken out, and the checker's locks under the names of `sync.rs`.
//!
//! The files that are modelled name their rules by `kept`. Models of other crates take this file by its path.

use loom::sync::{Condvar, Mutex, MutexGuard};
use std::cell::Cell;

std::thread_local! {
    /// The rule that is taken out. The checker runs all threads of a model on the test's own.
    pub static BROKEN: Cell<&'static str> = const { Cell::new("") };
}

pub fn kept(rule: &'static str) -> bool {
    BROKEN.get() != rule
}

pub fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap()
}

pub fn wait<'a, T>(cv: &Condvar, g: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    cv.wait(g).unwrap()
}

/// A model has no time: a wait with a limit is a fault of the model.
pub fn wait_on<'a, T>(cv: &Condvar, g: MutexGuard<'a, T>, limit_ns: u64) -> (MutexGuard<'a, T>, bool) {
    assert_eq!(limit_ns, u64::MAX, "the model has no time");
    (wait(cv, g), true)
}
