//! One spec file in a process of its own: limits, events, the end.

use std::io::{BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How files are run.
pub struct Plan {
    pub kumi: PathBuf,
    pub harness: PathBuf,
    /// mspec's folder, to run with mspec itself.
    pub mspec: Option<PathBuf>,
    pub root: PathBuf,
    pub filter: Option<String>,
    pub timeout: Duration,
    pub memory: u64,
}

/// What a process told.
#[derive(Default)]
pub struct Outcome {
    pub passed: usize,
    pub failed: usize,
    pub errors: usize,
    pub skipped: usize,
    /// Why the file ended early: crash, time limit, load error.
    pub trouble: Option<String>,
    /// (example, message)
    pub failures: Vec<(String, String)>,
    pub seconds: f64,
}

/// A command with the limits of a spec process, in a process group of its own.
pub fn limited(mut c: Command, memory: u64) -> Command {
    c.process_group(0);
    // SAFETY: setrlimit is async-signal-safe and the closure touches nothing else.
    unsafe {
        c.pre_exec(move || {
            let set = |what, n: u64| {
                let l = libc::rlimit { rlim_cur: n, rlim_max: n };
                libc::setrlimit(what, &l)
            };
            set(libc::RLIMIT_AS, memory);
            set(libc::RLIMIT_CORE, 0);
            Ok(())
        });
    }
    c
}

/// Ends a process group.
pub fn kill_group(id: u32) {
    // SAFETY: a plain system call; the group is the one `limited` made.
    unsafe {
        libc::kill(-(id as i32), libc::SIGKILL);
    }
}

/// Runs one file.
pub fn run(plan: &Plan, file: &Path, worker: usize) -> Outcome {
    let start = Instant::now();
    let tmp = std::env::temp_dir().join(format!("kumi-spec-{}-{worker}", std::process::id()));
    let mut c = Command::new(&plan.kumi);
    match &plan.mspec {
        Some(m) => {
            c.arg("-I")
                .arg(m.join("lib"))
                .arg("-r")
                .arg(plan.harness.with_file_name("limits.rb"))
                .arg(m.join("bin/mspec-run"))
                .arg("-B")
                .arg(plan.root.join("default.mspec"));
            c.args(["-f", "s"]);
            if let Some(f) = &plan.filter {
                c.arg("-e").arg(f);
            }
            c.env("MSPEC_RUNNER", "1");
        }
        None => {
            c.arg(&plan.harness);
            if let Some(f) = &plan.filter {
                c.env("KUMI_SPEC_FILTER", f);
            }
        }
    }
    c.arg(file);
    c.env("RUBY_EXE", &plan.kumi).env("RUBY_FLAGS", "").env("SPEC_TEMP_DIR", &tmp).env_remove("RUBYOPT");
    c.current_dir(&plan.root).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut c = limited(c, plan.memory);
    let mut o = Outcome::default();
    let mut child = match c.spawn() {
        Ok(c) => c,
        Err(e) => {
            o.trouble = Some(format!("cannot start {}: {e}", plan.kumi.display()));
            return o;
        }
    };
    let (tx, rx) = channel::<(bool, Vec<u8>)>();
    if let Some(out) = child.stdout.take() {
        let tx = tx.clone();
        std::thread::spawn(move || lines(out, false, &tx));
    }
    if let Some(err) = child.stderr.take() {
        std::thread::spawn(move || lines(err, true, &tx));
    }

    let mut e = Events { mspec: plan.mspec.is_some(), ..Events::default() };
    let mut status = None;
    let mut grace = None;
    loop {
        match rx.recv_timeout(Duration::from_millis(20)) {
            Ok((err, line)) => e.line(&mut o, err, &line),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                if status.is_none() {
                    status = child.try_wait().ok().flatten();
                }
                // A descendant may keep the pipe open for ever.
                if status.is_some() && grace.get_or_insert_with(Instant::now).elapsed() > Duration::from_secs(3) {
                    break;
                }
            }
        }
        if start.elapsed() > plan.timeout {
            o.trouble = Some(format!("stopped after {} s{}", plan.timeout.as_secs(), e.at()));
            break;
        }
    }
    if status.is_none() && o.trouble.is_none() {
        let rest = plan.timeout.saturating_sub(start.elapsed());
        let until = Instant::now() + rest;
        while status.is_none() && Instant::now() < until {
            status = child.try_wait().ok().flatten();
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    kill_group(child.id());
    let _ = child.wait();
    let _ = std::fs::remove_dir_all(&tmp);
    if let (Some(s), None) = (status, &o.trouble) {
        if let Some(sig) = s.signal() {
            o.trouble = Some(format!("killed by signal {sig}{}", e.at()));
        } else if !e.done {
            o.trouble = Some(format!("exit status {}{}", s.code().unwrap_or(-1), e.at()));
        }
    }
    if let Some(t) = &mut o.trouble {
        if !e.stderr.is_empty() {
            t.push('\n');
            t.push_str(e.stderr.trim_end());
        }
        if e.running {
            o.failures.push((e.example.clone(), t.clone()));
            o.errors += 1;
        }
    }
    o.seconds = start.elapsed().as_secs_f64();
    o
}

fn lines(from: impl std::io::Read, err: bool, tx: &std::sync::mpsc::Sender<(bool, Vec<u8>)>) {
    let mut r = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        match r.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if tx.send((err, line)).is_err() => return,
            Ok(_) => {}
        }
    }
}

