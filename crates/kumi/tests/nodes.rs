//! Nodes of a cluster as processes of their own: what one does to another's segments, and what faults do to both.
//!
//! A bound only tells an answer from a hang. What a test starts is killed when the test ends, however it does.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[path = "common/nodes.rs"]
mod harness;
#[path = "common/relay.rs"]
mod relay;

use harness::*;
use relay::{cut_often, relayed};

// Programs.

/// How many nodes a program wants: its first line says so.
fn wanted(program: &Path) -> String {
    let text = std::fs::read_to_string(program).unwrap();
    text.lines().next().and_then(|l| l.strip_prefix("# nodes: ")).map_or(String::new(), str::to_string)
}

#[test]
fn programs_over_nodes_print_what_stands_beside_them() {
    let mut all: Vec<PathBuf> = std::fs::read_dir(folder()).unwrap().map(|e| e.unwrap().path()).collect();
    all.retain(|p| p.extension().is_some_and(|e| e == "rb") && !wanted(p).is_empty());
    all.sort();
    assert!(!all.is_empty());
    for program in all {
        let name = program.file_name().unwrap().to_str().unwrap();
        let (out, err, status) = Running::start(&mut kumi(&["run", "--nodes", &wanted(&program), "--patience", "10", name])).end();
        let want = std::fs::read_to_string(program.with_extension("out")).unwrap_or_default();
        let out: String = out.iter().map(|l| l.strip_prefix("node1 | ").unwrap_or(l).to_string() + "\n").collect();
        assert_eq!(out, want, "{name}; standard error: {err}");
        assert_eq!((err.as_str(), status), ("", Some(0)), "{name}");
    }
}

/// The guide's chapter: the commands that run its programs, and these as one, whose `# => value` are checked.
fn chapter() -> Option<(Vec<String>, String)> {
    let text = std::fs::read_to_string(folder().join("../../docs/SEGMENTS.md")).ok()?;
    let chapter = text.split("\n### The calls\n").nth(1)?.split("\n## ").next()?;
    let shell = chapter.split("```sh\n").nth(1)?.split("```").next()?;
    let commands = shell.lines().map(|l| l.split(" #").next().unwrap().trim().to_string()).collect();
    let mut program = String::new();
    let mut checks = 0;
    for line in chapter.split("```ruby\n").skip(1).filter_map(|b| b.split("```").next()).flat_map(str::lines) {
        match line.split_once(" # => ") {
            Some((code, want)) => {
                checks += 1;
                program.push_str(&format!("found = ({code}).inspect; puts %q({line} is not) + \" #{{found}}\" if found != {want:?}\n"));
            }
            None => program.push_str(&format!("{line}\n")),
        }
    }
    assert!(checks > 10);
    Some((commands, program))
}

#[test]
fn the_guide_is_right() {
    let Some((commands, program)) = chapter() else { return };
    let f = Folder::new();
    std::fs::write(f.0.join("calls.rb"), program).unwrap();
    let port = free_port().to_string();
    let commands: Vec<String> = commands.iter().map(|l| l.replace(":7000", &format!(":{port}"))).collect();
    let [serves, runs] = &commands[..] else { panic!("{commands:?}") };
    let start = |line: &str| Running::start(kumi(&line.split(' ').filter(|w| !w.is_empty()).skip(1).collect::<Vec<_>>()).current_dir(&f.0));
    let mut node2 = start(serves);
    assert!(node2.line().starts_with("node node2 serves"));
    let (out, err, status) = start(runs).end();
    assert_eq!((out, err.as_str(), status), (vec![], "", Some(0)));
}

#[test]
fn nodes_of_a_run_know_each_other_though_they_end_at_once() {
    for nodes in ["2", "3", "5", "3", "5"] {
        let program = "puts Kumihimo::Segments.nodes.size";
        let (out, err, status) = Running::start(&mut kumi(&["run", "--nodes", nodes, "--patience", "10", "-e", program])).end();
        assert_eq!((err.as_str(), status, out.len()), ("", Some(0), nodes.parse().unwrap()));
        assert!(out.iter().all(|l| l.ends_with(&format!("| {nodes}"))), "{out:?}");
    }
}

#[test]
fn a_run_ends_though_a_node_is_killed_or_fails_as_it_begins() {
    for (first, want) in
        [("Process.kill(:KILL, $$)", 137), ("exit! 3", 3), ("exit 4", 4), ("raise 'no'", 1), ("Kumihimo::Segments.leave", 0)]
    {
        for node in ["node1", "node2", "node3"] {
            let program = format!("if Kumihimo::Segments.node == '{node}' then {first} end");
            let start = Instant::now();
            let (_, err, status) = Running::start(&mut kumi(&["run", "--nodes", "3", "-e", &program])).end();
            assert_eq!(status, Some(want), "{first} on {node}: {err}");
            assert!(start.elapsed() < HANG / 2, "{first} on {node}");
        }
    }
}

