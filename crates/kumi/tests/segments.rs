//! Programs with data segments and code segments print what stands beside them, in each mode of the runtime.
//!
//! In the slow modes those that take a count of rounds from the environment do fewer.

mod common;
use common::{Modes, check_all, seed};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(240);

fn few(name: &'static str, n: u32) -> Modes {
    vec![(name, n.to_string()), ("KUMI_TEST_COUNT", "150".into()), ("KUMI_TEST_ROUNDS", "300".into())]
}

#[test]
fn programs_print_what_is_recorded() {
    check_all(&["segments"], &vec![], Duration::from_secs(120));
}

#[test]
fn programs_print_the_same_with_copies_at_every_hand_over() {
    check_all(&["segments"], &few("KUMI_SEGMENT_STRESS", 1), LIMIT);
}

#[test]
fn programs_print_the_same_under_collector_stress() {
    check_all(&["segments"], &few("KUMI_GC_STRESS", seed(97)), LIMIT);
}

#[test]
fn programs_print_the_same_while_nurseries_retire_and_objects_are_published_by_chance() {
    check_all(&["segments"], &few("KUMI_TLH_STRESS", seed(7)), LIMIT);
}

#[test]
fn programs_print_the_same_in_another_order_of_steps() {
    for workers in ["2", "4"] {
        let mut modes = few("KUMI_SCHED_STRESS", seed(11));
        modes.push(("KUMI_WORKERS", workers.into()));
        check_all(&["segments"], &modes, LIMIT);
    }
}
