//! Demand-driven producers: a large document as if it were a tree in memory, parsed as far as somebody asks.
//!
//! The stream classes of the Kumihimo runtime are readers of this; any program that reads XML larger than memory, or from several
//! servers at once, may be one. Documents, nodes, lists and handles may be read from any thread.
//!
//! A [`Registry`] opens [`Document`]s from a `kumi_source::Source` and a `kumi_xml::Schema`. Reading
//! ([`Node::field`], [`Cursor::next`], [`Cursor::next_batch`]) never blocks: it takes what is there, else parses
//! on the caller's own thread as long as bytes are there (the paper's *non-blocking get*), else says what to wait
//! for ([`Poll`]). Idle threads may parse ahead ([`Producer::ahead`]). What nobody can reach is dropped as it
//! arrives; when nothing of a document can be reached its source is closed.
//!
//! ```
//! use kumi_flow::{Entry, Options, Poll, Registry, Root};
//! use kumi_source::{Source, Spec};
//! use kumi_xml::{Field, Schema, schema::parse_path};
//!
//! let mut schema = Schema::builder();
//! let house = schema.class("House");
//! schema.field(house, Field::new("price"));
//! schema.root_path(parse_path("/houses/house", &[])?, house);
//!
//! let text = *b"<houses><house><price>3</price></house><house><price>4</price></house></houses>";
//! let source = Source::open(Spec::Bytes(text.into()), kumi_source::Options::default())?;
//! let document = Registry::new(None).open(source, schema.build()?, Options::default());
//! let Root::List(houses) = document.root else { unreachable!("the root is a path") };
//! let mut cursor = houses.cursor(true)?;
//! drop(houses);
//! let price = |entry: Entry<'_>| match entry {
//!     Entry::Row(row) => row.view().text(0).map(str::to_string),
//!     _ => None,
//! };
//! // Memory is always there; another source would answer `Poll::Wait` now and then.
//! let mut prices = Vec::new();
//! while let Poll::Ready(Some(price)) = cursor.next(price)? {
//!     prices.extend(price);
//! }
//! assert_eq!(prices, ["3", "4"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ```text
//!  cursor, tree    readers: elements and fields, in any order, from any thread
//!  list, cell      what is kept, exactly as long as somebody can reach it
//!  route           from batches to whoever reaches the parts
//!  producer        the batches between source and readers, handles and subscriptions; producer/drive: who parses, when
//!  fill            one go of reading and binding
//!  policy, admission   how much at once (the paper's section 3, and ours)
//!  registry        what producers have in common: clock, pool, admission, counts
//!  push            the same binding without demand: an event handler (the paper's ED)
//!  wait, failure   what readers get instead of a value
//!  fork, gate      documents are at rest while the process forks
//! ```

#![deny(missing_docs)]

mod cell;
mod cursor;
mod failure;
mod fill;
mod fork;
mod list;
mod policy;
mod producer;
mod push;
mod registry;
mod route;
mod tree;
mod wait;

pub use cell::RowHandle;
pub use cursor::{Cursor, Entry, RowEntry};
pub use failure::{Failure, FailureKind, ReadError};
pub use fill::FILL_MOST;
pub use list::List;
pub use policy::admission::{Admission, CLAIM, Candidate};
pub use policy::{Policy, Speed};
pub use producer::{Measures, Options, Producer, Standing};
pub use push::{Event, Push};
pub use registry::{Clock, Job, Live, Meter, Pool, Registry, Stats};
pub use tree::{Arrival, Document, Node, Root, Value};
pub use wait::{BlockingJob, Poll, Subscription, Ticket, Wait, Waker};
