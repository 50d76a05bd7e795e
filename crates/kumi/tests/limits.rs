//! Whatever a program lets grow without end ends in a NoMemoryError that it can rescue; afterwards it goes on.
//! Each class of growth is tried under `KUMI_HEAP_MAX`, under `ulimit -v` and in a control group; where none may be made,
//! that test counts as ignored.

use libtest_mimic::{Arguments, Trial};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Sentences that take more and more, or too much at once.
const GROWTHS: &[&str] = &[
    "a = []; loop { a << 1 }",
    "a = []; loop { a.push(1, 2, 3) }",
    "a = []; loop { a << Object.new }",
    "a = []; loop { a << 'x' * 1000 }",
    "a = []; loop { a << 'x' * 1_000_000 }",
    "a = []; loop { a << proc { } }",
    "a = []; loop { a << Class.new }",
    "a = []; loop { a << Rational(a.size, 3) }",
    "a = []; loop { a << \"s#{a.size}\".to_sym }",
    "a = []; loop { a << Thread.new { sleep } }",
    "a = nil; loop { a = [a] }",
    "a = Array.new(3_000_000, 1); loop { a = [*a, *a] }",
    "def f(*a) = f(*a, *a, 1); f(1)",
    "s = +''; loop { s << 'abcdefgh' * 100 }",
    "h = {}; i = 0; loop { h[i += 1] = i }",
    "x = 3**100_000; loop { x = x * x * x }",
    "'x' * 1_000_000_000",
    "''.ljust(1_000_000_000)",
    "sprintf('%1000000000d', 1)",
    "'%.1000000000f' % 1.5",
    "[1].pack('x1000000000')",
    "['a' * 30_000_000].pack('m') * 10",
    "Array.new(1_000_000_000)",
    "[0] * 1_000_000_000",
    "(1..1_000_000_000).to_a",
    "s = \"\\x00\" * 50_000_000; loop { s = s.inspect }",
    "s = 'a' * 10_000_000; loop { s = s.gsub('a', 'aa') }",
    "s = 'a' * 40_000_000; [s.chars, s.chars]",
    "s = 'a' * 40_000_000; [s.bytes, s.bytes]",
    "s = 'a' * 40_000_000; [s.unpack('C*'), s.unpack('C*')]",
    "File.read('/dev/zero')",
    "File.open('/dev/zero').gets",
    "File.open('/dev/zero').readlines",
    "File.open('/dev/zero').read(10**9)",
    "File.open('/dev/zero').each_line.first",
    "File.binread('/dev/zero')",
    "File.readlines('/dev/zero', chomp: true)",
    "File.open('/dev/zero', 'rb').read(10**9, +'')",
    "File.open('/dev/zero', 'r:UTF-16LE:UTF-8').read",
    "IO.read('/dev/zero', 10**9)",
    "IO.copy_stream('/dev/zero', (require 'stringio'; StringIO.new))",
    "File.open('/dev/zero').each_char.to_a",
    "File.open('/dev/zero').each_byte.to_a",
    "`cat /dev/zero`",
    "IO.popen(['cat', '/dev/zero'], &:read)",
    "IO.popen(['cat', '/dev/zero']) { |f| f.gets }",
    "IO.popen(['yes', 'x' * 1000]) { |f| f.readlines }",
    "require 'json'; JSON.parse('[' * 10**8)",
    "require 'json'; JSON.parse('[' * 10**8, max_nesting: 0)",
    "require 'json'; JSON.parse('[' + '1,' * 30_000_000 + '1]')",
    "require 'json'; a = ['x' * 1_000_000]; loop { a = JSON.generate([a, a]) }",
    "a = ['x' * 1_000_000]; loop { a = Marshal.dump([a, a.dup]) }",
    "a = ['x' * 1_000_000]; loop { a = a.inspect + a.to_s }",
    "require 'set'; s = Set.new; i = 0; loop { s << (i += 1) }",
    "S = Struct.new(:a, :b); a = nil; loop { a = S.new(a, [a]) }",
    "D = Data.define(:a); a = nil; loop { a = D.new(a) }",
    "a = []; loop { a << {} << [a.size, 1.5, 2, 3] }",
    "a = []; loop { a.unshift(1) }",
    "a = []; loop { a.insert(a.size / 2, *a, 1) }",
    "a = [1]; loop { a.concat(a) }",
    "a = [1]; loop { a += a }",
    "a = [1]; loop { a *= 3 }",
    "a = [[1] * 1000] * 1000; loop { a = [a.flatten, a.flatten] }",
    "b = [[1, 2]] * 1_000_000; a = []; loop { a << b.transpose.transpose }",
    "h = (1..200_000).to_h { |i| [i, i] }; a = []; loop { a << h.to_a }",
    "b = (1..500_000).map(&:to_s); a = []; loop { a << b.sort << b.uniq << b.sort_by(&:size) }",
    "s = 'ab' * 1_000_000; a = []; loop { a << s.reverse << s.tr('a', 'b') << s.succ << s.to_sym }",
    "s = 'ab,' * 1_000_000; a = []; loop { a << s.scan(/(a)(b)/) << s.split(/,/) }",
    "a = (1..200).to_a; a.product(a, a, a)",
    "a = (1..30).to_a; a.permutation.to_a",
    "a = (1..60).to_a; a.combination(20).to_a",
    "a = []; a[200_000_000] = 1",
    "a = []; a.fill(0, 0, 1_000_000_000)",
    "s = 'a'; loop { s += s }",
    "s = +'a'; loop { s << s }",
    "s = 'a'; loop { s = \"#{s}#{s}\" }",
    "s = +'a'; loop { s.concat(s, s) }",
    "s = +'a'; loop { s.insert(1, s) }",
    "s = +'a'; loop { s.prepend(s) }",
    "s = +'ab'; loop { s[1, 0] = s }",
    "s = 'a'; loop { s = [s, s].join(',') }",
    "s = 'a'; loop { s = s.sub('a') { s * 2 } }",
    "s = 'a'; loop { s = format('%s%s', s, s) }",
    "s = 'a'; loop { s = s.tr('a', 'b') + s.encode('UTF-16LE').b }",
    "s = \"a\\n\"; loop { s = s * 2; h = s.lines }",
    "s = 'a,'; loop { s = s * 2; h = s.split(',') }",
    "s = 'ab'; loop { s = s * 2; h = s.scan(/./) }",
    "s = 'ab'; loop { s = s * 2; h = s.codepoints }",
    "s = 'ab'; loop { s = s * 2; h = s.unpack('C*') }",
    "s = 'ab'; loop { s = s * 2; h = s.each_char.to_a }",
    "s = \"\\xff\" * 1000; loop { s = s.scrub('abc') + \"\\xff\" * s.size }",
    "h = {}; i = 0; loop { h[\"k#{i += 1}\"] = i }",
    "h = Hash.new { |g, k| g[k] = [k] }; i = 0; loop { h[i += 1] }",
    "x = 3; loop { x = x * x }",
    "x = 3; loop { x = x ** 2 }",
    "x = 1; loop { x <<= [x.bit_length * 2, 2**30].min }",
    "x = 3; loop { x = x * x; s = x.to_s(2) }",
    "a = Array.new(1_000_000, 0); [].dig(*a, *a, *a, *a, *a, *a, *a, *a, *a, *a, *a, *a, *a, *a, *a, *a)",
    "a = []; loop { a << Fiber.new { Fiber.yield }.tap(&:resume) }",
    "a = []; loop { a << Enumerator.new { |y| y << 1 }.tap(&:next) }",
    "a = []; loop { a << Mutex.new << Queue.new << ConditionVariable.new }",
    "a = Queue.new; loop { a << 'x' * 100 }",
    "a = []; loop { a << /a#{a.size}/ }",
    "a = []; loop { a << binding }",
    "a = []; loop { a << Time.now << 1.0.to_r << 2.to_c }",
    "a = []; loop { a << eval('proc { |x| x + 1 }') << 'x' * 10_000 }",
    "a = Class.new; i = 0; loop { a.define_method(\"m#{i += 1}\") { } }",
    "a = []; loop { a << Object.new.tap { |o| def o.x = 1 } }",
    "require 'zlib'; Zlib::Inflate.inflate(Zlib::Deflate.deflate('a' * 30_000_000) ).then { |s| h = [s] * 9; h.map(&:dup).map(&:reverse) }",
    "Random.bytes(1_000_000_000)",
    "require 'stringio'; s = StringIO.new; s.seek(2_000_000_000); s.write('x')",
    "require 'stringio'; s = StringIO.new; loop { s.write('x' * 1000) }",
];

