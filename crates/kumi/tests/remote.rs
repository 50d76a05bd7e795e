//! Objects of one node used from others: programs over several nodes, and what faults do.
//!
//! A bound only tells an answer from a hang. What a test starts is killed when the test ends, however it does.

use std::path::{Path, PathBuf};

#[path = "common/nodes.rs"]
mod harness;
#[path = "common/relay.rs"]
mod relay;

use harness::*;
use relay::{cut_often, relayed};

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
        // On a machine that others use, a node may be heard late. Rounds are as far apart as nodes are patient.
        let patience = if ["cycles.rb", "moving_graph.rb"].contains(&name) { "1" } else { "6" };
        let mut command = kumi(&["run", "--nodes", nodes, "--patience", patience, name]);
        command.env("KUMI_SEGMENT_LEASE", "60");
        let (out, err, status) = Running::start(command.current_dir(programs())).end();
        let want = std::fs::read_to_string(program.with_extension("out")).unwrap_or_default();
        // Names are made as long as the longest.
        let text = |l: &String| l.strip_prefix("node1").and_then(|l| l.trim_start().strip_prefix("| ")).unwrap_or(l).to_string() + "\n";
        // One that waits for long says so now and then: it does not hang.
        let out: String = out.iter().map(text).filter(|l| l != "waits\n").collect();
        assert_eq!(out, want, "{name}; standard error: {err}");
        assert_eq!((err.as_str(), status), ("", Some(0)), "{name}");
    }
}

/// The guide's programs, with their `# => value` as checks.
fn guide() -> Option<Vec<String>> {
    let text = std::fs::read_to_string(programs().join("../../docs/REMOTE.md")).ok()?;
    let blocks = text.split("```ruby\n").skip(1).filter_map(|b| b.split("```").next());
    let check = |line: &str| match line.split_once(" # => ") {
        Some((code, want)) => {
            format!("found = ({code}).inspect; puts %q({line} is not) + \" #{{found}}\" if found != {want:?}; $checks = $checks.to_i + 1\n")
        }
        None => format!("{line}\n"),
    };
    Some(blocks.map(|b| b.lines().map(check).collect()).collect())
}

/// As its reader runs them: each in one file behind those before it, and nothing else in it but the count of what was checked.
#[test]
fn the_guide_is_right() {
    let Some(guide) = guide() else { return };
    assert!(guide.len() > 4);
    let folder = Folder::new();
    let mut checked = 0;
    let run = |program: &str, least: usize| {
        std::fs::write(folder.0.join("bank.rb"), format!("END {{ puts $checks.to_i if Kumihimo::Segments.node == 'node1' }}\n{program}"))
            .unwrap();
        let mut command = kumi(&["run", "--nodes", "2", "--patience", "6", "bank.rb"]);
        let (out, err, status) = Running::start(command.current_dir(&folder.0)).end();
        assert_eq!((out.len(), err.as_str(), status), (1, "", Some(0)), "{out:?}\n{program}");
        let checks = out[0].trim_start_matches("node1 | ").parse::<usize>().unwrap_or_else(|_| panic!("{out:?}"));
        assert!(checks >= least, "{checks} checks of {program}");
        checks
    };
    for n in 1..=guide.len() {
        checked = run(&guide[..n].concat(), checked);
    }
    assert!(checked > 15, "{checked}");
    // Moving needs none of what stands above it.
    let moving = guide.iter().find(|p| p.contains("move_to")).unwrap();
    run(moving, 4);
}

/// More nodes than one keeps account of come and go: each can hand over references.
#[test]
fn nodes_that_come_and_go_are_forgotten() {
    let folder = Folder::new();
    let write = |name: &str, text: &str| std::fs::write(folder.0.join(name), text).unwrap();
    write(
        "hub.rb",
        "require 'kumihimo/remote'
        class Hub; include Kumihimo::Remote; def meet(x) = [x.hello, yield(1)]; end
        Kumihimo::Remote.register('hub', Hub.new)
        puts 'ready'
        $stdout.flush
        Kumihimo::Segments.local.take('end')",
    );
    write(
        "member.rb",
        "require 'kumihimo/remote'
        class Member; include Kumihimo::Remote; def hello = 1; end
        hub = Kumihimo::Remote.find('hub', on: 'hub')
        abort 'something else' if Kumihimo::Remote.within(60) { hub.meet(Member.new) { |x| x + 1 } } != [1, 2]",
    );
    let address = format!("127.0.0.1:{}", free_port());
    let mut hub = Running::start(kumi(&["node", "hub", "--listen", &address, "hub.rb"]).current_dir(&folder.0));
    assert_eq!(hub.line(), "ready");
    std::thread::scope(|s| {
        for half in 0..2 {
            let (folder, address) = (&folder, &address);
            s.spawn(move || {
                for n in 0..515 {
                    let name = format!("member{half}-{n}");
                    let mut member = kumi(&["node", &name, "--listen", "127.0.0.1:0", "--join", address, "member.rb"]);
                    let (_, err, status) = Running::start(member.current_dir(&folder.0)).end();
                    assert_eq!((err.as_str(), status), ("", Some(0)), "{name}");
                }
            });
        }
    });
}

