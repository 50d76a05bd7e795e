//! The decision itself.

use super::{Mode, Policy};
use crate::observe::{Interval, Meter};
use crate::rule::{CLEARLY, GROWTH_STEP, Growth, Heap, Thresholds, degradation, expected, overflow, threshold};
use crate::{Kind, Time};

/// What a node sees of itself at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// Its heap.
    pub heap: Heap,
    /// What was seen since the last collection, and since the last full one.
    pub kinds: [Interval; 2],
}

impl Observed {
    /// What a meter has at this moment.
    pub fn new(heap: Heap, meter: &Meter, now: Time) -> Observed {
        Observed { heap, kinds: [meter.interval(Kind::Young, now), meter.interval(Kind::Full, now)] }
    }
    /// What was seen since the last collection of this kind.
    pub fn interval(&self, kind: Kind) -> &Interval {
        &self.kinds[kind as usize]
    }
}

/// What a node decides by.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// What it sees of itself.
    pub seen: &'a Observed,
    /// What is in force for this kind of collection.
    pub mode: Mode,
    /// `H_max`, or 0.
    pub largest: u64,
    /// The heap's size when marking in slices began, while that goes on.
    pub marking: Option<u64>,
}

/// While marking goes on in slices, the heap may grow by this part before it is short of memory.
const WHILE_MARKING: u64 = 4;
/// [`Policy::Combined`]: a node begins to mark in slices where it has had nothing to do for this part of the time ([`Interval::free`]). Slices make a
/// collection longer; that is won back in such time.
const FREE: f64 = 0.15;
/// And where such time comes in many pieces: independent collections would cost so much ([`degradation`]). One long wait tells nothing of
/// the next interval.
const OFTEN: f64 = 0.15;
/// Where another one has ordered all to collect at one stop, a node marks in slices that waits so often. It would stop for whoever asks it.
const VERY_OFTEN: f64 = 1.0;

/// What a decision is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The heap has no room for what is asked for.
    Overflow,
    /// So much was born that a young collection is due.
    Born,
    /// The program asks for a collection (`GC.start`).
    Start,
    /// Memory is short: the heap may not grow, whatever it would like.
    Short,
    /// A request's time has come.
    Due,
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Let the heap have this size, which is more than it has.
    Grow(u64),
    /// Collect now.
    Collect,
    /// Go on.
    Nothing,
    /// A collection would free nothing and the heap may not grow.
    Full,
}

/// What a node does, and whether all others are ordered to collect as well.
pub fn decide(policy: Policy, why: Why, view: &View, t: &Thresholds) -> (Decision, bool) {
    let all = match policy {
        Policy::Independent | Policy::Staggered => false,
        Policy::Synchronised | Policy::Forecast | Policy::Interruptible => true,
        Policy::Combined => view.mode == Mode::Synchronised && !hardly_waits(view, t),
        Policy::Adaptive(_) | Policy::Measured => view.mode == Mode::Synchronised,
    };
    match why {
        Why::Overflow if view.marking.is_some() => (while_marking(view), all),
        Why::Overflow => match overflow(&view.seen.heap, view.largest, t) {
            Growth::Grow(to) => (Decision::Grow(to), false),
            Growth::Collect => (Decision::Collect, all),
            Growth::Full => (Decision::Full, false),
        },
        // What is short is short for everybody on the machine; the paper's last resort (5.1).
        Why::Born | Why::Due | Why::Short => (Decision::Collect, all),
        // Programs call it in each process at about the same time; n² collections would come of orders.
        Why::Start => (Decision::Collect, false),
    }
}

/// Does a node obey an order to collect?
pub fn joins(policy: Policy, kind: Kind, view: &View, t: &Thresholds) -> bool {
    match policy {
        Policy::Independent | Policy::Staggered => false,
        Policy::Synchronised | Policy::Adaptive(_) => true,
        Policy::Combined if hardly_waits(view, t) => false,
        Policy::Forecast | Policy::Measured | Policy::Interruptible | Policy::Combined => half_way(kind, view, t),
    }
}

/// Is at most as much time left until a collection as has passed since the last?
pub(crate) fn half_way(kind: Kind, view: &View, t: &Thresholds) -> bool {
    match kind {
        // What is young is not counted here; the host knows best how much it is.
        Kind::Young => true,
        Kind::Full => forecast(view, t).is_some_and(|left| left <= view.seen.interval(Kind::Full).length),
    }
}

