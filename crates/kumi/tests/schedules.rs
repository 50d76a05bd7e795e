//! When nodes collect: each for itself, or all together; what becomes of orders, requests and coordinators.
//!
//! A bound only tells an answer from a hang. What a test starts is killed when the test ends, however it does.

#[path = "common/nodes.rs"]
mod harness;

use harness::*;
use std::time::{Duration, Instant};

/// What each puppet knows: to have so many megabytes grow old, by full collections if there are to be some; and what it has seen.
const KNOWS: &str = r#"def grow(mb) = (mb.times { |m| ($kept ||= []) << Array.new(1000) { "%01000d" % m } }; $kept.size); def of(key) = GC.stat(:schedule)[key]; 1"#;

fn nodes<const N: usize>(p: &Puppets, names: [&str; N], policy: &str) -> [Running; N] {
    let mut all = p.of_changed(names, |_, c| {
        c.args(["--gc-schedule", policy]);
    });
    for node in &mut all {
        node.is(KNOWS, "1");
        node.becomes(&format!("of(:members) == {N} && !of(:coordinator).nil?"), "true");
    }
    all
}

/// Has a node that needs full collections, and has decided on some of them.
fn collects(node: &mut Running) {
    node.becomes("grow(16); of(:collected) > 0", "true");
}

#[test]
fn a_node_that_collects_has_all_collect_where_they_are_synchronised() {
    let p = Puppets::patient();
    let [mut east, mut west, mut south] = nodes(&p, ["east", "west", "south"], "synchronised");
    for other in [&mut west, &mut south] {
        other.is("of(:full)[:mode]", ":synchronised");
        other.is("$had = GC.stat(:full_count); 1", "1");
    }
    collects(&mut east);
    for other in [&mut west, &mut south] {
        let start = Instant::now();
        // An order that can't be sent is lost: the next collection has another. One that is heard is obeyed.
        while other.ask("of(:orders_heard) > 0") != "true" {
            assert!(start.elapsed() < HANG, "{}, {}", other.ask("GC.stat(:schedule)"), east.ask("GC.stat(:schedule)"));
            std::thread::sleep(Duration::from_millis(200));
            east.is("$kept = nil; grow(8); 1", "1");
        }
        other.becomes("GC.stat(:full_count) > $had && of(:ordered) > 0", "true");
        other.is("of(:collected)", "0");
    }
}

#[test]
fn a_node_that_collects_tells_nobody_where_each_is_independent() {
    let p = Puppets::patient();
    let [mut east, mut west] = nodes(&p, ["east", "west"], "independent");
    collects(&mut east);
    // What was said before this has come by now.
    west.becomes("of(:messages_heard) > 0", "true");
    east.is("of(:orders_sent)", "0");
    west.is("[of(:orders_heard), of(:ordered), of(:full)[:mode]]", "[0, 0, :independent]");
}

#[test]
fn a_program_that_asks_for_a_collection_has_it_at_once_and_alone() {
    let p = Puppets::patient();
    for policy in ["synchronised", "interruptible", "staggered"] {
        let [mut east, mut west] = nodes(&p, ["east", "west"], policy);
        west.is("$had = GC.stat(:full_count); 1", "1");
        east.is("n = GC.stat(:full_count); 3.times { GC.start }; GC.stat(:full_count) - n >= 3", "true");
        east.is("n = GC.stat(:young_count); GC.start(full_mark: false); GC.stat(:young_count) > n", "true");
        // Others that nobody has to wait for are asked after that.
        east.is("S['west'].put('said', 1); 1", "1");
        west.is("S.local.take('said'); GC.stat(:full_count) - $had", "0");
    }
}

