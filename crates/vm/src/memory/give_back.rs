//! Freed memory goes back to the system: when, and on whose time.
//!
//! The process's allocator keeps what is freed until it is told to let go of it, which takes 5 to 25 milliseconds after a
//! full collection of 200 MB: a system call for each piece, and a thread in them passes no safepoint. So no active worker
//! does that. A thread of the pool does while a worker has nothing to do, so that there is a core for it; else a worker
//! detaches for it ([`Cx::while_detached`]), and stops go on without.
//!
//! It comes a second after the last time at the soonest, with a node collection or when a worker finds nothing to run; at once
//! when the program asks (`GC.start`), and when a worker has swept much while none has anything to run, or is about to. While another one runs it would give
//! back what that one is about to use ([0011](../../../../docs/decisions/0011-sweeping-and-giving-back.md)). Where half of what went back has come
//! again by the next time, the program needs it: while it runs that one waits twice as long ([`Worth`]).
//!
//! Invariant: nobody is in the allocator's giving back when the process forks: what it has taken apart meanwhile would be
//! the child's for ever. A fork waits for a thread that is at it, and lets none begin; one that waits for its turn on the
//! pool finds that it is not wanted any more.

use crate::Cx;
use kumi_sched::now_ns;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// The shortest time between two.
const LEAST_NS: u64 = 1_000_000_000;
/// The longest, while the program runs.
const MOST_NS: u64 = 16 * LEAST_NS;
/// Bytes that are worth it.
const MUCH: usize = 1 << 20;

/// See the module.
#[derive(Default)]
pub(crate) struct GiveBack {
    /// How it is done: the command knows its allocator.
    with: Option<fn()>,
    /// Bytes of large pieces that the allocator has been given back so far.
    large: Option<fn() -> usize>,
    /// What that was when it was last done.
    large_then: AtomicUsize,
    /// Other bytes freed since, as far as anybody told.
    freed: AtomicUsize,
    /// When it was last begun.
    last: AtomicU64,
    /// At the next safepoint, however short ago it was.
    asked: AtomicBool,
    worth: Arc<Worth>,
    on_pool: Arc<OnPool>,
}

/// What the last time has brought. A program whose memory goes up and down has each page faulted in anew that went back too soon.
#[derive(Default)]
struct Worth {
    /// Resident bytes before it and after.
    before: AtomicUsize,
    after: AtomicUsize,
    /// Nanoseconds beyond [`LEAST_NS`] that the next one waits while the program runs.
    more: AtomicU64,
}

impl Worth {
    fn give(&self, f: fn()) {
        let before = kumi_budget::resident();
        f();
        self.note(before, kumi_budget::resident());
    }
    fn note(&self, before: usize, after: usize) {
        self.before.store(before, Relaxed);
        self.after.store(after, Relaxed);
    }
    /// How long the next one waits, where so many bytes are resident now.
    fn wait(&self) -> u64 {
        LEAST_NS + self.more.load(Relaxed)
    }
    /// It would be time: was the last one worth it? Otherwise it waits longer.
    fn judge(&self, now: usize) {
        let after = self.after.load(Relaxed);
        let (gone, come) = (self.before.load(Relaxed).saturating_sub(after), now.saturating_sub(after));
        let more = if gone >= MUCH && come >= gone / 2 { (self.wait() * 2).min(MOST_NS) - LEAST_NS } else { 0 };
        self.more.store(more, Relaxed);
    }
}

/// What a thread of the pool is at.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Pool {
    #[default]
    Nothing,
    /// It has not begun.
    Queued,
    Busy,
    /// The process forks: none may begin.
    Held,
}

#[derive(Default)]
struct OnPool {
    state: Mutex<Pool>,
    changed: Condvar,
}

impl OnPool {
    fn lock(&self) -> MutexGuard<'_, Pool> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// From one state to another; false: it is in none of that kind.
    fn turn(&self, from: Pool, to: Pool) -> bool {
        let mut s = self.lock();
        let is = *s == from;
        if is {
            *s = to;
            self.changed.notify_all();
        }
        is
    }
    /// On the pool's thread.
    fn work(&self, f: impl FnOnce()) {
        if self.turn(Pool::Queued, Pool::Busy) {
            f();
            self.turn(Pool::Busy, Pool::Nothing);
        }
    }
}

