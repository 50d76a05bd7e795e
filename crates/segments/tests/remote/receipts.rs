//! What is given, and whether it was received and used.

use crate::pair::{Pair, SECOND, put, store, take};
use kumi_segments::{Asked, Call, Done, Failure, Hold, Input, Kind, Node, NodeOptions, Refusal};
#[cfg(debug_assertions)]
use kumi_segments::{Bug, plant};

#[test]
fn what_nobody_used_comes_back() {
    let mut p = Pair::new();
    p.uses = false;
    p.call(put(b"k", 1)).unwrap();
    let (token, name) = p.ask(take(b"k", None), None);
    p.carry();
    assert_eq!((p.values(token), p.len(b"k")), (vec![1], 0));
    // The asker is killed before it looks.
    let now = p.local();
    p.client.leave(now, name, &mut p.out);
    p.carry();
    assert_eq!((p.len(b"k"), p.client.open_calls()), (1, 0));
    // It was there all the time.
    let (again, name) = p.ask(take(b"k", None), None);
    p.carry();
    assert_eq!(p.values(again), [1]);
    let now = p.local();
    assert!(p.client.used(now, name, again, &mut p.out));
    p.pass(20 * SECOND);
    assert_eq!((p.len(b"k"), p.client.open_calls(), p.node.open_calls()), (0, 0, 0));
}

#[test]
fn what_is_looked_at_too_late_is_asked_for_again() {
    let mut p = Pair::new();
    p.uses = false;
    p.call(put(b"k", 1)).unwrap();
    let (token, name) = p.ask(take(b"k", None), None);
    p.carry();
    // The program stands still, and another takes what has come back.
    p.now += 12 * SECOND;
    p.node.tick(p.now, |_| {}, &mut |_, _| {});
    assert_eq!(p.len(b"k"), 1);
    p.call(put(b"k", 2)).unwrap();
    let (other, second) = p.ask(take(b"k", None), None);
    p.carry();
    assert_eq!(p.values(other), [1]);
    let now = p.local();
    assert!(p.client.used(now, second, other, &mut p.out));
    p.out.ended.remove(&token);
    assert!(!p.client.used(now, name, token, &mut p.out));
    p.carry();
    assert_eq!(p.values(token), [2]);
    let now = p.local();
    assert!(p.client.used(now, name, token, &mut p.out));
    p.pass(SECOND);
    assert_eq!((p.len(b"k"), p.client.open_calls()), (0, 0));
}

#[test]
fn what_was_given_by_a_lost_session_is_not_used() {
    let mut p = Pair::new();
    p.uses = false;
    p.call(put(b"k", 1)).unwrap();
    let (token, name) = p.ask(take(b"k", None), None);
    p.carry();
    p.out.ended.remove(&token);
    // Each takes the other for gone.
    let now = p.local();
    p.node.gone(p.now, b"client", |_| {}, &mut |_, _| {});
    p.client.gone(&mut p.out);
    assert_eq!(p.len(b"k"), 1);
    assert!(!p.client.used(now, name, token, &mut p.out));
    assert_eq!(p.out.ended[&token], Err(Failure::Unknown));
}

/// A worker goes on with a lease of an owner that has started again meanwhile and given out as many as before.
fn old_lease_at_a_new_owner() -> bool {
    let mut p = Pair::new();
    p.call(put(b"k", 1)).unwrap();
    let (token, _) = p.ask(take(b"k", Some(5 * SECOND)), None);
    p.carry();
    let old = p.lease(token);
    p.node = Node::new(1, 2, NodeOptions::default());
    p.client.disconnected();
    p.connect();
    p.call(put(b"k", 2)).unwrap();
    let (token, _) = p.ask(take(b"k", Some(5 * SECOND)), None);
    p.carry();
    let new = p.lease(token);
    let refused = p.call(Call::Commit { leases: vec![old], outputs: vec![store(b"out", 3)] }) == Err(Failure::Refused(Refusal::LeaseOver));
    let kept = p.call(Call::Commit { leases: vec![new], outputs: Vec::new() }) == Ok(Done::Ok);
    refused && kept && p.len(b"out") == 0
}

/// A receipt comes late, after a repeat of its call that came later still.
fn receipt_after_repeat() -> bool {
    let mut p = Pair::new();
    p.call(put(b"k", 1)).unwrap();
    p.call(put(b"k", 2)).unwrap();
    let (token, _) = p.ask(take(b"k", None), None);
    let repeat = p.out.sent[0].clone();
    p.there();
    p.here();
    assert_eq!(p.values(token), [1]);
    // The lease is over before the owner hears that it was received: the segment came back, and another takes it.
    p.now += 11 * SECOND;
    let now = p.now;
    p.node.with(
        |_: &u64| {},
        |m, wake| {
            let input = Input { key: m.key(b"k"), kind: Kind::Take, after: None };
            assert!(matches!(m.get(now, &[input], Hold::Never, None, wake), Ok(Asked::Here(a)) if a[0].segment.value == 1));
        },
    );
    p.to_owner(repeat);
    p.back.clear();
    p.tick();
    p.carry();
    p.pass(12 * SECOND);
    p.len(b"k") == 1
}

#[test]
fn a_lease_is_of_one_incarnation_of_its_owner() {
    assert!(old_lease_at_a_new_owner());
}
#[test]
fn a_receipt_is_for_one_take() {
    assert!(receipt_after_repeat());
}
#[test]
#[cfg(debug_assertions)]
fn planted_bugs_are_found() {
    plant(Some(Bug::LeaseNumbersAgain));
    let found = !old_lease_at_a_new_owner();
    plant(Some(Bug::OneNumberTwoTakes));
    let both = found && !receipt_after_repeat();
    plant(None);
    assert!(both);
}
