//! One connection: its socket, TLS, frames, and what waits for them.
//!
//! Any thread sends. It takes the connection's lock, puts the message in line and writes to the socket itself, if nothing else waits
//! there. Only the serving thread reads, and it alone closes.
//!
//! **Invariant.** Bytes that wait are somebody's to send: the socket is full (`blocked`: the serving thread hears when it has room), or
//! the serving thread has been told (`dirty`), or they are held back (`held`: the connection is in [`Told::held`](crate::link::Told), and
//! whoever sends next takes them along), or whoever holds the lock sends them before it lets go.

mod peer;
mod stuck;
mod tunnel;

pub use peer::{Peer, Way};

use crate::codec::Out;
use crate::error::{SendError, Why, code};
use bytes::Bytes;
use kumi_wire::{Connection, Ended, Lane, Message, Payload, Reason, SendError as Refused, Trace};
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use parking_lot::{Mutex, MutexGuard};
use socket2::{SockAddr, Socket};
use std::collections::VecDeque;
use std::io::{self, IoSlice, Read};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tunnel::Tunnel;

/// Kinds of messages.
pub mod kind {
    /// [`kumi_segments::FromClient`].
    pub const CLIENT: u8 = 1;
    /// [`kumi_segments::FromOwner`].
    pub const OWNER: u8 = 2;
    /// A packet of `kumi-membership`.
    pub const GOSSIP: u8 = 3;
    /// The address under which the sender is reached.
    pub const ADDRESS: u8 = 4;
    /// The receiver is to say something.
    pub const PING: u8 = 5;
    /// It says something.
    pub const PONG: u8 = 6;
    /// What the host above means by its bytes.
    pub const OTHER: u8 = 7;
}

/// Messages up to here go on the small lane by themselves.
pub const SMALL: usize = 16 << 10;
/// Streams of the bulk lane; each message takes the next one. Those that keep their order have one more.
const BULK_STREAMS: u32 = 64;
const IN_ORDER: u32 = BULK_STREAMS + 1;
/// So much is written at once before others get the lock.
const TURN: usize = 128 << 10;
/// So much of large messages is read, or written, before small ones are looked at: some ten microseconds of work.
/// A frame holds one: the longest small message is one too.
pub const PIECE: usize = SMALL + (1 << 10);
/// Who sends so many messages more than come, each within [`SOON`] of the one before, leaves writing to the serving thread: it writes many at once.
const ROW: u32 = 8;
const SOON: Duration = Duration::from_micros(20);
/// So many messages, or bytes, are held back for those that follow at once.
const HELD: u32 = 16;
const HELD_BYTES: usize = 8 << 10;

/// A connection.
pub struct Channel {
    /// Its name to the poll.
    pub token: usize,
    /// It is a Unix socket.
    within: bool,
    socket: Socket,
    state: Mutex<State>,
    /// Something other than gossip went or came since it was last asked.
    pub used: AtomicBool,
    /// It is a second one, for large messages.
    pub bulk: AtomicBool,
}

struct State {
    wire: Connection,
    tls: Option<Box<Tunnel>>,
    /// What the frames have no room for: small ones, large ones.
    waiting: [VecDeque<Waiting>; 2],
    waiting_bytes: usize,
    /// Of these, what nobody else holds.
    waiting_own: usize,
    /// Bytes that have gone.
    gone: u64,
    blocked: bool,
    dirty: bool,
    /// Messages that were held back.
    held: u32,
    /// It is to be closed, for this reason.
    failed: Option<Why>,
    closed: bool,
    /// The stream of the next large message.
    bulk: u32,
    /// Messages sent soon after one another, less those that came meanwhile; when the last of them was sent.
    row: u32,
    last: Option<Instant>,
    /// So much waits that its host wants to hear when it is gone.
    high: bool,
}

/// A message that waits for its turn.
pub struct Waiting {
    pub kind: u8,
    pub payload: Payload,
    /// Bytes that are here for its sake alone. The others are a value's, which its owner holds as well. Of a host's own message a quarter
    /// counts: somebody waits for each, and there are as many as there are calls.
    pub own: usize,
    pub trace: Option<Box<Trace>>,
    pub order: Order,
}

impl Waiting {
    /// 0: the small one.
    fn lane(&self) -> usize {
        usize::from(self.order.is_large(self.payload.len()))
    }

