//! Other nodes: the proxies of their managers, and this node as others' owner.
//!
//! **Invariant.** A proxy's lock is never held with the manager's. Whoever ends a call puts its result there before it rings; whoever
//! waits sets the bell before it looks. Messages are sent while the proxy's lock is held, so that they leave in order.
//!
//! Connections are served by a thread of the link's (crate kumi-link), or by a worker that waits for what they bring ([`service`]). It never makes a cell: it stores bytes and hands out bytes.
//! A value that was put before anybody elsewhere asked for its key has none: see [`encoder`].

pub mod calls;
pub mod encoder;
mod host;
pub mod leaving;
pub mod member;
pub mod redis;
mod service;
pub mod stores;
mod traffic;
pub mod watch;

use crate::cell::Cell;
use crate::clock;
use crate::encode::{Large, Symbols};
use crate::luggage::{self, Luggage};
use crate::state::{Bell, Clients, Replies, Shared, Woken, lease, lock_soon};
use encoder::Encoder;
use host::Serving;
use kumi_link::{Link, Message, SendError};
use kumi_segments::{Body, Client, ClientOptions, Done, Engine, Failure, FromClient, FromOwner, Outbox, Time, Trouble};
use kumi_vm::*;
use kumi_wire::{Bytes, Trace};
use parking_lot::Mutex;
use smallvec::SmallVec;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
pub use traffic::Traffic;

/// This node among others.
pub struct Remote {
    /// Its name.
    pub name: Box<str>,
    /// Which life of it this is.
    pub incarnation: u64,
    shared: Arc<Shared>,
    link: OnceLock<Link>,
    /// The link as workers serve it.
    service: OnceLock<Arc<dyn Service>>,
    peers: Mutex<HashMap<Box<str>, Arc<Peer>>>,
    /// Those of the peers' clients.
    options: ClientOptions,
    /// How many times longer than usual other nodes may take.
    pub patience: u32,
    /// No client of a peer has anything to do before; it may be that none has then.
    planned: AtomicU64,
    pub(crate) encoder: Encoder,
    pub(crate) news: member::News,
    /// Connections that failed: with whom, and why; the last ones.
    refused: Mutex<VecDeque<(Box<str>, Box<str>)>>,
    /// It joins by addresses of others, and no member was there yet.
    joins: AtomicBool,
    /// The process is a child of the one whose thread serves the connections, and no node.
    forked: AtomicBool,
    /// Why this node is in the cluster no more.
    over: OnceLock<String>,
    /// What goes to and fro.
    pub traffic: Arc<Traffic>,
    /// Who use the connections as well, in order of their coming.
    guests: [OnceLock<Arc<dyn Guest>>; GUESTS],
}

/// Another use of a node's connections. A message's first byte says whose it is: what `kumi-core-remote` says begins with [`REFERENCES`], what
/// `kumi-core-schedule` says with 16. All is called by whoever serves them, one call at a time; none of the segments' locks is held.
pub trait Guest: Send + Sync {
    /// What that node packed. `None`: it is nothing of the kind.
    fn unpack(&self, peer: &kumi_link::Peer, packed: &Bytes) -> Option<Arc<dyn Luggage>> {
        let _ = (peer, packed);
        None
    }
    /// That node takes references. It is one that a native is about to hand some to.
    ///
    /// # Errors
    /// The native is called again when that may be known; or it never will.
    fn meets(&self, cx: &mut Cx, name: &str) -> Result<(), Exit> {
        let _ = (cx, name);
        Ok(())
    }
    /// Are messages that begin with this byte its own?
    fn takes(&self, kind: u8) -> bool;
    /// A message of its own has come.
    fn message(&self, peer: &kumi_link::Peer, bytes: Bytes);
    /// A connection is there.
    fn connected(&self, peer: &kumi_link::Peer);
    /// A connection is gone. Where the node is still a member there may be another.
    fn disconnected(&self, name: &str);
    /// Much of what waited for a node has gone.
    fn drained(&self, peer: &kumi_link::Peer) {
        let _ = peer;
    }
    /// A node is a member from now on.
    fn came(&self, name: &str) {
        let _ = name;
    }
    /// This life of a node is over, as far as its members know; for certain, where it said goodbye.
    fn lost(&self, name: &str, incarnation: u64, for_certain: bool);
    /// When [`tick`](Self::tick) is to be called.
    fn deadline(&self) -> Option<Time>;
    /// It is time.
    fn tick(&self, now: Time);
    /// This node is in the cluster no more.
    fn over(&self);
}