#[test]
fn a_node_that_joins_begins_when_it_is_one_of_the_others() {
    let f = Folder::new();
    let (east, program) = (f.socket("east"), "p Kumihimo::Segments.nodes.sort, Kumihimo::Segments['east'].put('a', 1)");
    // East comes later, but before west says that nobody was there.
    let mut west = Running::start(&mut kumi(&["node", "west", "--join", &east, "--patience", "30", "-e", program]));
    std::thread::sleep(Duration::from_millis(200));
    let mut serves = Running::start(&mut kumi(&["node", "east", "--listen", &east, "--patience", "30"]));
    assert!(serves.line().starts_with("node east serves"));
    assert_eq!((west.line(), west.line()), ("[\"east\", \"west\"]".into(), "1".into()), "{}", west.errors());
    assert_eq!(west.end(), (vec![], String::new(), Some(0)));
    // The same by itself.
    let listen =
        format!("require 'kumihimo/segments'; Kumihimo::Segments.listen('south', join: '{east}'); p Kumihimo::Segments.nodes.sort");
    let mut alone = kumi(&["-e", &listen]);
    alone.env("KUMI_NODE_PATIENCE", "30");
    assert_eq!(Running::start(&mut alone).end(), (vec!["[\"east\", \"south\"]".into()], String::new(), Some(0)));
}

#[test]
fn a_node_that_reaches_nobody_says_so_once_and_goes_on_trying() {
    let f = Folder::new();
    let east = f.socket("east");
    let program = "S = Kumihimo::Segments; p S.nodes; (S['east'].put('a', 1) rescue puts $!.message); $stdout.flush; gets; \
                   p S.wait_for_nodes(2).sort";
    let mut west = Running::start(&mut kumi(&["node", "west", "--join", &east, "-e", program]));
    assert_eq!(west.line(), "[\"west\"]");
    let why = west.line();
    assert!(why.contains("there is no node east now") && why.contains("kumi node --await N") && why.contains("wait_for_nodes(N)"), "{why}");
    let _serves = Running::start(&mut kumi(&["node", "east", "--listen", &east]));
    west.say("go");
    assert_eq!(west.line(), "[\"east\", \"west\"]");
    let (_, err, status) = west.end();
    let said = err.lines().collect::<Vec<_>>();
    assert!(said.len() == 1 && said[0].contains("not joined yet") && said[0].contains(&east), "{err}");
    assert_eq!(status, Some(0));
    // By itself, in words; and not at all where it does not wait.
    let listen =
        |wait: &str| format!("require 'kumihimo/segments'; Kumihimo::Segments.listen('south', join: '{}'{wait})", f.socket("none"));
    let (_, err, _) = Running::start(&mut kumi(&["-e", &listen("")])).end();
    assert!(err.starts_with("kumi: node south has reached none of unix:") && err.ends_with(": it goes on trying\n"), "{err}");
    assert_eq!(err.lines().count(), 1);
    assert_eq!(Running::start(&mut kumi(&["-e", &listen(", wait: false")])).end().1, "");
}

#[test]
fn large_strings_arrive_as_they_were() {
    let puppets = Puppets::patient();
    let [_east, mut west] = puppets.of(["east", "west"]);
    let same = "->(x) { [x == $text, x.encoding == $text.encoding, x.valid_encoding? == $text.valid_encoding?, \
                x.ascii_only? == $text.ascii_only?, x.frozen?] }";
    west.is(&format!("$same = {same}; 1"), "1");
    let texts = [
        "'x' * 5_000_000",
        "'xé' * 2_000_000",
        "'€' * 2_000_000 + \"\\xe2\\x82\"",
        "\"\\xff\" * 5_000_000",
        "('x' * 5_000_000).b",
        "('ä' * 2_500_000).encode('UTF-16LE')",
    ];
    for text in texts {
        let puts = "S['east'].put('t', $text); S['east'].put('t', $text.dup, move: true); S['east'].put_all('t', [$text, $text]); 1";
        west.is(&format!("$text = ({text}).freeze; {puts}"), "1");
        west.is("$same.(S['east'].peek('t'))", "[true, true, true, true, true]");
        west.is("$same.(S['east'].take('t'))", "[true, true, true, true, true]");
        west.is("$same.(S['east'].take('t'))", "[true, true, true, true, false]");
        west.is("$same.(S['east'].take_segment('t').value)", "[true, true, true, true, true]");
        west.is("4.times.map { Thread.new { $same.(S['east'].peek('t')) } }.map(&:value).uniq", "[[true, true, true, true, true]]");
        west.is("$same.(S['east'].take?('t'))", "[true, true, true, true, true]");
    }
}

// Faults.

/// Large values and small ones, by one call.
#[test]
fn connections_that_break_disturb_no_order() {
    assert!((0..3).any(|_| puts_over_connections_that_break()), "the other node was given up each time");
}
fn puts_over_connections_that_break() -> bool {
    let ([_east, mut west], relays) = relayed(["east", "west"], "1");
    // The first four digits say which it is.
    let values = "$all = Array.new(900) { |i| format('%04d', i) + 'x' * [10, 40_000, 300, 700_000, 17_000, 5, 5, 5][i / 3 % 8] }; 1";
    west.is(values, "1");
    west.is("$puts = Thread.new { 3.times.sum { S['east'].put_all('n', $all) } }; 1", "1");
    let seen = "$seen = Thread.new { Array.new(2700) { S['east'].take('n')[0, 4].to_i } }; 1";
    west.is(seen, "1");
    cut_often(&relays, 12);
    for (code, want) in [("$puts.value", "2700"), ("$seen.value == [*0...900] * 3", "true")] {
        let said = west.ask(code);
        if said.starts_with("Kumihimo::Segments::NodeLost") {
            return false;
        }
        assert_eq!(said, want, "{}", west.errors());
    }
    true
}

