//! A process that has no descriptor left: alone in its process, since it takes all of them.

mod common;

use common::*;
use rustix::process::{Resource, getrlimit, setrlimit};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Processor time of this process.
fn busy() -> Duration {
    let all: u64 = std::fs::read_dir("/proc/self/task")
        .unwrap()
        .flatten()
        .filter_map(|t| std::fs::read_to_string(t.path().join("schedstat")).ok()?.split(' ').next()?.parse::<u64>().ok())
        .sum();
    Duration::from_nanos(all)
}

#[test]
fn without_descriptors_nobody_is_let_in_and_nothing_spins() {
    let _dog = watchdog(60);
    let east = Node1::named("east", &[]);
    let west = Node1::named("west", &[&east]);
    west.members(2);
    west.put("east", "n", "1");
    let waits: Vec<socket2::Socket> =
        (0..8).map(|_| socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap()).collect();
    let limit = getrlimit(Resource::Nofile);
    let open = std::fs::read_dir("/proc/self/fd").unwrap().count() as u64;
    let few = rustix::process::Rlimit { current: Some(open + 2), maximum: limit.maximum };
    // All that are left.
    let before = busy();
    setrlimit(Resource::Nofile, few).unwrap();
    let mut held = Vec::new();
    while let Ok(f) = std::fs::File::open("/dev/null") {
        held.push(f);
    }
    let at: std::net::SocketAddr = east.address().parse().unwrap();
    waits.iter().for_each(|s| s.connect(&at.into()).unwrap());
    let until = Instant::now() + Duration::from_secs(2);
    while Instant::now() < until {
        // Who is there is served.
        west.put("east", "n", "2");
        std::thread::sleep(Duration::from_millis(100));
    }
    drop(held);
    setrlimit(Resource::Nofile, limit).unwrap();
    let spent = busy() - before;
    assert!(spent < Duration::from_millis(700), "{spent:?} of processor time in two seconds");
    drop(waits);
    let late = TcpStream::connect(at).unwrap();
    drop(late);
    let south = Node1::named("south", &[&east]);
    south.members(3);
}
