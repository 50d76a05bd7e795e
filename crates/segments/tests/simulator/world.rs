//! The cluster: nodes, their connections and clocks, and the one queue of what happens next.
//!
//! A *proc* is a node that runs, once: one that starts again is another proc of the same name.

mod calls;
mod end;
mod faults;
mod network;

use crate::actor::{Actor, Job};
use crate::book::{Book, FIFO, How, KEYS, LIMITED, LOG, Op, STATE, Status, Taken, Trouble};
use crate::plan::{ACTIVE, Fault, Kind as F, LEASE, MS, Plan, SESSION};
use kumi_chance::Chance;
use kumi_chance::simulate::Told;
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
    /// An asker uses what it was given.
    Use(usize),
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
    pub told: Told,
    pub events: u64,
    pub doubles: u64,
}

pub fn run(plan: &Plan, keep: usize) -> Outcome {
    let mut w = World::new(plan.clone(), keep);
    w.run();
    let told = Told { trace: w.trace, wrong: w.book.wrong, last: w.last.into() };
    Outcome { told, events: w.events, doubles: w.book.doubles }
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
            Event::Leave(op) | Event::Over(op) | Event::Claim(op) | Event::Use(op) => self.book.ops[*op].proc,
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
            Event::Use(op) => self.use_given(op),
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