/// Messages that are about objects of other nodes.
pub const REFERENCES: std::ops::Range<u8> = 1..16;
/// Why the child of a node's process is none.
pub const FORKED: &str = "a forked child is no node of the cluster: start one by kumi node";
/// So many guests at most: objects of other nodes, schedules of collections.
const GUESTS: usize = 2;
/// Of so many connections it is kept why they failed.
const REFUSED: usize = 4;

/// Another node's manager, as this one knows it.
pub struct Peer {
    pub name: Box<str>,
    client: Mutex<Client<Cell, Arc<Call>>>,
    /// As the link knows it, once it does.
    known: OnceLock<kumi_link::Peer>,
    /// A call was not sent: the node was not known to take the references in it.
    unsent: AtomicBool,
    /// Those that its values have made here.
    pub symbols: Arc<Symbols>,
}

/// What calls are left by: most often of one.
pub type Numbers = SmallVec<[u64; 1]>;

/// What a call has come to.
pub type Ended = Result<Done<Cell>, Trouble>;

/// A call that Ruby waits for; or several, which have come to something when all are done, or when one of them has failed.
#[derive(Default)]
pub struct Call {
    pub bell: Bell,
    came: Mutex<Came>,
}

#[derive(Default)]
struct Came {
    result: Option<Ended>,
    /// So many more are done before it is told of.
    others: usize,
}

impl Call {
    /// What stands for so many.
    pub fn of(calls: usize) -> Call {
        Call { came: Mutex::new(Came { result: None, others: calls.saturating_sub(1) }), ..Call::default() }
    }
    fn end(&self, r: Ended) {
        {
            let mut came = self.came.lock();
            if came.others > 0 {
                if r.is_ok() {
                    came.others -= 1;
                    return;
                }
                // The first failure is told of, and nothing after it.
                came.others = usize::MAX;
                if came.result.is_some() {
                    return;
                }
            }
            came.result = Some(r);
        }
        if let Some(w) = self.bell.take() {
            w.wake();
        }
    }
    pub fn take(&self) -> Option<Ended> {
        self.came.lock().result.take()
    }
    /// Has it come to something?
    pub fn has_ended(&self) -> bool {
        self.came.lock().result.is_some()
    }
    /// The bytes of the large String that it has come to.
    pub fn large(&self) -> Option<Bytes> {
        match &self.came.lock().result {
            Some(Ok(Done::Segments(s))) if s.len() == 1 => s[0].value.bytes().filter(|b| Large::is_one(b)).cloned(),
            _ => None,
        }
    }
}

/// What a proxy hands out: messages go at once, ends of calls when its lock is free again.
struct Out<'a> {
    remote: &'a Remote,
    peer: &'a Peer,
    ended: Vec<(Arc<Call>, Ended)>,
    sends: Sends,
}

/// Which calls a proxy hands out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sends {
    /// One, by itself.
    One,
    /// More calls are likely to follow at once. Puts keep their order.
    Among,
    /// Perhaps several that were handed out before. So do they.
    Again,
}

/// Bytes of a value, at most.
fn size_of(value: &Cell) -> usize {
    value.bytes().map_or(0, |b| b.len()) + value.luggage().map_or(0, |l| l.most())
}
/// The same of the value that is put.
fn size_of_put(m: &FromClient<Cell>) -> Option<usize> {
    match &m.body {
        Body::Call(_, kumi_segments::Call::Put(p)) => Some(size_of(&p.store.value)),
        _ => None,
    }
}
/// Puts of such values keep an order of their own, see [`Link::send_in_order`].
fn is_large(bytes: usize) -> bool {
    bytes > kumi_link::SMALL
}

/// A value's bytes for a message, whose trace is that of the first of its values that has one.
fn bytes_of(c: &Cell, to: &str, trace: &mut Option<Arc<Trace>>) -> Result<Bytes, ()> {
    if trace.is_none() {
        *trace = c.trace().cloned();
    }
    c.bytes().map(|b| luggage::joined(c.luggage(), to, b)).ok_or(())
}

