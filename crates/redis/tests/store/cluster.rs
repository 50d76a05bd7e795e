//! Stores on a cluster.

use crate::client::{Begun, Client, MS, get, put, refused, store, take, text, trouble};
use crate::nodes::{Nodes, eventually};
use crate::server::{Server, lease_ends, port};
use bytes::Bytes;
use kumi_redis::names::{Namespace, slot};
use kumi_redis::{Settings, Store};
use kumi_segments::{Back, Call, Done, Engine, Kind, Outcome, Refusal, Trouble, What};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub const ALL: &[(&str, fn())] = &[
    ("cluster_calls_on_all_shards", calls_on_all_shards),
    ("cluster_waiters_on_all_shards", waiters_on_all_shards),
    ("cluster_one_step_is_in_one_slot", one_step_is_in_one_slot),
    ("cluster_names_and_sweeps", names_and_sweeps),
    ("cluster_connections_that_end_lose_nothing", connections_that_end_lose_nothing),
    ("cluster_addresses_that_are_wrong", addresses_that_are_wrong),
    ("cluster_slots_move", slots_move),
    ("cluster_order_outlives_moments_of_refusal", order_outlives_moments_of_refusal),
    ("cluster_primaries_fail", primaries_fail),
];

/// One that several tests use, each with a namespace of its own.
static SHARED: Mutex<Option<Arc<Nodes>>> = Mutex::new(None);

fn shared() -> Arc<Nodes> {
    SHARED.lock().unwrap().get_or_insert_with(|| Arc::new(Nodes::start(0))).clone()
}

/// All tests are over: the servers end.
pub fn end() {
    if let Ok(mut nodes) = SHARED.lock() {
        nodes.take();
    }
}

fn keys(count: usize) -> Vec<String> {
    (0..count).map(|i| format!("key{i}")).collect()
}

fn across(r: &Outcome<Bytes>, keys: [&str; 2]) -> bool {
    matches!(r, Err(Trouble::Store(why)) if keys.iter().all(|k| why.contains(&format!("{k:?}"))) && why.contains("{tag}"))
}

fn calls_on_all_shards() {
    let n = shared();
    let (c, other) = (Client::new(&n.address("calls")), Client::new(&n.address("calls")));
    let keys = keys(30);
    let shards: BTreeSet<u16> = keys.iter().map(|k| slot(k.as_bytes()) / 5462).collect();
    assert_eq!(shards.len(), 3);
    for k in &keys {
        assert_eq!((c.put(k, "a"), c.put(k, "b")), (1, 2), "{k}");
        assert_eq!(c.store(kumi_segments::Store { update: true, ..store(k, "A") }), Some(3));
        let peeked = other.get(get(&[(k, Kind::Peek, None)], None, true));
        assert_eq!((text(&peeked[0]), peeked[0].index), ("A".into(), 3));
        assert_eq!(other.call(get(&[(k, Kind::Peek, Some(9))], None, true)), refused(Refusal::Stale { last: 3 }));
        assert_eq!((other.take(k), other.take(k), c.size(k)), ("A".into(), "b".into(), 0));
        // Leases, ends of them, and what comes back.
        c.put(k, "c");
        let held = c.lease(k, 60_000);
        assert_eq!(c.call(Call::GiveBack { lease: held.lease.unwrap(), left: Back::Changed("left".into()) }), Ok(Done::Ok));
        let held = c.lease(k, 20_000);
        assert_eq!((text(&held), held.deliveries), ("left".into(), 2));
        assert_eq!(c.call(Call::Extend { leases: vec![held.lease.unwrap()], long: 60_000 * MS }), Ok(Done::Ok));
        assert_eq!(c.commit(&[held.lease.unwrap()], vec![store(k, "d"), store(k, "e")]), Ok(Done::Ok));
        assert_eq!(c.commit(&[held.lease.unwrap()], vec![]), refused(Refusal::LeaseOver));
        assert_eq!(c.call(Call::Limit(k.as_bytes().to_vec(), 2)), Ok(Done::Ok));
        let full = kumi_segments::Put { store: store(k, "f"), wait: false };
        assert_eq!(c.call(Call::Put(full)), refused(Refusal::Full));
        assert_eq!((other.drain(k), c.stats(k).limit.map(|l| l.get())), (vec!["d".into(), "e".into()], Some(2)));
        c.store(kumi_segments::Store { delay: Some(20 * MS), ..store(k, "later") });
    }
    keys.iter().for_each(|k| assert_eq!(other.take(k), "later"));
    // Leases of several shards are renewed.
    keys.iter().for_each(|k| assert_eq!(c.put(k, "x"), 8));
    let held: Vec<u64> = keys.iter().map(|k| c.lease(k, 6000).lease.unwrap()).collect();
    let ends = |k: &str| lease_ends(|parts| n.say(parts), "calls", k);
    let first: Vec<Duration> = keys.iter().map(|k| ends(k).unwrap()).collect();
    for (k, first) in keys.iter().zip(first) {
        eventually("it is renewed when its time would be over", || ends(k).is_some_and(|at| at > first + Duration::from_secs(6)));
    }
    held.iter().for_each(|l| assert_eq!(c.commit(&[*l], vec![]), Ok(Done::Ok)));
    // What is closed gives back, on all shards.
    keys.iter().for_each(|k| assert!(c.put(k, "y") > 0));
    keys.iter().for_each(|k| drop(c.lease(k, 60_000)));
    c.0.close();
    keys.iter().for_each(|k| assert_eq!(other.take(k), "y"));
}

