//! The sending half: queues of messages by stream, turns by lane, and the bytes of frames that are decided on.
//!
//! **Invariant.** Once a frame is decided on, its bytes go out whole and in that order. So little is decided on at a time: a frame's
//! length of small ones, one piece of a large one. A stream has its turn listed exactly when its next frame has credit.

use super::head::{self, COST, Head, Key, Lane, SIZE};
use super::hello::Terms;
use super::limits::Limits;
use super::payload::Payload;
use super::trace::Trace;
use crate::error::{Reason, WireError};
use bytes::{Buf, Bytes};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io::IoSlice;

/// Pieces up to here are copied together; longer ones go from where they are.
const COPIED: usize = 1024;
/// Bytes of other lanes after which bulk, if it waits, has one piece.
const SHARE: usize = 1 << 20;
/// The longest text of a `Goodbye`.
const TEXT_MAX: usize = 1024;

/// Why a message was not taken. Nothing of it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// The handshake is not over.
    NotReady,
    /// The connection has ended.
    Ended,
    /// What waits is as much as may wait: try again once [`Connection::take_room`](super::Connection::take_room) says that something went.
    Full,
    /// As many streams are in use as may be: as `Full`.
    TooManyStreams,
    /// Longer than the peer, this side or the lane takes.
    TooLong {
        /// How long it may be.
        most: usize,
    },
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::NotReady => f.write_str("the peer has not said hello yet"),
            SendError::Ended => f.write_str("the connection has ended"),
            SendError::Full => f.write_str("the peer takes messages more slowly than they come, and no more may wait"),
            SendError::TooManyStreams => f.write_str("too many streams are in use"),
            SendError::TooLong { most } => write!(f, "a message longer than the {most} bytes that are allowed"),
        }
    }
}

impl std::error::Error for SendError {}

struct Queued {
    kind: u8,
    trace: Option<Box<Trace>>,
    payload: Payload,
    /// Of more than one frame: paid from the pool.
    long: bool,
    begun: bool,
    cost: usize,
}

impl Queued {
    /// Bytes before the payload in the next frame.
    fn prefix(&self) -> usize {
        if self.begun { 0 } else { self.trace.as_ref().map_or(0, |t| t.size()) + if self.long { 4 } else { 0 } }
    }

    /// Bytes of the payload in the next frame, and the credit that it takes.
    fn next(&self, frame: usize) -> (usize, usize) {
        let prefix = self.prefix();
        let n = self.payload.len().min(frame - prefix);
        (n, n + prefix + if self.begun { 0 } else { COST })
    }
}

struct Stream {
    credit: usize,
    queue: VecDeque<Queued>,
    /// Cost of the short ones that wait.
    short: usize,
    /// Cost of the long ones that wait or are under way.
    long: usize,
    listed: bool,
}

impl Stream {
    fn can_go(&self, frame: usize) -> bool {
        self.queue.front().is_some_and(|m| m.next(frame).1 <= self.credit)
    }
}

/// Bytes that are decided on.
enum Segment {
    /// So many of `copied`.
    Copied(usize),
    Shared(Bytes),
}

pub struct Outgoing {
    limits: Limits,
    /// What the peer accepts; nothing before its `Hello`.
    terms: Option<Terms>,
    /// The longest frame that both take.
    frame: usize,
    streams: BTreeMap<Key, Stream>,
    /// Streams whose next frame has credit, by lane, in the order of their turns.
    turns: [VecDeque<u32>; 3],
    /// Bytes of other lanes since bulk waits.
    since_bulk: usize,
    /// Cost of all long messages.
    pool: usize,
    /// Payload bytes that wait.
    waiting: usize,
    /// Something went since a message was not taken.
    room: bool,
    refused: bool,
    stopped: bool,
    copied: Vec<u8>,
    /// How much of `copied` has gone.
    gone: usize,
    segments: VecDeque<Segment>,
    decided: usize,
    /// How many of these bytes there are up to the end of the last piece of bulk.
    bulk: usize,
}

impl Outgoing {
    pub fn new(limits: &Limits) -> Self {
        Outgoing {
            limits: limits.clone(),
            terms: None,
            frame: 0,
            streams: BTreeMap::new(),
            turns: Default::default(),
            since_bulk: 0,
            pool: 0,
            waiting: 0,
            room: false,
            refused: false,
            stopped: false,
            copied: Vec::new(),
            gone: 0,
            segments: VecDeque::new(),
            decided: 0,
            bulk: 0,
        }
    }

