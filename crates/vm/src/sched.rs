//! Which task runs: threads in turn on the workers, fibers where they are told to.
//!
//! A task that does not run has its frame and next instruction in `task.base` and
//! `task.pc`, and in `task.dst` the slot that takes the value it is resumed with.
//! Threads change only at safepoints and where a native parks; a parked native is
//! called again when its task runs again.
//!
//! **Invariant.** A task is either run by one worker, or queued once, or waiting
//! (then its state says so, and one wake-up makes it ready), or a fiber that waits
//! to be resumed. After it was queued or its wait was made known, the worker that
//! ran it touches it no more. States, wait numbers and wake flags that belong
//! together change under the task table's lock.

use crate::Cx;
use crate::interp::Flow;
use crate::interp::frame::ff;
use crate::native::*;
use crate::task::{Interrupted, State, Task, TaskPtr, Ticket, Waits, Watched};
use kumi_heap::*;
pub use kumi_sched::now_ns;
use kumi_sched::{Config, Event, Sched};
use std::sync::atomic::Ordering::*;

/// Turn length of a thread while others are ready.
const TURN_NS: u64 = 10_000_000;
/// Blocks that a worker sweeps before it looks again whether there is something to run: a tenth of a millisecond or so.
const IDLE_SWEEP: usize = 16;
/// How often running workers are asked to look around while there is a reason.
const TICK_NS: u64 = 2_000_000;

impl Cx {
    // --- safepoints -----------------------------------------------------------

    /// What waits for a moment between two bytecodes.
    #[cold]
    #[inline(never)]
    pub(crate) fn safepoint(&mut self) -> Flow {
        self.heap.end_place();
        // In one step: what was asked for before the flag was set is seen below.
        self.heap.poll.swap(false, AcqRel);
        self.stop_here();
        self.shrink_stack();
        if self.heap.wants_window() {
            self.collect_window();
        }
        if self.gc_stress > 0 {
            self.heap.poll.store(true, Relaxed);
            self.gc_tick += 1;
            if self.gc_tick >= self.gc_stress {
                self.gc_tick = 0;
                self.heap.shared().stats.because(Cause::Stress);
                self.collect_garbage();
                self.heap.poll.store(true, Relaxed);
            }
        }
        if self.heap.wants_gc() {
            self.collect_garbage();
            if self.heap.over_limit() {
                let e = self.make_exc(self.k.no_memory_error, "failed to allocate memory");
                return self.raise_exc(e);
            }
        }
        if self.heap.shared().has_pending_finalizers() {
            let all = self.heap.shared().take_pending_finalizers();
            let mut list = Vec::new();
            for (procs, id) in all {
                let p = self.array(&procs);
                let pair = [p, Value::fix(id as i64)];
                list.push(self.array(&pair));
            }
            let a = self.array(&list);
            let x = self.call_helper("run_finalizers", &[a]);
            return self.leaf_exit_drop(x);
        }
        if let Some(h) = self.signal_hook.filter(|_| self.worker == 0) {
            if let Some(c) = h(self) {
                // Handlers run on the main thread.
                let main = self.tasks.main.load(Relaxed);
                let waits = self.tasks.get(main).is_some_and(|t| matches!(self.active_of(t).state.get(), State::Ready | State::Waiting));
                if self.task.root == main || !waits {
                    return self.do_call(c, 0, ff::DISCARD);
                }
                self.park_state(0, ff::DISCARD);
                self.requeue();
                self.signal_wakes_main(c);
                return self.run_next();
            }
        }
        if self.root.mail.load(Relaxed) && self.due_interrupt(self.root, false).is_some() {
            return self.take_interrupt(false);
        }
        if let Some(f) = self.stress_switch() {
            return f;
        }
        let outside = self.outside.armed.load(Relaxed);
        if outside {
            self.heap.sweep_some(crate::outside::SWEEP);
        }
        let watches = outside || self.tasks.threads.load(Relaxed) > 0 || self.limits.armed.load(Relaxed) > 0;
        if watches && now_ns() >= self.turn_ends {
            // The turn is over: whoever is ready by now, waiters included, comes first.
            self.turn_ends = now_ns() + TURN_NS;
            self.take_events();
            if self.sched().has_ready(self.worker) {
                return self.preempt();
            }
        } else if watches {
            self.take_events();
            if self.sched().has_ready(self.worker) {
                let w = self.worker;
                self.sched().nudge(w);
            }
        }
        Flow::Go
    }
    /// `KUMI_SCHED_STRESS`: gives way at random safepoints.
    fn stress_switch(&mut self) -> Option<Flow> {
        if self.stress == 0 {
            return None;
        }
        self.heap.poll.store(true, Relaxed);
        self.stress = self.stress.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        if !(self.stress >> 33).is_multiple_of(4) {
            return None;
        }
        self.take_events();
        self.sched().has_ready(self.worker).then(|| self.preempt())
    }

