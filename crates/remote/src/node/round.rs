//! Collections across nodes: what no count frees.
//!
//! A round is a mark-sweep over the tables of all nodes. Marking of objects is the host's. Each node's first full collection of the round
//! begins it there; marks go from imports to their owners' exports; the host traces on from those; when nothing moves any more each node
//! collects fully once more, from its own roots and marked exports alone; if that finds nothing new, unmarked exports are garbage.
//!
//! **Invariant.** (1) A node is *verified* as long as nothing that its program did not reach at its last full collection has come to be
//! reachable: no mark, call or reference of an export that was not marked has come. Whatever a verified node's program reaches, the
//! owners of what that holds were told. Objects may be stored and dropped meanwhile as their program likes. (2) What travels is marked
//! where it is sent, or else where it arrives; what is on its way when a node joins is marked then. (3) A round ends when two waves of
//! questions, the second after the first, find every node verified, nothing changed between, and as many marks received as sent. So at
//! one moment between them (1) held everywhere and no mark was on its way: an export that was reachable then is marked. What was
//! garbage then stays so. A node that is not verified when it hears of that, or has to do with others than took part, frees nothing. A
//! leader that lies about the rest can have freed what is held.
//!
//! A node that is lost, and one that is known to some and takes no part, voids a round. It begins anew with whoever is there.

use super::{Action, Remote};
use crate::Time;
use crate::message::{Op, Report, RoundId};
use crate::name::{Life, NodeId};
use crate::planted::{Bug, planted};
use crate::table::Import;
use std::collections::BTreeMap;

/// Whoever leads tells members how far a round's number may be ahead.
const AHEAD: u64 = 1 << 20;

/// What a round needs of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Nothing.
    Nothing,
    /// Objects from which it is to trace on ([`Remote::grey`]).
    Trace,
    /// A full collection ([`Remote::marking`]), soon, on an idle node too.
    Collect,
}

/// Why a round was begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// More imports than before are reached by exports only, at the node that leads.
    Imports,
    /// The same at another one.
    Peer,
    /// The round before found nothing, since a member was lost or a stranger met.
    Void,
    /// The host asked ([`Remote::want_round`]).
    Request,
    /// Only the node that leads knows.
    Unknown,
}

/// In which order a full collection marks. The host marks from its roots and `first`; it then sees which imports' proxies are marked, and
/// says so ([`Remote::collected`]); it goes on with `rest`, and sweeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marking {
    /// Exports that something reachable holds.
    pub first: Vec<u64>,
    /// Those of which it is not known.
    pub rest: Vec<u64>,
    version: u64,
    turn: u32,
}

/// A node's part in a round.
pub(super) struct Round {
    pub id: RoundId,
    /// Who takes part; `None`: a mark came before the leader's word.
    members: Option<Vec<Life>>,
    /// Exports that are marked and not traced from.
    grey: Vec<u32>,
    /// The first collection is done.
    begun: bool,
    /// A trace or a collection goes on.
    busy: bool,
    /// One more collection is asked for.
    verify: bool,
    verified: Option<u64>,
    version: u64,
    sent: u64,
    received: u64,
    /// A wave that waits for an answer.
    probe: Option<u64>,
    cause: Cause,
}

/// What a leader knows.
pub(super) struct Lead {
    id: RoundId,
    /// When a member last said anything of itself.
    heard: Time,
    wave: u64,
    members: usize,
    reports: BTreeMap<NodeId, Report>,
    before: Option<BTreeMap<NodeId, Report>>,
    /// When the next wave begins; `None`: one goes on.
    next: Option<Time>,
    gap: Time,
}

