//! One other node: the session with it, and what stands between the two.
//!
//! **Invariant.** All of it is bounded by the quotas: operations that wait follow from entries that are bounded, and marks of rounds that
//! are over are dropped unless they were sent.

use super::options::Options;
use crate::Time;
use crate::message::{MAX_OPS, Op, Packet, RoundId};
use crate::name::{Life, NodeId};
use crate::planted::{Bug, planted};
use crate::table::{Import, Map, map};
use std::collections::{BTreeMap, VecDeque};

/// So many operations may be on their way.
const WINDOW: usize = 8 * MAX_OPS;
/// What a packet's operations weigh at most: below `MAX_PACKET`.
const WEIGHT: usize = 60 << 10;
/// So many operations are sent at once rather than gathered.
const MANY: usize = 256;

/// What a parcel holds until it is settled.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Pinned {
    Own(u32),
    Lent(Import),
}

pub(crate) struct Sent {
    pub pinned: Box<[Pinned]>,
    pub revoked: bool,
}

/// A parcel that has come, or was refused.
#[derive(Default)]
pub(crate) struct Arrival {
    /// Claims that are not answered. It is settled with the last one.
    pub left: u32,
    /// References in it, as long as there are such.
    pub refs: usize,
    /// Its sender's objects: they are not given back before the sender knows that they were received.
    pub pinned: Vec<Import>,
}

pub(crate) struct Claim {
    /// Null: its owner has handed it over itself meanwhile.
    pub import: Import,
    /// Parcels that wait for it: whose, in which session, which.
    pub waiting: Vec<(NodeId, u64, u64)>,
}

/// Operations that the peer may not have.
#[derive(Default)]
struct Outgoing {
    ops: VecDeque<Op>,
    /// The first one's number, less one.
    before: u64,
    /// So many of them were sent, since their repetition began.
    sent: usize,
    /// And so many ever.
    ever: usize,
    /// When the others are sent.
    due: Option<Time>,
    /// When those that were sent are sent again.
    again: Time,
    patience: Time,
    /// Answers among them.
    answers: usize,
    /// Packets.
    number: u64,
    last: Time,
}

pub(crate) struct Peer {
    pub life: Life,
    /// Does the host know of it?
    pub up: bool,
    /// It has not been heard in this session: it may not be there.
    pub silent: bool,
    /// This node's epoch with it.
    pub epoch: u64,
    /// Its own; 0: not known.
    pub theirs: u64,
    /// Its epochs up to this one are over.
    pub over: u64,
    pub heard: Time,
    /// The highest packet of its epoch.
    pub number: u64,
    out: Outgoing,
    /// Its next operation.
    pub expect: u64,
    pub ack_due: Option<Time>,
    /// What it holds of this node: parcels on their way, twice, and whether it holds it beyond them.
    pub holdings: Map<u32, u32>,
    /// What this node holds of it.
    pub imports: usize,
    pub parcels: BTreeMap<u64, Sent>,
    pub next_parcel: u64,
    /// Its parcels up to here are settled.
    pub settled: u64,
    /// Those after, as far as they came.
    pub arrived: BTreeMap<u64, Arrival>,
    /// References in those of them that wait.
    pub waits: usize,
    /// References in this node's parcels.
    pub pinned: usize,
    pub claims: VecDeque<Claim>,
    /// The first of them.
    pub first_claim: u64,
}

impl Peer {
    pub fn new(life: Life, epoch: u64, seed: u64, now: Time) -> Peer {
        Peer {
            life,
            up: true,
            silent: true,
            epoch,
            theirs: 0,
            over: 0,
            heard: now,
            number: 0,
            out: Outgoing::default(),
            expect: 1,
            ack_due: None,
            holdings: map(seed),
            imports: 0,
            parcels: BTreeMap::new(),
            next_parcel: 0,
            settled: 0,
            arrived: BTreeMap::new(),
            waits: 0,
            pinned: 0,
            claims: VecDeque::new(),
            first_claim: 0,
        }
    }

    /// Does anything stand between the two that a lease protects?
    pub fn related(&self) -> bool {
        !self.holdings.is_empty() || self.imports > 0 || !self.parcels.is_empty() || !self.claims.is_empty() || !self.out.ops.is_empty()
    }
    /// Whoever is related shows that it lives; whoever was lost is asked whether it does.
    fn beats(&self, o: &Options) -> Option<Time> {
        match (self.silent && self.up, self.related()) {
            (true, _) => Some((o.lease / 6).min(4 * o.retry)),
            (_, true) => Some(o.lease / 6),
            _ => None,
        }
    }
    /// Something will: its lease begins.
    pub fn relate(&mut self, now: Time) {
        if !self.related() {
            self.heard = self.heard.max(now);
        }
    }
    pub fn lease(o: &Options) -> Time {
        if planted(Bug::LeaseTooShort) { o.lease / 3 } else { o.lease }
    }
    pub fn expired(&self, now: Time, o: &Options) -> bool {
        !planted(Bug::NoLease) && self.related() && now.saturating_sub(self.heard) > Peer::lease(o)
    }

