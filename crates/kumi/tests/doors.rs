//! What the virtual machine offers to native crates and no Ruby program sees by itself: records and methods by number,
//! waits for several descriptors, wakers, jobs, watchers of what hangs on cells. Natives made here stand for theirs.

use kumi_vm::*;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{PipeReader, PipeWriter};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// Runs a program on a runtime of its own, with the natives of this file. What it gives, inspected.
fn run(src: &str) -> String {
    let mut cx = kumi::assemble(kumi_vm::Options::default()).unwrap();
    cx.natives(TABLE);
    let (object, name) = (cx.k.object, "Row");
    let row = cx.define_class(object, name, object);
    cx.heap.edit(row).data.instance = Instance::None;
    let program = cx.str(src);
    cx.set_global("$program", program);
    let told = match cx.eval_system(b"TOPLEVEL_BINDING.eval($program).inspect", "<internal:doors>", 1) {
        Ok(v) => cx.text(v),
        Err(_) => {
            let e = cx.pending.exc;
            cx.set_global("$program", e);
            let told = cx.eval_system(b"$program.full_message(highlight: false)", "<internal:doors>", 1).unwrap_or(Value::NIL);
            panic!("{src}: {}", cx.text(told))
        }
    };
    cx.end();
    told
}

/// Fields of rows here are texts with commas between; some words are orders.
fn field(cx: &mut Cx, recv: Value, i: u32) -> R {
    let Some(r) = recv.as_record() else { return Err(cx.type_error("no row")) };
    if r.slot(i as usize) == Value::REMOVED {
        return Err(cx.runtime_error("removed"));
    }
    let part = r.row().split(|b| *b == b',').nth(i as usize).unwrap_or_default().to_vec();
    match &part[..] {
        b"call" => return Err(cx.call_helper("inspect", &[recv])),
        b"raise" => return Err(cx.arg_error("raised")),
        b"miss" => return Err(Exit::Miss),
        b"again" if !cx.io_waited() => return cx.park_io_within(-1, true, false, 1_000_000).map_or(Ok(Value::TRUE), Err),
        _ => {}
    }
    let s = cx.str_enc(&part, EncIndex::UTF_8);
    if let Some(h) = s.header() {
        h.set(flag::FROZEN);
    }
    cx.heap.fill_record(r, i as usize, s);
    Ok(s)
}
fn number(_: &mut Cx, _: Value, i: u32) -> R {
    Ok(Value::fix(i as i64))
}
/// `define_fields(class, names)`
fn define_fields(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let names = cx.arg_array(a, 1)?;
    for (i, n) in names.seen().iter().enumerate() {
        let Some(n) = n.as_sym() else { continue };
        cx.define_field(c, n, field, i as u32, Vis::Public);
    }
    let n = cx.intern("number");
    cx.define_indexed(c, n, number, 7, Vis::Public);
    Ok(Value::NIL)
}
/// `make_row(class, text)`: of three fields.
fn make_row(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let c = cx.arg_class(a, 0)?;
    let text = cx.arg_str(a, 1)?;
    Ok(cx.heap.record(c, text.bytes(), 3).val())
}
fn remove_field(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let i = cx.arg_i64(a, 1)?;
    if let Some(r) = a[0].as_record() {
        cx.heap.fill_record(r, i as usize, Value::REMOVED);
    }
    Ok(Value::NIL)
}

/// What `called` waits for, by number: was it called?
static CALLED: Mutex<BTreeMap<i64, bool>> = Mutex::new(BTreeMap::new());

/// Those that were let go, of which `called` is told to wait for that.
static LET_GO: Mutex<BTreeSet<i64>> = Mutex::new(BTreeSet::new());