impl Remote {
    /// What the round that goes on needs of the host.
    pub fn want(&self) -> Want {
        match &self.round {
            Some(r) if r.busy => Want::Nothing,
            Some(r) if !r.begun => Want::Collect,
            Some(r) if !r.grey.is_empty() => {
                if self.o.incremental {
                    Want::Trace
                } else {
                    Want::Collect
                }
            }
            Some(r) if r.verify => Want::Collect,
            _ => Want::Nothing,
        }
    }
    /// The round that goes on here.
    pub fn round(&self) -> Option<RoundId> {
        self.round.as_ref().map(|r| r.id)
    }
    /// How many nodes take part in it, and why it was begun.
    pub fn round_of(&self) -> (usize, Cause) {
        let cause = self.round.as_ref().map_or(Cause::Unknown, |r| r.cause);
        (self.round.as_ref().and_then(|r| r.members.as_ref()).map_or(0, Vec::len), cause)
    }
    /// A full collection begins. No program runs until its [`Remote::collected`].
    pub fn marking(&mut self) -> Marking {
        let turn = self.turn;
        let in_round = self.round.is_some();
        let (mut first, mut rest) = (Vec::new(), Vec::new());
        if in_round {
            for (slot, e) in self.exports.each().filter(|(_, e)| e.moved.is_none()) {
                if e.marked == turn { &mut first } else { &mut rest }.push(self.exports.handle(slot));
            }
        } else {
            self.exports.handles(&mut rest);
        }
        let version = self.round.as_mut().map_or(0, |r| {
            r.busy = true;
            r.grey.clear();
            r.version
        });
        Marking { first, rest, version, turn }
    }
    /// The host's handles of all objects that others hold and that have not moved are added to the list: for a full collection that marks all
    /// at once, in no round, after which nothing is to be told.
    pub fn handles(&self, to: &mut Vec<u64>) {
        self.exports.handles(to);
    }
    /// The collection's first part is done: these imports are reached from roots and `first`.
    pub fn collected(&mut self, now: Time, marking: &Marking, reached: impl IntoIterator<Item = Import>) {
        let mut count = 0;
        let whole = self.round.is_some() && marking.turn == self.turn;
        for i in reached {
            count += 1;
            if whole {
                self.tell(now, i);
            }
        }
        if let Some(r) = self.round.as_mut().filter(|_| whole) {
            r.busy = false;
            if r.version == marking.version || planted(Bug::VersionIgnored) {
                r.verified = Some(r.version);
                r.verify = false;
            }
            r.begun = true;
        } else if self.round.is_none() {
            self.suspects[0] = self.imports.len().saturating_sub(count);
        }
        self.go_on(now);
    }
    /// Objects from which the host is to trace, with a second bitmap: it goes on from where its last collection and traces of this round
    /// came to, and says which imports it met ([`Remote::traced`]). The program may run meanwhile.
    pub fn grey(&mut self) -> Vec<u64> {
        let Some(r) = &mut self.round else { return Vec::new() };
        r.busy = true;
        let grey = std::mem::take(&mut r.grey);
        let exports = &mut self.exports;
        let mut here = |s: u32| exports.at(s).is_some_and(|e| e.moved.is_none()).then(|| exports.handle(s));
        grey.into_iter().filter_map(&mut here).collect()
    }
    /// The trace met these imports.
    pub fn traced(&mut self, now: Time, reached: impl IntoIterator<Item = Import>) {
        for i in reached {
            self.tell(now, i);
        }
        if let Some(r) = &mut self.round {
            r.busy = false;
        }
        self.go_on(now);
    }
    /// After a full collection that began in no round: so many imports were reached by exports only. Without this, imports that it did
    /// not reach at all, whose proxies are about to be dropped, count as well.
    pub fn suspect(&mut self, now: Time, imports: usize) {
        self.suspects[0] = imports;
        self.consider(now);
    }
    /// A collection across nodes is wanted, sooner than the policy has it.
    pub fn want_round(&mut self, now: Time) {
        self.next_round = self.next_round.min(now);
        self.wish(now, Cause::Request);
    }
    /// The policy: a round is wanted when a quarter more imports than at the last wish are reached by exports only, and where any
    /// are, eight [`super::Options::round_every`] after it.
    fn consider(&mut self, now: Time) {
        let [are, were] = self.suspects;
        if are > were + were / 4 || are > 0 && now >= self.next_want {
            self.suspects[1] = are;
            self.next_want = now + 8 * self.o.round_every;
            self.wish(now, Cause::Imports);
        }
    }
    fn wish(&mut self, now: Time, cause: Cause) {
        let leader = self.leader();
        if leader == self.me.node {
            self.wanted = Some(cause);
        } else if let Some(p) = self.peers.get_mut(&leader) {
            p.push(now, &self.o, Op::Want);
        }
    }
    /// Whoever has the lowest name of those that are there, and have answered within their lease, leads.
    fn leader(&self) -> NodeId {
        self.peers.iter().find(|(_, p)| p.up && !p.silent).map_or(self.me.node, |(n, _)| (*n).min(self.me.node))
    }

