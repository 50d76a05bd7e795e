//! What a reader is told that finds nothing: what to wait for before it reads again.

use std::fmt;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

/// What a call of [`Source::read`](crate::Source::read) came to.
#[derive(Debug)]
pub enum Read {
    /// So many bytes (at least one) were appended.
    Data(usize),
    /// Nothing is there; read again when this has happened. Reading earlier is allowed.
    Wait(Wait),
    /// Everything has been delivered.
    End,
}

/// What to wait for.
#[derive(Debug)]
pub enum Wait {
    /// The descriptor to be ready for any of these, or the time to come, whichever is first. The descriptor is the source's:
    /// it may be another one next time, and is not to be waited for after the source was closed.
    Ready {
        /// The descriptor.
        fd: RawFd,
        /// That reading it would not block.
        read: bool,
        /// That writing to it would not block.
        write: bool,
        /// The time, if there is a limit.
        until: Option<Instant>,
    },
    /// Work that may block (looking up a name, loading certificates): run it on a thread that may, then read again.
    Job(Job),
    /// The time to come. It may have come already: then others get a turn first.
    Until(Instant),
    /// Somebody to push bytes.
    Push,
}

/// So much later than now; the far future where the clock has no room for it.
pub(crate) fn later(time: Duration) -> Instant {
    let now = Instant::now();
    now.checked_add(time).unwrap_or(now + Duration::from_secs(1 << 30))
}

/// Work to be run once, anywhere. Dropped instead, it is offered again by the next `read`.
pub struct Job(Box<dyn FnOnce() + Send>);

impl Job {
    pub(crate) fn new(work: impl FnOnce() + Send + 'static) -> Job {
        Job(Box::new(work))
    }

    /// Does the work; blocks for as long as it takes.
    pub fn run(self) {
        (self.0)()
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Job")
    }
}