impl GiveBack {
    /// Is there something to give back, though it may not be time?
    pub fn waits(&self) -> bool {
        let large = self.large.map_or(0, |f| f().wrapping_sub(self.large_then.load(Relaxed)));
        self.with.is_some() && self.freed.load(Relaxed).saturating_add(large) >= MUCH
    }
    /// If it is time, or would be with `more` bytes that the caller has: it is the one to do it. `busy` says whether somebody runs.
    fn begin_in_time(&self, more: usize, busy: impl FnOnce() -> bool) -> bool {
        let (now, last) = (now_ns(), self.last.load(Relaxed));
        let mine = (self.waits() || more >= MUCH && self.with.is_some())
            && now >= last + LEAST_NS
            && (!busy() || self.is_worth_it(now.saturating_sub(last)))
            && self.last.compare_exchange(last, now, Relaxed, Relaxed).is_ok();
        if mine {
            self.begin();
        }
        mine
    }
    /// So long after the last one.
    fn is_worth_it(&self, since: u64) -> bool {
        if since >= self.worth.wait() {
            self.worth.judge(kumi_budget::resident());
        }
        since >= self.worth.wait()
    }
    #[inline]
    pub fn is_asked(&self) -> bool {
        self.asked.load(Relaxed)
    }
    fn begin(&self) {
        self.asked.store(false, Relaxed);
        self.freed.store(0, Relaxed);
        self.large_then.store(self.large.map_or(0, |f| f()), Relaxed);
        self.last.store(now_ns(), Relaxed);
    }
    /// On a thread that is no worker's: what it has freed, which the allocator else keeps for it until it ends. While a process cannot fork.
    pub(crate) fn give_own(&self) {
        if let Some(f) = self.with {
            f();
        }
    }
    /// At a stop: the process is about to fork.
    pub fn hold(&self) {
        let mut s = self.on_pool.lock();
        while *s == Pool::Busy {
            s = self.on_pool.changed.wait(s).unwrap_or_else(PoisonError::into_inner);
        }
        *s = Pool::Held;
    }
    /// It has.
    pub fn held(&self) {
        self.on_pool.turn(Pool::Held, Pool::Nothing);
    }
    /// The child has no pool.
    pub fn after_fork(&mut self) {
        self.on_pool = Arc::default();
    }
}

