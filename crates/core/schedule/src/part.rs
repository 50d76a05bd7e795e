//! A node's part in when its cluster collects: the seat of `kumi-schedule`, and what it sees.
//!
//! **Invariant.** Everything is behind one lock, which is held for some microseconds: nothing is sent, logged or asked of workers
//! meanwhile; what is to be done is noted in [`After`]. What was ordered stays noted until a collection that is enough for it has ended.
//!
//! The paper's heap has a size and overflows. Here a full collection is due when live bytes come to `size`; the collections of young
//! cells before that are the seat's young ones. `A` is what has grown old since the last full one.

use crate::delay::waited_ns;
use crate::look::{Counts, Event, What};
use crate::talk::{Listener, encode};
use crate::timeline::Timeline;
use kumi_core_segments::{Node, Traffic, lock_soon};
use kumi_membership::Member;
use kumi_schedule::{
    Action, Decision, Doing as Meters, Heap, Kind, Members, Message, Meter, Mode, NodeId, Observed, Options, Policy, Request, Thresholds,
    Time,
};
use kumi_vm::schedule::{Collector, Doing, Next, Schedule};
use kumi_vm::{Cause, HeapShared, Sizes};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use std::sync::{Arc, Weak};

/// `f` of section 3.2 (the paper's example has 3): a full heap collects where half of it has grown old since the last full collection,
/// which is what a heap does that stands alone (`heap/collect.rs`).
const F: f64 = 2.0;
/// So many events are kept for who looks on.
const KEPT: usize = 128;

/// See the module.
pub struct Part {
    node: Weak<Node>,
    traffic: Arc<Traffic>,
    collector: Collector,
    inner: Mutex<Inner>,
    /// The time that the link was last told of.
    planned: AtomicU64,
    /// This node is in the cluster no more.
    over: AtomicBool,
}

/// What is behind the lock.
pub struct Inner {
    pub seat: kumi_schedule::Node,
    pub members: Members,
    /// The list that they were made of.
    list: Option<Arc<[Member]>>,
    names: FxHashMap<NodeId, Box<str>>,
    meter: Meter,
    doing: Meters,
    /// Workers that run tasks, and those that run speculative ones.
    works: usize,
    speculates: usize,
    /// `H`: see the module.
    pub size: u64,
    /// Another node, or time, wants a collection of this kind; why.
    ordered: Option<(Kind, Cause)>,
    /// Workers were asked to look at that.
    asked: bool,
    /// A request was put off, and no full collection has ended since.
    waits: bool,
    pub counts: Counts,
    pub events: VecDeque<Event>,
    pub timeline: Timeline,
    /// From when to when this node does not answer, as it has told others.
    away: Option<(Time, Time)>,
}

/// What is to be done once the lock is let go.
#[derive(Default)]
struct After {
    send: Vec<(Box<str>, kumi_wire::Bytes)>,
    lines: Vec<String>,
    ask: bool,
}

/// Does a node tell the others when it is about to collect? The paper's policies are as they are there.
fn steers(policy: Policy) -> bool {
    !matches!(policy, Policy::Independent | Policy::Synchronised | Policy::Adaptive(_))
}

