//! Forks of the process, whose child has no thread but the one that forked.
//!
//! Invariant: no thread of a pool is inside a document (has its lock or its work) while the process forks: whoever
//! forks waits for those that are, at most for one filling, and none begins meanwhile. So a child finds every document
//! at rest. What was given to a thread and not begun, or runs outside documents (a name that is looked up), is lost to
//! it: such notes carry the [generation](Gate::generation) in which they hold. Who waits for whom: `gate.rs`. Each registry has a gate, and
//! whoever forks tells it.

pub(crate) mod gate;
pub(crate) mod sync;

use crate::fork::gate::{ForkGate, Inside};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// A registry's gate. A child makes its own, for its parent's may have been locked just then; that one stays as it is.
pub(crate) struct Gate {
    now: AtomicPtr<ForkGate>,
    generation: AtomicU32,
}

fn make() -> *mut ForkGate {
    Box::into_raw(Box::new(ForkGate::new()))
}

impl Default for Gate {
    fn default() -> Gate {
        Gate { now: AtomicPtr::new(make()), generation: AtomicU32::new(1) }
    }
}

impl Gate {
    fn now(&self) -> &ForkGate {
        // SAFETY: what stands there came from `Box::into_raw`, and is freed when `self` goes, if it is not left to a child.
        unsafe { &*self.now.load(Ordering::Acquire) }
    }
    /// Before a thread of a pool touches a document: it is inside until what this gives is dropped. Not nested.
    pub fn enter(&self) -> Inside<'_> {
        self.now().enter()
    }
    /// In which process, counted from the one that made the registry; not 0.
    pub fn generation(&self) -> u32 {
        self.generation.load(Ordering::Relaxed)
    }
    pub fn before_fork(&self) {
        self.now().before_fork();
    }
    pub fn after_fork(&self) {
        self.now().after_fork();
    }
    pub fn in_child(&self) {
        self.now.store(make(), Ordering::Release);
        self.generation.store(self.generation().wrapping_add(1).max(1), Ordering::Relaxed);
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        // SAFETY: as in `now`, and nobody is inside who does not hold the registry.
        drop(unsafe { Box::from_raw(*self.now.get_mut()) });
    }
}
