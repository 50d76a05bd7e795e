//! What an idle worker serves: somebody else's queue of the kernel's, whose events end waits of tasks.
//!
//! A task that waits for such an event is best woken by the worker that goes on with it. So the worker that ran it *attends*: instead
//! of being parked it sleeps in a queue that holds the service's, serves what comes there, and looks for a task again. The service
//! has a thread of its own for when nobody attends.
//!
//! **Invariant.** At most one worker attends, and it does so within `wait` only. A token left with it goes with a ring of this queue's
//! bell, as with the poller and the other queue's; where it has the poller's role as well, this queue holds that one.
//!
//! Locks: `service`, innermost; it is not held while the service is called.

use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering::*, lock};
use crate::sys::Kernel;
use std::io;
use std::sync::{Arc, OnceLock};

/// What an idle worker may serve. Its calls come from one worker at a time, which runs no task.
pub trait Service: Send + Sync {
    /// Can be read when there is something to serve.
    fn descriptor(&self) -> i32;
    /// The calling worker serves from here on, and is woken by the descriptor. False: it does not, the service has ended.
    fn attend(&self) -> bool;
    /// Serves what is there. False: there was nothing. May wake tasks.
    fn serve(&self) -> bool;
    /// It is about to sleep. False: something is there.
    fn may_sleep(&self) -> bool;
    /// It serves no more: the service sees to itself.
    fn leave(&self);
}

/// Who attends, and where.
#[derive(Default)]
pub struct Attendance {
    service: Mutex<Option<Arc<dyn Service>>>,
    /// There is one: all that others pay.
    there: AtomicBool,
    /// The process has several cores, so that one who looks takes none from who is to bring it.
    several: AtomicBool,
    /// Made for the first one.
    kernel: OnceLock<Kernel>,
    /// Its number and one.
    by: AtomicUsize,
}

/// Why an attending worker woke.
pub struct Came {
    /// Something is to be served.
    pub service: bool,
    /// The bell, or a signal.
    pub rung: bool,
    /// The other queue has something.
    pub other: bool,
}

impl Attendance {
    /// There is this one from now on.
    ///
    /// # Errors
    /// The system's: it has no descriptor left, as a rule.
    pub fn set(&self, service: Option<Arc<dyn Service>>) -> io::Result<()> {
        let mut slot = lock(&self.service);
        if let (Some(old), Some(kernel)) = (slot.take(), self.kernel.get()) {
            self.there.store(false, Release);
            kernel.forget(old.descriptor());
        }
        if let Some(new) = service {
            if self.kernel.get().is_none() {
                let _ = self.kernel.set(Kernel::new()?);
            }
            self.several.store(crate::default_workers() > 1, Relaxed);
            self.kernel.get().map_or(Ok(()), |k| k.keep(new.descriptor()))?;
            *slot = Some(new);
            self.there.store(true, Release);
        }
        Ok(())
    }

    /// Whether there is one.
    pub fn is_there(&self) -> bool {
        self.there.load(Relaxed)
    }

    /// Whether it pays to look for what comes before sleeping.
    pub fn may_spin(&self) -> bool {
        self.several.load(Relaxed)
    }

    /// Worker `w` attends from here on, if nobody does.
    pub fn begin(&self, w: usize) -> Option<Arc<dyn Service>> {
        self.by.compare_exchange(0, w + 1, AcqRel, Relaxed).ok()?;
        let service = lock(&self.service).clone().filter(|s| s.attend());
        if service.is_none() {
            self.by.store(0, Release);
        }
        service
    }

    /// It does so no more.
    pub fn end(&self, service: &Arc<dyn Service>) {
        service.leave();
        self.by.store(0, Release);
    }

    /// Wakes who attends.
    pub fn ring(&self) {
        if let Some(k) = self.kernel.get() {
            k.ring();
        }
    }

    /// Sleeps until something comes, at most for `limit_ns`; `other`: in another queue, too.
    pub fn sleep(&self, limit_ns: u64, other: Option<&Kernel>) -> Came {
        let mut came = Came { service: false, rung: false, other: false };
        let Some(kernel) = self.kernel.get() else { return came };
        let other = other.map_or(-1, Kernel::queue);
        if other >= 0 && kernel.arm(other, true, false, true).is_err() {
            came.other = true;
            return came;
        }
        came.rung = kernel.wait(limit_ns, |r| match r.fd == other {
            true => came.other = true,
            false => came.service = true,
        });
        if came.rung {
            kernel.drain();
        }
        came
    }

    /// Closes the descriptors now (in a fork's child).
    pub fn close(&self) {
        if let Some(k) = self.kernel.get() {
            k.close();
        }
    }
}
