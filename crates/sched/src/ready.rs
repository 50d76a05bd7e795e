//! Readiness: which waits want to hear of which descriptor.
//!
//! The kernel's entry for a descriptor is one-shot and asks for the union of what its waiters want; a report takes out
//! the waiters it serves and arms the entry again for those that stay. A waiter is in the table until it is reported,
//! unwatched, or taken out because its descriptor closes. A report without a waiter (one that was unwatched) is dropped.
//!
//! **Numbers are given anew.** Between the moment somebody decides to wait and the moment the wait stands in the table the
//! descriptor may be closed, and its number be another file's. So a wait is *noted* first ([`Watch`]), while its maker knows
//! that the descriptor is open, with how often it was closed so far; a wait that was noted before a closing is refused.
//!
//! Locks: the table's shards, one at a time, innermost. They are held over the system call that arms, so that the
//! kernel's entry and the table agree.

use crate::queue::TaskId;
use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed, lock};
use crate::sys::{Armed, Kernel, Ready};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::io;

const SHARDS: usize = 16;
/// Counts of closings: descriptors up to here have one of their own. A multiple of `SHARDS`.
const COUNTS: usize = 4096;

#[derive(Clone, Copy)]
struct Waiter {
    task: TaskId,
    seq: u64,
    read: bool,
    write: bool,
}

/// A descriptor that was watched at least once. Entries without waiters stay: the kernel has one too, and arming it
/// again is one call instead of two.
#[derive(Default)]
struct Watched {
    waiters: SmallVec<[Waiter; 1]>,
}

/// What a wait wants to hear of a descriptor, as [`Sched::note`](crate::Sched::note) wrote it down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Watch {
    /// The descriptor.
    pub fd: i32,
    /// Does the wait end when reading would not block?
    pub read: bool,
    /// Does it end when writing would not block?
    pub write: bool,
    /// How often descriptors of its number had been closed.
    closed: usize,
}

type Table = FxHashMap<i32, Watched>;

/// A report for one waiter, of what it asked for.
pub struct Report {
    pub task: TaskId,
    pub seq: u64,
    pub ready: Ready,
}

/// The table of waiters, and the kernel's queue beside it.
pub struct Readiness {
    kernel: Kernel,
    shards: [Mutex<Table>; SHARDS],
    /// How often a descriptor was closed, by its number modulo `COUNTS`. Changed under the shard's lock.
    closed: Box<[AtomicUsize]>,
    waiters: AtomicUsize,
}

impl Readiness {
    pub fn new() -> io::Result<Readiness> {
        Ok(Readiness {
            kernel: Kernel::new()?,
            shards: std::array::from_fn(|_| Mutex::new(Table::default())),
            closed: (0..COUNTS).map(|_| AtomicUsize::new(0)).collect(),
            waiters: AtomicUsize::new(0),
        })
    }

