//! The kernel's readiness queue and the bell that wakes its sleeper: the only file that names an operating system.
//!
//! Linux: epoll with one-shot entries and an eventfd. Elsewhere (macOS, the BSDs): kqueue with `EV_ONESHOT` and a pipe.
//! Both answer the same six calls. Not `mio`, which has no one-shot mode; not `polling`, which makes five system calls of
//! a wait where one will do.
//!
//! Invariant: what `arm` asked for is reported at most once; the bell is reported until `drain`. No locks.

use std::io;
use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

/// What the kernel reported of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    pub fd: i32,
    pub readable: bool,
    pub writable: bool,
}

/// What came of asking for readiness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Armed {
    /// It will be reported.
    Watching,
    /// The kernel does not watch such files (regular ones): they are always ready.
    AlwaysReady,
}

/// The queue and its bell. Descriptors are closed on exec and when this is dropped.
pub struct Kernel {
    queue: AtomicI32,
    bell_in: AtomicI32,
    bell_out: AtomicI32,
}

/// Nanoseconds of the monotonic clock.
pub fn now_ns() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a live timespec, and the call writes no more than one.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut t) };
    (t.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(t.tv_nsec as u64)
}

fn timespec(ns: u64) -> libc::timespec {
    // A century is enough, and some kernels refuse what does not fit their own clock.
    let secs = (ns / 1_000_000_000).min(3_000_000_000);
    libc::timespec { tv_sec: secs as libc::time_t, tv_nsec: (ns % 1_000_000_000) as _ }
}

fn check(r: i32) -> io::Result<i32> {
    if r < 0 { Err(io::Error::last_os_error()) } else { Ok(r) }
}

impl Kernel {
    /// The descriptor that wakes the sleeper when 8 bytes are written to it.
    pub fn bell(&self) -> i32 {
        self.bell_in.load(Relaxed)
    }

    /// The queue's own descriptor, which another queue can hold.
    pub fn queue(&self) -> i32 {
        self.queue.load(Relaxed)
    }

    /// Wakes whoever sleeps in `wait`, or the next one who would.
    pub fn ring(&self) {
        let one = 1u64.to_ne_bytes();
        // SAFETY: the call reads the 8 bytes of `one`. When it would block, the bell is ringing already.
        unsafe { libc::write(self.bell(), one.as_ptr().cast(), 8) };
    }

    /// Stops the bell.
    pub fn drain(&self) {
        let mut buffer = [0u8; 64];
        // SAFETY: reads at most 64 bytes into a buffer of 64; the descriptor does not block.
        while unsafe { libc::read(self.bell_out.load(Relaxed), buffer.as_mut_ptr().cast(), 64) } == 64 {}
    }