    // --- switching ------------------------------------------------------------

    /// Where the running task goes on, for a time in which it does not run.
    pub(crate) fn park_state(&mut self, dst: usize, flags: u64) {
        let fp = self.fp();
        self.task.base = self.slot_of(fp);
        self.task.pc = self.pc as usize;
        self.task.dst = if flags & (ff::DISCARD | ff::JUMP) != 0 { usize::MAX } else { self.task.base + dst };
        self.task.jump = flags & ff::JUMP != 0;
    }
    /// Makes a fiber of this thread (or its first task) the running one.
    fn switch_fiber(&mut self, id: u64) {
        let Some(t) = self.tasks.get(id) else { return };
        if self.task.state.get() != State::Done {
            self.note_recent(self.task);
        }
        self.task = t;
        self.root.active.store(id, Release);
        self.stack_end = self.task.stack.resume();
    }
    /// Takes the frame of the (now current) task up again.
    fn take_up(&mut self) {
        self.task.state.set(State::Ready);
        self.stack_end = self.task.stack.resume();
        self.fp = self.frame_at(self.task.base).0;
        self.pc = self.task.pc as *const _;
    }
    /// Continues the (now current) task with a value or an exception.
    fn continue_current(&mut self, v: Result<Value, Value>) -> Flow {
        if self.task.state.get() == State::New {
            let q = self.bottom_code();
            let (me, cref) = (self.main_object, self.top_cref);
            let start = self.task.start.take();
            self.enter_bottom(&q, me, cref);
            return match (v, start) {
                (Err(e), _) => self.raise_exc(e),
                (Ok(_), Some(c)) => self.do_call(*c, 1, 0),
                (Ok(_), None) => Flow::Go,
            };
        }
        self.take_up();
        if std::mem::take(&mut self.task.killed) {
            let u = self.fiber_kill_unwind();
            return self.unwind(u);
        }
        match v {
            Ok(v) => {
                if self.task.jump {
                    self.fused_jump(v);
                } else if self.task.dst != usize::MAX {
                    let slot = self.task.dst;
                    self.frame_at(slot).set_r(0, v);
                }
                if self.root.mail.load(Relaxed) && self.due_interrupt(self.root, false).is_some() {
                    return self.take_interrupt(false);
                }
                Flow::Go
            }
            Err(e) => self.raise_exc(e),
        }
    }
    /// A native asked to go on with another task of the thread (`cx.switch_to`).
    pub(crate) fn switch_now(&mut self, dst: usize, flags: u64) -> Flow {
        self.park_state(dst, flags);
        let Some((id, v)) = self.switch_to.take() else { return Flow::Go };
        self.switch_fiber(id);
        self.continue_current(v)
    }

    /// A native waits: it is called again when the task is woken.
    pub(crate) fn suspend_with(&mut self, x: Exit, again: Call, dst: usize, flags: u64) -> Flow {
        if x == Exit::Again && self.detour.is_waiting() {
            self.pending.call = Some(again);
            let goes_on = self.work_detached();
            return match self.pending.call.take() {
                Some(again) if goes_on => self.do_call(again, dst, flags),
                _ => self.take_interrupt(false),
            };
        }
        if x == Exit::Again {
            // Whoever is ready comes first, and signal handlers run.
            self.pending.deadline = 0;
        }
        if let Some((fd, events, timeout)) = self.hooked_io() {
            let Target::Method(m) = again.target else { return self.do_call(again, dst, flags) };
            let args = self.array(&again.args);
            let x = self.call_helper("hooked_io", &[fd, events, timeout, Value::fix(m as i64), again.recv, args, again.block]);
            debug_assert!(x == Exit::Call);
            return match self.pending.call.take() {
                Some(c) => self.do_call(c, dst, flags),
                None => Flow::Go,
            };
        }
        self.park_state(dst, flags);
        self.task.again = Some(Box::new((again, dst, flags)));
        self.wait_and_run()
    }
    /// As above for an instruction of `words` words that is executed again: `pc` stands before it.
    pub(crate) fn suspend_here(&mut self, x: Exit, words: u8) -> Flow {
        if x == Exit::Again && self.detour.is_waiting() {
            if self.work_detached() {
                return Flow::Go;
            }
            // It is raised by the instruction that was at work.
            self.pc = self.pc.wrapping_add(words as usize);
            return self.take_interrupt(false);
        }
        if x == Exit::Again {
            return self.safepoint();
        }
        if let Some((fd, events, timeout)) = self.hooked_io() {
            let x = self.call_helper("hooked_io_wait", &[fd, events, timeout]);
            return self.leaf_exit_drop(x);
        }
        self.park_state(0, ff::DISCARD);
        self.task.rewound = words;
        self.wait_and_run()
    }

