//! Segments in a store on Redis or Valkey: the programs of `tests/redis` with a server of their own, and the guide's examples. Where
//! there is neither `redis-server` nor `valkey-server`, these tests count as ignored.

use libtest_mimic::{Arguments, Failed, Trial};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
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
        let folder = std::env::temp_dir().join(format!("kumi-store-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let log = std::fs::File::create(folder.join("log")).unwrap();
        let child = Command::new(program().unwrap())
            .args(["--port", "0", "--unixsocket", "s", "--dir", ".", "--save", "", "--appendonly", "yes", "--appendfsync", "always"])
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
    let trials = names.into_iter().map(|n| Trial::test(n.clone(), move || program_prints(&n)).with_ignored_flag(missing));
    libtest_mimic::run(&arguments, trials.collect()).exit();
}
