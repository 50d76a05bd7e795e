//! `kumi run --nodes N FILE`: N processes of one program on this machine, with one terminal.
//!
//! **Invariant.** The children's lines come out whole, each behind its node's name, as long as they have no more than 64 KB. However this process ends by a signal or by itself,
//! the children are told to end and are waited for; the folder of their sockets is gone then.

use crate::options::Settings;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const HELP: &str = "\
Usage: kumi run [--nodes N [--gc-schedule S] [--patience N] [--record DIR]] FILE [arguments]
       kumi run [--nodes N [--gc-schedule S] [--patience N]] -e 'code' [arguments]

Runs a program; with --nodes on N nodes of this machine, each a process of its own, named node1 to nodeN, that know each
other (Kumihimo::Segments.nodes). Their output has the node's name in front. One Ctrl-C ends them all. The status is that
of the first node that failed, else 0; when one fails, the others are ended.

  -n, --nodes N        how many nodes
      --gc-schedule S  when they collect (kumi node --help names the schedules)
      --patience N     how many times longer than usual nodes may take before they count as gone (1; with --record as
                       many as there are nodes for each core)
      --record DIR     write down in DIR what each node does, for kumi simulate. Nodes have one worker each then
  -h, --help           this page
";

/// A signal that came, to be handed on.
static SIGNAL: AtomicI32 = AtomicI32::new(0);
/// In it: the terminal sent it, to all who run in its foreground.
const BY_TERMINAL: i32 = 1 << 16;

extern "C" fn note(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    #[cfg(target_os = "linux")]
    // SAFETY: the system passes what `SA_SIGINFO` promises.
    let by_terminal = unsafe { (*info).si_code } == libc::SI_KERNEL;
    #[cfg(not(target_os = "linux"))]
    let by_terminal = {
        let _ = info;
        std::io::stdin().is_terminal()
    };
    SIGNAL.store(if by_terminal { signal | BY_TERMINAL } else { signal }, Release);
}
/// Notes these signals from now on.
fn listen(signals: [libc::c_int; 3]) {
    // SAFETY: the handler asks what it is given and stores a number, nothing else.
    unsafe {
        let mut how: libc::sigaction = std::mem::zeroed();
        how.sa_sigaction = note as extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) as libc::sighandler_t;
        how.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigemptyset(&mut how.sa_mask);
        for s in signals {
            libc::sigaction(s, &how, std::ptr::null_mut());
        }
    }
}

/// What to do.
pub enum Run {
    /// As `kumi FILE` does.
    Alone(Vec<String>),
    /// It was done: exit with this status.
    Done(i32),
}