/// A node by its name: FNV-1a, and a mixing step.
fn node_id(name: &str) -> NodeId {
    let h = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    let h = (h ^ h >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    NodeId(h ^ h >> 29)
}

impl Part {
    /// Takes part by this policy.
    pub fn new(node: &Arc<Node>, collector: Collector, policy: Policy) -> Arc<Part> {
        let inner = Inner::new(kumi_link::now(), node_id(&node.name), node.incarnation, policy, node.patience);
        let part = Arc::new(Part {
            node: Arc::downgrade(node),
            traffic: node.traffic.clone(),
            collector,
            inner: Mutex::new(inner),
            planned: AtomicU64::new(0),
            over: AtomicBool::new(false),
        });
        node.invite(Arc::new(Listener(Arc::downgrade(&part))));
        part.tick();
        part
    }
    /// Is it a node no more?
    pub fn is_over(&self) -> bool {
        self.over.load(Relaxed)
    }
    /// Its node, while it is one.
    pub fn node(&self) -> Option<Arc<Node>> {
        self.node.upgrade()
    }
    /// It is in the cluster no more: it collects by itself.
    pub fn end(&self) {
        self.over.store(true, Relaxed);
        let mut inner = lock_soon(&self.inner);
        let me = inner.seat.me();
        (inner.members, inner.list) = (Members::new([me]), None);
    }
    /// Looks at it.
    pub fn look<T>(&self, f: impl FnOnce(&mut Inner, Time) -> T) -> T {
        f(&mut lock_soon(&self.inner), kumi_link::now())
    }
    /// Does something under the lock, and afterwards what is to be done. `cause`: of a collection that comes of it.
    fn act<T>(&self, cause: Cause, f: impl FnOnce(&mut Inner, Time, &mut After) -> T) -> T {
        let node = self.node.upgrade().filter(|_| !self.is_over());
        let mut after = After::default();
        let (done, next) = {
            let mut inner = lock_soon(&self.inner);
            let now = kumi_link::now();
            if let Some(link) = node.as_ref().and_then(|n| n.link()) {
                inner.meet(link.members());
            }
            let done = f(&mut inner, now, &mut after);
            inner.drain(now, cause, &mut after);
            inner.asked |= after.ask;
            (done, inner.seat.next())
        };
        if let Some(heap) = self.collector.heap() {
            let at = heap.stats.now_ns() as f64 / 1e9;
            after.lines.drain(..).for_each(|line| heap.stats.log.say(|| format!("kumi gc {at:.6}s schedule {line}")));
        }
        if let Some(link) = node.as_ref().and_then(|n| n.link()) {
            for (to, bytes) in after.send {
                if let Some(peer) = link.peer(&to) {
                    // One that can't be sent is lost: a connection is made, and it is said again or was not worth it.
                    let _ = link.send(&peer, bytes);
                }
            }
            if next < self.planned.load(Relaxed) {
                self.planned.store(next, Relaxed);
                link.nudge();
            }
        }
        if after.ask {
            self.collector.ask();
        }
        done
    }
    /// When [`tick`](Self::tick) is wanted.
    pub fn deadline(&self) -> Option<Time> {
        let at = lock_soon(&self.inner).seat.next();
        self.planned.store(at, Relaxed);
        (at != Time::MAX && !self.is_over()).then_some(at)
    }
    /// Has that time come?
    pub fn is_due(&self, now: Time) -> bool {
        self.planned.load(Relaxed) <= now
    }
    /// Time passes, or members have come or gone.
    pub fn tick(&self) {
        let Some(heap) = self.collector.heap() else { return };
        // A request's time has come.
        self.act(Cause::Outside, |inner, now, _| {
            let seen = inner.observed(&heap, now);
            inner.seat.tick(now, &inner.members, &seen);
        });
    }
    /// A node said something, or what is nothing.
    pub fn message(&self, from: &str, message: Result<Message, ()>) {
        let Some(heap) = self.collector.heap() else { return };
        self.act(Cause::Order, |inner, now, _| inner.hear(now, &heap, node_id(from), message));
    }
    /// Had requests better go elsewhere than to that node just now?
    pub fn avoids(&self, name: &str) -> bool {
        self.look(|inner, now| inner.avoids(now, node_id(name)))
    }
    /// How many messages were sent, and how many have come.
    pub fn messages(&self) -> [u64; 2] {
        self.traffic.seen()
    }
}

impl Schedule for Part {
    fn next(&self, heap: &HeapShared) -> Next {
        self.act(Cause::Order, |inner, now, after| inner.next(heap, now, after))
    }
    fn begins(&self) {
        self.look(|inner, now| inner.stops(now));
    }
    fn slice_begins(&self) {
        self.look(|inner, now| inner.stops(now));
    }
    fn pauses(&self) {
        self.look(|inner, now| inner.pauses(now));
    }
    fn ended(&self, heap: &HeapShared, full: bool) {
        self.act(Cause::Order, |inner, now, after| inner.ended(now, heap, full, after));
    }
    fn changes(&self, was: Doing, is: Doing, awaits: bool) {
        let waited = if was == Doing::Rests || is == Doing::Rests { waited_ns() } else { 0 };
        let messages = self.messages();
        let rests = self.look(|inner, now| {
            inner.changes(now, waited, was, is, awaits, messages);
            inner.seat.policy().fills() && matches!(inner.doing, Meters::Idle | Meters::Speculative) && !inner.seat.busy()
        });
        if rests && let Some(heap) = self.collector.heap() {
            self.act(Cause::Promoted, |inner, now, _| inner.rests(now, &heap));
        }
    }
}

thread_local! {
    /// What the worker had waited for a processor when it lay down.
    static WAITED: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

impl Inner {
    /// `patience`: how many times longer than usual the coordinator may take.
    fn new(now: Time, me: NodeId, incarnation: u64, policy: Policy, patience: u32) -> Inner {
        let usual = Options::default();
        let (thresholds, lease) = (Thresholds { f: F, ..usual.thresholds }, usual.lease.saturating_mul(patience.into()));
        let options = Options { thresholds, lease, hints: steers(policy), ..usual };
        Inner {
            seat: kumi_schedule::Node::new(now, me, incarnation, policy, options),
            members: Members::new([me]),
            list: None,
            names: FxHashMap::default(),
            meter: Meter::new(now),
            doing: Meters::Active,
            works: 0,
            speculates: 0,
            size: 0,
            ordered: None,
            asked: false,
            waits: false,
            counts: Counts::default(),
            events: VecDeque::new(),
            timeline: Timeline::new(now),
            away: None,
        }
    }
    /// A node said something, or what is nothing.
    fn hear(&mut self, now: Time, heap: &HeapShared, from: NodeId, message: Result<Message, ()>) {
        let Ok(message) = message else {
            self.counts.nonsense += 1;
            return;
        };
        if !self.members.has(from) {
            self.counts.strangers += 1;
            return;
        }
        self.counts.heard += 1;
        self.counts.orders_heard += u64::from(matches!(message, Message::Order(_) | Message::Slices));
        let seen = self.observed(heap, now);
        self.seat.message(now, &self.members, from, message, &seen);
    }
    /// These are there.
    fn meet(&mut self, list: Arc<[Member]>) {
        if self.list.as_ref().is_some_and(|l| Arc::ptr_eq(l, &list)) {
            return;
        }
        self.names = list.iter().map(|m| (node_id(m.name()), (**m.name()).into())).collect();
        self.members = Members::new(self.names.keys().copied().chain([self.seat.me()]));
        self.list = Some(list);
    }
    /// The name of a node.
    pub fn name_of(&self, node: NodeId) -> Option<&str> {
        self.names.get(&node).map(|n| &**n)
    }
    /// What the seat wants, and why a collection if it wants one.
    fn drain(&mut self, now: Time, cause: Cause, after: &mut After) {
        while let Some(action) = self.seat.poll() {
            match action {
                Action::Send(to, m) => {
                    self.counts.sent += 1;
                    after.send.extend(self.names.get(&to).map(|n| (n.clone(), encode(&m))));
                }
                Action::All(m) => {
                    if let Message::Away { after, lasts } = m {
                        let from = now.saturating_add(after);
                        self.away = Some((from, from.saturating_add(lasts)));
                    }
                    self.counts.sent += 1;
                    self.counts.orders += u64::from(matches!(m, Message::Order(_) | Message::Slices));
                    let (me, bytes) = (self.seat.me(), encode(&m));
                    after.send.extend(self.names.iter().filter(|n| *n.0 != me).map(|(_, name)| (name.clone(), bytes.clone())));
                }
                // Marking in slices is not begun: what is to be marked is marked in one go, as where memory is short.
                Action::Collect(kind) | Action::Mark(kind) => {
                    if self.ordered.is_none_or(|o| o.0 < kind) {
                        self.ordered = Some((kind, cause));
                    }
                    after.ask = true;
                }
                Action::InForce(kind, mode) => {
                    let what = What::InForce { kind, mode };
                    after.lines.push(what.to_string());
                    self.tell(now, what);
                }
            }
        }
    }
    /// What the heap and the meter show.
    pub fn observed(&self, heap: &HeapShared, now: Time) -> Observed {
        let sizes = heap.sizes();
        let limit = if heap.max() < usize::MAX / 8 { heap.max() as u64 } else { 0 };
        let size = self.size.max((sizes.old + sizes.least) as u64);
        let heap = Heap { size, allocated: sizes.grown as u64, limit, wanted: sizes.young as u64 };
        Observed::new(heap, &self.meter, now)
    }
    /// Had requests better go elsewhere than to that node? This one is as others take it.
    fn avoids(&self, now: Time, node: NodeId) -> bool {
        match node == self.seat.me() {
            true => self.away.is_some_and(|(from, to)| (from..to).contains(&now)),
            false => self.seat.avoid(now, node),
        }
    }
    /// A stop is about to be asked for, for a collection or a slice of one.
    fn stops(&mut self, now: Time) {
        self.meter.collection(now);
        self.timeline.stops(now);
    }
    /// What was done before goes on, and so does the collection; or there was none.
    fn pauses(&mut self, now: Time) {
        self.meter.change(now, self.doing);
        self.timeline.goes_on(now, Some(Kind::Full));
    }
    /// After a full collection the heap is no larger than what it would come to by itself.
    fn fit(&mut self, s: &Sizes) {
        let alone = s.old as u64 + (s.old.max(s.least)) as u64;
        self.size = self.size.min(alone).max((s.old + s.least) as u64);
    }
    /// What is due, before a stop.
    fn next(&mut self, heap: &HeapShared, now: Time, after: &mut After) -> Next {
        if let Some((Kind::Full, cause)) = self.ordered {
            heap.stats.because(cause);
            return Next::Full;
        }
        let sizes = heap.sizes();
        let room = (self.size as usize).saturating_sub(sizes.old).max(sizes.least);
        let why = heap.why_full(room);
        let seen = self.observed(heap, now);
        let decision = match why {
            None => Decision::Nothing,
            Some(Cause::Promoted) => self.seat.overflow(now, &self.members, &seen),
            Some(Cause::Outside) => self.seat.request(now, &self.members, Request::Watch, &seen),
            Some(Cause::Limit) => self.seat.request(now, &self.members, Request::Short, &seen),
            Some(_) => self.seat.request(now, &self.members, Request::Start, &seen),
        };
        // Who watches things outside asks again and again until it has come.
        let again = why == Some(Cause::Outside) && std::mem::replace(&mut self.waits, true);
        if let Some(cause) = why.filter(|_| !again) {
            self.decided(now, Kind::Full, decision, cause, &seen, after);
        }
        match decision {
            Decision::Collect => {
                heap.stats.because(why.unwrap_or_default());
                return Next::Full;
            }
            Decision::Grow(to) => self.size = to,
            Decision::Nothing | Decision::Full => {}
        }
        if why == Some(Cause::Outside) {
            heap.put_off_full();
        }
        let young = if heap.is_full_only() { Next::Full } else { Next::Young };
        if let Some((Kind::Young, cause)) = self.ordered {
            heap.stats.because(cause);
            return young;
        }
        if heap.stats.cause() == Cause::Request {
            return young;
        }
        // An order may have been served before the wish for it was seen.
        let served = std::mem::take(&mut self.asked);
        if (served || why == Some(Cause::Outside)) && heap.put_off() {
            return Next::Nothing;
        }
        if heap.is_full_only() {
            // The heap has grown, or is as large as others' are.
            let sizes = heap.sizes();
            heap.allow((self.size as usize).saturating_sub(sizes.old).max(sizes.least));
            return Next::Nothing;
        }
        match self.seat.born(now, &self.members, &seen) {
            Decision::Collect => Next::Young,
            _ => Next::Nothing,
        }
    }
    /// A collection is over.
    fn ended(&mut self, now: Time, heap: &HeapShared, full: bool, after: &mut After) {
        let kind = if full { Kind::Full } else { Kind::Young };
        let interval = self.meter.interval(Kind::Young, now);
        self.counts.idle_periods += interval.idle_periods;
        self.counts.idle += interval.idle;
        self.counts.speculative += interval.speculative;
        self.meter.collected(now, kind);
        self.timeline.goes_on(now, Some(kind));
        if full {
            self.waits = false;
            self.fit(&heap.sizes());
        }
        // Of a collection in slices, all of them.
        let took = self.meter.interval(kind, now).collection;
        let cause = heap.stats.last().map_or("", |c| c.cause.name());
        self.tell(now, What::Collected { kind, took, cause });
        if let Some((_, why)) = self.ordered.take_if(|o| o.0 <= kind) {
            self.counts.ordered += u64::from(why == Cause::Order);
        }
        // A wish that came meanwhile was forgotten with those that were served.
        after.ask |= self.ordered.is_some();
        let seen = self.observed(heap, now);
        self.seat.collected(now, &self.members, kind, seen.heap.size);
        self.seat.look(now, &self.members, &seen);
    }
    /// Nothing can run here: it may be time to begin to mark.
    fn rests(&mut self, now: Time, heap: &HeapShared) {
        let seen = self.observed(heap, now);
        self.seat.rests(now, &self.members, &seen);
    }
    fn decided(&mut self, now: Time, kind: Kind, decision: Decision, cause: Cause, seen: &Observed, after: &mut After) {
        let mode = self.seat.mode(now, &self.members, kind);
        match decision {
            Decision::Collect => self.counts.collected += 1,
            Decision::Grow(_) => self.counts.grown += 1,
            Decision::Nothing => self.counts.put_off += 1,
            Decision::Full => {}
        }
        let event = What::Decided { kind, decision, cause: cause.name(), mode, largest: self.seat.largest(), seen: *seen };
        after.lines.push(event.to_string());
        self.tell(now, event);
    }
    fn tell(&mut self, now: Time, what: What) {
        if self.events.len() >= KEPT {
            self.events.pop_front();
        }
        self.events.push_back(Event { at: now, what });
    }
    fn changes(&mut self, now: Time, waited: u64, was: Doing, is: Doing, awaits: bool, messages: [u64; 2]) {
        match was {
            Doing::Rests => {}
            Doing::Works => self.works = self.works.saturating_sub(1),
            Doing::Speculates => self.speculates = self.speculates.saturating_sub(1),
        }
        match is {
            Doing::Rests => {
                WAITED.set(waited);
            }
            Doing::Works => self.works += 1,
            Doing::Speculates => self.speculates += 1,
        }
        let doing = match (self.works, self.speculates) {
            (0, 0) if awaits => Meters::Idle,
            (0, 0) => Meters::Active,
            (0, _) => Meters::Speculative,
            _ => Meters::Active,
        };
        if doing != self.doing {
            // From when it could have run it was not idle, though it had no processor.
            let late = if was == Doing::Rests { waited.saturating_sub(WAITED.get()) } else { 0 };
            self.meter.change(now.saturating_sub(late), doing);
            self.timeline.turns(now.saturating_sub(late), doing, messages);
            self.doing = doing;
        }
    }
}

/// As users say it.
pub fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Young => "young",
        Kind::Full => "full",
    }
}
/// As users say it.
pub fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Independent => "independent",
        Mode::Synchronised => "synchronised",
    }
}

#[cfg(test)]
mod tests;
