//! What the calls mean: as of a node's manager.

use crate::client::{Begun, Client, MS, get, put, refused, store, take, text};
use crate::server::{Server, lease_ends};
use bytes::Bytes;
use kumi_redis::Settings;
use kumi_segments::{Back, Call, Done, Engine, Failure, Kind, Put, Refusal, Trouble, What};
use std::time::{Duration, Instant};

/// Longer than any test.
const HOUR: u64 = 3_600_000 * MS;

pub const ALL: &[(&str, fn())] = &[
    ("put_update_peek_take", put_update_peek_take),
    ("after_an_index", after_an_index),
    ("inputs_are_taken_all_or_none", inputs_are_taken_all_or_none),
    ("leases_end_come_back_and_are_renewed", leases_end_come_back_and_are_renewed),
    ("a_commit_is_one_step", a_commit_is_one_step),
    ("what_comes_back_regains_its_place", what_comes_back_regains_its_place),
    ("times", times),
    ("limits", limits),
    ("waiters_cost_no_connection", waiters_cost_no_connection),
    ("waiters_of_two_clients", waiters_of_two_clients),
    ("who_waits_is_told_and_forgotten", who_waits_is_told_and_forgotten),
    ("ended_leases_leave_nothing", ended_leases_leave_nothing),
    ("who_leaves_takes_nothing", who_leaves_takes_nothing),
    ("names_of_keys", names_of_keys),
    ("namespaces_do_not_meet", namespaces_do_not_meet),
    ("large_values_and_odd_names", large_values_and_odd_names),
    ("what_is_closed_gives_back", what_is_closed_gives_back),
    ("watches", watches),
];

fn one() -> (Server, Client) {
    let s = Server::durable();
    let c = Client::new(&s.address());
    (s, c)
}

fn put_update_peek_take() {
    let (_s, c) = one();
    assert_eq!((c.put("n", "a"), c.put("n", "b")), (1, 2));
    assert_eq!(c.store(kumi_segments::Store { update: true, ..store("n", "A") }), Some(3));
    let peeked = c.get(get(&[("n", Kind::Peek, None)], None, true));
    assert_eq!((text(&peeked[0]), peeked[0].index, peeked[0].deliveries, peeked[0].lease), ("A".into(), 3, 0, None));
    let taken = c.get(take("n"));
    assert_eq!((text(&taken[0]), taken[0].index, taken[0].deliveries, taken[0].lease), ("A".into(), 3, 1, None));
    assert_eq!((c.take("n"), c.size("n")), ("b".into(), 0));
    assert_eq!(c.get(get(&[("n", Kind::Take, None)], None, false)), []);
    // Counters survive empty queues.
    assert_eq!(c.store(kumi_segments::Store { update: true, owned: true, ..store("n", "d") }), Some(4));
    let taken = c.get(take("n"));
    assert!(taken[0].owned && !taken[0].changed);
    let s = c.stats("n");
    assert_eq!((s.segments, s.delayed, s.leased, s.last_index, s.limit), (0, 0, 0, 4, None));
}

fn after_an_index() {
    let (_s, c) = one();
    for v in ["a", "b", "c", "d", "e"] {
        c.put("k", v);
    }
    let at = |after| {
        let s = c.get(get(&[("k", Kind::Peek, Some(after))], None, false));
        s.first().map(|s| (s.index, text(s)))
    };
    assert_eq!(at(0), Some((1, "a".into())));
    assert_eq!(at(3), Some((4, "d".into())));
    assert_eq!(at(5), None);
    assert_eq!(c.call(get(&[("k", Kind::Peek, Some(6))], None, true)), refused(Refusal::Stale { last: 5 }));
    // The head has the highest index now.
    c.store(kumi_segments::Store { update: true, ..store("k", "A") });
    assert_eq!(at(5), Some((6, "A".into())));
    assert_eq!(at(0), Some((2, "b".into())));
    let taken = c.get(get(&[("k", Kind::Take, Some(2))], None, false));
    assert_eq!(text(&taken[0]), "c");
    assert_eq!(at(2), Some((4, "d".into())));
    assert_eq!(c.drain("k"), ["A", "b", "d", "e"]);
    // One that waits for the next.
    let b = c.begin(get(&[("k", Kind::Peek, Some(6))], None, true));
    c.put("k", "f");
    assert!(matches!(b.wait(), Ok(Done::Segments(s)) if s[0].index == 7));
}