fn waiters_on_all_shards() {
    let n = shared();
    let (c, other) = (Client::new(&format!("{}&client_name=waits", n.address("wait"))), Client::new(&n.address("wait")));
    let keys = keys(30);
    let waits: Vec<Begun> = keys.iter().chain(&keys).map(|k| c.begin(take(k))).collect();
    let peeks: Vec<Begun> = keys.iter().map(|k| c.begin(get(&[(k, Kind::Peek, None)], None, true))).collect();
    c.eventually("they wait", |c| keys.iter().all(|k| c.stats(k).waiting == 3));
    for node in &n.all {
        assert_eq!(node.say(&["CLIENT", "LIST"]).matches("name=waits").count(), 2);
    }
    for k in keys.iter().chain(&keys) {
        other.put(k, "v");
    }
    for w in waits.iter().chain(&peeks) {
        assert!(matches!(w.wait(), Ok(Done::Segments(_))));
        c.0.used(w.0);
    }
    assert!(keys.iter().all(|k| other.size(k) == 0));
    // Room, and what is watched.
    for k in &keys[..6] {
        let rung = Arc::new(AtomicBool::new(false));
        let ring = rung.clone();
        let w = c.0.watch(k.as_bytes(), 10, Arc::new(move || ring.store(true, Ordering::SeqCst)));
        c.call(Call::Limit(k.as_bytes().to_vec(), 1)).unwrap();
        eventually("it is watched", || !n.say(&["HGET", &format!("wait:n:{{{k}}}:m"), "w"]).starts_with("$-1"));
        other.put(k, "1");
        let b = c.begin(put(k, "2"));
        c.eventually("it waits", |c| c.stats(k).waiting_puts == 1);
        assert_eq!(other.take(k), "1");
        assert_eq!(b.wait(), Ok(Done::Stored(Some(4))));
        eventually("it is told", || rung.load(Ordering::SeqCst));
        assert!(matches!(c.0.next_event(w), Ok(Some(e)) if e.what == What::Put && e.index == 3));
        assert_eq!(other.take(k), "2");
    }
}

fn one_step_is_in_one_slot() {
    let n = shared();
    let c = Client::new(&n.address("step"));
    let apart = [("a", Kind::Take, None), ("b", Kind::Take, None)];
    assert!(across(&c.call(get(&apart, None, false)), ["a", "b"]));
    c.put("a", "1");
    let held = c.lease("a", 60_000).lease.unwrap();
    let r = c.commit(&[held], vec![store("b", "2"), store("a", "2")]);
    assert!(across(&r, ["a", "b"]), "{r:?}");
    assert!(across(&c.commit(&[], vec![store("b", "2"), store("c", "3")]), ["b", "c"]));
    // Nothing was done, and the lease goes on.
    assert_eq!((c.size("b"), c.size("c"), c.stats("a").leased), (0, 0, 1));
    assert_eq!(c.commit(&[held], vec![store("{a}out", "2"), store("a", "3")]), Ok(Done::Ok));
    assert_eq!((c.take("{a}out"), c.take("a")), ("2".into(), "3".into()));
    // A tag of their own.
    let both = [("{order}in", Kind::Take, None), ("x{order}", Kind::Take, None), ("{order}rate", Kind::Peek, None)];
    let b = c.begin(get(&both, Some(60_000), true));
    for key in ["{order}rate", "{order}in", "x{order}"] {
        assert!(b.is_open());
        c.put(key, key);
    }
    let Ok(Done::Segments(s)) = b.wait() else { panic!() };
    let leases: Vec<u64> = s.iter().filter_map(|s| s.lease).collect();
    assert_eq!(c.commit(&leases, vec![store("{order}out", "sum"), store("{order}log", "line")]), Ok(Done::Ok));
    assert_eq!((c.drain("{order}out"), c.drain("{order}log"), c.size("{order}in")), (vec!["sum".into()], vec!["line".into()], 0));
    assert_eq!(c.call(Call::Commit { leases: vec![], outputs: vec![] }), Ok(Done::Ok));
}