impl Cx {
    /// How freed memory goes back to the system: `f` may be called on any thread, and takes its time. `large` tells how many
    /// bytes of large pieces were freed so far, for these are freed anywhere.
    pub fn give_back_with(&mut self, f: fn(), large: Option<fn() -> usize>) {
        let g = &mut self.boot().give_back;
        (g.with, g.large) = (Some(f), large);
        g.begin();
    }
    /// So many bytes were freed that may go back to the system.
    pub fn freed(&self, bytes: usize) {
        self.give_back.freed.fetch_add(bytes, Relaxed);
    }
    /// So many bytes were freed by a worker that has nothing else to do: it gives them back at once, if that is worth it and all others have
    /// nothing to do either.
    pub(crate) fn freed_idle(&mut self, bytes: usize) {
        self.freed(bytes);
        if bytes >= MUCH && !self.is_busy() {
            self.give_back_here();
        }
    }
    /// What is free goes back at the next safepoint.
    pub fn give_back_soon(&mut self) {
        self.give_back.asked.store(true, Relaxed);
        self.heap.poll.store(true, Relaxed);
    }
    /// After a node collection, at a safepoint: if it is time.
    pub(crate) fn give_back_in_time(&mut self) {
        let due = self.give_back.begin_in_time(0, || true);
        // What the collection found dead is freed little by little: that is for the next time, or for an idle worker.
        self.freed(MUCH);
        let Some(f) = self.give_back.with.filter(|_| due) else { return };
        if self.sched_cell().get().is_some() && self.idle_workers() > 0 && self.give_back.on_pool.turn(Pool::Nothing, Pool::Queued) {
            let (on_pool, worth) = (self.give_back.on_pool.clone(), self.give_back.worth.clone());
            if self.spawn_job(move || on_pool.work(|| worth.give(f))) {
                return;
            }
            self.give_back.on_pool.turn(Pool::Queued, Pool::Nothing);
        }
        self.give_back_by(f);
    }
    fn give_back_by(&mut self, f: fn()) {
        let worth = self.give_back.worth.clone();
        let _ = self.while_detached(|| worth.give(f));
    }
    /// Does another worker run, or is one about to? Between two threads of which one wakes the other all may be in their waits, while the program is
    /// at work.
    fn is_busy(&self) -> bool {
        self.idle_workers() + 1 < self.wanted_workers() || self.sched_cell().get().is_some_and(|s| !s.nothing_begins())
    }
    /// With nothing to run. True when it took a while.
    pub(crate) fn give_back_idle(&mut self) -> bool {
        let now = self.give_back.begin_in_time(self.heap.spare_bytes(), || self.is_busy());
        if now {
            self.heap.free_spares();
        }
        if let Some(f) = self.give_back.with.filter(|_| now) {
            self.give_back_by(f);
        }
        now
    }
    /// At a safepoint, beside all others.
    #[cold]
    pub(crate) fn give_back_here(&mut self) {
        self.heap.free_spares();
        self.give_back.begin();
        if let Some(f) = self.give_back.with {
            self.give_back_by(f);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static CALLS: AtomicUsize = AtomicUsize::new(0);
    static LARGE: AtomicUsize = AtomicUsize::new(100);

    fn give() {
        CALLS.fetch_add(1, Relaxed);
    }

    #[test]
    fn comes_when_there_is_something_and_it_is_time() {
        let mut cx = Cx::new(Default::default());
        cx.give_back_with(give, Some(|| LARGE.load(Relaxed)));
        cx.freed(MUCH);
        assert!(cx.give_back.waits() && !cx.give_back_idle(), "it is not time");
        cx.give_back.last.store(0, Relaxed);
        assert!(cx.give_back_idle() && CALLS.load(Relaxed) == 1);
        cx.give_back.last.store(0, Relaxed);
        cx.freed(MUCH - 1);
        assert!(!cx.give_back.waits() && !cx.give_back_idle(), "there is too little");
        LARGE.fetch_add(1, Relaxed);
        assert!(cx.give_back_idle() && CALLS.load(Relaxed) == 2, "large pieces count");
        cx.give_back_soon();
        assert!(cx.give_back.is_asked());
        cx.give_back_here();
        assert!(!cx.give_back.is_asked() && CALLS.load(Relaxed) == 3);
        cx.give_back_in_time();
        assert!(cx.give_back.waits() && CALLS.load(Relaxed) == 3, "what a collection found is for the next time");
    }

    #[test]
    fn what_comes_again_is_kept_longer() {
        let w = Worth::default();
        let seconds = |w: &Worth| w.wait() / LEAST_NS;
        w.judge(50 * MUCH);
        assert_eq!(seconds(&w), 1, "there was none yet");
        w.note(100 * MUCH, 60 * MUCH);
        w.judge(79 * MUCH);
        assert_eq!(seconds(&w), 1, "less than half has come again");
        for wanted in [2, 4, 8, 16, 16] {
            w.judge(80 * MUCH);
            assert_eq!(seconds(&w), wanted);
        }
        w.note(100 * MUCH, 60 * MUCH);
        w.judge(60 * MUCH);
        assert_eq!(seconds(&w), 1, "it is needed no more");
        w.note(MUCH, 1);
        w.judge(MUCH);
        assert_eq!(seconds(&w), 1, "that little is not looked at");
    }

    #[test]
    fn a_job_that_has_not_begun_does_not_keep_a_fork_waiting_and_does_nothing_afterwards() {
        static ON_POOL: AtomicUsize = AtomicUsize::new(0);
        fn count() {
            ON_POOL.fetch_add(1, Relaxed);
        }
        let g = GiveBack::default();
        assert!(g.on_pool.turn(Pool::Nothing, Pool::Queued));
        g.hold();
        g.on_pool.work(count);
        g.held();
        g.on_pool.work(count);
        assert_eq!(ON_POOL.load(Relaxed), 0);
        assert!(g.on_pool.turn(Pool::Nothing, Pool::Queued));
        g.on_pool.work(count);
        assert_eq!(ON_POOL.load(Relaxed), 1);
        assert!(*g.on_pool.lock() == Pool::Nothing);
    }
}
