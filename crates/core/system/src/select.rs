//! Waiting for one of several streams.
//!
//! A look tells which are ready (poll); when none is, the task parks until one of them may be, and looks again. Who closes
//! one of them meanwhile wakes the task, which finds out.

use crate::io::{self, errno};
use crate::io_state::monotonic;
use kumi_vm::*;

pub static TABLE: &[NativeDef] = &[intrinsic("__select", 4, 4, select)];

/// How long until the next look for urgent data where other data is there: a wait would be over at once.
const LOOK_NS: u64 = 20_000_000;

/// Descriptors of three lists with what they are waited for, and how many of each.
fn lists(cx: &mut Cx, a: &[Value]) -> Result<(Vec<libc::pollfd>, [usize; 3]), Exit> {
    let mut fds = Vec::new();
    let mut counts = [0usize; 3];
    for (k, ev) in [libc::POLLIN, libc::POLLOUT, libc::POLLPRI | libc::POLLIN].into_iter().enumerate() {
        let list = cx.arg_array(a, k)?;
        let list = list.seen();
        counts[k] = list.len();
        for v in list {
            fds.push(libc::pollfd { fd: v.as_fix().unwrap_or(-1) as i32, events: ev, revents: 0 });
        }
    }
    Ok((fds, counts))
}

/// __select(read descriptors, write descriptors, error descriptors, deadline in monotonic ns or nil): three arrays of
/// positions that are ready, or nil when the time is over.
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
    let mut out = [Vec::new(), Vec::new(), Vec::new()];
    let mut at = 0;
    for k in 0..3 {
        for i in 0..counts[k] {
            let found = if n > 0 { fds[at].revents } else { 0 };
            if found & libc::POLLNVAL != 0 {
                return Err(io::fail_plain(cx, libc::EBADF, ""));
            }
            let hit = libc::POLLIN | libc::POLLOUT | libc::POLLPRI | libc::POLLHUP | libc::POLLERR;
            if found & if k < 2 { hit } else { libc::POLLPRI } != 0 {
                out[k].push(Value::fix(i as i64));
            }
            at += 1;
        }
    }
    if out.iter().any(|o| !o.is_empty()) {
        let v: Vec<Value> = out.into_iter().map(|o| cx.array_vec(o)).collect();
        return Ok(cx.array(&v));
    }
    if now >= deadline {
        return Ok(Value::NIL);
    }
    if fds.is_empty() {
        // Waiting for nothing is sleeping, which is no deadlock.
        return Err(cx.park(deadline.min(now + 1_000_000_000)));
    }
    let mut until = deadline;
    let mut watches = Watches::new();
    for p in &fds {
        let w = (p.fd, p.events & libc::POLLOUT == 0, p.events & libc::POLLOUT != 0);
        if p.events & libc::POLLPRI != 0 && n > 0 && p.revents != 0 {
            until = until.min(now + LOOK_NS);
        } else if !watches.contains(&w) {
            watches.push(w);
        }
    }
    Err(cx.park_io_any(&watches, until))
}
