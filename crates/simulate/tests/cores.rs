//! Nodes that share cores.

use kumi_schedule::Policy;
use kumi_simulate::generate::{Pattern, Shape};
use kumi_simulate::{Drawing, Options, Outcome, Setting, Time, Trace, replay};

const MS: Time = 1_000_000;

fn on(cores: u32) -> Setting {
    Setting { cores, control: 0, switch: 0, ..Setting::local() }
}
fn run(trace: &Trace, setting: &Setting) -> Outcome {
    let drawing = Drawing { nodes: 16, most: 100_000 };
    replay(trace, setting, &Options { drawing, ..Options::new(Policy::Combined) }).unwrap()
}
fn text(nodes: u32, steps: &str) -> Trace {
    Trace::parse(&format!("kumi-trace 1\nnodes {nodes}\n{steps}")).unwrap()
}

#[test]
fn as_many_cores_as_nodes_are_as_none_and_fewer_give_one_outcome() {
    for pattern in Pattern::all() {
        let trace = pattern.trace(&Shape { computes: 1000 * MS, ..Shape::ap1000(6, 7) });
        for base in [Setting::local(), Setting::ap1000()] {
            let cores = |cores| run(&trace, &Setting { cores, ..base });
            assert_eq!(cores(6), cores(0));
            let shared = cores(2);
            assert_eq!(shared, cores(2));
            assert!(shared.end > cores(0).end, "{}", pattern.name());
            for p in &shared.nodes {
                assert_eq!(p.active + p.speculative + p.idle + p.collecting + p.overhead, shared.end);
            }
        }
    }
}

#[test]
fn those_that_compute_share_fairly_and_nothing_is_lost() {
    let trace = text(3, "task 0 c100000000\ntask 1 c100000000\ntask 2 c100000000\n");
    let out = run(&trace, &on(2));
    // 300 ms on two cores; at the end one core may have nobody for a tick's time.
    assert!((150 * MS..=150 * MS + 4 * MS).contains(&out.end), "{}", out.text());
    assert_eq!(run(&trace, &on(1)).end, 300 * MS);
    // A collection needs a core, too.
    let trace = text(2, "task 0 k10485760 g\ntask 1 k10485760 g\n");
    let (own, one) = (run(&trace, &on(0)), run(&trace, &on(1)));
    assert_eq!(one.end, 2 * own.end);
}

#[test]
fn a_node_that_slept_soon_has_a_core_and_takes_it_from_who_ran_most() {
    // Node 0 asks once in a while; the others do nothing but compute.
    let busy: String = (1..4).map(|n| format!("task {n} c400000000\n")).collect();
    let mut asks = "task 0".to_owned();
    let mut handlers = String::new();
    for i in 0..20 {
        asks.push_str(&format!(" z10000000 s{}>1:8 w{}", 2 * i + 1, 2 * i + 2));
        handlers.push_str(&format!("handler 1 w{} c10000 s{}>0:8\n", 2 * i + 1, 2 * i + 2));
    }
    let trace = text(4, &format!("{asks}\n{busy}{handlers}"));
    let out = run(&trace, &on(2));
    let idle = out.nodes[0].idle;
    // It waits for each answer no longer than for three ticks.
    assert!(idle >= 200 * MS && out.nodes[0].active == 0, "{}", out.text());
    assert!(out.end >= 600 * MS && out.end < 620 * MS, "{}", out.text());
    let asked = run(&text(4, &format!("{asks}\ntask 1 c1\n{handlers}")), &on(2)).end;
    let alone = run(&text(4, &format!("{asks}\ntask 1 c1\n{handlers}")), &on(0)).end;
    assert_eq!(asked, alone);
}
