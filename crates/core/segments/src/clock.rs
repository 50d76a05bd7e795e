//! What is to happen at a time: one task of the library waits for it.
//!
//! **Invariant.** While the manager has a timer, the clock's task waits for no later one; whoever sets an earlier one wakes it.

use crate::leaf;
use crate::state::{Bell, made};
use kumi_segments::Time;
use kumi_vm::*;
use std::sync::Arc;

pub static TABLE: &[NativeDef] = &[leaf("__seg_clock", 0, run)];

/// The clock's task.
pub struct Clock {
    bell: Arc<Bell>,
    /// For when it waits; `Time::MAX`: it does not, or for nothing.
    until: Time,
}

impl Default for Clock {
    fn default() -> Clock {
        Clock { bell: Arc::default(), until: Time::MAX }
    }
}

impl Clock {
    /// The manager's next timer.
    #[inline]
    pub fn earlier(&mut self, at: Time) -> Option<Waker> {
        if at >= self.until {
            return None;
        }
        self.until = at;
        self.bell.take()
    }
}

/// Nanoseconds that go on while the machine sleeps: leases are counted by them.
pub fn now() -> Time {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    (t.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(t.tv_nsec as u64)
}

/// `__seg_clock()`: does what is due, as long as the program runs.
fn run(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let made = made(cx)?;
    let waker = cx.waker();
    let (woken, until, now) = {
        let mut inner = made.shared.lock();
        let now = now();
        // It sets the clock only once it has seen what is due.
        inner.clock.until = 0;
        let ((), woken) = inner.act(|m, w| m.tick(now, w));
        let until = inner.node.manager().next_deadline().unwrap_or(Time::MAX);
        inner.clock.until = until;
        inner.clock.bell.set(waker);
        (woken, until, now)
    };
    woken.wake(cx);
    let left = until.saturating_sub(now);
    Err(cx.park(if until == Time::MAX { u64::MAX } else { now_ns().saturating_add(left).saturating_add(1) }))
}
