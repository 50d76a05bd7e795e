//! Demand-driven producers: a large document as if it were a tree in memory, parsed as far as somebody asks.
//!
//! A [`Registry`] opens [`Document`]s from a `kumi_source::Source` and a `kumi_xml::Schema`. Reading
//! ([`Node::field`], [`Cursor::next`], [`Cursor::next_batch`]) never blocks: it takes what is there, else parses
//! on the caller's own thread as long as bytes are there (the paper's *non-blocking get*), else says what to wait
//! for ([`Poll`]). Idle threads may parse ahead ([`Producer::ahead`]). What nobody can reach is dropped as it
//! arrives; when nothing of a document can be reached its source is closed.
//!
//! ```text
//!  cursor, tree    readers: elements and fields, in any order, from any thread
//!  list, cell      what is kept, exactly as long as somebody can reach it
//!  route           from batches to whoever reaches the parts
//!  producer        source + binder + batches; who parses, when, and what is told to those who wait
//!  policy, turns   how much at once (the paper's section 3, and ours)
//!  registry        what producers have in common: clock, pool, turns, counts
//!  push            the same binding without demand: an event handler (the paper's ED)
//!  wait, failure   what readers get instead of a value
//! ```

mod cell;
mod cursor;
mod failure;
mod list;
pub mod policy;
mod producer;
mod push;
mod registry;
mod route;
mod tree;
mod turns;
mod wait;

pub use cell::RowHandle;
pub use cursor::{Cursor, Entry, RowEntry};
pub use failure::{Failure, FailureKind, ReadError};
pub use list::List;
pub use policy::{Policy, Speed};
pub use producer::{FILL_MOST, Measures, Options, Producer, Standing};
pub use push::{Event, Push};
pub use registry::{Clock, Job, Live, Meter, Pool, Registry, Stats};
pub use tree::{Arrival, Document, Node, Root, Value};
pub use turns::{CLAIM, Candidate, Turns};
pub use wait::{BlockingJob, Poll, Subscription, Ticket, Wait, Waker};
