//! The cluster, and the loop.

use super::cores::{Cores, Share};
use super::event::{Queue, What};
use super::{Failure, MOST_EVENTS, Options};
use crate::Time;
use crate::outcome::{Doing, Outcome, Parts, Timeline};
use crate::setting::Setting;
use crate::trace::{Class, Op, Program};
use kumi_chance::Chance;
use kumi_schedule::{Heap, Kind, Members, Meter, Mode, Node, NodeId, Observed};
use std::collections::VecDeque;

/// What a worker is in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Busy {
    /// Nothing that lasts.
    No,
    /// What messages and switches cost.
    Overhead,
    /// A step of its current task, since then.
    Compute(Time),
    /// A collection.
    Collecting,
    /// A slice of one.
    Marking {
        /// It takes so long.
        slice: Time,
        /// It began then.
        since: Time,
        /// In time in which nothing else could run.
        fills: bool,
    },
}

/// Marking in slices.
#[derive(Clone, Copy)]
pub struct Marking {
    /// What is left of it.
    pub left: Time,
    /// What the program has let go of since it began: it was marked, and stays until the next.
    pub floats: u64,
    /// The heap's size at that time; what it has grown by is lent.
    pub size: u64,
}

/// How urgent each queue of ready tasks is, as classes are.
pub const URGENCY: [usize; 4] = [0, 1, 1, 2];
/// The queue of tasks that a tick put behind others.
pub const SPENT: usize = 2;

/// The queue of a class.
pub fn queue(class: Class) -> usize {
    [0, 1, 3][class as usize]
}

/// A node.
pub struct Host {
    pub busy: Busy,
    /// Of the event that ends what it is busy with.
    pub turn: u32,
    /// The task whose turn it is.
    pub current: Option<u32>,
    /// Tasks that may run: handlers; others that have come; those that a tick put behind them; speculative ones.
    pub ready: [VecDeque<u32>; 4],
    /// Ticks of the slice that goes on.
    pub slice: u32,
    /// The current task was taken from those that a tick put behind others.
    pub spent: bool,
    /// One of those is next.
    pub owed_slice: bool,
    /// Overhead that is not paid yet.
    pub owed: Time,
    /// When what it has sent has left.
    pub sent: Time,
    /// What arrived while it collected.
    pub held: Vec<u32>,
    pub marking: Option<Marking>,
    /// What the program has had since the last slice of marking.
    pub had: Time,
    /// It was ordered to collect.
    pub wants: Option<Kind>,
    /// What it collects.
    pub kind: Kind,
    /// Bytes that were born since the last collection, and those of them that the next one frees.
    pub born: u64,
    pub dies_young: u64,
    /// What was born and lived at the next collection, since the last full one; what lived after that.
    pub promoted: u64,
    pub old: u64,
    pub size: u64,
    pub live: u64,
    pub allocated: u64,
    pub doing: Doing,
    pub since: Time,
    pub meter: Meter,
    pub schedule: Node,
    /// Another task gets its turn at the next tick.
    pub ticks: bool,
    /// When its schedule next needs to look at the clock.
    pub tick: Time,
    pub view: u32,
    /// Of the cores.
    pub share: Share,
    pub parts: Parts,
}

impl Host {
    /// The queue of the next task.
    pub fn best(&self) -> Option<usize> {
        match self.ready.iter().position(|q| !q.is_empty()) {
            Some(1) if self.owed_slice && !self.ready[SPENT].is_empty() => Some(SPENT),
            best => best,
        }
    }
    /// Does marking take its part of the program's time? It does where the heap is full and lives on what is lent.
    pub fn must_mark(&self) -> bool {
        self.marking.is_some_and(|m| self.live.saturating_add(self.allocated) >= m.size)
    }
    /// A task is taken from this queue. Those that have come share a slice; handlers are beside it.
    pub fn begin_slice(&mut self, from: Option<usize>) {
        let Some(from) = from.filter(|q| *q != 0) else { return };
        if from == SPENT || self.spent {
            self.slice = 0;
        }
        self.spent = from == SPENT;
        self.owed_slice &= from != SPENT;
    }
}

/// A task.
#[derive(Clone, Copy, Default)]
pub struct Job {
    pub at: u32,
    /// Of the step that it computes.
    pub left: Time,
}

/// A message.
#[derive(Clone, Copy, Default)]
pub struct Letter {
    pub arrived: bool,
    /// One more than the task that waits for it.
    pub waiter: u32,
}

pub struct Machine<'a> {
    pub p: &'a Program,
    pub s: &'a Setting,
    pub o: &'a Options,
    pub now: Time,
    pub queue: Queue,
    pub hosts: Vec<Host>,
    pub cores: Cores,
    /// What is chance, where anything is.
    pub chance: Option<Chance>,
    pub jobs: Vec<Job>,
    pub letters: Vec<Letter>,
    /// Tasks that have to end.
    pub left: usize,
    /// The members as most see them, and as each of those sees them that a fault has met.
    pub views: Vec<Members>,
    /// Nodes that a fault has at present.
    pub faulty: Vec<(u32, bool)>,
    /// What was said to those that are stopped.
    pub unheard: Vec<What>,
    pub control: u64,
    pub orders: u64,
    pub messages: u64,
    pub latencies: Vec<Time>,
    pub switches: Vec<(Time, u32, Mode)>,
    pub timeline: Timeline,
}