#[test]
fn a_node_that_ends_says_goodbye_and_who_waits_for_it_hears_of_it() {
    let puppets = Puppets::patient();
    let [mut east, mut west] = puppets.of(["east", "west"]);
    east.is("$left = Queue.new; S.on_leave { |n| $left << n }; 1", "1");
    east.is("$take = Thread.new { S['west'].take('never') rescue $!.class }; 1", "1");
    west.becomes("S.local.stat('never')[:waiting]", "1");
    let start = Instant::now();
    let (_, err, status) = west.end();
    assert_eq!((err.as_str(), status), ("", Some(0)));
    east.is("$left.pop(timeout: 20)", "\"west\"");
    east.is("$take.value", "Kumihimo::Segments::NodeLost");
    east.is("S.nodes", "[\"east\"]");
    east.fails("S['west'].put('x', 1)", "NotConnected: there is no node west now");
    // Nobody had to find out.
    assert!(start.elapsed() < HANG);
}

#[test]
fn nodes_that_other_machines_reach_are_patient_with_each_other() {
    let puppets = Puppets::new();
    // Its address is no machine's: east is reached by its socket.
    let listen = ["--listen", &puppets.0.socket("east"), "--listen", "0.0.0.0:0", "--insecure", "--public", "192.0.2.1:1"];
    let mut east = Running::start(kumi(&["node", "east"]).args(listen).arg("puppet.rb"));
    assert_eq!(east.line(), "ready", "{}", east.errors());
    let mut west = puppets.start("west", "east");
    for node in [&mut east, &mut west] {
        node.is("S.wait_for_nodes(2, timeout: 20).size", "2");
        node.is("$left = []; S.on_leave { |n| $left << n }; 1", "1");
    }
    // On one machine a node that stands still for so long is gone.
    for (still, other) in [(0, 1), (1, 0)] {
        let nodes = [&mut east, &mut west];
        nodes[still].signal(libc::SIGSTOP);
        std::thread::sleep(Duration::from_millis(1500));
        nodes[still].signal(libc::SIGCONT);
        nodes[other].is("[S.nodes.size, $left]", "[2, []]");
        nodes[still].is("[S.nodes.size, $left]", "[2, []]");
    }
}

#[test]
fn what_a_killed_node_had_taken_comes_back_to_another_taker() {
    let puppets = Puppets::new();
    let [mut east, mut west, mut north] = puppets.of(["east", "west", "north"]);
    east.is("S.local.put('job', 7)", "1");
    west.is("class Job < Kumihimo::CodeSegment; input :job, take: 'job', from: 'east'; def run = (S['east'].put('has', job); sleep); end; Job.start.class", "Job");
    east.is("S.local.take('has', timeout: 20)", "7");
    east.is("S.local.stat('job').values_at(:segments, :leased)", "[0, 1]");
    west.signal(libc::SIGKILL);
    north.is("t = S['east'].take_segment('job', timeout: 30); [t.value, t.index, t.deliveries]", "[7, 1, 2]");
    east.becomes("S.local.stat('job').values_at(:segments, :leased)", "[0, 0]");
}

#[test]
fn a_run_that_was_stopped_past_its_lease_is_refused_and_its_outputs_do_not_appear() {
    let puppets = Puppets::new();
    let [mut east, mut west, mut north] = puppets.of(["east", "west", "north"]);
    east.is("S.local.put('job', 7)", "1");
    let code = "class Job < Kumihimo::CodeSegment; input :job, take: 'job', from: 'east'; \
                def run = ($go = Queue.new; S['east'].put('has', job); $go.pop; put('out', job, on: 'east'); put('out', 1)); end; ($job = Job.start).class";
    west.is(code, "Job");
    east.is("S.local.take('has', timeout: 20)", "7");
    west.signal(libc::SIGSTOP);
    north.is("S['east'].take('job', timeout: 30)", "7");
    west.signal(libc::SIGCONT);
    west.is("$go << 1; 1", "1");
    west.say("$job.join(timeout: 30)");
    let a = west.answer();
    assert!(a.starts_with("LeaseOver: ") || a.starts_with("NodeLost: ") || a.starts_with("NotConnected: "), "{a}");
    west.becomes("S.nodes.sort", "[\"east\", \"north\", \"west\"]");
    east.is("[S.local.peek?('out'), S.local.size('job')]", "[nil, 0]");
    west.is("S.local.peek?('out')", "nil");
    // It is a node as before.
    west.becomes("S['east'].put('again', 1).is_a?(Integer)", "true");
}

#[test]
fn a_node_that_comes_back_before_anybody_took_it_for_gone_is_reached() {
    let puppets = Puppets::new();
    let [mut east, mut west] = puppets.of(["east", "west"]);
    east.is("require 'timeout'; def reach = Timeout.timeout(15) { S['west'].put('k', 1) }; reach", "1");
    for _ in 0..8 {
        west.signal(libc::SIGKILL);
        west.status();
        west = puppets.start("west", "east");
        // The earlier life's end may be heard of when the later one's connection is there.
        east.say("2.times.map { sleep 0.3; reach rescue $!.class.name[/\\w+$/] }.last");
        let a = east.answer();
        assert!(["1", "2"].contains(&&*a), "{a}; standard error: {}", east.errors());
    }
}

#[test]
fn a_node_that_comes_back_under_its_name_begins_anew() {
    let puppets = Puppets::new();
    let [east, mut west] = puppets.of(["east", "west"]);
    west.is("3.times { |i| S['east'].put('k', i) }", "3");
    west.is("$e = S['east']; $key = $e.key('k'); $i = $key.peek_segment(after: 1).index", "2");
    east.signal(libc::SIGKILL);
    west.becomes("S.nodes", "[\"west\"]");
    drop(east);
    let mut east = puppets.start_by(&puppets.0.socket("east"), "east", "east");
    east.is("S.local.put('k', :new)", "1");
    drop(east);
    let mut c = kumi(&["node", "east", "--listen", &puppets.0.socket("east"), "--join", &puppets.0.socket("west"), "puppet.rb"]);
    let mut east = Running::start(&mut c);
    assert_eq!(east.line(), "ready");
    west.is("S.wait_for_nodes(2, timeout: 20)", "[\"west\", \"east\"]");
    west.fails("$key.peek(after: $i)", "StaleIndex: that index was not given out by node east");
    west.is("[$key.put(9), $e.take('k')]", "[1, 9]");
}

