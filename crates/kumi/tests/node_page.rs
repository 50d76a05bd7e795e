//! A node's page, its metrics and `kumi top`: what they show, who sees them, and what a hostile client comes to.
//!
//! The page is seen in a real browser, too; where none is installed, that test counts as ignored (Debian's package is `chromium`).

#[allow(dead_code)] // what other tests use
#[path = "common/browser.rs"]
mod browser;
use browser::{Browser, HANG, until};
use libtest_mimic::{Arguments, Trial};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// Dead letters, a thousand keys, a code segment that waits.
const PROGRAM: &str = r#"
require "kumihimo/segments"
ds = Kumihimo::Segments.local
class Bad < Kumihimo::CodeSegment
  input :x, take: "in"
  input :rate, peek: "rate"
  dead_letters "dead", tries: 1
  def run = raise("bad <i>#{x}</i>")
end
ds.put("rate", 5)
3.times { |i| ds.put("in", "piece #{i}"); Bad.start.join rescue nil }
1000.times { |i| ds.put("key.#{i}", i) }
ds.limit("full", 1).put("full", 1)
Thread.new { ds.put("full", 2) }
Kumihimo::Segments.when(take: "never") { }
$stdout.sync = true
puts Kumihimo::Segments.web("127.0.0.1:0", token: "0123456789abcdef")
Thread.new { loop { ds.put("busy", 1); ds.take("busy"); sleep 0.001 } }
sleep
"#;

/// Nodes that hold objects of each other: the second three of the first, the third one of the second, the first one of the third. A call is under way.
const CLUSTER: &str = r#"
R = Kumihimo::Remote
class Thing
  include R
  def initialize(n) = @n = n
  def all = Array.new(@n) { Thing.new(1) }
  def wait = sleep
end
own = Kumihimo::Segments.node
R.register("thing", $thing = Thing.new(own == "node1" ? 2 : 0))
$held = R.find("thing", on: { "node1" => "node3", "node2" => "node1", "node3" => "node2" }[own])
$all = $held.all
$call = $held.async.wait if own == "node1"
Kumihimo::Cluster.barrier
GC.start
Kumihimo::Cluster.barrier
$stdout.sync = true
puts Kumihimo::Segments.web("127.0.0.1:0", token: "0123456789abcdef") if own == "node1"
sleep
"#;

const TOKEN: &str = "Authorization: Bearer 0123456789abcdef\r\n";

