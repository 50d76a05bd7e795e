//! A model check of `stop.rs`: who runs beside whom, what is freed beside whom, and the end of a fork. Every interleaving, up
//! to a bound on preemptions, and every reordering the memory model allows.
//!
//! `tests/models` runs it, with the other models.
//!
//! `stop.rs` and the heap's `readers.rs` are compiled here over the checker's locks and atomics. A rule that `stop.rs` names by
//! `kept` can be taken out: each model must fail without each rule that it is there for, by two who touch a thing at a time, by
//! a look at what was freed, or by threads that wait for ever.
#![cfg(loom)]
#![allow(dead_code)]

#[path = "checker/mod.rs"]
mod checker;

mod sync {
    pub use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    pub use loom::sync::{Condvar, Mutex, MutexGuard};

    pub const LOOKS: usize = 0;
    pub fn look_again() {}

    pub use super::checker::{BROKEN, kept, lock, wait_on};
}
#[path = "../../heap/src/lockfree/readers.rs"]
mod readers;
#[path = "../src/stop.rs"]
mod stop;

use loom::cell::UnsafeCell;
use loom::sync::Mutex;
use loom::sync::atomic::{AtomicUsize, Ordering::*};
use loom::thread;
use readers::{Readers, looked_at};
use std::cell::Cell;
use std::sync::Arc;
use stop::{Stop, Surroundings};
use sync::{BROKEN, kept};

/// A thing that one may change at a time, before the checker's eyes.
struct Thing(UnsafeCell<usize>);
// SAFETY: the model checker watches.
unsafe impl Sync for Thing {}
impl Thing {
    fn new(v: usize) -> Thing {
        Thing(UnsafeCell::new(v))
    }
    fn set(&self, v: usize) {
        // SAFETY: the model checker watches.
        self.0.with_mut(|p| unsafe { *p = v });
    }
    /// For as long as others get to run.
    fn hold(&self) {
        self.0.with_mut(|_| thread::yield_now());
    }
    fn get(&self) -> usize {
        // SAFETY: the model checker watches.
        self.0.with(|p| unsafe { *p })
    }
}

/// A runtime with what its workers share.
struct World {
    stop: Stop,
    readers: Readers,
    /// What is locked in parallel mode, and touched as it is by who is alone or has stopped the others.
    shared: Thing,
    lock: Mutex<()>,
    /// Names one of the buffers; a buffer holds 1 until it is freed.
    word: AtomicUsize,
    buffers: [Thing; 3],
    /// The allocator, in whose inside a fork must find nobody.
    allocator: Thing,
    /// Where each of two workers makes its private cells, without a lock; a collection has all of them.
    nurseries: [Thing; 2],
}

impl Surroundings for World {
    fn poll_all(&self) {}
    fn cores(&self) -> usize {
        8
    }
    fn help(&self, stays: &dyn Fn() -> bool) {
        stays();
    }
    fn hurry(&self, _: bool) {}
    fn reader_begins(&self) -> u64 {
        if kept("a reader is known") { self.readers.begins() } else { u64::MAX }
    }
    fn reader_ends(&self, seen: u64) {
        self.readers.ends(seen);
    }
    fn grace_begins(&self) -> u64 {
        self.readers.grace()
    }
    fn passed(&self) -> u64 {
        PASSED.with(Cell::get)
    }
    fn set_passed(&self, grace: u64) {
        PASSED.with(|p| p.set(grace));
    }
}

loom::thread_local! {
    /// The last grace period of the thread's worker.
    static PASSED: Cell<u64> = Cell::new(0);
}

/// A worker: what mode it is in, and the buffers it has replaced, by the stop before which that was.
struct Worker {
    w: Arc<World>,
    nursery: usize,
    parallel: bool,
    fresh: Vec<usize>,
    old: Vec<(u64, usize)>,
}