    /// A wait for descriptors that goes to a fiber scheduler: descriptor, events, seconds; of several lists of them to
    /// read from, to write to, and when the time is over.
    fn hooked_io(&mut self) -> Option<(Value, Value, Value)> {
        if !self.hooked() || self.pending.io.is_empty() {
            return None;
        }
        let io = std::mem::take(&mut self.pending.io);
        self.pending.ticketed = false;
        let deadline = std::mem::replace(&mut self.pending.deadline, u64::MAX);
        let &[(fd, read, write)] = &io[..] else {
            let of = |which: fn(&&(i32, bool, bool)) -> bool| io.iter().filter(which).map(|w| Value::fix(w.0 as i64)).collect::<Vec<_>>();
            let (reads, writes) = (self.array_vec(of(|w| w.1)), self.array_vec(of(|w| w.2)));
            let deadline = if deadline == u64::MAX { Value::NIL } else { self.uint(deadline) };
            self.task.waits = Waits::Nothing;
            return Some((reads, writes, deadline));
        };
        let timeout = match deadline {
            u64::MAX => Value::NIL,
            d => self.float(d.saturating_sub(now_ns()) as f64 / 1e9),
        };
        self.task.waits = Waits::Nothing;
        Some((Value::fix(fd as i64), Value::fix(read as i64 | (write as i64) << 2), timeout))
    }

    /// The running task parks with what `pending` says; something else runs.
    fn wait_and_run(&mut self) -> Flow {
        let named = std::mem::take(&mut self.pending.ticketed);
        if !named {
            self.ticket();
            self.pending.ticketed = false;
        }
        let deadline = std::mem::replace(&mut self.pending.deadline, u64::MAX);
        let io = std::mem::take(&mut self.pending.io);
        let job = self.pending.job.take();
        let forever = std::mem::take(&mut self.pending.forever);
        self.publish_stacks();
        let t = self.task;
        let (id, root, pinned) = (t.id, self.root, t.pinned);
        let seq = t.wait_seq.load(Relaxed);
        self.task.forever = forever;
        self.task.timed = deadline != u64::MAX;
        if !io.is_empty() && (named || io.len() > 1 || deadline != u64::MAX) {
            // The wait may end while a descriptor is still watched.
            self.task.watched = Some(Box::new(Watched { seq, fds: io.iter().map(|w| w.0).collect() }));
        }
        if deadline == 0 && io.is_empty() && job.is_none() {
            // Only gives way.
            self.task.gave_way = true;
            self.leave_task();
            self.enqueue(id, pinned);
            return self.run_next();
        }
        {
            let table = self.shared_tasks();
            let _order = table.lock();
            let interrupted = root.mail.load(Relaxed) && self.due_interrupt(root, true).is_some();
            if t.woken.load(Relaxed) || interrupted {
                // What it wants to wait for has come already.
                drop(_order);
                return self.resume_again();
            }
            if forever {
                table.sleepers.fetch_add(1, Relaxed);
            }
            t.state.set(State::Waiting);
        }
        // From here on another worker may run it.
        self.leave_task();
        let sched = self.sched();
        if deadline != u64::MAX {
            sched.timer(deadline, id, seq);
        }
        if !io.is_empty() {
            let wait = Ticket { task: id, seq };
            if io.iter().any(|&(fd, r, w)| self.sched().watch(fd, r, w, id, seq).is_err()) {
                // The native finds out by itself what is wrong with the descriptor.
                self.wake(wait);
            }
            if !self.waits(wait) {
                // It was over before all were watched: whoever ran the task may have looked before the last of them.
                io.iter().for_each(|w| self.sched().unwatch(w.0, id, seq));
            }
        }
        if let Some(job) = job {
            self.sched().submit(id, seq, job);
        }
        self.run_next()
    }
    /// Queues the running task behind the others.
    fn requeue(&mut self) {
        self.publish_stacks();
        let (id, pinned) = (self.task.id, self.task.pinned);
        self.leave_task();
        self.sched().push(self.worker, id, pinned);
    }
    /// Puts the running thread at the end of the queue.
    fn preempt(&mut self) -> Flow {
        self.park_state(0, ff::DISCARD);
        self.task.gave_way = true;
        self.task.woken.store(false, Relaxed);
        self.requeue();
        self.run_next()
    }
    /// The task that ran belongs to this worker no more.
    fn leave_task(&mut self) {
        self.task = TaskPtr::of(&mut self.nobody);
        self.root = self.task;
    }
    /// Runs what a task parked with once more, or goes on where it was.
    fn resume_again(&mut self) -> Flow {
        self.take_up();
        if let Some(w) = self.task.watched.take() {
            let id = self.task.id;
            w.fds.iter().for_each(|fd| self.sched().unwatch(*fd, id, w.seq));
        }
        let woken = self.task.woken.load(Relaxed);
        let waited = !std::mem::take(&mut self.task.gave_way);
        let rewound = std::mem::take(&mut self.task.rewound);
        if !woken && self.root.mail.load(Relaxed) && self.due_interrupt(self.root, waited).is_some() {
            self.task.again = None;
            self.task.waits = Waits::Nothing;
            // It is raised by the instruction that waited.
            self.pc = self.pc.wrapping_add(rewound as usize);
            return self.take_interrupt(waited);
        }
        match self.task.again.take() {
            Some(a) => {
                let (c, dst, flags) = *a;
                self.do_call(c, dst, flags)
            }
            None => Flow::Go,
        }
    }
    /// Makes a ready task this worker's.
    fn run_task(&mut self, id: u64) -> Option<Flow> {
        let t = self.tasks.get(id)?;
        let root = self.tasks.get(t.root)?;
        self.task = t;
        self.root = root;
        if !self.outside.ran.load(Relaxed) {
            self.outside.ran.store(true, Relaxed);
        }
        if std::mem::take(&mut self.front) != id {
            self.turn_ends = now_ns() + TURN_NS;
        }
        Some(if t.state.get() == State::New { self.continue_current(Ok(Value::NIL)) } else { self.resume_again() })
    }

