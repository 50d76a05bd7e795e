//! A model check of the ready queues (`queue.rs`): pushed, taken and stolen at the same time. Every interleaving, up to a bound on
//! preemptions, and every reordering the memory model allows.
//!
//! `tests/models` runs it, with the other models.
//!
//! The file is compiled here over the checker's locks and atomics; what stands under a lock is a cell that the checker watches, so
//! that the lock itself can be taken out, and each rule that the file names by `kept`: then a model must fail.
#![cfg(loom)]
#![allow(dead_code)]

#[path = "checker/mod.rs"]
mod checker;

mod sync {
    pub use loom::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
    use std::ops::{Deref, DerefMut};

    pub use super::checker::{BROKEN, kept};

    /// A lock beside what it is for.
    pub struct Mutex<T> {
        turn: loom::sync::Mutex<()>,
        of: loom::cell::UnsafeCell<T>,
    }
    // SAFETY: the model checker watches.
    unsafe impl<T> Sync for Mutex<T> {}
    impl<T> Mutex<T> {
        pub fn new(v: T) -> Self {
            Mutex { turn: loom::sync::Mutex::new(()), of: loom::cell::UnsafeCell::new(v) }
        }
    }
    pub struct Guard<'a, T> {
        of: loom::cell::MutPtr<T>,
        _turn: Option<loom::sync::MutexGuard<'a, ()>>,
    }
    impl<T> Deref for Guard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            // SAFETY: the model checker watches.
            unsafe { self.of.deref() }
        }
    }
    impl<T> DerefMut for Guard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            // SAFETY: the model checker watches.
            unsafe { self.of.deref() }
        }
    }
    pub fn lock<T>(m: &Mutex<T>) -> Guard<'_, T> {
        let turn = kept("a queue is looked at under its lock").then(|| m.turn.lock().unwrap());
        Guard { of: m.of.get_mut(), _turn: turn }
    }
}
#[path = "../src/queue.rs"]
mod queue;

use loom::thread;
use queue::{Position, Queues, Rank, Steal, TaskId};
use std::sync::Arc;
use sync::BROKEN;

const BACK: Position = Position { rank: Rank::Fresh, first: false };
const FRONT: Position = Position { rank: Rank::Spent, first: true };

fn check(broken: &'static str, f: impl Fn(&Arc<Queues>) + Send + Sync + 'static) {
    BROKEN.set(broken);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(move || f(&Arc::new(Queues::new(2, None))));
}

/// What is left in a worker's queue, of either rank.
fn drain(q: &Queues, w: usize) -> Vec<TaskId> {
    std::iter::from_fn(|| q.take(w, Rank::Spent)).map(|t| t.0).collect()
}

/// The owner pushes and takes, a thief steals half, another adds: each entry goes to one of them, and the counters agree with
/// the lists when all is quiet.
fn each_goes_once(q: &Arc<Queues>) {
    q.push(0, 1, false, BACK);
    q.push(0, 2, false, BACK);
    let other = q.clone();
    let thief = thread::spawn(move || {
        other.push(0, 4, true, BACK);
        other.steal(1, Steal::Any).map(|t| t.0)
    });
    q.push(0, 3, false, FRONT);
    let mut all: Vec<TaskId> = q.take(0, Rank::Fresh).map(|t| t.0).into_iter().collect();
    all.extend(thief.join().unwrap());
    assert_eq!(q.len(0) + q.len(1) + all.len(), 4);
    let open = all.iter().filter(|t| **t != 4).count();
    assert_eq!(q.open(0) + q.open(1) + open, 3, "4 is pinned");
    all.extend(drain(q, 0));
    all.extend(drain(q, 1));
    all.sort();
    assert_eq!(all, [1, 2, 3, 4]);
    assert!(q.all_empty() && q.total() == 0 && !q.any_open());
}

/// A task that ends is taken out of every queue while a thief looks.
fn a_removal(q: &Arc<Queues>) {
    q.push(0, 1, false, BACK);
    q.push(0, 2, false, BACK);
    let other = q.clone();
    let thief = thread::spawn(move || other.steal(1, Steal::Any).map(|t| t.0));
    q.remove(2);
    let stolen = thief.join().unwrap();
    let mut all: Vec<TaskId> = stolen.into_iter().collect();
    all.extend(drain(q, 0));
    all.extend(drain(q, 1));
    assert!(all == [1], "{all:?}");
    assert_eq!(q.total(), 0);
}

#[test]
fn each_entry_goes_to_one_of_those_who_want_it() {
    check("", each_goes_once);
}
#[test]
fn what_is_removed_is_in_no_queue() {
    check("", a_removal);
}
macro_rules! fail {
    ($($name:ident: $model:ident, $rule:expr;)*) => { $(
        #[test]
        #[should_panic]
        fn $name() {
            check($rule, $model);
        }
    )* };
}
fail! {
    without_the_lock_two_change_a_queue_at_a_time: each_goes_once, "a queue is looked at under its lock";
    without_the_lock_one_is_removed_under_a_thief: a_removal, "a queue is looked at under its lock";
    unsaid_what_was_stolen_is_still_counted: each_goes_once, "who robs notes what is left";
}
