//! What a node sees of itself between two collections.

use crate::{Kind, Time};

/// What a node's worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// Something of the program, or overhead. Waiting for a processor is this too.
    Active,
    /// Nothing: no task can run, and a message is awaited (an answer, a barrier, a segment).
    Idle,
    /// Something that it does only because nothing else can run.
    Speculative,
    /// It collects.
    Collecting,
}

/// What was seen since the last collection of a kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// `L`: how long it has been. *Ours*: the paper's estimate of the time between two collections is the time since the last.
    pub length: Time,
    /// `G`: how long the last collection of this kind took. 0: there has been none.
    pub collection: Time,
    /// `n`: idle periods that began. *Ours*: one that a collection interrupts is not a new one when it goes on.
    pub idle_periods: u64,
    /// Time without anything to run.
    pub idle: Time,
    /// Periods with nothing to run but speculative tasks, or nothing at all, that began.
    pub waits: u64,
    /// Time in speculative tasks.
    pub speculative: Time,
    /// Time in slices of this kind of collection, or in collections below, that would have been idle or speculative otherwise. It is counted as neither.
    pub filled: Time,
}

impl Interval {
    /// The part that was not idle; 1 where it has no length.
    pub fn utilisation(&self) -> f64 {
        part(self.length.saturating_sub(self.idle), self.length)
    }
    /// The part that was neither idle nor speculative.
    pub fn useful(&self) -> f64 {
        part(self.length.saturating_sub(self.idle).saturating_sub(self.speculative), self.length)
    }
    /// The part in which the program had nothing to do but to guess, whether or not a slice of a collection filled it.
    pub fn free(&self) -> f64 {
        let free = self.idle.saturating_add(self.speculative).saturating_add(self.filled);
        if free == 0 { 0.0 } else { part(free, self.length.saturating_add(self.filled)) }
    }
}

fn part(of: Time, whole: Time) -> f64 {
    if whole == 0 { 1.0 } else { of as f64 / whole as f64 }
}

/// Counts what [`Interval`] has. Each change of what is done costs two additions; nothing is read between them.
#[derive(Clone, Debug)]
pub struct Meter {
    doing: Doing,
    /// What was done before a collection.
    before: Doing,
    since: Time,
    began: [Time; 2],
    kinds: [Interval; 2],
    /// Time in the collection that has not ended; all its slices.
    collecting: Time,
    /// When that began, and what had been seen then.
    collection: Option<(Time, [Interval; 2])>,
}

impl Meter {
    /// A node that begins, and is active.
    pub fn new(now: Time) -> Meter {
        Meter {
            doing: Doing::Active,
            before: Doing::Active,
            since: now,
            began: [now; 2],
            kinds: [Interval::default(); 2],
            collecting: 0,
            collection: None,
        }
    }
    /// What it does from now on. A collection is [`Meter::collection`].
    pub fn change(&mut self, now: Time, doing: Doing) {
        let waits = |d| matches!(d, Doing::Idle | Doing::Speculative);
        self.spend(now);
        // What a slice of marking interrupts goes on after it.
        let was = if self.doing == Doing::Collecting { self.before } else { self.doing };
        for k in &mut self.kinds {
            k.idle_periods += (doing == Doing::Idle && was != Doing::Idle) as u64;
            k.waits += (waits(doing) && !waits(was)) as u64;
        }
        self.doing = doing;
    }
    /// A collection begins, or a slice of one; what is done between slices is told by [`Meter::change`], and so is that a node is idle whose
    /// idle time a slice is to fill.
    pub fn collection(&mut self, now: Time) {
        self.spend(now);
        self.collection.get_or_insert((now, self.kinds));
        if self.doing != Doing::Collecting {
            (self.before, self.doing) = (self.doing, Doing::Collecting);
        }
    }
    /// It has ended: intervals of its kind begin, and of kinds below; what was seen between its slices is theirs. What was done before goes
    /// on.
    pub fn collected(&mut self, now: Time, kind: Kind) {
        self.spend(now);
        let took = std::mem::take(&mut self.collecting);
        let (began, then) = self.collection.take().unwrap_or((now, self.kinds));
        if self.doing == Doing::Collecting {
            self.doing = self.before;
        }
        for k in [Kind::Young, Kind::Full].into_iter().filter(|k| *k <= kind) {
            let i = &mut self.kinds[k as usize];
            let before = &then[k as usize];
            *i = Interval {
                length: 0,
                collection: if k == kind { took } else { i.collection },
                idle_periods: i.idle_periods - before.idle_periods,
                idle: i.idle - before.idle,
                waits: i.waits - before.waits,
                speculative: i.speculative - before.speculative,
                // Only what slices filled: where nothing was done between them it was one stop.
                filled: if began.saturating_add(took) < now { i.filled - before.filled } else { 0 },
            };
            self.began[k as usize] = began.saturating_add(took);
        }
    }
    /// What was seen since the last collection of this kind.
    pub fn interval(&self, kind: Kind, now: Time) -> Interval {
        let mut i = self.kinds[kind as usize];
        let more = now.saturating_sub(self.since);
        match self.doing {
            Doing::Idle => i.idle += more,
            Doing::Speculative => i.speculative += more,
            Doing::Active | Doing::Collecting => {}
        }
        i.length = now.saturating_sub(self.began[kind as usize]);
        i
    }
    fn spend(&mut self, now: Time) {
        let t = now.saturating_sub(self.since);
        self.collecting += if self.doing == Doing::Collecting { t } else { 0 };
        let fills = matches!(self.before, Doing::Idle | Doing::Speculative);
        for k in &mut self.kinds {
            match self.doing {
                Doing::Collecting if fills => k.filled += t,
                Doing::Idle => k.idle += t,
                Doing::Speculative => k.speculative += t,
                Doing::Active | Doing::Collecting => {}
            }
        }
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals() {
        let mut m = Meter::new(0);
        m.change(10, Doing::Idle);
        m.change(30, Doing::Active);
        m.change(40, Doing::Speculative);
        m.change(50, Doing::Idle);
        m.change(60, Doing::Speculative);
        m.change(70, Doing::Active);
        let i = m.interval(Kind::Full, 100);
        assert_eq!((i.length, i.idle_periods, i.idle, i.waits, i.speculative, i.collection), (100, 2, 30, 2, 20, 0));
        assert_eq!((i.utilisation(), i.useful()), (0.7, 0.5));
        m.collection(100);
        m.collected(104, Kind::Young);
        assert_eq!(m.interval(Kind::Young, 104), Interval { collection: 4, ..Interval::default() });
        assert_eq!((m.interval(Kind::Full, 110).length, m.interval(Kind::Full, 110).collection), (110, 0));
        // An idle period that a collection interrupts is none of the next interval's.
        m.change(110, Doing::Idle);
        m.collection(115);
        m.collected(120, Kind::Full);
        m.change(130, Doing::Active);
        let i = m.interval(Kind::Full, 140);
        assert_eq!((i.length, i.idle_periods, i.idle, i.collection), (20, 0, 10, 5));
        assert_eq!(m.interval(Kind::Young, 140).collection, 4);
        // In slices.
        m.change(149, Doing::Idle);
        m.collection(150);
        m.change(153, Doing::Idle);
        m.change(154, Doing::Active);
        m.collection(160);
        m.collected(164, Kind::Full);
        // Three of its seven were at idle times.
        let i = m.interval(Kind::Full, 170);
        assert_eq!(i, Interval { length: 13, collection: 7, idle: 1, filled: 3, ..Interval::default() });
        assert_eq!(i.free(), 0.25);
    }
}
