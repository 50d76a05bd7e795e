//! Programs of data segments and code segments print the same in any order of steps, whenever the collector runs, on any number of
//! workers, and where each value is copied when it is handed over. The examples and the fuzzer run, too.
//!
//! In the slow modes programs that take a count of rounds from the environment do fewer.

#[allow(dead_code)] // what other tests use
mod common;
use common::{Job, Modes, check, finish, kumi, programs, seed};
use std::path::{Path, PathBuf};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(240);

/// Those with a hundred thousand of everything.
fn is_large(program: &Path) -> bool {
    program.file_stem().is_some_and(|n| n == "large")
}
/// All programs in each of the modes; the large one where nothing makes a program many times slower.
fn in_modes(modes: &[Modes], large: bool) {
    let all = programs("segments").into_iter().filter(|p| large || !is_large(p));
    let mut jobs: Vec<Job> =
        all.flat_map(|program| modes.iter().map(move |m| Job { program: program.clone(), modes: m.clone() })).collect();
    if !large {
        jobs.iter_mut().for_each(|j| j.modes.extend([("KUMI_TEST_COUNT", "150".into()), ("KUMI_TEST_ROUNDS", "300".into())]));
    }
    check(&jobs, LIMIT);
}
fn mode(name: &'static str, value: impl ToString) -> Modes {
    vec![(name, value.to_string())]
}
fn and(mut a: Modes, b: Modes) -> Modes {
    a.extend(b);
    a
}

#[test]
fn programs_print_what_is_recorded() {
    in_modes(&[vec![], mode("KUMI_WORKERS", 1), mode("KUMI_WORKERS", 4)], true);
}

#[test]
fn programs_print_the_same_in_another_order_of_steps() {
    let s = seed(3);
    let order = |n: u32, workers: u32| and(mode("KUMI_SCHED_STRESS", n), mode("KUMI_WORKERS", workers));
    in_modes(&[order(s, 2), order(s + 100, 4)], false);
}

#[test]
fn programs_print_the_same_where_values_are_copied_at_every_hand_over() {
    let copied = mode("KUMI_SEGMENT_STRESS", 1);
    in_modes(&[copied.clone(), and(copied, mode("KUMI_SCHED_STRESS", seed(7)))], false);
    let text = "require 'kumihimo/segments'; ds = Kumihimo::Segments.local; x = +'x'; ds.put(:k, [x], move: true); b = ds.take(:k); p b, x.equal?(b[0])";
    let out = finish(kumi(&["-W0", "-e", text]).env("KUMI_SEGMENT_STRESS", "1"), b"", LIMIT).unwrap();
    assert_eq!(String::from_utf8_lossy(&out.out), "[\"x\"]\nfalse\n", "{}", out.err);
}

#[test]
fn programs_print_the_same_under_collector_stress() {
    in_modes(&[mode("KUMI_GC_STRESS", seed(97))], false);
    // With a collection at every safepoint, those that are done soon.
    let soon = programs("segments").into_iter().filter(|p| ["calls", "code", "flip"].iter().any(|n| p.file_stem().unwrap() == *n));
    let jobs: Vec<Job> = soon.map(|program| Job { program, modes: mode("KUMI_GC_STRESS", 1) }).collect();
    check(&jobs, LIMIT);
}

#[test]
fn programs_print_the_same_while_nurseries_retire_and_stacks_move() {
    in_modes(&[mode("KUMI_TLH_STRESS", seed(7)), mode("KUMI_TLH", "off"), mode("KUMI_STACK_STRESS", 1)], false);
}

#[test]
fn programs_print_the_same_when_twins_run() {
    in_modes(&[mode("KUMI_TWIN_STRESS", 1)], false);
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `KUMI_FUZZ_SECONDS` makes each of them run for so long.
#[test]
fn random_calls_lose_and_invent_nothing() {
    let seconds = std::env::var("KUMI_FUZZ_SECONDS").ok().and_then(|v| v.parse().ok()).unwrap_or(2u64);
    let modes = [
        vec![],
        mode("KUMI_WORKERS", 4),
        mode("KUMI_GC_STRESS", 31),
        mode("KUMI_TLH_STRESS", 3),
        mode("KUMI_SCHED_STRESS", 5),
        mode("KUMI_SEGMENT_STRESS", 1),
    ];
    for m in modes {
        let (from, time) = (seed(1).to_string(), seconds.to_string());
        let mut c = kumi(&["-W0", "tests/fuzz/segments.rb", &from, &time]);
        c.current_dir(root()).envs(m.iter().cloned());
        let end = finish(&mut c, b"", LIMIT + Duration::from_secs(seconds)).unwrap_or_else(|| panic!("still running: {m:?}"));
        let out = String::from_utf8_lossy(&end.out).into_owned();
        assert!(end.status.success() && out == "segments: every invariant holds\n", "{m:?}\n{out}\n{}", end.err);
    }
}

/// What an example prints. Its figures are another machine's.
fn example(name: &str, args: &[&str], modes: &Modes) -> String {
    let mut c = kumi(&["-W0"]);
    c.arg(format!("examples/{name}.rb")).args(args).current_dir(root()).envs(modes.iter().cloned());
    let end = finish(&mut c, b"", LIMIT).unwrap_or_else(|| panic!("examples/{name}.rb is still running"));
    assert!(end.status.success(), "examples/{name}.rb: {}", end.err);
    String::from_utf8(end.out).unwrap()
}

#[test]
fn the_examples_do_what_they_say() {
    for m in [vec![], mode("KUMI_SEGMENT_STRESS", 1), mode("KUMI_SCHED_STRESS", seed(11))] {
        let text = example("segments_start", &[], &m);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 22, "{text}");
        assert_eq!((lines[0], lines[1], lines[20]), ("run StartCodeSegment", "create TestCodeSegment", "index = 10"), "{text}");

        let text = example("ring", &["7", "30"], &m);
        assert!(text.starts_with("210 hops round a ring of 7\n"), "{text}");
        let text = example("ring", &["1", "5"], &m);
        assert!(text.starts_with("5 hops round a ring of 1\n"), "{text}");

        for parts in 1..=12 {
            let (numbers, parts) = ((parts * 600).to_string(), parts.to_string());
            let text = example("bitonic", &[&numbers, &parts], &m);
            assert!(text.contains("which sort all") && text.contains(&format!("\n{numbers} numbers are sorted\n")), "{text}");
        }

        let text = example("feed", &["--trades", "1200"], &m);
        assert!(text.contains("1200 trades, in order; 1200 were read"), "{text}");
        assert!(text.contains("the work stands still: "), "{text}");
    }
}

#[test]
fn a_million_numbers_are_sorted_in_ten_parts() {
    let text = example("bitonic", &[], &vec![]);
    assert!(text.starts_with("33 comparisons of 10 parts, which sort all 1024 lists of 0 and 1\n1000000 numbers are sorted\n"), "{text}");
}