impl<'a> Machine<'a> {
    pub fn new(p: &'a Program, s: &'a Setting, o: &'a Options) -> Machine<'a> {
        let host = |n: u32| Host {
            busy: Busy::No,
            turn: 0,
            current: None,
            ready: Default::default(),
            slice: 0,
            spent: false,
            owed_slice: false,
            owed: 0,
            sent: 0,
            held: Vec::new(),
            marking: None,
            had: 0,
            wants: None,
            kind: Kind::Full,
            born: 0,
            dies_young: 0,
            promoted: 0,
            old: 0,
            size: s.heap,
            live: 0,
            allocated: 0,
            doing: Doing::Active,
            since: 0,
            meter: Meter::new(0),
            schedule: Node::new(0, NodeId(n as u64), 1, o.policy, o.nodes),
            ticks: false,
            tick: Time::MAX,
            view: 0,
            share: Share::default(),
            parts: Parts::default(),
        };
        let mut hosts: Vec<Host> = (0..p.nodes).map(host).collect();
        let mut chance = o.seed.map(Chance::new);
        if let Some(chance) = &mut chance {
            for h in &mut hosts {
                h.allocated = chance.below((s.heap as f64 / o.nodes.thresholds.f.max(1.0)) as u64 + 1);
                h.dies_young = h.allocated;
            }
        }
        let mut left = 0;
        for (i, job) in p.jobs.iter().enumerate() {
            hosts[job.node as usize].ready[queue(job.class)].push_back(i as u32);
            left += (job.class != Class::Speculative) as usize;
        }
        let all = Members::new((0..p.nodes as u64).map(NodeId));
        Machine {
            p,
            s,
            o,
            now: 0,
            queue: Queue::default(),
            hosts,
            cores: Cores::default(),
            chance,
            jobs: vec![Job::default(); p.jobs.len()],
            letters: vec![Letter::default(); p.letters.len()],
            left,
            views: vec![all; 1 + o.faults.len()],
            faulty: Vec::new(),
            unheard: Vec::new(),
            control: 0,
            orders: 0,
            messages: 0,
            latencies: Vec::new(),
            switches: Vec::new(),
            timeline: Timeline::new(p.nodes, &o.drawing),
        }
    }
    pub fn run(mut self) -> Result<Outcome, Failure> {
        for n in 0..self.p.nodes {
            self.tick(n)?;
            self.dispatch(n)?;
        }
        while self.left > 0 {
            let event = if self.queue.stands() { None } else { self.queue.pop() };
            let Some((at, what)) = event else { return Err(self.stuck()) };
            if at > self.s.longest {
                return Err(Failure::TooLong(self.s.longest));
            }
            if self.queue.len() > MOST_EVENTS {
                return Err(Failure::TooMuch);
            }
            self.now = at;
            match what {
                What::Free { node, turn } => self.free(node, turn)?,
                What::Arrives(letter) => self.arrives(letter)?,
                What::Wake(job) => self.wake(job)?,
                What::Turn(node) => self.turn(node)?,
                What::Share => self.shares(),
                What::Tick(node) => {
                    self.hosts[node as usize].tick = Time::MAX;
                    self.tick(node)?;
                }
                What::Said { from, to, message } => self.said(from, to, message)?,
                What::Noticed { fault, over } => self.noticed(fault, over)?,
                What::Over(fault) => self.over(fault),
            }
        }
        Ok(self.end())
    }

    /// From now on a node does this.
    pub fn enter(&mut self, n: u32, doing: Doing) {
        let h = &mut self.hosts[n as usize];
        if h.doing != doing {
            *h.parts.of(h.doing) += self.now - h.since;
            self.timeline.span(n, h.doing, h.since, self.now);
            h.since = self.now;
            h.parts.idle_periods += (doing == Doing::Idle) as u64;
        }
        h.doing = doing;
        match doing {
            Doing::Active | Doing::Overhead => h.meter.change(self.now, kumi_schedule::Doing::Active),
            Doing::Idle => h.meter.change(self.now, kumi_schedule::Doing::Idle),
            Doing::Speculative => h.meter.change(self.now, kumi_schedule::Doing::Speculative),
            Doing::Collecting => h.meter.collection(self.now),
        }
    }
    /// What a node sees of itself when it needs so many bytes.
    pub fn seen(&self, n: u32, wanted: u64) -> Observed {
        let h = &self.hosts[n as usize];
        Observed::new(Heap { size: h.size, allocated: h.allocated, limit: self.s.limit, wanted }, &h.meter, self.now)
    }
    pub fn class(&self, job: u32) -> Class {
        self.p.jobs[job as usize].class
    }

    fn stuck(&self) -> Failure {
        let unfinished = |(i, job): (usize, &crate::trace::Job)| {
            (job.class != Class::Speculative && (self.jobs[i].at as usize) < job.ops.len())
                .then_some(Failure::Stuck { node: job.node, task: i })
        };
        self.p.jobs.iter().enumerate().find_map(unfinished).unwrap_or(Failure::TooLong(self.s.longest))
    }
    fn end(mut self) -> Outcome {
        for n in 0..self.p.nodes {
            let h = &mut self.hosts[n as usize];
            *h.parts.of(h.doing) += self.now - h.since;
            self.timeline.span(n, h.doing, h.since, self.now);
            h.parts.peak = h.parts.peak.max(h.size);
        }
        self.latencies.sort_unstable();
        self.timeline.end = self.now;
        Outcome {
            policy: self.o.policy,
            end: self.now,
            nodes: self.hosts.into_iter().map(|h| h.parts).collect(),
            orders: self.orders,
            messages: self.messages,
            control: self.control,
            latencies: self.latencies,
            switches: self.switches,
            timeline: self.timeline,
        }
    }
    /// The step that a task is at.
    pub fn op(&self, job: u32) -> Option<Op> {
        self.p.jobs[job as usize].ops.get(self.jobs[job as usize].at as usize).copied()
    }
}
