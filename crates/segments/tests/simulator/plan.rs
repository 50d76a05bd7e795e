//! What a run is to be: its network, its faults, who does what. All of it follows from a seed.

use crate::world;
use kumi_chance::Chance;
use kumi_chance::simulate::{self, Told};

pub const MS: u64 = 1_000_000;
/// The owner's lease on what is on its way, and of those who hold.
pub const LEASE: u64 = 1_000 * MS;
pub const SESSION: u64 = 3_000 * MS;
/// Faults and new work end here.
pub const ACTIVE: u64 = 8_000 * MS;

/// Which faults a run is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// A network that loses, repeats and reorders; no other fault.
    Loss,
    /// Connections that break.
    Streams,
    /// Nodes that end and start again, and such as do while the old one still runs.
    Crashes,
    /// Nodes that stand still, links that are cut or slow, in one direction or both.
    Pauses,
    /// Two nodes, messages that come again long after, and owners that start again at once or do not hear of receipts.
    Late,
    /// Everything.
    All,
}

pub const MIXES: [Mix; 6] = [Mix::Loss, Mix::Streams, Mix::Crashes, Mix::Pauses, Mix::Late, Mix::All];

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// The node stands still, its clock does not.
    Pause(usize, u64),
    /// The node ends, and starts again after so long.
    Crash(usize, u64),
    /// The node stands still, and another of its name starts meanwhile.
    Double(usize, u64),
    /// Nothing goes from one to the other.
    Cut(usize, usize, u64),
    /// Messages from one to the other take so much longer, for so long.
    Slow(usize, usize, u64, u64),
    /// The connection of a client to an owner breaks; it has another after so long.
    Break(usize, usize, u64),
    /// A client is told that the owner is gone for good, and after so long that it is there.
    Gone(usize, usize, u64),
    /// An owner is told that a client is gone for good.
    Left(usize, usize),
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
    /// Messages get lost within a connection, repeated, reordered.
    pub lossy: bool,
    /// Of a hundred messages.
    pub lost: u64,
    pub repeated: u64,
    /// A message's longest way.
    pub delay: u64,
    pub faults: Vec<Fault>,
    /// Actors at each node.
    pub actors: usize,
}

impl Plan {
    pub fn new(seed: u64, mix: Mix) -> Plan {
        let mut c = Chance::new(seed.wrapping_mul(7).wrapping_add(mix as u64));
        let lossy = match mix {
            Mix::Loss | Mix::Late => true,
            Mix::Streams => false,
            _ => c.percent(60),
        };
        let nodes = if mix == Mix::Late { 2 } else { c.pick(&[2, 3, 3, 3, 4, 5]) };
        let mut plan = Plan {
            seed,
            mix,
            nodes,
            lossy,
            lost: if lossy { c.pick(&[0, 5, 20]) } else { 0 },
            repeated: if mix == Mix::Late {
                15
            } else if lossy {
                c.pick(&[0, 5, 20])
            } else {
                0
            },
            delay: c.pick(&[1, 5, 20]) * MS,
            faults: Vec::new(),
            actors: [6, 4, 3, 3][nodes - 2],
        };
        let how_many = match mix {
            Mix::Loss => 0,
            Mix::All => c.between(2, 6),
            Mix::Late => c.between(2, 4),
            _ => c.between(1, 4),
        };
        for _ in 0..how_many {
            let at = c.between(100, if mix == Mix::Late { 2500 } else { ACTIVE / MS - 500 }) * MS;
            let kind = plan.fault(mix, &mut c);
            plan.faults.push(Fault { at, kind });
        }
        plan.faults.sort_by_key(|f| f.at);
        plan
    }
    fn fault(&self, mix: Mix, c: &mut Chance) -> Kind {
        let a = c.below(self.nodes as u64) as usize;
        let b = (a + 1 + c.below(self.nodes as u64 - 1) as usize) % self.nodes;
        let long = c.between(50, 1500) * MS * c.pick(&[1, 1, 3]);
        match mix {
            Mix::Loss | Mix::Streams => match c.below(6) {
                0 => Kind::Gone(a, b, long),
                1 => Kind::Left(a, b),
                _ => Kind::Break(a, b, long),
            },
            Mix::Crashes => match c.below(4) {
                0 => Kind::Double(a, long.max(400 * MS)),
                1 | 2 => Kind::Crash(a, c.between(5, 200) * MS),
                _ => Kind::Crash(a, long),
            },
            Mix::Pauses => match c.below(4) {
                0 => Kind::Pause(a, long),
                1 => Kind::Slow(a, b, c.between(200, 2500) * MS, c.between(500, 4000) * MS),
                _ => Kind::Cut(a, b, long),
            },
            Mix::Late => match c.below(2) {
                0 => Kind::Crash(a, c.between(1, 100) * MS),
                _ => Kind::Cut(a, b, c.between(1400, 2800) * MS),
            },
            Mix::All => {
                let mix = c.pick(&[Mix::Streams, Mix::Crashes, Mix::Pauses]);
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
        vec![Plan { lost: 0, ..self.clone() }, Plan { repeated: 0, ..self.clone() }]
    }
}
