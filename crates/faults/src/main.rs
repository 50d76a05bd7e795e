//! Makes faults in a cluster of `kumi` processes and has the histories checked that they write (crates/history). tests/faults/run builds this and
//! says what it is called with.

#![forbid(unsafe_code)]

mod cluster;
mod engine;
mod fault;
mod netns;
mod proxy;
mod remote;
mod run;
mod stall;

use cluster::{Cluster, Setting};
use engine::Engine;
use fault::{Fault, NETWORK, OF_FILE, OF_REDIS, PLAIN, pause};
use kumi_chance::Chance;
use run::{Judged, Table, judge, judge_remote};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

const HELP: &str = "\
tests/faults/run                      each fault once, on three nodes: what CI runs
tests/faults/run one FAULT [SEED]     one fault, from a seed
tests/faults/run fifty FAULT          fifty runs of a fault, from seed 1 on
tests/faults/run long                 faults by chance for an hour, on five nodes
tests/faults/run list                 the faults

  --workload W     what the nodes do: segments, or remote, calls of each other's objects
  --cycles         of remote: objects refer to each other in circles
  --engine E       what keeps the segments: memory (the nodes'), file (of one process), redis (a server of its own, of all)
  --kumi PATH      the kumi whose processes the nodes are
  --nodes N        so many nodes
  --seed N         the first seed
  --seconds N      of long: how long
  --runs N         of fifty: how many
  --lease N        seconds of a lease (1)
  --slack N        seconds beyond a lease in which calls are to succeed again (1)
  --folder PATH    where histories are kept; those of runs in which nothing is wrong are removed from other places
  --report PATH    where the table of results goes as well
  --verbose        tells what is done
";

struct Asked {
    words: Vec<String>,
    setting: Setting,
    seed: u64,
    seconds: u64,
    runs: u64,
    slack: f64,
    folder: Option<PathBuf>,
    report: Option<PathBuf>,
}

fn read() -> Result<Asked, String> {
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/faults");
    let mut asked = Asked {
        words: Vec::new(),
        setting: Setting {
            kumi: "kumi".into(),
            programs,
            nodes: 0,
            lease: 1,
            namespaces: false,
            engine: Engine::Memory,
            remote: false,
            cycles: false,
            verbose: false,
        },
        seed: 1,
        seconds: 3600,
        runs: 50,
        slack: 1.0,
        folder: None,
        report: None,
    };
    let mut args = std::env::args().skip(1);
    while let Some(a) = args.next() {
        if !a.starts_with("--") {
            asked.words.push(a);
            continue;
        }
        if let Some(set) = match &*a {
            "--verbose" => Some(&mut asked.setting.verbose),
            "--cycles" => Some(&mut asked.setting.cycles),
            _ => None,
        } {
            *set = true;
            continue;
        }
        let value = args.next().ok_or(format!("{a} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{a} needs a number, not {value:?}"));
        match &*a {
            "--workload" => {
                asked.setting.remote = match &*value {
                    "segments" => false,
                    "remote" => true,
                    _ => return Err(format!("{a} is segments or remote, not {value:?}")),
                }
            }
            "--kumi" => asked.setting.kumi = value.clone().into(),
            "--engine" => {
                asked.setting.engine = match &*value {
                    "memory" => Engine::Memory,
                    "file" => Engine::File,
                    "redis" => Engine::Redis,
                    _ => return Err(format!("{a} is memory, file or redis, not {value:?}")),
                }
            }
            "--nodes" => asked.setting.nodes = number()?.clamp(1, 9) as usize,
            "--seed" => asked.seed = number()?,
            "--seconds" => asked.seconds = number()?,
            "--runs" => asked.runs = number()?,
            "--lease" => asked.setting.lease = number()?.clamp(1, 60),
            "--slack" => asked.slack = value.parse().map_err(|_| format!("{a} needs seconds, not {value:?}"))?,
            "--folder" => asked.folder = Some(value.clone().into()),
            "--report" => asked.report = Some(value.clone().into()),
            _ => return Err(format!("unknown option {a}")),
        }
    }
    Ok(asked)
}

fn main() -> ExitCode {
    let mut asked = match read() {
        Ok(a) => a,
        Err(why) => {
            eprintln!("faults: {why}\n{HELP}");
            return ExitCode::from(2);
        }
    };
    let words: Vec<&str> = asked.words.iter().map(String::as_str).collect();
    let long = words.first() == Some(&"long");
    if asked.setting.nodes == 0 {
        asked.setting.nodes = if long { 5 } else { 3 };
    }
    match asked.setting.engine {
        // One process has it open.
        Engine::File => asked.setting.nodes = 1,
        Engine::Memory => asked.setting.nodes = asked.setting.nodes.max(2),
        Engine::Redis => {}
    }
    let mut table = Table::of(asked.setting.remote);
    let done = match &words[..] {
        [] | ["short"] => short(&asked, &mut table),
        ["one", fault] => many(&asked, fault, asked.seed, 1, &mut table),
        ["one", fault, seed] => match seed.parse() {
            Ok(seed) => many(&asked, fault, seed, 1, &mut table),
            Err(_) => Err(format!("a seed is a number, not {seed:?}")),
        },
        ["fifty", fault] => many(&asked, fault, asked.seed, asked.runs, &mut table),
        ["long"] => hour(&asked, &mut table),
        ["list"] => {
            PLAIN.into_iter().chain(NETWORK).chain(OF_REDIS[10..].iter().copied()).for_each(|f| println!("{:18} {}", f.name(), f.what()));
            return ExitCode::SUCCESS;
        }
        _ => Err(format!("it is called otherwise:\n{HELP}")),
    };
    let text = table.text();
    print!("{text}");
    if let Some(path) = &asked.report {
        let head = format!("{} nodes, leases of {} s, seeds from {} on\n\n", asked.setting.nodes, asked.setting.lease, asked.seed);
        if let Err(e) = std::fs::write(path, head + &text) {
            eprintln!("faults: {}: {e}", path.display());
        }
    }
    match done {
        Ok(()) if table.is_clean() => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("faults: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The faults that an engine may have.
fn faults(asked: &Asked) -> &'static [Fault] {
    match asked.setting.engine {
        Engine::Memory => &PLAIN,
        Engine::File => &OF_FILE,
        Engine::Redis => &OF_REDIS,
    }
}

/// Where a run's histories go.
fn folder(asked: &Asked, name: &str) -> PathBuf {
    let base = asked.folder.clone().unwrap_or_else(|| std::env::temp_dir().join(format!("kumi-faults-{}", std::process::id())));
    base.join(name)
}

/// Ends a cluster's epoch, and judges it.
fn end(asked: &Asked, cluster: &mut Cluster, folder: &Path) -> Result<Judged, String> {
    let files = cluster.finish()?;
    let complaints = std::mem::take(&mut *cluster.complaints.lock().unwrap_or_else(|e| e.into_inner()));
    let judged = match asked.setting.remote {
        true => judge_remote(cluster, complaints),
        false => judge(&files, complaints, asked.setting.lease, asked.slack)?,
    };
    if judged.is_clean() && asked.folder.is_none() {
        files.iter().for_each(|f| drop(std::fs::remove_file(f)));
        // Where it is empty: a store may be there.
        let _ = std::fs::remove_dir(folder);
    } else if !judged.is_clean() {
        eprintln!("{}\nfaults: the history is in {}", judged.text(), folder.display());
    }
    Ok(judged)
}

/// Runs of one fault, each with nodes of its own.
fn many(asked: &Asked, name: &str, seed: u64, runs: u64, table: &mut Table) -> Result<(), String> {
    let fault = Fault::named(name).ok_or(format!("no fault is called {name:?}: see list"))?;
    let setting = Setting { namespaces: fault.is_network(), ..asked.setting.clone() };
    for seed in seed..seed + runs {
        let folder = folder(asked, &format!("{name}-{seed}"));
        let mut chance = Chance::new(seed);
        let mut cluster = Cluster::start(&setting, &folder, seed)?;
        cluster.begin()?;
        pause(chance.between(700, 1500));
        let made = fault.make(&mut cluster, &mut chance);
        // For what is to be well again by then.
        pause(asked.setting.lease * 1000 + (asked.slack * 1000.0) as u64 + 1500);
        let judged = end(asked, &mut cluster, &folder)?;
        made?;
        println!("{name}, seed {seed}: {}", judged.line(asked.setting.remote));
        table.add(fault, judged);
    }
    Ok(())
}

/// Each fault once, in one cluster; then those of network namespaces, where there may be any.
fn short(asked: &Asked, table: &mut Table) -> Result<(), String> {
    let mut run = |faults: &[Fault], namespaces: bool| -> Result<(), String> {
        let setting = Setting { namespaces, ..asked.setting.clone() };
        let folder = folder(asked, if namespaces { "short-network" } else { "short" });
        let mut chance = Chance::new(asked.seed);
        let mut cluster = Cluster::start(&setting, &folder, asked.seed)?;
        for fault in faults {
            cluster.begin()?;
            pause(500);
            let made = fault.make(&mut cluster, &mut chance);
            pause(asked.setting.lease * 1000 + (asked.slack * 1000.0) as u64 + 500);
            let judged = end(asked, &mut cluster, &folder)?;
            match made {
                Err(why) if namespaces => {
                    println!("{}: skipped: {why}", fault.name());
                    continue;
                }
                made => made?,
            }
            println!("{}: {}", fault.name(), judged.line(asked.setting.remote));
            table.add(*fault, judged);
        }
        Ok(())
    };
    run(faults(asked), false)?;
    if asked.setting.engine != Engine::Memory {
        return Ok(());
    }
    match netns::Namespaces::make(1).map(drop) {
        Ok(()) => run(&NETWORK, true),
        Err(why) => {
            println!("network namespaces: skipped: {why}");
            Ok(())
        }
    }
}

/// Faults by chance, in epochs that are judged one by one.
fn hour(asked: &Asked, table: &mut Table) -> Result<(), String> {
    let until = Instant::now() + Duration::from_secs(asked.seconds);
    let mut chance = Chance::new(asked.seed);
    let root = folder(asked, "long");
    let mut cluster = Cluster::start(&asked.setting, &root, asked.seed)?;
    while Instant::now() < until {
        cluster.begin()?;
        let mut made = Vec::new();
        let epoch = Instant::now() + Duration::from_secs(60).min(until.saturating_duration_since(Instant::now()));
        while Instant::now() < epoch {
            pause(chance.between(300, 1500));
            let fault = faults(asked)[chance.below(faults(asked).len() as u64) as usize];
            fault.make(&mut cluster, &mut chance)?;
            made.push(fault);
            pause(asked.setting.lease * 1000 + (asked.slack * 1000.0) as u64 + 500);
        }
        let judged = end(asked, &mut cluster, &root)?;
        let names: Vec<&str> = made.iter().map(|f| f.name()).collect();
        println!("{}: {}", names.join(" "), judged.line(asked.setting.remote));
        table.add_epoch(&made, judged);
    }
    Ok(())
}
