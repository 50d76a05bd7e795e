//! A model check of the handshakes of `idle.rs` over the queues of `queue.rs`: every interleaving (up to a bound on
//! preemptions) and every reordering the memory model allows. A lost wake shows as a deadlock.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p kumi-sched --test loom --release --target-dir target/loom`
//!
//! The two files are compiled here over the checker's locks and atomics; nothing else of the crate takes part. A rule that they
//! name by `kept` can be taken out, and then a model must fail.
#![cfg(loom)]
#![allow(dead_code)]

#[path = "checker/mod.rs"]
mod checker;

mod sync {
    pub use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
    pub use loom::sync::{Condvar, Mutex};

    pub use super::checker::{BROKEN, kept, lock, wait_on};
}
#[path = "../src/idle.rs"]
mod idle;
#[path = "../src/queue.rs"]
mod queue;

use idle::{Idle, Rest, Token};
use loom::sync::{Condvar, Mutex};
use loom::thread;
use queue::{Look, Position, Queues, Rank, Steal};
use std::sync::Arc;
use sync::{BROKEN, kept, lock, wait_on};

const BACK: Position = Position { rank: Rank::Fresh, first: false };

struct Model {
    idle: Idle,
    queues: Queues,
    /// The bell of the queue in which one attends; and tasks that were woken from outside, as `Sched::inbox` has them.
    bell: (Mutex<bool>, Condvar),
    inbox: Mutex<usize>,
}

fn check(workers: usize, f: impl Fn(Arc<Model>) + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(3));
    builder.check(move || f(Arc::new(Model::new(workers))));
}

impl Model {
    fn new(workers: usize) -> Model {
        let bell = (Mutex::new(false), Condvar::new());
        Model { idle: Idle::new(workers), queues: Queues::new(workers, None), bell, inbox: Mutex::new(0) }
    }

    fn nudge(&self, from: usize) {
        self.idle.nudge(from, &self.queues, |place| self.ring(place));
    }

    fn ring(&self, place: Rest) {
        if place == Rest::Attending && kept("who leaves a token rings") {
            *lock(&self.bell.0) = true;
            self.bell.1.notify_one();
        }
    }

    /// What `Sched::settle` does of a worker that attends, until it has a reason to get up.
    fn attend(&self, w: usize) -> Token {
        match self.idle.lie_down(w, Rest::Attending) {
            Ok(()) => {
                let inbox = kept("who attends looks into the inbox") && *lock(&self.inbox) > 0;
                if self.queues.look(w) == Look::Nothing && !inbox {
                    let mut rung = lock(&self.bell.0);
                    while !*rung {
                        rung = wait_on(&self.bell.1, rung, u64::MAX).0;
                    }
                    *rung = false;
                }
                self.idle.get_up(w)
            }
            Err(token) => token,
        }
    }

    /// What `Sched::settle` does of a worker that parks, until it has a reason to get up.
    fn rest(&self, w: usize) -> Token {
        match self.idle.lie_down(w, Rest::Parked) {
            Ok(()) => {
                if self.queues.look(w) == Look::Nothing {
                    self.idle.park(w, u64::MAX);
                }
                self.idle.get_up(w)
            }
            Err(token) => token,
        }
    }
}

/// A push and a nudge wake a worker that is about to sleep, or the worker finds the entry itself; also one that was woken for
/// nothing before, for a nudge relies on nobody who sleeps.
fn nudge(broken: &'static str, in_vain: bool) {
    BROKEN.set(broken);
    check(2, move |m| {
        let worker = m.clone();
        let worker = thread::spawn(move || {
            while worker.queues.steal(0, Steal::Any).is_none() {
                worker.rest(0);
            }
        });
        if in_vain {
            m.nudge(1);
        }
        m.queues.push(1, 7, false, BACK);
        m.nudge(1);
        worker.join().unwrap();
    });
}
#[test]
fn a_nudge_is_not_lost() {
    nudge("", false);
}
#[test]
fn a_nudge_after_one_in_vain_is_not_lost() {
    nudge("", true);
}

/// While one searches, a nudge does nothing; whoever ends the search wakes the sleeper on its behalf.
fn search(broken: &'static str) {
    BROKEN.set(broken);
    check(3, |m| {
        assert!(m.idle.found(0) || m.idle.begin_search(0) > 0);
        let (sleeper, pusher) = (m.clone(), m.clone());
        let sleeper = thread::spawn(move || {
            while sleeper.queues.look(1) == Look::Nothing {
                sleeper.rest(1);
            }
        });
        let pusher = thread::spawn(move || {
            pusher.queues.push(2, 7, false, BACK);
            pusher.nudge(2);
        });
        m.idle.stop_search(0, &m.queues, |_| ());
        sleeper.join().unwrap();
        pusher.join().unwrap();
    });
}
#[test]
fn a_search_is_passed_on() {
    search("");
}

