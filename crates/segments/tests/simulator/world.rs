//! The cluster: nodes, their connections and clocks, and the one queue of what happens next.
//!
//! A *proc* is a node that runs, once: one that starts again is another proc of the same name.

use crate::actor::{Actor, Job};
use crate::book::{Book, FIFO, How, KEYS, LIMITED, LOG, Op, STATE, Status, Taken, Trouble};
use crate::chance::Chance;
use crate::plan::{ACTIVE, Fault, Kind as F, LEASE, MS, Plan, SESSION};
use kumi_segments::{
    Answers, Asked, Body, Call, Claimed, Client, ClientOptions, Done, Failure, FromClient, FromOwner, Hold, Input, Kind, LeaseId, New,
    Node, NodeOptions, Outbox, Output, Put, Refusal, RemoteSegment, Reply, RequestId, Stored,
};
use std::collections::{BTreeMap, VecDeque};

type Ended = (usize, Result<Done<u64>, Failure>);

#[derive(Clone, Debug)]
enum Event {
    ToOwner {
        from: usize,
        name: usize,
        epoch: u64,
        m: FromClient<u64>,
    },
    ToClient {
        to: usize,
        from: usize,
        epoch: u64,
        m: FromOwner<u64>,
    },
    Timer(usize),
    Step(usize, usize),
    /// An asker loses patience.
    Leave(usize),
    /// The time of a call at its own node is over.
    Over(usize),
    Claim(usize),
    Connect(usize, usize),
    Fault(usize),
    Start(usize),
    Drain,
    End,
}

struct Clock {
    offset: u64,
    /// Parts in a million that it is fast.
    rate: i64,
}

impl Clock {
    fn at(&self, t: u64) -> u64 {
        (self.offset as i128 + t as i128 + t as i128 * self.rate as i128 / 1_000_000) as u64
    }
    /// The first moment when it shows so much.
    fn when(&self, local: u64) -> u64 {
        let d = (local as i128 - self.offset as i128).max(0);
        let mut t = (d * 1_000_000 / (1_000_000 + self.rate as i128)) as u64;
        t = t.saturating_sub(2);
        while self.at(t) < local {
            t += 1;
        }
        t
    }
}

#[derive(Clone, Copy, Default)]
struct Conn {
    epoch: u64,
    up: bool,
    /// When the last message arrives, there and back.
    last: [u64; 2],
}

pub struct Proc {
    pub name: usize,
    pub incarnation: u64,
    clock: Clock,
    pub live: Option<Live>,
    paused: u64,
    timer: Option<u64>,
}

pub struct Live {
    node: Node<u64, u64>,
    clients: Vec<Client<u64, u64>>,
    conns: Vec<Conn>,
    waits: BTreeMap<usize, (RequestId, bool)>,
    leases: BTreeMap<u64, LeaseId>,
    next_lease: u64,
    pub actors: Vec<Actor>,
}

/// A call that an owner may answer.
enum Seen {
    Commit(usize),
    Take,
    Other,
}

struct Out<'a>(&'a mut Vec<FromClient<u64>>, &'a mut Vec<Ended>);

impl Outbox<u64, u64> for Out<'_> {
    fn send(&mut self, m: FromClient<u64>) {
        self.0.push(m);
    }
    fn ended(&mut self, token: u64, result: Result<Done<u64>, Failure>) {
        self.1.push((token as usize, result));
    }
}

/// Puts what is waited for in the end.
const NOBODY: usize = usize::MAX;

pub struct World {
    pub plan: Plan,
    pub now: u64,
    seq: u64,
    queue: BTreeMap<(u64, u64), Event>,
    pub procs: Vec<Proc>,
    /// The proc of each name that started last.
    newest: Vec<usize>,
    incarnations: u64,
    net: Chance,
    think: Chance,
    /// From, to, until.
    cuts: Vec<(usize, usize, u64)>,
    slow: Vec<(usize, usize, u64, u64)>,
    pub book: Book,
    seen: BTreeMap<(usize, usize, u64), Seen>,
    /// The last incarnation of a client that an owner has served.
    served: BTreeMap<(usize, usize), u64>,
    pub trace: u64,
    pub last: VecDeque<String>,
    pub tell: bool,
    /// So many of the last events are kept.
    keep: usize,
    pub events: u64,
    over: bool,
    fifo: [usize; 3],
}

pub struct Outcome {
    pub trace: u64,
    pub events: u64,
    pub doubles: u64,
    pub last: VecDeque<String>,
    pub wrong: Option<String>,
}

pub fn run(plan: &Plan, keep: usize) -> Outcome {
    let mut w = World::new(plan.clone(), keep);
    w.run();
    Outcome { trace: w.trace, events: w.events, doubles: w.book.doubles, last: w.last, wrong: w.book.wrong }
}

