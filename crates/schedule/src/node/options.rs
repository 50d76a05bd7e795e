//! How patient a node is.

use crate::Time;
use crate::rule::Thresholds;

/// Times in nanoseconds. All nodes of a cluster should have the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The paper's numbers.
    pub thresholds: Thresholds,
    /// How often the coordinator says what is in force.
    pub beat: Time,
    /// So long after the coordinator was last heard, collections are independent.
    pub lease: Time,
    /// Orders that come within this time after a collection began were meant for it: two nodes may order at once.
    pub settle: Time,
    /// Does a node tell all others when it is about to collect, so that requests go elsewhere ([`avoid`](crate::Node::avoid))?
    pub hints: bool,
    /// How long an interval of one's own may be before a collection that a round or a watch asks for.
    pub patience: Time,
}

impl Default for Options {
    fn default() -> Options {
        const MS: Time = 1_000_000;
        Options { thresholds: Thresholds::default(), beat: 1000 * MS, lease: 3500 * MS, settle: MS, hints: false, patience: 1000 * MS }
    }
}
