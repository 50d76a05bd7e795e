//! A host that serves a manager of segments and is a client of others: what `core/segments` is, in small.
#![allow(dead_code)]

use bytes::Bytes;
use kumi_link::{Host, Link, Options, Peer, Why, now};
use kumi_membership::{Member, Why as Gone};
use kumi_segments::*;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender as Tx, channel};
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::{Duration, Instant};

pub type Token = Tx<Result<Done<Bytes>, Failure>>;
pub const SECOND: Time = 1_000_000_000;
/// Who waits longer hangs.
pub const HANG: Duration = Duration::from_secs(60);

pub struct Serving {
    pub node: Mutex<Node<Bytes, u64>>,
    pub clients: Mutex<HashMap<String, Client<Bytes, Token>>>,
    pub link: OnceLock<Link>,
    pub events: Mutex<Vec<String>>,
    pub changed: Condvar,
    /// While it is locked this node's thread stands still as soon as somebody asks for something.
    pub still: Mutex<()>,
    /// Calls go among others, and nobody lets them go.
    pub among: AtomicBool,
    /// They are large ones that keep their order.
    pub in_order: AtomicBool,
    incarnation: u64,
    options: ClientOptions,
}

struct Outgoing<'a> {
    link: &'a Link,
    peer: &'a Peer,
    among: bool,
    in_order: bool,
}

impl Outbox<Bytes, Token> for Outgoing<'_> {
    fn send(&mut self, m: FromClient<Bytes>) {
        let _ = match m.body {
            Body::Call(..) if self.in_order => self.link.send_in_order(self.peer, m, None, true, self.among),
            _ if self.among => self.link.send_among(self.peer, m, None),
            _ => self.link.send(self.peer, m),
        };
    }
    fn ended(&mut self, token: Token, result: Result<Done<Bytes>, Failure>) {
        let _ = token.send(result);
    }
}

impl Serving {
    pub fn new(incarnation: u64) -> Arc<Serving> {
        let node = Node::new(7, incarnation, NodeOptions::default());
        Arc::new(Serving {
            node: Mutex::new(node),
            clients: Mutex::default(),
            link: OnceLock::new(),
            events: Mutex::default(),
            changed: Condvar::new(),
            still: Mutex::default(),
            among: AtomicBool::new(false),
            in_order: AtomicBool::new(false),
            incarnation,
            options: ClientOptions::default(),
        })
    }

    pub fn note(&self, event: String) {
        self.events.lock().unwrap().push(event);
        self.changed.notify_all();
    }

    /// Waits for an event that contains `text`, and takes it and those before it away.
    #[track_caller]
    pub fn expect(&self, text: &str) -> String {
        let until = Instant::now() + HANG;
        let mut events = self.events.lock().unwrap();
        loop {
            if let Some(at) = events.iter().position(|e| e.contains(text)) {
                return events.drain(..=at).next_back().unwrap();
            }
            let left = until.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "no {text:?} in {events:#?}");
            events = self.changed.wait_timeout(events, left).unwrap().0;
        }
    }

    fn send(&self, client: &[u8], m: FromOwner<Bytes>) {
        let link = self.link.get().unwrap();
        if let Some(peer) = std::str::from_utf8(client).ok().and_then(|n| link.peer(n)) {
            let _ = link.send(&peer, m);
        }
    }

    fn with_client<T>(&self, peer: &Peer, f: impl FnOnce(&mut Client<Bytes, Token>, &mut Outgoing<'_>) -> T) -> Option<T> {
        let (among, in_order) = (self.among.load(Relaxed), self.in_order.load(Relaxed));
        let mut out = Outgoing { link: self.link.get()?, peer, among, in_order };
        self.clients.lock().unwrap().get_mut(&**peer.name()).map(|c| f(c, &mut out))
    }
}

impl Host for Serving {
    fn started(&self, link: &Link) {
        let _ = self.link.set(link.clone());
    }
    fn from_client(&self, peer: &Peer, m: FromClient<Bytes>) {
        drop(self.still.lock().unwrap());
        self.node.lock().unwrap().receive(now(), peer.name().as_bytes(), m, |_| {}, &mut |c, m| self.send(c, m));
    }
    fn from_owner(&self, peer: &Peer, m: FromOwner<Bytes>) {
        self.with_client(peer, |c, out| c.receive(now(), m, out));
    }
    fn connected(&self, peer: &Peer) {
        self.with_client(peer, |c, out| c.connected(now(), out));
        self.note(format!("connected {peer}"));
    }
    fn disconnected(&self, peer: &Peer, why: &Why) {
        self.with_client(peer, |c, _| c.disconnected());
        self.note(format!("disconnected {peer}: {why}"));
    }
    fn refused(&self, with: &str, why: &Why) {
        self.note(format!("refused {with}: {why}"));
    }
    fn drained(&self, peer: &Peer) {
        self.note(format!("drained {peer}"));
    }
    fn member_up(&self, m: &Member) {
        self.note(format!("up {}", m.name()));
    }
    fn member_suspect(&self, m: &Member) {
        self.note(format!("suspect {}", m.name()));
    }
    fn member_down(&self, m: &Member, why: Gone) {
        self.note(format!("down {} {why:?}", m.name()));
    }
    fn conflict(&self, holder: &Member) {
        self.note(format!("conflict {}", holder.name()));
    }
    fn deadline(&self) -> Option<Time> {
        let clients = self.clients.lock().unwrap().values().filter_map(Client::next_deadline).min();
        self.node.lock().unwrap().next_deadline().into_iter().chain(clients).min()
    }
    fn tick(&self, now: Time) {
        self.node.lock().unwrap().tick(now, |_| {}, &mut |c, m| self.send(c, m));
        let link = self.link.get().unwrap();
        let due: Vec<String> = {
            let clients = self.clients.lock().unwrap();
            clients.iter().filter(|(_, c)| c.next_deadline().is_some_and(|d| d <= now)).map(|(n, _)| n.clone()).collect()
        };
        for peer in due.iter().filter_map(|n| link.peer(n)) {
            self.with_client(&peer, |c, out| c.tick(now, out));
        }
    }
}