    /// The kernel's side, for its bell.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    fn shard(&self, fd: i32) -> MutexGuard<'_, Table> {
        lock(&self.shards[fd as u32 as usize % SHARDS])
    }
    fn closings(&self, fd: i32) -> &AtomicUsize {
        &self.closed[fd as u32 as usize % COUNTS]
    }

    /// Notes a wait. Whoever closes the descriptor must call [`Readiness::closing`] after this: the caller holds the lock of
    /// what owns it, or owns it.
    pub fn note(&self, fd: i32, read: bool, write: bool) -> Watch {
        // No order is asked for: that lock orders this before the count of that closing, and an older count is only refused.
        Watch { fd, read, write, closed: self.closings(fd).load(Relaxed) }
    }
    /// Is what was noted still the same file, as far as is known?
    pub fn holds(&self, w: Watch) -> bool {
        self.closings(w.fd).load(Acquire) == w.closed
    }

    /// Adds a waiter for one report. False: the descriptor is always ready and nothing was added.
    ///
    /// # Errors
    /// The kernel's; `EBADF` also when descriptors were closed since the wait was noted, this one perhaps among them.
    pub fn watch(&self, w: Watch, task: TaskId, seq: u64) -> io::Result<bool> {
        let Watch { fd, read, write, .. } = w;
        if fd < 0 {
            return Err(io::Error::from_raw_os_error(libc::EBADF));
        }
        let mut table = self.shard(fd);
        if !self.holds(w) {
            return Err(io::Error::from_raw_os_error(libc::EBADF));
        }
        let known = table.contains_key(&fd);
        let entry = table.entry(fd).or_default();
        entry.waiters.push(Waiter { task, seq, read, write });
        self.waiters.fetch_add(1, AcqRel);
        let (r, w) = entry.wants();
        match self.kernel.arm(fd, r, w, known) {
            Ok(Armed::Watching) => Ok(true),
            other => {
                entry.waiters.pop();
                self.waiters.fetch_sub(1, AcqRel);
                if entry.waiters.is_empty() {
                    table.remove(&fd);
                }
                other.map(|_| false)
            }
        }
    }

    /// Takes a waiter out.
    pub fn unwatch(&self, fd: i32, task: TaskId, seq: u64) {
        let mut table = self.shard(fd);
        if let Some(entry) = table.get_mut(&fd) {
            let before = entry.waiters.len();
            entry.waiters.retain(|w| (w.task, w.seq) != (task, seq));
            self.waiters.fetch_sub(before - entry.waiters.len(), AcqRel);
        }
    }

    /// Takes all waiters of a descriptor out and makes the kernel forget it.
    pub fn closing(&self, fd: i32) -> Vec<(TaskId, u64)> {
        if fd < 0 {
            return Vec::new();
        }
        let mut table = self.shard(fd);
        self.closings(fd).fetch_add(1, AcqRel);
        let Some(entry) = table.remove(&fd) else { return Vec::new() };
        self.kernel.forget(fd);
        self.waiters.fetch_sub(entry.waiters.len(), AcqRel);
        entry.waiters.iter().map(|w| (w.task, w.seq)).collect()
    }

    /// Who waits for a descriptor.
    pub fn waiters(&self, fd: i32) -> Vec<(TaskId, u64)> {
        self.shard(fd).get(&fd).map_or(Vec::new(), |e| e.waiters.iter().map(|w| (w.task, w.seq)).collect())
    }

    /// How many waiters there are.
    pub fn watching(&self) -> usize {
        self.waiters.load(Acquire)
    }

    /// Waits for the kernel (0: not at all) and adds what came to `out`. True: the bell rings, or a signal came.
    /// A reported waiter is counted in `watching` until `served` says that its report is where others see it.
    pub fn wait(&self, limit_ns: u64, out: &mut Vec<Report>) -> bool {
        self.kernel.wait(limit_ns, |ready| {
            let mut table = self.shard(ready.fd);
            let Some(entry) = table.get_mut(&ready.fd) else { return };
            entry.waiters.retain(|w| {
                let (readable, writable) = (w.read && ready.readable, w.write && ready.writable);
                let served = readable || writable;
                if served {
                    let ready = Ready { readable, writable, ..ready };
                    out.push(Report { task: w.task, seq: w.seq, ready });
                }
                !served
            });
            if !entry.waiters.is_empty() {
                let (r, w) = entry.wants();
                if self.kernel.arm(ready.fd, r, w, true).is_err() {
                    // Closed behind our back: let the rest look for themselves, they get the error from the call.
                    out.extend(entry.waiters.drain(..).map(|w| Report { task: w.task, seq: w.seq, ready }));
                }
            }
        })
    }

    /// `n` reports of `wait` have been handed over.
    pub fn served(&self, n: usize) {
        self.waiters.fetch_sub(n, AcqRel);
    }
}

impl Watched {
    fn wants(&self) -> (bool, bool) {
        self.waiters.iter().fold((false, false), |(r, w), x| (r || x.read, w || x.write))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{PipeReader, Read, Write, pipe};
    use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};

    const SECOND: u64 = 1_000_000_000;

    fn wait(r: &Readiness, limit: u64) -> Vec<(TaskId, u64, bool, bool)> {
        let mut out = Vec::new();
        r.wait(limit, &mut out);
        r.served(out.len());
        out.iter().map(|x| (x.task, x.seq, x.ready.readable, x.ready.writable)).collect()
    }

    #[test]
    fn a_pipe_is_reported_once_for_each_watch() {
        let ready = Readiness::new().unwrap();
        let (mut r, mut w) = pipe().unwrap();
        assert!(ready.watch(ready.note(r.as_raw_fd(), true, false), 1, 10).unwrap());
        assert!(wait(&ready, 0).is_empty());
        w.write_all(b"x").unwrap();
        assert_eq!(wait(&ready, 10 * SECOND), [(1, 10, true, false)]);
        assert!(wait(&ready, 0).is_empty(), "one-shot");
        assert!(ready.watch(ready.note(r.as_raw_fd(), true, false), 1, 11).unwrap());
        assert_eq!(wait(&ready, 10 * SECOND), [(1, 11, true, false)], "still readable");
        r.read_exact(&mut [0]).unwrap();
        assert!(ready.watch(ready.note(r.as_raw_fd(), true, false), 1, 12).unwrap());
        drop(w);
        assert_eq!(wait(&ready, 10 * SECOND).len(), 1, "the end is readable");
        assert_eq!(ready.watching(), 0);
    }

