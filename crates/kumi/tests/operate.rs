//! Running nodes: how they end, what becomes of their segments, what they are told by files, and who may do what.

use std::os::unix::process::ExitStatusExt;

#[path = "common/nodes.rs"]
mod harness;

use harness::*;

/// A node that does as it is told, with these options, which joins the node `first`.
fn start(folder: &Folder, name: &str, first: &str, options: &[&str]) -> Running {
    let mut c = kumi(&["node", name, "--listen", &folder.socket(name)]);
    if name != first {
        c.args(["--join", &folder.socket(first)]);
    }
    let mut node = Running::start(c.args(options).arg("puppet.rb"));
    assert_eq!(node.line(), "ready", "{}", node.errors());
    node
}

// How nodes end.

#[test]
fn who_waits_at_a_node_that_is_told_to_end_hears_of_it_at_once() {
    let folder = Folder::new();
    let mut east = start(&folder, "east", "east", &[]);
    let mut west = start(&folder, "west", "east", &[]);
    west.is("S.wait_for_nodes(2).size", "2");
    west.is("$all = 10_000.times.map { |n| Thread.new { S['east'].take(\"k#{n}\") rescue $!.class } }; $all.size", "10000");
    // One that asks for a key by its last call is behind all others.
    east.becomes("S.stat[:requests]", "10000");
    west.is("$left = Queue.new; S.on_leave { |n| $left << n }; 1", "1");
    east.signal(libc::SIGTERM);
    west.is("$all.map(&:value).tally", "{Kumihimo::Segments::NotConnected => 10000}");
    west.is("$left.pop(timeout: 20)", "\"east\"");
    assert_eq!(east.status().signal(), Some(libc::SIGTERM));
    assert_eq!(east.last_errors(), "");
    west.fails("S['east'].put('k', 1)", "NotConnected: there is no node east now");
}

/// A code segment of `node` that has its input, and ends when `west` says so.
const RUN: &str = "class Job < Kumihimo::CodeSegment; input :job, take: 'job'; \
                   def run = (S['west'].put('has', job); S['west'].take('go'); put('out', job + 1, on: 'west')); end; \
                   Job.start; S.local.put('job', 1); S.local.put('job', 2)";

#[test]
fn a_code_segment_that_runs_may_end_and_none_begins() {
    let folder = Folder::new();
    let mut west = start(&folder, "west", "west", &[]);
    let mut east = start(&folder, "east", "west", &["--hand-over", "west", "--drain", "600"]);
    east.is("S.wait_for_nodes(2).size", "2");
    east.is(RUN, "2");
    west.is("S.local.take('has', timeout: 20)", "1");
    east.is("Job.start.class", "Job");
    west.is("S.local.take('has', timeout: 20)", "2");
    east.is("3.times { |n| S.local.put('job', 10 + n) }; S.local.size('job')", "3");
    east.signal(libc::SIGTERM);
    // What nobody had begun goes on elsewhere, in order.
    west.is("3.times.map { S.local.take('job', timeout: 20) }", "[10, 11, 12]");
    west.is("S.local.put('go', 1); S.local.put('go', 1); 2.times.map { S.local.take('out', timeout: 20) }.sort", "[2, 3]");
    assert_eq!(east.status().signal(), Some(libc::SIGTERM));
    west.is("S.local.keys", "[]");
}

#[test]
fn what_a_runner_has_still_to_do_is_handed_over() {
    let folder = Folder::new();
    let mut west = start(&folder, "west", "west", &[]);
    let mut c = kumi(&["node", "east", "--listen", &folder.socket("east"), "--join", &folder.socket("west")]);
    // One worker: nobody takes them from it meanwhile.
    let mut east = Running::start(c.args(["--hand-over", "west", "puppet.rb"]).env("KUMI_WORKERS", "1"));
    assert_eq!(east.line(), "ready", "{}", east.errors());
    east.is("S.wait_for_nodes(2).size", "2");
    east.is(
        "RAN = Thread::Queue.new; class Job < Kumihimo::CodeSegment; input :job, take: 'job'; \
         def run = (RAN << job; S.drain(timeout: 3)); end; 100.times { |n| S.local.put('job', n) }; 100.times { Job.start }; S.settle; RAN.size",
        "1",
    );
    west.is("99.times.map { S.local.take('job', timeout: 20) } == [*1..99]", "true");
    west.is("S.local.keys", "[]");
}