impl World {
    fn new(plan: Plan, keep: usize) -> World {
        let mut c = Chance::new(plan.seed);
        let (net, think) = (c.fork(), c.fork());
        let n = plan.nodes as u64;
        let fifo = [c.below(n) as usize, c.below(n) as usize, c.below(n) as usize];
        let mut w = World {
            now: 0,
            seq: 0,
            queue: BTreeMap::new(),
            procs: Vec::new(),
            newest: vec![usize::MAX; plan.nodes],
            incarnations: 0,
            net,
            think,
            cuts: Vec::new(),
            slow: Vec::new(),
            book: Book::default(),
            seen: BTreeMap::new(),
            served: BTreeMap::new(),
            trace: 0,
            last: VecDeque::new(),
            tell: keep > 0,
            keep,
            events: 0,
            over: false,
            fifo,
            plan,
        };
        for name in 0..w.plan.nodes {
            w.start(name);
        }
        let mut healed = ACTIVE;
        for (i, f) in w.plan.faults.clone().iter().enumerate() {
            w.push(f.at, Event::Fault(i));
            healed = healed.max(f.at + long(f) + 200 * MS);
        }
        w.push(healed + SESSION + 1000 * MS, Event::Drain);
        w.push(healed + 3 * SESSION + 5000 * MS, Event::End);
        w
    }
    fn push(&mut self, at: u64, e: Event) {
        self.seq += 1;
        self.queue.insert((at.max(self.now), self.seq), e);
    }
    fn start(&mut self, name: usize) {
        self.incarnations += 1;
        let p = self.procs.len();
        let clock = Clock { offset: self.think.below(1 << 50), rate: self.think.between(0, 800) as i64 - 400 };
        let options = NodeOptions { lease: LEASE, session: SESSION, ..NodeOptions::default() };
        let mut node = Node::new(self.plan.seed, self.incarnations, options);
        let now = clock.at(self.now);
        node.with(
            |_: &u64| {},
            |m, wake| {
                let key = m.key(KEYS[LIMITED]);
                m.set_limit(now, key, std::num::NonZeroUsize::new(2), wake);
            },
        );
        let options = ClientOptions {
            repeat: self.plan.lossy.then_some(40 * MS),
            confirm: 10 * MS,
            lease: LEASE,
            hello: 700 * MS,
            grace: 300 * MS,
            ..ClientOptions::default()
        };
        let clients = (0..self.plan.nodes).map(|_| Client::new(self.incarnations, options.clone())).collect();
        let actors = self.jobs(name);
        for a in 0..actors.len() {
            let at = self.now + self.think.below(300) * MS;
            self.push(at, Event::Step(p, a));
        }
        let conns = vec![Conn::default(); self.plan.nodes];
        let live = Live { node, clients, conns, waits: BTreeMap::new(), leases: BTreeMap::new(), next_lease: 1 << 63, actors };
        self.procs.push(Proc { name, incarnation: self.incarnations, clock, live: Some(live), paused: 0, timer: None });
        self.newest[name] = p;
        for other in (0..self.plan.nodes).filter(|o| *o != name) {
            let at = self.now + self.think.below(20) * MS;
            self.push(at, Event::Connect(p, other));
        }
    }
    fn jobs(&mut self, name: usize) -> Vec<Actor> {
        let mut c = self.think.fork();
        let mut jobs = Vec::new();
        if self.now < ACTIVE {
            if self.fifo[0] == name {
                jobs.push((Job::Put { key: FIFO, wait: false, mortal: false, later: false }, self.fifo[2]));
            }
            if self.fifo[1] == name {
                jobs.push((Job::Take { key: FIFO, patience: None, waits: true }, self.fifo[2]));
            }
            for _ in 0..self.plan.actors {
                jobs.push((Job::any(self.plan.mix, &mut c), c.below(self.plan.nodes as u64) as usize));
            }
        }
        jobs.into_iter().map(|(job, owner)| Actor::new(job, owner, c.fork())).collect()
    }