fn inputs_are_taken_all_or_none() {
    let (_s, c) = one();
    c.put("a", "1");
    let both = [("a", Kind::Take, None), ("b", Kind::Take, None), ("r", Kind::Peek, None)];
    assert_eq!(c.get(get(&both, None, false)), []);
    assert_eq!(c.size("a"), 1);
    let b = c.begin(get(&both, None, true));
    c.put("r", "rate");
    c.put("a", "2");
    assert!(b.is_open());
    c.put("b", "x");
    let Ok(Done::Segments(s)) = b.wait() else { panic!() };
    assert_eq!(s.iter().map(text).collect::<Vec<_>>(), ["1", "x", "rate"]);
    assert_eq!((c.size("a"), c.size("b"), c.size("r")), (1, 0, 1));
    // Two takes under one key get two segments, a peek beside them the head.
    c.put("a", "3");
    let two = [("a", Kind::Take, None), ("a", Kind::Take, None), ("a", Kind::Peek, None)];
    assert_eq!(c.get(get(&two, None, true)).iter().map(text).collect::<Vec<_>>(), ["2", "3", "2"]);
    // {A, B} and {B, A} wait for nobody for ever.
    let ab = c.begin(get(&[("a", Kind::Take, None), ("b", Kind::Take, None)], None, true));
    let ba = c.begin(get(&[("b", Kind::Take, None), ("a", Kind::Take, None)], None, true));
    for (k, v) in [("a", "1"), ("b", "2"), ("b", "3"), ("a", "4")] {
        c.put(k, v);
    }
    assert!(ab.wait().is_ok() && ba.wait().is_ok());
    assert_eq!((c.size("a"), c.size("b")), (0, 0));
}

fn leases_end_come_back_and_are_renewed() {
    let (s, c) = one();
    let other = Client::new(&s.address());
    c.put("k", "v");
    c.put("k", "w");
    // It is renewed while its client lives.
    let held = c.lease("k", 6000);
    let ends = || lease_ends(|parts| s.say(parts), "kumi", "k");
    let first = ends().unwrap();
    c.eventually("it is renewed when its time would be over", |_| ends().is_some_and(|at| at > first + Duration::from_secs(6)));
    assert_eq!((c.stats("k").leased, c.size("k")), (1, 1));
    assert_eq!(c.commit(&[held.lease.unwrap()], vec![]), Ok(Done::Ok));
    assert_eq!(c.commit(&[held.lease.unwrap()], vec![]), refused(Refusal::LeaseOver));
    // Its client is gone: it comes back by itself to who waits.
    let gone = Client::new(&s.address());
    let held = gone.lease("k", 400);
    assert_eq!((text(&held), held.deliveries), ("w".into(), 1));
    let b = other.begin(take("k"));
    drop(gone);
    let Ok(Done::Segments(got)) = b.wait() else { panic!() };
    assert_eq!((text(&got[0]), got[0].index, got[0].deliveries), ("w".into(), 2, 2));
    other.0.used(b.0);
    // What is past its lease is refused.
    c.put("k", "x");
    let held = c.lease("k", 60_000);
    s.end_lease("k");
    assert_eq!(other.take("k"), "x");
    assert_eq!(c.commit(&[held.lease.unwrap()], vec![store("out", "late")]), refused(Refusal::LeaseOver));
    assert_eq!(c.size("out"), 0);
}

fn a_commit_is_one_step() {
    let (_s, c) = one();
    c.put("a", "1");
    c.put("b", "2");
    let held = c.get(get(&[("a", Kind::Take, None), ("b", Kind::Take, None)], Some(10_000), true));
    let leases: Vec<u64> = held.iter().filter_map(|s| s.lease).collect();
    let later = kumi_segments::Store { delay: Some(50 * MS), ..store("later", "z") };
    let over = kumi_segments::Store { update: true, ..store("x", "y2") };
    c.put("x", "y");
    assert_eq!(c.commit(&leases, vec![store("a", "3"), over, later, store("a", "4")]), Ok(Done::Ok));
    assert_eq!((c.drain("a"), c.drain("b"), c.drain("x")), (vec!["3".into(), "4".into()], vec![], vec!["y2".to_string()]));
    assert_eq!(c.take("later"), "z");
    // Extended, given back.
    c.put("a", "5");
    let l = c.lease("a", 10_000).lease.unwrap();
    assert_eq!(c.call(Call::Extend { leases: vec![l], long: 20_000 * MS }), Ok(Done::Ok));
    assert_eq!(c.call(Call::GiveBack { lease: l, left: Back::Changed(Bytes::from_static(b"five")) }), Ok(Done::Ok));
    assert_eq!(c.call(Call::GiveBack { lease: l, left: Back::Same }), refused(Refusal::LeaseOver));
    let s = c.get(take("a"));
    assert_eq!((text(&s[0]), s[0].changed, s[0].deliveries), ("five".into(), true, 2));
}

