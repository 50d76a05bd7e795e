//! The cluster: nodes, their programs and collections, the network between them, and the one queue of what happens next.
//!
//! A *proc* is a node that runs, once: one that starts again is another proc of the same name.

mod collect;
mod end;
mod faults;
mod network;
mod program;
mod stamps;
mod truth;

use crate::heap::{Edge, Gid, Heap, Object, Proxy, Seen};
use crate::plan::{ACTIVE, Fault, Kind as F, LEASE, MS, Plan};
use kumi_chance::Chance;
use kumi_chance::simulate::Told;
use kumi_remote::{Action, Arrived, Error, Import, Item, Life, Marking, NodeId, Options, Parcel, Ref, Remote, Want};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Debug)]
pub enum App {
    /// What comes is stored in this object, or anywhere.
    Attach(Option<Gid>),
    /// A call of an object by a proxy of the sender's, which gives it up at a time.
    Call { r: Ref, proxy: u32, until: u64 },
    /// The object of that proxy is elsewhere.
    Redirect(u32),
    /// Make an object in place of this one.
    Make(Gid),
    /// It was made.
    Made(Gid),
}

#[derive(Clone, Debug)]
pub struct Message {
    kind: App,
    /// A call is done once.
    taken: std::cell::Cell<bool>,
    sent: u64,
    from: usize,
    to: usize,
    parcel: Option<(Parcel, Vec<Ref>, usize)>,
}

#[derive(Clone)]
enum Event {
    Packet {
        from: usize,
        to: usize,
        /// Its number, and when it was sent.
        number: (u64, u64),
        bytes: std::rc::Rc<Vec<u8>>,
    },
    Message(std::rc::Rc<Message>),
    Tick(usize),
    Step(usize),
    /// The time of a message is over.
    Done {
        from: usize,
        to: NodeId,
        parcel: Parcel,
        transit: usize,
    },
    Collect(usize),
    /// A round may want something of the host, which looks when its program stands still.
    Wish(usize),
    Collected(usize),
    Trace(usize),
    Traced(usize, Vec<Import>),
    /// The host hears of its proxies' ends.
    Dropped(usize, Vec<(Import, u32)>),
    Up(usize, Life),
    Gone(usize, Life),
    Said(usize, usize, stamps::Say),
    StampTick(usize),
    Fault(usize),
    Start(usize),
    Populate,
    Round,
    Healed,
    Quiet,
    Check,
}

pub struct Proc {
    pub name: usize,
    pub life: Life,
    pub alive: bool,
    /// What its clock shows at the beginning.
    offset: u64,
    paused: u64,
    pub remote: Remote,
    pub heap: Heap,
    timer: u64,
    collecting: Option<Collecting>,
    tracing: bool,
    /// It will look at what rounds want.
    wished: bool,
    /// Lost by this one: when last, by proc; and packets: sent to, and the latest that came.
    lost: BTreeMap<usize, u64>,
    sent: BTreeMap<usize, u64>,
    heard: BTreeMap<usize, Heard>,
    /// Rounds that ended here.
    pub swept: u64,
    stamps: crate::stamps::Stamps,
    waves: stamps::Waves,
}

struct Collecting {
    marking: Marking,
    reached: Vec<Import>,
    objects: Vec<Gid>,
    proxies: Vec<u32>,
    /// Imports with their stamps.
    stamps: Vec<(usize, Import, Ref, u64)>,
}

/// The latest packet of another proc.
#[derive(Clone, Copy, Default)]
struct Heard {
    any: bool,
    number: u64,
    sent: u64,
    at: u64,
}

/// References on their way.
struct Transit {
    from: usize,
    to: usize,
    items: Vec<Edge>,
    /// Which objects they were when they left.
    truths: Vec<Gid>,
    open: bool,
    sent: u64,
    arrived: bool,
    /// One of the two has lost the other: what it brings is held by nobody.
    lost: bool,
}

/// What a run cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    pub collections: u64,
    /// Collections that a round asked for.
    pub asked: u64,
    /// Objects marked by them, and by traces between them.
    pub marked: u64,
    pub traced: u64,
    /// Of time stamps: packets, and their bytes.
    pub packets: u64,
    pub bytes: u64,
}