    fn run(&mut self) {
        while let Some(((at, _), e)) = self.queue.pop_first() {
            self.now = at;
            if let Some(p) = self.whose(&e) {
                let (paused, gone) = (self.procs[p].paused, self.procs[p].live.is_none());
                if gone {
                    continue;
                }
                if paused > at {
                    self.push(paused, e);
                    continue;
                }
            }
            self.events += 1;
            self.note(&e);
            self.happen(e);
            if self.over || self.book.wrong.is_some() {
                return;
            }
        }
    }
    fn whose(&self, e: &Event) -> Option<usize> {
        Some(match e {
            Event::ToOwner { name, .. } => self.newest[*name],
            Event::ToClient { to, .. } => *to,
            Event::Timer(p) | Event::Step(p, _) | Event::Connect(p, _) => *p,
            Event::Leave(op) | Event::Over(op) | Event::Claim(op) => self.book.ops[*op].proc,
            Event::Fault(_) | Event::Start(_) | Event::Drain | Event::End => return None,
        })
    }
    fn note(&mut self, e: &Event) {
        let kind: u64 = match e {
            Event::ToOwner { from, name, m, .. } => 1 + *from as u64 * 64 + *name as u64 * 8 + m.got.len() as u64 * 4096,
            Event::ToClient { to, from, m, .. } => (2 + *to as u64 * 64 + *from as u64 * 8) ^ m.sent.rotate_left(9),
            Event::Timer(p) => 3 + *p as u64 * 64,
            Event::Step(p, a) => 4 + *p as u64 * 64 + *a as u64 * 4096,
            _ => 5,
        };
        self.trace = (self.trace ^ kind ^ self.now).wrapping_mul(0x100_0000_01B3).rotate_left(17);
        if self.tell {
            self.say(format!("{e:?}"));
        }
    }
    fn say(&mut self, what: String) {
        if self.last.len() >= self.keep {
            self.last.pop_front();
        }
        self.last.push_back(format!("{:>10.3} {what}", self.now as f64 / MS as f64));
    }
    fn live(&mut self, p: usize) -> (&mut Live, u64) {
        let now = self.now;
        let proc = &mut self.procs[p];
        let local = proc.clock.at(now);
        (proc.live.as_mut().expect("it runs"), local)
    }

    fn happen(&mut self, e: Event) {
        match e {
            Event::ToOwner { from, name, epoch, m } => {
                let q = self.newest[name];
                if !self.plan.lossy {
                    let conn = self.procs[from].live.as_ref().map(|l| l.conns[name]);
                    if conn.is_none_or(|c| c.epoch != epoch || !c.up) {
                        return;
                    }
                }
                let client = [self.procs[from].name as u8];
                self.at_node(q, |node, now, wake, send| node.receive(now, &client, m, wake, send));
            }
            Event::ToClient { to, from, epoch, m } => {
                let name = self.procs[from].name;
                let conn = self.live(to).0.conns[name];
                if !conn.up || (!self.plan.lossy && conn.epoch != epoch) {
                    return;
                }
                self.at_client(to, name, |c, now, out| c.receive(now, m, out));
            }
            Event::Timer(p) => {
                // Another was set instead.
                if self.procs[p].timer.is_none_or(|at| at > self.now) {
                    return;
                }
                self.procs[p].timer = None;
                self.at_node(p, |node, now, wake, send| node.tick(now, wake, send));
                for name in 0..self.plan.nodes {
                    self.at_client(p, name, |c, now, out| c.tick(now, out));
                }
                self.plan_timer(p);
            }
            Event::Step(p, a) => self.step(p, a),
            Event::Leave(op) => self.leave(op),
            Event::Over(op) => {
                if self.unwait(op) {
                    self.ended(op, Err(Failure::TimedOut));
                }
            }
            Event::Claim(op) => self.claim(op),
            Event::Connect(p, name) => self.connect(p, name),
            Event::Fault(i) => self.fault(self.plan.faults[i]),
            Event::Start(name) => self.start(name),
            Event::Drain => self.drain(),
            Event::End => {
                self.over = true;
                self.check_end();
            }
        }
    }

    // Nodes and clients.

