//! The scheduler's lower floor: moves opaque tasks between workers, keeps their timers and descriptors, runs blocking
//! calls on a pool, and puts idle workers to sleep. It knows nothing of what a task is.
//!
//! Threads and fibers of the Kumihimo runtime are run over it; any runtime of green threads or coroutines can be. Who has the workers
//! owns the tasks: the scheduler has their numbers only. Ten tasks that sleep for a millisecond each, on two workers:
//!
//! ```
//! use kumi_sched::{Config, Event, Sched, now_ns};
//! use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
//!
//! let sched = Sched::new(Config { workers: 2, seed: None });
//! let (runs, done) = ([const { AtomicUsize::new(0) }; 10], AtomicUsize::new(0));
//! (0..10).for_each(|task| sched.push(0, task, false));
//! let worker = |me: usize| {
//!     let mut events = Vec::new();
//!     while done.load(SeqCst) < 10 {
//!         if let Some(task) = sched.pop(me) {
//!             if runs[task as usize].fetch_add(1, SeqCst) == 0 {
//!                 sched.timer(now_ns() + 1_000_000, task, 1); // it waits, and the worker goes on
//!             } else if done.fetch_add(1, SeqCst) == 9 {
//!                 (0..2).for_each(|w| sched.wake_worker(w));
//!             }
//!             continue;
//!         }
//!         sched.poll_events(now_ns(), &mut events);
//!         if events.is_empty() {
//!             sched.wait(me); // for an event, for another worker's entry, or for no reason
//!         }
//!         for event in events.drain(..) {
//!             if let Event::Timer(task, _) = event {
//!                 sched.push(me, task, false);
//!                 sched.nudge(me);
//!             }
//!         }
//!     }
//! };
//! std::thread::scope(|scope| (0..2).for_each(|me| drop(scope.spawn(move || worker(me)))));
//! assert!(runs.iter().all(|n| n.load(SeqCst) == 2) && sched.ready() == 0);
//! ```
//!
//! A busy worker calls `poll_events` between tasks now and then (`events_pending` is cheap), since nobody else does
//! when all are busy. After `wait` returns, look at everything: it may return for no reason.
//!
//! Every function may be called from any thread, but for `pop`, `pop_ranked`, `wait` and `poll_events`: one thread at a time is a
//! worker's. A number that is no worker's counts as worker 0. Times are nanoseconds of [`now_ns`].
//!
//! Every wait is named (task, seq). Events for a wait that is over may still come and are the owner's to ignore.
//!
//! Files: `queue` (ready queues, stealing), `timer`, `ready` (descriptors) over `sys` (epoll or kqueue), `pool`,
//! `idle` (sleeping and waking), `attend` (what an idle worker serves), `stop` (one worker has the runtime to itself), `ticker`, `threads`, `cores` by the `control_group`. Locks:
//! each file has its own, all innermost: none is taken under another. This file's is `inbox`.

#![deny(missing_docs)]

mod attend;
mod control_group;
mod cores;
mod idle;
mod pool;
mod queue;
mod ready;
mod stop;
mod sync;
mod sys;
mod threads;
mod ticker;
mod timer;

use attend::{Attendance, Came};
use idle::{Idle, Rest, SPIN_NS, Token};
use queue::{Look, Queues, Steal};
use std::any::Any;
use std::cell::Cell;
use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;
use sync::{AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering::*, lock};

pub use attend::Service;
pub use control_group::{ControlGroup, control_groups};
pub use cores::default_workers;
pub use pool::Panicked;
pub use queue::{Position, Rank, TaskId};
pub use ready::Watch;
pub use stop::{Stop, Surroundings};
pub use sys::{now_ns, run_promptly};
pub use threads::Threads;

/// How a scheduler is made.
#[derive(Clone, Debug)]
pub struct Config {
    /// How many workers; at least one.
    pub workers: usize,
    /// Random order and theft from this seed (`KUMI_SCHED_STRESS`), to find what depends on order.
    pub seed: Option<u64>,
}

