//! Locks, atomics and threads under one name, so that `tests/loom.rs` can put a model checker's in their place.
//!
//! Invariant: no lock of this crate's marking is taken while another of it is held, and a panic under one leaves the data
//! whole (pushes, pops and counts), so poisoning is ignored.

use std::sync::PoisonError;

pub use std::alloc::dealloc;
pub use std::cell::RefCell;
pub use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
pub use std::sync::{Arc, Condvar, Mutex, MutexGuard};
pub use std::thread_local;

/// Is a rule kept? A model takes one out at a time, to see that it fails without.
#[inline(always)]
pub const fn kept(_: &str) -> bool {
    true
}

/// Looks at a counter before a thread without work goes to sleep: some microseconds.
pub const SPINS: usize = 2000;

pub fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

pub fn wait<'a, T>(cv: &Condvar, g: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
    cv.wait(g).unwrap_or_else(PoisonError::into_inner)
}

pub fn spin() {
    std::hint::spin_loop();
}

/// A thread that somebody will wait for.
pub type Thread = std::thread::JoinHandle<()>;

/// Starts a thread; `None` when the system gives none.
pub fn spawn(f: impl FnOnce() + Send + 'static) -> Option<Thread> {
    let t = std::thread::Builder::new().name("kumi-gc".into()).stack_size(1 << 20);
    t.spawn(f).ok()
}

/// Rounds of spinning before the processor is given away.
const ROUNDS: u32 = 100;

/// Waits for a lock that is held for the time of a leaf native, until `taken` says that it was taken.
#[cold]
#[inline(never)]
pub fn spin_until(mut taken: impl FnMut() -> bool) {
    let mut n = 0;
    while !taken() {
        n += 1;
        if n < ROUNDS {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}