    fn at_node(&mut self, p: usize, f: impl FnOnce(&mut Node<u64, u64>, u64, &mut dyn FnMut(&u64), &mut dyn FnMut(&[u8], FromOwner<u64>))) {
        let (mut woken, mut sent) = (Vec::new(), Vec::new());
        let (live, now) = self.live(p);
        f(&mut live.node, now, &mut |w| woken.push(*w as usize), &mut |to, m| sent.push((to[0] as usize, m)));
        for (to, m) in sent {
            self.answer(p, to, m);
        }
        for op in woken {
            let at = self.now + self.think.below(3) * MS;
            self.push(at, Event::Claim(op));
        }
        self.plan_timer(p);
    }
    fn at_client(&mut self, p: usize, name: usize, f: impl FnOnce(&mut Client<u64, u64>, u64, &mut Out)) {
        let (mut sent, mut ended) = (Vec::new(), Vec::new());
        let (live, now) = self.live(p);
        f(&mut live.clients[name], now, &mut Out(&mut sent, &mut ended));
        for m in sent {
            self.ask(p, name, m);
        }
        for (op, result) in ended {
            self.ended(op, result);
        }
        self.plan_timer(p);
    }
    fn plan_timer(&mut self, p: usize) {
        let proc = &mut self.procs[p];
        let Some(live) = &proc.live else { return };
        let next = live.clients.iter().filter_map(|c| c.next_deadline()).chain(live.node.next_deadline()).min();
        if let Some(next) = next {
            let at = proc.clock.when(next).max(self.now);
            if proc.timer.is_none_or(|t| t > at) {
                proc.timer = Some(at);
                self.push(at, Event::Timer(p));
            }
        }
    }
    fn ask(&mut self, p: usize, name: usize, m: FromClient<u64>) {
        if let Body::Call(n, call) = &m.body {
            let seen = match call {
                Call::Commit { outputs, .. } => self.book.values[outputs[0].value as usize - 1].output_of.map_or(Seen::Other, Seen::Commit),
                Call::Get(a) if a.inputs.iter().all(|i| i.1 == Kind::Take) => Seen::Take,
                _ => Seen::Other,
            };
            self.seen.insert((p, name, *n), seen);
        }
        let epoch = self.procs[p].live.as_ref().map_or(0, |l| l.conns[name].epoch);
        let from = self.procs[p].name;
        self.post(p, name, from, name, 0, |_| Event::ToOwner { from: p, name, epoch, m: m.clone() });
    }
    fn answer(&mut self, q: usize, name: usize, m: FromOwner<u64>) {
        let Some(p) = self.procs.iter().rposition(|x| x.name == name && x.incarnation == m.client) else { return };
        let owner = self.procs[q].name;
        let incarnation = self.procs[q].incarnation;
        if matches!(m.body, Reply::Welcome { sync: Some(_), .. } | Reply::Answer(..)) {
            let last = self.served.entry((q, name)).or_insert(0);
            if m.client < *last {
                self.book.wrong(format!("node {owner} serves incarnation {} of node {name}", m.client));
            } else {
                *last = m.client;
            }
        }
        if let Reply::Answer(n, Ok(done)) = &m.body {
            match (self.seen.get(&(p, owner, *n)), done) {
                (Some(Seen::Commit(op)), Done::Ok) => self.book.committed(*op, self.now, incarnation),
                (Some(Seen::Take), Done::Segments(all)) => all.iter().for_each(|s| self.book.given(s.value)),
                _ => {}
            }
        }
        let Some(epoch) = self.procs[p].live.as_ref().map(|l| l.conns[owner].epoch) else { return };
        self.post(p, owner, owner, name, 1, |_| Event::ToClient { to: p, from: q, epoch, m: m.clone() });
    }
    /// Puts a message on its way: of the connection of `p` to `owner`, from one name to another.
    fn post(&mut self, p: usize, owner: usize, from: usize, to: usize, way: usize, e: impl Fn(()) -> Event) {
        let now = self.now;
        self.cuts.retain(|c| c.2 > now);
        self.slow.retain(|c| c.3 > now);
        let cut = self.cuts.iter().filter(|c| c.0 == from && c.1 == to).map(|c| c.2).max();
        let slow = self.slow.iter().filter(|c| c.0 == from && c.1 == to).map(|c| c.2).max().unwrap_or(0);
        let mut delay = self.net.between(50_000, self.plan.delay) + slow;
        let lost = self.net.percent(self.plan.lost);
        let again = self.net.percent(self.plan.repeated);
        let long = if self.net.percent(30) { 5000 * MS } else { 3 * self.plan.delay };
        let later = self.net.below(long);
        if self.plan.lossy {
            if cut.is_none() && !lost {
                self.push(now + delay, e(()));
            }
            if cut.is_none() && again {
                self.push(now + delay + later, e(()));
            }
            return;
        }
        if let Some(until) = cut {
            delay += until - now;
        }
        let Some(live) = &mut self.procs[p].live else { return };
        let conn = &mut live.conns[owner];
        if conn.up {
            conn.last[way] = (now + delay).max(conn.last[way]);
            let at = conn.last[way];
            self.push(at, e(()));
        }
    }
    fn connect(&mut self, p: usize, name: usize) {
        let there = self.procs[self.newest[name]].live.is_some();
        let me = self.procs[p].name;
        let cut = self.cuts.iter().any(|c| c.2 > self.now && (c.0 == me && c.1 == name || c.0 == name && c.1 == me));
        if !self.plan.lossy && (!there || cut) {
            return self.push(self.now + 100 * MS, Event::Connect(p, name));
        }
        let conn = &mut self.live(p).0.conns[name];
        if !conn.up {
            *conn = Conn { epoch: conn.epoch + 1, up: true, last: [0; 2] };
            self.at_client(p, name, |c, now, out| c.connected(now, out));
        }
    }
    fn disconnect(&mut self, p: usize, name: usize, long: u64) {
        let Some(live) = &mut self.procs[p].live else { return };
        if live.conns[name].up {
            live.conns[name].up = false;
            live.clients[name].disconnected();
            self.push(self.now + long, Event::Connect(p, name));
        }
    }

    // Faults.