#[test]
fn the_later_of_two_nodes_with_one_name_is_told() {
    let puppets = Puppets::patient();
    let [mut east, mut west] = puppets.of(["east", "west"]);
    let mut c = kumi(&["node", "west", "--listen", &puppets.0.socket("other"), "--join", &puppets.0.socket("east")]);
    c.args(["--patience", "6", "puppet.rb"]);
    let mut other = Running::start(&mut c);
    assert_eq!(other.line(), "ready");
    other.errors_with("another node is called west");
    other.fails("S['east'].put('x', 1)", "NotConnected: another node is called west");
    west.is("S['east'].put('y', 2)", "1");
    east.is("S['west'].put('y', 2)", "1");
    east.is("S.nodes", "[\"east\", \"west\"]");
    assert_eq!(west.errors(), "");
}

#[test]
fn what_was_taken_at_the_very_end_stays_taken() {
    let puppets = Puppets::new();
    let mut east = puppets.start("east", "east");
    for _ in 0..5 {
        east.is("S.local.put('k', 1); S.local.put('k', 2); 0", "0");
        let code = "p Kumihimo::Segments['east'].take('k', timeout: 20)";
        let mut c = kumi(&["node", "west", "--join", &puppets.0.socket("east"), "--await", "2", "-e", code]);
        let (out, err, _) = Running::start(&mut c).end();
        assert_eq!(out, ["1"], "{err}");
        east.becomes("S.nodes", "[\"east\"]");
        east.is("[S.local.size('k'), S.local.take('k'), S.local.take?('k')]", "[1, 2, nil]");
    }
}

#[test]
fn what_takers_have_when_their_node_leaves_is_all_that_is_gone() {
    let puppets = Puppets::new();
    let mut east = puppets.start("east", "east");
    for round in 0..5 {
        east.is("S.local.key('k').from(1..2000); 0", "0");
        let code = "
            got = Queue.new
            takers = 4.times.map { Thread.new { loop { got << Kumihimo::Segments['east'].take('k') } rescue $!.class } }
            over = false
            late = Thread.new { until over; got << Kumihimo::Segments['east'].take('k', timeout: 0.0005) rescue Thread.pass; end }
            one = -> { Thread.handle_interrupt(Object => :on_blocking) { got << Kumihimo::Segments['east'].take('k') } rescue nil }
            killed = Thread.new { until over; t = Thread.new(&one); t.kill; t.join; end }
            sleep 0.01 until got.size >= 200
            Kumihimo::Segments.leave
            p takers.map(&:value).uniq - [Kumihimo::Segments::NodeLost, Kumihimo::Segments::NotConnected]
            over = true
            late.join
            killed.join
            p Array.new(got.size) { got.pop }.sort";
        let mut c = kumi(&["node", "west", "--join", &puppets.0.socket("east"), "--await", "2", "-e", code]);
        let (out, err, status) = Running::start(&mut c).end();
        assert_eq!((out.len(), out[0].as_str(), status), (2, "[]", Some(0)), "{round}: {out:?} {err}");
        east.becomes("S.nodes", "[\"east\"]");
        east.is(&format!("$got = {}; $left = Array.new(S.local.size('k')) {{ S.local.take('k') }}; 0", out[1]), "0");
        // Nothing is there twice, and nothing is lost.
        east.is("[$got & $left, (1..2000).to_a - $got - $left, $got.size + $left.size]", "[[], [], 2000]");
    }
}

#[test]
fn calls_from_within_and_without_a_cluster_end() {
    let puppets = Puppets::new();
    let [mut east, mut west] = puppets.of(["east", "west"]);
    // What waits ends when its node leaves.
    east.is("$west = S['west']; $take = Thread.new { $west.take('never') rescue $!.class }; 1", "1");
    west.becomes("S.local.stat('never')[:waiting]", "1");
    east.is("S.leave", "true");
    east.is("$take.value", "Kumihimo::Segments::NodeLost");
    east.fails("$west.put('x', 1)", "NotConnected: this node has left the cluster");
    east.fails("S['west'].put('x', 1)", "NotConnected: this program is no node of a cluster");
    east.is("S.node", "nil");
    east.is("S.local.put('x', 1)", "1");
    // A program that is none becomes one.
    let again =
        format!("S.listen('third', listen: '{}', join: '{}'); S.wait_for_nodes(2)", puppets.0.socket("third"), puppets.0.socket("west"));
    east.is(&again, "[\"third\", \"west\"]");
    east.is("S['west'].put('x', 5)", "1");
    drop(west);
    east.fails("S.wait_for_nodes(3, timeout: 0.1)", "TimeoutError: ");
}

#[test]
fn a_forked_child_is_no_node_and_disturbs_none() {
    let puppets = Puppets::patient();
    let [mut east, mut west] = puppets.of(["east", "west"]);
    east.is(
        "$r, $w = IO.pipe; Process.wait(fork { $w.puts((S['west'].put('x', 1) rescue $!.class)) }); $w.close; $r.read",
        "\"Kumihimo::Segments::NotConnected\\n\"",
    );
    west.is("S.nodes", "[\"west\", \"east\"]");
    east.is("S['west'].put('x', 1)", "1");
}

