//! This node's part in collections over all nodes: what full collections of its heap show, and when one is wanted.
//!
//! **Invariant.** While a full collection goes on, what counts as reached by this node's program is: what its roots reach, exports that the
//! round has marked, what a program can get from weak tables though nothing else holds it, and imports that came and have no proxy yet.
//! All else that is exported is marked after that. The tables hear of it once everything is.

use super::{After, Host, Inner};
use kumi_remote::{Cause, Import, Marking, NodeId, RoundId, Stats, Time, Want};
use kumi_vm::*;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Weak};

/// See the module.
pub struct Rounds {
    bell: OutsideBell,
    /// For its log. It may end before the node's part does.
    heap: Weak<HeapShared>,
    /// Imports that came in what was not looked at yet.
    coming: FxHashMap<Import, u32>,
    /// The full collection that goes on.
    collection: Option<Collection>,
    /// The collection that goes on is a full one.
    pub full: bool,
    /// Somebody was told that a full collection is wanted.
    rung: bool,
    /// A round has dropped exports: a full collection frees their objects.
    frees: bool,
    /// When a full collection last told what only exports reach, which marks in two parts and takes longer for it.
    looked: Time,
    /// One that came soon after it did not.
    owed: bool,
    /// What such a one has shown.
    shown: Vec<u64>,
    /// The round that goes on, as far as it was seen.
    going: Option<Going>,
    /// Full collections in rounds.
    pub collections: u64,
}

/// Full collections tell at most so often what only exports reach.
const LOOK: Time = 1_000_000_000;

/// A full collection of the heap.
struct Collection {
    marking: Marking,
    /// What `marking` has as the rest: marking reads it until it has ended, so it stays as it is.
    rest: Vec<Value>,
    step: Step,
    /// Of a round: imports that the program reaches.
    reached: Vec<Import>,
    /// How many it reaches, about.
    count: usize,
}

/// What is shown next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// What is held weakly.
    Weak,
    /// The other exports.
    Rest,
    /// Nothing: all is marked.
    Over,
}

/// A round, for the log.
struct Going {
    id: RoundId,
    since: Time,
    nodes: usize,
    cause: Cause,
    before: Stats,
    collections: u64,
}

impl Rounds {
    pub fn new(bell: OutsideBell, heap: &Arc<HeapShared>) -> Rounds {
        Rounds {
            bell,
            heap: Arc::downgrade(heap),
            coming: FxHashMap::default(),
            collection: None,
            full: false,
            rung: false,
            frees: false,
            looked: 0,
            owed: false,
            shown: Vec::new(),
            going: None,
            collections: 0,
        }
    }
    /// It came, and is to have a proxy.
    pub fn comes(&mut self, i: Import) {
        *self.coming.entry(i).or_default() += 1;
    }
    /// Its proxy is there, or will not be made.
    pub fn came(&mut self, i: Import) {
        if let Some(n) = self.coming.get_mut(&i) {
            *n -= 1;
            if *n == 0 {
                self.coming.remove(&i);
            }
        }
    }
}

impl Inner {
    /// Is a full collection wanted, whether code runs here or not?
    pub fn wants_collection(&self) -> bool {
        self.rounds.frees || self.seen.want() == Want::Collect || self.looks_at().is_some_and(|at| at <= kumi_link::now())
    }
    /// When a full collection is to tell what only exports reach, as the last one has not.
    pub fn looks_at(&self) -> Option<Time> {
        self.rounds.owed.then_some(self.rounds.looked + LOOK)
    }
    /// The tables were asked for what they want.
    pub(super) fn note_round(&mut self, after: &mut After) {
        let wants = self.wants_collection();
        if wants && !self.rounds.rung {
            after.ring(&self.rounds.bell);
        }
        self.rounds.rung = wants;
        let id = self.seen.round();
        if self.rounds.going.as_ref().map(|g| g.id) == id {
            return;
        }
        if let Some(g) = self.rounds.going.take() {
            self.say(&g, None, after);
        }
        if let Some(id) = id {
            let (nodes, cause) = self.seen.round_of();
            let collections = self.rounds.collections;
            self.rounds.going = Some(Going { id, since: kumi_link::now(), nodes, cause, before: self.seen.stats(), collections });
        }
    }
    /// A round has ended.
    pub(super) fn swept(&mut self, round: RoundId, dropped: usize, after: &mut After) {
        self.rounds.frees |= dropped > 0;
        if let Some(g) = self.rounds.going.take_if(|g| g.id == round) {
            self.say(&g, Some(dropped), after);
        }
    }
    /// Writes the line of a round into the collector's log.
    fn say(&mut self, g: &Going, dropped: Option<usize>, after: &mut After) {
        let Some(heap) = self.rounds.heap.upgrade() else { return };
        heap.stats.log.say(|| {
            let stats = self.seen.stats();
            let leader = self.name_of(NodeId(g.id.leader)).map_or("itself", |n| n);
            let cause = match g.cause {
                Cause::Imports => "imports",
                Cause::Peer => "peer",
                Cause::Void => "void",
                Cause::Request => "request",
                Cause::Unknown => "leader",
            };
            let what = if dropped.is_some() { "cluster" } else { "cluster-void" };
            let (at, time) = (heap.stats.now_ns() as f64 / 1e9, (kumi_link::now() - g.since) as f64 / 1e6);
            let collections = self.rounds.collections - g.collections;
            let (marks, packets) = (stats.marks - g.before.marks, stats.packets - g.before.packets);
            let bytes = show_bytes(stats.bytes - g.before.bytes);
            format!(
                "kumi gc {at:.6}s {what} #{} cause={cause} leader={leader} nodes={} dropped={} collections={collections} marks={marks} \
                 packets={packets} bytes={bytes} time={time:.3}ms",
                g.id.number,
                g.nodes,
                dropped.unwrap_or(0),
            )
        });
        if heap.stats.log.is_on() {
            after.ring(&self.rounds.bell);
        }
    }
}