    /// Finds a task that may run and goes on with it; sleeps while there is none.
    pub(crate) fn run_next(&mut self) -> Flow {
        let mut swept = false;
        loop {
            self.stop_here();
            if let Some(id) = self.sched().pop(self.worker) {
                if let Some(f) = self.run_task(id) {
                    return f;
                }
                continue;
            }
            if self.take_events() {
                continue;
            }
            if self.worker == 0 {
                if let Some(c) = self.signal_hook.and_then(|h| h(self)) {
                    self.signal_wakes_main(c);
                    continue;
                }
            }
            if self.is_stuck() {
                self.deadlock();
                continue;
            }
            if self.heap.wants_gc() {
                self.collect_garbage();
                continue;
            }
            // What waits to be swept would stay until this worker allocates again.
            if self.heap.sweep_some(IDLE_SWEEP) {
                swept = true;
                continue;
            }
            if std::mem::take(&mut swept) {
                let bytes = self.heap.shared().stats.take_released();
                self.trimmed(bytes as usize);
            }
            self.go_idle();
        }
    }
    fn is_stuck(&self) -> bool {
        if self.tasks.sleepers.load(Relaxed) > 0 || self.limits.armed.load(Relaxed) > 0 || self.tasks.ignore_deadlock.load(Relaxed) {
            return false;
        }
        let s = self.sched();
        // Waits that ended early and limits that were left in time keep nobody awake.
        if s.timers_may_be_stale(self.own_timers()) {
            s.compact_timers(|task, seq| self.timer_lives(task, seq));
        }
        if self.workers_started() {
            return s.stuck(self.own_timers());
        }
        let timers = s.timers().saturating_sub(self.own_timers());
        // A job's event comes before the job counts as done.
        s.watching() == 0 && s.jobs_running() == 0 && timers == 0 && !s.has_ready(self.worker) && !s.events_pending(now_ns())
    }
    /// The main task is made to run a signal handler: its wait ends for it and begins again afterwards.
    fn signal_wakes_main(&mut self, c: Call) {
        let Some(main) = self.tasks.get(self.tasks.main.load(Relaxed)) else { return };
        let mut t = self.active_of(main);
        let id = t.id;
        {
            let table = self.shared_tasks();
            let _order = table.lock();
            match t.state.get() {
                State::Waiting => {
                    t.wait_seq.fetch_add(1, Relaxed);
                    self.wait_is_over(t);
                }
                State::Ready => self.sched().remove(id),
                _ => return,
            }
        }
        // A native that waits runs again after the handler, and what it gives goes where it would have gone.
        let mut c = c;
        c.target = Target::Helper(self.intern("signal_came_again"));
        self.publish_call(&c);
        let (call, dst, flags) = match t.again.take() {
            Some(a) => (Some(a.0), a.1, a.2),
            None => (None, 0, ff::DISCARD),
        };
        let waits = std::mem::replace(&mut t.waits, Waits::Nothing);
        let wait = Interrupted { call, waits, since: t.since, until: t.until };
        t.after_signal.push(wait);
        t.again = Some(Box::new((c, dst, flags)));
        self.sched().push_front(0, id, true);
    }
    /// Makes tasks ready whose events have come. True when there was any.
    pub(crate) fn take_events(&mut self) -> bool {
        let Some(sched) = self.sched_cell().get().cloned() else { return false };
        if !sched.events_pending(now_ns()) && sched.watching() == 0 {
            return false;
        }
        let mut list = std::mem::take(&mut self.events);
        sched.poll_events(now_ns(), &mut list);
        let some = !list.is_empty();
        for e in list.drain(..) {
            match e {
                Event::Timer(0, 0) => self.trim_all(),
                Event::Timer(0, crate::outside::TIMER) => self.look_outside(),
                Event::Timer(0, _) => self.look_armed.swap(false, Relaxed),
                Event::Timer(crate::limit::LIMIT, id) => self.limit_due(id),
                Event::Timer(task, seq) => self.end_wait(Ticket { task, seq }, false),
                Event::Wake(task, seq) => self.end_wait(Ticket { task, seq }, true),
                Event::Io { task, seq, .. } => self.end_wait(Ticket { task, seq }, true),
                Event::Job(task, seq, v) => self.job_done(Ticket { task, seq }, v),
            };
        }
        self.events = list;
        some
    }
    /// Tasks that have waited since the last pass are made small.
    fn trim_all(&mut self) -> bool {
        self.trim_armed.store(false, Relaxed);
        let more = self.stop_world(|cx| {
            let mut parked = Vec::new();
            cx.tasks.each(|t| {
                if matches!(t.state.get(), State::Waiting | State::Suspended | State::Resuming) {
                    parked.push(t);
                }
            });
            cx.trim_pass(parked.iter_mut().map(|t| &mut **t))
        });
        if more != Some(false) {
            self.arm_trim();
        }
        true
    }
    /// Timers that are the runtime's own and no task's.
    fn own_timers(&self) -> usize {
        [&self.trim_armed, &self.look_armed, &self.outside.armed].into_iter().filter(|a| a.load(Relaxed)).count()
    }
    /// A worker goes idle and nothing is to come: should the others lie down at the same moment, none of them would
    /// see that all have. So somebody looks once more in a while.
    pub(crate) fn arm_look(&self) {
        let Some(s) = self.sched_cell().get() else { return };
        let excused =
            self.tasks.sleepers.load(Relaxed) > 0 || self.limits.armed.load(Relaxed) > 0 || self.tasks.ignore_deadlock.load(Relaxed);
        let nothing = s.watching() == 0 && s.jobs_running() == 0 && s.timers() <= self.own_timers();
        if self.workers_started() && !excused && nothing && !self.look_armed.swap(true, Relaxed) {
            s.timer(now_ns() + 20_000_000, 0, 1);
        }
    }
    /// A worker goes idle: what its tasks' stacks do not use is looked for in a second.
    pub(crate) fn arm_trim(&self) {
        if self.tasks.threads.load(Relaxed) > 0 && !self.trim_armed.swap(true, Relaxed) {
            self.sched().timer(now_ns() + 1_000_000_000, 0, 0);
        }
    }
    fn job_done(&mut self, w: Ticket, v: Box<dyn std::any::Any + Send>) -> bool {
        {
            let table = self.shared_tasks();
            let _order = table.lock();
            let Some(mut t) = table.get(w.task).filter(|t| t.wait_seq.load(Relaxed) == w.seq) else { return false };
            t.job = Some(v);
        }
        self.end_wait(w, true)
    }
    /// Any task by number.
    pub(crate) fn task_mut(&self, id: u64) -> Option<TaskPtr> {
        self.tasks.get(id)
    }
    /// No thread can ever run again: the main thread gets `fatal`, which tells where each of them waits.
    fn deadlock(&mut self) {
        self.main_thread();
        let mut waiting = Vec::new();
        self.tasks.each(|t| {
            if t.state.get() == State::Waiting && !t.thread.is_nil() {
                waiting.push((t.root as u32, t.id, t.thread));
            }
        });
        waiting.sort_unstable_by_key(|t| t.0);
        let mut list = Vec::new();
        for (_, id, thread) in waiting {
            let entries = self.capture_task(id);
            let Ok(rows) = self.location_rows(&entries, 0, usize::MAX) else { continue };
            list.push(self.array(&[thread, rows]));
        }
        let list = self.array_vec(list);
        if let Some(mut c) = self.const_path("KumiSys::Fatal").and_then(|v| v.as_class()) {
            c.data.name = Some(b"fatal".as_slice().into());
        }
        let call = Call {
            target: Target::Helper(self.intern("deadlock")),
            recv: Value::NIL,
            args: Args::from_slice(&[list]),
            kw: Value::UNDEF,
            block: Value::NIL,
            fcall: true,
            result: Value::UNDEF,
        };
        let Some(mut main) = self.tasks.get(self.tasks.main.load(Relaxed)) else { return };
        main.masks = Value::NIL;
        main.held = false;
        let mut t = self.active_of(main);
        let (id, seq) = (t.id, t.wait_seq.load(Relaxed));
        self.publish_call(&call);
        t.waits = Waits::Nothing;
        t.again = Some(Box::new((call, 0, ff::DISCARD)));
        self.end_wait(Ticket { task: id, seq }, true);
    }

