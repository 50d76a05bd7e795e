//! The receiving half: bytes to frames, frames to messages, and what is granted for them.
//!
//! **Invariant.** For each stream: what it may still send, what it is owed and what stands in messages that wait add up to its window,
//! and to what was granted for a long message and not used yet. A stream with a whole window and nothing under way is forgotten.

use super::head::{self, COST, Head, Key, Lane, SIZE};
use super::hello::HELLO_MAX;
use super::limits::Limits;
use super::trace::Trace;
use crate::error::WireError;
use bytes::{Buf, Bytes, BytesMut};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Bytes of the buffer that messages are slices of.
const SLAB: usize = 64 << 10;
/// So many buffers are held by messages that wait before these are copied out.
const SLABS_MAX: usize = 16;

/// A message that came whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The stream's number.
    pub stream: u32,
    /// The lane that it is a stream of.
    pub lane: Lane,
    /// The kind that the sender gave it.
    pub kind: u8,
    /// Trace context, if it has any.
    pub trace: Option<Box<Trace>>,
    /// Its bytes: of a short message a slice of the buffer that it came in, of 64 KB. Who keeps it for long calls [`Message::compact`].
    pub payload: Bytes,
}

impl Message {
    /// Copies a short payload out of the buffer that it came in, so that it alone is kept.
    pub fn compact(&mut self) {
        if self.payload.len() < SLAB / 2 {
            self.payload = Bytes::copy_from_slice(&self.payload);
        }
    }
}

/// A message that waits to be taken.
struct Ready {
    message: Message,
    cost: usize,
    /// Paid from the pool, not from the window.
    pooled: bool,
    /// Its payload is a slice of a buffer.
    slice: bool,
}

impl Ready {
    /// A message may be the only one in its buffer.
    fn leave_buffer(&mut self) {
        if std::mem::take(&mut self.slice) {
            self.message.payload = Bytes::copy_from_slice(&self.message.payload);
        }
    }
}

/// A long message under way.
struct Assembly {
    kind: u8,
    trace: Option<Box<Trace>>,
    total: usize,
    buffer: Vec<u8>,
    cost: usize,
    /// Memory is set aside for it, and all of it granted.
    admitted: bool,
}

struct Stream {
    /// What the peer may still send.
    available: usize,
    /// What was taken and is not given back yet.
    owed: usize,
    /// What the next `Grant` gives back.
    due: usize,
    assembly: Option<Box<Assembly>>,
}

pub struct Incoming {
    limits: Limits,
    /// The peer has said hello.
    open: bool,
    /// Bytes of a frame that is not whole yet.
    buffer: BytesMut,
    /// A later piece of a long message, and how much of it is to come. Those bytes go to its assembly at once.
    piece: Option<(Key, usize)>,
    streams: BTreeMap<Key, Stream>,
    ready: VecDeque<Ready>,
    /// So many of them at the front hold no buffer.
    compact: usize,
    paused: BTreeSet<Key>,
    held: BTreeMap<Key, VecDeque<Ready>>,
    /// Cost of the long messages that memory is set aside for.
    pool: usize,
    /// Long messages that wait for that.
    waiting: VecDeque<Key>,
    /// Streams with something due.
    due: VecDeque<Key>,
    /// More than half of the streams are in use: everything is given back at once.
    crowded: bool,
    /// Buffers begun since no message waited.
    slabs: usize,
    /// Payload bytes of all messages here, whole or not.
    bytes: usize,
}

impl Incoming {
    pub fn new(limits: &Limits) -> Self {
        Incoming {
            limits: limits.clone(),
            open: false,
            buffer: BytesMut::new(),
            piece: None,
            streams: BTreeMap::new(),
            ready: VecDeque::new(),
            compact: 0,
            paused: BTreeSet::new(),
            held: BTreeMap::new(),
            pool: 0,
            waiting: VecDeque::new(),
            due: VecDeque::new(),
            crowded: false,
            slabs: 0,
            bytes: 0,
        }
    }

    pub fn open(&mut self) {
        self.open = true;
    }

