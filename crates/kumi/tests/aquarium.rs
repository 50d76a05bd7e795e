//! The aquarium, example of a program on several nodes: its tanks serve pages, fish swim from one to the other, and nodes leave and join.
//!
//! What a page draws is seen in a real browser; where none is installed, that test counts as ignored (Debian's package is
//! `chromium`). A bound only tells an answer from a hang.

use libtest_mimic::{Arguments, Trial};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

#[path = "common/browser.rs"]
mod browser;
use browser::{Browser, Folder, HANG, until};

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
        // Ctrl-C is ignored by what a shell starts in the background, and by all that this starts.
        // SAFETY: a call that is allowed between fork and exec.
        unsafe {
            c.pre_exec(|| {
                libc::signal(libc::SIGINT, libc::SIG_DFL);
                Ok(())
            });
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

fn a_browser_draws_fish_that_swim_from_tank_to_tank(program: &Path) {
    let folder = Folder::new("pages");
    let east = Tank::start(&folder, "east", "west");
    let west = Tank::start(&folder, "west", "east");
    let mut browser = Browser::start(program);
    let (here, there) = (browser.open(&east.url, "Aquarium"), browser.open(&west.url, "Aquarium"));

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
