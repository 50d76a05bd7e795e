//! Waking once for many small packets: the socket's low-water mark (`SO_RCVLOWAT`).
//!
//! Invariant: nothing that has come is kept from the reader for longer than `LINGER`. A wait with a mark is that short; when
//! nothing came in it the next one has no mark and no such limit, so that an idle source wakes nobody.

use crate::sys;
use std::os::fd::RawFd;
use std::time::{Duration, Instant};

const LINGER: Duration = Duration::from_millis(5);

pub(crate) struct LowWater {
    wanted: usize,
    /// As the socket has it.
    set: usize,
    /// When the wait that a mark makes longer ends. Asking again before is the same wait.
    until: Option<Instant>,
}

impl LowWater {
    pub fn new() -> LowWater {
        LowWater { wanted: 1, set: 1, until: None }
    }

    pub fn want(&mut self, bytes: usize) {
        self.wanted = bytes.max(1);
    }

    /// Another socket is read from now on.
    pub fn fresh(&mut self) {
        self.set = 1;
        self.until = None;
    }

    /// Bytes have come.
    pub fn came(&mut self) {
        self.until = None;
    }

    /// Before a wait for a socket from which at most so many more bytes come: when to look again.
    pub fn wait(&mut self, fd: RawFd, at_most: Option<u64>) -> Option<Instant> {
        let most = at_most.map_or(usize::MAX, |n| usize::try_from(n).unwrap_or(usize::MAX));
        let now = Instant::now();
        let mark = match self.until {
            Some(until) if now >= until => 1,
            _ => self.wanted.min(most).max(1),
        };
        self.put(fd, mark);
        (mark > 1).then(|| *self.until.get_or_insert(now + LINGER))
    }

    /// Leaves the socket as it was.
    pub fn put_back(&mut self, fd: RawFd) {
        self.put(fd, 1);
    }

    fn put(&mut self, fd: RawFd, mark: usize) {
        if mark != self.set {
            self.set = mark;
            sys::set_low_water(fd, mark);
        }
    }
}
