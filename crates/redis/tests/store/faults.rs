//! Connections that end, replies that are lost, servers that are killed.

use crate::client::{Begun, Client, get, put, store, take, text, trouble};
use crate::server::{Proxy, Sentinel, Server, port};
use kumi_redis::Settings;
use kumi_segments::{Back, Call, Done, Engine, Kind, Trouble};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

pub const ALL: &[(&str, fn())] = &[
    ("lost_replies_do_nothing_twice", lost_replies_do_nothing_twice),
    ("connections_that_end_lose_nothing", connections_that_end_lose_nothing),
    ("waiters_outlive_their_connection", waiters_outlive_their_connection),
    ("what_was_put_outlives_its_server", what_was_put_outlives_its_server),
    ("scripts_that_are_forgotten_are_told_again", scripts_that_are_forgotten_are_told_again),
    ("a_server_that_stands_still_is_given_up", a_server_that_stands_still_is_given_up),
    ("a_store_that_is_away_ends_calls", a_store_that_is_away_ends_calls),
    ("sentinels_say_who_is_primary", sentinels_say_who_is_primary),
    ("replicas_are_waited_for", replicas_are_waited_for),
];

/// Loses the reply to a call, and has it done once all the same.
fn lost_replies_do_nothing_twice() {
    let s = Server::durable();
    let p = Proxy::new(&s);
    let (c, sure) = (Client::new(&p.address()), Client::new(&s.address()));
    let lose = |call: Call<bytes::Bytes>| {
        p.deaf.store(true, Ordering::SeqCst);
        let before = p.back.load(Ordering::SeqCst);
        let b = c.begin(call);
        while p.back.load(Ordering::SeqCst) == before {
            std::thread::sleep(Duration::from_millis(1));
        }
        p.deaf.store(false, Ordering::SeqCst);
        p.cut();
        let r = b.wait();
        c.0.used(b.0);
        r
    };
    for i in 1..=5 {
        assert_eq!(lose(put("k", &i.to_string())), Ok(Done::Stored(Some(i))));
    }
    assert_eq!(sure.size("k"), 5);
    let taken = |r| match r {
        Ok(Done::Segments(s)) => text(&s[0]),
        other => panic!("{other:?}"),
    };
    assert_eq!(taken(lose(take("k"))), "1");
    assert_eq!((sure.size("k"), sure.stats("k").leased), (4, 0));
    let Ok(Done::Segments(held)) = lose(get(&[("k", Kind::Take, None)], Some(60_000), true)) else { panic!() };
    assert_eq!((text(&held[0]), held[0].deliveries), ("2".into(), 1));
    assert_eq!((sure.size("k"), sure.stats("k").leased), (3, 1));
    let leases = vec![held[0].lease.unwrap()];
    assert_eq!(lose(Call::Commit { leases, outputs: vec![store("out", "x")] }), Ok(Done::Ok));
    assert_eq!((sure.size("out"), sure.stats("k").leased), (1, 0));
    let held = c.lease("k", 60_000);
    assert_eq!(lose(Call::GiveBack { lease: held.lease.unwrap(), left: Back::Same }), Ok(Done::Ok));
    assert_eq!(sure.drain("k"), ["3", "4", "5"]);
    // Who asks again for the end of a lease that was over hears so.
    c.put("k", "6");
    let held = c.lease("k", 60_000);
    s.end_lease("k");
    assert_eq!(sure.take("k"), "6");
    let leases = vec![held.lease.unwrap()];
    assert_eq!(lose(Call::Commit { leases, outputs: vec![store("out", "y")] }), crate::client::refused(kumi_segments::Refusal::LeaseOver));
    assert_eq!(sure.drain("out"), ["x"]);
    // A commit without inputs is done once, too.
    assert_eq!(lose(Call::Commit { leases: vec![], outputs: vec![store("out", "z")] }), Ok(Done::Ok));
    assert_eq!(sure.drain("out"), ["z"]);
}

