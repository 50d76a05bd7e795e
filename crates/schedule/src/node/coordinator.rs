//! The coordinator: gathers what nodes report, and says what is in force.
//!
//! **Invariant.** What it knows is worth nothing to its successor, and nobody waits for what it says. Memory is bounded by the members.

use super::trial::Trial;
use super::{Members, NodeId, Options};
use crate::policy::{Mode, Policy};
use crate::rule::{COUNTER, Counter, Hold, Report, alarmed, clearly_favours, favours_independent};
use crate::{Kind, Time};
use std::collections::BTreeMap;

#[derive(Debug)]
pub struct Coordinator {
    /// Of what it has said last.
    pub number: u64,
    /// When it says it again.
    pub next: Time,
    heaps: BTreeMap<NodeId, u64>,
    kinds: [Side; 2],
}

/// What it knows for a kind of collection.
#[derive(Debug)]
struct Side {
    mode: Mode,
    counter: Counter,
    /// The last report of each node since the last verdict.
    reports: BTreeMap<NodeId, Report>,
    /// Until when a node's notice counts.
    notices: BTreeMap<NodeId, Time>,
    trial: Trial,
    /// Collections that nodes have told of since they are independent, and how long that holds: the paper's strategies.
    alone: u64,
    hold: Hold,
}

impl Side {
    fn new(policy: Policy) -> Side {
        Side {
            mode: policy.start(),
            counter: COUNTER,
            reports: BTreeMap::new(),
            notices: BTreeMap::new(),
            trial: Trial::new(policy),
            alone: 0,
            hold: Hold::START,
        }
    }
    /// Changes what is in force.
    fn switch(&mut self, mode: Mode) -> Option<Mode> {
        self.mode = mode;
        self.counter = COUNTER;
        self.reports.clear();
        self.notices.clear();
        self.alone = 0;
        Some(mode)
    }
}

impl Coordinator {
    pub fn new(now: Time, policy: Policy) -> Coordinator {
        let side = || Side::new(policy);
        Coordinator { number: 0, next: now, heaps: BTreeMap::new(), kinds: [side(), side()] }
    }
    pub fn modes(&self) -> [Mode; 2] {
        [self.kinds[0].mode, self.kinds[1].mode]
    }
    /// `H_max` of the members.
    pub fn largest(&self, members: &Members) -> u64 {
        self.heaps.iter().filter(|(n, _)| members.has(**n)).map(|(_, h)| *h).max().unwrap_or(0)
    }
    pub fn heap(&mut self, from: NodeId, size: u64, members: &Members) {
        self.heaps.retain(|n, _| members.has(*n));
        self.heaps.insert(from, size);
    }
    /// Before a collection. Some: this is in force from now on.
    pub fn report(&mut self, from: NodeId, kind: Kind, report: Report, policy: Policy, members: &Members, o: &Options) -> Option<Mode> {
        let (side, t, nodes) = (&mut self.kinds[kind as usize], &o.thresholds, members.len());
        match (policy, side.mode) {
            (p, Mode::Independent) if p.tries() => {
                if side.trial.report(from, &report, nodes, t) {
                    return side.switch(Mode::Synchronised);
                }
                None
            }
            (Policy::Adaptive(_), Mode::Independent) => side.alone(nodes),
            (p, Mode::Synchronised) if p.adapts() => {
                side.reports.retain(|n, _| members.has(*n));
                // Ours: a collection is over when all have reported it, or somebody reports the next.
                let early = side.reports.contains_key(&from).then(|| side.verdict(policy, members, o)).flatten();
                if early.is_some() {
                    return early;
                }
                side.reports.insert(from, report);
                if side.reports.len() < nodes { None } else { side.verdict(policy, members, o) }
            }
            _ => None,
        }
    }
    /// While collections are independent. Some: they are not any more.
    pub fn notice(
        &mut self,
        now: Time,
        from: NodeId,
        kind: Kind,
        counts: Time,
        policy: Policy,
        members: &Members,
        o: &Options,
    ) -> Option<Mode> {
        let side = &mut self.kinds[kind as usize];
        if !matches!(policy, Policy::Adaptive(_)) || side.mode == Mode::Synchronised {
            return None;
        }
        side.notices.retain(|n, until| *until > now && members.has(*n));
        side.notices.insert(from, now.saturating_add(counts));
        if alarmed(side.notices.len(), members.len(), &o.thresholds) {
            return side.switch(Mode::Synchronised);
        }
        side.alone(members.len())
    }
}

impl Side {
    /// A node has collected alone.
    fn alone(&mut self, nodes: usize) -> Option<Mode> {
        self.alone += 1;
        if self.hold.is_over(self.alone, nodes) { self.switch(Mode::Synchronised) } else { None }
    }
    fn verdict(&mut self, policy: Policy, members: &Members, o: &Options) -> Option<Mode> {
        let reports = std::mem::take(&mut self.reports);
        let (nodes, t) = (members.len(), &o.thresholds);
        let independent = match policy {
            // Ours: nodes that let an order pass report nothing, and harm nobody by that.
            p if p.tries() => self.trial.verdict(&reports, reports.len().min(nodes), t),
            _ => {
                let favours = favours_independent(reports.values(), nodes, t);
                let ends = self.counter.verdict(favours);
                if ends {
                    self.hold = Hold::after(clearly_favours(reports.values(), nodes, t));
                }
                ends
            }
        };
        if independent { self.switch(Mode::Independent) } else { None }
    }
}