    fn trouble(&mut self, long: u64, what: Trouble) {
        self.book.troubles.push((self.now, self.now + long, what));
    }
    fn fault(&mut self, f: Fault) {
        if self.tell {
            self.say(format!("{f:?}"));
        }
        match f.kind {
            F::Pause(name, long) => {
                let p = self.newest[name];
                self.procs[p].paused = self.procs[p].paused.max(self.now + long);
                self.trouble(long, Trouble::At(name));
            }
            F::Crash(name, long) => {
                let p = self.newest[name];
                if self.procs[p].live.is_none() || self.starts(name) {
                    return;
                }
                self.end_proc(p, long);
                self.push(self.now + long, Event::Start(name));
                self.trouble(long, Trouble::At(name));
            }
            F::Double(name, long) => {
                let p = self.newest[name];
                if self.procs[p].live.is_none() || self.starts(name) {
                    return;
                }
                self.procs[p].paused = self.procs[p].paused.max(self.now + long);
                self.push(self.now + long / 2, Event::Start(name));
                self.trouble(long + LEASE, Trouble::At(name));
                self.lose_owner(name, long);
            }
            F::Cut(a, b, long) => {
                self.cuts.push((a, b, self.now + long));
                self.trouble(long, Trouble::From(a, b));
                if self.now.is_multiple_of(2) {
                    self.cuts.push((b, a, self.now + long));
                    self.trouble(long, Trouble::From(b, a));
                }
            }
            F::Slow(a, b, more, long) => {
                self.slow.push((a, b, more, self.now + long));
                self.trouble(long + more, Trouble::From(a, b));
            }
            F::Break(a, b, long) if a != b => {
                self.disconnect(self.newest[a], b, long);
                self.trouble(long + 100 * MS, Trouble::From(a, b));
            }
            F::Break(..) => {}
            F::Gone(a, b, long) => {
                let p = self.newest[a];
                self.trouble(long + 100 * MS, Trouble::From(a, b));
                if self.procs[p].live.is_some() && self.procs[p].paused <= self.now {
                    self.disconnect(p, b, long);
                    self.at_client(p, b, |c, _, out| c.gone(out));
                }
            }
            F::Left(a, b) => {
                let q = self.newest[b];
                self.trouble(MS, Trouble::From(a, b));
                if self.procs[q].live.is_some() && self.procs[q].paused <= self.now {
                    self.at_node(q, |node, now, wake, send| node.gone(now, &[a as u8], wake, send));
                }
            }
        }
    }
    /// Is a node of this name about to start?
    fn starts(&self, name: usize) -> bool {
        self.queue.values().any(|e| matches!(e, Event::Start(n) if *n == name))
    }
    fn end_proc(&mut self, p: usize, long: u64) {
        if self.procs[p].live.take().is_none() {
            return;
        }
        for op in &mut self.book.ops {
            if op.proc == p && op.ended.is_none() {
                op.ended = Some(Err(Failure::Unknown));
                op.left = true;
            }
        }
        self.lose_owner(self.procs[p].name, long);
    }
    /// Connections to a node that ended break.
    fn lose_owner(&mut self, name: usize, long: u64) {
        if !self.plan.lossy {
            for p in 0..self.procs.len() {
                let long = long / 2 + self.think.below(100) * MS;
                self.disconnect(p, name, long);
            }
        }
    }

    // Calls.

