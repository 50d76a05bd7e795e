//! A node's part.

mod coordinator;
mod members;
mod options;
mod trial;

use crate::message::Message;
use crate::policy::{Decision, Mode, Observed, Policy, View, Why, decide, fills, forecast, half_way, joins, marks, slices};
use crate::rule::{NOTICE_LIVES, Report, degradation, expected};
use crate::{Kind, Time};
use coordinator::Coordinator;
use std::collections::{BTreeMap, VecDeque};

pub use members::{Members, NodeId};
pub use options::Options;

/// *Ours*: a heap is never let grow to more than so many times its size because another one is that large.
const LARGEST_TIMES: u64 = 64;
/// *Ours*: a node tells how large its heap is when that has changed by this part.
const HEAP_NEWS: u64 = 8;
/// *Ours*: a node says that it is about to collect when less than this part of its interval is left.
const SOON: u64 = 8;

/// Something for the host. They come in order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Send this to that node. It may be lost, late or repeated.
    Send(NodeId, Message),
    /// Send this to all members but this node.
    All(Message),
    /// Collect at the next safepoint, and say [`Node::collected`].
    Collect(Kind),
    /// Begin to mark in slices between messages, and say [`Node::collected`] when all is marked. What the heap grows by meanwhile is lent:
    /// it is to go back to its size. A collection that is decided on
    /// meanwhile does the rest at once.
    Mark(Kind),
    /// This is in force from now on, for the node page and the log.
    InForce(Kind, Mode),
}

/// Who asks for a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The program (`GC.start`).
    Start,
    /// Memory runs short.
    Short,
    /// A round of the cluster's collection, which each node takes part in by a full collection.
    Round,
    /// Connections and other things outside that may hang on dead objects.
    Watch,
}

/// One node. See the crate's head for what it is, [`Node::poll`] for what a host does.
#[derive(Debug)]
pub struct Node {
    me: NodeId,
    life: u64,
    policy: Policy,
    o: Options,
    actions: VecDeque<Action>,
    coordinator: Option<Coordinator>,
    /// Whose word is in force, and its life and number.
    from: Option<(NodeId, u64, u64)>,
    /// When that was last heard.
    heard: Time,
    modes: [Mode; 2],
    shown: [Mode; 2],
    largest: u64,
    /// The heap's size that the coordinator was told, and which one.
    told: Option<(NodeId, u64)>,
    /// A collection was asked of the host and has not ended.
    busy: bool,
    /// The heap's size when marking in slices began, while that goes on.
    marking: Option<u64>,
    /// When the last one of each kind began.
    began: [Option<Time>; 2],
    /// A request's collection begins at the latest.
    due: Option<Time>,
    /// It was said that this node is about to collect.
    announced: bool,
    /// From when to when others do not answer.
    away: BTreeMap<NodeId, (Time, Time)>,
}

impl Node {
    /// A node that begins. `life` grows with each life that a node of this name has.
    pub fn new(now: Time, me: NodeId, life: u64, policy: Policy, o: Options) -> Node {
        let modes = [policy.start(); 2];
        Node {
            me,
            life,
            policy,
            o,
            actions: VecDeque::new(),
            coordinator: None,
            from: None,
            heard: now,
            modes,
            shown: modes,
            largest: 0,
            told: None,
            busy: false,
            marking: None,
            began: [None; 2],
            due: None,
            announced: false,
            away: BTreeMap::new(),
        }
    }
    /// Which node this is.
    pub fn me(&self) -> NodeId {
        self.me
    }
    /// Its policy.
    pub fn policy(&self) -> Policy {
        self.policy
    }
    /// What is to be done, oldest first. To be asked until there is nothing, after each other call.
    pub fn poll(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }
    /// How this node collects at this moment.
    pub fn mode(&self, now: Time, members: &Members, kind: Kind) -> Mode {
        if !self.policy.adapts() {
            return self.policy.start();
        }
        let heard = match self.from {
            // Its beginning is as good as a word.
            None => true,
            Some((who, ..)) => members.coordinator() == Some(who),
        };
        if heard && now.saturating_sub(self.heard) <= self.o.lease { self.modes[kind as usize] } else { Mode::Independent }
    }
    /// `H_max`, as far as it is known; 0: it is not.
    pub fn largest(&self) -> u64 {
        self.largest
    }
    /// Has a collection been asked of the host that has not ended?
    pub fn busy(&self) -> bool {
        self.busy
    }

