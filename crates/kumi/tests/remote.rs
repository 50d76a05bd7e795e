//! Objects of one node used from others: programs over several nodes, and what faults do.
//!
//! A bound only tells an answer from a hang. What a test starts is killed when the test ends, however it does.

use std::path::{Path, PathBuf};

#[path = "common/nodes.rs"]
mod harness;
#[path = "common/relay.rs"]
mod relay;

use harness::*;
use relay::{Relay, free_port};

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/remote")
}

#[test]
fn programs_over_nodes_print_what_stands_beside_them() {
    let mut all: Vec<PathBuf> = std::fs::read_dir(programs()).unwrap().map(|e| e.unwrap().path()).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "rb"));
    all.sort();
    assert!(!all.is_empty());
    for program in all {
        let text = std::fs::read_to_string(&program).unwrap();
        let Some(nodes) = text.lines().next().and_then(|l| l.strip_prefix("# nodes: ")) else { continue };
        let name = program.file_name().unwrap().to_str().unwrap();
        let mut command = kumi(&["run", "--nodes", nodes, name]);
        // On a machine that others use, a node may be heard late.
        command.env("KUMI_SEGMENT_LEASE", "60");
        let (out, err, status) = Running::start(command.current_dir(programs())).end();
        let want = std::fs::read_to_string(program.with_extension("out")).unwrap_or_default();
        let out: String = out.iter().map(|l| l.strip_prefix("node1 | ").unwrap_or(l).to_string() + "\n").collect();
        assert_eq!(out, want, "{name}; standard error: {err}");
        assert_eq!((err.as_str(), status), ("", Some(0)), "{name}");
    }
}

/// The programs of the guide as one for both nodes, whose `# => value` are checked.
fn guide() -> Option<String> {
    let text = std::fs::read_to_string(programs().join("../../docs/REMOTE.md")).ok()?;
    let mut program = String::new();
    let mut checks = 0;
    for line in text.split("```ruby\n").skip(1).filter_map(|b| b.split("```").next()).flat_map(str::lines) {
        match line.split_once(" # => ") {
            Some((code, want)) => {
                checks += 1;
                program.push_str(&format!("found = ({code}).inspect; puts %q({line} is not) + \" #{{found}}\" if found != {want:?}\n"));
            }
            None => program.push_str(&format!("{line}\n")),
        }
    }
    assert!(checks > 8);
    Some(program + "Kumihimo::Cluster.barrier\n")
}

#[test]
fn the_guide_is_right() {
    if let Some(program) = guide() {
        let (out, err, status) = Running::start(&mut kumi(&["run", "--nodes", "2", "-e", &program])).end();
        assert_eq!((out, err.as_str(), status), (vec![], "", Some(0)));
    }
}

// Faults.

/// What each puppet knows.
const OBJECTS: &str = r#"R = Kumihimo::Remote; class Box; include Kumihimo::Remote; remote_idempotent :get; attr_accessor :get; def initialize(v = nil) = @get = v; def put(v) = @get = v; def slow(s) = (sleep s; @done = true; :slow); def done = @done; LOCK = Mutex.new; def add(n) = LOCK.synchronize { @n = (@n || 0) + n }; def make(v) = Box.new(v); def wait = (sleep 100 rescue (@got = $!.class; raise)); def ensured = begin; sleep 100; ensure; @done = true; end; end; 1"#;

fn boxes<const N: usize>(p: &Puppets, names: [&str; N]) -> [Running; N] {
    let mut all = p.of(names);
    for node in &mut all {
        node.is(OBJECTS, "1");
        node.is("$box = Box.new(7); R.register('box', $box); 1", "1");
    }
    all
}