/// `kumi run ...`
pub fn main(args: &[String]) -> Run {
    let (mut nodes, mut record, mut schedule, mut patience) = (None, None, None, None);
    let mut rest = args.iter();
    let mut program: Vec<String> = Vec::new();
    while let Some(a) = rest.next() {
        let (switch, joined) = match a.split_once('=') {
            Some((s, v)) if s.starts_with("--") => (s, Some(v.to_string())),
            _ => (a.as_str(), None),
        };
        match switch {
            "-h" | "--help" => {
                crate::say::out(HELP);
                return Run::Done(0);
            }
            "-n" | "--nodes" => {
                let n = joined.or_else(|| rest.next().cloned()).unwrap_or_default();
                match n.parse::<usize>() {
                    Ok(n @ 1..=256) => nodes = Some(n),
                    _ => return wrong(&format!("--nodes needs a number from 1 to 256, not {n:?}")),
                }
            }
            "--record" => match joined.or_else(|| rest.next().cloned()).filter(|d| !d.is_empty()) {
                Some(dir) => record = Some(dir),
                None => return wrong("--record needs a folder"),
            },
            "--patience" => {
                let n = joined.or_else(|| rest.next().cloned()).unwrap_or_default();
                match n.parse::<u32>() {
                    Ok(n @ 1..) => patience = Some(n),
                    _ => return wrong(&format!("--patience needs a number from 1 on, not {n:?}")),
                }
            }
            "--gc-schedule" => {
                let s = joined.or_else(|| rest.next().cloned()).unwrap_or_default();
                if kumi_schedule::Policy::named(&s).is_none() {
                    return wrong(&format!("--gc-schedule is one of {}, not {s:?}", kumi_schedule::POLICIES.join(", ")));
                }
                schedule = Some(s);
            }
            _ => {
                program.push(a.clone());
                program.extend(rest.by_ref().cloned());
            }
        }
    }
    if program.is_empty() {
        return wrong("a program is needed: kumi run --nodes N FILE");
    }
    // Told once, not by each node.
    if let Some(m) = Settings::parse(&program).err().filter(|_| nodes.is_some()) {
        return wrong(&super::unknown("run", &m).unwrap_or(m));
    }
    if let Some((file, why)) = super::check::lost_program(&program).filter(|_| nodes.is_some()) {
        crate::say::err(format_args!("kumi run: {file}: the program can't be read: {why}"));
        return Run::Done(1);
    }
    match nodes {
        None if record.is_some() => wrong("--record is for nodes: kumi run --nodes N --record DIR FILE"),
        None if patience.is_some() => wrong("--patience is for nodes: give their number by --nodes N"),
        None if schedule.is_some() => wrong("--gc-schedule is for nodes: give their number by --nodes N"),
        None => Run::Alone(program),
        Some(n) => Run::Done(
            start(n, &Nodes { patience: patience.or_else(|| record.as_ref().map(|_| sharing(n))), record, schedule }, &program)
                .unwrap_or_else(|e| {
                    crate::say::err(format_args!("kumi run: {e}"));
                    1
                }),
        ),
    }
}

/// How many of so many nodes share a core.
fn sharing(nodes: usize) -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    nodes.div_ceil(cores) as u32
}

fn wrong(m: &str) -> Run {
    crate::say::err(format_args!("kumi run: {m}\nkumi run --help tells more."));
    Run::Done(2)
}

/// A socket's name has 107 bytes at most.
const MOST_DEEP: usize = 70;

/// The folder of the nodes' sockets.
struct Sockets(PathBuf);

impl Sockets {
    fn make() -> std::io::Result<Sockets> {
        // Names of sockets are short, and a comma would part them: the system's own folder, not a deep one.
        let usual = std::env::temp_dir();
        let fits = usual.as_os_str().len() <= MOST_DEEP && usual.to_str().is_some_and(|p| !p.contains(','));
        let folder = if fits { usual } else { "/tmp".into() };
        for n in 0..1000 {
            let p = folder.join(format!("kumi-{}-{n}", std::process::id()));
            match std::os::unix::fs::DirBuilderExt::mode(&mut std::fs::DirBuilder::new(), 0o700).create(&p) {
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => continue,
                done => return done.map(|()| Sockets(p)),
            }
        }
        Err(std::io::Error::other("no folder for the nodes' sockets"))
    }
    fn of(&self, node: usize) -> String {
        format!("unix:{}", self.0.join(format!("{node}.sock")).display())
    }
}
impl Drop for Sockets {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What is said of all nodes.
struct Nodes {
    patience: Option<u32>,
    record: Option<String>,
    schedule: Option<String>,
}

/// A recording is that of one run: what another one left in its folder would be taken for nodes of it.
fn is_free(folder: &str) -> std::io::Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    let files = entries.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|x| x == kumi_record::ENDING));
    match files.min() {
        None => Ok(()),
        Some(p) => Err(std::io::Error::other(format!(
            "{folder} holds a recording of another run ({}): give --record a new folder, or remove what is there",
            p.file_name().unwrap_or_default().to_string_lossy()
        ))),
    }
}