/// A little more room, as long as marking goes on.
fn while_marking(view: &View) -> Decision {
    let (heap, began) = (&view.seen.heap, view.marking.unwrap_or(0));
    let most = began.saturating_add(began / WHILE_MARKING).min(if heap.limit == 0 { u64::MAX } else { heap.limit });
    let to = heap.size.saturating_add((heap.size / GROWTH_STEP).max(heap.wanted)).min(most);
    if to >= heap.size.saturating_add(heap.wanted) && to > heap.size { Decision::Grow(to) } else { Decision::Collect }
}

/// Is it time to begin marking in slices? It is where the paper's rule would have a full heap collected; the heap then has to be a little
/// larger, by what is allocated while marking goes on (5.1).
pub fn marks(policy: Policy, view: &View, t: &Thresholds) -> bool {
    let heap = &view.seen.heap;
    let grows = heap.size as f64 <= t.c * view.largest as f64;
    begins(policy, view) && view.marking.is_none() && !grows && heap.allocated > threshold(heap.size, t)
}

/// Does a node that has nothing to run begin to mark, in that time? It does from half way to its next collection on, whatever others do.
pub(crate) fn fills(policy: Policy, view: &View, t: &Thresholds) -> bool {
    policy.fills() && view.marking.is_none() && half_way(Kind::Full, view, t)
}

/// [`Policy::Combined`]: has a node that has not collected yet waited so seldom that being in step would be of no use? Nobody knows what a collection
/// takes here; it is taken to be what [`expected`] says.
fn hardly_waits(view: &View, t: &Thresholds) -> bool {
    let i = view.seen.interval(Kind::Full);
    i.collection == 0 && expected(i.waits) <= t.harmed * CLEARLY
}

/// Does this node mark in slices, if it has to collect now?
fn begins(policy: Policy, view: &View) -> bool {
    let i = view.seen.interval(Kind::Full);
    policy.slices(view.mode) && (policy != Policy::Combined || i.free() >= FREE && coupled(i) >= OFTEN)
}
/// By how much of its length an interval would have been prolonged by independent collections; what is speculative counts as idle.
fn coupled(i: &Interval) -> f64 {
    degradation(i.waits, i.collection, i.length)
}

/// Does a node that obeys an order mark in slices? It does where `all` do. Where the others stop, it does if it has time for it, since who lets the order pass
/// would wait for it, and if it waits very often.
pub(crate) fn slices(policy: Policy, view: &View, all: bool) -> bool {
    let i = view.seen.interval(Kind::Full);
    let as_all = policy != Policy::Combined || all;
    policy.slices(view.mode) && (as_all || i.free() >= FREE || coupled(i) >= VERY_OFTEN)
}

