//! A model check of a marking's sharing (`mark/share.rs`) and of its helpers (`mark/crew.rs`): every interleaving, up
//! to a bound on preemptions, and every reordering the memory model allows. A lost wake shows as a deadlock, an end
//! that comes too early as work that is left.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p kumi-heap --test loom --release --target-dir target/loom`
//!
//! The two files are compiled here over the checker's locks and atomics; nothing else of the crate takes part. A rule that they
//! name by `kept` can be taken out, and then a model must fail.
#![cfg(loom)]
#![allow(dead_code)]

#[path = "../../sched/tests/checker/mod.rs"]
mod checker;

mod sync {
    pub use loom::sync::atomic::{AtomicUsize, Ordering};
    pub use loom::sync::{Condvar, Mutex, MutexGuard};
    pub use std::sync::Arc;

    pub const SPINS: usize = 1;

    pub use super::checker::{BROKEN, kept, lock, wait};

    /// Nothing: a yield would have the others go on first, so that what comes after a wait in vain would not be seen.
    pub fn spin() {}
    pub type Thread = loom::thread::JoinHandle<()>;
    pub fn spawn(f: impl FnOnce() + Send + 'static) -> Option<Thread> {
        Some(loom::thread::spawn(f))
    }
}
#[path = "../src/mark/crew.rs"]
mod crew;
#[path = "../src/mark/share.rs"]
mod share;

use crew::Crew;
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering::*};
use loom::thread;
use share::Share;
use std::sync::Arc;
use sync::BROKEN;

fn check(preemptions: usize, f: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(preemptions));
    builder.check(f);
}

/// What a marking thread does: each unit of work `n` makes two of `n - 1`; all of them are counted.
fn work(share: &Share<usize>, mut mine: Vec<usize>, done: &AtomicUsize) {
    loop {
        while let Some(n) = mine.pop() {
            done.fetch_add(1, Relaxed);
            if n > 0 {
                mine.extend([n - 1, n - 1]);
            }
            if mine.len() > 1 && share.wanted() {
                share.give(mine.remove(0));
            }
        }
        match share.take() {
            Some(p) => mine.push(p),
            None => return,
        }
    }
}

/// Two members: both come to the end, and only when everything is done.
fn two(broken: &'static str) {
    BROKEN.set(broken);
    check(3, || {
        let (share, done) = (Arc::new(Share::new()), Arc::new(AtomicUsize::new(0)));
        assert!(share.join() && share.join());
        let other = (share.clone(), done.clone());
        let other = thread::spawn(move || {
            work(&other.0, Vec::new(), &other.1);
            assert_eq!(other.1.load(Relaxed), 7);
        });
        work(&share, vec![2], &done);
        assert_eq!(done.load(Relaxed), 7);
        other.join().unwrap();
    });
}
#[test]
fn all_work_is_done_when_the_end_is_said() {
    two("");
}

/// Three members, one of which has all the work.
#[test]
fn three_come_to_the_same_end() {
    check(2, || {
        let (share, done) = (Arc::new(Share::new()), Arc::new(AtomicUsize::new(0)));
        (0..3).for_each(|_| assert!(share.join()));
        let others: Vec<_> = (0..2)
            .map(|_| {
                let o = (share.clone(), done.clone());
                thread::spawn(move || {
                    work(&o.0, Vec::new(), &o.1);
                    assert_eq!(o.1.load(Relaxed), 3);
                })
            })
            .collect();
        work(&share, vec![1], &done);
        assert_eq!(done.load(Relaxed), 3);
        others.into_iter().for_each(|t| t.join().unwrap());
    });
}

/// A member that comes late takes part, or learns that it is over.
#[test]
fn who_comes_late_does_no_harm() {
    check(3, || {
        let (share, done) = (Arc::new(Share::new()), Arc::new(AtomicUsize::new(0)));
        assert!(share.join());
        let other = (share.clone(), done.clone());
        let other = thread::spawn(move || {
            if other.0.join() {
                work(&other.0, Vec::new(), &other.1);
            }
            assert_eq!(other.1.load(Relaxed), 3);
        });
        work(&share, vec![1], &done);
        assert_eq!(done.load(Relaxed), 3);
        other.join().unwrap();
    });
}

/// What a job changes without a lock, before the model checker's eyes.
struct Watched(UnsafeCell<usize>);
// SAFETY: one helper at most is in a job; the model checker watches.
unsafe impl Sync for Watched {}
impl Watched {
    fn add(&self) {
        // SAFETY: as above.
        self.0.with_mut(|p| unsafe { *p += 1 });
    }
}

/// What a job borrows is the caller's again when `run` is back, whether a helper came in time or not.
fn job(broken: &'static str) {
    BROKEN.set(broken);
    check(3, || {
        let crew = Crew::new();
        for _ in 0..2 {
            let seen = Watched(UnsafeCell::new(0));
            Crew::run(&crew, 1, 1, &|| seen.add(), || ());
            // SAFETY: nobody is in the job.
            assert!(seen.0.with_mut(|p| unsafe { *p }) < 2);
        }
        assert_eq!(crew.threads(), 1);
        crew.close();
    });
}
#[test]
fn no_helper_is_in_a_job_that_is_over() {
    job("");
}

/// A whole marking: helpers that are started for it, or come late, or not at all.
#[test]
fn a_crew_does_all_the_work_of_a_marking() {
    check(2, || {
        let crew = Crew::new();
        let (share, done) = (Share::new(), AtomicUsize::new(0));
        share.join();
        let job = || {
            if share.join() {
                work(&share, Vec::new(), &done);
            }
        };
        Crew::run(&crew, 1, 1, &job, || work(&share, vec![1], &done));
        assert_eq!(done.load(Relaxed), 3);
        crew.close();
    });
}

/// A thread that is stopped and lends itself does the job in the crew's stead, or is not there: `run` waits for it in the
/// one case, and for nobody in the other.
#[test]
fn who_is_lent_is_in_no_job_that_is_over() {
    check(3, || {
        let (crew, stopped) = (Crew::new(), Arc::new(AtomicUsize::new(1)));
        let lent = {
            let (crew, stopped) = (crew.clone(), stopped.clone());
            thread::spawn(move || crew.lend(1, || stopped.load(Acquire) == 1))
        };
        for _ in 0..2 {
            let seen = Watched(UnsafeCell::new(0));
            Crew::run(&crew, 1, 0, &|| seen.add(), || ());
            // SAFETY: nobody is in the job.
            assert!(seen.0.with_mut(|p| unsafe { *p }) < 2);
        }
        stopped.store(0, Release);
        lent.join().unwrap();
        crew.close();
    });
}

// --- without the rules ----------------------------------------------------------------------------

#[test]
#[should_panic]
fn an_end_said_too_early_leaves_work() {
    two("it is over when all are hungry");
}
#[test]
#[should_panic]
fn untold_of_the_end_a_member_sleeps_for_ever() {
    two("the end is told");
}
#[test]
#[should_panic]
fn untold_of_the_last_one_out_run_waits_for_ever() {
    job("the last one out tells");
}
#[test]
#[should_panic]
fn untold_of_the_end_of_the_crew_a_helper_waits_for_ever() {
    job("the end of the crew is told");
}
