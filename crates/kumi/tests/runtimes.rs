//! Runtimes that end, and several beside each other in one process: what each takes is given back when it ends, whatever its threads
//! are at, and none knows of another.
//!
//! What is counted here (threads, descriptors, mappings, bytes) is the process's: the tests run one after another.

use kumi_vm::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The system's allocator, counting what lives.
struct Counting;
static LIVE: AtomicIsize = AtomicIsize::new(0);
// SAFETY: the system's own promises.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, l: Layout) -> *mut u8 {
        // As the command's does.
        if l.size() >= kumi_budget::LARGE {
            if kumi_budget::is_beyond(l.size()) {
                return std::ptr::null_mut();
            }
            kumi_budget::came(l.size());
        }
        LIVE.fetch_add(l.size() as isize, Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(l) }
    }
    unsafe fn dealloc(&self, p: *mut u8, l: Layout) {
        LIVE.fetch_sub(l.size() as isize, Relaxed);
        if l.size() >= kumi_budget::LARGE {
            kumi_budget::went(l.size());
        }
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(p, l) }
    }
}
#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Only tells what comes from what does not.
const HANG: Duration = Duration::from_secs(60);

/// One test at a time, when the threads of the one before have gone. One that failed may have left some.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    let one = ONE.lock().unwrap_or_else(|e| e.into_inner());
    let from = Instant::now();
    while threads() > 0 && from.elapsed() < HANG / 3 {
        std::thread::sleep(Duration::from_millis(1));
    }
    one
}

/// So many rounds, fewer where collections come at every turn.
fn rounds(n: usize) -> usize {
    if std::env::var_os("KUMI_GC_STRESS").is_some() { (n / 200).max(2) } else { n }
}

fn runtime() -> Box<Cx> {
    runtime_with(Options::default())
}
fn runtime_with(options: Options) -> Box<Cx> {
    kumi::assemble(Options { warn_experimental: false.into(), ..options }).unwrap()
}

/// What a program gives, inspected.
fn eval(cx: &mut Cx, src: &str) -> String {
    let program = cx.str(src);
    cx.set_global("$program", program);
    match cx.eval_system(b"TOPLEVEL_BINDING.eval($program).inspect", "<internal:runtimes>", 1) {
        Ok(v) => cx.text(v),
        Err(_) => {
            let e = cx.pending.exc;
            cx.set_global("$program", e);
            let told = cx.eval_system(b"$program.full_message(highlight: false)", "<internal:runtimes>", 1).unwrap_or(Value::NIL);
            panic!("{src}: {}", cx.text(told))
        }
    }
}

/// What the process has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Has {
    threads: usize,
    descriptors: usize,
    mappings: usize,
    resident: isize,
    live: isize,
}

/// Threads of runtimes: the test harness has others, which come and go.
fn threads() -> usize {
    let name = |t: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(t.ok()?.path().join("comm")).ok();
    std::fs::read_dir("/proc/self/task").unwrap().filter_map(name).filter(|n| n.starts_with("kumi-")).count()
}

fn has() -> Has {
    let page = 4096;
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    Has {
        threads: threads(),
        descriptors: std::fs::read_dir("/proc/self/fd").unwrap().count(),
        mappings: std::fs::read_to_string("/proc/self/maps").unwrap().lines().count(),
        resident: statm.split_whitespace().nth(1).unwrap().parse::<isize>().unwrap() * page,
        live: LIVE.load(Relaxed),
    }
}

/// What the process has when that has been the same for a while: what the test before has left may be half gone, a descriptor of two closed.
fn quiet() -> Has {
    let from = Instant::now();
    let mut last = has();
    let mut since = from;
    while since.elapsed() < Duration::from_millis(200) && from.elapsed() < HANG {
        std::thread::sleep(Duration::from_millis(1));
        let now = has();
        if (now.threads, now.descriptors) != (last.threads, last.descriptors) {
            since = Instant::now();
        }
        last = now;
    }
    last
}

