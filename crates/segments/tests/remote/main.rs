//! A node and its clients, message by message: what the simulator meets only now and then, and what a client must not be able to
//! do to others.

mod hostile;
mod leaving;
mod pair;
mod receipts;
mod watches;

use kumi_segments::{
    Act, Asked, Body, Call, Done, Failure, FromClient, Hold, Input, Kind, Node, NodeOptions, Put, Refusal, Reply, Rule, Rules, Store,
    Waiter,
};
use pair::{MS, Pair, SECOND, put, store, take};

#[test]
fn a_node_s_own_waiter_hears_of_a_client_s_put() {
    let mut p = Pair::new();
    let asked = p.node.with(
        |_: &u64| {},
        |m, wake| {
            let input = Input { key: m.key(b"k"), kind: Kind::Take, after: None };
            m.get(0, &[input], Hold::Never, Some(Waiter::Local(5)), wake)
        },
    );
    assert!(matches!(asked, Ok(Asked::Waits(_))));
    assert_eq!(p.call(put(b"k", 1)), Ok(Done::Stored(Some(1))));
    assert_eq!(p.woken, [5]);
}

#[test]
fn a_welcome_that_comes_again_changes_nothing() {
    let mut p = Pair::new();
    let now = p.local();
    p.client.connected(now, &mut p.out);
    let sync = p.out.sent[0].clone();
    p.carry();
    let (token, _) = p.ask(take(b"k", None), None);
    p.there();
    p.to_owner(sync);
    p.here();
    assert_eq!(p.call(put(b"k", 1)), Ok(Done::Stored(Some(1))));
    assert_eq!(p.values(token), [1]);
}

#[test]
fn what_a_client_had_not_received_comes_back_when_it_thinks_the_owner_gone() {
    let mut p = Pair::new();
    p.call(put(b"k", 1)).unwrap();
    let (token, _) = p.ask(take(b"k", None), None);
    p.there();
    p.client.gone(&mut p.out);
    assert_eq!(p.out.ended[&token], Err(Failure::Unknown));
    p.back.clear();
    p.connect();
    assert_eq!(p.len(b"k"), 1);
}

#[test]
fn a_new_session_is_asked_all_again() {
    let mut p = Pair::new();
    let (token, _) = p.ask(take(b"k", None), None);
    p.carry();
    p.node.gone(p.now, b"client", |_| {}, &mut |_, _| {});
    p.pass(6 * SECOND);
    p.call(put(b"k", 1)).unwrap();
    assert_eq!(p.values(token), [1]);
}

#[test]
fn clocks_that_drift_for_days_are_no_matter() {
    let mut p = Pair::new();
    p.drift = 200;
    for day in 0..4 {
        p.now += 86_400 * SECOND;
        // The session ended; the client is told at its next message.
        p.pass(10 * SECOND);
        p.call(put(b"k", day)).unwrap();
        let (token, _) = p.ask(take(b"k", None), None);
        p.carry();
        assert_eq!(p.values(token), [day]);
        p.pass(SECOND);
    }
    // And without a pause: a hundred hours of greetings.
    for _ in 0..72_000 {
        p.now += 5 * SECOND;
        p.tick();
        p.carry();
    }
    p.call(put(b"k", 9)).unwrap();
    let (token, _) = p.ask(take(b"k", None), None);
    p.carry();
    assert_eq!(p.values(token), [9]);
}

#[test]
fn a_segment_that_was_long_on_its_way_is_asked_for_again() {
    let mut p = Pair::new();
    p.call(put(b"k", 1)).unwrap();
    let (token, _) = p.ask(take(b"k", None), None);
    p.there();
    p.now += 9 * SECOND;
    p.here();
    assert!(!p.out.ended.contains_key(&token), "its lease is nearly over");
    p.carry();
    assert_eq!((p.values(token), p.len(b"k")), (vec![1], 0));
    p.pass(SECOND);
    assert_eq!((p.node.open_calls(), p.node.manager().leases()), (0, 0));
}

#[test]
fn a_put_that_enters_later_was_not_left() {
    let mut p = Pair::new();
    p.call(Call::Limit(b"k".to_vec(), 1)).unwrap();
    p.call(put(b"k", 1)).unwrap();
    let later = Store { delay: Some(5 * SECOND), ..store(b"k", 2) };
    let (token, _) = p.ask(Call::Put(Put { store: later, wait: true }), Some(2 * SECOND));
    p.there();
    p.now += 1900 * MS;
    p.node.with(
        |_: &u64| {},
        |m, wake| {
            let k = m.key(b"k");
            m.set_limit(p.now, k, None, wake);
        },
    );
    p.node.flush(p.now, &mut |_, _| {});
    p.now += 200 * MS;
    p.tick();
    p.carry();
    assert_eq!(p.out.ended[&token], Ok(Done::Stored(None)));
}