impl Outbox<Cell, Arc<Call>> for Out<'_> {
    fn send(&mut self, m: FromClient<Cell>) {
        let waits = || !may_go(&self.peer.name, |f| m.each_value(f));
        if waits() {
            self.peer.unsent.store(true, Ordering::SeqCst);
            // It may be known by now; otherwise it is sent when it is ([`Remote::met`]).
            if waits() {
                return;
            }
        }
        // Whatever is called for another node was encoded before.
        let (put, mut trace) = (size_of_put(&m), None);
        if let Ok(m) = m.try_map(|c| bytes_of(&c, &self.peer.name, &mut trace)) {
            if let Some((link, peer)) = self.remote.known(self.peer) {
                self.remote.traffic.sends(1);
                // One that can't be sent is lost: its call is repeated on the next connection.
                let more = self.sends == Sends::Among;
                let _ = match put.filter(|_| self.sends != Sends::One) {
                    Some(bytes) => link.send_in_order(peer, m, trace.as_deref(), is_large(bytes), more),
                    None if more => link.send_among(peer, m, trace.as_deref()),
                    None => link.send_traced(peer, m, trace.as_deref()),
                };
            }
        }
    }
    fn ended(&mut self, call: Arc<Call>, result: Result<Done<Cell>, Failure>) {
        self.ended.push((call, result.map_err(Trouble::Failure)));
    }
}

/// Who owns the keys of a manager that is not this node's: another node, or a store.
#[derive(Clone)]
pub enum Owner {
    Node(Arc<Remote>, Arc<Peer>),
    Engine(Arc<dyn Engine<Bytes>>),
}

impl std::fmt::Display for Owner {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Owner::Node(_, p) => write!(f, "node {}", p.name),
            Owner::Engine(e) => f.write_str(e.name()),
        }
    }
}

/// May all references in the values that it is shown be handed over to that node?
fn may_go(to: &str, each: impl FnOnce(&mut dyn FnMut(&Cell))) -> bool {
    let mut all = true;
    each(&mut |c| all &= c.luggage().is_none_or(|l| l.may_go(to)));
    all
}

impl Owner {
    /// Makes a call, which ends after `long` nanoseconds. Values were encoded before. `among`: others are likely to follow at once.
    pub fn call(&self, what: kumi_segments::Call<Cell>, call: &Arc<Call>, long: Option<u64>, among: bool) -> u64 {
        match self {
            Owner::Node(remote, peer) => {
                remote.begin(peer, long, among, |deadline, c, out| c.call(clock::now(), what, call.clone(), deadline, out))
            }
            Owner::Engine(engine) => match what.try_map(&mut |c: Cell| c.bytes().cloned().ok_or(())) {
                Ok(what) => {
                    let call = call.clone();
                    let end = Box::new(move |r: kumi_segments::Outcome<Bytes>| {
                        let encoded = |done: Done<Bytes>| done.try_map(&mut |b| Ok(Cell::encoded(b, None)));
                        call.end(r.and_then(encoded));
                    });
                    engine.call(what, long, end)
                }
                Err(()) => {
                    call.end(Err(Failure::Refused(kumi_segments::Refusal::Bad).into()));
                    0
                }
            },
        }
    }
    /// Makes calls one after another, of which one object tells ([`Call::of`]). Others are likely to follow at once.
    pub fn call_all(&self, all: Vec<kumi_segments::Call<Cell>>, call: &Arc<Call>) -> Numbers {
        match self {
            Owner::Node(remote, peer) => remote.begin(peer, None, true, |_, c, out| {
                let now = clock::now();
                all.into_iter().map(|what| c.call(now, what, call.clone(), None, out)).collect()
            }),
            Owner::Engine(_) => all.into_iter().map(|what| self.call(what, call, None, true)).collect(),
        }
    }
    /// Nobody waits for a call any more.
    pub fn leave(&self, number: u64) {
        match self {
            Owner::Node(remote, peer) => remote.leave(peer, number),
            Owner::Engine(engine) => engine.leave(number),
        }
    }
    /// What a call took without a lease is used. False: it must not be, and the call goes on.
    pub fn used(&self, number: u64, call: &Arc<Call>) -> bool {
        match self {
            Owner::Node(remote, peer) => remote.with(peer, |c, out| c.used(clock::now(), number, call.clone(), out)),
            Owner::Engine(engine) => {
                engine.used(number);
                true
            }
        }
    }
    /// Has it watches? `None`: it was not connected yet.
    pub fn knows_watches(&self) -> Option<bool> {
        match self {
            Owner::Node(remote, peer) => remote.known(peer)?.1.knows(kumi_link::features::WATCHES),
            Owner::Engine(_) => Some(true),
        }
    }
    /// Or why a call has no sense now.
    pub fn reachable(&self) -> Result<(), String> {
        match self {
            Owner::Node(remote, peer) => remote.reachable(peer),
            Owner::Engine(_) => Ok(()),
        }
    }
}

