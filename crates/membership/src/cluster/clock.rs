//! The cluster's own time, and what is due in it.
//!
//! **Invariant.** Own time never goes back, and never passes a deadline by more than the slack. So a clock that jumps, a process that
//! stood still and a machine that slept all look alike: nobody else is blamed for answers that this node could not hear meanwhile.

use crate::member::{Member, Name};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// What may be due.
#[derive(Debug)]
pub(super) enum Due {
    /// A timer of SWIM's.
    Swim(foca::Timer<Member>),
    /// Seeds and members that are down are tried again.
    Heal,
    /// A suspected member is told so, so many times more; at the end it is down if the suspicion came of a hint.
    Tell { member: Member, incarnation: u16, left: u8, hinted: bool },
    /// The holder of a name that another node wants should have answered.
    Challenged(Name),
    /// Members that have been down for long are forgotten.
    Forget,
}

struct Entry {
    at: u64,
    order: u64,
    due: Due,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Entry) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Entry) -> Ordering {
        (self.at, self.order).cmp(&(other.at, other.order))
    }
}

/// Own time and a heap of deadlines.
pub(super) struct Clock {
    /// The owner's time when it last told it.
    told: u64,
    now: u64,
    slack: u64,
    order: u64,
    heap: BinaryHeap<Reverse<Entry>>,
}

impl Clock {
    pub(super) fn new(told: u64, slack: u64) -> Clock {
        Clock { told, now: 0, slack, order: 0, heap: BinaryHeap::new() }
    }

    pub(super) fn now(&self) -> u64 {
        self.now
    }

    /// The owner's time is `told`.
    pub(super) fn advance(&mut self, told: u64) {
        let step = told.saturating_sub(self.told);
        self.told = told;
        #[cfg(test)]
        {
            if crate::planted::is(crate::planted::Bug::ClockTrusted) {
                self.now = self.now.saturating_add(step);
                return;
            }
        }
        let next = self.heap.peek().map_or(0, |e| e.0.at.saturating_sub(self.now));
        self.now = self.now.saturating_add(step.min(next.saturating_add(self.slack)));
    }

    /// When something is due, in the owner's time.
    pub(super) fn next(&self) -> Option<u64> {
        self.heap.peek().map(|e| self.told.saturating_add(e.0.at.saturating_sub(self.now)))
    }

    pub(super) fn after(&mut self, wait: u64, due: Due) {
        self.order += 1;
        self.heap.push(Reverse(Entry { at: self.now.saturating_add(wait), order: self.order, due }));
    }

    /// The next that is due.
    pub(super) fn pop(&mut self) -> Option<Due> {
        if self.heap.peek().is_some_and(|e| e.0.at <= self.now) { self.heap.pop().map(|e| e.0.due) } else { None }
    }

    pub(super) fn retain(&mut self, keep: impl Fn(&Due) -> bool) {
        self.heap.retain(|e| keep(&e.0.due));
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.heap.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_nobody_saw_does_not_count() {
        let mut c = Clock::new(1_000, 10);
        c.after(100, Due::Heal);
        c.after(200, Due::Forget);
        assert_eq!(c.next(), Some(1_100));
        c.advance(900_000);
        assert_eq!((c.now(), c.pop().is_some(), c.pop().is_some()), (110, true, false));
        assert_eq!(c.next(), Some(900_090));
        c.advance(5);
        assert_eq!((c.now(), c.next()), (110, Some(95)));
        c.advance(95);
        assert!(matches!(c.pop(), Some(Due::Forget)));
        c.advance(u64::MAX);
        assert_eq!((c.next(), c.len()), (None, 0));
    }
}
