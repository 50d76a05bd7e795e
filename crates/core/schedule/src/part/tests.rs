//! Orders, requests, idle time and bytes from anybody, without a cluster.

use super::*;
use crate::talk::{FIRST, decode};
use kumi_vm::Heap as RubyHeap;

const MS: Time = 1_000_000;

fn some(policy: Policy) -> (RubyHeap, Inner) {
    let mut inner = Inner::new(0, NodeId(1), 1, policy, 1);
    inner.members = Members::new([NodeId(1), NodeId(2)]);
    inner.names = [(NodeId(1), "one".into()), (NodeId(2), "two".into())].into_iter().collect();
    (RubyHeap::new(), inner)
}
fn drained(inner: &mut Inner, now: Time) -> After {
    let mut after = After::default();
    inner.drain(now, Cause::Order, &mut after);
    after
}

#[test]
fn an_order_stays_noted_until_a_collection_that_is_enough_for_it() {
    let (heap, mut inner) = some(Policy::Synchronised);
    let (heap, mut now) = (heap.shared().clone(), 100 * MS);
    inner.hear(now, &heap, NodeId(2), Ok(Message::Order(Kind::Full)));
    assert!(drained(&mut inner, now).ask);
    assert_eq!(inner.next(&heap, now, &mut After::default()), Next::Full);
    // It was too late for the stop of another worker, which was for a young one.
    now += MS;
    let mut after = After::default();
    inner.ended(now, &heap, false, &mut after);
    assert!(after.ask);
    assert_eq!(inner.next(&heap, now, &mut after), Next::Full);
    let mut after = After::default();
    inner.ended(now, &heap, true, &mut after);
    assert_eq!((after.ask, inner.ordered, inner.counts.ordered), (false, None, 1));
}

#[test]
fn what_things_outside_want_comes_within_a_second() {
    let (mut heap, mut inner) = some(Policy::Independent);
    heap.shared().stats.because(Cause::Outside);
    heap.request_full();
    let (heap, now) = (heap.shared().clone(), 100 * MS);
    assert_eq!(inner.next(&heap, now, &mut After::default()), Next::Nothing);
    assert!(!heap.is_full_next());
    let later = now + 1000 * MS;
    assert!(inner.seat.next() <= later);
    let seen = inner.observed(&heap, later);
    inner.seat.tick(later, &inner.members, &seen);
    assert!(drained(&mut inner, later).ask);
    assert_eq!(inner.next(&heap, later, &mut After::default()), Next::Full);
}

#[test]
fn a_program_has_what_it_asks_for_though_things_outside_wait() {
    let (mut heap, mut inner) = some(Policy::Synchronised);
    heap.shared().stats.because(Cause::Outside);
    heap.shared().stats.because(Cause::Request);
    heap.request_full();
    let mut after = After::default();
    assert_eq!(inner.next(&heap.shared().clone(), 5 * MS, &mut after), Next::Full);
    inner.drain(5 * MS, Cause::Order, &mut after);
    assert_eq!(inner.counts.orders, 0);
}

#[test]
fn idle_is_who_has_nothing_to_run_and_waits_for_a_message() {
    let (heap, mut inner) = some(Policy::Measured);
    let heap = heap.shared().clone();
    inner.changes(0, 0, Doing::Rests, Doing::Works, false, [0, 0]);
    inner.changes(10 * MS, 0, Doing::Rests, Doing::Speculates, true, [0, 0]);
    // One works, one speculates.
    inner.changes(20 * MS, 0, Doing::Works, Doing::Rests, true, [0, 0]);
    inner.changes(30 * MS, 0, Doing::Speculates, Doing::Rests, true, [0, 0]);
    // It could run from 38 on, and had no processor.
    inner.changes(40 * MS, 2 * MS, Doing::Rests, Doing::Works, false, [0, 0]);
    // Nobody waits for a node.
    inner.changes(50 * MS, 2 * MS, Doing::Works, Doing::Rests, false, [0, 0]);
    inner.changes(60 * MS, 2 * MS, Doing::Rests, Doing::Works, false, [0, 0]);
    let seen = *inner.observed(&heap, 100 * MS).interval(Kind::Full);
    assert_eq!((seen.idle, seen.idle_periods, seen.speculative, seen.waits), (8 * MS, 1, 10 * MS, 1));
}

#[test]
fn what_goes_on_between_slices_is_no_collection() {
    let (heap, mut inner) = some(Policy::Interruptible);
    let heap = heap.shared().clone();
    inner.changes(0, 0, Doing::Rests, Doing::Works, false, [0, 0]);
    for i in 0..5 {
        inner.stops((10 + 20 * i) * MS);
        if i < 4 {
            inner.pauses((11 + 20 * i) * MS);
        }
    }
    inner.ended(92 * MS, &heap, true, &mut After::default());
    let seen = *inner.observed(&heap, 100 * MS).interval(Kind::Full);
    assert_eq!((seen.collection, seen.idle), (6 * MS, 0));
    let took: Time = inner.timeline.parts(100 * MS, [0, 0]).map(|p| p.collecting[Kind::Full as usize]).sum();
    assert_eq!(took, 6 * MS);
}

#[test]
fn a_node_takes_itself_for_away_as_others_do() {
    let (heap, mut inner) = some(Policy::Staggered);
    let heap = heap.shared().clone();
    assert!(!inner.avoids(5 * MS, NodeId(1)));
    inner.meter.collection(10 * MS);
    inner.ended(40 * MS, &heap, true, &mut After::default());
    heap.stats.because(Cause::Promoted);
    let seen = inner.observed(&heap, 900 * MS);
    assert_eq!(
        inner.seat.overflow(900 * MS, &inner.members, &Observed { heap: Heap { allocated: seen.heap.size, ..seen.heap }, ..seen }),
        Decision::Collect
    );
    drained(&mut inner, 900 * MS);
    assert_eq!([899, 900, 929, 930].map(|ms| inner.avoids(ms * MS, NodeId(1))), [false, true, true, false]);
}

#[test]
fn whatever_comes_is_counted_and_does_no_harm() {
    let mut chance = kumi_chance::Chance::new(5);
    for policy in Policy::all() {
        let (heap, mut inner) = some(policy);
        let (heap, mut now, mut refused) = (heap.shared().clone(), 0, 0);
        for _ in 0..5_000 {
            let bits = chance.below(40);
            now += chance.below(1 << bits);
            let mut bytes = vec![FIRST; usize::from(!chance.percent(5))];
            bytes.extend((0..chance.below(20)).map(|i| match i {
                0 => kumi_schedule::VERSION,
                1 => chance.pick(b"ORNHFTA"),
                _ => chance.next() as u8 & [1, 0x7F, 0xFF][chance.below(3) as usize],
            }));
            if chance.percent(1) {
                bytes.resize(1 << 16, 0x80);
            }
            let Some(message) = decode(&bytes) else {
                assert_ne!(bytes.first(), Some(&FIRST));
                continue;
            };
            let from = NodeId(1 + chance.below(3));
            refused += u64::from(message.is_err() || from == NodeId(3));
            inner.hear(now, &heap, from, message);
            let mut after = drained(&mut inner, now);
            if after.ask {
                let full = inner.next(&heap, now, &mut after) == Next::Full;
                inner.ended(now, &heap, full, &mut after);
            }
            assert!(after.send.len() < 8 && inner.events.len() <= KEPT);
        }
        assert_eq!(inner.counts.nonsense + inner.counts.strangers, refused);
        assert!(refused > 0 && inner.counts.heard > 0);
    }
}
