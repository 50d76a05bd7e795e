//! Runs ruby/spec on kumi: a process for every file, with limits, and a table of what passes.
//!
//! The denominator is the number of examples a file *has* for Ruby 4.0: counted by a
//! dry run under another Ruby when there is one, else from the text. A file that does
//! not load, crashes or hangs thus fails with all examples it did not get to.

mod child;
mod count;
mod table;

use child::{Outcome, Plan};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

const USAGE: &str = "\
Usage: spec/run PATH [folders or files...]
  PATH              folder that holds ruby/spec (core/, language/, ...)
  --kumi BIN        the command under test (default: target/release/kumi or target/debug/kumi)
  --mspec DIR       run with mspec itself instead of spec/harness.rb
  --filter TEXT     only examples whose description contains TEXT
  --verbose         print every failure
  --crashes         print only files that crash, hang or do not load
  --timeout SECS    per file (default 20)
  --memory MB       address space per file (default 4096)
  -j N              processes at a time (default 2)
  --report FILE     write the table there (a full run writes docs/COMPAT.md)
  --host RUBY       Ruby for the dry run that counts examples (default: ruby, if there is one)
";

/// What the command line says.
struct Args {
    root: PathBuf,
    only: Vec<String>,
    plan: Plan,
    verbose: bool,
    crashes: bool,
    jobs: usize,
    report: Option<PathBuf>,
    host: Option<String>,
}

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap_or_else(|_| PathBuf::from("."))
}

/// The newest of the two builds.
fn default_kumi() -> PathBuf {
    let age = |p: &Path| p.metadata().and_then(|m| m.modified()).ok();
    let (r, d) = (home().join("target/release/kumi"), home().join("target/debug/kumi"));
    if age(&r) > age(&d) { r } else { d }
}

fn parse() -> Result<Args, String> {
    let mut a = Args {
        root: PathBuf::new(),
        only: Vec::new(),
        plan: Plan {
            kumi: default_kumi(),
            harness: home().join("spec/harness.rb"),
            mspec: None,
            root: PathBuf::new(),
            filter: None,
            timeout: Duration::from_secs(20),
            memory: 4096 << 20,
        },
        verbose: false,
        crashes: false,
        jobs: 2,
        report: None,
        host: Some("ruby".into()),
    };
    let mut words = std::env::args().skip(1);
    while let Some(w) = words.next() {
        let mut value = || words.next().ok_or(format!("{w} needs a value"));
        match w.as_str() {
            "--kumi" => a.plan.kumi = value()?.into(),
            "--mspec" => a.plan.mspec = Some(value()?.into()),
            "--filter" => a.plan.filter = Some(value()?),
            "--verbose" | "-v" => a.verbose = true,
            "--crashes" => a.crashes = true,
            "--timeout" => a.plan.timeout = Duration::from_secs(value()?.parse().map_err(|_| "--timeout needs a number")?),
            "--memory" => a.plan.memory = value()?.parse::<u64>().map_err(|_| "--memory needs a number")? << 20,
            "-j" => a.jobs = value()?.parse().map_err(|_| "-j needs a number")?,
            "--report" => a.report = Some(value()?.into()),
            "--host" => a.host = Some(value()?),
            "-h" | "--help" => return Err(USAGE.into()),
            _ if w.starts_with('-') => return Err(format!("unknown option {w}\n{USAGE}")),
            _ if a.root.as_os_str().is_empty() => a.root = w.into(),
            _ => a.only.push(w),
        }
    }
    if a.root.as_os_str().is_empty() {
        return Err(USAGE.into());
    }
    let full = |p: &Path| p.canonicalize().map_err(|e| format!("{}: {e}", p.display()));
    if !a.root.join("core").is_dir() && a.root.join("spec/core").is_dir() {
        a.root = a.root.join("spec");
    }
    a.root = full(&a.root)?;
    a.plan.root = a.root.clone();
    a.plan.kumi = full(&a.plan.kumi)?;
    a.plan.mspec = a.plan.mspec.as_deref().map(full).transpose()?;
    Ok(a)
}