    /// The first task of a new runtime, which becomes the main thread's.
    pub(crate) fn first_task(&mut self) {
        if let Some(mut t) = self.tasks.insert(Task::new()) {
            t.root = t.id;
            t.active.store(t.id, Relaxed);
            t.pinned = true;
            self.tasks.main.store(t.id, Relaxed);
            self.task = t;
            self.root = t;
        }
    }

    // --- the end --------------------------------------------------------------

    /// A task's first frame was left.
    pub(crate) fn finish_task(&mut self) -> Flow {
        if self.task.id == self.tasks.main.load(Relaxed) {
            return Flow::Done;
        }
        let failed = self.task.failed;
        if !self.task.is_root() {
            self.task.state.set(State::Done);
            self.free_locks_of(self.task.id);
            self.task.stack.release();
            // A fiber: back to whoever resumed it.
            let to = self.fiber_returns_to();
            let killed = failed.cell::<UnwindObj>().is_some_and(|u| u.hdr.x == crate::interp::KILL && u.target == crate::fiber::KILL_FIBER);
            let v = if failed.is_nil() || killed { Ok(self.task.result) } else { Err(failed) };
            self.task.forget_values();
            self.switch_fiber(to);
            self.task.child = None;
            return self.continue_current(v);
        }
        if let Some(c) = self.report_death(failed) {
            // What was sent to it comes too late.
            let all = [Value::NIL, self.k.object.val(), Value::fix(2)];
            let masks = self.array(&all);
            self.heap.publish(masks);
            self.task.masks = masks;
            let q = self.bottom_code();
            let (me, cref) = (self.main_object, self.top_cref);
            self.enter_bottom(&q, me, cref);
            return self.do_call(c, 1, 0);
        }
        if self.task.scheduled {
            // Its fiber scheduler runs what is left to do.
            let q = self.bottom_code();
            let (me, cref) = (self.main_object, self.top_cref);
            self.enter_bottom(&q, me, cref);
            let x = self.call_helper("close_scheduler", &[]);
            return self.leaf_exit_drop(x);
        }
        self.task.state.set(State::Done);
        self.free_locks_of(self.task.id);
        self.thread_ended();
        self.publish_fibers();
        let id = self.task.id;
        self.leave_task();
        self.tasks.remove(id);
        self.tasks.threads.fetch_sub(1, Relaxed);
        self.run_next()
    }