#[test]
fn a_cancelled_code_segment_leaves_no_lease_behind() {
    let puppets = Puppets::patient();
    let [mut east, mut west] = puppets.of(["east", "west"]);
    east.is("class Two < Kumihimo::CodeSegment; input :a, take: 'a', from: 'west'; input :b, take: 'b', from: 'east'; def run = 1; end; S['west'].put('a', 1)", "1");
    for _ in 0..5 {
        east.is("t = Two.start; sleep 0.05; [t.cancel, t.ended?]", "[true, true]");
        west.becomes("S.local.stat('a').values_at(:segments, :leased)", "[1, 0]");
    }
    // In the middle of the run it is not cancelled.
    east.is("S.local.put('b', 2); t = Two.start; t.join(timeout: 20); [t.cancel, t.ended?]", "[false, true]");
    west.is("S.local.stat('a').values_at(:segments, :leased)", "[0, 0]");
}

#[test]
fn a_value_too_long_to_travel_is_refused_to_whoever_asks_for_it() {
    let puppets = Puppets::patient();
    let [mut east, mut west] = puppets.of(["east", "west"]);
    east.is("S.local.put('long', 'x' * (65 << 20)); S.local.put('short', 1)", "1");
    west.fails("S['east'].take('long', timeout: 20)", "Error: node east refused the call");
    west.is("S['east'].take('short', timeout: 20)", "1");
    east.is("S.local.take('long').size", &(65 << 20).to_string());
    // Nor what can't travel at all.
    east.is("S.local.put('odd', proc {}, move: true) rescue 0; S.local.put('class', Class)", "1");
    west.fails("S['east'].take('class', timeout: 20)", "Error: node east refused the call");
    east.is("S.local.take('class')", "Class");
}

#[test]
fn symbols_are_counted_against_the_node_that_sends_them() {
    let puppets = Puppets::patient();
    let [mut east, mut west, mut north] = puppets.of(["east", "west", "north"]);
    let names = |of: &str, n: usize| format!("S['east'].put('k', Array.new({n}) {{ |i| \"{of} #{{i}}\".to_sym }})");
    west.is(&names("a", 10_000), "1");
    east.is("($keep = S.local.take('k')).size", "10000");
    west.is(&names("b", 10_000), "2");
    let more = "Malformed: bytes that are no value of a node: more than 16384 symbols that are new here and in use, of one peer";
    east.fails("S.local.peek('k')", more);
    // A run's input comes back.
    east.is(
        "$run = S.when(take: 'k') { 1 }; $stderr = File.open(File::NULL, 'w'); ($run.join rescue $!.class)",
        "Kumihimo::Segments::Malformed",
    );
    east.is("$stderr = STDERR; S.local.size('k')", "1");
    east.fails("S.local.take('k')", more);
    east.is("S.local.size('k')", "0");
    // It is no other node's affair, and known ones may come as often as they like.
    north.is(&names("c", 10_000), "3");
    east.is("S.local.take('k').size", "10000");
    west.is(&names("a", 10_000), "4");
    east.is("S.local.take('k').size", "10000");
    // Answers count as well.
    west.is("S.local.put('own', Array.new(10_000) { |i| \"d #{i}\".to_sym })", "1");
    east.fails("S['west'].take('own')", more);
    // Those that nobody uses are forgotten.
    east.is("$keep = nil; 3.times { GC.start }; 0", "0");
    west.is(&names("e", 10_000), "5");
    east.is("S.local.take('k').size", "10000");
    for i in 0..5 {
        west.is(&names(&format!("f{i}"), 10_000), &format!("{}", 6 + i));
        east.is("n = S.local.take('k').size; GC.start; n", "10000");
    }
}

#[test]
fn strangers_that_send_garbage_change_nothing_for_others() {
    let puppets = Puppets::patient();
    let mut east = puppets.start_by("127.0.0.1:0", "east", "east");
    let address = east.ask("S.address").trim_matches('"').to_string();
    let mut c = kumi(&["node", "west", "--listen", "127.0.0.1:0", "--join", &address, "--patience", "6", "puppet.rb"]);
    let mut west = Running::start(&mut c);
    assert_eq!(west.line(), "ready");
    west.is("S.wait_for_nodes(2).size", "2");
    let mut kept = Vec::new();
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    for round in 0..40usize {
        let Ok(mut stranger) = std::net::TcpStream::connect(&address) else { continue };
        let _ = stranger.set_write_timeout(Some(Duration::from_millis(200)));
        let bytes: Vec<u8> = (0..[0, 1, 7, 300, 70_000][round % 5])
            .map(|_| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 56) as u8
            })
            .collect();
        let _ = match round % 3 {
            // A length that promises much, and nothing behind it.
            0 => stranger.write_all(&[0xff, 0xff, 0xff, 0x7f]),
            1 => stranger.write_all(b"GET / HTTP/1.1\r\nHost: east\r\n\r\n"),
            _ => stranger.write_all(&bytes),
        };
        if round % 2 == 0 {
            kept.push(stranger);
        }
        west.is("S['east'].put('k', 1); S['east'].take('k', timeout: 20)", "1");
        east.is("S['west'].put('k', 2); S['west'].take('k', timeout: 20)", "2");
    }
    drop(kept);
    west.is("S.nodes", "[\"west\", \"east\"]");
    assert_eq!((east.errors(), west.errors()), (String::new(), String::new()));
}