pub struct World {
    pub plan: Plan,
    pub now: u64,
    /// Faults are healed, and leases of the dead are over.
    over: u64,
    seq: u64,
    queue: BTreeMap<(u64, u64), Event>,
    pub procs: Vec<Proc>,
    /// The proc of each name that started last.
    newest: Vec<usize>,
    net: Chance,
    think: Chance,
    /// From, to, until.
    cuts: Vec<(usize, usize, u64)>,
    pub objects: Vec<Object>,
    pub proxies: Vec<Proxy>,
    /// The latest proxy of each import, by proc.
    latest: BTreeMap<(usize, Import), u32>,
    transits: Vec<Transit>,
    seen: Seen,
    /// Which object each reference was made for.
    names: BTreeMap<Ref, Gid>,
    /// References that programs remember though they have no proxy any more.
    stale: Vec<(Ref, Gid)>,
    pub end: end::End,
    /// Of time stamps: the next one is wanted; exports that the collection that begins found to be garbage.
    round_wanted: bool,
    condemned: Vec<Edge>,
    pub trace: u64,
    pub last: VecDeque<String>,
    keep: usize,
    pub wrong: Option<String>,
    pub cost: Cost,
}

pub struct Outcome {
    pub told: Told,
    pub world: World,
}

pub fn run(plan: &Plan, keep: usize) -> Outcome {
    let mut w = World::new(plan.clone(), keep);
    w.run();
    let told = Told { trace: w.trace, wrong: w.wrong.take(), last: std::mem::take(&mut w.last).into() };
    Outcome { told, world: w }
}

impl World {
    pub fn new(plan: Plan, keep: usize) -> World {
        let mut c = Chance::new(plan.seed ^ (plan.mix as u64) << 32);
        let (net, think) = (c.fork(), c.fork());
        let mut w = World {
            now: 0,
            over: 0,
            seq: 0,
            queue: BTreeMap::new(),
            procs: Vec::new(),
            newest: vec![usize::MAX; plan.nodes],
            net,
            think,
            cuts: Vec::new(),
            objects: Vec::new(),
            proxies: Vec::new(),
            latest: BTreeMap::new(),
            transits: Vec::new(),
            seen: Seen::default(),
            names: BTreeMap::new(),
            stale: Vec::new(),
            end: end::End::default(),
            round_wanted: false,
            condemned: Vec::new(),
            trace: 0,
            last: VecDeque::new(),
            keep,
            wrong: None,
            cost: Cost::default(),
            plan,
        };
        for name in 0..w.plan.nodes {
            w.start(name, true);
        }
        w.push(100 * MS, Event::Populate);
        let faults = w.plan.faults.clone();
        for (i, f) in faults.iter().enumerate() {
            w.push(f.at, Event::Fault(i));
        }
        for _ in 0..w.plan.rounds {
            let at = w.think.between(300, ACTIVE / MS) * MS;
            w.push(at, Event::Round);
        }
        let over = faults.iter().map(|f| f.at + f.long()).max().unwrap_or(0).max(ACTIVE);
        w.over = over + LEASE + 3000 * MS;
        // Until then the last messages have come, or were given up.
        w.push(over + 800 * MS, Event::Healed);
        w.push(w.over, Event::Quiet);
        w
    }
    pub fn run(&mut self) {
        while let Some(((at, _), event)) = self.queue.pop_first() {
            self.now = at;
            if self.seq > 2_000_000 || at > self.over + 120_000 * MS {
                self.complain(|| "the run never ends".into());
            }
            if !self.postponed(&event) {
                self.happen(event);
            }
            if self.wrong.is_some() || self.end.over {
                return;
            }
        }
    }
    fn push(&mut self, at: u64, e: Event) {
        self.seq += 1;
        self.queue.insert((at.max(self.now), self.seq), e);
    }
    pub fn complain(&mut self, what: impl FnOnce() -> String) {
        if self.wrong.is_none() {
            let now = self.now / MS;
            self.wrong = Some(format!("at {now} ms: {}", what()));
        }
    }
    fn say(&mut self, what: impl FnOnce(&World) -> String) {
        if self.keep > 0 {
            let line = format!("{:>6} {}", self.now / 1000, what(self));
            if self.last.len() == self.keep {
                self.last.pop_front();
            }
            self.last.push_back(line);
        }
    }
    fn clock(&self, p: usize) -> u64 {
        self.now + self.procs[p].offset
    }
    fn handle(&self, g: Gid) -> u64 {
        u64::from(self.objects[g as usize].cell) + 1
    }
    fn proc_of(&self, life: Life) -> Option<usize> {
        self.procs.iter().position(|p| p.life == life)
    }

