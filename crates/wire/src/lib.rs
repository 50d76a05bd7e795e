//! What nodes say to each other: frames of a connection, and values as MessagePack.
//!
//! Bytes in, bytes out. Nothing here opens a socket, reads a clock, starts a thread or knows Ruby, so two connections may stand in one
//! test, and any cut of the bytes between them is a test of its own.
//!
//! **Invariant.** Every byte from outside is hostile: it may be refused, and then [`WireError`] says what was wrong, but it neither
//! panics nor makes more memory be held than [`Limits`] says. No size is believed before the bytes are there, nothing recurses.
//!
//! - [`frame`]: a connection in both directions. Handshake and versions, messages on streams, large ones in pieces, three lanes, a
//!   window of bytes for each stream.
//! - [`value`]: a value as MessagePack with a few extension types: written, pulled token by token, checked, shown.
//! - [`message`]: variable-length numbers, byte strings and keys, of which a crate above makes its requests.
//!
//! ```
//! use kumi_wire::{Connection, Hello, Lane, Limits, Role, Tree};
//! use std::io::IoSlice;
//!
//! /// What a socket does.
//! fn pass(from: &mut Connection, to: &mut Connection) -> Result<(), kumi_wire::WireError> {
//!     loop {
//!         let mut slices = [IoSlice::new(&[]); 16];
//!         let n = from.transmit(&mut slices);
//!         let bytes: Vec<u8> = slices[..n].iter().flat_map(|s| s.iter()).copied().collect();
//!         if bytes.is_empty() {
//!             return Ok(());
//!         }
//!         to.receive(&bytes)?;
//!         from.advance(bytes.len());
//!     }
//! }
//!
//! let mut east = Connection::new(Role::Caller, Hello::new("east", 1), Limits::default())?;
//! let mut west = Connection::new(Role::Listener, Hello::new("west", 1), Limits::default())?;
//! pass(&mut east, &mut west)?;
//! pass(&mut west, &mut east)?;
//! assert_eq!(east.peer().unwrap().hello.name, "west");
//!
//! const PUT: u8 = 1; // the kinds of messages are the caller's own
//! let value = Tree::Array(vec![Tree::Symbol("id".into()), Tree::Int(7)]);
//! east.send(1, PUT, Lane::Small, value.encode()).unwrap();
//! pass(&mut east, &mut west)?;
//!
//! let message = west.next_message().unwrap();
//! assert_eq!((message.stream, message.kind), (1, PUT));
//! assert_eq!(Tree::decode(&message.payload, &Default::default())?.to_string(), "[:id, 7]");
//! # Ok::<(), kumi_wire::WireError>(())
//! ```
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod error;
pub mod frame;
pub mod message;
pub mod value;

/// Slices that are counted, not copied: what payloads are made of.
pub use bytes::Bytes;
pub use error::{Reason, WireError, code};
pub use frame::{Connection, Ended, Hello, Lane, Limits, Message, Payload, Peer, Role, SendError, Trace};
pub use message::{Decoder, Encoder};
pub use value::{Reader, Summary, Token, Tree, Writer, validate};
