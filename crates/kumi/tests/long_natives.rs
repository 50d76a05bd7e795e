//! What takes long can be ended: a native that would compute for minutes leaves the program deaf to no signal, time limit or
//! kill. Each program here takes far longer than its bound. The bounds tell an answer from a hang and are no measure.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(10);

fn kumi(text: &str) -> Command {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    c.args(["-W0", "-e", text]).env_remove("RUBYOPT").env_remove("RUBYLIB").env_remove("KUMI_PRELUDE").env_remove("KUMI_LIB");
    c.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    c
}

/// Runs what `text` prepares and then does; ends it by SIGTERM when it has been at it for a moment.
fn is_ended(name: &str, prepare: &str, long: &str) {
    let mut child = kumi(&format!("{prepare}\nputs 'ready'; $stdout.flush\n{long}\nputs 'done'")).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n", "{name}");
    std::thread::sleep(Duration::from_millis(500));
    // SAFETY: signals the child, which was not waited for yet.
    unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
    let began = Instant::now();
    let status = loop {
        if let Some(s) = child.try_wait().unwrap() {
            break s;
        }
        if began.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{name}: still there {PATIENCE:?} after SIGTERM");
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    let (mut rest, mut err) = (String::new(), String::new());
    let _ = out.read_to_string(&mut rest);
    let _ = child.stderr.take().unwrap().read_to_string(&mut err);
    assert!(status.signal() == Some(libc::SIGTERM) && rest.is_empty(), "{name}: {status:?} {rest} {err}");
}

/// Long work: name, preparation, call.
const LONG: &[(&str, &str, &str)] = &[
    ("Integer()", "s = '9' * 50_000_000", "Integer(s) while true"),
    ("to_i", "s = '9' * 50_000_000", "s.to_i while true"),
    ("to_i of another base", "s = 'z' * 50_000_000", "s.to_i(36) while true"),
    ("product", "x = (1 << 40_000_000) / 3", "x = x * x while true"),
    ("power", "", "3 ** 60_000_000 while true"),
    ("to_s", "x = (1 << 300_000_000) - 1", "x.to_s"),
    ("Rational() of digits", "s = '9' * 20_000_000 + '.5'", "Rational(s) while true"),
    ("to_c", "s = '9' * 50_000_000", "s.to_c while true"),
    ("Rational product", "r = Rational((1 << 3_000_000) / 3, 1 << 3_000_000)", "r * r while true"),
    ("Rational rounding", "r = Rational((1 << 3_000_000) / 3, 1 << 30)", "r.round(2_000_000) while true"),
    ("Rational quotient", "r = Rational((1 << 3_000_000) / 3, 10**1_000_000 + 1)", "r.divmod(7) while true"),
    ("Rational order", "r = Rational((1 << 60_000_000) / 3, 1 << 60_000_000); q = r + 1", "r < q while true"),
    ("hexadecimal literals", "s = '0x' + 'f' * 50_000_000", "eval(s) while true"),
    ("Complex product", "c = Complex((1 << 40_000_000) / 3, 1)", "c = c * c while true"),
    ("digits", "x = (1 << 120_000_000) / 3", "x.digits"),
    ("rounding", "x = (1 << 120_000_000) / 3", "x.round(-10_000_000) while true"),
    ("ceildiv", "x = (1 << 120_000_000) / 3; y = (1 << 60_000_000) / 3", "x.ceildiv(y) while true"),
    ("lcm", "x = 10 ** 2_000_000; y = (1 << 3_000_000) / 3", "x.lcm(y) while true"),
    ("format of an Integer", "x = (1 << 300_000_000) / 3", "format('%d', x)"),
    ("format of a Rational", "", "format('%.9000000f', Rational(1, 3)) while true"),
    ("Regexp.new", "s = 'z' * 40_000_000", "Regexp.new(s += 'z') while true"),
    ("Regexp.escape", "s = 'a b.' * 20_000_000", "Regexp.escape(s) while true"),
    ("quoted-printable", "s = '=' * 60_000_000", "[s].pack('M') while true"),
    ("Random.bytes", "", "Random.bytes(1_000_000_000) while true"),
    ("Random.urandom", "", "Random.urandom(1_000_000_000) while true"),
    ("parsing what is all wrong", "s = '(' * 2_000_000", "loop { begin; eval(s); rescue SyntaxError; end }"),
    ("back-reference", "", r"loop { /(x+x+)+\1[yz]/.match?('x' * 60) rescue 0 }"),
    ("scan", "", r"loop { ('x' * 60).scan(/(x+x+)+\1[yz]/) rescue 0 }"),
    ("gsub", "", r"loop { ('x' * 60).gsub(/(x+x+)+\1[yz]/, 'y') rescue 0 }"),
    ("gsub with a block", "", r"loop { ('x' * 60).gsub(/(x+x+)+\1[yz]/) { 1 } rescue 0 }"),
    ("split", "", r"loop { ('x' * 60).split(/(x+x+)+\1[yz]/) rescue 0 }"),
    ("case", "", r"loop { case 'x' * 60 when /(x+x+)+\1[yz]/ then 1 end rescue 0 }"),
    ("rindex", "", r"loop { ('x' * 60).rindex(/(x+x+)+\1[yz]/) rescue 0 }"),
    ("String#chars", "s = 'ab' * 30_000_000", "s.chars while true"),
    ("String#succ", "s = ('\\xff' * 60_000_000).b", "s.succ while true"),
    (
        "String#tr of a huge set",
        "s = 'aé日' * 10_000_000; t = (0x80..0x20000).reject { |c| (0xd800..0xdfff) === c }.pack('U*') * 9",
        "s.tr(t, 'b') while true",
    ),
    ("String#count of a huge set", "s = 'aé日' * 10_000_000; t = (0x80..0xd000).step(2).to_a.pack('U*')", "s.count(t) while true"),
    ("String#swapcase", "s = 'aé日' * 20_000_000", "s.swapcase while true"),
    ("String#unicode_normalize", "s = 'é日' * 20_000_000", "s.unicode_normalize(:nfd) while true"),
    ("String#encode", "s = 'aé日' * 20_000_000", "s.encode('UTF-16LE') while true"),
    ("String#inspect", "s = 'é\\x7f' * 20_000_000", "s.inspect while true"),
    ("String#unpack", "s = 'ab' * 30_000_000", "s.unpack('C*') while true"),
    ("Array#-", "a = (0..3_000_000).map(&:to_s); b = a.map(&:dup)", "a - b while true"),
    ("Array#hash", "a = [1]; 24.times { a = [a, a] }", "a.hash while true"),
    ("Array#==", "a = [1]; b = [1]; 24.times { a = [a, a]; b = [b, b] }", "a == b while true"),
    ("parsing", "s = '[' + '1,' * 8_000_000 + ']'", "eval(s) while true"),
    ("compiling", "s = \"x = 1\\n\" * 3_000_000", "eval(s) while true"),
    ("YAML of one scalar", "require 'psych'; s = \"a: |\\n\" + '  some text\\n' * 20_000_000", "Psych.parse(s) while true"),
    ("YAML directives", "require 'psych'; s = (0..90_000).map { |i| \"%TAG !a#{i}! x\\n\" }.join + '--- a'", "Psych.parse(s) while true"),
    ("YAML in deep brackets", "require 'psych'; s = '[' * 9_000 + 'a: 1, ' * 3_000_000", "loop { Psych.parse(s) rescue 0 }"),
    ("YAML of a long String", "require 'psych'; s = 'some text ' * 10_000_000", "Psych.dump(s) while true"),
    ("StringScanner", "require 'strscan'; s = StringScanner.new('x' * 60)", r"loop { s.scan(/(x+x+)+\1[yz]/) rescue 0 }"),
];

#[test]
fn long_natives_answer_sigterm() {
    for (name, prepare, long) in LONG {
        is_ended(name, prepare, long);
    }
}

#[test]
fn long_natives_among_threads_answer_sigterm() {
    for (name, prepare, long) in LONG {
        is_ended(name, &format!("t = Thread.new {{ loop {{ sleep 0.01 }} }}\n{prepare}"), long);
    }
}

fn run(text: &str) -> String {
    let out = kumi(text).output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

#[test]
fn time_limits_kills_and_collections_do_not_wait_for_long_natives() {
    let text = r#"
        require "timeout"
        def soon = (t = Process.clock_gettime(1); r = yield; Process.clock_gettime(1) - t < 10 ? r : "late")
        s = "9" * 30_000_000
        p soon { Timeout.timeout(0.3) { Integer(s) } rescue $!.class }
        p soon { Timeout.timeout(0.3) { /(x+x+)+\1[yz]/ =~ "x" * 60 } rescue $!.class }
        x = Thread.new { Integer(s) }
        sleep 0.3
        p soon { GC.start; x.kill.join.equal?(x) }
        p soon { Regexp.new('(x+x+)+\1[yz]', timeout: 0.2) =~ "x" * 60 rescue $!.class }
        Regexp.timeout = 0.2
        p soon { /(x+x+)+\1[yz]/ =~ "x" * 60 rescue $!.class }
    "#;
    let wanted = "Timeout::Error\nTimeout::Error\ntrue\nRegexp::TimeoutError\nRegexp::TimeoutError\n";
    assert_eq!(run(text), wanted);
}

#[test]
fn a_signal_handler_that_returns_leaves_long_work_under_way() {
    let text = r#"
        n = 0
        trap("USR1") { n += 1; Integer("8" * 1000) }
        q = Thread.new { 5.times { sleep 0.1; Process.kill(:USR1, $$) } }
        x = ("7" * 1_000_000).to_i
        q.join
        p n, x % 1_000_007 == Integer("7" * 1_000_000) % 1_000_007
        require "psych"
        q = Thread.new { 5.times { sleep 0.02; Process.kill(:USR1, $$) } }
        a = Psych.load("- a\n- &b [1]\n" * 5 + "- |\n" + "  text\n" * 3_000_000 + "- b\n" * 20_000)
        q.join
        p a.size, a[10].size, n
        pid = fork { p 1 }
        Process.wait(pid)
    "#;
    assert_eq!(run(text), "5\ntrue\n20011\n15000000\n10\n1\n");
}

#[test]
fn hostile_patterns_take_linear_time_where_they_can() {
    let text = r#"
        p(/^(a*)*$/ =~ "a" * 25 + "x")
        p(/^(a*)*$/ =~ "a" * 100_000 + "x")
        p(/(a|b|ab)*(?=c)/.match("ab" * 20_000), Regexp.linear_time?(/(a|b|ab)*(?=c)/))
        p(/^(([a-z])+.)+[A-Z]([a-z])+$/ =~ "a" * 50_000)
        p(/\A((a|é)+,?)*\z/.match("aé," * 10_000).begin(1))
        p ("aé" * 10_000 + "!").scan(/((é|a|aé)+)+$/).size
        p Regexp.linear_time?(/(a)\1/)
    "#;
    assert_eq!(run(text), "nil\nnil\nnil\ntrue\nnil\n29997\n0\nfalse\n");
}

/// Patterns on which a backtracking matcher takes exponential or polynomial time; text, and whether it matches.
const HOSTILE: &[(&str, &str)] = &[
    ("^(a+)+$", "'a' * 50_000 + 'x'"),
    ("^([a-zA-Z]+)*$", "'a' * 50_000 + '!'"),
    ("^(a|aa)+$", "'a' * 50_000 + 'x'"),
    ("^(a|a?)+$", "'a' * 50_000 + 'x'"),
    ("(x+x+)+y", "'x' * 3_000"),
    ("(?:x+x+)+y", "'x' * 3_000"),
    ("\\A(?:[a-z0-9]+[-._]?)*@", "'a' * 50_000"),
    ("^(\\d+)*z", "'1' * 50_000"),
    ("(a?){40}a{40}b", "'a' * 5_000"),
    ("(.*)*=(.*)*", "'x' * 2_000"),
    ("(a*)*b", "'A' * 3_000"),
    ("(é|é*)*日", "'é' * 3_000"),
    ("^(?:a?b?c?)*d$", "'abc' * 20_000"),
    ("^(?>(a+))*b", "'a' * 50_000"),
    ("(?!(a*)*$)b", "'a' * 3_000"),
    ("(?<=a)(b*)*c", "'a' + 'b' * 3_000"),
    ("^(a|b|ab|ba)*c", "'ab' * 20_000"),
    ("(\\s+)*$x", "' ' * 3_000"),
    ("^(?<n>a+)+$", "'a' * 50_000 + 'x'"),
    ("^((a+)+)+$", "'a' * 20_000 + 'x'"),
    ("^(a{0,5})*$", "'a' * 20_000 + 'x'"),
    ("^(a{1,3}){1,}$", "'a' * 20_000 + 'x'"),
    ("^(a|b)*?c$", "'ab' * 20_000"),
    ("^(a+?)+?$", "'a' * 50_000 + 'x'"),
    ("^(?:(?:a*)*)*x$", "'a' * 20_000"),
];

/// What no memory of failures helps: a time limit ends it.
const UNBOUNDED: &[(&str, &str)] = &[
    ("(x+x+)+\\1[yz]", "'x' * 60"),
    ("^(a+)+\\1$", "'a' * 60 + 'x'"),
    ("((a?){30})a{30}\\2c", "'a' * 60"),
    ("(?<a>x\\g<a>?x?)+$", "'x' * 60 + 'y'"),
    ("^(?=(a+)+b)\\1", "'a' * 60"),
    ("(?=(a+)+b)c", "'a' * 60"),
];

#[test]
fn hostile_patterns_fail_in_linear_time_or_at_their_time_limit() {
    let table = |rows: &[(&str, &str)]| rows.iter().map(|(p, t)| format!("[%q\u{1}{p}\u{1}, {t}]")).collect::<Vec<_>>().join(", ");
    let text = format!(
        r##"
        require "timeout"
        [{}].each {{ |p, t| r = Regexp.new(p); puts "#{{p}}: late" if Timeout.timeout(30) {{ r.match?(t) }} != false rescue puts "#{{p}}: #{{$!.class}}" }}
        [{}].each {{ |p, t| r = Regexp.new(p, timeout: 0.3); begin; puts "#{{p}}: #{{r.match?(t)}}"; rescue Regexp::TimeoutError; end }}
        [{}].each {{ |p, t| r = Regexp.new(p); begin; Timeout.timeout(0.3) {{ loop {{ r.match?(t) rescue 0 }} }}; rescue Timeout::Error; end }}
        puts "done"
        "##,
        table(HOSTILE),
        table(UNBOUNDED),
        table(UNBOUNDED)
    );
    assert_eq!(run(&text), "done\n");
}