/// `let_go(number)`
fn let_go(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    LET_GO.lock().unwrap().insert(cx.arg_i64(a, 0)?);
    Ok(Value::NIL)
}
/// `called(number, how, microseconds)`: waits until somebody outside has called; below 0: who calls once that is let go.
fn called(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let (n, how, after) = (cx.arg_i64(a, 0)?, cx.arg_i64(a, 1)?, cx.arg_i64(a, 2)?);
    let (waker, second) = (cx.waker(), cx.waker());
    let before = CALLED.lock().unwrap().get(&n).copied();
    if before == Some(true) {
        cx.no_wait();
        waker.wake();
        return Ok(Value::fix(n));
    }
    let call = move || {
        std::thread::sleep(Duration::from_micros(after.max(0) as u64));
        while after < 0 && !LET_GO.lock().unwrap().contains(&n) {
            std::thread::sleep(Duration::from_millis(1));
        }
        CALLED.lock().unwrap().insert(n, true);
        waker.clone().wake();
        waker.wake();
        second.wake();
    };
    // Called again for another reason, it waits for the first caller's: its waker names a wait that is over.
    CALLED.lock().unwrap().insert(n, false);
    if how == 0 {
        if !cx.spawn_job(call) {
            cx.no_wait();
            return Ok(Value::FALSE);
        }
    } else {
        cx.from_outside();
        std::thread::spawn(call);
    }
    // Nothing ever comes there.
    static QUIET: OnceLock<(PipeReader, PipeReader, PipeWriter, PipeWriter)> = OnceLock::new();
    let (a, b, ..) = QUIET.get_or_init(|| {
        let ((a, wa), (b, wb)) = (std::io::pipe().unwrap(), std::io::pipe().unwrap());
        (a, b, wa, wb)
    });
    Err(match how {
        2 => cx.park_io_any(&[(a.as_raw_fd(), true, false), (b.as_raw_fd(), true, false)], u64::MAX),
        3 => cx.park_io(a.as_raw_fd(), true, false),
        _ => cx.park(u64::MAX),
    })
}
/// `job`: runs one on the pool, waits for nothing. Is a worker said to be idle?
fn job(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let idle = cx.idle_workers();
    cx.spawn_job(|| panic!("a job's panic is nobody's"));
    Ok(Value::bool(idle < 64))
}

/// What hangs on handles outside the heap.
#[derive(Default)]
struct Things {
    made: AtomicUsize,
    dropped: AtomicUsize,
    unneeded: AtomicBool,
    waiters: Mutex<Vec<Waker>>,
}
impl OutsideWatch for Things {
    fn asks(&self) -> Asks {
        if !self.unneeded.load(SeqCst) { Asks::WhereCodeRan } else { Asks::Nothing }
    }
}
#[derive(Default)]
struct OfRuntime(Option<Arc<Things>>);

struct Handle(Arc<Things>);
impl Payload for Handle {
    fn confined(&self) -> bool {
        true
    }
}
impl Drop for Handle {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, SeqCst);
        self.0.waiters.lock().unwrap().drain(..).for_each(|w| w.wake());
    }
}
fn things(cx: &mut Cx) -> Arc<Things> {
    let all = cx.state::<OfRuntime>().0.get_or_insert_default().clone();
    let watch: Arc<dyn OutsideWatch> = all.clone();
    if watch.asks() > Asks::Nothing {
        cx.watch_outside(&watch);
    }
    all
}
/// `handles(n)`: so many, in an Array.
fn handles(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    let all = things(cx);
    let out: Vec<Value> = (0..cx.arg_i64(a, 0)?)
        .map(|_| {
            all.made.fetch_add(1, SeqCst);
            cx.data(cx.k.object, Handle(all.clone()))
        })
        .collect();
    Ok(cx.array_vec(out))
}
/// `all_dropped?`
fn all_dropped(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let all = things(cx);
    Ok(Value::bool(all.dropped.load(SeqCst) == all.made.load(SeqCst)))
}
/// `wait_dropped`: until all are, doing nothing.
fn wait_dropped(cx: &mut Cx, _: Value, _: &[Value]) -> R {
    let all = things(cx);
    let waker = cx.waker();
    all.waiters.lock().unwrap().push(waker);
    if all.dropped.load(SeqCst) == all.made.load(SeqCst) {
        cx.no_wait();
        return Ok(Value::TRUE);
    }
    cx.from_outside();
    Err(cx.park(u64::MAX))
}
fn unneeded(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    things(cx).unneeded.store(a[0].truthy(), SeqCst);
    Ok(Value::NIL)
}

