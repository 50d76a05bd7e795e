//! Starting and stopping: alone in its process, since it counts what the process has.

mod common;

use common::*;
use std::time::{Duration, Instant};

/// One test at a time: what is counted is the process's.
static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn count(what: &str) -> usize {
    std::fs::read_dir(format!("/proc/self/{what}")).unwrap().count()
}

fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn a_thousand_starts_and_stops_leave_nothing() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let _dog = watchdog(300);
    let east = Node1::named("east", &[]);
    let run = |i: usize| {
        let west = Node1::named("west", &[&east]);
        if i.is_multiple_of(10) {
            west.members(2);
            west.put("east", "n", "x");
            west.take("east", "n");
        }
    };
    let settle = || {
        let until = Instant::now() + HANG;
        while (east.link.members().len() > 1 || east.link.peer("west").is_some()) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(500));
    };
    (0..100).for_each(run);
    settle();
    let (descriptors, threads, memory) = (count("fd"), count("task"), resident());
    (0..1000).for_each(run);
    settle();
    assert_eq!((count("fd"), count("task")), (descriptors, threads));
    let grown = resident().saturating_sub(memory);
    assert!(grown < 16 << 20, "{grown} bytes more");
}

#[test]
fn a_node_that_was_not_started_leaves_nothing() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let _dog = watchdog(300);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = taken.local_addr().unwrap().to_string();
    for _ in 0..100 {
        let options = kumi_link::Options { listen: vec!["127.0.0.1:0".into(), at.clone()], ..kumi_link::Options::new("east") };
        let said = Node1::try_start(options).err().unwrap().to_string();
        assert!(said.contains(&at), "{said}");
    }
    for bad in ["", "a b"] {
        assert!(Node1::try_start(kumi_link::Options::new(bad)).is_err());
    }
}

/// A host that can't be relied on.
struct Broken;

impl kumi_link::Host for Broken {
    fn from_client(&self, _: &kumi_link::Peer, _: kumi_segments::FromClient<bytes::Bytes>) {
        panic!("as this test wants it");
    }
    fn from_owner(&self, _: &kumi_link::Peer, _: kumi_segments::FromOwner<bytes::Bytes>) {}
    fn connected(&self, _: &kumi_link::Peer) {}
    fn disconnected(&self, _: &kumi_link::Peer, _: &kumi_link::Why) {}
}

#[test]
fn a_host_that_panics_ends_its_node_and_no_other() {
    let _alone = ALONE.lock().unwrap_or_else(|e| e.into_inner());
    let _dog = watchdog(300);
    let broken = kumi_link::Link::start(kumi_link::Options::new("broken"), std::sync::Arc::new(Broken)).unwrap();
    let join = vec![broken.listening()[0].clone()];
    let west = Node1::start(kumi_link::Options { join, ..kumi_link::Options::new("west") });
    west.members(2);
    let asked = west.ask("broken", put("k", "v"), Some(Duration::from_secs(5)));
    west.host.expect("disconnected broken");
    west.host.expect("down broken");
    let peer = broken.peer("west");
    broken.stop();
    assert!(peer.is_none_or(|p| !p.is_connected()));
    drop(asked);
}