    /// Things that wait: for a node that stands still, and a program's for its collection.
    fn postponed(&mut self, e: &Event) -> bool {
        let (p, program) = match e {
            Event::Packet { to, .. } => (*to, false),
            Event::Message(m) => (m.to, true),
            Event::Said(_, to, _) => (*to, false),
            Event::Tick(p)
            | Event::StampTick(p)
            | Event::Collect(p)
            | Event::Wish(p)
            | Event::Collected(p)
            | Event::Trace(p)
            | Event::Traced(p, _)
            | Event::Dropped(p, _)
            | Event::Up(p, _)
            | Event::Gone(p, _) => (*p, false),
            Event::Step(p) | Event::Done { from: p, .. } => (*p, true),
            _ => return false,
        };
        let proc = &self.procs[p];
        let at = if proc.paused > self.now {
            proc.paused
        } else if program && proc.collecting.is_some() && proc.alive {
            self.now + MS
        } else {
            return false;
        };
        self.push(at, e.clone());
        true
    }
    fn happen(&mut self, e: Event) {
        match e {
            Event::Packet { from, to, number, bytes } => self.packet(from, to, number, &bytes),
            Event::Message(m) => self.message(&m),
            Event::Tick(p) => {
                if self.procs[p].timer <= self.now {
                    self.procs[p].timer = u64::MAX;
                }
                self.at(p, |r, now| r.tick(now));
            }
            Event::Said(from, to, say) => self.said(from, to, say),
            Event::StampTick(p) => self.stamp_tick(p),
            Event::Step(p) => self.step(p),
            Event::Done { from, to, parcel, transit } => {
                self.transits[transit].open = false;
                self.at(from, |r, now| r.done(now, to, parcel));
            }
            Event::Collect(p) => {
                self.collect(p, false);
                if self.procs[p].alive {
                    let at = self.now + self.think.between(150, 350) * MS;
                    self.push(at, Event::Collect(p));
                }
            }
            Event::Wish(p) => {
                self.procs[p].wished = false;
                self.wishes(p);
            }
            Event::Collected(p) => self.collected(p),
            Event::Trace(p) => self.trace(p),
            Event::Dropped(p, dead) => self.at(p, |r, now| dead.into_iter().for_each(|(i, v)| r.dropped(now, i, v))),
            Event::Traced(p, reached) => {
                self.procs[p].tracing = false;
                self.at(p, |r, now| r.traced(now, reached));
            }
            Event::Up(p, life) => {
                self.at(p, |r, now| r.up(now, life).ok());
            }
            Event::Gone(p, life) => self.at(p, |r, now| r.gone(now, life)),
            Event::Fault(i) => self.fault(self.plan.faults[i]),
            Event::Start(name) => self.start(name, false),
            Event::Populate => self.populate(),
            Event::Round => {
                let name = self.think.below(self.plan.nodes as u64) as usize;
                self.wish(self.newest[name]);
            }
            Event::Healed => self.healed(),
            Event::Quiet => self.quiet(),
            Event::Check => self.check(),
        }
    }
    /// Something at a node's machine, and what follows of it.
    fn at<T: Default>(&mut self, p: usize, f: impl FnOnce(&mut Remote, u64) -> T) -> T {
        if !self.procs[p].alive {
            return T::default();
        }
        let now = self.clock(p);
        let answer = f(&mut self.procs[p].remote, now);
        self.follow(p);
        answer
    }
    fn follow(&mut self, p: usize) {
        while let Some(action) = self.procs[p].remote.poll() {
            match action {
                Action::Send { to, bytes } => self.send_packet(p, to, bytes),
                Action::Met(_) => {}
                Action::Lost { life, why } => self.lost(p, life, why),
                Action::Refused(i, why) => self.refused(p, i, why),
                Action::Nonsense(from, what) => self.complain(|| format!("proc {p} takes what {from:?} says for nonsense: {what:?}")),
                Action::Complaint(from, what) => self.complain(|| format!("{from:?} takes what proc {p} says for nonsense: {what:?}")),
                Action::Swept { round, dropped } => {
                    self.say(|_| format!("proc {p} ends {round:?} and drops {dropped}"));
                    self.trace = self.trace.wrapping_mul(31).wrapping_add(dropped as u64 ^ self.now);
                    self.procs[p].swept += 1;
                }
            }
        }
        let proc = &mut self.procs[p];
        if !proc.wished && proc.remote.want() != Want::Nothing {
            proc.wished = true;
            self.push(self.now, Event::Wish(p));
        }
        let proc = &mut self.procs[p];
        if let Some(next) = proc.remote.next_deadline() {
            let at = next.saturating_sub(proc.offset).max(self.now);
            if at < proc.timer {
                proc.timer = at;
                self.push(at, Event::Tick(p));
            }
        }
    }

