//! Measuring commands (`bench/*/run`) can be stopped: what an experiment found is kept, and holds as long as what it measured is the same.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command of two experiments, which write down that they ran. The second one fails where the folder says so.
const MAIN: &str = r##"
require "LIB/command"
HERE = __dir__
count = ->(name) { File.open(File.join(HERE, "ran"), "a") { |f| f.puts name } }
Bench.experiment "first", "a figure" do |suite, report|
  count.("first")
  report.section("First", "One figure.")
  report.table(%w[what figure], [["first", "17"]])
  report.plot("first.svg", "a chart", "<svg/>", "Higher is more.")
  report.bound("first", 1, 2, "ms")
end
Bench.experiment "second", "another one" do |suite, report|
  count.("second")
  exit!(9) if File.exist?(File.join(HERE, "stop"))
  report.section("Second", "Another figure.")
  report.table(%w[what figure], [["second", "18"]])
end
Bench::Command.new("small/run", "Small", "Figures.", programs: File.join(HERE, "programs"), peers: []).run(ARGV)
"##;

struct Small(PathBuf);

impl Small {
    fn new(name: &str) -> Small {
        let dir = std::env::temp_dir().join(format!("kumi-bench-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(dir.join("programs")).expect("a folder");
        let lib = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/lib").canonicalize().expect("bench/lib");
        fs::write(dir.join("main.rb"), MAIN.replace("LIB", &lib.display().to_string())).expect("a program");
        fs::write(dir.join("programs/one.rb"), "p 1").expect("a program");
        Small(dir)
    }
    /// Its status, what it says, and which experiments ran.
    fn run(&self, words: &[&str]) -> (Option<i32>, String, String) {
        let ran = self.0.join("ran");
        let _ = fs::remove_file(&ran);
        let kumi = env!("CARGO_BIN_EXE_kumi");
        let out = self.0.join("out");
        let found = Command::new(kumi)
            .arg(self.0.join("main.rb"))
            .args(["--quick", "--kumi", kumi, "--out"])
            .arg(&out)
            .args(words)
            .env("PATH", "/usr/bin:/bin")
            .output()
            .expect("kumi runs");
        let said = String::from_utf8_lossy(&found.stdout).into_owned() + &String::from_utf8_lossy(&found.stderr);
        (found.status.code(), said, fs::read_to_string(ran).unwrap_or_default())
    }
    fn results(&self) -> String {
        fs::read_to_string(self.0.join("out/RESULTS.md")).expect("results")
    }
}
impl Drop for Small {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_command_that_was_stopped_goes_on_where_it_was() {
    let small = Small::new("stopped");
    fs::write(small.0.join("stop"), "").expect("a file");
    let (status, said, ran) = small.run(&[]);
    assert_eq!((status, &*ran), (Some(9), "first\nsecond\n"), "{said}");
    fs::remove_file(small.0.join("stop")).expect("a file");

    let (status, said, ran) = small.run(&["--resume"]);
    assert_eq!((status, &*ran), (Some(0), "second\n"), "{said}");
    assert!(said.contains("first: kept, of 20"), "{said}");
    let results = small.results();
    for part in [
        "| first |     17 |",
        "![a chart](first.svg)",
        "*Higher is more.*",
        "| second |     18 |",
        "| first |     1 ms | <= 2 ms | yes |",
        ", commit ",
        ", load ",
        ", calibration ",
    ] {
        assert!(results.contains(part), "{part} is missing:\n{results}");
    }
    // One experiment alone leaves the others' results where they are; without the switch it is run whatever is kept.
    let (_, _, ran) = small.run(&["second"]);
    assert_eq!(ran, "second\n");
    assert!(small.results().contains("| first |     17 |"));
}

#[test]
fn what_was_found_holds_while_what_it_measured_is_the_same() {
    let small = Small::new("changed");
    assert_eq!(small.run(&["first"]).2, "first\n");
    assert_eq!(small.run(&["first", "--resume"]).2, "");
    assert_eq!(small.run(&["first", "--resume", "--reps", "2"]).2, "first\n", "another option");
    assert_eq!(small.run(&["first", "--resume", "--reps", "2"]).2, "");
    fs::write(small.0.join("programs/one.rb"), "p 2").expect("a program");
    assert_eq!(small.run(&["first", "--resume", "--reps", "2"]).2, "first\n", "another program");
    fs::remove_file(small.0.join("out/first.svg")).expect("a chart");
    assert_eq!(small.run(&["first", "--resume", "--reps", "2"]).2, "first\n", "a chart is gone");
}

#[test]
fn figures_of_two_machines_do_not_stand_in_one_folder() {
    let small = Small::new("machines");
    assert_eq!(small.run(&["first"]).2, "first\n");
    let kept = small.0.join("out/experiments/first.json");
    let text = fs::read_to_string(&kept).expect("a result");
    fs::write(&kept, text.replace(", Linux ", " of another kind, Linux ")).expect("a result");
    let (status, said, ran) = small.run(&["second", "--resume"]);
    assert_eq!((status, &*ran), (Some(1), ""), "{said}");
    assert!(said.contains("has figures of another machine"), "{said}");
    // A result that is none is said to be.
    fs::write(&kept, "{").expect("a result");
    let (status, said, _) = small.run(&["second", "--resume"]);
    assert!(status == Some(1) && said.contains("first.json is no result"), "{said}");
}