    /// An export is reachable from elsewhere.
    pub(super) fn mark(&mut self, slot: u32) {
        let Some(r) = self.round.as_mut() else { return };
        let Some(e) = self.exports.at(slot) else { return };
        if e.marked != self.turn {
            e.marked = self.turn;
            r.version += 1;
            r.grey.push(slot);
        }
    }
    /// An import is reachable here: its owner is told, once in a round.
    pub(super) fn tell(&mut self, now: Time, i: Import) {
        let Some(r) = self.round.as_mut() else { return };
        let i = self.imports.follow(i);
        let Some(e) = self.imports.get_mut(i) else { return };
        if e.told == self.turn || !Remote::lives(e.state) {
            return;
        }
        e.told = self.turn;
        if let Some(p) = self.peers.get_mut(&e.r.life.node) {
            r.sent += 1;
            self.stats.marks += 1;
            p.push(now, &self.o, Op::Mark { round: r.id, slot: e.r.slot, generation: e.r.generation });
        }
    }

    /// This node takes part, if the round is a later one than it has seen.
    fn join(&mut self, now: Time, id: RoundId, members: Option<Vec<Life>>) -> bool {
        if id <= self.last_round {
            if let Some(r) = self.round.as_mut().filter(|r| r.id == id && r.members.is_none()) {
                r.members = members;
                return true;
            }
            return false;
        }
        self.last_round = id;
        self.lead = self.lead.take().filter(|l| l.id == id);
        self.turn = self.turn.wrapping_add(1);
        self.stats.rounds += 1;
        self.round = Some(Round {
            id,
            members,
            grey: Vec::new(),
            begun: false,
            busy: false,
            verify: false,
            verified: None,
            version: 0,
            sent: 0,
            received: 0,
            probe: None,
            cause: Cause::Unknown,
        });
        let mut own = Vec::new();
        let mut lent = Vec::new();
        for p in self.peers.values_mut() {
            p.purge(id);
            own.extend(p.holdings.iter().filter(|(_, n)| **n > 1).map(|(s, _)| *s));
            for pinned in p.parcels.values().flat_map(|s| s.pinned.iter()) {
                if let super::peer::Pinned::Lent(i) = pinned {
                    lent.push(*i);
                }
            }
        }
        if !planted(Bug::PinsUnmarked) {
            own.into_iter().for_each(|s| self.follow_mark(now, s));
            lent.into_iter().for_each(|i| self.tell(now, i));
        }
        true
    }
    /// A member is gone, or any: the round finds nothing any more.
    pub(super) fn void_round(&mut self, now: Time, life: Option<Life>) {
        let part = |m: &Option<Vec<Life>>| life.is_none_or(|l| m.as_ref().is_none_or(|m| m.contains(&l)));
        let Some(r) = self.round.take_if(|r| part(&r.members)) else { return };
        if self.lead.is_some() {
            self.begin_anew(now);
        } else if let Some(wave) = r.probe
            && let Some(p) = self.peers.get_mut(&r.id.leader())
        {
            let report = Report { void: true, version: self.last_round.number, ..Report::default() };
            p.push(now, &self.o, Op::Report { round: r.id, wave, report });
        }
    }
    /// The round that this node leads finds nothing. The next one waits longer each time: whoever is in the way has a lease.
    fn begin_anew(&mut self, now: Time) {
        (self.lead, self.round, self.wanted) = (None, None, Some(Cause::Void));
        self.next_round = now + (self.o.retry << self.failed.min(6)).min(self.o.lease / 2).max(self.o.retry);
        self.failed += 1;
    }

