//! How many threads mark, and the crew of a runtime's heaps.
//!
//! Invariant: the lock here is taken by the collecting thread only, at a stop; a process forks at a stop too, with no
//! collection under way, so the child finds it free. The child does not have the threads: it sees that its process
//! is another and makes a new crew, leaving the old one, whose own lock may have been held, as it is.

use super::crew::Crew;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// See the module.
pub(crate) struct Helpers {
    crew: Mutex<Option<(u32, Arc<Crew>)>>,
    threads: AtomicUsize,
}

/// `KUMI_GC_THREADS`, else as many as the machine (or its share of one) has cores, at most 16.
fn default_threads() -> usize {
    let asked = std::env::var("KUMI_GC_THREADS").ok().and_then(|s| s.trim().parse().ok());
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, |n| n.get().min(16))).clamp(1, 256)
}

impl Default for Helpers {
    fn default() -> Self {
        Helpers { crew: Mutex::new(None), threads: AtomicUsize::new(default_threads()) }
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
    /// Runs `job` on the helpers and `own` here.
    pub fn run(&self, job: &(dyn Fn() + Sync), own: impl FnOnce()) {
        let crew = {
            let mut c = crate::shared::lock(&self.crew);
            let pid = std::process::id();
            match &*c {
                Some((of, crew)) if *of == pid => crew.clone(),
                _ => {
                    let crew = Crew::new();
                    // A parent's crew is never dropped here: its threads are not there to let go of it.
                    std::mem::forget(c.replace((pid, crew.clone())));
                    crew
                }
            }
        };
        Crew::run(&crew, self.threads().saturating_sub(1), job, own);
    }
    /// Threads that wait for work.
    #[cfg(test)]
    pub fn started(&self) -> usize {
        crate::shared::lock(&self.crew).as_ref().map_or(0, |(_, c)| c.threads())
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        let c = self.crew.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        match c.take() {
            Some((of, crew)) if of == std::process::id() => crew.close(),
            other => std::mem::forget(other),
        }
    }
}