    pub fn new(kind: u8, out: &mut Out, trace: Option<&Trace>, order: Order) -> Waiting {
        let own = if kind == kind::OTHER { out.len() / 4 } else { out.copied() };
        Waiting { kind, payload: out.payload(), own, trace: trace.cloned().map(Box::new), order }
    }
}

/// What order a message keeps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The small ones have theirs.
    Any,
    /// That of all that are said to be small.
    Small,
    /// That of all that are said to be large.
    Large,
}

impl Order {
    /// Does one of so many bytes go on the bulk lane? The small one takes somewhat longer ones, too.
    pub fn is_large(self, bytes: usize) -> bool {
        match self {
            Order::Any => bytes > SMALL,
            Order::Small => bytes > 2 * SMALL,
            Order::Large => true,
        }
    }
}

/// Who writes what was just sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Writer {
    /// Whoever sends it, if that is wise.
    Sender,
    /// The same, who is likely to send more at once: it may be held back for that.
    More,
    /// The serving thread, which sends it itself, soon.
    Server,
}

/// How a message is sent.
#[derive(Clone, Copy)]
pub struct Manner {
    pub writer: Writer,
    pub order: Order,
}

/// What is left to do after sending.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    /// Nothing.
    Nothing,
    /// The serving thread is to write the rest: it is to be told.
    Tell,
    /// The connection is the first time one that holds something back.
    Hold,
}

/// How far reading came.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Came {
    /// There may be more.
    More,
    /// There was no more.
    All,
    /// The peer has closed.
    End,
}

/// What came of writing.
#[derive(Clone, Copy)]
pub struct Flushed {
    /// There is more that the socket might take.
    pub more: bool,
    /// Much waited before, and has gone.
    pub drained: bool,
}

/// How far writing came.
#[derive(PartialEq, Eq)]
enum Wrote {
    All,
    Blocked,
    More,
}

impl Channel {
    /// Over a socket that does not block, and is registered for reading. `blocked`: for writing, too, since it is not connected yet.
    pub fn new(token: usize, socket: Socket, wire: Connection, tls: Option<rustls::Connection>, blocked: bool) -> Channel {
        let state = State {
            wire,
            tls: tls.map(|t| Box::new(Tunnel::new(t))),
            waiting: Default::default(),
            waiting_bytes: 0,
            waiting_own: 0,
            gone: 0,
            blocked,
            dirty: false,
            held: 0,
            failed: None,
            closed: false,
            bulk: 0,
            row: 0,
            last: None,
            high: false,
        };
        let within = socket.local_addr().is_ok_and(|a| a.is_unix());
        Channel { token, within, socket, state: Mutex::new(state), used: AtomicBool::new(true), bulk: AtomicBool::new(false) }
    }

    /// Sends a message, or has it wait. `most`: bytes that may wait, those apart that others hold ([`Waiting::own`]). Where it fails as `Slow` the serving thread is to be told, which closes it.
    pub fn send(
        &self,
        kind: u8,
        out: &mut Out,
        trace: Option<&Trace>,
        manner: Manner,
        registry: &Registry,
        most: usize,
    ) -> Result<Left, SendError> {
        match out.whole() {
            Some(bytes) if !manner.order.is_large(bytes.len()) => {
                let mut s = self.state.lock();
                s.check()?;
                s.put_small(kind, bytes, trace)?;
                self.sent(s, manner.writer, registry, most)
            }
            _ => self.send_payload(Waiting::new(kind, out, trace, manner.order), manner.writer, registry, most),
        }
    }

    /// As [`send`](Self::send).
    pub fn send_payload(&self, w: Waiting, writer: Writer, registry: &Registry, most: usize) -> Result<Left, SendError> {
        let mut s = self.state.lock();
        s.check()?;
        s.put(w.lane(), w)?;
        self.sent(s, writer, registry, most)
    }

    fn sent(&self, mut s: MutexGuard<'_, State>, writer: Writer, registry: &Registry, most: usize) -> Result<Left, SendError> {
        self.used.store(true, Ordering::Relaxed);
        let own = s.waiting_own;
        if own > most {
            s.fail(too_much(own, most));
            s.dirty = true;
            return Err(SendError::Slow);
        }
        s.high |= s.backlog() > most / 4;
        Ok(s.go(self, writer, registry))
    }

    /// Sends a few bytes on the lane that goes first. They are lost where that is full.
    pub fn control(&self, kind: u8, bytes: &[u8], registry: &Registry) -> Left {
        let mut s = self.state.lock();
        if s.check().is_err() || s.wire.send_copy(1, kind, Lane::Control, bytes).is_err() {
            return Left::Nothing;
        }
        s.go(self, Writer::Server, registry)
    }

