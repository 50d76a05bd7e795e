//! `kumi simulate`: what it shows, what it refuses, and that whatever stands in a file is told, not died of.

use kumi_chance::Chance;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of this test's own, gone at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let dir = std::env::temp_dir().join(format!("kumi-simulate-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).unwrap();
        Folder(dir)
    }
    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), text).unwrap();
    }
    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap()
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Status, standard output, standard error.
fn simulate(dir: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_kumi")).arg("simulate").args(args).current_dir(dir).output().unwrap();
    (out.status.code(), String::from_utf8(out.stdout).unwrap(), String::from_utf8(out.stderr).unwrap())
}
fn shows(dir: &Path, args: &[&str]) -> String {
    let (status, out, err) = simulate(dir, args);
    assert_eq!((status, err.as_str()), (Some(0), ""), "{args:?}: {out}");
    out
}

const SMALL: &str = "kumi-trace 1\nnodes 2\ntask 0 s1>1:64 w2 c500000\nhandler 1 w1 c1000000 a4096 s2>0:64\n";

#[test]
fn a_trace_is_replayed_under_every_policy_and_said_to_be_simulated() {
    let f = Folder::new("table");
    f.write("a.trace", SMALL);
    let out = shows(&f.0, &["a.trace"]);
    assert!(
        out.starts_with("simulated: a.trace; 2 nodes, 2 messages\na round trip of 40 us, 23.8 MB/s, heaps from 3.0 MB to 16.0 MB"),
        "{out}"
    );
    for policy in
        ["independent (FI)", "synchronised (FS)", "adaptive-synchronised (AS)", "adaptive-independent (AI)", "staggered", "combined"]
    {
        assert!(out.contains(policy), "{policy}: {out}");
    }
    let json = shows(&f.0, &["a.trace", "--policy", "FI,fs", "--json"]);
    assert!(json.starts_with("{\"simulated\": true, \"trace\": \"a.trace\"") && json.matches("\"policy\"").count() == 2, "{json}");
    assert!(json.contains("\"active\": 1500000"), "{json}");
    // The same to the byte, again, and of the trace that it writes.
    let args = ["--pattern", "cky", "--nodes", "4", "--seed", "7", "--policy", "FS", "--json", "--timeline", "a.svg"];
    let first = shows(&f.0, &[&args[..], &["--write", "cky.trace"]].concat());
    let svg = f.read("a.svg");
    assert!(svg.contains("(simulated)") && svg.contains("orders all, synchronised"));
    assert_eq!((shows(&f.0, &args), f.read("a.svg")), (first.clone(), svg));
    let again = shows(&f.0, &["cky.trace", "--policy", "FS", "--json"]);
    assert_eq!(again, first.replace("the pattern of cky", "cky.trace"));
}

