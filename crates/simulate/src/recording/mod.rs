//! Recordings of a cluster's nodes, and the trace that they are together.
//!
//! A node's file is what `kumi_record` writes: what its tasks, and the handlers of its messages, did one after another. [`Recording::parse`]
//! reads one, [`join`] makes a [`Trace`](crate::Trace) of those of all nodes.
//!
//! **Invariant.** What is joined can be replayed: what a step waits for was done before it, since all happened once. A message that
//! came, and whose sending is in no file, is not waited for; [`Joined::lost`] counts them.
//!
//! - A task begins when the one that made it has come so far. The first of each node begins when it did.
//! - The handling of a message is a task of its own, as urgent as handlers are.
//! - A wait that another task ended is a message to one's own node. One that the clock ended is a sleep; so is one for a descriptor, or for
//!   a call of the system. A wait for others that ended by the clock, and was followed by another one, takes no time: its task looks once in a
//!   while whether something is so.
//! - Bytes are allocated evenly over the time in which they were. What lives is known after each full collection, and grows evenly
//!   between two.

mod costs;
mod join;
mod parse;

pub use costs::Costs;
pub use join::{As, Joined, join};
pub use parse::Recording;
