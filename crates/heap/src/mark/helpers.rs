//! How many threads mark, and the crew of a runtime's heaps.
//!
//! Invariant: a crew is of one process. The child of a fork has none of the threads, and finds the crew's lock as
//! it was just then: it sees that its process is another and makes a new crew, leaving the old one as it is. No lock is
//! taken for that, which a fork might find held.

use super::crew::Crew;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering::*};

struct Of {
    process: u32,
    crew: Arc<Crew>,
}

/// See the module.
pub(crate) struct Helpers {
    /// Null until one is wanted. Replaced in a child only; what it was before is never freed there.
    crew: AtomicPtr<Of>,
    threads: AtomicUsize,
    /// Cores that are taken by work that goes on beside the stop. Who is called on one of them comes late, or another does.
    taken: AtomicUsize,
    /// A thread that works for a moment at a time may wait for the core of one that collects.
    gives_way: AtomicBool,
}

/// `KUMI_GC_THREADS`, else as many as the machine (or its share of one) has cores, at most 16.
fn default_threads() -> usize {
    let asked = std::env::var("KUMI_GC_THREADS").ok().and_then(|s| s.trim().parse().ok());
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get().min(16))).clamp(1, 256)
}

impl Default for Helpers {
    fn default() -> Self {
        let (threads, taken) = (AtomicUsize::new(default_threads()), AtomicUsize::new(0));
        Helpers { crew: AtomicPtr::default(), threads, taken, gives_way: AtomicBool::new(false) }
    }
}

impl Helpers {
    /// Threads that mark, the collecting one among them.
    pub fn threads(&self) -> usize {
        self.threads.load(Relaxed)
    }
    pub fn set_threads(&self, n: usize) {
        self.threads.store(n.clamp(1, 256), Relaxed);
    }
    fn crew(&self) -> &Arc<Crew> {
        let process = std::process::id();
        let mut at = self.crew.load(Acquire);
        loop {
            // SAFETY: what stands here is freed when `self` goes.
            match unsafe { at.as_ref() } {
                Some(of) if of.process == process => return &of.crew,
                _ => {}
            }
            let new = Box::into_raw(Box::new(Of { process, crew: Crew::new() }));
            match self.crew.compare_exchange(at, new, AcqRel, Acquire) {
                Ok(_) => at = new,
                Err(other) => {
                    at = other;
                    // SAFETY: nobody has seen it.
                    drop(unsafe { Box::from_raw(new) });
                }
            }
        }
    }
    /// So many cores are taken by what goes on beside the stop.
    pub fn set_taken(&self, cores: usize) {
        self.taken.store(cores, Relaxed);
    }
    /// Who collects gives its core away now and then, or does so no more.
    pub fn set_gives_way(&self, on: bool) {
        self.gives_way.store(on, Relaxed);
    }
    /// Is it to?
    pub fn gives_way(&self) -> bool {
        self.gives_way.load(Relaxed)
    }
    /// Gives it away, if it is to. To be called every tenth of a millisecond or so.
    #[inline]
    pub fn give_way(&self) {
        if self.gives_way() {
            std::thread::yield_now();
        }
    }
    /// Threads of the crew that are worth calling: for what takes `long`, as many as there could be.
    fn called(&self, long: bool) -> usize {
        let taken = if long { 0 } else { self.taken.load(Relaxed) };
        (self.threads() - 1).saturating_sub(taken)
    }
    /// Would anybody help?
    pub fn are_there(&self, long: bool) -> bool {
        self.threads() > 1 && (self.called(long) > 0 || self.crew().lent() > 0)
    }
    /// Makes the crew.
    pub fn prepare(&self) {
        self.crew();
    }
    /// Runs `job` on the helpers and `own` here.
    pub fn run(&self, long: bool, job: &(dyn Fn() + Sync), own: impl FnOnce()) {
        Crew::run(self.crew(), self.threads() - 1, self.called(long), job, own);
    }
    /// The calling thread, which is stopped, helps as long as `stays` says: see [`Crew::lend`].
    pub fn lend(&self, stays: impl Fn() -> bool) {
        let most = self.threads() - 1;
        if most > 0 {
            self.crew().lend(most, stays);
        }
    }
    /// Threads that wait for work.
    #[cfg(test)]
    pub fn started(&self) -> usize {
        // SAFETY: as in `crew`.
        unsafe { self.crew.load(Acquire).as_ref() }.map_or(0, |of| of.crew.threads())
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        let at = *self.crew.get_mut();
        // SAFETY: as in `crew`.
        if unsafe { at.as_ref() }.is_some_and(|of| of.process == std::process::id()) {
            // SAFETY: made from a box, and nobody uses it any more.
            unsafe { Box::from_raw(at) }.crew.close();
        }
    }
}