impl Worker {
    fn first(w: &Arc<World>) -> Worker {
        Worker { w: w.clone(), nursery: 0, parallel: false, fresh: Vec::new(), old: Vec::new() }
    }
    fn enter(w: &Arc<World>) -> Worker {
        let mut me = Worker::first(w);
        me.nursery = 1;
        me.parallel = w.stop.enter(&**w);
        me
    }
    fn leave(self) {
        self.w.stop.leave(&*self.w);
    }
    /// Has nothing to do for a moment. Does it linger?
    fn pause(&self) -> bool {
        self.w.stop.pause(&*self.w)
    }
    fn come_back(&mut self, lingers: bool) {
        self.parallel = if lingers { self.w.stop.come_back(&*self.w) } else { self.w.stop.enter(&*self.w) };
    }
    /// Has nothing to do for longer.
    fn stay_away(self) {
        if self.pause() {
            self.w.stop.stay_away(&*self.w);
        }
    }
    fn safepoint(&mut self) {
        if self.w.stop.is_asked() {
            self.parallel = self.w.stop.pass(&*self.w);
        }
    }
    /// A private cell is made.
    fn birth(&self) {
        self.w.nurseries[self.nursery].hold();
    }
    /// What a native does.
    fn touch(&self) {
        let _held = self.parallel.then(|| self.w.lock.lock().unwrap());
        self.w.shared.hold();
    }
    /// A native that replaces a buffer.
    fn replace(&mut self, new: usize) {
        let old = self.w.word.swap(new, AcqRel);
        if self.parallel {
            self.fresh.push(old);
        } else {
            self.w.buffers[old].set(0);
        }
    }
    /// Stops the others, touches what they share and frees what they do not look at.
    fn stop(&mut self) {
        loop {
            if self.w.stop.begin(&*self.w).is_some() {
                break;
            }
            self.parallel = self.w.stop.pass(&*self.w);
        }
        self.w.shared.hold();
        // All nurseries retire: what lives in them leaves, their blocks are anybody's.
        self.w.nurseries.iter().for_each(|x| x.set(0));
        let (at, oldest) = self.w.readers.stop();
        self.old.extend(self.fresh.drain(..).map(|b| (at, b)));
        self.old.retain(|(at, b)| {
            let stays = looked_at(*at, oldest);
            if !stays {
                self.w.buffers[*b].set(0);
            }
            stays
        });
        self.w.stop.end();
    }
    /// Frees what it has replaced when a grace period is over, and what no reader looks at.
    fn grace(&mut self) {
        let Some(n) = self.w.stop.begin_grace(&*self.w) else { return };
        self.old.extend(self.fresh.drain(..).map(|b| (n, b)));
        while !self.w.stop.is_over(n) {
            self.safepoint();
            thread::yield_now();
        }
        let oldest = self.w.readers.oldest();
        self.old.retain(|(at, b)| {
            let stays = looked_at(*at, oldest) || !self.w.stop.is_over(*at);
            if !stays {
                self.w.buffers[*b].set(0);
            }
            stays
        });
    }
    fn run_until(&mut self, done: &AtomicUsize) {
        while done.load(Acquire) == 0 {
            self.safepoint();
            thread::yield_now();
        }
    }
    fn detached(&mut self, work: impl FnOnce(&World)) {
        match self.w.stop.detach(&*self.w) {
            Some(seen) => {
                work(&self.w);
                self.parallel = self.w.stop.attach(&*self.w, seen);
            }
            None => work(&self.w),
        }
    }
    /// Long work on what this worker has locked.
    fn quiescent(&self, work: impl FnOnce()) {
        self.w.stop.begin_quiescence(&*self.w);
        work();
        self.w.stop.end_quiescence(&*self.w);
    }
    fn fork(&mut self) {
        self.w.stop.before_fork(&*self.w);
        while self.w.stop.begin(&*self.w).is_none() {
            self.w.stop.forked();
            self.parallel = self.w.stop.pass(&*self.w);
            self.w.stop.before_fork(&*self.w);
        }
        // Here the child goes on, with a stop of its own: it waits for nobody.
        self.w.allocator.set(1);
        assert!(self.w.readers.stop().1.is_none(), "the child has nobody to end that");
        assert_eq!(Stop::default().begin(&*self.w), Some(0));
        self.w.stop.end();
        self.w.stop.forked();
    }
}

fn read(w: &World) {
    assert_eq!(w.buffers[w.word.load(Acquire)].get(), 1, "freed");
}

fn check(broken: &'static str, preemptions: usize, f: impl Fn(&Arc<World>) + Send + Sync + 'static) {
    BROKEN.set(broken);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.or(Some(preemptions));
    builder.check(move || {
        f(&Arc::new(World {
            stop: Stop::default(),
            readers: Readers::default(),
            shared: Thing::new(0),
            lock: Mutex::new(()),
            word: AtomicUsize::new(0),
            buffers: [Thing::new(1), Thing::new(1), Thing::new(1)],
            allocator: Thing::new(0),
            nurseries: [Thing::new(0), Thing::new(0)],
        }))
    });
}