    /// Reads on, until a frame of the connection's own is there or the bytes are used up.
    pub fn step(&mut self, bytes: &mut &[u8]) -> Result<Option<(Head, Bytes)>, WireError> {
        loop {
            if let Some((key, left)) = self.piece {
                let buffered = !self.buffer.is_empty();
                let n = left.min(if buffered { self.buffer.len() } else { bytes.len() });
                if n == 0 {
                    return Ok(None);
                }
                let source = if buffered { &self.buffer[..n] } else { &bytes[..n] };
                self.bytes += n;
                if let Some(assembly) = self.streams.get_mut(&key).and_then(|s| s.assembly.as_mut()) {
                    assembly.take(source);
                }
                if buffered {
                    self.buffer.advance(n);
                } else {
                    *bytes = &bytes[n..];
                }
                self.piece = Some((key, left - n));
                if left == n {
                    self.piece = None;
                    self.finish_piece(key);
                }
                continue;
            }
            if self.buffer.is_empty() {
                // A later piece is not gathered first.
                if let Some(head) = bytes.first_chunk().map(Head::decode).filter(|h| !h.has(head::OWN | head::FIRST)) {
                    self.check(&head)?;
                    self.begin_piece(&head)?;
                    *bytes = &bytes[SIZE..];
                    continue;
                }
            }
            let mut wanted = SIZE;
            if let Some(head) = self.buffer.first_chunk().map(Head::decode) {
                self.check(&head)?;
                if !head.has(head::OWN | head::FIRST) {
                    self.begin_piece(&head)?;
                    self.buffer.advance(SIZE);
                    continue;
                }
                wanted = SIZE + head.length;
                if self.buffer.len() >= wanted {
                    let mut frame = self.buffer.split_to(wanted).freeze();
                    frame.advance(SIZE);
                    if head.has(head::OWN) {
                        return Ok(Some((head, frame)));
                    }
                    self.message(&head, frame)?;
                    continue;
                }
            }
            if bytes.is_empty() {
                return Ok(None);
            }
            let n = bytes.len().min((wanted - self.buffer.len()).max(SLAB.saturating_sub(self.buffer.len())));
            self.make_room(n);
            self.buffer.extend_from_slice(&bytes[..n]);
            *bytes = &bytes[n..];
        }
    }

    /// Room for so many bytes more, in the same buffer where that is possible.
    fn make_room(&mut self, n: usize) {
        if self.buffer.try_reclaim(n) {
            return;
        }
        let mut fresh = BytesMut::with_capacity((self.buffer.len() + n).max(SLAB));
        fresh.extend_from_slice(&self.buffer);
        self.buffer = fresh;
        self.slabs += 1;
        if self.slabs > SLABS_MAX {
            self.slabs = 1;
            for ready in self.ready.iter_mut().skip(self.compact) {
                ready.leave_buffer();
            }
            self.compact = self.ready.len();
        }
    }

    fn check(&self, head: &Head) -> Result<(), WireError> {
        let most = match (self.open, head.has(head::OWN)) {
            (false, _) if !head.has(head::OWN) || head.kind != head::HELLO => return Err(head.wrong("a frame before the peer's hello")),
            (false, _) => HELLO_MAX,
            (true, true) => self.limits.frame_max.max(HELLO_MAX),
            (true, false) => self.limits.frame_max,
        };
        if head.length > most {
            return Err(WireError::TooLong { what: "a frame", length: head.length as u64, most: most as u64 });
        }
        if head.has(head::OWN) && (head.flags != head::OWN || head.stream != 0) {
            return Err(head.wrong("flags that mean nothing"));
        }
        Ok(())
    }

    /// Takes what a frame costs off its stream's window.
    fn charge(&mut self, key: Key, cost: usize) -> Result<&mut Stream, WireError> {
        let most = self.limits.streams_max;
        if !self.streams.contains_key(&key) {
            if self.streams.len() >= most {
                return Err(WireError::TooManyStreams { most: most as u32 });
            }
            self.streams.insert(key, Stream { available: self.limits.window, owed: 0, due: 0, assembly: None });
            if self.streams.len() > most / 2 && !self.crowded {
                self.crowded = true;
                for (&key, stream) in &mut self.streams {
                    stream.give_back(key, &mut self.due);
                }
            }
        }
        let overrun = WireError::WindowOverrun { stream: key.1 };
        let stream = self.streams.get_mut(&key).ok_or(WireError::Ended)?;
        stream.available = stream.available.checked_sub(cost).ok_or(overrun)?;
        Ok(stream)
    }

