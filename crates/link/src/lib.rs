//! Connections between nodes: sockets, TLS, and the thread that serves them.
//!
//! A [`Link`] is one node's part in a cluster. It listens and connects, finds the other members by gossip, and carries the messages of
//! `kumi-segments` between them. What is said is `kumi-wire`'s, who is there is `kumi-membership`'s, what it means is the [`Host`]'s.
//!
//! One thread at a time reads all sockets and calls the host: the link's own, or one that waits for an answer and has nothing else to do
//! ([`Link::attend`]). Any thread sends, and writes to the socket itself where nothing else waits. So a request and its answer cost a
//! wake-up on each side, and nothing more.
//!
//! Messages above 16 KB go on a second connection, which their sender makes when it has the first of them. So a small message waits behind a
//! large one in no buffer, the system's included.
//!
//! **Invariant.** Between two nodes one connection is used at a time, and the second ones belong to it. What is sent on it arrives, or it
//! ends and the host is told: whoever needs an answer says so again on the next one. No byte from outside makes the thread panic, wait or hold more than [`Limits`] says.
//!
//! ```
//! use bytes::Bytes;
//! use kumi_link::{Host, Link, Options, Peer, Why};
//! use kumi_segments::{FromClient, FromOwner};
//! use std::sync::Arc;
//!
//! struct Quiet;
//! impl Host for Quiet {
//!     fn from_client(&self, _: &Peer, _: FromClient<Bytes>) {}
//!     fn from_owner(&self, _: &Peer, _: FromOwner<Bytes>) {}
//!     fn connected(&self, peer: &Peer) {
//!         println!("{peer} is there");
//!     }
//!     fn disconnected(&self, peer: &Peer, why: &Why) {
//!         println!("{peer}: {why}");
//!     }
//! }
//!
//! let east = Link::start(Options::new("east"), Arc::new(Quiet))?;
//! let join = vec![east.listening()[0].clone()];
//! let west = Link::start(Options { join, ..Options::new("west") }, Arc::new(Quiet))?;
//! while west.members().len() < 2 {
//!     std::thread::yield_now();
//! }
//! west.stop();
//! east.stop();
//! # Ok::<(), kumi_link::LinkError>(())
//! ```
#![deny(unsafe_code)]
#![deny(missing_docs)]

mod address;
mod channel;
mod clock;
mod codec;
mod error;
mod host;
mod link;
mod options;
mod recorded;
mod server;
mod serving;
mod tls;

pub use address::Address;
pub use channel::{Peer, SMALL};
pub use clock::now;
pub use codec::features;
pub use error::{LinkError, SendError, Why, code};
pub use host::Host;
pub use link::{Link, Message};
pub use options::{Limits, Options};
pub use tls::Tls;
