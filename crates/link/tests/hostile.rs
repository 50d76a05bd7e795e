//! Peers that send garbage, too little, too much or nothing: the others go on.

mod common;

use bytes::Bytes;
use common::*;
use kumi_link::{Limits, Options, SendError, features};
use kumi_segments::*;
use kumi_wire::{Connection, Hello, Lane, Role};
use std::io::{IoSlice, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// A peer without a state machine: it says hello, and then what it is told.
struct Stranger {
    socket: TcpStream,
    wire: Connection,
}

impl Stranger {
    fn call(address: &str, name: &str) -> Stranger {
        Stranger::of_life(address, name, 1)
    }

    fn of_life(address: &str, name: &str, incarnation: u64) -> Stranger {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let wire = Connection::new(Role::Caller, Hello::new(name, incarnation), Default::default()).unwrap();
        let mut s = Stranger { socket, wire };
        s.flush();
        while s.wire.peer().is_none() && s.read() {}
        s
    }

    fn output(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        loop {
            let mut slices = [IoSlice::new(&[]); 16];
            let n = self.wire.transmit(&mut slices);
            let before = all.len();
            slices[..n].iter().for_each(|s| all.extend_from_slice(s));
            if all.len() == before {
                return all;
            }
            let n = all.len() - before;
            self.wire.advance(n);
        }
    }

    fn flush(&mut self) {
        let bytes = self.output();
        let _ = self.socket.write_all(&bytes);
    }

    fn read(&mut self) -> bool {
        let mut buffer = [0; 4096];
        match self.socket.read(&mut buffer) {
            Ok(n @ 1..) => {
                let _ = self.wire.receive(&buffer[..n]);
                while self.wire.next_message().is_some() {}
                true
            }
            _ => false,
        }
    }

    /// Reads until the node has closed, and says what it said.
    fn end(mut self) -> String {
        while self.read() {}
        format!("{:?}", self.wire.ended())
    }
}

fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn garbage_disturbs_nobody() {
    let _dog = watchdog(300);
    let east = Node1::named("east", &[]);
    let west = Node1::named("west", &[&east]);
    west.members(2);
    let address = east.address();
    let over = AtomicBool::new(false);
    let (fuzzed, done) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for seed in 1..4u64 {
            let (address, over, fuzzed) = (&address, &over, &fuzzed);
            scope.spawn(move || {
                let mut r = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                while !over.load(Ordering::Relaxed) {
                    fuzz(address, &mut r);
                    fuzzed.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let until = Instant::now() + Duration::from_secs(5);
        let (mut warm, mut worst) = (None, Duration::ZERO);
        while Instant::now() < until {
            let began = Instant::now();
            west.put("east", "n", "good");
            assert_eq!(west.take("east", "n"), "good");
            worst = worst.max(began.elapsed());
            if done.fetch_add(1, Ordering::Relaxed) == 2000 {
                warm = Some(resident());
            }
        }
        over.store(true, Ordering::Relaxed);
        eprintln!("{} strangers, {} good rounds, the longest {worst:?}", fuzzed.load(Ordering::Relaxed), done.load(Ordering::Relaxed));
        if let Some(warm) = warm {
            assert!(resident() < warm + (128 << 20), "{warm} bytes grew to {}", resident());
        }
    });
    assert!(fuzzed.load(Ordering::Relaxed) > 50);
    assert!(east.link.members().len() >= 2);
}

#[test]
fn an_older_node_is_not_sent_what_it_does_not_know() {
    let _dog = watchdog(300);
    let east = Node1::named("east", &[]);
    let west = Node1::named("west", &[&east]);
    west.members(2);
    west.put("east", "n", "1");
    assert_eq!(west.link.peer("east").unwrap().knows(features::WATCHES), Some(true));
    // One of the first version says that it knows nothing else.
    let _old = Stranger::call(&east.address(), "old");
    east.host.expect("connected old");
    let old = east.link.peer("old").unwrap();
    assert_eq!(old.knows(features::WATCHES), Some(false));
    let ask = |call| FromClient { incarnation: 1, owner: 1, session: 1, got: Vec::new(), body: Body::Call(1, call) };
    let watch = Watch::Begin { watch: 1, key: b"n".to_vec(), most: 9 };
    assert_eq!(east.link.send(&old, ask(Call::Watch(watch))), Err(SendError::TooOld));
    assert_eq!(east.link.send(&old, ask(Call::Stats(b"n".to_vec()))), Ok(()));
}

fn fuzz(address: &str, r: &mut Random) {
    let name = format!("fuzz{}", r.below(8));
    match r.below(7) {
        // Noise.
        0 => {
            let Ok(mut s) = TcpStream::connect(address) else { return };
            let bytes: Vec<u8> = (0..r.below(5000)).map(|_| r.next() as u8).collect();
            let _ = s.write_all(&bytes);
        }
        // Another protocol.
        1 => {
            let Ok(mut s) = TcpStream::connect(address) else { return };
            let _ = s.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
            let _ = s.read(&mut [0; 100]);
        }
        // A good beginning that stops, or goes wrong in one byte.
        2 | 3 => {
            let mut wire = Connection::new(Role::Caller, Hello::new(&*name, 1), Default::default()).unwrap();
            let mut slices = [IoSlice::new(&[]); 4];
            let n = wire.transmit(&mut slices);
            let mut bytes: Vec<u8> = slices[..n].iter().flat_map(|s| s.iter()).copied().collect();
            let at = r.below(bytes.len() as u64) as usize;
            if r.below(2) == 0 {
                bytes.truncate(at)
            } else {
                bytes[at] ^= 1 << r.below(8)
            }
            let Ok(mut s) = TcpStream::connect(address) else { return };
            let _ = s.write_all(&bytes);
        }
        // A node that says nonsense: wrong messages, wrong gossip.
        4 | 5 => {
            let mut s = Stranger::of_life(address, &name, 1 + r.below(1000));
            for _ in 0..r.below(30) {
                let most = if r.below(10) == 0 { 30_000 } else { 200 };
                let n = r.below(most);
                let mut bytes: Vec<u8> = (0..n).map(|_| r.next() as u8).collect();
                if let Some(first) = bytes.first_mut().filter(|_| r.below(2) == 0) {
                    *first = 1;
                }
                let lane = Lane::ALL[r.below(3) as usize];
                let _ = s.wire.send(r.below(5) as u32, r.below(8) as u8, lane, bytes);
            }
            s.flush();
            if r.below(2) == 0 {
                s.read();
            }
        }
        // Frames that are bent after they were made.
        _ => {
            let mut s = Stranger::of_life(address, &name, 1 + r.below(1000));
            for _ in 0..1 + r.below(10) {
                let _ = s.wire.send(1, 1, Lane::Small, vec![1; 100]);
            }
            let mut bytes = s.output();
            if !bytes.is_empty() {
                let at = r.below(bytes.len() as u64) as usize;
                bytes[at] ^= 1 << r.below(8);
            }
            let _ = s.socket.write_all(&bytes);
            s.read();
        }
    }
}

#[test]
fn who_says_nothing_is_sent_away() {
    let _dog = watchdog(300);
    let limits = Limits { handshake: Duration::from_millis(300), silence: Duration::from_millis(400), ..Limits::default() };
    let east = Node1::start(Options { limits, ..Options::new("east") });
    let began = Instant::now();
    let mut mute = TcpStream::connect(east.address()).unwrap();
    assert_eq!(mute.read(&mut [0; 10]).unwrap(), 0);
    assert!(began.elapsed() >= Duration::from_millis(300));
    east.host.expect("the handshake took too long");
    // One that falls silent after it, though it was asked.
    let said = Stranger::call(&east.address(), "mute").end();
    assert!(said.contains("nothing came for too long"), "{said}");
    east.host.expect("disconnected mute: ended here: nothing came for too long");
}

#[test]
fn connections_are_bounded_and_storms_pass() {
    let _dog = watchdog(300);
    let limits = Limits { handshakes_per_source: 8, handshake: Duration::from_millis(500), ..Limits::default() };
    let east = Node1::start(Options { limits, ..Options::new("east") });
    let west = Node1::named("west", &[&east]);
    west.members(2);
    let storm: Vec<_> = (0..300).filter_map(|_| TcpStream::connect(east.address()).ok()).collect();
    assert!(storm.len() > 200);
    // Who was there goes on; most of the storm was closed at once.
    west.put("east", "n", "1");
    // They are let in, or closed, in their order: when the last one has ended, each was. One that was let in ends with its handshake's time.
    let mut last = storm.last().unwrap();
    last.set_read_timeout(Some(HANG)).unwrap();
    let ended = last.read_to_end(&mut Vec::new());
    assert!(!ended.is_err_and(|e| e.kind() == std::io::ErrorKind::WouldBlock), "the last one stays");
    let mut open = 0;
    for s in &storm {
        s.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let mut s = s;
        open += usize::from(s.read(&mut [0]).is_err_and(|e| e.kind() == std::io::ErrorKind::WouldBlock));
    }
    assert!(open <= 8, "{open}");
    drop(storm);
    // Their places are free again.
    let south = Node1::named("south", &[&east]);
    south.members(3);
}

#[test]
fn a_slow_reader_is_cut_off_and_a_fast_one_goes_on() {
    let _dog = watchdog(300);
    let limits = Limits { backlog: 8 << 20, ..Limits::default() };
    let east = Node1::start(Options { limits, ..Options::new("east") });
    let west = Node1::named("west", &[&east]);
    west.members(2);
    west.put("east", "big", vec![1; 1 << 20]);
    // It asks, and does not read.
    let mut slow = Stranger::call(&east.address(), "slow");
    let number = AtomicU64::new(1);
    let message = |session: u64, body: Body<Bytes>| -> Vec<u8> {
        // The form of a client's message, written by hand.
        let mut out = vec![1];
        let mut e = kumi_wire::Encoder::new(&mut out);
        e.fixed(1).fixed(east.link.node().incarnation()).number(session).number(0);
        match body {
            Body::Sync { number, .. } => e.byte(1).number(number).number(0).number(0),
            _ => {
                e.byte(4).number(number.fetch_add(1, Ordering::Relaxed)).flag(false).flag(false).number(0);
                e.number(1).byte(0).bytes(b"big")
            }
        };
        out
    };
    slow.wire.send(1, 1, Lane::Small, message(0, Body::Sync { number: 1, upto: 0, outstanding: Vec::new() })).unwrap();
    slow.flush();
    let session = 2;
    let until = Instant::now() + HANG;
    let mut cut = false;
    while !cut && Instant::now() < until {
        for _ in 0..8 {
            let _ = slow.wire.send(1, 1, Lane::Small, message(session, Body::Receipts));
        }
        slow.flush();
        let began = Instant::now();
        west.put("east", "n", "fast");
        // Who keeps others waiting does so until it counts as silent, after fifteen seconds.
        assert!(began.elapsed() < Duration::from_secs(10));
        cut = east.host.events.lock().unwrap().iter().any(|e| e.starts_with("disconnected slow"));
    }
    let said = east.host.expect("disconnected slow");
    assert!(said.contains("bytes wait for it"), "{said}");
    west.put("east", "n", "still");
}

#[test]
fn an_address_that_lies_gets_nobodys_mail() {
    let _dog = watchdog(300);
    let east = Node1::named("east", &[]);
    let west = Node1::named("west", &[&east]);
    west.members(2);
    east.members(2);
    let mut liar = Stranger::call(&east.address(), "liar");
    liar.wire.send(1, 4, Lane::Control, west.address().into_bytes()).unwrap();
    liar.wire.send(1, 4, Lane::Control, vec![0xFF, 0xFE]).unwrap();
    liar.wire.send(1, 4, Lane::Control, vec![b'x'; 1000]).unwrap();
    liar.flush();
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(east.link.members().len(), 2, "west is still heard");
    west.put("east", "n", "x");
}

#[test]
fn a_name_that_is_taken_is_given_only_when_it_is_free() {
    let _dog = watchdog(300);
    let east = Node1::named("east", &[]);
    // The first lives and answers: the second's requests are not done.
    let west = Node1::named("west", &[&east]);
    west.members(2);
    west.put("east", "n", "1");
    let mut thief = Stranger::of_life(&east.address(), "west", u64::MAX);
    thief.wire.send(1, 1, Lane::Small, vec![1; 50]).unwrap();
    thief.flush();
    std::thread::sleep(Duration::from_millis(1500));
    west.put("east", "n", "2");
    assert_ne!(east.link.peer("west").unwrap().incarnation(), u64::MAX);
    assert_eq!(west.take("east", "n"), "1");
}
