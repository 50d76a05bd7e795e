//! Processes that are nodes: started, told what to do, read line by line, ended with the test.
//!
//! A bound only tells an answer from a hang. What a test starts is killed when the test ends, however it does.
#![allow(dead_code)]

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub const HANG: Duration = Duration::from_secs(60);

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/nodes")
}

/// A port that nobody has, and that the system gives nobody who asks for any.
pub fn free_port() -> u16 {
    static GIVEN: AtomicUsize = AtomicUsize::new(0);
    let first = std::process::id() as usize;
    let mut all = std::iter::repeat_with(|| (20_000 + (first + GIVEN.fetch_add(1, Ordering::Relaxed)) % 10_000) as u16);
    all.find(|p| std::net::TcpListener::bind(("127.0.0.1", *p)).is_ok()).unwrap()
}

/// `kumi` without what the environment of the tests would change, in a session of its own.
pub fn kumi(args: &[&str]) -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    c.args(args).current_dir(folder());
    for name in ["RUBYOPT", "RUBYLIB", "KUMI_PRELUDE", "KUMI_LIB", "RUST_BACKTRACE"] {
        c.env_remove(name);
    }
    // A hand-made run of these tests may use the library of the tree.
    if let Some(lib) = std::env::var_os("KUMI_TEST_LIB") {
        c.env("KUMI_LIB", lib);
    }
    // SAFETY: only calls that are allowed between fork and exec.
    unsafe {
        c.pre_exec(|| {
            for s in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
                libc::signal(s, libc::SIG_DFL);
            }
            libc::setsid();
            Ok(())
        });
    }
    c
}

/// A process with its output by lines. All of its session ends with it.
pub struct Running {
    pub child: Child,
    pub input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: Arc<Mutex<String>>,
    /// Ends with standard error.
    errors_end: Receiver<()>,
}