    /// The heap overflows. `Collect`: now; say [`Node::collected`] afterwards, and ask again if there is still no room.
    pub fn overflow(&mut self, now: Time, members: &Members, seen: &Observed) -> Decision {
        self.begin_marking(now, members, seen);
        let decision = self.decide(now, members, Kind::Full, Why::Overflow, seen);
        if let Decision::Grow(to) = decision
            && self.marking.is_none()
        {
            self.tell_heap(members, to);
        }
        decision
    }
    /// A young collection is due.
    pub fn born(&mut self, now: Time, members: &Members, seen: &Observed) -> Decision {
        self.decide(now, members, Kind::Young, Why::Born, seen)
    }
    /// A full collection is asked for. `Nothing`: it comes later, by an action.
    pub fn request(&mut self, now: Time, members: &Members, request: Request, seen: &Observed) -> Decision {
        match request {
            Request::Start => self.decide(now, members, Kind::Full, Why::Start, seen),
            Request::Short => self.decide(now, members, Kind::Full, Why::Short, seen),
            Request::Round | Request::Watch => {
                let by = now.saturating_add(self.o.patience);
                self.due = Some(self.due.map_or(by, |d| d.min(by)));
                Decision::Nothing
            }
        }
    }
    /// A collection has ended, and the heap has this size.
    pub fn collected(&mut self, _now: Time, members: &Members, kind: Kind, size: u64) {
        (self.busy, self.announced, self.marking) = (false, false, None);
        if kind == Kind::Full {
            self.due = None;
        }
        self.tell_heap(members, size);
        if let Some(next) = members.after(self.me).filter(|_| self.policy == Policy::Staggered) {
            self.actions.push_back(Action::Send(next, Message::Turn(kind)));
        }
    }
    /// To be called now and then while the node allocates, with hints on or where marking may go on in slices: says when it is about to
    /// collect, and begins to mark in time.
    pub fn look(&mut self, now: Time, members: &Members, seen: &Observed) {
        self.begin_marking(now, members, seen);
        if !self.o.hints || self.announced || self.busy {
            return;
        }
        let view = self.view(now, members, Kind::Full, seen);
        let interval = seen.interval(Kind::Full);
        if let Some(left) = forecast(&view, &self.o.thresholds).filter(|left| *left <= interval.length / SOON) {
            self.announced = true;
            self.actions.push_back(Action::All(Message::Away { after: left, lasts: interval.collection }));
        }
    }
    /// To be called when nothing can run but speculative tasks, where the policy [fills](Policy::fills) such time: it may be time to begin to mark.
    pub fn rests(&mut self, now: Time, members: &Members, seen: &Observed) {
        let view = self.view(now, members, Kind::Full, seen);
        if fills(self.policy, &view, &self.o.thresholds) && !self.has_just(now, Kind::Full, seen) {
            self.tell(now, members, Kind::Full, seen);
            self.mark(seen);
        }
    }
    /// Had requests better go elsewhere than to this node?
    pub fn avoid(&self, now: Time, node: NodeId) -> bool {
        self.away.get(&node).is_some_and(|(from, to)| (*from..*to).contains(&now))
    }
    /// The first of these that will answer, or, where none will, the one that will soonest.
    pub fn prefer(&self, now: Time, of: &[NodeId]) -> Option<NodeId> {
        let free = of.iter().find(|n| !self.avoid(now, **n));
        free.or_else(|| of.iter().min_by_key(|n| self.away.get(n).map(|a| a.1))).copied()
    }

