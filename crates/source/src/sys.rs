//! System calls that `std` has no safe door for. A descriptor given here may be anything: a wrong one gives `EBADF`.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

/// What kind of thing a descriptor is, as far as reading goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Always ready; `left` bytes lie behind its position `at`.
    File {
        at: u64,
        left: u64,
    },
    Directory,
    Socket,
    /// Pipes, terminals, devices.
    Other,
}

/// What an attempt to read came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Got {
    Bytes(usize),
    Nothing,
    End,
}

pub(crate) fn kind(fd: RawFd) -> io::Result<Kind> {
    // SAFETY: `stat` is plain data for which zeroes are a value; fstat fills it or fails.
    let mut st: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: `st` is a live `stat`, and the call writes no more than one.
    if unsafe { libc::fstat(fd, &mut st) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(match st.st_mode & libc::S_IFMT {
        libc::S_IFREG => {
            // SAFETY: the call takes and gives numbers.
            let at = unsafe { libc::lseek(fd, 0, libc::SEEK_CUR) };
            let at = (at as i64).max(0);
            Kind::File { at: at as u64, left: (st.st_size as i64).saturating_sub(at).max(0) as u64 }
        }
        libc::S_IFDIR => Kind::Directory,
        libc::S_IFSOCK => Kind::Socket,
        _ => Kind::Other,
    })
}

/// Tells the system that a file is read from front to back.
pub(crate) fn sequential(fd: RawFd) {
    #[cfg(target_os = "linux")]
    // SAFETY: the call takes numbers and changes nothing but how the system reads ahead.
    unsafe {
        libc::posix_fadvise(fd, 0, 0, libc::POSIX_FADV_SEQUENTIAL);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = fd;
}

/// Another descriptor of the same open file, not handed on to other programs.
pub(crate) fn duplicate(fd: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the call takes and gives numbers; a descriptor that is not open is an error.
    let new = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) };
    if new < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: `fcntl` has just made the descriptor, so that nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(new) })
}

/// Whether `poll` says that reading would not block (data, end or error), now.
pub(crate) fn readable(fd: RawFd) -> io::Result<bool> {
    wait_ready(fd, true, false, Some(Duration::ZERO))
}

/// Blocks until the descriptor is ready or the time is over; false: it is over.
pub(crate) fn wait_ready(fd: RawFd, read: bool, write: bool, time: Option<Duration>) -> io::Result<bool> {
    let end = time.map(|t| Instant::now() + t);
    let mut p = libc::pollfd { fd, events: 0, revents: 0 };
    if read {
        p.events |= libc::POLLIN;
    }
    if write {
        p.events |= libc::POLLOUT;
    }
    loop {
        // Rounded up, so that a wait never ends before its time and spins.
        let ms = match end {
            None => -1,
            Some(_) if time == Some(Duration::ZERO) => 0,
            Some(end) => end.saturating_duration_since(Instant::now()).as_micros().div_ceil(1000).min(i32::MAX as u128) as i32,
        };
        // SAFETY: `p` is one live `pollfd`, and one is what the call is told of.
        let n = unsafe { libc::poll(&mut p, 1, ms) };
        if n > 0 {
            if p.revents & libc::POLLNVAL != 0 {
                return Err(io::Error::from_raw_os_error(libc::EBADF));
            }
            return Ok(true);
        }
        if n == 0 {
            return Ok(false);
        }
        let e = io::Error::last_os_error();
        if e.kind() != io::ErrorKind::Interrupted {
            return Err(e);
        }
    }
}

/// Appends at most `max` bytes with `read`, which blocks where the descriptor does.
pub(crate) fn read(fd: RawFd, out: &mut Vec<u8>, max: usize) -> io::Result<Got> {
    // SAFETY: the system writes the bytes that it says, and by the promise to the closure it may write `n` at `at`.
    unsafe { into_spare(out, max, |at, n| libc::read(fd, at.cast(), n)) }
}

/// Appends at most `max` bytes of a file from `offset` on. Its position, which others may share, is not moved.
pub(crate) fn read_at(fd: RawFd, offset: u64, out: &mut Vec<u8>, max: usize) -> io::Result<Got> {
    let offset = libc::off_t::try_from(offset).map_err(|_| io::Error::from_raw_os_error(libc::EOVERFLOW))?;
    // SAFETY: the system writes the bytes that it says, and by the promise to the closure it may write `n` at `at`.
    unsafe { into_spare(out, max, |at, n| libc::pread(fd, at.cast(), n, offset)) }
}

/// Appends at most `max` bytes of a socket; never blocks.
pub(crate) fn recv(fd: RawFd, out: &mut Vec<u8>, max: usize) -> io::Result<Got> {
    // SAFETY: the system writes the bytes that it says, and by the promise to the closure it may write `n` at `at`.
    unsafe { into_spare(out, max, |at, n| libc::recv(fd, at.cast(), n, libc::MSG_DONTWAIT)) }
}

/// Appends what `f(at, n)` writes. It may write `n` bytes at `at`, and answers as system calls that read do.
///
/// # Safety
/// As many bytes as `f` answers are initialised from `at` on.
unsafe fn into_spare(out: &mut Vec<u8>, max: usize, f: impl Fn(*mut u8, usize) -> isize) -> io::Result<Got> {
    let max = max.max(1);
    out.reserve(max);
    loop {
        let len = out.len();
        let n = f(out.spare_capacity_mut().as_mut_ptr().cast(), max);
        if n > 0 {
            // SAFETY: `max` bytes were reserved behind `len`, and `f` has initialised the first `n` of them, by the caller's promise.
            unsafe { out.set_len(len + (n as usize).min(max)) };
            return Ok(Got::Bytes(n as usize));
        }
        if n == 0 {
            return Ok(Got::End);
        }
        let e = io::Error::last_os_error();
        match e.kind() {
            io::ErrorKind::Interrupted => continue,
            io::ErrorKind::WouldBlock => return Ok(Got::Nothing),
            _ => return Err(e),
        }
    }
}

/// Whether the descriptor is a terminal.
pub(crate) fn is_terminal(fd: RawFd) -> bool {
    // SAFETY: the call takes and gives numbers.
    unsafe { libc::isatty(fd) == 1 }
}

/// Sets how many bytes must have come for a socket to count as readable.
pub(crate) fn set_low_water(fd: RawFd, bytes: usize) {
    let n = bytes.clamp(1, 1 << 20) as libc::c_int;
    // SAFETY: the pointer is to a live int of the size given. A refusal costs wake-ups, nothing else.
    unsafe {
        libc::setsockopt(fd, libc::SOL_SOCKET, libc::SO_RCVLOWAT, (&raw const n).cast(), size_of::<libc::c_int>() as libc::socklen_t);
    }
}
