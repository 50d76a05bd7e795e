//! What an idle worker serves: queues of the kernel's that are others' own, whose events end waits of tasks.
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
    /// A worker whose tasks use it has nothing to do: what they have not sent yet goes.
    fn let_go(&self) {}
    /// Serves what is there. False: there was nothing. May wake tasks.
    fn serve(&self) -> bool;
    /// It is about to sleep. False: something is there.
    fn may_sleep(&self) -> bool;
    /// It serves no more: the service sees to itself.
    fn leave(&self);
}

/// Several, served together.
struct Several(Vec<Arc<dyn Service>>);

impl Several {
    /// Asks all of them: is one of them so?
    fn any(&self, is: impl Fn(&dyn Service) -> bool) -> bool {
        self.0.iter().fold(false, |found, s| is(&**s) | found)
    }
}

impl Service for Several {
    fn descriptor(&self) -> i32 {
        -1
    }
    fn attend(&self) -> bool {
        self.any(|s| s.attend())
    }
    fn let_go(&self) {
        self.0.iter().for_each(|s| s.let_go());
    }
    fn serve(&self) -> bool {
        self.any(|s| s.serve())
    }
    fn may_sleep(&self) -> bool {
        !self.any(|s| !s.may_sleep())
    }
    fn leave(&self) {
        self.0.iter().for_each(|s| s.leave());
    }
}

/// What is served now: one, or several as one.
#[derive(Default)]
struct Served {
    all: Vec<Arc<dyn Service>>,
    together: Option<Arc<dyn Service>>,
}

impl Served {
    fn change(&mut self, all: Vec<Arc<dyn Service>>) {
        self.together = match &all[..] {
            [] => None,
            [one] => Some(one.clone()),
            several => Some(Arc::new(Several(several.to_vec()))),
        };
        self.all = all;
    }
}

/// Who attends, and where.
#[derive(Default)]
pub struct Attendance {
    service: Mutex<Served>,
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
    /// There is this one from now on, too.
    ///
    /// # Errors
    /// The system's: it has no descriptor left, as a rule.
    pub fn add(&self, service: Arc<dyn Service>) -> io::Result<()> {
        let mut served = lock(&self.service);
        if self.kernel.get().is_none() {
            let _ = self.kernel.set(Kernel::new()?);
        }
        self.several.store(crate::default_workers() > 1, Relaxed);
        self.kernel.get().map_or(Ok(()), |k| k.keep(service.descriptor()))?;
        let all = served.all.iter().cloned().chain([service]).collect();
        served.change(all);
        self.there.store(true, Release);
        Ok(())
    }

    /// That one is served no more; who attends it may do so until it wakes.
    pub fn remove(&self, service: &Arc<dyn Service>) {
        let mut served = lock(&self.service);
        let left: Vec<_> = served.all.iter().filter(|s| !Arc::ptr_eq(s, service)).cloned().collect();
        if left.len() == served.all.len() {
            return;
        }
        self.there.store(!left.is_empty(), Release);
        served.change(left);
        if let Some(kernel) = self.kernel.get() {
            kernel.forget(service.descriptor());
        }
    }

    /// Whether there is one.
    pub fn is_there(&self) -> bool {
        self.there.load(Relaxed)
    }

    /// Whether it pays to look for what comes before sleeping.
    pub fn may_spin(&self) -> bool {
        self.several.load(Relaxed)
    }

    /// Worker `w`, whose tasks wait for what is served, attends from here on, if nobody does.
    pub fn begin(&self, w: usize) -> Option<Arc<dyn Service>> {
        let service = lock(&self.service).together.clone()?;
        service.let_go();
        self.by.compare_exchange(0, w + 1, AcqRel, Relaxed).ok()?;
        let service = Some(service).filter(|s| s.attend());
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