    fn start(&mut self, name: usize, at_once: bool) {
        let incarnation = self.procs.iter().filter(|p| p.name == name).map(|p| p.life.incarnation).max().unwrap_or(0) + 1;
        let life = Life { node: NodeId(name as u64 * 1000 + 7), incarnation };
        let p = self.procs.len();
        let o = Options {
            lease: LEASE,
            gather: 2 * MS,
            retry: 60 * MS,
            round_every: 1 << 60,
            wave: 10 * MS,
            incremental: self.plan.incremental,
            ..Options::default()
        };
        let offset = self.think.below(1 << 40);
        let secret = [self.think.next(), self.think.next()];
        self.procs.push(Proc {
            name,
            life,
            alive: true,
            offset,
            paused: 0,
            remote: Remote::new(life, o, secret),
            heap: Heap::default(),
            timer: u64::MAX,
            collecting: None,
            tracing: false,
            wished: false,
            lost: BTreeMap::new(),
            sent: BTreeMap::new(),
            heard: BTreeMap::new(),
            swept: 0,
            stamps: Default::default(),
            waves: Default::default(),
        });
        self.newest[name] = p;
        let main = self.new_object(p);
        self.procs[p].heap.main = main;
        let desk = self.new_object(p);
        self.procs[p].heap.desk = desk;
        self.objects[main as usize].fields.push(Edge::Local(desk));
        for q in 0..p {
            if self.procs[q].alive && q != p {
                let late = if at_once { 0 } else { self.think.between(1, 60) * MS };
                self.push(self.now + late, Event::Up(q, life));
                let (other, late) = (self.procs[q].life, if at_once { 0 } else { self.think.between(1, 30) * MS });
                self.push(self.now + late, Event::Up(p, other));
            }
        }
        let at = self.now + self.think.between(110, 300) * MS;
        self.push(at, Event::Collect(p));
        let at = self.now + self.think.between(110, 130) * MS;
        self.push(at, Event::Step(p));
        if self.plan.stamps {
            self.push(self.now + 100 * MS, Event::StampTick(p));
        }
    }
    /// A round is wanted, and its leader has waited long enough.
    fn wish(&mut self, p: usize) {
        if self.plan.stamps {
            self.round_wanted = true;
            return;
        }
        let leader = self.newest.iter().copied().find(|p| self.procs[*p].alive && self.procs[*p].paused <= self.now);
        for p in leader.into_iter().chain([p]) {
            self.at(p, |r, now| r.want_round(now));
        }
    }
    fn new_object(&mut self, p: usize) -> Gid {
        let gid = self.objects.len() as Gid;
        let cell = self.procs[p].heap.place(gid);
        self.objects.push(Object { home: p, cell, ..Object::default() });
        gid
    }
}
