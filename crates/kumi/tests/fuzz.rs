//! Random programs, for some seconds each: threads over shared objects (`races.rb`), every method with hostile arguments
//! (`natives.rb`), natives beside their Ruby twins (`twins.rb`), all that is made and dropped (`soak.rb`), long calls that are asked to end
//! (`long.rb`), calls that take much (`unasked.rb`). A failure prints the line that makes it again.
//!
//! `KUMI_FUZZ_SECONDS=n` makes each of them run for n seconds, one seed after the other; `KUMI_TEST_SEED=n` begins with another
//! seed. Without, natives and twins run the first two seeds, the same on every machine.

#[allow(dead_code)]
mod common;
use common::seed;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

type Modes<'a> = &'a [(&'static str, &'static str)];

const STRESSES: [Modes; 5] =
    [&[], &[("KUMI_GC_STRESS", "31")], &[("KUMI_TLH_STRESS", "3")], &[("KUMI_SCHED_STRESS", "5")], &[("KUMI_STACK_STRESS", "1")]];

fn seconds(default: u64) -> u64 {
    std::env::var("KUMI_FUZZ_SECONDS").ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

/// Are there enough seeds?
fn over(n: u32, stop: Instant) -> bool {
    if std::env::var_os("KUMI_FUZZ_SECONDS").is_none() { n > seed(1) } else { Instant::now() > stop }
}

/// What one fuzzer prints. It ends by itself and well, or the test fails with the line that replays it.
fn run(program: &str, args: &[String], modes: Modes, limit: Duration) -> String {
    run_and_hear(program, args, modes, limit).0
}
/// The same, and what it says on standard error.
fn run_and_hear(program: &str, args: &[String], modes: Modes, limit: Duration) -> (String, String) {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz");
    let mut c = common::kumi(&["-W0", program]);
    c.args(args).current_dir(folder).envs(modes.iter().copied());
    let shown: String = modes.iter().map(|(k, v)| format!("{k}='{v}' ")).collect();
    let replay = format!("{shown}kumi -W0 tests/fuzz/{program} {}", args.join(" "));
    let end = common::finish(&mut c, b"", limit).unwrap_or_else(|| panic!("still running after {limit:?}: {replay}"));
    let (out, err) = (String::from_utf8_lossy(&end.out).into_owned(), end.err);
    assert!(end.status.success(), "{}: {replay}\n{out}\n{err}", end.status);
    assert!(!err.contains("internal error"), "{replay}\n{err}");
    (out, err)
}

fn races(modes: Modes) {
    for workers in ["2", "4"] {
        let mut all = modes.to_vec();
        all.push(("KUMI_WORKERS", workers));
        let (from, time) = (seed(1), seconds(3));
        let out = run("races.rb", &[from.to_string(), time.to_string()], &all, Duration::from_secs(time + 180));
        assert_eq!(out, "races: every invariant holds\n");
    }
}

#[test]
fn threads_lose_and_invent_nothing() {
    races(STRESSES[0]);
}
#[test]
fn threads_lose_and_invent_nothing_under_collector_stress() {
    races(STRESSES[1]);
}
#[test]
fn threads_lose_and_invent_nothing_while_nurseries_retire() {
    races(STRESSES[2]);
}
#[test]
fn threads_lose_and_invent_nothing_in_odd_orders() {
    races(STRESSES[3]);
}
#[test]
fn threads_lose_and_invent_nothing_while_stacks_move() {
    races(STRESSES[4]);
}

/// One seed after the other until the time is over; says how many calls were made.
fn natives(rounds: u32, modes: Modes) {
    let stop = Instant::now() + Duration::from_secs(seconds(3));
    let mut calls = 0;
    for n in seed(1).. {
        let out = run("natives.rb", &[n.to_string(), rounds.to_string()], modes, Duration::from_secs(400));
        let made = out.strip_prefix(&format!("seed {n}: done, ")).and_then(|x| x.strip_suffix(" calls\n")?.parse::<u64>().ok());
        calls += made.unwrap_or_else(|| panic!("{out}"));
        if over(n, stop) {
            break;
        }
    }
    println!("{calls} calls in {modes:?}");
}

#[test]
fn no_argument_ends_the_process() {
    natives(3, STRESSES[0]);
}
#[test]
fn no_argument_ends_the_process_while_allocations_are_traced() {
    natives(3, &[("KUMI_FUZZ_TRACED", "1")]);
}
#[test]
fn no_argument_ends_the_process_while_it_is_profiled() {
    natives(2, &[("RUBYOPT", "--profile=alloc --profile-out=/dev/null")]);
    natives(1, &[("RUBYOPT", "--profile=heap --profile-out=/dev/null")]);
}
#[test]
fn no_argument_ends_the_process_under_collector_stress() {
    // The heap, which the hostile values make large, is verified twice at each collection: some of the methods at a time.
    natives(1, &[("KUMI_GC_STRESS", "997"), ("KUMI_FUZZ_SHARE", "10")]);
}
#[test]
fn no_argument_ends_the_process_while_nurseries_retire() {
    natives(1, STRESSES[2]);
}
#[test]
fn no_argument_ends_the_process_while_stacks_move() {
    natives(1, &[("KUMI_STACK_STRESS", "1"), ("KUMI_FUZZ_SHARE", "5")]);
}

/// Classes, methods, code, symbols, threads, files, sockets, made and dropped: memory, descriptors and threads level off.
#[test]
#[cfg(target_os = "linux")]
fn what_is_dropped_costs_nothing() {
    let (from, time) = (seed(1), seconds(20));
    let out = run("soak.rb", &[from.to_string(), time.to_string()], &[], Duration::from_secs(time + 180));
    assert_eq!(out, format!("soak: seed {from}: all levels off\n"));
}

/// Where a control group bounds the process it is killed for what nobody asked for (`kumi_budget`).
#[test]
#[cfg(debug_assertions)]
fn what_is_large_is_asked_for_by_whoever_takes_it() {
    let (from, time) = (seed(1), seconds(10));
    let args = [from.to_string(), time.to_string()];
    let (out, err) = run_and_hear("unasked.rb", &args, &[("KUMI_UNASKED", "250000")], Duration::from_secs(time + 180));
    assert_eq!(out, "unasked: calls were made\n");
    // Big Integers ask for what their work takes at most before it begins; lists of a nursery's collections are no longer than that.
    let known = ["num/src/", "heap/src/nursery.rs", "heap/src/heap/birth.rs"];
    let mut call = "";
    let mut faults = Vec::new();
    for line in err.lines() {
        match line.strip_prefix("unasked: ") {
            Some(what) if !known.iter().any(|k| what.split(" at ").nth(1).is_some_and(|at| at.starts_with(k))) => {
                faults.push(format!("{call}: {what}"));
            }
            Some(_) => {}
            None => call = line.strip_prefix("call: ").unwrap_or(call),
        }
    }
    assert!(faults.is_empty(), "seed {from}:\n{}", faults.join("\n"));
}

/// The same seeded calls, once to natives and once to their twins, answer the same.
#[test]
fn twins_answer_as_their_natives() {
    let stop = Instant::now() + Duration::from_secs(seconds(3));
    for n in seed(1).. {
        let args = [n.to_string(), "3".to_string()];
        let plain = run("twins.rb", &args, &[], Duration::from_secs(120));
        let twins = run("twins.rb", &args, &[("KUMI_TWIN_STRESS", "1")], Duration::from_secs(120));
        let differ: Vec<String> =
            plain.lines().zip(twins.lines()).filter(|(a, b)| a != b).map(|(a, b)| format!("native {a}\ntwin   {b}")).collect();
        assert!(
            differ.is_empty() && plain.lines().count() == twins.lines().count(),
            "seed {n}: {} differ\n{}",
            differ.len(),
            differ.join("\n")
        );
        if over(n, stop) {
            break;
        }
    }
}

/// Every method on huge receivers, asked to end by a time limit, a signal and a kill: a share of the cases that the seed chooses, with a
/// bound that tells an answer from minutes of deafness. `KUMI_LONG=part/parts` makes the cases of that part (`0/1`: all of them, for hours) and
/// names all that take longer than a second and a half.
#[test]
fn what_is_long_ends_when_it_is_asked_to() {
    use std::io::BufRead;
    // A prime, so that a share has receivers and arguments of all kinds.
    const SHARES: u32 = 607;
    const PATIENCE: Duration = Duration::from_secs(120);
    let asked = std::env::var("KUMI_LONG").ok();
    let bound = if asked.is_some() { 1.5 } else { 10.0 };
    let chosen = asked.unwrap_or_else(|| format!("{}/{SHARES}", seed(1) % SHARES));
    let (part, parts) = chosen.split_once('/').expect("KUMI_LONG=part/parts");
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fuzz");
    let (mut first, mut late) = (0, Vec::new());
    loop {
        let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
        c.args(["-W0", "long.rb", part, parts, &first.to_string()]).current_dir(&folder).env("KUMI_HEAP_MAX", "4G");
        let mut child = c.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (give, take) = std::sync::mpsc::channel();
        let out = child.stdout.take().unwrap();
        std::thread::spawn(move || std::io::BufReader::new(out).lines().map_while(Result::ok).for_each(|l| drop(give.send(l))));
        let (mut label, mut done) = (String::new(), false);
        let stuck = loop {
            match take.recv_timeout(PATIENCE) {
                Ok(l) if l == "done" => done = true,
                Ok(l) => match l.strip_prefix("- ") {
                    Some(way) => {
                        if way.rsplit(' ').next().and_then(|s| s.parse::<f64>().ok()).is_some_and(|s| s > bound) {
                            late.push(format!("{label}: {way}"));
                        }
                    }
                    None => label = l,
                },
                Err(std::sync::mpsc::RecvTimeoutError::Timeout) => break true,
                Err(_) => break false,
            }
        };
        let _ = child.kill();
        let status = child.wait().unwrap();
        if done {
            break;
        }
        late.push(format!("{label}: {}", if stuck { "no end".into() } else { status.to_string() }));
        match label.split(' ').next().and_then(|n| n.parse::<u32>().ok()) {
            Some(n) => first = n + 1,
            None => panic!("long.rb does not begin"),
        }
    }
    assert!(late.is_empty(), "{} late\n{}", late.len(), late.join("\n"));
}
