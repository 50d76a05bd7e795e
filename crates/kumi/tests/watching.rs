//! The collector's log, profiles and the heap's limit, as the command line asks for them.

use std::process::{Command, Output};

fn command(args: &[&str]) -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    for v in ["RUBYOPT", "KUMI_GC_LOG", "KUMI_GC_STRESS"] {
        c.env_remove(v);
    }
    c.args(args);
    c
}
fn run(c: &mut Command) -> (Output, String, String) {
    let out = c.output().unwrap();
    let (o, e) = (String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned());
    (out, o, e)
}
fn file(name: &str) -> std::path::PathBuf {
    let f = std::env::temp_dir().join(format!("kumi-watching-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&f);
    f
}

const WORK: &str = "a = []\n200_000.times { |i| a << \"a text of some length, number #{i}\" if i % 3 == 0 }\nGC.start\np a.size";

/// The fields of a line behind `kumi gc TIME KIND`, which must be those that are documented.
fn fields(line: &str) -> (String, Vec<(String, String)>) {
    let mut words = line.split(' ');
    assert_eq!((words.next(), words.next()), (Some("kumi"), Some("gc")), "{line}");
    assert!(words.next().is_some_and(|t| t.strip_suffix('s').is_some_and(|t| t.parse::<f64>().is_ok())), "{line}");
    let kind = words.next().unwrap_or_default().to_string();
    let rest = words.filter(|w| !w.starts_with('#')).map(|w| w.split_once('=').unwrap_or_else(|| panic!("{line}")));
    (kind, rest.map(|(k, v)| (k.to_string(), v.to_string())).collect())
}

#[test]
fn a_line_for_each_node_collection() {
    let (out, o, e) = run(&mut command(&["--gc-log", "-e", WORK]));
    assert!(out.status.success() && o == "66667\n", "{o}{e}");
    let mut requested = 0;
    for line in e.lines() {
        let (kind, f) = fields(line);
        assert!(kind == "young" || kind == "full", "{line}");
        let names: Vec<&str> = f.iter().map(|f| f.0.as_str()).collect();
        assert_eq!(names, ["cause", "worker", "live", "freed", "cells", "pause", "safepoint", "mark"], "{line}");
        requested += (f[0].1 == "request") as usize;
    }
    assert_eq!(requested, 1, "{e}");
}

#[test]
fn the_log_goes_where_it_is_sent() {
    let (f, g) = (file("a.log"), file("b.log"));
    let (_, _, e) = run(command(&[&format!("--gc-log={}", f.display()), "-e", WORK]).env("KUMI_GC_LOG", "0"));
    assert_eq!(e, "");
    assert!(std::fs::read_to_string(&f).unwrap().lines().count() >= 1);
    let (_, _, e) = run(command(&["-e", WORK]).env("KUMI_GC_LOG", format!("all,{}", g.display())));
    assert_eq!(e, "");
    let text = std::fs::read_to_string(&g).unwrap();
    let kinds: Vec<String> = text.lines().map(|l| fields(l).0).collect();
    assert!(kinds.iter().any(|k| k == "full") && kinds.iter().all(|k| ["full", "young", "window", "window-retired"].contains(&k.as_str())));
    let (out, _, e) = run(&mut command(&["--gc-log=/nowhere/at/all.log", "-e", "p 1"]));
    assert!(!out.status.success() && e.contains("/nowhere/at/all.log"), "{e}");
    let _ = (std::fs::remove_file(f), std::fs::remove_file(g));
}

#[test]
fn an_allocation_profile_names_lines() {
    let (program, out) = (file("p.rb"), file("p.json"));
    std::fs::write(&program, "def many\n  200_000.times { |i| \"a text that is long enough to have a buffer #{i}\" }\nend\nmany\n")
        .unwrap();
    let (program, out) = (program.display().to_string(), out.display().to_string());
    let (o, _, e) = run(&mut command(&["--profile=alloc", "--profile-top", "3", &program]));
    assert!(o.status.success() && e.starts_with("kumi allocation profile: "), "{e}");
    assert!(e.lines().count() <= 5 && e.lines().nth(2).is_some_and(|l| l.contains(&format!("{program}:2 in block in "))), "{e}");
    let (_, _, e) = run(&mut command(&["--profile=alloc", "--profile-out", &out, &program]));
    assert_eq!(e, "");
    let json = std::fs::read_to_string(&out).unwrap();
    assert!(json.starts_with("{\"profile\":\"alloc\"") && json.contains("\"line\":2,\"method\":\"block in "), "{json}");
    let _ = (std::fs::remove_file(program), std::fs::remove_file(out));
}

#[test]
fn a_heap_profile_counts_what_lives() {
    let program = "Thing = Struct.new(:a)\n$kept = Array.new(1000) { Thing.new(1) }\n10_000.times { Thing.new(2) }";
    let (out, _, e) = run(&mut command(&["--profile=heap", "-e", program]));
    assert!(out.status.success() && e.starts_with("kumi heap profile: "), "{e}");
    let line = e.lines().find(|l| l.ends_with("  Thing")).unwrap_or_else(|| panic!("{e}"));
    assert_eq!(line.split_whitespace().nth(2), Some("1000"), "{line}");
    let program = "$kept = (1..100_000).map { |i| \"a text that is long enough to have a buffer #{i}\" }\n100_000.times { |i| \"x#{i}\" }";
    let (_, _, e) = run(&mut command(&["--profile=heap", "--profile-top", "2", "-e", program]));
    let line = e.lines().find(|l| l.contains("-e:1 in block in ")).unwrap_or_else(|| panic!("{e}"));
    let objects: u64 = line.split_whitespace().nth(2).and_then(|n| n.parse().ok()).unwrap();
    assert!((80_000..120_000).contains(&objects), "{e}");
    assert!(!e.contains("-e:2"), "{e}");
}

#[test]
fn the_lines_of_a_heap_profile_have_no_more_than_all() {
    for program in [
        "$kept = Array.new(200) { [] }\n$kept.each { |a| 20_000.times { |i| a << i } }",
        "$kept = Array.new(300) { +'' }\n$kept.each { |s| s << 'x' * 100_000 }",
        "$kept = {}\n100_000.times { |i| $kept[i] = i }",
    ] {
        let (_, _, e) = run(&mut command(&["--profile=heap", "--profile-top=1000", "-e", program]));
        let (_, lines) = e.split_once("line (estimated from samples)\n").unwrap_or_else(|| panic!("{e}"));
        let share = |l: &str| l.split_whitespace().nth(1).and_then(|s| s.strip_suffix('%')).and_then(|s| s.parse::<f64>().ok());
        let sum: f64 = lines.lines().filter_map(share).sum();
        assert!((0.0..101.0).contains(&sum), "{sum}\n{e}");
    }
}

#[test]
fn the_limit_is_the_least_of_what_binds() {
    let program =
        "begin\n  a = []\n  loop { a << \"x\" * 1_000_000 }\nrescue NoMemoryError => e\n  n = a.size\n  a = nil\n  p n, e.class\nend";
    let (out, o, e) = run(command(&["-e", program]).env("KUMI_HEAP_MAX", "64M"));
    assert!(out.status.success() && o.ends_with("NoMemoryError\n"), "{o}{e}");
    let n: usize = o.lines().next().and_then(|l| l.parse().ok()).unwrap();
    assert!((40..140).contains(&n), "{n}");
    let mut c = Command::new("sh");
    c.arg("-c").arg(format!("ulimit -v 2000000; exec {} -e 'p GC.stat(:heap_max)'", env!("CARGO_BIN_EXE_kumi")));
    let (_, o, e) = run(&mut c);
    let max: u64 = o.trim().parse().unwrap_or_else(|_| panic!("{o}{e}"));
    assert!(max < 2_000_000 * 1024, "{max}");
}
