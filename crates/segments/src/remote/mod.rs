//! One node's manager used from another.
//!
//! **Invariant.** A call is named by (client, incarnation, sequence). Its owner does it once and keeps the answer until it knows
//! that the client has it. A segment that was taken is under a lease until then, so that what never arrives comes back. Messages
//! may be lost, repeated and reordered.

mod client;
mod engine;
mod leaving;
mod map;
mod message;
mod owner;
mod rules;
mod spans;

pub use client::{Client, ClientOptions, Failure, Outbox};
pub use engine::{End, Engine, Outcome, Trouble};
pub use message::{Ask, Body, Call, Done, FromClient, FromOwner, INPUTS, OUTPUTS, Put, Refusal, RemoteSegment, Reply, Store, Watch};
pub use owner::{Both, Node, NodeOptions, Send, Waiter};
pub use rules::{Act, Rule, Rules, matches};