    pub(super) fn round_op(&mut self, now: Time, from: NodeId, op: Op) {
        match op {
            Op::Begin { round, members } => {
                let me = members.contains(&self.me);
                if round.leader() == from && me && round.number - round.number.min(self.last_round.number) <= AHEAD {
                    self.join(now, round, Some(members));
                }
            }
            Op::Mark { round, slot, generation } => {
                if round.number - round.number.min(self.last_round.number) <= AHEAD && self.peers.contains_key(&round.leader()) {
                    self.join(now, round, None);
                }
                if let Some(r) = self.round.as_mut().filter(|r| r.id == round) {
                    r.received += 1;
                    if self.exports.known(slot, generation).is_ok() {
                        self.follow_mark(now, slot);
                    }
                }
            }
            Op::Probe { round, wave } => match self.round.as_mut().filter(|r| r.id == round) {
                Some(r) => r.probe = Some(wave),
                None => {
                    let report = Report { void: true, version: self.last_round.number, ..Report::default() };
                    if let Some(p) = self.peers.get_mut(&from) {
                        p.push(now, &self.o, Op::Report { round, wave, report });
                    }
                }
            },
            Op::Report { round, wave, report } => self.report(now, from, round, wave, report),
            Op::Verify { round } if round.leader() == from => {
                if let Some(r) = self.round.as_mut().filter(|r| r.id == round) {
                    r.verify = r.verified != Some(r.version);
                }
            }
            Op::Sweep { round } if round.leader() == from => self.sweep(now, round),
            Op::Want => self.wanted = self.wanted.or(Some(Cause::Peer)),
            _ => self.nonsense(now, from, crate::name::Error::Forged),
        }
    }
    /// Marks an export, and what it moved to.
    fn follow_mark(&mut self, now: Time, slot: u32) {
        self.mark(slot);
        if let Some(to) = self.exports.at(slot).and_then(|e| e.moved) {
            self.tell(now, to);
        }
    }

    /// Answers a question that can be answered now.
    pub(super) fn go_on(&mut self, now: Time) {
        let Some(r) = self.round.as_mut() else { return };
        if r.busy || !r.begun || !r.grey.is_empty() || r.verify {
            return;
        }
        let Some(wave) = r.probe.take() else { return };
        let Some(members) = &r.members else { return };
        let strangers = self.peers.values().any(|p| p.related() && !members.contains(&p.life));
        let void = strangers && !planted(Bug::StrangersIgnored);
        let report = Report {
            void,
            verified: r.verified == Some(r.version),
            version: if void { 0 } else { r.version },
            sent: r.sent,
            received: r.received,
        };
        let (id, leader) = (r.id, r.id.leader());
        if leader == self.me.node {
            self.report(now, leader, id, wave, report);
        } else if let Some(p) = self.peers.get_mut(&leader) {
            p.push(now, &self.o, Op::Report { round: id, wave, report });
        }
    }

