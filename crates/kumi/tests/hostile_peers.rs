//! A node that says whatever it likes, to nodes that are real: it reaches no method that is not for others, what it makes them hold is
//! bounded, and calls of others go on.
//!
//! `KUMI_FRAMES=10000000 cargo test -p kumi --test hostile_peers` says ten million messages that are nearly right.

use std::time::{Duration, Instant};

#[path = "common/nodes.rs"]
mod harness;

use harness::*;

/// What the nodes have. What is not for others sets `$told`.
const OBJECTS: &str = r#"R = Kumihimo::Remote; class Box; include Kumihimo::Remote; attr_accessor :get; def initialize(v) = @get = v; def put(v) = @get = v; def slow(s) = (sleep s; :slow); def add(n) = @get += n; def big(n) = 'x' * n; def deep(n) = (a = []; n.times { a = [a] }; a); def make(n) = Array.new(n) { |i| Box.new(i) }; def ring = (a = []; a << a; a); private def secret = $told = 1; protected def guarded = $told = 1; def method_missing(*) = $told = 1; def respond_to_missing?(*) = true; def self.make = $told = 1; end; module Kernel; def reached = $told = 1; end; class Object; def reached_too = $told = 1; end; 1"#;

/// Bytes of memory that it has.
fn resident(node: &Running) -> usize {
    let text = std::fs::read_to_string(format!("/proc/{}/statm", node.child.id())).unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}
const MB: usize = 1 << 20;

/// One that others reach, with a box, and its address.
fn victim(p: &Puppets) -> (Running, String) {
    let mut east = p.start_by("127.0.0.1:0", "east", "east");
    let address = east.ask("S.address").trim_matches('"').to_string();
    east.is(OBJECTS, "1");
    east.is("R.register('box', $box = Box.new(7)); 1", "1");
    (east, address)
}
/// An honest node that calls it all the time, and says how long the longest call took.
fn caller(address: &str) -> Running {
    let mut c = kumi(&["node", "west", "--listen", "127.0.0.1:0", "--join", address, "--patience", "6"]);
    let mut west = Running::start(c.arg("puppet.rb"));
    assert_eq!(west.line(), "ready", "{}", west.errors());
    west.is("R = Kumihimo::Remote; S.wait_for_nodes(2, timeout: 60).size >= 2", "true");
    west.is("$b = R.find('box', on: 'east', timeout: 60); $kept = $b.make(20); $b.get", "7");
    west.is("$calls = 0; Thread.new { loop { $b.get; $calls += 1 } }; 1", "1");
    west
}
fn goes_on(west: &mut Running) {
    west.is("n = $calls; sleep 0.01 until $calls > n + 20; $kept.map(&:get) == (0...20).to_a", "true");
}

/// A node that says whatever it likes.
struct Mallory {
    link: kumi_link::Link,
    peer: kumi_link::Peer,
    tables: std::sync::Arc<std::sync::Mutex<kumi_remote::Remote>>,
    answers: std::sync::mpsc::Receiver<kumi_wire::Bytes>,
    number: u64,
    /// What it said last.
    last: std::cell::RefCell<Vec<u8>>,
}

struct Hears {
    tables: std::sync::Arc<std::sync::Mutex<kumi_remote::Remote>>,
    to: std::sync::Mutex<std::sync::mpsc::Sender<kumi_wire::Bytes>>,
}

impl kumi_link::Host for Hears {
    fn from_client(&self, _: &kumi_link::Peer, _: kumi_segments::FromClient<kumi_wire::Bytes>) {}
    fn from_owner(&self, _: &kumi_link::Peer, _: kumi_segments::FromOwner<kumi_wire::Bytes>) {}
    fn connected(&self, _: &kumi_link::Peer) {}
    fn disconnected(&self, _: &kumi_link::Peer, _: &kumi_link::Why) {}
    fn other(&self, peer: &kumi_link::Peer, bytes: kumi_wire::Bytes) {
        if &**peer.name() != "east" {
            return;
        }
        match bytes.first() {
            Some(1) => drop(self.tables.lock().unwrap().packet(kumi_link::now(), node_id("east"), &bytes[1..])),
            _ => drop(self.to.lock().unwrap().send(bytes)),
        }
    }
}

