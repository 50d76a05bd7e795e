//! Descriptors by number, as Ruby has them, for system calls.
//!
//! **Invariant.** A number is made a descriptor here only, for one call, under the lock of the stream that has it.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{Errno, Result, fcntl_dupfd_cloexec};
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd};

/// A descriptor by its number. One that is not open is EBADF, as is a negative one.
#[derive(Clone, Copy)]
pub struct Fd(pub i32);

impl AsFd for Fd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: it is borrowed for one call. What a stream has is open until the stream gives it up, under the same lock. A
        // number that a program made up is EBADF, or what the program means. It is not -1, and no descriptor is as large.
        unsafe { BorrowedFd::borrow_raw(if self.0 < 0 { i32::MAX } else { self.0 }) }
    }
}

/// The error of the C library's call that failed last: asked at once, for any other call may change it.
pub fn errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}
/// What a call of the C library gave, where -1 means that it failed.
pub fn result(r: i32) -> Result<i32> {
    if r < 0 { Err(errno()) } else { Ok(r) }
}
pub fn close(fd: i32) -> Result<()> {
    // SAFETY: touches no memory; a number that is not open is an error.
    result(unsafe { libc::close(fd) }).map(|_| ())
}
/// Duplicates `from` (onto `to` unless negative); standard descriptors stay open on exec, others do not.
pub fn dup_to(from: i32, to: i32) -> Result<i32> {
    if to < 0 { fcntl_dupfd_cloexec(Fd(from), 3).map(IntoRawFd::into_raw_fd) } else { dup_over(from, to, to > 2) }
}
/// Makes `to` a duplicate of `from`.
pub fn dup_over(from: i32, to: i32, cloexec: bool) -> Result<i32> {
    // SAFETY: touches no memory. What `to` was is closed under the lock of its stream, or in a child that is about to exec.
    result(unsafe { if cloexec { libc::dup3(from, to, libc::O_CLOEXEC) } else { libc::dup2(from, to) } })
}
pub fn is_tty(fd: i32) -> bool {
    std::io::IsTerminal::is_terminal(&Fd(fd).as_fd())
}
/// Can `fd` be read (or written) now?
pub fn is_ready(fd: i32, read: bool, write: bool) -> Result<bool> {
    poll_fd(fd, read, write, Some(&Default::default()))
}
/// Waits until `fd` can be read (or written), for ever without `limit`: true when it can.
pub fn poll_fd(fd: i32, read: bool, write: bool, limit: Option<&rustix::event::Timespec>) -> Result<bool> {
    let mut events = PollFlags::empty();
    events.set(PollFlags::IN | PollFlags::PRI, read);
    events.set(PollFlags::OUT, write);
    Ok(poll(&mut [PollFd::new(&Fd(fd), events)], limit)? > 0)
}
/// Turns O_NONBLOCK on or off: true when that was a change.
pub fn set_nonblock(fd: i32, on: bool) -> bool {
    match fcntl_getfl(Fd(fd)) {
        Ok(flags) if flags.contains(OFlags::NONBLOCK) != on => fcntl_setfl(Fd(fd), flags ^ OFlags::NONBLOCK).is_ok(),
        _ => false,
    }
}