    #[test]
    fn several_waiters_share_a_descriptor() {
        let ready = Readiness::new().unwrap();
        let (a, mut b) = std::os::unix::net::UnixStream::pair().unwrap();
        let fd = a.as_raw_fd();
        ready.watch(ready.note(fd, true, false), 1, 1).unwrap();
        ready.watch(ready.note(fd, true, false), 2, 1).unwrap();
        ready.watch(ready.note(fd, false, true), 3, 1).unwrap();
        assert_eq!(ready.waiters(fd).len(), 3);
        assert_eq!(wait(&ready, 10 * SECOND), [(3, 1, false, true)]);
        ready.unwatch(fd, 2, 1);
        ready.unwatch(fd, 2, 1);
        b.write_all(b"x").unwrap();
        let seen = wait(&ready, 10 * SECOND);
        assert_eq!(seen.iter().map(|x| x.0).collect::<Vec<_>>(), [1]);
        assert_eq!(ready.watching(), 0);
    }

    #[test]
    fn a_wait_that_was_noted_before_a_closing_is_refused() {
        let ready = Readiness::new().unwrap();
        let (old, _w) = pipe().unwrap();
        let note = ready.note(old.as_raw_fd(), true, false);
        assert!(ready.closing(note.fd).is_empty());
        // The number is given anew in one step, since tests beside this one open and close descriptors.
        let (new, mut w) = pipe().unwrap();
        // SAFETY: both numbers are open, and `old` owns the second one before and after.
        assert_eq!(unsafe { libc::dup2(new.as_raw_fd(), note.fd) }, note.fd);
        drop(new);
        assert!(!ready.holds(note));
        assert!(ready.watch(note, 1, 1).is_err());
        w.write_all(b"x").unwrap();
        assert!(wait(&ready, 0).is_empty());
        assert!(ready.watch(ready.note(note.fd, true, false), 1, 2).unwrap());
        assert_eq!(wait(&ready, 10 * SECOND), [(1, 2, true, false)]);
    }

    #[test]
    fn closing_gives_the_waiters_back_and_the_number_may_be_used_again() {
        let ready = Readiness::new().unwrap();
        let (r, w) = pipe().unwrap();
        let fd = r.into_raw_fd();
        ready.watch(ready.note(fd, true, false), 1, 5).unwrap();
        ready.watch(ready.note(fd, true, false), 2, 6).unwrap();
        assert_eq!(ready.closing(fd), [(1, 5), (2, 6)]);
        assert!(ready.closing(fd).is_empty() && ready.watching() == 0);
        // SAFETY: the descriptor was given up above.
        drop(unsafe { PipeReader::from_raw_fd(fd) });
        drop(w);
        let (r, mut w) = pipe().unwrap();
        ready.watch(ready.note(r.as_raw_fd(), true, false), 3, 7).unwrap();
        w.write_all(b"x").unwrap();
        assert_eq!(wait(&ready, 10 * SECOND), [(3, 7, true, false)]);
    }

    #[test]
    fn a_descriptor_closed_unannounced_can_be_watched_again() {
        let ready = Readiness::new().unwrap();
        for seq in 0..3 {
            let (r, mut w) = pipe().unwrap();
            ready.watch(ready.note(r.as_raw_fd(), true, false), 1, seq).unwrap();
            w.write_all(b"x").unwrap();
            assert_eq!(wait(&ready, 10 * SECOND), [(1, seq, true, false)]);
        }
    }

    #[test]
    fn what_can_not_be_watched_says_so() {
        let ready = Readiness::new().unwrap();
        let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
        assert!(!ready.watch(ready.note(file.as_raw_fd(), true, false), 1, 1).unwrap());
        for fd in [-1, i32::MIN, i32::MAX] {
            let e = ready.watch(ready.note(fd, true, false), 1, 1).unwrap_err();
            assert_eq!(e.raw_os_error(), Some(libc::EBADF));
        }
        assert_eq!(ready.watching(), 0);
        ready.unwatch(-5, 1, 1);
        assert!(ready.closing(-5).is_empty() && ready.waiters(12345).is_empty());
    }

    #[test]
    fn the_bell_rings_until_drained() {
        let ready = Readiness::new().unwrap();
        ready.kernel().ring();
        ready.kernel().ring();
        assert!(ready.wait(10 * SECOND, &mut Vec::new()));
        assert!(ready.wait(0, &mut Vec::new()));
        ready.kernel().drain();
        assert!(!ready.wait(0, &mut Vec::new()));
    }
}