fn start(nodes: usize, all: &Nodes, program: &[String]) -> std::io::Result<i32> {
    all.record.iter().try_for_each(|folder| is_free(folder))?;
    let sockets = Sockets::make()?;
    let me = std::env::current_exe()?;
    listen([libc::SIGINT, libc::SIGTERM, libc::SIGHUP]);
    let mut children: Vec<(Child, Option<i32>)> = Vec::new();
    let mut printers = Vec::new();
    for n in 1..=nodes {
        match spawn(&me, &sockets, (n, nodes), all, program) {
            Ok(mut child) => {
                let prefix = prefix(n, nodes);
                if let Some(out) = child.stdout.take() {
                    printers.push(Printer::start(out, label(&prefix, n, std::io::stdout().is_terminal()), false));
                }
                if let Some(err) = child.stderr.take() {
                    printers.push(Printer::start(err, label(&prefix, n, std::io::stderr().is_terminal()), true));
                }
                children.push((child, None));
            }
            Err(e) => {
                end(&mut children, libc::SIGTERM);
                return Err(e);
            }
        }
    }
    let status = watch(&mut children);
    printers.into_iter().for_each(Printer::end);
    Ok(status)
}

fn spawn(me: &Path, sockets: &Sockets, (n, nodes): (usize, usize), all: &Nodes, program: &[String]) -> std::io::Result<Child> {
    let mut c = Command::new(me);
    for variable in super::all_variables() {
        // What is meant for a node alone.
        c.env_remove(variable);
    }
    c.args(["node", &format!("node{n}"), "--listen", &sockets.of(n), "--await", &nodes.to_string()]);
    for other in (1..=nodes).filter(|o| *o != n).take(3) {
        c.args(["--join", &sockets.of(other)]);
    }
    c.args(all.record.iter().flat_map(|dir| ["--record", dir]));
    c.args(all.patience.iter().flat_map(|p| ["--patience".to_string(), p.to_string()]));
    c.args(all.schedule.iter().flat_map(|s| ["--gc-schedule", s]));
    c.env("KUMI_NODE_TOGETHER", "1").args(program).stdout(Stdio::piped()).stderr(Stdio::piped());
    // The terminal's input is the first node's.
    c.stdin(if n == 1 { Stdio::inherit() } else { Stdio::null() });
    // If this process is killed, they end too.
    #[cfg(target_os = "linux")]
    // SAFETY: one call of the system between fork and exec.
    unsafe {
        std::os::unix::process::CommandExt::pre_exec(&mut c, || {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGTERM);
            Ok(())
        });
    }
    c.spawn()
}

/// Names of one width.
fn prefix(n: usize, nodes: usize) -> String {
    let width = format!("node{nodes}").len();
    format!("{:<width$} | ", format!("node{n}"))
}
/// With a colour for each node on a terminal.
fn label(prefix: &str, n: usize, colour: bool) -> String {
    const COLOURS: [u8; 6] = [36, 33, 32, 35, 34, 31];
    if colour { format!("\x1b[{}m{prefix}\x1b[0m", COLOURS[(n - 1) % COLOURS.len()]) } else { prefix.to_string() }
}

/// Copies what a node writes, by lines.
struct Printer(JoinHandle<()>, Arc<Lines>);

/// A longer line goes on in pieces.
const LONGEST: usize = 64 << 10;
/// Who holds a node's output open for longer, and writes nothing, is no node: a process that it has started.
const SILENT: Duration = Duration::from_millis(100);

/// Lines, each behind a node's name.
struct Lines {
    label: String,
    to_stderr: bool,
    /// What has come of a line, and whether a part of it was written.
    rest: Mutex<(Vec<u8>, bool)>,
    /// Times that something came.
    came: AtomicUsize,
}

