//! The other way to find cycles across nodes: Hughes' time stamps, as a prototype to compare with. `docs/decisions/0036` has the result.
//!
//! Roots have the clock's stamp when a full collection begins. It hands the stamps of roots and exports on to imports, the latest first,
//! and their owners raise the exports'. Below the least stamp that some node has not handed on everything is garbage.
//!
//! **Invariant.** What is reachable has a stamp that is not below `least` at any node. What a node has yet to hand on holds its
//! [`Stamps::threshold`] down: to the old stamp of an export that was raised, called or sent, until a collection that began later is
//! finished and every owner has answered; to `least` where an import has come whose owner has not answered.

use kumi_remote::{Import, NodeId, Ref};
use std::collections::BTreeMap;

pub type Stamp = u64;

/// Stamps for one owner, which are sent until it answers.
pub struct Letter {
    pub to: usize,
    pub stamps: Vec<(Ref, Stamp)>,
    pub again: u64,
    /// Its imports have just come.
    arrival: bool,
}

#[derive(Default)]
pub struct Stamps {
    /// The latest stamp, and the least one that is not garbage's, as far as is known here.
    pub clock: Stamp,
    pub least: Stamp,
    /// By handle.
    pub exports: BTreeMap<u64, Stamp>,
    told: BTreeMap<Import, Stamp>,
    /// The last collection that was handed on, and the one that is being.
    pub done: Stamp,
    pub doing: Option<Stamp>,
    /// The least old stamp of what was raised since the last collection began, and before.
    pub fresh: Option<Stamp>,
    before: Option<Stamp>,
    pub letters: BTreeMap<u64, Letter>,
    numbers: u64,
    /// The leader's waves that were answered, and the least threshold since.
    answers: Vec<(u64, Stamp)>,
    leader: Option<NodeId>,
    pub last: u64,
}

impl Stamps {
    pub fn threshold(&self) -> Stamp {
        let arrivals = self.letters.values().any(|l| l.arrival).then_some(self.least);
        [Some(self.done), self.fresh, self.before, arrivals].into_iter().flatten().min().unwrap_or(0)
    }
    fn lower(&mut self) {
        let now = self.threshold();
        for a in &mut self.answers {
            a.1 = a.1.min(now);
        }
    }
    /// An export has got a later stamp.
    pub fn raise(&mut self, handle: u64, stamp: Stamp) {
        let old = self.exports.insert(handle, stamp).unwrap_or(stamp);
        if old >= stamp {
            self.exports.insert(handle, old);
            return;
        }
        self.fresh = Some(self.fresh.unwrap_or(old).min(old));
        self.lower();
    }
    /// The program has met one of its own exports: a call, or a message with it.
    pub fn touch(&mut self, handle: u64) {
        self.raise(handle, self.clock);
    }
    /// These imports have these stamps at least; owners are told where that is news.
    pub fn tell(&mut self, reached: impl Iterator<Item = (usize, Import, Ref, Stamp)>, arrival: bool) {
        let mut news: BTreeMap<usize, Vec<(Ref, Stamp)>> = BTreeMap::new();
        for (owner, import, r, stamp) in reached {
            let told = self.told.entry(import).or_default();
            if *told < stamp {
                *told = stamp;
                news.entry(owner).or_default().push((r, stamp));
            }
        }
        for (to, stamps) in news {
            self.numbers += 1;
            self.letters.insert(self.numbers, Letter { to, stamps, again: 0, arrival });
        }
        self.lower();
    }
    pub fn begin(&mut self) -> Stamp {
        self.before = [self.before, self.fresh.take()].into_iter().flatten().min();
        self.doing = Some(self.clock);
        self.clock
    }
    /// Once every owner has answered, what the last collection handed on is out of this node's hands.
    pub fn settle(&mut self, collecting: bool) {
        if !collecting && self.letters.is_empty() {
            self.done = self.doing.take().unwrap_or(self.done);
            self.before = None;
        }
    }
    /// The leader tells what is garbage. A node that had no part in the wave that found it has all its exports raised first: those of a
    /// part of the cluster that was cut off have stamps as old as its last wave.
    pub fn told_least(&mut self, leader: NodeId, since: u64, clock: Stamp, least: Stamp) {
        self.clock = self.clock.max(clock);
        let part = self.leader == Some(leader) && self.answers.iter().any(|a| a.0 == since);
        if least > self.least && !part {
            let all: Vec<u64> = self.exports.keys().copied().collect();
            all.into_iter().for_each(|h| self.touch(h));
        }
        self.least = self.least.max(least);
    }
    /// How low the threshold was since that wave was answered, the last one that all have answered.
    pub fn answer(&mut self, leader: NodeId, wave: u64, since: u64) -> Stamp {
        if self.leader != Some(leader) {
            (self.leader, self.answers) = (Some(leader), Vec::new());
        }
        self.answers.retain(|a| a.0 >= since);
        let low = self.answers.iter().find(|a| a.0 == since).map_or(0, |a| a.1);
        if self.answers.iter().all(|a| a.0 != wave) {
            self.answers.push((wave, self.threshold()));
        }
        low.min(self.threshold())
    }
}
