//! The programs that the heap is measured with print the same whatever decides where their objects are born and when
//! they are collected: under each rule, with small nurseries, and while cells are published and nurseries retired at random.
//!
//! KUMI_TEST_SEED picks other choices.

#[allow(dead_code)]
mod common;
use common::{Job, Modes, check, programs, seed};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(180);

fn in_all(modes: &[Modes]) {
    let mut jobs = Vec::new();
    for program in programs("heap_programs") {
        for m in modes {
            let mut modes = m.clone();
            modes.push(("KUMI_WORKERS", "2".into()));
            jobs.push(Job { program: program.clone(), modes });
        }
    }
    check(&jobs, LIMIT);
}

fn rule(name: &str) -> Modes {
    vec![("KUMI_TLH", name.into())]
}

#[test]
fn every_rule_gives_the_same_results() {
    let mut small = rule("closure");
    small.push(("KUMI_WINDOW", "8".into()));
    in_all(&[rule("off"), rule("paper"), rule("closure"), small]);
}

#[test]
fn random_publishing_and_retirement_change_nothing() {
    let s = seed(1);
    let stressed = |name: &str, k: u32| {
        let mut m = rule(name);
        m.push(("KUMI_TLH_STRESS", (s * 10 + k).to_string()));
        m
    };
    in_all(&[stressed("closure", 1), stressed("closure", 2), stressed("paper", 3)]);
}

#[test]
fn collections_at_every_turn_change_nothing() {
    let mut m = rule("closure");
    m.push(("KUMI_GC_STRESS", (997 + seed(1)).to_string()));
    in_all(&[m]);
}
