//! Time stamps in a cluster: what nodes say of them, and collections in several parts.

use super::*;
use crate::stamps::{Stamp, Stamps};
use std::collections::BTreeSet;

#[derive(Clone, Debug)]
pub enum Say {
    /// Stamps of the receiver's exports, under a number.
    Raise(u64, Vec<(Ref, Stamp)>),
    Raised(u64),
    /// A wave's question: which, the last one that all answered, the clock, and what is garbage.
    Ask(u64, u64, Stamp, Stamp),
    /// Its answer, and whose objects the node holds, or who holds its own.
    Answer(u64, Stamp, Vec<Life>),
}

/// What a leader knows.
#[derive(Default)]
pub struct Waves {
    wave: u64,
    whole: u64,
    began: u64,
    members: Vec<usize>,
    answers: BTreeMap<usize, (Stamp, Vec<Life>)>,
    /// Since when a member has not answered.
    silent: BTreeMap<usize, u64>,
}

impl World {
    pub(super) fn stamps_at(&mut self, p: usize) -> Option<&mut Stamps> {
        self.plan.stamps.then(|| &mut self.procs[p].stamps)
    }
    fn tell(&mut self, from: usize, to: usize, say: Say) {
        let size = match &say {
            Say::Raise(_, s) => 24 + 6 * s.len(),
            Say::Answer(..) | Say::Ask(..) => 32,
            Say::Raised(_) => 24,
        };
        self.cost.packets += 1;
        self.cost.bytes += size as u64;
        for at in self.ways(from, to).into_iter().flatten() {
            self.push(at, Event::Said(from, to, say.clone()));
        }
    }
    pub(super) fn said(&mut self, from: usize, to: usize, say: Say) {
        if !self.procs[to].alive {
            return;
        }
        match say {
            Say::Raise(number, stamps) => {
                for (r, stamp) in stamps {
                    if let Ok(handle) = self.procs[to].remote.resolve(&r) {
                        self.procs[to].stamps.raise(handle, stamp);
                    }
                }
                self.tell(to, from, Say::Raised(number));
            }
            Say::Raised(number) => {
                let collecting = self.procs[to].collecting.is_some();
                let s = &mut self.procs[to].stamps;
                s.letters.remove(&number);
                s.settle(collecting);
            }
            Say::Ask(wave, since, clock, least) => {
                let node = self.procs[from].life.node;
                let answer = self.asked(to, node, (wave, since, clock, least));
                self.tell(to, from, answer);
            }
            Say::Answer(wave, low, known) => self.answered(to, from, wave, low, known),
        }
    }
    fn asked(&mut self, p: usize, leader: NodeId, (wave, since, clock, least): (u64, u64, Stamp, Stamp)) -> Say {
        let s = &mut self.procs[p].stamps;
        s.told_least(leader, since, clock, least);
        let low = s.answer(leader, wave, since);
        let remote = &self.procs[p].remote;
        let owners = remote.imports().filter(|(i, _)| remote.target(*i).is_ok()).map(|(_, r)| r.life);
        let known: BTreeSet<Life> = owners.chain(remote.exports().flat_map(|(h, _)| remote.holders(h))).collect();
        Say::Answer(wave, low, known.into_iter().collect())
    }
    fn answered(&mut self, p: usize, from: usize, wave: u64, low: Stamp, known: Vec<Life>) {
        let lives: Vec<Life> = self.procs.iter().map(|q| q.life).collect();
        let w = &mut self.procs[p].waves;
        w.silent.remove(&from);
        if w.wave != wave || w.members.is_empty() {
            return;
        }
        w.answers.insert(from, (low, known));
        if w.members.iter().any(|m| !w.answers.contains_key(m)) {
            return;
        }
        let all = |l: &Life| w.members.iter().any(|m| lives[*m] == *l);
        let low = w.answers.values().map(|a| a.0).min().unwrap_or(0);
        if w.answers.values().flat_map(|a| &a.1).all(all) {
            w.whole = wave;
            let s = &mut self.procs[p].stamps;
            s.least = s.least.max(low);
        }
        self.procs[p].waves.members.clear();
    }
    /// What a node does by time.
    pub(super) fn stamp_tick(&mut self, p: usize) {
        if !self.procs[p].alive {
            return;
        }
        self.push(self.now + 10 * MS, Event::StampTick(p));
        let now = self.now;
        if self.procs[p].stamps.letters.values().any(|l| l.again > 0 && l.again <= now) {
            // Owners of which nothing is held any more need not answer.
            let remote = &self.procs[p].remote;
            let held: BTreeSet<Life> = remote.imports().filter(|(i, _)| remote.target(*i).is_ok()).map(|(_, r)| r.life).collect();
            self.procs[p].stamps.letters.retain(|_, l| l.stamps.iter().any(|(r, _)| held.contains(&r.life)));
        }
        let late: Vec<(usize, Say)> = self.procs[p]
            .stamps
            .letters
            .iter_mut()
            .filter(|(_, l)| l.again <= now)
            .map(|(n, l)| {
                l.again = now + 60 * MS;
                (l.to, Say::Raise(*n, l.stamps.clone()))
            })
            .collect();
        late.into_iter().for_each(|(to, say)| self.tell(p, to, say));
        let leader = self.newest.iter().copied().find(|p| self.procs[*p].alive && self.procs[*p].paused <= self.now);
        if leader == Some(p) {
            self.lead(p);
        }
        let collecting = self.procs[p].collecting.is_some();
        let s = &mut self.procs[p].stamps;
        s.settle(collecting);
        // As long as a stamp is on its way, what has come is handed on.
        let wanted = s.least < s.clock && (s.fresh.is_some() || s.done < s.clock) && s.letters.is_empty();
        if wanted && !collecting && now >= s.last + 20 * MS {
            s.last = now;
            self.cost.asked += 1;
            self.collect(p, true);
        }
    }
    fn lead(&mut self, p: usize) {
        let s = &mut self.procs[p].stamps;
        // At most four stamps are under way, so at most four parts mark.
        if self.round_wanted && s.least + 2 >= s.clock {
            s.clock += 1;
            self.round_wanted = false;
        }
        let (clock, least, idle) = (s.clock, s.least, s.least == s.clock);
        let (wave, began) = (self.procs[p].waves.wave, self.procs[p].waves.began);
        let open = !self.procs[p].waves.members.is_empty();
        if idle && !open || open && self.now < began + 100 * MS {
            return;
        }
        let remote = &self.procs[p].remote;
        let lives: Vec<Life> = self.procs.iter().filter_map(|q| remote.met(q.life.node)).collect();
        let silent = &self.procs[p].waves.silent;
        let there = |q: &usize| silent.get(q).is_none_or(|t| self.now < t + LEASE);
        let met: Vec<usize> = (0..self.procs.len()).filter(|q| *q == p || lives.contains(&self.procs[*q].life)).collect();
        let members = met.iter().copied().filter(there).collect();
        let w = &mut self.procs[p].waves;
        (w.wave, w.began, w.members) = (wave + 1, self.now, members);
        w.answers.clear();
        let (ask, node) = ((wave + 1, w.whole, clock, least), self.procs[p].life.node);
        for m in met {
            self.procs[p].waves.silent.entry(m).or_insert(self.now);
            if m == p {
                if let Say::Answer(wave, low, known) = self.asked(p, node, ask) {
                    self.answered(p, p, wave, low, known);
                }
            } else {
                self.tell(p, m, Say::Ask(ask.0, ask.1, ask.2, ask.3));
            }
        }
    }

