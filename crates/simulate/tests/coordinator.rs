//! A coordinator that ends, is stopped or is cut off, at any message: nobody waits for it.
//!
//! `KUMI_SEEDS` says how many seeds there are.

use kumi_chance::{Chance, simulate::number};
use kumi_schedule::{Mode, Policy};
use kumi_simulate::generate::{Pattern, Shape};
use kumi_simulate::{Collection, Drawing, Fault, Options, Outcome, Setting, Step, Task, Time, Trace, replay};

const MS: Time = 1_000_000;
/// How often it speaks, and how long its word is good for.
const BEAT: Time = 200 * MS;
const LEASE: Time = 700 * MS;
const DETECT: Time = 500 * MS;

/// A program on all nodes but the first, which only coordinates.
fn program(pattern: Pattern, nodes: u32, seed: u64, grain: Time) -> Trace {
    let shape = Shape { nodes, seed, computes: 2_000 * MS, grain, keeps: 1 << 19, allocates: 3 << 19 };
    let mut trace = pattern.trace(&shape);
    trace.nodes += 1;
    for task in &mut trace.tasks {
        task.node += 1;
        for step in &mut task.steps {
            if let Step::Send { to, .. } = step {
                *to += 1;
            }
        }
    }
    trace.tasks.push(Task { node: 0, class: kumi_simulate::Class::Normal, steps: vec![] });
    trace
}
fn options(policy: Policy, faults: Vec<Fault>) -> Options {
    let nodes = kumi_schedule::Options { beat: BEAT, lease: LEASE, ..Default::default() };
    Options { nodes, faults, detect: DETECT, drawing: Drawing { nodes: 64, most: 100_000 }, ..Options::new(policy) }
}
fn setting() -> Setting {
    Setting { heap: 1 << 20, ..Setting::ap1000() }
}
fn run(trace: &Trace, o: &Options) -> Outcome {
    replay(trace, &setting(), o).unwrap()
}

/// What a fault may not change: each node's computing, and the messages.
fn answer(out: &Outcome) -> (Vec<Time>, u64) {
    (out.nodes.iter().map(|p| p.active).collect(), out.messages)
}
/// When a node went over to a mode, of those after a time.
fn next_switch(out: &Outcome, node: u32, after: Time) -> Option<(Time, Mode)> {
    out.switches.iter().find(|s| s.1 == node && s.0 > after).map(|s| (s.0, s.2))
}

#[test]
fn nobody_waits_for_it() {
    let seeds = number("KUMI_SEEDS").unwrap_or(1000);
    let policies = [Policy::Adaptive(Mode::Synchronised), Policy::Adaptive(Mode::Independent), Policy::Measured, Policy::Synchronised];
    let (mut met, mut alone) = (0, 0);
    for seed in 0..seeds {
        let mut c = Chance::new(seed);
        let policy = c.pick(&policies);
        let pattern = c.pick(&[Pattern::BarnesHut, Pattern::Rna, Pattern::Ga]);
        let trace = program(pattern, c.between(2, 5) as u32, seed, 30 * MS);
        let whole = run(&trace, &options(policy, vec![]));
        let lasts = c.pick(&[Time::MAX, 300 * MS, 2000 * MS]);
        let fault = Fault { message: c.below(whole.control), node: 0, lasts, stopped: c.percent(50) };
        let out = run(&trace, &options(policy, vec![fault]));
        let case = format!("seed {seed}: {} under {}, {fault:?}", pattern.name(), policy.name());
        assert_eq!(answer(&out), answer(&whole), "{case}");
        // No slower than the worse of both ways to collect, and what switches may add.
        let bound =
            [Policy::Independent, Policy::Synchronised].map(|p| run(&trace, &options(p, vec![])).end).into_iter().max().unwrap_or(0);
        assert!(out.end < bound + bound / 4, "{case}: {} ms, {} ms at worst", out.end / MS, bound / MS);
        // A collection that a node needs begins when it is needed: its heap is never beyond its size, and it is never idle for want of it.
        assert!(out.timeline.collections.iter().all(|c| c.seen.heap.allocated <= c.seen.heap.size), "{case}");
        met += (out != whole) as u64;
        alone += out.switches.iter().any(|s| s.2 == Mode::Independent) as u64;
    }
    assert!(met > seeds / 2 && alone > seeds / 8, "{met} runs were met, in {alone} of {seeds} a node was on its own");
}

#[test]
fn a_lost_one_means_independent_until_there_is_another() {
    let trace = program(Pattern::BarnesHut, 4, 1, 5 * MS);
    let policy = Policy::Adaptive(Mode::Synchronised);
    let whole = run(&trace, &options(policy, vec![]));
    assert!(whole.switches.is_empty() && whole.orders > 3, "{}", whole.text());
    for stopped in [false, true] {
        for message in [0, whole.control / 3, whole.control / 2] {
            let slow = Options { detect: 1500 * MS, ..options(policy, vec![Fault { message, node: 0, lasts: Time::MAX, stopped }]) };
            let out = run(&trace, &slow);
            let mut ordered: Vec<&Collection> = out.timeline.collections.iter().filter(|c| c.orders).collect();
            for node in 1..=4 {
                let (lost, mode) = next_switch(&out, node, 0).unwrap_or_else(|| panic!("node {node}\n{}", out.text()));
                let (found, again) = next_switch(&out, node, lost).unwrap();
                assert_eq!((mode, again), (Mode::Independent, Mode::Synchronised));
                // Longer than the lease none has kept to it; the next one's word came when it was noticed.
                assert!(found - lost <= 1500 * MS && found > lost);
                ordered.retain(|c| !(c.node == node && (lost..found).contains(&c.at)));
            }
            assert_eq!(
                ordered.len(),
                out.timeline.collections.iter().filter(|c| c.orders).count(),
                "an order while there was no coordinator"
            );
        }
    }
}

#[test]
fn one_that_comes_back_coordinates_again() {
    let trace = program(Pattern::BarnesHut, 3, 2, 5 * MS);
    let policy = Policy::Adaptive(Mode::Synchronised);
    for stopped in [false, true] {
        let out = run(&trace, &options(policy, vec![Fault { message: 10, node: 0, lasts: 1500 * MS, stopped }]));
        let last = |node| out.switches.iter().rfind(|s| s.1 == node).map(|s| s.2);
        assert!((1..=3).all(|n| last(n) != Some(Mode::Independent)), "{}", out.text());
        assert!(out.orders > 0);
    }
}
