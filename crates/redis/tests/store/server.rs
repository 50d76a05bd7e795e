//! A server in a folder of its own, which ends with the test.

use std::io::{Read, Write};
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

impl Server {
    /// One that writes everything to its disk before it answers.
    pub fn durable() -> Server {
        Server::start(&["--appendonly", "yes", "--appendfsync", "always"])
    }
    pub fn start(options: &[&str]) -> Server {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("kumi-redis-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let options: Vec<String> = options.iter().map(|o| o.to_string()).collect();
        let child = spawn(&folder, &options);
        let s = Server { folder, child, options };
        s.await_ready();
        s
    }
    fn await_ready(&self) {
        let until = Instant::now() + Duration::from_secs(20);
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
        let _ = c.set_read_timeout(Some(Duration::from_secs(10)));
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

/// Who knows where the primary `main` is.
pub struct Sentinel(PathBuf, Child, String);

impl Sentinel {
    pub fn new(port: &str, primary: &str) -> Sentinel {
        let folder = std::env::temp_dir().join(format!("kumi-sentinel-{}-{port}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let config = format!(
            "port {port}\ndir .\nsentinel monitor main 127.0.0.1 {primary} 1\nsentinel down-after-milliseconds main 500\nsentinel failover-timeout main 2000\n"
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
    /// Does it say this of itself?
    pub fn says(&self, what: &str) -> bool {
        let Ok(mut c) = std::net::TcpStream::connect(format!("127.0.0.1:{}", self.2)) else { return false };
        let _ = c.set_read_timeout(Some(Duration::from_secs(1)));
        let mut answer = vec![0; 64 << 10];
        let mut n = 0;
        let _ = c.write_all(b"INFO sentinel\r\n");
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