#[test]
fn what_runs_too_long_is_given_back_and_handed_over() {
    let folder = Folder::new();
    let mut west = start(&folder, "west", "west", &[]);
    let mut east = start(&folder, "east", "west", &["--hand-over", "w*", "--drain", "3"]);
    east.is("S.wait_for_nodes(2).size", "2");
    west.is("S['east'].put('held', 5); S['east'].put('job', 7)", "1");
    west.is(
        "class Job < Kumihimo::CodeSegment; input :job, take: 'job', from: 'east'; \
         def run = (S.local.put('has', job); S.local.take('go')); end; ($job = Job.start).class",
        "Job",
    );
    west.is("S.local.take('has', timeout: 20)", "7");
    east.signal(libc::SIGTERM);
    assert_eq!(east.status().signal(), Some(libc::SIGTERM));
    west.is("S.local.take('held', timeout: 20)", "5");
    // Its run ends too late: somebody else may have the segment.
    west.is("S.local.take('job', timeout: 20)", "7");
    west.is("S.local.put('go', 1); ($job.join rescue $!.is_a?(S::Error))", "true");
}

#[test]
fn segments_are_handed_over_with_their_times_and_order() {
    let folder = Folder::new();
    let mut west = start(&folder, "west", "west", &[]);
    let mut east = start(&folder, "east", "west", &["--hand-over", "west"]);
    east.is("S.wait_for_nodes(2).size", "2");
    east.is("500.times { |n| S.local.put('list', n) }; S.local.put('mine', [1], move: true)", "1");
    east.is("S.local.put('soon', 1, ttl: 600); S.local.put('later', 2, not_before: 600)", "nil");
    east.is("S.local.put('stays', Object.new, move: true) && S.local.put('list', 500)", "501");
    east.signal(libc::SIGTERM);
    assert_eq!(east.status().signal(), Some(libc::SIGTERM));
    let said = east.last_errors();
    assert!(said.contains("\"event\":\"not handed over\",\"node\":\"east\",\"what\":\"stays\"") && said.contains("Object"), "{said}");
    assert!(said.contains("\"event\":\"segments end with this node\",\"node\":\"east\",\"keys\":1}"), "{said}");
    west.is("501.times.map { S.local.take('list', timeout: 20) } == [*0..500]", "true");
    west.is("S.local.take('mine').push(2)", "[1, 2]");
    west.is("[S.local.size('soon'), S.local.stat('later').values_at(:segments, :delayed)]", "[1, [0, 1]]");
    west.is("S.local.keys", "[\"soon\"]");
}

#[test]
fn a_second_signal_ends_a_node_at_once() {
    let folder = Folder::new();
    let mut west = start(&folder, "west", "west", &[]);
    let mut east = start(&folder, "east", "west", &["--drain", "3600"]);
    east.is("S.wait_for_nodes(2).size", "2");
    east.is(RUN, "2");
    west.is("S.local.take('has', timeout: 20)", "1");
    east.signal(libc::SIGTERM);
    west.becomes("S.nodes", "[\"west\"]");
    east.signal(libc::SIGTERM);
    assert_eq!(east.status().code(), Some(128 + libc::SIGTERM));
    // The same of one that only serves.
    let mut serves = Running::start(&mut kumi(&[
        "node",
        "north",
        "--listen",
        &folder.socket("north"),
        "--join",
        &folder.socket("west"),
        "--drain",
        "3600",
    ]));
    serves.line();
    west.is("S.wait_for_nodes(2).size", "2");
    west.is("S['north'].put('job', 1)", "1");
    west.is(
        "class Other < Kumihimo::CodeSegment; input :job, take: 'job', from: 'north'; def run = (S.local.put('has', job); sleep); end; Other.start.class",
        "Other",
    );
    west.is("S.local.take('has', timeout: 20)", "1");
    serves.signal(libc::SIGINT);
    west.becomes("S.nodes", "[\"west\"]");
    serves.signal(libc::SIGINT);
    assert_eq!(serves.status().code(), Some(128 + libc::SIGINT));
}

#[test]
fn a_rolling_restart_loses_nothing_and_keeps_nobody_waiting() {
    let folder = Folder::new();
    let node = |n: usize| {
        let mut c = kumi(&[
            "node",
            &format!("node{n}"),
            "--listen",
            &folder.socket(&format!("{n}")),
            "--hand-over",
            "node*",
            "--log-level",
            "warn",
            "--patience",
            "5",
        ]);
        c.args(["--join", &folder.socket("1"), "--join", &folder.socket("2")]);
        let mut node = Running::start(&mut c);
        node.line();
        node
    };
    let mut nodes = [1, 2, 3].map(node);
    let join = [folder.socket("1"), folder.socket("2")];
    let mut load = kumi(&["node", "load", "--join", &join[0], "--join", &join[1], "--await", "4", "--patience", "5", "rolling.rb"]);
    let mut load = Running::start(&mut load);
    assert_eq!(load.line(), "goes", "{}", load.errors());
    for (i, old) in nodes.iter_mut().enumerate() {
        std::thread::sleep(std::time::Duration::from_millis(700));
        old.signal(libc::SIGTERM);
        assert_eq!(old.status().code(), Some(0), "{}", old.errors());
        *old = node(i + 1);
    }
    std::thread::sleep(std::time::Duration::from_millis(700));
    load.say("stop");
    let (out, err, status) = load.end();
    assert_eq!(out, ["lost: 0", "twice: 0", "errors: {}", "longer than 2 s: 0", "some: true"], "{err}");
    assert_eq!((err.as_str(), status), ("", Some(0)));
    nodes.iter().for_each(|n| assert_eq!(n.errors(), ""));
}