    /// The peer has said hello.
    pub fn open(&mut self, terms: Terms) {
        self.frame = self.limits.frame_max.min(terms.frame_max);
        self.terms = Some(terms);
    }

    pub fn send(&mut self, key: Key, kind: u8, trace: Option<&Trace>, payload: Payload) -> Result<(), SendError> {
        let long = self.check(key, trace, payload.len())?;
        let cost = COST + payload.len() + trace.map_or(0, Trace::size) + if long { 4 } else { 0 };
        self.make_room(key, cost, long)?;
        self.push(key, Queued { kind, trace: trace.cloned().map(Box::new), payload, long, begun: false, cost });
        Ok(())
    }

    /// As [`send`](Self::send), for bytes that are copied in either case. Without an allocation where the frame can be decided on at once.
    pub fn send_copy(&mut self, key: Key, kind: u8, trace: Option<&Trace>, bytes: &[u8]) -> Result<(), SendError> {
        let long = self.check(key, trace, bytes.len())?;
        if long {
            return self.send(key, kind, trace, Bytes::copy_from_slice(bytes).into());
        }
        let length = bytes.len() + trace.map_or(0, Trace::size);
        let cost = COST + length;
        // Nobody who goes first waits, and the frame is not put behind more than it would wait for anyway.
        let ahead = &self.turns[..=(key.0 as usize).min(Lane::Small as usize)];
        let at_once = key.0 != Lane::Bulk && ahead.iter().all(VecDeque::is_empty) && self.decided < 2 * self.frame;
        if at_once && self.since_bulk < SHARE {
            let window = self.window();
            let free = self.streams.get(&key).map_or(window, |s| if s.queue.is_empty() { s.credit } else { 0 });
            if free >= cost {
                self.make_room(key, cost, false)?;
                self.stream(key).credit -= cost;
                let flags = key.0 as u8 | head::FIRST | head::LAST | if trace.is_some() { head::TRACE } else { 0 };
                self.copy(&Head { length, kind, flags, stream: key.1 }.encode());
                self.copy_trace(trace);
                self.copy(bytes);
                self.note_other(SIZE + length);
                return Ok(());
            }
        }
        self.make_room(key, cost, false)?;
        let payload = Bytes::copy_from_slice(bytes).into();
        self.push(key, Queued { kind, trace: trace.cloned().map(Box::new), payload, long: false, begun: false, cost });
        Ok(())
    }

    /// Whether it may be sent at all; and whether it takes several frames.
    fn check(&self, key: Key, trace: Option<&Trace>, len: usize) -> Result<bool, SendError> {
        if self.stopped {
            return Err(SendError::Ended);
        }
        let Some(terms) = &self.terms else { return Err(SendError::NotReady) };
        let whole = self.frame - trace.map_or(0, Trace::size);
        let most = if key.0 == Lane::Bulk { self.limits.message_max.min(terms.message_max) } else { whole };
        if len > most {
            return Err(SendError::TooLong { most });
        }
        Ok(len > whole)
    }

    /// Whether it may wait. A stream that is not in use yet is counted, not made.
    fn make_room(&mut self, key: Key, cost: usize, long: bool) -> Result<(), SendError> {
        let most = self.terms.map_or(0, |t| t.streams_max.min(self.limits.streams_max));
        let pool = self.limits.pool();
        let refused = match self.streams.get(&key) {
            None if self.streams.len() >= most => Some(SendError::TooManyStreams),
            None if long && self.pool + cost > pool => Some(SendError::Full),
            None => None,
            // One stream leaves half of the pool to others, unless one message needs more.
            Some(s) if long => (self.pool + cost > pool || s.long > 0 && s.long + cost > pool / 2).then_some(SendError::Full),
            Some(s) => (s.short + cost > self.limits.window).then_some(SendError::Full),
        };
        match refused {
            None => Ok(()),
            Some(e) => {
                self.refused = true;
                Err(e)
            }
        }
    }

    fn window(&self) -> usize {
        self.terms.map_or(0, |t| t.window)
    }

