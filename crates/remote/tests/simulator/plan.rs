//! What a run is to be: its network, its faults, its graph. All of it follows from a seed.

use crate::world;
use kumi_chance::Chance;
use kumi_chance::simulate::{self, Told};

pub const MS: u64 = 1_000_000;
pub const LEASE: u64 = 2_000 * MS;
/// Programs and faults end here.
pub const ACTIVE: u64 = 4_000 * MS;

/// Which faults a run is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// A network that loses, repeats and reorders; no other fault.
    Loss,
    /// Nodes that end, and start again or do not.
    Crashes,
    /// Nodes that stand still, links that are cut, for less than a lease and for longer.
    Cuts,
    /// Objects that move, on a bad network.
    Moves,
    /// Everything.
    All,
}

pub const MIXES: [Mix; 5] = [Mix::Loss, Mix::Crashes, Mix::Cuts, Mix::Moves, Mix::All];

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// The node ends, and starts again after so long, or not. Do others hear that it is gone?
    Crash(usize, Option<u64>, bool),
    /// The node stands still, its clock does not.
    Pause(usize, u64),
    /// Nothing goes from one to the other.
    Cut(usize, usize, u64),
    /// Nothing goes between some nodes (bits) and the others.
    Split(u64, u64),
}

#[derive(Clone, Copy, Debug)]
pub struct Fault {
    pub at: u64,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub struct Plan {
    pub seed: u64,
    pub mix: Mix,
    pub nodes: usize,
    /// References in the graph with which it begins, local ones included.
    pub references: usize,
    /// Of a hundred messages.
    pub lost: u64,
    pub repeated: u64,
    /// A message's longest way.
    pub delay: u64,
    /// Rings of objects on as many nodes as there are.
    pub rings: usize,
    pub moves: bool,
    /// Does the host trace between collections?
    pub incremental: bool,
    /// Rounds while programs run.
    pub rounds: u64,
    pub faults: Vec<Fault>,
    /// Cycles are found by time stamps.
    pub stamps: bool,
    /// Programs only let their rings go. So long is a live list of which each link leads to another node; does a node end when the
    /// first round of the end has begun?
    pub idle: bool,
    pub list: usize,
    pub last_crash: bool,
}

impl Plan {
    pub fn new(seed: u64, mix: Mix, references: usize) -> Plan {
        let mut c = Chance::new(seed.wrapping_mul(7).wrapping_add(mix as u64));
        let nodes = c.between(2, 8) as usize;
        let mut plan = Plan {
            seed,
            mix,
            nodes,
            references,
            lost: c.pick(&[0, 2, 10]),
            repeated: c.pick(&[0, 5, 15]),
            delay: c.pick(&[1, 5, 20]) * MS,
            rings: c.between(4, 24) as usize,
            moves: mix == Mix::Moves || mix == Mix::All && c.percent(50),
            incremental: c.percent(70),
            rounds: c.between(1, 8),
            faults: Vec::new(),
            stamps: false,
            idle: false,
            list: 0,
            last_crash: false,
        };
        let how_many = match mix {
            Mix::Loss | Mix::Moves => 0,
            Mix::Crashes | Mix::Cuts => c.between(1, 4),
            Mix::All => c.between(2, 6),
        };
        for _ in 0..how_many {
            let at = c.between(300, ACTIVE / MS - 200) * MS;
            let kind = plan.fault(mix, &mut c);
            plan.faults.push(Fault { at, kind });
        }
        plan.faults.sort_by_key(|f| f.at);
        plan
    }
    fn fault(&self, mix: Mix, c: &mut Chance) -> Kind {
        let a = c.below(self.nodes as u64) as usize;
        let b = (a + 1 + c.below(self.nodes as u64 - 1) as usize) % self.nodes;
        // Most are shorter than the lease.
        let long = if c.percent(30) { c.between(2000, 4500) } else { c.between(50, 1700) } * MS;
        match mix {
            Mix::Crashes => Kind::Crash(a, c.percent(60).then(|| c.between(20, 1500) * MS), c.percent(50)),
            Mix::Cuts => match c.below(4) {
                0 => Kind::Pause(a, long),
                1 => Kind::Split(c.next(), long),
                _ => Kind::Cut(a, b, long),
            },
            _ => {
                let mix = c.pick(&[Mix::Crashes, Mix::Cuts, Mix::Cuts]);
                self.fault(mix, c)
            }
        }
    }
}

impl simulate::Plan for Plan {
    fn name(&self) -> String {
        format!("seed {} of {:?}", self.seed, self.mix)
    }
    fn run(&self, keep: usize) -> Told {
        world::run(self, keep).told
    }
    fn without(&self, fault: usize) -> Option<Plan> {
        let mut p = self.clone();
        (fault < p.faults.len()).then(|| p.faults.remove(fault))?;
        Some(p)
    }
    fn milder(&self) -> Vec<Plan> {
        let p = || self.clone();
        let named = |f: &Fault| match f.kind {
            Kind::Crash(a, ..) | Kind::Pause(a, _) => a,
            Kind::Cut(a, b, _) => a.max(b),
            Kind::Split(..) => 0,
        };
        let needed = self.faults.iter().map(named).max().map_or(2, |n| n + 1);
        vec![
            Plan { references: self.references / 3, ..p() },
            Plan { nodes: (self.nodes - 1).max(2).max(needed), ..p() },
            Plan { lost: 0, ..p() },
            Plan { repeated: 0, ..p() },
            Plan { rings: self.rings / 2, ..p() },
            Plan { rounds: self.rounds / 2, ..p() },
        ]
    }
}
