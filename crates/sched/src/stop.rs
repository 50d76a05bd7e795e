//! The stop, at which one worker has the runtime to itself, and who may do what beside it.
//!
//! **Invariant.** A worker is *active* while it runs bytecode or natives, and calls [`Stop::pass`] between bytecodes whenever
//! [`Stop::is_asked`]; it is *detached* while it does long work that only reads, and idle otherwise. A stop waits for the active
//! ones only. While `stopping` is set nobody becomes active, neither an idle worker nor a detached one whose work is done.
//!
//! `parallel` is true whenever two workers are active: the one that ran alone agrees at its next safepoint before the second
//! begins, since it locked nothing until then. It is true also while anybody is detached, be nobody active or one: who runs
//! alone moves elements in place and frees buffers at once, under a detached reader's feet. A worker detaches at a safepoint,
//! where it may agree for itself; when it is back and alone, it runs alone again.
//!
//! A worker that has nothing to do *lingers* for a moment ([`Stop::pause`]): `parallel` stays as it is, since the other one may be in a native
//! when this one has work again, and would agree only after it.
//!
//! A *grace period* ([`Stop::begin_grace`]) is over when each worker that was active at its beginning has been at a safepoint, has
//! left, is detached or quiescent: nobody has to wait for it, and what was replaced before is looked at by no active worker after it.
//!
//! An active worker is *quiescent* ([`Stop::begin_quiescence`]) while it looks at nothing that another one can replace. That is no safepoint: a
//! stop waits for it.
//!
//! A fork waits until nobody is detached, and nobody detaches until it is over, since the child has no thread to end that work
//! with, nor to drop the allocator's locks it may hold.
//!
//! The state's lock is held only for these changes; nothing is taken under it but the heap's list of readers
//! ([`Surroundings::reader_begins`]). What was written before a worker was stopped, left or detached is seen by who stops the
//! others, and what that one writes by all who go on: the lock orders both.
//!
//! `tests/loom_stop.rs` runs this file in every interleaving, and once more without each rule that a [`kept`] names.

use super::sync::{AtomicBool, AtomicUsize, Condvar, LOOKS, Mutex, MutexGuard, Ordering::*, kept, lock, look_again, wait_on};

/// What a stop must do of the runtime around it.
pub trait Surroundings {
    /// Has every worker look around at its next safepoint.
    fn poll_all(&self);
    /// Threads that get a core at once.
    fn cores(&self) -> usize;
    /// The calling worker is stopped as long as `stays` says, and may help who stopped it. It may come back sooner.
    fn help(&self, stays: &dyn Fn() -> bool);
    /// Others wait for the workers to be stopped, or do so no more.
    fn hurry(&self, on: bool);
    /// Somebody reads cells beside the stops from now on; the number goes to [`reader_ends`](Self::reader_ends).
    fn reader_begins(&self) -> u64;
    /// It has come to its end.
    fn reader_ends(&self, seen: u64);
    /// The number of a grace period, of which who reads beside the stops from now on counts as having begun after it.
    fn grace_begins(&self) -> u64;
    /// The last grace period that the calling worker has passed.
    fn passed(&self) -> u64;
    /// That is this one now.
    fn set_passed(&self, grace: u64);
}

/// Who runs beside whom, and the stops at which one worker is alone. See the head of the file. A lock of the system's own: threads that wait here when the process forks are nowhere in the
/// child but in this structure, which it makes anew.
pub struct Stop {
    state: Mutex<State>,
    changed: Condvar,
    /// Times that somebody was told of a change.
    changes: AtomicUsize,
    /// Is one worker alone with the runtime? As `State::stopping`, for those that look without the lock.
    stopping: AtomicBool,
    /// Something is asked of active workers.
    asked: AtomicBool,
    /// Active workers are to be at a safepoint, whenever that is. Set while some are `behind`.
    grace: AtomicBool,
    /// All workers are to leave for good. Set once, under the state's lock.
    ending: AtomicBool,
}

struct State {
    active: usize,
    /// Workers that do a long native's work.
    detached: usize,
    /// Workers that wait to fork: nobody detaches.
    forking: usize,
    stopping: bool,
    /// Workers lock what they share.
    parallel: bool,
    /// A second worker waits for the first to agree to that.
    want_parallel: bool,
    /// Threads that sleep until something changes: nobody else is told.
    sleeping: usize,
    /// Workers that wait to become active, or to go on after a stop: what was agreed to holds until they are.
    joining: usize,
    /// Idle workers that will be back in a moment, as a rule: until then as well.
    lingering: usize,
    /// The last grace period.
    grace: u64,
    /// Active workers that have been at no safepoint since it began, nor were quiescent.
    behind: usize,
    /// Active workers for which no grace period waits.
    quiescent: usize,
}