    /// A new task that will run `start`: a thread's first one when `thread` is given.
    ///
    /// # Errors
    /// ThreadError or FiberError when there are too many.
    pub(crate) fn new_task(&mut self, start: Call, thread: Option<Value>) -> Result<TaskPtr, Exit> {
        let mut t = Task::new();
        if thread.is_some() {
            // Another worker may run it. What a fiber starts with stays its thread's (`note_recent`).
            self.publish_call(&start);
            let (storage, masks) = (self.task.storage, self.root.masks);
            self.heap.publish(storage);
            self.heap.publish(masks);
            if let Target::Proc(p) = &start.target {
                t.around = p.as_proc().map_or(Value::NIL, |p| p.env);
            }
        }
        t.start = Some(Box::new(start));
        t.thread = thread.unwrap_or(self.task.thread);
        t.storage = self.task.storage;
        t.isolated = self.task.isolated;
        if thread.is_some() {
            t.masks = self.root.masks;
        }
        let Some(mut p) = self.tasks.insert(t) else {
            let (c, m) = if thread.is_some() {
                (self.k.thread_error, "can't create Thread: too many threads")
            } else {
                (self.k.fiber_error, "can't alloc fiber: too many fibers")
            };
            return Err(self.raise_msg(c, m));
        };
        p.root = if thread.is_some() { p.id } else { self.root.id };
        p.active.store(p.id, Relaxed);
        Ok(p)
    }

    // --- waits and wakes ------------------------------------------------------

