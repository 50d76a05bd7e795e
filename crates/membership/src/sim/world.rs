//! A cluster in one thread: nodes, a network that loses, delays, repeats and cuts, and clocks that jump.

use crate::hash::xxh64;
use crate::{Action, Config, Member, Membership, Why};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

pub(super) const MS: u64 = 1_000_000;
pub(super) const SECOND: u64 = 1_000 * MS;
/// When it begins: clocks go back by hours.
pub(super) const START: u64 = 100_000 * SECOND;

/// Why a node takes no part any more.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum End {
    Crashed,
    Left,
    Conflict,
}

/// One process.
pub(super) struct Node {
    pub(super) membership: Membership,
    pub(super) address: Arc<str>,
    pub(super) name: String,
    pub(super) end: Option<End>,
    /// It stands still until then; what comes meanwhile waits.
    paused: u64,
    waiting: Vec<(Arc<str>, Vec<u8>)>,
    /// What its clock shows more than the world's.
    clock: i64,
    /// Its clock has jumped while it waited: it wakes when it would have without.
    alarm: Option<u64>,
    /// Its side of a partition.
    pub(super) side: u8,
    /// A fault befell it: others may take it for down.
    pub(super) touched: bool,
    /// What it was told, and when.
    pub(super) told: Vec<(u64, Action)>,
}

impl Node {
    fn local(&self, now: u64) -> u64 {
        now.wrapping_add_signed(self.clock)
    }

    /// The world's time at which it wants to be called.
    fn wants(&self) -> Option<u64> {
        if let Some(alarm) = self.alarm {
            return Some(alarm.max(self.paused));
        }
        let due = self.membership.next_deadline()?.wrapping_add_signed(-self.clock);
        Some(due.max(self.paused))
    }

    pub(super) fn resumes(&self) -> u64 {
        self.paused
    }

    pub(super) fn sees(&self) -> Vec<Member> {
        self.membership.members()
    }
}

/// The network's manners, in thousandths and nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Network {
    pub(super) loss: u32,
    pub(super) repeats: u32,
    pub(super) delay: u64,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Flying {
    at: u64,
    order: u64,
    from: usize,
    to: Arc<str>,
    bytes: Vec<u8>,
}

pub(super) struct World {
    pub(super) now: u64,
    pub(super) rng: Xoshiro256PlusPlus,
    pub(super) nodes: Vec<Node>,
    pub(super) network: Network,
    /// It has lost packets: who asked in vain may say so later.
    lossy: bool,
    pub(super) packets: u64,
    flying: BinaryHeap<Reverse<Flying>>,
    config: Config,
    /// Of all that was told and sent, in order.
    pub(super) trace: u64,
    /// What no node may ever see: collected when it is seen.
    pub(super) faults: Vec<String>,
    /// The highest life of each name that a node, by its address and start, was told is up.
    highest: BTreeMap<(usize, String), Member>,
}

impl World {
    pub(super) fn new(seed: u64, network: Network, config: Config) -> World {
        World {
            now: START,
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            nodes: Vec::new(),
            network,
            lossy: network.loss > 0,
            packets: 0,
            flying: BinaryHeap::new(),
            config,
            trace: seed,
            faults: Vec::new(),
            highest: BTreeMap::new(),
        }
    }

    pub(super) fn below(&mut self, n: u64) -> u64 {
        self.rng.random_range(0..n)
    }

    /// Starts a process whose clock shows `clock` more than the world's; it joins by `seeds`.
    pub(super) fn start(&mut self, name: &str, address: &str, clock: i64, seeds: &[Arc<str>]) -> usize {
        let local = self.now.wrapping_add_signed(clock);
        let me = Member::new(name, address, local).unwrap().with_cores(2).unwrap();
        let mut membership = Membership::new(me, self.config.clone(), self.rng.random(), local);
        for seed in seeds {
            membership.join(local, seed).unwrap();
        }
        self.nodes.push(Node {
            membership,
            address: address.into(),
            name: name.into(),
            end: None,
            paused: 0,
            waiting: Vec::new(),
            clock,
            alarm: None,
            side: 0,
            touched: false,
            told: Vec::new(),
        });
        let i = self.nodes.len() - 1;
        self.collect(i);
        i
    }

    pub(super) fn crash(&mut self, i: usize) {
        self.nodes[i].end = Some(End::Crashed);
        self.nodes[i].touched = true;
    }

    pub(super) fn leave(&mut self, i: usize) {
        let local = self.nodes[i].local(self.now);
        self.nodes[i].membership.leave(local);
        self.collect(i);
        self.nodes[i].end = Some(End::Left);
        self.nodes[i].touched = true;
    }

    pub(super) fn pause(&mut self, i: usize, for_ns: u64) {
        self.nodes[i].paused = self.now + for_ns;
        self.nodes[i].touched = true;
    }

    pub(super) fn jump(&mut self, i: usize, by: i64) {
        let node = &mut self.nodes[i];
        node.alarm = node.wants();
        node.clock += by;
    }

    pub(super) fn hint(&mut self, i: usize, name: &str) {
        let local = self.nodes[i].local(self.now);
        self.nodes.iter_mut().filter(|n| n.name == name).for_each(|n| n.touched = true);
        self.nodes[i].membership.connection_lost(local, name);
        self.collect(i);
    }

    /// Bytes from outside.
    pub(super) fn inject(&mut self, i: usize, from: &str, bytes: &[u8]) {
        let local = self.nodes[i].local(self.now);
        self.nodes[i].membership.receive(local, from, bytes);
        self.collect(i);
    }

    /// Those that take part.
    pub(super) fn live(&self) -> Vec<usize> {
        (0..self.nodes.len()).filter(|i| self.nodes[*i].end.is_none()).collect()
    }

