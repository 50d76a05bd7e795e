//! Workers: OS threads that each run tasks with a [`Cx`] of their own, and the stop
//! at which one of them has the runtime to itself.
//!
//! **Invariant.** A worker is *active* while it runs bytecode or natives, and passes
//! [`Cx::stop_here`] between bytecodes whenever `asked` is set; it is *detached* while
//! it does a long native's work (`detach.rs`), and idle otherwise. An idle worker
//! touches nothing of the runtime, a detached one changes nothing of it: it reads
//! what its work owns, and cells that are kept alive for it. One that stands still at a
//! stop does nothing but what the collection gives it to mark. So a stop waits for the
//! active ones only. While `stopping` is set nobody becomes active, neither an idle
//! worker nor a detached one whose work is done.
//!
//! `parallel` is true whenever two workers are active: the one that ran alone agrees
//! at its next safepoint before the second begins, since it locked nothing until
//! then. It is true also while anybody is detached, be nobody active or one: who runs
//! alone moves elements in place and frees buffers at once, under a detached reader's
//! feet. A worker detaches at a safepoint, where it may agree for itself; when it is
//! back and alone, it runs alone again.
//!
//! What is kept until nobody reads it (`retire`) outlasts the stops during which somebody
//! is detached who may have seen it. A fork waits until nobody is, since the child has no thread
//! to end that work with, nor to drop the allocator's locks it may hold.
//!
//! The state's lock is held only for these changes; nothing is taken under it but the
//! heap's list of such readers.

use crate::Cx;
use crate::fault::{Fault, caught};
use crate::runtime::{Runtime, lock};
use crate::task::State;
use kumi_heap::HeapShared;
use kumi_sched::Sched;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering::*};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// See the module. A lock of the system's own: threads that wait here when the process forks are nowhere in the
/// child but in this structure, which it makes anew.
pub(crate) struct Stop {
    state: Mutex<StopState>,
    changed: Condvar,
    /// Times that somebody was told of a change.
    changes: AtomicUsize,
    /// Is one worker alone with the runtime? As `stopping`, for those that look without the lock.
    stopping: AtomicBool,
    /// Something is asked of active workers.
    asked: AtomicBool,
}

impl Stop {
    /// At a stop: are there workers that will go on, or do long work, but for the one that stopped them?
    pub(crate) fn others_run(&self) -> bool {
        let s = lock(&self.state);
        s.joining + s.detached > 0
    }
    fn end(&self) {
        let mut s = lock(&self.state);
        s.stopping = false;
        self.stopping.store(false, Release);
        self.tell(&s);
    }
    fn tell(&self, _: &StopState) {
        self.changes.fetch_add(1, Release);
        self.changed.notify_all();
    }
    fn until_changed<'a>(&self, s: MutexGuard<'a, StopState>) -> MutexGuard<'a, StopState> {
        self.changed.wait(s).unwrap_or_else(|e| e.into_inner())
    }
    /// [`until_changed`](Self::until_changed) where that is likely to be soon: a sleeping thread is some 50 microseconds late,
    /// and may find its core taken. Where there are fewer `cores` than workers, somebody else may need this one's.
    fn until_changed_soon<'a>(&'a self, cores: usize, s: MutexGuard<'a, StopState>) -> MutexGuard<'a, StopState> {
        if s.are_more_than(cores) {
            return self.until_changed(s);
        }
        let changes = self.changes.load(Relaxed);
        drop(s);
        for _ in 0..SPINS {
            if self.changes.load(Acquire) != changes {
                return lock(&self.state);
            }
            std::hint::spin_loop();
        }
        let s = lock(&self.state);
        if self.changes.load(Relaxed) != changes { s } else { self.until_changed(s) }
    }
    /// Waits until the stop is over, and helps meanwhile who stopped the others.
    fn stand<'a>(&'a self, heap: &HeapShared, mut s: MutexGuard<'a, StopState>) -> MutexGuard<'a, StopState> {
        if !s.are_more_than(heap.gc_threads()) {
            drop(s);
            heap.help(|| self.stopping.load(Acquire));
            s = lock(&self.state);
        }
        while s.stopping {
            s = self.until_changed(s);
        }
        s
    }
}

/// Looks before a worker that waits for others goes to sleep: 100 microseconds and more.
const SPINS: usize = 4000;

struct StopState {
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
    /// Workers that wait to become active, or to go on after a stop: what was agreed to holds until they are.
    joining: usize,
}

impl StopState {
    /// Are there more workers than cores, of those that run or are about to?
    fn are_more_than(&self, cores: usize) -> bool {
        self.active + self.joining + self.detached > cores
    }
    /// May an only active worker lock nothing?
    fn nobody_else(&self) -> bool {
        self.joining == 0 && self.detached == 0
    }
}

