//! Sizes of stacks from the environment; memory of many stacks, measured from outside.

use std::process::Command;

/// Standard output of a program; it must end well.
fn kumi(env: &[(&str, &str)], program: &str) -> String {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    c.args(["-W0", "-e", program]).env_remove("RUBYOPT").envs(env.iter().copied());
    let out = c.output().unwrap();
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success(), "{:?}\n{text}\n{}", out.status, String::from_utf8_lossy(&out.stderr));
    text
}

const DEPTH: &str = "
def down(n) = ($n = n; down(n + 1))
def depth
  down(0)
rescue SystemStackError
  $n
end
";

#[test]
fn the_environment_sets_the_maximum() {
    let depth =
        |name: &str, bytes: &str, program: &str| -> i64 { kumi(&[(name, bytes)], &format!("{DEPTH}{program}")).trim().parse().unwrap() };
    let (thread, fiber) = ("RUBY_THREAD_VM_STACK_SIZE", "RUBY_FIBER_VM_STACK_SIZE");
    let small = depth(thread, "65536", "p depth");
    let large = depth(thread, "1048576", "p depth");
    assert!((400..2000).contains(&small), "{small}");
    assert!((small * 14..small * 18).contains(&large), "{small} {large}");
    assert!(depth(thread, "65536", "p Thread.new { depth }.value") <= small);
    assert!(depth(thread, "65536", "p Fiber.new { depth }.resume") > 10_000, "a fiber has its own");
    assert!(depth(fiber, "65536", "p Fiber.new { depth }.resume") <= small);
    assert!(depth(fiber, "65536", "p depth") > 10_000);
    // Silly values: too small is the least, no number is the default, too large is what slot numbers can name.
    assert!(depth(thread, "1", "p depth") >= 100);
    for silly in ["", "-1", "0", "lots"] {
        assert!(depth(thread, silly, "p depth") > 12_000, "{silly}");
    }
    assert_eq!(kumi(&[(thread, "99999999999999999999")], "def d(n) = n == 0 ? 0 : 1 + d(n - 1)\np d(100_000)").trim(), "100000");
}

#[test]
fn the_initial_size_changes_no_answer() {
    let program = "def d(n) = n == 0 ? 0 : 1 + d(n - 1)\np d(5000), Thread.new { d(5000) }.value, Fiber.new { d(5000) }.resume";
    for first in ["0", "1", "128", "256", "1000", "4096", "1048576", "99999999999999", "x"] {
        assert_eq!(kumi(&[("RUBY_THREAD_VM_STACK_INITIAL_SIZE", first)], program), "5000\n5000\n5000\n", "{first}");
    }
}

#[test]
fn thousands_of_threads_overflow_and_all_of_them_hear_of_it() {
    let program = "
def down(n)
  Thread.pass if n % 100 == 0
  down(n + 1)
end
t = 3000.times.map { Thread.new { begin; down(0); rescue SystemStackError => e; e.message; ensure; [2, 1].sort; end } }
p t.map(&:value).tally";
    assert_eq!(kumi(&[("RUBY_THREAD_VM_STACK_SIZE", "65536")], program), "{\"stack level too deep\" => 3000}\n");
    // With more stack than there is memory for: the runtime's limit counts.
    let program = program.replace("3000", "400").replace("% 100 ", "% 3000 ");
    assert_eq!(
        kumi(&[("RUBY_THREAD_VM_STACK_SIZE", "1073741824"), ("KUMI_HEAP_MAX", "400M")], &program),
        "{\"stack level too deep\" => 400}\n"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn threads_that_were_deep_give_their_memory_back_while_they_sleep() {
    let program = |deep: u32, then: &str| {
        format!(
            "def rss = File.read('/proc/self/status')[/VmRSS:\\s+(\\d+)/, 1].to_i
def deep(n) = n == 0 ? 0 : 1 + deep(n - 1)
GC.start
base = rss
been = Queue.new
256.times {{ Thread.new {{ deep({deep}); been << 1; sleep }} }}
256.times {{ been.pop }}
{then}
puts rss - base"
        )
    };
    let kb = |deep, then: &str| kumi(&[], &program(deep, then)).trim().parse::<i64>().unwrap();
    let never = kb(1, "sleep 4.5");
    // Never-grown threads need less than 2 MB together: a little noise is allowed for.
    let most = 2 * never + 1500;
    let once = kb(10_240, &format!("240.times {{ break if rss - base < {most}; sleep 0.25 }}"));
    assert!(once < most, "{never} kB, {once} kB");
}