fn what_comes_back_regains_its_place() {
    let (_s, c) = one();
    for v in ["a", "b", "c", "d", "e"] {
        c.put("k", v);
    }
    let held: Vec<u64> = (0..3).map(|_| c.lease("k", 10_000).lease.unwrap()).collect();
    let back = |l| assert_eq!(c.call(Call::GiveBack { lease: l, left: Back::Same }), Ok(Done::Ok));
    back(held[2]);
    back(held[0]);
    // An update meets the head that is there.
    assert_eq!(c.store(kumi_segments::Store { update: true, ..store("k", "A") }), Some(6));
    back(held[1]);
    assert_eq!(c.drain("k"), ["A", "b", "c", "d", "e"]);
}

fn times() {
    let (_s, c) = one();
    let b = c.begin(take("k"));
    let began = Instant::now();
    assert_eq!(c.store(kumi_segments::Store { delay: Some(300 * MS), ..store("k", "late") }), None);
    assert!(b.wait().is_ok());
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(295), "{took:?}");
    assert_eq!(c.store(kumi_segments::Store { delay: Some(HOUR), ..store("later", "v") }), None);
    assert_eq!((c.stats("later").delayed, c.stats("later").last_index), (1, 0));
    let ttl = |k, v, long| kumi_segments::Store { ttl: Some(long), ..store(k, v) };
    c.store(ttl("u", "d", 5000 * MS));
    let held = c.lease("u", 60_000);
    c.store(ttl("t", "a", HOUR));
    c.store(ttl("t", "b", 5000 * MS));
    c.store(ttl("t", "c", HOUR));
    assert_eq!(c.size("t"), 3);
    c.eventually("it ends", |c| c.size("t") == 2);
    assert_eq!(c.drain("t"), ["a", "c"]);
    // What is leased does not end meanwhile; its time was over before the other's, and it does not stand again.
    assert_eq!((c.stats("u").leased, c.size("u")), (1, 0));
    assert_eq!(c.call(Call::GiveBack { lease: held.lease.unwrap(), left: Back::Same }), Ok(Done::Ok));
    assert_eq!((c.stats("u").leased, c.size("u")), (0, 0));
    // One that waits for its time, and then has one to end.
    let b = c.begin(get(&[("t", Kind::Peek, None)], None, true));
    c.store(kumi_segments::Store { delay: Some(50 * MS), ttl: Some(1000 * MS), ..store("t", "e") });
    assert!(matches!(b.wait(), Ok(Done::Segments(s)) if text(&s[0]) == "e"));
    c.eventually("it ends", |c| c.size("t") == 0);
    assert_eq!(c.stats("t").last_index, 4);
}

fn limits() {
    let (s, c) = one();
    let other = Client::new(&s.address());
    assert_eq!(c.call(Call::Limit(b"k".to_vec(), 2)), Ok(Done::Ok));
    c.put("k", "1");
    c.put("k", "2");
    let no_wait = |v: &str| c.call(Call::Put(Put { store: store("k", v), wait: false }));
    assert_eq!(no_wait("x"), refused(Refusal::Full));
    let waits: Vec<Begun> = ["3", "4", "5"].iter().map(|v| c.begin(put("k", v))).collect();
    c.eventually("they wait", |c| c.stats("k").waiting_puts == 3);
    assert_eq!(other.take("k"), "1");
    assert_eq!(waits[0].wait(), Ok(Done::Stored(Some(3))));
    assert!(waits[1].is_open());
    // Without room for so long.
    let b = c.begin_within(put("k", "y"), Some(50 * MS));
    assert_eq!(b.wait(), Err(Trouble::Failure(Failure::TimedOut)));
    // Outputs and updates do not wait.
    assert_eq!(other.commit(&[], vec![store("k", "out")]), Ok(Done::Ok));
    assert_eq!(c.call(Call::Limit(b"k".to_vec(), 0)), Ok(Done::Ok));
    assert!(waits[1].wait().is_ok() && waits[2].wait().is_ok());
    assert_eq!(c.drain("k"), ["2", "3", "out", "4", "5"]);
}