// What nodes are told.

#[test]
fn a_file_says_what_a_switch_or_the_environment_does_not() {
    let folder = Folder::new();
    let file = folder.at("east.toml");
    let program = "p S = Kumihimo::Segments, S.node, S.address, ENV.keys.grep(/KUMI_NODE/)";
    let text = format!("name = \"east\"\nlisten = \"{}\"\nawait = 1\nprogram = [\"-e\", {program:?}]\n", folder.socket("east"));
    std::fs::write(&file, text).unwrap();
    let (out, err, status) = Running::start(&mut kumi(&["node", "--config", &file])).end();
    assert_eq!(out[1..], ["\"east\"", &format!("{:?}", folder.at("east.sock")), "[]"], "{err}");
    assert_eq!(status, Some(0));
    // The environment comes before the file, a switch before both.
    let mut c = kumi(&["node", "--listen", &folder.socket("b"), "-e", "puts Kumihimo::Segments.address"]);
    c.env("KUMI_NODE_CONFIG", &file).env("KUMI_NODE_LISTEN", folder.socket("a"));
    assert_eq!(Running::start(&mut c).end().0, [folder.at("b.sock")]);
    let mut c = kumi(&["node", "-e", "puts Kumihimo::Segments.address"]);
    c.env("KUMI_NODE_CONFIG", &file).env("KUMI_NODE_LISTEN", folder.socket("a"));
    assert_eq!(Running::start(&mut c).end().0, [folder.at("a.sock")]);
    // What is used is shown, and nothing runs.
    let (out, err, status) = Running::start(&mut kumi(&["node", "--config", &file, "--drain", "2", "--check"])).end();
    let has = |words: [&str; 3]| out.iter().any(|l| l.split_whitespace().eq(words));
    assert!(
        has(["name", "east", &format!("{file}:1")]) && has(["drain", "2", "--drain"]) && has(["await", "1", &format!("{file}:3")]),
        "{out:?}"
    );
    assert_eq!((err.as_str(), status), ("", Some(0)));
    // A file that a switch names stands in the place of the variable's.
    let other = folder.at("west.toml");
    std::fs::write(&other, format!("name = \"west\"\nlisten = \"{}\"\n", folder.socket("c"))).unwrap();
    let mut c = kumi(&["node", "--config", &other, "-e", "p Kumihimo::Segments.node, Kumihimo::Segments.address"]);
    assert_eq!(Running::start(c.env("KUMI_NODE_CONFIG", &file)).end().0, ["\"west\"", &format!("{:?}", folder.at("c.sock"))]);
    // What is empty counts as none.
    let mut c = kumi(&["node", "east", "--listen", &folder.socket("d"), "-e", "p 1"]);
    for name in ["WEB", "WEB_TOKEN", "DRAIN", "INSECURE", "LOG_LEVEL", "LOG_FORMAT", "PUBLIC", "CERT"] {
        c.env(format!("KUMI_NODE_{name}"), "");
    }
    let (out, err, status) = Running::start(&mut c).end();
    assert_eq!((&out[..], err.as_str(), status), (&["1".to_owned()][..], "", Some(0)));
}

#[test]
fn every_mistake_is_told_with_its_place_and_what_to_do() {
    let folder = Folder::new();
    let file = folder.at("bad.toml");
    let text = "name = \"east\"\nlisen = \"127.0.0.1:7000\"\njoin = [\"127.0.0.1\"]\nawait = \"two\"\ncert = \"none.pem\"\ndrain = -1\n\
                [[allow]]\nnode = \"west*\"\nkeys = \"job.*\"\ncalls = [\"put\", \"tke\"]\n[[allow]]\nkeys = \"x\"\n[broken\n";
    std::fs::write(&file, text).unwrap();
    for check in [&["--check"][..], &[]] {
        let mut c = kumi(&["node", "--config", &file, "--listen", "0.0.0.0:0"]);
        let (_, err, status) = Running::start(c.args(check)).end();
        assert_eq!(status, Some(78), "{err}");
        for (line, what) in [
            (2, "\"lisen\" is no setting: did you mean \"listen\"?"),
            (3, "127.0.0.1: an address is host:port"),
            (4, "await is a whole number"),
            (5, "--cert, --key and --ca belong together"),
            (6, "drain is a number of seconds from 0 to 86400, not \"-1\""),
            (10, "\"tke\" is no call: they are put, update, take, peek, stat, limit"),
            (11, "a rule says node, keys and calls"),
            (13, "no TOML: "),
        ] {
            assert!(err.contains(&format!("kumi node: {file}:{line}: {what}")), "{line} {what}: {err}");
        }
        assert!(
            err.contains("--listen: 0.0.0.0:0: other machines reach this address") && err.contains("say which one is by public"),
            "{err}"
        );
    }
    let none = Running::start(&mut kumi(&["node", "--config", &folder.at("none.toml"), "--check"])).end();
    assert!(none.1.contains("none.toml: the configuration can't be read") && none.2 == Some(78), "{}", none.1);
    let mut c = kumi(&["node", "east", "--check"]);
    let wrong = Running::start(c.env("KUMI_NODE_AWAIT", "many")).end();
    assert!(wrong.1.contains("KUMI_NODE_AWAIT: await is a number of nodes from 1 on, not \"many\"") && wrong.2 == Some(78), "{}", wrong.1);
}

