//! Both halves, the handshake before them and the end after them.

use super::head::{self, Head, Lane};
use super::hello::{self, Hello, MAGIC, Peer, Role, negotiate};
use super::incoming::{Incoming, Message};
use super::limits::Limits;
use super::outgoing::{Outgoing, SendError};
use super::payload::Payload;
use super::trace::Trace;
use crate::error::{Reason, WireError};
use bytes::Bytes;
use std::io::IoSlice;

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// This side said goodbye.
    Here(Reason),
    /// The peer did.
    There(Reason),
    /// The peer broke the rules; it was told, if it is a node at all.
    Fault(WireError),
}

/// A connection, without its socket. It is used by one thread at a time.
///
/// After each call something may be there to send ([`has_output`](Connection::has_output)): grants, a goodbye.
pub struct Connection {
    role: Role,
    hello: Hello,
    limits: Limits,
    /// Bytes of `MAGIC` that came.
    magic: usize,
    peer: Option<Peer>,
    ended: Option<Ended>,
    incoming: Incoming,
    outgoing: Outgoing,
}

impl Connection {
    /// A connection that was just opened, or just accepted. An error names limits that contradict each other, or what is wrong with the name.
    pub fn new(role: Role, hello: Hello, limits: Limits) -> Result<Connection, WireError> {
        limits.check()?;
        hello.check().map_err(WireError::BadSetup)?;
        let (incoming, mut outgoing) = (Incoming::new(&limits), Outgoing::new(&limits));
        if role == Role::Caller {
            outgoing.put_own(|out| hello::encode(&hello, &limits, out));
        }
        Ok(Connection { role, hello, limits, magic: 0, peer: None, ended: None, incoming, outgoing })
    }

