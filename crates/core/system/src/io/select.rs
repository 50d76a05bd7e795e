//! Waiting for one of several streams.
//!
//! A look tells which are ready (poll); when none is, the task parks until one of them may be, and looks again. Each stream
//! is asked under its own lock for its descriptor, and that is noted. Who closes one of them later wakes the task, which
//! finds out; a look during which one was closed counts for nothing, since its number may have been given anew.

use crate::io::{self, Errno, Fd};
use kumi_vm::*;
use rustix::event::{PollFd, PollFlags, poll};

pub static TABLE: &[NativeDef] = &[intrinsic("__select", 4, 4, select).guard(Guard::None)];

/// How long until the next look for urgent data where other data is there: a wait would be over at once.
const LOOK_NS: u64 = 20_000_000;

/// Descriptors of three lists with what they are waited for, their notes, and how many of each.
fn lists(cx: &mut Cx, a: &[Value]) -> Result<(Vec<(Fd, PollFlags)>, Vec<Watch>, [usize; 3]), Exit> {
    let (mut fds, mut notes) = (Vec::new(), Vec::new());
    let mut counts = [0usize; 3];
    for (k, events) in [PollFlags::IN, PollFlags::OUT, PollFlags::PRI | PollFlags::IN].into_iter().enumerate() {
        let list = cx.arg_array(a, k)?;
        let list = list.seen();
        counts[k] = list.len();
        for v in list {
            let _l = cx.lock_objects(v, &[]);
            let io = io::open(cx, v)?;
            let fd = if k == 1 { io.out_fd() } else { io.fd };
            fds.push((Fd(fd), events));
            notes.push(cx.watch_of(fd, k != 1, k == 1));
        }
    }
    Ok((fds, notes, counts))
}

/// __select(streams to read, to write, with urgent data, deadline in monotonic ns or nil): three arrays of
/// positions that are ready, or nil when the time is over. The lists are the caller's own.
fn select(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (fds, notes, counts) = lists(cx, a)?;
    let deadline = if a[3].is_nil() { u64::MAX } else { cx.arg_i64(a, 3)?.max(0) as u64 };
    let now = now_ns();
    let mut polled: Vec<PollFd> = fds.iter().map(|(fd, events)| PollFd::new(fd, *events)).collect();
    if let Err(e) = poll(&mut polled, Some(&Default::default())) {
        if e != Errno::INTR {
            return Err(io::fail_plain(cx, e, "select(2)"));
        }
    }
    if !notes.iter().all(|w| cx.watch_holds(*w)) {
        return Err(Exit::Again);
    }
    let mut out = [Vec::new(), Vec::new(), Vec::new()];
    let mut at = 0;
    for k in 0..3 {
        for i in 0..counts[k] {
            let found = polled[at].revents();
            if found.contains(PollFlags::NVAL) {
                return Err(io::fail_plain(cx, Errno::BADF, ""));
            }
            let hit = PollFlags::IN | PollFlags::OUT | PollFlags::PRI | PollFlags::HUP | PollFlags::ERR;
            if found.intersects(if k < 2 { hit } else { PollFlags::PRI }) {
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
    for ((p, (_, events)), &w) in polled.iter().zip(&fds).zip(&notes) {
        if events.contains(PollFlags::PRI) && !p.revents().is_empty() {
            until = until.min(now + LOOK_NS);
        } else if !watches.contains(&w) {
            watches.push(w);
        }
    }
    Err(cx.park_io_watches(watches, until))
}