/// Seconds after which a program is taken for one that hangs.
const PATIENCE: u32 = 120;

/// What bounds a program's memory.
#[derive(Clone, Copy, Debug)]
enum Bound {
    Heap,
    Space,
    /// Of so many megabytes.
    Group(usize),
}

/// Megabytes of control groups. What just fits in one of them does not in another.
const GROUPS: [usize; 5] = [150, 200, 250, 300, 400];

/// A control group; removed with this.
struct Group(PathBuf);

impl Group {
    /// Of so many megabytes. None where none may be made.
    fn make(most: usize) -> Option<Group> {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        let name = format!("kumi-limits-{}-{}", std::process::id(), MADE.fetch_add(1, Relaxed));
        [("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")].into_iter().find_map(|(root, limit)| {
            let dir = PathBuf::from(root).join(&name);
            std::fs::create_dir(&dir).ok()?;
            let group = Group(dir);
            std::fs::write(group.0.join(limit), format!("{most}M")).ok().map(|()| group)
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The kernel may need a moment after the last process.
        for _ in 0..100 {
            if std::fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

fn run(program: &str, bound: Bound) -> Output {
    let mut c = Command::new("sh");
    let limit = if matches!(bound, Bound::Space) { 600_000 } else { 8_000_000 };
    let group = if let Bound::Group(most) = bound { Group::make(most) } else { None };
    let enter = group.as_ref().map_or(String::new(), |g| format!("echo $$ > {}/cgroup.procs && ", g.0.display()));
    c.arg("-c").arg(format!("{enter}ulimit -v {limit}; exec timeout -k 1 {PATIENCE} \"$0\" -e \"$1\""));
    c.arg(env!("CARGO_BIN_EXE_kumi")).arg(program).stdin(Stdio::null());
    if matches!(bound, Bound::Heap) {
        c.env("KUMI_HEAP_MAX", "64M");
    }
    c.env_remove("RUST_BACKTRACE").output().expect("kumi runs")
}

/// What is wrong with a program that lets `growth` go on; nothing if it was refused and all went on.
fn wrong(growth: &str, bound: Bound) -> Option<String> {
    let program = format!(
        "begin; {growth}; puts 'no end'; rescue NoMemoryError; puts 'refused'; end
a = s = h = x = nil
kept = Array.new(100) {{ |i| i.to_s * 1000 }}
10_000.times {{ 'a' * 100 }}
puts kept.size"
    );
    let out = run(&program, bound);
    let (o, e) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    let good = out.status.success() && o == "refused\n100\n";
    (!good).then(|| format!("{growth} ({bound:?}): {}\n{o}{}\n", out.status, e.lines().take(4).collect::<Vec<_>>().join("\n")))
}

fn all(bound: impl Fn(usize) -> Bound + Sync) {
    let next = AtomicUsize::new(0);
    let take = || Some(next.fetch_add(1, Relaxed)).and_then(|i| Some((i, GROWTHS.get(i)?)));
    let work = || std::iter::from_fn(take).filter_map(|(i, g)| wrong(g, bound(i))).collect::<String>();
    let said: String = std::thread::scope(|s| {
        let two = [s.spawn(work), s.spawn(work)];
        two.into_iter().map(|t| t.join().expect("no panic")).collect()
    });
    assert!(said.is_empty(), "{said}");
}

fn under_a_limit_of_the_heap_every_growth_is_refused_and_the_program_goes_on() {
    all(|_| Bound::Heap);
}

fn under_a_limit_of_the_address_space_every_growth_is_refused_and_the_program_goes_on() {
    all(|_| Bound::Space);
}

/// Each in one of several; another seed has others.
fn in_a_control_group_every_growth_is_refused_and_the_program_goes_on() {
    let seed: usize = std::env::var("KUMI_TEST_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    all(|i| Bound::Group(GROUPS[(i + seed) % GROUPS.len()]));
}

/// The error names its line, and its backtrace can be read while what was too large is still held.
fn a_refusal_says_where() {
    for (growth, bound) in
        [("loop { @a << 'x' * 1000 }", Bound::Heap), ("loop { @a << 1 }", Bound::Space), ("loop { @a << 1 }", Bound::Heap)]
    {
        let method = format!("@a = []\ndef m\n  {growth}\nend\n");
        let out = run(&format!("{method}m"), bound);
        let e = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(1), "{e}");
        assert!(
            e.starts_with("-e:3:in ") && e.contains("failed to allocate memory (NoMemoryError)") && e.contains("-e:5:in"),
            "{growth} {e}"
        );
        let out = run(&format!("{method}begin; m; rescue NoMemoryError => e; puts e.backtrace.first, e.message; end"), bound);
        let o = String::from_utf8_lossy(&out.stdout);
        assert!(
            o.starts_with("-e:3:in ") && o.ends_with("failed to allocate memory\n"),
            "{growth} {o}{}",
            String::from_utf8_lossy(&out.stderr)
        );
    }
}

/// Garbage is no reason to refuse anything.
fn what_was_let_go_makes_room() {
    let out = run("20.times { 'x' * 20_000_000 }\n20.times { Array.new(2_500_000) }\nputs 1", Bound::Heap);
    assert_eq!(String::from_utf8_lossy(&out.stdout), "1\n", "{}", String::from_utf8_lossy(&out.stderr));
}

fn main() {
    let test = |name: &str, f: fn()| {
        Trial::test(name, move || {
            f();
            Ok(())
        })
    };
    let groups = Group::make(300).is_some();
    let trials = vec![
        test(
            "under_a_limit_of_the_heap_every_growth_is_refused_and_the_program_goes_on",
            under_a_limit_of_the_heap_every_growth_is_refused_and_the_program_goes_on,
        ),
        test(
            "under_a_limit_of_the_address_space_every_growth_is_refused_and_the_program_goes_on",
            under_a_limit_of_the_address_space_every_growth_is_refused_and_the_program_goes_on,
        ),
        test(
            "in_a_control_group_every_growth_is_refused_and_the_program_goes_on",
            in_a_control_group_every_growth_is_refused_and_the_program_goes_on,
        )
        .with_ignored_flag(!groups),
        test("a_refusal_says_where", a_refusal_says_where),
        test("what_was_let_go_makes_room", what_was_let_go_makes_room),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
