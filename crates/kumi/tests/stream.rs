//! Programs that read documents and flows while they arrive print the same in any order of steps, whenever the collector
//! runs, and on any number of workers.

mod common;
use common::{Job, Modes, check, check_all, programs, seed};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(240);

fn order(n: u32) -> (&'static str, String) {
    ("KUMI_SCHED_STRESS", n.to_string())
}

fn in_mode(modes: Modes) {
    check_all(&["stream"], &modes, LIMIT);
}

#[test]
fn streams_print_what_is_recorded() {
    in_mode(vec![]);
}

#[test]
fn one_worker_and_four_print_the_same() {
    in_mode(vec![("KUMI_WORKERS", "1".into())]);
    in_mode(vec![("KUMI_WORKERS", "4".into())]);
}

#[test]
fn streams_print_the_same_in_another_order_of_steps() {
    let s = seed(3);
    in_mode(vec![order(s), ("KUMI_WORKERS", "2".into())]);
    in_mode(vec![order(s + 100), ("KUMI_WORKERS", "4".into())]);
}

/// Each program in the modes it gets; said is whether it is one of flows, which work on very many elements.
fn in_modes(modes: impl Fn(bool) -> Modes) {
    let jobs: Vec<Job> = programs("stream")
        .into_iter()
        .map(|program| {
            let flows = program.file_name().is_some_and(|name| name.to_string_lossy().starts_with("flow_"));
            Job { program, modes: modes(flows) }
        })
        .collect();
    check(&jobs, LIMIT);
}

/// Flows are collected less often, and their heaps are not verified.
fn collected(n: u32, more: Modes) {
    in_modes(|flows| {
        let mut modes = more.clone();
        if flows {
            modes.push(("KUMI_VERIFY", "0".into()));
        }
        modes.push(("KUMI_GC_STRESS", (if flows { n * 100 } else { n }).to_string()));
        modes
    });
}

#[test]
fn streams_print_the_same_under_collector_stress() {
    collected(seed(97), vec![]);
    collected(seed(197), vec![order(seed(5)), ("KUMI_WORKERS", "2".into())]);
}

/// A move costs some microseconds: of the calls of flows, which are very many, one in a hundred moves its stack.
#[test]
fn streams_print_the_same_while_stacks_move() {
    in_modes(|flows| vec![("KUMI_STACK_STRESS", seed(if flows { 97 } else { 2 }).to_string())]);
}

#[test]
fn streams_print_the_same_while_nurseries_retire_by_chance() {
    in_mode(vec![("KUMI_TLH_STRESS", seed(7).to_string())]);
}