#[test]
fn full_collections_go_in_slices_together_where_they_may_be_interrupted() {
    let p = Puppets::patient();
    let [mut east, mut west] = nodes(&p, ["east", "west"], "interruptible");
    for node in [&mut east, &mut west] {
        node.becomes("grow(8); GC.stat(:cycle_count) > 0", "true");
        // What was marked in slices was all there is.
        node.becomes("grow(1); $kept.sum(&:size) == $kept.size * 1000 && GC.stat(:cycle_count) > 1", "true");
        // What one slice marks may be all there is: then there is to be more.
        node.becomes("grow(8); GC.stat(:slice_count) > GC.stat(:cycle_count)", "true");
    }
    east.is("of(:orders_sent) > 0", "true");
    east.is("n = GC.stat(:full_count); GC.start; GC.stat(:full_count) - n", "1");
    east.becomes("$had ||= (n = GC.stat(:cycle_count); GC.start(immediate_mark: false); n); GC.stat(:cycle_count) > $had", "true");
}

#[test]
fn a_node_that_waits_marks_before_it_has_to_where_schedules_are_combined() {
    let p = Puppets::patient();
    let [mut east, mut west] = nodes(&p, ["east", "west"], "combined");
    west.is("Thread.new { loop { S.local.take('go'); sleep 0.05; S['east'].put('late', 1) } }; 1", "1");
    // It never had to collect, nor was it told to.
    east.becomes(
        "grow(1); S['west'].put('go', 1); S.local.take('late'); [GC.stat(:cycle_count) > 0, of(:collected), of(:ordered)]",
        "[true, 0, 0]",
    );
    east.is("[of(:orders_sent), $kept.sum(&:size) == $kept.size * 1000]", "[0, true]");
}

#[test]
fn nobody_waits_for_a_coordinator() {
    for (policy, how) in [("adaptive-synchronised", libc::SIGKILL), ("measured", libc::SIGSTOP)] {
        let p = Puppets::new();
        let names = ["east", "west", "south"];
        let mut all = nodes(&p, names, policy);
        let first = all[0].ask("of(:coordinator)");
        let lost = names.iter().position(|n| first == format!("{n:?}")).unwrap();
        all[lost].signal(how);
        for (i, node) in all.iter_mut().enumerate().filter(|(i, _)| *i != lost) {
            // Each answer comes while nobody coordinates, or after that.
            collects(node);
            node.is("GC.start; $kept.sum(&:size) == $kept.size * 1000", "true");
            assert_ne!(names[i], names[lost]);
        }
        for node in all.iter_mut().enumerate().filter(|(i, _)| *i != lost).map(|(_, n)| n) {
            node.becomes(&format!("of(:coordinator) != {first} && of(:members) == 2"), "true");
        }
        all[lost].signal(libc::SIGCONT);
    }
}

#[test]
fn a_wait_for_another_node_is_idle_time_and_one_for_a_clock_is_not() {
    let p = Puppets::patient();
    let [mut east, mut west] = nodes(&p, ["east", "west"], "independent");
    east.is("n = of(:idle_ns); sleep 0.3; of(:idle_ns) - n < 50_000_000", "true");
    east.say("n, t = of(:idle_periods), of(:idle_ns); S.local.take('late'); [of(:idle_periods) > n, of(:idle_ns) - t > 10_000_000]");
    west.becomes("S['east'].stat('late')[:waiting]", "1");
    west.is("sleep 0.3; S['east'].put('late', 1)", "1");
    assert_eq!(east.answer(), "[true, true]");
}

#[test]
fn what_is_done_while_nothing_else_can_be_counts_as_speculative() {
    let p = Puppets::patient();
    let [mut east] = nodes(&p, ["east"], "measured");
    let waits =
        "n = of(:speculative_ns); main, $go = Thread.current, false; Thread.new { sleep 0.01 until main.stop?; sleep 0.1; $go = true }; ";
    east.is(&format!("{waits}Kumihimo.speculate {{ 1000.times {{ |i| i.to_s }} until $go }}.join; of(:speculative_ns) > n"), "true");
    east.is("n = of(:speculative_ns); t = Thread.new { 200_000.times { |i| i.to_s } }; t.join; of(:speculative_ns) - n", "0");
}