#[test]
fn what_is_checked_is_what_a_start_would_find() {
    let folder = Folder::new();
    let file = folder.at("east.toml");
    let text = "name = \"east\"\n[[allow]]\nnode = \"*\"\nkeys = \"k\"\ncalls = [\"tke\"]\n";
    let top = "program = [\"-W0\", \"/no/such/work.rb\"]\nca = \"ca.pem\"\ncert = \"east.pem\"\nkey = \"east.key\"\nawait = \"x\"\n";
    std::fs::write(&file, format!("{top}{text}")).unwrap();
    let check = |args: &[&str]| Running::start(kumi(&["node", "--config", &file, "--check"]).args(args)).end();
    let (out, err, status) = check(&[]);
    assert_eq!(status, Some(78));
    let has = |out: &[String], words: &[&str]| out.iter().any(|l| l.split_whitespace().eq(words.iter().copied()));
    let line = |n| format!("{file}:{n}");
    assert!(has(&out, &["program", "-W0", "/no/such/work.rb", &line(1)]), "{out:?}");
    assert!(has(&out, &["allow", "has", "mistakes", &line(10)]) && has(&out, &["await", "has", "mistakes", &line(5)]), "{out:?}");
    // Everything, in the order of lines.
    let told: Vec<&str> = err.lines().filter_map(|l| l.strip_prefix(&format!("kumi node: {file}:"))).collect();
    let lost = |n: u32, f: &str| format!("{n}: {f} can't be read: No such file or directory");
    let [ca, cert, key] = ["ca.pem", "east.pem", "east.key"].map(|f| folder.at(f));
    assert_eq!(told[..4], [lost(1, "/no/such/work.rb"), lost(2, &ca), lost(3, &cert), lost(4, &key)], "{err}");
    assert!(told.len() == 6 && told[4].starts_with("5: ") && told[5].starts_with("10: "), "{err}");
    // A program of the command line comes before the file's.
    let (out, err, _) = check(&["-e", "1"]);
    assert!(has(&out, &["program", "-e", "1", "the", "command", "line"]) && !err.contains("work.rb"), "{out:?} {err}");
    let none = Running::start(&mut kumi(&["node", "east", "/no/such.rb"])).end();
    assert_eq!((none.1.as_str(), none.2), ("kumi node: /no/such.rb: the program can't be read: No such file or directory\n", Some(78)));
    let bare = Running::start(&mut kumi(&["node", "east", "--check"])).end();
    assert!(has(&bare.0, &["program", "none:", "the", "node", "only", "serves"]) && bare.2 == Some(0), "{:?}", bare.0);
}

#[test]
fn other_nodes_do_what_they_are_allowed_to_and_nothing_else() {
    let folder = Folder::new();
    let file = folder.at("east.toml");
    std::fs::write(&file, "[[allow]]\nnode = \"west*\"\nkeys = \"job.*\"\ncalls = [\"put\", \"take\", \"stat\"]\n").unwrap();
    let mut east = start(&folder, "east", "east", &["--config", &file]);
    let mut west = start(&folder, "west1", "east", &[]);
    let mut north = start(&folder, "north", "east", &[]);
    for node in [&mut west, &mut north] {
        node.is("S.wait_for_nodes(3).size", "3");
    }
    east.is("S.local.put('pay', 1)", "1");
    west.is("S['east'].put('job.1', 5)", "1");
    west.is("S['east'].keys", "[\"job.1\"]");
    west.is("S['east'].take('job.1', timeout: 20)", "5");
    west.fails("S['east'].put('pay', 1)", "NotAllowed: node east does not allow this node to put \"pay\"");
    west.fails("S['east'].peek('job.1')", "NotAllowed: node east does not allow this node to peek \"job.1\"");
    north.fails("S['east'].take('job.1')", "NotAllowed: node east does not allow this node to take \"job.1\"");
    north.is("S['east'].keys", "[]");
    north.fails(
        "class Job < Kumihimo::CodeSegment; input :pay, take: 'pay', from: 'east'; def run = 1; end; Job.start.join",
        "NotAllowed: node east does not allow this node to take \"pay\"",
    );
    east.is("S.local.size('pay')", "1");
    // What it may not put is found out before its inputs end, and is a dead letter in the end.
    west.is("S['north'].put('a', 1); S['east'].put('job.2', 2)", "1");
    west.is(
        "class Pay < Kumihimo::CodeSegment; input :a, take: 'a', from: 'north'; input :b, take: 'job.2', from: 'east'; \
         dead_letters 'dead', tries: 2; def run = put('pay', a, on: 'east'); end; R = Pay.repeat; \
         S.local.take('dead', timeout: 20).then { |d| [d[:inputs], d[:tries], d[:error][/\\w+: /]] }",
        "[{a: 1, b: 2}, 2, \"NotAllowed: \"]",
    );
    west.is("R.stop; [S['north'].size('a'), S['east'].size('job.2')]", "[0, 0]");
    // Where another owner has done its part by then there can be no letter, and the repetition ends.
    west.is("S['north'].put('a', 1); S['east'].put('job.2', 2)", "2");
    west.fails(
        "class Both < Pay; dead_letters 'dead', tries: 1; \
         def run = [%w[out north], %w[pay east]].each { |key, node| put(key, a, on: node) }; end; Both.repeat.join(timeout: 20)",
        "NotAllowed: node east does not allow this node to put \"pay\"",
    );
    west.is("[S['north'].size('out'), S['north'].size('a'), S['east'].size('job.2'), S.local.size('dead')]", "[1, 0, 1, 0]");
    east.is("S.local.size('pay')", "1");
}

