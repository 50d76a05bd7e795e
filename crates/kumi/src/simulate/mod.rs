//! `kumi simulate`: replays a program of a cluster under any schedule of collections.
//!
//! The replays are `kumi_simulate`'s; here is the command line, and how outcomes are shown.
//!
//! **Invariant.** What a file says is bounded before it is believed: its length, its steps, its nodes, what a replay may foresee at once. All
//! output says that it is simulated.

mod cluster;
mod recorded;
mod report;
mod thresholds;

use cluster::Cluster;
use kumi_schedule::{Policy, Thresholds};
use kumi_simulate::generate::{Pattern, Shape};
use kumi_simulate::recording::As;
use kumi_simulate::{Drawing, Options, Outcome, Setting, Time, Trace, replay};
use std::path::Path;

const HELP: &str = "\
Usage: kumi simulate TRACE [options]
       kumi simulate --pattern NAME [--nodes N] [--seed N] [options]

Replays what a cluster's program did, under any schedule of collections, and shows where its time goes: the program, idle,
collections, overhead. Causes are kept, times are not: a message is received after it is sent. Two replays of one trace are
equal. TRACE is a file (docs/SIMULATE.md), - standard input, or a folder of recordings: kumi run --nodes N --record DIR FILE.

      --policy NAME    when nodes collect: all (which is so without it), or names with commas between: independent (FI),
                       synchronised (FS), adaptive-synchronised (AS), adaptive-independent (AI), staggered, forecast,
                       measured, interruptible, combined
      --thresholds NAME=VALUE,...
                       other numbers than the paper's (in brackets): c (0.8) and f (3) of its heaps' growth; harmed (0.3),
                       harmed-share (1/8), idle (0.5), idle-share (0.5), notice-share (1/16) of AS and AI
      --setting NAME   the cluster: ap1000 (the paper's machine, which is so without it), local (processes of one
                       machine of today's), recorded (the same for recordings, which have their collections' costs: so
                       without it), or a TOML file with the names below, and setting
      --round-trip T   a message there and one back, with what both nodes do for them; times as 40us, 1.5ms, 2s
      --send T         what a sender's worker does for a message; --receive T, a receiver's; --switch T, to go to
                       another task; --tick T, how long one that comes waits at most for one that computes (0s: until that waits)
      --cores N        nodes share so many, as processes of one machine do; --share T, how often one goes on to another node (4ms)
      --bandwidth B    bytes a second that a node sends; bytes as 4096, 512K, 25M, 1G
      --memory B       a node's heap may not grow beyond this
      --heap B         its size at the beginning
      --pause T        a collection with nothing that lives
      --pause-mb T     what each MB that lives adds to it
      --ratio R        sets both of these: a collection takes R round trips for each MB that lives
      --young B        a heap as today's: young collections after so many bytes at least, twice as many at most; full ones
                       where as much has grown old as lived; --young-pause T, --young-pause-mb T: what one takes, by what
                       was born and lives
      --longest T      a replay that takes longer, in the cluster's time, is given up (an hour)
      --as-recorded    of recordings: collections come when they came, whatever the policy is
      --no-nurseries   of recordings: all that was allocated waits for a collection; else what nurseries have freed does not
      --no-overhead    messages and switches cost what the setting says; else in addition what is recorded of that
      --slower N       computing takes so many times as long
      --pattern NAME   a made-up program in the manner of one: bh, cky, rna, ga, prefetch, speculative, uneven, service
      --nodes N        its nodes (16)
      --length T       how long each of them computes (12s)
      --seed N         what is chance: in a pattern what it does (1); in a replay of anything else how far each heap is from its
                       first collection, and a twentieth of each message's way. Without it nothing is
      --bound          tell beside the policies what the program takes where collections take no time
      --write FILE     write the trace that is replayed
      --timeline FILE  draw what each node did, as SVG; with one policy
      --json           for machines
  -h, --help           this page

Examples:
  kumi simulate --pattern bh --nodes 64
  kumi simulate --pattern bh --policy FI,FS --ratio 500 --json
  kumi simulate --pattern cky --policy FI --timeline cky.svg --write cky.trace
";

/// A trace's file is no longer.
const LONGEST_FILE: u64 = 512 << 20;
/// Nodes that are replayed at most: each may send an order to each other at once.
const MOST_NODES: u32 = 4096;
/// A pattern computes no longer on each node.
const LONGEST_PATTERN: Time = 1_000_000_000_000;
/// Nodes of a timeline, and spans that are kept.
const DRAWN: Drawing = Drawing { nodes: 64, most: 2_000_000 };

enum Failed {
    Usage(String),
    Work(String),
}

