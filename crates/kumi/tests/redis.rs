//! Segments in a store on Redis or Valkey: the programs of `tests/redis` with a server of their own, and the guide's examples. Those that can, and
//! those of `tests/redis/cluster`, have a cluster as well. Where there is neither `redis-server` nor `valkey-server`, these tests count as ignored.

use libtest_mimic::{Arguments, Failed, Trial};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const HANG: Duration = Duration::from_secs(120);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/redis")
}

fn program() -> Option<&'static str> {
    let runs = |p: &&str| Command::new(p).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    ["redis-server", "valkey-server"].into_iter().find(runs)
}

/// A server in a folder of its own.
struct Server(PathBuf, Child);

impl Server {
    fn new(name: &str) -> Server {
        Server::with(name, &["--port", "0"])
    }
    fn with(name: &str, options: &[&str]) -> Server {
        let folder = std::env::temp_dir().join(format!("kumi-store-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let log = std::fs::File::create(folder.join("log")).unwrap();
        let child = Command::new(program().unwrap())
            .args(["--unixsocket", "s", "--dir", ".", "--save", "", "--appendonly", "yes", "--appendfsync", "always"])
            .args(options)
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let server = Server(folder, child);
        let began = Instant::now();
        while UnixStream::connect(server.0.join("s")).is_err() {
            assert!(began.elapsed() < HANG, "the server does not begin");
            std::thread::sleep(Duration::from_millis(5));
        }
        server
    }
    fn address(&self) -> String {
        format!("unix:{}", self.0.join("s").display())
    }
    /// What a command says.
    fn say(&self, command: &str) -> String {
        let mut c = UnixStream::connect(self.0.join("s")).unwrap();
        c.write_all(format!("{command}\r\n").as_bytes()).unwrap();
        let mut answer = vec![0; 1 << 16];
        let n = c.read(&mut answer).unwrap();
        String::from_utf8_lossy(&answer[..n]).into_owned()
    }
}

/// A port that nobody has, and that the system gives nobody who asks for any; so is the one for the cluster's own, 10,000 above it.
fn free_port() -> u16 {
    static GIVEN: AtomicUsize = AtomicUsize::new(0);
    let first = std::process::id() as usize;
    let mut all = std::iter::repeat_with(|| (6_000 + (first + GIVEN.fetch_add(1, Ordering::Relaxed)) % 4_000) as u16);
    all.find(|p| [*p, *p + 10_000].iter().all(|p| TcpListener::bind(("127.0.0.1", *p)).is_ok())).unwrap()
}

/// Three servers of a cluster, and its address.
fn cluster(name: &str) -> (Vec<Server>, String) {
    let ports = [(); 3].map(|()| free_port());
    let start = |(i, port): (usize, &u16)| {
        let options = ["--port", &port.to_string(), "--cluster-enabled", "yes", "--appendfsync", "everysec"];
        let server = Server::with(&format!("{name}-{i}"), &options);
        server.say(&format!("CLUSTER ADDSLOTSRANGE {} {}", i * 5461, [5460, 10921, 16383][i]));
        server.say(&format!("CLUSTER SET-CONFIG-EPOCH {}", i + 1));
        server.say(&format!("CLUSTER MEET 127.0.0.1 {}", ports[0]));
        server
    };
    let servers: Vec<Server> = ports.iter().enumerate().map(start).collect();
    let began = Instant::now();
    let whole = |s: &Server| ["cluster_state:ok", "cluster_known_nodes:3"].iter().all(|what| s.say("CLUSTER INFO").contains(what));
    while !servers.iter().all(whole) {
        assert!(began.elapsed() < HANG, "the cluster does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    let address = format!("redis+cluster://127.0.0.1:{}", ports[1]);
    (servers, address)
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.1.kill();
        let _ = self.1.wait();
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a program prints, standard error last.
fn run(program: &Path, argument: &str) -> Result<String, Failed> {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    c.arg(program).arg(argument);
    for name in ["RUBYOPT", "RUBYLIB", "KUMI_PRELUDE", "KUMI_LIB", "RUST_BACKTRACE"] {
        c.env_remove(name);
    }
    if let Some(lib) = std::env::var_os("KUMI_TEST_LIB") {
        c.env("KUMI_LIB", lib);
    }
    let mut child = c.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let read = |mut from: Box<dyn Read + Send>| {
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = from.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        })
    };
    let out = read(Box::new(child.stdout.take().unwrap()));
    let errors = read(Box::new(child.stderr.take().unwrap()));
    let began = Instant::now();
    while child.try_wait()?.is_none() {
        if began.elapsed() > HANG {
            let _ = child.kill();
            return Err(format!("it hangs: {}{}", out.join().unwrap(), errors.join().unwrap()).into());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(out.join().unwrap() + &errors.join().unwrap())
}

fn program_prints(name: &str) -> Result<(), Failed> {
    let server = Server::new(name);
    let printed = run(&folder().join(format!("{name}.rb")), &server.address())?.replace(&server.0.display().to_string(), "FOLDER");
    is_as_expected(name, &printed)
}

fn program_prints_on_cluster(name: &str) -> Result<(), Failed> {
    let (_servers, address) = cluster(&name.replace('/', "-"));
    let printed = run(&folder().join(format!("{name}.rb")), &address)?.replace(&address, "unix:FOLDER/s");
    // Nothing is to outlive the servers, and three that write to one disk are slow.
    let told: Vec<&str> = printed.lines().filter(|l| !l.contains("appendfsync is everysec")).collect();
    is_as_expected(name, &format!("{}\n", told.join("\n")))
}

fn is_as_expected(name: &str, printed: &str) -> Result<(), Failed> {
    let expected = std::fs::read_to_string(folder().join(format!("{name}.out")))?;
    if printed != expected {
        let mut err = std::io::stderr();
        let _ = writeln!(err, "--- expected\n{expected}--- printed\n{printed}");
        return Err(format!("{name}.rb prints something else").into());
    }
    Ok(())
}

fn main() {
    let arguments = Arguments::from_args();
    let missing = program().is_none();
    if missing {
        eprintln!("NOT RUN: there is no redis-server and no valkey-server here (apt-get install redis-server)");
    }
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .flatten()
        .filter_map(|e| e.path().file_name()?.to_str()?.strip_suffix(".rb").map(String::from))
        .collect();
    names.sort();
    let one = names.into_iter().map(|n| Trial::test(n.clone(), move || program_prints(&n)));
    let many = ["calls", "same", "same_waits", "order", "watch", "cluster/code"]
        .map(|n| Trial::test(format!("{n} on a cluster"), move || program_prints_on_cluster(n)));
    let trials = one.chain(many).map(|t| t.with_ignored_flag(missing));
    libtest_mimic::run(&arguments, trials.collect()).exit();
}