    /// Takes bytes that came, as many as there are. An error ends the connection: what is there to send then tells the peer why.
    /// Messages that were whole before it can still be taken.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        if self.ended.is_some() {
            return Err(WireError::Ended);
        }
        self.read(bytes).inspect_err(|e| {
            let told = self.peer.is_some() || self.role == Role::Caller || matches!(e, WireError::NoCommonVersion { .. });
            if told && !matches!(e, WireError::NotANode { .. }) {
                self.outgoing.goodbye(&e.reason());
            } else {
                self.outgoing.stop();
            }
            self.ended = Some(Ended::Fault(e.clone()));
        })
    }

    fn read(&mut self, mut bytes: &[u8]) -> Result<(), WireError> {
        while self.magic < MAGIC.len() {
            let Some((&byte, rest)) = bytes.split_first() else { return Ok(()) };
            if byte != MAGIC[self.magic] {
                let mut got = MAGIC[..self.magic].to_vec();
                got.extend(bytes.iter().take(MAGIC.len() - self.magic));
                return Err(WireError::NotANode { got });
            }
            self.magic += 1;
            bytes = rest;
        }
        while let Some((head, payload)) = self.incoming.step(&mut bytes)? {
            match head.kind {
                head::HELLO => self.greet(&head, &payload)?,
                head::GRANT => self.granted(&head, &payload)?,
                head::GOODBYE => {
                    let (code, text) = payload.split_first_chunk().ok_or_else(|| head.wrong("a goodbye without a code"))?;
                    let reason = Reason { code: u16::from_be_bytes(*code), text: String::from_utf8_lossy(text).into_owned() };
                    self.ended = Some(Ended::There(reason));
                    self.outgoing.stop();
                    return Ok(());
                }
                _ => return Err(head.wrong("a frame of an unknown kind")),
            }
        }
        Ok(())
    }

    fn greet(&mut self, head: &Head, payload: &Bytes) -> Result<(), WireError> {
        if self.peer.is_some() {
            return Err(head.wrong("a second hello"));
        }
        let (hello, terms) = hello::decode(payload)?;
        if self.role == Role::Listener {
            self.outgoing.put_own(|out| hello::encode(&self.hello, &self.limits, out));
        }
        let (ours, theirs) = (self.hello.versions, hello.versions);
        let version = negotiate(ours, theirs).ok_or(WireError::NoCommonVersion { ours, theirs })?;
        let features = self.hello.features & hello.features;
        self.peer = Some(Peer { hello, version, features });
        self.incoming.open();
        self.outgoing.open(terms);
        Ok(())
    }

    fn granted(&mut self, head: &Head, payload: &Bytes) -> Result<(), WireError> {
        let (entries, rest) = payload.as_chunks::<9>();
        if !rest.is_empty() {
            return Err(head.wrong("a grant that is cut off"));
        }
        for &[lane, a, b, c, d, e, f, g, h] in entries {
            let lane = *Lane::ALL.get(usize::from(lane)).ok_or_else(|| head.wrong("a grant to an unknown lane"))?;
            self.outgoing.grant((lane, u32::from_be_bytes([a, b, c, d])), u32::from_be_bytes([e, f, g, h]) as usize)?;
        }
        Ok(())
    }

    /// The next message that is whole, in the order in which they became so. Taking it gives its stream's window back.
    pub fn next_message(&mut self) -> Option<Message> {
        self.incoming.next_message()
    }

    /// Puts a message in line. An error says why it was not taken; a clone of the payload costs little, if it is to be tried again.
    ///
    /// Order holds within a stream of a lane.
    pub fn send(&mut self, stream: u32, kind: u8, lane: Lane, payload: impl Into<Payload>) -> Result<(), SendError> {
        self.outgoing.send((lane, stream), kind, None, payload.into())
    }

    /// As [`send`](Connection::send), for bytes that are copied: quicker where they are few.
    pub fn send_copy(&mut self, stream: u32, kind: u8, lane: Lane, bytes: &[u8]) -> Result<(), SendError> {
        self.outgoing.send_copy((lane, stream), kind, None, bytes)
    }

    /// As [`send_copy`](Connection::send_copy), with trace context, if there is any.
    pub fn send_copy_traced(&mut self, stream: u32, kind: u8, lane: Lane, bytes: &[u8], trace: Option<&Trace>) -> Result<(), SendError> {
        self.outgoing.send_copy((lane, stream), kind, trace, bytes)
    }

    /// As [`send`](Connection::send), with trace context.
    pub fn send_traced(&mut self, stream: u32, kind: u8, lane: Lane, payload: impl Into<Payload>, trace: &Trace) -> Result<(), SendError> {
        self.outgoing.send((lane, stream), kind, Some(trace), payload.into())
    }

    /// Whether something went since a message was last refused: those who wait may try again.
    pub fn take_room(&mut self) -> bool {
        self.outgoing.take_room()
    }

    /// Whether there is something to send.
    pub fn has_output(&self) -> bool {
        self.outgoing.has_output() || self.incoming.has_grants() && self.ended.is_none()
    }

    /// What is to be sent next, as slices for one `writev`; says how many of `slices` it filled. None are left empty while there is more,
    /// so a few dozen serve well. Then [`advance`](Connection::advance) is told how much went.
    ///
    /// No more is decided on than a frame's length of small messages and one piece of a large one, so that what comes later may overtake the rest.
    pub fn transmit<'a>(&'a mut self, slices: &mut [IoSlice<'a>]) -> usize {
        while self.ended.is_none() && self.incoming.has_grants() && self.outgoing.takes_own() {
            self.outgoing.put_own(|out| self.incoming.write_grants(out));
        }
        self.outgoing.transmit(slices)
    }

    /// So many bytes of what [`transmit`](Connection::transmit) gave were sent.
    ///
    /// # Panics
    /// If it did not give as many.
    pub fn advance(&mut self, n: usize) {
        self.outgoing.advance(n);
    }

    /// Messages of this stream wait here from now on, and its window is given back no more: once it is used up, the sender stops.
    /// All other streams go on.
    pub fn pause(&mut self, stream: u32, lane: Lane) {
        self.incoming.pause((lane, stream));
    }

    /// The stream goes on, with the messages that wait.
    pub fn resume(&mut self, stream: u32, lane: Lane) {
        self.incoming.resume((lane, stream));
    }

    /// Ends the connection. What waits is dropped; what is decided on, and the reason, are still there to send.
    pub fn goodbye(&mut self, code: u16, text: impl Into<String>) {
        if self.ended.is_some() {
            return;
        }
        let reason = Reason { code, text: text.into() };
        // Nothing is said to who has not shown that it is a node.
        if self.peer.is_some() {
            self.outgoing.goodbye(&reason);
        } else {
            self.outgoing.stop();
        }
        self.ended = Some(Ended::Here(reason));
    }

    /// The peer, once it has said hello.
    pub fn peer(&self) -> Option<&Peer> {
        self.peer.as_ref()
    }

    /// How it ended, once it has.
    pub fn ended(&self) -> Option<&Ended> {
        self.ended.as_ref()
    }

    /// Whether it has ended and nothing is left to send: the socket may be closed.
    pub fn is_over(&self) -> bool {
        self.ended.is_some() && !self.outgoing.has_output()
    }

    /// Bytes held of what came: messages that wait or are under way.
    pub fn buffered(&self) -> usize {
        self.incoming.buffered()
    }

    /// Bytes held of what is to go.
    pub fn queued(&self) -> usize {
        self.outgoing.queued()
    }

    /// Streams in use: those on which something is sent, and those on which something comes.
    pub fn streams(&self) -> (usize, usize) {
        (self.outgoing.streams(), self.incoming.streams())
    }
}
