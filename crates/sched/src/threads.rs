//! Threads that somebody waits for in the end.
//!
//! **Invariant.** A thread stands in the list from before its first step. It takes itself out behind its last one, which detaches it, or
//! whoever joins has taken it out, and waits. So the list is as long as there are threads, however many there were, and once
//! [`Threads::join`] is back none runs that was started before, but for the calling one.
//!
//! Locks: `list`, innermost, but for the system's own while a thread is started.

use crate::sync::{Mutex, lock};
use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle, current, sleep};
use std::time::{Duration, Instant};

/// See the module.
#[derive(Default)]
pub struct Threads {
    list: Mutex<Vec<JoinHandle<()>>>,
}

impl Threads {
    /// None yet.
    pub fn new() -> Arc<Threads> {
        Arc::default()
    }

    /// Starts a thread. What `run` owns is dropped before the thread leaves the list.
    ///
    /// # Errors
    /// The system gives none; `run` is dropped.
    pub fn spawn(self: &Arc<Threads>, thread: Builder, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let me = self.clone();
        let mut list = lock(&self.list);
        let made = thread.spawn(move || {
            run();
            me.leave();
        });
        list.push(made?);
        Ok(())
    }

    /// The calling thread will not be waited for.
    fn leave(&self) {
        let own = current().id();
        let mut list = lock(&self.list);
        let at = list.iter().position(|t| t.thread().id() == own);
        let handle = at.map(|i| list.swap_remove(i));
        drop(list);
        // Its drop detaches the thread.
        drop(handle);
    }

    /// Waits for the end of all of them, but for the calling one.
    pub fn join(&self) {
        let own = current().id();
        while let Some(t) = self.take(|t| t.thread().id() != own) {
            // What it panicked with was told of by the panic hook.
            let _ = t.join();
        }
    }

    /// The same for at most so long. False: some go on, and nobody will wait for them any more.
    pub fn join_within(&self, limit: Duration) -> bool {
        let (own, until) = (current().id(), Instant::now() + limit);
        let mut nap = Duration::from_micros(50);
        loop {
            while let Some(t) = self.take(|t| t.is_finished()) {
                let _ = t.join();
            }
            if !lock(&self.list).iter().any(|t| t.thread().id() != own) {
                return true;
            }
            if Instant::now() >= until {
                let left = std::mem::take(&mut *lock(&self.list));
                drop(left);
                return false;
            }
            sleep(nap);
            nap = (nap * 2).min(Duration::from_millis(2));
        }
    }

    fn take(&self, which: impl Fn(&JoinHandle<()>) -> bool) -> Option<JoinHandle<()>> {
        let mut list = lock(&self.list);
        let at = list.iter().position(which)?;
        Some(list.swap_remove(at))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        lock(&self.list).len()
    }
}

impl std::fmt::Debug for Threads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Threads({})", self.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    #[test]
    fn who_is_joined_is_over_and_who_ends_alone_leaves_the_list() {
        let (threads, done) = (Threads::new(), Arc::new(AtomicUsize::new(0)));
        for i in 0..20 {
            let done = done.clone();
            threads
                .spawn(Builder::new(), move || {
                    sleep(Duration::from_micros(i * 100));
                    done.fetch_add(1, SeqCst);
                })
                .unwrap();
        }
        threads.join();
        assert_eq!((done.load(SeqCst), threads.count()), (20, 0));
        threads.spawn(Builder::new(), || ()).unwrap();
        let from = Instant::now();
        while threads.count() > 0 && from.elapsed() < Duration::from_secs(20) {
            sleep(Duration::from_millis(1));
        }
        assert_eq!(threads.count(), 0);
    }

    #[test]
    fn who_takes_too_long_is_left() {
        let threads = Threads::new();
        let (give, take) = std::sync::mpsc::channel::<()>();
        threads
            .spawn(Builder::new(), move || {
                let _ = take.recv();
            })
            .unwrap();
        assert!(!threads.join_within(Duration::from_millis(20)));
        assert_eq!(threads.count(), 0);
        drop(give);
        assert!(threads.join_within(Duration::ZERO));
    }

    #[test]
    fn a_thread_that_joins_does_not_wait_for_itself() {
        let threads = Threads::new();
        let (me, (give, take)) = (threads.clone(), std::sync::mpsc::channel());
        threads
            .spawn(Builder::new(), move || {
                me.join();
                give.send(()).unwrap();
            })
            .unwrap();
        take.recv_timeout(Duration::from_secs(20)).unwrap();
        threads.join();
    }
}
