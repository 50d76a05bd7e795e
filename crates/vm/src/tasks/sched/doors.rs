//! What natives may wait for: descriptors, the pool, worker 0.
//!
//! **Invariant.** A door only notes in `pending` and in the task what is waited for; the loop parks the task when the native
//! has returned. The native is called again from its start, and finds by the same door that what it waited for has come.
//! A descriptor is noted under the lock of what owns it, so that a number which is given anew meanwhile ends the wait.

use super::now_ns;
use crate::Cx;
use crate::doors::*;
use crate::tasks::fault::{Fault, caught};
use crate::tasks::task::{Ticket, Wait};
use kumi_sched::Watch;
use std::sync::atomic::Ordering::*;

impl Cx {
    /// Parks the running native until `fd` is ready; it is called again then.
    pub fn park_io(&mut self, fd: i32, read: bool, write: bool) -> Exit {
        let watch = self.watch_of(fd, read, write);
        self.pending.io.clear();
        self.pending.io.push(watch);
        Exit::Park
    }
    /// Parks the running native until one of several descriptors is ready, each for reading or writing as told, or until a
    /// monotonic time (`u64::MAX`: none); it is called again then, and looks which. None: until that time.
    pub fn park_io_any(&mut self, fds: &[(i32, bool, bool)], deadline: u64) -> Exit {
        let watches = fds.iter().map(|&(fd, read, write)| self.watch_of(fd, read, write)).collect();
        self.park_io_watches(watches, deadline)
    }
    /// The same for descriptors that were noted before, each under the lock of what owns it.
    pub fn park_io_watches(&mut self, watches: Watches, deadline: u64) -> Exit {
        self.pending.io = watches;
        self.pending.deadline = deadline;
        Exit::Park
    }
    /// Notes a descriptor to wait for, which is open for as long as a lock is held that its closer takes.
    pub fn watch_of(&self, fd: i32, read: bool, write: bool) -> Watch {
        self.sched().note(fd, read, write)
    }
    /// Is what was noted certainly still the same file?
    pub fn watch_holds(&self, w: Watch) -> bool {
        self.sched().holds(w)
    }
    /// As [`Cx::park_io`], for at most `limit` nanoseconds from when the running native first asked: `None` when they are
    /// over. What was waited for has come: [`Cx::io_done`].
    pub fn park_io_within(&mut self, fd: i32, read: bool, write: bool, limit: u64) -> Option<Exit> {
        let now = now_ns();
        let until = match self.task.take_wait() {
            Wait::Io { until } => until,
            _ => now.saturating_add(limit),
        };
        if now >= until {
            return None;
        }
        self.task.wait = Wait::Io { until };
        self.pending.deadline = until;
        Some(self.park_io(fd, read, write))
    }
    /// The wait of [`Cx::park_io_within`], if there was one, is over: the next one counts from its own start.
    #[inline]
    pub fn io_done(&mut self) {
        if matches!(self.task.wait, Wait::Io { .. }) {
            self.task.wait = Wait::Nothing;
        }
    }
    /// Does the running native run again, after [`Cx::park_io_within`]? Ends that wait.
    pub fn io_waited(&mut self) -> bool {
        let waited = matches!(self.task.wait, Wait::Io { .. });
        self.io_done();
        waited
    }
    /// A descriptor is about to be closed or to become another file's, under the lock of what owns it: the natives that
    /// wait for it, or were about to, run again and find out.
    pub fn closing(&mut self, fd: i32) {
        for (task, seq) in self.sched().closing(fd) {
            self.wake(Ticket { task, seq });
        }
    }
    /// Runs a call that can only block on the pool; the task parks, and the native that is called again gets the value.
    ///
    /// # Errors
    /// `Exit::Park` while the work is under way.
    pub fn offload<T: Send + 'static>(&mut self, f: impl FnOnce() -> T + Send + 'static) -> Result<T, Exit> {
        if let Wait::Job(Some(v)) = self.task.take_wait() {
            return match v.downcast::<Result<T, Fault>>() {
                Ok(v) => self.of_work(*v),
                Err(_) => Err(self.runtime_error("a blocking call failed")),
            };
        }
        self.task.wait = Wait::Job(None);
        let account = self.account.clone();
        self.pending.job = Some(Box::new(move || {
            let _charged = account.charge();
            Box::new(caught(f)) as Box<dyn std::any::Any + Send>
        }));
        Err(Exit::Park)
    }
    /// Has the call that this native gave to the pool ended, so that `offload` will give its value?
    pub fn job_ready(&self) -> bool {
        matches!(self.task.wait, Wait::Job(Some(_)))
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
}

pub(super) static TABLE: &[NativeDef] = &[
    // The clock that all deadlines count by.
    intrinsic("__now_ns", 0, 0, |cx, _, _| Ok(cx.uint(now_ns()))).guard(Guard::None),
];
