//! A panic inside the runtime ends nothing but what it happened in: the thread gets a `fatal` that says where, its locks are
//! free, and everybody goes on. The natives that panic are this file's: no program has any.

use kumi_vm::*;
use std::sync::Once;

fn boom(_: &mut Cx, _: Value, _: &[Value]) -> R {
    panic!("on purpose")
}
fn bounds(_: &mut Cx, _: Value, a: &[Value]) -> R {
    let list: Vec<i32> = Vec::new();
    Ok(Value::fix(list[a.len() + 7] as i64))
}
fn numbered(_: &mut Cx, _: Value, i: u32) -> R {
    panic!("field {i}")
}
fn number(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (c, n) = (cx.arg_class(a, 0)?, cx.intern("boom_number"));
    cx.define_indexed(c, n, numbered, 7, Vis::Public);
    Ok(Value::NIL)
}
fn on_the_pool(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    cx.offload(|| -> i64 { panic!("on the pool") }).map(Value::fix)
}
fn detached(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    match cx.detached::<i64>() {
        Some(n) => Ok(Value::fix(n)),
        None => Err(cx.detach(1_000_000, Value::NIL, |_| -> i64 { panic!("while detached") })),
    }
}
fn stopped(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    cx.stop_world(|_| -> R { panic!("while the world was stopped") }).unwrap_or(Ok(Value::NIL))
}
fn with_state(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let s = cx.state::<Vec<u8>>();
    panic!("with a state of {} borrowed", s.len())
}
fn holding(cx: &mut Cx, recv: Value, a: &[Value]) -> R {
    let _l = cx.lock_objects(recv, a);
    panic!("holding locks")
}
fn called(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let m = cx.intern("boom_none");
    Err(cx.call(a[0], m, &[]))
}
fn compiling(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    struct Env;
    impl kumi_compiler::CompileEnv for Env {
        fn intern(&mut self, _: &[u8]) -> Sym {
            panic!("in the compiler")
        }
        fn name(&self, _: Sym) -> Vec<u8> {
            Vec::new()
        }
        fn intrinsic(&self, _: &str) -> Option<u16> {
            None
        }
    }
    let made = kumi_compiler::compile(b"foo(1)", &kumi_compiler::Options::file("x.rb"), &mut Env);
    Ok(cx.str(if made.is_ok() { "compiled" } else { "refused" }))
}

static TABLE: &[NativeDef] = &[
    n("Object", "boom_none", 0, -1, boom).guard(Guard::None),
    n("Object", "boom_objects", 0, -1, boom).guard(Guard::Objects),
    n("Object", "boom_world", 0, -1, boom).guard(Guard::World),
    n("Object", "boom_classes", 0, -1, boom).guard(Guard::Classes),
    n("Object", "boom_bounds", 0, -1, bounds).guard(Guard::Objects),
    n("Array", "boom_array", 0, -1, bounds),
    n("Array", "<=>", 1, 1, boom),
    n("Object", "boom_pool", 0, 0, on_the_pool).guard(Guard::None),
    n("Object", "boom_detached", 0, 0, detached).guard(Guard::None),
    n("Object", "boom_stop", 0, 0, stopped).guard(Guard::None),
    n("Object", "boom_state", 0, 0, with_state).guard(Guard::None),
    n("Object", "boom_locks", 0, -1, holding).guard(Guard::None),
    n("Object", "boom_called", 1, 1, called),
    n("Object", "boom_compiling", 0, 0, compiling),
    n("Object", "boom_define", 1, 1, number),
];

/// Runs a program on a runtime of its own; what it gives, inspected.
fn run(src: &str) -> String {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let text = fault::note(info);
            // Those of this file are expected.
            if !text.contains("faults.rs") || text.contains("assert") {
                eprintln!("{text}");
            }
        }));
    });
    let mut cx = kumi::assemble(kumi_vm::Options::default()).unwrap();
    cx.natives(TABLE);
    let dir = cx.str(kumi_vm::library::LIB_DIR);
    for (names, list) in [(["$:", "$LOAD_PATH"], vec![dir]), (["$\"", "$LOADED_FEATURES"], vec![])] {
        let v = cx.array_vec(list);
        names.iter().for_each(|n| cx.set_global(n, v));
    }
    let program = cx.str(src);
    cx.set_global("$program", program);
    let told = match cx.eval_system(b"TOPLEVEL_BINDING.eval($program, 'faults').inspect", "<internal:faults>", 1) {
        Ok(v) => cx.text(v),
        Err(_) => {
            let e = cx.pending.exc;
            cx.set_global("$program", e);
            let told = cx.eval_system(b"$program.full_message(highlight: false)", "<internal:faults>", 1).unwrap_or(Value::NIL);
            panic!("{src}: {}", cx.text(told))
        }
    };
    cx.end();
    told
}