fn find(dir: &Path, out: &mut Vec<PathBuf>) {
    if dir.is_file() {
        out.push(dir.to_path_buf());
        return;
    }
    let Ok(list) = std::fs::read_dir(dir) else { return };
    let mut all: Vec<PathBuf> = list.filter_map(|e| e.ok().map(|e| e.path())).collect();
    all.sort();
    for p in all {
        if p.is_dir() {
            find(&p, out);
        } else if p.file_name().is_some_and(|n| n.to_string_lossy().ends_with("_spec.rb")) {
            out.push(p);
        }
    }
}

/// What one file gave, against what it has.
pub struct FileResult {
    /// Below the root.
    pub name: String,
    pub outcome: Outcome,
    /// Examples it has.
    pub total: usize,
}

impl FileResult {
    /// Examples that were never reached.
    pub fn lost(&self) -> usize {
        let o = &self.outcome;
        self.total.saturating_sub(o.passed + o.failed + o.errors + o.skipped)
    }
}

fn main() {
    let a = match parse() {
        Ok(a) => a,
        Err(e) => {
            eprintln!("{e}");
            std::process::exit(2);
        }
    };
    let mut files = Vec::new();
    let areas: Vec<String> = if a.only.is_empty() {
        ["language", "core", "library", "command_line", "security"].map(String::from).to_vec()
    } else {
        a.only.clone()
    };
    for d in &areas {
        let p = if Path::new(d).is_absolute() { PathBuf::from(d) } else { a.root.join(d) };
        if !p.exists() {
            eprintln!("{}: no such folder", p.display());
            std::process::exit(2);
        }
        find(&p, &mut files);
    }
    let name = |p: &Path| p.strip_prefix(&a.root).unwrap_or(p).to_string_lossy().into_owned();
    let counts = if a.plan.filter.is_some() { BTreeMap::new() } else { count::examples(&a.plan, &files, a.host.as_deref()) };

    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|s| {
        for worker in 0..a.jobs.max(1) {
            let (next, done, files, counts, a) = (&next, &done, &files, &counts, &a);
            s.spawn(move || {
                while let Some(f) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = child::run(&a.plan, f, worker);
                    let seen = outcome.passed + outcome.failed + outcome.errors + outcome.skipped;
                    let total = counts.get(f).copied().unwrap_or(0).max(seen);
                    let r = FileResult { name: name(f), outcome, total };
                    let mut all = done.lock().unwrap_or_else(|e| e.into_inner());
                    if a.verbose || (a.crashes && r.outcome.trouble.is_some()) {
                        print!("{}", table::failures(&r, a.verbose));
                    }
                    all.push(r);
                    if all.len() % 100 == 0 {
                        eprintln!("{} of {} files", all.len(), files.len());
                    }
                }
            });
        }
    });
    let mut all = done.into_inner().unwrap_or_else(|e| e.into_inner());
    all.sort_by(|x, y| x.name.cmp(&y.name));

    let out = home().join("target/spec");
    let _ = std::fs::create_dir_all(&out);
    let list: String = all.iter().map(|r| table::failures(r, true)).collect();
    let _ = std::fs::write(out.join("failures.txt"), list);
    let _ = std::fs::write(out.join("results.tsv"), table::tsv(&all));

    let text = table::table(&all, &a.plan);
    println!("{text}");
    println!("details: target/spec/failures.txt, target/spec/results.tsv");
    let report = a.report.clone().or_else(|| (a.only.is_empty() && a.plan.filter.is_none()).then(|| home().join("docs/COMPAT.md")));
    if let Some(p) = report {
        // What people wrote below the table stays.
        let old = std::fs::read_to_string(&p).unwrap_or_default();
        let below = old.find("\n## ").map_or("", |i| &old[i..]);
        if let Err(e) = std::fs::write(&p, table::page(&text) + below) {
            eprintln!("{}: {e}", p.display());
        }
    }
}