/// `kumi simulate ...`: the exit status.
pub fn main(args: &[String]) -> i32 {
    let (message, status) = match run(args) {
        Ok(text) => {
            crate::say::out(text);
            return 0;
        }
        Err(Failed::Usage(m)) => (format!("kumi simulate: {m}\nkumi simulate --help tells more."), 2),
        Err(Failed::Work(m)) => (format!("kumi simulate: {m}"), 1),
    };
    crate::say::err(message);
    status
}

/// What the command line says.
struct Asked {
    trace: Option<String>,
    policies: Vec<Policy>,
    cluster: Cluster,
    pattern: Option<Pattern>,
    nodes: Option<u32>,
    seed: Option<u64>,
    write: Option<String>,
    timeline: Option<String>,
    json: bool,
    length: Option<Time>,
    bound: bool,
    how: As,
    no_overhead: bool,
    slower: f64,
    thresholds: Thresholds,
}

/// What is replayed, and how it is called.
struct Replayed {
    name: String,
    trace: Trace,
    setting: Setting,
    /// What is said of recordings.
    about: String,
}

fn run(args: &[String]) -> Result<String, Failed> {
    let Some(asked) = read(args).map_err(Failed::Usage)? else { return Ok(HELP.to_owned()) };
    let Replayed { name, mut trace, setting, about } = replayed(&asked)?;
    if asked.no_overhead {
        trace.leave_out_overhead();
    }
    trace.slow_down(asked.slower);
    if trace.nodes > MOST_NODES {
        return Err(Failed::Work(format!("{name}: {} nodes; up to {MOST_NODES} are replayed", trace.nodes)));
    }
    let drawing = if asked.timeline.is_some() { DRAWN } else { Drawing::default() };
    let mut outcomes: Vec<Outcome> = Vec::new();
    let policies = if asked.how == As::Recorded { &[Policy::Independent][..] } else { &asked.policies };
    // A pattern's seed has done its part.
    let seed = asked.seed.filter(|_| asked.pattern.is_none());
    for policy in policies {
        let mut options = Options { drawing, seed, ..Options::new(*policy) };
        options.nodes.thresholds = asked.thresholds;
        let outcome = replay(&trace, &setting, &options).map_err(|e| Failed::Work(format!("{name}, {}: {e}", policy.name())))?;
        outcomes.push(outcome);
    }
    let mut bound = None;
    if asked.bound {
        let options = Options { seed, ..Options::new(Policy::Independent) };
        bound = Some(replay(&trace, &setting.without_collections(), &options).map_err(|e| Failed::Work(format!("{name}: {e}")))?);
    }
    if let (Some(file), [only]) = (&asked.timeline, &outcomes[..]) {
        save(file, &only.timeline.svg(&format!("{name}, {}", report::label(only.policy))))?;
    }
    if let Some(file) = &asked.write {
        save(file, &trace.text())?;
    }
    let as_recorded = asked.how == As::Recorded;
    Ok(match asked.json {
        true => report::json(&name, &setting, &outcomes, bound.as_ref()),
        false => report::table(&name, &about, &setting, &outcomes, bound.as_ref(), as_recorded),
    })
}

fn save(file: &str, text: &str) -> Result<(), Failed> {
    std::fs::write(file, text).map_err(|e| Failed::Work(format!("{file}: {e}")))
}