// Faults.

/// What each puppet knows.
const OBJECTS: &str = r#"R = Kumihimo::Remote; class Box; include Kumihimo::Remote; remote_idempotent :get; attr_accessor :get; def initialize(v = nil) = @get = v; def put(v) = @get = v; def slow(s) = (@begun = true; sleep s; @done = true; :slow); def done = @done; def holds(v, s) = (sleep s; 1); LOCK = Mutex.new; def add(n) = LOCK.synchronize { @n = (@n || 0) + n }; def make(v) = Box.new(v); def wait = (sleep 100 rescue (@got = $!.class; raise)); def ensured = begin; @begun = true; sleep 100; ensure; @done = true; end; end; 1"#;

/// Has a call of a box begun that says so?
const BEGUN: &str = "$box.instance_variable_get(:@begun)";

fn boxes<const N: usize>(p: &Puppets, names: [&str; N]) -> [Running; N] {
    with_boxes(p.of(names))
}
fn with_boxes<const N: usize>(mut all: [Running; N]) -> [Running; N] {
    for node in &mut all {
        node.is(OBJECTS, "1");
        node.is("$box = Box.new(7); R.register('box', $box); 1", "1");
    }
    all
}

#[test]
fn what_others_hold_stays_and_what_they_drop_goes() {
    let p = Puppets::patient();
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
    // Nodes collect by themselves as much less often as they are patient.
    let [mut east, mut west, mut south] = with_boxes(p.of_changed(["east", "west", "south"], |_, c| {
        c.args(["--patience", "3"]);
    }));
    west.is("$box.put(Box.new(R.find('box', on: 'south').make(5))); 1", "1");
    east.is("$b = R.find('box', on: 'west'); $middle = $b.get; $b.put(nil); $middle.get.get", "5");
    // All that could be found there is found before, and west is asked nothing from here on.
    west.is("GC.start; 1", "1");
    std::thread::sleep(std::time::Duration::from_millis(3 * 1500));
    east.is("$middle = nil; GC.start; 1", "1");
    south.becomes("ObjectSpace.exports.keys.count { |o| !o.equal?($box) }", "0");
}

#[test]
fn what_is_handed_on_is_good_where_its_node_was_not_met() {
    let p = Puppets::patient();
    let [mut east, mut west, mut south] = boxes(&p, ["east", "west", "south"]);
    // Neither has called the other.
    east.is("$box.put(R.find('box', on: 'west')); 1", "1");
    south.is("$t = R.find('box', on: 'east').get; [$t.node, $t.get]", "[\"west\", 7]");
    east.is("$box.put(nil); 1", "1");
    west.becomes("GC.start; ObjectSpace.exports.values", "[[\"south\"]]");
    south.is("$t.get", "7");
}

#[test]
fn threads_that_wait_for_calls_hold_nothing_of_the_last_one() {
    let p = Puppets::patient();
    let [mut east, mut west] = boxes(&p, ["east", "west"]);
    west.is("$b = R.find('box', on: 'east'); $calls = (1..12).map { |i| $b.async.holds(Box.new(i), 0.2) }; Kumihimo.all($calls).sum", "12");
    west.is("$calls = nil; 1", "1");
    east.is("3.times { GC.start }", "3");
    west.becomes("ObjectSpace.exports.size", "0");
}