#[test]
fn nodes_share_cores_where_that_is_said() {
    let f = Folder::new("cores");
    f.write("a.trace", "kumi-trace 1\nnodes 4\ntask 0 c100000000\ntask 1 c100000000\ntask 2 c100000000\ntask 3 c100000000\n");
    f.write("two.toml", "setting = \"local\"\ncores = 2\nshare = \"1ms\"\n");
    let seconds = |args: &[&str]| {
        let out = shows(&f.0, &[&["a.trace", "--policy", "FI", "--setting"], args].concat());
        out.lines().find_map(|l| l.strip_prefix("independent (FI)")).unwrap().split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!(
        (seconds(&["local"]), seconds(&["two.toml"]), seconds(&["two.toml", "--cores", "1"])),
        ("0.1000".into(), "0.2000".into(), "0.4000".into())
    );
    let (status, _, err) = simulate(&f.0, &["a.trace", "--cores", "-1"]);
    assert_eq!((status, err.starts_with("kumi simulate: --cores is a number up to 65536, not \"-1\"")), (Some(2), true), "{err}");
}

#[test]
fn chance_follows_from_a_seed_and_the_bound_has_no_collections() {
    let f = Folder::new("seed");
    shows(&f.0, &["--pattern", "bh", "--nodes", "4", "--length", "3s", "--write", "bh.trace", "--policy", "FI"]);
    let of = |args: &[&str]| shows(&f.0, &[&["bh.trace", "--policy", "FI,FS", "--bound", "--json"], args].concat());
    assert_eq!((of(&[]), of(&["--seed", "7"])), (of(&[]), of(&["--seed", "7"])));
    assert!(of(&[]) != of(&["--seed", "7"]) && of(&["--seed", "8"]) != of(&["--seed", "7"]));
    let number = |text: &str, name: &str| -> u64 {
        let rest = &text[text.find(name).unwrap() + name.len()..];
        rest[..rest.find(|c: char| !c.is_ascii_digit()).unwrap()].parse().unwrap()
    };
    let out = of(&[]);
    assert!(number(&out, "\"without_collections\": ") < number(&out, "\"end\": "), "{out}");
    assert!(shows(&f.0, &["bh.trace", "--policy", "FI", "--bound"]).contains("without collections"));
    let (status, _, err) = simulate(&f.0, &["bh.trace", "--length", "3s"]);
    assert_eq!((status, err.contains("--nodes and --length are for --pattern")), (Some(2), true), "{err}");
}

#[test]
fn adaptive_policies_go_by_the_numbers_that_are_given() {
    let f = Folder::new("thresholds");
    let pattern = ["--pattern", "cky", "--nodes", "8", "--policy", "AS,FI,FS", "--json"];
    let ends = |more: &[&str]| -> Vec<u64> {
        let out = shows(&f.0, &[&pattern[..], more].concat());
        out.split("\"end\": ").skip(1).map(|p| p.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()).collect()
    };
    let paper = ends(&[]);
    assert_eq!(paper, ends(&["--thresholds", "harmed=0.3,harmed-share=0.125,idle=0.5,idle-share=0.5,notice-share=0.0625"]));
    // Nobody is ever harmed or idle: it goes over to independence, and stays.
    let deaf = ends(&["--thresholds", "harmed=1000,idle=0.000001,notice-share=1"]);
    assert!(paper[1..] == deaf[1..] && deaf[0] > paper[0] * 11 / 10, "{paper:?} {deaf:?}");
}
#[test]
fn the_cluster_is_what_switches_and_a_file_say() {
    let f = Folder::new("cluster");
    f.write("a.trace", SMALL);
    f.write("slow.toml", "ratio = 10\nsetting = \"local\"\nround-trip = \"2ms\" # both ways\nmemory = \"64M\"\n");
    let out = shows(&f.0, &["a.trace", "--policy", "FI", "--setting", "slow.toml", "--heap=1M"]);
    assert!(out.contains("a round trip of 2000 us,") && out.contains("heaps from 1.0 MB to 64.0 MB"), "{out}");
    assert!(out.contains("a collection of 0 ns and 19 ms for each MB"), "{out}");
    // Both ways together.
    let end = |args: &[&str]| {
        let out = shows(&f.0, &[&["a.trace", "--policy", "FI", "--json"], args].concat());
        out.split("\"end\": ").nth(1).unwrap().split(',').next().unwrap().parse::<u64>().unwrap()
    };
    let more = end(&["--round-trip", "2ms"]) - end(&[]);
    assert!((1_960_000..1_970_000).contains(&more), "{more}");
}

#[test]
fn what_can_not_be_is_said_with_its_place() {
    let f = Folder::new("wrong");
    f.write("a.trace", SMALL);
    f.write("bad.trace", SMALL.replace("c500000", "c5x"));
    f.write("fifth.trace", "kumi-trace 1\nnodes 2\ntask 5 c100\n");
    f.write("stuck.trace", "kumi-trace 1\nnodes 2\ntask 0 w2 s1>1:1\ntask 1 w1 s2>0:1\n");
    f.write("large.trace", "kumi-trace 1\nnodes 65536\n");
    f.write("bytes.trace", b"kumi-trace 1\nnodes 2\n\xff\n");
    f.write("bad.toml", "memory = \"1M\"\nround-trip = \"soon\"\n");
    f.write("odd.toml", "memory = \"1M\"\ncolour = 1\n");
    f.write("no.toml", "memory = = 3\n");
    let says = |status, args: &[&str], part: &str| {
        let (code, out, err) = simulate(&f.0, args);
        assert!(code == Some(status) && out.is_empty() && err.contains(part), "{args:?}: {code:?} {out} {err}");
    };
    says(2, &[], "a trace is needed");
    says(2, &["a.trace", "b.trace"], "one trace at a time");
    says(2, &["a.trace", "--pattern", "bh"], "either a trace or --pattern");
    says(2, &["a.trace", "--nodes", "4"], "a trace has its nodes");
    says(2, &["--pattern", "x"], "\"x\" is no pattern: bh, cky, rna");
    says(2, &["--pattern", "bh", "--nodes", "5000"], "from 1 to 4096");
    says(2, &["a.trace", "--policy", "FX"], "\"FX\" is no policy: all, independent");
    says(2, &["a.trace", "--policy"], "--policy needs");
    says(2, &["a.trace", "--thresholds", "harmed"], "--thresholds needs NAME=VALUE, such as harmed=0.2");
    says(2, &["a.trace", "--thresholds", "luck=1"], "\"luck\" is no threshold: c, f, harmed");
    says(2, &["a.trace", "--thresholds", "idle=0.5,f=NaN"], "f is a number above 1, at most 1000000, not \"NaN\"");
    says(2, &["a.trace", "--colour"], "unknown option --colour");
    says(2, &["a.trace", "--timeline", "a.svg"], "--timeline is of one policy");
    says(2, &["a.trace", "--round-trip", "40"], "--round-trip is a time, such as 40us");
    says(2, &["a.trace", "--memory", "much"], "--memory is a number of bytes");
    says(1, &["none.trace"], "none.trace: No such file");
    says(1, &["bad.trace"], "bad.trace:3: a step that can't be read");
    says(1, &["fifth.trace"], "fifth.trace:3: no such node: they are counted from 0 on");
    f.write("to.trace", "kumi-trace 1\r\nnodes 2\r\n\r\ntask 0 c5\r\n# x\r\ntask 0 s1>7:3\r\n");
    f.write("unsent.trace", "kumi-trace 1\nnodes 2\ntask 0 c5\ntask 1 c1\n\ntask 0 w5\n");
    f.write("twice.trace", "kumi-trace 1\nnodes 2\ntask 0 s1>1:3\ntask 1 w1\ntask 0 s1>1:3\n");
    f.write("heap.toml", "memory = \"1M\"\nheap = \"2M\"\n");
    says(1, &["to.trace"], "to.trace:6: there is no node 7; the first is 0");
    says(1, &["unsent.trace"], "unsent.trace:6: message 5 is waited for and never sent");
    says(1, &["twice.trace"], "twice.trace:5: message 1 is sent twice");
    says(1, &["a.trace", "--heap", "100G"], "--heap is 107374182400 bytes, more than the");
    says(
        1,
        &["a.trace", "--heap", "4M", "--memory", "2M"],
        "--heap is 4194304 bytes, more than the 2097152 bytes of memory that a node has",
    );
    says(1, &["a.trace", "--setting", "heap.toml"], "heap.toml: heap is 2097152 bytes, more than the 1048576 bytes");
    assert!(shows(&f.0, &["a.trace", "--memory", "1M", "--policy", "FI"]).contains("heaps from 1.0 MB to 1.0 MB"));
    says(1, &["stuck.trace"], "stuck.trace, independent: task 0 on node 0 waits for what does not come");
    says(1, &["large.trace"], "65536 nodes; up to 4096");
    says(1, &["bytes.trace"], "line 3: no UTF-8");
    says(1, &["a.trace", "--longest", "1us"], "takes longer than 0.000001 s of the cluster's time: --longest allows no more");
    says(1, &["a.trace", "--setting", "none.toml"], "--setting is ap1000, local or a TOML file");
    says(1, &["a.trace", "--setting", "bad.toml"], "bad.toml:2: round-trip is a time");
    says(1, &["a.trace", "--setting", "odd.toml"], "odd.toml:2: \"colour\" is none of setting, round-trip");
    says(1, &["a.trace", "--setting", "no.toml"], "no.toml:1: no TOML");
}

#[test]
fn whatever_stands_in_a_file_is_replayed_or_refused() {
    let f = Folder::new("fuzz");
    let mut c = Chance::new(11);
    for _ in 0..60 {
        let mut bytes = SMALL.repeat(c.between(1, 2) as usize).into_bytes();
        (0..c.between(1, 3)).for_each(|_| c.spoil(&mut bytes));
        f.write("x.trace", &bytes);
        let (code, _, err) = simulate(&f.0, &["x.trace", "--policy", "AS"]);
        assert!(matches!(code, Some(0 | 1)) && !err.contains("bug in kumi"), "{:?}: {err}", String::from_utf8_lossy(&bytes));
    }
}

/// All nodes meet some times; between, each asks its neighbour, and makes objects.
const PROGRAM: &str = "require 'kumihimo/cluster'
C = Kumihimo::Cluster
class Shelf
  include Kumihimo::Remote
  remote_methods :row
  def row(n) = Array.new(n) { |i| i.to_s * 3 }
end
others = C.reduce([[C.self, Shelf.new]]) { |a, b| a + b }.sort_by(&:first).map(&:last)
mine = C.nodes.index(C.self)
kept = []
30.times do |round|
  kept << others[(mine + 1) % others.size].row(200 + round)
  C.barrier if round % 10 == 0
end
sleep 0.05
p C.reduce(kept.flatten.size) { |a, b| a + b } if C.self != 'x'
";

#[test]
fn a_program_of_nodes_is_recorded_and_replayed() {
    let f = Folder::new("record");
    f.write("shelf.rb", PROGRAM);
    let run = |args: &[&str]| Command::new(env!("CARGO_BIN_EXE_kumi")).arg("run").args(args).current_dir(&f.0).output().unwrap();
    let out = run(&["--nodes", "3", "--record", "rec/one", "shelf.rb"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert_eq!(String::from_utf8_lossy(&out.stdout).matches("19305").count(), 3);
    let names = ["node1", "node2", "node3"];
    assert!(names.iter().all(|n| f.read(&format!("rec/one/{n}.recording")).starts_with(&format!("kumi-recording 1\nnode {n}\nbegin "))));
    // Each of the five meetings needs the three that come, each of these what came of it, and the first one, who goes last, all that went.
    assert!(f.read("rec/one/node1.recording").matches(" q").count() >= 5 * 3 * 3);
    // What a message caused is in it, and no message came from nowhere.
    let args = ["rec/one", "--no-nurseries", "--heap", "2M", "--policy", "FI,FS,combined"];
    let (first, again) = (shows(&f.0, &args), shows(&f.0, &args));
    assert!(
        first.starts_with("simulated: rec/one; 3 nodes, ") && first.contains("recorded: ") && !first.contains("not recorded"),
        "{first}"
    );
    let messages: u64 = first.split("3 nodes, ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!(messages > 3 * 30 * 2, "{first}");
    // Two replays are equal to the byte; so are those of the trace that it becomes, and their pictures.
    assert_eq!(first, again);
    let json = shows(&f.0, &["rec/one", "--json", "--policy", "FS", "--write", "shelf.trace", "--timeline", "one.svg"]);
    let of_trace = shows(&f.0, &["shelf.trace", "--json", "--policy", "FS", "--setting", "recorded", "--timeline", "two.svg"]);
    assert!(json.contains("\"simulated\": true") && f.read("one.svg").contains("(simulated)"));
    assert_eq!(f.read("one.svg").lines().count() > 20, f.read("two.svg").lines().count() > 20);
    assert!(of_trace.contains("shelf.trace"));
    // A sleep lasts as long as it did.
    let end = |args: &[&str]| {
        let out = shows(&f.0, &[&["rec/one", "--json"], args].concat());
        out.split("\"end\": ").nth(1).unwrap().split(',').next().unwrap().parse::<u64>().unwrap()
    };
    assert!(end(&["--as-recorded"]) > 50_000_000 && end(&["--slower", "10", "--policy", "FI"]) > end(&["--policy", "FI"]));
    // Mistakes. A folder holds one run.
    let again = run(&["--nodes", "2", "--record", "rec/one", "shelf.rb"]);
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert_eq!(
        (said.as_str(), again.status.code()),
        (
            "kumi run: rec/one holds a recording of another run (node1.recording): give --record a new folder, or remove what is there\n",
            Some(1)
        )
    );
    let east = ["node", "east", "--record", "rec/one", "-e", "1"];
    let east = Command::new(env!("CARGO_BIN_EXE_kumi")).args(east).current_dir(&f.0).output().unwrap();
    assert!(east.status.success());
    let (code, _, err) = simulate(&f.0, &["rec/one"]);
    assert!(code == Some(1) && err.contains("node east began when node") && err.contains("are of different runs"), "{err}");
    std::fs::remove_file(f.0.join("rec/one/east.recording")).unwrap();
    f.write("rec/one/node2.recording", "kumi-recording 1\nnode node2\nbegin 1\nt1 c1\nt1 c?\nend 1 1 1\n");
    let (code, _, err) = simulate(&f.0, &["rec/one"]);
    assert!(code == Some(1) && err.contains("node2.recording:5: a step that can't be read"), "{err}");
    std::fs::create_dir(f.0.join("empty")).unwrap();
    assert!(simulate(&f.0, &["empty"]).2.contains("there are no recordings (NAME.recording)"));
    assert!(String::from_utf8_lossy(&run(&["--record", "x", "shelf.rb"]).stderr).contains("--record is for nodes"));
}

/// Nodes that share cores bear that others take longer: their leases, too, last as many times longer as nodes share a core.
#[test]
fn more_nodes_than_cores_are_recorded() {
    let f = Folder::new("many");
    let program = format!("{PROGRAM}\nputs \"lease #{{Kumihimo::Segments.const_get(:Apart)::LEASE}}\" if C.self == 'node1'\n");
    f.write("shelf.rb", &program);
    let run = |args: &[&str]| {
        let out = Command::new(env!("CARGO_BIN_EXE_kumi")).args(["run", "--nodes"]).args(args).arg("shelf.rb").current_dir(&f.0).output();
        let out = out.unwrap();
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    let cores = std::thread::available_parallelism().unwrap().get();
    let out = run(&["16", "--record", "rec"]);
    assert!(out.contains(&format!("lease {}\n", 10 * 16_usize.div_ceil(cores))), "{out}");
    assert_eq!(std::fs::read_dir(f.0.join("rec")).unwrap().count(), 16);
    let replay = shows(&f.0, &["rec", "--policy", "FI,FS", "--no-nurseries", "--heap", "2M"]);
    assert!(replay.starts_with("simulated: rec; 16 nodes, ") && !replay.contains("not recorded"), "{replay}");
    // Without a recording nobody is more patient than usual, unless that is said.
    assert!(run(&["2"]).contains("lease 10\n") && run(&["2", "--patience", "7"]).contains("lease 70\n"));
}

#[test]
fn a_forks_child_writes_nothing_into_its_parents_recording() {
    let f = Folder::new("fork");
    let program = "def work = 300.times { Thread.new { 'x' * 1000 }.join }\nwork\npid = fork { work }\nProcess.wait(pid)\nwork\nexit 0";
    let out =
        Command::new(env!("CARGO_BIN_EXE_kumi")).args(["node", "n", "--record", "rec", "-e", program]).current_dir(&f.0).output().unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = f.read("rec/n.recording");
    assert_eq!((text.matches("kumi-recording").count(), text.matches("\nend ").count()), (1, 1));
    // 600 threads, and not 900, that the main one made.
    let births = text.split([' ', '\n']).filter(|w| w.len() > 8 && w.starts_with('b')).count();
    assert!((600..700).contains(&births), "{births}");
    assert!(shows(&f.0, &["rec", "--as-recorded"]).contains("simulated: rec; 1 nodes"));
}

/// Commands of a page's blocks of shell, each line one.
fn commands(text: &str) -> Vec<&str> {
    text.split("```sh\n").skip(1).filter_map(|t| t.split("```").next()).flat_map(str::lines).filter(|l| l.starts_with("kumi ")).collect()
}

#[test]
fn commands_of_the_guide_run_as_they_stand() {
    let f = Folder::new("guide");
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/SIMULATE.md")).unwrap();
    f.write("small.trace", page.split("```text\n").find(|t| t.starts_with("kumi-trace 1")).unwrap().split("```").next().unwrap());
    f.write("slow.toml", page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap());
    let commands = commands(&page);
    assert!(commands.len() >= 6, "{commands:?}");
    for command in commands {
        let words: Vec<&str> = command.split('#').next().unwrap().split_whitespace().skip(2).collect();
        assert!(shows(&f.0, &words).contains("simulated"), "{command}");
    }
}
