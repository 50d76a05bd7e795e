//! Workers: OS threads that each run tasks with a [`Cx`] of their own, and the stop
//! at which one of them has the runtime to itself.
//!
//! **Invariant.** Who may do what beside whom is told in `kumi_sched`'s `stop.rs`; here is what workers do with it. A worker
//! passes `Cx::stop_here` between bytecodes. An idle worker touches nothing of the runtime, a detached one (`detach.rs`)
//! changes nothing of it: it reads what its work owns, and cells that are kept alive for it. One that is stopped
//! does nothing but what the collection gives it to mark. [`Cx::is_parallel`] is what the stop said last.
//!
//! What is kept until nobody reads it (`retire`) outlasts the stops during which somebody
//! is detached who may have seen it.

use crate::Cx;
use crate::cx::runtime::Runtime;
use crate::tasks::fault::{Fault, caught};
use crate::tasks::task::State;
use kumi_heap::{HeapShared, Locked, Value};
use kumi_sched::{Stop, Surroundings, now_ns};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};

/// So long a worker without work [lingers](Stop::pause): longer than most natives take in which another one could not agree to its coming back.
const LINGER_NS: u64 = 2_000_000;

/// Native stack of our own threads, workers and those of work aside: what parses and compiles stops at a depth that fits.
pub(crate) const NATIVE_STACK: usize = 16 << 20;

/// Where a fork is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fork {
    /// It comes next.
    Before,
    /// It is over, or has failed.
    InParent,
    /// It is over, and no other thread is there.
    InChild,
}

/// A runtime, its heap, and the last grace period of the worker, as a stop needs them.
pub(super) struct Around<'a>(&'a Runtime, &'a HeapShared, &'a Cell<u64>);

impl Surroundings for Around<'_> {
    fn poll_all(&self) {
        self.0.poll_all();
    }
    fn cores(&self) -> usize {
        self.1.gc_threads()
    }
    fn help(&self, stays: &dyn Fn() -> bool) {
        self.1.help(stays);
    }
    fn hurry(&self, on: bool) {
        self.1.set_hurry(on);
    }
    fn reader_begins(&self) -> u64 {
        self.1.reader_begins()
    }
    fn reader_ends(&self, seen: u64) {
        self.1.reader_ends(seen);
    }
    fn grace_begins(&self) -> u64 {
        self.1.grace_begins()
    }
    fn passed(&self) -> u64 {
        self.2.get()
    }
    fn set_passed(&self, grace: u64) {
        self.2.set(grace);
    }
}

/// Where to find a worker.
#[derive(Clone, Copy)]
pub(crate) struct WorkerRef {
    pub cx: *mut Cx,
    pub poll: *const AtomicBool,
}
// SAFETY: workers are never dropped while others run (`end.rs`); `poll` is atomic, `cx` is followed only at a stop.
unsafe impl Send for WorkerRef {}
// SAFETY: as above.
unsafe impl Sync for WorkerRef {}