    fn stream(&mut self, key: Key) -> &mut Stream {
        let credit = self.window();
        self.streams.entry(key).or_insert_with(|| Stream { credit, queue: VecDeque::new(), short: 0, long: 0, listed: false })
    }

    fn push(&mut self, key: Key, message: Queued) {
        self.waiting += message.payload.len();
        if message.long {
            self.pool += message.cost;
        }
        let frame = self.frame;
        let stream = self.stream(key);
        if message.long {
            stream.long += message.cost;
        } else {
            stream.short += message.cost;
        }
        stream.queue.push_back(message);
        if !stream.listed && stream.can_go(frame) {
            stream.listed = true;
            self.turns[key.0 as usize].push_back(key.1);
        }
    }

    /// The peer grants a stream so many bytes.
    pub fn grant(&mut self, key: Key, bytes: usize) -> Result<(), WireError> {
        // More than a window and the longest message is never outstanding.
        let most = self.window() + self.limits.message_max + 2 * self.limits.frame_max;
        let overrun = WireError::GrantOverrun { stream: key.1 };
        let (frame, window) = (self.frame, self.window());
        let Some(stream) = self.streams.get_mut(&key) else {
            // After a `Goodbye` nobody is waiting any more.
            return if self.stopped { Ok(()) } else { Err(overrun) };
        };
        stream.credit = stream.credit.checked_add(bytes).filter(|&c| c <= most).ok_or(overrun)?;
        if !stream.listed && stream.can_go(frame) {
            stream.listed = true;
            self.turns[key.0 as usize].push_back(key.1);
        }
        self.forget_if_whole(key, window);
        Ok(())
    }

    fn forget_if_whole(&mut self, key: Key, window: usize) {
        if self.streams.get(&key).is_some_and(|s| s.credit == window && s.queue.is_empty()) {
            self.streams.remove(&key);
            self.room |= self.refused;
        }
    }

    /// Decides what goes next.
    fn fill(&mut self) {
        while let Some(lane) = self.next_lane() {
            if let Some(stream) = self.turns[lane as usize].pop_front() {
                self.decide((lane, stream));
            }
        }
    }

    fn next_lane(&self) -> Option<Lane> {
        let waits = |lane: Lane| !self.turns[lane as usize].is_empty();
        let bulk = waits(Lane::Bulk) && self.bulk == 0;
        if bulk && self.since_bulk >= SHARE {
            return Some(Lane::Bulk);
        }
        if self.decided >= self.frame {
            return None;
        }
        Lane::ALL.into_iter().find(|&lane| if lane == Lane::Bulk { bulk } else { waits(lane) })
    }

    /// The next frame of a stream that has credit for it.
    fn decide(&mut self, key: Key) {
        let (frame, window) = (self.frame, self.window());
        let Some(stream) = self.streams.get_mut(&key) else { return };
        stream.listed = false;
        let Some(mut message) = stream.queue.pop_front() else { return };
        let ((n, cost), prefix) = (message.next(frame), message.prefix());
        stream.credit -= cost;
        let last = n == message.payload.len();
        let mut flags = key.0 as u8 | if last { head::LAST } else { 0 };
        let mut trace = None;
        let total = message.payload.len() as u32;
        if !message.begun {
            message.begun = true;
            trace = message.trace.take();
            flags |= head::FIRST | if trace.is_some() { head::TRACE } else { 0 };
        }
        self.copy(&Head { length: prefix + n, kind: message.kind, flags, stream: key.1 }.encode());
        self.copy_trace(trace.as_deref());
        if message.long && flags & head::FIRST != 0 {
            self.copy(&total.to_be_bytes());
        }
        let mut left = n;
        while left > 0 {
            let piece = message.payload.take(left);
            left -= piece.len();
            if piece.len() <= COPIED {
                self.copy(&piece);
            } else {
                self.decided += piece.len();
                self.segments.push_back(Segment::Shared(piece));
            }
        }
        self.waiting -= n;
        if key.0 == Lane::Bulk {
            self.bulk = self.decided;
            self.since_bulk = 0;
        } else {
            self.note_other(SIZE + prefix + n);
        }
        let Some(stream) = self.streams.get_mut(&key) else { return };
        if last {
            self.room |= self.refused;
            if message.long {
                stream.long -= message.cost;
                self.pool -= message.cost;
            } else {
                stream.short -= message.cost;
            }
        } else {
            stream.queue.push_front(message);
        }
        if stream.can_go(frame) {
            stream.listed = true;
            self.turns[key.0 as usize].push_back(key.1);
        }
        self.forget_if_whole(key, window);
    }