static TABLE: &[NativeDef] = &[
    private("Kernel", "handles", 1, 1, handles).guard(Guard::None),
    private("Kernel", "all_dropped?", 0, 0, all_dropped).guard(Guard::None),
    private("Kernel", "wait_dropped", 0, 0, wait_dropped).guard(Guard::None),
    private("Kernel", "unneeded", 1, 1, unneeded).guard(Guard::None),
    private("Kernel", "called", 3, 3, called).guard(Guard::None),
    private("Kernel", "let_go", 1, 1, let_go).guard(Guard::None),
    private("Kernel", "job", 0, 0, job).guard(Guard::None),
    private("Kernel", "define_fields", 2, 2, define_fields).guard(Guard::Classes),
    private("Kernel", "make_row", 2, 2, make_row),
    private("Kernel", "remove_field", 2, 2, remove_field),
];

/// Before the programs about rows.
const ROWS: &str = "define_fields(Row, [:a, :b, :c])\n";

fn rows(src: &str) -> String {
    run(&format!("{ROWS}{src}"))
}

#[test]
fn fields_are_methods_like_others() {
    let got = rows(
        "r = make_row(Row, 'x,y,z')
         m = r.method(:b)
         class << (alien = Object.new); end
         [r.a, r.a.equal?(r.a), r.b { }, r.send(:c), r.public_send(:a), m.call, m.arity, m.parameters, m.owner, m == r.method(:b), m == r.method(:c),
          r.respond_to?(:c), r.respond_to?(:d), [r, r].map(&:c), r.number, Row.instance_methods(false),
          (r.a(1) rescue $!.message), (r.a(x: 1) rescue $!.message), (r.nothing rescue $!.class),
          (m.unbind.bind(alien).call rescue $!.class)]",
    );
    assert_eq!(
        got,
        "[\"x\", true, \"y\", \"z\", \"x\", \"y\", 0, [], Row, true, false, true, false, [\"z\", \"z\"], 7, [:a, :b, :c, :number], \
         \"wrong number of arguments (given 1, expected 0)\", \"wrong number of arguments (given 1, expected 0)\", NoMethodError, TypeError]"
    );
}

#[test]
fn fields_are_redefined_overridden_and_aliased() {
    let got = rows(
        "sub = Class.new(Row) { def a = super + '!'; def b = super() * 2; alias_method :e, :c; private :c }
         r = make_row(sub, 'x,y,z')
         first = 3.times.map { [r.a, r.b, r.e] }.last
         Row.class_eval { def b = 'new' ; remove_method :a }
         s = make_row(Row, 'x,y,z')
         Row.send(:undef_method, :c)
         [first, r.b, (r.c rescue $!.class), (s.a rescue $!.class), s.b, (s.c rescue $!.class), r.method(:e).name]",
    );
    assert_eq!(got, "[[\"x!\", \"yy\", \"z\"], \"newnew\", NoMethodError, NoMethodError, \"new\", NoMethodError, :e]");
}

#[test]
fn a_field_may_leave_by_every_exit() {
    let got = rows(
        "out = 3.times.map do
           r = make_row(Row, 'raise,miss,again')
           call = make_row(Row, 'call,,')
           fresh = -> { make_row(Row, ',,again') }
           t = Thread.new { fresh.().c }
           [(r.a rescue $!.message), (r.b rescue $!.message), r.c, fresh.().send(:c), fresh.().method(:c).call, t.value, call.a.class]
         end
         out.uniq",
    );
    assert_eq!(
        got,
        "[[\"raised\", \"Row#b has no general form for these arguments\", \"again\", \"again\", \"again\", \"again\", String]]"
    );
}