/// The process has no more threads and descriptors than it had, at once or soon: a thread that left by itself may be on its last steps.
fn settled(before: Has) -> Has {
    let from = Instant::now();
    loop {
        let now = has();
        if now.threads <= before.threads && now.descriptors <= before.descriptors || from.elapsed() > HANG {
            return now;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Threads that have ended, and others that compute, sleep, hold a lock, wait for one, for a queue, for a descriptor; fibers; streams
/// that nobody closes.
const BUSY: &str = "
  $file = File.open('/proc/self/stat')
  $out = File.open('/dev/null', 'w')
  $out.write('buffered')
  r, w = IO.pipe
  q = Queue.new
  6.times { |i| Thread.new { a = []; 2000.times { |k| a << \"x#{k}\"; a.shift if a.size > 50 }; q << i } }
  sum = 6.times.sum { q.pop }
  $fibers = 5.times.map { |i| f = Fiber.new { Fiber.yield i; 7 }; f.resume; f }
  m = Mutex.new
  at = Queue.new
  Thread.new { at << 1; sleep }
  Thread.new { at << 1; sleep 1000 }
  Thread.new { at << 1; r.read(1) }
  Thread.new { at << 1; i = 0; i += 1 while true }
  Thread.new { at << 1; [1, [2, 'three']].hash while true }
  Thread.new { m.synchronize { at << 1; sleep } }
  Thread.new { at << 1; m.lock }
  Thread.new { at << 1; Queue.new.pop }
  Thread.new { at << 1; begin; sleep; ensure; $out.write('never') end }
  9.times { at.pop }
  begin; raise 'x'; rescue => e; end
  GC.start
  sum";

#[test]
fn a_runtime_gives_back_what_it_took_a_thousand_times() {
    let _alone = alone();
    let rounds = rounds(1000);
    let round = || {
        let mut cx = runtime();
        assert_eq!(eval(&mut cx, BUSY), "15");
        cx.end();
    };
    (0..rounds.div_ceil(10)).for_each(|_| round());
    let before = settled(has());
    let from = Instant::now();
    (0..rounds).for_each(|_| round());
    let now = settled(before);
    nothing_more(before, now);
    // The C library keeps some of what threads had, up to a bound.
    assert!(now.resident - before.resident <= 24 << 20, "{before:?} {now:?} after {:?}", from.elapsed());
}

fn nothing_more(before: Has, now: Has) {
    let same = now.threads <= before.threads && now.descriptors <= before.descriptors;
    assert!(same && now.mappings <= before.mappings + 20 && now.live - before.live <= 64 << 10, "{before:?} {now:?}");
}

/// So many runtimes of one process, and what each may take.
const BESIDE: usize = 64;
const EACH: isize = 4 << 20;

/// So many runtimes at a time, each with a program that has run and a thread that waits: what they took, and the nanoseconds of all that.
fn together(before: Has) -> (Has, u128) {
    let from = Instant::now();
    let mut all: Vec<_> = (0..BESIDE).map(|_| runtime()).collect();
    for (i, cx) in all.iter_mut().enumerate() {
        let src = format!("q = Queue.new; $waits = Thread.new {{ q << [{i}, 'x'.upcase, {{ a: 1 }}]; sleep }}; q.pop[0]");
        assert_eq!(eval(cx, &src), i.to_string());
    }
    let taken = from.elapsed();
    let most = has();
    let from = Instant::now();
    all.into_iter().for_each(|cx| cx.end());
    let taken = (taken + from.elapsed()).as_nanos();
    (Has { resident: most.resident - before.resident, live: most.live - before.live, ..most }, taken)
}

/// Figures: `cargo test --release -p kumi --test runtimes sixty_four -- --nocapture`. A thousand are ended; with `KUMI_ROUNDS=1000` each of the
/// 64 that often.
#[test]
fn sixty_four_runtimes_are_small_and_leave_nothing() {
    let _alone = alone();
    let asked = std::env::var("KUMI_ROUNDS").ok().and_then(|n| n.parse().ok());
    let rounds = asked.unwrap_or_else(|| rounds(1000).div_ceil(BESIDE));
    let first = settled(has());
    let (most, _) = together(first);
    let small = most.resident <= BESIDE as isize * EACH && most.live <= BESIDE as isize * EACH;
    assert!(small, "{first:?} {most:?}");
    let before = settled(first);
    let taken: u128 = (0..rounds).map(|_| together(before).1).sum();
    let ms = taken as f64 / 1e6 / (rounds * BESIDE) as f64;
    println!("each runtime: {:.2} MB, {ms:.2} ms from the making to the end", most.resident as f64 / BESIDE as f64 / 1e6);
    nothing_kept(before);
}

/// Nor does the C library keep more than its bound of what so many threads had.
fn nothing_kept(before: Has) {
    // SAFETY: it touches no memory that is in use.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0)
    };
    let now = settled(before);
    nothing_more(before, now);
    assert!(now.resident - before.resident <= 24 << 20, "{before:?} {now:?}");
}

/// What threads are at when their runtime ends. Each says so by `$at << 1`.
const AT: &[&str] = &[
    "$at << 1; i = 0; i += 1 while true",
    "$at << 1; fib = ->(n) { n < 2 ? n : fib.(n - 1) + fib.(n - 2) }; fib.(60)",
    "$at << 1; loop { [*1..2000].sort_by { |x| -x }.map(&:to_s).join }",
    "$at << 1; loop { begin; raise 'x'; rescue; ensure; 1; end }",
    "$at << 1; loop { GC.start }",
    "$at << 1; loop { ObjectSpace.each_object(Class).to_a }",
    "$at << 1; loop { Thread.new { 1 }.join }",
    "$at << 1; loop { Fiber.new { Fiber.yield 1 }.resume }",
    "$at << 1; f = Fiber.new { sleep }; f.resume",
    "$at << 1; ('a' * 40 + 'b') =~ /(a|aa)+(a|aa)+(a|aa)+\\1c$/",
    "$at << 1; loop { (7 ** 200_000).to_s }",
    "$at << 1; loop { Array.new(300_000) { |i| i ^ 5 }.sort }",
    "$at << 1; sleep",
    "$at << 1; sleep 1000",
    "begin; $at << 1; sleep; ensure; $at << 2; end",
    "begin; $at << 1; 1 while true; ensure; loop { }; end",
    "Thread.handle_interrupt(Object => :never) { $at << 1; sleep }",
    "Mutex.new.synchronize { $at << 1; sleep }",
    "Monitor.new.synchronize { $at << 1; sleep }",
    "$at << 1; $held.lock",
    "c = ConditionVariable.new; n = Mutex.new; n.synchronize { $at << 1; c.wait(n) }",
    "$at << 1; SizedQueue.new(1).tap { |q| q << 1; q << 2 }",
    "$at << 1; Queue.new.pop(timeout: 1000)",
    "$at << 1; r, w = IO.pipe; r.read",
    "r, w = IO.pipe; $at << 1; w.write('x' * 1_000_000)",
    "$at << 1; r, w = IO.pipe; IO.select([r], nil, nil, 1000)",
    "$at << 1; loop { File.read('/proc/self/stat'); File.stat('/') }",
    "$at << 1; loop { Thread.pass }",
    "q, a = Queue.new, Queue.new; Thread.new { loop { a << q.pop } }; $at << 1; loop { q << 1; a.pop }",
    "t = Thread.current; Thread.new { loop { t.wakeup } }; $at << 1; loop { sleep }",
    "t = Thread.new { loop { begin; sleep; rescue; end } }; $at << 1; loop { t.raise('x') }",
    "$at << 1; Ractor.new { loop { } }; sleep",
    "$at << 1; TracePoint.new(:call) { }.enable { def seen = 1; loop { seen } }",
    "ObjectSpace.define_finalizer(Object.new, proc { loop { } }); $at << 1; loop { Object.new }",
    "$at << 1; loop { eval('1 + 1'); Class.new { def a = 1 }.new.a; :\"s#{rand}\".to_proc }",
];

#[test]
fn an_end_may_come_whatever_threads_are_at() {
    let _alone = alone();
    let run = |of: &[&str]| {
        let mut cx = runtime();
        let threads: String = of.iter().map(|at| format!("Thread.new {{ {at} }}\n")).collect();
        let src = format!(
            "Thread.report_on_exception = false
             $at, $held = Queue.new, Mutex.new
             $held.lock
             {threads}
             {}.times {{ $at.pop }}
             sleep 0.002",
            of.len()
        );
        eval(&mut cx, &src);
        let from = Instant::now();
        cx.end();
        assert!(from.elapsed() < Duration::from_secs(60), "{of:?}: {:?}", from.elapsed());
    };
    run(AT);
    let before = settled(has());
    for at in AT {
        run(&[at, at]);
        let now = settled(before);
        assert!(now.threads <= before.threads && now.descriptors <= before.descriptors, "{at}: {before:?} {now:?}");
        assert!(now.live - before.live <= 64 << 10, "{at}: {before:?} {now:?}");
    }
    (0..rounds(5)).for_each(|_| run(AT));
    nothing_more(before, settled(before));
}

#[test]
fn a_call_that_blocks_for_ever_is_left_to_itself() {
    let _alone = alone();
    let before = quiet();
    let mut cx = runtime();
    cx.natives(TABLE);
    let blocks = BLOCKS.lock().unwrap();
    eval(&mut cx, "t = Thread.new { blocked }; Thread.pass until t.stop?; sleep 0.01");
    // One that nobody has begun would be dropped.
    let from = Instant::now();
    while !BEGUN.load(Relaxed) {
        assert!(from.elapsed() < HANG);
        std::thread::sleep(Duration::from_millis(1));
    }
    let from = Instant::now();
    cx.end();
    assert!(from.elapsed() > Duration::from_millis(500) && from.elapsed() < HANG, "{:?}", from.elapsed());
    assert!(has().threads > before.threads);
    // The call comes to its end, and with it the thread.
    drop(blocks);
    let now = settled(before);
    assert_eq!((now.threads, now.descriptors), (before.threads, before.descriptors));
}

/// What a call of the pool waits for, and that it has begun to.
static BLOCKS: Mutex<()> = Mutex::new(());
static BEGUN: AtomicBool = AtomicBool::new(false);
/// What others hold of a runtime that is over.
static HELD: Mutex<Option<(Waker, Spawner)>> = Mutex::new(None);

fn held(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let (waker, spawner) = (cx.waker(), cx.spawner());
    *HELD.lock().unwrap() = Some((waker, spawner));
    cx.from_outside();
    Err(cx.park(u64::MAX))
}
fn blocked(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    cx.offload(|| {
        BEGUN.store(true, Relaxed);
        drop(BLOCKS.lock().unwrap());
    })?;
    Ok(Value::NIL)
}
static TABLE: &[NativeDef] =
    &[private("Kernel", "held", 0, 0, held).guard(Guard::None), private("Kernel", "blocked", 0, 0, blocked).guard(Guard::None)];

#[test]
fn wakers_and_spawners_outlive_their_runtime() {
    let _alone = alone();
    for early in [false, true] {
        let mut cx = runtime();
        cx.natives(TABLE);
        eval(&mut cx, "t = Thread.new { held }; Thread.pass until t.stop?");
        let (waker, spawner) = HELD.lock().unwrap().take().unwrap();
        let call = move || {
            waker.wake();
            spawner.spawn_on_idle(Box::new(|| ()))
        };
        if early {
            let other = std::thread::spawn(call);
            cx.end();
            other.join().unwrap();
        } else {
            cx.end();
            assert!(!call());
        }
    }
}

#[test]
fn runtimes_run_beside_each_other_and_end_when_they_like() {
    let _alone = alone();
    let src = |n: usize| {
        format!(
            "q = Queue.new
             threads = 3.times.map {{ |t| Thread.new {{
               200.times {{ |i|
                 q << [t, i].hash % 7 + {n} * 0
                 sleep 0.0005 if i % 50 == 0
                 GC.start if i == 100 && t == 0
                 begin; raise 'x' if i.odd?; rescue; end
               }}
               t
             }} }}
             got = 600.times.map {{ q.pop }}
             $left = Thread.new {{ sleep }}
             [threads.sum(&:value), got.size, (Queue.new.pop(timeout: 0.001)).inspect, {n}]"
        )
    };
    let before = quiet();
    for beside in [2, 4, 8] {
        std::thread::scope(|s| {
            for n in 0..beside {
                s.spawn(move || {
                    for _ in 0..rounds(4 + n) {
                        let mut cx = runtime();
                        for _ in 0..1 + n % 3 {
                            assert_eq!(eval(&mut cx, &src(n)), format!("[3, 600, \"nil\", {n}]"));
                        }
                        cx.end();
                    }
                });
            }
        });
    }
    let now = settled(before);
    assert_eq!((now.threads, now.descriptors), (before.threads, before.descriptors));
}

#[test]
fn a_limit_is_one_runtimes_own() {
    let _alone = alone();
    let many = "$kept = 80.times.map { 'x' * 1_000_000 }; $kept.sum(&:size)";
    let too_many = "begin; a = []; loop { a << 'x' * 1_000_000 }; rescue NoMemoryError; a = nil; GC.start; 'short'; end";
    let mut large = runtime();
    let mut small = runtime_with(Options { heap_max: Some(40 << 20), ..Options::default() });
    assert_eq!(eval(&mut large, many), "80000000");
    // What the other has is nothing to it.
    assert_eq!(eval(&mut small, "$a = 15.times.map { 'x' * 1_000_000 }; GC.start; $a.size"), "15");
    assert_eq!(eval(&mut small, too_many), "\"short\"");
    assert_eq!(eval(&mut small, "Thread.new { 'y' * 4_000_000 }.value.size + $a.size"), "4000015");
    // Its limit is nothing to the other.
    assert_eq!(eval(&mut large, many), "80000000");
    let beside = std::thread::spawn(move || {
        let mut cx = runtime_with(Options { heap_max: Some(40 << 20), ..Options::default() });
        (0..3).for_each(|_| assert_eq!(eval(&mut cx, too_many), "\"short\""));
        cx.end();
    });
    (0..3).for_each(|_| assert_eq!(eval(&mut large, &format!("4.times.map {{ Thread.new {{ {many} }} }}.map(&:value).max")), "80000000"));
    beside.join().unwrap();
    small.end();
    assert_eq!(eval(&mut large, many), "80000000");
    large.end();
}

#[test]
fn workers_are_as_many_as_is_asked_for() {
    let _alone = alone();
    let workers = || {
        let name = |t: std::io::Result<std::fs::DirEntry>| std::fs::read_to_string(t.ok()?.path().join("comm")).ok();
        let names: Vec<_> = std::fs::read_dir("/proc/self/task").unwrap().filter_map(name).collect();
        names.iter().filter(|n| n.trim().strip_prefix("kumi-").is_some_and(|w| w.parse::<u32>().is_ok())).count()
    };
    let before = workers();
    let mut all = [1, 4, 2].map(|n| runtime_with(Options { workers: Some(n), gc_threads: Some(n), ..Options::default() }));
    for cx in &mut all {
        assert_eq!(eval(cx, "4.times.map { |i| Thread.new { GC.start; i } }.sum(&:value)"), "6");
    }
    // A thread says its name a moment after it has begun.
    let comes_to = |n: usize| {
        let start = Instant::now();
        while workers() != n && start.elapsed() < HANG {
            std::thread::yield_now();
        }
        assert_eq!(workers(), n);
    };
    comes_to(before + 3 + 1);
    let [one, four, two] = all;
    four.end();
    comes_to(before + 1);
    drop((one, two));
    comes_to(before);
}

#[test]
fn signals_are_one_runtimes_at_a_time() {
    let _alone = alone();
    let action = || {
        // SAFETY: zeroes are a value that may be written over.
        unsafe {
            let mut a: libc::sigaction = std::mem::zeroed();
            libc::sigaction(libc::SIGUSR1, std::ptr::null(), &mut a);
            a.sa_sigaction
        }
    };
    let before = action();
    let asking = || Options { signals: true, ..Options::default() };
    for _ in 0..3 {
        let mut owner = runtime_with(asking());
        assert!(kumi::assemble(asking()).err().unwrap().contains("signals"));
        let other = std::thread::spawn(|| {
            let mut cx = runtime();
            let refused = eval(&mut cx, "[(trap('USR1') { } rescue [$!.class, $!.message]), trap('EXIT') { }, Thread.new { 1 }.value]");
            assert_eq!(
                refused,
                "[[ArgumentError, \"can't trap SIGUSR1: the process's signals are not this runtime's (Options::signals)\"], nil, 1]"
            );
            eval(&mut cx, "Thread.new { sleep 0.01 }.join; $t = Thread.new { sleep }; sleep 0.2");
            cx.end();
        });
        assert_eq!(
            eval(
                &mut owner,
                "$got = 0; $q = Queue.new; trap('USR1') { $q << 7 if $got == 1; $got += 1 }; Process.kill('USR1', $$); Thread.pass until $got == 1; $got"
            ),
            "1"
        );
        other.join().unwrap();
        // It sleeps, and is woken, though the other's scheduler was made after its own.
        let kill = std::thread::spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            // SAFETY: touches no memory.
            unsafe { libc::kill(libc::getpid(), libc::SIGUSR1) };
        });
        let from = Instant::now();
        assert_eq!(eval(&mut owner, "Thread.new { }.join; $q.pop(timeout: 60)"), "7");
        assert!(from.elapsed() < Duration::from_secs(30));
        kill.join().unwrap();
        owner.end();
        assert_eq!(action(), before);
    }
}

#[test]
fn a_fork_takes_one_runtime_along() {
    let _alone = alone();
    let done = AtomicBool::new(false);
    std::thread::scope(|s| {
        s.spawn(|| {
            while !done.load(Relaxed) {
                let mut cx = runtime();
                eval(&mut cx, "Thread.new { loop { [1, 2].map(&:to_s) } }; Thread.new { loop { GC.start } }; sleep 0.02");
                cx.end();
            }
        });
        let mut cx = runtime();
        let src = "Thread.new { loop { } }
                   8.times.map { |i|
                     pid = fork { Thread.new { GC.start; sleep 0.001 }.join; exit!(i) }
                     Process.wait2(pid)[1].exitstatus
                   }";
        assert_eq!(eval(&mut cx, src), "[0, 1, 2, 3, 4, 5, 6, 7]");
        cx.end();
        done.store(true, Relaxed);
    });
}
