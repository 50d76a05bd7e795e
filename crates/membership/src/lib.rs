//! Who is in the cluster, who has a key, and who is whose neighbour.
//!
//! [`Membership`] is one node's part in a cluster: SWIM gossip with suspicion and incarnations, as a state machine. Events go in, with the time
//! as an argument; [`Action`]s come out. [`place`] says which member has a key. [`Topology`] names neighbours. Nothing here knows
//! of sockets, threads, clocks or Ruby, so a whole cluster runs in one process under a simulator that decides about each packet.
//!
//! ```
//! use kumi_membership::{Action, Config, Member, Membership, Topology};
//!
//! let node = |name: &str, port: u16, started: u64| {
//!     let me = Member::new(name, &format!("127.0.0.1:{port}"), started).unwrap();
//!     Membership::new(me, Config::local(), 42, 0)
//! };
//! let mut nodes = [node("east", 7001, 1), node("west", 7002, 2)];
//! nodes[1].join(0, "127.0.0.1:7001").unwrap();
//!
//! // A network that loses nothing, and a clock that goes on by itself.
//! for now in (0..2_000_000_000).step_by(10_000_000) {
//!     for i in 0..2 {
//!         if nodes[i].next_deadline().is_some_and(|d| d <= now) {
//!             nodes[i].tick(now);
//!         }
//!         while let Some(action) = nodes[i].poll() {
//!             match action {
//!                 Action::Send { bytes, .. } => nodes[1 - i].receive(now, "the other", &bytes),
//!                 other => println!("{other}"), // node east at 127.0.0.1:7001 is up
//!             }
//!         }
//!     }
//! }
//! assert_eq!(nodes[0].names(), nodes[1].names());
//! let links = Topology::Ring.links(&nodes[0].names(), "east");
//! assert_eq!(links.get("right").map(|n| &**n), Some("west"));
//! ```
//!
//! **Invariant.** Every byte that comes in may be hostile: it never panics, and what is kept is bounded by [`Config::max_members`].

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod action;
mod cluster;
mod config;
mod hash;
mod member;
mod packet;
mod placement;
mod topology;

pub use action::{Action, Reject, Why};
pub use cluster::{Health, Membership};
pub use config::Config;
pub use member::{BadMember, MAX_ADDRESS, MAX_EXTRAS, MAX_NAME, Member, Name};
pub use packet::{MAX_PACKET, Malformed, VERSION};
pub use placement::{place, place_weighted};
pub use topology::{BadTopology, Change, Given, Link, Links, Topology};

#[cfg(test)]
mod planted;
#[cfg(test)]
mod sim;