impl State {
    /// Are there more workers than cores, of those that run or are about to?
    fn are_more_than(&self, cores: usize) -> bool {
        self.active + self.joining + self.detached > cores
    }
    /// May an only active worker lock nothing?
    fn nobody_else(&self) -> bool {
        (self.joining == 0 || !kept("who joins is somebody"))
            && (self.detached == 0 || !kept("who is detached is somebody"))
            && (self.lingering == 0 || !kept("who lingers is somebody"))
    }
}

impl Default for Stop {
    /// With one active worker, which is alone: the one that boots the runtime.
    fn default() -> Self {
        let s = State {
            active: 1,
            detached: 0,
            forking: 0,
            stopping: false,
            parallel: false,
            want_parallel: false,
            sleeping: 0,
            joining: 0,
            lingering: 0,
            grace: 0,
            behind: 0,
            quiescent: 0,
        };
        Stop {
            state: Mutex::new(s),
            changed: Condvar::new(),
            changes: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
            asked: AtomicBool::new(false),
            grace: AtomicBool::new(false),
            ending: AtomicBool::new(false),
        }
    }
}

impl Stop {
    /// Is an active worker to call [`pass`](Self::pass) at its next safepoint?
    #[inline(always)]
    pub fn is_asked(&self) -> bool {
        self.is_waited_for() || self.grace.load(Acquire)
    }
    /// Does somebody wait for that?
    #[inline(always)]
    pub fn is_waited_for(&self) -> bool {
        self.asked.load(Acquire)
    }
    /// At a stop: are there workers that will go on, or do long work, but for the one that stopped them?
    pub fn others_run(&self) -> bool {
        let s = lock(&self.state);
        s.joining + s.detached > 0
    }
    /// Does anybody run, or do long work?
    pub fn some_run(&self) -> bool {
        let s = lock(&self.state);
        s.active + s.detached > 0
    }

    // --- waiting ----------------------------------------------------------------------------------