fn waiters_cost_no_connection() {
    let (s, c) = one();
    let other = Client::new(&s.address());
    let count = 2000;
    let waits: Vec<Begun> = (0..count).map(|i| c.begin(take(&format!("k{i}")))).collect();
    let same: Vec<Begun> = (0..100).map(|_| c.begin(take("same"))).collect();
    let peeks: Vec<Begun> = (0..10).map(|_| c.begin(get(&[("same", Kind::Peek, None)], None, true))).collect();
    c.eventually("they wait", |c| c.stats("same").waiting == 110);
    c.eventually("they wait", |c| (0..count).step_by(97).all(|i| c.stats(&format!("k{i}")).waiting == 1));
    assert_eq!(s.say(&["CLIENT", "LIST"]).matches("id=").count(), 5, "two of each client, and this one");
    let puts: Vec<Begun> = (0..count).rev().map(|i| other.begin(put(&format!("k{i}"), &i.to_string()))).collect();
    puts.iter().for_each(|p| assert!(p.wait().is_ok()));
    for (i, w) in waits.iter().enumerate() {
        assert!(matches!(w.wait(), Ok(Done::Segments(s)) if text(&s[0]) == i.to_string()), "{i}");
        c.0.used(w.0);
    }
    for i in 0..100 {
        other.put("same", &i.to_string());
    }
    // The oldest first.
    for (i, w) in same.iter().enumerate() {
        assert!(matches!(w.wait(), Ok(Done::Segments(s)) if text(&s[0]) == i.to_string()), "{i}");
    }
    peeks.iter().for_each(|p| assert!(p.wait().is_ok()));
    assert_eq!(c.size("same"), 0);
}

fn waiters_of_two_clients() {
    let (s, c) = one();
    let clients: Vec<Client> = (0..3).map(|_| Client::new(&s.address())).collect();
    let waits: Vec<Begun> = (0..300).map(|i| clients[i % 3].begin(take("k"))).collect();
    for i in 0..300 {
        c.begin(put("k", &i.to_string()));
    }
    let mut got: Vec<u32> = waits
        .iter()
        .map(|w| match w.wait() {
            Ok(Done::Segments(s)) => text(&s[0]).parse().unwrap(),
            other => panic!("{other:?}"),
        })
        .collect();
    got.sort_unstable();
    assert_eq!(got, (0..300).collect::<Vec<_>>());
}

/// A key under which somebody waits says so, until nobody listens.
fn who_waits_is_told_and_forgotten() {
    let (s, c) = one();
    let last = || s.say(&["GET", "kumi:n:{k}:i"]);
    assert_eq!(c.put("k", "1"), 1);
    assert_eq!(last(), "$1\r\n1\r\n");
    c.take("k");
    let other = Client::new(&s.address());
    let b = other.begin(take("k"));
    other.eventually("it waits", |c| c.stats("k").waiting == 1);
    assert!(last().contains("\r\n45035996273704"), "{}", last());
    // A sweep leaves that as long as somebody listens.
    std::thread::sleep(Duration::from_millis(3500));
    assert_eq!(c.put("k", "2"), 2);
    assert!(b.wait().is_ok());
    // One under which nothing ever was is forgotten wholly.
    let never = other.begin(take("never"));
    other.eventually("it waits", |c| c.stats("never").waiting == 1);
    other.0.close();
    assert!(never.wait().is_err());
    c.eventually("it is forgotten", |_| last() == "$1\r\n2\r\n");
    c.eventually("it is forgotten", |_| s.say(&["EXISTS", "kumi:n:{never}:i"]) == ":0\r\n");
    assert_eq!(s.say(&["ZRANGE", "kumi:keys", "0", "-1"]), "*1\r\n$1\r\nk\r\n");
    assert_eq!((c.put("k", "3"), c.stats("k").last_index), (3, 3));
}

/// Not even under what is due.
fn ended_leases_leave_nothing() {
    let (s, c) = one();
    for i in 0..300 {
        c.put("k", &i.to_string());
    }
    for _ in 0..290 {
        c.take("k");
    }
    let held = c.lease("k", 10_000).lease.unwrap();
    assert_eq!(c.commit(&[held], vec![store("out", "1")]), Ok(Done::Ok));
    c.eventually("all are taken off", |_| s.say(&["ZCARD", "kumi:n:{k}:t"]) == ":0\r\n");
    assert_eq!((c.stats("k").leased, c.size("k")), (0, 9));
}

