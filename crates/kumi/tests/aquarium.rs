//! The aquarium, example of a program on several nodes: its tanks serve pages, fish swim from one to the other, and nodes leave and join.
//!
//! What a page draws is seen in a real browser; where none is installed, that test counts as ignored (Debian's package is
//! `chromium`). A bound only tells an answer from a hang.

use libtest_mimic::{Arguments, Trial};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const HANG: Duration = Duration::from_secs(60);

/// Asks again until there is an answer.
fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
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
struct Folder(PathBuf);
impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("kumi-aquarium-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }
    fn socket(&self, node: &str) -> String {
        format!("unix:{}", self.0.join(node).display())
    }
}
impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A node with a tank. Killed with this.
struct Tank {
    child: Child,
    url: String,
}
impl Tank {
    fn start(folder: &Folder, name: &str, join: &str) -> Tank {
        let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
        c.args(["node", name, "--listen", &folder.socket(name), "--join", &folder.socket(join), "-W0"]);
        c.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/aquarium.rb")).args(["--fish", "2", "--seconds", "300"]);
        for name in ["RUBYOPT", "RUBYLIB", "KUMI_PRELUDE", "KUMI_LIB"] {
            c.env_remove(name);
        }
        let mut child = c.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.split_once(" is at ").and_then(|(_, rest)| rest.split_once(';')).map(|(url, _)| url.to_string());
        assert!(line.starts_with(&format!("the tank of {name} is at http://127.0.0.1:")), "{line}");
        Tank { child, url: url.unwrap() }
    }

    /// Ends it by Ctrl-C.
    fn end(mut self) {
        // SAFETY: touches no memory; the child was not waited for.
        unsafe { libc::kill(self.child.id() as i32, libc::SIGINT) };
        let status = until("Ctrl-C ends the node", || self.child.try_wait().unwrap());
        assert!(status.success(), "{status}");
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(self.url.trim_start_matches("http://").trim_end_matches('/')).unwrap()
    }
    fn ask(&self, request: &str) -> BufReader<TcpStream> {
        let mut socket = self.connect();
        socket.set_read_timeout(Some(HANG)).unwrap();
        write!(socket, "{request} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        BufReader::new(socket)
    }
    fn answer(&self, request: &str) -> String {
        let mut text = String::new();
        self.ask(request).read_to_string(&mut text).unwrap();
        text
    }
    /// The next event.
    fn event(&self) -> String {
        self.ask("GET /events").lines().map(Result::unwrap).find(|line| line.starts_with("data: ")).unwrap()
    }
}
impl Drop for Tank {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tanks_serve_pages_and_hand_fish_on() {
    let folder = Folder::new("tanks");
    let east = Tank::start(&folder, "east", "west");
    let west = Tank::start(&folder, "west", "east");
    let page = east.answer("GET /");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.contains("EventSource") && page.ends_with("</script>\n"), "{page}");
    assert!(east.answer("GET /else").starts_with("HTTP/1.1 404 "));
    assert!(west.answer("POST /fish").starts_with("HTTP/1.1 200 OK\r\n"));
    let _silent = east.connect();

    until("a ring of two", || east.event().contains("\"node\":\"east\",\"left\":\"west\",\"right\":\"west\"").then_some(()));
    until("a fish of west in the tank of east", || east.event().contains("\"id\":\"west-").then_some(()));
    until("the fish of the button in the tank of east", || east.event().contains("\"id\":\"west-3\"").then_some(()));
    until("a fish of east in the tank of west", || west.event().contains("\"id\":\"east-").then_some(()));

    // The ring closes when a node leaves, and opens when one joins.
    west.end();
    until("a ring of one", || east.event().contains("\"left\":\"east\",\"right\":\"east\"").then_some(()));
    let west = Tank::start(&folder, "west", "east");
    until("a ring of two again", || east.event().contains("\"left\":\"west\",\"right\":\"west\"").then_some(()));
    until("new fish of west in the tank of east", || east.event().contains("\"id\":\"west-").then_some(()));
    east.end();
    west.end();
}

/// A browser without a window, driven over pipes by the DevTools protocol: JSON with a NUL behind it.
struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<String>,
    calls: u32,
    _profile: Folder,
}
impl Browser {
    fn find() -> Option<PathBuf> {
        let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
        let names = ["chromium", "chromium-browser", "google-chrome"];
        names.iter().flat_map(|name| folders.iter().map(move |f| f.join(name))).find(|p| p.is_file())
    }

    fn start(program: &Path) -> Browser {
        let profile = Folder::new("profile");
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

    /// Opens a page; gives its session.
    fn open(&mut self, url: &str) -> String {
        let target = member(&self.call("", "Target.createTarget", &format!("\"url\":\"{url}\"")), "targetId");
        let page = member(&self.call("", "Target.attachToTarget", &format!("\"targetId\":\"{target}\",\"flatten\":true")), "sessionId");
        until("the page is loaded", || (self.value(&page, "document.readyState + document.title") == "completeAquarium").then_some(()));
        page
    }

    /// The String that an expression gives in a page. Neither has quotes.
    fn value(&mut self, page: &str, expression: &str) -> String {
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

fn a_browser_draws_fish_that_swim_from_tank_to_tank(program: &Path) {
    let folder = Folder::new("pages");
    let east = Tank::start(&folder, "east", "west");
    let west = Tank::start(&folder, "west", "east");
    let mut browser = Browser::start(program);
    let (here, there) = (browser.open(&east.url), browser.open(&west.url));

    let labels = "['node', 'left', 'right'].map(id => document.getElementById(id).textContent).join()";
    until("the page of east names its neighbours", || (browser.value(&here, labels) == "east,west,west").then_some(()));
    until("the page of west names its neighbours", || (browser.value(&there, labels) == "west,east,east").then_some(()));

    // What is drawn has a size.
    let drawn = "[...document.querySelectorAll('#tank > g')].filter(g => g.getBoundingClientRect().width > 40).map(g => g.id).join()";
    until("a fish of west on the page of east", || browser.value(&here, drawn).contains("west-").then_some(()));
    until("a fish of east on the page of west", || browser.value(&there, drawn).contains("east-").then_some(()));
    let places = "[...document.querySelectorAll('#tank > g')].map(g => g.style.transform).join()";
    let before = until("fish have places", || Some(browser.value(&here, places)).filter(|p| p.contains("translate")));
    until("fish move", || (browser.value(&here, places) != before).then_some(()));

    browser.value(&here, "document.getElementById('add').click(); 'clicked'");
    until("the fish of the button", || browser.value(&here, drawn).contains("east-3").then_some(()));
    until("the fish of the button on the other page", || browser.value(&there, drawn).contains("east-3").then_some(()));

    // Where a node is gone, so are its fish.
    west.end();
    until("a ring of one", || (browser.value(&here, labels) == "east,east,east").then_some(()));
    until("fish swim on", || browser.value(&here, "document.getElementById('count').textContent").ends_with(" fish").then_some(()));
    east.end();
}

fn main() {
    let browser = Browser::find();
    let absent = browser.is_none();
    let pages = Trial::test("a_browser_draws_fish_that_swim_from_tank_to_tank", move || {
        a_browser_draws_fish_that_swim_from_tank_to_tank(&browser.ok_or("no browser is installed")?);
        Ok(())
    });
    let tanks = Trial::test("tanks_serve_pages_and_hand_fish_on", || {
        tanks_serve_pages_and_hand_fish_on();
        Ok(())
    });
    libtest_mimic::run(&Arguments::from_args(), vec![tanks, pages.with_ignored_flag(absent)]).exit();
}