    /// A later piece of a long message begins.
    fn begin_piece(&mut self, head: &Head) -> Result<(), WireError> {
        let key = head.key()?;
        let Some(assembly) = self.streams.get(&key).and_then(|s| s.assembly.as_ref()) else {
            return Err(head.wrong("a piece of a message that never began"));
        };
        let left = assembly.total - assembly.buffer.len();
        if head.length == 0 || head.length > left || (head.length == left) != head.has(head::LAST) {
            return Err(head.wrong("a piece that does not fit its message"));
        }
        if head.has(head::TRACE) || head.kind != assembly.kind {
            return Err(head.wrong("a piece that is of another message"));
        }
        self.charge(key, head.length)?;
        self.piece = Some((key, head.length));
        Ok(())
    }

    /// A message, or the first piece of a long one.
    fn message(&mut self, head: &Head, mut payload: Bytes) -> Result<(), WireError> {
        let key = head.key()?;
        let mut trace = None;
        if head.has(head::TRACE) {
            let (found, n) = Trace::decode(&payload).ok_or_else(|| head.wrong("a trace context that is none"))?;
            trace = Some(Box::new(found));
            payload.advance(n);
        }
        let under_way = head.wrong("a message within another one");
        if head.has(head::LAST) {
            let cost = COST + head.length;
            if self.charge(key, cost)?.assembly.is_some() {
                return Err(under_way);
            }
            self.bytes += payload.len();
            let message = Message { stream: key.1, lane: key.0, kind: head.kind, trace, payload };
            self.ready.push_back(Ready { message, cost, pooled: false, slice: true });
            return Ok(());
        }
        if key.0 != Lane::Bulk {
            return Err(head.wrong("a message in pieces on a lane that takes whole ones"));
        }
        let total = payload.try_get_u32().map_err(|_| head.wrong("a first piece without the message's length"))? as usize;
        if total > self.limits.message_max {
            return Err(WireError::TooLong { what: "a message", length: total as u64, most: self.limits.message_max as u64 });
        }
        if payload.is_empty() || payload.len() >= total {
            return Err(head.wrong("a first piece that does not fit its message"));
        }
        let cost = COST + head.length - payload.len() + total;
        let stream = self.charge(key, COST + head.length)?;
        if stream.assembly.is_some() {
            return Err(under_way);
        }
        stream.assembly = Some(Box::new(Assembly { kind: head.kind, trace, total, buffer: payload.to_vec(), cost, admitted: false }));
        self.bytes += payload.len();
        if !self.paused.contains(&key) {
            self.waiting.push_back(key);
            self.admit();
        }
        Ok(())
    }

    /// Sets memory aside for long messages, in the order in which they began.
    fn admit(&mut self) {
        while let Some(&key) = self.waiting.front() {
            let Some(stream) = self.streams.get_mut(&key) else {
                self.waiting.pop_front();
                continue;
            };
            if let Some(assembly) = stream.assembly.as_mut().filter(|a| !a.admitted) {
                if self.pool + assembly.cost > self.limits.pool() {
                    return;
                }
                self.pool += assembly.cost;
                assembly.admitted = true;
                assembly.buffer.reserve_exact(assembly.total - assembly.buffer.len());
                let cost = assembly.cost;
                stream.grant(key, cost, &mut self.due);
            }
            self.waiting.pop_front();
        }
    }

