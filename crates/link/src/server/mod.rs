//! What is served: sockets are read, the host is called, and what is due is done. [`serving`](crate::serving) says by which thread.
//!
//! **Invariant.** While the host is called no lock is held but the server's own. What is told to who serves (`dirty`, `commands`) is looked
//! at after `sleeping` was set, and before anybody sleeps.

mod accept;
mod bulk;
mod dial;
mod gossip;
mod greet;
mod line;
mod sweep;

use crate::address::Address;
use crate::channel::{Came, Channel, Left, kind};
use crate::clock::now;
use crate::codec::{self, features};
use crate::error::{LinkError, Why, code};
use crate::host::Host;
use crate::link::{Command, Link, Shared};
use crate::options::Options;
use crate::recorded;
use crate::serving::{Serves, Serving};
use accept::{Listener, Sources};
use bulk::Bulk;
use dial::Dials;
use kumi_membership::{Config, Member, Membership};
use kumi_segments::Time;
use kumi_wire::{Hello, Lane, Message, Reason};
use line::{Line, Phase};
use mio::{Events, Poll, Token, Waker};
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const WAKER: usize = 0;
/// Taken from the kernel at once.
const EVENTS: usize = 256;
/// Listeners have the numbers below this, from 1 on.
const LINES: usize = 1024;
/// Read at once.
const BUFFER: usize = 128 << 10;
/// How often one connection is read before others have a turn.
const READS: usize = 8;
const MS: Time = 1_000_000;
/// How long what was said goes out after the stop, and how long is waited between two looks.
const LINGER: Time = 1000 * MS;
const BLINK: Duration = Duration::from_millis(4);
/// A connection that ended within so long was of no use.
const SOON: Time = 1000 * MS;

struct Server {
    shared: Arc<Shared>,
    host: Arc<dyn Host>,
    poll: Poll,
    /// Empty between turns.
    events: Events,
    /// The last turn may have left some in the kernel.
    full: bool,
    hello: Hello,
    listeners: Vec<Listener>,
    lines: BTreeMap<usize, Line>,
    last_token: usize,
    sources: Sources,
    membership: Membership,
    /// No address outside the machine was heard of, so that the cluster is impatient.
    within: bool,
    dials: Dials,
    /// Connections by the address that leads to them: the one that was called, and the one that the peer goes by.
    routes: HashMap<Arc<str>, usize>,
    /// The last incarnation of each name.
    seen: HashMap<kumi_membership::Name, u64>,
    /// Connections that may have more to read.
    again: Vec<usize>,
    bulk: Bulk,
    buffer: Vec<u8>,
    plain: Vec<u8>,
    /// Messages of one read; empty between reads.
    batch: Vec<Message>,
    /// What is written to just now; empty otherwise. It takes turns with the shared list.
    flushing: Vec<Arc<Channel>>,
    accept_at: Option<Time>,
    sweep_at: Time,
    /// When nothing is waited for any more, after the stop.
    ends_at: Option<Time>,
    random: Random,
}

fn is_local(address: &str) -> bool {
    Address::parse(address).is_ok_and(|a| a.is_local())
}

/// Numbers nobody need guess: jitter.
struct Random(u64);

