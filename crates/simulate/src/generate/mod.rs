//! Traces in the manner of programs, for want of recordings and for tests.
//!
//! **Invariant.** A trace follows from its pattern and its [`Shape`]. Each node computes for about [`Shape::computes`], whatever the number of
//! nodes is. They are patterns of communication, not the programs: what is shown with them is shown of the policies.

mod build;
mod coupled;
mod loose;

use crate::{Time, Trace};
use build::Build;

/// What a program is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// BH: each node asks others all the time and does nothing meanwhile; barriers. (The paper's table 1, as the next three.)
    BarnesHut,
    /// CKY: threads that wait for neighbours' results and ask anybody; many a node where nodes are few.
    Cky,
    /// RNA: futures that begin others elsewhere, many ready at any time.
    Rna,
    /// GA: one worker a node, and an exchange once in a while.
    Ga,
    /// Asks some steps before it needs the answers, and so hides as much latency as there is without collections (3.3).
    Prefetch,
    /// As BH, and whatever time is left goes into speculative work (3.3).
    Speculative,
    /// As RNA, but a quarter of the nodes allocates four times as much as the rest, and a quarter keeps twice as much.
    Uneven,
    /// A service: requests come to all nodes, and each asks three others.
    Service,
}

/// How large a program is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Nodes.
    pub nodes: u32,
    /// What is chance follows from it.
    pub seed: u64,
    /// How long each node computes.
    pub computes: Time,
    /// How long between two messages of a program that has many.
    pub grain: Time,
    /// What a node keeps, on average.
    pub keeps: u64,
    /// What it allocates, for a second that it computes.
    pub allocates: u64,
}

impl Shape {
    /// For the paper's machine: 2 MB live, 1 MB/s allocated (which is about 1 collection of 0.25 s a second), a message each 5 ms.
    pub fn ap1000(nodes: u32, seed: u64) -> Shape {
        const MS: Time = 1_000_000;
        Shape { nodes, seed, computes: 12_000 * MS, grain: 5 * MS, keeps: 2 << 20, allocates: 1 << 20 }
    }
}

const NAMES: [(&str, Pattern); 8] = [
    ("bh", Pattern::BarnesHut),
    ("cky", Pattern::Cky),
    ("rna", Pattern::Rna),
    ("ga", Pattern::Ga),
    ("prefetch", Pattern::Prefetch),
    ("speculative", Pattern::Speculative),
    ("uneven", Pattern::Uneven),
    ("service", Pattern::Service),
];

impl Pattern {
    /// The pattern of this name.
    pub fn named(name: &str) -> Option<Pattern> {
        NAMES.iter().find(|n| n.0 == name).map(|n| n.1)
    }
    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|n| n.1 == self).map_or("", |n| n.0)
    }
    /// Each of them.
    pub fn all() -> impl Iterator<Item = Pattern> {
        NAMES.iter().map(|n| n.1)
    }
    /// A trace of it. Sizes and times that are 0 count as 1.
    pub fn trace(self, shape: &Shape) -> Trace {
        let mut b = Build::new(*shape);
        match self {
            Pattern::BarnesHut => coupled::barnes_hut(&mut b, false),
            Pattern::Cky => coupled::cky(&mut b),
            Pattern::Rna => loose::rna(&mut b),
            Pattern::Ga => loose::ga(&mut b),
            Pattern::Prefetch => coupled::prefetch(&mut b),
            Pattern::Speculative => coupled::barnes_hut(&mut b, true),
            Pattern::Uneven => {
                b.uneven();
                loose::rna(&mut b);
            }
            Pattern::Service => loose::service(&mut b),
        }
        b.done()
    }
}