fn who_leaves_takes_nothing() {
    let (_s, c) = one();
    let b = c.begin(take("k"));
    c.eventually("it waits", |c| c.stats("k").waiting == 1);
    c.0.leave(b.0);
    c.put("k", "1");
    assert_eq!(c.size("k"), 1);
    // At any moment.
    for i in 0..200 {
        let b = c.begin(take("k"));
        std::thread::sleep(Duration::from_micros(i * 7));
        c.0.leave(b.0);
    }
    c.eventually("it is back", |c| c.0.open_calls() == 1 || c.size("k") == 1);
    c.eventually("it is back", |c| c.size("k") == 1 && c.stats("k").leased == 0);
    // And nobody has had it.
    let s = c.get(take("k"));
    assert_eq!((s[0].deliveries, c.size("k")), (1, 0));
    c.0.leave(u64::MAX);
}

fn names_of_keys() {
    let (_s, c) = one();
    let names = ["", "b", "a.2", "a.1", "{a}.3", "a.{x}", "}", "a}b", "ä"];
    for n in names {
        c.put(n, "v");
    }
    let mut sorted = names.to_vec();
    sorted.sort_unstable();
    assert_eq!(c.names(""), sorted);
    assert_eq!(c.names("a."), ["a.1", "a.2", "a.{x}"]);
    assert_eq!(c.take("a.1"), "v");
    assert_eq!(c.names("a."), ["a.2", "a.{x}"]);
    c.store(kumi_segments::Store { delay: Some(HOUR), ..store("later", "v") });
    assert!(!c.names("").contains(&"later".into()));
    c.store(kumi_segments::Store { delay: Some(20 * MS), ..store("new", "v") });
    c.eventually("it enters", |c| c.names("n") == ["new"]);
    let many: Vec<Begun> = (0..1500).map(|i| c.begin(put(&format!("m{i:04}"), "v"))).collect();
    many.iter().for_each(|m| assert!(m.wait().is_ok()));
    assert_eq!(c.names("m").len(), 1500);
    let some = c.call(Call::Names { prefix: b"m".to_vec(), after: Some(b"m0999".to_vec()), most: 2 });
    assert_eq!(some, Ok(Done::Names(vec![b"m1000".to_vec(), b"m1001".to_vec()])));
}

fn namespaces_do_not_meet() {
    let (s, c) = one();
    let other = Client::new(&format!("{}?namespace=other", s.address()));
    c.put("k", "1");
    assert_eq!((other.size("k"), other.names("").len()), (0, 0));
    let b = other.begin(take("k"));
    c.put("k", "2");
    assert_eq!((other.put("k", "3"), c.size("k")), (1, 2));
    assert!(matches!(b.wait(), Ok(Done::Segments(s)) if text(&s[0]) == "3"));
    let elsewhere = Client::new(&format!("{}?db=3", s.address()));
    assert_eq!(elsewhere.size("k"), 0);
}

fn large_values_and_odd_names() {
    let (s, c) = one();
    let value: Vec<u8> = (0..10_000_000u32).map(|i| (i * 7 % 251) as u8).collect();
    let key = vec![0xff, 0, b'\r', b'\n', b'*'];
    let odd = kumi_segments::Store { key: key.clone(), value: value.clone().into(), ..store("", "") };
    assert_eq!(c.store(odd), Some(1));
    let ask = kumi_segments::Ask { inputs: vec![(key, Kind::Take, None)], lease: None, wait: true };
    assert!(c.get(Call::Get(ask))[0].value == value);
    let long = "x".repeat(1025);
    assert_eq!(c.call(put(&long, "")), refused(Refusal::Bad));
    assert_eq!(c.put(&long[1..], ""), 1);
    assert_eq!(c.call(Call::Get(kumi_segments::Ask { inputs: vec![], lease: None, wait: true })), refused(Refusal::Bad));
    // A server ends the connection of who hears channels once 32 MB are on their way to it. Somebody waits here.
    let waits = c.begin(take("waits"));
    c.eventually("it waits", |c| c.stats("waits").waiting == 1);
    c.store(kumi_segments::Store { value: vec![b'x'; 40 << 20].into(), ..store("large", "") });
    assert_eq!(c.take("large").len(), 40 << 20);
    let some: Vec<u8> = vec![b'y'; 1 << 20];
    for i in 1..=48 {
        assert_eq!(c.store(kumi_segments::Store { value: some.clone().into(), ..store("many", "") }), Some(i));
    }
    let takes: Vec<Begun> = (0..48).map(|_| c.begin(take("many"))).collect();
    for t in takes {
        assert!(matches!(t.wait(), Ok(Done::Segments(s)) if s[0].value == some));
        c.0.used(t.0);
    }
    c.put("waits", "1");
    assert!(waits.wait().is_ok());
    // One that comes later than its lease lasts is asked for under a longer one.
    let settings = Settings { lease: Some(Duration::from_millis(1)), patience: Some(crate::client::HANG), ..Settings::default() };
    let brief = Client::with(&s.address(), settings);
    c.store(kumi_segments::Store { value: vec![b'x'; 20 << 20].into(), ..store("large", "") });
    assert_eq!(brief.take("large").len(), 20 << 20);
    // A key in a hash slot of the user's choice.
    c.put("a.{t}", "1");
    assert_eq!(c.take("a.{t}"), "1");
}