#[test]
fn a_node_that_leaves_says_first_what_it_has() {
    for used in [true, false] {
        let mut p = Pair::new();
        p.uses = used;
        p.call(put(b"k", 1)).unwrap();
        let (token, name) = p.ask(take(b"k", None), None);
        p.carry();
        let now = p.local();
        p.client.farewell(&mut p.out);
        p.there();
        p.node.gone(p.now, b"client", |_| {}, &mut |_, _| {});
        assert_eq!((p.len(b"k"), p.node.manager().leases()), (usize::from(!used), 0));
        // It is too late for that, and no later answer is heard.
        p.out.ended.clear();
        assert!(used || !p.client.used(now, name, token, &mut p.out));
        p.here();
        assert_eq!(p.out.ended.get(&token), if used { None } else { Some(&Err(Failure::Unknown)) });
    }
}

/// Whatever happens meanwhile, a put that may wait ends by its time and the grace.
#[test]
fn a_put_ends_in_time_whatever_its_owner_does() {
    type Meanwhile = fn(&mut Pair);
    let meanwhile: [Meanwhile; 7] = [
        |_| {},
        |p| p.client.disconnected(),
        |p| {
            p.client.disconnected();
            let now = p.local();
            p.client.connected(now, &mut p.out);
        },
        |p| {
            // The owner hears it, and its answer is lost.
            p.there();
            p.back.clear();
        },
        |p| {
            // Another session.
            p.node.gone(p.now, b"client", |_| {}, &mut |_, _| {});
            let now = p.local();
            p.client.disconnected();
            p.client.connected(now, &mut p.out);
        },
        |p| p.client.gone(&mut p.out),
        |p| {
            p.client.disconnected();
            p.client.gone(&mut p.out);
            let now = p.local();
            p.client.connected(now, &mut p.out);
        },
    ];
    for connected in [true, false] {
        for (i, first) in meanwhile.iter().enumerate() {
            for (j, second) in meanwhile.iter().enumerate() {
                let mut p = Pair::new();
                p.call(Call::Limit(b"k".to_vec(), 1)).unwrap();
                p.call(put(b"k", 1)).unwrap();
                if !connected {
                    p.client.disconnected();
                }
                let (token, _) = p.ask(Call::Put(Put { store: store(b"k", 2), wait: true }), Some(SECOND));
                // Nothing arrives from now on but what a step carries.
                for step in 0..25 {
                    p.now += 100 * MS;
                    match step {
                        3 => first(&mut p),
                        12 => second(&mut p),
                        _ => {}
                    }
                    p.out.sent.clear();
                    let now = p.local();
                    p.client.tick(now, &mut p.out);
                }
                assert!(p.out.ended.contains_key(&token), "{connected} {i} {j}");
            }
        }
    }
}

#[test]
fn one_lease_that_is_over_does_not_end_the_renewal_of_others() {
    let mut p = Pair::new();
    let mut leases = Vec::new();
    for v in 0..3 {
        p.call(put(b"k", v)).unwrap();
        let (token, _) = p.ask(take(b"k", Some(3 * SECOND)), None);
        p.carry();
        leases.push(p.lease(token));
    }
    // One of them ends at the owner, by a message that this client does not know of.
    let session = match p.call(Call::Stats(b"k".to_vec())) {
        Ok(_) => 1,
        other => panic!("{other:?}"),
    };
    let commit = Call::Commit { leases: vec![leases[1]], outputs: Vec::new() };
    p.to_owner(FromClient { incarnation: 7, owner: 1, session, got: Vec::new(), body: Body::Call(1000, commit) });
    p.pass(10 * SECOND);
    assert_eq!((p.node.manager().leases(), p.client.leases()), (2, 2));
    assert_eq!(p.call(Call::Commit { leases: vec![leases[0], leases[2]], outputs: Vec::new() }), Ok(Done::Ok));
}