    /// Whether every node that takes part sees just those that do, each in its present life.
    pub(super) fn agrees(&self) -> bool {
        self.odd_one().is_none()
    }

    /// Who does not, and what it sees.
    pub(super) fn odd_one(&self) -> Option<String> {
        let live = self.live();
        let mut all: Vec<Member> = live.iter().map(|i| self.nodes[*i].membership.me().clone()).collect();
        all.sort_by(|a, b| a.name().cmp(b.name()));
        live.iter().find(|i| self.nodes[**i].sees() != all).map(|i| {
            let node = &self.nodes[*i];
            format!("{:?} sees {:?}, there are {all:?}", node.membership.me(), node.sees())
        })
    }

    /// Runs to a time, or until `done`.
    pub(super) fn run(&mut self, until: u64, mut done: impl FnMut(&World) -> bool) -> bool {
        loop {
            let flying = self.flying.peek().map(|f| (f.0.at, usize::MAX));
            let live = self.nodes.iter().enumerate().filter(|n| n.1.end.is_none());
            let waking = live.filter_map(|(i, n)| {
                let resumes = (!n.waiting.is_empty()).then_some(n.paused);
                n.wants().into_iter().chain(resumes).min().map(|at| (at, i))
            });
            let Some((at, who)) = waking.chain(flying).min().filter(|next| next.0 <= until) else {
                self.now = until;
                return done(self);
            };
            self.now = self.now.max(at);
            if who == usize::MAX {
                let Reverse(flying) = self.flying.pop().unwrap();
                self.deliver(flying);
            } else {
                self.wake(who);
            }
            if done(self) {
                return true;
            }
        }
    }

    fn wake(&mut self, i: usize) {
        let local = self.nodes[i].local(self.now);
        // Of what came during a pause, any part may be seen before its timers are.
        let waiting = std::mem::take(&mut self.nodes[i].waiting);
        let first = self.below(waiting.len() as u64 + 1) as usize;
        for (n, (from, bytes)) in waiting.iter().enumerate() {
            if n == first {
                self.nodes[i].membership.tick(local);
                self.collect(i);
            }
            self.nodes[i].membership.receive(local, from, bytes);
            self.collect(i);
        }
        if self.nodes[i].end.is_none() {
            self.nodes[i].membership.tick(local);
            self.collect(i);
        }
    }

    fn deliver(&mut self, f: Flying) {
        let now = self.now;
        let from = (self.nodes[f.from].address.clone(), self.nodes[f.from].side);
        let Some(i) = (0..self.nodes.len()).rev().find(|i| self.nodes[*i].address == f.to && self.nodes[*i].end.is_none()) else { return };
        let node = &mut self.nodes[i];
        if from.1 != node.side {
            return;
        }
        if node.paused > now {
            // A socket's buffer is no longer than that.
            if node.waiting.len() < 256 {
                node.waiting.push((from.0, f.bytes));
            }
            return;
        }
        let local = node.local(now);
        node.membership.receive(local, &from.0, &f.bytes);
        self.collect(i);
    }

    /// Takes what a node wants done.
    fn collect(&mut self, i: usize) {
        self.nodes[i].alarm = None;
        while let Some(action) = self.nodes[i].membership.poll() {
            match action {
                Action::Send { to, bytes } => {
                    assert!(bytes.len() <= crate::MAX_PACKET);
                    self.trace = xxh64(&bytes, self.trace ^ self.now);
                    self.send(i, to, bytes);
                }
                other => {
                    self.trace = xxh64(format!("{i} {other:?}").as_bytes(), self.trace ^ self.now);
                    self.check(i, &other);
                    if let Action::Conflict { .. } = other {
                        self.nodes[i].end = Some(End::Conflict);
                        self.nodes[i].touched = true;
                    }
                    self.nodes[i].told.push((self.now, other));
                }
            }
        }
    }

    fn send(&mut self, from: usize, to: Arc<str>, bytes: Vec<u8>) {
        self.packets += 1;
        let Network { loss, repeats, delay } = self.network;
        self.lossy |= loss > 0;
        let copies = if self.rng.random_ratio(loss, 1000) { 0 } else { 1 + u32::from(self.rng.random_ratio(repeats, 1000)) };
        for _ in 0..copies {
            let at = self.now + MS / 10 + self.below(delay);
            let order = self.packets << 1 | u64::from(copies > 1);
            self.flying.push(Reverse(Flying { at, order, from, to: to.clone(), bytes: bytes.clone() }));
        }
    }

    fn check(&mut self, i: usize, action: &Action) {
        match action {
            Action::Up(m) => {
                let key = (i, m.name().to_string());
                if self.highest.get(&key).is_some_and(|h| m.rank(h).is_le()) {
                    let h = &self.highest[&key];
                    self.faults.push(format!("{} takes {m:?} for up after {h:?}", self.nodes[i].name));
                }
                self.highest.insert(key, m.clone());
            }
            Action::Down(m, Why::Failed) => {
                let them = self.nodes.iter().find(|n| n.end.is_none() && n.membership.me() == m);
                if self.network.loss <= 50 && !self.nodes[i].touched && them.is_some_and(|n| !n.touched) {
                    self.faults.push(format!("{} takes {m:?} for down, which nothing befell", self.nodes[i].name));
                }
            }
            Action::Suspect(m) => {
                let them = self.nodes.iter().find(|n| n.end.is_none() && n.membership.me() == m);
                if self.network.loss == 0 && !self.lossy && them.is_some_and(|n| !n.touched) {
                    self.faults.push(format!("{} suspects {m:?}, which nothing befell", self.nodes[i].name));
                }
            }
            _ => {}
        }
    }
}