// kumi run --nodes.

#[test]
fn lines_come_out_whole_behind_the_names_of_their_nodes() {
    let code = "S = Kumihimo::Segments; 200.times { |i| puts \"#{S.node} says #{i} #{'x' * 300}\" }; $stderr.puts \"#{S.node} errs\"; print 'end without a line'";
    let (out, err, status) = Running::start(&mut kumi(&["run", "--nodes", "3", "-e", code])).end();
    assert_eq!(status, Some(0), "{err}");
    assert_eq!(out.len(), 3 * 201);
    for node in ["node1", "node2", "node3"] {
        let own: Vec<&str> = out.iter().filter_map(|l| l.strip_prefix(&format!("{node} | "))).collect();
        let want: Vec<String> =
            (0..200).map(|i| format!("{node} says {i} {}", "x".repeat(300))).chain(["end without a line".into()]).collect();
        assert_eq!(own, want);
        assert!(err.contains(&format!("{node} | {node} errs\n")), "{err}");
    }
}

#[test]
fn arguments_and_input_reach_the_nodes() {
    let code = "S = Kumihimo::Segments; p [S.node, S.nodes.size, ARGV, $stdin.read]; system('env | grep KUMI_NODE')";
    let mut run = Running::start(
        kumi(&["run", "-n", "2", "-e", code, "a", "--nodes", "--help"])
            .env("KUMI_NODE_PUBLIC", "nonsense")
            .env("KUMI_NODE_CERT", "none.pem"),
    );
    run.say("hello");
    let (mut out, err, status) = run.end();
    out.sort();
    let args = "[\"a\", \"--nodes\", \"--help\"]";
    assert_eq!(out, [format!("node1 | [\"node1\", 2, {args}, \"hello\\n\"]"), format!("node2 | [\"node2\", 2, {args}, \"\"]")], "{err}");
    assert_eq!(status, Some(0));
}

#[test]
fn the_first_that_fails_ends_the_others() {
    let start = Instant::now();
    let code = "S = Kumihimo::Segments; at_exit { puts 'ends'; $stdout.flush }; \
                (2.times { S.local.take('ready', timeout: 30) }; exit 3) if S.node == 'node2'; S['node2'].put('ready', 1); sleep";
    let (out, err, status) = Running::start(&mut kumi(&["run", "--nodes", "3", "-e", code])).end();
    assert_eq!(status, Some(3), "{err}");
    assert_eq!(out.len(), 3, "{out:?}");
    let (_, err, status) =
        Running::start(&mut kumi(&["run", "--nodes", "2", "-e", "raise 'broken' if Kumihimo::Segments.node == 'node1'; sleep"])).end();
    assert_eq!(status, Some(1));
    assert!(err.contains("node1 | ") && err.contains("broken (RuntimeError)"), "{err}");
    let code = "Process.kill(:KILL, $$) if Kumihimo::Segments.node == 'node2'; sleep";
    let (_, err, status) = Running::start(&mut kumi(&["run", "--nodes", "2", "-e", code])).end();
    assert_eq!(status, Some(137), "{err}");
    assert!(start.elapsed() < HANG);
}

#[test]
fn signals_end_all_nodes() {
    for (signal, group, want) in [(libc::SIGINT, true, 130), (libc::SIGTERM, false, 143), (libc::SIGHUP, false, 129)] {
        let code = "begin; puts $$; $stdout.flush; sleep; ensure; puts 'ensured'; $stdout.flush; end";
        let mut run = Running::start(&mut kumi(&["run", "--nodes", "2", "-e", code]));
        let pids: Vec<i32> = (0..2).map(|_| run.line().split(" | ").nth(1).unwrap().parse().unwrap()).collect();
        if group {
            // All have heard it before the run says it again.
            run.signal(libc::SIGSTOP);
            run.signal_group(signal);
            let ended = |p: &i32| std::fs::read_to_string(format!("/proc/{p}/stat")).is_ok_and(|s| s.contains(") Z"));
            let start = Instant::now();
            while !pids.iter().all(ended) {
                assert!(start.elapsed() < HANG);
                std::thread::sleep(Duration::from_millis(5));
            }
            run.signal(libc::SIGCONT);
        } else {
            run.signal(signal)
        }
        let (out, err, status) = run.end();
        assert_eq!(status, Some(want), "{err}");
        assert_eq!(out.len(), 2, "{signal}: {out:?}");
        // SAFETY: asks whether there is such a process.
        assert!(pids.iter().all(|p| unsafe { libc::kill(*p, 0) } != 0));
    }
}

