//! What is to happen at a time.
//!
//! **Invariant.** A timer is in the map until it is due or cancelled; who sets one keeps its name and cancels it with what it
//! is for. So the map is never larger than what waits for a time.

use super::{KeyId, LeaseId, Time};
use std::collections::BTreeMap;

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// A segment with a `ttl` ends: its key and place.
    Ends(KeyId, u64),
    /// A segment with a `not_before` enters its queue.
    Enters(KeyId, u64),
    /// A lease lapses.
    Lapses(LeaseId),
}

/// The name of a timer: when, and which of those.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Timer(Time, u64);

impl Timer {
    pub fn at(self) -> Time {
        self.0
    }
}

#[derive(Default)]
pub(super) struct Timers {
    map: BTreeMap<Timer, Due>,
    next: u64,
}

impl Timers {
    pub fn set(&mut self, at: Time, due: Due) -> Timer {
        let t = Timer(at, self.next);
        self.next += 1;
        self.map.insert(t, due);
        t
    }
    pub fn cancel(&mut self, t: Timer) {
        self.map.remove(&t);
    }
    #[inline]
    pub fn next(&self) -> Option<Time> {
        self.map.first_key_value().map(|(t, _)| t.0)
    }
    /// Takes the first one out that is due at `now`.
    pub fn pop(&mut self, now: Time) -> Option<Due> {
        let first = self.map.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }
}
