//! The ticker: a thread that calls back every few milliseconds while there is a reason, and sleeps otherwise.
//!
//! Switching it on and off is one store; the thread notices at its next period, and only a thread that has gone to
//! sleep costs a wake. Invariant: while `on`, the callback runs every period.
//!
//! Locks: `asleep`, innermost; the callback runs outside it.

use crate::sync::{AtomicBool, Condvar, Mutex, Ordering::SeqCst, lock, wait_on};
use crate::threads::Threads;
use std::sync::Arc;

#[derive(Default)]
pub struct Ticker {
    on: AtomicBool,
    closed: AtomicBool,
    started: AtomicBool,
    /// Whether the thread sleeps without limit.
    asleep: Mutex<bool>,
    sleeps: AtomicBool,
    change: Condvar,
    threads: Arc<Threads>,
}

impl Ticker {
    pub fn new() -> Arc<Ticker> {
        Arc::new(Ticker::default())
    }

    /// Was the thread started?
    pub fn is_started(&self) -> bool {
        self.started.load(SeqCst)
    }

    /// Starts the thread. False: it runs already, or the system gives none.
    pub fn start(self: &Arc<Ticker>, period_ns: u64, tick: impl FnMut() + Send + 'static) -> bool {
        if self.started.swap(true, SeqCst) {
            return false;
        }
        let me = self.clone();
        let thread = std::thread::Builder::new().name("kumi-ticker".into()).stack_size(256 << 10);
        let made = self.threads.spawn(thread, move || me.run(period_ns.clamp(100_000, 1_000_000_000), tick)).is_ok();
        self.started.store(made, SeqCst);
        made
    }

    fn run(&self, period_ns: u64, mut tick: impl FnMut()) {
        while !self.closed.load(SeqCst) {
            let mut g = lock(&self.asleep);
            let limit = if self.on.load(SeqCst) {
                period_ns
            } else {
                self.sleeps.store(true, SeqCst);
                // Switched on between the two: who did that may not have seen us asleep.
                if self.on.load(SeqCst) { period_ns } else { u64::MAX }
            };
            *g = true;
            while *g && !self.closed.load(SeqCst) {
                let in_time;
                (g, in_time) = wait_on(&self.change, g, limit);
                if !in_time {
                    break;
                }
            }
            self.sleeps.store(false, SeqCst);
            drop(g);
            if self.on.load(SeqCst) && !self.closed.load(SeqCst) && limit != u64::MAX {
                tick();
            }
        }
    }

    /// On or off.
    pub fn set(&self, on: bool) {
        if self.on.load(SeqCst) != on {
            self.on.store(on, SeqCst);
            if on && self.sleeps.load(SeqCst) {
                self.stir();
            }
        }
    }

    fn stir(&self) {
        *lock(&self.asleep) = false;
        self.change.notify_one();
    }

    /// Ends the thread.
    pub fn close(&self) {
        self.closed.store(true, SeqCst);
        self.stir();
    }

    /// Ends the thread and waits for it.
    pub fn end(&self) {
        self.close();
        self.threads.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::time::Duration;

    #[test]
    fn ticks_only_while_on() {
        let ticker = Ticker::new();
        let (tx, rx) = channel();
        assert!(ticker.start(1_000_000, move || tx.send(()).unwrap_or(())));
        assert!(!ticker.start(1, || ()));
        assert!(rx.recv_timeout(Duration::from_millis(30)).is_err());
        for _ in 0..20 {
            ticker.set(true);
            rx.recv_timeout(Duration::from_secs(20)).unwrap();
            ticker.set(false);
        }
        ticker.close();
        // The thread ends and drops the sender.
        while rx.recv_timeout(Duration::from_secs(20)).is_ok() {}
        assert!(rx.try_recv().is_err());
    }
}
