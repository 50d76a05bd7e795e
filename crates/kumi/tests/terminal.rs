//! `kumi irb` at a terminal: Ctrl-C ends what runs, what waits and what is being typed, and the session goes on.
#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

const HANG: Duration = Duration::from_secs(60);

/// A session whose terminal is ours.
struct Session {
    child: Child,
    keys: File,
    shown: Receiver<Vec<u8>>,
    seen: String,
}

impl Session {
    fn new() -> Session {
        let (mut master, mut slave) = (0, 0);
        // SAFETY: the two places are ours; the others may be null.
        let r = unsafe { libc::openpty(&mut master, &mut slave, std::ptr::null_mut(), std::ptr::null(), std::ptr::null()) };
        assert_eq!(r, 0, "{}", std::io::Error::last_os_error());
        // SAFETY: both were opened just now and belong to nobody else.
        let (keys, slave) = unsafe { (File::from_raw_fd(master), OwnedFd::from_raw_fd(slave)) };
        let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
        c.arg("irb").env("TERM", "xterm").env("HOME", std::env::temp_dir()).env_remove("RUBYOPT").env_remove("RUBYLIB");
        let end = || Stdio::from(slave.try_clone().unwrap());
        c.stdin(end()).stdout(end()).stderr(end());
        // SAFETY: only calls that are allowed between fork and exec.
        unsafe {
            c.pre_exec(|| {
                libc::signal(libc::SIGINT, libc::SIG_DFL);
                libc::setsid();
                libc::ioctl(0, libc::TIOCSCTTY, 0);
                Ok(())
            });
        }
        let child = c.spawn().unwrap();
        let (send, shown) = channel();
        let mut from = keys.try_clone().unwrap();
        std::thread::spawn(move || {
            let mut b = [0; 4096];
            while let Ok(n) = from.read(&mut b) {
                if n == 0 || send.send(b[..n].to_vec()).is_err() {
                    break;
                }
            }
        });
        Session { child, keys, shown, seen: String::new() }
    }

    /// Waits until `text` is on the screen, and forgets what came before.
    fn until(&mut self, text: &str) {
        let begun = Instant::now();
        loop {
            if let Some(at) = self.seen.find(text) {
                self.seen.drain(..at + text.len());
                return;
            }
            match self.shown.recv_timeout(HANG.saturating_sub(begun.elapsed())) {
                Ok(b) => self.seen.push_str(&String::from_utf8_lossy(&b)),
                Err(RecvTimeoutError::Timeout) => panic!("no {text:?} in {:?}", self.seen),
                Err(RecvTimeoutError::Disconnected) => panic!("ended before {text:?}: {:?}", self.seen),
            }
        }
    }
    fn type_in(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn ctrl_c_stops_what_runs_and_the_session_goes_on() {
    let mut s = Session::new();
    let runs = [
        "loop {}",
        "loop { 1 + 1 }",
        "1 while true",
        "sleep",
        "gets",
        "system('sleep 60')",
        "`sleep 60`",
        "Process.wait(spawn('sleep 60'))",
        "Thread.new { loop {} }.join",
        "Queue.new.pop",
        "r, w = IO.pipe; r.read",
        "begin; loop {}; rescue StandardError; end",
        "[3, 1].sort_by { loop {} }",
        "eval('loop {}')",
    ];
    for (n, code) in runs.iter().enumerate() {
        s.until(&format!("kumi:{:03}> ", n * 2 + 1));
        // The screen shows what is typed, which must not be what is waited for.
        s.type_in(&format!("puts 'r' + 'eady'; {code}\r"));
        s.until("\nready");
        std::thread::sleep(Duration::from_millis(100));
        s.type_in("\x03");
        s.until("Interrupt");
        s.until(&format!("kumi:{:03}> ", n * 2 + 2));
        s.type_in("p 40 + 2\r");
        s.until("42");
    }
    let mut line = runs.len() * 2 + 1;
    let shown = format!("kumi:{line:03}> ");
    s.until(&shown);
    s.type_in("abc\x03");
    // The prompt is shown again after every key; the next one comes below the line that was given up.
    s.until("\r\n");
    s.until(&shown);
    s.type_in("[1].each do\r\x03");
    s.until("\r\n\r");
    s.until("\r\n");
    s.until(&shown);
    // Lines that come in one piece are lines of their own.
    s.type_in("p 6 * 7\rputs 'r' + 'eady'\rp 5 * 1001\r");
    s.until("42");
    line += 1;
    s.until(&format!("kumi:{line:03}> "));
    s.until("\nready");
    s.until("5005");
}

#[test]
fn binding_irb_is_a_session_in_its_place_and_the_program_goes_on() {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    c.args(["-W0", "-e", "x = 1\nbinding.irb\np x"]).env_remove("RUBYOPT").env_remove("RUBYLIB");
    let mut child = c.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"x += 1\n[x,\n 2]\nnope\nexit\n").unwrap();
    let out = child.wait_with_output().unwrap();
    let (o, e) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(o.ends_with("From: -e:2\n\n=> 2\n=> [2, 2]\n2\n"), "{o}{e}");
    assert!(e.contains("undefined local variable or method 'nope'"), "{e}");
}
