//! The checker against histories of a small simulated queue: of a thousand that is right it finds nothing wrong, and each planted bug is
//! found. What the quick rules say of a key without leases is what a search says.
//!
//! `KUMI_SEED` names one seed to look at.

mod owner;
mod world;

use kumi_history::{Answer, Call, History, Options, Outcome, Report, Rule, check, linearizable};
use owner::Bug;

fn look(seed: u64, bug: Option<Bug>) -> (History, Report) {
    let history = world::run(seed, bug);
    let report = check(&history, &Options::default());
    (history, report)
}

#[test]
fn a_thousand_histories_of_a_queue_that_is_right_are_accepted() {
    let only = std::env::var("KUMI_SEED").ok().and_then(|s| s.parse().ok());
    let seeds = only.map_or(0..1000, |s| s..s + 1);
    let (mut unknown, mut ops, mut searched) = (0, 0, 0);
    for seed in seeds {
        let (history, report) = look(seed, None);
        if only.is_some() {
            history.ops.iter().for_each(|o| println!("{}", history.tell(o)));
        }
        assert!(report.wrong.is_empty(), "seed {seed}: {report}");
        let n = report.figures;
        (ops, unknown, searched) = (ops + n.ops, unknown + n.unknown, searched + n.searched.0 - n.searched.1);
    }
    println!("{ops} operations, {unknown} of unknown outcome; {searched} keys searched");
    assert!(only.is_some() || unknown > 1000 && searched > 200, "{unknown} {searched}");
}

/// Each bug, and what it shows itself as.
const PLANTED: [(Bug, &[Rule]); 18] = [
    (Bug::AcknowledgedBeforeStored, &[Rule::Lost]),
    (Bug::NoFence, &[Rule::Twice]),
    (Bug::ShortTable, &[Rule::Twice]),
    (Bug::LeaseTooLong, &[Rule::Waited]),
    (Bug::TakesAgain, &[Rule::Lost]),
    (Bug::BackAtTheEnd, &[Rule::Order]),
    (Bug::UpdateLosesPuts, &[Rule::Linear]),
    (Bug::LostWaiter, &[Rule::NoEnd]),
    (Bug::SleepyWaiter, &[Rule::Waited]),
    (Bug::StalePeek, &[Rule::Stale]),
    (Bug::TakeLeavesIt, &[Rule::Twice]),
    (Bug::OutputsAnyway, &[Rule::Refused]),
    (Bug::OutputsLost, &[Rule::Lost]),
    (Bug::SaysEmpty, &[Rule::Empty]),
    (Bug::LeaveIgnored, &[Rule::Lost]),
    (Bug::UpdateAgain, &[Rule::Linear]),
    (Bug::LastInFirstOut, &[Rule::Order]),
    (Bug::IndexAgain, &[Rule::Index]),
];

#[test]
fn planted_bugs_are_found() {
    for (bug, rules) in PLANTED {
        let mut found =
            (0..300).map(|seed| (seed, look(seed, Some(bug)).1)).filter(|(_, r)| r.wrong.iter().any(|w| rules.contains(&w.rule)));
        let (seed, report) = found.next().unwrap_or_else(|| panic!("{bug:?} is never found"));
        let wrong = report.wrong.iter().find(|w| rules.contains(&w.rule)).unwrap();
        println!("{bug:?}, seed {seed}: {wrong}");
        assert!(!wrong.evidence.is_empty() && wrong.evidence.len() <= 14, "{wrong}");
        assert!(seed < 100, "{bug:?} hides until seed {seed}");
    }
}

#[test]
fn the_quick_rules_say_what_a_search_says() {
    let (mut right, mut wrong) = (0, 0);
    for seed in 0..4000 {
        let history = world::nonsense(seed);
        let report = check(&history, &Options { recovery: u64::MAX, ..Options::default() });
        let quick = report.wrong.iter().all(|w| matches!(w.rule, Rule::Waited | Rule::NoEnd));
        let searched = linearizable(&history.ops, 1_000_000);
        let tell = || history.ops.iter().map(|o| history.tell(o)).collect::<Vec<_>>().join("\n");
        assert_ne!(searched, Answer::TooMuch, "seed {seed}");
        // With everything known and nothing but puts and takes, both ways; else the rules may let more pass, but never less.
        let known = history.ops.iter().all(|o| o.outcome != Outcome::Unknown && o.call != Call::Peek);
        if known || searched == Answer::Yes {
            assert_eq!(quick, searched == Answer::Yes, "seed {seed}:\n{}\n{report}", tell());
        }
        if quick { right += 1 } else { wrong += 1 }
    }
    println!("{right} right, {wrong} wrong");
    assert!(right > 400 && wrong > 400, "{right} {wrong}");
}

#[test]
fn registers_by_zones_are_what_a_search_says() {
    let (mut right, mut wrong) = (0, 0);
    for seed in 0..4000 {
        let history = world::register(seed);
        let report = check(&history, &Options::default());
        let quick = report.wrong.is_empty();
        let searched = linearizable(&history.ops, 1_000_000);
        let tell = || history.ops.iter().map(|o| history.tell(o)).collect::<Vec<_>>().join("\n");
        assert_eq!(quick, searched == Answer::Yes, "seed {seed}: {searched:?}\n{}\n{report}", tell());
        if quick { right += 1 } else { wrong += 1 }
    }
    assert!(right > 400 && wrong > 400, "{right} {wrong}");
}