impl Runtime {
    /// The end of what began with [`Cx::reader_aside_begins`], on whatever thread.
    pub(crate) fn reader_aside_ends(&self, heap: &HeapShared, seen: u64) {
        self.stop.reader_ends(&Around(self, heap, &Cell::new(0)), seen);
    }
    /// A tick of the clock: running workers look around; with none the clock stops.
    pub(crate) fn tick(&self) {
        if self.stop.some_run() {
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
        self.stop.is_waited_for()
    }
    /// Frees the large buffers that this worker has replaced and nobody looks at any more, and sees to it that others of them can be
    /// soon; at a safepoint, or where the worker looks at none of them either.
    #[cold]
    #[inline(never)]
    pub(crate) fn tend_replaced(&mut self) {
        self.with_stop(|stop, o| {
            let free = || self.heap.free_replaced(|grace| stop.is_over(grace));
            free();
            if self.heap.has_much_replaced()
                && let Some(grace) = stop.begin_grace(o)
            {
                self.heap.replaced_before(grace);
                free();
            }
        });
    }
    /// Does what other workers asked of this one; the running task may be looked at meanwhile.
    #[inline]
    pub(crate) fn stop_here(&mut self) {
        if self.stop.is_asked() {
            self.stop_here_slow();
        }
    }
    #[cold]
    #[inline(never)]
    fn stop_here_slow(&mut self) {
        self.show_stack();
        let parallel = self.with_stop(|stop, o| stop.pass(o));
        self.parallel_mode(parallel);
    }
    pub(super) fn with_stop<T>(&self, f: impl FnOnce(&Stop, &Around) -> T) -> T {
        let (rt, heap) = (self.runtime(), self.heap.shared().clone());
        f(&rt.stop, &Around(&rt, &heap, &self.grace))
    }
    /// The frames of the running task can be walked by others from here on.
    pub(crate) fn show_stack(&mut self) {
        if self.task.id != 0 && self.task.state() == State::Ready && !self.fp.is_null() {
            self.task.base = self.slot_of(self.fp());
            self.task.pc = self.pc as usize;
        }
    }
    /// The only place where a worker's mode changes: as the stop says.
    fn parallel_mode(&mut self, on: bool) {
        if self.is_parallel() != on {
            self.heap.set_parallel(on);
        }
    }
    /// Does this worker run in parallel mode: do others run Ruby code, or read cells, beside it? Then natives run with their guards. It
    /// changes at safepoints only.
    #[inline(always)]
    pub fn is_parallel(&self) -> bool {
        self.heap.is_parallel()
    }
    /// May others change `v` just now, unless it is locked?
    #[inline(always)]
    pub(crate) fn is_contended(&self, v: Value) -> bool {
        self.is_parallel() && v.needs_lock()
    }
    /// Locks an object where others may reach it.
    #[inline]
    pub(crate) fn lock_cell(&self, v: Value) -> Option<Locked> {
        self.is_parallel().then(|| v.locked())
    }
    /// This worker becomes active.
    fn become_active(&mut self) {
        self.becomes_active(|stop, o| stop.enter(o));
    }
    fn becomes_active(&mut self, how: impl FnOnce(&Stop, &Around) -> bool) {
        let parallel = self.with_stop(how);
        self.parallel_mode(parallel);
        let rt = self.runtime();
        if rt.tasks.threads.load(Relaxed) > 0 || rt.limits.armed.load(Relaxed) > 0 || rt.outside.armed.load(Relaxed) {
            self.sched().ticker_on(true);
        }
    }
    /// All workers are to leave at their next safepoint, this one by itself.
    pub(crate) fn ask_to_leave(&mut self) {
        self.with_stop(|stop, o| stop.end_all(o));
    }
    /// This worker becomes idle.
    pub(crate) fn become_idle(&mut self) {
        self.parallel_mode(false);
        self.with_stop(|stop, o| stop.leave(o));
    }
    /// This worker does `work` that touches nothing of the runtime, at a safepoint; stops go on without it meanwhile.
    pub(crate) fn while_detached<T>(&mut self, work: impl FnOnce() -> T) -> Result<T, Fault> {
        self.show_stack();
        self.heap.close_spares(true);
        let Some(seen) = self.with_stop(|stop, o| stop.detach(o)) else {
            self.heap.close_spares(false);
            return caught(work);
        };
        let done = caught(work);
        let parallel = self.with_stop(|stop, o| stop.attach(o, seen));
        self.heap.close_spares(false);
        self.parallel_mode(parallel);
        if self.heap.has_replaced() {
            self.tend_replaced();
        }
        done
    }
    /// Somebody will read cells beside this worker, which goes on: see `aside.rs`. At a safepoint; `None`: not now, a fork is to come.
    pub(crate) fn reader_aside_begins(&mut self) -> Option<u64> {
        let seen = self.with_stop(|stop, o| stop.reader_begins(o))?;
        self.parallel_mode(true);
        Some(seen)
    }
    /// Nothing to run: waits for something to come.
    pub(crate) fn go_idle(&mut self) {
        self.arm_trim();
        self.arm_look();
        self.tell_rests();
        self.parallel_mode(false);
        let lingers = self.with_stop(|stop, o| stop.pause(o));
        let since = self.recorder().map(|_| now_ns());
        if lingers && self.sched().wait_at_most(self.worker, LINGER_NS) {
            self.becomes_active(|stop, o| stop.come_back(o));
        } else {
            if lingers {
                self.with_stop(|stop, o| stop.stay_away(o));
            }
            self.sched().wait(self.worker);
            self.become_active();
        }
        if let Some(since) = since {
            self.record_idle(now_ns().saturating_sub(since));
        }
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
        self.show_stack();
        self.with_stop(|stop, o| stop.before_fork(o));
        if !self.begin_stop() {
            self.stop.forked();
            return None;
        }
        self.give_back.hold();
        self.around_fork.iter().for_each(|g| g(self, Fork::Before));
        let pid = f();
        let then = if pid == 0 { Fork::InChild } else { Fork::InParent };
        self.around_fork.iter().for_each(|g| g(self, then));
        if pid != 0 {
            self.give_back.held();
            self.stop.end();
            self.stop.forked();
        }
        Some(pid)
    }
    fn begin_stop(&mut self) -> bool {
        self.show_stack();
        match self.with_stop(|stop, o| stop.begin(o)) {
            Some(detached) => {
                self.heap.shared().set_taken_cores(detached);
                true
            }
            None => {
                self.stop_here_slow();
                false
            }
        }
    }

    /// How many workers there are, or are to be. Before there is a scheduler that reads the system's files.
    pub(crate) fn wanted_workers(&self) -> usize {
        match self.sched_cell().get() {
            Some(s) => s.workers(),
            None => self.options.workers.unwrap_or_else(kumi_sched::default_workers).max(1),
        }
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
            let main = std::thread::Builder::new().name(format!("kumi-{w}")).stack_size(NATIVE_STACK);
            let made = self.threads.spawn(main, move || {
                let mut cx = Cx::worker(rt, heap, w);
                cx.gc_stress = stress;
                cx.verifies = verifies;
                cx.register_first();
                cx.work();
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
        self.record_forked();
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
                t.beside.set_state(State::Done);
            }
        }
        // The cells of workers that are not there any more are this one's: a collection must know of all blocks.
        let me = std::ptr::from_mut(self);
        for other in self.workers.iter().map(|w| w.cx).filter(|c| !std::ptr::eq(*c, me)).collect::<Vec<_>>() {
            // SAFETY: the process forked at a stop, and the other threads are not in the child: nobody else uses it.
            self.heap.absorb(unsafe { &mut (*other).heap });
        }
        let sched = self.sched_cell().get().map(|s| s.after_fork_child());
        // SAFETY: the child of a fork has no other thread.
        let rt = unsafe { self.alone() };
        rt.stop = Stop::default();
        // Neither those threads nor their locks' holders are there: the lists stay as they are.
        std::mem::forget(std::mem::take(&mut rt.threads));
        rt.aside.after_fork();
        rt.give_back.after_fork();
        rt.started = AtomicBool::new(false);
        rt.trim_armed = AtomicBool::new(false);
        rt.look_armed = AtomicBool::new(false);
        rt.outside.armed = AtomicBool::new(false);
        rt.outside.rung = AtomicBool::new(false);
        rt.forget_schedule();
        rt.workers.truncate(1);
        rt.tasks.threads.store(0, Relaxed);
        rt.tasks.sleepers.store(0, Relaxed);
        let limits = rt.limits.after_fork(keep);
        rt.tasks.main.store(root, Relaxed);
        crate::tasks::signals::after_fork();
        if let Some(s) = sched {
            // `alone` borrows all of it.
            let owner = std::ptr::from_ref(rt);
            crate::tasks::signals::arm(owner, &s);
            for (at, id) in limits {
                s.timer(at, crate::tasks::limit::LIMIT, id);
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
        {
            // The fiber that forked is the child's first: there is none to yield to.
            if let Some(f) = self.task.as_fiber_mut() {
                f.resumer = None;
            }
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