    /// Makes a call for an actor. `patience`: its deadline.
    pub fn issue(&mut self, p: usize, actor: usize, owner: usize, call: Call<u64>, inputs: Vec<u64>, patience: Option<u64>) -> usize {
        let op = self.book.ops.len();
        let outputs: Vec<u64> = match &call {
            Call::Put(put) => vec![put.store.value],
            Call::Commit { outputs, .. } => outputs.iter().map(|o| o.value).collect(),
            _ => Vec::new(),
        };
        if matches!(call, Call::Commit { .. }) {
            outputs.iter().for_each(|v| self.book.value(*v).output_of = Some(op));
        }
        let local = owner == self.procs[p].name;
        let peeks_state = matches!(&call, Call::Get(a) if a.inputs[0].0 == KEYS[STATE]);
        let updated = if peeks_state { self.book.updated.clone() } else { BTreeMap::new() };
        let c = call.clone();
        self.book.ops.push(Op {
            proc: p,
            actor,
            owner,
            call,
            inputs,
            outputs,
            handle: None,
            left: false,
            ended: None,
            committed: None,
            honest: false,
            updated,
        });
        if self.tell {
            self.say(format!("proc {p} actor {actor} op {op} to {owner}: {c:?} {patience:?}"));
        }
        if local {
            if let Some(result) = self.at_home(p, op, &c) {
                self.ended(op, result);
            } else if let Some(d) = patience {
                self.push(self.now + d, Event::Over(op));
            }
        } else {
            let mut handle = 0;
            self.at_client(p, owner, |client, now, out| handle = client.call(now, c, op as u64, patience.map(|d| now + d), out));
            self.book.ops[op].handle = Some(handle);
        }
        op
    }
    /// Does a call at its own node; nothing: it waits.
    fn at_home(&mut self, p: usize, op: usize, call: &Call<u64>) -> Option<Result<Done<u64>, Failure>> {
        let mut result = None;
        let mut claims = Vec::new();
        let (mut wait, mut leases) = (None, BTreeMap::new());
        let mut next_lease = 0;
        if let Some(live) = &mut self.procs[p].live {
            leases = std::mem::take(&mut live.leases);
            next_lease = live.next_lease;
        }
        let refuse = |r| Some(Err(Failure::Refused(r)));
        self.at_node(p, |node, now, wake, send| {
            let mut woken = |w: &u64| wake(w);
            result = node.with(&mut woken, |m, wk| match call {
                Call::Put(put) => {
                    let key = m.key(&put.store.key);
                    let delay = put.store.delay.map(|d| now + d);
                    let new = New { value: put.store.value, owned: false, not_before: delay, ttl: put.store.ttl };
                    if put.store.update {
                        return Some(Ok(Done::Stored(m.update(now, key, new, wk))));
                    }
                    match m.put(now, key, new, wk) {
                        Ok(Stored::At(i)) => Some(Ok(Done::Stored(Some(i)))),
                        Ok(Stored::Later) => Some(Ok(Done::Stored(None))),
                        Err(new) if put.wait => {
                            wait = Some((m.wait_for_room(key, Some(new), kumi_segments::Waiter::Local(op as u64)), false));
                            None
                        }
                        Err(_) => refuse(Refusal::Full),
                    }
                }
                Call::Get(ask) => {
                    let inputs: Vec<Input> =
                        ask.inputs.iter().map(|(k, kind, after)| Input { key: m.key(k), kind: *kind, after: *after }).collect();
                    let hold = ask.lease.map_or(Hold::Never, Hold::For);
                    let waiter = ask.wait.then_some(kumi_segments::Waiter::Local(op as u64));
                    match m.get(now, &inputs, hold, waiter, wk) {
                        Ok(Asked::Here(answers)) => Some(Ok(Done::Segments(segments(answers, &mut leases, &mut next_lease)))),
                        Ok(Asked::Waits(id)) => {
                            wait = Some((id, ask.lease.is_some()));
                            None
                        }
                        Ok(Asked::Nothing) => Some(Ok(Done::Nothing)),
                        Err(s) => refuse(Refusal::Stale { last: s.last }),
                    }
                }
                Call::Commit { leases: ls, outputs } => {
                    let held: Vec<LeaseId> = ls.iter().filter_map(|l| leases.get(l).copied()).collect();
                    let outputs: Vec<Output<u64>> =
                        outputs.iter().map(|o| Output { key: m.key(&o.key), update: false, new: New::shared(o.value) }).collect();
                    match m.commit(now, &held, outputs, wk) {
                        Ok(()) => Some(Ok(Done::Ok)),
                        Err(_) => refuse(Refusal::LeaseOver),
                    }
                }
                Call::GiveBack { lease, .. } => match leases.get(lease).map(|l| m.give_back(now, *l, None, wk)) {
                    Some(Ok(())) => Some(Ok(Done::Ok)),
                    _ => refuse(Refusal::LeaseOver),
                },
                _ => refuse(Refusal::Bad),
            });
            if node.has_answers() {
                node.flush(now, send);
            }
            claims.extend(wait.map(|w| (op, w)));
        });
        if let Some(live) = &mut self.procs[p].live {
            live.leases = leases;
            live.next_lease = next_lease;
            live.waits.extend(claims);
        }
        if let (Call::Commit { .. }, Some(Ok(Done::Ok))) = (call, &result) {
            let incarnation = self.procs[p].incarnation;
            self.book.committed(op, self.now, incarnation);
        }
        result
    }
    fn claim(&mut self, op: usize) {
        let p = self.book.ops[op].proc;
        let live = self.live(p).0;
        let Some((id, _)) = live.waits.get(&op).copied() else { return };
        let (mut leases, mut next) = (std::mem::take(&mut live.leases), live.next_lease);
        let mut done = None;
        self.at_node(p, |node, _, wake, _| {
            done = node.with(|w: &u64| wake(w), |m, _| m.claim(id)).map(|c| match c {
                Claimed::Answers(a) => Done::Segments(segments(a, &mut leases, &mut next)),
                Claimed::Stored(Some(Stored::At(i))) => Done::Stored(Some(i)),
                Claimed::Stored(_) => Done::Stored(None),
            });
        });
        let live = self.live(p).0;
        (live.leases, live.next_lease) = (leases, next);
        if let Some(done) = done {
            live.waits.remove(&op);
            self.ended(op, Ok(done));
        }
    }
    /// Ends a wait at the op's own node. False: it is over, or a put that has found room.
    fn unwait(&mut self, op: usize) -> bool {
        let p = self.book.ops[op].proc;
        let Some((id, _)) = self.live(p).0.waits.remove(&op) else { return false };
        let mut stored = None;
        self.at_node(p, |node, now, wake, send| {
            stored = node.with(|w: &u64| wake(w), |m, wk| m.leave(now, id, wk));
            node.flush(now, send);
        });
        match stored {
            Some(Stored::At(i)) => self.ended(op, Ok(Done::Stored(Some(i)))),
            Some(Stored::Later) => self.ended(op, Ok(Done::Stored(None))),
            None => return true,
        }
        false
    }
    /// An actor does not want an answer any more.
    fn leave(&mut self, op: usize) {
        let o = &self.book.ops[op];
        if o.ended.is_some() || o.left {
            return;
        }
        let (p, owner, handle, actor) = (o.proc, o.owner, o.handle, o.actor);
        if let Some(handle) = handle {
            self.at_client(p, owner, |c, now, out| c.leave(now, handle, out));
        } else if !self.unwait(op) {
            return;
        }
        self.book.ops[op].left = true;
        for v in self.book.ops[op].outputs.clone() {
            self.book.stored(v, Status::Unknown);
        }
        self.push(self.now + MS, Event::Step(p, actor));
    }
    /// A call has ended.
    fn ended(&mut self, op: usize, result: Result<Done<u64>, Failure>) {
        if self.tell {
            self.say(format!("op {op} ends: {result:?}"));
        }
        let o = &self.book.ops[op];
        if o.ended.is_some() || o.left {
            return self.book.wrong(format!("op {op} ends twice, or after it was left: {result:?}"));
        }
        let (p, owner, actor, call, outputs) = (o.proc, o.owner, o.actor, o.call.clone(), o.outputs.clone());
        let committed = o.committed.is_some();
        let renewed = o.honest && o.handle.is_some() && self.plan.lost == 0 && self.book.troubles.is_empty();
        let local = owner == self.procs[p].name;
        let incarnation = match &self.procs[p].live {
            _ if local => self.procs[p].incarnation,
            Some(l) => l.clients[owner].owner(),
            None => 0,
        };
        self.book.ops[op].ended = Some(result.clone());
        let status = match &result {
            Ok(_) => Status::Stored(incarnation),
            Err(Failure::Refused(_) | Failure::TimedOut) => Status::Nothing,
            Err(_) => Status::Unknown,
        };
        match (&call, &result) {
            (Call::Put(_), Ok(Done::Stored(index))) => self.book.acknowledged(op, incarnation, outputs[0], *index),
            (Call::Commit { .. }, Ok(_)) if !committed => self.book.wrong(format!("op {op}: a commit is acknowledged that was not done")),
            (Call::Commit { .. }, Err(Failure::Refused(_) | Failure::TimedOut)) if committed => {
                self.book.wrong(format!("op {op}: a commit was refused that was done"));
            }
            (Call::Commit { .. }, Err(Failure::Refused(r))) if renewed => {
                self.book.wrong(format!("op {op}: a lease that was renewed is over: {r:?}"));
            }
            (Call::Get(ask), Ok(Done::Segments(all))) => {
                if all.len() != ask.inputs.len() {
                    self.book.wrong(format!("op {op}: {} segments for {} inputs", all.len(), ask.inputs.len()));
                }
                for (s, (_, kind, after)) in all.iter().zip(&ask.inputs) {
                    self.book.seen(s.value, incarnation, s.index);
                    let updated = self.book.ops[op].updated.get(&incarnation).copied().unwrap_or(0);
                    if s.index < updated {
                        self.book.wrong(format!("op {op}: index {} was replaced by {updated} before it was asked for", s.index));
                    }
                    if after.is_some_and(|a| s.index <= a) {
                        self.book.wrong(format!("op {op}: index {} is not after {after:?}", s.index));
                    }
                    if *kind == Kind::Take && ask.lease.is_none() {
                        let how = if local { How::Local } else { How::Plain };
                        let by = self.procs[p].name;
                        self.book.taken(s.value, Taken { at: self.now, by, owner, incarnation, how }, Some(s.index));
                    }
                    if *kind == Kind::Peek {
                        self.book.peeked.entry((p, actor, incarnation)).or_default().insert(s.index);
                    }
                }
            }
            (Call::Put(_) | Call::Commit { .. }, _) => outputs.iter().for_each(|v| self.book.stored(*v, status)),
            _ => {}
        }
        if actor != NOBODY {
            let at = self.now + self.think.below(150) * MS;
            self.push(at, Event::Step(p, actor));
        }
    }