fn what_is_closed_gives_back() {
    let (s, c) = one();
    c.put("k", "1");
    c.put("k", "2");
    let gone = Client::new(&s.address());
    gone.lease("k", 3_600_000);
    let unused = gone.begin(take("k"));
    assert!(unused.wait().is_ok());
    let waits = gone.begin(take("k"));
    gone.0.close();
    assert_eq!(waits.wait(), Err(Trouble::NotConnected("it was closed".into())));
    assert!(matches!(gone.call(take("k")), Err(Trouble::NotConnected(_))));
    assert_eq!(c.drain("k"), ["1", "2"]);
}

fn watches() {
    let (s, c) = one();
    let other = Client::new(&s.address());
    c.put("k", "0");
    let (to, rung) = std::sync::mpsc::channel();
    let ring = move || to.send(()).unwrap_or(());
    let watch = c.0.watch(b"k", 100, std::sync::Arc::new(ring.clone()));
    let told = |watch: u64, n: usize| {
        let mut all = Vec::new();
        while all.len() < n {
            match c.0.next_event(watch).unwrap() {
                Some(e) => all.push((e.what, e.index, e.value.map(|v| String::from_utf8_lossy(&v).into_owned()))),
                None => rung.recv_timeout(crate::client::HANG).expect("news"),
            }
        }
        all
    };
    // What happens once it has begun is told, whoever does it.
    while !c.0.has_begun(watch) {
        rung.recv_timeout(crate::client::HANG).expect("news");
    }
    c.eventually("it is watched", |_| s.say(&["HEXISTS", "kumi:n:{k}:m", "w"]) == ":1\r\n");
    other.put("k", "1");
    other.store(kumi_segments::Store { update: true, ..store("k", "2") });
    other.store(kumi_segments::Store { owned: true, ..store("k", "mine") });
    let held = other.lease("k", 10_000);
    other.call(Call::GiveBack { lease: held.lease.unwrap(), left: Back::Same }).unwrap();
    other.store(kumi_segments::Store { ttl: Some(50 * MS), ..store("k", "short") });
    let value = |t: &str| Some(t.to_owned());
    let expected = vec![
        (What::Put, 2, value("1")),
        (What::Update, 3, value("2")),
        (What::Put, 4, None),
        (What::Taken, 3, None),
        (What::Back, 3, None),
        (What::Put, 5, value("short")),
        (What::Ended, 5, None),
    ];
    assert_eq!(told(watch, 7), expected);
    let whole = c.0.watch(b"k", 1000, std::sync::Arc::new(ring));
    // What nobody reads is missed, and counted.
    for i in 0..150 {
        other.put("k", &i.to_string());
    }
    assert_eq!(told(whole, 150).last().map(|e| e.1), Some(155));
    assert_eq!((c.stats("k").segments, c.stats("k").last_index), (153, 155));
    assert_eq!(c.0.next_event(watch).unwrap().map(|e| (e.index, e.missed)), Some((56, 50)));
    c.0.unwatch(watch);
    assert!(c.0.next_event(watch).is_err());
    let other_watch = c.0.watch(b"k", 1, std::sync::Arc::new(|| {}));
    c.0.close();
    c.eventually("it ends", |c| c.0.next_event(other_watch).is_err());
}