/// It has reached the nodes already, and would interrupt what they do at their end.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_of_a_terminal_is_heard_once_though_the_input_is_a_file() {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use std::os::unix::process::CommandExt;
    let (mut master, mut slave) = (0, 0);
    // SAFETY: the two places are ours; the others may be null.
    let r = unsafe { libc::openpty(&mut master, &mut slave, std::ptr::null_mut(), std::ptr::null(), std::ptr::null()) };
    assert_eq!(r, 0, "{}", std::io::Error::last_os_error());
    // SAFETY: both were opened just now and belong to nobody else.
    let (mut keys, slave) = unsafe { (std::fs::File::from_raw_fd(master), OwnedFd::from_raw_fd(slave)) };
    let code = "heard = 0; trap(:INT) { heard += 1 }; puts :up; $stdout.flush; sleep 0.01 until heard > 0; sleep 0.5; puts heard";
    let mut c = kumi(&["run", "--nodes", "2", "-e", code]);
    let terminal = slave.as_raw_fd();
    // SAFETY: a call that is allowed between fork and exec, on a descriptor that is open until this test ends.
    unsafe {
        c.pre_exec(move || match libc::ioctl(terminal, libc::TIOCSCTTY, 0) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    let mut run = Running::start(&mut c);
    assert_eq!([run.line(), run.line()].map(|l| l.ends_with("| up")), [true, true]);
    keys.write_all(&[3]).unwrap();
    let (mut out, err, status) = run.end();
    out.sort();
    assert_eq!((out, err.as_str(), status), (vec!["node1 | 1".into(), "node2 | 1".into()], "", Some(130)));
}

#[test]
fn wrong_arguments_are_told_apart() {
    let run = |args: &[&str]| Running::start(&mut kumi(args)).end();
    for args in [
        &["run"][..],
        &["run", "--nodes"],
        &["run", "--nodes", "2"],
        &["run", "--nodes", "0", "x.rb"],
        &["run", "--nodes=many", "x.rb"],
        &["run", "-n", "257", "x.rb"],
    ] {
        let (out, err, status) = run(args);
        assert_eq!((out.len(), status), (0, Some(2)), "{args:?}");
        assert!(err.starts_with("kumi run: ") && err.ends_with("kumi run --help tells more.\n"), "{err}");
    }
    for args in [
        &["node"][..],
        &["node", "--listen"],
        &["node", "--foo", "x"],
        &["node", "x", "--await", "0"],
        &["node", "--listen", "127.0.0.1:0"],
    ] {
        let (out, err, status) = run(args);
        assert_eq!((out.len(), status), (0, Some(2)), "{args:?}");
        assert!(err.starts_with("kumi node: ") && err.ends_with("kumi node --help tells more.\n"), "{err}");
    }
    for args in [&["run", "--help"][..], &["run", "-h"], &["node", "--help"], &["node", "x", "-h"]] {
        let (out, err, status) = run(args);
        assert_eq!((err.as_str(), status), ("", Some(0)), "{args:?}");
        assert!(out[0].starts_with(&format!("Usage: kumi {}", args[0])), "{out:?}");
    }
    for (args, want, status) in [
        (&["node", "x", "--listen", "nonsense", "-e", "1"][..], "nonsense: an address is host:port", 78),
        (&["node", "x", "--listen", "127.0.0.1:99999", "-e", "1"], "a port is a number", 78),
        (&["node", "x", "--listen", "0.0.0.0:0", "-e", "1"], "other machines reach this address, and there are no certificates", 78),
        (
            &["node", "x", "--insecure", "--listen", "0.0.0.0:0", "-e", "1"],
            "is no address to reach a node at: say which one is by public",
            78,
        ),
        (&["node", "a b", "-e", "1"], "a node's name is 1 to 64 bytes", 78),
        (&["node", "", "-e", "1"], "name is empty", 78),
        (&["node", "x", "--cert", "a.pem", "-e", "1"], "--cert, --key and --ca belong together", 78),
        (&["node", "x", "--cert", "a", "--key", "b", "--ca", "c", "-e", "1"], "No such file", 78),
        (&["node", "x", "--listen", "unix:/nowhere/x.sock", "-e", "1"], "can't listen at unix:/nowhere/x.sock", 1),
    ] {
        let (out, err, is) = run(args);
        assert_eq!((out.len(), is), (0, Some(status)), "{args:?}: {err}");
        assert!(err.lines().all(|l| l.starts_with("kumi node: ")) && err.contains(want), "{args:?}: {err}");
    }
    let (_, err, status) = run(&["run", "--nodes", "2", "nowhere.rb"]);
    assert_eq!(status, Some(1));
    assert_eq!(err, "kumi run: nowhere.rb: the program can't be read: No such file or directory\n");
}

// kumi node.

#[test]
fn a_node_without_a_program_serves_until_it_is_told_to_end() {
    let folder = Folder::new();
    for signal in [libc::SIGTERM, libc::SIGINT] {
        let mut east = Running::start(&mut kumi(&["node", "east", "--listen", &folder.socket("east"), "--log-level", "warn"]));
        assert_eq!(east.line(), format!("node east serves at {}", folder.at("east.sock")));
        let code = "p Kumihimo::Segments['east'].put('k', 5), Kumihimo::Segments['east'].take('k', timeout: 20)";
        let (out, err, status) =
            Running::start(&mut kumi(&["node", "west", "--join", &folder.socket("east"), "--await", "2", "-e", code])).end();
        assert_eq!((out, err.as_str(), status), (vec!["1".to_string(), "5".to_string()], "", Some(0)));
        east.signal(signal);
        let (out, err, status) = east.end();
        assert_eq!((out.len(), err.as_str(), status), (0, "", Some(0)), "{signal}");
        assert!(!folder.0.join("east.sock").exists());
    }
}

#[test]
fn options_stand_in_the_environment_and_end_there() {
    let folder = Folder::new();
    let code = "p ENV.keys.grep(/KUMI_NODE/), Kumihimo::Segments.address; system('env | grep KUMI_NODE'); \
                system(ARGV[0], '-e', 'require %q(kumihimo/segments); p Kumihimo::Segments.node')";
    let mut c = kumi(&["node", "east", "-e", code, env!("CARGO_BIN_EXE_kumi")]);
    let (out, err, status) = Running::start(c.env("KUMI_NODE_LISTEN", folder.socket("east"))).end();
    assert_eq!(out, ["[]", &format!("{:?}", folder.at("east.sock")), "nil"], "{err}");
    assert_eq!(status, Some(0));
    // It waits for others in vain, and says who could not be reached.
    let code = "S = Kumihimo::Segments; begin; S.wait_for_nodes(2, timeout: 0.5); rescue S::TimeoutError => e; puts e.message; end";
    let mut c = kumi(&["node", "east", "-e", code]);
    let (out, err, _) = Running::start(c.env("KUMI_NODE_JOIN", folder.socket("nobody"))).end();
    assert!(
        out[0].starts_with("1 of 2 nodes within 0.5 s: east; connections that failed: ") && out[0].contains("nobody.sock"),
        "{out:?} {err}"
    );
}

// TLS.

/// Certificates by openssl, if it is there.
struct Certificates(Folder);

impl Certificates {
    fn new() -> Option<Certificates> {
        let c = Certificates(Folder::new());
        (c.authority("ca") && c.authority("foreign")).then_some(c)
    }
    fn openssl(&self, words: &str) -> bool {
        let c = Command::new("openssl").args(words.split(' ')).current_dir(&self.0.0).stdin(Stdio::null()).output();
        c.is_ok_and(|o| o.status.success())
    }
    fn authority(&self, name: &str) -> bool {
        self.openssl(&format!(
            "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout {name}.key -out {name}.pem -subj /CN={name} -days 2"
        ))
    }
    /// The files `file.pem`, `file.key` for a node.
    fn node(&self, file: &str, name: &str, authority: &str, days: i32) {
        std::fs::write(self.0.at("names"), format!("subjectAltName=DNS:{name}")).unwrap();
        assert!(self.openssl(&format!(
            "req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout {file}.key -out {file}.csr -subj /CN={name}"
        )));
        let sign = format!(
            "x509 -req -in {file}.csr -CA {authority}.pem -CAkey {authority}.key -CAcreateserial -out {file}.pem -days {days} -extfile names"
        );
        assert!(self.openssl(&sign));
    }
    fn start(&self, name: &str, file: &str, authority: &str, join: Option<&str>) -> Running {
        let (cert, key, ca) =
            (self.0.at(&format!("{file}.pem")), self.0.at(&format!("{file}.key")), self.0.at(&format!("{authority}.pem")));
        let mut c = kumi(&["node", name, "--listen", "127.0.0.1:0", "--cert", &cert, "--key", &key, "--ca", &ca]);
        if let Some(join) = join {
            c.args(["--join", join]);
        }
        Running::start(c.arg("puppet.rb"))
    }
}

#[test]
fn long_lines_go_on_in_pieces_and_what_a_node_has_started_keeps_nobody_waiting() {
    let code = "print 'x' * 300_000; $stdout.flush; puts; $stderr.puts 'told'; spawn('sleep 1000'); print 'abc'";
    let (out, err, status) = Running::start(&mut kumi(&["run", "--nodes", "1", "-e", code])).end();
    assert_eq!((out.len(), err.as_str(), status), (2, "node1 | told\n", Some(0)));
    assert_eq!((out[0].len(), out[1].as_str()), ("node1 | ".len() + 300_000, "node1 | abc"));
}

#[test]
fn certificates_say_who_may_come() {
    let Some(made) = Certificates::new() else {
        eprintln!("skipped: there is no openssl that makes certificates");
        return;
    };
    made.node("east", "east", "ca", 2);
    made.node("west", "west", "ca", 2);
    made.node("stranger", "west", "foreign", 2);
    made.node("old", "west", "ca", -1);
    let mut east = made.start("east", "east", "ca", None);
    assert_eq!(east.line(), "ready");
    let address = east.ask("S.address").trim_matches('"').to_string();
    let mut west = made.start("west", "west", "ca", Some(&address));
    assert_eq!(west.line(), "ready");
    west.is("S.wait_for_nodes(2).sort", "[\"east\", \"west\"]");
    west.is("S['east'].put('k', 'x' * 1_000_000); S['east'].take('k', timeout: 20).size", "1000000");
    west.input = None;
    east.becomes("S.nodes", "[\"east\"]");
    // Of another authority: who calls is told.
    let mut other = made.start("west", "stranger", "foreign", Some(&address));
    assert_eq!(other.line(), "ready", "{}", other.errors());
    for (code, error) in [("S.wait_for_nodes(2, timeout: 1.5)", "TimeoutError: "), ("S['east'].put('k', 1)", "NotConnected: ")] {
        let a = other.ask(code);
        assert!(a.starts_with(error) && a.contains("is not of an authority that is trusted here"), "{a}");
    }
    // What no other node would let in does not begin.
    for (file, why) in [("stranger", "is not of an authority"), ("old", "has expired")] {
        let (out, err, status) = made.start("west", file, "ca", Some(&address)).end();
        assert!(out.is_empty() && status == Some(78) && err.contains(why), "{file}: {out:?} {err}");
    }
    // A node's certificate names the node.
    let other = made.start("north", "west", "ca", Some(&address));
    let (out, err, status) = other.end();
    assert!(out.is_empty() && status == Some(78) && err.contains("north"), "{out:?} {err}");
    let mut plain = Running::start(&mut kumi(&["node", "west", "--join", &address, "puppet.rb"]));
    assert_eq!(plain.line(), "ready");
    plain.fails("S.wait_for_nodes(2, timeout: 1.5)", "TimeoutError: 1 of 2 nodes within 1.5 s: west; connections that failed: ");
    east.is("S.nodes", "[\"east\"]");
    east.is("S.local.size('k')", "0");
    assert_eq!(east.errors(), "");
}