    /// Names the wait that the running native is about to begin.
    pub fn ticket(&mut self) -> Ticket {
        self.pending.ticketed = true;
        let table = self.shared_tasks();
        let _order = table.lock();
        self.task.woken.store(false, Relaxed);
        let seq = self.task.wait_seq.fetch_add(1, Relaxed) + 1;
        Ticket { task: self.task.id, seq }
    }
    /// Parks the running native until woken by its ticket or until a monotonic time (`u64::MAX`: none);
    /// it is then called again from its start.
    pub fn park(&mut self, deadline: u64) -> Exit {
        self.pending.deadline = deadline;
        Exit::Park
    }
    /// Ends the wait that `t` names. False when that wait is over already.
    pub fn wake(&mut self, t: Ticket) -> bool {
        self.end_wait(t, true)
    }
    /// Ends a wait; `woken`: by what it waits for, not by the clock.
    fn end_wait(&mut self, w: Ticket, woken: bool) -> bool {
        let ready = {
            let table = self.shared_tasks();
            let _order = table.lock();
            let Some(t) = table.get(w.task).filter(|t| t.wait_seq.load(Relaxed) == w.seq) else { return false };
            if !woken && t.state.get() != State::Waiting {
                return false;
            }
            t.wait_seq.fetch_add(1, Relaxed);
            t.woken.store(woken, Relaxed);
            let waits = t.state.get() == State::Waiting;
            if waits {
                self.wait_is_over(t);
            }
            (waits.then_some((t.id, t.pinned)), woken && t.timed)
        };
        if let (Some((id, pinned)), timed) = ready {
            self.enqueue(id, pinned);
            if timed {
                self.timer_over();
            }
        }
        true
    }
    /// A timer of the scheduler is good for nothing any more.
    pub(crate) fn timer_over(&self) {
        let s = self.sched();
        if s.timer_cancelled() {
            s.compact_timers(|task, seq| self.timer_lives(task, seq));
        }
    }
    /// Under the table's lock: the task may run again.
    fn wait_is_over(&self, t: TaskPtr) {
        t.state.set(State::Ready);
        if t.forever {
            self.tasks.sleepers.fetch_sub(1, Relaxed);
        }
    }
    /// Is that very wait still on?
    pub(crate) fn waits(&self, t: Ticket) -> bool {
        self.tasks.get(t.task).is_some_and(|w| w.wait_seq.load(Relaxed) == t.seq)
    }
    /// Ends the wait a task is in, or with `next` the next one it begins. True when it was waiting.
    pub(crate) fn wake_any(&mut self, task: u64, next: bool) -> bool {
        let seq = {
            let table = self.shared_tasks();
            let _order = table.lock();
            match table.get(task) {
                Some(t) if t.state.get() == State::Waiting => t.wait_seq.load(Relaxed),
                Some(t) if next && t.state.get() != State::Done => {
                    t.wake_token.store(true, Relaxed);
                    return false;
                }
                _ => return false,
            }
        };
        self.end_wait(Ticket { task, seq }, true)
    }
    /// A task that may run joins a queue: this worker's, or that of the only worker that may run it.
    pub(crate) fn enqueue(&mut self, id: u64, pinned: bool) {
        let w = self.worker;
        let elsewhere = pinned && w != 0;
        // Whoever hands work over mostly waits for the answer: it is there before those that only compute have had
        // their turns. The two share one turn, so that the others are not kept waiting.
        let front = self.front == 0 && self.task.id != 0 && !elsewhere;
        if front {
            self.front = id;
        }
        let sched = self.sched();
        if elsewhere {
            sched.push(0, id, true);
            sched.wake_worker(0);
            self.poll_worker(0);
            return;
        }
        let crowd = sched.has_ready(w);
        if front {
            sched.push_front(w, id, pinned);
        } else {
            sched.push(w, id, pinned);
        }
        if crowd {
            sched.nudge(w);
        }
    }
    /// Sends an exception (or `true`: kill) to a thread.
    pub(crate) fn send_interrupt(&mut self, root: TaskPtr, v: Value) {
        self.heap.publish(v);
        root.interrupts.lock().push(v);
        root.mail.store(true, Release);
        let t = self.active_of(root);
        let ready = {
            let table = self.shared_tasks();
            let _order = table.lock();
            if t.state.get() == State::Waiting && self.due_interrupt(root, true).is_some() {
                t.wait_seq.fetch_add(1, Relaxed);
                t.woken.store(false, Relaxed);
                self.wait_is_over(t);
                true
            } else {
                false
            }
        };
        if ready {
            let timed = t.timed;
            self.enqueue(t.id, t.pinned);
            if timed {
                self.timer_over();
            }
        } else {
            self.poll_all();
        }
    }
    /// The task of a thread that runs or waits now: its first one, or one of its fibers.
    pub(crate) fn active_of(&self, root: TaskPtr) -> TaskPtr {
        self.tasks.get(root.active.load(Acquire)).unwrap_or(root)
    }
    /// The scheduler, made when first needed.
    pub(crate) fn sched(&self) -> &Sched {
        self.sched_cell().get_or_init(|| {
            let seed = std::env::var("KUMI_SCHED_STRESS").ok().and_then(|v| v.trim().parse::<u64>().ok());
            let s = Sched::new(Config { workers: kumi_sched::default_workers(), seed });
            crate::worker::arm_signals(&s);
            s
        })
    }
    /// A second thread exists: turns end by the clock.
    pub(crate) fn start_ticker(&mut self) {
        let rt = self.runtime();
        let weak = std::sync::Arc::downgrade(&rt);
        let fresh = self.sched().start_ticker(TICK_NS, move || {
            if let Some(rt) = weak.upgrade() {
                rt.tick();
            }
        });
        if fresh {
            self.sched().ticker_on(true);
        }
    }

    // --- doors for natives ----------------------------------------------------