/// Something that a wait waited for: the task, and the number of the wait.
pub enum Event {
    /// A deadline has passed.
    Timer(TaskId, u64),
    /// A descriptor is ready, for what was asked. An error or the other end's close counts as ready for both.
    Io {
        /// Who waited.
        task: TaskId,
        /// The number of its wait.
        seq: u64,
        /// The descriptor.
        fd: i32,
        /// Reading it would not block.
        readable: bool,
        /// Writing to it would not block.
        writable: bool,
    },
    /// A job of the pool is done; `Panicked` if it panicked. Task 0: a job that nobody waits for.
    Job(TaskId, u64, Box<dyn Any + Send>),
    /// Somebody outside called `wake_task`.
    Wake(TaskId, u64),
}

/// Timers handed over at once; the rest stays due.
const TIMER_BATCH: usize = 1024;
/// How long the end of a scheduler waits for jobs that are under way.
const LAST_JOBS: Duration = Duration::from_secs(1);

thread_local! {
    /// The scheduler whose service this thread serves just now, and for which worker.
    static SERVING: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// A scheduler. Share it as `Arc<Sched>`. Dropping it ends the ticker and the pool's idle threads, and waits for none of them
/// ([`end`](Sched::end) does); jobs that none has begun are lost.
pub struct Sched {
    config: Config,
    queues: Queues,
    timers: timer::Timers,
    ready: ready::Readiness,
    pool: Arc<pool::Pool>,
    idle: Idle,
    attendance: Attendance,
    ticker: Arc<ticker::Ticker>,
    /// Events that came while nobody asked.
    inbox: Mutex<Vec<Event>>,
    /// How many they are. A hint.
    pending: AtomicUsize,
    jobs: AtomicUsize,
    /// Those of them that nobody waits for.
    spawned: AtomicUsize,
    /// Workers inside `wait`.
    waiting: AtomicUsize,
    /// `stuck` was asked while somebody was on the way to bed.
    unsure: AtomicBool,
    /// How often a worker has left `wait`.
    left: AtomicU64,
    pid: u32,
    me: Weak<Sched>,
}

impl Sched {
    /// A scheduler for a number of workers.
    ///
    /// # Panics
    /// When the system gives no readiness queue; `try_new` returns that as an error.
    pub fn new(config: Config) -> Arc<Sched> {
        Self::try_new(config).unwrap_or_else(|e| panic!("the system gives no readiness queue: {e}"))
    }

    /// The same, where the system may give no readiness queue.
    ///
    /// # Errors
    /// The system's: it has no descriptor left, as a rule.
    pub fn try_new(config: Config) -> io::Result<Arc<Sched>> {
        let config = Config { workers: config.workers.clamp(1, 4096), ..config };
        let ready = ready::Readiness::new()?;
        Ok(Arc::new_cyclic(|me| Sched {
            queues: Queues::new(config.workers, config.seed),
            timers: timer::Timers::new(),
            ready,
            pool: pool::Pool::new(pool::default_limit()),
            idle: Idle::new(config.workers),
            attendance: Attendance::default(),
            ticker: ticker::Ticker::new(),
            inbox: Mutex::new(Vec::new()),
            pending: AtomicUsize::new(0),
            jobs: AtomicUsize::new(0),
            spawned: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            unsure: AtomicBool::new(false),
            left: AtomicU64::new(0),
            pid: std::process::id(),
            me: me.clone(),
            config,
        }))
    }

    /// A fresh scheduler with the same configuration, for the child of a fork: no threads, nothing queued or watched.
    /// This one gives its descriptors up and must not be used any more in the child, where its locks may be held by
    /// threads that don't exist; dropping it is safe.
    pub fn after_fork_child(&self) -> Arc<Sched> {
        // First, so that a process at its limit of descriptors has room.
        self.ready.kernel().close();
        self.attendance.close();
        Self::new(self.config.clone())
    }

    /// The end: workers have left for good. Jobs that none has begun are dropped, and the ticker's and the pool's threads are waited for.
    /// False: a job goes on (for more than a second); its thread ends with it, and nobody gets what comes of it. What is asked of the
    /// scheduler from now on comes to nothing.
    pub fn end(&self) -> bool {
        self.ticker.end();
        self.pool.end(LAST_JOBS)
    }

    /// How many workers.
    pub fn workers(&self) -> usize {
        self.config.workers
    }

    /// A worker's number, made safe.
    fn slot(&self, worker: usize) -> usize {
        if worker < self.config.workers { worker } else { 0 }
    }

    // Ready queues.

    /// Adds a fresh task at the end of a worker's queue. A pinned one stays there. Wakes nobody: follow with `nudge`, or with
    /// `wake_worker` if the queue is another worker's.
    pub fn push(&self, worker: usize, t: TaskId, pinned: bool) {
        self.push_at(worker, t, pinned, Position { rank: Rank::Fresh, first: false });
    }

    /// Adds a fresh task at the front.
    pub fn push_front(&self, worker: usize, t: TaskId, pinned: bool) {
        self.push_at(worker, t, pinned, Position { rank: Rank::Fresh, first: true });
    }

    /// Adds a task of either rank.
    pub fn push_at(&self, worker: usize, t: TaskId, pinned: bool, place: Position) {
        self.queues.push(self.slot(worker), t, pinned, place);
    }

    /// [`pop_ranked`](Self::pop_ranked) with fresh tasks first.
    pub fn pop(&self, worker: usize) -> Option<TaskId> {
        self.pop_ranked(worker, Rank::Fresh).map(|x| x.0)
    }

    /// The next task of the worker's queue, one of rank `first` if there is any; else half of what another's queue has to
    /// give is taken over. Only what has waited about 20 µs is: a worker that finds nothing else gets young entries of a
    /// crowded queue after its `wait`.
    pub fn pop_ranked(&self, worker: usize, first: Rank) -> Option<(TaskId, Rank)> {
        let w = self.slot(worker);
        // Under stress a quarter of the tasks move for no reason.
        let early = self.queues.stressed() && self.queues.random(4) == 0;
        let take = || self.queues.take(w, first);
        let t = if early { self.steal(w).or_else(take) } else { take() };
        let t = t.or_else(|| self.steal(w))?;
        if self.idle.found(w) {
            self.idle.stop_search(w, &self.queues, |place| self.ring(place));
        }
        Some(t)
    }

    fn steal(&self, w: usize) -> Option<(TaskId, Rank)> {
        let greedy = self.idle.take_greed(w);
        if self.config.workers == 1 || !self.queues.hint(w) {
            return None;
        }
        let how = if self.queues.stressed() {
            Steal::Any
        } else {
            self.queues.tick(now_ns());
            if greedy { Steal::Crowd } else { Steal::Aged }
        };
        let (t, rank, more) = self.queues.steal(w, how)?;
        if more {
            self.nudge(w);
        }
        Some((t, rank))
    }

    /// Whether the worker's own queue has an entry. One load.
    pub fn has_ready(&self, worker: usize) -> bool {
        self.queues.len(self.slot(worker)) > 0
    }

    /// Whether it has one of that rank. Two loads.
    pub fn has_ready_of(&self, worker: usize, rank: Rank) -> bool {
        self.queues.len_of(self.slot(worker), rank) > 0
    }

    /// How many tasks are queued in all. A hint.
    pub fn ready(&self) -> usize {
        self.queues.total()
    }

    /// Drops a task's entries. One that is on its way between two queues is missed: be ready to pop an unknown task.
    pub fn remove(&self, t: TaskId) {
        self.queues.remove(t);
    }

    // Waking.

    /// There is work that others could take: wakes one idle worker, unless one searches or naps. `from`: whose queue has
    /// it; a number that is no worker's wakes a napping one too.
    pub fn nudge(&self, from: usize) {
        self.idle.nudge(from, &self.queues, |place| self.ring(place));
    }

    /// The same of work that whoever has it does not come to soon: a napping worker is woken, too.
    pub fn call(&self) {
        self.nudge(usize::MAX);
    }

    /// A worker must look at its queue and at what its owner keeps for it: its present or next `wait` returns.
    pub fn wake_worker(&self, w: usize) {
        let place = self.idle.wake(w, Token::Look);
        self.ring(place);
    }

    /// Wakes a worker where it sleeps, unless it is woken already.
    fn ring(&self, place: Rest) {
        match place {
            Rest::Polling => self.ready.kernel().ring(),
            Rest::Attending => self.attendance.ring(),
            Rest::Awake | Rest::Parked => {}
        }
    }

    /// How many workers are in `wait`.
    pub fn idle_workers(&self) -> usize {
        self.waiting.load(Relaxed)
    }

    /// Is nobody about to run: is no worker woken that has not seen it yet, and no task queued? Exact for the moment of each look only.
    pub fn nothing_begins(&self) -> bool {
        self.queues.all_empty() && !self.idle.any_token()
    }

    /// Whether nothing can come any more: all other workers are in `wait` and not woken, no task is queued, no event is on its
    /// way, no timer is set, no descriptor watched, no job running. Asked by a running worker; the answer is exact as
    /// long as only workers and the pool add anything. Stale timers count as set.
    /// `own` timers are the asker's and no task's.
    pub fn stuck(&self, own: usize) -> bool {
        let left = self.left.load(SeqCst);
        let all = || self.waiting.load(SeqCst) + 1 >= self.config.workers;
        if !all() {
            self.unsure.store(true, SeqCst);
            return false;
        }
        let quiet = self.watching() == 0
            && self.jobs_running() == 0
            && self.timers.len() <= own
            && lock(&self.inbox).is_empty()
            && self.nothing_begins();
        let still = all() && self.left.load(SeqCst) == left;
        self.unsure.store(!still, SeqCst);
        quiet && still
    }

    // Timers.

    /// Sets a timer for a wait: [`Event::Timer`] comes when [`now_ns`] has reached the deadline. One in the past is due at once.
    pub fn timer(&self, deadline_ns: u64, t: TaskId, seq: u64) {
        if self.timers.insert(deadline_ns, t, seq) {
            self.ready.kernel().ring();
        }
    }

    /// A wait with a timer ended early. True: more than half of the timers are stale, and `compact_timers` should be
    /// called.
    pub fn timer_cancelled(&self) -> bool {
        self.timers.cancelled()
    }

    /// Drops the timers of waits that `live` says are over. No lock is held while it is asked.
    pub fn compact_timers(&self, live: impl FnMut(TaskId, u64) -> bool) {
        self.timers.compact(live);
    }

    /// Could all timers but `own` of them be stale? `compact_timers` tells, and makes the answer no.
    pub fn timers_may_be_stale(&self, own: usize) -> bool {
        self.timers.may_be_stale(own)
    }

    /// How many timers are set, stale ones included.
    pub fn timers(&self) -> usize {
        self.timers.len()
    }
    /// The earliest timer's deadline, in [`now_ns`]'s time; a stale one's, if it is the first.
    pub fn next_deadline(&self) -> Option<u64> {
        self.timers.next()
    }
    // Readiness.

    /// Notes what a wait wants to hear of a descriptor, while that is certainly open: whoever closes it calls
    /// [`closing`](Self::closing) after this.
    pub fn note(&self, fd: i32, read: bool, write: bool) -> Watch {
        self.ready.note(fd, read, write)
    }

    /// Were no descriptors closed since then that might be the noted one?
    pub fn holds(&self, w: Watch) -> bool {
        self.ready.holds(w)
    }

    /// Waits for a descriptor, for one event. Several waits may share one; regular files are ready at once.
    ///
    /// # Errors
    /// The kernel's; `EBADF` also when descriptors were closed since the wait was noted, this one perhaps among them. Whoever waits
    /// is to look for itself.
    pub fn watch(&self, w: Watch, t: TaskId, seq: u64) -> io::Result<()> {
        if !self.ready.watch(w, t, seq)? {
            self.deliver([Event::Io { task: t, seq, fd: w.fd, readable: w.read, writable: w.write }]);
        }
        Ok(())
    }

    /// A wait for a descriptor is over.
    pub fn unwatch(&self, fd: i32, t: TaskId, seq: u64) {
        self.ready.unwatch(fd, t, seq);
    }

    /// A descriptor is about to be closed: its waits, which are watched no more.
    pub fn closing(&self, fd: i32) -> Vec<(TaskId, u64)> {
        self.ready.closing(fd)
    }

    /// Who waits for a descriptor.
    pub fn waiters(&self, fd: i32) -> Vec<(TaskId, u64)> {
        self.ready.waiters(fd)
    }

    /// How many waits for descriptors there are.
    pub fn watching(&self) -> usize {
        self.ready.watching()
    }

    // Events.

    /// Adds what came to `out`: due timers (a batch), ready descriptors, finished jobs. Never blocks.
    pub fn poll_events(&self, now_ns: u64, out: &mut Vec<Event>) {
        // A worker that sleeps in the kernel's queue brings what comes there.
        if self.ready.watching() > 0 && !self.idle.has_poller() {
            self.ask_kernel(0);
        }
        if self.pending.load(Acquire) > 0 {
            let mut inbox = lock(&self.inbox);
            out.append(&mut inbox);
            if inbox.capacity() > 4096 {
                inbox.shrink_to(256);
            }
            self.pending.store(0, Release);
        }
        self.timers.due(now_ns, TIMER_BATCH, |t, seq| out.push(Event::Timer(t, seq)));
    }

    /// Whether `poll_events` has something without asking the kernel. Two loads.
    pub fn events_pending(&self, now_ns: u64) -> bool {
        self.pending.load(Relaxed) > 0 || self.timers.next().is_some_and(|d| d <= now_ns)
    }

    /// Asks the kernel and puts the reports into the inbox. True: the bell rang or a signal came.
    fn ask_kernel(&self, limit_ns: u64) -> (bool, usize) {
        let mut reports = Vec::new();
        let rung = self.ready.wait(limit_ns, &mut reports);
        let n = reports.len();
        if n > 0 {
            let events = reports.into_iter().map(|r| Event::Io {
                task: r.task,
                seq: r.seq,
                fd: r.ready.fd,
                readable: r.ready.readable,
                writable: r.ready.writable,
            });
            self.put(events);
            self.ready.served(n);
        }
        (rung, n)
    }

    /// True: there was none before.
    fn put(&self, events: impl IntoIterator<Item = Event>) -> bool {
        let mut inbox = lock(&self.inbox);
        let first = inbox.is_empty();
        inbox.extend(events);
        self.pending.store(inbox.len(), Release);
        first
    }

    /// Puts events into the inbox and sees to it that a worker that sleeps comes for them.
    fn deliver(&self, events: impl IntoIterator<Item = Event>) {
        let first = self.put(events);
        if !first || self.serving().is_some() {
            // Whoever was told of the first of them takes all; this very worker looks for them next.
            return;
        }
        if self.idle.has_poller() {
            self.ready.kernel().ring();
        } else {
            while let Some(w) = self.idle.pick_parked() {
                let place = self.idle.wake(w, Token::Look);
                if place != Rest::Awake {
                    self.ring(place);
                    break;
                }
            }
        }
    }

    // The pool.

    /// Runs a blocking call on the pool; its result comes as [`Event::Job`], a [`Panicked`] if it panicked. When the system gives no
    /// thread at all, the caller's runs it.
    pub fn submit(&self, t: TaskId, seq: u64, job: Box<dyn FnOnce() -> Box<dyn Any + Send> + Send>) {
        self.jobs.fetch_add(1, SeqCst);
        let me = self.me.clone();
        self.pool.submit(Box::new(move || {
            let result = pool::catching(job);
            if let Some(sched) = me.upgrade() {
                sched.deliver([Event::Job(t, seq, result)]);
                // After the delivery: who sees no job running sees its event.
                sched.jobs.fetch_sub(1, SeqCst);
            }
        }));
    }

    /// Runs a job on the pool that no task waits for; nor does the end of the process. False, and the job is dropped: too
    /// many are under way.
    pub fn spawn(&self, job: Box<dyn FnOnce() + Send>) -> bool {
        if self.spawned.fetch_add(1, SeqCst) >= self.pool.limit().div_ceil(2) {
            self.spawned.fetch_sub(1, SeqCst);
            return false;
        }
        self.jobs.fetch_add(1, SeqCst);
        let me = self.me.clone();
        self.pool.submit(Box::new(move || {
            pool::catching(Box::new(move || {
                job();
                Box::new(())
            }));
            if let Some(sched) = me.upgrade() {
                // Somebody is to look who has anything to wait for now.
                sched.deliver([Event::Job(0, 0, Box::new(()))]);
                // In this order: where no job runs there is none that nobody waits for.
                sched.spawned.fetch_sub(1, SeqCst);
                sched.jobs.fetch_sub(1, SeqCst);
            }
        }));
        true
    }

    /// How many jobs are under way that no task waits for.
    pub fn spawned(&self) -> usize {
        self.spawned.load(SeqCst)
    }

    /// Ends a wait from any thread: `Event::Wake`.
    pub fn wake_task(&self, t: TaskId, seq: u64) {
        self.deliver([Event::Wake(t, seq)]);
    }

    /// The same for a task that only this worker runs: no other is woken, who would have to wake it in turn.
    pub fn wake_task_of(&self, worker: usize, t: TaskId, seq: u64) {
        self.put([Event::Wake(t, seq)]);
        if self.serving() != Some(worker) {
            self.wake_worker(worker);
        }
    }

    /// How many jobs are queued or running.
    pub fn jobs_running(&self) -> usize {
        self.jobs.load(SeqCst)
    }

    // Signals.

    /// Writing 8 bytes (not zero) to this descriptor makes the worker that sleeps in the kernel's queue, or the next one
    /// to go there, return from `wait`. The write is async-signal-safe and never blocks.
    pub fn signal_fd(&self) -> i32 {
        self.ready.kernel().bell()
    }

    // The ticker.

    /// Starts a thread that calls `f` every period while `ticker_on(true)`. False: it was started before, or the system
    /// gives no thread.
    pub fn start_ticker(&self, period_ns: u64, f: impl Fn() + Send + 'static) -> bool {
        let me = self.me.clone();
        self.ticker.start(period_ns, move || {
            f();
            if let Some(sched) = me.upgrade() {
                sched.rescue();
            }
        })
    }

    /// Was the ticker started?
    pub fn has_ticker(&self) -> bool {
        self.ticker.is_started()
    }

    /// Switch it on while a worker runs and there is a reason to interrupt it: another task is ready or another worker
    /// active, or waits are on that nobody polls for (`unattended`). Cheap when nothing changes.
    pub fn ticker_on(&self, on: bool) {
        self.ticker.set(on);
    }

    /// Whether waits are on and no worker sleeps in the kernel's queue, so that busy workers must poll.
    pub fn unattended(&self) -> bool {
        !self.idle.has_poller() && (self.ready.watching() > 0 || self.timers.next().is_some() || self.jobs_running() > 0)
    }

    /// What a tick mends: work that nobody was woken for, and a poller's role that nobody has though somebody sleeps.
    fn rescue(&self) {
        if self.idle.all_up() {
            return;
        }
        if self.unattended() {
            self.idle.hand_on_role(|place| self.ring(place));
        }
        self.queues.tick(now_ns());
        if !self.idle.is_searched() && !self.idle.is_dozing() && self.queues.any_open() {
            self.idle.wake_for_search(&self.queues, |place| self.ring(place));
        }
    }

    // Idle workers.

    /// What an idle worker serves from now on as well, where its tasks expect something of it.
    ///
    /// # Errors
    /// The system's: it has no descriptor left, as a rule.
    pub fn add_service(&self, service: Arc<dyn Service>) -> io::Result<()> {
        self.attendance.add(service)
    }

    /// That one is served no more.
    pub fn remove_service(&self, service: &Arc<dyn Service>) {
        self.attendance.remove(service);
    }

    /// The task that this worker runs is about to wait for something that a service brings.
    pub fn expect_service(&self, worker: usize) {
        if self.attendance.is_there() {
            self.idle.expect(self.slot(worker));
        }
    }

    /// Nothing to do for this worker: returns when there may be something again. Spins a moment if it had work lately
    /// and spinning has paid, then sleeps: one worker in the kernel's queue until the next timer, the others parked.
    pub fn wait(&self, worker: usize) {
        self.wait_at_most(worker, u64::MAX);
    }

    /// The same for so many nanoseconds at most. False: they are over, and nothing has come.
    pub fn wait_at_most(&self, worker: usize, ns: u64) -> bool {
        let until = if ns == u64::MAX { ns } else { now_ns().saturating_add(ns) };
        let w = self.slot(worker);
        let mut came = true;
        let last = self.waiting.fetch_add(1, SeqCst) + 1 >= self.config.workers;
        // Whoever lies down last asks `stuck` once more, when the one before could not tell.
        if !(last && self.unsure.swap(false, SeqCst)) {
            came = self.settle(w, until);
        }
        self.left.fetch_add(1, SeqCst);
        self.waiting.fetch_sub(1, SeqCst);
        came
    }

    /// Whether something is there for this worker, judged without a lock.
    fn glance(&self, w: usize, now: u64) -> bool {
        self.queues.len(w) > 0 || self.events_pending(now)
    }

    /// False: it is `until` then, and nothing has come.
    fn settle(&self, w: usize, until: u64) -> bool {
        let idle = &self.idle;
        if idle.take_token(w) || self.glance(w, now_ns()) {
            return true;
        }
        let service = if self.attendance.is_there() && idle.take_expectation(w) { self.attendance.begin(w) } else { None };
        let service = service.as_ref();
        let since = if service.is_some() { now_ns() } else { 0 };
        if self.config.workers > 1 || service.is_some() && self.attendance.may_spin() {
            let spin = idle.begin_search(w);
            if spin > 0 && self.spin(w, spin, service) {
                service.inspect(|s| self.attendance.end(s));
                return true;
            }
        }
        let came = loop {
            let polls = idle.try_poller(w);
            let place = match (polls, service) {
                (true, _) => Rest::Polling,
                (false, Some(_)) => Rest::Attending,
                (false, None) => Rest::Parked,
            };
            let mut served = false;
            let token = match idle.lie_down(w, place) {
                Ok(()) => {
                    let found = self.sleep(w, polls, service, since, until);
                    let token = idle.get_up(w).max(found);
                    idle.stop_doze(w, &self.queues, |place| self.ring(place));
                    if let Some(s) = service {
                        served = self.serve(w, s);
                    }
                    if polls {
                        self.give_up_role();
                    }
                    token
                }
                Err(token) => {
                    if polls {
                        self.give_up_role();
                    }
                    token
                }
            };
            let now = now_ns();
            let is_over = token == Token::None && now >= until;
            let in_vain = served && token == Token::None && !is_over && !self.glance(w, now);
            if token != Token::Role && !in_vain {
                break !is_over || self.glance(w, now);
            }
        };
        if let Some(s) = service {
            self.attendance.end(s);
            if !came {
                idle.expect(w);
            }
        }
        came
    }

    /// Serves what has come. False: nothing has.
    fn serve(&self, w: usize, service: &Arc<dyn Service>) -> bool {
        let before = SERVING.replace((std::ptr::from_ref(self) as usize, w));
        let some = service.serve();
        SERVING.set(before);
        some
    }

    /// The worker that this thread serves for.
    fn serving(&self) -> Option<usize> {
        let (sched, worker) = SERVING.get();
        (sched == std::ptr::from_ref(self) as usize).then_some(worker)
    }

    /// Somebody else must sleep in the kernel's queue now, if anything can come there.
    fn give_up_role(&self) {
        self.idle.leave_poller();
        if self.unattended() {
            self.idle.hand_on_role(|place| self.ring(place));
        }
    }

    /// Looks for work for a while. True: there is some.
    fn spin(&self, w: usize, limit_ns: u64, service: Option<&Arc<dyn Service>>) -> bool {
        let from = now_ns();
        let mut now = from;
        while now - from < limit_ns.min(SPIN_NS) {
            if self.idle.take_token(w) || self.glance(w, now) {
                self.idle.learn(w, true);
                return true;
            }
            if self.queues.hint(w) {
                self.queues.tick(now);
                if self.queues.look(w) == Look::Work {
                    self.idle.learn(w, true);
                    return true;
                }
            }
            match service {
                Some(s) => {
                    // Who is to bring it may wait for this very core.
                    std::thread::yield_now();
                    self.serve(w, s);
                }
                None => (0..8).for_each(|_| std::hint::spin_loop()),
            }
            now = now_ns().max(now);
        }
        // What was served last woke nobody: this worker is to see it.
        service.is_some() && self.glance(w, now)
    }

    /// Lain down; sleeps until there is a reason to get up. `Look`, `Role`: found one itself; `None`: see the token, or it is `until` then.
    fn sleep(&self, w: usize, polls: bool, service: Option<&Arc<dyn Service>>, since: u64, until: u64) -> Token {
        let idle = &self.idle;
        let mut naps = idle::Naps::new();
        loop {
            idle.end_doze(w);
            let look = self.queues.look(w);
            if look == Look::Work || (polls || service.is_some()) && !lock(&self.inbox).is_empty() {
                return Token::Look;
            }
            if look == Look::Crowd {
                idle.be_greedy(w);
                return Token::Look;
            }
            if !polls && self.unattended() {
                // The poller left after we asked for its role.
                return Token::Role;
            }
            let dozes = (look == Look::Young || idle.was_stirred()) && idle.doze(w);
            let from = now_ns();
            let left = if until == u64::MAX { until } else { until.saturating_sub(from) };
            let limit = if dozes { naps.next(look == Look::Young) } else { u64::MAX }.min(left);
            let woken = match service {
                Some(s) => !s.may_sleep() || self.attend_sleep(polls, limit),
                None if polls => self.poll_sleep(limit),
                None => idle.park(w, limit),
            };
            let now = now_ns();
            let is_over = !woken && now >= until;
            if is_over {
                // It goes on, and is learnt of at its end.
            } else if service.is_some() {
                idle.learn_of_service(w, now.saturating_sub(since));
            } else if !dozes {
                idle.learn(w, now.saturating_sub(from) < SPIN_NS);
            }
            if woken || is_over {
                return Token::None;
            }
            self.queues.tick(now);
        }
    }

    /// Sleeps in the queue that holds the service's; `polls`: and in the kernel's. True: something came, or a bell rang.
    fn attend_sleep(&self, polls: bool, limit_ns: u64) -> bool {
        if !polls {
            let Came { service, rung, .. } = self.attendance.sleep(limit_ns, None);
            return service || rung;
        }
        let until = self.timers.sleep();
        let now = now_ns();
        let mut woken = until <= now;
        if !woken {
            let left = if until == u64::MAX { u64::MAX } else { until - now };
            let came = self.attendance.sleep(left.min(limit_ns), Some(self.ready.kernel()));
            woken = came.service || came.rung;
            if came.other {
                let (rung, reports) = self.ask_kernel(0);
                if rung {
                    self.ready.kernel().drain();
                }
                woken |= rung || reports > 0;
            }
        }
        self.timers.awake();
        woken || until <= now_ns()
    }

    /// Sleeps in the kernel's queue. True: something came, or the bell rang.
    fn poll_sleep(&self, limit_ns: u64) -> bool {
        let until = self.timers.sleep();
        let now = now_ns();
        let (rung, reports) = if until <= now {
            (false, 0)
        } else {
            let left = if until == u64::MAX { u64::MAX } else { until - now };
            self.ask_kernel(left.min(limit_ns))
        };
        self.timers.awake();
        if rung {
            self.ready.kernel().drain();
        }
        rung || reports > 0 || until <= now_ns()
    }
}

impl Drop for Sched {
    fn drop(&mut self) {
        // In a fork's child the locks may be held by threads that are not there, and so are the threads to be told.
        if std::process::id() == self.pid {
            self.pool.close();
            self.ticker.close();
        }
    }
}

#[cfg(test)]
mod tests;