#[test]
fn records_are_frozen_and_removed_fields_stay_removed() {
    let got = rows(
        "r = make_row(Row, 'x,y,z'); r.a
         d = r.dup; c = r.clone; u = r.clone(freeze: false)
         removed = 3.times.map { remove_field(r, 0); r.a rescue $!.message }.uniq
         [r.frozen?, d.frozen?, c.frozen?, d.a, c.b, u.c, removed, d.class, r == r, r == d, r.hash == r.hash, [r].include?(r),
          (r.instance_variable_set(:@a, 1) rescue $!.class), (r.define_singleton_method(:x) { } rescue $!.class), (r.singleton_class.frozen?),
          (Row.new rescue $!.class), (Row.allocate rescue $!.class), (Marshal.dump(r) rescue $!.class), r.inspect[0, 5], r.instance_variables,
          Ractor.shareable?(d)]",
    );
    assert_eq!(
        got,
        "[true, true, true, \"x\", \"y\", \"z\", [\"removed\"], Row, true, false, true, true, FrozenError, FrozenError, true, \
         TypeError, TypeError, TypeError, \"#<Row\", [], true]"
    );
}

#[test]
fn many_records_live_and_die() {
    let got = rows(
        "kept = []
         20_000.times do |i|
           r = make_row(Row, \"#{i},#{'x' * (i % 97)},#{'y' * (i % 11 == 0 ? 3000 : 3)}\")
           r.a if i.odd?
           kept << r if i % 10 == 0
         end
         GC.start
         [kept.each_with_index.all? { |r, i| r.a == (i * 10).to_s && r.b.size == i * 10 % 97 && r.c.size >= 3 }, kept.size,
          ObjectSpace.each_object(Row).count >= 2000, ObjectSpace.count_objects[:T_DATA] >= 2000]",
    );
    assert_eq!(got, "[true, 2000, true, true]");
}

#[test]
fn threads_read_the_same_records() {
    let got = rows(
        "all = 3000.times.map { |i| make_row(Row, \"#{i},b,c\") }
         4.times.map { Thread.new { all.each_with_index.all? { |r, i| r.a == i.to_s && r.b == 'b' && r.number == 7 } } }.map(&:value)",
    );
    assert_eq!(got, "[true, true, true, true]");
}

#[test]
fn wakers_end_waits_from_any_thread() {
    let got = run("a = 300.times.map { |i| called(1000 + i, i % 4, i % 3 * 20) }
         b = 4.times.map { |t| Thread.new { 100.times.map { |i| called(2000 + t * 100 + i, i % 4, i % 7 * 10) } } }.flat_map(&:value)
         s = Process.clock_gettime(Process::CLOCK_MONOTONIC)
         sleep 0.05
         [a == (1000...1300).to_a, b == (2000...2400).to_a, Process.clock_gettime(Process::CLOCK_MONOTONIC) - s >= 0.05]");
    assert_eq!(got, "[true, true, true]");
}

#[test]
fn what_a_waker_ends_may_be_ended_otherwise_first() {
    let got = run("t = Thread.new { called(3000, 1, -1) rescue $!.message }
         Thread.pass until t.stop?
         t.raise('out')
         first = t.value
         u = Thread.new { called(3001, 1, -1) }
         Thread.pass until u.stop?
         u.kill.join
         let_go(3000)
         let_go(3001)
         sleep 0.1
         [first, called(3002, 0, 10), job, Thread.new { job }.value]");
    assert_eq!(got, "[\"out\", 3002, true, true]");
}

#[test]
fn jobs_are_bounded_and_hide_no_deadlock() {
    let got = run("many = 200.times.map { |i| Thread.new { called(4000 + i, 0, -1) } }
         Thread.pass until many.all?(&:stop?)
         200.times { |i| let_go(4000 + i) }
         many.map!(&:value)
         dead = begin
           Thread.new { called(5000, 0, 10); called(5001, 2, 10); called(5002, 3, 10) }.join
           Queue.new.pop
         rescue Exception => e
           e.class.to_s
         end
         [many.count(false) > 0, many.grep(Integer).size >= 8, dead]");
    assert_eq!(got, "[true, true, \"fatal\"]");
}

/// Programs at whose end no handle is left, though nobody asks for a collection.
const OUTSIDE: [&str; 8] = [
    // The program does nothing.
    "def make = handles(30).size
     [make, wait_dropped]",
    // It allocates nothing.
    "def make = handles(30).size
     def busy; i = 0; i += 1 until all_dropped?; end
     [make, busy.nil?]",
    // They are old.
    "def make
       a = [handles(30)]
       3.times { GC.start }
       a.pop.size
     end
     [make, wait_dropped]",
    // Other workers made them, whose threads are over, or wait, or compute.
    "def make = handles(10).size
     q = Queue.new
     t = 3.times.map { |k| Thread.new { n = make; k == 0 ? q.pop : k == 1 ? (i = 0; i += 1 until all_dropped?) : 0; n } }
     done = wait_dropped
     q << 1
     [t.sum(&:value), done == true]",
    // What calls have left in the frame that waits does not keep them.
    "def use(a, b = nil, *c) = a
     doc = handles(30)
     use(1, use(doc).size, use(2, doc))
     doc.each { |x| use(x.itself) }
     n = doc.size
     doc = nil
     [n, wait_dropped]",
    "def use(a, b = nil, *c) = a
     def run
       use(1, use(handles(30)).size, use(2, [3, [4, use(handles(0))]]))
       i = 0
       i += 1 until all_dropped?
       30
     end
     [run, true]",
    "def use(a, k: 1) = a
     def run
       doc = handles(30)
       use(use(use(doc.first, k: doc), k: 3))
       doc.map { |x| [x] }.size
     end
     n = run
     Thread.new { sleep 0.001 }.join
     [n, Thread.new { wait_dropped }.value]",
    // A fiber made them and waits.
    "def make = handles(30).size
     f = Fiber.new { Fiber.yield make; 1 }
     [f.resume, wait_dropped]",
];

#[test]
fn what_hangs_on_dead_cells_ends_soon() {
    for p in OUTSIDE {
        assert_eq!(run(p), "[30, true]");
    }
}

#[test]
fn it_ends_soon_under_every_publishing_rule() {
    for rule in ["off", "paper"] {
        let me = std::env::current_exe().unwrap();
        let out = std::process::Command::new(me).arg("what_hangs_on_dead_cells").env("KUMI_TLH", rule).output().unwrap();
        assert!(out.status.success(), "KUMI_TLH={rule}: {}", String::from_utf8_lossy(&out.stdout));
    }
}

#[test]
fn nothing_is_collected_for_an_idle_program_or_when_nothing_is_watched() {
    let got = run("def make = handles(1).size
         make
         n = GC.count
         sleep 4
         idle = GC.count - n
         unneeded(true)
         sleep 1.2
         n = GC.count
         t = Process.clock_gettime(Process::CLOCK_MONOTONIC)
         i = 0
         i += 1 while Process.clock_gettime(Process::CLOCK_MONOTONIC) - t < 1.5
         quiet = GC.count - n
         unneeded(false)
         make
         [idle.between?(1, 2), quiet, wait_dropped, GC.count > n]");
    assert_eq!(got, "[true, 0, true, true]");
}

#[test]
fn deadlocks_are_seen_beside_a_watch() {
    let got = run("handles(1)
                   begin
                     Thread.new { sleep 0.01 }.join
                     Queue.new.pop
                   rescue Exception => e
                     e.class.to_s
                   end");
    assert_eq!(got, "\"fatal\"");
}
