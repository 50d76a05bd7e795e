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