#[test]
fn an_earlier_incarnation_is_not_served_when_the_later_one_has_left() {
    let mut p = Pair::new();
    let sync = |incarnation, number| FromClient {
        incarnation,
        owner: 0,
        session: 0,
        got: Vec::new(),
        body: Body::Sync { number, upto: 0, outstanding: Vec::new() },
    };
    p.to_owner(sync(8, 1));
    p.node.gone(p.now, b"client", |_| {}, &mut |_, _| {});
    p.back.clear();
    p.to_owner(sync(7, 100));
    assert!(matches!(p.back[0].body, Reply::Fenced));
    p.here();
    assert_eq!(p.call(put(b"k", 1)), Err(Failure::Fenced));
}
#[test]
fn values_that_wait_for_room_are_weighed() {
    let mut p = Pair::new();
    p.node = Node::new(1, 1, NodeOptions { bytes: 100, ..NodeOptions::default() });
    p.node.weigh(|v| *v as usize);
    p.connect();
    p.call(Call::Limit(b"k".to_vec(), 1)).unwrap();
    p.call(put(b"k", 1)).unwrap();
    let wait = |v| Call::Put(Put { store: store(b"k", v), wait: true });
    let (first, name) = p.ask(wait(60), None);
    p.carry();
    assert_eq!(p.call(wait(41)), Err(Failure::Refused(Refusal::Quota)));
    let (second, _) = p.ask(wait(40), None);
    p.carry();
    assert!(!p.out.ended.contains_key(&first) && !p.out.ended.contains_key(&second));
    let now = p.local();
    p.client.leave(now, name, &mut p.out);
    p.carry();
    let (third, _) = p.ask(wait(55), None);
    p.carry();
    for _ in 0..2 {
        p.ask(take(b"k", None), None);
        p.carry();
    }
    assert_eq!((&p.out.ended[&second], &p.out.ended[&third]), (&Ok(Done::Stored(Some(2))), &Ok(Done::Stored(Some(3)))));
    assert!(!p.out.ended.contains_key(&first));
}

#[test]
fn segments_are_taken_out_with_their_times() {
    let mut p = Pair::new();
    let timed = |delay, ttl| Call::Put(Put { store: Store { delay, ttl, ..store(b"k", 1) }, wait: false });
    p.call(timed(None, Some(5 * SECOND))).unwrap();
    p.call(timed(Some(9 * SECOND), None)).unwrap();
    let now = p.now;
    let (ends, enters) = p.node.with(
        |_: &u64| {},
        |m, wake| {
            assert_eq!(m.standing(), [b"k"]);
            let key = m.find_key(b"k").unwrap();
            let input = Input { key, kind: Kind::Take, after: None };
            let Ok(Asked::Here(a)) = m.get(now, &[input], Hold::Open, None, wake) else { panic!() };
            let ends = m.leased(a[0].lease.unwrap()).unwrap().1;
            (ends, m.pull_delayed(key).map(|d| d.0))
        },
    );
    assert_eq!((ends, enters), (Some(now + 5 * SECOND), Some(now + 9 * SECOND)));
    assert!(p.node.manager().standing().is_empty());
}

#[test]
fn a_client_does_what_it_is_allowed_to_and_nothing_else() {
    let mut p = Pair::new();
    p.call(put(b"job.1", 1)).unwrap();
    p.call(put(b"pay", 1)).unwrap();
    p.node.set_rules(Rules::new(vec![Rule { node: "cl*".into(), keys: "job.*".into(), acts: vec![Act::Put, Act::Take, Act::Stat] }]));
    let no = Err(Failure::Refused(Refusal::NotAllowed));
    assert_eq!(p.call(put(b"job.1", 2)), Ok(Done::Stored(Some(2))));
    assert_eq!(p.call(put(b"pay", 2)), no);
    assert_eq!(p.call(take(b"pay", None)), no);
    let (held, _) = p.ask(take(b"job.1", Some(SECOND)), None);
    p.carry();
    let commit = |outputs| Call::Commit { leases: vec![p.lease(held)], outputs };
    let (wrong, right) = (commit(vec![store(b"pay", 1)]), commit(vec![store(b"job.2", 1)]));
    assert_eq!(p.call(wrong), no);
    assert_eq!(p.call(right), Ok(Done::Ok));
    assert_eq!(p.call(Call::Limit(b"job.1".to_vec(), 1)), no);
    let names = Call::Names { prefix: vec![], after: None, most: 10 };
    assert_eq!(p.call(names), Ok(Done::Names(vec![b"job.1".to_vec(), b"job.2".to_vec()])));
    assert_eq!(p.len(b"pay"), 1);
}
