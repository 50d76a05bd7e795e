//! An uncaught or rescued NoMemoryError is an error like any other: it has the line, the method and the callers.

#[allow(dead_code)]
mod common;
use std::time::Duration;

fn kumi(program: &str, max: &str) -> common::Ended {
    let mut c = common::kumi(&["-W0", "-"]);
    if !max.is_empty() {
        c.env("KUMI_HEAP_MAX", max);
    }
    common::finish(&mut c, program.as_bytes(), Duration::from_secs(120)).unwrap_or_else(|| panic!("still running: {program}"))
}

/// What asks for too much, and the method that is named for it.
const ASKING: &[(&str, &str)] = &[
    ("'a' * 10**12", "String#*"),
    ("[nil] * 10**11", "Array#*"),
    ("'a'.ljust(10**12)", "String#ljust"),
    ("[].fill(1, 0, 10**11)", "Array#fill"),
    ("Array.new(10**11)", "Array#initialize"),
    ("Random.bytes(10**12)", "Random.bytes"),
];

#[test]
fn the_line_and_the_callers_are_named() {
    for max in ["64M", ""] {
        for (asking, method) in ASKING {
            let end = kumi(&format!("def big\n  {asking}\nend\ndef outer\n  big\nend\nouter\n"), max);
            let lines: Vec<&str> = end.err.lines().collect();
            assert_eq!(end.status.code(), Some(1), "{asking}: {}", end.err);
            assert!(
                lines[0].starts_with(&format!("-:2:in '{method}': ")) && lines[0].ends_with("(NoMemoryError)"),
                "{asking}: {}",
                end.err
            );
            let callers = ["-:2:in 'Object#big'", "-:5:in 'Object#outer'", "-:7:in '<main>'"];
            let shown: Vec<&str> = lines[1..].iter().map(|l| l.trim().trim_start_matches("from ")).collect();
            assert!(shown.ends_with(&callers), "{asking}: {}", end.err);
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn threads_fibers_and_their_stacks_count_towards_the_limit() {
    for growth in [
        "loop { a << Thread.new { sleep } }",
        "loop { a << Thread.new { down(100) } }",
        "loop { a << Fiber.new { Fiber.yield }.tap(&:resume) }",
        "def nest(n) = Fiber.new { nest(n + 1) }.resume; nest(0)",
    ] {
        let program = format!(
            "Thread.report_on_exception = false
def down(n) = n == 0 ? sleep : down(n - 1)
a = []
begin
  {growth}
rescue NoMemoryError
  $stdout.syswrite(File.read('/proc/self/status')[/VmRSS:\\s+(\\d+)/, 1])
end
exit!"
        );
        let end = kumi(&program, "64M");
        let kb: u64 = String::from_utf8_lossy(&end.out).trim().parse().unwrap_or_else(|_| panic!("{growth}: {}", end.err));
        // The runtime itself and what the allocator keeps come on top, and what tasks grow that have just begun.
        assert!((40_000..220_000).contains(&kb), "{growth}: {kb} kB");
    }
}

#[test]
fn a_recursion_through_fibers_ends() {
    let end = kumi(
        "@deepest = 0
def nest(n) = (@deepest = n; Fiber.new { nest(n + 1) }.resume)
begin
  nest(0)
rescue FiberError => e
  puts @deepest, e.message
end
def list(n) = Enumerator.new { |y| y << n; y << list(n + 1).next }
puts list(0).next
puts Fiber.new { 1 }.resume",
        "",
    );
    assert_eq!(String::from_utf8_lossy(&end.out), "100000\ncan't resume: too many fibers have resumed each other\n0\n1\n", "{}", end.err);
}

#[test]
fn a_rescued_one_has_its_backtrace() {
    let end = kumi(
        "def big\n  'a' * 10**12\nend\nbegin\n  big\nrescue NoMemoryError => e\n  p e.backtrace, e.backtrace_locations.map(&:lineno), e.full_message(highlight: false).lines.size\nend\n",
        "64M",
    );
    assert_eq!(
        String::from_utf8_lossy(&end.out),
        "[\"-:2:in 'String#*'\", \"-:2:in 'Object#big'\", \"-:5:in '<main>'\"]\n[2, 2, 5]\n3\n",
        "{}",
        end.err
    );
}
