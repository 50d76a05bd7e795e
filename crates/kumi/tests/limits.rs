//! A file or a pipe without end that is read whole ends in a NoMemoryError that can be rescued; afterwards the program goes on.
#![cfg(target_os = "linux")]

use std::process::{Command, Stdio};

/// Each reads for ever.
const READINGS: &[&str] = &[
    "File.read('/dev/zero')",
    "File.binread('/dev/zero')",
    "File.open('/dev/zero').gets",
    "File.open('/dev/zero').readlines",
    "File.readlines('/dev/zero', chomp: true)",
    "File.open('/dev/zero').each_line.first",
    "File.open('/dev/zero').read(10**9)",
    "IO.read('/dev/zero', 10**9)",
    "`cat /dev/zero`",
    "IO.popen(['cat', '/dev/zero'], &:read)",
    "IO.popen(['cat', '/dev/zero']) { |f| f.gets }",
];

#[test]
fn what_is_read_without_end_is_refused_and_the_program_goes_on() {
    let mut wrong = String::new();
    for reading in READINGS {
        for (space, heap) in [("unlimited", "64M"), ("600000", "")] {
            let program = format!(
                "begin; {reading}; puts 'no end'; rescue NoMemoryError; puts 'refused'; end
kept = Array.new(100) {{ |i| i.to_s * 1000 }}
10_000.times {{ 'a' * 100 }}
puts kept.size"
            );
            let mut c = Command::new("sh");
            c.arg("-c")
                .arg(format!("ulimit -v {space}; exec timeout -k 1 60 \"$0\" -e \"$1\""))
                .arg(env!("CARGO_BIN_EXE_kumi"))
                .arg(&program);
            if !heap.is_empty() {
                c.env("KUMI_HEAP_MAX", heap);
            }
            let out = c.stdin(Stdio::null()).stderr(Stdio::piped()).output().expect("kumi runs");
            let (o, e) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
            if !out.status.success() || o != "refused\n100\n" {
                wrong += &format!("{reading} {space}: {}\n{o}{}\n", out.status, e.lines().take(3).collect::<Vec<_>>().join("\n"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
