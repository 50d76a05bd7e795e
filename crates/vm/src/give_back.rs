//! Freed memory goes back to the system: when, and on whose time.
//!
//! The process's allocator keeps what is freed until it is told to let go of it, which takes 5 to 25 milliseconds after a
//! full collection of 200 MB: a system call for each piece, and a thread in them passes no safepoint. So no active worker
//! does that. A thread of the pool does while a worker has nothing to do, so that there is a core for it; else a worker
//! detaches for it ([`Cx::while_detached`]), and stops go on without.
//!
//! It comes a second after the last time, with a node collection or when a worker finds nothing to run; at once when a
//! worker with nothing to run has swept much, and when the program asks (`GC.start`).
//!
//! Invariant: nobody is in the allocator's giving back when the process forks: what it has taken apart meanwhile would be
//! the child's for ever.

use crate::Cx;
use kumi_sched::now_ns;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// The shortest time between two.
const LEAST_NS: u64 = 1_000_000_000;
/// Bytes that are worth it.
const MUCH: usize = 1 << 20;

/// See the module.
#[derive(Default)]
pub(crate) struct GiveBack {
    /// How it is done: the command knows its allocator.
    with: Option<fn()>,
    /// Bytes freed since it was last done, as far as anybody told.
    freed: AtomicUsize,
    /// When it was last begun.
    last: AtomicU64,
    /// At the next safepoint, however short ago it was.
    asked: AtomicBool,
    on_pool: Arc<OnPool>,
}

/// Is a thread of the pool at it?
#[derive(Default)]
struct OnPool {
    busy: Mutex<bool>,
    over: Condvar,
}

/// The pool's thread is done, by whatever way.
struct Over(Arc<OnPool>);

impl Drop for Over {
    fn drop(&mut self) {
        *self.0.busy.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.over.notify_all();
    }
}

impl GiveBack {
    fn is_due(&self) -> bool {
        self.freed.load(Relaxed) >= MUCH && now_ns() >= self.last.load(Relaxed) + LEAST_NS
    }
    /// Is there something to give back, though not yet?
    pub fn waits(&self) -> bool {
        self.with.is_some() && self.freed.load(Relaxed) >= MUCH
    }
    #[inline]
    pub fn is_asked(&self) -> bool {
        self.asked.load(Relaxed)
    }
    fn begin(&self) {
        self.asked.store(false, Relaxed);
        self.freed.store(0, Relaxed);
        self.last.store(now_ns(), Relaxed);
    }
    /// At a stop, at which nobody begins anew.
    pub fn wait_for_pool(&self) {
        let mut busy = self.on_pool.busy.lock().unwrap_or_else(PoisonError::into_inner);
        while *busy {
            busy = self.on_pool.over.wait(busy).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Cx {
    /// How freed memory goes back to the system: `f` may be called on any thread, and takes its time.
    pub fn give_back_with(&mut self, f: fn()) {
        self.boot().give_back.with = Some(f);
        self.give_back.begin();
    }
    /// So many bytes were freed that may go back to the system.
    pub fn freed(&self, bytes: usize) {
        self.give_back.freed.fetch_add(bytes, Relaxed);
    }
    /// So many bytes were freed by a worker that has nothing else to do.
    pub(crate) fn freed_idle(&self, bytes: usize) {
        self.freed(bytes);
        if bytes >= MUCH {
            self.give_back.asked.store(true, Relaxed);
        }
    }
    /// What is free goes back at the next safepoint.
    pub fn give_back_soon(&mut self) {
        self.give_back.asked.store(true, Relaxed);
        self.heap.poll.store(true, Relaxed);
    }
    /// After a node collection, at a safepoint: if it is time.
    pub(crate) fn give_back_in_time(&mut self) {
        // What it found dead is freed little by little, most of it by now when the next comes.
        self.freed(MUCH);
        if !self.give_back.is_due() {
            return;
        }
        let Some(f) = self.give_back.with else { return };
        if self.sched_cell().get().is_some() && self.idle_workers() > 0 {
            {
                let mut busy = self.give_back.on_pool.busy.lock().unwrap_or_else(PoisonError::into_inner);
                if *busy {
                    return;
                }
                *busy = true;
            }
            let over = Over(self.give_back.on_pool.clone());
            self.give_back.begin();
            self.spawn_job(move || {
                f();
                drop(over);
            });
            return;
        }
        self.give_back_here();
    }
    /// With nothing to run. True when it took a while.
    pub(crate) fn give_back_idle(&mut self) -> bool {
        let now = self.give_back.is_asked() || self.give_back.is_due();
        if now {
            self.give_back_here();
        }
        now
    }
    /// At a safepoint, beside all others.
    #[cold]
    pub(crate) fn give_back_here(&mut self) {
        self.give_back.begin();
        if let Some(f) = self.give_back.with {
            self.while_detached(f);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static CALLS: AtomicUsize = AtomicUsize::new(0);

    #[test]
    fn comes_when_there_is_something_and_it_is_time() {
        let mut cx = Cx::new();
        cx.give_back_with(|| {
            CALLS.fetch_add(1, Relaxed);
        });
        cx.freed(MUCH);
        assert!(cx.give_back.waits() && !cx.give_back_idle(), "it is not time");
        cx.give_back.last.store(0, Relaxed);
        assert!(cx.give_back_idle() && CALLS.load(Relaxed) == 1);
        cx.give_back.last.store(0, Relaxed);
        cx.freed(MUCH - 1);
        assert!(!cx.give_back.waits() && !cx.give_back_idle(), "there is too little");
        cx.give_back_soon();
        assert!(cx.give_back.is_asked() && cx.give_back_idle() && !cx.give_back.is_asked());
        assert_eq!(CALLS.load(Relaxed), 2);
    }
}