impl Default for Stop {
    fn default() -> Self {
        Stop {
            // The worker that boots the runtime.
            state: Mutex::new(StopState {
                active: 1,
                detached: 0,
                forking: 0,
                stopping: false,
                parallel: false,
                want_parallel: false,
                joining: 0,
            }),
            changed: Condvar::new(),
            changes: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
            asked: AtomicBool::new(false),
        }
    }
}

/// Where to find a worker.
#[derive(Clone, Copy)]
pub(crate) struct WorkerRef {
    pub cx: *mut Cx,
    pub poll: *const AtomicBool,
}
// SAFETY: workers are never dropped while the runtime lives; `poll` is atomic, `cx` is followed only at a stop.
unsafe impl Send for WorkerRef {}
// SAFETY: as above.
unsafe impl Sync for WorkerRef {}

/// A descriptor whose writing wakes the sleeping worker, for signal handlers; -1: none.
pub static WAKE_FD: AtomicI32 = AtomicI32::new(-1);

pub(crate) fn arm_signals(s: &Sched) {
    WAKE_FD.store(s.signal_fd(), Release);
}

impl Runtime {
    /// The end of what began with [`Cx::reader_aside_begins`], on whatever thread.
    pub(crate) fn reader_aside_ends(&self, heap: &HeapShared, seen: u64) {
        let mut s = lock(&self.stop.state);
        while s.stopping {
            s = self.stop.until_changed(s);
        }
        s.detached -= 1;
        heap.reader_ends(seen);
        if s.nobody_else() && s.active <= 1 {
            if s.active == 0 {
                s.parallel = false;
            } else {
                // The one that runs may stop locking.
                self.stop.asked.store(true, Release);
                self.poll_all();
            }
        }
        self.stop.tell(&s);
    }
    /// A tick of the clock: running workers look around; with none the clock stops.
    pub(crate) fn tick(&self) {
        let s = lock(&self.stop.state);
        let some = s.active + s.detached > 0;
        drop(s);
        if some {
            self.poll_all();
        } else if let Some(s) = self.sched.get() {
            s.ticker_on(false);
        }
    }
    /// Asks every worker to look around at its next safepoint.
    pub(crate) fn poll_all(&self) {
        for w in &self.workers {
            // SAFETY: see WorkerRef.
            unsafe { (*w.poll).store(true, Release) };
        }
    }
    pub(crate) fn poll_worker(&self, w: usize) {
        if let Some(w) = self.workers.get(w) {
            // SAFETY: see WorkerRef.
            unsafe { (*w.poll).store(true, Release) };
        }
    }
}