fn start(w: &Arc<World>, f: impl FnOnce(Worker) + 'static) -> thread::JoinHandle<()> {
    let w = w.clone();
    thread::spawn(move || f(Worker::enter(&w)))
}

// --- the models --------------------------------------------------------------------------------------

/// A second worker begins beside one that runs alone.
fn a_second_worker(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let other = start(w, |me| {
        me.touch();
        me.leave();
    });
    me.touch();
    me.safepoint();
    me.touch();
    me.leave();
    other.join().unwrap();
}

/// The first runs on until a second worker has run.
fn a_second_worker_gets_in(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let ran = Arc::new(AtomicUsize::new(0));
    let told = ran.clone();
    let other = start(w, move |me| {
        me.touch();
        told.store(1, Release);
        me.leave();
    });
    me.run_until(&ran);
    me.touch();
    me.leave();
    other.join().unwrap();
}

/// One has nothing to do for a moment, and is back while the other, which was detached meanwhile, passes no safepoint.
fn one_is_back(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let [paused, ran] = [0, 0].map(|_| Arc::new(AtomicUsize::new(0)));
    let told = [paused.clone(), ran.clone()];
    let other = start(w, move |mut me| {
        me.touch();
        let lingers = me.pause();
        assert!(lingers, "the other one locks");
        told[0].store(1, Release);
        me.come_back(lingers);
        me.touch();
        told[1].store(1, Release);
        me.leave();
    });
    me.run_until(&paused);
    me.detached(read);
    while ran.load(Acquire) == 0 {
        thread::yield_now();
    }
    me.touch();
    me.leave();
    other.join().unwrap();
}

/// One has nothing to do, for longer than a moment: the other is alone again.
fn one_stays_away(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let away = Arc::new(AtomicUsize::new(0));
    let told = away.clone();
    let other = start(w, move |me| {
        me.touch();
        me.stay_away();
        told.store(1, Release);
    });
    me.run_until(&away);
    me.safepoint();
    assert!(!me.parallel);
    me.touch();
    me.leave();
    other.join().unwrap();
}

/// One stops the other, which has nothing to do for a moment, is back, and stays away.
fn a_pause_and_a_stop(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let other = start(w, |mut me| {
        me.touch();
        let lingers = me.pause();
        me.come_back(lingers);
        me.touch();
        me.stay_away();
    });
    me.safepoint();
    me.stop();
    me.touch();
    me.safepoint();
    me.touch();
    me.leave();
    other.join().unwrap();
}

/// One stops, the other runs, or comes, or stops too.
fn two_and_a_stop(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let other = start(w, |mut me| {
        me.safepoint();
        me.stop();
        me.leave();
    });
    me.safepoint();
    me.touch();
    me.stop();
    me.touch();
    me.leave();
    other.join().unwrap();
}

/// One comes while another stops: all lock already, because of a reader, so there is nothing to agree to.
fn one_comes(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let seen = w.stop.reader_begins(&**w).unwrap();
    me.parallel = true;
    let other = start(w, |me| {
        me.touch();
        me.leave();
    });
    me.stop();
    me.touch();
    w.stop.reader_ends(&**w, seen);
    me.leave();
    other.join().unwrap();
}

/// One stops the other and runs on, passing safepoints, until that one has gone on too.
fn who_stands_goes_on(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let gone_on = Arc::new(AtomicUsize::new(0));
    let told = gone_on.clone();
    let other = start(w, move |mut me| {
        me.safepoint();
        me.touch();
        told.store(1, Release);
        me.leave();
    });
    me.safepoint();
    me.stop();
    me.run_until(&gone_on);
    me.leave();
    other.join().unwrap();
}

/// Two are stopped; who stopped them leaves before they go on.
fn who_stopped_leaves(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let others = [0, 1].map(|_| {
        start(w, |mut me| {
            me.safepoint();
            me.touch();
            me.leave();
        })
    });
    me.safepoint();
    me.stop();
    me.leave();
    others.into_iter().for_each(|t| t.join().unwrap());
}

