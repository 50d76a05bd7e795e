//! Every backward edge polls: a loop can be stopped whatever it consists of.
//!
//! The instructions that jump are taken from the instruction table, by its own sentences, and each is made to jump to itself
//! with operands of every kind, also in the form it has once a user has redefined an operator. What loops without such an
//! instruction (handlers, sends, fibers) is a list of programs. An instruction that is new and jumps fails this test until
//! it is told here how to make it do so.

use kumi_bytecode::{Insn, Op};
use kumi_compiler as compiler;
use kumi_vm::{Cx, ISeq};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

/// Cases begun. A loop that nothing stops ends the test, by its name.
static BEGUN: AtomicU64 = AtomicU64::new(0);

fn runtime() -> &'static mut Cx {
    std::thread::spawn(|| {
        let mut last = u64::MAX;
        loop {
            std::thread::sleep(Duration::from_secs(60));
            let now = BEGUN.load(Relaxed);
            if now == last {
                eprintln!("case {now} cannot be stopped (see the last line above)");
                std::process::exit(1);
            }
            last = now;
        }
    });
    let cx = Box::leak(kumi::assemble(kumi_vm::Options::default()).unwrap());
    let dir = cx.str(kumi_vm::library::LIB_DIR);
    for (names, list) in [(["$:", "$LOAD_PATH"], vec![dir]), (["$\"", "$LOADED_FEATURES"], vec![])] {
        let v = cx.array_vec(list);
        names.iter().for_each(|n| cx.set_global(n, v));
    }
    run(cx, KINDS, |_| {});
    cx
}

/// Runs a program on a runtime of its own after `change` saw its code; what it leaves in `$r`.
fn run(cx: &mut Cx, src: &str, change: impl FnOnce(&Arc<ISeq>)) -> String {
    let code =
        compiler::compile(src.as_bytes(), &compiler::Options::file("loops.rb"), &mut *cx).unwrap_or_else(|e| panic!("{}", e.rendered));
    change(&code);
    if cx.run_main(code).is_err() {
        let e = cx.pending.exc;
        cx.set_global("$r", e);
        cx.eval_system(b"$r = $r.full_message(highlight: false)", "<internal:loops>", 1).ok();
        let v = cx.get_global("$r");
        panic!("{src}: {}", cx.text(v));
    }
    let v = cx.get_global("$r");
    cx.text(v)
}

/// A program that is stopped while `what` runs says "stopped".
fn stopped(what: &str) -> String {
    format!("$r = begin; Timeout.timeout(0.005) {{ {what} }}; 'ran through'; rescue Timeout::Error; 'stopped'; end")
}