struct Node {
    child: Child,
    /// With the token.
    url: String,
}
impl Node {
    fn start() -> Node {
        Node::of(&["-W0", "-e", PROGRAM], "")
    }
    /// The first one of three.
    fn cluster() -> Node {
        Node::of(&["run", "--nodes", "3", "-W0", "-e", CLUSTER], "node1 | ")
    }
    fn of(arguments: &[&str], before: &str) -> Node {
        use std::os::unix::process::CommandExt;
        let mut c = command();
        let mut child = c.args(arguments).process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let line = line.strip_prefix(before).unwrap_or(&line);
        assert!(line.starts_with("http://127.0.0.1:") && line.ends_with("/?token=0123456789abcdef\n"), "{line}");
        Node { child, url: line.trim_end().into() }
    }
    fn address(&self) -> &str {
        self.url.trim_start_matches("http://").split('/').next().unwrap()
    }
    fn connect(&self) -> TcpStream {
        let s = TcpStream::connect(self.address()).unwrap();
        s.set_read_timeout(Some(HANG)).unwrap();
        s
    }
    /// What it answers to these bytes. It may close before it has read them all.
    fn say(&self, bytes: &[u8]) -> String {
        let mut s = self.connect();
        let _ = s.write_all(bytes);
        let mut all = Vec::new();
        let _ = s.read_to_end(&mut all);
        String::from_utf8_lossy(&all).into_owned()
    }
    fn get(&self, path: &str, headers: &str) -> String {
        self.say(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").as_bytes())
    }
    fn post(&self, path: &str, headers: &str, body: &str) -> String {
        let text = format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len());
        self.say(text.as_bytes())
    }
}
impl Drop for Node {
    fn drop(&mut self) {
        // SAFETY: touches no memory; the group is the child's own.
        unsafe { libc::kill(-(self.child.id() as i32), libc::SIGKILL) };
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command() -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    for name in ["RUBYOPT", "RUBYLIB", "KUMI_PRELUDE", "KUMI_LIB", "KUMI_TOP_TOKEN"] {
        c.env_remove(name);
    }
    c.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")));
    c
}

fn status(answer: &str) -> &str {
    answer.strip_prefix("HTTP/1.1 ").and_then(|a| a.get(..3)).unwrap_or(answer)
}

fn who_has_the_token_sees_how_the_node_stands() {
    let node = Node::start();
    // Others see that it lives.
    assert!(node.get("/healthz", "").ends_with("\r\n\r\nalive\n"));
    assert!(node.get("/readyz", "").ends_with("\r\n\r\nready\n"));
    for path in ["/", "/state", "/metrics", "/events", "/page.js"] {
        assert_eq!(status(&node.get(path, "")), "401", "{path}");
        assert_eq!(status(&node.get(path, "Authorization: Bearer 0123456789abcdee\r\n")), "401", "{path}");
    }
    let login = node.get("/?token=0123456789abcdef", "");
    let cookie = format!("kumi{}=0123456789abcdef", node.address().rsplit(':').next().unwrap());
    assert!(status(&login) == "303" && login.contains(&format!("Set-Cookie: {cookie}; HttpOnly; SameSite=Strict")), "{login}");
    assert_eq!(status(&node.get("/?token=0123", "")), "401");
    let page = node.get("/", &format!("Cookie: a=b; {cookie}\r\n"));
    assert!(page.contains("<script src=\"/page.js\">") && page.contains("Content-Security-Policy: default-src 'none'"), "{page}");

    let state = node.get("/state?part=ead", TOKEN);
    for part in [
        "\"keys\":[{\"key\":\"dead\",\"segments\":3,",
        "\"error\":\"RuntimeError: bad <i>piece 0</i>\"",
        "\"inputs\":\"x: \\\"piece 0\\\", rate: 5\"",
        "\"code\":{\"waiting\":1,",
    ] {
        assert!(state.contains(part), "{part}: {state}");
    }
    assert!(node.get("/state?part=full", TOKEN).contains("\"waiting_puts\":1,\"last_index\":1,\"limit\":1}"));
    let metrics = node.get("/metrics", TOKEN);
    for line in ["kumi_dead_letters{key=\"dead\"} 3\n", "kumi_code_segments{state=\"waiting\"} 1\n", "# TYPE kumi_events_total counter\n"] {
        assert!(metrics.contains(line), "{metrics}");
    }
    // The dashboard shows what is there.
    let board = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/grafana.json")).unwrap();
    let names = board.split(|c: char| !c.is_ascii_lowercase() && c != '_').filter(|w| w.starts_with("kumi_"));
    let missing: Vec<&str> = names.filter(|n| !metrics.contains(&format!("# TYPE {n} "))).collect();
    assert!(missing.is_empty() && board.matches("kumi_").count() > 10, "{missing:?}");

    assert!(node.post("/put_back", TOKEN, "key=dead&index=2").ends_with("true"));
    assert!(node.post("/put_back", TOKEN, "key=dead&index=2").ends_with("false"));
    assert!(node.post("/forget", TOKEN, "key=dead&index=3").ends_with("true"));
    let state = node.get("/state?part=in", TOKEN);
    assert!(state.contains("\"key\":\"in\",\"segments\":1,") && !state.contains("piece 1"), "{state}");
    let metrics = node.get("/metrics", TOKEN);
    assert!(metrics.contains("kumi_dead_letters{key=\"dead\"} 1\n"), "{metrics}");

    let mut events = node.connect();
    write!(events, "GET /events HTTP/1.1\r\nHost: 127.0.0.1\r\n{TOKEN}\r\n").unwrap();
    let events = BufReader::new(events).lines().map(Result::unwrap).filter(|l| l.starts_with("data: "));
    assert!(events.skip(1).take(1).all(|e| e.contains("\"node\":\"alone\"")));
}

fn hostile_clients_come_to_nothing() {
    let node = Node::start();
    let long = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(40_000));
    let cases: [(&[u8], &str); 12] = [
        (b"GARBAGE\r\n\r\n", "400"),
        (b"\r\n\r\n", "400"),
        (b"GET / HTTP/9\r\n\r\n", "400"),
        (b"GET nothing HTTP/1.1\r\n\r\n", "400"),
        (b"GET /\xFF HTTP/1.1\r\nHost: localhost\r\n\r\n", "401"),
        (b"GET /healthz HTTP/1.1\r\nHost: example.org\r\n\r\n", "421"),
        (b"GET /healthz HTTP/1.1\r\n\r\n", "421"),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "400"),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n", "400"),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n", "413"),
        (b"GET /?%zz=1&token=%ff HTTP/1.1\r\nHost: localhost\r\n\r\n", "400"),
        (long.as_bytes(), "431"),
    ];
    for (bytes, want) in cases {
        let answer = node.say(bytes);
        assert_eq!(status(&answer), want, "{}", String::from_utf8_lossy(&bytes[..bytes.len().min(80)]));
    }
    assert_eq!(status(&node.get("/nothing", TOKEN)), "404");
    assert_eq!(status(&node.post("/nothing", TOKEN, "key=dead&index=1")), "404");
    assert_eq!(status(&node.post("/forget", TOKEN, "key=dead")), "400");
    assert_eq!(status(&node.post("/forget", TOKEN, "key=dead&index=99999999999999999999")), "400");
    assert_eq!(status(&node.post("/forget", "", "key=dead&index=1")), "401");
    assert_eq!(status(&node.post("/forget", &format!("{TOKEN}Origin: http://example.org\r\n"), "key=dead&index=1")), "403");
    assert_eq!(status(&node.say(format!("PUT / HTTP/1.1\r\nHost: localhost\r\n{TOKEN}\r\n").as_bytes())), "405");
    // Some that say nothing, or half of it, and some that go.
    let mut silent: Vec<TcpStream> = (0..40).map(|_| node.connect()).collect();
    silent.iter_mut().step_by(2).for_each(|s| s.write_all(b"GET / HT").unwrap());
    silent.truncate(30);
    assert!(node.get("/healthz", "").ends_with("alive\n"));
    assert!(node.get("/state?part=dead", TOKEN).contains("\"segments\":3,"));
}

