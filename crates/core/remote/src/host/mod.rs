//! This node's part in calls and references: tables, calls, and who waits for what.
//!
//! **Invariant.** Everything is behind one lock, which is held for a few instructions: no cell is made, nothing is sent, nobody is
//! woken and nothing of [`Arrivals`] is dropped meanwhile; what is to be done is noted in [`After`]. Whoever waits leaves his waker before
//! he looks once more.
//!
//! What the collector sees: exports, and objects of this node that came home in what was not looked at yet, as roots (`round`); proxies
//! weakly.

pub mod arrivals;
pub mod cells;
pub mod guest;
pub mod line;
pub mod luggage;
pub mod moves;
pub mod pending;
pub mod round;
pub mod servers;

use crate::talk::book::{Calls, Runs};
use crate::talk::message::{Call, Message, NUMBERS};
use arrivals::Arrivals;
use cells::Cells;
use kumi_core_segments::Node;
use kumi_core_segments::encode::Symbols;
use kumi_core_segments::lock_soon;
use kumi_link::SendError;
use kumi_remote::{Action, Arrived, Error, Import, Life, NodeId, Remote, Time};
use kumi_vm::*;
use kumi_wire::Bytes;
use line::Line;
use parking_lot::Mutex;
use pending::{Ended, Outcome, Pending};
use round::Rounds;
use rustc_hash::FxHashMap;
use servers::Servers;
use smallvec::SmallVec;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::sync::{Arc, Weak};

/// See the module.
pub struct Host {
    /// This node's name.
    pub name: Box<str>,
    node: Weak<Node>,
    /// A child of this process has its connections, and says nothing on them.
    forked: AtomicBool,
    /// This node is in the cluster no more.
    over: AtomicBool,
    inner: Mutex<Inner>,
    /// The time that the link was last told of.
    planned: AtomicU64,
    /// What values of segments held that are gone.
    behind: Mutex<Vec<Arrived>>,
}

/// What is behind the lock.
pub struct Inner {
    /// Read them; what changes them goes through [`Inner::tables`].
    pub seen: Remote,
    /// The tables were changed: they may have something to say.
    touched: bool,
    /// Exports that were released, as far as the runtime was told: what hangs on them is looked for though no Ruby code has run since.
    released: u64,
    pub peers: FxHashMap<Arc<str>, Peer>,
    names: HashMap<NodeId, Arc<str>>,
    /// With so many it is looked which of them are to be forgotten.
    look_at: usize,
    /// And so many the tables know.
    most: usize,
    /// Objects of other nodes, as this one has them.
    pub proxies: FxHashMap<Import, Held>,
    /// Objects of this node in what came and was not looked at, by the bits of their cells.
    pub homes: FxHashMap<u64, u32>,
    /// Objects that move or have moved.
    pub moves: moves::Moves,
    /// Calls that nobody has begun, and who does so.
    pub servers: Servers,
    /// Who does what, by the runs' serials.
    pub threads: FxHashMap<u64, Doing>,
    /// The serial of the last run.
    pub serial: u64,
    /// Somebody does not read what it is answered, perhaps.
    pub crowded: bool,
    /// Runs that are to be interrupted.
    pub interrupts: VecDeque<u64>,
    pub interrupter: Option<Waker>,
    /// Who waits until a node can be handed references.
    pub strangers: Vec<Waker>,
    pub cells: Cells,
    pub rounds: Rounds,
    /// This node is in the cluster no more.
    pub over: bool,
}

/// Another node.
pub struct Peer {
    pub known: kumi_link::Peer,
    pub node: NodeId,
    /// Its life that these calls are of.
    pub incarnation: u64,
    pub calls: Calls<Waiter>,
    pub runs: Runs,
    /// What waits for room on the connection.
    pub line: Line,
    /// Bytes of its calls that nobody has begun.
    pub waiting: usize,
    /// When it was lost, and whether that life of it may come back.
    lost: Option<(Time, bool)>,
    /// There were too many for the tables.
    pub beyond: bool,
    /// Those that its values have made here.
    pub symbols: Arc<Symbols>,
    /// Parcels of segments' values that left on this connection, some of which have come; so many had not when that was last looked at.
    afloat: Vec<kumi_remote::Parcel>,
    afloat_least: usize,
}

