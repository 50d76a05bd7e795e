//! A connection between two nodes, as frames.
//!
//! [`Connection`] is fed what came and asked what to send. It knows no socket: [`receive`](Connection::receive) takes bytes in pieces
//! of any size, [`next_message`](Connection::next_message) gives messages as they are complete, [`transmit`](Connection::transmit) gives
//! slices for one `writev`, [`advance`](Connection::advance) takes back how far that came.
//!
//! # The bytes
//! A node that calls sends eight bytes, `CB "kumi" 0D 0A 00`, and a `Hello` frame at once; a node that listens answers with the same
//! once it has read those. Nothing else is accepted before. A frame:
//!
//! | bytes | what |
//! |---|---|
//! | 0–3 | length of what follows the head (all numbers have the highest byte first) |
//! | 4 | kind: the message's, which the crate's user chooses; or one of the connection's own |
//! | 5 | flags: lane (bits 0 and 1), first piece (2), last piece (3), trace context (4), frame of the connection's own (7) |
//! | 6–9 | stream |
//!
//! | own kind | payload |
//! |---|---|
//! | 1 `Hello` | oldest and newest version (u16), incarnation and features (u64); longest frame, longest message, streams, window (u32); name, after its length (u8) |
//! | 2 `Grant` | for each: lane (u8), stream (u32), bytes (u32) |
//! | 3 `Goodbye` | code (u16), text |
//!
//! A message of one frame is first and last piece. Of a longer one the first piece begins with the message's length (u32). Trace context stands
//! before both: 25 bytes of `traceparent`, and `tracestate` with its length (u16).
//!
//! # Versions
//! A node speaks versions from its oldest to its newest; version N speaks N−1 as well. The lower of the two newest is spoken, if both
//! speak it. The form of the eight bytes, of a frame's head, of `Hello` and of `Goodbye` never changes, so that a node that is too old is told so.
//! `Hello` may grow at its end.
//!
//! # Lanes and streams
//! A stream is a number within a lane, in one direction. What is sent on it arrives in order. Nobody opens or closes streams: one
//! whose window is whole and that has nothing under way takes no memory on either side, and is not counted. Control goes before small, small
//! before bulk; bulk goes round its streams in pieces. So a small message waits for one piece of a large one at most. After a
//! megabyte of others, bulk gets one piece.
//!
//! # Flow control
//! A message of one frame is paid from its stream's window: 64 bytes and its length, given back once the message is taken. A longer one,
//! on the bulk lane only, begins on the window; then the receiver sets memory aside for it from a pool, and grants its whole length at once. The pool is
//! `buffered_max` without all windows; who finds it empty waits for a turn. A stream that is [paused](Connection::pause) gives nothing back, and
//! its sender stops while all others go on.
//!
//! **Invariant.** The credit that a sender has never exceeds what its receiver allows: *sent* runs ahead of *received*, and *granted* of
//! *heard*. Hence a stream that counts as in use at the receiver does so at the sender, and a peer that keeps the rules breaks no limit.

mod connection;
mod head;
mod hello;
mod incoming;
mod limits;
mod outgoing;
mod payload;
mod trace;

pub use connection::{Connection, Ended};
pub use head::Lane;
pub use hello::{Hello, NEWEST, OLDEST, Peer, Role, negotiate};
pub use incoming::Message;
pub use limits::Limits;
pub use outgoing::SendError;
pub use payload::Payload;
pub use trace::Trace;