fn top(args: &[&str]) -> Output {
    command().arg("top").args(args).stdin(Stdio::null()).output().unwrap()
}

fn top_shows_the_same_in_a_terminal() {
    let node = Node::start();
    let shown = top(&[&node.url, "--part", "ea"]);
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.status.success() && shown.stderr.is_empty(), "{text}");
    let mut lines = text.lines();
    assert!(lines.next().unwrap().starts_with("alone  ready  process "), "{text}");
    assert!(lines.next().unwrap().starts_with("segments  3 under 1 keys;"), "{text}");
    assert!(text.contains("\ncode      0 run, 0 ready, 1 wait\n"), "{text}");
    assert!(text.contains("dead      dead: RuntimeError: bad <i>piece 0</i> (x: \"piece 0\", rate: 5)\n"), "{text}");
    assert!(lines.last().unwrap().starts_with("dead                  3 "), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
    let json = top(&[node.address(), "--token=0123456789abcdef", "--json"]);
    assert!(String::from_utf8(json.stdout).unwrap().starts_with("{\n  \"node\": \"alone\",\n"));

    let fails = |args: &[&str], status: i32, what: &str| {
        let end = top(args);
        let text = String::from_utf8(end.stderr).unwrap();
        assert!(end.status.code() == Some(status) && text.starts_with(&format!("kumi top: {what}")), "{args:?}: {text}");
    };
    fails(&[node.address()], 1, &format!("{}: it asks for its token", node.address()));
    fails(&[node.address(), "--token", "wrong"], 1, &format!("{}: this is not its token", node.address()));
    fails(&["127.0.0.1:1"], 1, "nothing answers at 127.0.0.1:1");
    fails(&[], 2, "an address is needed");
    fails(&["--never"], 2, "unknown option --never");
    fails(&["a b"], 2, "bad URI");
    fails(&["x:1", "--every", "never"], 2, "--every is a number of seconds above 0");
    assert!(String::from_utf8(top(&["--help"]).stdout).unwrap().starts_with("Usage: kumi top ADDRESS"));
}

/// With the one object by which nodes meet: the cluster's, on the first.
const LINKS: &str = r#""links":[{"from":"node1","to":"node3","objects":1},{"from":"node2","to":"node1","objects":4},{"from":"node3","to":"node1","objects":1},{"from":"node3","to":"node2","objects":1}]"#;

fn who_holds_objects_of_whom_is_seen() {
    let node = Node::cluster();
    let mut last = String::new();
    until("all have said what they hold", || {
        last = node.get("/state", TOKEN);
        last.contains(LINKS).then_some(())
    });
    for part in [
        r#""remote":{"exports":4,"imports":1,"nodes":[{"node":"node2","holds":4,"held":0,"calls":0,"called":0}"#,
        r#"{"node":"node3","holds":1,"held":1,"calls":1,"called":0}]"#,
    ] {
        assert!(last.contains(part), "{part}: {last}");
    }
    let metrics = node.get("/metrics", TOKEN);
    for line in ["kumi_exports 4\n", "kumi_imports 1\n", "kumi_calls{of=\"others\"} 1\n"] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    let text = String::from_utf8(top(&[&node.url]).stdout).unwrap();
    let objects = "objects   4 of this node are held by others, 1 of others by this one; 1 calls of others, 0 of this one\n";
    assert!(text.contains(objects), "{text}");
    assert!(text.contains("          node2 has 4 of node1\n"), "{text}");
}

