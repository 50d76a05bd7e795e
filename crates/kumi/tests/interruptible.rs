//! Full collections in slices (`KUMI_GC=interruptible`): programs print what they print without, whatever is moved between
//! slices, and where memory runs short the rest is done at one stop.
//!
//! Under the stress mode slices mark few cells, of a number by chance, and the heap is verified after them.

#[allow(dead_code)]
mod common;
use common::{Job, Modes, check, programs, seed};
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(240);

fn slices(more: &[(&'static str, u32)]) -> Modes {
    let mut all = vec![("KUMI_GC", "interruptible".to_string())];
    all.extend(more.iter().map(|(k, n)| (*k, n.to_string())));
    all
}

/// Every `each`-th program of a folder, another one for another seed.
fn some(folder: &'static str, each: usize, modes: Modes) {
    let first = seed(0) as usize % each;
    let jobs: Vec<Job> =
        programs(folder).into_iter().skip(first).step_by(each).map(|program| Job { program, modes: modes.clone() }).collect();
    check(&jobs, LIMIT);
}

#[test]
fn programs_print_the_same() {
    some("lang", 2, slices(&[("KUMI_GC_STRESS", seed(397))]));
    some("kernel", 4, slices(&[("KUMI_GC_STRESS", seed(397))]));
}

#[test]
fn programs_print_the_same_with_slices_at_many_safepoints() {
    some("lang", 6, slices(&[("KUMI_GC_STRESS", 113)]));
}

#[test]
fn programs_print_the_same_while_nurseries_retire_by_chance() {
    some("lang", 5, slices(&[("KUMI_GC_STRESS", 311), ("KUMI_TLH_STRESS", seed(7))]));
    let mut off = slices(&[("KUMI_GC_STRESS", seed(389))]);
    off.push(("KUMI_TLH", "off".into()));
    some("lang", 7, off);
}

#[test]
fn operations_are_atomic_whatever_is_marked_between_them() {
    let s = seed(1);
    let mut jobs = Vec::new();
    for (i, program) in programs("parallel").into_iter().enumerate() {
        let k = i as u32;
        let modes = [
            slices(&[("KUMI_SCHED_STRESS", s * 100 + k), ("KUMI_GC_STRESS", 97 + s + k), ("KUMI_WORKERS", 2)]),
            slices(&[("KUMI_SCHED_STRESS", s * 100 + k + 50), ("KUMI_GC_STRESS", 251 - k), ("KUMI_WORKERS", 4), ("KUMI_GC_THREADS", 3)]),
            slices(&[("KUMI_WORKERS", 2)]),
        ];
        // Each has one of them; another one with another seed.
        let modes = modes[(i + s as usize) % modes.len()].clone();
        jobs.push(Job { program, modes });
    }
    check(&jobs, LIMIT);
}

#[test]
fn programs_that_fill_the_heap_print_the_same() {
    let mut jobs = Vec::new();
    for (i, program) in programs("heap_programs").into_iter().enumerate() {
        let modes = [slices(&[("KUMI_WORKERS", 2)]), slices(&[("KUMI_WORKERS", 2), ("KUMI_GC_STRESS", 997 + seed(1))])];
        jobs.push(Job { program, modes: modes[(i + seed(0) as usize) % 2].clone() });
    }
    check(&jobs, LIMIT);
}

/// What the program prints, and what it writes to standard error.
fn kumi(vars: &[(&str, &str)], args: &[&str]) -> (String, String) {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    for (k, _) in std::env::vars().filter(|(k, _)| k.starts_with("KUMI_") || k.starts_with("RUBY")) {
        c.env_remove(k);
    }
    let out = c.env("KUMI_GC", "interruptible").envs(vars.iter().copied()).args(args).output().expect("kumi runs");
    (String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned())
}

#[test]
fn a_cycle_goes_on_beside_the_program_and_is_told_of() {
    let program = "
        keep = Array.new(200_000) { |i| [i.to_s] }
        GC.start
        a = GC.stat
        GC.start(immediate_mark: false)
        keep[rand(keep.size)] = [+'new'] while GC.stat[:cycle_count] == a[:cycle_count]
        b = GC.stat
        p b[:cycle_count] - a[:cycle_count], b[:full_count] - a[:full_count], b[:slice_count] - a[:slice_count] > 2
        p keep.all?(Array), GC.stat(:pause_slice).values.sum == b[:slice_count], b[:pause_slice_max_ns] > 0
        # It ends though the program sleeps.
        GC.start(immediate_mark: false)
        sleep 0.01 until GC.stat[:cycle_count] == 2
        # One that is open is given up for one at a stop.
        GC.start(immediate_mark: false)
        GC.start
        c = GC.stat
        p c[:cycle_count] - b[:cycle_count], c[:full_count] - b[:full_count]";
    let (out, log) = kumi(&[], &["--gc-log", "-e", program]);
    assert_eq!(out, "1\n1\ntrue\ntrue\ntrue\ntrue\n1\n2\n", "{log}");
    let lines: Vec<&str> = log.lines().filter(|l| l.contains(" full ") && l.contains(" slices=")).collect();
    assert!(lines.len() == 2 && lines.iter().all(|l| l.contains(" cause=request ") && l.contains(" stopped=")), "{log}");
}

/// Nothing a slice could do is quick enough for a program that fills the rest of its memory in one go.
#[test]
fn where_memory_runs_short_the_rest_is_done_at_one_stop() {
    let program = "
        keep = Array.new(300_000) { |i| [i.to_s] }
        GC.start
        GC.start(immediate_mark: false)
        count = GC.stat[:cycle_count]
        more = []
        # A native that allocates until the limit is near passes no safepoint.
        more << Array.new(200_000) { |i| i.to_s * 8 } while more.size < 2
        more.clear
        3.times { more << Array.new(100_000, 0).map { |i| 'x' * 64 }; more.clear if more.size > 1 }
        GC.start
        p keep.size, keep.all? { |x| x[0].is_a?(String) }
        begin
          more << 'x' * 1_000_000 while true
        rescue NoMemoryError
          more = nil
          puts 'no memory'
        end
        p keep.sum { |x| x[0].size }";
    let (out, err) = kumi(&[("KUMI_HEAP_MAX", "96M")], &["-e", program]);
    assert_eq!(out, "300000\ntrue\nno memory\n1688890\n", "{err}");
}

/// A native allocates so much that what lives comes near the limit, or that the heap has grown too much for one collection.
#[test]
fn the_last_resort_is_counted() {
    let program = "
        keep = Array.new(400_000) { |i| [i.to_s] }
        GC.start
        before = GC.stat
        GC.start(immediate_mark: false)
        nil while GC.stat[:slice_count] == before[:slice_count]
        open = GC.stat[:cycle_count] == before[:cycle_count]
        words = ('ab ' * ARGV[0].to_i).split
        nil while GC.stat[:cycle_count] == before[:cycle_count]
        p open, GC.stat[:cycle_hurried_count] - before[:cycle_hurried_count], words.size, keep.all? { |x| x[0].is_a?(String) }";
    for (max, words) in [("58M", "250000"), ("1G", "400000")] {
        let vars = [("KUMI_HEAP_MAX", max), ("KUMI_GC_THREADS", "1")];
        let (out, err) = kumi(&vars, &["-e", program, words]);
        assert_eq!(out, format!("true\n1\n{words}\ntrue\n"), "{err}");
    }
}
