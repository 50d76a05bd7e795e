//! Runs programs to their end; compares what those under tests/ print with what stands beside them.
//!
//! A program is killed when its time is over. Every failure comes with the line that replays it.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Environment variables of a run: the development modes of the runtime.
pub type Modes = Vec<(&'static str, String)>;

/// One program in one mode.
pub struct Job {
    pub program: PathBuf,
    pub modes: Modes,
}

/// The programs in a folder of tests/, by name.
pub fn programs(dir: &str) -> Vec<PathBuf> {
    let d = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests").join(dir);
    let mut all: Vec<PathBuf> =
        std::fs::read_dir(d).unwrap().map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "rb")).collect();
    all.sort();
    assert!(!all.is_empty());
    all
}

/// A test run in the background of a script (`nohup`, `&`) ignores some signals, and a program ignores what it was
/// started with ignored: the programs start as from an interactive shell.
fn signals_as_of_a_shell() -> std::io::Result<()> {
    for s in [libc::SIGINT, libc::SIGQUIT, libc::SIGHUP, libc::SIGTERM] {
        // SAFETY: sets a disposition of this process, which has one thread.
        unsafe { libc::signal(s, libc::SIG_DFL) };
    }
    Ok(())
}

/// How a program ended.
pub struct Ended {
    pub out: Vec<u8>,
    pub err: String,
    pub status: ExitStatus,
}

/// Runs a command to its end with `input` before it. `None`: it was still running after `limit`, and was killed.
pub fn finish(c: &mut Command, input: &[u8], limit: Duration) -> Option<Ended> {
    c.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() }).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = c.spawn().unwrap();
    if let Some(mut to) = child.stdin.take() {
        to.write_all(input).unwrap();
    }
    let read = |mut from: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut b = Vec::new();
            let _ = from.read_to_end(&mut b);
            b
        })
    };
    let (out, err) = (read(Box::new(child.stdout.take().unwrap())), read(Box::new(child.stderr.take().unwrap())));
    let start = Instant::now();
    let status = loop {
        if let Some(s) = child.try_wait().unwrap() {
            break s;
        }
        if start.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let (out, err) = (out.join().unwrap(), err.join().unwrap());
    Some(Ended { out, err: String::from_utf8_lossy(&err).into_owned(), status })
}

/// `kumi` with `args` and without what the environment of the tests would change.
pub fn kumi(args: &[&str]) -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    c.args(args);
    for name in ["RUBYOPT", "RUBYLIB", "KUMI_PRELUDE", "KUMI_LIB", "RUST_BACKTRACE"] {
        c.env_remove(name);
    }
    c
}

/// Output and exit status, or why there is none.
fn run(job: &Job, limit: Duration) -> Result<(Vec<u8>, String, Option<i32>), String> {
    let mut c = kumi(&["-W0"]);
    c.arg(job.program.file_name().unwrap()).current_dir(job.program.parent().unwrap());
    c.envs(job.modes.iter().map(|(k, v)| (k, v)));
    // SAFETY: only calls that are allowed between fork and exec.
    unsafe { c.pre_exec(signals_as_of_a_shell) };
    let end = finish(&mut c, b"", limit).ok_or_else(|| format!("still running after {limit:?}"))?;
    Ok((end.out, end.err, end.status.code()))
}

/// The first line that differs.
fn difference(want: &[u8], got: &[u8]) -> Option<String> {
    if want == got {
        return None;
    }
    let (w, g) = (String::from_utf8_lossy(want), String::from_utf8_lossy(got));
    let (mut w, mut g) = (w.lines(), g.lines());
    let mut n = 0;
    loop {
        n += 1;
        let (a, b) = (w.next(), g.next());
        if a != b || a.is_none() {
            return Some(format!("output line {n}\n    want {}\n    got  {}", a.unwrap_or("(end)"), b.unwrap_or("(end)")));
        }
    }
}

/// What is wrong with a run, and how to see it again.
fn trouble(job: &Job, limit: Duration) -> Option<String> {
    let expected = job.program.with_extension("out");
    let Ok(want) = std::fs::read(&expected) else {
        return Some(format!("{} is missing: what the program is to print", expected.display()));
    };
    let what = match run(job, limit) {
        Err(e) => e,
        Ok((out, err, status)) => difference(&want, &out)
            .or_else(|| (status != Some(0)).then(|| format!("exit status {status:?}")))
            .map(|d| format!("{d}\n    stderr {}", err.lines().take(3).collect::<Vec<_>>().join(" | ")))?,
    };
    let modes: String = job.modes.iter().map(|(k, v)| format!("{k}={v} ")).collect();
    let mut names: Vec<_> = job.program.iter().rev().take(2).map(|n| n.to_string_lossy()).collect();
    names.reverse();
    Some(format!("{}: {what}\n    replay: {modes}kumi -W0 tests/{}", names[1], names.join("/")))
}

/// Runs all, two at a time.
pub fn check(jobs: &[Job], limit: Duration) {
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|s| {
        for _ in 0..2 {
            s.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(t) = trouble(job, limit) {
                        failures.lock().unwrap().push(t);
                    }
                }
            });
        }
    });
    let mut f = failures.into_inner().unwrap();
    f.sort();
    assert!(f.is_empty(), "{} of {} runs fail\n{}", f.len(), jobs.len(), f.join("\n"));
}

/// Every program of some folders in one mode.
pub fn check_all(dirs: &[&str], modes: &Modes, limit: Duration) {
    let jobs: Vec<Job> = dirs.iter().flat_map(|d| programs(d)).map(|program| Job { program, modes: modes.clone() }).collect();
    check(&jobs, limit);
}

/// `KUMI_TEST_SEED`, which picks another rhythm, or the usual one.
pub fn seed(default: u32) -> u32 {
    std::env::var("KUMI_TEST_SEED").ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}
