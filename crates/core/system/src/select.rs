//! Waiting for one of several streams.
//!
//! A task waits for one descriptor. To wait for several, they are put into a set of the
//! system's (epoll), which is itself a descriptor: it is ready when one of them is.

use crate::io::{self, errno};
use crate::io_state::monotonic;
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[
    intrinsic("__select", 5, 5, select),
    intrinsic("__poll_set", 3, 3, poll_set),
    intrinsic("__poll_set_close", 1, 1, |_, _, a| {
        if let Some(s) = a[0].as_data::<PollSet>() {
            s.close();
        }
        Ok(Value::NIL)
    }),
];

/// A set of descriptors; its own one is closed with it.
struct PollSet {
    fd: i32,
}
impl Payload for PollSet {}
impl PollSet {
    fn close(&mut self) {
        if self.fd >= 0 {
            io::close_fd(std::mem::replace(&mut self.fd, -1));
        }
    }
}
impl Drop for PollSet {
    fn drop(&mut self) {
        self.close();
    }
}

/// How long at most until the next look at descriptors in a set: closing one takes it out of the set unnoticed.
const LOOK_NS: u64 = 200_000_000;

/// Descriptors of three lists with what they are waited for, and how many of each.
fn lists(cx: &mut Cx, a: &[Value]) -> Result<(Vec<libc::pollfd>, [usize; 3]), Exit> {
    let mut fds = Vec::new();
    let mut counts = [0usize; 3];
    for (k, ev) in [libc::POLLIN, libc::POLLOUT, libc::POLLPRI].into_iter().enumerate() {
        let list = cx.arg_array(a, k)?;
        counts[k] = list.len();
        for v in list.as_slice() {
            fds.push(libc::pollfd { fd: v.as_fix().unwrap_or(-1) as i32, events: ev, revents: 0 });
        }
    }
    Ok((fds, counts))
}

/// __poll_set(read descriptors, write descriptors, error descriptors): a set of them for `__select`; nil when the
/// system has none to give.
fn poll_set(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (fds, _) = lists(cx, a)?;
    // SAFETY: touches no memory.
    let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
    if fd < 0 {
        return Ok(Value::NIL);
    }
    let set = PollSet { fd };
    let mut wanted: Vec<(i32, u32)> = Vec::new();
    for p in fds {
        let ev = match p.events {
            libc::POLLIN => libc::EPOLLIN,
            libc::POLLOUT => libc::EPOLLOUT,
            _ => libc::EPOLLPRI,
        } as u32;
        match wanted.iter_mut().find(|w| w.0 == p.fd) {
            Some(w) => w.1 |= ev,
            None => wanted.push((p.fd, ev)),
        }
    }
    for (one, events) in wanted {
        let mut e = libc::epoll_event { events, u64: one as u64 };
        // Plain files are always ready and not taken; a look finds them and closed descriptors.
        // SAFETY: the event is alive during the call.
        unsafe { libc::epoll_ctl(set.fd, libc::EPOLL_CTL_ADD, one, &mut e) };
    }
    Ok(cx.data(cx.k.object, set))
}

/// __select(read descriptors, write descriptors, error descriptors, deadline in monotonic ns or nil, set or nil):
/// three arrays of positions that are ready, or nil when the time is over. More than one descriptor need a set to
/// be waited for.
fn select(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (mut fds, counts) = lists(cx, a)?;
    let deadline = if a[3].is_nil() { u64::MAX } else { cx.arg_i64(a, 3)?.max(0) as u64 };
    let now = monotonic();
    // SAFETY: the vector is alive and has that many entries.
    let n = unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, 0) };
    if n < 0 && errno() != libc::EINTR {
        let e = errno();
        return Err(io::fail_plain(cx, e, "select(2)"));
    }
    if n <= 0 {
        if now >= deadline {
            return Ok(Value::NIL);
        }
        let (io, until) = match (fds.as_slice(), a[4].as_data::<PollSet>()) {
            // Waiting for nothing is sleeping, which is no deadlock.
            ([], _) => (None, deadline.min(now + 1_000_000_000)),
            ([one], _) => (Some((one.fd, one.events & libc::POLLOUT == 0, one.events & libc::POLLOUT != 0)), deadline),
            (_, Some(set)) if set.fd >= 0 => (Some((set.fd, true, false)), deadline.min(now + LOOK_NS)),
            // Without a set: a look every few milliseconds.
            _ => (None, deadline.min(now + 2_000_000)),
        };
        cx.pending.io = io;
        cx.pending.deadline = until;
        return Err(Exit::Park);
    }
    let mut out = [Vec::new(), Vec::new(), Vec::new()];
    let mut at = 0;
    for k in 0..3 {
        for i in 0..counts[k] {
            if fds[at].revents & libc::POLLNVAL != 0 {
                return Err(io::fail_plain(cx, libc::EBADF, ""));
            }
            let hit = libc::POLLIN | libc::POLLOUT | libc::POLLPRI | libc::POLLHUP | libc::POLLERR;
            if fds[at].revents & hit != 0 && (k < 2 || fds[at].revents & libc::POLLPRI != 0) {
                out[k].push(Value::fix(i as i64));
            }
            at += 1;
        }
    }
    let v: Vec<Value> = out.into_iter().map(|o| cx.array_vec(o)).collect();
    Ok(cx.array(&v))
}
