//! Bugs that tests plant, each in one test's thread, to see that the simulator finds them.

use std::cell::Cell;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bug {
    None,
    /// Whoever is heard of last wins, whatever its incarnation.
    IncarnationIgnored,
    /// A node does not hear that it is suspected.
    NeverRefuted,
    /// News are not taken in.
    GossipLost,
    /// Time in which a node stood still counts like any other.
    ClockTrusted,
    /// A name is given to whoever wants it.
    NamesUnguarded,
}

thread_local! {
    static BUG: Cell<Bug> = const { Cell::new(Bug::None) };
}

pub(crate) fn is(bug: Bug) -> bool {
    BUG.get() == bug
}

pub(crate) fn plant(bug: Bug) {
    BUG.set(bug);
}
