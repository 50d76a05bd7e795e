//! Every switch and every variable that the help or `docs/VARIABLES.md` names is in a table of checks; each fails when its switch does
//! nothing. What a variable is that cannot be used is in `environment.rs`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What shows that a switch has worked.
enum Shows {
    /// Exactly this on standard output.
    Out(&'static str),
    /// The last line there.
    Last(&'static str),
    /// A part of either.
    Has(&'static str),
    /// Not this part in either, though the program ends well.
    Lacks(&'static str),
    /// A file in the folder.
    File(&'static str),
}
use Shows::{File, Has, Lacks, Last, Out};

/// Switch or variable, arguments (a variable's value first, after `=`), standard input, what it shows.
type Check = (&'static str, &'static [&'static str], &'static str, Shows);

const DEEP: &str = "def f(n) = (@n = n; f(n + 1))\nbegin; f(0); rescue SystemStackError; p @n < 5000; end";
const DEEP_FIBER: &str = "def f(n) = (@n = n; f(n + 1))\nFiber.new { begin; f(0); rescue SystemStackError; p @n < 5000; end }.resume";
const LOOKS: &str = "require 'kumihimo/segments'; require 'kumihimo/top'; url = Kumihimo::Segments.web(token: '0123456789ab'); \
                     Kumihimo::Top.main([url[/127[^\\/]*/], '--json'])";
const KEEPS: &str = "$a = (0..9999).map { |i| \"a text that is long enough #{i}\" }\n$b = (0..9999).map { |i| [i, i] }";
const CHURN: &str = "300_000.times { |i| [i, i.to_s] }\np GC.stat[:window_count]";

const CHECKS: &[Check] = &[
    ("-e", &["-e", "print 1", "-e", "print 2"], "", Out("12")),
    ("-c", &["-c", "-e", "print 1"], "", Out("Syntax OK\n")),
    ("-n", &["-ne", "print $_.upcase"], "a\nb\n", Out("A\nB\n")),
    ("-p", &["-pe", "$_.upcase!"], "a\nb\n", Out("A\nB\n")),
    ("-l", &["-nle", "print $_.inspect"], "a\n", Out("\"a\"\n")),
    ("-a", &["-ane", "p $F"], "a b\n", Out("[\"a\", \"b\"]\n")),
    ("-F", &["-F,", "-ane", "p $F"], "a,b\n", Out("[\"a\", \"b\\n\"]\n")),
    (
        "-i",
        &["-i.bak", "-ne", "print $_.upcase; END { STDOUT.print File.read('edit.txt'), File.read('edit.txt.bak') }", "edit.txt"],
        "",
        Out("X\nx\n"),
    ),
    ("-0", &["-054", "-ne", "p $_"], "a,b", Out("\"a,\"\n\"b\"\n")),
    ("-00", &["-00", "-ne", "p $_"], "a\nb\n\nc\n", Out("\"a\\nb\\n\\n\"\n\"c\\n\"\n")),
    ("-0777", &["-0777", "-ne", "p $_"], "a\nb\n", Out("\"a\\nb\\n\"\n")),
    ("-I", &["-I", "inc", "-e", "require 'probe'; p PROBE"], "", Out("1\n")),
    ("-r", &["-r", "./inc/probe", "-e", "p PROBE"], "", Out("1\n")),
    ("-w", &["-w", "-e", "p $VERBOSE"], "", Out("true\n")),
    ("-W", &["-W0", "-e", "p $VERBOSE"], "", Out("nil\n")),
    ("-W:category", &["-W:strict_unused_block", "-e", "def m = 1; m { }"], "", Has("passed to 'Object#m'")),
    ("-W:no-category", &["-W:no-experimental", "-e", "p Warning[:experimental]"], "", Out("false\n")),
    ("-v", &["-v", "-e", "p $VERBOSE"], "", Last("true")),
    ("-s", &["-s", "switch.rb", "-abc"], "", Out("true\n")),
    ("-S", &["-S", "found.rb"], "", Out("found")),
    ("-x", &["-x", "text.txt"], "", Out("1")),
    ("-C", &["-C", "inc", "-e", "p File.basename(Dir.pwd)"], "", Out("\"inc\"\n")),
    (
        "-E",
        &["-E", "EUC-JP:UTF-8", "-e", "p [Encoding.default_external, Encoding.default_internal].map(&:to_s)"],
        "",
        Out("[\"EUC-JP\", \"UTF-8\"]\n"),
    ),
    ("-U", &["-U", "-e", "p Encoding.default_internal.to_s"], "", Out("\"UTF-8\"\n")),
    ("-d", &["-d", "-e", "p $DEBUG"], "", Out("true\n")),
    ("-h", &["-h"], "", Has("Usage: ")),
    ("--help", &["--help"], "", Has("Environment (docs/VARIABLES.md has all):")),
    ("--version", &["--version"], "", Has("kumi ")),
    ("--copyright", &["--copyright"], "", Has("Copyright")),
    ("--encoding", &["--encoding", "EUC-JP", "-e", "p Encoding.default_external.to_s"], "", Out("\"EUC-JP\"\n")),
    ("--external-encoding", &["--external-encoding", "EUC-JP", "-e", "p Encoding.default_external.to_s"], "", Out("\"EUC-JP\"\n")),
    ("--internal-encoding", &["--internal-encoding", "EUC-JP", "-e", "p Encoding.default_internal.to_s"], "", Out("\"EUC-JP\"\n")),
    ("--enable", &["--enable", "frozen-string-literal", "-e", "p 'a'.frozen?"], "", Out("true\n")),
    ("--disable", &["RUBYOPT=-w", "--disable", "rubyopt", "-e", "p $VERBOSE"], "", Out("false\n")),
    ("--dump", &["--dump", "insns", "-e", "print 1"], "", Has("== ")),
    ("--backtrace-limit", &["--backtrace-limit", "1", "-e", "def a(n) = n == 0 ? raise('x') : a(n - 1)\na(9)"], "", Has(" levels...")),
    ("--verbose", &["--verbose", "-e", "p $VERBOSE"], "", Out("true\n")),
    ("--debug", &["--debug", "-e", "p $DEBUG"], "", Out("true\n")),
    ("--gc-log", &["--gc-log", "-e", "GC.start"], "", Has(" full ")),
    ("--gc-log=all", &["--gc-log=all", "-e", CHURN], "", Has(" window ")),
    ("--profile=alloc", &["--profile=alloc", "-e", KEEPS], "", Has("kumi allocation profile")),
    ("--profile=heap", &["--profile=heap", "-e", KEEPS], "", Has("kumi heap profile")),
    (
        "KUMI_SEGMENT_STRESS",
        &[
            "KUMI_SEGMENT_STRESS=1",
            "-e",
            "require 'kumihimo/segments'; d, s = Kumihimo::Segments.local, [1].freeze; d.put(:k, s); p d.peek(:k).equal?(s)",
        ],
        "",
        Out("false\n"),
    ),
    (
        "KUMI_SEGMENT_LEASE",
        &["KUMI_SEGMENT_LEASE=3", "-e", "require 'kumihimo/segments'; p Kumihimo::Segments.const_get(:Apart)::LEASE"],
        "",
        Out("3\n"),
    ),
    ("KUMI_NODE_LISTEN", &["KUMI_NODE_LISTEN=127.0.0.1:0", "node", "n", "-e", "puts Kumihimo::Segments.address"], "", Has("127.0.0.1:")),
    ("KUMI_NODE_JOIN", &["KUMI_NODE_JOIN=nonsense", "node", "n", "-e", "1"], "", Has("an address is")),
    ("KUMI_NODE_PUBLIC", &["KUMI_NODE_PUBLIC=nonsense", "node", "n", "-e", "1"], "", Has("an address is")),
    ("KUMI_NODE_CERT", &["KUMI_NODE_CERT=none.pem", "node", "n", "-e", "1"], "", Has("belong together")),
    ("KUMI_NODE_KEY", &["KUMI_NODE_KEY=none.pem", "node", "n", "-e", "1"], "", Has("belong together")),
    ("KUMI_NODE_CA", &["KUMI_NODE_CA=none.pem", "node", "n", "-e", "1"], "", Has("belong together")),
    (
        "KUMI_NODE_INSECURE",
        &["KUMI_NODE_INSECURE=1", "node", "n", "--listen", "0.0.0.0:0", "--public", "127.0.0.1:9", "-e", "print 1"],
        "",
        Out("1"),
    ),
    ("KUMI_TOP_TOKEN", &["KUMI_TOP_TOKEN=0123456789ab", "-W0", "-e", LOOKS], "", Has("\"node\": \"alone\"")),
    ("KUMI_NODE_DRAIN", &["KUMI_NODE_DRAIN=soon", "node", "n", "-e", "1"], "", Has("a number of seconds")),
    (
        "KUMI_NODE_HAND_OVER",
        &["KUMI_NODE_HAND_OVER=nobody", "node", "n", "-e", "S = Kumihimo::Segments; S.local.put('k', 1); p S.drain"],
        "",
        Out("{handed_over: 0, came_back: 0, keys_left: 1}\n"),
    ),
    ("KUMI_NODE_WEB", &["KUMI_NODE_WEB=127.0.0.1:0", "node", "n", "-e", "1"], "", Has("?token=")),
    ("KUMI_NODE_WEB_TOKEN", &["KUMI_NODE_WEB_TOKEN=secret", "node", "n", "--check"], "", Has("8 letters and digits")),
    ("KUMI_NODE_LOG_LEVEL", &["KUMI_NODE_LOG_LEVEL=loud", "node", "n", "-e", "1"], "", Has("log-level is one of info, warn, error, off")),
    ("KUMI_NODE_LOG_FORMAT", &["KUMI_NODE_LOG_FORMAT=xml", "node", "n", "-e", "1"], "", Has("log-format is one of auto, text, json")),
    ("KUMI_NODE_PATIENCE", &["KUMI_NODE_PATIENCE=4", "node", "n", "-e", "p Kumihimo::Segments.const_get(:Apart)::LEASE"], "", Out("40\n")),
    ("KUMI_NODE_RECORD", &["KUMI_NODE_RECORD=rec", "node", "n", "-e", "1"], "", File("rec/n.recording")),
    (
        "KUMI_NODE_GC_SCHEDULE",
        &["KUMI_NODE_GC_SCHEDULE=often", "node", "n", "-e", "1"],
        "",
        Has("gc-schedule is one of independent, synchronised"),
    ),
    ("KUMI_GC_SCHEDULE", &["KUMI_GC_SCHEDULE=FS", "node", "n", "-e", "p GC.stat(:schedule)[:policy]"], "", Out(":synchronised\n")),
    ("KUMI_NODE_SERVES", &["KUMI_NODE_SERVES=1", "node", "n", "-e", "print ENV.key?('KUMI_NODE_SERVES')"], "", Has("\"event\":\"start\"")),
    ("KUMI_NODE_CONFIG", &["KUMI_NODE_CONFIG=none.toml", "node", "n", "-e", "1"], "", Has("the configuration can't be read")),
    (
        "KUMI_NODE_ALLOW",
        &["KUMI_NODE_ALLOW=*\tk\tnothing", "KUMI_NODE_NAME=n", "-r", "kumihimo/segments/node", "-e", "1"],
        "",
        Has("is no call"),
    ),
    ("KUMI_NODE_AWAIT", &["KUMI_NODE_AWAIT=1", "node", "n", "-e", "print Kumihimo::Segments.nodes.size"], "", Out("1")),
    ("KUMI_NODE_NAME", &["KUMI_NODE_NAME=n", "-r", "kumihimo/segments/node", "-e", "print Kumihimo::Segments.node"], "", Out("n")),
    ("KUMI_NODE_TOGETHER", &["KUMI_NODE_TOGETHER=1", "node", "n", "-e", "print ENV.key?('KUMI_NODE_TOGETHER')"], "", Out("false")),
    ("--profile-out", &["--profile=heap", "--profile-out", "profile.json", "-e", KEEPS], "", File("profile.json")),
    ("--profile-top", &["--profile=heap", "--profile-top", "1", "-e", KEEPS], "", Lacks("  Array\n")),
    ("RUBYOPT", &["RUBYOPT=-w", "-e", "p $VERBOSE"], "", Out("true\n")),
    ("RUBYLIB", &["RUBYLIB=inc", "-e", "require 'probe'; p PROBE"], "", Out("1\n")),
    ("RUBYPATH", &["RUBYPATH=inc", "-S", "told.rb"], "", Out("told")),
    ("RUBY_THREAD_VM_STACK_SIZE", &["RUBY_THREAD_VM_STACK_SIZE=65536", "-e", DEEP], "", Out("true\n")),
    ("RUBY_FIBER_VM_STACK_SIZE", &["RUBY_FIBER_VM_STACK_SIZE=65536", "-e", DEEP_FIBER], "", Out("true\n")),
    ("KUMI_PRELUDE", &["KUMI_PRELUDE=inc/nowhere", "-e", "print 1"], "", Has("the prelude does not load")),
    ("KUMI_LIB", &["KUMI_LIB=inc", "-e", "require 'probe'; p PROBE"], "", Out("1\n")),
    ("KUMI_HEAP_MAX", &["KUMI_HEAP_MAX=32M", "-e", "begin; 'x' * 100_000_000; rescue NoMemoryError; print 1; end"], "", Out("1")),
    ("KUMI_GC_LOG", &["KUMI_GC_LOG=1", "-e", "GC.start"], "", Has(" full ")),
    ("KUMI_GC_STRESS", &["KUMI_GC_STRESS=1", "-e", "p GC.count > 50"], "", Out("true\n")),
    (
        "KUMI_GC",
        &["KUMI_GC=interruptible", "-e", "a = []; a = Array.new(100_000) { |i| [i.to_s] } while GC.stat[:cycle_count] < 2; print 1"],
        "",
        Out("1"),
    ),
    ("KUMI_GC", &["KUMI_GC=full", "-e", "300_000.times { |i| $x = [i.to_s] }; p GC.stat[:young_count]"], "", Out("0\n")),
    ("KUMI_TLH", &["KUMI_TLH=off", "-e", CHURN], "", Out("0\n")),
    (
        "KUMI_YOUNG",
        &["KUMI_YOUNG=1", "KUMI_TLH=off", "-e", "a = GC.count; 300_000.times { |i| i.to_s }; p GC.count - a > 6"],
        "",
        Out("true\n"),
    ),
    ("KUMI_WINDOW", &["KUMI_WINDOW=8", "-e", "300_000.times { |i| [i] }; p GC.stat[:window_count] > 700"], "", Out("true\n")),
];

/// Variables whose work no program can see, only the clock, an eye on the memory, or (twins, the verifier) a fault; that they are
/// read is checked in `environment.rs`; `fuzz.rs` runs the twins.
const UNSEEN: &[&str] = &[
    "KUMI_WORKERS",
    "KUMI_SCHED_STRESS",
    "KUMI_TLH_SITES",
    "KUMI_TLH_RATIO",
    "KUMI_GC_THREADS",
    "KUMI_TLH_STRESS",
    "KUMI_STACK_STRESS",
    "KUMI_POOL",
    "KUMI_VERIFY",
    "KUMI_TWIN_STRESS",
    "KUMI_UNASKED",
    "RUBY_THREAD_VM_STACK_INITIAL_SIZE",
];

/// Standard output and error of the command in `dir`; arguments `NAME=VALUE` at the front are variables.
fn kumi(dir: &Path, args: &[&str], input: &str) -> (String, String) {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    for (k, _) in std::env::vars().filter(|(k, _)| k.starts_with("KUMI_") || k.starts_with("RUBY")) {
        c.env_remove(k);
    }
    let vars = args.iter().take_while(|a| a.starts_with(|c: char| c.is_ascii_uppercase())).count();
    c.envs(args[..vars].iter().filter_map(|a| a.split_once('='))).args(&args[vars..]);
    c.current_dir(dir).env("PATH", dir.join("bin")).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = c.spawn().unwrap();
    // A command that reads nothing may have ended.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let out = child.wait_with_output().unwrap();
    (String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned())
}

fn folder() -> PathBuf {
    let dir = std::env::temp_dir().join(format!("kumi-help-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    for (name, text) in [
        ("inc/probe.rb", "PROBE = 1\n"),
        ("inc/told.rb", "print 'told'\n"),
        ("bin/found.rb", "print 'found'\n"),
        ("switch.rb", "p $abc\n"),
        ("text.txt", "junk\n#!ruby\nprint 1\n__END__\nmore\n"),
        ("edit.txt", "x\n"),
    ] {
        let file = dir.join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    dir
}

/// Switches and variables that a text names.
fn named(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| c.is_whitespace() || "[]|(),;'`\"".contains(c));
    let mut out = BTreeSet::new();
    for w in words {
        let w = w.trim_end_matches([':', '.']);
        if w.starts_with("KUMI_") || w.starts_with("RUBY") && w.len() > 4 && w.chars().all(|c| c.is_ascii_uppercase() || c == '_') {
            out.insert(w.to_string());
        } else if w.starts_with('-') && w.chars().any(|c| c.is_ascii_alphanumeric()) {
            out.insert(w.trim_end_matches('=').to_string());
        }
    }
    out
}

#[test]
fn everything_the_help_names_is_checked_and_does_something() {
    let dir = folder();
    let (help, _) = kumi(&dir, &["--help"], "");
    // These have a help of their own.
    let own = ["kumi xml", "kumi run", "kumi node", "kumi top", "kumi cert", "kumi simulate"];
    let help: String = help.lines().filter(|l| !own.iter().any(|o| l.contains(o))).map(|l| format!("{l}\n")).collect();
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/VARIABLES.md")).unwrap();
    let page = page.split("## Of tests and tools").next().unwrap();
    let rows: String =
        page.lines().filter(|l| l.starts_with("| `")).filter_map(|l| l.split(" | ").next()).map(|l| format!("{l}\n")).collect();
    let mut names = named(&help);
    assert!(names.len() > 45, "{names:?}");
    names.extend(named(&rows).into_iter().filter(|n| !n.starts_with('-')));
    let checked: BTreeSet<&str> = CHECKS.iter().map(|c| c.0).chain(UNSEEN.iter().copied()).collect();
    let missing: Vec<&String> = names.iter().filter(|n| !checked.contains(n.as_str())).collect();
    assert!(missing.is_empty(), "named, and without a check: {missing:?}");

    let mut failed = Vec::new();
    for (name, args, input, shows) in CHECKS {
        let (out, err) = kumi(&dir, args, input);
        let good = match shows {
            Out(t) => out == *t,
            Last(t) => out.lines().last() == Some(t),
            Has(t) => out.contains(t) || err.contains(t),
            Lacks(t) => !out.contains(t) && !err.contains(t) && err.contains("kumi heap profile"),
            File(f) => std::fs::metadata(dir.join(f)).is_ok_and(|m| m.len() > 0),
        };
        if !good {
            failed.push(format!("{name} {args:?}\nout: {out}\nerr: {err}"));
        }
    }
    let _ = std::fs::remove_dir_all(&dir);
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}
