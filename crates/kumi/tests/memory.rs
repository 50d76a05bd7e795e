//! What a program has let go of goes back to the system, soon, and whatever the program does afterwards.
#![cfg(target_os = "linux")]

use std::process::Command;

/// Has `then` run when a quarter of a gigabyte has become garbage; prints how the memory compares with what it was, in per cent,
/// as soon as it is below half, or after a minute.
fn remains(then: &str) -> i64 {
    let program = format!(
        "def rss = File.read('/proc/self/status')[/VmRSS:\\s+(\\d+)/, 1].to_i
strings = 2.times.map {{ |k| Thread.new {{ Array.new(300_000) {{ |i| \"string #{{i}} of thread #{{k}}, which does not lie in its cell, \" * 5 }} }} }}.map(&:value)
full = rss
strings = nil
{then}
240.times {{ sleep 0.25; break if rss * 2 < full }}
puts rss * 100 / full"
    );
    let out = Command::new(env!("CARGO_BIN_EXE_kumi")).env("KUMI_WORKERS", "2").args(["-e", &program]).output().expect("kumi runs");
    let text = String::from_utf8_lossy(&out.stdout);
    text.trim().parse().unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&out.stderr)))
}

#[test]
fn the_memory_of_a_program_that_waits_becomes_small() {
    let left = remains("GC.start(immediate_sweep: false)");
    assert!(left < 50, "{left} %");
}

#[test]
fn the_memory_of_a_busy_program_becomes_small() {
    let left =
        remains("2.times { Thread.new { kept = []; loop { kept << Array.new(10) { |i| i.to_s }; kept.clear if kept.size > 20_000 } } }");
    assert!(left < 50, "{left} %");
}

/// Few cells, large buffers, and the last collection comes long after the one before.
#[test]
fn large_buffers_go_back_too() {
    let left = remains("sleep 1.2; a = Array.new(200) { 'x' * 1_000_000 }; full = rss; a = nil; GC.start(immediate_sweep: false)");
    assert!(left < 50, "{left} %");
    let left = remains("sleep 1.2; a = Array.new(200) { 'x' * 1_000_000 }; full = rss; a.each(&:clear)");
    assert!(left < 50, "{left} %");
}

/// A wait that asks the system anything else takes several times as long: each hand-over between nodes is one.
#[test]
fn who_waits_often_reads_no_file_for_it() {
    let program = "
def reads = File.read('/proc/self/io')[/syscr: (\\d+)/, 1].to_i
n, w = reads, 0
2.times.map { Thread.new { 500.times { sleep 0.0002; w += 1 } } }.each(&:join)
puts reads - n, w";
    // How many workers there are is not said: the machine tells.
    let out = Command::new(env!("CARGO_BIN_EXE_kumi")).env_remove("KUMI_WORKERS").args(["-e", program]).output().expect("kumi runs");
    let text = String::from_utf8_lossy(&out.stdout);
    let reads: i64 =
        text.lines().next().and_then(|l| l.parse().ok()).unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&out.stderr)));
    // One that wakes a worker may be for each.
    assert!(reads < 2000, "{reads} in a thousand waits");
}

#[test]
fn what_one_thread_let_go_of_is_given_back_when_it_asks_and_when_it_waits() {
    let program = "
def rss = File.read('/proc/self/statm').split[1].to_i
a = Array.new(400_000) { |i| [i, i.to_s] }
full = rss
a = nil
GC.start
p rss < full / 2
a = Array.new(400_000) { |i| [i, i.to_s] }
a = nil
GC.start(immediate_sweep: false)
240.times { break if rss < full / 2; sleep 0.25 }
p rss < full / 2";
    let out = Command::new(env!("CARGO_BIN_EXE_kumi")).args(["-e", program]).output().expect("kumi runs");
    assert!(out.status.success());
    assert_eq!(String::from_utf8_lossy(&out.stdout), "true\ntrue\n", "{}", String::from_utf8_lossy(&out.stderr));
}