#[test]
fn what_others_hold_stays_and_what_they_drop_goes() {
    let p = Puppets::new();
    let [mut east, mut west] = boxes(&p, ["east", "west"]);
    west.is("$b = R.find('box', on: 'east'); $made = Array.new(50) { |i| $b.make(i) }; $made.size", "50");
    // Nothing there refers to them but the table.
    east.is("3.times { GC.start; Array.new(100_000) { |i| [i] } }; ObjectSpace.exports.size", "51");
    west.is("$made.map(&:get) == (0...50).to_a", "true");
    // Nobody says so, and nobody calls GC.start.
    west.is("$made = nil; 1", "1");
    let start = std::time::Instant::now();
    while east.ask("ObjectSpace.exports.size") != "1" {
        // A machine that others use may stop the world for long, and then does so less often.
        if start.elapsed() > HANG / 3 {
            west.is("GC.start", "nil");
        }
        assert!(start.elapsed() < HANG, "{}", east.ask("ObjectSpace.exports.size"));
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    east.is("ObjectSpace.exports.values", "[[\"west\"]]");
    west.is("$b.get", "7");
}

#[test]
fn what_hangs_on_an_object_that_is_dropped_goes_where_nothing_runs() {
    let p = Puppets::new();
    let [mut east, mut west, mut south] = boxes(&p, ["east", "west", "south"]);
    west.is("$box.put(Box.new(R.find('box', on: 'south').make(5))); 1", "1");
    east.is("$b = R.find('box', on: 'west'); $middle = $b.get; $b.put(nil); $middle.get.get", "5");
    // All that could be found there is found before, and west is asked nothing from here on.
    west.is("GC.start; 1", "1");
    std::thread::sleep(std::time::Duration::from_millis(1500));
    east.is("$middle = nil; GC.start; 1", "1");
    south.becomes("ObjectSpace.exports.keys.count { |o| !o.equal?($box) }", "0");
}

#[test]
fn what_a_node_held_goes_with_it() {
    let p = Puppets::new();
    let [mut east, west, mut south] = boxes(&p, ["east", "west", "south"]);
    let mut west = west;
    west.is("$b = R.find('box', on: 'east').make(1); $b.get", "1");
    // Handed on and kept there, though the first one drops it.
    south.is("$keep = R.find('box', on: 'west'); $keep.node", "\"west\"");
    west.is("$box.put($b); 1", "1");
    south.is("$third = $keep.get; $third.node", "\"east\"");
    west.is("$b = nil; $box.put(nil); GC.start; 1", "1");
    south.is("GC.start; $third.get", "1");
    west.signal(9);
    west.status();
    south.is("$third.put(2); $third.get", "2");
    south.fails("$keep.get", "Kumihimo::NodeLostError");
    south.is("$third = nil; GC.start; 1", "1");
    east.becomes("ObjectSpace.exports.size", "0");
}

#[test]
fn calls_of_a_node_that_is_killed_end_and_a_later_life_is_another() {
    let p = Puppets::new();
    let [mut east, mut west] = boxes(&p, ["east", "west"]);
    east.is("$b = R.find('box', on: 'west'); $b.get", "7");
    east.is("$waits = Thread.new { $b.slow(100) rescue [$!.class, $!.outcome] }; sleep 0.3; 1", "1");
    west.signal(9);
    west.status();
    east.is("$waits.value", "[Kumihimo::NodeLostError, :perhaps_done]");
    east.is("begin; $b.get; rescue Kumihimo::NodeLostError; $!.outcome; end", ":not_sent");
    let mut west = p.start("west", "east");
    west.is(OBJECTS, "1");
    west.is("S.wait_for_nodes(2).size", "2");
    west.is("R.register('box', Box.new(8)); 1", "1");
    east.is("$c = R.find('box', on: 'west', timeout: 20); $c.get", "8");
    east.is("begin; $b.get; rescue Kumihimo::NodeLostError; $!.outcome; end", ":not_sent");
    east.is("$b == $c", "false");
}

#[test]
fn a_node_that_stood_still_within_its_lease_has_lost_nothing() {
    let p = Puppets::new();
    let [mut east, mut west] = boxes(&p, ["east", "west"]);
    east.is("$b = R.find('box', on: 'west').make(3); 1", "1");
    west.is("GC.start; 1", "1");
    west.signal(19);
    std::thread::sleep(std::time::Duration::from_millis(1500));
    west.signal(18);
    east.becomes("($b.get rescue $!.class)", "3");
    west.is("GC.start; ObjectSpace.exports.size > 0", "true");
    east.is("$b.add(1)", "1");
}

#[test]
fn what_is_called_off_is_interrupted() {
    let p = Puppets::new();
    let [mut east, mut west] = boxes(&p, ["east", "west"]);
    east.is("$b = R.find('box', on: 'west'); $b.get", "7");
    east.is("(R.within(0.2) { $b.ensured } rescue $!.class)", "Kumihimo::Remote::TimeoutError");
    west.becomes("$box.done", "true");
    west.is("$box.instance_variable_set(:@done, nil)", "nil");
    east.is("t = Thread.new { $b.ensured }; sleep 0.3; t.kill.join; 1", "1");
    west.becomes("$box.done", "true");
    west.is("$box.instance_variable_set(:@done, nil)", "nil");
    east.is("f = $b.async.ensured; sleep 0.3; f.cancel; 1", "1");
    west.becomes("$box.done", "true");
    // The threads that did it do the next call.
    east.is("(1..50).map { |i| $b.async.add(1) }.map(&:value).max", "50");
}

/// A cycle of links, one on each of the nodes, that the last of them holds in `$ring`.
const LINKS: &str = r#"class Link; include Kumihimo::Remote; attr_accessor :to; def make = Link.new; def far(n) = n.zero? ? 0 : 1 + to.far(n - 1); end; $held = -> { ObjectSpace.each_object(Link).count }; R.register('links', Link.new); 1"#;

fn links(nodes: &mut [Running], names: &[&str]) {
    for node in nodes.iter_mut() {
        node.is(OBJECTS, "1");
        node.is(LINKS, "1");
    }
    let all = names.iter().map(|n| format!("R.find('links', on: '{n}')")).collect::<Vec<_>>().join(", ");
    let last = nodes.last_mut().unwrap();
    last.is(
        &format!(
            "$ring = [{all}].map {{ |l| l.make }}; $ring.each_index {{ |i| $ring[i - 1].to = $ring[i] }}; $ring = $ring[0]; $ring.far(7)"
        ),
        "7",
    );
}

#[test]
fn a_cycle_that_a_lost_node_took_part_in_goes() {
    let p = Puppets::new();
    let mut all = p.of(["east", "west", "south"]);
    links(&mut all, &["east", "west"]);
    all[2].is("$both = $ring; 1", "1");
    links(&mut all, &["east", "west", "south"]);
    let [mut east, mut west, mut south] = all;
    for node in [&mut east, &mut west] {
        node.becomes("$held.()", "3");
    }
    // Its references were the last ones from outside, and a round that goes on loses a member.
    south.is("$both = nil; $ring = nil; 1", "1");
    south.signal(9);
    south.status();
    for node in [&mut east, &mut west] {
        node.becomes("$held.()", "1");
        node.becomes("GC.stat(:cluster)[:exports]", "0");
    }
}

#[test]
fn rounds_are_seen_in_the_log() {
    let p = Puppets::new();
    let log = |name: &str| p.0.at(&format!("{name}.log"));
    let mut all = p.of_changed(["east", "west"], |name, c| {
        c.env("KUMI_GC_LOG", log(name));
    });
    links(&mut all, &["east", "west"]);
    all[1].is("$ring = nil; 1", "1");
    for (node, name) in all.iter_mut().zip(["east", "west"]) {
        node.becomes("$held.()", "1");
        let start = std::time::Instant::now();
        let line = loop {
            let text = std::fs::read_to_string(log(name)).unwrap_or_default();
            if let Some(line) = text.lines().find(|l| l.contains("s cluster #") && l.contains(" dropped=1 ")) {
                break line.to_string();
            }
            assert!(start.elapsed() < HANG, "{text}");
            std::thread::sleep(std::time::Duration::from_millis(50));
        };
        let names: Vec<&str> = line.split(' ').filter_map(|w| w.split_once('=')).map(|(k, _)| k).collect();
        assert_eq!(names, ["cause", "leader", "nodes", "dropped", "collections", "marks", "packets", "bytes", "time"], "{line}");
        assert!(line.contains(" nodes=2 "), "{line}");
    }
    all[0].is("GC.stat(:cluster).values_at(:rounds_ended, :round_collections).all? { |n| n > 0 }", "true");
}

#[test]
fn cycles_go_and_what_lives_stays_while_the_collector_is_stressed() {
    let p = Puppets::new();
    let mut all = p.of_changed(["east", "west"], |_, c| {
        c.env("KUMI_GC_STRESS", "97");
    });
    links(&mut all, &["east", "west"]);
    all[1].is("$kept = $ring; 1", "1");
    links(&mut all, &["west", "east"]);
    all[1].is("$ring = nil; 1", "1");
    for node in &mut all {
        node.becomes("$held.()", "2");
    }
    all[1].is("$kept.far(9)", "9");
}

#[test]
fn connections_that_break_lose_no_call_and_repeat_none() {
    // On a machine that has no time for it a node is believed to have gone: then nothing was seen, and it is tried again.
    assert!((0..3).any(|_| calls_over_connections_that_break()), "the other node was given up each time");
}
fn calls_over_connections_that_break() -> bool {
    let ports = [free_port(), free_port()];
    let relays = ports.map(Relay::to);
    let start = |name: &str, i: usize, join: Option<u16>| {
        let mut c =
            kumi(&["node", name, "--listen", &format!("127.0.0.1:{}", ports[i]), "--public", &format!("127.0.0.1:{}", relays[i].port)]);
        if let Some(port) = join {
            c.args(["--join", &format!("127.0.0.1:{port}")]);
        }
        let mut node = Running::start(c.arg("puppet.rb"));
        assert_eq!(node.line(), "ready", "{}", node.errors());
        node.is(OBJECTS, "1");
        node
    };
    let mut east = start("east", 0, None);
    let mut west = start("west", 1, Some(relays[0].port));
    for node in [&mut east, &mut west] {
        node.is("S.wait_for_nodes(2).size", "2");
        node.is("R.register('box', $box = Box.new(0)); 1", "1");
    }
    east.is("$b = R.find('box', on: 'west'); $b.get", "0");
    // Each call adds one, and is given what has come of it: each number once.
    east.is("$sums = Thread.new { Array.new(8) { Thread.new { Array.new(400) { $b.add(1) } } }.flat_map(&:value) }; 1", "1");
    east.is("$refs = Thread.new { Array.new(200) { |i| $b.make(i).get } }; 1", "1");
    for _ in 0..12 {
        std::thread::sleep(std::time::Duration::from_millis(120));
        relays.iter().for_each(Relay::cut);
    }
    let sums = east.ask("$sums.value.sort == (1..3200).to_a || $sums.value.tally.select { |_, n| n > 1 }");
    if sums.starts_with("Kumihimo::NodeLostError") {
        return false;
    }
    assert_eq!(sums, "true", "{}", east.errors());
    east.is("$refs.value == (0...200).to_a", "true");
    east.is("$refs = nil; GC.start; 1", "1");
    west.becomes("ObjectSpace.exports.size", "1");
    true
}

// Hostile peers.

/// A node that says whatever it likes.
struct Mallory {
    link: kumi_link::Link,
    peer: kumi_link::Peer,
    tables: std::sync::Arc<std::sync::Mutex<kumi_remote::Remote>>,
    answers: std::sync::mpsc::Receiver<kumi_wire::Bytes>,
    number: u64,
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
    fn other(&self, _: &kumi_link::Peer, bytes: kumi_wire::Bytes) {
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
        let options = kumi_link::Options { incarnation: 77, join: vec![join.to_string()], ..kumi_link::Options::new("mallory") };
        let link = kumi_link::Link::start(options, std::sync::Arc::new(hears)).unwrap();
        let start = std::time::Instant::now();
        let peer = loop {
            if let Some(peer) = link.peer("east").filter(|p| p.is_connected()) {
                break peer;
            }
            link.peer("east").inspect(|p| link.connect(p));
            assert!(start.elapsed() < HANG);
            std::thread::sleep(std::time::Duration::from_millis(5));
        };
        let life = kumi_remote::Life { node: node_id("east"), incarnation: peer.incarnation() };
        tables.lock().unwrap().up(kumi_link::now(), life).unwrap();
        Mallory { link, peer, tables, answers, number: 0 }
    }
    fn say(&self, bytes: Vec<u8>) {
        let _ = self.link.send(&self.peer, kumi_wire::Bytes::from(bytes));
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
        said.into_iter().for_each(|s| self.say(s));
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
        let start = std::time::Instant::now();
        loop {
            self.tick();
            if let Ok(bytes) = self.answers.recv_timeout(std::time::Duration::from_millis(20))
                && bytes[0] == 3
            {
                let mut from = kumi_wire::Decoder::new(&bytes[1..]);
                let number = from.number().unwrap();
                if number == self.number {
                    return (from.byte().unwrap(), from.rest().to_vec());
                }
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
    let p = Puppets::new();
    let mut east = p.start_by("127.0.0.1:0", "east", "east");
    let address = east.ask("S.address").trim_matches('"').to_string();
    east.is(OBJECTS, "1");
    east.is("class Box; private def secret = $told = 1; protected def guarded = $told = 1; def method_missing(*) = $told = 1; def self.make = $told = 1; end; 1", "1");
    east.is("R.register('box', $box = Box.new(7)); 1", "1");
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
    let call = m.call(None, "find", 0, &[0x91, 0xA3, b'b', b'o', b'x']);
    m.say(call);
    let (how, rest) = m.answer();
    assert_eq!(how, 0);
    let mut from = kumi_wire::Decoder::new(&rest);
    assert_eq!(from.number(), Ok(1));
    let parcel = kumi_remote::Parcel::read(&mut from).unwrap();
    let r = kumi_remote::Ref::read(&mut from).unwrap();
    m.tables.lock().unwrap().arrive(kumi_link::now(), node_id("east"), parcel, &[r]).unwrap();
    let call = m.call(Some(&r), "get", 0, &[0x90]);
    m.say(call);
    assert_eq!(m.answer(), (0, vec![0, 7]));
    for name in [
        "secret",
        "guarded",
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
    for _ in 0..20_000 {
        let mut bytes = m.call(Some(&r), ["get", "add", "nothing"][next(3) as usize], next(16) as u8, &[0x91, 1]);
        for _ in 0..1 + next(3) {
            let at = next(bytes.len() as u64) as usize;
            bytes[at] = next(256) as u8;
        }
        if next(4) == 0 {
            bytes[0] = next(9) as u8;
        }
        bytes.truncate(1 + next(bytes.len() as u64 * 2) as usize);
        m.say(bytes);
    }
    m.number += 1 << 60;
    let call = m.call(Some(&r), "get", 0, &[0x90]);
    m.say(call);
    assert_eq!(m.answer().0, 0);
    east.is("[$told, $box.slow(0)]", "[nil, :slow]");
    assert_eq!(east.errors(), "");
    m.link.stop();
}