fn a_browser_draws_who_holds_objects_of_whom(program: &Path) {
    let node = Node::cluster();
    let mut browser = Browser::start(program);
    let page = browser.open(&node.url, "node1 - kumi");
    let count = |what: &str| format!("String(document.querySelectorAll('#links {what}').length)");
    until("three nodes", || (browser.value(&page, &count("circle")) == "3").then_some(()));
    until("four arrows", || (browser.value(&page, &count("path[marker-end]")) == "4").then_some(()));
    let titles = "[...document.querySelectorAll('#links path title')].map(t => t.textContent).sort().join('; ')";
    let want = "node1 has references to 1 objects of node3; node2 has references to 4 objects of node1; node3 has references to 1 objects of node1; node3 has references to 1 objects of node2";
    until("the numbers of all nodes", || (browser.value(&page, titles) == want).then_some(()));
    // What is drawn is in the picture, and stands apart.
    let inside = "String([...document.querySelectorAll('#links circle, #links text')].every(e => { const b = e.getBBox(); return b.x >= 0 && b.y >= 0 && b.x + b.width <= 640 && b.y + b.height <= 400 }))";
    assert_eq!(browser.value(&page, inside), "true");
    let rows = "[...document.querySelectorAll('#nodes tr')].map(r => [...r.cells].slice(2).map(c => c.textContent).join()).join('; ')";
    until("the table", || {
        (browser.value(&page, rows) == "holds of ours,we hold of it,our calls,its calls; ,,,; 4,,,; 1,1,1,").then_some(())
    });
    assert_eq!(browser.value(&page, "String(document.getElementById('remote').hidden)"), "false");
}

fn a_browser_shows_it_and_puts_a_letter_back(program: &Path) {
    let node = Node::start();
    let mut browser = Browser::start(program);
    let page = browser.open(&node.url, "alone - kumi");
    let text = |id: &str| format!("document.getElementById('{id}').innerText");
    until("keys are counted", || browser.value(&page, &text("keys")).starts_with("1,00").then_some(()));
    until("a rate", || (!["", "0"].contains(&&*browser.value(&page, &text("taken")))).then_some(()));
    let dead = |what: &str| format!("String(document.getElementById('dead').innerText.includes('RuntimeError: bad <i>{what}</i>'))");
    assert_eq!(browser.value(&page, &dead("piece 0")), "true");
    let lines = "String([...document.querySelectorAll('#rates polyline')].filter(p => p.getAttribute('points').includes(' ')).length)";
    until("two lines of a chart", || (browser.value(&page, lines) == "2").then_some(()));

    browser.value(&page, "document.querySelectorAll('#dead button')[0].click(); 'clicked'");
    until("the letter is gone", || (browser.value(&page, &dead("piece 0")) == "false").then_some(()));
    let search = "const typed = document.getElementById('part'); typed.value = 'key.99'; typed.dispatchEvent(new Event('input')); 'typed'";
    browser.value(&page, search);
    let rows = "String(document.querySelectorAll('#table tr').length)";
    until("eleven keys and the head", || (browser.value(&page, rows) == "12").then_some(()));
}

fn main() {
    let browser = Browser::find();
    let absent = browser.is_none();
    let other = browser.clone();
    let drawn = Trial::test("a_browser_draws_who_holds_objects_of_whom", move || {
        a_browser_draws_who_holds_objects_of_whom(&other.ok_or("no browser is installed")?);
        Ok(())
    });
    let page = Trial::test("a_browser_shows_it_and_puts_a_letter_back", move || {
        a_browser_shows_it_and_puts_a_letter_back(&browser.ok_or("no browser is installed")?);
        Ok(())
    });
    let test = |name: &str, f: fn()| {
        Trial::test(name, move || {
            f();
            Ok(())
        })
    };
    let all = vec![
        test("who_has_the_token_sees_how_the_node_stands", who_has_the_token_sees_how_the_node_stands),
        test("hostile_clients_come_to_nothing", hostile_clients_come_to_nothing),
        test("top_shows_the_same_in_a_terminal", top_shows_the_same_in_a_terminal),
        test("who_holds_objects_of_whom_is_seen", who_holds_objects_of_whom_is_seen),
        page.with_ignored_flag(absent),
        drawn.with_ignored_flag(absent),
    ];
    libtest_mimic::run(&Arguments::from_args(), all).exit();
}
