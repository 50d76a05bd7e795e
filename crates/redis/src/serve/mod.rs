//! The connection to a store, and the thread that serves it.
//!
//! Any thread calls: it takes the lock, asks the machine, and writes to the socket itself. Only the serving thread reads, connects and
//! watches the clock.
//!
//! **Invariant.** Bytes that wait are the serving thread's to send as soon as the socket has room. It sleeps no longer than until the
//! machine's next deadline: whoever brings an earlier one wakes it. Ends of calls are told when the lock is free.

mod conn;
mod sentinel;
mod thread;
mod tls;
mod watch;

pub use tls::Certificates;

use crate::address::{Address, AddressError};
use crate::machine::{Broken, Machine, Options};
use bytes::Bytes;
use conn::Conn;
use kumi_segments::{Call, End, Engine, Outcome, Time, Trouble};
use mio::{Poll, Token, Waker};
use parking_lot::{Condvar, Mutex};
use std::fmt;
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
    process: u32,
}

struct State {
    machine: Machine<End<Bytes>>,
    conn: Option<Conn>,
    /// It is connected.
    up: bool,
    /// When the serving thread wakes.
    wakes: Time,
    /// It has served once; what its settings may lose.
    ready: Option<Option<String>>,
    trouble: Option<Broken>,
    closing: bool,
    over: bool,
    /// Sending has failed: the serving thread is to look.
    failed: Option<String>,
    watches: watch::Watches,
}

const WAKE: Token = Token(0);
const SOCKET: Token = Token(1);

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
        options.name = address.client_name.clone().unwrap_or(options.name);
        options.lease = settings.lease.map_or(options.lease, nanoseconds);
        options.patience = settings.patience.map_or(options.patience, nanoseconds);
        let poll = Poll::new().map_err(|e| other(&e))?;
        let waker = Waker::new(poll.registry(), WAKE).map_err(|e| other(&e))?;
        let state = State {
            machine: Machine::new(now(), options),
            conn: None,
            up: false,
            wakes: 0,
            ready: None,
            trouble: None,
            closing: false,
            over: false,
            failed: None,
            watches: watch::Watches::default(),
        };
        let shared = Arc::new(Shared {
            name: address.to_string(),
            state: Mutex::new(state),
            changed: Condvar::new(),
            waker,
            process: std::process::id(),
        });
        let serving = thread::Serving::new(shared.clone(), poll, address.place, tls);
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
        if s.failed.is_some() || s.machine.next_deadline().is_some_and(|at| at < s.wakes) {
            s.wakes = 0;
            let _ = self.waker.wake();
        }
        let ended = s.machine.take_ended();
        let rings = s.hand_out();
        drop(s);
        tell(ended);
        rings.iter().for_each(|ring| ring());
        r
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
    fn send(&mut self) {
        if !self.up || self.failed.is_some() {
            return;
        }
        let Some(conn) = &mut self.conn else { return };
        match conn.send(self.machine.output()) {
            Ok(true) => self.machine.progress(now()),
            Ok(false) => {}
            Err(e) => self.failed = Some(e.to_string()),
        }
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
        while s.up && !s.over && s.machine.open_calls() > 0 {
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