/// A node of the tests.
pub struct Node1 {
    pub link: Link,
    pub host: Arc<Serving>,
}

impl Node1 {
    pub fn start(options: Options) -> Node1 {
        Node1::try_start(options).unwrap_or_else(|e| panic!("{e}"))
    }

    pub fn try_start(mut options: Options) -> Result<Node1, kumi_link::LinkError> {
        if options.incarnation == 0 {
            options.incarnation = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos() as u64;
        }
        let host = Serving::new(options.incarnation);
        let link = Link::start(options, host.clone())?;
        let _ = host.link.set(link.clone());
        Ok(Node1 { link, host })
    }

    pub fn named(name: &str, others: &[&Node1]) -> Node1 {
        Node1::start(Options { join: others.iter().map(|n| n.address()).collect(), ..Options::new(name) })
    }

    pub fn address(&self) -> String {
        self.link.listening()[0].clone()
    }

    /// Waits until so many members are known.
    #[track_caller]
    pub fn members(&self, n: usize) {
        let until = Instant::now() + HANG;
        while self.link.members().len() != n {
            assert!(Instant::now() < until, "{:?} are {:?}", self.link.node(), self.link.members());
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    pub fn ask(&self, on: &str, call: Call<Bytes>, limit: Option<Duration>) -> Receiver<Result<Done<Bytes>, Failure>> {
        self.ask_named(on, call, limit).0
    }

    /// And the call's name.
    fn ask_named(&self, on: &str, call: Call<Bytes>, limit: Option<Duration>) -> (Receiver<Result<Done<Bytes>, Failure>>, u64) {
        let (tx, rx) = channel();
        let peer = self.link.peer(on).unwrap_or_else(|| panic!("no node {on} in {:?}", self.link.members()));
        let new = {
            let mut clients = self.host.clients.lock().unwrap();
            let new = !clients.contains_key(on);
            clients.entry(on.to_owned()).or_insert_with(|| Client::new(self.host.incarnation, self.host.options.clone()));
            new
        };
        if new {
            self.link.connect(&peer);
            if peer.is_connected() {
                self.host.with_client(&peer, |c, out| c.connected(now(), out));
            }
        }
        let until = limit.map(|l| now() + l.as_nanos() as u64);
        let name = self.host.with_client(&peer, |c, out| c.call(now(), call, tx, until, out));
        if !self.host.among.load(Relaxed) {
            self.link.nudge();
        }
        (rx, name.unwrap_or(0))
    }

    #[track_caller]
    pub fn call(&self, on: &str, call: Call<Bytes>) -> Result<Done<Bytes>, Failure> {
        self.ask(on, call, None).recv_timeout(HANG).expect("an answer")
    }

    #[track_caller]
    pub fn put(&self, on: &str, key: &str, value: impl Into<Bytes>) {
        let done = self.call(on, put(key, value));
        assert!(matches!(done, Ok(Done::Stored(Some(_)))), "{done:?}");
    }

    #[track_caller]
    pub fn take(&self, on: &str, key: &str) -> Bytes {
        let (mut rx, name) = self.ask_named(on, get(key, Kind::Take, None, true), None);
        loop {
            let Ok(Done::Segments(mut s)) = rx.recv_timeout(HANG).expect("an answer") else { panic!("no segment") };
            let (again, next) = channel();
            let peer = self.link.peer(on).unwrap();
            if self.host.with_client(&peer, |c, out| c.used(now(), name, again, out)) == Some(true) {
                return s.remove(0).value;
            }
            rx = next;
        }
    }
}

impl Drop for Node1 {
    fn drop(&mut self) {
        self.link.stop();
    }
}

pub fn put(key: &str, value: impl Into<Bytes>) -> Call<Bytes> {
    let store = Store { key: key.into(), update: false, value: value.into(), owned: false, delay: None, ttl: None };
    Call::Put(Put { store, wait: false })
}

pub fn get(key: &str, kind: Kind, lease: Option<Time>, wait: bool) -> Call<Bytes> {
    Call::Get(Ask { inputs: vec![(key.into(), kind, None)], lease, wait })
}

/// A port that nobody else is given while the socket lives, which is bound to it and does not listen. Who names the port listens beside that;
/// other systems than Linux do not let it, and there the port is but free.
pub fn held() -> (Option<socket2::Socket>, u16) {
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    let any = std::net::SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, 0));
    socket.bind(&any.into()).unwrap();
    socket.set_reuse_address(true).unwrap();
    let port = socket.local_addr().unwrap().as_socket().unwrap().port();
    (cfg!(target_os = "linux").then_some(socket), port)
}

/// Runs against the clock: a test that hangs is ended, and says so.
pub fn watchdog(seconds: u64) -> impl Drop {
    struct Dog(Tx<()>);
    impl Drop for Dog {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    let (tx, rx) = channel::<()>();
    std::thread::spawn(move || {
        if rx.recv_timeout(Duration::from_secs(seconds)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            eprintln!("a test took longer than {seconds} s");
            std::process::abort();
        }
    });
    Dog(tx)
}
