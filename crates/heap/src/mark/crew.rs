//! The threads that help a collection to mark.
//!
//! They are started by the first job that wants them, wait for jobs in between, and end when the crew is closed.
//! Invariant: a job is borrowed from the caller of `run`, which does not return while a helper is in it, and takes it
//! off the table before it looks: a helper that wakes too late finds nothing. A helper touches the heap only inside a
//! job, hence only while the world is stopped.

use super::sync::{Arc, Condvar, Mutex, lock, spawn, wait};

/// What the helpers run: borrowed from `run`'s caller (see the module).
#[derive(Clone, Copy)]
struct Job(*const (dyn Fn() + Sync));

// SAFETY: the closure is Sync, and lives while any helper is in it (the module's invariant).
unsafe impl Send for Job {}

struct State {
    job: Option<Job>,
    /// Helpers that may still begin the job.
    open: usize,
    busy: usize,
    threads: usize,
    closed: bool,
}

/// See the module.
pub(crate) struct Crew {
    state: Mutex<State>,
    work: Condvar,
    idle: Condvar,
}

/// Ends a job when `run` leaves, by whatever way.
struct Over<'a>(&'a Crew);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        let mut s = lock(&self.0.state);
        s.job = None;
        while s.busy > 0 {
            s = wait(&self.0.idle, s);
        }
    }
}

impl Crew {
    pub fn new() -> Arc<Crew> {
        let state = State { job: None, open: 0, busy: 0, threads: 0, closed: false };
        Arc::new(Crew { state: Mutex::new(state), work: Condvar::new(), idle: Condvar::new() })
    }

    /// Has up to `helpers` threads run `job` beside `own`, which the caller runs. Comes back when all of them are out
    /// of it. One caller at a time. A helper that panics ends the process: half a marking would free what lives.
    pub fn run(this: &Arc<Crew>, helpers: usize, job: &(dyn Fn() + Sync), own: impl FnOnce()) {
        // SAFETY: only the lifetime is lost, which the module's invariant keeps.
        let job = Job(unsafe { std::mem::transmute::<*const (dyn Fn() + Sync + '_), *const (dyn Fn() + Sync + 'static)>(job) });
        let grow = {
            let mut s = lock(&this.state);
            s.job = Some(job);
            s.open = helpers;
            let grow = helpers.saturating_sub(s.threads);
            s.threads += grow;
            grow
        };
        let _over = Over(this);
        this.work.notify_all();
        for _ in 0..grow {
            let crew = this.clone();
            if !spawn(move || crew.serve()) {
                // The system gives no thread: those there are do the work.
                lock(&this.state).threads -= 1;
            }
        }
        own();
    }

    fn serve(&self) {
        let mut s = lock(&self.state);
        while !s.closed {
            match s.job {
                Some(job) if s.open > 0 => {
                    s.open -= 1;
                    s.busy += 1;
                    drop(s);
                    // SAFETY: `run` waits for this helper (`busy`) before the closure goes.
                    let job = std::panic::AssertUnwindSafe(|| unsafe { (*job.0)() });
                    if std::panic::catch_unwind(job).is_err() {
                        std::process::abort();
                    }
                    s = lock(&self.state);
                    s.busy -= 1;
                    if s.busy == 0 {
                        self.idle.notify_all();
                    }
                }
                _ => s = wait(&self.work, s),
            }
        }
        s.threads -= 1;
    }

    /// The threads end once they have nothing to do.
    pub fn close(&self) {
        lock(&self.state).closed = true;
        self.work.notify_all();
    }

    /// How many threads there are.
    #[cfg(test)]
    pub fn threads(&self) -> usize {
        lock(&self.state).threads
    }
}