    pub fn push(&mut self, now: Time, o: &Options, op: Op) {
        self.relate(now);
        self.out.answers += usize::from(op.is_answer());
        self.out.ops.push_back(op);
        let due = if self.out.ops.len() - self.out.sent >= MANY { now } else { now + o.gather };
        self.out.due = Some(self.out.due.map_or(due, |d| d.min(due)));
    }
    pub fn owe_ack(&mut self, now: Time, o: &Options) {
        self.ack_due.get_or_insert(now + o.gather);
    }
    /// Nobody asks for marks of earlier rounds.
    pub fn purge(&mut self, round: RoundId) {
        let late: Vec<Op> = self.out.ops.drain(self.out.ever..).collect();
        self.out.ops.extend(late.into_iter().filter(|op| op.round().is_none_or(|r| r >= round)));
        self.out.answers = self.out.ops.iter().filter(|op| op.is_answer()).count();
    }
    /// All below `ack` have come. `false`: they were never sent.
    pub fn acknowledged(&mut self, now: Time, ack: u64) -> bool {
        let Some(n) = (ack - 1).checked_sub(self.out.before) else { return true };
        let Ok(n) = usize::try_from(n) else { return false };
        if n > self.out.ever {
            return false;
        }
        if n > 0 {
            let gone = self.out.ops.drain(..n);
            self.out.answers -= gone.filter(Op::is_answer).count();
            self.out.before += n as u64;
            self.out.sent = self.out.sent.saturating_sub(n);
            self.out.ever -= n;
            self.out.patience = 0;
            self.out.again = now;
        }
        true
    }

    /// The session begins anew.
    pub fn reset(&mut self, epoch: u64) {
        self.over = self.over.max(self.theirs);
        (self.epoch, self.theirs, self.number, self.expect) = (epoch, 0, 0, 1);
        self.out = Outgoing { last: self.out.last, ..Outgoing::default() };
        self.ack_due = None;
        self.holdings.clear();
        self.imports = 0;
        self.parcels.clear();
        self.next_parcel = 0;
        self.settled = 0;
        self.arrived.clear();
        (self.waits, self.pinned) = (0, 0);
        self.claims.clear();
        self.first_claim = 0;
    }

    /// All parcels below are settled.
    pub fn settled_parcels(&self) -> u64 {
        self.parcels.keys().next().copied().unwrap_or(self.next_parcel)
    }

    /// Its parcels below are settled, it says. What they had pinned, where they waited all the same.
    pub fn settle(&mut self, settled: u64) -> Vec<Import> {
        if settled <= self.settled {
            return Vec::new();
        }
        self.settled = settled;
        let rest = self.arrived.split_off(&settled);
        let gone = std::mem::replace(&mut self.arrived, rest);
        self.waits -= gone.values().map(|a| a.refs).sum::<usize>();
        gone.into_values().flat_map(|a| a.pinned).collect()
    }
    /// The claim of this number.
    pub fn claim(&mut self, number: u64) -> Option<&mut Claim> {
        self.claims.get_mut(usize::try_from(number.checked_sub(self.first_claim)?).ok()?)
    }
    /// When it is next to be looked at.
    pub fn deadline(&self, o: &Options) -> Option<Time> {
        let again = (self.out.sent > 0 && !planted(Bug::NoRetry)).then_some(self.out.again + self.out.patience.max(o.retry));
        let beat = self.beats(o).map(|long| self.out.last + long);
        let lease = (self.related() && !planted(Bug::NoLease)).then_some(self.heard + Peer::lease(o) + 1);
        [self.ack_due, self.out.due, again, beat, lease].into_iter().flatten().min()
    }

    /// Packets that are due.
    pub fn transmit(&mut self, now: Time, o: &Options, me: Life, mut send: impl FnMut(Packet)) {
        let out = &mut self.out;
        if out.sent > 0 && now >= out.again + out.patience.max(o.retry) && !planted(Bug::NoRetry) {
            out.patience = (2 * out.patience.max(o.retry)).min(o.lease / 6).max(o.retry);
            out.sent = 0;
            out.due = Some(now);
        }
        let mut bare = self.ack_due.is_some_and(|t| t <= now) || self.beats(o).is_some_and(|long| now >= self.out.last + long);
        let fresh = self.out.due.is_some_and(|t| t <= now);
        if fresh {
            self.out.due = None;
        }
        while bare || fresh && self.out.sent < self.out.ops.len().min(WINDOW) {
            let settled = self.settled_parcels();
            let out = &mut self.out;
            let mut ops = Vec::new();
            let (mut weight, seq) = (0, out.before + out.sent as u64 + 1);
            if out.sent == 0 {
                out.again = now;
            }
            while ops.len() < MAX_OPS && out.sent < out.ops.len().min(WINDOW) && fresh {
                weight += out.ops[out.sent].size();
                if weight > WEIGHT && !ops.is_empty() {
                    break;
                }
                ops.push(out.ops[out.sent].clone());
                out.sent += 1;
            }
            out.ever = out.ever.max(out.sent);
            out.number += 1;
            out.last = now;
            send(Packet {
                incarnation: me.incarnation,
                epoch: self.epoch,
                to_incarnation: self.life.incarnation,
                to_epoch: self.theirs,
                ask: self.silent,
                over: self.over,
                number: out.number,
                ack: self.expect,
                settled,
                seq,
                ops,
            });
            self.ack_due = None;
            bare = false;
        }
    }
    /// Has it as many answers on their way as one that hears them can have? Then no more is heard of what wants one.
    pub fn is_deaf(&self, o: &Options) -> bool {
        self.out.answers > o.imports + 4 * o.parcels
    }
    /// Operations that wait or are on their way.
    pub fn waiting(&self) -> usize {
        self.out.ops.len()
    }
    /// After an acknowledgement there may be room for more.
    pub fn go_on(&mut self, now: Time) {
        if self.out.due.is_none() && self.out.sent < self.out.ops.len() {
            self.out.due = Some(now);
        }
    }
}