#[derive(Default)]
struct Events {
    mspec: bool,
    example: String,
    running: bool,
    done: bool,
    stderr: String,
}

impl Events {
    fn at(&self) -> String {
        if self.running { format!(" in: {}", self.example) } else { String::new() }
    }

    fn line(&mut self, o: &mut Outcome, err: bool, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        if err {
            if self.stderr.len() < 4000 {
                self.stderr.push_str(&text);
            }
            return;
        }
        if self.mspec {
            self.mspec_line(o, &text);
            return;
        }
        let Some(ev) = text.strip_prefix('\x01') else { return };
        let mut cs = ev.chars();
        let kind = cs.next().unwrap_or(' ');
        let body = cs.as_str().trim().replace("\\n", "\n");
        let was = std::mem::take(&mut self.running);
        match kind {
            'S' => {
                self.example = body;
                self.running = true;
            }
            'P' => o.passed += 1,
            'K' => o.skipped += 1,
            'F' => {
                o.failed += 1;
                o.failures.push((self.example.clone(), body));
            }
            'E' => {
                o.errors += 1;
                o.failures.push((self.example.clone(), body));
            }
            'L' => {
                self.running = was;
                o.trouble = Some(body.clone());
                o.failures.push(("(the file did not load completely)".into(), body));
            }
            'D' => self.done = true,
            _ => self.running = was,
        }
    }

    /// mspec's closing line: `1 file, 10 examples, 20 expectations, 1 failure, 0 errors, 0 tagged`.
    fn mspec_line(&mut self, o: &mut Outcome, text: &str) {
        if text.contains(" examples, ") || text.contains(" example, ") {
            let n = |what: &str| {
                text.split(", ")
                    .find_map(|p| p.trim().split_once(' ').filter(|x| x.1.starts_with(what)).and_then(|x| x.0.parse().ok()))
                    .unwrap_or(0usize)
            };
            let (all, failed, errors) = (n("example"), n("failure"), n("error"));
            o.failed = failed.min(all);
            o.errors = errors.min(all - o.failed);
            o.passed = all - o.failed - o.errors;
            self.done = true;
        } else if let Some(t) = text.trim_end().strip_suffix("FAILED").or_else(|| text.trim_end().strip_suffix("ERROR")) {
            o.failures.push((t.trim().to_string(), String::new()));
        } else if let Some(f) = o.failures.last_mut() {
            if f.1.len() < 1000 {
                f.1.push_str(text);
            }
        }
    }
}