impl Printer {
    fn start(mut from: impl Read + Send + 'static, label: String, to_stderr: bool) -> Printer {
        let lines = Arc::new(Lines { label, to_stderr, rest: Mutex::default(), came: AtomicUsize::new(0) });
        let of = lines.clone();
        let copy = move || {
            let mut bytes = vec![0; 16 << 10];
            // Where nobody reads, the child finds out when its pipe is closed.
            while let Ok(n @ 1..) = from.read(&mut bytes)
                && of.add(&bytes[..n]).is_ok()
            {}
            let _ = of.end();
        };
        Printer(std::thread::spawn(copy), lines)
    }
    /// The node has ended: what it wrote is copied.
    fn end(self) {
        let mut seen = self.1.came.load(Acquire);
        let mut since = Instant::now();
        while !self.0.is_finished() {
            std::thread::sleep(Duration::from_millis(2));
            // Not while it writes.
            let free = self.1.rest.try_lock().is_ok();
            let came = self.1.came.load(Acquire);
            if !free || came != seen {
                (seen, since) = (came, Instant::now());
            } else if since.elapsed() > SILENT {
                let _ = self.1.end();
                return;
            }
        }
    }
}

impl Lines {
    fn rest(&self) -> MutexGuard<'_, (Vec<u8>, bool)> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
    fn add(&self, bytes: &[u8]) -> std::io::Result<()> {
        let mut rest = self.rest();
        self.came.fetch_add(1, Release);
        for part in bytes.split_inclusive(|b| *b == b'\n') {
            rest.0.extend_from_slice(part);
            if part.ends_with(b"\n") || rest.0.len() >= LONGEST {
                self.write(&mut rest)?;
            }
        }
        Ok(())
    }
    /// A line that is not whole at the end gets its end.
    fn end(&self) -> std::io::Result<()> {
        let mut rest = self.rest();
        if rest.0.is_empty() && !rest.1 {
            return Ok(());
        }
        rest.0.push(b'\n');
        self.write(&mut rest)
    }
    fn write(&self, (line, goes_on): &mut (Vec<u8>, bool)) -> std::io::Result<()> {
        let label = if *goes_on { "" } else { self.label.as_str() };
        let whole = [label.as_bytes(), line].concat();
        *goes_on = !line.ends_with(b"\n");
        line.clear();
        if self.to_stderr {
            return std::io::stderr().lock().write_all(&whole);
        }
        let mut out = std::io::stdout().lock();
        out.write_all(&whole)?;
        out.flush()
    }
}

fn watch(children: &mut [(Child, Option<i32>)]) -> i32 {
    let mut failed = None;
    let mut ending: Option<Instant> = None;
    loop {
        for (child, status) in children.iter_mut().filter(|c| c.1.is_none()) {
            if let Ok(Some(s)) = child.try_wait() {
                let code = s.code().unwrap_or_else(|| 128 + std::os::unix::process::ExitStatusExt::signal(&s).unwrap_or(0));
                *status = Some(code);
                if code != 0 {
                    failed.get_or_insert(code);
                }
            }
        }
        if children.iter().all(|c| c.1.is_some()) {
            return failed.unwrap_or(0);
        }
        let noted = SIGNAL.swap(0, AcqRel);
        let (signal, by_terminal) = (noted & !BY_TERMINAL, noted & BY_TERMINAL != 0);
        if signal != 0 {
            // A terminal's Ctrl-C has reached them all already; sent again it would cut short what they do at their end.
            if signal != libc::SIGINT || !by_terminal {
                tell(children, signal);
            }
            failed.get_or_insert(128 + signal);
        }
        if failed.is_some() {
            match ending {
                None => {
                    if signal == 0 {
                        tell(children, libc::SIGTERM);
                    }
                    ending = Some(Instant::now());
                }
                Some(since) if since.elapsed() > Duration::from_secs(10) => end(children, libc::SIGKILL),
                Some(_) => {}
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}
fn tell(children: &[(Child, Option<i32>)], signal: i32) {
    for (child, status) in children {
        if status.is_none() {
            // SAFETY: the child was not waited for, so the number is still its own.
            unsafe { libc::kill(child.id() as i32, signal) };
        }
    }
}
fn end(children: &mut [(Child, Option<i32>)], signal: i32) {
    tell(children, signal);
    for (child, status) in children {
        if status.is_none() {
            *status = child.wait().ok().map(|s| s.code().unwrap_or(128 + signal));
        }
    }
}
