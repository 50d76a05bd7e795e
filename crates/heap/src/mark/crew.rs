//! The threads that help a collection to mark.
//!
//! Those that are stopped lend themselves: they are awake, each on a core. Where there are too few
//! of them the crew has threads, which are started by the first job that wants them, wait for jobs in between, and end
//! when the crew is closed, which waits for them.
//!
//! Invariant: a job is borrowed from the caller of `run`, which does not return while a helper is in it, and takes it
//! off the table before it looks: a helper that comes too late finds nothing. A helper touches the heap only inside a
//! job, hence only while the world is stopped. A thread that is counted in `lent` takes an open job before it leaves.

use super::sync::{Arc, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering::*, SPINS, Thread, kept, lock, spawn, spin, wait};

/// What the helpers run: borrowed from `run`'s caller (see the module).
#[derive(Clone, Copy)]
struct Job(*const (dyn Fn() + Sync));

// SAFETY: the closure is Sync, and lives while any helper is in it (the module's invariant).
unsafe impl Send for Job {}

struct State {
    job: Option<Job>,
    threads: usize,
    handles: Vec<Thread>,
    /// Threads of others that look for a job.
    lent: usize,
    closed: bool,
}

/// See the module.
pub(crate) struct Crew {
    state: Mutex<State>,
    /// Helpers that may still begin the job, and those that are in it. Changed under the lock, looked at without it by
    /// threads that do not want to sleep.
    open: AtomicUsize,
    busy: AtomicUsize,
    work: Condvar,
    idle: Condvar,
}

/// Ends a job when `run` leaves, by whatever way.
struct Over<'a>(&'a Crew);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        let mut s = lock(&self.0.state);
        s.job = None;
        self.0.open.store(0, Relaxed);
        if self.0.busy.load(Relaxed) > 0 {
            // They are about to find that it is over.
            drop(s);
            for _ in 0..SPINS {
                if self.0.busy.load(Relaxed) == 0 {
                    break;
                }
                spin();
            }
            s = lock(&self.0.state);
        }
        while self.0.busy.load(Relaxed) > 0 {
            s = wait(&self.0.idle, s);
        }
    }
}

impl Crew {
    pub fn new() -> Arc<Crew> {
        let state = State { job: None, threads: 0, handles: Vec::new(), lent: 0, closed: false };
        Arc::new(Crew {
            state: Mutex::new(state),
            open: AtomicUsize::new(0),
            busy: AtomicUsize::new(0),
            work: Condvar::new(),
            idle: Condvar::new(),
        })
    }

    /// Has up to `helpers` threads run `job` beside `own`, which the caller runs: lent ones, and if there are fewer than
    /// `called`, some of the crew's. Comes back when all of them are out of it. One caller at a time. A helper that panics
    /// ends the process: half a marking would free what lives.
    pub fn run(this: &Arc<Crew>, helpers: usize, called: usize, job: &(dyn Fn() + Sync), own: impl FnOnce()) {
        // SAFETY: only the lifetime is lost, which the module's invariant keeps.
        let job = Job(unsafe { std::mem::transmute::<*const (dyn Fn() + Sync + '_), *const (dyn Fn() + Sync + 'static)>(job) });
        let (called, grow) = {
            let mut s = lock(&this.state);
            s.job = Some(job);
            this.open.store(helpers, Relaxed);
            let wanted = called.saturating_sub(s.lent);
            let grow = wanted.saturating_sub(s.threads);
            s.threads += grow;
            (wanted - grow, grow)
        };
        let _over = Over(this);
        for _ in 0..called {
            this.work.notify_one();
        }
        for _ in 0..grow {
            let crew = this.clone();
            let made = spawn(move || crew.serve());
            let mut s = lock(&this.state);
            match made {
                Some(handle) => s.handles.push(handle),
                // The system gives no thread: those there are do the work.
                None => s.threads -= 1,
            }
        }
        own();
    }

    /// The calling thread looks for jobs as long as `stays` says, but sleeps no moment for it: when none comes for a while
    /// (some 100 microseconds) it leaves, and when `most` others look already, at once.
    pub fn lend(&self, most: usize, stays: impl Fn() -> bool) {
        let mut s = lock(&self.state);
        if s.lent >= most {
            return;
        }
        s.lent += 1;
        let mut looks = SPINS * 4;
        loop {
            if let Some(job) = self.begin(&s) {
                s = self.take_part(job, s);
                looks = SPINS * 4;
            } else if looks == 0 || !stays() {
                break;
            } else {
                drop(s);
                while looks > 0 && self.open.load(Relaxed) == 0 && stays() {
                    looks -= 1;
                    spin();
                }
                s = lock(&self.state);
            }
        }
        s.lent -= 1;
    }
    fn serve(&self) {
        let mut s = lock(&self.state);
        while !s.closed {
            s = match self.begin(&s) {
                Some(job) => self.take_part(job, s),
                None => wait(&self.work, s),
            };
        }
        s.threads -= 1;
    }
    /// The job, if there is one that wants helpers: the caller is in it, counted as busy.
    fn begin(&self, s: &MutexGuard<State>) -> Option<Job> {
        let open = self.open.load(Relaxed);
        let job = s.job.filter(|_| open > 0)?;
        self.open.store(open - 1, Relaxed);
        self.busy.store(self.busy.load(Relaxed) + 1, Relaxed);
        Some(job)
    }
    fn take_part<'a>(&'a self, job: Job, s: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        drop(s);
        // SAFETY: `run` waits for this helper (`busy`) before the closure goes.
        let job = std::panic::AssertUnwindSafe(|| unsafe { (*job.0)() });
        if std::panic::catch_unwind(job).is_err() {
            std::process::abort();
        }
        let s = lock(&self.state);
        let busy = self.busy.load(Relaxed) - 1;
        self.busy.store(busy, Relaxed);
        if busy == 0 && kept("the last one out tells") {
            self.idle.notify_all();
        }
        s
    }

    /// How many threads look for a job.
    pub fn lent(&self) -> usize {
        lock(&self.state).lent
    }
    /// The threads end, and are waited for. No job is under way, and none comes any more.
    pub fn close(&self) {
        let threads = {
            let mut s = lock(&self.state);
            s.closed = true;
            std::mem::take(&mut s.handles)
        };
        if kept("the end of the crew is told") {
            self.work.notify_all();
        }
        for t in threads {
            // One that panicked has ended the process.
            let _ = t.join();
        }
    }

    /// How many threads there are.
    #[cfg(test)]
    pub fn threads(&self) -> usize {
        lock(&self.state).threads
    }
}
