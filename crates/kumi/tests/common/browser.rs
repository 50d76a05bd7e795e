//! A real browser for tests of pages, and what they need beside it. A bound only tells an answer from a hang.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

pub const HANG: Duration = Duration::from_secs(60);

/// Asks again until there is an answer.
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < HANG, "it does not come to this: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A folder of a test's own; short, since names of sockets are.
pub struct Folder(pub PathBuf);
impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("kumi-page-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
    pub fn socket(&self, node: &str) -> String {
        format!("unix:{}", self.0.join(node).display())
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A browser without a window, driven over pipes by the DevTools protocol: JSON with a NUL behind it.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<String>,
    calls: u32,
    _profile: Folder,
}
impl Browser {
    pub fn find() -> Option<PathBuf> {
        let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
        let names = ["chromium", "chromium-browser", "google-chrome"];
        names.iter().flat_map(|name| folders.iter().map(move |f| f.join(name))).find(|p| p.is_file())
    }

    pub fn start(program: &Path) -> Browser {
        // Each has one of its own: a second browser of a profile ends at once.
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let profile = Folder::new(&format!("profile{}", STARTED.fetch_add(1, Ordering::Relaxed)));
        // Its pipes are descriptors 3 and 4.
        let mut c = Command::new("sh");
        c.args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1"]).arg(program);
        c.args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe"]);
        c.arg(format!("--user-data-dir={}", profile.0.display()));
        let mut child = c.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (send, from) = channel();
        let out = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || out.split(0).map_while(Result::ok).all(|m| send.send(String::from_utf8_lossy(&m).into_owned()).is_ok()));
        Browser { to: child.stdin.take().unwrap(), child, from, calls: 0, _profile: profile }
    }

    /// The answer, which is JSON.
    fn call(&mut self, session: &str, method: &str, params: &str) -> String {
        self.calls += 1;
        let session = if session.is_empty() { String::new() } else { format!("\"sessionId\":\"{session}\",") };
        write!(self.to, "{{\"id\":{},{session}\"method\":\"{method}\",\"params\":{{{params}}}}}\0", self.calls).unwrap();
        let id = format!("{{\"id\":{},", self.calls);
        loop {
            // What does not begin with the number tells of something else.
            let answer = self.from.recv_timeout(HANG).unwrap_or_else(|e| panic!("{method}: no answer of the browser: {e}"));
            if answer.starts_with(&id) {
                return answer;
            }
        }
    }

    /// Opens a page with a title that begins so; gives its session.
    pub fn open(&mut self, url: &str, title: &str) -> String {
        let target = member(&self.call("", "Target.createTarget", &format!("\"url\":\"{url}\"")), "targetId");
        let page = member(&self.call("", "Target.attachToTarget", &format!("\"targetId\":\"{target}\",\"flatten\":true")), "sessionId");
        let want = format!("\"value\":\"complete{title}");
        until("the page is loaded", || {
            // While the page replaces the empty one the answer may be an error.
            let ready = self.call(&page, "Runtime.evaluate", "\"expression\":\"document.readyState + document.title\"");
            ready.contains(&want).then_some(())
        });
        page
    }

    /// The String that an expression gives in a page. Neither has quotes.
    pub fn value(&mut self, page: &str, expression: &str) -> String {
        member(&self.call(page, "Runtime.evaluate", &format!("\"expression\":\"{expression}\"")), "value")
    }
}
impl Drop for Browser {
    fn drop(&mut self) {
        let _ = write!(self.to, "{{\"id\":0,\"method\":\"Browser.close\"}}\0");
        let start = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A String of an answer, by the name of its member.
fn member(json: &str, name: &str) -> String {
    let value = json.split_once(&format!("\"{name}\":\"")).and_then(|(_, rest)| rest.split_once('"'));
    value.unwrap_or_else(|| panic!("no {name} in {json}")).0.to_string()
}