/// One is detached and reads; another comes, replaces what is read, and stops.
fn a_detached_reader(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let other = start(w, |mut me| {
        me.replace(1);
        me.stop();
        me.safepoint();
        me.replace(2);
        me.leave();
    });
    me.detached(read);
    me.touch();
    me.leave();
    other.join().unwrap();
}

/// One replaces what the other reads, and waits for a grace period; that one passes a safepoint, detaches, and leaves.
fn a_grace_period(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let other = start(w, |mut me| {
        read(&me.w);
        me.safepoint();
        read(&me.w);
        me.leave();
    });
    me.safepoint();
    me.replace(1);
    me.grace();
    me.safepoint();
    me.replace(2);
    me.leave();
    other.join().unwrap();
}

/// The other is detached for a while.
fn a_grace_period_and_a_detour(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let other = start(w, |mut me| {
        me.replace(1);
        me.grace();
        me.leave();
    });
    me.safepoint();
    me.detached(read);
    me.safepoint();
    read(w);
    me.leave();
    other.join().unwrap();
}

/// The other is quiescent until what it has read, which the first replaces, is freed.
fn a_grace_period_and_quiescence(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let freed = Arc::new(AtomicUsize::new(0));
    let told = freed.clone();
    let other = start(w, move |me| {
        read(&me.w);
        me.quiescent(|| {
            while told.load(Acquire) == 0 {
                thread::yield_now();
            }
        });
        read(&me.w);
        me.leave();
    });
    me.safepoint();
    me.replace(1);
    me.grace();
    freed.store(1, Release);
    me.leave();
    other.join().unwrap();
}

/// One is quiescent while the other stops it, which retires its nursery.
fn a_stop_and_quiescence(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let other = start(w, |mut me| {
        me.replace(1);
        me.stop();
        me.leave();
    });
    me.safepoint();
    me.quiescent(|| me.birth());
    me.safepoint();
    me.detached(read);
    me.quiescent(|| me.birth());
    me.leave();
    other.join().unwrap();
}

/// One replaces what a third reads, and waits for a grace period, beside what another one does: all lock from the beginning.
fn a_grace_period_beside(w: &Arc<World>, does: impl FnOnce(&mut Worker) + 'static) {
    let mut me = Worker::first(w);
    let seen = w.stop.reader_begins(&**w).unwrap();
    me.parallel = true;
    let other = start(w, |mut me| {
        does(&mut me);
        me.leave();
    });
    let third = start(w, |me| {
        read(&me.w);
        me.leave();
    });
    w.stop.reader_ends(&**w, seen);
    me.replace(1);
    me.grace();
    me.leave();
    other.join().unwrap();
    third.join().unwrap();
}

/// One was quiescent when it began, and passes a safepoint while a third reads.
fn a_grace_period_after_quiescence(w: &Arc<World>) {
    a_grace_period_beside(w, |me| {
        me.quiescent(|| ());
        me.safepoint();
    });
}

/// Two begin one, beside a third that reads.
fn two_grace_periods(w: &Arc<World>) {
    a_grace_period_beside(w, Worker::grace);
}

/// One stops the other, which is behind then.
fn a_grace_period_and_a_stop(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let other = start(w, |mut me| {
        read(&me.w);
        me.safepoint();
        me.stop();
        read(&me.w);
        me.leave();
    });
    me.safepoint();
    me.replace(1);
    me.grace();
    me.leave();
    other.join().unwrap();
}

/// One stops while the other detaches, instead of passing a safepoint.
fn a_stop_and_a_detour(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let other = start(w, |mut me| {
        me.stop();
        me.leave();
    });
    me.safepoint();
    me.detached(|_| ());
    me.leave();
    other.join().unwrap();
}

/// One makes private cells, with a safepoint between them, while the other stops it and retires its nursery.
fn a_nursery(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let other = start(w, |mut me| {
        me.birth();
        me.safepoint();
        me.birth();
        me.leave();
    });
    me.birth();
    me.safepoint();
    me.stop();
    me.birth();
    me.leave();
    other.join().unwrap();
}

/// The nursery of one that is detached retires, and it comes back to another.
fn a_nursery_left_behind(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let other = start(w, |mut me| {
        me.birth();
        me.stop();
        me.leave();
    });
    me.birth();
    me.detached(|_| thread::yield_now());
    me.birth();
    me.leave();
    other.join().unwrap();
}