fn connections_that_end_lose_nothing() {
    let s = Server::durable();
    let p = Proxy::new(&s);
    let (c, other) = (Client::new(&p.address()), Client::new(&p.address()));
    let count = 3000;
    let mut puts = Vec::new();
    let mut got = Vec::new();
    for i in 0..count {
        puts.push(c.begin(put("k", &i.to_string())));
        if i % 100 == 50 {
            p.cut();
        }
        if i % 3 == 0 {
            got.push(other.begin(take("k")));
        }
    }
    let indexes: BTreeSet<u64> = puts
        .iter()
        .map(|b| match b.wait() {
            Ok(Done::Stored(Some(i))) => i,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(indexes, (1..=count).collect());
    let mut all: Vec<u64> = got
        .iter()
        .map(|b| match b.wait() {
            Ok(Done::Segments(s)) => {
                other.0.used(b.0);
                text(&s[0]).parse().unwrap()
            }
            other => panic!("{other:?}"),
        })
        .collect();
    // What an old connection has brought late comes back when its lease is over.
    let rest: Vec<u64> = c.drain("k").iter().map(|t| t.parse().unwrap()).collect();
    assert!(rest.is_sorted(), "those of one caller stand in its order");
    all.extend(rest);
    if c.stats("k").leased > 0 {
        c.eventually("it comes back", |c| c.stats("k").leased == 0);
        all.extend(c.drain("k").iter().map(|t| t.parse::<u64>().unwrap()));
    }
    all.sort_unstable();
    assert_eq!(all, (0..count).collect::<Vec<_>>());
}

fn waiters_outlive_their_connection() {
    let mut s = Server::durable();
    let p = Proxy::new(&s);
    let c = Client::new(&p.address());
    let waits: Vec<Begun> = (0..50).map(|i| c.begin(take(&format!("k{}", i % 10)))).collect();
    c.eventually("they wait", |c| (0..10).all(|i| c.stats(&format!("k{i}")).waiting == 5));
    p.cut();
    s.kill();
    s.begin_again();
    let other = Client::new(&s.address());
    for i in 0..50 {
        other.put(&format!("k{}", i % 10), &i.to_string());
    }
    for w in &waits {
        assert!(w.wait().is_ok());
    }
}

fn what_was_put_outlives_its_server() {
    let mut s = Server::durable();
    let (c, other) = (Client::new(&s.address()), Client::new(&s.address()));
    let (mut puts, mut takes): (Vec<Begun>, Vec<Begun>) = Default::default();
    for round in 0..5 {
        for i in 0..200 {
            puts.push(c.begin(put("k", &(round * 200 + i).to_string())));
            if i % 2 == 0 {
                takes.push(other.begin(take("k")));
            }
            if i == 20 + round * 30 {
                std::thread::sleep(Duration::from_millis(round));
                s.kill();
                s.begin_again();
            }
        }
    }
    puts.iter().for_each(|b| assert!(matches!(b.wait(), Ok(Done::Stored(Some(_))))));
    let mut all: Vec<u64> = takes
        .iter()
        .map(|b| match b.wait() {
            Ok(Done::Segments(s)) => text(&s[0]).parse().unwrap(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(c.stats("k").leased, 0);
    all.extend(c.drain("k").iter().map(|t| t.parse::<u64>().unwrap()));
    all.sort_unstable();
    assert_eq!(all, (0..1000).collect::<Vec<_>>());
}

fn scripts_that_are_forgotten_are_told_again() {
    let s = Server::durable();
    let c = Client::new(&s.address());
    for i in 1..=3 {
        assert_eq!(c.put("k", "v"), i);
        s.say(&["SCRIPT", "FLUSH"]);
    }
    assert_eq!(c.drain("k").len(), 3);
}

fn a_server_that_stands_still_is_given_up() {
    let s = Server::durable();
    let settings = Settings { patience: Some(Duration::from_secs(1)), ..Settings::default() };
    let c = Client::with(&s.address(), settings);
    let pid = rustix::process::Pid::from_raw(s.pid()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    let b = c.begin(put("k", "1"));
    let waits = c.begin(take("other"));
    assert!(matches!(b.wait(), Err(Trouble::Lost(_))));
    assert!(matches!(waits.wait(), Err(Trouble::NotConnected(_))));
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    // It was done, or was not.
    c.eventually("it serves again", |c| matches!(c.call(Call::Stats(b"k".to_vec())), Ok(Done::Stats(s)) if s.segments <= 1));
}

fn a_store_that_is_away_ends_calls() {
    let mut s = Server::durable();
    let settings = Settings { patience: Some(Duration::from_millis(500)), ..Settings::default() };
    let c = Client::with(&s.address(), settings);
    let waits = c.begin(take("k"));
    s.kill();
    assert!(matches!(waits.wait(), Err(Trouble::NotConnected(_))));
    let r = c.call(put("k", "1"));
    assert!(matches!(&r, Err(Trouble::NotConnected(why)) if why.contains("no server listens there")), "{r:?}");
    s.begin_again();
    c.eventually("it serves again", |c| c.call(put("k", "2")).is_ok());
}

fn replicas_are_waited_for() {
    let port = port().to_string();
    let s = Server::start(&["--port", &port, "--appendonly", "yes", "--appendfsync", "always", "--repl-diskless-sync-delay", "0"]);
    let address = format!("{}?wait_replicas=1&wait_ms=300", s.address());
    let worries = |address: &str| kumi_redis::Store::open(address, Settings::default()).unwrap().wait_ready(crate::client::HANG).unwrap();
    assert_eq!(worries(&address).unwrap(), "wait_replicas is 1, and 0 are there");
    let replica = Server::start(&["--replicaof", &format!("127.0.0.1 {port}")]);
    let until = std::time::Instant::now() + crate::client::HANG;
    while !s.say(&["INFO", "replication"]).contains("state=online") {
        assert!(std::time::Instant::now() < until);
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(worries(&s.address()).unwrap().contains("a replica gets writes later"));
    let (c, hasty) = (Client::new(&format!("{}?wait_replicas=1&wait_ms=5000", s.address())), Client::new(&address));
    let has = |what: &str, n: usize| assert_eq!(replica.say(&["LLEN", &format!("kumi:n:{{{what}}}:q")]), format!(":{n}\r\n"));
    // What was acknowledged is there: one by one, and many at a time.
    assert_eq!(c.put("k", "1"), 1);
    has("k", 1);
    let puts: Vec<Begun> = (0..300).map(|i| c.begin(put("many", &i.to_string()))).collect();
    puts.iter().for_each(|b| assert!(matches!(b.wait(), Ok(Done::Stored(Some(_))))));
    has("many", 300);
    assert_eq!(c.take("k"), "1");
    has("k", 0);
    let held = c.lease("many", 60_000).lease.unwrap();
    assert_eq!(c.commit(&[held], vec![store("out", "x")]), Ok(Done::Ok));
    has("out", 1);
    // A connection that ends meanwhile.
    let pid = rustix::process::Pid::from_raw(replica.pid()).unwrap();
    let stops = |stops: bool| {
        let signal = if stops { rustix::process::Signal::STOP } else { rustix::process::Signal::CONT };
        rustix::process::kill_process(pid, signal).unwrap();
    };
    stops(true);
    let b = c.begin(put("k", "2"));
    std::thread::sleep(Duration::from_millis(50));
    s.say(&["CLIENT", "KILL", "TYPE", "pubsub"]);
    stops(false);
    assert_eq!(b.wait(), Ok(Done::Stored(Some(2))));
    has("k", 1);
    // Too few have it: it is not known whether it stays, and what was taken stands again.
    stops(true);
    let r = hasty.call(put("k", "3"));
    assert!(matches!(&r, Err(Trouble::Lost(why)) if why.contains("0 of 1 replicas")), "{r:?}");
    assert!(matches!(hasty.call(take("k")), Err(Trouble::Lost(_))));
    stops(false);
    assert_eq!(c.drain("k"), ["2", "3"]);
}

fn sentinels_say_who_is_primary() {
    let [first, second, at] = [(); 3].map(|()| port().to_string());
    let one = Server::start(&["--port", &first, "--appendonly", "yes", "--appendfsync", "always"]);
    let replica_of = format!("127.0.0.1 {first}");
    let options = ["--port", &second, "--appendonly", "yes", "--appendfsync", "always", "--replicaof", &replica_of];
    let two = Server::start(&options);
    let sentinel = Sentinel::new(&at, &first);
    let until = std::time::Instant::now() + crate::client::HANG;
    // Until it knows of the replica.
    while !two.say(&["INFO", "replication"]).contains("master_link_status:up") || !sentinel.says("slaves=1") {
        assert!(std::time::Instant::now() < until);
        std::thread::sleep(Duration::from_millis(50));
    }
    let address = format!("redis+sentinel://127.0.0.1:1,127.0.0.1:{at}/main");
    let c = Client::new(&address);
    let waits = c.begin(take("later"));
    assert_eq!(c.put("k", "1"), 1);
    while !two.say(&["LLEN", "kumi:n:{k}:q"]).contains(":1") {
        std::thread::sleep(Duration::from_millis(5));
    }
    // Nobody stands in for it before: what one alone has would be lost.
    sentinel.quick();
    drop(one);
    assert_eq!(c.put("k", "2"), 2);
    assert_eq!(c.drain("k"), ["1", "2"]);
    c.put("later", "x");
    assert!(waits.wait().is_ok());
    assert!(two.say(&["ROLE"]).contains("master"));
    trouble(&format!("redis+sentinel://127.0.0.1:{at}/other"), Settings::default(), "no primary that is called");
}
