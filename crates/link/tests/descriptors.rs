//! A process that has no descriptor left: alone in its process, since it takes all of them.

mod common;

use common::*;
use rustix::process::{Resource, getrlimit, setrlimit};
use std::net::TcpStream;
use std::time::Duration;

/// Processor time of this process. No descriptor is needed to ask.
fn busy() -> Duration {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(t.tv_sec as u64, t.tv_nsec as u32)
}

#[test]
fn without_descriptors_nobody_is_let_in_and_nothing_spins() {
    let _dog = watchdog(300);
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
    setrlimit(Resource::Nofile, few).unwrap();
    let mut held = Vec::new();
    while let Ok(f) = std::fs::File::open("/dev/null") {
        held.push(f);
    }
    let at: std::net::SocketAddr = east.address().parse().unwrap();
    waits.iter().for_each(|s| s.connect(&at.into()).unwrap());
    let steps = (0..20).map(|_| {
        let before = busy();
        // Who is there is served.
        west.put("east", "n", "2");
        std::thread::sleep(Duration::from_millis(100));
        busy() - before
    });
    // Who spins does so in each step; what a processor loses to others may count as this one's in some.
    let least = steps.min().unwrap();
    drop(held);
    setrlimit(Resource::Nofile, limit).unwrap();
    assert!(least < Duration::from_millis(35), "{least:?} of processor time in each tenth of a second");
    drop(waits);
    let late = TcpStream::connect(at).unwrap();
    drop(late);
    let south = Node1::named("south", &[&east]);
    south.members(3);
}