/// Fewer nodes are never looked through for those that are gone.
const FEW: usize = 64;
/// A life that was lost, but may come back, is remembered for so long, and with it which of its calls were done.
const REMEMBERED: Time = 3_600_000_000_000;

impl Peer {
    /// It is gone, and nothing of it is under way. `hurry`: also if it may come back.
    fn is_gone(&self, now: Time, hurry: bool) -> bool {
        let over = |(at, again): (Time, bool)| !again || hurry || now.saturating_sub(at) > REMEMBERED;
        self.lost.is_some_and(over) && !self.known.is_connected() && self.calls.len() == 0 && self.runs.len() == 0 && self.line.is_idle()
    }
}

/// Who waits for an answer.
pub struct Waiter {
    pub call: Arc<Pending>,
    /// Of its arguments.
    pub parcel: Option<kumi_remote::Parcel>,
    /// What it calls, as the message has it.
    pub import: Option<Import>,
}

/// An object of another node.
#[derive(Default)]
pub struct Held {
    /// The number of the newest proxy.
    pub version: u32,
    /// Proxies that were not dropped, and those that are to be made of what came.
    pub count: u32,
    /// The one that is handed out ([`Inner::hand_out`]).
    pub proxy: Option<Value>,
}

/// Which call of which node.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RunName {
    pub peer: Arc<str>,
    pub incarnation: u64,
    pub number: u64,
}

/// A thread that does a call.
pub struct Doing {
    pub thread: Value,
    /// When it began.
    pub since: Time,
    /// The bits of the object that it calls; 0: none.
    pub object: u64,
    /// Somebody is about to interrupt it: the call does not end before.
    pub interrupted: bool,
    /// Somebody was, or is.
    pub claimed: bool,
    pub waits: Option<Waker>,
}

/// A call of a peer's that nobody has begun.
pub struct Incoming {
    pub run: RunName,
    pub call: Call,
    pub since: Time,
    /// Of its coming, in a recording.
    pub mark: u64,
}

// SAFETY: proxies are compared and handed out by workers only; the module says what keeps cells alive.
unsafe impl Send for Inner {}

/// What is to be done once the lock is let go.
#[derive(Default)]
pub struct After {
    send: SmallVec<[Sent; 1]>,
    wake: SmallVec<[Waker; 1]>,
    ended: SmallVec<[(Arc<Pending>, Ended); 1]>,
    dropped: Vec<Arrivals>,
    /// Nodes that take references from now on.
    met: Vec<Arc<str>>,
    among: bool,
    bell: Option<OutsideBell>,
    /// Nodes that are sent no more of this lane before the link was asked whether they have room.
    asks: Filled,
}

/// Nodes, and their lanes that are full.
type Filled = SmallVec<[(kumi_link::Peer, usize); 1]>;

/// A message, and the call that it is.
type Sent = (kumi_link::Peer, Bytes, Option<(Arc<str>, u64)>);

impl After {
    pub fn send(&mut self, p: &Peer, m: &Message) {
        self.send.push((p.known.clone(), m.encode(), None));
    }
    /// More messages are likely to follow at once: these may wait for them.
    pub fn among_others(&mut self) {
        self.among = true;
    }
    pub fn wake(&mut self, w: Option<Waker>) {
        self.wake.extend(w);
    }
    pub fn end(&mut self, call: Arc<Pending>, ended: Ended) {
        self.ended.push((call, ended));
    }
    pub fn drop(&mut self, a: Arrivals) {
        self.dropped.push(a);
    }
    pub fn ring(&mut self, bell: &OutsideBell) {
        self.bell = Some(bell.clone());
    }
}