    /// Parks the running native until `fd` is ready; it is called again then.
    pub fn park_io(&mut self, fd: i32, read: bool, write: bool) -> Exit {
        self.pending.io.clear();
        self.pending.io.push((fd, read, write));
        Exit::Park
    }
    /// Parks the running native until one of several descriptors is ready, each for reading or writing as told, or until a
    /// monotonic time (`u64::MAX`: none); it is called again then, and looks which. None: until that time.
    pub fn park_io_any(&mut self, fds: &[(i32, bool, bool)], deadline: u64) -> Exit {
        self.pending.io = Watches::from_slice(fds);
        self.pending.deadline = deadline;
        Exit::Park
    }
    /// As [`Cx::park_io`], for at most `limit` nanoseconds from when the running native first asked: `None` when they are
    /// over. What was waited for has come: [`Cx::io_done`].
    pub fn park_io_within(&mut self, fd: i32, read: bool, write: bool, limit: u64) -> Option<Exit> {
        let now = now_ns();
        if self.task.waits != Waits::Io {
            self.task.waits = Waits::Io;
            self.task.until = now.saturating_add(limit);
        }
        if now >= self.task.until {
            self.task.waits = Waits::Nothing;
            return None;
        }
        self.pending.deadline = self.task.until;
        Some(self.park_io(fd, read, write))
    }
    /// The wait of [`Cx::park_io_within`], if there was one, is over: the next one counts from its own start.
    #[inline]
    pub fn io_done(&mut self) {
        if self.task.waits == Waits::Io {
            self.task.waits = Waits::Nothing;
        }
    }
    /// A descriptor is about to be closed: the natives that wait for it run again, and find out.
    pub fn closing(&mut self, fd: i32) {
        for (task, seq) in self.sched().closing(fd) {
            self.wake(Ticket { task, seq });
        }
    }
    /// Does the running native run again, after [`Cx::park_io_within`]? Ends that wait.
    pub fn io_waited(&mut self) -> bool {
        let waited = self.task.waits == Waits::Io;
        self.io_done();
        waited
    }
    /// Runs a call that can only block on the pool; the task parks, and the native that is called again gets the value.
    ///
    /// # Errors
    /// `Exit::Park` while the work is under way.
    pub fn offload<T: Send + 'static>(&mut self, f: impl FnOnce() -> T + Send + 'static) -> Result<T, Exit> {
        if self.task.waits == Waits::Job {
            if let Some(v) = self.task.job.take() {
                self.task.waits = Waits::Nothing;
                return match v.downcast::<T>() {
                    Ok(v) => Ok(*v),
                    Err(_) => Err(self.runtime_error("a blocking call failed")),
                };
            }
        }
        self.task.waits = Waits::Job;
        self.task.job = None;
        self.pending.job = Some(Box::new(move || Box::new(f()) as Box<dyn std::any::Any + Send>));
        Err(Exit::Park)
    }
    /// Has the call that this native gave to the pool ended, so that `offload` will give its value?
    pub fn job_ready(&self) -> bool {
        self.task.waits == Waits::Job && self.task.job.is_some()
    }
    /// Are there other threads, or time limits, that have something to do while this one waits?
    pub fn others_alive(&self) -> bool {
        self.tasks.threads.load(Relaxed) > 0 || self.limits.armed.load(Relaxed) > 0
    }
    /// Makes the running thread worker 0's, the process's first; the native runs again there.
    ///
    /// # Errors
    /// `Exit::Park` when it has to move.
    pub fn need_main_worker(&mut self) -> Result<(), Exit> {
        if self.worker == 0 {
            return Ok(());
        }
        self.task.pinned = true;
        self.pending.deadline = 0;
        Err(Exit::Park)
    }
    /// `$!`
    pub fn errinfo(&self) -> Value {
        self.task.err
    }
    pub fn set_errinfo(&mut self, v: Value) {
        self.task.err = v;
    }
}

pub(crate) fn proc_call(prc: Value, args: &[Value]) -> Call {
    Call {
        target: Target::Proc(prc),
        recv: Value::NIL,
        args: Args::from_slice(args),
        kw: Value::UNDEF,
        block: Value::NIL,
        fcall: true,
        result: Value::UNDEF,
    }
}

pub(crate) static TABLE: &[NativeDef] = &[
    intrinsic("__after_signal", 0, 0, |cx, _, _| match cx.task.after_signal.pop() {
        Some(w) => {
            (cx.task.waits, cx.task.since, cx.task.until) = (w.waits, w.since, w.until);
            match w.call {
                Some(call) => {
                    cx.pending.call = Some(call);
                    Err(Exit::Call)
                }
                None => Ok(Value::NIL),
            }
        }
        None => Ok(Value::NIL),
    })
    .guard(Guard::None),
    intrinsic("__after_signal_drop", 0, 0, |cx, _, _| {
        cx.task.after_signal.pop();
        Ok(Value::NIL)
    })
    .guard(Guard::None),
    intrinsic("__now_ns", 0, 0, |cx, _, _| Ok(cx.uint(now_ns()))).guard(Guard::None),
];