/// While one naps, a nudge does nothing; if the nap ends for another reason, the sleeper is woken instead.
fn nap(broken: &'static str) {
    BROKEN.set(broken);
    check(3, |m| {
        assert!(m.idle.doze(0));
        let (sleeper, pusher) = (m.clone(), m.clone());
        let sleeper = thread::spawn(move || {
            while sleeper.queues.look(1) == Look::Nothing {
                sleeper.rest(1);
            }
        });
        let pusher = thread::spawn(move || {
            pusher.queues.push(2, 7, false, BACK);
            pusher.nudge(2);
        });
        m.idle.stop_doze(0, &m.queues, |_| ());
        sleeper.join().unwrap();
        pusher.join().unwrap();
    });
}
#[test]
fn a_nap_is_passed_on() {
    nap("");
}

/// The poller leaves while another worker, having asked for its role in vain, goes to park.
fn role(broken: &'static str) {
    BROKEN.set(broken);
    check(2, |m| {
        assert!(m.idle.try_poller(0));
        let other = m.clone();
        let other = thread::spawn(move || {
            while !other.idle.try_poller(1) {
                if other.idle.lie_down(1, Rest::Parked).is_ok() {
                    if other.idle.has_poller() {
                        other.idle.park(1, u64::MAX);
                    }
                    other.idle.get_up(1);
                }
            }
        });
        m.idle.leave_poller();
        m.idle.hand_on_role(|_| ());
        other.join().unwrap();
    });
}
#[test]
fn the_pollers_role_is_taken_over() {
    role("");
}

/// A worker that is told to look does, whether it is awake, lying down or asleep.
fn token(broken: &'static str) {
    BROKEN.set(broken);
    check(1, |m| {
        let worker = m.clone();
        let worker = thread::spawn(move || while worker.rest(0) != Token::Look {});
        m.idle.wake(0, Token::Look);
        worker.join().unwrap();
    });
}
#[test]
fn a_token_is_not_lost() {
    token("");
}

/// The same of one that attends: it sleeps in another queue, whose bell goes with the token.
fn attending(broken: &'static str) {
    BROKEN.set(broken);
    check(1, |m| {
        let worker = m.clone();
        let worker = thread::spawn(move || while worker.attend(0) != Token::Look {});
        let place = m.idle.wake(0, Token::Look);
        m.ring(place);
        worker.join().unwrap();
    });
}
#[test]
fn a_token_of_who_attends_is_not_lost() {
    attending("");
}

/// A push and a nudge reach one that attends, too.
#[test]
fn a_nudge_of_who_attends_is_not_lost() {
    BROKEN.set("");
    check(2, |m| {
        let worker = m.clone();
        let worker = thread::spawn(move || {
            while worker.queues.steal(0, Steal::Any).is_none() {
                worker.attend(0);
            }
        });
        m.queues.push(1, 7, false, BACK);
        m.nudge(1);
        worker.join().unwrap();
    });
}

/// What a worker served last went into the inbox without a wake: it looks there itself, whatever it was told meanwhile.
fn served(broken: &'static str) {
    BROKEN.set(broken);
    check(1, |m| {
        let worker = m.clone();
        let worker = thread::spawn(move || {
            *lock(&worker.inbox) += 1;
            worker.attend(0);
            while std::mem::take(&mut *lock(&worker.inbox)) == 0 {
                worker.attend(0);
            }
        });
        worker.join().unwrap();
    });
}
#[test]
fn what_was_served_is_seen() {
    served("");
}

// --- without the rules ----------------------------------------------------------------------------

#[test]
#[should_panic]
fn without_the_lock_a_look_misses_what_is_pushed() {
    nudge("a look is under the locks", false);
}
#[test]
#[should_panic]
fn a_sleeper_nobody_counts_is_not_woken() {
    nudge("who lies down is counted", false);
}
#[test]
#[should_panic]
fn a_sleeper_that_is_counted_as_searching_is_not_woken() {
    nudge("who lies down searches no more", true);
}
#[test]
#[should_panic]
fn a_search_that_ends_silently_leaves_a_sleeper() {
    search("a search is passed on");
}
#[test]
#[should_panic]
fn a_nap_that_ends_silently_leaves_a_sleeper() {
    nap("a nap is passed on");
}
#[test]
#[should_panic]
fn a_role_nobody_hands_on_leaves_a_sleeper() {
    role("the role is handed on");
}
#[test]
#[should_panic]
fn a_token_dropped_because_its_worker_is_awake_is_lost() {
    token("a token waits for who is awake");
}
#[test]
#[should_panic]
fn a_token_without_a_ring_leaves_who_attends() {
    attending("who leaves a token rings");
}
#[test]
#[should_panic]
fn an_inbox_nobody_looks_into_leaves_who_served() {
    served("who attends looks into the inbox");
}
