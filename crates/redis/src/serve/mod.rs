//! The connections to a store, and the thread that serves them.
//!
//! Any thread calls: it takes the lock, asks the machine, and writes to the socket itself. The serving thread connects and watches the clock.
//! It reads as well, unless somebody *attends* who waits for what comes ([`Attendant`]): an answer then wakes that thread and no other.
//!
//! **Invariant.** Bytes that wait are sent by whoever reads as soon as the socket has room. The serving thread sleeps no longer than until the
//! machine's next deadline: whoever brings an earlier one wakes it. Ends of calls are told when the lock is free.
//!
//! Each line of the machine has a link of its own, of two connections: one server's store has one, a cluster's one to each primary. The second
//! one is made once the first is there, to the same address; if either is lost, so is the other.

mod attend;
mod conn;
mod find;
mod thread;
mod tls;
mod watch;

pub use attend::Attendant;
pub use tls::Certificates;

use crate::address::{Address, AddressError, Place};
use crate::machine::{Broken, Machine, News, Options, Side};
use bytes::Bytes;
use conn::{Came, Conn};
use kumi_segments::{Call, End, Engine, Outcome, Time, Trouble};
use mio::unix::SourceFd;
use mio::{Events, Interest, Poll, Registry, Token, Waker};
use parking_lot::{Condvar, Mutex};
use std::fmt;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is given besides the address.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// For TLS.
    pub certificates: Certificates,
    /// User and password, where the address has none.
    pub login: Option<(String, String)>,
    /// What keys begin with, where it is not the address that says so.
    pub namespace: Option<crate::names::Namespace>,
    /// How long what a plain take is given stands under a lease until it is confirmed.
    pub lease: Option<Duration>,
    /// A store that was away for so long is given up: calls end.
    pub patience: Option<Duration>,
}

/// Why a store can't be opened.
#[derive(Debug)]
pub enum OpenError {
    /// Its address is none.
    Address(AddressError),
    /// A certificate can't be used, or the system has no thread. In words.
    Other(String),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OpenError::Address(e) => e.fmt(f),
            OpenError::Other(e) => f.write_str(e),
        }
    }
}
impl std::error::Error for OpenError {}

/// A store on Redis or Valkey. Dropped, it serves no more, and what it holds comes back when its leases are over.
pub struct Store {
    shared: Arc<Shared>,
}

struct Shared {
    name: String,
    state: Mutex<State>,
    /// It serves, has lost its connection, or something has ended.
    changed: Condvar,
    waker: Waker,
    /// Where the socket is watched once it is connected. It is locked by itself, or after the state.
    sockets: Mutex<(Poll, Events)>,
    process: u32,
}

struct State {
    machine: Machine<End<Bytes>>,
    links: Vec<Link>,
    /// When the serving thread wakes.
    wakes: Time,
    /// It has served once; what its settings may lose.
    ready: Option<Option<String>>,
    trouble: Option<Broken>,
    closing: bool,
    over: bool,
    /// Something has become of a link, and the serving thread is to know it.
    told: bool,
    watches: watch::Watches,
    /// The queues of the serving thread, and of the socket once it is connected.
    own: Registry,
    sockets: Registry,
    /// For reading.
    buffer: Vec<u8>,
}

/// A line's connections.
#[derive(Default)]
struct Link {
    /// The node of a cluster that it leads to.
    at: Option<(String, u16)>,
    ends: [Half; 2],
    /// They are gone.
    lost: Option<Broken>,
    /// It serves on new ones.
    fresh: bool,
}

/// One of them.
#[derive(Default)]
struct Half {
    conn: Option<Conn>,
    /// It is connected.
    up: bool,
}

impl Link {
    fn is_up(&self) -> bool {
        self.ends.iter().all(|e| e.up)
    }
    /// A connection that is there.
    fn there(&mut self, side: Side) -> Option<&mut Conn> {
        let e = &mut self.ends[side as usize];
        e.conn.as_mut().filter(|_| e.up)
    }
    /// The side whose connection is made now. `None`: both are there.
    fn makes(&self) -> Option<Side> {
        Side::ALL.into_iter().find(|s| !self.ends[*s as usize].up)
    }
    /// What is made now, if it was begun.
    fn made(&mut self) -> Option<(Side, &mut Conn)> {
        let side = self.makes()?;
        Some((side, self.ends[side as usize].conn.as_mut()?))
    }
    fn conns(&self) -> impl Iterator<Item = &Conn> {
        self.ends.iter().filter_map(|e| e.conn.as_ref().filter(|_| e.up))
    }
}