impl Running {
    pub fn start(c: &mut Command) -> Running {
        let mut child = c.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (to, lines) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || out.lines().map_while(Result::ok).all(|l| to.send(l).is_ok()));
        let errors = Arc::new(Mutex::new(String::new()));
        let (mut err, kept) = (child.stderr.take().unwrap(), errors.clone());
        let (at_end, errors_end) = channel::<()>();
        std::thread::spawn(move || {
            let _at_end = at_end;
            let mut some = [0; 4096];
            while let Ok(n @ 1..) = err.read(&mut some) {
                kept.lock().unwrap().push_str(&String::from_utf8_lossy(&some[..n]));
            }
        });
        Running { input: child.stdin.take(), child, lines, errors, errors_end }
    }
    pub fn errors(&self) -> String {
        self.errors.lock().unwrap().clone()
    }
    /// Standard error once this stands in it: what was written may not have been read yet.
    #[track_caller]
    pub fn errors_with(&self, part: &str) -> String {
        let until = Instant::now() + HANG;
        while !self.errors().contains(part) {
            assert!(Instant::now() < until, "{part} was not said: {}", self.errors());
            std::thread::sleep(Duration::from_millis(2));
        }
        self.errors()
    }
    /// All of standard error, of one that has ended.
    pub fn last_errors(&self) -> String {
        let _ = self.errors_end.recv_timeout(HANG);
        self.errors()
    }
    #[track_caller]
    pub fn line(&mut self) -> String {
        match self.lines.recv_timeout(HANG) {
            Ok(l) => l,
            Err(RecvTimeoutError::Timeout) => panic!("no line within {HANG:?}; standard error: {}", self.errors()),
            Err(_) => panic!("it has ended; standard error: {}", self.errors()),
        }
    }
    pub fn signal(&self, signal: i32) {
        // SAFETY: touches no memory; the child was not waited for.
        unsafe { libc::kill(self.child.id() as i32, signal) };
    }
    /// To all processes of its session that are in its group.
    pub fn signal_group(&self, signal: i32) {
        // SAFETY: touches no memory; the group is the child's own.
        unsafe { libc::kill(-(self.child.id() as i32), signal) };
    }
    #[track_caller]
    pub fn status(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(s) = self.child.try_wait().unwrap() {
                return s;
            }
            assert!(start.elapsed() < HANG, "it does not end; standard error: {}", self.errors());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    /// What it printed and has not been read, its errors, and its status once it has ended.
    #[track_caller]
    pub fn end(mut self) -> (Vec<String>, String, Option<i32>) {
        self.input = None;
        let mut lines = Vec::new();
        loop {
            match self.lines.recv_timeout(HANG) {
                Ok(l) => lines.push(l),
                Err(RecvTimeoutError::Timeout) => panic!("it does not end: {lines:?}; standard error: {}", self.errors()),
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = self.status();
        let _ = self.errors_end.recv_timeout(HANG);
        (lines, self.errors(), status.code())
    }
    pub fn say(&mut self, text: &str) {
        let to = self.input.as_mut().unwrap();
        to.write_all(text.as_bytes()).unwrap();
        to.write_all(b"\n").unwrap();
        to.flush().unwrap();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.signal_group(libc::SIGKILL);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A folder of a test's own; short, since names of sockets are.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let n = MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("kumi-nodes-{}-{n}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
    pub fn at(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_string()
    }
    pub fn socket(&self, name: &str) -> String {
        format!("unix:{}", self.at(&format!("{name}.sock")))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Nodes that do as they are told (tests/nodes/puppet.rb).
pub struct Puppets(pub Folder, u32);

impl Puppets {
    pub fn new() -> Puppets {
        Puppets(Folder::new(), 1)
    }
    /// Where nobody is to be lost: nodes that wait for each other as long as a busy machine may need.
    pub fn patient() -> Puppets {
        Puppets(Folder::new(), 6)
    }
    /// The first is called `first`; the others join by it.
    pub fn start(&self, name: &str, first: &str) -> Running {
        self.start_by(&self.0.socket(name), name, first)
    }
    pub fn start_by(&self, listen: &str, name: &str, first: &str) -> Running {
        self.start_changed(listen, name, first, &|_| ())
    }
    fn start_changed(&self, listen: &str, name: &str, first: &str, change: &dyn Fn(&mut Command)) -> Running {
        let mut c = kumi(&["node", name, "--listen", listen]);
        if name != first {
            c.args(["--join", &self.0.socket(first)]);
        }
        if self.1 > 1 {
            c.args(["--patience", &self.1.to_string()]);
        }
        change(&mut c);
        let mut node = Running::start(c.arg("puppet.rb"));
        assert_eq!(node.line(), "ready", "{}", node.errors());
        node
    }
    /// All there and known to each other.
    pub fn of<const N: usize>(&self, names: [&str; N]) -> [Running; N] {
        self.of_changed(names, |_, _| ())
    }
    /// The same with commands that were changed.
    pub fn of_changed<const N: usize>(&self, names: [&str; N], change: impl Fn(&str, &mut Command)) -> [Running; N] {
        let mut all = names.map(|n| self.start_changed(&self.0.socket(n), n, names[0], &|c| change(n, c)));
        for node in &mut all {
            node.is(&format!("S.wait_for_nodes({N}, timeout: 60).size"), &N.to_string());
        }
        all
    }
}

impl Running {
    /// What comes of an expression: the value as `inspect` shows it, or the error.
    #[track_caller]
    pub fn ask(&mut self, code: &str) -> String {
        self.say(code);
        self.answer()
    }
    /// The answer to what was said.
    #[track_caller]
    pub fn answer(&mut self) -> String {
        loop {
            let l = self.line();
            if let Some(l) = l.strip_prefix("= ") {
                return l.to_string();
            }
        }
    }
    #[track_caller]
    pub fn is(&mut self, code: &str, want: &str) {
        assert_eq!(self.ask(code), want, "{code}; standard error: {}", self.errors());
    }
    /// It starts like this: an error.
    #[track_caller]
    pub fn fails(&mut self, code: &str, with: &str) {
        let a = self.ask(code);
        assert!(a.starts_with(with), "{code}: {a}, not {with}; standard error: {}", self.errors());
    }
    /// It becomes this within the bound.
    #[track_caller]
    pub fn becomes(&mut self, code: &str, want: &str) {
        let start = Instant::now();
        loop {
            let a = self.ask(code);
            if a == want {
                return;
            }
            assert!(start.elapsed() < HANG, "{code}: {a}, not {want}; standard error: {}", self.errors());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