    /// What a member says of itself, at its leader.
    fn report(&mut self, now: Time, from: NodeId, round: RoundId, wave: u64, report: Report) {
        let Some(l) = self.lead.as_mut().filter(|l| l.id == round && l.wave == wave && l.next.is_none()) else { return };
        if report.void {
            // One that has just started learns how many rounds there were.
            if report.version > round.number && report.version - round.number <= AHEAD {
                self.last_round.number = self.last_round.number.max(report.version);
                self.failed = 0;
            }
            return self.begin_anew(now);
        }
        l.heard = now;
        l.reports.insert(from, report);
        if l.reports.len() < l.members {
            return;
        }
        let reports = std::mem::take(&mut l.reports);
        let sum = |f: fn(&Report) -> u64| reports.values().map(f).fold(0, u64::wrapping_add);
        let balanced = sum(|r| r.sent) == sum(|r| r.received) || planted(Bug::MarksUncounted);
        let still = l.before.as_ref() == Some(&reports) || planted(Bug::OneWave);
        let done = reports.values().all(|r| r.verified) || planted(Bug::NoVerify);
        if balanced && still && done {
            let lead = self.lead.take().expect("it leads");
            self.failed = 0;
            let members = self.round.as_ref().and_then(|r| r.members.clone()).unwrap_or_default();
            for m in members.iter().filter(|m| **m != self.me) {
                if let Some(p) = self.peers.get_mut(&m.node) {
                    p.push(now, &self.o, Op::Sweep { round: lead.id });
                }
            }
            self.sweep(now, lead.id);
            return;
        }
        if balanced && still {
            for node in reports.iter().filter(|(_, r)| !r.verified).map(|(n, _)| *n) {
                if node == self.me.node {
                    if let Some(r) = self.round.as_mut() {
                        r.verify = true;
                    }
                } else if let Some(p) = self.peers.get_mut(&node) {
                    p.push(now, &self.o, Op::Verify { round });
                }
            }
            l.before = None;
            l.gap = self.o.wave;
        } else {
            // A wave in balance is confirmed at once; others wait for marks, and ever longer.
            l.gap = if balanced { self.o.wave } else { (2 * l.gap).min(16 * self.o.wave) };
            l.before = Some(reports);
        }
        l.next = Some(now + l.gap);
    }
    fn sweep(&mut self, now: Time, id: RoundId) {
        let Some(r) = self.round.take_if(|r| r.id == id) else { return };
        // Whoever leads may be wrong, or lie: what this node knows itself has to agree.
        let known = self.peers.values().all(|p| !p.related() || r.members.as_ref().is_some_and(|m| m.contains(&p.life)));
        if (r.verified != Some(r.version) || !known) && !planted(Bug::NoVerify) && !planted(Bug::StrangersIgnored) {
            return;
        }
        let turn = self.turn;
        let dead: Vec<u32> = self.exports.each().filter(|(_, e)| e.marked != turn).map(|(s, _)| s).collect();
        let dropped = dead.len();
        dead.into_iter().for_each(|s| self.sweep_one(now, s));
        self.stats.rounds_ended += 1;
        self.next_round = now + self.o.round_every;
        // Where nothing was found the next round can wait, until there is more to find; else the next collection counts anew.
        self.suspects = if dropped > 0 { [0, 0] } else { [self.suspects[0]; 2] };
        self.next_want = now + self.o.round_every * if dropped > 0 { 1 } else { 8 };
        self.actions.push_back(Action::Swept { round: id, dropped });
    }

    pub(super) fn round_deadline(&self) -> Option<Time> {
        match &self.lead {
            Some(l) => l.next.into_iter().chain([l.heard + 4 * self.o.lease]).min(),
            None if self.wanted.is_some() && self.leader() == self.me.node => Some(self.next_round),
            None => None,
        }
    }
    /// What a leader does by time. A round begins where somebody wants it, [`super::Options::round_every`] after the last.
    pub(super) fn lead_on(&mut self, now: Time) {
        self.consider(now);
        let leads = self.leader() == self.me.node;
        match &mut self.lead {
            Some(l) if now >= l.heard + 4 * self.o.lease => self.begin_anew(now),
            Some(l) if l.next.is_some_and(|t| t <= now) => {
                l.next = None;
                l.wave += 1;
                let (id, wave) = (l.id, l.wave);
                let members = self.round.as_ref().and_then(|r| r.members.clone()).unwrap_or_default();
                for m in members.iter().filter(|m| **m != self.me) {
                    if let Some(p) = self.peers.get_mut(&m.node) {
                        p.push(now, &self.o, Op::Probe { round: id, wave });
                    }
                }
                if let Some(r) = self.round.as_mut() {
                    r.probe = Some(wave);
                }
            }
            None if self.wanted.is_some() && leads && now >= self.next_round => self.lead_one(now),
            _ => {}
        }
    }
    fn lead_one(&mut self, now: Time) {
        let cause = self.wanted.take().unwrap_or(Cause::Unknown);
        let id = RoundId { number: self.last_round.number + 1, leader: self.me.node.0 };
        let members: Vec<Life> = self.peers.values().filter(|p| p.up && !p.silent).map(|p| p.life).chain([self.me]).collect();
        self.join(now, id, Some(members.clone()));
        if let Some(r) = self.round.as_mut() {
            r.cause = cause;
        }
        self.lead = Some(Lead {
            id,
            heard: now,
            wave: 0,
            members: members.len(),
            reports: BTreeMap::new(),
            before: None,
            next: Some(now + self.o.wave),
            gap: self.o.wave,
        });
        for m in members.iter().filter(|m| **m != self.me) {
            if let Some(p) = self.peers.get_mut(&m.node) {
                p.push(now, &self.o, Op::Begin { round: id, members: members.clone() });
            }
        }
    }
}