/// Shows cells by their bits, many at a time.
fn show(all: impl Iterator<Item = u64>, m: &mut Marker) {
    let mut some = [Value::NIL; 256];
    let mut n = 0;
    for bits in all {
        some[n] = Value::from_bits(bits);
        n += 1;
        if n == some.len() {
            m.mark_all(&some);
            n = 0;
        }
    }
    m.mark_all(&some[..n]);
}

impl Host {
    /// Shows the collector what it is to see, at a stop.
    pub fn show(&self, heap: &HeapShared, stage: Stage, m: &mut Marker) -> bool {
        match stage {
            Stage::All | Stage::Whole => self.look(|inner| {
                inner.rounds.full |= matches!(stage, Stage::Whole);
                inner.each_root(m);
                show(inner.seen.exports().map(|(bits, _)| bits), m);
                false
            }),
            Stage::First => self.look(|inner| {
                let in_round = inner.seen.round().is_some();
                let now = kumi_link::now();
                let rounds = &mut inner.rounds;
                (rounds.rung, rounds.frees, rounds.full) = (false, false, true);
                rounds.collections += u64::from(in_round);
                rounds.owed = !in_round && !inner.cells.is_empty() && now < rounds.looked + LOOK;
                if rounds.owed {
                    let mut all = std::mem::take(&mut rounds.shown);
                    all.clear();
                    inner.seen.handles(&mut all);
                    rounds.shown = all;
                    // SAFETY: a Value is its bits; the list stays as it is until the next collection begins.
                    unsafe { m.mark_kept(Value::all_from_bits(&rounds.shown)) };
                    inner.each_root(m);
                    return false;
                }
                let mut marking = inner.seen.marking();
                let rest = std::mem::take(&mut marking.rest).into_iter().map(Value::from_bits).collect();
                show(marking.first.iter().copied(), m);
                let rounds = &mut inner.rounds;
                (rounds.looked, rounds.shown) = (now, Vec::new());
                let step = if in_round { Step::Weak } else { Step::Rest };
                rounds.collection = Some(Collection { marking, rest, step, reached: Vec::new(), count: 0 });
                inner.each_root(m);
                false
            }),
            Stage::Later(marked) => {
                let Some(mut c) = self.look(|inner| inner.rounds.collection.take()) else { return false };
                let again = self.go_on(heap, &mut c, marked, m);
                if again {
                    self.look(|inner| inner.rounds.collection = Some(c));
                } else {
                    self.has_marked(c, marked);
                }
                again
            }
        }
    }
    fn go_on(&self, heap: &HeapShared, c: &mut Collection, marked: &dyn Fn(Value) -> bool, m: &mut Marker) -> bool {
        if c.step == Step::Weak && heap.show_weak(marked, m) {
            return true;
        }
        if c.step == Step::Over {
            return false;
        }
        self.look(|inner| {
            if c.step == Step::Rest {
                c.count = inner.cells.count(marked);
            } else {
                c.reached = inner.cells.marked(marked);
                c.reached.extend(inner.rounds.coming.keys());
                c.count = c.reached.len();
            }
        });
        c.step = Step::Over;
        // SAFETY: the list stands in the collection, which nobody changes, and which is dropped by `has_marked`, when all is marked.
        unsafe { m.mark_kept(&c.rest) };
        !c.rest.is_empty()
    }
    fn has_marked(&self, c: Collection, marked: &dyn Fn(Value) -> bool) {
        self.act(|inner, now, _| {
            let all = if c.rest.is_empty() { c.count } else { inner.cells.count(marked) };
            inner.tables().collected(now, &c.marking, c.reached);
            if inner.seen.round().is_none() {
                inner.tables().suspect(now, all.saturating_sub(c.count));
            }
        });
    }
}
