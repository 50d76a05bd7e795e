//! Nodes that leave, and what of theirs may still end.

use crate::pair::{Pair, SECOND, put, store, take};
use kumi_segments::{Asked, Call, Done, Failure, Hold, Input, Kind, Put, Refusal};

#[test]
fn who_waits_at_a_node_that_goes_is_told_and_what_it_holds_may_end() {
    let mut p = Pair::new();
    p.call(put(b"job", 1)).unwrap();
    p.call(put(b"job", 2)).unwrap();
    let (held, _) = p.ask(take(b"job", Some(10 * SECOND)), None);
    let (late, _) = p.ask(take(b"job", Some(10 * SECOND)), None);
    p.carry();
    let waits: Vec<u64> = (0..10_000).map(|_| p.ask(take(b"none", None), None).0).collect();
    p.carry();
    p.node.drain(p.now, |w| p.woken.push(*w), &mut |_, m| p.back.push(m));
    assert!(p.node.is_draining());
    p.carry();
    assert!(waits.iter().all(|w| p.out.ended[w] == Err(Failure::Refused(Refusal::Leaving))));
    assert_eq!(p.node.manager().requests(), 0);
    for call in [put(b"job", 3), take(b"job", None), Call::Commit { leases: vec![], outputs: vec![store(b"out", 1)] }] {
        assert_eq!(p.call(call), Err(Failure::Refused(Refusal::Leaving)));
    }
    // A run that has its inputs may end, outputs and all.
    let commit = |p: &Pair, token| Call::Commit { leases: vec![p.lease(token)], outputs: vec![store(b"out", 9)] };
    let first = commit(&p, held);
    assert_eq!(p.call(first), Ok(Done::Ok));
    let ended = p.node.end_leases(p.now, |_| {}, &mut |_, _| {});
    assert_eq!((ended, p.len(b"job"), p.len(b"out")), (1, 1, 1));
    let second = commit(&p, late);
    assert_eq!(p.call(second), Err(Failure::Refused(Refusal::LeaseOver)));
    assert_eq!(p.len(b"job"), 1);
}

#[test]
fn a_put_that_has_found_room_before_its_node_goes_is_done() {
    let mut p = Pair::new();
    p.call(Call::Limit(b"k".to_vec(), 1)).unwrap();
    p.call(put(b"k", 1)).unwrap();
    let (waits, _) = p.ask(Call::Put(Put { store: store(b"k", 2), wait: true }), None);
    let (waits_still, _) = p.ask(Call::Put(Put { store: store(b"k", 3), wait: true }), None);
    p.carry();
    let k = p.node.manager().find_key(b"k").unwrap();
    let input = Input { key: k, kind: Kind::Take, after: None };
    let took = p.node.with(|_: &u64| {}, |m, wake| m.get(0, &[input], Hold::Never, None, wake));
    assert!(matches!(took, Ok(Asked::Here(_))));
    p.node.drain(p.now, |_| {}, &mut |_, m| p.back.push(m));
    p.carry();
    assert_eq!(p.out.ended[&waits], Ok(Done::Stored(Some(2))));
    assert_eq!(p.out.ended[&waits_still], Err(Failure::Refused(Refusal::Leaving)));
    assert_eq!(p.len(b"k"), 1);
}

#[test]
fn who_waits_for_a_key_that_is_another_node_s_now_is_turned_away() {
    let mut p = Pair::new();
    let (mine, _) = p.ask(take(b"mine", None), None);
    let (other, _) = p.ask(take(b"other", None), None);
    p.carry();
    p.node.turn_away(p.now, |key| key == b"mine", |_| {}, &mut |_, m| p.back.push(m));
    p.carry();
    assert_eq!(p.out.ended[&other], Err(Failure::Refused(Refusal::Moved)));
    assert_eq!(p.call(put(b"mine", 1)), Ok(Done::Stored(Some(1))));
    assert_eq!(p.values(mine), [1]);
}