    /// Something that another node said.
    pub fn message(&mut self, now: Time, members: &Members, from: NodeId, message: Message, seen: &Observed) {
        if !members.has(from) || from == self.me {
            return;
        }
        self.lead(now, members);
        match message {
            Message::Order(_) | Message::Slices => {
                let kind = if let Message::Order(kind) = message { kind } else { Kind::Full };
                let view = self.view(now, members, kind, seen);
                if !self.has_just(now, kind, seen) && joins(self.policy, kind, &view, &self.o.thresholds) {
                    self.tell(now, members, kind, seen);
                    if kind == Kind::Full && slices(self.policy, &view, message == Message::Slices) {
                        self.mark(seen);
                    } else {
                        self.begin(now, kind);
                        self.actions.push_back(Action::Collect(kind));
                    }
                }
            }
            Message::Turn(kind) => {
                let view = self.view(now, members, kind, seen);
                let mine = self.policy == Policy::Staggered && half_way(kind, &view, &self.o.thresholds);
                if mine && !self.has_just(now, kind, seen) {
                    self.begin(now, kind);
                    self.actions.push_back(Action::Collect(kind));
                }
            }
            Message::Report { .. } | Message::Notice { .. } | Message::Heap(_) => self.lead_by(now, members, from, message),
            Message::Force { life, number, modes, largest } => {
                let newer = self.from.is_none_or(|f| f.0 != from || (f.1, f.2) < (life, number));
                if members.coordinator() == Some(from) && newer {
                    self.from = Some((from, life, number));
                    (self.heard, self.modes, self.largest) = (now, modes, largest);
                    self.show(now, members);
                }
            }
            Message::Away { after, lasts } => {
                if self.away.len() >= members.len() {
                    self.away.retain(|n, a| members.has(*n) && a.1 > now);
                }
                let at = now.saturating_add(after);
                self.away.insert(from, (at, at.saturating_add(lasts)));
            }
        }
    }
    /// Time passes: at [`Node::next`] at the latest, and when members come or go.
    pub fn tick(&mut self, now: Time, members: &Members, seen: &Observed) {
        self.lead(now, members);
        if self.coordinator.as_ref().is_some_and(|c| c.next <= now) {
            self.speak(now, members);
        }
        self.show(now, members);
        if self.due.is_some_and(|d| d <= now) {
            self.due = None;
            if !self.busy && self.decide(now, members, Kind::Full, Why::Due, seen) == Decision::Collect {
                self.actions.push_back(Action::Collect(Kind::Full));
            }
        }
    }
    /// When [`Node::tick`] is needed at the latest.
    pub fn next(&self) -> Time {
        let beat = self.coordinator.as_ref().map_or(Time::MAX, |c| c.next);
        let lease = if self.policy.adapts() && self.shown != [Mode::Independent; 2] {
            self.heard.saturating_add(self.o.lease + 1)
        } else {
            Time::MAX
        };
        beat.min(lease).min(self.due.unwrap_or(Time::MAX))
    }