    /// Marks in parts, the latest stamps first. Which imports have which; garbage is kept until its holders say that they hold it no more.
    pub(super) fn mark_by_stamps(&mut self, p: usize, roots: Vec<Edge>) -> Vec<(usize, Import, Ref, Stamp)> {
        let clock = self.procs[p].stamps.begin();
        let handles: Vec<(u64, u32)> = self.procs[p].remote.exports().collect();
        let s = &mut self.procs[p].stamps;
        s.exports.retain(|h, _| handles.iter().any(|x| x.0 == *h));
        let least = s.least;
        let mut parts: BTreeMap<Stamp, Vec<Edge>> = BTreeMap::new();
        for (h, _) in handles {
            let stamp = self.procs[p].stamps.exports.get(&h).copied().unwrap_or(clock);
            parts.entry(stamp).or_default().extend(self.procs[p].heap.at(h).map(Edge::Local));
        }
        parts.entry(clock).or_default().extend(roots);
        // What is on its way is held here until it is there, or certainly lost.
        let on_way = self.transits.iter().filter(|t| t.from == p && !t.arrived && !t.lost && self.now < t.sent + 5000 * MS);
        let on_way: Vec<Edge> = on_way.flat_map(|t| t.items.iter().copied()).collect();
        parts.entry(clock).or_default().extend(on_way);
        let mut found = Vec::new();
        let mut open: Vec<u32> = self.procs[p].heap.proxies.values().copied().collect();
        for (stamp, starts) in parts.split_off(&least).into_iter().rev() {
            self.mark(p, starts);
            open.retain(|x| {
                let here = self.seen.has_proxy(*x);
                let proxy = &self.proxies[*x as usize];
                if let Ok(r) = self.procs[p].remote.target(proxy.import)
                    && here
                {
                    found.push((proxy.owner, proxy.import, r, stamp));
                }
                !here
            });
        }
        self.condemned = parts.into_values().flatten().collect();
        found
    }
}