    /// Closes the descriptors now (in a fork's child, so that a fresh queue finds room).
    pub fn close(&self) {
        let (queue, a, b) = (self.queue.swap(-1, Relaxed), self.bell_in.swap(-1, Relaxed), self.bell_out.swap(-1, Relaxed));
        for fd in [queue, a].into_iter().chain(Some(b).filter(|&b| b != a)) {
            if fd >= 0 {
                // SAFETY: `swap` gave the number to us alone: nobody closes it twice, nor uses it after this.
                unsafe { libc::close(fd) };
            }
        }
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod epoll {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// epoll_pwait2 (Linux 5.11) counts in nanoseconds; set when this kernel lacks it.
    static MILLISECONDS: AtomicBool = AtomicBool::new(false);
    const BELL: u64 = u64::MAX;
    const BATCH: usize = 256;

    impl Kernel {
        pub fn new() -> io::Result<Kernel> {
            // SAFETY: the calls take numbers, and pointers to what lives here. `kernel` owns each descriptor as soon as it is there.
            unsafe {
                let queue = check(libc::epoll_create1(libc::EPOLL_CLOEXEC))?;
                let kernel = Kernel { queue: AtomicI32::new(queue), bell_in: AtomicI32::new(-1), bell_out: AtomicI32::new(-1) };
                let bell = check(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK))?;
                kernel.bell_in.store(bell, Relaxed);
                kernel.bell_out.store(bell, Relaxed);
                let mut e = libc::epoll_event { events: libc::EPOLLIN as u32, u64: BELL };
                check(libc::epoll_ctl(queue, libc::EPOLL_CTL_ADD, bell, &mut e))?;
                Ok(kernel)
            }
        }

        fn ctl(&self, op: i32, fd: i32, read: bool, write: bool) -> io::Result<i32> {
            let mut events = libc::EPOLLONESHOT;
            if read {
                events |= libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLPRI;
            }
            if write {
                events |= libc::EPOLLOUT;
            }
            let mut e = libc::epoll_event { events: events as u32, u64: fd as u32 as u64 };
            // SAFETY: one event that lives here; a descriptor that is not open is an error, not a danger.
            check(unsafe { libc::epoll_ctl(self.queue.load(Relaxed), op, fd, &mut e) })
        }

        /// Asks for one report. `known`: it was asked for before, so the kernel probably has an entry.
        pub fn arm(&self, fd: i32, read: bool, write: bool, known: bool) -> io::Result<Armed> {
            let (first, second, retry) = if known {
                (libc::EPOLL_CTL_MOD, libc::EPOLL_CTL_ADD, libc::ENOENT)
            } else {
                (libc::EPOLL_CTL_ADD, libc::EPOLL_CTL_MOD, libc::EEXIST)
            };
            let mut r = self.ctl(first, fd, read, write);
            // A number that was closed and opened again: the kernel forgot what we remember, or the other way round.
            if r.as_ref().is_err_and(|e| e.raw_os_error() == Some(retry)) {
                r = self.ctl(second, fd, read, write);
            }
            match r {
                Ok(_) => Ok(Armed::Watching),
                Err(e) if e.raw_os_error() == Some(libc::EPERM) => Ok(Armed::AlwaysReady),
                Err(e) => Err(e),
            }
        }

        /// Reports a descriptor whenever it can be read.
        pub fn keep(&self, fd: i32) -> io::Result<()> {
            let mut e = libc::epoll_event { events: libc::EPOLLIN as u32, u64: fd as u32 as u64 };
            // SAFETY: one event that lives here; a descriptor that is not open is an error, not a danger.
            check(unsafe { libc::epoll_ctl(self.queue.load(Relaxed), libc::EPOLL_CTL_ADD, fd, &mut e) }).map(|_| ())
        }

        /// Forgets a descriptor that is about to be closed.
        pub fn forget(&self, fd: i32) {
            let _ = self.ctl(libc::EPOLL_CTL_DEL, fd, false, false);
        }

        /// Waits at most `limit_ns` (`u64::MAX`: without limit; 0: not at all). Hands reports to `f`; true: the bell
        /// rings or a signal came.
        pub fn wait(&self, limit_ns: u64, mut f: impl FnMut(Ready)) -> bool {
            let mut buffer = [libc::epoll_event { events: 0, u64: 0 }; BATCH];
            let queue = self.queue.load(Relaxed);
            let ms = match limit_ns {
                0 => 0,
                u64::MAX => -1,
                n => n.div_ceil(1_000_000).min(i32::MAX as u64) as i32,
            };
            let mut n = -1;
            let mut error = libc::ENOSYS;
            if ms > 0 && !MILLISECONDS.load(Relaxed) {
                let t = timespec(limit_ns);
                // SAFETY: the kernel writes at most BATCH events; the time lives here; no signal mask.
                n = unsafe {
                    libc::syscall(
                        libc::SYS_epoll_pwait2,
                        queue,
                        buffer.as_mut_ptr(),
                        BATCH as i32,
                        &t,
                        std::ptr::null::<libc::sigset_t>(),
                        0usize,
                    )
                } as i32;
                if n < 0 {
                    error = io::Error::last_os_error().raw_os_error().unwrap_or(0);
                    if error == libc::ENOSYS || error == libc::EPERM {
                        // EPERM: a container's filter that does not know the call.
                        MILLISECONDS.store(true, Relaxed);
                        error = libc::ENOSYS;
                    }
                }
            }
            if n < 0 && error == libc::ENOSYS {
                // SAFETY: the kernel writes at most BATCH events, of which the buffer has room.
                n = unsafe { libc::epoll_wait(queue, buffer.as_mut_ptr(), BATCH as i32, ms) };
            }
            if n < 0 {
                return true;
            }
            let mut rung = false;
            for e in &buffer[..(n as usize).min(BATCH)] {
                let (events, data) = (e.events as i32, e.u64);
                if data == BELL {
                    rung = true;
                    continue;
                }
                let end = events & (libc::EPOLLHUP | libc::EPOLLERR) != 0;
                f(Ready {
                    fd: data as u32 as i32,
                    readable: end || events & (libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLPRI) != 0,
                    writable: end || events & libc::EPOLLOUT != 0,
                });
            }
            rung
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod kqueue {
    use super::*;

    const BATCH: usize = 256;

    impl Kernel {
        pub fn new() -> io::Result<Kernel> {
            // SAFETY: the calls take numbers, and pointers to what lives here. `kernel` owns each descriptor as soon as it is there.
            unsafe {
                let queue = check(libc::kqueue())?;
                let kernel = Kernel { queue: AtomicI32::new(queue), bell_in: AtomicI32::new(-1), bell_out: AtomicI32::new(-1) };
                let mut pipe = [-1; 2];
                check(libc::pipe(pipe.as_mut_ptr()))?;
                kernel.bell_out.store(pipe[0], Relaxed);
                kernel.bell_in.store(pipe[1], Relaxed);
                for fd in [queue, pipe[0], pipe[1]] {
                    check(libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC))?;
                }
                for fd in pipe {
                    check(libc::fcntl(fd, libc::F_SETFL, libc::O_NONBLOCK))?;
                }
                kernel.change(pipe[0], libc::EVFILT_READ, libc::EV_ADD)?;
                Ok(kernel)
            }
        }

        fn change(&self, fd: i32, filter: i16, flags: u16) -> io::Result<()> {
            // SAFETY: an all-zero kevent is a valid value; one change that lives here, no events asked for.
            unsafe {
                let mut e: libc::kevent = std::mem::zeroed();
                (e.ident, e.filter, e.flags) = (fd as usize, filter as _, flags as _);
                let none = std::ptr::null_mut();
                check(libc::kevent(self.queue.load(Relaxed), &e, 1, none, 0, std::ptr::null()))?;
            }
            Ok(())
        }

        /// Asks for one report.
        pub fn arm(&self, fd: i32, read: bool, write: bool, _known: bool) -> io::Result<Armed> {
            for (wanted, filter) in [(read, libc::EVFILT_READ), (write, libc::EVFILT_WRITE)] {
                if wanted {
                    match self.change(fd, filter, libc::EV_ADD | libc::EV_ONESHOT) {
                        Ok(()) => {}
                        Err(e) if matches!(e.raw_os_error(), Some(libc::EINVAL | libc::EPERM)) => {
                            return Ok(Armed::AlwaysReady);
                        }
                        Err(e) => return Err(e),
                    }
                }
            }
            Ok(Armed::Watching)
        }

        /// Reports a descriptor whenever it can be read.
        pub fn keep(&self, fd: i32) -> io::Result<()> {
            self.change(fd, libc::EVFILT_READ, libc::EV_ADD)
        }

        /// Forgets a descriptor that is about to be closed.
        pub fn forget(&self, fd: i32) {
            for filter in [libc::EVFILT_READ, libc::EVFILT_WRITE] {
                let _ = self.change(fd, filter, libc::EV_DELETE);
            }
        }

        /// Waits at most `limit_ns` (`u64::MAX`: without limit; 0: not at all). Hands reports to `f`; true: the bell
        /// rings or a signal came.
        pub fn wait(&self, limit_ns: u64, mut f: impl FnMut(Ready)) -> bool {
            let t = timespec(limit_ns);
            let limit = if limit_ns == u64::MAX { std::ptr::null() } else { &raw const t };
            // SAFETY: all-zero kevents are valid values; the kernel writes at most BATCH of them.
            let (buffer, n) = unsafe {
                let mut buffer: [libc::kevent; BATCH] = std::mem::zeroed();
                let n = libc::kevent(self.queue.load(Relaxed), std::ptr::null(), 0, buffer.as_mut_ptr(), BATCH as i32, limit);
                (buffer, n)
            };
            if n < 0 {
                return true;
            }
            let mut rung = false;
            for e in &buffer[..(n as usize).min(BATCH)] {
                if e.ident == self.bell_out.load(Relaxed) as usize {
                    rung = true;
                    continue;
                }
                f(Ready { fd: e.ident as i32, readable: e.filter == libc::EVFILT_READ, writable: e.filter == libc::EVFILT_WRITE });
            }
            rung
        }
    }
}

/// The calling thread works for a moment at a time, and is to have a core as soon as it is woken: it asks the system for short slices,
/// which come before the longer ones of others; or does so no more. Where the system has no such thing (Linux before 6.12), nothing
/// changes.
pub fn run_promptly(on: bool) {
    /// `struct sched_attr` of Linux, in its first version.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    #[repr(C)]
    #[derive(Default)]
    struct Attributes {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        runtime: u64,
        deadline: u64,
        period: u64,
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = on;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let size = size_of::<Attributes>() as u32;
        let mut now = Attributes { size, ..Default::default() };
        // SAFETY: the kernel writes at most `size` bytes, which live here; 0 is the calling thread.
        if unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut now, size, 0) } == 0 && now.policy == libc::SCHED_OTHER as u32 {
            (now.size, now.runtime) = (size, if on { 100_000 } else { 0 });
            // SAFETY: the kernel reads `size` bytes, which live here.
            unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const now, 0) };
        }
    }
}

/// Signals of the process go to other threads: a call that blocks here is not what they are to end.
pub fn take_no_signals() {
    // SAFETY: `all` is a live set, for which zeroes are a value; the mask is the calling thread's.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
    }
}