fn names_and_sweeps() {
    let n = shared();
    let (c, other) = (Client::new(&n.address("names")), Client::new(&n.address("names")));
    let mut names: Vec<String> = (0..130).map(|i| format!("n{i}")).chain((0..50).map(|i| format!("m{{x}}{i}"))).collect();
    let puts: Vec<Begun> = names.iter().map(|k| c.begin(put(k, "v"))).collect();
    puts.iter().for_each(|b| assert!(b.wait().is_ok()));
    names.sort();
    assert_eq!(other.names(""), names);
    let some: Vec<String> = names.iter().filter(|k| k.starts_with("n12")).cloned().collect();
    assert_eq!((other.names("n12"), other.names("none")), (some, vec![]));
    let page = other.call(Call::Names { prefix: b"n".to_vec(), after: Some(b"n1".to_vec()), most: 3 });
    assert_eq!(page, Ok(Done::Names(vec![b"n10".to_vec(), b"n100".to_vec(), b"n101".to_vec()])));
    // One asking that nobody waits for.
    c.0.leave(c.begin(Call::Names { prefix: vec![], after: None, most: 10_000 }).0);
    names.iter().for_each(|k| assert_eq!(other.take(k), "v"));
    assert_eq!(c.names(""), Vec::<String>::new());
    // What ends is removed though nobody asks, also where another has put it.
    drop(c);
    let gone = Client::new(&n.address("names"));
    for k in ["short1", "short2", "short3", "short{y}"] {
        gone.store(kumi_segments::Store { ttl: Some(30 * MS), ..store(k, "v") });
    }
    drop(gone);
    let ns = Namespace::new("names").unwrap();
    let q = |k: &str| String::from_utf8(ns.part(k.as_bytes(), b'q')).unwrap();
    let stands = || ["short1", "short2", "short3", "short{y}"].iter().any(|k| n.say(&["EXISTS", &q(k)]) != ":0\r\n");
    eventually("they are swept", || !stands());
}

/// Ends all connections of clients.
fn cut(n: &Nodes) {
    for node in &n.all {
        node.say(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        node.say(&["CLIENT", "KILL", "TYPE", "pubsub", "SKIPME", "yes"]);
    }
}

/// Puts and takes go on meanwhile: nothing is lost, nothing is there twice, and each key has its order.
fn under_load(n: &Nodes, namespace: &str, keys: &[&str], count: u64, fault: impl FnOnce(&dyn Fn() -> u64)) {
    let (c, other) = (Client::new(&n.address(namespace)), Client::new(&n.address(namespace)));
    let done = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|s| {
        for key in keys {
            let (c, done) = (&c, &done);
            s.spawn(move || {
                let mut under_way = std::collections::VecDeque::new();
                for i in 0..count {
                    under_way.push_back(c.begin(put(key, &i.to_string())));
                    while under_way.len() > if i + 1 == count { 0 } else { 20 } {
                        let r = under_way.pop_front().unwrap().wait();
                        assert!(matches!(r, Ok(Done::Stored(Some(_)))), "{r:?}");
                        done.fetch_add(1, Ordering::SeqCst);
                    }
                    std::thread::sleep(Duration::from_micros(500));
                }
            });
            let other = &other;
            s.spawn(move || {
                for i in 0..count {
                    assert_eq!(other.take(key), i.to_string(), "{key}");
                }
            });
        }
        fault(&|| done.load(Ordering::SeqCst));
    });
    for key in keys {
        let s = c.stats(key);
        assert_eq!((s.segments, s.leased, s.last_index), (0, 0, count), "{key}");
    }
}

