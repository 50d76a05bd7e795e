//! Threads of a pool that go into documents, and threads that fork.
//!
//! Invariant: between [`ForkGate::before_fork`] and [`ForkGate::after_fork`] nobody is inside. Whoever is about to fork is counted first,
//! so that none begins any more, and then waits for those who are in; who wants in waits until the last fork is over.
//!
//! `crates/sched/tests/loom_fork.rs` runs this file in every interleaving.

use super::sync::{Condvar, Mutex, kept, lock, wait};

struct State {
    /// Threads in documents.
    inside: usize,
    /// Threads that are about to fork.
    forking: usize,
}

/// One process's gate.
pub(crate) struct ForkGate {
    state: Mutex<State>,
    changed: Condvar,
}

/// A thread of a pool is inside a document until this is dropped.
pub(crate) struct Inside<'a>(&'a ForkGate);

impl ForkGate {
    pub fn new() -> ForkGate {
        ForkGate { state: Mutex::new(State { inside: 0, forking: 0 }), changed: Condvar::new() }
    }

    /// Waits for the end of the forks that are under way. Not nested.
    pub fn enter(&self) -> Inside<'_> {
        let mut state = lock(&self.state);
        while state.forking > 0 {
            state = wait(&self.changed, state);
        }
        state.inside += 1;
        Inside(self)
    }

    /// Waits until nobody is inside; nobody goes in from now on.
    pub fn before_fork(&self) {
        let mut state = lock(&self.state);
        if kept("nobody begins before a fork") {
            state.forking += 1;
        }
        while state.inside > 0 && kept("a fork waits for who is inside") {
            state = wait(&self.changed, state);
        }
    }

    /// In the parent: the process has forked.
    pub fn after_fork(&self) {
        let mut state = lock(&self.state);
        state.forking = if kept("each fork counts") { state.forking.saturating_sub(1) } else { 0 };
        drop(state);
        if kept("the end of a fork is told") {
            self.changed.notify_all();
        }
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).inside -= 1;
        if kept("who comes out tells") {
            self.0.changed.notify_all();
        }
    }
}