/// Calls that panic, each by another way.
const CALLS: &[&str] = &[
    "boom_none",
    "boom_objects([], '')",
    "boom_world([], '')",
    "boom_classes",
    "boom_bounds([], {}, '')",
    "$list.boom_array('')",
    "$list <=> []",
    "1 while $list < 1",
    "send(:boom_none)",
    "method(:boom_objects).call([])",
    "[1].each { boom_none }",
    "boom_pool",
    "boom_detached",
    "boom_stop",
    "boom_state",
    "boom_locks($list, '')",
    "boom_called(1)",
    "boom_compiling",
    "boom_define(Object); boom_number",
    "Fiber.new { boom_none }.resume",
    "Fiber.new { Fiber.new { boom_objects($list) }.resume }.resume",
    "$list.instance_exec { boom_objects($list) }",
    "Class.new { boom_classes }",
    "eval('boom_none')",
    "\"#{boom_none}\"",
    "catch(:x) { boom_none }",
    "Struct.new(:a).new(1).boom_objects",
    "Mutex.new.synchronize { boom_world }",
    "def late(a = boom_none) = a; late",
];
const SETUP: &str = "
  $list = [1, 2]
  def $list.<(x) = boom_objects(self, x)
  def caught
    yield
    'nothing'
  rescue Exception => e
    ok = e.class.inspect == 'fatal' && e.message.start_with?('internal error: ') && e.message.include?('faults.rs:') && !e.backtrace.empty?
    ok ? :fatal : [e.class, e.message, e.backtrace]
  end
";

#[test]
fn a_panic_is_a_fatal_of_its_thread_that_says_where() {
    for c in CALLS {
        println!("{c}");
        assert_eq!(
            run(&format!("{SETUP}\n[caught {{ {c} }}, caught {{ {c} }}, $list.push(3).size, (def z = 1)]")),
            "[:fatal, :fatal, 3, :z]",
            "{c}"
        );
    }
}

#[test]
fn locks_are_free_afterwards_beside_other_threads() {
    // Two workers run in parallel, so that natives run with their guards; the same objects are used again.
    for c in CALLS {
        println!("{c}");
        let src = format!(
            "{SETUP}
             busy = Thread.new {{ i = 0; i += 1 until $done; i }}
             sleep 0.01
             r = 3.times.map {{ Thread.new {{ caught {{ {c} }} }} }}.map(&:value)
             $list << 1
             $list.concat([1], [2])
             Class.new {{ def a = 1 }}
             $done = true
             busy.join
             [r, $list.size]"
        );
        assert_eq!(run(&src), "[[:fatal, :fatal, :fatal], 5]", "{c}");
    }
}

#[test]
fn it_goes_past_rescue_and_through_ensure() {
    let src = "
      seen = []
      begin
        begin
          boom_none
        rescue => e
          seen << :rescued
        ensure
          seen << :ensured
        end
      rescue Exception => e
        seen << e.class.to_s
      end
      seen";
    assert_eq!(run(src), "[:ensured, \"fatal\"]");
}

#[test]
fn a_thread_dies_of_it_alone() {
    let src = "
      Thread.report_on_exception = false
      t = Thread.new { boom_objects([]) }
      u = Thread.new { sleep 0.01; :well }
      [(t.join rescue 0 if false), u.value, (begin; t.join; rescue Exception => e; e.class.to_s; end), t.status]";
    assert_eq!(run(src), "[nil, :well, \"fatal\", nil]");
}

#[test]
fn finalizers_and_time_limits_go_on() {
    let src = "
      require 'timeout'
      $ran = 0
      def make = 20.times { ObjectSpace.define_finalizer(Object.new, proc { $ran += 1; boom_none }) }
      $stderr = File.open('/dev/null', 'w')
      make
      GC.start
      GC.start
      100.times { sleep 0.001 }
      t = begin; Timeout.timeout(60) { boom_none; sleep }; rescue Exception => e; e.class.to_s; end
      u = begin; Timeout.timeout(0.01) { sleep }; rescue Timeout::Error; :in_time; end
      [$ran > 10, t, u]";
    assert_eq!(run(src), "[true, \"fatal\", :in_time]");
}