fn connections_that_end_lose_nothing() {
    // Not the shared one: all connections there end.
    let n = Nodes::start(0);
    let waits = Client::new(&n.address("kumi"));
    let b = waits.begin(take("late"));
    under_load(&n, "kumi", &["a", "b", "c", "d"], 600, |done| {
        for i in 1..=12 {
            eventually("it goes on", || done() >= i * 180);
            cut(&n);
        }
    });
    Client::new(&n.address("kumi")).put("late", "v");
    assert!(b.wait().is_ok());
}

fn addresses_that_are_wrong() {
    trouble("redis+cluster://127.0.0.1:1,127.0.0.1:2", Settings::default(), "127.0.0.1:2: no server listens there");
    // One that is no cluster, and a cluster that is taken for one server.
    let port = port().to_string();
    let one = Server::start(&["--port", &port]);
    let e = trouble(&format!("redis+cluster://127.0.0.1:{port}"), Settings::default(), "no node of a Redis Cluster");
    assert!(e.contains("redis://"), "{e}");
    drop(one);
    let n = shared();
    let e = trouble(&format!("redis://127.0.0.1:{}", n.ports[0]), Settings::default(), "node of a Redis Cluster");
    assert!(e.contains("redis+cluster://"), "{e}");
    // Calls end with it as well, and so do lists of names.
    let settings = Settings { patience: Some(Duration::from_millis(300)), ..Settings::default() };
    let c = Client(Store::open("redis+cluster://127.0.0.1:1", settings).unwrap());
    for call in [put("k", "v"), take("k"), Call::Names { prefix: vec![], after: None, most: 9 }] {
        let r = c.call(call);
        assert!(matches!(&r, Err(Trouble::NotConnected(why)) if why.contains("no server listens there")), "{r:?}");
    }
    // A password, and slots that nobody has.
    let options = ["--port", &port, "--cluster-enabled", "yes", "--requirepass", "secret"];
    let empty = Server::start(&options);
    let address = format!("redis+cluster://127.0.0.1:{port}");
    trouble(&address, Settings::default(), "it wants a password");
    trouble(&format!("{address}?password=wrong"), Settings::default(), "refuses the user or the password");
    trouble(&format!("{address}?password=secret"), Settings::default(), "no node of the cluster has any slots");
    drop(empty);
    // Settings are told of.
    let told = || Store::open(&n.address("kumi"), Settings::default()).unwrap().wait_ready(crate::client::HANG).unwrap();
    assert_eq!(told().unwrap(), "appendfsync is everysec, not always");
    let set = |nodes: &[usize], to: &str| nodes.iter().for_each(|i| drop(n.all[*i].say(&["CONFIG", "SET", "appendfsync", to])));
    set(&[0, 2], "always");
    assert_eq!(told().unwrap(), format!("appendfsync is everysec, not always (at 127.0.0.1:{})", n.ports[1]));
    set(&[1], "always");
    assert_eq!(told(), None);
    set(&[0, 1, 2], "everysec");
}

fn slots_move() {
    let n = Nodes::start(0);
    let slot = slot(b"m");
    let home = usize::from(slot) * 3 / 16384;
    let other = Client::new(&n.address("kumi"));
    let waits: Vec<Begun> = (0..5).map(|_| other.begin(take("{m}late"))).collect();
    let held = {
        other.put("{m}held", "v");
        other.lease("{m}held", 60_000).lease.unwrap()
    };
    under_load(&n, "kumi", &["{m}", "a{m}", "elsewhere"], 900, |done| {
        for round in 0..4 {
            eventually("it goes on", || done() >= 100 + round * 500);
            let (from, to) = ((home + round as usize) % 3, (home + round as usize + 1) % 3);
            n.move_slot(slot, from, to);
            if round % 2 == 1 {
                cut(&n);
            }
        }
    });
    // Who waits is told where its key is now, and who held something ends it there.
    let fresh = Client::new(&n.address("kumi"));
    (1..=5).for_each(|i| assert_eq!(fresh.put("{m}late", "v"), i));
    waits.iter().for_each(|w| assert!(w.wait().is_ok()));
    assert_eq!(other.commit(&[held], vec![store("{m}out", "w")]), Ok(Done::Ok));
    assert_eq!((fresh.take("{m}out"), fresh.names("{m}held")), ("w".into(), vec![]));
}

