//! Wakes from outside: any thread of the process may end a task's wait, and the pool works for nobody in particular.
//!
//! A [`Waker`] holds the name of one wait, nothing of the runtime: it may outlive the wait, the task and the runtime, and
//! does nothing then. What it says goes the way of all events, by the scheduler's inbox, and whichever worker looks first
//! ends the wait.

use crate::Cx;
use crate::cx::runtime::Runtime;
use crate::tasks::task::Ticket;
use kumi_record::Recorder;
use kumi_sched::{Sched, Service};
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::{Arc, Weak};

/// Ends one wait of one task, from any thread, any number of times. Copies are of the same wait.
#[derive(Clone)]
pub struct Waker(Arc<Inner>);

struct Inner {
    sched: Weak<Sched>,
    ticket: Ticket,
    /// The task stays on worker 0.
    pinned: bool,
    rung: AtomicBool,
    recorder: Option<Arc<Recorder>>,
}

impl Waker {
    /// Ends the wait, if it is still on. A native of a worker has it a little quicker by `cx.wake(waker.ticket())`.
    pub fn wake(&self) {
        if self.0.rung.swap(true, AcqRel) {
            return;
        }
        if let Some(s) = self.0.sched.upgrade() {
            let Ticket { task, seq } = self.0.ticket;
            if let Some(r) = &self.0.recorder {
                r.rings(task, seq);
            }
            if self.0.pinned {
                s.wake_task_of(0, task, seq);
            } else {
                s.wake_task(task, seq);
            }
        }
    }
    /// Was it called? Then it is good for nothing any more.
    pub fn is_spent(&self) -> bool {
        self.0.rung.load(Acquire)
    }
    /// The wait it ends.
    pub fn ticket(&self) -> Ticket {
        self.0.ticket
    }
}

impl std::fmt::Debug for Waker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Waker({:?})", self.0.ticket)
    }
}

/// Gives work to the pool from any thread, as [`Cx::spawn_job`] does. Keeps no runtime.
#[derive(Clone)]
pub struct Spawner(Weak<Runtime>);

impl Spawner {
    /// Has a thread of the pool do `work`, if a worker has nothing to do just now; else drops it and says false.
    pub fn spawn_on_idle(&self, work: Box<dyn FnOnce() + Send>) -> bool {
        let Some(rt) = self.0.upgrade() else { return false };
        let account = rt.account.clone();
        let work = move || {
            let _charged = account.charge();
            work();
        };
        rt.sched.get().is_some_and(|s| idle(&rt, s) > 0 && s.spawn(Box::new(work)))
    }
}

fn idle(rt: &Runtime, s: &Sched) -> usize {
    let idle = if rt.started.load(Relaxed) { s.idle_workers() } else { s.workers().saturating_sub(1) };
    idle.saturating_sub(s.spawned())
}

impl Cx {
    /// See [`Spawner`].
    pub fn spawner(&mut self) -> Spawner {
        self.sched();
        Spawner(Arc::downgrade(&self.runtime()))
    }
    /// Who calls this ends the wait that the running native is about to begin. A native asks for as many as it likes; then
    /// it must park ([`Cx::park`], [`Cx::park_io`], ..), which comes back at once when one was called meanwhile, or say
    /// [`no_wait`](Self::no_wait).
    ///
    /// That somebody holds a waker does not keep threads from being taken for deadlocked, as a job of the pool does:
    /// where only a thread of somebody else's making may call it, [`from_outside`](Self::from_outside).
    pub fn waker(&mut self) -> Waker {
        let ticket = match self.pending.ticketed {
            // Was it ended since, this names a wait that never is, and parking comes back at once.
            true => Ticket { task: self.task.id, seq: self.task.beside.seq() },
            false => self.ticket(),
        };
        self.sched();
        let sched = self.sched_cell().get().map_or_else(Weak::new, Arc::downgrade);
        Waker(Arc::new(Inner { sched, ticket, pinned: self.task.pinned, rung: AtomicBool::new(false), recorder: self.recorder().cloned() }))
    }
    /// The native that named its wait does not wait after all: tickets and wakers it made are void.
    pub fn no_wait(&mut self) {
        if std::mem::take(&mut self.pending.ticketed) {
            self.ticket();
            self.pending.ticketed = false;
        }
        self.pending.awaits = false;
    }
    /// The wait that the running native is about to begin ends by what is no affair of the runtime: it is no deadlock,
    /// however long it lasts.
    pub fn from_outside(&mut self) {
        self.pending.forever = true;
    }
    /// What idle workers serve as well from now on, whose tasks wait for it; see [`Service`].
    ///
    /// # Errors
    /// The system's: it has no descriptor left, as a rule.
    pub fn add_service(&mut self, service: Arc<dyn Service>) -> std::io::Result<()> {
        self.sched().add_service(service)
    }
    /// That one is served no more.
    pub fn remove_service(&mut self, service: &Arc<dyn Service>) {
        self.sched().remove_service(service);
    }
    /// The wait that the running native is about to begin ends by what a service brings.
    pub fn expect_service(&mut self) {
        self.sched().expect_service(self.worker);
    }
    /// Will this worker go on with another task, should this one wait?
    pub fn others_are_ready(&self) -> bool {
        self.sched_cell().get().is_some_and(|s| s.has_ready(self.worker))
    }
    /// What this worker has made ready, and does not come to soon, is worth waking another one that sleeps or naps.
    pub fn call_another(&self) {
        if let Some(sched) = self.sched_cell().get().filter(|s| s.has_ready(self.worker)) {
            sched.call();
        }
    }
    /// Has a thread of the pool do `work`, which may block or compute. No task waits for it, and neither does the end of the
    /// process; a fork's child does not have it. False, and `work` is dropped: enough is under way.
    pub fn spawn_job(&mut self, work: impl FnOnce() + Send + 'static) -> bool {
        let account = self.account.clone();
        self.sched().spawn(Box::new(move || {
            let _charged = account.charge();
            work();
        }))
    }
    /// How many workers have nothing to do just now, so that a job of the pool would have a core. A hint.
    pub fn idle_workers(&self) -> usize {
        let Some(s) = self.sched_cell().get() else { return self.wanted_workers().saturating_sub(1) };
        idle(&self.runtime(), s)
    }
}
