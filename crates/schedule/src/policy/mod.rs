//! Policies: what a node does about an overflow, an order or a request.
//!
//! **Invariant.** [`decide`] and [`joins`] are functions of what they are given. Whether collections are in step just now is an argument; who
//! changes that is the coordinator (`node/coordinator.rs`).

mod decide;

pub use decide::{Decision, Observed, View, Why, decide, forecast, joins, marks};
pub(crate) use decide::{fills, half_way, slices};

/// How nodes collect just now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Each alone, when it needs to.
    Independent,
    /// Whoever needs to orders everybody to.
    Synchronised,
}

/// How a cluster's nodes decide when to collect. All should have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// FI, the paper's fixed independent strategy (3.3): a node collects and tells nobody.
    Independent,
    /// FS, its fixed synchronous strategy: who collects orders everybody to.
    Synchronised,
    /// AS and AI, its adaptive strategies: one of both at a time, begun with this one.
    Adaptive(Mode),
    /// *Ours.* One after another: who has collected tells the next, which collects if it is at least half way to where it would anyway. For
    /// services, whose requests can go elsewhere meanwhile.
    Staggered,
    /// *Ours.* In step, but a node obeys an order only if at the rate at which it allocates it is at least half way to a collection of its
    /// own. For nodes whose heaps or rates differ.
    Forecast,
    /// *Ours.* As `Forecast`, and adaptive by trial: where the paper's conditions favour independence, counting speculative work as idle,
    /// it is tried, and given up where nodes then get less done than before; each failure makes the next trial come later.
    Measured,
    /// *Ours*, after 5.1. Marking goes on in slices between messages and whenever a node is idle, or would only speculate. Whoever begins orders all
    /// to, so that all are slow at once. The heap may grow a little meanwhile; one that is full nevertheless stops its node and orders all:
    /// the paper's last resort, in which the others mark while they wait.
    Interruptible,
    /// *Ours.* As `Measured`, and a node marks in time in which it has nothing to run, from half way to its next collection on. Where nodes
    /// wait for each other often, whoever has not begun by then marks in slices in step, as `Interruptible` does it. Elsewhere a collection is a stop, which
    /// does what is left. A node that has not collected yet is in step only if it waits for others.
    Combined,
}

/// Names of policies, the paper's own last.
const NAMES: [(&str, Policy); 13] = [
    ("independent", Policy::Independent),
    ("synchronised", Policy::Synchronised),
    ("adaptive-synchronised", Policy::Adaptive(Mode::Synchronised)),
    ("adaptive-independent", Policy::Adaptive(Mode::Independent)),
    ("staggered", Policy::Staggered),
    ("forecast", Policy::Forecast),
    ("measured", Policy::Measured),
    ("interruptible", Policy::Interruptible),
    ("combined", Policy::Combined),
    ("FI", Policy::Independent),
    ("FS", Policy::Synchronised),
    ("AS", Policy::Adaptive(Mode::Synchronised)),
    ("AI", Policy::Adaptive(Mode::Independent)),
];

/// Names that a policy can be asked for by ([`Policy::named`]).
pub const POLICIES: &[&str] = &{
    let mut names = [""; NAMES.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = NAMES[i].0;
        i += 1;
    }
    names
};

impl Policy {
    /// Each of them, once.
    pub fn all() -> impl Iterator<Item = Policy> {
        NAMES[..9].iter().map(|n| n.1)
    }
    /// The policy of this name; the paper's abbreviations are names too.
    pub fn named(name: &str) -> Option<Policy> {
        NAMES.iter().find(|n| n.0 == name).map(|n| n.1)
    }
    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|n| n.1 == self).map_or("", |n| n.0)
    }
    /// What is in force when nothing is known yet.
    pub fn start(self) -> Mode {
        match self {
            Policy::Independent | Policy::Staggered => Mode::Independent,
            Policy::Synchronised | Policy::Forecast | Policy::Measured | Policy::Interruptible | Policy::Combined => Mode::Synchronised,
            Policy::Adaptive(start) => start,
        }
    }
    /// Is what is in force for the coordinator to say?
    pub fn adapts(self) -> bool {
        matches!(self, Policy::Adaptive(_) | Policy::Measured | Policy::Combined)
    }
    /// Is independence on trial, and speculative work counted as idle?
    pub fn tries(self) -> bool {
        matches!(self, Policy::Measured | Policy::Combined)
    }
    /// Does a node mark while it has nothing to run, before it has to?
    pub fn fills(self) -> bool {
        self == Policy::Combined
    }
    /// Does marking go on in slices while this is in force?
    pub fn slices(self, mode: Mode) -> bool {
        self == Policy::Interruptible || self == Policy::Combined && mode == Mode::Synchronised
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for p in Policy::all() {
            assert_eq!(Policy::named(p.name()), Some(p));
        }
        assert_eq!((Policy::named("AS"), Policy::named("as")), (Some(Policy::Adaptive(Mode::Synchronised)), None));
        assert_eq!(Policy::all().count(), 9);
        assert_eq!(POLICIES, NAMES.map(|n| n.0));
    }
}
