//! Nodes as processes, and what is noted of their lives.

use crate::engine::{Engine, Server};
use crate::netns::Namespaces;
use crate::proxy::Network;
use crate::remote::{Done, Told};
use crate::stall::Stalls;
use kumi_chance::Chance;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread::spawn;
use std::time::{Duration, Instant};

/// How long a node may take for what it is told, beyond what it says itself.
const HANG: Duration = Duration::from_secs(40);

/// How a store is called in histories.
pub const STORE: &str = "store";

/// What all runs have in common.
#[derive(Clone)]
pub struct Setting {
    pub kumi: PathBuf,
    /// tests/faults
    pub programs: PathBuf,
    pub nodes: usize,
    /// Seconds.
    pub lease: u64,
    /// Nodes in network namespaces, without a proxy.
    pub namespaces: bool,
    pub engine: Engine,
    /// What is called are objects of the nodes; do they refer to each other in circles?
    pub remote: bool,
    pub cycles: bool,
    pub verbose: bool,
}

/// Nanoseconds of the clock that the nodes read.
pub fn now() -> u64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// An address of this machine where nobody listens. It is none of those that the system itself gives to who connects, which would be taken
/// while its node is away.
pub fn free() -> std::io::Result<SocketAddr> {
    let mut chance = Chance::new(now() ^ u64::from(std::process::id()));
    let mut last = None;
    for _ in 0..100 {
        match TcpListener::bind(("127.0.0.1", chance.between(10_000, 30_000) as u16)).and_then(|l| l.local_addr()) {
            Ok(free) => return Ok(free),
            Err(e) => last = Some(e),
        }
    }
    Err(last.unwrap_or(std::io::ErrorKind::AddrInUse.into()))
}

pub struct Node {
    pub name: String,
    pub life: u64,
    listen: String,
    public: String,
    process: Option<Process>,
}

