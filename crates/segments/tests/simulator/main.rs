//! A cluster in one process, under one queue of events and a time that is a number: what [`Node`](kumi_segments::Node) and
//! [`Client`](kumi_segments::Client) promise, whatever is lost, repeated, late, cut off, stopped or ended.
//!
//! A run follows from its seed. `KUMI_SEEDS` says how many there are in all, `KUMI_PLANTED` in how many of each mix a planted bug is looked
//! for; one run is looked at as `kumi_chance::simulate` says.

mod actor;
mod book;
mod plan;
mod world;

use kumi_chance::simulate::{self, number};
use kumi_segments::Bug;
use plan::{MIXES, Mix, Plan};

fn seeds() -> u64 {
    number("KUMI_SEEDS").unwrap_or(2000).div_ceil(MIXES.len() as u64)
}
fn check(mix: Mix) {
    simulate::check(seeds(), |seed| Plan::new(seed, mix));
}

#[test]
fn messages_that_get_lost() {
    check(Mix::Loss);
}
#[test]
fn connections_that_break() {
    check(Mix::Streams);
}
#[test]
fn nodes_that_end() {
    check(Mix::Crashes);
}
#[test]
fn nodes_that_stand_still_and_links_that_are_cut() {
    check(Mix::Pauses);
}
#[test]
fn messages_that_come_again_much_later() {
    check(Mix::Late);
}
#[test]
fn everything_at_once() {
    check(Mix::All);
}
#[test]
fn a_seed_is_a_run() {
    for mix in MIXES {
        for seed in 0..10 {
            let plan = Plan::new(seed, mix);
            let (a, b) = (world::run(&plan, 0), world::run(&plan, 100));
            assert_eq!((a.told.trace, a.events, a.doubles), (b.told.trace, b.events, b.doubles), "seed {seed} of {mix:?}");
        }
    }
}
#[test]
fn only_faults_let_two_takers_have_a_segment() {
    let doubles: u64 = (0..seeds().min(200)).map(|seed| world::run(&Plan::new(seed, Mix::Loss), 0).doubles).sum();
    assert_eq!(doubles, 0);
}

/// Each of these is to be found, and is planted where it is asked for in the sources.
const PLANTED: [Bug; 21] = [
    Bug::NoDeduplication,
    Bug::AnswerForgotten,
    Bug::NoLease,
    Bug::NoFence,
    Bug::OutputsAnyway,
    Bug::NoIncarnation,
    Bug::LeaveIgnored,
    Bug::NoRetry,
    Bug::PlaceLost,
    Bug::LostWake,
    Bug::LeaseTooLong,
    Bug::EarlyReceipt,
    Bug::ReceiptBeforeUse,
    Bug::LateAnswerUsed,
    Bug::AnySession,
    Bug::ReceiptOnce,
    Bug::NoRenewal,
    Bug::SessionNeverEnds,
    Bug::RoomUnnoticed,
    Bug::AfterByOne,
    Bug::OutputsLost,
];

#[test]
#[cfg(debug_assertions)]
fn planted_bugs_are_found() {
    let most = number("KUMI_PLANTED").unwrap_or(300);
    let plans = || (0..most).flat_map(|seed| MIXES.map(|mix| Plan::new(seed, mix)));
    let hidden = simulate::hidden(&PLANTED, kumi_segments::plant, || Box::new(plans()));
    assert!(hidden.is_empty(), "never found: {hidden:?}");
}