    fn tell(&self, s: &State) {
        self.changes.fetch_add(1, Release);
        if s.sleeping > 0 {
            self.changed.notify_all();
        }
    }
    fn until_changed<'a>(&self, mut s: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        if kept("who sleeps is counted") {
            s.sleeping += 1;
        }
        s = wait_on(&self.changed, s, u64::MAX).0;
        s.sleeping = s.sleeping.saturating_sub(1);
        s
    }
    /// [`until_changed`](Self::until_changed) where that is likely to be soon: a sleeping thread is some 50 microseconds late,
    /// and may find its core taken. Where there are fewer `cores` than workers, somebody else may need this one's.
    fn until_changed_soon<'a>(&'a self, cores: usize, s: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        if s.are_more_than(cores) {
            return self.until_changed(s);
        }
        let changes = self.changes.load(Relaxed);
        drop(s);
        for _ in 0..LOOKS {
            if self.changes.load(Acquire) != changes {
                return lock(&self.state);
            }
            look_again();
        }
        let s = lock(&self.state);
        if self.changes.load(Relaxed) != changes { s } else { self.until_changed(s) }
    }
    /// Waits until the stop is over, and helps meanwhile who stopped the others.
    fn stand<'a>(&'a self, o: &impl Surroundings, mut s: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        if !s.are_more_than(o.cores()) {
            drop(s);
            o.help(&|| self.stopping.load(Acquire));
            s = lock(&self.state);
        }
        while s.stopping {
            s = self.until_changed(s);
        }
        s
    }
    /// Asks every active worker to [`pass`](Self::pass).
    fn ask(&self, o: &impl Surroundings) {
        self.asked.store(true, Release);
        o.poll_all();
    }

    // --- grace periods ----------------------------------------------------------------------------

    /// An active worker is at a safepoint, or about to be quiescent.
    fn passes(&self, s: &mut State, o: &impl Surroundings) {
        if o.passed() != s.grace {
            o.set_passed(s.grace);
            s.behind = s.behind.saturating_sub(1);
            if s.behind == 0 {
                self.grace.store(false, Release);
                // Who began it frees what it waits with.
                o.poll_all();
            }
        }
    }
    /// An active worker, at a safepoint or quiescent until now, begins a grace period: its number. `None`: another one lasts.
    pub fn begin_grace(&self, o: &impl Surroundings) -> Option<u64> {
        let mut s = lock(&self.state);
        self.passes(&mut s, o);
        if s.behind > 0 && kept("one grace period at a time") {
            return None;
        }
        s.grace = o.grace_begins();
        o.set_passed(s.grace);
        s.behind = if kept("a grace period waits for who is active") { s.active - 1 - s.quiescent } else { 0 };
        if s.behind > 0 {
            self.grace.store(true, Release);
            o.poll_all();
        }
        Some(s.grace)
    }
    /// An active worker looks at nothing any more that another one can replace: neither at what it has looked at so far nor, until
    /// [`end_quiescence`](Self::end_quiescence), at anything else.
    pub fn begin_quiescence(&self, o: &impl Surroundings) {
        let mut s = lock(&self.state);
        if kept("who is quiescent is not behind") {
            self.passes(&mut s, o);
        }
        if kept("nobody waits for who is quiescent") {
            s.quiescent += 1;
        }
    }
    /// It may do so again. Grace periods that began meanwhile did not count it.
    pub fn end_quiescence(&self, o: &impl Surroundings) {
        let mut s = lock(&self.state);
        s.quiescent = s.quiescent.saturating_sub(1);
        if kept("who was quiescent has passed") {
            o.set_passed(s.grace);
        }
    }
    /// Is that one over?
    pub fn is_over(&self, grace: u64) -> bool {
        let s = lock(&self.state);
        s.grace != grace || s.behind == 0
    }

    // --- workers ----------------------------------------------------------------------------------

    /// An active worker does what was asked, at a safepoint: it is stopped while another stops the world. Whether it runs in parallel mode from here on.
    #[cold]
    pub fn pass(&self, o: &impl Surroundings) -> bool {
        let mut s = lock(&self.state);
        self.passes(&mut s, o);
        loop {
            if s.want_parallel {
                s.want_parallel = false;
                s.parallel = true;
                self.tell(&s);
            } else if s.stopping {
                s.active -= 1;
                s.joining += 1;
                self.tell(&s);
                s = self.stand(o, s);
                s.joining -= 1;
                s.active += 1;
                o.set_passed(s.grace);
            } else {
                break;
            }
        }
        if s.active == 1 && s.nobody_else() {
            s.parallel = false;
        }
        // Of a worker that is to leave it is asked until it does.
        self.asked.store(self.ending.load(Relaxed) && kept("who ends it goes on asking"), Release);
        s.parallel
    }
    /// An idle worker becomes active. Whether it runs in parallel mode.
    pub fn enter(&self, o: &impl Surroundings) -> bool {
        self.join(o, lock(&self.state))
    }
    fn join<'a>(&'a self, o: &impl Surroundings, mut s: MutexGuard<'a, State>) -> bool {
        s.joining += 1;
        loop {
            if s.stopping && kept("nobody enters a stop") {
                s = self.stand(o, s);
            } else if s.active > 0 && !s.parallel && kept("who is alone agrees") {
                s.want_parallel = true;
                self.ask(o);
                s = self.until_changed_soon(o.cores(), s);
            } else {
                break;
            }
        }
        s.joining -= 1;
        if s.active == 0 && s.nobody_else() {
            s.parallel = false;
        }
        s.active += 1;
        o.set_passed(s.grace);
        s.parallel
    }
    /// An active worker becomes idle, for a moment as a rule. True: it lingers, until it [is back](Self::come_back) or
    /// [stays away](Self::stay_away). False: it has [left](Self::leave), for nobody locks anything.
    pub fn pause(&self, o: &impl Surroundings) -> bool {
        let mut s = lock(&self.state);
        if !s.parallel {
            drop(s);
            self.leave(o);
            return false;
        }
        self.passes(&mut s, o);
        s.active -= 1;
        s.lingering += 1;
        if kept("who pauses tells") {
            self.tell(&s);
        }
        true
    }
    /// A worker that lingers becomes active, as by [`enter`](Self::enter).
    pub fn come_back(&self, o: &impl Surroundings) -> bool {
        let mut s = lock(&self.state);
        s.lingering -= 1;
        self.join(o, s)
    }
    /// A worker that lingers has nothing to do for longer: it is as if it had [left](Self::leave).
    pub fn stay_away(&self, o: &impl Surroundings) {
        let mut s = lock(&self.state);
        s.lingering -= 1;
        self.few_are_left(&mut s, o);
    }
    /// Of those that ran or lingered there is one less.
    fn few_are_left(&self, s: &mut State, o: &impl Surroundings) {
        if s.active == 0 && s.nobody_else() {
            s.want_parallel = false;
            s.parallel = false;
        } else if s.active == 1 && s.nobody_else() && s.parallel {
            // The one that is left may stop locking; if it has the others stopped, then after that.
            self.ask(o);
        }
    }
    /// An active worker becomes idle.
    pub fn leave(&self, o: &impl Surroundings) {
        let mut s = lock(&self.state);
        self.passes(&mut s, o);
        s.active -= 1;
        self.few_are_left(&mut s, o);
        if kept("who leaves tells") {
            self.tell(&s);
        }
    }

    // --- long work --------------------------------------------------------------------------------

    /// An active worker detaches, at a safepoint; the number goes to [`attach`](Self::attach). `None`: a fork is to come, it does its
    /// work as it is.
    pub fn detach(&self, o: &impl Surroundings) -> Option<u64> {
        let mut s = lock(&self.state);
        if s.forking > 0 && kept("nobody detaches before a fork") {
            return None;
        }
        if kept("who detaches is not behind") {
            self.passes(&mut s, o);
        }
        s.active -= 1;
        s.detached += 1;
        if kept("beside who is detached all lock") {
            s.parallel = true;
        }
        let waited_for = s.stopping || s.want_parallel;
        s.want_parallel = false;
        let seen = o.reader_begins();
        if waited_for && kept("who detaches tells") {
            self.tell(&s);
        }
        Some(seen)
    }
    /// The work of a detached worker is done: it is active again. Whether in parallel mode.
    pub fn attach(&self, o: &impl Surroundings, seen: u64) -> bool {
        let mut s = lock(&self.state);
        if s.stopping && kept("nobody is back during a stop") {
            s = self.stand(o, s);
        }
        s.detached -= 1;
        s.active += 1;
        o.set_passed(s.grace);
        o.reader_ends(seen);
        if s.active == 1 && s.nobody_else() {
            s.parallel = false;
        }
        if s.forking > 0 && kept("who is back tells a fork") {
            self.tell(&s);
        }
        s.parallel
    }
    /// Somebody will read cells beside an active worker, which goes on, in parallel mode; the number goes to
    /// [`reader_ends`](Self::reader_ends). At a safepoint. `None`: a fork is to come.
    pub fn reader_begins(&self, o: &impl Surroundings) -> Option<u64> {
        let mut s = lock(&self.state);
        if s.forking > 0 && kept("nobody detaches before a fork") {
            return None;
        }
        s.detached += 1;
        if kept("beside who is detached all lock") {
            s.parallel = true;
        }
        if std::mem::take(&mut s.want_parallel) {
            self.tell(&s);
        }
        Some(o.reader_begins())
    }
    /// The end of what began with [`reader_begins`](Self::reader_begins), on whatever thread.
    pub fn reader_ends(&self, o: &impl Surroundings, seen: u64) {
        let mut s = lock(&self.state);
        while s.stopping && kept("nobody is back during a stop") {
            s = self.until_changed(s);
        }
        s.detached -= 1;
        o.reader_ends(seen);
        if s.nobody_else() && s.active <= 1 {
            if s.active == 0 {
                s.parallel = false;
            } else {
                // The one that runs may stop locking.
                self.ask(o);
            }
        }
        self.tell(&s);
    }

    // --- stops ------------------------------------------------------------------------------------

    /// An active worker, at a safepoint, stops all others: how many are detached meanwhile. `None`: another one has begun a stop, which
    /// is to be [passed](Self::pass).
    pub fn begin(&self, o: &impl Surroundings) -> Option<usize> {
        let mut s = lock(&self.state);
        if s.stopping && kept("one stop at a time") {
            return None;
        }
        self.passes(&mut s, o);
        s.stopping = true;
        self.stopping.store(true, Release);
        if s.active > 1 {
            self.ask(o);
            o.hurry(true);
            while s.active > 1 && kept("a stop waits for who is active") {
                s = self.until_changed_soon(o.cores(), s);
            }
            o.hurry(false);
        }
        Some(s.detached)
    }
    /// The stop is over.
    pub fn end(&self) {
        let mut s = lock(&self.state);
        s.stopping = false;
        self.stopping.store(false, Release);
        if kept("the end of a stop is told") {
            self.tell(&s);
        }
    }

    // --- the end ----------------------------------------------------------------------------------

    /// Asks all workers to leave for good: whoever finds [`is_ending`](Self::is_ending) at its next safepoint [leaves](Self::leave) and
    /// does not come back. So does the asking one, who then waits for their threads. Idle ones must be woken.
    pub fn end_all(&self, o: &impl Surroundings) {
        let s = lock(&self.state);
        self.ending.store(true, Release);
        self.ask(o);
        self.tell(&s);
    }
    /// Is the runtime about to end?
    #[inline]
    pub fn is_ending(&self) -> bool {
        self.ending.load(Acquire)
    }

    // --- forks ------------------------------------------------------------------------------------

    /// An active worker, at a safepoint, waits until nobody is detached; it stays so until [`forked`](Self::forked). A stop comes next.
    pub fn before_fork(&self, o: &impl Surroundings) {
        let mut s = lock(&self.state);
        self.passes(&mut s, o);
        s.forking += 1;
        if s.detached > 0 {
            s.active -= 1;
            s.joining += 1;
            self.tell(&s);
            while s.detached > 0 && kept("a fork waits for who is detached") || s.stopping {
                s = self.until_changed(s);
            }
            s.joining -= 1;
            s.active += 1;
            o.set_passed(s.grace);
        }
    }
    /// The process has forked, in the parent, or will not.
    pub fn forked(&self) {
        lock(&self.state).forking -= 1;
    }
}
