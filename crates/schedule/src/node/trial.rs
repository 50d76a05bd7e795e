//! *Ours*: independence on trial, for [`Policy::Measured`](crate::Policy::Measured) and [`Policy::Combined`](crate::Policy::Combined).
//!
//! The paper predicts what independence would cost by counting idle periods while collections are in step. A program that hides
//! so much latency as there is then, and no more, has none (3.3). So here the prediction only says when a trial is worth it, and what
//! each node gets done per time says whether it stays.

use super::NodeId;
use crate::policy::Policy;
use crate::rule::{CLEARLY, Report, Thresholds, alarmed, clearly_favours};
use std::collections::BTreeMap;

/// So many verdicts one after another have to favour the first trial clearly.
const FIRST: u32 = 3;
/// The same for a policy that marks in idle time: being in step is of less use to it, and costs programs that hardly wait what a collection more costs.
const FIRST_OF_FILLING: u32 = 1;
/// After each trial that failed, so many times as many have to.
const LATER: u32 = 4;
/// And no more than so many.
const LAST: u32 = 192;
/// A trial ends at once where more nodes than the paper's sixteenth get less done by this part.
const ONE_LOSES: f64 = 0.15;
/// It ends where at least half of the nodes have reported, and together get less done by this part.
const ALL_LOSE: f64 = 0.02;

/// What is known of a trial, and of what was before it.
#[derive(Debug)]
pub struct Trial {
    needed: u32,
    /// Only a node that waits often can lose by a trial: one long wait, as at a meeting of all, is the program's own.
    often: bool,
    streak: u32,
    /// What each node got done in its last interval in step.
    before: BTreeMap<NodeId, f64>,
    /// And in the last of its own since the trial began.
    during: BTreeMap<NodeId, f64>,
}

impl Trial {
    pub fn new(policy: Policy) -> Trial {
        let often = policy.fills();
        Trial { needed: if often { FIRST_OF_FILLING } else { FIRST }, often, streak: 0, before: BTreeMap::new(), during: BTreeMap::new() }
    }
    /// All have reported a collection in step. True: a trial begins.
    pub fn verdict(&mut self, reports: &BTreeMap<NodeId, Report>, nodes: usize, t: &Thresholds) -> bool {
        self.before = reports.iter().map(|(n, r)| (*n, r.utilisation)).collect();
        self.streak = if clearly_favours(reports.values(), nodes, t) { self.streak + 1 } else { 0 };
        if self.streak < self.needed {
            return false;
        }
        self.during.clear();
        true
    }
    /// A node has collected on its own. True: the trial has failed.
    pub fn report(&mut self, node: NodeId, report: &Report, nodes: usize, t: &Thresholds) -> bool {
        let before = self.before.get(&node).copied().unwrap_or(0.0);
        let excused = self.often && report.degradation.is_some_and(|d| d < t.harmed * CLEARLY);
        self.during.insert(node, if excused { report.utilisation.max(before) } else { report.utilisation });
        let both = || self.during.iter().filter_map(|(n, d)| Some((*d, *self.before.get(n)?)));
        let losers = both().filter(|(during, before)| *during < before * (1.0 - ONE_LOSES)).count();
        let (during, before) = both().fold((0.0, 0.0), |(d, b), x| (d + x.0, b + x.1));
        let failed = alarmed(losers, nodes, t) || (2 * self.during.len() >= nodes && during < before * (1.0 - ALL_LOSE));
        if failed {
            self.needed = (self.needed * LATER).min(LAST);
            self.streak = 0;
        }
        failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_that_fails_comes_later_the_next_time() {
        let (t, n) = (Thresholds::default(), 8u64);
        let round = |u| (0..n).map(|i| (NodeId(i), Report { degradation: Some(0.0), utilisation: u })).collect::<BTreeMap<_, _>>();
        let bad = Report { degradation: None, utilisation: 0.7 };
        let good = Report { degradation: None, utilisation: 0.89 };
        let mut trial = Trial::new(Policy::Measured);
        for expected in [3, 12, 48, 192, 192] {
            let rounds = (1..).find(|_| trial.verdict(&round(0.9), n as usize, &t));
            assert_eq!(rounds, Some(expected));
            assert!(!trial.report(NodeId(1), &good, n as usize, &t) && trial.report(NodeId(2), &bad, n as usize, &t));
        }
        // Little, but everywhere.
        while !trial.verdict(&round(0.9), n as usize, &t) {}
        let little = Report { degradation: None, utilisation: 0.87 };
        assert_eq!((0..n).find(|i| trial.report(NodeId(*i), &little, n as usize, &t)), Some(3));
    }
    #[test]
    fn where_idle_time_is_filled_a_trial_begins_at_once_and_one_long_wait_does_not_end_it() {
        let t = Thresholds::default();
        let round: BTreeMap<_, _> = (0..8).map(|i| (NodeId(i), Report { degradation: Some(0.0), utilisation: 0.9 })).collect();
        let mut trial = Trial::new(Policy::Combined);
        assert!(trial.verdict(&round, 8, &t));
        let waits = |d| Report { degradation: Some(d), utilisation: 0.4 };
        assert!((0..8).all(|i| !trial.report(NodeId(i), &waits(0.09), 8, &t)));
        assert!(trial.report(NodeId(1), &waits(0.11), 8, &t) || trial.report(NodeId(2), &waits(0.11), 8, &t));
        assert_eq!((1..).find(|_| trial.verdict(&round, 8, &t)), Some(4));
    }
}
