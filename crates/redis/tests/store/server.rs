//! A server in a folder of its own, which ends with the test.

use crate::client::HANG;
use socket2::{Domain, Socket, Type};
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub struct Server {
    pub folder: PathBuf,
    child: Child,
    options: Vec<String>,
}

/// Is there a `redis-server`, or a `valkey-server`?
pub fn program() -> Option<&'static str> {
    ["redis-server", "valkey-server"]
        .into_iter()
        .find(|p| Command::new(p).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success()))
}

/// A folder for one server, or for what a test has beside it. It is in memory where that has room: what is written is safe at once then,
/// and nobody waits for a disk. A server that is killed loses no more there than on a disk.
pub fn folder(name: &str) -> PathBuf {
    const ROOM: u64 = 1 << 30;
    let memory = Path::new("/dev/shm");
    let is_roomy = memory.is_dir() && rustix::fs::statvfs(memory).is_ok_and(|s| s.f_bavail.saturating_mul(s.f_frsize) >= ROOM);
    let parent = if is_roomy { memory.to_owned() } else { std::env::temp_dir() };
    let folder = parent.join(format!("kumi-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A port for one server, and the one 10,000 above it, which a cluster's node has as well. Nobody else is given either before this
/// process ends: a socket that does not listen is bound to each. Who names the port listens beside that; other systems than Linux do not let
/// it, and there the port is but free.
pub fn port() -> u16 {
    static GIVEN: Mutex<BTreeMap<u16, Option<Socket>>> = Mutex::new(BTreeMap::new());
    let mut given = GIVEN.lock().unwrap();
    loop {
        let one = bound(0).expect("no port is free");
        let port = one.local_addr().unwrap().as_socket().unwrap().port();
        let Some((bus, above)) = port.checked_add(10_000).and_then(|bus| Some((bus, bound(bus)?))) else { continue };
        if given.contains_key(&port) || given.contains_key(&bus) {
            continue;
        }
        for (port, socket) in [(port, one), (bus, above)] {
            given.insert(port, cfg!(target_os = "linux").then_some(socket));
        }
        return port;
    }
}

/// A socket that has this port alone, until others that say so may be bound beside it. `None`: somebody has the port.
fn bound(port: u16) -> Option<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into()).ok()?;
    socket.set_reuse_address(true).unwrap();
    Some(socket)
}

/// When the one lease under a key ends, by the server's clock. `None`: there is none. `say`: to whom that key is.
pub fn lease_ends(say: impl Fn(&[&str]) -> String, namespace: &str, key: &str) -> Option<Duration> {
    let part = |part: char| format!("{namespace}:n:{{{key}}}:{part}");
    let names = say(&["HKEYS", &part('h')]);
    let score = say(&["ZSCORE", &part('t'), &format!("l{}", names.lines().nth(2)?)]);
    score.lines().nth(1)?.parse::<f64>().ok().map(|ms| Duration::from_secs_f64(ms / 1000.0))
}

impl Server {
    /// One that writes everything to its disk before it answers.
    pub fn durable() -> Server {
        Server::start(&["--appendonly", "yes", "--appendfsync", "always"])
    }
    pub fn start(options: &[&str]) -> Server {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = folder(&format!("redis-{n}"));
        let options: Vec<String> = options.iter().map(|o| o.to_string()).collect();
        let child = spawn(&folder, &options);
        let s = Server { folder, child, options };
        s.await_ready();
        s
    }
    fn await_ready(&self) {
        let until = Instant::now() + HANG;
        while Instant::now() < until {
            if let Ok(mut c) = UnixStream::connect(self.socket()) {
                let _ = c.set_read_timeout(Some(Duration::from_secs(2)));
                let mut answer = [0; 64];
                if c.write_all(b"PING\r\n").is_ok() && matches!(c.read(&mut answer), Ok(n) if n > 0 && !answer.starts_with(b"-LOADING")) {
                    return;
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the server does not begin: {}", std::fs::read_to_string(self.folder.join("log")).unwrap_or_default());
    }
    pub fn socket(&self) -> PathBuf {
        self.folder.join("s")
    }
    pub fn address(&self) -> String {
        format!("unix:{}", self.socket().display())
    }
    /// As by a fault: nothing is said, nothing is written.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
    pub fn begin_again(&mut self) {
        let _ = std::fs::remove_file(self.socket());
        self.child = spawn(&self.folder, &self.options);
        self.await_ready();
    }
    pub fn pid(&self) -> i32 {
        self.child.id() as i32
    }
    /// Has the one lease under a key be due.
    pub fn end_lease(&self, key: &str) {
        let names = self.say(&["HKEYS", &format!("kumi:n:{{{key}}}:h")]);
        let name = names.lines().nth(2).unwrap();
        self.say(&["ZADD", &format!("kumi:n:{{{key}}}:t"), "1", &format!("l{name}")]);
    }
    /// What a command says, in its raw form.
    pub fn say(&self, parts: &[&str]) -> String {
        let mut c = UnixStream::connect(self.socket()).unwrap();
        let _ = c.set_read_timeout(Some(HANG));
        let mut out = format!("*{}\r\n", parts.len());
        parts.iter().for_each(|p| out.push_str(&format!("${}\r\n{p}\r\n", p.len())));
        c.write_all(out.as_bytes()).unwrap();
        let mut answer = vec![0; 1 << 20];
        let mut n = 0;
        while !answer[..n].ends_with(b"\r\n") {
            n += c.read(&mut answer[n..]).unwrap();
        }
        String::from_utf8_lossy(&answer[..n]).into_owned()
    }
}

fn spawn(folder: &Path, options: &[String]) -> Child {
    let log = std::fs::File::create(folder.join("log")).unwrap();
    Command::new(program().unwrap())
        .args(["--unixsocket", "s", "--dir", "."])
        .args(if options.iter().any(|o| o == "--port") { &[][..] } else { &["--port", "0"] })
        .args(if options.iter().any(|o| o == "--save") { &[][..] } else { &["--save", ""] })
        .args(options)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(log.try_clone().unwrap())
        .stderr(log)
        .spawn()
        .unwrap()
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Stands between clients and a server, and loses what it is told to.
pub struct Proxy {
    path: PathBuf,
    server: PathBuf,
    open: Arc<Mutex<Vec<UnixStream>>>,
    /// What the server says is swallowed.
    pub deaf: Arc<AtomicBool>,
    /// Bytes that the server said.
    pub back: Arc<AtomicUsize>,
}

impl Proxy {
    pub fn new(server: &Server) -> Proxy {
        let path = server.folder.join("proxy");
        let proxy = Proxy { server: server.socket(), open: Arc::default(), deaf: Arc::default(), back: Arc::default(), path: path.clone() };
        let listener = UnixListener::bind(path).unwrap();
        let (to, open, deaf, back) = (proxy.server.clone(), proxy.open.clone(), proxy.deaf.clone(), proxy.back.clone());
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(client) = client else { return };
                let Ok(server) = UnixStream::connect(&to) else { continue };
                open.lock().unwrap().extend([client.try_clone().unwrap(), server.try_clone().unwrap()]);
                let (c, s) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                std::thread::spawn(move || carry(client, server, None));
                let (deaf, back) = (deaf.clone(), back.clone());
                std::thread::spawn(move || carry(s, c, Some((deaf, back))));
            }
        });
        proxy
    }
    pub fn address(&self) -> String {
        format!("unix:{}", self.path.display())
    }
    /// All connections end.
    pub fn cut(&self) {
        for s in self.open.lock().unwrap().drain(..) {
            let _ = s.shutdown(std::net::Shutdown::Both);
        }
    }
}

fn carry(mut from: UnixStream, mut to: UnixStream, back: Option<(Arc<AtomicBool>, Arc<AtomicUsize>)>) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(n) = from.read(&mut buffer) {
        if n == 0 {
            break;
        }
        if let Some((deaf, count)) = &back {
            count.fetch_add(n, Ordering::SeqCst);
            if deaf.load(Ordering::SeqCst) {
                continue;
            }
        }
        if to.write_all(&buffer[..n]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Both);
    let _ = from.shutdown(std::net::Shutdown::Both);
}

/// Who knows where the primary `main` is, and does nothing about it before it is told to be [`quick`](Sentinel::quick).
pub struct Sentinel(PathBuf, Child, String);

impl Sentinel {
    pub fn new(port: &str, primary: &str) -> Sentinel {
        let folder = folder(&format!("sentinel-{port}"));
        let config = format!(
            "port {port}\ndir .\nsentinel monitor main 127.0.0.1 {primary} 1\nsentinel down-after-milliseconds main 60000\nsentinel failover-timeout main 2000\n"
        );
        std::fs::write(folder.join("conf"), config).unwrap();
        let quiet = || Stdio::null();
        let child = Command::new(program().unwrap())
            .args(["conf", "--sentinel"])
            .current_dir(&folder)
            .stdin(quiet())
            .stdout(quiet())
            .stderr(quiet())
            .spawn()
            .unwrap();
        Sentinel(folder, child, port.to_owned())
    }
    /// From here on a primary that does not answer for half a second is replaced.
    pub fn quick(&self) {
        assert!(self.hears("SENTINEL SET main down-after-milliseconds 500", "+OK"));
    }
    /// Does it say this of itself?
    pub fn says(&self, what: &str) -> bool {
        self.hears("INFO sentinel", what)
    }
    /// Is this in what it says to a command?
    fn hears(&self, command: &str, what: &str) -> bool {
        let Ok(mut c) = std::net::TcpStream::connect(format!("127.0.0.1:{}", self.2)) else { return false };
        let _ = c.set_read_timeout(Some(HANG));
        let mut answer = vec![0; 64 << 10];
        let mut n = 0;
        let _ = c.write_all(format!("{command}\r\n").as_bytes());
        while let Ok(m @ 1..) = c.read(&mut answer[n..]) {
            n += m;
            if String::from_utf8_lossy(&answer[..n]).contains(what) {
                return true;
            }
            if answer[..n].ends_with(b"\r\n") {
                break;
            }
        }
        false
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        let _ = self.1.kill();
        let _ = self.1.wait();
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