    /// A piece is there.
    fn finish_piece(&mut self, key: Key) {
        let Some(stream) = self.streams.get_mut(&key) else { return };
        let Some(assembly) = stream.assembly.take_if(|a| a.buffer.len() == a.total) else { return };
        let Assembly { kind, trace, buffer, cost, admitted, .. } = *assembly;
        let message = Message { stream: key.1, lane: key.0, kind, trace, payload: buffer.into() };
        self.ready.push_back(Ready { message, cost, pooled: admitted, slice: false });
        if !admitted {
            self.waiting.retain(|&k| k != key);
        }
        self.forget_if_whole(key);
    }

    fn forget_if_whole(&mut self, key: Key) {
        if self.streams.get(&key).is_some_and(|s| s.available == self.limits.window && s.assembly.is_none()) {
            self.streams.remove(&key);
            self.crowded &= self.streams.len() > self.limits.streams_max / 2;
        }
    }

    /// The next message, whose window is given back hereby.
    pub fn next_message(&mut self) -> Option<Message> {
        loop {
            let Some(mut ready) = self.ready.pop_front() else {
                self.slabs = 0;
                return None;
            };
            self.compact = self.compact.saturating_sub(1);
            let key = (ready.message.lane, ready.message.stream);
            if !self.paused.is_empty() && self.paused.contains(&key) {
                ready.leave_buffer();
                self.held.entry(key).or_default().push_back(ready);
                continue;
            }
            self.bytes -= ready.message.payload.len();
            if ready.pooled {
                self.pool -= ready.cost;
                self.admit();
            } else if let Some(stream) = self.streams.get_mut(&key) {
                stream.owed += ready.cost;
                if self.crowded || stream.owed >= self.limits.window / 2 {
                    stream.give_back(key, &mut self.due);
                }
            }
            return Some(ready.message);
        }
    }

    pub fn pause(&mut self, key: Key) {
        self.paused.insert(key);
        self.waiting.retain(|&k| k != key);
    }

    pub fn resume(&mut self, key: Key) {
        if !self.paused.remove(&key) {
            return;
        }
        // They are older than all of this stream that stand in line.
        for ready in self.held.remove(&key).into_iter().flatten().rev() {
            self.ready.push_front(ready);
            self.compact += 1;
        }
        if self.streams.get(&key).and_then(|s| s.assembly.as_ref()).is_some_and(|a| !a.admitted) {
            self.waiting.push_back(key);
            self.admit();
        }
    }

    pub fn has_grants(&self) -> bool {
        !self.due.is_empty()
    }

    /// Writes a `Grant` of what is due. From here on the peer may send it.
    pub fn write_grants(&mut self, out: &mut Vec<u8>) {
        const ENTRY: usize = 9;
        let n = self.due.len().min(1024 / ENTRY);
        out.extend_from_slice(&Head { length: n * ENTRY, kind: head::GRANT, flags: head::OWN, stream: 0 }.encode());
        for key in self.due.drain(..n).collect::<Vec<_>>() {
            let Some(stream) = self.streams.get_mut(&key) else { continue };
            let due = std::mem::take(&mut stream.due);
            stream.available += due;
            out.push(key.0 as u8);
            out.extend_from_slice(&key.1.to_be_bytes());
            out.extend_from_slice(&(due as u32).to_be_bytes());
            self.forget_if_whole(key);
        }
    }

    /// Payload bytes held here.
    pub fn buffered(&self) -> usize {
        self.bytes + self.buffer.len()
    }

    /// Streams in use.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }
}

impl Assembly {
    fn take(&mut self, bytes: &[u8]) {
        let spare = self.buffer.capacity() - self.buffer.len();
        if spare < bytes.len() {
            // Twice what is there, but no more than the message needs.
            let grow = self.buffer.len().max(bytes.len()).min(self.total - self.buffer.len());
            self.buffer.reserve_exact(grow);
        }
        self.buffer.extend_from_slice(bytes);
    }
}

impl Stream {
    fn grant(&mut self, key: Key, bytes: usize, due: &mut VecDeque<Key>) {
        if self.due == 0 && bytes > 0 {
            due.push_back(key);
        }
        self.due += bytes;
    }

    fn give_back(&mut self, key: Key, due: &mut VecDeque<Key>) {
        let owed = std::mem::take(&mut self.owed);
        self.grant(key, owed, due);
    }
}