#[test]
fn names_are_told_where_there_is_none_of_them() {
    let names = "independent, synchronised, adaptive-synchronised, adaptive-independent, staggered, forecast, measured, interruptible, combined, FI, FS, AS, AI";
    for arguments in
        [&["run", "--nodes", "2", "--gc-schedule", "often", "-e", "1"][..], &["node", "east", "--gc-schedule=often", "-e", "1"]]
    {
        let (_, err, status) = Running::start(&mut kumi(arguments)).end();
        assert!(err.contains(&format!("is one of {names}, not \"often\"")), "{err}");
        assert_ne!(status, Some(0));
    }
    let listen = "begin; Kumihimo::Segments.listen('a', gc_schedule: 'often'); rescue ArgumentError; puts $!.message; end; p Kumihimo::Segments.node";
    let (out, err, _) = Running::start(&mut kumi(&["-W0", "-rkumihimo/segments", "-e", listen])).end();
    assert_eq!(
        (&out[..], err.as_str()),
        (&[format!("no schedule of collections is called \"often\"; there are {names}"), "nil".into()][..], "")
    );
    // The environment's is named, and passed over.
    let program = "Kumihimo::Segments.listen('a'); p GC.stat(:schedule)";
    let (out, err, _) = Running::start(kumi(&["-rkumihimo/segments", "-e", program]).env("KUMI_GC_SCHEDULE", "often")).end();
    assert!(err.contains("KUMI_GC_SCHEDULE=\"often\" cannot be used"), "{err}");
    assert_eq!(out, ["nil"]);
    let program = "Kumihimo::Segments.listen('a'); p GC.stat(:schedule)[:policy]; Kumihimo::Segments.leave; p GC.stat(:schedule)";
    let (out, err, _) = Running::start(kumi(&["-rkumihimo/segments", "-e", program]).env("KUMI_GC_SCHEDULE", "FS")).end();
    assert_eq!((&out[..], err.as_str()), (&[":synchronised".to_string(), "nil".into()][..], ""));
}

#[test]
fn the_page_shows_what_was_decided() {
    let p = Puppets::patient();
    let [mut east, _west] = nodes(&p, ["east", "west"], "staggered");
    collects(&mut east);
    let look = "require 'kumihimo/top'; $top = Kumihimo::Top.new([$page = Kumihimo::Segments.web]); $s = ($all = $top.__send__(:look))[:schedule]; 1";
    east.is(look, "1");
    east.is("$s.values_at(:policy, :members).push($s[:full][:mode])", "[\"staggered\", 2, \"independent\"]");
    east.is("%w[collected decided].all? { |what| $s[:events].any? { |e| e[:what] == what } }", "true");
    east.is("$top.__send__(:screen, $all, 100, 120, false).grep(/^schedule  staggered: full independent, .*decided here|ago: full decision=/).size > 1", "true");
    let metrics = "u = URI($page); Net::HTTP.start(u.host, u.port) { |h| h.get('/metrics', 'Authorization' => 'Bearer ' + u.query[/token=(.*)/, 1]).body }";
    east.is(&format!("({metrics})[/^kumi_schedule_decisions_total.*collect.* (\\d+)/, 1].to_i > 0"), "true");
    east.is("S.prefer(%w[west east])", "\"west\"");
}