/// Classes whose comparisons are code, a native, a native that keeps nothing, a block, nothing at all, another fiber's turn.
const KINDS: &str = "
  require 'timeout'
  OPS = %i[< <= > >= ==]
  class Code; OPS.each { |o| class_eval \"def #{o}(x) = true\" }; end
  class Native; OPS.each { |o| alias_method o, :equal? }; end
  class Block; OPS.each { |o| define_method(o) { |x| true } }; end
  class Missing < BasicObject; undef_method :==; def method_missing(*) = true; end
  class Other < Fiber; OPS.each { |o| alias_method o, :resume }; def self.slice = new { loop { Fiber.yield(true) } }; end
  class Sent; OPS.each { |o| alias_method o, :public_send }; end
  class Got; attr_writer :v; OPS.each { |o| alias_method o, :v= }; end
  $native, $code = Native.new, Code.new
  $r = ''
";

/// Pairs of operands: what compares with what.
const PAIRS: &[(&str, &str)] = &[
    ("1", "2"),
    ("2", "1"),
    ("1", "1"),
    ("1", "2.5"),
    ("2.5", "1"),
    ("1.0", "1"),
    ("1.5", "2.5"),
    ("2.5", "1.5"),
    ("1e300", "1e301"),
    ("1", "1e300"),
    ("Float::NAN", "1"),
    ("10**30", "10**31"),
    ("10**30", "10**30"),
    ("10**30", "1"),
    ("1", "10**30"),
    ("10**30", "1.5"),
    ("1.5", "10**30"),
    ("1r", "2"),
    ("1", "2r"),
    ("'a'", "'b'"),
    ("'a'", "'a'"),
    ("Class.new(Integer)", "Integer"),
    ("$native", "$native"),
    ("$native", "1"),
    ("$code", "1"),
    ("Code.new", "Code.new"),
    ("Block.new", "1"),
    ("Missing.new", "1"),
    ("Other.turn", "1"),
    ("Sent.new", ":object_id"),
    ("Got.new", "true"),
    ("Time.at(1)", "Time.at(2)"),
    ("{}", "{}"),
];
/// What only has an equality.
const EQUAL: &[(&str, &str)] = &[("nil", "nil"), (":a", ":a"), ("[1]", "[1]"), ("1i", "1"), ("Object.new", "nil"), ("1..2", "1..2")];

/// The comparison that a fused jump waits for, and whether its second operand stands in the instruction.
fn comparison(op: Op) -> Option<(&'static str, bool)> {
    Some(match op {
        Op::JLt => ("<", false),
        Op::JLe => ("<=", false),
        Op::JGt => (">", false),
        Op::JGe => (">=", false),
        Op::JEq => ("==", false),
        Op::JLtI => ("<", true),
        Op::JLeI => ("<=", true),
        Op::JGtI => (">", true),
        Op::JGeI => (">=", true),
        Op::JEqI => ("==", true),
        Op::JNeI => ("!=", true),
        _ => return None,
    })
}

/// The number in instructions that have one.
const IMMEDIATE: i16 = 2;

fn jumping() -> Vec<Op> {
    Op::ALL.iter().copied().filter(|o| o.sentence().contains("ump")).collect()
}

/// Code whose first instruction jumps to itself.
fn looping(code: &Arc<ISeq>, i: Insn) {
    let q = &code.children[0];
    assert!(q.code.len() > 2);
    q.code[0].store(i.0, Relaxed);
    q.code[1].store(0, Relaxed);
}

fn spin(cx: &mut Cx, what: &str, x: &str, y: &str, i: Insn) {
    BEGUN.fetch_add(1, Relaxed);
    println!("{what} of {x} and {y}");
    let src = format!("def spin(a, b)\n c = a\n c = b\n c\nend\n$x, $y = {x}, {y}\n{}", stopped("spin($x, $y)"));
    assert_eq!(run(cx, &src, |q| looping(q, i)), "stopped", "{what} of {x} and {y}");
}

fn fused(cx: &mut Cx, op: Op) {
    let Some((name, immediate)) = comparison(op) else { panic!("no loop is made of {}", op.name()) };
    let pairs = PAIRS.iter().chain(if name == "==" { EQUAL } else { &[] });
    for (x, y) in pairs {
        let y = if immediate { &*IMMEDIATE.to_string() } else { *y };
        let holds = run(cx, &format!("$r = begin; (({x}) {name} ({y})) ? 'yes' : 'no'; rescue ::StandardError; 'error'; end"), |_| {});
        if holds == "error" {
            continue;
        }
        let sense = (holds == "yes") as u8;
        let b = if immediate { IMMEDIATE as u16 } else { 2 };
        let back = (-2i16) as u16;
        spin(cx, op.name(), x, y, Insn::new(op, sense, 1, b, back));
        let redefined = Insn::new(Op::Generic, op as u8 | sense << 7, 1, b, back);
        spin(cx, &format!("{} redefined", op.name()), x, y, redefined);
    }
}

/// A jump on one register.
fn plain(cx: &mut Cx, op: Op, values: &[&str]) {
    for x in values {
        spin(cx, op.name(), x, "nil", Insn::wide(op, 0, 1, -1));
    }
}

fn once(cx: &mut Cx) {
    BEGUN.fetch_add(1, Relaxed);
    let mut kept = None;
    run(cx, "def spin(a)\n /#{a}/o\nend\nspin('x')\n$r = ''", |q| kept = Some(q.clone()));
    let q = kept.unwrap();
    assert_eq!(Insn(q.children[0].code[0].load(Relaxed)).op(), Op::OnceGet, "the code begins with what it keeps");
    looping(&q, Insn::new(Op::OnceGet, 0, 1, 0, (-1i16) as u16));
    assert_eq!(run(cx, &stopped("spin('x')"), |_| {}), "stopped", "OnceGet");
}

#[test]
fn every_backward_jump_can_be_stopped() {
    let cx = runtime();
    let all = jumping();
    assert!(all.len() > 15, "{all:?}");
    for op in all {
        match op {
            Op::Jmp => plain(cx, op, &["1"]),
            Op::JmpIf => plain(cx, op, &["1", "true", "''", "Object.new", "1.5", "10**30"]),
            Op::JmpUnless => plain(cx, op, &["nil", "false"]),
            Op::JmpNil => plain(cx, op, &["nil"]),
            Op::JmpSet => plain(cx, op, &["nil", "1", "''"]),
            Op::OnceGet => once(cx),
            // Together with those it stands for.
            Op::Generic => {}
            _ => fused(cx, op),
        }
    }
}

/// What the loop's arms jump with.
const JUMPS: &[&str] = &["jump!(", "cmp_jump!(", "cmp_jump_imm!("];

#[test]
fn the_table_says_which_instructions_jump() {
    let text = include_str!("../../vm/src/interp/run.rs");
    let arms = text.split("match i.op() {").nth(1).unwrap();
    let mut op = "";
    let mut found = Vec::new();
    for line in arms.lines() {
        if let Some(rest) = line.strip_prefix("                Op::") {
            op = rest.split(|c: char| !c.is_alphanumeric()).next().unwrap();
        }
        if JUMPS.iter().any(|j| line.contains(j)) {
            found.push(op);
        }
    }
    found.dedup();
    let mut said: Vec<_> = jumping().into_iter().filter(|o| *o != Op::Generic).map(|o| o.name()).collect();
    said.sort();
    found.sort();
    assert_eq!(found, said, "the arms that jump, and the sentences of the table that say so");
    // The one place beside calls and returns where the loop moves backwards.
    assert_eq!(text.matches("pc.offset(").count(), 1);
}

/// Loops that no backward jump of their own closes, or whose turns end in odd ways.
const PROGRAMS: &[&str] = &[
    "begin; raise 'x'; rescue; retry; end",
    "begin; Integer('x'); rescue ArgumentError => e; retry; end",
    "[1].each { redo }",
    "loop { begin; next; ensure; 1; end }",
    "while true; begin; next; rescue; 1; ensure; 2; end; end",
    "begin; 1; end while true",
    "1 until false",
    "for i in (1..) do end",
    "(1..).each { }",
    "1.step { }",
    "[1].cycle { }",
    "loop { catch(:a) { throw :a } }",
    "x = 0; x += 1 while x < Float::INFINITY",
    "x = 0.5; x += 1 while 1 < x || 1 > x",
    "1 while rand < 2",
    "1 while Process.clock_gettime(Process::CLOCK_MONOTONIC) > 0",
    "x = 10**30; x += 1 while x > 10**20",
    "def again = again rescue again; begin; again; rescue SystemStackError; end while true",
    "f = Fiber.new { Fiber.yield true while true }; 1 while f.resume",
    "f = Fiber.new { |x| loop { x = Fiber.yield x } }; f.resume(1) while 1 < 2.5",
    "e = [1].cycle; e.next while e.peek < 1.5",
    "send(:then) { 1 } while 'a' < 'b'",
    "instance_exec { 1 } while :a < :b",
    "m = 1.method(:<); 1 while m.call(2.5)",
    "1 while [3, 1].max > 2.5",
    "case 1 when 1.0 then 1 end while 1 == 1.0",
    "p = proc { |x| x }; 1 while p === 1",
    "1 while defined?(zork).nil?",
    "x = nil; x&.a while x.nil?",
    "a = [1]; a << a.shift while a.size < 1.5",
    "x = 1; x = x ? 1 : 2 while x <= 1r",
    "def m(a = (1 while true)) = a; m",
    "Class.new { 1 while true }",
    "eval('1 while 1 < 2.5')",
    "\"#{1 while 1 < 2.5}\"",
    "Thread.new { 1 while 1 < 2.5 }.join",
    "Comparable.instance_method(:clamp).bind_call(5, 1, 3) while 1 < 2.5",
    "ObjectSpace.each_object(Class) { 1 while 1 < 2.5 }",
    "h = Hash.new { |h, k| h[k] }; begin; h[1]; rescue SystemStackError; end while true",
    "q = Queue.new; (q << 1; q.pop) while 1 < 2.5",
    "m = Mutex.new; m.synchronize { } while 1 < 2.5",
    "begin; raise StopIteration; rescue StopIteration; end while 1 < 2.5",
    "Struct.new(:a).new(1).each { |x| 1 while x < 2.5 }",
];

#[test]
fn loops_of_every_make_can_be_stopped() {
    let cx = runtime();
    for p in PROGRAMS {
        BEGUN.fetch_add(1, Relaxed);
        println!("{p}");
        assert_eq!(run(cx, &stopped(p), |_| {}), "stopped", "{p}");
    }
}
