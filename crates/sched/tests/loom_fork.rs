//! A model check of the gate between documents and forks (`gate.rs` of kumi-flow): every interleaving, up to a bound on
//! preemptions, and every reordering the memory model allows.
//!
//! `tests/models` runs it, with the other models. It stands here and not with its file because this crate has no dependencies
//! which would have to be built for the checker.
//!
//! A rule that `gate.rs` names by `kept` can be taken out: each model must fail without the rules that it is there for, by two who
//! touch a document at a time or by threads that wait for ever.
#![cfg(loom)]
#![allow(dead_code)]

#[path = "checker/mod.rs"]
mod checker;

mod sync {
    pub use loom::sync::{Condvar, Mutex};

    pub use super::checker::{BROKEN, kept, lock, wait};
}
#[path = "../../flow/src/fork/gate.rs"]
mod gate;

use gate::ForkGate;
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;
use sync::BROKEN;

/// A gate and a document, which one may touch at a time, before the checker's eyes.
struct World {
    gate: ForkGate,
    document: UnsafeCell<usize>,
}
// SAFETY: the model checker watches.
unsafe impl Sync for World {}
// SAFETY: as above.
unsafe impl Send for World {}

impl World {
    /// A filling by a thread of a pool.
    fn fill(&self) {
        let _inside = self.gate.enter();
        // SAFETY: the model checker watches.
        self.document.with_mut(|p| unsafe {
            *p += 1;
            thread::yield_now();
            *p += 1;
        });
    }
    /// What the child finds is whole.
    fn fork(&self) {
        self.gate.before_fork();
        // SAFETY: the model checker watches.
        assert_eq!(self.document.with(|p| unsafe { *p }) % 2, 0);
        self.gate.after_fork();
    }
}

fn check(broken: &'static str, preemptions: usize, f: impl Fn(&Arc<World>) + Send + Sync + 'static) {
    BROKEN.set(broken);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(preemptions));
    builder.check(move || f(&Arc::new(World { gate: ForkGate::new(), document: UnsafeCell::new(0) })));
}

fn start(w: &Arc<World>, f: fn(&World)) -> thread::JoinHandle<()> {
    let w = w.clone();
    thread::spawn(move || f(&w))
}

/// One fills while another forks.
fn a_fork(w: &Arc<World>) {
    let pool = start(w, |w| {
        w.fill();
        w.fill();
    });
    w.fork();
    pool.join().unwrap();
}

/// Two fork while one fills.
fn two_forks(w: &Arc<World>) {
    let (pool, other) = (start(w, World::fill), start(w, World::fork));
    w.fork();
    pool.join().unwrap();
    other.join().unwrap();
}

#[test]
fn a_fork_finds_documents_at_rest_and_fillings_go_on_after_it() {
    check("", 3, a_fork);
}
#[test]
fn two_forks_find_documents_at_rest() {
    check("", 3, two_forks);
}
macro_rules! fail {
    ($($name:ident: $model:ident, $rule:expr;)*) => { $(
        #[test]
        #[should_panic]
        fn $name() {
            check($rule, 3, $model);
        }
    )* };
}
fail! {
    a_fork_that_does_not_wait_finds_a_document_half_filled: a_fork, "a fork waits for who is inside";
    a_filling_that_begins_before_a_fork_is_beside_it: a_fork, "nobody begins before a fork";
    untold_of_one_that_comes_out_a_fork_waits_for_ever: a_fork, "who comes out tells";
    untold_of_the_end_of_a_fork_a_filling_waits_for_ever: a_fork, "the end of a fork is told";
    with_one_of_two_forks_forgotten_a_filling_is_beside_it: two_forks, "each fork counts";
}