/// Both sides of all lines.
fn sides(lines: usize) -> impl Iterator<Item = (usize, Side)> {
    (0..lines).flat_map(|line| Side::ALL.map(|side| (line, side)))
}

const WAKE: Token = Token(0);
/// A socket that is being connected, in the serving thread's queue.
const OWN_SOCKET: Token = Token(1);
/// The other queue, in that one.
const SOCKETS: Token = Token(2);

/// Nanoseconds that go on while the machine sleeps.
fn now() -> Time {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    (t.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(t.tv_nsec as u64)
}

fn nanoseconds(d: Duration) -> Time {
    u64::try_from(d.as_nanos()).unwrap_or(u64::MAX / 4)
}

impl Store {
    /// Begins to connect. Whether it comes to that is said by [`wait_ready`](Self::wait_ready), or by calls.
    ///
    /// # Errors
    /// The address or a certificate is none.
    pub fn open(address: &str, settings: Settings) -> Result<Store, OpenError> {
        let address = Address::parse(address).map_err(OpenError::Address)?;
        let other = |e: &dyn fmt::Display| OpenError::Other(e.to_string());
        let tls = address.tls.then(|| tls::config(&settings.certificates)).transpose().map_err(OpenError::Other)?;
        let mut id = [0; 8];
        getrandom::fill(&mut id).map_err(|e| other(&e))?;
        let namespace = settings.namespace.unwrap_or_else(|| address.namespace.clone());
        let mut options = Options::new(namespace, format!("{:016x}", u64::from_ne_bytes(id)));
        options.login = settings.login.or_else(|| address.login.clone());
        options.database = address.database;
        options.cluster = matches!(address.place, Place::Cluster(_));
        options.replicas = address.replicas;
        options.copied_within = address.copied_within;
        let login = options.login.clone();
        options.name = address.client_name.clone().unwrap_or(options.name);
        options.lease = settings.lease.map_or(options.lease, nanoseconds);
        options.patience = settings.patience.map_or(options.patience, nanoseconds);
        let poll = Poll::new().map_err(|e| other(&e))?;
        let waker = Waker::new(poll.registry(), WAKE).map_err(|e| other(&e))?;
        let sockets = Poll::new().map_err(|e| other(&e))?;
        let fd = sockets.as_raw_fd();
        poll.registry().register(&mut SourceFd(&fd), SOCKETS, Interest::READABLE).map_err(|e| other(&e))?;
        let registries = poll.registry().try_clone().and_then(|own| Ok((own, sockets.registry().try_clone()?)));
        let (own, watched) = registries.map_err(|e| other(&e))?;
        let state = State {
            machine: Machine::new(now(), options),
            links: vec![Link::default()],
            wakes: 0,
            ready: None,
            trouble: None,
            closing: false,
            over: false,
            told: false,
            watches: watch::Watches::default(),
            own,
            sockets: watched,
            buffer: vec![0; 64 << 10],
        };
        let shared = Arc::new(Shared {
            name: address.to_string(),
            state: Mutex::new(state),
            changed: Condvar::new(),
            waker,
            sockets: Mutex::new((sockets, Events::with_capacity(16))),
            process: std::process::id(),
        });
        let serving = thread::Serving::new(shared.clone(), poll, address.place, tls, login);
        std::thread::Builder::new().name("store".into()).spawn(move || serving.run()).map_err(|e| other(&e))?;
        Ok(Store { shared })
    }
    /// Waits until the store serves. Gives what its settings may lose, in words.
    ///
    /// # Errors
    /// It does not serve within this time, and why; at once where it will not be better by itself.
    pub fn wait_ready(&self, within: Duration) -> Result<Option<String>, String> {
        let until = Instant::now() + within;
        let mut s = self.shared.state.lock();
        loop {
            match (&s.ready, &s.trouble) {
                (Some(worries), _) => return Ok(worries.clone()),
                (None, Some(Broken::Lasting(why))) => return Err(why.clone()),
                _ if s.over => return Err("it was closed".into()),
                _ => {}
            }
            if self.shared.changed.wait_until(&mut s, until).timed_out() {
                return Err(s.trouble.as_ref().map_or("it does not answer", Broken::text).to_owned());
            }
        }
    }
    /// Does it serve, or has it? What its settings may lose, in words, or what was wrong last. `None`: nobody knows yet.
    pub fn state(&self) -> Option<Result<Option<String>, Broken>> {
        let s = self.shared.state.lock();
        s.ready.clone().map(Ok).or_else(|| s.trouble.clone().map(Err))
    }
    /// Calls that have no answer yet.
    pub fn open_calls(&self) -> usize {
        self.shared.state.lock().machine.open_calls()
    }
}

type Ended = Vec<(End<Bytes>, Outcome<Bytes>)>;

/// Tells the ends of calls.
fn tell(ended: Ended) {
    for (end, outcome) in ended {
        end(outcome);
    }
}

impl Shared {
    /// Asks the machine for something, sends what it says, and tells of what has ended by it.
    fn with<R>(&self, f: impl FnOnce(&mut State, Time) -> R) -> R {
        let mut s = self.state.lock();
        let r = f(&mut s, now());
        s.send();
        self.mind(&mut s);
        let ended = s.machine.take_ended();
        let rings = s.hand_out();
        drop(s);
        tell(ended);
        rings.iter().for_each(|ring| ring());
        r
    }
    /// Wakes the serving thread if it sleeps too long now.
    fn mind(&self, s: &mut State) {
        if s.told || s.machine.next_deadline().is_some_and(|at| at < s.wakes) {
            s.wakes = 0;
            let _ = self.waker.wake();
        }
    }
    fn is_child(&self) -> bool {
        std::process::id() != self.process
    }
    fn stop(&self) {
        let mut s = self.state.lock();
        (s.closing, s.over) = (true, true);
        drop(s);
        let _ = self.waker.wake();
    }
}

impl State {
    /// Is there a connection?
    fn is_up(&self) -> bool {
        self.links.iter().any(Link::is_up)
    }
    fn send(&mut self) {
        for (line, side) in sides(self.links.len()) {
            let Some(conn) = self.links[line].there(side) else { continue };
            let sent = conn.send(self.machine.output(line, side)).and_then(|progress| {
                conn.mind_room(&self.sockets, Token(line))?;
                Ok(progress)
            });
            match sent {
                Ok(true) => self.machine.progress(line, side, now()),
                Ok(false) => {}
                Err(e) => self.lose(line, Broken::Passing(e.to_string())),
            }
        }
    }
    /// Reads all that has come, and sends what it leads to. False: nothing has come.
    fn receive(&mut self) -> bool {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut some = false;
        for line in 0..self.links.len() {
            let called = self.receive_on(line, Side::Calls, &mut buffer);
            // Where nobody listens there is most likely nothing: it is looked at when it must have been that.
            some |= called | ((!called || self.machine.listens(line)) && self.receive_on(line, Side::Channels, &mut buffer));
        }
        self.buffer = buffer;
        some
    }
    fn receive_on(&mut self, line: usize, side: Side, buffer: &mut [u8]) -> bool {
        let mut some = false;
        loop {
            let Some(conn) = self.links[line].there(side) else { return some };
            match conn.receive(buffer) {
                Ok(Came::Some(n)) => {
                    some = true;
                    let mut news = Vec::new();
                    let received = self.machine.received(line, side, now(), &buffer[..n], &mut news);
                    self.hear(Some(line), news);
                    match received {
                        Ok(()) => self.send(),
                        Err(e) => self.lose(line, e),
                    }
                }
                Ok(Came::Nothing) => return some,
                Ok(Came::End) => self.lose(line, Broken::Passing("it has closed the connection".into())),
                Err(why) => {
                    // A handshake that fails will fail again.
                    let lasting = conn.is_secure() && self.ready.is_none();
                    self.lose(line, if lasting { Broken::Lasting(why) } else { Broken::Passing(why) });
                }
            }
        }
    }
    /// What the machine tells, and which lines it has.
    fn hear(&mut self, line: Option<usize>, news: Vec<News>) {
        for n in news {
            self.trouble = None;
            match (n, line) {
                (News::Serves, Some(line)) => self.links[line].fresh = true,
                (News::Serves, None) => {}
                (News::Ready(worries), _) => {
                    self.ready.get_or_insert(worries);
                }
            }
        }
        for line in 0..self.machine.lines() {
            if line == self.links.len() {
                self.links.push(Link::default());
            }
            if self.links[line].at.as_ref() != self.machine.node(line) {
                self.drop_conns(line);
                self.links[line] = Link { at: self.machine.node(line).cloned(), ..Link::default() };
                self.told = true;
            }
        }
    }
    /// The connection that was begun is there.
    fn comes_up(&mut self, line: usize) {
        let Some((side, conn)) = self.links[line].made() else { return };
        conn.forget(&self.own);
        if let Err(e) = conn.watch(&self.sockets, Token(line)) {
            return self.lose(line, Broken::Passing(e.to_string()));
        }
        self.links[line].ends[side as usize].up = true;
        self.machine.connected(line, side, now());
        self.send();
    }
    fn drop_conns(&mut self, line: usize) {
        for end in std::mem::take(&mut self.links[line].ends) {
            if let Some(conn) = end.conn {
                conn.forget(if end.up { &self.sockets } else { &self.own });
            }
        }
    }
    /// There are no connections any more, or not yet.
    fn lose(&mut self, line: usize, why: Broken) {
        self.drop_conns(line);
        let why = match &self.links[line].at {
            Some((host, port)) => why.of(&Place::Tcp(host.clone(), *port).to_string()),
            None => why,
        };
        self.machine.disconnected(line, now(), &why);
        self.trouble = Some(why.clone());
        self.links[line].lost = Some(why);
        self.told = true;
    }
}

impl Engine<Bytes> for Store {
    fn name(&self) -> &str {
        &self.shared.name
    }
    fn call(&self, call: Call<Bytes>, within: Option<Time>, end: End<Bytes>) -> u64 {
        if self.shared.is_child() {
            end(Err(Trouble::NotConnected("a forked child has no connection: it is to connect anew".into())));
            return 0;
        }
        let mut late = None;
        let number = self.shared.with(|s, now| {
            if s.closing {
                late = Some(end);
                return 0;
            }
            s.machine.call(now, call, end, within.map(|w| now.saturating_add(w)))
        });
        if let Some(end) = late {
            end(Err(Trouble::NotConnected("it was closed".into())));
        }
        number
    }
    fn leave(&self, number: u64) {
        if !self.shared.is_child() {
            self.shared.with(|s, now| s.machine.leave(now, number));
        }
    }
    fn apart(&self, held: &[Vec<u8>], outputs: &[Vec<u8>]) -> Option<Box<str>> {
        fn keys(all: &[Vec<u8>]) -> Vec<&[u8]> {
            all.iter().map(|k| &k[..]).collect()
        }
        self.shared.state.lock().machine.apart(keys(held), keys(outputs))
    }
    fn used(&self, number: u64) {
        if !self.shared.is_child() {
            self.shared.state.lock().machine.used(number);
        }
    }
    /// Waits two seconds at most until what is held has come back.
    fn close(&self) {
        if self.shared.is_child() {
            return;
        }
        self.shared.with(|s, now| {
            if !s.closing {
                s.closing = true;
                s.machine.close(now);
            }
        });
        let until = Instant::now() + Duration::from_secs(2);
        let mut s = self.shared.state.lock();
        while s.is_up() && !s.over && s.machine.open_calls() > 0 {
            if self.shared.changed.wait_until(&mut s, until).timed_out() {
                break;
            }
        }
        drop(s);
        self.shared.stop();
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if !self.shared.is_child() {
            self.shared.stop();
        }
    }
}
