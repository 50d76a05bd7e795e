//! Replays: equal to the byte, of any trace whatever, and how large.

use kumi_chance::Chance;
use kumi_schedule::Policy;
use kumi_simulate::generate::{Pattern, Shape};
use kumi_simulate::{Class, Drawing, Failure, Invalid, Options, Setting, Step, Task, Time, Trace, Young, replay};

const MS: Time = 1_000_000;

fn drawn(policy: Policy) -> Options {
    Options { drawing: Drawing { nodes: 16, most: 100_000 }, ..Options::new(policy) }
}
fn text(steps: &str) -> Trace {
    Trace::parse(&format!("kumi-trace 1\nnodes 2\n{steps}")).unwrap()
}
fn fails(steps: &str) -> Failure {
    replay(&text(steps), &Setting::ap1000(), &Options::new(Policy::Synchronised)).unwrap_err()
}

#[test]
fn two_replays_are_equal_to_the_byte() {
    for pattern in Pattern::all() {
        let shape = Shape { computes: 2000 * MS, ..Shape::ap1000(6, 7) };
        let trace = pattern.trace(&shape);
        assert_eq!(trace, pattern.trace(&shape));
        let read = Trace::parse(&trace.text()).unwrap();
        assert_eq!(read, trace);
        for policy in Policy::all() {
            let (a, b) = (replay(&trace, &Setting::ap1000(), &drawn(policy)), replay(&read, &Setting::ap1000(), &drawn(policy)));
            let (a, b) = (a.unwrap(), b.unwrap());
            assert_eq!((a.text(), a.timeline.svg("x")), (b.text(), b.timeline.svg("x")));
            assert_eq!(a, b);
            for p in &a.nodes {
                assert_eq!(p.active + p.speculative + p.idle + p.collecting + p.overhead, a.end);
            }
        }
    }
}

#[test]
fn time_is_spent_as_the_setting_says() {
    let s = Setting::ap1000();
    // A round trip of 40 µs, and 2 × 64 bytes at 25 MB/s.
    let out = replay(&text("task 0 s1>1:64 w2\nhandler 1 w1 s2>0:64\n"), &s, &Options::new(Policy::Independent)).unwrap();
    assert!((40_000 + 5_120..60_000).contains(&out.end), "{}", out.text());
    // A collection of 2 MB that live, and what waits for it.
    let out = replay(&text("task 0 k2097152 g c1000\ntask 1 c1000\n"), &s, &Options::new(Policy::Synchronised)).unwrap();
    assert_eq!((out.nodes[0].collecting, out.nodes[0].collections, out.nodes[1].collections), (s.collection(2 << 20, 3 << 20), 1, 0));
    // What is asked of a node that collects waits.
    let out =
        replay(&text("task 0 k2097152 g\ntask 1 c1000 s1>0:8 w2\nhandler 0 w1 s2>1:8\n"), &s, &Options::new(Policy::Independent)).unwrap();
    assert!(out.nodes[1].idle > s.collection(2 << 20, 0), "{}", out.text());
    // Handlers interrupt, speculative tasks are interrupted, and need not end.
    let steps = "spec 0 c1000000000000\ntask 0 t1000000 c1000000\ntask 1 t1500000 s1>0:8 w2 c1\nhandler 0 w1 c10000 s2>1:8\n";
    let out = replay(&text(steps), &s, &Options::new(Policy::Independent)).unwrap();
    assert!(out.end < 2 * MS + 100_000 && out.nodes[0].active == MS + 10_000 && out.nodes[0].speculative > 900_000, "{}", out.text());
    assert_eq!(out.latencies.len(), 2);
    assert!(out.percentile(0) <= out.percentile(999) && out.percentile(1000) == *out.latencies.last().unwrap());
}

#[test]
fn heaps_follow_the_rule() {
    // 1 MB lives: the heap settles at one and a half of it, and is not larger than what another one needs.
    let steps = "task 0 k1048576".to_owned() + &" c1000000 a65536".repeat(400) + "\ntask 1 c1000\n";
    let small = Setting { heap: 1 << 16, ..Setting::ap1000() };
    let out = replay(&text(&steps), &small, &Options::new(Policy::Independent)).unwrap();
    let size = out.nodes[0].peak as f64 / (1 << 20) as f64;
    assert!((1.5..1.7).contains(&size), "{size}");
    assert!(out.nodes[0].collections > 40);
}