impl Remote {
    /// Starts to listen and to join.
    ///
    /// # Errors
    /// What is wrong with the addresses or certificates, in words.
    pub fn start(cx: &Cx, shared: &Arc<Shared>, options: kumi_link::Options) -> Result<Arc<Remote>, String> {
        let patience = cx.options.patience;
        let options = kumi_link::Options { recorder: cx.recorder().cloned(), patience, ..options };
        let usual = ClientOptions::default();
        let clients = ClientOptions {
            lease: lease(cx),
            grace: usual.grace.saturating_mul(patience.into()),
            hello: usual.hello.saturating_mul(patience.into()),
            ..usual
        };
        let incarnation = shared.lock().node.incarnation();
        let remote = Arc::new(Remote {
            name: options.name.as_str().into(),
            incarnation,
            shared: shared.clone(),
            link: OnceLock::new(),
            service: OnceLock::new(),
            peers: Mutex::default(),
            options: clients,
            patience,
            planned: AtomicU64::new(u64::MAX),
            encoder: Encoder::new(cx),
            news: Default::default(),
            traffic: Default::default(),
            refused: Mutex::default(),
            joins: AtomicBool::new(options.join.iter().any(|a| !options.listen.contains(a) && options.advertise.as_ref() != Some(a))),
            forked: AtomicBool::new(false),
            over: OnceLock::new(),
            guests: Default::default(),
        });
        let link = Link::start(options, Arc::new(Serving(Arc::downgrade(&remote)))).map_err(|e| e.to_string())?;
        let _ = remote.link.set(link);
        Ok(remote)
    }
    /// The proxy of a node, which need not be there yet.
    pub fn peer(&self, name: &str) -> Arc<Peer> {
        let mut peers = self.peers.lock();
        if let Some(p) = peers.get(name) {
            return p.clone();
        }
        let client = Mutex::new(Client::new(self.incarnation, self.options.clone()));
        let p =
            Arc::new(Peer { name: name.into(), client, known: OnceLock::new(), unsent: AtomicBool::new(false), symbols: Arc::default() });
        peers.insert(name.into(), p.clone());
        p
    }
    fn all(&self) -> Vec<Arc<Peer>> {
        self.peers.lock().values().cloned().collect()
    }
    /// Does something with a proxy, and tells of the calls that ended by it.
    fn with<T>(&self, peer: &Peer, f: impl FnOnce(&mut Client<Cell, Arc<Call>>, &mut Out) -> T) -> T {
        self.with_sent(peer, Sends::Again, f)
    }
    fn with_sent<T>(&self, peer: &Peer, sends: Sends, f: impl FnOnce(&mut Client<Cell, Arc<Call>>, &mut Out) -> T) -> T {
        let mut out = Out { remote: self, peer, ended: Vec::new(), sends };
        let done = {
            let mut client = lock_soon(&peer.client);
            let done = f(&mut client, &mut out);
            // After `f`: who looks at all of them from here on finds this one's.
            self.planned.fetch_min(client.next_deadline().unwrap_or(u64::MAX), Relaxed);
            done
        };
        for (call, r) in out.ended {
            call.end(r);
        }
        done
    }
    /// Makes calls, which end after `long` nanoseconds: `make` gets the deadline.
    fn begin<T>(
        &self,
        peer: &Peer,
        long: Option<u64>,
        among: bool,
        make: impl FnOnce(Option<Time>, &mut Client<Cell, Arc<Call>>, &mut Out) -> T,
    ) -> T {
        let deadline = long.map(|l| clock::now().saturating_add(l));
        let sends = if among { Sends::Among } else { Sends::One };
        let (made, hears) = self.with_sent(peer, sends, |c, out| (make(deadline, c, out), c.is_connected()));
        if !hears && !self.connect(peer) || self.over.get().is_some() {
            // It has gone meanwhile, and this call was not there yet to be told.
            self.with(peer, |c, out| c.gone(out));
        }
        if long.is_some() {
            self.link.get().inspect(|l| l.nudge());
        }
        made
    }
    /// A node as the link knows it, if it does.
    fn known<'a>(&'a self, peer: &'a Peer) -> Option<(&'a Link, &'a kumi_link::Peer)> {
        let link = self.link.get()?;
        if let Some(known) = peer.known.get() {
            return Some((link, known));
        }
        let known = link.peer(&peer.name)?;
        Some((link, peer.known.get_or_init(|| known)))
    }
    /// Sees to it that there is a connection. False: no such member is known.
    pub fn connect(&self, peer: &Peer) -> bool {
        let Some((link, known)) = self.known(peer) else { return false };
        if known.is_connected() {
            self.resume(peer);
            return true;
        }
        // A peer is known for a while after it has gone.
        let member = self.is_member(&peer.name);
        if member {
            link.connect(known);
        }
        member
    }
    /// The proxy goes on with a connection that is there: it was told that the node is gone, and then the node was there again, or a later
    /// life of it.
    fn resume(&self, peer: &Peer) {
        self.with(peer, |c, out| {
            if !c.is_connected() {
                c.connected(clock::now(), out);
            }
        });
    }
    /// Is the process a child of the node's?
    pub fn is_forked(&self) -> bool {
        self.forked.load(Ordering::Relaxed)
    }
    /// Whether a node is a member.
    pub fn is_member(&self, name: &str) -> bool {
        self.link.get().is_some_and(|l| l.members().binary_search_by(|m| (**m.name()).cmp(name)).is_ok())
    }
    /// As [`connect`](Self::connect), or why a call of that node has no sense now.
    pub fn reachable(&self, peer: &Peer) -> Result<(), String> {
        if let Some(why) = self.over.get() {
            return Err(why.clone());
        }
        if self.is_forked() {
            return Err(FORKED.into());
        }
        // What is left to do for it is done when the call is made.
        if self.known(peer).is_some_and(|(_, known)| known.is_connected()) || self.connect(peer) {
            return Ok(());
        }
        let name = &peer.name;
        let mut why = format!("there is no node {name} now: Kumihimo::Segments.nodes names those that are there");
        if self.joins.load(Relaxed) {
            why.push_str("; this node has reached none of those that it joins so far: kumi node --await N and ");
            why.push_str("Kumihimo::Segments.wait_for_nodes(N) wait until there are N nodes");
        }
        let refused = self.refused();
        if !refused.is_empty() {
            why.push_str(&format!("; connections that failed: {}", refused.join("; ")));
        }
        Err(why)
    }
    /// Connections that failed last, and why.
    pub fn refused(&self) -> Vec<String> {
        self.refused.lock().iter().map(|(with, why)| format!("{with}: {why}")).collect()
    }
    /// A connection has ended. There will be none to who is no member any more.
    fn disconnected(&self, name: &str) {
        self.guests().for_each(|g| g.disconnected(name));
        if !self.is_member(name) {
            return self.lost(name);
        }
        let p = self.peer(name);
        self.with(&p, |c, _| c.disconnected());
        // The other one may have made the connection, and may not need it again.
        self.reach(name);
    }
    /// This life of a node is over, as an owner and as a client.
    fn lost(&self, name: &str) {
        let p = self.peer(name);
        self.with(&p, |c, out| c.gone(out));
        let mut replies = Replies::default();
        let woken = {
            let mut inner = self.shared.lock();
            inner.act_remote(|node, ring| {
                node.gone(clock::now(), name.as_bytes(), ring, &mut |to, m| self.add(&mut replies, to, m));
            })
        };
        self.tell(replies, woken);
    }
    fn refuse(&self, with: &str, why: &str) {
        if !self.refused.lock().iter().any(|r| *r.0 == *with && *r.1 == *why) {
            self.news.add(member::Change::Refused, &format!("{with}: {why}"));
        }
        let mut all = self.refused.lock();
        all.retain(|r| *r.0 != *with);
        if all.len() >= REFUSED {
            all.pop_front();
        }
        all.push_back((with.into(), why.into()));
    }
    /// A member is there: what failed before is of no account.
    fn came(&self, member: &kumi_membership::Member) {
        self.joins.store(false, Relaxed);
        self.refused.lock().retain(|r| *r.0 != **member.name() && *r.0 != **member.address());
        self.reach(member.name());
    }
    /// That node takes references from now on: what waited for it is said again, as on a new connection.
    pub fn met(&self, name: &str) {
        let peer = self.peers.lock().get(name).cloned();
        if let Some(peer) = peer.filter(|p| p.unsent.swap(false, Ordering::SeqCst)) {
            self.with(&peer, |c, out| {
                if c.is_connected() {
                    c.connected(clock::now(), out);
                }
            });
        }
    }
    /// Who uses the connections as well, from now on. The same as [`Guest::connected`] is to be done for those that are there. There is room
    /// for so many as there are floors with one.
    pub fn invite(&self, guest: Arc<dyn Guest>) {
        let mut left = Some(guest);
        for place in &self.guests {
            let Some(guest) = left.take() else { return };
            left = place.set(guest).err();
        }
    }
    fn guests(&self) -> impl Iterator<Item = &dyn Guest> {
        self.guests.iter().map_while(|g| g.get()).map(|g| &**g)
    }
    /// This node is in the cluster no more: no call is answered from now on. What was received is confirmed.
    pub fn end(&self, why: String) {
        let _ = self.over.set(why);
        self.guests().for_each(|g| g.over());
        for p in self.all() {
            self.with(&p, |c, out| c.farewell(out));
        }
    }
    /// Says goodbye.
    pub fn leave_cluster(&self, why: String) {
        self.end(why);
        self.link.get().inspect(|l| l.stop());
    }
    /// A message that can't be sent is lost: its call is repeated on the next connection. False: it is too long to be ever sent.
    fn send(&self, to: &str, m: impl Into<Message>, trace: Option<Arc<Trace>>) -> bool {
        match self.link.get().and_then(|l| Some((l, l.peer(to)?))) {
            Some((link, peer)) => {
                self.traffic.sends(1);
                !matches!(link.send_traced(&peer, m, trace.as_deref()), Err(SendError::TooLong { .. }))
            }
            None => true,
        }
    }
    /// The proxy of a node is to be reached again, if anybody waits for it.
    fn reach(&self, name: &str) {
        let peer = self.peers.lock().get(name).cloned();
        if let Some(peer) = peer.filter(|p| p.client.lock().open_calls() > 0) {
            self.connect(&peer);
        }
    }
    /// Nobody waits for a call any more.
    pub fn leave(&self, peer: &Peer, number: u64) {
        self.with(peer, |c, out| c.leave(clock::now(), number, out));
    }
    /// The message comes back where a value has no bytes, or more than can be sent, or references for one that may not take any.
    pub fn answer_at_once(&self, client: &[u8], m: FromOwner<Cell>) -> Result<(), FromOwner<Cell>> {
        let Ok(client) = std::str::from_utf8(client) else { return Ok(()) };
        if !may_go(client, |f| m.each_value(f)) {
            return Err(m);
        }
        let mut trace = None;
        match m.clone().try_map(|c| bytes_of(&c, client, &mut trace)) {
            Ok(ready) => match self.send(client, ready, trace) {
                true => Ok(()),
                false => Err(m),
            },
            Err(()) => Err(m),
        }
    }
    /// Answers clients, and then wakes who waits here.
    fn tell(&self, replies: Replies, woken: Woken) {
        self.send_answers(replies);
        woken.wake_outside();
        self.encode_held();
    }
    /// The connections.
    pub fn link(&self) -> Option<&Link> {
        self.link.get()
    }
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }
}

