//! What the node did in the last minute, and how many messages went to and fro, in parts of a quarter of a second.
//!
//! **Invariant.** All time up to `since` is told, and belongs to exactly one of: working, idle, speculating, a young collection, a full one.
//! A message belongs to the part in which its number was asked for, which is where the node turned to something else the next time.

use kumi_schedule::{Doing, Kind, Time};
use std::collections::VecDeque;

/// How long a part is, and how many are kept.
pub const WIDTH: Time = 250_000_000;
const KEPT: usize = 240;

/// What happened in one part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Which one it is, since the clock began.
    pub number: u64,
    pub idle: Time,
    /// Idle periods that began.
    pub periods: u64,
    pub speculative: Time,
    /// In collections: young, full.
    pub collecting: [Time; 2],
    pub sent: u64,
    pub heard: u64,
}

/// See the module.
pub struct Timeline {
    parts: VecDeque<Part>,
    doing: Doing,
    /// A collection, or a slice of one, goes on since `since`.
    collects: bool,
    since: Time,
    /// Messages that were told: sent, heard.
    messages: [u64; 2],
}

impl Timeline {
    pub fn new(now: Time) -> Timeline {
        Timeline { parts: VecDeque::new(), doing: Doing::Active, collects: false, since: now, messages: [0; 2] }
    }
    /// The parts of the last minute, the oldest first; one in which nothing happened may be missing.
    pub fn parts(&mut self, now: Time, messages: [u64; 2]) -> impl Iterator<Item = &Part> {
        if !self.collects {
            self.spend(now, None);
        }
        self.count(now, messages);
        self.parts.iter().filter(move |p| p.number + KEPT as u64 > now / WIDTH)
    }
    /// The node does something else from then on.
    pub fn turns(&mut self, at: Time, doing: Doing, messages: [u64; 2]) {
        if !self.collects {
            self.spend(at, None);
        }
        self.count(at, messages);
        if doing == Doing::Idle && self.doing != Doing::Idle {
            self.part(at / WIDTH).periods += 1;
        }
        self.doing = doing;
    }
    /// A collection begins, or a slice of one.
    pub fn stops(&mut self, now: Time) {
        if !self.collects {
            self.spend(now, None);
        }
        self.collects = true;
    }
    /// It was one of this kind, and goes on, or is over; none: it was none.
    pub fn goes_on(&mut self, now: Time, kind: Option<Kind>) {
        if std::mem::take(&mut self.collects) {
            self.spend(now, kind);
        }
    }
    fn part(&mut self, number: u64) -> &mut Part {
        let last = self.parts.back().map_or(0, |p| p.number);
        if self.parts.is_empty() || last < number {
            if self.parts.len() >= KEPT {
                self.parts.pop_front();
            }
            self.parts.push_back(Part { number, ..Part::default() });
        }
        // What comes late belongs to the last one.
        let at = self.parts.len() - 1;
        &mut self.parts[at]
    }
    fn count(&mut self, at: Time, messages: [u64; 2]) {
        // Who read them first may tell them last: a number that was passed already says nothing new.
        let before = self.messages;
        self.messages = [before[0].max(messages[0]), before[1].max(messages[1])];
        if before != self.messages {
            let now = self.messages;
            let p = self.part(at / WIDTH);
            p.sent += now[0] - before[0];
            p.heard += now[1] - before[1];
        }
    }
    /// The time since the last turn belongs to a collection of that kind, or to what was done.
    fn spend(&mut self, to: Time, kind: Option<Kind>) {
        let from = self.since;
        self.since = from.max(to);
        let kept = (to / WIDTH).saturating_sub(KEPT as u64) * WIDTH;
        let mut at = from.max(kept);
        while at < to {
            let number = at / WIDTH;
            let end = to.min((number + 1) * WIDTH);
            let (doing, took) = (self.doing, end - at);
            match (kind, doing) {
                (Some(kind), _) => self.part(number).collecting[kind as usize] += took,
                (None, Doing::Idle) => self.part(number).idle += took,
                (None, Doing::Speculative) => self.part(number).speculative += took,
                (None, _) => {}
            }
            at = end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Time = 1_000_000;

    fn of(t: &mut Timeline, now: Time) -> Vec<Part> {
        t.parts(now, [0, 0]).copied().collect()
    }

    #[test]
    fn each_moment_belongs_to_one_thing() {
        let mut t = Timeline::new(0);
        t.turns(100 * MS, Doing::Idle, [0, 0]);
        // A collection in an idle period is no second one.
        t.stops(200 * MS);
        t.goes_on(300 * MS, Some(Kind::Full));
        t.turns(400 * MS, Doing::Speculative, [0, 0]);
        t.turns(450 * MS, Doing::Active, [0, 0]);
        t.stops(460 * MS);
        // Somebody turned to something else while it was asked for.
        t.turns(465 * MS, Doing::Idle, [0, 0]);
        t.goes_on(470 * MS, Some(Kind::Young));
        assert_eq!(
            of(&mut t, 480 * MS),
            [
                Part { idle: 100 * MS, periods: 1, collecting: [0, 50 * MS], ..Part::default() },
                Part { number: 1, idle: 110 * MS, periods: 1, speculative: 50 * MS, collecting: [10 * MS, 50 * MS], ..Part::default() },
            ]
        );
    }

    #[test]
    fn messages_are_counted_where_they_are_asked_for() {
        let mut t = Timeline::new(0);
        t.turns(10 * MS, Doing::Idle, [3, 2]);
        t.turns(300 * MS, Doing::Active, [4, 7]);
        let all: Vec<_> = t.parts(320 * MS, [5, 7]).map(|p| (p.number, p.sent, p.heard)).collect();
        assert_eq!(all, [(0, 3, 2), (1, 2, 5)]);
    }

    #[test]
    fn messages_that_are_told_late_are_counted_once() {
        let mut t = Timeline::new(0);
        t.turns(10 * MS, Doing::Idle, [3, 2]);
        // Another worker had asked before, and comes after.
        t.turns(20 * MS, Doing::Active, [2, 4]);
        t.turns(30 * MS, Doing::Idle, [1, 1]);
        assert_eq!(t.parts(40 * MS, [5, 3]).map(|p| (p.sent, p.heard)).collect::<Vec<_>>(), [(5, 4)]);
    }

    #[test]
    fn a_minute_is_kept_however_long_a_node_waits() {
        let mut t = Timeline::new(0);
        t.turns(0, Doing::Idle, [0, 0]);
        let hour = 3600 * 1000 * MS;
        let parts = of(&mut t, hour);
        assert!(parts.len() <= KEPT && parts.iter().all(|p| p.idle == WIDTH || p.number == hour / WIDTH));
        // A clock that comes late takes nothing back.
        t.turns(hour - MS, Doing::Active, [0, 0]);
        assert_eq!(of(&mut t, hour), parts);
    }
}