#[test]
fn a_heap_of_two_generations_is_as_todays() {
    let young = Young { space: 1 << 20, fixed: 10_000, live_kb: 1000 };
    let s = Setting { young, ..Setting::ap1000() };
    // 8 MB die young and 4 MB stay: a young collection for each MB, or two once so much lives; full ones where as much has grown old.
    let steps = "task 0".to_owned() + &" c1000000 a65536 k32768".repeat(128) + "\ntask 1 c1000000 a2097152 k1048576 c1\n";
    let both = [Policy::Independent, Policy::Synchronised].map(|p| replay(&text(&steps), &s, &Options::new(p)).unwrap());
    for out in &both {
        let p = &out.nodes[0];
        assert!((5..=9).contains(&p.young) && (1..=2).contains(&p.collections), "{}", out.text());
        assert!(p.peak < 8 << 20, "what dies young goes: {}", out.text());
    }
    // Nobody tells anybody of them but in step, where the other node obeys.
    assert_eq!((both[0].orders, both[0].nodes[1].ordered), (0, 0));
    assert!(both[1].orders > 0 && both[1].nodes[1].ordered > 0, "{}", both[1].text());
    // One takes what the setting says; what was let go of stays until a full one.
    let steps = "task 0 k524288 a600000 r524288 a400000 c1000 k1 a4000000\ntask 1 c1000\n";
    let out = replay(&text(steps), &s, &Options::new(Policy::Independent)).unwrap();
    assert_eq!((out.nodes[0].young, out.nodes[0].collections), (2, 0), "{}", out.text());
    assert_eq!(out.nodes[0].collecting, s.young_collection(524_288) + s.young_collection(1));
    assert!(out.nodes[0].peak >= 524_288 + 4_000_000);
    // No more lives than may.
    let small = Setting { limit: 2 << 20, ..s };
    let full = replay(&text("task 1 k1048576 k1048577\n"), &small, &Options::new(Policy::Independent));
    assert!(matches!(full, Err(Failure::OutOfMemory { node: 1, .. })), "{full:?}");
}

#[test]
fn a_node_marks_while_it_waits_and_answers_meanwhile() {
    // Node 0 has come more than half way to its next collection, and waits. Marking takes 0.3 s, in slices of a millisecond.
    let mut steps = "task 0 k2097152 a700000 c1000 w1000\ntask 1 c5000000".to_owned();
    for i in 0..50 {
        steps += &format!(" s{}>0:8 w{} c200000", 2 * i, 2 * i + 1);
    }
    steps += " s1000>0:8\n";
    for i in 0..50 {
        steps += &format!("handler 0 w{} s{}>1:8\n", 2 * i, 2 * i + 1);
    }
    let [fi, ours] = [Policy::Independent, Policy::Combined].map(|p| replay(&text(&steps), &Setting::ap1000(), &Options::new(p)).unwrap());
    assert!(fi.nodes[0].collecting == 0 && ours.nodes[0].collecting > 5 * MS, "{}", ours.text());
    assert!(ours.end - fi.end < 51 * 60_000, "{}", ours.text());
    // Others are told nothing of that.
    assert_eq!((ours.nodes[1].collecting, ours.orders), (0, 0));
}

#[test]
fn marking_in_slices_frees_what_died_young_meanwhile_and_not_what_was_marked() {
    let run = |steps: &str, policy| {
        let trace = text(&("task 0 k1048576".to_owned() + &steps.repeat(400) + "\ntask 1 c1000\n"));
        replay(&trace, &Setting { heap: 1 << 16, ..Setting::ap1000() }, &Options::new(policy)).unwrap().nodes[0].collections
    };
    let (born, let_go) = (" c1000000 a65536", " c1000000 k65536 r65536");
    assert_eq!(run(born, Policy::Independent), run(let_go, Policy::Independent));
    let [freed, floats] = [born, let_go].map(|s| run(s, Policy::Interruptible));
    assert!(freed < run(born, Policy::Independent) && freed < floats, "{freed} {floats}");
}

#[test]
fn traces_that_can_not_be_replayed() {
    assert_eq!(fails("task 0 w1\n"), Failure::Invalid(Invalid::NotSent(1)));
    assert_eq!(fails("task 0 s1>0:1 s1>0:1\n"), Failure::Invalid(Invalid::SentTwice(1)));
    assert_eq!(fails("task 0 s1>0:1 w1 w1\n"), Failure::Invalid(Invalid::AwaitedTwice(1)));
    assert_eq!(fails("task 0 s1>1:1 w1\n"), Failure::Invalid(Invalid::Elsewhere(1)));
    assert_eq!(fails("task 0 s1>2:1\n"), Failure::Invalid(Invalid::NoNode(2)));
    assert_eq!(fails("task 0 w2 s1>1:1\ntask 1 w1 s2>0:1\n"), Failure::Stuck { node: 0, task: 0 });
    assert_eq!(fails("task 1 k18446744073709551615\n"), Failure::OutOfMemory { node: 1, at: 2000 });
    assert_eq!(fails("task 1 c18446744073709551615\n"), Failure::TooLong(Setting::ap1000().longest));
    assert_eq!(fails("task 1 t18446744073709551615\n"), Failure::TooLong(Setting::ap1000().longest));
    let none = Trace { nodes: 0, tasks: vec![] };
    assert_eq!(replay(&none, &Setting::ap1000(), &Options::new(Policy::Independent)).unwrap_err(), Failure::Invalid(Invalid::Nodes(0)));
}