/// The reader is a thread of its own; who it reads for goes on.
fn a_reader_aside(w: &Arc<World>) {
    let me = Worker::first(w);
    let seen = w.stop.reader_begins(&**w).unwrap();
    let aside = {
        let w = w.clone();
        thread::spawn(move || {
            read(&w);
            w.stop.reader_ends(&*w, seen);
        })
    };
    me.leave();
    let mut me = Worker::enter(w);
    me.replace(1);
    me.stop();
    me.safepoint();
    me.replace(2);
    me.leave();
    aside.join().unwrap();
}

/// One is inside the allocator, detached, while another forks.
fn a_fork(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let other = start(w, |mut me| {
        me.fork();
        me.leave();
    });
    for _ in 0..2 {
        me.detached(|w| w.allocator.hold());
        me.safepoint();
    }
    me.leave();
    other.join().unwrap();
}

/// One is back from long work and runs on until the other has forked.
fn a_fork_waits(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let forked = Arc::new(AtomicUsize::new(0));
    let told = forked.clone();
    let other = start(w, move |mut me| {
        me.fork();
        told.store(1, Release);
        me.leave();
    });
    me.detached(|w| w.allocator.hold());
    me.run_until(&forked);
    me.leave();
    other.join().unwrap();
}

/// Two fork at once.
fn two_forks(w: &Arc<World>) {
    let mut me = Worker::first(w);
    let other = start(w, |mut me| {
        me.fork();
        me.leave();
    });
    me.safepoint();
    me.fork();
    me.leave();
    other.join().unwrap();
}

/// The first ends the runtime: the others leave, whoever of them looks first, one of them from a stop of its own.
fn an_end(w: &Arc<World>) {
    let other = |stops: bool| {
        start(w, move |mut me| {
            if stops {
                me.stop();
            }
            loop {
                me.safepoint();
                if me.w.stop.is_asked() && me.w.stop.is_ending() {
                    break;
                }
                thread::yield_now();
            }
            me.leave();
        })
    };
    let mut me = Worker::first(w);
    let others = [other(true), other(false)];
    me.safepoint();
    w.stop.end_all(&**w);
    me.leave();
    others.into_iter().for_each(|o| o.join().unwrap());
    w.shared.set(0);
}

