//! Which task runs: threads one after another on the workers, fibers where they are told to.
//!
//! A task that does not run has its frame and next instruction in `task.base` and
//! `task.pc`, and in `task.takes` where the value goes that it is resumed with.
//! Threads change only at safepoints and where a native parks; a parked native is
//! called again when its task runs again.
//!
//! **Invariant.** A task is either run by one worker, or queued once, or waiting
//! (then its state says so, and one wake-up makes it ready), or a fiber that waits
//! to be resumed. After it was queued or its wait was made known, the worker that
//! ran it touches it no more. States, wait numbers and wake flags that belong
//! together change under the task table's lock.
//!
//! - `safepoint`: where a running task may lose its worker.
//! - `switch`: how it leaves and comes back.
//! - `slice`: who is next, and for how long.
//! - `wait`, `wake`: the two ends of a wait.
//! - `idle`: what a worker looks after that has nothing to run.
//! - `life`: how tasks begin and end.
//! - `signal`: how a handler gets the main thread.
//! - `doors`: what natives may wait for.

mod doors;
mod idle;
mod life;
mod safepoint;
mod signal;
mod slice;
mod switch;
mod wait;
mod wake;

use crate::Cx;
use crate::doors::*;
pub use kumi_sched::now_ns;
use kumi_sched::{Config, Sched};
pub(crate) use slice::Slice;

pub(crate) static TABLES: &[&[NativeDef]] = &[doors::TABLE, signal::TABLE];

/// How often running workers are asked to look around while there is a reason.
const TICK_NS: u64 = 2_000_000;

impl Cx {
    /// The scheduler, made when first needed.
    ///
    /// # Panics
    /// When the system gives no readiness queue; who begins something asks `begin_sched` first.
    #[inline]
    pub fn sched(&self) -> &Sched {
        match self.sched_cell().get() {
            Some(s) => s,
            None => self.made_sched(),
        }
    }
    #[cold]
    fn made_sched(&self) -> &Sched {
        if let Err(e) = self.begin_sched() {
            panic!("the system gives no readiness queue: {e}");
        }
        self.sched_cell().wait()
    }
    /// Makes the scheduler, if there is none.
    ///
    /// # Errors
    /// The system's: it has no descriptor left, as a rule.
    pub(crate) fn begin_sched(&self) -> std::io::Result<()> {
        if self.sched_cell().get().is_none() {
            let seed = std::env::var("KUMI_SCHED_STRESS").ok().and_then(|v| v.trim().parse::<u64>().ok());
            let s = Sched::try_new(Config { workers: self.wanted_workers(), seed })?;
            self.arm_signals(&s);
            let _ = self.sched_cell().set(s);
        }
        Ok(())
    }
    /// A second thread exists: turns end by the clock.
    pub(crate) fn start_ticker(&mut self) {
        if self.sched().has_ticker() {
            return;
        }
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
}