impl Drop for Remote {
    /// The end of its runtime: the others are told.
    fn drop(&mut self) {
        self.leave_cluster("the runtime has ended".into());
    }
}

impl Clients for Remote {
    fn add(&self, replies: &mut Replies, client: &[u8], m: FromOwner<Cell>) {
        let mut encoded = true;
        m.each_value(|c| encoded &= c.bytes().is_some());
        if !encoded {
            return self.encoder.add(client.into(), m);
        }
        match m.try_map(|c| Ok::<_, std::convert::Infallible>(c.to_send())) {
            Ok(m) => replies.0.push((client.into(), m)),
            Err(e) => match e {},
        }
    }
    /// Those that are too long to be sent are the encoder's, which refuses them.
    fn send_answers(&self, replies: Replies) {
        for (client, m) in replies.0 {
            if let Err(m) = self.answer_at_once(&client, m) {
                self.encoder.add(client, m);
            }
        }
    }
    fn encode(&self) {
        self.encode_held();
    }
    fn encode_by(&self, cx: &mut Cx) {
        self.encode_held_by(cx);
    }
    fn encode_key(&self, name: &[u8]) {
        self.encoder.add_key(name);
    }
    fn each_value(&self, f: &mut dyn FnMut(Value)) {
        self.encoder.each_value(f);
    }
    fn runtime_ends(&self) {
        self.encoder.close();
    }
    fn forked(&self) {
        self.forked.store(true, Ordering::Relaxed);
    }
}

/// This node among others, if it is.
#[derive(Default)]
pub struct Here(pub Mutex<Option<Arc<Remote>>>);