    // The end.

    /// Everything has healed: whoever waits gets what it waits for.
    fn drain(&mut self) {
        for p in self.newest.clone() {
            let name = self.procs[p].name;
            for key in 0..KEYS.len() {
                self.at_node(p, |node, now, wake, send| {
                    node.with(
                        |w: &u64| wake(w),
                        |m, wk| {
                            let key = m.key(KEYS[key]);
                            m.set_limit(now, key, None, wk);
                        },
                    );
                    node.flush(now, send);
                });
                for _ in 0..if key == STATE { 0 } else { 12 } {
                    let value = self.book.new_value(key, false, None);
                    let store =
                        kumi_segments::Store { key: KEYS[key].to_vec(), update: false, value, owned: false, delay: None, ttl: None };
                    self.issue(p, NOBODY, name, Call::Put(Put { store, wait: false }), Vec::new(), None);
                }
            }
            let value = self.book.new_value(STATE, true, None);
            let store = kumi_segments::Store { key: KEYS[STATE].to_vec(), update: true, value, owned: false, delay: None, ttl: None };
            self.issue(p, NOBODY, name, Call::Put(Put { store, wait: false }), Vec::new(), None);
        }
    }
    fn check_end(&mut self) {
        // Nobody comes to the manager of a node that another of its name has replaced.
        let alone = |o: &Op| o.handle.is_none() && !self.newest.contains(&o.proc);
        let open = self.book.ops.iter().position(|o| o.ended.is_none() && !o.left && !alone(o));
        if let Some(op) = open {
            let what = format!(
                "op {op} of proc {} to {} never ends: {:?}",
                self.book.ops[op].proc, self.book.ops[op].owner, self.book.ops[op].call
            );
            return self.book.wrong(what);
        }
        for p in self.newest.clone() {
            let Proc { live: Some(live), name, incarnation, .. } = &self.procs[p] else { continue };
            let m = live.node.manager();
            let calls: usize = live.clients.iter().map(|c| c.open_calls() + c.leases()).sum();
            let left = [calls, live.node.open_calls(), m.requests(), m.leases(), m.next_deadline().iter().count()];
            if left != [0; 5] {
                return self.book.wrong(format!("at node {name} is left (clients, calls, requests, leases, timers): {left:?}"));
            }
            if live.node.sessions() >= self.plan.nodes {
                return self.book.wrong(format!("node {name} has {} sessions", live.node.sessions()));
            }
            let mut there = std::collections::BTreeSet::new();
            let mut logged = 0;
            let mut twice = None;
            for (i, name) in KEYS.iter().enumerate() {
                let Some(key) = m.find_key(name) else { continue };
                m.each_value_under(key, |v| {
                    if !there.insert(*v) {
                        twice = Some(*v);
                    }
                    logged += u64::from(i == LOG);
                });
            }
            if let Some(v) = twice {
                return self.book.wrong(format!("value {v} is there twice at the end"));
            }
            for (i, v) in self.book.values.iter().enumerate() {
                let value = i as u64 + 1;
                let is_there = there.contains(&value);
                let gone = v.taken.iter().any(|t| t.incarnation == *incarnation);
                if is_there && (v.status == Status::Nothing || v.taken.iter().any(|t| matches!(t.how, How::Local | How::Commit))) {
                    return self.book.wrong(format!("value {value} is there still: {:?} {:?}", v.status, v.taken));
                }
                let put = v.output_of.and_then(|op| self.book.ops[op].committed) == Some(*incarnation);
                if (put || v.status == Status::Stored(*incarnation)) && !is_there && !gone && !v.mortal {
                    return self.book.wrong(format!("value {value} under {} is lost at node {name}", v.key));
                }
            }
            // Whoever looks behind the last index at every turn misses none.
            for ((q, a, inc), seen) in &self.book.peeked {
                let peeks_log = self.procs[*q].live.as_ref().and_then(|l| l.actors.get(*a)).is_some_and(|a| a.peeks_at_log());
                if inc == incarnation && peeks_log {
                    let (first, last) = (*seen.first().unwrap_or(&0), *seen.last().unwrap_or(&0));
                    if last + 1 - first != seen.len() as u64 {
                        return self.book.wrong(format!("proc {q} actor {a} has seen {seen:?} of the log of node {name}"));
                    }
                }
            }
        }
    }
    pub fn later(&mut self, p: usize, actor: usize, long: u64) {
        self.push(self.now + long, Event::Step(p, actor));
    }
    pub fn lose_patience(&mut self, op: usize, long: u64) {
        self.push(self.now + long, Event::Leave(op));
    }
}

fn segments(answers: Answers<u64>, leases: &mut BTreeMap<u64, LeaseId>, next: &mut u64) -> Vec<RemoteSegment<u64>> {
    let number = |l: LeaseId, leases: &mut BTreeMap<u64, LeaseId>, next: &mut u64| {
        *next += 1;
        leases.insert(*next, l);
        *next
    };
    answers
        .into_iter()
        .map(|a| RemoteSegment {
            index: a.segment.index,
            value: a.segment.value,
            owned: a.segment.owned,
            changed: a.segment.changed,
            deliveries: a.segment.deliveries,
            lease: a.lease.map(|l| number(l, leases, next)),
        })
        .collect()
}

/// How long a fault and what follows from it last.
fn long(f: &Fault) -> u64 {
    match f.kind {
        F::Pause(_, l) | F::Crash(_, l) | F::Double(_, l) | F::Cut(_, _, l) | F::Break(_, _, l) | F::Gone(_, _, l) => l,
        F::Slow(_, _, more, l) => more + l,
        F::Left(..) => 0,
    }
}
