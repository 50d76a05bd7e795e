//! Forks of the process, whose child has no thread but the one that forked.
//!
//! Invariant: no thread of a pool is inside a document (has its lock or its work) while the process forks: whoever
//! forks waits for those that are, at most for one filling, and none begins meanwhile. So a child finds every document
//! at rest. What was given to a thread and not begun, or runs outside documents (a name that is looked up), is lost to
//! it: such notes carry the [`generation`] in which they hold. Who waits for whom: `gate.rs`.

pub(crate) mod gate;
pub(crate) mod sync;

use crate::fork::gate::{ForkGate, Inside};
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// This process's gate; never freed. A child makes its own, for its parent's may have been locked just then.
static GATE: AtomicPtr<ForkGate> = AtomicPtr::new(std::ptr::null_mut());
static GENERATION: AtomicU32 = AtomicU32::new(1);

fn make() -> *mut ForkGate {
    Box::into_raw(Box::new(ForkGate::new()))
}

fn gate() -> &'static ForkGate {
    let mut gate = GATE.load(Ordering::Acquire);
    if gate.is_null() {
        let new = make();
        gate = match GATE.compare_exchange(std::ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => new,
            Err(other) => {
                // SAFETY: `make` has just made it by `Box::into_raw`, and the exchange failed: nobody else has the address.
                drop(unsafe { Box::from_raw(new) });
                other
            }
        };
    }
    // SAFETY: `gate` is no null, and what stands in GATE came from `Box::into_raw` and is never freed.
    unsafe { &*gate }
}

/// Before a thread of a pool touches a document: it is inside until what this gives is dropped. Not nested.
pub(crate) fn enter() -> Inside<'static> {
    gate().enter()
}

/// Which process it is, counted from the first that opened documents; not 0.
pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

/// From now on forks keep the invariant.
pub(crate) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handlers are functions of the right type that live as long as the program, and `extern "C"` lets no panic
        // out. Without memory for them forks are as before.
        unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
    });
}

extern "C" fn before() {
    gate().before_fork();
}

extern "C" fn in_parent() {
    gate().after_fork();
}

extern "C" fn in_child() {
    GATE.store(make(), Ordering::Release);
    GENERATION.store(generation().wrapping_add(1).max(1), Ordering::Relaxed);
}