// What nodes tell.

/// The answer to a request for a page.
fn page(address: &str, path: &str, headers: &str) -> String {
    use std::io::{Read, Write};
    let mut s = std::net::TcpStream::connect(address).unwrap();
    s.set_read_timeout(Some(HANG)).unwrap();
    s.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n").as_bytes()).unwrap();
    let mut all = String::new();
    s.read_to_string(&mut all).unwrap();
    all
}

/// Where a node serves its page, and its token; it is told before the program begins, and is no error.
fn told_page(node: &Running) -> (String, String) {
    let said = node.errors_with("\"level\":\"info\",\"event\":\"page\"");
    let url = said.split("\"address\":\"http://").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_else(|| panic!("{said}"));
    let (address, token) = url.split_once('/').unwrap();
    (address.to_string(), token.strip_prefix("?token=").unwrap_or("").to_string())
}

#[test]
fn a_page_says_how_a_node_is() {
    let folder = Folder::new();
    let mut east = start(&folder, "east", "east", &["--web", "127.0.0.1:0", "--drain", "60"]);
    let (address, token) = told_page(&east);
    let shows = format!("Authorization: Bearer {token}\r\n");
    assert!(page(&address, "/healthz", "").contains(" 200 OK\r\n"));
    assert!(page(&address, "/readyz", "").ends_with("ready\n"));
    assert!(page(&address, "/metrics", "").contains(" 401 "));
    let mut west = start(&folder, "west", "east", &[]);
    west.is("S.wait_for_nodes(2).size", "2");
    west.is("3.times { S['east'].put('k', 1) }; 1", "1");
    let text = page(&address, "/metrics", &shows);
    assert!(
        text.contains("\nkumi_members 2\n") && text.contains("\nkumi_segments{state=\"ready\"} 3\n") && text.contains("\nkumi_ready 1\n"),
        "{text}"
    );
    // A node that drains is alive, and not ready.
    east.is(
        "class Job < Kumihimo::CodeSegment; input :job, take: 'job'; def run = S['west'].take('go'); end; Job.start; S.local.put('job', 1)",
        "1",
    );
    east.becomes("S.stat[:running]", "1");
    east.signal(libc::SIGTERM);
    west.becomes("S.nodes", "[\"west\"]");
    assert!(page(&address, "/healthz", "").contains(" 200 OK\r\n"));
    assert!(page(&address, "/readyz", "").contains(" 503 ") && page(&address, "/metrics", &shows).contains("\nkumi_ready 0\n"));
    west.is("S.local.put('go', 1)", "1");
    assert_eq!(east.status().signal(), Some(libc::SIGTERM));
}

#[test]
fn a_node_that_was_with_others_is_ready_without_them_and_gives_back_what_it_got_whenever_it_ends() {
    let folder = Folder::new();
    let mut east = start(&folder, "east", "east", &[]);
    let keys = "100.times { |i| S.local.put(\"k#{i}\", i) }; S.survey[:segments]";
    east.is(keys, "100");
    // It waits for a third one, which never comes, and is told to end by Ctrl-C.
    let join = folder.socket("east");
    let west = |await_: &str, signal: i32| {
        let mut c = kumi(&["node", "west", "--listen", &folder.socket("west"), "--join", &join, "--hand-over", "*", "--await", await_]);
        let west = Running::start(&mut c);
        west.errors_with("\"event\":\"join\"");
        west.signal(signal);
        west.end()
    };
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let (_, err, status) = west("3", signal);
        assert_eq!(status, Some(0), "{err}");
        east.becomes("[S.survey[:segments], S.nodes]", "[100, [\"east\"]]");
    }
    let options = ["--web", "127.0.0.1:0", "--web-token", "not-so-secret"];
    let mut c = kumi(&["node", "north", "--listen", &folder.socket("north"), "--join", &join]);
    let mut north = Running::start(c.args(options).arg("puppet.rb"));
    assert_eq!(north.line(), "ready");
    let (address, _) = told_page(&north);
    assert!(page(&address, "/readyz", "").ends_with("ready\n"));
    east.child.kill().unwrap();
    east.status();
    north.becomes("S.nodes", "[\"north\"]");
    assert!(page(&address, "/readyz", "").ends_with("ready\n"));
}

