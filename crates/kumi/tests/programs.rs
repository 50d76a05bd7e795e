//! The programs of docs/PROGRAMS.md give the sequential answer on any number of nodes, and whenever the collector runs.

#[allow(dead_code)]
mod common;
use common::{Ended, finish, kumi, seed};
use std::path::Path;
use std::time::Duration;

/// A size of each that is done at once.
const SMALL: [(&str, &str); 6] = [
    ("bh", "--bodies 60 --steps 2"),
    ("cky", "--words 10 --sentences 2 --symbols 6"),
    ("rna", "--bases 70 --grain 12"),
    ("ga", "--things 20 --epochs 2 --generations 3 --population 12"),
    ("prefetch", "--size 17 --squares 2"),
    ("speculate", "--lights 5 --cars 8 --starts 1"),
];
/// Those of which a collection at every few safepoints makes something long.
const SMALLEST: [(&str, &str); 6] = [
    ("bh", "--bodies 30 --steps 2"),
    ("cky", "--words 10 --sentences 1 --symbols 6"),
    ("rna", "--bases 50 --grain 4"),
    ("ga", "--things 10 --epochs 2 --generations 1 --population 8 --islands 3"),
    ("prefetch", "--size 9 --squares 2"),
    ("speculate", "--lights 3 --cars 4 --starts 1"),
];

/// All of them, by their own names.
fn policies() -> impl Iterator<Item = &'static str> {
    kumi_schedule::POLICIES.iter().copied().filter(|name| name.starts_with(char::is_lowercase))
}

fn run(nodes: u32, program: &str, arguments: &str, modes: &[(&str, String)]) -> Ended {
    let mut c = kumi(&["run", "--nodes", &nodes.to_string(), "--patience", "6", "-W0"]);
    c.arg(format!("examples/{program}.rb")).args(arguments.split(' '));
    c.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).envs(modes.iter().cloned());
    finish(&mut c, b"", Duration::from_secs(240)).unwrap_or_else(|| panic!("examples/{program}.rb is still running on {nodes} nodes"))
}

/// What the program says its answer is, which it has compared with the sequential one.
fn answer(nodes: u32, program: &str, arguments: &str, modes: &[(&str, String)]) -> String {
    let end = run(nodes, program, arguments, modes);
    let out = String::from_utf8(end.out).unwrap();
    assert!(end.status.success() && end.err.is_empty(), "{program} on {nodes} nodes: {}\n{out}{}", end.status, end.err);
    assert!(out.contains("\nnode1 | the sequential program has the same answer after "), "{program} on {nodes} nodes: {out}");
    let (what, answer) = out.lines().next().and_then(|line| line.split_once(" on ")).unwrap_or_else(|| panic!("{out}"));
    let answer = answer.strip_prefix(&nodes.to_string()).and_then(|rest| rest.split_once(": ")).unwrap_or_else(|| panic!("{out}")).1;
    format!("{what}: {answer}")
}

#[test]
fn programs_give_the_sequential_answer_on_any_number_of_nodes() {
    for (program, arguments) in SMALL {
        let alone = answer(1, program, arguments, &[]);
        for nodes in [2, 3, 8] {
            assert_eq!(answer(nodes, program, arguments, &[]), alone, "{program} on {nodes} nodes");
        }
    }
}

#[test]
fn programs_give_the_sequential_answer_whenever_the_collector_runs() {
    for (program, arguments) in SMALLEST {
        let stress = [("KUMI_GC_STRESS", seed(97).to_string())];
        assert_eq!(answer(2, program, arguments, &stress), answer(2, program, arguments, &[]), "{program}");
    }
}

/// The paper's programs. A young space of a megabyte has them collect, young and full, as often as they may.
///
/// `KUMI_NODES=8`: each program under each schedule on each number of nodes up to that, 288 runs. Without it each program meets each number of
/// nodes, under one schedule or two.
#[test]
fn the_papers_programs_give_the_sequential_answer_under_every_schedule() {
    let most = std::env::var("KUMI_NODES").ok().and_then(|n| n.parse::<u32>().ok());
    let mut runs = 0;
    for (i, (program, arguments)) in SMALL[..4].iter().enumerate() {
        let alone = answer(1, program, arguments, &[]);
        for (k, policy) in policies().enumerate() {
            let few = 1 + (k + 2 * i) as u32 % 8;
            for nodes in most.map_or(few..=few, |most| 1..=most) {
                let modes = [("KUMI_GC_SCHEDULE", policy.to_string()), ("KUMI_YOUNG", "1".to_string())];
                assert_eq!(answer(nodes, program, arguments, &modes), alone, "{program} on {nodes} nodes, {policy}");
                runs += 1;
            }
        }
    }
    println!("{runs} runs");
}

/// Each of the paper's programs in its turn.
#[test]
fn small_programs_give_the_sequential_answer_under_every_schedule_whenever_the_collector_runs() {
    let alone = SMALLEST.map(|(program, arguments)| answer(1, program, arguments, &[]));
    for (k, policy) in policies().enumerate() {
        let (program, arguments) = SMALLEST[k % 4];
        let nodes = 2 + k as u32 % 3;
        let modes = [("KUMI_GC_SCHEDULE", policy.to_string()), ("KUMI_GC_STRESS", seed(89).to_string())];
        assert_eq!(answer(nodes, program, arguments, &modes), alone[k % 4], "{program} on {nodes} nodes, {policy}");
    }
}

#[test]
fn programs_tell_their_options() {
    for (program, arguments) in SMALL {
        let end = run(2, program, "--help", &[]);
        let help = String::from_utf8(end.out).unwrap();
        assert!(end.status.success() && end.err.is_empty(), "{program}: {help}{}", end.err);
        for option in arguments.split(' ').filter(|a| a.starts_with("--")) {
            assert!(help.contains(&format!("{option} N")), "{program} {option}: {help}");
        }
    }
    for wrong in ["--weight 3", "--seed many", "--bodies 0", "more"] {
        let end = run(2, "bh", wrong, &[]);
        assert!(!end.status.success() && end.err.contains("Usage: kumi run --nodes N examples/bh.rb"), "{}", end.err);
    }
}