#[test]
fn the_page_has_a_timeline_of_idle_time_collections_and_messages() {
    let p = Puppets::patient();
    let [mut east, mut west] = nodes(&p, ["east", "west"], "interruptible");
    east.say("S.local.take('late')");
    west.becomes("S['east'].stat('late')[:waiting]", "1");
    west.is("sleep 1; S['east'].put('late', 1)", "1");
    assert_eq!(east.answer(), "1");
    // In slices, which are told one by one.
    east.becomes("grow(8); GC.stat(:cycle_count) > 0", "true");
    east.is("require 'kumihimo/top'; $top = Kumihimo::Top.new([S.web]); $t = $top.__send__(:look)[:schedule][:timeline]; $t[:ms]", "250.0");
    let sums = "$sum = $t[:parts].transpose.drop(1).map(&:sum); ";
    east.is(
        &format!("{sums}idle, periods, _, _, full, sent, heard = $sum; [idle > 100, periods > 0, full > 0, sent > 0, heard > 1]"),
        "[true, true, true, true, true]",
    );
    // Nothing counts twice.
    east.is("$t[:parts].all? { |part| part[1] + part[3] + part[4] + part[5] <= 250.001 }", "true");
    east.is("of(:full)[:collection_ns] > 0", "true");
}

/// Who a group's turn comes to.
const TURNS: &str =
    "def who(m) = m.equal?(S.local) ? S.node : m.node; def turns(n) = Array.new(n) { who($g.any) }.tally; $g = S.group('all'); 1";

#[test]
fn what_any_member_can_do_goes_to_each_in_its_turn_but_for_those_that_are_about_to_collect() {
    let p = Puppets::patient();
    let [mut east, mut west, mut south] = nodes(&p, ["east", "west", "south"], "staggered");
    east.is(TURNS, "1");
    east.is("class << S; alias told? collecting?; end; 1", "1");
    // West collects again and again, and says so.
    west.is("$old = Array.new(40_000) { |i| [i.to_s * 20] }; GC.start; $grows = Thread.new { loop { $new = Array.new(20_000) { |i| [i.to_s] } } }; 1", "1");
    east.is("$sum = Hash.new(0); 1", "1");
    east.becomes("300.times { $sum[who($g.any)] += 1; sleep 0.001 }; $sum['west'] < $sum['east'] && $sum['west'] < $sum['south']", "true");
    west.is("$grows.kill; 1", "1");
    south.is("S.local.put('here', 1)", "1");
    // Where all are, none is avoided; and one that has been is not avoided for ever.
    east.is("def S.collecting?(node = nil) = true; turns(300).values", "[100, 100, 100]");
    east.is("def S.collecting?(node = nil) = node == 'west'; turns(300).key?('west')", "false");
    east.is("def S.collecting?(node = self.node) = told?(node); 1", "1");
    east.becomes("turns(3).size", "3");
}

#[test]
fn a_node_that_is_about_to_collect_takes_little_of_a_list() {
    let p = Puppets::patient();
    let [mut east, mut west] = nodes(&p, ["east", "west"], "staggered");
    // Parts of a list as they are given out: east has 0 to 19, west 20 to 39.
    east.is("$share = Kumihimo::Cluster.const_get(:Share).new(%w[east west south], 60); $share.next('west', ['west'])", "[20, 1]");
    east.is("$share.next('west')", "[21, 4]");
    // South's is worked off first, then west's before east's, which is longer.
    east.is("$parts = $share.instance_variable_get(:@parts); $share.next('south') while $parts['south'].uniq.size > 1; 1", "1");
    east.is("$share.next('south', ['west'])", "[32, 2]");
    // West gets none of east's.
    east.is("nil while (part = $share.next('west', ['west'])) && part[0] >= 20; part", "nil");
    east.is("$share.next('east', ['west'])", "[0, 5]");
    // Where both are about to, somebody must.
    east.is("$share.next('west', %w[east west south]).nil?", "false");
    for node in [&mut east, &mut west] {
        node.say("require 'kumihimo/cluster'; def S.collecting?(node = nil) = node == 'west'; $mine = 0; Kumihimo.pmap((1..40).to_a) { |x| $mine += 1; sleep 0.002; x * x } == (1..40).map { |x| x * x } && (S.node == 'east' || $mine <= 20)");
    }
    assert_eq!((east.answer(), west.answer()), ("true".into(), "true".into()));
}