/// The command line. None: the help is asked for.
fn read(args: &[String]) -> Result<Option<Asked>, String> {
    let mut a = Asked {
        trace: None,
        policies: Policy::all().collect(),
        cluster: Cluster::default(),
        pattern: None,
        nodes: None,
        seed: None,
        write: None,
        timeline: None,
        json: false,
        length: None,
        bound: false,
        how: As::Allocated,
        no_overhead: false,
        slower: 1.0,
        thresholds: Thresholds::default(),
    };
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let (switch, joined) = match arg.split_once('=') {
            Some((s, v)) if s.starts_with("--") => (s, Some(v.to_owned())),
            _ => (arg.as_str(), None),
        };
        let mut value = |what: &str| joined.clone().or_else(|| rest.next().cloned()).ok_or(format!("{switch} needs {what}"));
        match switch {
            "-h" | "--help" => return Ok(None),
            "--json" => a.json = true,
            "--length" => {
                let t = value("a time")?;
                let known = cluster::time(&t).filter(|t| (1..=LONGEST_PATTERN).contains(t));
                a.length = Some(known.ok_or(format!("--length needs a time up to 1000s, such as 60s, not {t:?}"))?);
            }
            "--bound" => a.bound = true,
            "--as-recorded" => a.how = As::Recorded,
            "--no-nurseries" => a.how = As::WithoutNurseries,
            "--no-overhead" => a.no_overhead = true,
            "--slower" => {
                let n = value("a number")?;
                a.slower = n
                    .parse()
                    .ok()
                    .filter(|n| (1e-6..=1e6).contains(n))
                    .ok_or(format!("--slower needs a number from 10^-6 to 10^6, not {n:?}"))?;
            }
            "--thresholds" => a.thresholds = thresholds::read(&value("NAME=VALUE")?)?,
            "--policy" => a.policies = policies(&value("a policy's name, or all")?)?,
            "--pattern" => {
                let name = value("a pattern's name")?;
                let all: Vec<&str> = Pattern::all().map(Pattern::name).collect();
                a.pattern = Some(Pattern::named(&name).ok_or_else(|| format!("{name:?} is no pattern: {}", all.join(", ")))?);
            }
            "--nodes" => {
                let n = value("a number")?;
                let n = n
                    .parse()
                    .ok()
                    .filter(|n| (1..=MOST_NODES).contains(n))
                    .ok_or(format!("--nodes needs a number from 1 to {MOST_NODES}, not {n:?}"))?;
                a.nodes = Some(n);
            }
            "--seed" => {
                let n = value("a number")?;
                a.seed = Some(n.parse().map_err(|_| format!("--seed needs a number, not {n:?}"))?);
            }
            "--write" => a.write = Some(value("a file")?),
            "--timeline" => a.timeline = Some(value("a file")?),
            s if s.starts_with("--") && cluster::is_name(&s[2..]) => a.cluster.set(&s[2..], value("a value")?)?,
            s if s.starts_with('-') && s != "-" => return Err(format!("unknown option {s}")),
            _ if a.trace.is_some() => return Err("one trace at a time".into()),
            _ => a.trace = Some(arg.clone()),
        }
    }
    match (&a.trace, a.pattern) {
        (None, None) => return Err("a trace is needed: kumi simulate TRACE".into()),
        (Some(_), Some(_)) => return Err("either a trace or --pattern".into()),
        (Some(_), None) if a.nodes.is_some() || a.length.is_some() => {
            return Err("a trace has its nodes and its length: --nodes and --length are for --pattern".into());
        }
        _ => {}
    }
    if a.timeline.is_some() && a.policies.len() != 1 && a.how != As::Recorded {
        return Err("--timeline is of one policy: say which by --policy NAME".into());
    }
    Ok(Some(a))
}

fn policies(names: &str) -> Result<Vec<Policy>, String> {
    let mut out = Vec::new();
    for name in names.split(',') {
        if name == "all" {
            out.extend(Policy::all());
            continue;
        }
        let all: Vec<&str> = Policy::all().map(Policy::name).collect();
        let wrong = || format!("{name:?} is no policy: all, {}, or FI, FS, AS, AI", all.join(", "));
        out.push(Policy::named(name).or_else(|| Policy::named(&name.to_uppercase())).ok_or_else(wrong)?);
    }
    Ok(out)
}

fn replayed(asked: &Asked) -> Result<Replayed, Failed> {
    let file = asked.trace.as_deref().unwrap_or("-");
    if asked.pattern.is_none() && Path::new(file).is_dir() {
        return recorded::read(Path::new(file), asked.how, &asked.cluster).map_err(Failed::Work);
    }
    if asked.how != As::Allocated {
        return Err(Failed::Work("--as-recorded and --no-nurseries are for folders of recordings".into()));
    }
    let setting = asked.cluster.setting(Setting::ap1000()).map_err(Failed::Work)?;
    if let Some(pattern) = asked.pattern {
        let shape = Shape::ap1000(asked.nodes.unwrap_or(16), asked.seed.unwrap_or(1));
        let shape = Shape { computes: asked.length.unwrap_or(shape.computes), ..shape };
        let name = format!("the pattern of {}", pattern.name());
        return Ok(Replayed { name, trace: pattern.trace(&shape), setting, about: String::new() });
    }
    let name = if file == "-" { "standard input".to_owned() } else { file.to_owned() };
    let text = read_text(file).map_err(|e| Failed::Work(format!("{name}: {e}")))?;
    let trace = Trace::parse(&text).map_err(|e| Failed::Work(format!("{name}:{}: {}", e.line, e.what)))?;
    trace.check().map_err(|(task, why)| Failed::Work(format!("{name}:{}: {why}", Trace::line_of(&text, task))))?;
    Ok(Replayed { name, trace, setting, about: String::new() })
}

/// The text of a file that is no longer than it may be.
fn read_text(file: &str) -> Result<String, String> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let from: Box<dyn Read> =
        if file == "-" { Box::new(std::io::stdin()) } else { Box::new(std::fs::File::open(Path::new(file)).map_err(|e| e.to_string())?) };
    from.take(LONGEST_FILE + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 > LONGEST_FILE {
        return Err(format!("a trace of more than {} MB", LONGEST_FILE >> 20));
    }
    String::from_utf8(bytes).map_err(|e| {
        let valid = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        format!("line {}: no UTF-8", 1 + valid.iter().filter(|b| **b == b'\n').count())
    })
}