struct Process {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

pub struct Cluster {
    pub setting: Setting,
    pub network: Network,
    pub namespaces: Option<Namespaces>,
    pub nodes: Vec<Node>,
    pub names: Vec<String>,
    pub server: Option<Server>,
    stalls: Stalls,
    folder: PathBuf,
    marks: Option<File>,
    /// What nodes have said that they should not.
    pub complaints: Arc<Mutex<Vec<String>>>,
    /// What they have told of objects, and what was done to them.
    pub told: Arc<Mutex<Told>>,
    pub done: Vec<Done>,
    epoch: u64,
    seed: u64,
}

impl Cluster {
    /// Starts all nodes; histories go to files in the folder.
    pub fn start(setting: &Setting, folder: &Path, seed: u64) -> Result<Cluster, String> {
        let text = |e: std::io::Error| e.to_string();
        // Of an earlier run.
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder).map_err(text)?;
        let namespaces = if setting.namespaces { Some(Namespaces::make(setting.nodes)?) } else { None };
        let network = Network::new(seed);
        let server = if setting.engine == Engine::Redis { Some(Server::start(folder)?) } else { None };
        if let Some(s) = &server {
            network.place(STORE, s.address);
        }
        let mut nodes = Vec::new();
        for i in 1..=setting.nodes {
            let name = format!("node{i}");
            let (listen, public) = match &namespaces {
                Some(_) => (format!("{}:7000", Namespaces::address(i)), format!("{}:7000", Namespaces::address(i))),
                // Who calls a store does so by a proxy of its own.
                None if server.is_some() => (String::new(), network.serve(STORE, Some(&name)).map_err(text)?.to_string()),
                None => {
                    let free = free().map_err(text)?;
                    network.place(&name, free);
                    (free.to_string(), network.serve(&name, None).map_err(text)?.to_string())
                }
            };
            nodes.push(Node { name, life: 0, listen, public, process: None });
        }
        let names = nodes.iter().map(|n| n.name.clone()).collect();
        let mut cluster = Cluster {
            setting: setting.clone(),
            network,
            namespaces,
            nodes,
            names,
            server,
            // Where a store has to keep what it acknowledges.
            stalls: Stalls::watch(Some(folder).filter(|_| setting.engine != Engine::Memory)).map_err(text)?,
            folder: folder.to_owned(),
            marks: None,
            complaints: Arc::default(),
            told: Arc::default(),
            done: Vec::new(),
            epoch: 0,
            seed,
        };
        for i in 0..setting.nodes {
            cluster.launch(i)?;
        }
        for i in 0..setting.nodes {
            cluster.expect(i, "ready", HANG)?;
        }
        cluster.tell_all("members", HANG)?;
        Ok(cluster)
    }
    fn launch(&mut self, i: usize) -> Result<(), String> {
        let first = self.nodes[usize::from(i == 0 && self.nodes.len() > 1)].public.clone();
        let names = self.names.join(",");
        let n = &mut self.nodes[i];
        let mut c = match &self.namespaces {
            Some(_) => {
                let mut c = Command::new("ip");
                c.args(["netns", "exec", &Namespaces::name(i + 1)]).arg(&self.setting.kumi);
                c
            }
            None => Command::new(&self.setting.kumi),
        };
        match self.setting.engine {
            Engine::Memory => drop(c.args(["node", &n.name, "--listen", &n.listen, "--public", &n.public, "--join", &first])),
            Engine::File => drop(c.env("FAULTS_STORE", self.folder.join("store.db"))),
            Engine::Redis => drop(c.env("FAULTS_STORE", format!("redis://{}", n.public))),
        }
        if self.namespaces.is_some() {
            c.arg("--insecure");
        }
        c.arg(if self.setting.remote { "remote.rb" } else { "node.rb" }).current_dir(&self.setting.programs);
        c.env("FAULTS_CYCLES", if self.setting.cycles { "1" } else { "0" });
        c.env("KUMI_WORKERS", "1").env("KUMI_SEGMENT_LEASE", self.setting.lease.to_string());
        c.env("FAULTS_NODES", names).env("FAULTS_NAME", &n.name).env("FAULTS_LIFE", n.life.to_string());
        let mut child = c.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|e| e.to_string())?;
        let (to, lines) = channel();
        let (out, err, input) = (child.stdout.take(), child.stderr.take(), child.stdin.take());
        let (Some(out), Some(err), Some(input)) = (out, err, input) else { return Err("no pipes".into()) };
        let name = format!("{}/{}", n.name, n.life);
        let (complaints, who, told) = (self.complaints.clone(), name.clone(), self.told.clone());
        spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if line.starts_with("unexpected") {
                    complain(&complaints, &who, &line);
                } else if told.lock().unwrap_or_else(|e| e.into_inner()).take(&line) {
                    // It is judged at the end.
                } else if to.send(line).is_err() {
                    break;
                }
            }
        });
        let complaints = self.complaints.clone();
        spawn(move || BufReader::new(err).lines().map_while(Result::ok).for_each(|line| complain(&complaints, &name, &line)));
        n.process = Some(Process { child, input, lines });
        Ok(())
    }
    fn expect(&mut self, i: usize, word: &str, within: Duration) -> Result<(), String> {
        let n = &mut self.nodes[i];
        let Some(p) = &mut n.process else { return Ok(()) };
        let until = Instant::now() + within;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match p.lines.recv_timeout(left) {
                Ok(line) if line == word => return Ok(()),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return Err(format!("{} has not said {word:?} within {within:?}", n.name)),
                Err(RecvTimeoutError::Disconnected) => {
                    // Its last words are read by a thread.
                    std::thread::sleep(Duration::from_millis(100));
                    let how = p.child.try_wait().ok().flatten().map_or("its output".to_owned(), |s| s.to_string());
                    let said = self.complaints.lock().unwrap_or_else(|e| e.into_inner()).join("; ");
                    return Err(format!("{} has ended by itself ({how}): {said}", n.name));
                }
            }
        }
    }
    fn say(&mut self, i: usize, line: &str) -> Result<(), String> {
        let n = &mut self.nodes[i];
        let Some(p) = &mut n.process else { return Ok(()) };
        writeln!(p.input, "{line}").and_then(|()| p.input.flush()).map_err(|e| format!("{}: {e}", n.name))
    }
    /// Tells all nodes that live, and waits until they have done it.
    pub fn tell_all(&mut self, word: &str, within: Duration) -> Result<(), String> {
        let mut done = (0..self.nodes.len()).try_for_each(|i| self.say(i, word));
        // One that hangs keeps none of the others from it.
        for i in 0..self.nodes.len() {
            done = done.and(self.expect(i, word, within));
        }
        done
    }
    fn begin_at(&mut self, i: usize) -> Result<(), String> {
        let n = &self.nodes[i];
        let file = self.folder.join(format!("{}-{}-{}.jsonl", n.name, n.life, self.epoch));
        let seed = self.seed.wrapping_mul(1000).wrapping_add(self.epoch * 100 + n.life * 10 + i as u64) % 1_000_000_007;
        let line = format!("begin {} {} {seed}", file.display(), self.epoch);
        self.say(i, &line)?;
        self.expect(i, "begin", HANG)
    }
    /// All begin to call each other. The histories of an epoch go to files of their own.
    pub fn begin(&mut self) -> Result<(), String> {
        self.epoch += 1;
        std::fs::create_dir_all(&self.folder).map_err(|e| e.to_string())?;
        let marks = self.folder.join(format!("marks-{}.jsonl", self.epoch));
        self.marks = Some(File::create(marks).map_err(|e| e.to_string())?);
        (0..self.nodes.len()).try_for_each(|i| self.begin_at(i))
    }
    /// All calls come to their end, what is left is taken. The files of the epoch.
    pub fn finish(&mut self) -> Result<Vec<PathBuf>, String> {
        let stopped = self.tell_all("stop", HANG);
        if stopped.is_ok() {
            // What nobody has received comes back, also from who is gone.
            std::thread::sleep(Duration::from_millis(self.setting.lease * 2000 + 1500));
            let start = now();
            self.mark("settled", "", start, start, "");
            self.tell_all("drain", HANG)?;
            for i in 0..self.nodes.len() {
                if self.nodes[i].process.is_some() {
                    let memory = self.setting.engine == Engine::Memory;
                    let name = if memory { self.nodes[i].name.clone() } else { STORE.to_owned() };
                    for key in ["a", "b", "out", "mixed"] {
                        self.mark("drained", &format!("{name}/{key}.{}", self.epoch), start, now(), "");
                    }
                }
            }
        } else if let Err(why) = &stopped {
            complain(&self.complaints, "harness", why);
        }
        for (start, end, what) in self.stalls.take() {
            self.done.push(Done { whom: String::new(), start, end, killed: false });
            self.mark("stalled", "", start, end, what);
        }
        let suffix = format!("-{}.jsonl", self.epoch);
        let files = std::fs::read_dir(&self.folder).map_err(|e| e.to_string())?.flatten().map(|e| e.path());
        Ok(files.filter(|p| p.to_string_lossy().ends_with(&suffix)).collect())
    }
    /// Notes what was done to nodes or keys.
    pub fn mark(&mut self, mark: &str, scope: &str, start: u64, end: u64, text: &str) {
        let line = format!("{{\"mark\":\"{mark}\",\"scope\":\"{scope}\",\"start\":{start},\"end\":{end},\"text\":\"{text}\"}}");
        if self.setting.verbose {
            eprintln!("faults: {line}");
        }
        let _ = self.marks.as_mut().map(|f| writeln!(f, "{line}"));
        if matches!(mark, "fault" | "killed") {
            let whom = scope.split('/').next().unwrap_or_default().to_owned();
            self.done.push(Done { whom, start, end, killed: mark == "killed" });
        }
    }
    pub fn signal(&self, i: usize, signal: Signal) {
        if let Some(pid) = self.nodes[i].process.as_ref().and_then(|p| Pid::from_raw(p.child.id() as i32)) {
            let _ = kill_process(pid, signal);
        }
    }
    /// `kill -9`. What stood there is lost until `back`.
    pub fn kill(&mut self, i: usize) -> u64 {
        let start = now();
        self.signal(i, Signal::KILL);
        if let Some(mut p) = self.nodes[i].process.take() {
            let _ = p.child.wait();
        }
        let scope = format!("{}/{}", self.nodes[i].name, self.nodes[i].life);
        self.mark("killed", &scope, start, now(), "");
        start
    }
    /// Starts it again under its name. Since when it was gone.
    pub fn restart(&mut self, i: usize, since: u64, text: &str) -> Result<(), String> {
        self.nodes[i].life += 1;
        self.launch(i)?;
        self.expect(i, "ready", HANG)?;
        let name = self.nodes[i].name.clone();
        // A put that comes to the new life before this line is told of is not held for lost: it only may be.
        let end = now();
        if self.setting.engine == Engine::Memory {
            self.mark("lost", &name, since, end, "");
        }
        self.mark("fault", &name, since, end, text);
        self.begin_at(i)
    }
    /// It ends by itself, when all its calls have come to their end.
    pub fn leave(&mut self, i: usize) -> Result<u64, String> {
        self.say(i, "stop")?;
        self.expect(i, "stop", HANG)?;
        let start = now();
        self.say(i, "end")?;
        if let Some(mut p) = self.nodes[i].process.take() {
            let until = Instant::now() + HANG;
            while p.child.try_wait().is_ok_and(|s| s.is_none()) {
                if Instant::now() > until {
                    let _ = p.child.kill();
                    return Err(format!("{} does not end", self.nodes[i].name));
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        let scope = format!("{}/{}", self.nodes[i].name, self.nodes[i].life);
        self.mark("killed", &scope, start, now(), "left");
        Ok(start)
    }
}

fn complain(all: &Mutex<Vec<String>>, who: &str, what: &str) {
    let mut all = all.lock().unwrap_or_else(|e| e.into_inner());
    if all.len() < 50 {
        all.push(format!("{who}: {what}"));
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.network.end();
        for n in &mut self.nodes {
            if let Some(mut p) = n.process.take() {
                let _ = p.child.kill();
                let _ = p.child.wait();
            }
        }
    }
}