impl Cx {
    /// Does another worker want something of this one at its next safepoint? For natives that can come there in between.
    pub fn others_wait(&self) -> bool {
        self.stop.asked.load(Relaxed)
    }
    /// Does what other workers asked of this one; the running task may be looked at meanwhile.
    #[inline]
    pub(crate) fn stop_here(&mut self) {
        if self.stop.asked.load(Acquire) {
            self.stop_here_slow();
        }
    }
    #[cold]
    #[inline(never)]
    fn stop_here_slow(&mut self) {
        self.show_stack();
        let rt = self.runtime();
        let heap = self.heap.shared().clone();
        let mut s = lock(&rt.stop.state);
        loop {
            if s.want_parallel {
                s.want_parallel = false;
                s.parallel = true;
                rt.stop.tell(&s);
            } else if s.stopping {
                s.active -= 1;
                s.joining += 1;
                rt.stop.tell(&s);
                s = rt.stop.stand(&heap, s);
                s.joining -= 1;
                s.active += 1;
            } else {
                break;
            }
        }
        if s.active == 1 && s.nobody_else() {
            s.parallel = false;
        }
        rt.stop.asked.store(false, Release);
        self.parallel_mode(s.parallel);
    }
    /// The frames of the running task can be walked by others from here on.
    pub(crate) fn show_stack(&mut self) {
        if self.task.id != 0 && self.task.state.get() == State::Ready && !self.fp.is_null() {
            self.task.base = self.slot_of(self.fp());
            self.task.pc = self.pc as usize;
        }
    }
    fn parallel_mode(&mut self, on: bool) {
        if self.parallel != on {
            self.parallel = on;
            self.heap.set_parallel(on);
        }
    }
    /// This worker becomes active.
    fn become_active(&mut self) {
        let rt = self.runtime();
        let heap = self.heap.shared().clone();
        let mut s = lock(&rt.stop.state);
        s.joining += 1;
        loop {
            if s.stopping {
                s = rt.stop.stand(&heap, s);
            } else if s.active > 0 && !s.parallel {
                s.want_parallel = true;
                rt.stop.asked.store(true, Release);
                rt.poll_all();
                s = rt.stop.until_changed_soon(heap.gc_threads(), s);
            } else {
                break;
            }
        }
        s.joining -= 1;
        if s.active == 0 && s.nobody_else() {
            s.parallel = false;
        }
        s.active += 1;
        self.parallel_mode(s.parallel);
        drop(s);
        if rt.tasks.threads.load(Relaxed) > 0 || rt.limits.armed.load(Relaxed) > 0 || rt.outside.armed.load(Relaxed) {
            self.sched().ticker_on(true);
        }
    }
    /// This worker becomes idle.
    fn become_idle(&mut self) {
        let rt = self.runtime();
        let mut s = lock(&rt.stop.state);
        s.active -= 1;
        if s.active == 0 && s.nobody_else() {
            s.want_parallel = false;
            s.parallel = false;
        } else if s.active == 1 && s.nobody_else() && s.parallel && !s.stopping {
            // The one that is left may stop locking.
            rt.stop.asked.store(true, Release);
            rt.poll_all();
        }
        self.parallel_mode(false);
        rt.stop.tell(&s);
    }
    /// This worker does `work` that touches nothing of the runtime, at a safepoint; stops go on without it meanwhile.
    pub(crate) fn while_detached<T>(&mut self, work: impl FnOnce() -> T) -> Result<T, Fault> {
        self.show_stack();
        let rt = self.runtime();
        let heap = self.heap.shared().clone();
        let seen;
        {
            let mut s = lock(&rt.stop.state);
            if s.forking > 0 {
                drop(s);
                return caught(work);
            }
            s.active -= 1;
            s.detached += 1;
            s.parallel = true;
            let waited_for = s.stopping || s.want_parallel;
            s.want_parallel = false;
            seen = heap.reader_begins();
            if waited_for {
                rt.stop.tell(&s);
            }
        }
        let done = caught(work);
        let mut s = lock(&rt.stop.state);
        if s.stopping {
            s = rt.stop.stand(&heap, s);
        }
        s.detached -= 1;
        s.active += 1;
        heap.reader_ends(seen);
        if s.active == 1 && s.nobody_else() {
            s.parallel = false;
        }
        self.parallel_mode(s.parallel);
        if s.forking > 0 {
            rt.stop.tell(&s);
        }
        done
    }
    /// Somebody will read cells beside this worker, which goes on: see `aside.rs`. At a safepoint; `None`: not now, a fork is to come.
    pub(crate) fn reader_aside_begins(&mut self) -> Option<u64> {
        let rt = self.runtime();
        let mut s = lock(&rt.stop.state);
        if s.forking > 0 {
            return None;
        }
        s.detached += 1;
        s.parallel = true;
        if std::mem::take(&mut s.want_parallel) {
            rt.stop.tell(&s);
        }
        let seen = self.heap.shared().reader_begins();
        self.parallel_mode(true);
        Some(seen)
    }
    /// Waits until nobody is detached, and keeps it so until [`forked`](Self::forked).
    fn before_fork(&mut self) {
        self.show_stack();
        let rt = self.runtime();
        let mut s = lock(&rt.stop.state);
        s.forking += 1;
        if s.detached > 0 {
            s.active -= 1;
            s.joining += 1;
            rt.stop.tell(&s);
            while s.detached > 0 || s.stopping {
                s = rt.stop.until_changed(s);
            }
            s.joining -= 1;
            s.active += 1;
        }
    }
    fn forked(&self) {
        lock(&self.stop.state).forking -= 1;
    }
    /// Nothing to run: waits for something to come.
    pub(crate) fn go_idle(&mut self) {
        self.arm_trim();
        self.arm_look();
        self.become_idle();
        self.sched().wait(self.worker);
        self.become_active();
        if self.worker != 0 && !self.sched().has_ready(self.worker) && self.signal_hook.is_some() {
            // What came may be a signal, which is worker 0's affair.
            self.sched().wake_worker(0);
        }
    }
    /// Runs `f` while no other worker is active. `None` when another worker stopped the world first: look again.
    ///
    /// Natives that call it must be of [`Guard::None`](crate::Guard::None) and hold no lock: others may wait for it.
    pub fn stop_world<T>(&mut self, f: impl FnOnce(&mut Cx) -> T) -> Option<T> {
        if !self.begin_stop() {
            return None;
        }
        /// Lets the others go on, whatever way `f` ends.
        struct End(Arc<Runtime>);
        impl Drop for End {
            fn drop(&mut self) {
                self.0.stop.end();
            }
        }
        let _end = End(self.runtime());
        Some(f(self))
    }
    /// [`stop_world`](Self::stop_world) around a fork: what `f` gives. The child (0) does not touch the stop's lock,
    /// which another thread may have held just then: [`after_fork`](Self::after_fork) makes it anew.
    pub fn fork_world(&mut self, f: impl FnOnce() -> i32) -> Option<i32> {
        self.before_fork();
        if !self.begin_stop() {
            self.forked();
            return None;
        }
        self.give_back.hold();
        let pid = f();
        if pid != 0 {
            self.give_back.held();
            self.stop.end();
            self.forked();
        }
        Some(pid)
    }
    fn begin_stop(&mut self) -> bool {
        self.show_stack();
        let rt = self.runtime();
        {
            let mut s = lock(&rt.stop.state);
            if s.stopping {
                drop(s);
                self.stop_here_slow();
                return false;
            }
            s.stopping = true;
            rt.stop.stopping.store(true, Release);
            if s.active > 1 {
                rt.stop.asked.store(true, Release);
                rt.poll_all();
                self.heap.shared().set_hurry(true);
                while s.active > 1 {
                    s = rt.stop.until_changed_soon(self.heap.shared().gc_threads(), s);
                }
                self.heap.shared().set_hurry(false);
            }
            self.heap.shared().set_taken_cores(s.detached);
        }
        true
    }