    /// Reads once, and hands out messages that are whole. `buffer` and `plain` are the serving thread's.
    ///
    /// An error ends it, when those have been handled.
    pub fn read(&self, buffer: &mut [u8], plain: &mut [u8], out: &mut Vec<Message>) -> Result<(Came, Left), Why> {
        let n = loop {
            match (&self.socket).read(buffer) {
                Ok(n) => break n,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok((Came::All, Left::Nothing)),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Why::socket(&e)),
            }
        };
        if n == 0 {
            return Ok((Came::End, Left::Nothing));
        }
        let mut s = self.state.lock();
        let got = match &mut s.tls {
            None => s.wire.receive(&buffer[..n]).map_err(Why::Fault),
            Some(_) => s.decrypt(&buffer[..n], plain),
        };
        while let Some(m) = s.wire.next_message() {
            // Who asks again and again and waits for each answer sends no row.
            s.row = s.row.saturating_sub(1);
            out.push(m);
        }
        let left = if s.has_output() && !s.blocked { s.tell() } else { Left::Nothing };
        got?;
        match s.wire.ended() {
            Some(e) => Err(why(e)),
            None => Ok((if n == buffer.len() { Came::More } else { Came::All }, left)),
        }
    }

    /// Writes what waits, up to a turn's measure. `most`: bytes that may wait.
    pub fn flush(&self, registry: &Registry, most: usize) -> Result<Flushed, Why> {
        let mut s = self.state.lock();
        s.dirty = false;
        if s.closed {
            return Ok(Flushed { more: false, drained: false });
        }
        if let Some(why) = s.failed.clone() {
            return Err(why);
        }
        let more = s.write(self, registry)? == Wrote::More;
        s.dirty = more;
        let drained = s.high && s.backlog() < most / 8;
        s.high &= !drained;
        Ok(Flushed { more, drained })
    }

    /// Writes what was held back, if nobody did.
    pub fn let_go(&self, registry: &Registry) -> Left {
        let mut s = self.state.lock();
        if s.held == 0 || s.closed || s.blocked || s.dirty || s.failed.is_some() { Left::Nothing } else { s.write_all(self, registry) }
    }

    /// The connection of a socket that was not connected yet.
    pub fn finish_connect(&self) -> io::Result<bool> {
        if let Some(e) = self.socket.take_error()? {
            return Err(e);
        }
        match self.socket.peer_addr() {
            Ok(_) => Ok(true),
            Err(e) if e.raw_os_error() == Some(libc::ENOTCONN) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Whom the socket is connected to.
    pub fn peer_addr(&self) -> io::Result<SockAddr> {
        self.socket.peer_addr()
    }

    /// What the peer said of itself.
    pub fn hello(&self) -> Option<kumi_wire::Hello> {
        self.state.lock().wire.peer().map(|p| p.hello.clone())
    }

    /// Whether the peer's certificate names it; without TLS nobody asks.
    pub fn check_name(&self, name: &str) -> Result<(), String> {
        self.state.lock().tls.as_ref().map_or(Ok(()), |t| t.check_name(name))
    }

    /// How the conversation ended, once it has.
    pub fn ended(&self) -> Option<Why> {
        self.state.lock().wire.ended().map(why)
    }

    /// Says goodbye: it is in line then.
    pub fn goodbye(&self, reason: &Reason) {
        let mut s = self.state.lock();
        s.clear();
        s.wire.goodbye(reason.code, reason.text.clone());
    }

    /// The serving thread, once told, closes it for this reason.
    pub fn fail(&self, why: Why) {
        let mut s = self.state.lock();
        s.fail(why);
        s.dirty = true;
    }

    /// Whether something waits to be written.
    pub fn has_output(&self) -> bool {
        let mut s = self.state.lock();
        !s.closed && s.failed.is_none() && s.has_output()
    }

    /// Closes it; the last bytes are tried once.
    pub fn close(&self, registry: &Registry) {
        let mut s = self.state.lock();
        if s.closed {
            return;
        }
        if s.failed.is_none() && !s.blocked {
            if let Some(tls) = &mut s.tls {
                tls.close();
            }
            let _ = s.write(self, registry);
        }
        s.closed = true;
        s.clear();
        let _ = registry.deregister(&mut SourceFd(&self.socket.as_raw_fd()));
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
    }

    /// Nothing that was sent on it arrives any more.
    pub fn is_stuck(&self) -> bool {
        !self.within && stuck::is_stuck(&self.socket)
    }

    /// It is to be closed, and what its system still holds is of no use to anybody.
    pub fn abandon(&self, why: Why) {
        let _ = self.socket.set_linger(Some(Duration::ZERO));
        self.fail(why);
    }

    /// Does it take messages? Where it does not, the serving thread is about to close it.
    pub fn is_open(&self) -> bool {
        self.state.lock().check().is_ok()
    }

    /// Whether more than an eighth of `most` waits: then whoever flushes it is told once less does. True where it is about to end.
    pub fn when_drained(&self, most: usize) -> bool {
        let mut s = self.state.lock();
        let full = s.check().is_err() || s.backlog() >= most / 8;
        s.high |= full;
        full
    }

    /// Bytes that wait.
    pub fn backlog(&self) -> usize {
        self.state.lock().backlog()
    }

    /// The same, and those that have gone so far.
    pub fn pace(&self) -> (usize, u64) {
        let s = self.state.lock();
        (s.backlog(), s.gone)
    }
}

/// Who lets so much wait is disconnected.
pub fn too_much(bytes: usize, most: usize) -> Why {
    Why::Here(Reason { code: code::SLOW, text: format!("{bytes} bytes wait for it, where {most} may") })
}

impl State {
    fn check(&self) -> Result<(), SendError> {
        if self.closed || self.failed.is_some() || self.wire.ended().is_some() { Err(SendError::NotConnected) } else { Ok(()) }
    }

    fn fail(&mut self, why: Why) {
        self.failed.get_or_insert(why);
    }

    fn tell(&mut self) -> Left {
        if std::mem::replace(&mut self.dirty, true) { Left::Nothing } else { Left::Tell }
    }

    fn backlog(&self) -> usize {
        self.waiting_bytes + self.wire.queued() + self.tls.as_ref().map_or(0, |t| t.queued())
    }

    fn has_output(&mut self) -> bool {
        self.wire.has_output() || self.tls.as_ref().is_some_and(|t| t.has_output()) || self.waiting_bytes > 0 && self.refill()
    }

    fn put_small(&mut self, kind: u8, bytes: &[u8], trace: Option<&Trace>) -> Result<(), SendError> {
        if self.waiting[0].is_empty() {
            match self.wire.send_copy_traced(1, kind, Lane::Small, bytes, trace) {
                Err(Refused::Full | Refused::TooManyStreams) => {}
                other => return told(other),
            }
        }
        let (own, trace) = (bytes.len(), trace.cloned().map(Box::new));
        self.wait(0, Waiting { kind, payload: Bytes::copy_from_slice(bytes).into(), own, trace, order: Order::Small });
        Ok(())
    }

    fn put(&mut self, lane: usize, w: Waiting) -> Result<(), SendError> {
        if self.waiting[lane].is_empty() {
            match self.offer(lane, &w) {
                Err(Refused::Full | Refused::TooManyStreams) => {}
                other => return told(other),
            }
        }
        self.wait(lane, w);
        Ok(())
    }

    fn offer(&mut self, lane: usize, w: &Waiting) -> Result<(), Refused> {
        let (stream, lane) = match lane {
            0 => (1, Lane::Small),
            _ if w.order == Order::Large => (IN_ORDER, Lane::Bulk),
            _ => {
                self.bulk = self.bulk % BULK_STREAMS + 1;
                (self.bulk, Lane::Bulk)
            }
        };
        match &w.trace {
            None => self.wire.send(stream, w.kind, lane, w.payload.clone()),
            Some(trace) => self.wire.send_traced(stream, w.kind, lane, w.payload.clone(), trace),
        }
    }

    fn wait(&mut self, lane: usize, w: Waiting) {
        self.waiting_bytes += w.payload.len() + size_of::<Waiting>();
        self.waiting_own += w.own + size_of::<Waiting>();
        self.waiting[lane].push_back(w);
    }

    fn clear(&mut self) {
        self.waiting.iter_mut().for_each(VecDeque::clear);
        (self.waiting_bytes, self.waiting_own) = (0, 0);
    }

    /// Puts what waits into the frames' line, as far as that has room; whether anything went there.
    fn refill(&mut self) -> bool {
        let mut any = false;
        for lane in [0, 1] {
            while let Some(w) = self.waiting[lane].pop_front() {
                match self.offer(lane, &w) {
                    Err(Refused::Full | Refused::TooManyStreams) => {
                        self.waiting[lane].push_front(w);
                        break;
                    }
                    sent => {
                        any = true;
                        if let Err(e) = sent {
                            // It was taken before it could be known.
                            self.fail(Why::Here(Reason { code: kumi_wire::code::LIMIT, text: e.to_string() }));
                        }
                        self.waiting_bytes -= w.payload.len() + size_of::<Waiting>();
                        self.waiting_own -= w.own + size_of::<Waiting>();
                    }
                }
            }
        }
        any
    }

    /// A message was put in line: writes it, or leaves it to the serving thread.
    fn go(&mut self, of: &Channel, writer: Writer, registry: &Registry) -> Left {
        if self.blocked || self.dirty {
            return Left::Nothing;
        }
        if writer == Writer::Server {
            return self.tell();
        }
        let now = Instant::now();
        let soon = self.last.is_some_and(|at| now.duration_since(at) < SOON);
        self.row = if soon { self.row + 1 } else { 0 };
        self.last = Some(now);
        if soon && writer == Writer::More && self.held < HELD && self.backlog() < HELD_BYTES {
            self.held += 1;
            return if self.held == 1 { Left::Hold } else { Left::Nothing };
        }
        if self.row > ROW && self.held == 0 {
            return self.tell();
        }
        self.write_all(of, registry)
    }

    fn write_all(&mut self, of: &Channel, registry: &Registry) -> Left {
        match self.write(of, registry) {
            Ok(Wrote::More) => self.tell(),
            Ok(_) => Left::Nothing,
            Err(why) => {
                self.fail(why);
                self.tell()
            }
        }
    }

    /// Writes until nothing is left, the socket is full, or others are to have a turn.
    fn write(&mut self, of: &Channel, registry: &Registry) -> Result<Wrote, Why> {
        self.held = 0;
        let mut left = if of.bulk.load(Ordering::Relaxed) { PIECE } else { TURN };
        let socket = &of.socket;
        loop {
            if self.waiting_bytes > 0 {
                self.refill();
            }
            let sent = match &mut self.tls {
                None => {
                    let mut slices = [IoSlice::new(&[]); 32];
                    let n = self.wire.transmit(&mut slices);
                    if n == 0 {
                        break;
                    }
                    send(socket, &slices[..n])
                }
                Some(tls) => match tls.write(&mut self.wire, socket) {
                    Ok(0) => break,
                    other => other,
                },
            };
            match sent {
                Ok(n) => {
                    if self.tls.is_none() {
                        self.wire.advance(n);
                    }
                    self.gone += n as u64;
                    left = left.saturating_sub(n);
                    if left == 0 {
                        return Ok(Wrote::More);
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    if !self.blocked {
                        self.listen(of, registry, Interest::READABLE | Interest::WRITABLE)?;
                        self.blocked = true;
                    }
                    return Ok(Wrote::Blocked);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Why::socket(&e)),
            }
        }
        if self.blocked {
            self.blocked = false;
            self.listen(of, registry, Interest::READABLE)?;
        }
        Ok(Wrote::All)
    }

    fn listen(&self, of: &Channel, registry: &Registry, interest: Interest) -> Result<(), Why> {
        registry.reregister(&mut SourceFd(&of.socket.as_raw_fd()), Token(of.token), interest).map_err(|e| Why::socket(&e))
    }

    fn decrypt(&mut self, bytes: &[u8], plain: &mut [u8]) -> Result<(), Why> {
        let Some(tls) = &mut self.tls else { return Ok(()) };
        let wire = &mut self.wire;
        tls.read(bytes, plain, |bytes| wire.receive(bytes).map_err(Why::Fault))
    }
}

fn why(e: &Ended) -> Why {
    match e {
        Ended::Here(r) => Why::Here(r.clone()),
        Ended::There(r) => Why::There(r.clone()),
        Ended::Fault(e) => Why::Fault(e.clone()),
    }
}

fn told(r: Result<(), Refused>) -> Result<(), SendError> {
    r.map_err(|e| match e {
        Refused::TooLong { most } => SendError::TooLong { most },
        _ => SendError::NotConnected,
    })
}

/// Writes to a socket; a peer that is gone is an error, not a signal.
fn send(socket: &Socket, slices: &[IoSlice<'_>]) -> io::Result<usize> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let flags = libc::MSG_NOSIGNAL;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let flags = 0;
    match slices {
        [one] => socket.send_with_flags(one, flags),
        _ => socket.send_vectored_with_flags(slices, flags),
    }
}