impl Random {
    fn new() -> Random {
        Random(std::hash::RandomState::new().build_hasher().finish() | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

impl Link {
    /// Starts a node: listens, joins, and serves on a thread of its own.
    ///
    /// # Errors
    /// What is wrong with the options, or what the system refused.
    pub fn start(options: Options, host: Arc<dyn Host>) -> Result<Link, LinkError> {
        let incarnation = match options.incarnation {
            0 => SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64),
            given => given,
        };
        if let Some(tls) = &options.tls {
            tls.check_own(&options.name)?;
        }
        let poll = Poll::new().map_err(LinkError::System)?;
        let registry = poll.registry().try_clone().map_err(LinkError::System)?;
        let waker = Waker::new(poll.registry(), Token(WAKER)).map_err(LinkError::System)?;
        let loopback = vec!["127.0.0.1:0".to_owned()];
        let listen = if options.listen.is_empty() { &loopback } else { &options.listen };
        // Closed again, and Unix sockets' files removed, if what follows fails.
        let listeners = accept::listen(listen, options.tls.is_some() || options.insecure, &registry)?;
        let listening: Vec<String> = listeners.iter().map(|l| l.address.to_string()).collect();
        let address = match &options.advertise {
            Some(given) => Address::parse(given)?.to_string(),
            None => match listeners.first() {
                Some(l) if !l.is_unspecified() => l.address.to_string(),
                _ => {
                    return Err(LinkError::Options(format!(
                        "{} is no address to reach a node at: say which one is (advertise)",
                        listening[0]
                    )));
                }
            },
        };
        let mut me = Member::new(&options.name, &address, incarnation).map_err(LinkError::Member)?;
        if let Some(web) = &options.about.0 {
            me = me.with_web(web).map_err(LinkError::Member)?;
        }
        if let Some(cores) = options.about.1 {
            me = me.with_cores(cores).map_err(LinkError::Member)?;
        }
        let mut random = Random::new();
        let at = now();
        let within = options.membership.is_none() && listening.iter().chain([&address]).chain(&options.join).all(|a| is_local(a));
        let times = options.patience.max(1);
        let usual = || if within { Config::local() } else { Config::lan() }.patient(times);
        let mut membership = Membership::new(me.clone(), options.membership.clone().unwrap_or_else(usual), random.next(), at);
        for seed in &options.join {
            membership.join(at, &Address::parse(seed)?.to_string()).map_err(LinkError::Member)?;
        }
        let hello = Hello { features: features::KNOWN, ..Hello::new(options.name.clone(), incarnation) };
        kumi_wire::Connection::new(kumi_wire::Role::Caller, hello.clone(), options.limits.wire())
            .map_err(|e| LinkError::Options(e.to_string()))?;
        let (serving, outer) = Serving::new(&poll).map_err(LinkError::System)?;
        let shared = Arc::new(Shared {
            serving,
            me: parking_lot::Mutex::new(me.clone()),
            members: parking_lot::Mutex::new(Arc::new([me])),
            peers: Default::default(),
            told: Default::default(),
            has_told: AtomicBool::new(false),
            has_held: AtomicBool::new(false),
            sleeping: AtomicBool::new(false),
            waker,
            registry,
            tls: parking_lot::Mutex::new(options.tls),
            limits: options.limits.patient(times),
            patience: times,
            recorder: options.recorder,
            thread: Default::default(),
            lookups: AtomicUsize::new(0),
            listening,
        });
        let mut server = Server {
            shared: shared.clone(),
            host: host.clone(),
            poll,
            events: Events::with_capacity(EVENTS),
            full: false,
            hello,
            listeners,
            lines: BTreeMap::new(),
            last_token: LINES,
            sources: Sources::default(),
            membership,
            within,
            dials: Dials::default(),
            routes: HashMap::new(),
            seen: HashMap::new(),
            again: Vec::new(),
            bulk: Bulk::default(),
            buffer: vec![0; BUFFER],
            plain: vec![0; if shared.tls.lock().is_some() { BUFFER } else { 0 }],
            batch: Vec::new(),
            flushing: Vec::new(),
            accept_at: None,
            sweep_at: 0,
            ends_at: None,
            random,
        };
        let link = Link { shared };
        let handle = link.clone();
        let run = move || {
            handle.shared.serve_here();
            server.host.started(&handle);
            server.gossip(now());
            let shared = handle.shared.clone();
            shared.serving.give(server);
            drop(handle);
            shared.serving.run(times > 1, |on| host.sleeps(on), outer);
        };
        let thread = std::thread::Builder::new().name(format!("kumi-link {}", options.name)).spawn(run).map_err(LinkError::System)?;
        *link.shared.thread.lock() = Some(thread);
        Ok(link)
    }
}

impl Drop for Server {
    /// Nothing is left here unless the host has panicked: then nobody is kept waiting for a thread that is gone.
    fn drop(&mut self) {
        self.shared.serving.stopping.store(true, Ordering::SeqCst);
        for line in self.lines.values() {
            line.channel.close(&self.shared.registry);
            if let Some(peer) = &line.peer {
                peer.no_channel();
            }
        }
        *self.shared.told.lock() = Default::default();
    }
}

impl Serves for Server {
    fn turn(&mut self, due: bool) -> bool {
        self.shared.sleeping.store(false, Ordering::SeqCst);
        let mut events = std::mem::replace(&mut self.events, Events::with_capacity(0));
        // Interrupted, it is asked again soon.
        let asked = self.poll.poll(&mut events, Some(Duration::ZERO));
        if asked.is_err() {
            events.clear();
        }
        self.full = events.iter().count() >= EVENTS;
        let told = self.shared.has_told.load(Ordering::Acquire);
        let some = told || !events.is_empty() || !self.again.is_empty() || !self.bulk.is_empty();
        if due {
            self.shared.let_go();
        }
        if some || due {
            self.serve(&events, told, due);
        }
        events.clear();
        self.events = events;
        some
    }

    fn next(&mut self) -> Option<Time> {
        self.shared.sleeping.store(true, Ordering::SeqCst);
        let told = {
            let told = self.shared.told.lock();
            !told.dirty.is_empty() || !told.bulk.is_empty() || !told.commands.is_empty()
        };
        if told || self.full || !self.again.is_empty() || !self.bulk.is_empty() || self.shared.serving.stopping.load(Ordering::SeqCst) {
            self.shared.sleeping.store(false, Ordering::SeqCst);
            return Some(0);
        }
        let sweep = (!self.lines.is_empty()).then_some(self.sweep_at);
        let times = [self.membership.next_deadline(), self.host.deadline(), self.dials.next(), self.accept_at, sweep];
        times.into_iter().flatten().min()
    }

    fn holds(&self) -> bool {
        self.shared.has_held.load(Ordering::SeqCst)
    }

    /// The end: goodbye to all.
    fn finish(&mut self) {
        while self.lingers(now()) {
            self.turn(true);
            std::thread::sleep(BLINK);
        }
        let at = now();
        self.membership.leave(at);
        self.gossip(at);
        let reason = Reason { code: kumi_wire::code::DONE, text: format!("node {} stops", self.hello.name) };
        let channels: Vec<Arc<Channel>> = self.lines.values().map(|l| l.channel.clone()).collect();
        for c in &channels {
            let _ = c.flush(&self.shared.registry, 0);
            c.goodbye(&reason);
        }
        // Whoever reads has a moment for it.
        for _ in 0..50 {
            let mut more = false;
            for c in &channels {
                more |= c.flush(&self.shared.registry, 0).is_ok() && c.has_output();
            }
            if !more {
                break;
            }
            std::thread::sleep(BLINK);
        }
        let tokens: Vec<usize> = self.lines.keys().copied().collect();
        for token in tokens {
            self.close(at, token, Why::Here(reason.clone()));
        }
        self.listeners.clear();
    }
}

impl Server {
    fn serve(&mut self, events: &Events, told: bool, due: bool) {
        let at = now();
        for token in std::mem::take(&mut self.again) {
            self.ready(at, token, true, false, false);
        }
        for e in events {
            match e.token().0 {
                WAKER => {}
                listener if listener < LINES => self.accept(at, listener),
                token => self.ready(at, token, e.is_readable(), e.is_writable(), e.is_read_closed() || e.is_error()),
            }
        }
        let commands = if told { std::mem::take(&mut self.shared.told.lock().commands) } else { Vec::new() };
        for command in commands {
            match command {
                Command::Connect(peer) => self.connect(at, &peer),
                Command::Bulk(peer) => self.connect_second(at, &peer),
                Command::Leave => {
                    self.membership.leave(at);
                    self.gossip(at);
                }
                Command::Found(address, found) => self.found(at, address, found),
            }
        }
        self.flush(at);
        if due {
            self.due(at);
            self.flush(at);
        }
        self.carry(at);
    }

    /// Does what is due.
    fn due(&mut self, at: Time) {
        if self.membership.next_deadline().is_some_and(|d| d <= at) {
            self.membership.tick(at);
            self.gossip(at);
        }
        if self.host.deadline().is_some_and(|d| d <= at) {
            self.host.tick(at);
        }
        if self.dials.next().is_some_and(|d| d <= at) {
            self.dial_due(at);
        }
        if self.accept_at.is_some_and(|d| d <= at) {
            self.accept_at = None;
            (0..self.listeners.len()).for_each(|l| self.accept(at, l + 1));
        }
        if self.sweep_at <= at {
            self.sweep(at);
        }
    }

    /// A connection can be read or written.
    fn ready(&mut self, at: Time, token: usize, readable: bool, writable: bool, ends: bool) {
        let Some(line) = self.lines.get(&token) else { return };
        let channel = line.channel.clone();
        if line.phase == Phase::Connecting {
            match channel.finish_connect() {
                Ok(true) => self.made(at, token),
                Ok(false) if !ends => return,
                Ok(false) => return self.close(at, token, Why::Closed),
                Err(e) => return self.close(at, token, Why::socket(&e)),
            }
        }
        if channel.bulk.load(Ordering::Relaxed) {
            if writable {
                self.bulk.write(channel.clone());
            }
            if readable || ends {
                self.bulk.read(token, ends);
            }
            return;
        }
        if writable {
            self.write(at, &channel);
        }
        if readable || ends {
            self.read(at, token, &channel, ends);
        }
    }

    fn write(&mut self, at: Time, channel: &Arc<Channel>) {
        match channel.flush(&self.shared.registry, self.shared.limits.backlog) {
            Ok(wrote) => {
                if wrote.more {
                    match channel.bulk.load(Ordering::Relaxed) {
                        true => self.bulk.write(channel.clone()),
                        false => self.shared.tell(channel),
                    }
                }
                if wrote.drained {
                    if let Some(peer) = self.lines.get(&channel.token).and_then(|l| l.peer.clone()) {
                        self.host.drained(&peer);
                    }
                }
            }
            Err(why) => self.close(at, channel.token, why),
        }
    }

    fn read(&mut self, at: Time, token: usize, channel: &Arc<Channel>, ends: bool) {
        self.bulk.note_small(at);
        for _ in 0..READS {
            if !self.read_once(at, token, channel, BUFFER, ends) {
                return;
            }
            if channel.bulk.load(Ordering::Relaxed) {
                // It has just said so.
                return self.bulk.read(token, ends);
            }
        }
        self.again.push(token);
    }

    /// Reads up to so many bytes. Whether there may be more; `ends`: after the last bytes there is still the end to be read.
    fn read_once(&mut self, at: Time, token: usize, channel: &Arc<Channel>, most: usize, ends: bool) -> bool {
        let mut batch = std::mem::take(&mut self.batch);
        let came = channel.read(&mut self.buffer[..most], &mut self.plain, &mut batch);
        let shaking = match self.lines.get_mut(&token) {
            Some(line) => {
                line.heard = at;
                line.deadline = None;
                line.phase == Phase::Shaking
            }
            None => return false,
        };
        if let Ok((_, left)) = &came {
            self.after(*left, channel);
        }
        if shaking {
            self.greet(at, token);
        }
        for message in batch.drain(..) {
            self.take(at, token, message);
        }
        self.batch = batch;
        self.flush(at);
        match came {
            Err(why) => self.close(at, token, why),
            Ok((Came::End, _)) => self.close(at, token, Why::Closed),
            Ok((Came::All, _)) if !ends => {}
            Ok(_) => return self.lines.contains_key(&token),
        }
        false
    }

    fn after(&self, left: Left, channel: &Arc<Channel>) {
        if left == Left::Tell {
            self.shared.tell(channel);
        }
    }

    /// A message came.
    fn take(&mut self, at: Time, token: usize, message: Message) {
        let Some(line) = self.lines.get_mut(&token) else { return };
        if message.lane == Lane::Control {
            return self.control(at, token, &message);
        }
        if line.phase == Phase::Aside {
            return self.hold(at, token, message);
        }
        let Some(peer) = line.peer.clone() else { return };
        line.channel.used.store(true, Ordering::Relaxed);
        let mut message = message;
        let number = recorded::number(&mut message.trace);
        let result = match &self.shared.recorder {
            Some(r) => r.clone().receives(peer.name(), number, || self.hand(&peer, message)),
            None => self.hand(&peer, message),
        };
        if let Err(e) = result {
            self.refuse(at, token, e.reason());
        }
    }

    /// Hands a message to the host.
    fn hand(&self, peer: &crate::channel::Peer, message: Message) -> Result<(), kumi_wire::WireError> {
        let trace = message.trace.map(|t| *t);
        match message.kind {
            kind::CLIENT => codec::decode_client(&message.payload).map(|m| self.host.from_client_traced(peer, m, trace)),
            kind::OWNER => codec::decode_owner(&message.payload).map(|m| self.host.from_owner_traced(peer, m, trace)),
            kind::OTHER => codec::decode_other(&message.payload).map(|bytes| self.host.other(peer, bytes)),
            _ => Err(kumi_wire::WireError::BadFrame { what: "a message of an unknown kind", kind: message.kind, stream: message.stream }),
        }
    }

    fn control(&mut self, at: Time, token: usize, message: &Message) {
        match message.kind {
            kind::GOSSIP => {
                let from = self.lines.get(&token).map(|l| l.name().to_owned()).unwrap_or_default();
                self.membership.receive(at, &from, &message.payload);
                self.gossip(at);
            }
            kind::ADDRESS => self.introduced(at, token, &message.payload),
            kind::PING => self.say(token, kind::PONG, &[]),
            kind::PONG => {}
            _ => {
                // A later version's, for all that is known: what it would have us do does not matter to the rest.
            }
        }
    }

    fn say(&mut self, token: usize, kind: u8, bytes: &[u8]) {
        if let Some(line) = self.lines.get(&token) {
            let left = line.channel.control(kind, bytes, &self.shared.registry);
            self.after(left, &line.channel);
        }
    }

    /// Writes what this thread was told to write.
    fn flush(&mut self, at: Time) {
        if !self.shared.has_told.load(Ordering::Acquire) {
            return;
        }
        let mut told = std::mem::take(&mut self.flushing);
        {
            let mut shared = self.shared.told.lock();
            std::mem::swap(&mut shared.dirty, &mut told);
            shared.bulk.drain(..).for_each(|c| self.bulk.write(c));
            // What is told from here on is told after this.
            self.shared.has_told.store(!shared.commands.is_empty(), Ordering::Release);
        }
        for channel in told.drain(..) {
            self.write(at, &channel);
        }
        self.flushing = told;
    }

    /// Ends a connection, and says why.
    fn refuse(&mut self, at: Time, token: usize, reason: Reason) {
        if let Some(line) = self.lines.get(&token) {
            line.channel.goodbye(&reason);
            self.close(at, token, Why::Here(reason));
        }
    }

    /// A connection is over.
    fn close(&mut self, at: Time, token: usize, why: Why) {
        let Some(line) = self.lines.remove(&token) else { return };
        line.channel.close(&self.shared.registry);
        self.routes.retain(|_, t| *t != token);
        if line.phase < Phase::Aside {
            self.sources.left(line.source);
        }
        if let Some(address) = &line.dialed {
            if line.phase < Phase::Aside {
                self.dial_failed(at, address, &why);
            } else if at.saturating_sub(line.since) < SOON {
                self.ended_soon(at, address, line.failures);
            }
        }
        if line.second_of.is_some() || line.phase == Phase::Bulk {
            return self.second_closed(at, &line, &why);
        }
        match line.peer.as_ref().filter(|_| line.phase == Phase::Open) {
            Some(peer) => {
                peer.no_channel();
                let belongs = |l: &Line| l.second_of.as_ref().or(l.peer.as_ref()) == Some(peer);
                let seconds: Vec<usize> = self.lines.iter().filter(|(_, l)| belongs(l)).map(|x| *x.0).collect();
                for token in seconds {
                    self.close(at, token, Why::Replaced);
                }
                self.host.disconnected(peer, &why);
                if why.is_hint() {
                    self.membership.connection_lost(at, peer.name());
                    self.gossip(at);
                }
                if !self.promote(at, peer) && peer.is_wanted() && !self.shared.serving.stopping.load(Ordering::SeqCst) {
                    self.connect(at, peer);
                }
            }
            None => self.host.refused(&line.whom(), &why),
        }
    }

    /// A second connection is over. What this node sent on it may be lost: the first one ends with it, and all is said again. One that was
    /// not made leaves its messages to the first one. The peer's is the peer's affair.
    fn second_closed(&mut self, at: Time, line: &Line, why: &Why) {
        let Some(peer) = &line.second_of else { return };
        if line.phase < Phase::Bulk {
            return self.settle_second(peer, None);
        }
        let first = self.lines.iter().find(|(_, l)| l.phase == Phase::Open && l.peer.as_ref() == Some(peer)).map(|x| *x.0);
        if let Some(first) = first.filter(|_| !why.is_orderly()) {
            let text = format!("the connection for large messages has ended: {why}");
            self.refuse(at, first, Reason { code: code::SECOND, text });
        }
    }

    /// Is there something that was said before the stop and has not gone out? For a moment it is waited for: an acknowledgement that is lost
    /// brings a segment back.
    fn lingers(&mut self, at: Time) -> bool {
        let until = *self.ends_at.get_or_insert(at + self.shared.patient(LINGER));
        at < until && self.lines.values().any(|l| l.phase >= Phase::Open && l.channel.backlog() > 0)
    }
}