/// A node by its name: FNV-1a, and a mixing step.
pub fn node_id(name: &str) -> NodeId {
    let h = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    let h = (h ^ h >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    NodeId(h ^ h >> 29)
}

/// Why nothing is called there.
pub fn no_node(name: &str) -> String {
    format!("there is no node {name} now")
}

impl Host {
    /// Of a node; `secret` is chance.
    pub fn new(node: &Arc<Node>, options: kumi_remote::Options, secret: [u64; 2], rounds: Rounds) -> Arc<Host> {
        let me = Life { node: node_id(&node.name), incarnation: node.incarnation };
        let most = options.peers;
        let inner = Inner {
            seen: Remote::new(me, options, secret),
            touched: false,
            released: 0,
            peers: FxHashMap::default(),
            names: HashMap::new(),
            look_at: FEW,
            most,
            proxies: FxHashMap::default(),
            homes: FxHashMap::default(),
            moves: moves::Moves::default(),
            servers: Servers::default(),
            threads: FxHashMap::default(),
            serial: 0,
            crowded: false,
            interrupts: VecDeque::new(),
            interrupter: None,
            strangers: Vec::new(),
            cells: Cells::default(),
            rounds,
            over: false,
        };
        let name = node.name.clone();
        Arc::new(Host {
            name,
            node: Arc::downgrade(node),
            forked: AtomicBool::new(false),
            over: AtomicBool::new(false),
            inner: Mutex::new(inner),
            planned: AtomicU64::new(u64::MAX),
            behind: Mutex::default(),
        })
    }
    /// This process is a child of the one that is the node.
    pub fn forked(&self) {
        self.forked.store(true, Relaxed);
    }
    /// Is it that child's, which never hears of a call?
    pub fn is_forked(&self) -> bool {
        self.forked.load(Relaxed)
    }
    /// Is it a node no more?
    pub fn is_over(&self) -> bool {
        self.over.load(Relaxed)
    }
    /// The node, while it is one.
    pub fn node(&self) -> Option<Arc<Node>> {
        self.node.upgrade()
    }
    /// Does something under the lock, and afterwards what is to be done.
    pub fn act<T>(&self, f: impl FnOnce(&mut Inner, Time, &mut After) -> T) -> T {
        let mut after = After::default();
        let now = kumi_link::now();
        let (done, deadline) = {
            let mut inner = lock_soon(&self.inner);
            let done = f(&mut inner, now, &mut after);
            let deadline = inner.drain(&mut after);
            (done, deadline)
        };
        self.go(after);
        deadline.inspect(|at| self.plan(*at));
        done
    }
    /// The tables are to be looked at by then.
    fn plan(&self, at: Time) {
        if at < self.planned.load(Relaxed) {
            self.planned.store(at, Relaxed);
            if let Some(node) = self.node()
                && let Some(link) = node.link()
            {
                link.nudge();
            }
        }
    }
    /// The same where the tables have nothing to say afterwards.
    pub fn look<T>(&self, f: impl FnOnce(&mut Inner) -> T) -> T {
        f(&mut lock_soon(&self.inner))
    }
    fn go(&self, after: After) {
        let mut asks = self.carry_out(after);
        while !asks.is_empty() {
            let Some(node) = self.node() else { return };
            let Some(link) = node.link() else { return };
            let mut after = After::default();
            asks.retain(|(peer, lane)| !link.when_drained(peer, *lane == 1));
            self.look(|inner| asks.iter().for_each(|(peer, _)| inner.go_on(peer.name(), &mut after)));
            asks = self.carry_out(after);
        }
    }
    /// What it leaves is to be asked of the link.
    fn carry_out(&self, after: After) -> Filled {
        for (call, ended) in after.ended {
            call.end(ended);
        }
        for w in after.wake {
            w.wake();
        }
        if let Some(bell) = after.bell {
            bell.ring();
        }
        if let Some(node) = self.node().filter(|_| !after.met.is_empty()) {
            after.met.iter().for_each(|name| node.met(name));
        }
        if !after.send.is_empty() && !self.forked.load(Relaxed) {
            let node = self.node();
            let Some((node, link)) = node.as_ref().and_then(|n| Some((n, n.link()?))) else { return Filled::new() };
            node.traffic.sends(after.send.len() as u64);
            for (peer, bytes, call) in after.send {
                let sent = if after.among { link.send_among(&peer, bytes, None) } else { link.send(&peer, bytes) };
                let Some((name, number)) = call else { continue };
                match sent {
                    // One whose connection is too slow ends with it, and is asked for on the next one.
                    Ok(()) | Err(SendError::Slow) => {}
                    Err(SendError::TooOld | SendError::TooLong { .. }) => {
                        self.fail(&name, number, format!("node {name} is of a version that knows no calls"));
                    }
                    Err(_) => self.not_sent(&name, &peer, number),
                }
            }
        }
        after.asks
    }
    /// What was to wait for other messages does so no more: none follows at once.
    pub fn let_go(&self) {
        if let Some(node) = self.node()
            && let Some(link) = node.link()
        {
            link.let_go();
        }
    }
    /// A call could not be sent: it waits for the next connection, which may be there already. One that is about to end is not that.
    fn not_sent(&self, name: &Arc<str>, peer: &kumi_link::Peer, number: u64) {
        self.look(|inner| {
            if let Some(p) = inner.peers.get_mut(name) {
                p.calls.not_sent(number);
            }
        });
        if peer.is_open() {
            self.act(|inner, _, after| inner.resume(name, after));
        } else if !peer.is_connected() && !self.node().is_some_and(|n| n.connect(&n.peer(name))) {
            self.fail(name, number, no_node(name));
        }
    }
    /// A call of which nothing was sent is over.
    fn fail(&self, name: &Arc<str>, number: u64, why: String) {
        self.act(|inner, now, after| {
            if let Some(w) = inner.end_call(now, name, number) {
                after.end(w.call, Ended::Lost(Outcome::NotSent, why));
            }
        });
    }
    /// This node is in the cluster no more.
    pub fn end(&self) {
        self.over.store(true, Relaxed);
        self.act(|inner, _, after| inner.end(after));
    }
    /// When the tables are next to be looked at.
    pub fn deadline(&self) -> Option<Time> {
        if self.has_left() {
            return Some(0);
        }
        let at = {
            let inner = self.inner.lock();
            inner.seen.next_deadline().into_iter().chain(inner.looks_at()).min()
        };
        self.planned.store(at.unwrap_or(u64::MAX), Relaxed);
        at
    }
    /// A collection marked these: proxies that are not alive are not handed out again.
    pub fn sift(&self, alive: &dyn Fn(Value) -> bool) {
        let looks = {
            let inner = &mut *self.inner.lock();
            let full = std::mem::take(&mut inner.rounds.full);
            inner.sift(full, alive);
            inner.moves.sift(&inner.seen, alive);
            inner.looks_at()
        };
        looks.inspect(|at| self.plan(*at));
    }
    /// What is wanted of the collector?
    pub fn asks(&self) -> Asks {
        let inner = self.inner.lock();
        match inner.proxies.is_empty() {
            _ if inner.wants_collection() => Asks::Collection,
            // Their death is to be noticed.
            false => Asks::WhereCodeRan,
            true => Asks::Nothing,
        }
    }
}

impl Inner {
    /// What the tables want to have done. When they want to be looked at again.
    fn drain(&mut self, after: &mut After) -> Option<Time> {
        if !std::mem::take(&mut self.touched) {
            return None;
        }
        while let Some(action) = self.seen.poll() {
            match action {
                Action::Send { to, bytes } => {
                    if let Some(p) = self.names.get(&to).and_then(|n| self.peers.get(n)) {
                        after.send(p, &Message::Tables(Bytes::from(bytes)));
                    }
                }
                Action::Met(life) => {
                    after.wake.extend(self.strangers.drain(..));
                    after.met.extend(self.name_of(life.node).cloned());
                }
                Action::Lost { life, .. } => {
                    after.wake.extend(self.strangers.drain(..));
                    self.lost_life(life, after);
                }
                Action::Swept { round, dropped } => self.swept(round, dropped, after),
                Action::Refused(..) | Action::Nonsense(..) | Action::Complaint(..) => {}
            }
        }
        self.note_round(after);
        let released = self.seen.given_back();
        if std::mem::replace(&mut self.released, released) != released {
            after.wake(self.servers.stir());
        }
        self.seen.next_deadline()
    }
    /// Objects on their way, and threads, for the collector.
    fn each_root(&self, m: &mut Marker) {
        self.homes.keys().for_each(|bits| m.mark(Value::from_bits(*bits)));
        self.moves.each_root(&self.seen, |bits| m.mark(Value::from_bits(bits)));
        self.threads.values().for_each(|t| m.mark(t.thread));
    }
    /// The tables, to be changed.
    pub fn tables(&mut self) -> &mut Remote {
        self.touched = true;
        &mut self.seen
    }
    fn lost_life(&mut self, life: Life, after: &mut After) {
        let Some(name) = self.names.get(&life.node).cloned() else { return };
        if self.peers.get(&name).is_some_and(|p| p.incarnation == life.incarnation) {
            self.none_answers(&name, "was lost", after);
            self.nobody_wants(&name, after);
        }
    }
    /// Nobody is there to hear what comes of this node's calls: who does them is interrupted.
    pub fn nobody_wants(&mut self, name: &str, after: &mut After) {
        let Some(p) = self.peers.get_mut(name) else { return };
        let off = p.runs.call_off_all();
        if !off.is_empty() {
            self.interrupts.extend(off);
            after.wake(self.interrupter.take());
        }
    }
    /// Nobody is there to answer what this node has called.
    pub fn none_answers(&mut self, name: &str, why: &str, after: &mut After) {
        let Some(p) = self.peers.get_mut(name) else { return };
        let node = p.node;
        for (_, open) in p.calls.end_all() {
            self.names_no_more(kumi_link::now(), open.who.import);
            if let Some(parcel) = open.who.parcel {
                self.tables().done(kumi_link::now(), node, parcel);
            }
            let outcome = if open.sent { Outcome::PerhapsDone } else { Outcome::NotSent };
            after.end(open.who.call, Ended::Lost(outcome, format!("node {name} {why}")));
        }
    }
    fn end(&mut self, after: &mut After) {
        self.over = true;
        let names: Vec<Arc<str>> = self.peers.keys().cloned().collect();
        names.iter().for_each(|n| self.none_answers(n, "is out of reach: this node has left the cluster", after));
        names.iter().for_each(|n| self.line_ends(n, after));
        after.wake.extend(self.servers.end());
        after.wake.extend(self.strangers.drain(..));
        after.wake(self.interrupter.take());
    }
    /// The entry of a node.
    pub fn peer(&mut self, known: &kumi_link::Peer) -> &mut Peer {
        let name = known.name().clone();
        if !self.peers.contains_key(&name) {
            self.forget_gone(kumi_link::now());
            let (node, incarnation) = (node_id(&name), known.incarnation());
            self.names.insert(node, name.clone());
            // Its connection may be older than what is here: then nobody says that it is there.
            let beyond = incarnation != 0 && self.tables().up(kumi_link::now(), Life { node, incarnation }) == Err(Error::Quota);
            let p = Peer {
                known: known.clone(),
                node,
                incarnation,
                calls: Calls::default(),
                runs: Runs::default(),
                line: Line::default(),
                waiting: 0,
                lost: None,
                beyond,
                symbols: Arc::default(),
                afloat: Vec::new(),
                afloat_least: 0,
            };
            self.peers.insert(name.clone(), p);
        }
        self.peers.get_mut(&name).expect("it was put there")
    }
    /// Forgets nodes that are gone, where as many have come as there were at the last look.
    fn forget_gone(&mut self, now: Time) {
        let count = self.peers.len();
        if count < self.look_at.min(self.most) {
            return;
        }
        let hurry = count >= self.most;
        let gone: Vec<Arc<str>> = self.peers.iter().filter(|(_, p)| p.is_gone(now, hurry)).map(|(name, _)| name.clone()).collect();
        for name in gone {
            let Some(p) = self.peers.remove(&name) else { continue };
            // Two names may have one number.
            if self.names.get(&p.node).is_some_and(|known| *known == name) {
                self.names.remove(&p.node);
                self.tables().forget(now, p.node);
            }
        }
        self.look_at = FEW.max(2 * self.peers.len());
    }
    /// That life of a node is lost; for certain: it does not come back.
    pub fn lost(&mut self, now: Time, name: &str, incarnation: u64, for_certain: bool, after: &mut After) {
        let Some(p) = self.peers.get_mut(name).filter(|p| p.incarnation <= incarnation) else { return };
        p.lost = Some((now, !for_certain));
        let life = Life { node: p.node, incarnation };
        self.none_answers(name, "is gone", after);
        if for_certain {
            self.nobody_wants(name, after);
            self.tables().gone(now, life);
        }
    }
    /// The name of a node that was met.
    pub fn name_of(&self, node: NodeId) -> Option<&Arc<str>> {
        self.names.get(&node)
    }
    /// A connection is there.
    pub fn connected(&mut self, now: Time, known: &kumi_link::Peer, after: &mut After) {
        let incarnation = known.incarnation();
        self.sink(now, known.name());
        self.line_ends(known.name(), after);
        let p = self.peer(known);
        let (name, node) = (known.name().clone(), p.node);
        if p.incarnation != incarnation {
            self.nobody_wants(&name, after);
            let p = self.peer(known);
            let before = std::mem::replace(&mut p.incarnation, incarnation);
            p.runs = Runs::default();
            p.waiting = 0;
            if before != 0 {
                self.none_answers(&name, "has started again", after);
            }
        }
        let beyond = self.tables().up(now, Life { node, incarnation }) == Err(Error::Quota);
        let p = self.peer(known);
        (p.lost, p.beyond) = (None, beyond);
        self.resume(&name, after);
    }
    /// Sends what was not sent, and asks for what was.
    pub fn resume(&mut self, name: &Arc<str>, after: &mut After) {
        let Some(p) = self.peers.get_mut(name) else { return };
        for some in p.calls.connected().chunks(NUMBERS as usize) {
            after.send(p, &Message::InDoubt(some.to_vec()));
        }
        self.go_on(name, after);
    }
    /// A call is over: its arguments need no protection any more.
    pub fn end_call(&mut self, now: Time, name: &str, number: u64) -> Option<Waiter> {
        let p = self.peers.get_mut(name)?;
        let open = p.calls.end(number)?;
        let node = p.node;
        self.names_no_more(now, open.who.import);
        if let Some(parcel) = open.who.parcel {
            self.tables().done(now, node, parcel);
        }
        Some(open.who)
    }
    /// A call of this import is over.
    fn names_no_more(&mut self, now: Time, import: Option<Import>) {
        self.touched |= import.is_some_and(|i| self.seen.unused(now, i));
    }
    /// An object of this node in what came was looked at.
    pub fn home_less(&mut self, bits: u64) {
        if let Some(n) = self.homes.get_mut(&bits) {
            *n -= 1;
            if *n == 0 {
                self.homes.remove(&bits);
            }
        }
    }
    /// This thread waits until a node may be handed references.
    pub fn is_stranger(&mut self, w: Waker) {
        self.strangers.retain(|other| other.ticket().task != w.ticket().task);
        self.strangers.push(w);
    }
    /// A proxy is gone, or will not be made.
    pub fn proxy_less(&mut self, now: Time, import: Import) {
        if let Some(held) = self.proxies.get_mut(&import) {
            held.count -= 1;
            if held.count == 0 {
                let version = held.version;
                self.proxies.remove(&import);
                self.tables().dropped(now, import, version);
            }
        }
    }
    /// What came with references is here from now on: see [`Arrivals`].
    pub fn arrived(&mut self, all: &[Arrived]) {
        for a in all {
            match a {
                Arrived::Home(bits) => *self.homes.entry(*bits).or_default() += 1,
                Arrived::Import { import, version } => {
                    let held = self.proxies.entry(*import).or_default();
                    held.version = *version;
                    held.count += 1;
                    self.rounds.comes(*import);
                }
                Arrived::Dead(_) => {}
            }
        }
    }
}