#[test]
fn what_a_node_held_goes_with_it() {
    let p = Puppets::patient();
    // A lease is about as long as usual.
    let [mut east, west, mut south] = with_boxes(p.of_changed(["east", "west", "south"], |_, c| {
        c.env("KUMI_SEGMENT_LEASE", "2");
    }));
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
    let p = Puppets::patient();
    let [mut east, mut west] = boxes(&p, ["east", "west"]);
    east.is("$b = R.find('box', on: 'west'); $b.get", "7");
    east.is("$waits = Thread.new { $b.slow(100) rescue [$!.class, $!.outcome] }; 1", "1");
    west.becomes(BEGUN, "true");
    west.signal(9);
    west.status();
    east.is("$waits.value", "[Kumihimo::NodeLostError, :perhaps_done]");
    east.is("begin; $b.get; rescue Kumihimo::NodeLostError; $!.outcome; end", ":not_sent");
    let mut west = p.start("west", "east");
    west.is(OBJECTS, "1");
    west.is("S.wait_for_nodes(2, timeout: 60).size", "2");
    west.is("R.register('box', Box.new(8)); 1", "1");
    east.is("$c = R.find('box', on: 'west', timeout: 60); $c.get", "8");
    east.is("begin; $b.get; rescue Kumihimo::NodeLostError; $!.outcome; end", ":not_sent");
    east.is("$b == $c", "false");
}

#[test]
fn a_node_that_stood_still_within_its_lease_has_lost_nothing() {
    let p = Puppets::new();
    // It stands still for longer than it takes to believe that it is gone, and for a third of its lease.
    let [mut east, mut west] = with_boxes(p.of_changed(["east", "west"], |_, c| {
        c.args(["--patience", "3"]).env("KUMI_SEGMENT_LEASE", "4");
    }));
    east.is("$b = R.find('box', on: 'west').make(3); 1", "1");
    west.is("GC.start; 1", "1");
    west.signal(19);
    std::thread::sleep(std::time::Duration::from_millis(3 * 1500));
    west.signal(18);
    east.becomes("($b.get rescue $!.class)", "3");
    west.is("GC.start; ObjectSpace.exports.size > 0", "true");
    east.is("$b.add(1)", "1");
}

#[test]
fn what_is_called_off_is_interrupted() {
    let p = Puppets::patient();
    let [mut east, mut west] = boxes(&p, ["east", "west"]);
    let anew = "$box.instance_variable_set(:@begun, $box.instance_variable_set(:@done, nil))";
    east.is("$b = R.find('box', on: 'west'); $b.get", "7");
    // One whose time was over before it began has more of it.
    let begun = [0.2, 1.0, 5.0, 25.0].iter().any(|time| {
        east.is(&format!("(R.within({time}) {{ $b.ensured }} rescue $!.class)"), "Kumihimo::Remote::TimeoutError");
        east.is("$b.get", "7");
        west.ask(BEGUN) == "true"
    });
    assert!(begun);
    west.becomes("$box.done", "true");
    west.is(anew, "nil");
    east.is("$t = Thread.new { $b.ensured }; 1", "1");
    west.becomes(BEGUN, "true");
    east.is("$t.kill.join; 1", "1");
    west.becomes("$box.done", "true");
    west.is(anew, "nil");
    east.is("$f = $b.async.ensured; 1", "1");
    west.becomes(BEGUN, "true");
    east.is("$f.cancel; 1", "1");
    west.becomes("$box.done", "true");
    // The threads that did it do the next call.
    east.is("(1..50).map { |i| $b.async.add(1) }.map(&:value).max", "50");
}

/// Rounds are as far apart as nodes are patient: these are so only a little, and their leases are as long as usual.
fn hardly_patient(c: &mut std::process::Command) {
    c.args(["--patience", "2"]).env("KUMI_SEGMENT_LEASE", "5");
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
    let mut all = p.of_changed(["east", "west", "south"], |_, c| hardly_patient(c));
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
        hardly_patient(c);
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
        hardly_patient(c);
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
    let ([mut east, mut west], relays) = relayed(["east", "west"], OBJECTS);
    for node in [&mut east, &mut west] {
        node.is("R.register('box', $box = Box.new(0)); 1", "1");
    }
    east.is("$b = R.find('box', on: 'west'); $b.get", "0");
    // Each call adds one, and is given what has come of it: each number once.
    east.is("$sums = Thread.new { Array.new(8) { Thread.new { Array.new(400) { $b.add(1) } } }.flat_map(&:value) }; 1", "1");
    east.is("$refs = Thread.new { Array.new(200) { |i| $b.make(i).get } }; 1", "1");
    cut_often(&relays, 12);
    let sums = "$sums.value.sort == (1..3200).to_a || $sums.value.tally.select { |_, n| n > 1 }";
    for code in [sums, "$refs.value == (0...200).to_a"] {
        let said = east.ask(code);
        if said.starts_with("Kumihimo::NodeLostError") {
            return false;
        }
        assert_eq!(said, "true", "{}", east.errors());
    }
    east.is("$refs = nil; GC.start; 1", "1");
    west.becomes("ObjectSpace.exports.size", "1");
    true
}