#[test]
fn with_full_collections_only_there_are_no_young_ones() {
    let counts = "s = GC.stat; p [s[:young_count], s[:full_count] > 1, keep.size]";
    let program = format!(
        "keep = []; 40.times {{ |m| keep << Array.new(1000) {{ '%01000d' % m }} }}; {counts}; n = GC.stat[:full_count]; GC.start(full_mark: false); p GC.stat[:full_count] - n"
    );
    let (out, err, _) = Running::start(kumi(&["-W0", "-e", &program]).env("KUMI_GC", "full")).end();
    assert_eq!((out.join(" "), err.as_str()), ("[0, true, 40] 1".into(), ""));
    // Memory that is limited is enough for what lives, and twice as much litter.
    let program = "keep = Array.new(1000) { '%01000d' % 1 }; 200_000.times { |i| $x = [i.to_s * 30] }; p keep.size, GC.stat[:young_count]";
    let (out, err, _) = Running::start(kumi(&["-W0", "-e", program]).envs([("KUMI_GC", "full"), ("KUMI_HEAP_MAX", "24M")])).end();
    assert_eq!((out.join(" "), err.as_str()), ("1000 0".into(), ""));
    let p = Puppets::patient();
    for policy in ["synchronised", "measured"] {
        let mut all = p.of_changed(["east", "west"], |_, c| {
            c.args(["--gc-schedule", policy]).env("KUMI_GC", "full");
        });
        for node in &mut all {
            node.is(KNOWS, "1");
            node.becomes("of(:members) == 2 && !of(:coordinator).nil?", "true");
        }
        let [mut east, mut west] = all;
        collects(&mut east);
        east.is("GC.stat(:young_count)", "0");
        if policy == "synchronised" {
            west.becomes("of(:ordered) > 0", "true");
        }
        west.becomes("grow(16); of(:collected) + of(:grown) > 0", "true");
        west.is("GC.stat(:young_count)", "0");
    }
}

#[test]
fn the_log_tells_what_was_decided_and_by_what() {
    let program = "keep = []; 60.times { |m| keep << Array.new(1000) { '%01000d' % m } }";
    let (_, err, status) = Running::start(&mut kumi(&["node", "east", "--gc-schedule", "FI", "--gc-log", "-e", program])).end();
    assert_eq!(status, Some(0), "{err}");
    let line = err.lines().find(|l| l.contains("s schedule full decision=")).unwrap_or_else(|| panic!("{err}"));
    for field in [
        "decision=",
        "cause=promoted",
        "mode=independent",
        "heap=",
        "grown=",
        "largest=",
        "since=",
        "collection=",
        "idle_periods=",
        "utilisation=",
        "useful=",
    ] {
        assert!(line.contains(&format!(" {field}")), "{field}: {line}");
    }
}

/// The programs of the guide as one for both nodes, whose `# => value` are checked.
#[test]
fn the_guide_is_right() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/SCHEDULES.md");
    let text = std::fs::read_to_string(page).unwrap();
    // Neither node goes on, or ends, while the other is at something that both see.
    const TOGETHER: &str = "Kumihimo::Cluster.barrier\n";
    let mut program = String::from(TOGETHER);
    let mut checks = 0;
    for block in text.split("```ruby\n").skip(1).filter_map(|b| b.split("```").next()) {
        for line in block.lines() {
            match line.split_once(" # => ") {
                Some((code, want)) => {
                    checks += 1;
                    program.push_str(&format!("found = ({code}).inspect; puts %q({line} is not) + \" #{{found}}\" if found != {want:?}\n"));
                }
                None => program.push_str(&format!("{line}\n")),
            }
        }
        program.push_str(TOGETHER);
    }
    assert!(checks > 5);
    let (out, err, status) =
        Running::start(&mut kumi(&["run", "--nodes", "2", "--gc-schedule", "measured", "--patience", "6", "-e", &program])).end();
    assert_eq!((out, err.as_str(), status), (vec![], "", Some(0)));
}