    /// Starts the other workers, once.
    pub(crate) fn start_workers(&mut self) {
        let n = self.sched().workers();
        if n < 2 || self.workers_started() || self.started.swap(true, AcqRel) {
            return;
        }
        let rt = self.runtime();
        self.heap.shared().prepare_help();
        for w in 1..n {
            let (rt, heap, stress, verifies) = (rt.clone(), self.heap.sibling(), self.gc_stress, self.verifies);
            let main = std::thread::Builder::new().name(format!("kumi-{w}")).stack_size(16 << 20);
            let made = main.spawn(move || {
                let mut cx = Cx::worker(rt, heap, w);
                cx.gc_stress = stress;
                cx.verifies = verifies;
                cx.register_first();
                loop {
                    // What comes first is another task to run.
                    cx.run_from(crate::interp::Flow::Next);
                }
            });
            if made.is_err() {
                // The system gives no thread: those there are do the work.
                break;
            }
        }
    }
    /// Joins the runtime's workers as an active one.
    fn register_first(&mut self) {
        self.become_active();
        self.register();
        // A collection that was asked for before may begin now.
        self.heap.poll.store(true, Release);
    }
    pub(crate) fn register(&mut self) {
        let r = WorkerRef { cx: self, poll: &self.heap.poll };
        self.workers.push(r);
    }
    pub(crate) fn workers_started(&self) -> bool {
        self.started.load(Relaxed)
    }

    /// The child of a fork goes on with the running thread, as its main thread, on worker 0 alone.
    pub fn after_fork(&mut self) {
        let keep = self.task.thread;
        let root = self.root.id;
        let mut gone = Vec::new();
        self.tasks.each(|t| {
            if t.thread != keep {
                gone.push(t.id);
            }
        });
        for id in gone {
            if let Some(t) = self.tasks.get(id) {
                t.state.set(State::Done);
            }
        }
        // The cells of workers that are not there any more are this one's: a collection must know of all blocks.
        let me = std::ptr::from_mut(self);
        for other in self.workers.iter().map(|w| w.cx).filter(|c| !std::ptr::eq(*c, me)).collect::<Vec<_>>() {
            // SAFETY: the process forked at a stop, and the other threads are not in the child: nobody else uses it.
            self.heap.absorb(unsafe { &mut (*other).heap });
        }
        let sched = self.sched_cell().get().map(|s| s.after_fork_child());
        let rt = self.boot();
        rt.stop = Stop::default();
        rt.give_back.after_fork();
        rt.started = AtomicBool::new(false);
        rt.trim_armed = AtomicBool::new(false);
        rt.look_armed = AtomicBool::new(false);
        rt.outside.armed = AtomicBool::new(false);
        rt.workers.truncate(1);
        rt.tasks.threads.store(0, Relaxed);
        rt.tasks.sleepers.store(0, Relaxed);
        let limits = rt.limits.after_fork(keep);
        rt.tasks.main.store(root, Relaxed);
        if let Some(s) = sched {
            arm_signals(&s);
            for (at, id) in limits {
                s.timer(at, crate::limit::LIMIT, id);
            }
            rt.sched = std::sync::OnceLock::from(s);
        }
        self.root.pinned = true;
        self.task.pinned = true;
        self.thread_is_main(keep);
        self.arm_outside();
        if self.limits.armed.load(Relaxed) > 0 {
            self.start_ticker();
            self.sched().ticker_on(true);
        }
        if self.task.id != self.root.id {
            // The fiber that forked is the child's first: there is none to yield to.
            self.task.resumer = None;
        }
        for hook in self.fork_hooks.clone() {
            hook(self);
        }
    }
    /// Worker 0 is to look for signals.
    pub fn wake_main_worker(&self) {
        self.poll_worker(0);
        self.sched().wake_worker(0);
    }
    /// The runtime itself, kept alive.
    pub(crate) fn runtime(&self) -> Arc<Runtime> {
        self.rt.clone()
    }
}