/// How long it will be until this node collects, if it allocates as it has since its last collection. `None`: it has allocated nothing.
pub fn forecast(view: &View, t: &Thresholds) -> Option<Time> {
    let heap = &view.seen.heap;
    let length = view.seen.interval(Kind::Full).length;
    if heap.allocated == 0 || length == 0 {
        return None;
    }
    let size = if heap.size as f64 <= t.c * view.largest as f64 { view.largest } else { heap.size };
    let room = threshold(size, t).saturating_sub(heap.allocated);
    Some((room as f64 / heap.allocated as f64 * length as f64) as Time)
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: Thresholds = Thresholds { c: 0.8, f: 3.0, harmed: 0.3, harmed_share: 0.125, idle: 0.5, idle_share: 0.5, notice_share: 0.0625 };
    fn seen(size: u64, allocated: u64, length: Time) -> Observed {
        let interval = Interval { length, collection: 1, ..Interval::default() };
        Observed { heap: Heap { size, allocated, limit: 0, wanted: 1 }, kinds: [interval; 2] }
    }

    #[test]
    fn each_policy_grows_by_the_same_rule() {
        for policy in Policy::all() {
            for mode in [Mode::Independent, Mode::Synchronised] {
                let ask = |size, allocated, largest| {
                    decide(policy, Why::Overflow, &View { seen: &seen(size, allocated, 9), mode, largest, marking: None }, &T)
                };
                assert_eq!(ask(800, 700, 1000), (Decision::Grow(1000), false));
                let all = match policy {
                    Policy::Adaptive(_) | Policy::Measured | Policy::Combined => mode == Mode::Synchronised,
                    p => p.start() == Mode::Synchronised,
                };
                assert_eq!(ask(900, 301, 1000), (Decision::Collect, all), "{policy:?}");
            }
        }
    }
    #[test]
    fn what_the_program_asks_for_is_its_own() {
        for policy in Policy::all() {
            let view = View { seen: &seen(900, 1, 9), mode: Mode::Synchronised, largest: 0, marking: None };
            assert_eq!(decide(policy, Why::Start, &view, &T), (Decision::Collect, false));
        }
    }
    #[test]
    fn forecasts() {
        let ask = |allocated, largest| {
            let seen = seen(900, allocated, 100);
            let view = View { seen: &seen, mode: Mode::Synchronised, largest, marking: None };
            (forecast(&view, &T), joins(Policy::Forecast, Kind::Full, &view, &T), joins(Policy::Synchronised, Kind::Full, &view, &T))
        };
        assert_eq!(ask(0, 0), (None, false, true));
        assert_eq!(ask(100, 0), (Some(200), false, true));
        assert_eq!(ask(150, 0), (Some(100), true, true));
        assert_eq!(ask(900, 0), (Some(0), true, true));
        assert_eq!(ask(150, 3000), (Some(566), false, true));
    }
    #[test]
    fn marking_begins_where_others_collect_and_ends_in_a_stop_when_memory_is_short() {
        let ask = |allocated, largest, marking| {
            let seen = seen(900, allocated, 100);
            let view = View { seen: &seen, mode: Mode::Synchronised, largest, marking };
            assert!(!marks(Policy::Measured, &view, &T));
            (marks(Policy::Interruptible, &view, &T), decide(Policy::Interruptible, Why::Overflow, &view, &T))
        };
        assert_eq!(
            [ask(300, 0, None).0, ask(301, 0, None).0, ask(301, 1200, None).0, ask(301, 0, Some(900)).0],
            [false, true, false, false]
        );
        assert_eq!(ask(299, 0, Some(900)).1, (Decision::Grow(956), true));
        assert_eq!(ask(299, 0, Some(720)).1, (Decision::Collect, true));
        assert_eq!(ask(301, 0, None).1, (Decision::Collect, true));
    }
    #[test]
    fn combined_marks_from_half_way_on_where_nothing_can_run() {
        let ask = |policy, mode, allocated, marking| {
            let seen = seen(900, allocated, 100);
            fills(policy, &View { seen: &seen, mode, largest: 0, marking }, &T)
        };
        for mode in [Mode::Independent, Mode::Synchronised] {
            let of = |allocated, marking| ask(Policy::Combined, mode, allocated, marking);
            assert_eq!([of(0, None), of(149, None), of(150, None), of(400, None), of(150, Some(900))], [false, false, true, true, false]);
            assert!(!ask(Policy::Interruptible, mode, 200, None) && !ask(Policy::Measured, mode, 200, None));
        }
    }
    #[test]
    fn before_its_first_collection_a_node_that_hardly_waits_neither_orders_nor_obeys() {
        let ask = |policy, waits, collection| {
            let mut seen = seen(900, 301, 300);
            seen.kinds[1] = Interval { length: 300, waits, collection, ..Interval::default() };
            let view = View { seen: &seen, mode: Mode::Synchronised, largest: 0, marking: None };
            (decide(policy, Why::Overflow, &view, &T).1, joins(policy, Kind::Full, &view, &T))
        };
        assert_eq!(ask(Policy::Combined, 19, 0), (false, false));
        assert_eq!(ask(Policy::Combined, 21, 0), (true, true));
        assert_eq!(ask(Policy::Combined, 0, 1), (true, true));
        assert_eq!(ask(Policy::Measured, 0, 0), (true, true));
    }
    #[test]
    fn combined_marks_in_slices_where_nodes_wait_often_and_have_time_for_it() {
        let ask = |idle, waits, filled| {
            let mut seen = seen(900, 301, 300);
            seen.kinds[1] = Interval { length: 300, collection: 100, idle, waits, filled, ..Interval::default() };
            let view = View { seen: &seen, mode: Mode::Synchronised, largest: 0, marking: None };
            let joins = |all| slices(Policy::Combined, &view, all);
            (marks(Policy::Combined, &view, &T), joins(false), joins(true))
        };
        // p is a quarter, so that D is a thirty-second for each wait.
        assert_eq!(ask(60, 5, 0), (true, true, true));
        assert_eq!(ask(60, 4, 0), (false, true, true));
        assert_eq!(ask(40, 40, 0), (false, true, true));
        assert_eq!(ask(40, 4, 0), (false, false, true));
        assert_eq!(ask(40, 5, 40), (true, true, true));
    }
}
