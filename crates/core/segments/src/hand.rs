//! What a runner has in hand: runs that it was given at once, so that it asks for the manager's lock once for many of them.
//!
//! **Invariant.** A run in a hand is due, the current one, or over. It stands in [`Runs`](crate::runs::Runs) all the while, which
//! marks its values. The runner goes from one to the next by the hand's lock alone; whoever else looks into a hand has the
//! manager's lock, and takes the hand's after it. A *quiet* run has taken nothing and puts nothing, and nobody waits for its end:
//! that it is over is noted later, with others, or by whoever asks first.

use kumi_vm::*;
use kumi_wire::Trace;
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// A runner, as its thread has it.
pub struct Runner {
    /// By which the manager's side knows it. Numbers are never given twice.
    pub number: u64,
    pub hand: Shared,
    /// How many runs it was dealt last, and when; 0: that was not looked at.
    pub dealt: (AtomicU64, AtomicU64),
    /// It has left runs to who started them.
    pub left: AtomicBool,
}

impl Runner {
    pub fn note_deal(&self, runs: usize, at: u64) {
        self.dealt.0.store(runs as u64, Relaxed);
        self.dealt.1.store(at, Relaxed);
    }
    /// The last deal, once.
    pub fn take_deal(&self) -> (u64, u64) {
        (self.dealt.0.load(Relaxed), self.dealt.1.swap(0, Relaxed))
    }
}

/// A hand and its lock.
pub type Shared = Arc<Mutex<Hand>>;

impl Payload for Runner {
    fn shares(&self) -> bool {
        true
    }
}

/// See the module.
#[derive(Default)]
pub struct Hand {
    pub due: VecDeque<Due>,
    pub current: Option<Current>,
    pub over: Vec<u32>,
}

/// A run that is about to begin.
pub struct Due {
    pub run: u32,
    pub object: Value,
    pub plan: Value,
    /// What its inputs show.
    pub values: SmallVec<[Value; 1]>,
    /// Some of them are to be decoded first.
    pub encoded: bool,
    /// On whose behalf the first of those that it takes was put.
    pub traced: Option<Arc<Trace>>,
    /// One is owned and was not taken.
    pub refused: bool,
    pub quiet: bool,
    /// How many were dealt with it.
    pub behind: usize,
}

/// The run that its runner is at.
pub struct Current {
    pub run: u32,
    object: Value,
    pub quiet: bool,
}

// SAFETY: the values are published, and no thread but a worker looks into them.
unsafe impl Send for Hand {}

/// How the end of a run goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// It is noted when its runner comes for others.
    Noted,
    /// More is to be done for this one.
    Run(u32),
    /// It is not the current one: a fork's child has none.
    NotHere,
}

impl Hand {
    /// The next one begins.
    #[inline]
    pub fn begin(&mut self) -> Option<Due> {
        let due = self.due.pop_front()?;
        self.current = Some(Current { run: due.run, object: due.object, quiet: due.quiet });
        Some(due)
    }
    /// The current run, this object's, has ended. That is all of it if it is quiet and may be so (`later`).
    #[inline]
    pub fn end(&mut self, object: Value, later: bool) -> Ended {
        match self.current.take_if(|c| c.object == object) {
            Some(c) if c.quiet && later => {
                self.over.push(c.run);
                Ended::Noted
            }
            Some(c) => Ended::Run(c.run),
            None => Ended::NotHere,
        }
    }
    /// Half of what is due, and at least one: what its runner would come to last.
    pub fn split(&mut self) -> VecDeque<Due> {
        self.due.split_off(self.due.len() / 2)
    }
    /// Somebody waits for the end of this run. False: it is over.
    pub fn wait_for(&mut self, run: u32) -> bool {
        if self.over.contains(&run) {
            return false;
        }
        if let Some(c) = self.current.as_mut().filter(|c| c.run == run) {
            c.quiet = false;
        }
        if let Some(d) = self.due.iter_mut().find(|d| d.run == run) {
            d.quiet = false;
        }
        true
    }
    /// The run is more than quiet from now on. False: it is not the current one.
    pub fn speak(&mut self, run: u32) -> bool {
        match self.current.as_mut().filter(|c| c.run == run) {
            Some(c) => {
                c.quiet = false;
                true
            }
            None => false,
        }
    }
    /// The run is not to begin after all. False: it has.
    pub fn drop_due(&mut self, run: u32) -> bool {
        let at = self.due.iter().position(|d| d.run == run);
        at.is_some_and(|at| self.due.remove(at).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(run: u32, quiet: bool) -> Due {
        let (object, plan, values) = (Value::fix(i64::from(run)), Value::NIL, SmallVec::new());
        Due { run, object, plan, values, encoded: false, traced: None, refused: false, quiet, behind: 0 }
    }
    fn hand(runs: &[(u32, bool)]) -> Hand {
        Hand { due: runs.iter().map(|r| due(r.0, r.1)).collect(), ..Hand::default() }
    }
    fn begin(h: &mut Hand) -> Value {
        h.begin().unwrap().object
    }

    #[test]
    fn quiet_ends_gather() {
        let mut h = hand(&[(1, true), (2, true), (3, false), (4, true)]);
        for run in 1..=2 {
            let object = begin(&mut h);
            assert_eq!((h.end(object, true), h.end(object, true)), (Ended::Noted, Ended::NotHere), "{run}");
        }
        for run in 3..=4 {
            let object = begin(&mut h);
            assert_eq!(h.end(object, run == 3), Ended::Run(run));
        }
        assert_eq!(h.over, [1, 2]);
        assert!(h.begin().is_none());
    }

    #[test]
    fn who_is_waited_for_is_not_quiet() {
        let mut h = hand(&[(1, true), (2, true), (3, true)]);
        let one = begin(&mut h);
        assert!(h.wait_for(1) && h.wait_for(2));
        assert_eq!(h.end(one, true), Ended::Run(1));
        let two = begin(&mut h);
        assert_eq!(h.end(two, true), Ended::Run(2));
        let three = begin(&mut h);
        assert_eq!(h.end(three, true), Ended::Noted);
        assert!(!h.wait_for(3));
    }

    #[test]
    fn thieves_take_half_and_the_last_one() {
        let mut h = hand(&[(1, true), (2, true), (3, true)]);
        assert_eq!(h.split().iter().map(|d| d.run).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(h.split().len(), 1);
        assert!(h.split().is_empty());
    }

    #[test]
    fn what_has_begun_is_not_dropped() {
        let mut h = hand(&[(1, true), (2, true)]);
        begin(&mut h);
        assert!(!h.drop_due(1) && h.drop_due(2) && !h.drop_due(2));
        assert!(h.speak(1) && !h.speak(2));
    }
}