/// Anything that is read is replayed or refused; nothing panics.
#[test]
fn traces_of_all_kinds() {
    let mut c = Chance::new(5);
    let whole = Pattern::Cky.trace(&Shape { computes: 100 * MS, ..Shape::ap1000(2, 1) }).text().into_bytes();
    let mut replayed = 0;
    for _ in 0..3000 {
        let mut bytes = whole.clone();
        for _ in 0..c.between(1, 4) {
            let at = c.below(bytes.len() as u64) as usize;
            match c.below(3) {
                0 => bytes[at] = c.next() as u8 & 0x7F,
                1 => bytes[at] = c.pick(b"0123456789 \ncakrswtg>:"),
                _ => bytes.truncate(at.max(20)),
            }
        }
        let Ok(text) = String::from_utf8(bytes) else { continue };
        let policy = Policy::all().nth(c.below(9) as usize).unwrap();
        if let Ok(trace) = Trace::parse(&text) {
            replayed += replay(&trace, &Setting { longest: 10_000 * MS, ..Setting::ap1000() }, &drawn(policy)).is_ok() as u32;
        }
    }
    assert!(replayed > 50, "{replayed}");
    // Steps of any size, on a setting of any size.
    for _ in 0..3000 {
        let mut n = || {
            let bits = c.below(65);
            if bits == 0 { 0 } else { c.next() >> (64 - bits) }
        };
        let steps = vec![
            Step::Compute(n()),
            Step::Allocate(n()),
            Step::Keep(n()),
            Step::Release(n()),
            Step::Collect,
            Step::Send { message: 1, to: 1, bytes: n() as u32 },
            Step::At(n()),
        ];
        let setting = Setting {
            latency: n(),
            bandwidth: n(),
            send: n(),
            receive: n(),
            switch: n(),
            control: n(),
            heap: n(),
            limit: n(),
            young: Young { space: n(), fixed: n() >> 8, live_kb: n() },
            longest: 100_000 * MS,
            ..Setting::ap1000()
        };
        let other = vec![Step::Await(1), Step::Compute(n())];
        let trace = Trace {
            nodes: 2,
            tasks: vec![Task { node: 0, class: Class::Normal, steps }, Task { node: 1, class: Class::Handler, steps: other }],
        };
        let _ = replay(&trace, &setting, &drawn(Policy::Synchronised));
    }
}

#[test]
fn four_thousand_nodes() {
    let trace = Pattern::BarnesHut.trace(&Shape { computes: 2000 * MS, grain: 50 * MS, ..Shape::ap1000(4096, 1) });
    let [fi, fs] = [Policy::Independent, Policy::Synchronised].map(|p| replay(&trace, &Setting::ap1000(), &Options::new(p)).unwrap());
    assert!(fi.nodes.len() == 4096 && fi.total().active == fs.total().active && fs.orders > 0);
}

#[test]
fn a_picture() {
    let trace = Pattern::BarnesHut.trace(&Shape { computes: 3000 * MS, ..Shape::ap1000(4, 1) });
    let small = Setting { heap: 2 << 20, ..Setting::ap1000() };
    let svg = replay(&trace, &small, &drawn(Policy::Synchronised)).unwrap().timeline.svg("BH <4> & more\u{7}");
    assert!(svg.starts_with("<svg xmlns") && svg.ends_with("</svg>\n") && svg.contains("prefers-color-scheme: dark"));
    assert!(svg.contains("BH &lt;4&gt; &amp; more (simulated)") && svg.contains("node 3") && !svg.contains("node 4"));
    assert!(svg.contains("orders all, synchronised; at") && svg.contains("ordered, synchronised; at"));
    assert_eq!(svg.matches("<rect").count(), svg.matches("/>").count() - svg.matches("<line").count() + svg.matches("</rect>").count());
    if let Ok(to) = std::env::var("KUMI_SVG") {
        std::fs::write(to, svg).unwrap();
    }
}
