//! Forks of the process, whose child has no thread but the one that forked.
//!
//! Invariant: no thread of a pool is inside a document (has its lock or its work) while the process forks: whoever
//! forks waits for those that are, at most for one filling, and none begins meanwhile. So a child finds every document
//! at rest. What was given to a thread and not begun, or runs outside documents (a name that is looked up), is lost to
//! it: such notes carry the [`generation`] in which they hold.

use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};

#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Threads in documents.
    inside: usize,
    /// Threads that are about to fork.
    forking: usize,
}

/// This process's gate; never freed. A child makes its own, for its parent's may have been locked just then.
static GATE: AtomicPtr<Gate> = AtomicPtr::new(std::ptr::null_mut());
static GENERATION: AtomicU32 = AtomicU32::new(1);

fn make() -> *mut Gate {
    Box::into_raw(Box::default())
}

fn gate() -> &'static Gate {
    let mut gate = GATE.load(Ordering::Acquire);
    if gate.is_null() {
        let new = make();
        gate = match GATE.compare_exchange(std::ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => new,
            Err(other) => {
                // SAFETY: made above, and nobody else has seen it.
                drop(unsafe { Box::from_raw(new) });
                other
            }
        };
    }
    // SAFETY: gates that were put there are never freed.
    unsafe { &*gate }
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread of a pool is inside a document until this is dropped.
pub(crate) struct Inside(&'static Gate);

/// Before a thread of a pool touches a document. Not nested.
pub(crate) fn enter() -> Inside {
    let gate = gate();
    let mut state = gate.lock();
    while state.forking > 0 {
        state = gate.wait(state);
    }
    state.inside += 1;
    Inside(gate)
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.lock().inside -= 1;
        self.0.changed.notify_all();
    }
}

/// Which process it is, counted from the first that opened documents; not 0.
pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// From now on forks keep the invariant.
pub(crate) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handlers are functions of this module that do not unwind. Without memory for them forks are as before.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
}

extern "C" fn before() {
    let gate = gate();
    let mut state = gate.lock();
    state.forking += 1;
    while state.inside > 0 {
        state = gate.wait(state);
    }
}

extern "C" fn in_parent() {
    let gate = gate();
    gate.lock().forking -= 1;
    gate.changed.notify_all();
}

extern "C" fn in_child() {
    GATE.store(make(), Ordering::Release);
    GENERATION.store(generation().wrapping_add(1).max(1), Ordering::Relaxed);
}