/// As crates/core/remote has it.
fn node_id(name: &str) -> kumi_remote::NodeId {
    let h = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    let h = (h ^ h >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    kumi_remote::NodeId(h ^ h >> 29)
}

impl Mallory {
    fn new(join: &str) -> Mallory {
        let me = kumi_remote::Life { node: node_id("mallory"), incarnation: 77 };
        let tables = std::sync::Arc::new(std::sync::Mutex::new(kumi_remote::Remote::new(me, Default::default(), [1, 2])));
        let (to, answers) = std::sync::mpsc::channel();
        let hears = Hears { tables: tables.clone(), to: std::sync::Mutex::new(to) };
        let new = kumi_link::Options::new("mallory");
        let options = kumi_link::Options { incarnation: 77, join: vec![join.to_string()], patience: 6, ..new };
        let link = kumi_link::Link::start(options, std::sync::Arc::new(hears)).unwrap();
        let start = Instant::now();
        let peer = loop {
            if let Some(peer) = link.peer("east").filter(|p| p.is_connected()) {
                break peer;
            }
            link.peer("east").inspect(|p| link.connect(p));
            assert!(start.elapsed() < HANG);
            std::thread::sleep(Duration::from_millis(5));
        };
        let life = kumi_remote::Life { node: node_id("east"), incarnation: peer.incarnation() };
        tables.lock().unwrap().up(kumi_link::now(), life).unwrap();
        Mallory { link, peer, tables, answers, number: 0, last: Default::default() }
    }
    fn say(&self, bytes: Vec<u8>) {
        self.last.replace(bytes.clone());
        let _ = self.link.send(&self.peer, kumi_wire::Bytes::from(bytes));
    }
    /// The same, when there is room for it, on a connection.
    fn insist(&self, bytes: Vec<u8>) {
        self.last.replace(bytes.clone());
        let bytes = kumi_wire::Bytes::from(bytes);
        let start = Instant::now();
        while self.link.send(&self.peer, bytes.clone()).is_err() {
            self.link.connect(&self.peer);
            assert!(start.elapsed() < HANG, "there is no connection");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    /// Whatever has been answered is not heard.
    fn ignore(&self) {
        while self.answers.try_recv().is_ok() {}
    }
    /// The box that the victim has.
    fn found(&mut self) -> kumi_remote::Ref {
        let call = self.call(None, "find", 0, &[0x91, 0xA3, b'b', b'o', b'x']);
        self.say(call);
        let (how, rest) = self.answer();
        assert_eq!(how, 0);
        let mut from = kumi_wire::Decoder::new(&rest);
        assert_eq!(from.number(), Ok(1));
        let parcel = kumi_remote::Parcel::read(&mut from).unwrap();
        let r = kumi_remote::Ref::read(&mut from).unwrap();
        self.tables.lock().unwrap().arrive(kumi_link::now(), node_id("east"), parcel, &[r]).unwrap();
        r
    }
    /// Lets its tables say what they have to.
    fn tick(&self) {
        let mut t = self.tables.lock().unwrap();
        t.tick(kumi_link::now());
        let mut said = Vec::new();
        while let Some(action) = t.poll() {
            if let kumi_remote::Action::Send { bytes, .. } = action {
                said.push([&[1u8][..], &bytes].concat());
            }
        }
        drop(t);
        for s in said {
            let _ = self.link.send(&self.peer, kumi_wire::Bytes::from(s));
        }
    }
    /// The bytes of a call of a reference, or of the node itself.
    fn call(&mut self, r: Option<&kumi_remote::Ref>, name: &str, flags: u8, value: &[u8]) -> Vec<u8> {
        self.number += 1;
        let mut bytes = Vec::new();
        let mut out = kumi_wire::Encoder::new(&mut bytes);
        out.byte(2).number(self.number).number(0).byte(flags);
        match r {
            Some(r) => {
                out.byte(0);
                r.write(&mut out);
            }
            None => drop(out.byte(1)),
        }
        out.bytes(name.as_bytes()).number(0).rest(value);
        bytes
    }
    /// How a call ends, and the rest of the answer.
    fn answer(&self) -> (u8, Vec<u8>) {
        let mut said = Instant::now();
        let start = Instant::now();
        loop {
            self.tick();
            if let Ok(bytes) = self.answers.recv_timeout(Duration::from_millis(20))
                && bytes[0] == 3
            {
                let mut from = kumi_wire::Decoder::new(&bytes[1..]);
                let number = from.number().unwrap();
                if number == self.number {
                    return (from.byte().unwrap(), from.rest().to_vec());
                }
            }
            // Of two connections that are made at a time one is kept: what was said on the other one is said again.
            if said.elapsed() > Duration::from_secs(2) {
                said = Instant::now();
                let last = self.last.borrow().clone();
                self.insist(last);
            }
            assert!(start.elapsed() < HANG, "no answer to {}", self.number);
        }
    }
}

const REFUSED: u8 = 2;
const NO_OBJECT: u8 = 3;
const NO_METHOD: u8 = 4;

#[test]
fn a_hostile_node_reaches_nothing_and_harms_nobody() {
    let p = Puppets::patient();
    let (mut east, address) = victim(&p);
    let mut m = Mallory::new(&address);
    // References that were never made.
    let life = kumi_remote::Life { node: node_id("east"), incarnation: m.peer.incarnation() };
    for slot in 0..40 {
        let forged = kumi_remote::Ref { life, slot, generation: slot % 3, seal: u64::from(slot).wrapping_mul(0x9e37_79b9_7f4a_7c15) };
        let call = m.call(Some(&forged), "put", 0, &[0x91, 1]);
        m.say(call);
        assert_eq!(m.answer().0, NO_OBJECT);
    }
    // One that was: what is there is found by its name, as any node may.
    let r = m.found();
    let call = m.call(Some(&r), "get", 0, &[0x90]);
    m.say(call);
    assert_eq!(m.answer(), (0, vec![0, 7]));
    for name in [
        "secret",
        "guarded",
        "reached",
        "reached_too",
        "method_missing",
        "send",
        "__send__",
        "public_send",
        "instance_eval",
        "instance_exec",
        "eval",
        "system",
        "exit!",
        "class",
        "method",
        "define_singleton_method",
        "initialize",
        "instance_variable_set",
        "nothing",
        "",
        "put\0",
        "tap",
    ] {
        let call = m.call(Some(&r), name, 0, &[0x91, 0xA1, b'x']);
        m.say(call);
        assert_eq!(m.answer().0, NO_METHOD, "{name}");
    }
    // Another object by a reference that differs in a bit.
    for bit in 0..64 {
        let forged = kumi_remote::Ref { seal: r.seal ^ 1 << bit, ..r };
        let call = m.call(Some(&forged), "put", 0, &[0x91, 1]);
        m.say(call);
        assert_eq!(m.answer().0, NO_OBJECT);
    }
    // Arguments that are none: nothing, no Array, keywords that are no Hash, what ends too soon, a reference that is not carried, depth.
    let deep = vec![0x91; 3 << 20];
    for (flags, value) in
        [(0, &[][..]), (0, &[1]), (1, &[0x91, 1]), (0, &[0x92, 1]), (0, &[0x91, 0xD6, 6, 0, 0, 0, 9]), (0, &[0xC1]), (0, &deep)]
    {
        let call = m.call(Some(&r), "put", flags, value);
        m.say(call);
        assert_eq!(m.answer().0, REFUSED, "{:?}", &value[..value.len().min(8)]);
    }
    // Blocks of calls that nobody made, answers that nobody asked for, and whatever comes of changing a byte.
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = move |n: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) % n
    };
    let frames = std::env::var("KUMI_FRAMES").map_or(20_000, |n| n.parse().unwrap());
    let before = resident(&east);
    let names = ["get", "add", "nothing", "secret", "method_missing", "reached"];
    for i in 0..frames {
        let mut bytes = m.call(Some(&r), names[next(6) as usize], next(16) as u8, &[0x91, 1]);
        for _ in 0..next(4) {
            let at = next(bytes.len() as u64) as usize;
            bytes[at] = next(256) as u8;
        }
        if next(4) == 0 {
            bytes[0] = next(9) as u8;
        }
        if next(2) == 0 {
            bytes.truncate(1 + next(bytes.len() as u64 * 2) as usize);
        }
        m.insist(bytes);
        if i % 1000 == 0 {
            m.tick();
            m.ignore();
        }
    }
    m.number += 1 << 60;
    let call = m.call(Some(&r), "get", 0, &[0x90]);
    m.say(call);
    assert_eq!(m.answer().0, 0);
    east.is("[$told, $box.slow(0)]", "[nil, :slow]");
    eprintln!("{frames} messages; {} MB grew to {}", before / MB, resident(&east) / MB);
    assert!(resident(&east) < before + 300 * MB);
    assert_eq!(east.errors(), "");
    m.link.stop();
}

/// What a call carries as references: so many of objects of Mallory's that there are not.
fn of_its_own(m: &mut Mallory, r: &kumi_remote::Ref, n: u64) -> Vec<u8> {
    m.number += 1;
    let mut bytes = Vec::new();
    let mut out = kumi_wire::Encoder::new(&mut bytes);
    out.byte(2).number(m.number).number(0).byte(0).byte(0);
    r.write(&mut out);
    out.bytes(b"get");
    let items: Vec<kumi_remote::Item> = (0..n).map(|i| kumi_remote::Item::Own(m.number << 32 | i)).collect();
    let sent = m.tables.lock().unwrap().send(kumi_link::now(), node_id("east"), &items);
    let (parcel, refs) = sent.unwrap();
    out.number(n);
    parcel.write(&mut out);
    refs.iter().for_each(|r| r.write(&mut out));
    out.byte(0x90);
    bytes
}

#[test]
fn floods_are_bounded_and_calls_of_others_go_on() {
    let p = Puppets::patient();
    let (mut east, address) = victim(&p);
    let mut west = caller(&address);
    let mut m = Mallory::new(&address);
    let r = m.found();
    let before = resident(&east);
    // References in arguments.
    for _ in 0..20 {
        let call = of_its_own(&mut m, &r, 10_000);
        m.insist(call);
        let (how, rest) = m.answer();
        assert_eq!(how, 0, "{}", String::from_utf8_lossy(&rest));
    }
    goes_on(&mut west);
    // A long answer that is asked for again and again: each message may ask for it a thousand times.
    let call = m.call(Some(&r), "big", 0, &[0x91, 0xCE, 0, 0x30, 0, 0]);
    m.insist(call);
    let start = Instant::now();
    while m.answers.recv_timeout(HANG).unwrap().len() < 3 << 20 {
        assert!(start.elapsed() < HANG);
    }
    let mut bytes = Vec::new();
    let mut out = kumi_wire::Encoder::new(&mut bytes);
    out.byte(5).number(1024);
    for _ in 0..1024 {
        out.number(m.number);
    }
    (0..3).for_each(|_| m.insist(bytes.clone()));
    goes_on(&mut west);
    // A hundred thousand calls that take long, and more than there may be.
    for _ in 0..140_000 {
        let call = m.call(Some(&r), "slow", 0, &[0x91, 0xCD, 0x02, 0x58]);
        m.insist(call);
    }
    goes_on(&mut west);
    let grown = resident(&east).saturating_sub(before) / MB;
    eprintln!("{} MB grew by {grown}", before / MB);
    assert!(grown < 900, "{grown} MB");
    // It goes, and with it all that it made: a hundred thousand are interrupted.
    m.link.stop();
    let start = Instant::now();
    while east.ask("Thread.list.size < 100") != "true" {
        assert!(start.elapsed() < 4 * HANG, "{}", east.errors());
        std::thread::sleep(Duration::from_millis(20));
    }
    goes_on(&mut west);
    assert_eq!(east.errors(), "");
}

#[test]
fn arguments_and_results_that_are_deep_round_or_large() {
    let p = Puppets::patient();
    let (mut east, address) = victim(&p);
    let mut west = caller(&address);
    // Whatever comes of them, it is said to the caller.
    let refused = "Kumihimo::Segments::NotTransferable";
    west.is("a = []; 100_000.times { a = [a] }; $b.put(a); 1", "1");
    west.is("n = 0; a = $b.get; (a = a[0]; n += 1) while a; n", "100001");
    west.is("a = []; a << a; ($b.put(a); 1) rescue $!.class", refused);
    west.is("$b.put(7)", "7");
    west.is("($b.ring; 1) rescue $!.class", refused);
    west.is("n = 0; a = $b.deep(100_000); (a = a[0]; n += 1) while a; n", "100001");
    west.is("($b.big(70 << 20); 1) rescue $!.class", refused);
    west.is("($b.put('x' * (70 << 20)); 1) rescue $!.class", refused);
    west.is("$b.big(5 << 20).size", "5242880");
    goes_on(&mut west);
    east.is("[$told, ObjectSpace.exports.size]", "[nil, 21]");
    assert_eq!((east.errors(), west.errors()), (String::new(), String::new()));
}
