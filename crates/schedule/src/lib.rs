//! When a node of a cluster collects: alone, together with all others, or after them.
//!
//! A node that collects answers nobody. Programs whose nodes wait for each other then wait for each collection in turn, unless all collect
//! at once. [`Node`] is one node's part in deciding that. It is a state machine: what was observed in, a [`Decision`] or [`Action`]s out,
//! time as an argument. There is no socket, no thread, no clock and no heap, so clusters of thousands run in a simulator.
//!
//! **Invariant.** A node that has to collect is told so by the very call that asks: nobody ever waits for a message, least of all for the
//! coordinator's. Whatever peers say, the program's results are the same, and memory stays within what the host gives as limit; they may
//! only make it collect more often (no more than half of its time) or less (its heap then grows up to its limit).
//!
//! - *Rules* ([`rule`]): the paper's formulas and numbers, as functions.
//! - *Observations* ([`Meter`], [`Observed`]): what a node sees of itself: heap, time between collections, idle periods. Full and young
//!   collections have their own.
//! - *Policies* ([`Policy`]): the paper's four, and ours. [`decide`] is a pure function.
//! - *Nodes* ([`Node`]): what they tell each other ([`Message`]). The coordinator is the first of all members, as each node sees them;
//!   nobody is elected. It gathers reports, and says each second what is in force. A node that has not heard it for [`Options::lease`]
//!   collects independently until there is one again; a new one begins as its policy does.
//! - *Requests* ([`Request`]): `GC.start`, memory that runs short, rounds of the cluster's collection and connections that may hang on dead
//!   objects are asked for here, so that they fall together with what is due anyway.
//!
//! ```
//! use kumi_schedule::*;
//!
//! // Two nodes, collections in step. The second one's heap overflows.
//! let members = Members::new([NodeId(1), NodeId(2)]);
//! let node = |n| Node::new(0, NodeId(n), 1, Policy::Synchronised, Options::default());
//! let (mut a, mut b) = (node(1), node(2));
//! let mut meter = Meter::new(0);
//! meter.change(2_000_000, Doing::Idle);
//! let now = 9_000_000;
//! let heap = Heap { size: 12 << 20, allocated: 5 << 20, limit: 64 << 20, wanted: 4096 };
//! assert_eq!(b.overflow(now, &members, &Observed::new(heap, &meter, now)), Decision::Collect);
//!
//! // It collects now, and everybody else when told.
//! let Some(Action::All(order)) = b.poll() else { panic!() };
//! let bytes = order.encode();
//! a.message(now, &members, NodeId(2), Message::decode(&bytes).unwrap(), &Observed::new(heap, &meter, now));
//! assert_eq!(std::iter::from_fn(|| a.poll()).last(), Some(Action::Collect(Kind::Full)));
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod message;
mod node;
mod observe;
mod policy;
pub mod rule;

pub use message::{MAX_MESSAGE, Message, Nonsense, VERSION};
pub use node::{Action, Members, Node, NodeId, Options, Request};
pub use observe::{Doing, Interval, Meter};
pub use policy::{Decision, Mode, Observed, POLICIES, Policy, View, Why, decide, forecast, joins, marks};
pub use rule::{Heap, Thresholds};

/// Nanoseconds of a clock that never goes back.
pub type Time = u64;

/// What is collected. The paper has full collections only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// What was born since the last collection.
    Young = 0,
    /// Everything.
    Full = 1,
}