macro_rules! hold {
    ($($name:ident: $model:ident $bound:expr;)*) => { $(
        #[test]
        fn $name() {
            check("", $bound, $model);
        }
    )* };
}
hold! {
    a_second_worker_begins_when_the_first_has_agreed: a_second_worker 3;
    a_second_worker_begins_beside_the_first: a_second_worker_gets_in 3;
    who_pauses_is_back_without_the_other_s_safepoint: one_is_back 3;
    who_stays_away_leaves_the_other_alone: one_stays_away 3;
    a_stop_knows_who_pauses: a_pause_and_a_stop 3;
    a_stop_has_the_runtime_to_itself: two_and_a_stop 3;
    who_stands_goes_on_after_the_stop: who_stands_goes_on 3;
    who_detaches_is_not_waited_for: a_stop_and_a_detour 3;
    a_fork_goes_on_when_who_was_detached_is_back: a_fork_waits 3;
    who_comes_waits_for_the_end_of_a_stop: one_comes 3;
    who_goes_on_after_a_stop_locks_as_long_as_others_do: who_stopped_leaves 2;
    nothing_is_freed_under_a_detached_worker: a_detached_reader 3;
    nothing_is_freed_under_a_reader_aside: a_reader_aside 3;
    a_fork_finds_nobody_in_the_allocator_and_all_go_on_after_it: a_fork 3;
    two_forks_wait_for_each_other: two_forks 2;
    a_grace_period_ends_when_the_others_have_been_at_a_safepoint: a_grace_period 3;
    a_grace_period_knows_who_is_detached: a_grace_period_and_a_detour 3;
    a_grace_period_does_not_wait_for_who_is_quiescent: a_grace_period_and_quiescence 3;
    a_stop_waits_for_who_is_quiescent: a_stop_and_quiescence 3;
    a_grace_period_knows_who_was_quiescent: a_grace_period_after_quiescence 4;
    a_grace_period_comes_after_another: two_grace_periods 3;
    a_stop_ends_a_grace_period: a_grace_period_and_a_stop 2;
    a_nursery_retires_while_its_worker_stands_still: a_nursery 3;
    a_nursery_retires_while_its_worker_is_away: a_nursery_left_behind 3;
    all_leave_when_the_runtime_ends: an_end 1;
}
macro_rules! fail {
    ($($name:ident: $model:ident $bound:expr, $rule:expr;)*) => { $(
        #[test]
        #[should_panic]
        fn $name() {
            check($rule, $bound, $model);
        }
    )* };
}
fail! {
    without_agreement_two_run_unlocked: a_second_worker 3, "who is alone agrees";
    untold_of_one_that_leaves_a_worker_waits_for_ever: a_second_worker 3, "who leaves tells";
    with_those_who_linger_forgotten_one_waits_for_a_safepoint: one_is_back 3, "who lingers is somebody";
    untold_of_one_that_pauses_a_stop_waits_for_ever: a_pause_and_a_stop 3, "who pauses tells";
    a_sleeper_nobody_counts_is_not_told: a_second_worker 3, "who sleeps is counted";
    a_stop_that_waits_for_nobody_is_not_alone: two_and_a_stop 3, "a stop waits for who is active";
    two_stops_at_a_time_are_not_alone: two_and_a_stop 3, "one stop at a time";
    a_worker_that_enters_a_stop_is_beside_it: one_comes 3, "nobody enters a stop";
    untold_of_the_end_of_a_stop_a_worker_stands_for_ever: who_stands_goes_on 3, "the end of a stop is told";
    with_those_who_wait_forgotten_no_second_worker_begins: a_second_worker_gets_in 3, "who joins is somebody";
    alone_beside_a_detached_worker_one_frees_what_it_reads: a_detached_reader 3, "beside who is detached all lock";
    with_the_detached_forgotten_one_frees_what_they_read: a_detached_reader 3, "who is detached is somebody";
    a_detached_worker_nobody_knows_reads_what_is_freed: a_detached_reader 3, "a reader is known";
    a_detached_worker_that_comes_back_during_a_stop_is_beside_it: a_detached_reader 3, "nobody is back during a stop";
    untold_of_one_that_detaches_a_stop_waits_for_ever: a_stop_and_a_detour 3, "who detaches tells";
    a_grace_period_that_waits_for_nobody_frees_what_is_read: a_grace_period 3, "a grace period waits for who is active";
    a_grace_period_that_waits_for_the_detached_never_ends: a_grace_period_and_a_detour 3, "who detaches is not behind";
    a_grace_period_that_knows_no_reader_frees_what_it_reads: a_grace_period_and_a_detour 3, "a reader is known";
    a_grace_period_that_waits_for_the_quiescent_never_ends: a_grace_period_and_quiescence 3, "nobody waits for who is quiescent";
    a_grace_period_that_waited_before_quiescence_never_ends: a_grace_period_and_quiescence 3, "who is quiescent is not behind";
    a_stop_that_waits_for_nobody_finds_a_quiescent_one_s_nursery_in_use: a_stop_and_quiescence 3, "a stop waits for who is active";
    counted_for_who_was_quiescent_one_frees_what_another_reads: a_grace_period_after_quiescence 4, "who was quiescent has passed";
    two_grace_periods_at_a_time_free_what_is_read: two_grace_periods 3, "one grace period at a time";
    a_reader_aside_nobody_knows_reads_what_is_freed: a_reader_aside 3, "a reader is known";
    with_a_reader_aside_forgotten_one_frees_what_it_reads: a_reader_aside 3, "who is detached is somebody";
    a_fork_that_does_not_wait_finds_the_allocator_taken: a_fork 3, "a fork waits for who is detached";
    who_detaches_before_a_fork_is_in_the_allocator: a_fork 3, "nobody detaches before a fork";
    untold_of_one_that_is_back_a_fork_waits_for_ever: a_fork_waits 3, "who is back tells a fork";
    a_stop_that_waits_for_nobody_retires_a_nursery_in_use: a_nursery 3, "a stop waits for who is active";
    back_during_a_stop_one_is_in_a_nursery_that_retires: a_nursery_left_behind 3, "nobody is back during a stop";
    asked_once_of_the_end_a_worker_goes_on_for_ever: an_end 1, "who ends it goes on asking";
}
