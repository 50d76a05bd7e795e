//! A pool of threads for calls that can only block: files, names, locks of other processes.
//!
//! Threads are made when a job finds none idle, up to a limit, and end after five idle seconds. A job that panics
//! yields `Panicked`. Invariant: every job that was submitted is run exactly once and delivered, unless the pool closes. A closed
//! pool begins none.
//!
//! Locks: `state`, innermost; no job runs under it.

use crate::sync::{Condvar, Mutex, lock, wait_on};
use crate::threads::Threads;
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

/// The result of a job that panicked: what it panicked with.
pub struct Panicked(pub Box<dyn Any + Send>);

/// A job delivers its own result.
type Job = Box<dyn FnOnce() + Send>;

const IDLE_NS: u64 = 5_000_000_000;
/// Address space, not memory: name services use large frames.
const STACK: usize = 1 << 20;

struct State {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
    closed: bool,
}

/// The pool. Its threads hold it, so it lives until the last of them has ended.
pub struct Pool {
    state: Mutex<State>,
    work: Condvar,
    limit: usize,
    threads: Arc<Threads>,
}

/// At most so many threads: `KUMI_POOL`, else 64.
pub fn default_limit() -> usize {
    std::env::var("KUMI_POOL").ok().and_then(|s| s.trim().parse().ok()).unwrap_or(64).clamp(1, 4096)
}

/// Runs a job and keeps its panic.
pub fn catching(job: Box<dyn FnOnce() -> Box<dyn Any + Send> + Send>) -> Box<dyn Any + Send> {
    catch_unwind(AssertUnwindSafe(job)).unwrap_or_else(|e| Box::new(Panicked(e)))
}

impl Pool {
    pub fn new(limit: usize) -> Arc<Pool> {
        let state = State { jobs: VecDeque::new(), threads: 0, idle: 0, closed: false };
        Arc::new(Pool { state: Mutex::new(state), work: Condvar::new(), limit: limit.max(1), threads: Threads::new() })
    }

    /// Has a thread run the job, unless the pool is closed: then it is dropped. When the system gives no thread and there is none, the caller runs it.
    pub fn submit(self: &Arc<Pool>, job: Job) {
        let grow = {
            let mut s = lock(&self.state);
            if s.closed {
                drop(s);
                return drop(job);
            }
            s.jobs.push_back(job);
            let grow = s.jobs.len() > s.idle && s.threads < self.limit;
            s.threads += usize::from(grow);
            grow
        };
        if !grow {
            self.work.notify_one();
            return;
        }
        let pool = self.clone();
        let thread = std::thread::Builder::new().name("kumi-pool".into()).stack_size(STACK);
        let made = self.threads.spawn(thread, move || pool.serve());
        if made.is_err() {
            let alone = {
                let mut s = lock(&self.state);
                s.threads -= 1;
                if s.threads == 0 { s.jobs.pop_front() } else { None }
            };
            match alone {
                Some(job) => job(),
                None => self.work.notify_one(),
            }
        }
    }

    fn serve(self: Arc<Pool>) {
        crate::sys::take_no_signals();
        let mut s = lock(&self.state);
        loop {
            if let Some(job) = s.jobs.pop_front() {
                drop(s);
                job();
                s = lock(&self.state);
                continue;
            }
            if s.closed {
                break;
            }
            s.idle += 1;
            let in_time;
            (s, in_time) = wait_on(&self.work, s, IDLE_NS);
            s.idle -= 1;
            if !in_time && s.jobs.is_empty() {
                break;
            }
        }
        s.threads -= 1;
    }

    /// Jobs that no thread has begun are dropped; idle threads end.
    pub fn close(&self) {
        let jobs = {
            let mut s = lock(&self.state);
            s.closed = true;
            std::mem::take(&mut s.jobs)
        };
        drop(jobs);
        self.work.notify_all();
    }

    /// Closes it and waits for its threads, for so long at most. False: a job goes on, and its thread ends with it.
    pub fn end(&self, limit: Duration) -> bool {
        self.close();
        self.threads.join_within(limit)
    }

    /// How many threads there may be.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// How many threads there are.
    #[cfg(test)]
    pub fn threads(&self) -> usize {
        lock(&self.state).threads
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn every_job_runs_once_on_a_limited_number_of_threads() {
        let pool = Pool::new(3);
        let (tx, rx) = channel();
        for i in 0..200 {
            let tx = tx.clone();
            pool.submit(Box::new(move || tx.send(i).unwrap()));
            assert!(pool.threads() <= 3);
        }
        drop(tx);
        let mut seen: Vec<_> = rx.iter().collect();
        seen.sort();
        assert_eq!(seen, (0..200).collect::<Vec<_>>());
        pool.close();
    }

    #[test]
    fn jobs_that_wait_for_each_other_get_a_thread_each() {
        let pool = Pool::new(8);
        let meet = Arc::new(std::sync::Barrier::new(9));
        for _ in 0..8 {
            let meet = meet.clone();
            pool.submit(Box::new(move || {
                meet.wait();
            }));
        }
        meet.wait();
        pool.close();
    }

    #[test]
    fn a_panic_is_a_result() {
        let r = catching(Box::new(|| panic!("as wished")));
        let p = r.downcast::<Panicked>().ok().unwrap();
        assert_eq!(p.0.downcast_ref::<&str>(), Some(&"as wished"));
    }
}