    fn note_other(&mut self, n: usize) {
        if !self.turns[Lane::Bulk as usize].is_empty() {
            self.since_bulk += n;
        }
    }

    fn copy(&mut self, bytes: &[u8]) {
        self.copied.extend_from_slice(bytes);
        self.note_copied(bytes.len());
    }

    fn note_copied(&mut self, n: usize) {
        self.decided += n;
        match self.segments.back_mut() {
            Some(Segment::Copied(before)) => *before += n,
            _ if n > 0 => self.segments.push_back(Segment::Copied(n)),
            _ => {}
        }
    }

    fn copy_trace(&mut self, trace: Option<&Trace>) {
        if let Some(trace) = trace {
            trace.encode(&mut self.copied);
            self.note_copied(trace.size());
        }
    }

    /// A frame of the connection's own, or what stands before the first one.
    pub fn put_own(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.copied.len();
        write(&mut self.copied);
        self.note_copied(self.copied.len() - before);
    }

    /// Whether frames of the connection's own still find place. Those of a peer that reads nothing are not heaped up.
    pub fn takes_own(&self) -> bool {
        self.decided < 2 * self.frame.max(4096)
    }

    /// What waits is dropped. What is decided on still goes.
    pub fn stop(&mut self) {
        self.stopped = true;
        self.streams.clear();
        self.turns = Default::default();
        (self.pool, self.waiting) = (0, 0);
    }

    pub fn goodbye(&mut self, reason: &Reason) {
        self.stop();
        let mut end = reason.text.len().min(TEXT_MAX);
        while !reason.text.is_char_boundary(end) {
            end -= 1;
        }
        let text = &reason.text.as_bytes()[..end];
        self.put_own(|out| {
            out.extend_from_slice(&Head { length: 2 + text.len(), kind: head::GOODBYE, flags: head::OWN, stream: 0 }.encode());
            out.extend_from_slice(&reason.code.to_be_bytes());
            out.extend_from_slice(text);
        });
    }

    pub fn has_output(&self) -> bool {
        self.decided > 0 || self.turns.iter().any(|t| !t.is_empty())
    }

    /// Payload bytes that wait, and bytes of frames that are decided on.
    pub fn queued(&self) -> usize {
        self.waiting + self.decided
    }

    /// Streams in use.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }

    pub fn take_room(&mut self) -> bool {
        if self.room {
            self.refused = false;
        }
        std::mem::take(&mut self.room)
    }

    pub fn transmit<'a>(&'a mut self, slices: &mut [IoSlice<'a>]) -> usize {
        if self.terms.is_some() {
            self.fill();
        }
        let mut at = self.gone;
        let mut n = 0;
        for (slice, segment) in slices.iter_mut().zip(&self.segments) {
            *slice = IoSlice::new(match segment {
                Segment::Copied(len) => {
                    at += len;
                    &self.copied[at - len..at]
                }
                Segment::Shared(bytes) => bytes,
            });
            n += 1;
        }
        n
    }

    pub fn advance(&mut self, mut n: usize) {
        assert!(n <= self.decided, "{n} bytes went, where {} were there to go", self.decided);
        self.decided -= n;
        self.bulk = self.bulk.saturating_sub(n);
        while let Some(segment) = self.segments.front_mut() {
            let (went, over) = match segment {
                Segment::Copied(len) => {
                    let went = n.min(*len);
                    self.gone += went;
                    *len -= went;
                    (went, *len == 0)
                }
                Segment::Shared(bytes) => {
                    let went = n.min(bytes.len());
                    bytes.advance(went);
                    (went, bytes.is_empty())
                }
            };
            n -= went;
            if !over {
                break;
            }
            self.segments.pop_front();
        }
        if self.segments.is_empty() {
            self.copied.clear();
            self.gone = 0;
        } else if self.gone > 2 * self.limits.frame_max {
            self.copied.drain(..self.gone);
            self.gone = 0;
        }
    }
}