fn order_outlives_moments_of_refusal() {
    let n = Nodes::start(0);
    let (key, elsewhere) = ("m", slot(b"m") ^ 1);
    let home = usize::from(slot(key.as_bytes())) * 3 / 16384;
    let elsewhere = elsewhere.to_string();
    under_load(&n, "kumi", &[key, "{m}2"], 3000, |done| {
        for round in 0..40 {
            eventually("it goes on", || done() >= round * 100);
            // A node that lacks a slot serves none. Some of the puts under way come in that moment, and others after it.
            for what in ["DELSLOTS", "ADDSLOTS"] {
                assert!(n.all[home].say(&["CLUSTER", what, &elsewhere]).starts_with("+OK"));
            }
        }
    });
}

fn primaries_fail() {
    let mut n = Nodes::start(3);
    let c = Client::new(&n.address("kumi"));
    let worries = Store::open(&n.address("kumi"), Settings::default()).unwrap().wait_ready(crate::client::HANG).unwrap();
    assert!(worries.is_some_and(|w| w.contains("a replica gets writes later")));
    let keys = keys(12);
    // A replica takes over, and hands back again: nothing is lost by that.
    under_load(&n, "hand", &["key1", "key2", "key4", "{key2}x"], 500, |done| {
        for (round, node) in [3, 0].into_iter().enumerate() {
            eventually("it goes on", || done() >= 100 + round as u64 * 500);
            n.take_over(node);
        }
    });
    eventually("it follows again", || n.all[3].say(&["INFO", "replication"]).contains("master_link_status:up"));
    // What replicas have is there when they stand in.
    let safe = Client::new(&format!("{}&wait_replicas=1&wait_ms=5000", n.address("kumi")));
    let puts: Vec<Begun> = keys.iter().map(|k| safe.begin(put(k, "1"))).collect();
    puts.iter().for_each(|b| assert_eq!(b.wait(), Ok(Done::Stored(Some(1)))));
    let waits: Vec<Begun> = keys.iter().map(|k| c.begin(take(&format!("{{{k}}}late")))).collect();
    c.eventually("they wait", |c| keys.iter().all(|k| c.stats(&format!("{{{k}}}late")).waiting == 1));
    drop(safe);
    // Of another pair: Redis 7 counts the votes of an election that it has won for the next one as well, if that is within six seconds (twice
    // what a node has). Its claim is of an old epoch then, which nobody heeds.
    n.all[1].kill();
    // All go on, also those that were there.
    let puts: Vec<Begun> = keys.iter().flat_map(|k| [c.begin(put(k, "2")), c.begin(put(k, "3"))]).collect();
    n.stands_in(4);
    let stored: Vec<_> = puts.iter().map(Begun::wait).collect();
    assert!(stored.iter().all(|r| matches!(r, Ok(Done::Stored(Some(2 | 3))))), "{stored:?}");
    keys.iter().for_each(|k| assert_eq!(c.drain(k), ["1", "2", "3"]));
    let other = Client::new(&n.address("kumi"));
    for (k, w) in keys.iter().zip(&waits) {
        other.put(&format!("{{{k}}}late"), "v");
        assert!(w.wait().is_ok());
    }
    // One that nobody stands in for: its slots' calls end, and others go on.
    n.all[2].say(&["CONFIG", "SET", "cluster-require-full-coverage", "no"]);
    n.all[0].say(&["CONFIG", "SET", "cluster-require-full-coverage", "no"]);
    n.all[4].say(&["CONFIG", "SET", "cluster-require-full-coverage", "no"]);
    let settings = Settings { patience: Some(Duration::from_millis(1500)), ..Settings::default() };
    let c = Client::with(&n.address("kumi"), settings);
    n.all[5].kill();
    n.all[2].kill();
    let last = keys.iter().find(|k| slot(k.as_bytes()) > 10923).unwrap();
    let first = keys.iter().find(|k| slot(k.as_bytes()) < 5461).unwrap();
    let r = c.call(put(last, "x"));
    assert!(matches!(r, Err(Trouble::NotConnected(_) | Trouble::Lost(_))), "{r:?}");
    assert!(c.call(put(first, "x")).is_ok());
}