#[test]
fn a_page_is_for_its_own_names_and_forms_and_answers_beside_those_who_say_nothing() {
    let folder = Folder::new();
    let options = ["--web", "127.0.0.1:0", "--web-token", "not-so-secret", "--log-level", "error"];
    let mut east = start(&folder, "east", "east", &options);
    let (address, _) = told_page(&east);
    let say = |text: &str| {
        use std::io::{Read, Write};
        let mut s = std::net::TcpStream::connect(&address).unwrap();
        s.set_read_timeout(Some(HANG)).unwrap();
        s.write_all(text.as_bytes()).unwrap();
        let mut all = String::new();
        s.read_to_string(&mut all).unwrap();
        all.split(' ').nth(1).unwrap_or("").to_owned()
    };
    let get = |host: &str| say(&format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n"));
    for (host, status) in [
        ("localhost", "200"),
        ("127.0.0.1:80", "200"),
        ("127.9.9.9", "200"),
        ("[::1]:9", "200"),
        ("127.evil.example", "421"),
        ("127.0.0.1.evil.example", "421"),
    ] {
        assert_eq!(get(host), status, "{host}");
    }
    let form = |origin: &str| {
        let headers = format!("Host: {address}\r\nAuthorization: Bearer not-so-secret\r\nOrigin: {origin}\r\nContent-Length: 13\r\n");
        say(&format!("POST /forget HTTP/1.1\r\n{headers}\r\nkey=x&index=1"))
    };
    assert_eq!(form(&format!("http://{address}")), "404");
    for origin in ["http://127.0.0.1:3000", "http://127.0.0.1", "https://evil.example", "null"] {
        assert_eq!(form(origin), "403", "{origin}");
    }
    let mut silent: Vec<_> = (0..80).map(|_| std::net::TcpStream::connect(&address).unwrap()).collect();
    assert_eq!(get("localhost"), "200");
    // The oldest had to go before their ten seconds were over: nobody told it that it was too slow.
    let mut said = String::new();
    std::io::Read::read_to_string(&mut silent[0], &mut said).unwrap();
    assert_eq!(said, "");
    east.is("1", "1");
}

#[test]
fn a_page_s_token_is_as_it_is_told_and_who_has_not_joined_is_not_ready() {
    let folder = Folder::new();
    let options = ["--web", "127.0.0.1:0", "--web-token", "not-so-secret", "--log-level", "error"];
    let mut c = kumi(&["node", "east", "--listen", &folder.socket("east"), "--join", &folder.socket("none")]);
    let mut east = Running::start(c.args(options).arg("puppet.rb"));
    assert_eq!(east.line(), "ready");
    let (address, token) = told_page(&east);
    assert_eq!(token, "");
    assert!(page(&address, "/metrics", "Authorization: Bearer not-so-secret\r\n").contains("\nkumi_keys 0\n"));
    let cookie = format!("Cookie: kumi{}=not-so-secret\r\n", address.rsplit(':').next().unwrap());
    assert!(page(&address, "/metrics", &cookie).contains("\nkumi_keys 0\n"));
    assert!(page(&address, "/readyz", "").contains("the node has not joined yet"));
    // An address that is taken.
    let mut other = kumi(&["node", "west", "--web", &address, "-e", "1"]);
    let (_, err, status) = Running::start(&mut other).end();
    assert!(err.contains("kumi node: ") && status == Some(1), "{err}");
}

#[test]
fn what_happens_is_told_line_by_line() {
    let folder = Folder::new();
    let mut east = start(&folder, "east", "east", &["--log-level", "info", "--log-format", "json"]);
    let mut west = start(&folder, "west", "east", &["--log-level", "info", "--log-format", "text"]);
    west.is("S.wait_for_nodes(2).size", "2");
    east.is("S.wait_for_nodes(2).size", "2");
    let code = "class Bad < Kumihimo::CodeSegment; input :job, take: 'job'; dead_letters 'dead', tries: 1; \
                def run = (Thread.current[:traceparent] = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'; raise %q(a \"word\")); end; \
                Bad.start; S.local.put('job', 1); S.local.take('dead', timeout: 20)[:tries]";
    east.is(code, "1");
    east.becomes("$stderr.flush; 1", "1");
    west.signal(libc::SIGTERM);
    assert_eq!(west.status().signal(), Some(libc::SIGTERM));
    east.becomes("S.nodes", "[\"east\"]");
    let (_, said, _) = east.end();
    let lines: Vec<&str> = said.lines().collect();
    let has =
        |parts: &[&str]| lines.iter().any(|l| l.starts_with("{\"time\":\"20") && l.ends_with('}') && parts.iter().all(|p| l.contains(p)));
    assert!(has(&["\"level\":\"info\",\"event\":\"start\",\"node\":\"east\""]), "{said}");
    assert!(has(&["\"event\":\"join\"", "\"member\":\"west\""]) && has(&["\"event\":\"leave\"", "\"member\":\"west\""]), "{said}");
    let letter = ["\"level\":\"warn\"", "\"event\":\"dead letter\"", "\"key\":\"dead\"", "\"error\":\"RuntimeError: a \\\"word\\\"\""];
    assert!(has(&letter), "{said}");
    assert!(has(&["\"trace_id\":\"0af7651916cd43dd8448eb211c80319c\",\"span_id\":\"b7ad6b7169203331\""]), "{said}");
    let text = west.last_errors();
    assert!(text.lines().any(|l| l.contains("Z info  drain seconds=5")) && text.contains(" info  join member=east\n"), "{text}");
}

#[test]
fn the_service_manager_hears_when_a_node_is_ready_and_when_it_stops() {
    let folder = Folder::new();
    let socket = std::os::unix::net::UnixDatagram::bind(folder.0.join("notify")).unwrap();
    socket.set_read_timeout(Some(HANG)).unwrap();
    let hear = || {
        let mut some = [0; 100];
        let n = socket.recv(&mut some).unwrap();
        String::from_utf8_lossy(&some[..n]).into_owned()
    };
    let mut c =
        kumi(&["node", "east", "--listen", &folder.socket("east"), "-e", "$stdout.sync = true; puts ENV.key?('NOTIFY_SOCKET'); gets"]);
    let mut east = Running::start(c.env("NOTIFY_SOCKET", folder.at("notify")));
    assert_eq!(hear(), "READY=1");
    assert_eq!(east.line(), "false");
    // Told to reload, it goes on.
    east.signal(libc::SIGHUP);
    east.signal(libc::SIGTERM);
    assert_eq!(hear(), "STOPPING=1");
    assert_eq!(east.status().signal(), Some(libc::SIGTERM));
}

// Certificates.

/// `kumi cert` in a folder: what it printed.
fn cert(folder: &Folder, words: &str) -> (Vec<String>, String, Option<i32>) {
    let mut c = kumi(&["cert"]);
    Running::start(c.args(words.split(' ')).current_dir(&folder.0)).end()
}

#[test]
fn certificates_are_made_listed_and_taken_anew_without_a_restart() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    assert_eq!(cert(&folder, "authority certs").2, Some(0));
    assert_eq!(cert(&folder, "node certs east --address 127.0.0.1 --days 10").2, Some(0));
    assert_eq!(cert(&folder, "node certs west").2, Some(0));
    for key in ["ca", "east", "west"] {
        let mode = std::fs::metadata(folder.0.join(format!("certs/{key}.key"))).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{key}");
    }
    let (list, err, status) = cert(&folder, "list certs");
    assert_eq!((list.len(), status), (3, Some(0)), "{err}");
    assert!(list[0].starts_with("ca ") && list[1].contains("10 days left") && list[1].ends_with("east, 127.0.0.1"), "{list:?}");
    for (words, why) in [
        ("authority certs", "is there already"),
        ("node certs west", "is there already"),
        ("node certs ca", "is no node's name"),
        ("node none north", "No such file"),
        ("rotate certs north", "north.pem is not there"),
        ("colour certs", "is none of authority"),
        ("node certs north --days many", "needs a number of days"),
        ("node certs north --days 0", "needs a number of days"),
        ("rotate certs --within -1", "needs a number of days"),
        ("rotate certs east --authority", "no node is named beside it"),
        ("list certs east", "takes nothing else"),
    ] {
        let (_, err, status) = cert(&folder, words);
        assert!(err.contains(why) && status != Some(0), "{words}: {err}");
    }
    let node = |name: &str, join: Option<&str>| {
        let file = |what: &str| folder.at(&format!("certs/{what}"));
        let (pem, key) = (file(&format!("{name}.pem")), file(&format!("{name}.key")));
        let mut c = kumi(&["node", name, "--listen", "127.0.0.1:0", "--cert", &pem, "--key", &key, "--ca", &file("ca.pem")]);
        c.args(["--log-level", "info"]);
        if let Some(join) = join {
            c.args(["--join", join]);
        }
        let mut node = Running::start(c.arg("puppet.rb"));
        assert_eq!(node.line(), "ready", "{}", node.errors());
        node
    };
    let mut east = node("east", None);
    let address = east.ask("S.address").trim_matches('"').to_string();
    let mut west = node("west", Some(&address));
    west.is("S.wait_for_nodes(2).size", "2");
    drop(west.end());
    east.becomes("S.nodes", "[\"east\"]");
    // One that is good for long stays.
    let authority = || std::fs::read(folder.0.join("certs/ca.pem")).unwrap();
    let before = authority();
    assert_eq!(cert(&folder, "rotate certs --authority --within 30").2, Some(0));
    assert_eq!(authority(), before);
    // A new authority: the old one is trusted still, and then no more.
    assert_eq!(cert(&folder, "rotate certs --authority").2, Some(0));
    let rotated = cert(&folder, "rotate certs --within 30").0;
    assert!(rotated.len() == 1 && rotated[0].contains("east.pem"), "{rotated:?}");
    assert_eq!(cert(&folder, "rotate certs west").2, Some(0));
    let read = |east: &mut Running, times: usize| {
        east.signal(libc::SIGHUP);
        while east.errors().matches("certificates read").count() < times {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    };
    read(&mut east, 1);
    let mut west = node("west", Some(&address));
    west.is("S.wait_for_nodes(2).size", "2");
    // What can't be used is told, and changes nothing: a pair that others would refuse, and what is none.
    assert_eq!(cert(&folder, "authority foreign").2, Some(0));
    assert_eq!(cert(&folder, "node foreign east --address 127.0.0.1").2, Some(0));
    let put = |file: &str, text: &[u8]| std::fs::write(folder.0.join("certs").join(file), text).unwrap();
    for (times, garbage) in [(1, false), (2, true)] {
        for file in ["east.pem", "east.key"] {
            put(file, &std::fs::read(folder.0.join("foreign").join(file)).unwrap());
        }
        if garbage {
            put("east.key", b"nothing");
        }
        let switches = ["cert", "key", "ca"].map(|s| {
            [
                format!("--{s}"),
                folder.at(if s == "ca" { "certs/ca.pem" } else { "certs/east.X" }).replace('X', if s == "key" { "key" } else { "pem" }),
            ]
        });
        let mut check = kumi(&["node", "east", "--listen", "127.0.0.1:0", "--check"]);
        let (_, err, status) = Running::start(check.args(switches.as_flattened())).end();
        assert!(status == Some(78) && (garbage || err.contains("others would refuse it")), "{err}");
        east.signal(libc::SIGHUP);
        while east.errors().matches("certificates stay as they were").count() < times {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
    west.is("S['east'].put('k', 1)", "1");
    drop(west.end());
    east.becomes("S.nodes", "[\"east\"]");
    let mut again = node("west", Some(&address));
    again.is("S.wait_for_nodes(2).size", "2");
}

/// The lines of shell of a part of a page that begin a `kumi`.
fn lines(page: &str, part: &str, until: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder().join("../../docs").join(page)).unwrap();
    let part = text.split(part).nth(1).unwrap_or_else(|| panic!("{page} has no {part:?}")).split(until).next().unwrap();
    let blocks = part.split("```sh\n").skip(1).filter_map(|b| b.split("```").next());
    blocks.flat_map(str::lines).map(|l| l.split(" #").next().unwrap().trim().to_string()).filter(|l| l.starts_with("kumi ")).collect()
}

#[test]
fn two_machines_are_set_up_line_by_line_as_the_pages_say() {
    for (page, part, until) in [("OPERATING.md", "## Two machines", "\n## "), ("SEGMENTS.md", "On two machines", "`ca.key` stays")] {
        let folder = Folder::new();
        std::fs::write(folder.0.join("work.rb"), "S = Kumihimo::Segments; puts S.wait_for_nodes(2).join(' '), S['east'].put('k', 5)\n")
            .unwrap();
        // The machines are two loopback addresses, their port one that is free.
        let port = free_port().to_string();
        let mut nodes = Vec::new();
        let mut ran = 0;
        for line in lines(page, part, until) {
            let line = line.replace("10.0.0.", "127.0.0.").replace(":7000", &format!(":{port}"));
            let mut c = kumi(&[]);
            let mut running = Running::start(c.args(line.split_whitespace().skip(1)).current_dir(&folder.0));
            ran += 1;
            if line.starts_with("kumi cert") {
                let (_, err, status) = running.end();
                assert_eq!(status, Some(0), "{line}: {err}");
            } else if line.ends_with("work.rb") {
                let (out, err, status) = running.end();
                assert_eq!((out, status), (vec!["west east".to_string(), "1".to_string()], Some(0)), "{line}: {err}");
            } else {
                assert!(running.line().starts_with("node east serves at 127.0.0.1:"), "{line}");
                nodes.push(running);
            }
        }
        assert_eq!((ran, nodes.len()), (5, 1), "{page}");
    }
}