    /// Where that is due, orders all to.
    fn begin_marking(&mut self, now: Time, members: &Members, seen: &Observed) {
        let view = self.view(now, members, Kind::Full, seen);
        if !self.busy && marks(self.policy, &view, &self.o.thresholds) {
            self.tell(now, members, Kind::Full, seen);
            self.actions.push_back(Action::All(Message::Slices));
            self.mark(seen);
        }
    }
    fn mark(&mut self, seen: &Observed) {
        if self.marking.is_none() {
            self.marking = Some(seen.heap.size);
            self.actions.push_back(Action::Mark(Kind::Full));
        }
    }
    fn view<'a>(&self, now: Time, members: &Members, kind: Kind, seen: &'a Observed) -> View<'a> {
        let most = seen.heap.size.saturating_mul(LARGEST_TIMES);
        View { seen, mode: self.mode(now, members, kind), largest: self.largest.min(most), marking: self.marking }
    }
    fn decide(&mut self, now: Time, members: &Members, kind: Kind, why: Why, seen: &Observed) -> Decision {
        self.lead(now, members);
        let view = self.view(now, members, kind, seen);
        let (decision, all) = decide(self.policy, why, &view, &self.o.thresholds);
        if decision == Decision::Collect {
            // A collection that is asked of the host already has been told.
            if !self.busy {
                // Nor is one that marking has begun told again.
                if (all || view.mode == Mode::Independent) && self.marking.is_none() {
                    self.tell(now, members, kind, seen);
                }
                if all {
                    self.actions.push_back(Action::All(Message::Order(kind)));
                }
                if self.o.hints && !self.announced {
                    self.actions.push_back(Action::All(Message::Away { after: 0, lasts: seen.interval(kind).collection }));
                }
            }
            self.begin(now, kind);
        }
        decision
    }
    fn begin(&mut self, now: Time, kind: Kind) {
        self.busy = true;
        for k in [Kind::Young, Kind::Full].into_iter().filter(|k| *k <= kind) {
            self.began[k as usize] = Some(now);
        }
    }
    /// Does it collect, or has it just? Then an order was meant for that. Nor may orders take more than half of a node's time.
    fn has_just(&self, now: Time, kind: Kind, seen: &Observed) -> bool {
        let settled = self.began[kind as usize].is_none_or(|b| now.saturating_sub(b) > self.o.settle);
        let interval = seen.interval(kind);
        self.busy || !settled || interval.length < interval.collection
    }
    /// What the coordinator is told before a collection (3.3).
    fn tell(&mut self, now: Time, members: &Members, kind: Kind, seen: &Observed) {
        let i = seen.interval(kind);
        let ours = self.policy.tries();
        let (n, utilisation) = if ours { (i.waits, i.useful()) } else { (i.idle_periods, i.utilisation()) };
        let message = match self.mode(now, members, kind) {
            _ if !self.policy.adapts() => return,
            Mode::Independent if !ours && utilisation < self.o.thresholds.idle => {
                Message::Notice { kind, counts: NOTICE_LIVES.saturating_mul(i.length.saturating_add(i.collection)) }
            }
            _ => {
                // Of a policy that begins before anything is known the first guess is told.
                let guess = self.policy.fills().then(|| expected(n));
                let d = if i.collection > 0 { Some(degradation(n, i.collection, i.length)) } else { guess };
                Message::Report { kind, report: Report { degradation: d, utilisation } }
            }
        };
        self.to_coordinator(now, members, message);
    }
    fn tell_heap(&mut self, members: &Members, size: u64) {
        let Some(to) = members.coordinator() else { return };
        let old = self.told.filter(|t| t.0 == to).map_or(0, |t| t.1);
        if size.abs_diff(old) > old / HEAP_NEWS {
            self.told = Some((to, size));
            self.to_coordinator(self.heard, members, Message::Heap(size));
        }
    }
    fn to_coordinator(&mut self, now: Time, members: &Members, message: Message) {
        match members.coordinator() {
            Some(c) if c == self.me => self.lead_by(now, members, self.me, message.sent()),
            Some(c) => self.actions.push_back(Action::Send(c, message)),
            None => {}
        }
    }

    /// Begins to coordinate, or ends, by who is there.
    fn lead(&mut self, now: Time, members: &Members) {
        let mine = members.coordinator() == Some(self.me);
        if mine && self.coordinator.is_none() {
            self.coordinator = Some(Coordinator::new(now, self.policy));
            self.speak(now, members);
        } else if !mine {
            self.coordinator = None;
        }
    }
    /// What the coordinator is told.
    fn lead_by(&mut self, now: Time, members: &Members, from: NodeId, message: Message) {
        let Some(c) = &mut self.coordinator else { return };
        let news = match message {
            Message::Report { kind, report } => c.report(from, kind, report, self.policy, members, &self.o),
            Message::Notice { kind, counts } => c.notice(now, from, kind, counts, self.policy, members, &self.o),
            Message::Heap(size) => {
                let old = c.largest(members);
                c.heap(from, size, members);
                // It is published regularly; but nobody is to collect for want of a first word.
                if old == 0 {
                    self.speak(now, members);
                }
                return;
            }
            _ => None,
        };
        if news.is_some() {
            self.speak(now, members);
        }
    }
    /// Says what is in force.
    fn speak(&mut self, now: Time, members: &Members) {
        let Some(c) = &mut self.coordinator else { return };
        c.number += 1;
        c.next = now.saturating_add(self.o.beat);
        (self.modes, self.largest) = (c.modes(), c.largest(members));
        (self.from, self.heard) = (Some((self.me, self.life, c.number)), now);
        let (life, number, modes, largest) = (self.life, c.number, self.modes, self.largest);
        self.actions.push_back(Action::All(Message::Force { life, number, modes, largest }));
        self.show(now, members);
    }
    fn show(&mut self, now: Time, members: &Members) {
        for kind in [Kind::Young, Kind::Full] {
            let mode = self.mode(now, members, kind);
            if std::mem::replace(&mut self.shown[kind as usize], mode) != mode {
                self.actions.push_back(Action::InForce(kind, mode));
            }
        }
    }
}
