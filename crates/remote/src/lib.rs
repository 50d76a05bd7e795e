//! Objects of one node used from others, and collected when nobody needs them.
//!
//! [`Remote`] is one node's part: what it has given out, what it has been given, and what nodes tell each other about both. It is a
//! state machine: events in, [`Action`]s out, time as an argument. There is no socket, no thread, no clock and nothing of Ruby, so a whole
//! cluster runs in one process under a seeded simulator (`tests/simulator`).
//!
//! **Invariant.** An object that a node holds, and that runs within its lease, is not collected. A [`Ref`] never meets another object
//! than it was made for. Whatever a peer says, memory stays within [`Options`], and nothing that others hold is freed; but a round believes
//! whoever leads it and takes part (`node/round.rs`).
//!
//! - *Counts.* Each export knows which peers hold it (a listing, not a number), so that a node that dies is struck off, and a release that
//!   comes for nothing is seen to be nonsense. Between two nodes goes one stream of operations each way, named by (incarnation, epoch,
//!   number): lost, repeated and reordered packets do no harm.
//! - *Handing over.* References travel in *parcels* ([`Remote::send`], [`Remote::arrive`]). The sender holds what is in one until the
//!   receiver has it. What B hands C of A's, C *claims* at A (a dirty call, as in Birrell's network objects), and B lets go when A has
//!   granted it. Not weights: a message that is lost would take its weight along, and neither would show who holds what. Not indirect
//!   counts: an object would live as long as everybody who ever passed it on, and be lost with any of them. A claim costs one message and
//!   its answer, gathered with others; a parcel of the owner's own objects needs none.
//! - *Leases.* Whoever is not heard for [`Options::lease`] is lost: what it held is let go, what it gave is [`Error::NodeLost`]. A node
//!   that is cut off for less loses nothing. One that comes back later begins a session of its own, and old references say so
//!   ([`Error::OtherIncarnation`]). What is handed over is protected by its sender's lease until its owner knows of it.
//! - *Cycles.* A round marks across all nodes and drops the exports that nobody reaches. It needs two things of the host: a full
//!   collection that marks in two parts ([`Remote::marking`]), and, to be quick, traces between collections ([`Remote::grey`]).
//!   Why so, and not by time stamps: `docs/decisions/0036`.
//! - *Moving.* [`Remote::moved`] leaves the way to the new place; each caller is told once ([`Remote::redirect`]). What came keeps the
//!   seal by which others know it ([`Item::Came`]), so that old and new references are seen to be one object's.
//!
//! ```
//! use kumi_remote::{Action, Arrived, Error, Item, Life, NodeId, Options, Remote};
//!
//! let node = |n, secret| Remote::new(Life { node: NodeId(n), incarnation: 1 }, Options::default(), [secret, 7]);
//! let mut nodes = [node(0, 5), node(1, 6)];
//! let (a, b) = (nodes[0].me(), nodes[1].me());
//! nodes[0].up(0, b).unwrap();
//! nodes[1].up(0, a).unwrap();
//!
//! /// A network that loses nothing, for a while.
//! fn run(nodes: &mut [Remote; 2], from: u64) {
//!     for now in (from..from + 1_000_000_000).step_by(1_000_000) {
//!         for i in 0..2 {
//!             nodes[i].tick(now);
//!             while let Some(action) = nodes[i].poll() {
//!                 if let Action::Send { bytes, .. } = action {
//!                     let me = nodes[i].me().node;
//!                     nodes[1 - i].packet(now, me, &bytes).unwrap();
//!                 }
//!             }
//!         }
//!     }
//! }
//! run(&mut nodes, 1);
//!
//! // Object 42 of the first node is sent to the second: the host's message carries the parcel and the references.
//! let (parcel, refs) = nodes[0].send(1 << 30, b.node, &[Item::Own(42)]).unwrap();
//! let arrived = nodes[1].arrive(1 << 30, a.node, parcel, &refs).unwrap();
//! let Arrived::Import { import, version } = arrived[0] else { panic!() };
//! run(&mut nodes, 1 << 30);
//! assert_eq!(nodes[0].exports().collect::<Vec<_>>(), [(42, 1)]);
//!
//! // A call names it; its proxy dies; nobody holds it.
//! let named = nodes[1].target(import).unwrap();
//! assert_eq!(nodes[0].resolve(&named), Ok(42));
//! nodes[1].dropped(1 << 31, import, version);
//! run(&mut nodes, 1 << 31);
//! assert_eq!(nodes[0].resolve(&named), Err(Error::Collected));
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod message;
mod name;
mod node;
mod planted;
mod table;

pub use message::{MAX_OPS, MAX_PACKET, RoundId, VERSION};
pub use name::{Error, Life, NodeId, Ref};
pub use node::{Action, Arrived, Cause, Item, Marking, Options, Parcel, Remote, Stats, Want};
#[doc(hidden)]
pub use planted::{Bug, plant};
pub use table::Import;

/// Nanoseconds of a clock that never goes back.
pub type Time = u64;
