//! The examples for several nodes do what they say.

#[allow(dead_code)]
mod common;
use common::{finish, kumi};
use std::path::Path;
use std::time::Duration;

/// What an example prints on so many nodes, without the names in front. Its figures are another machine's.
fn on_nodes(nodes: u32, program: &str, args: &[&str]) -> Vec<String> {
    let mut c = kumi(&["run", "--nodes", &nodes.to_string(), "--patience", "6", "-W0"]);
    c.arg(format!("examples/{program}.rb")).args(args).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let end = finish(&mut c, b"", Duration::from_secs(120)).unwrap_or_else(|| panic!("examples/{program}.rb is still running"));
    let out = String::from_utf8(end.out).unwrap();
    assert!(end.status.success() && end.err.is_empty(), "examples/{program}.rb: {}\n{out}{}", end.status, end.err);
    out.lines().map(|line| line.split_once(" | ").unwrap().1.to_string()).collect()
}

#[test]
fn a_token_goes_round_a_ring_of_nodes() {
    assert_eq!(on_nodes(4, "ring", &["1", "100"])[0], "400 hops round a ring of 4 on 4 nodes");
    assert_eq!(on_nodes(2, "ring", &["3", "50"])[0], "300 hops round a ring of 6 on 2 nodes");
}

#[test]
fn a_feed_is_worked_on_by_two_nodes() {
    let lines = on_nodes(2, "feed", &["--trades", "1200"]);
    assert!(lines[0].starts_with("the work stands still: "), "{lines:?}");
    assert_eq!(lines[1..3], ["1200 trades, in order; 1200 were read", "their sum is that of what was sent"]);
    let works = lines.iter().find_map(|line| line.strip_prefix("worked on by ")).unwrap_or_default();
    assert!(works.contains("node1: ") && works.contains("node2: "), "{lines:?}");
}

#[test]
fn background_jobs_are_done_once_and_last_in_a_file() {
    let store = std::env::temp_dir().join(format!("kumi-jobs-{}.db", std::process::id()));
    let jobs = |args: &[&str]| {
        let mut c = kumi(&["-W0", "examples/jobs.rb"]);
        c.args(args).env("STORE", &store).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        let end = finish(&mut c, b"", Duration::from_secs(120)).expect("examples/jobs.rb is still running");
        assert!(end.status.success() && end.err.is_empty(), "{}: {}", end.status, end.err);
        String::from_utf8(end.out).unwrap()
    };
    assert_eq!(jobs(&["ask", "5"]), "");
    // Another process does what that one asked for, and twenty of its own. A job that has failed three times is told of in the end.
    let out = jobs(&[]);
    let _ = std::fs::remove_file(&store);
    for i in 0..20 {
        let done = format!("picture{i}.png is {} wide now", 50 + i);
        let failed = format!("failed: Thumbnail(picture{i}.png)");
        let times = out.lines().filter(|l| *l == done || l.starts_with(&failed)).count();
        assert_eq!(times, if i < 5 { 2 } else { 1 }, "{i}: {out}");
    }
    assert_eq!(out.matches("failed: Thumbnail(notes.txt): RuntimeError: notes.txt is no picture").count(), 2, "{out}");
}

#[test]
fn an_aquarium_on_three_nodes_ends_by_itself() {
    let lines = on_nodes(3, "aquarium", &["--seconds", "1"]);
    assert_eq!(lines.len(), 3, "{lines:?}");
}

#[test]
fn an_example_that_is_called_wrongly_says_how_it_is_called() {
    let said = |args: &[&str]| {
        let mut c = kumi(args);
        c.env_remove("STORE").current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        let end = finish(&mut c, b"", Duration::from_secs(60)).unwrap_or_else(|| panic!("{args:?} is still running"));
        assert_eq!(end.status.code(), Some(1), "{args:?}");
        end.err
    };
    let words = "usage: kumi examples/words.rb [FILE [COUNT]]\n";
    assert_eq!(said(&["examples/words.rb", "--help"]), words);
    let lost = said(&["examples/words.rb", "/no/such/file"]);
    assert!(lost.contains("No such file or directory") && lost.ends_with(words) && lost.lines().count() == 2, "{lost}");
    assert!(said(&["examples/aquarium.rb", "--help"]).starts_with("usage: kumi examples/aquarium.rb "));
    let port = said(&["run", "--nodes", "2", "-W0", "examples/aquarium.rb", "--port", "9"]);
    assert!(port.contains(" | --port is for one tank: ") && !port.contains("EADDR"), "{port}");
    for what in ["ask", "work"] {
        assert!(said(&["examples/jobs.rb", what]).starts_with("usage: STORE=FILE kumi examples/jobs.rb "));
    }
}
