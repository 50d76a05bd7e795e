//! Programs whose threads share objects print the same on any number of workers and under any order of steps: each
//! operation on a core object is one step, and nothing is lost, doubled or torn.
//!
//! KUMI_TEST_SEED picks another order. tests/parallel/stress.rb runs for as long as one likes by hand:
//! `KUMI_WORKERS=4 KUMI_SCHED_STRESS=7 kumi tests/parallel/stress.rb 120 7`.

mod common;
use common::{Job, Modes, check, check_all, programs, seed};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);

fn in_all(modes: impl Fn(u32) -> Vec<Modes>) {
    let mut jobs = Vec::new();
    for (i, program) in programs("parallel").into_iter().enumerate() {
        for workers in [2, 4] {
            // Each program gets seeds of its own.
            for mut m in modes(i as u32 * 2 + workers) {
                m.push(("KUMI_WORKERS", workers.to_string()));
                jobs.push(Job { program: program.clone(), modes: m });
            }
        }
    }
    check(&jobs, LIMIT);
}

fn order(n: u32) -> (&'static str, String) {
    ("KUMI_SCHED_STRESS", n.to_string())
}

#[test]
fn operations_are_atomic_in_any_order_of_steps() {
    let s = seed(1);
    in_all(|k| vec![vec![], vec![order(s * 100 + k)], vec![order(s * 100 + k + 50)]]);
}

#[test]
fn operations_are_atomic_while_the_collector_stops_the_world() {
    let s = seed(1);
    in_all(|k| vec![vec![order(s * 100 + k + 25), ("KUMI_GC_STRESS", (97 + s + k).to_string())]]);
}

#[test]
fn operations_are_atomic_while_nurseries_retire_by_chance() {
    let s = seed(1);
    in_all(|k| vec![vec![order(s * 100 + k + 75), ("KUMI_TLH_STRESS", (s * 10 + k).to_string())]]);
}

#[test]
fn one_worker_prints_the_same() {
    check_all(&["parallel"], &vec![("KUMI_WORKERS", "1".into())], LIMIT);
}

#[test]
fn the_suite_holds_in_another_order_of_steps() {
    let modes = vec![order(seed(11)), ("KUMI_WORKERS", "2".into())];
    check_all(&["lang", "kernel", "system"], &modes, LIMIT);
}
