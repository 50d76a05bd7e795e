//! Tables that a program fills level off: whatever it makes and lets go of, however often.
#![cfg(target_os = "linux")]

use std::process::Command;

/// What fills a table, by name: Ruby that makes something new from the number `i` and lets go of it.
const FILLERS: &[(&str, &str)] = &[
    // Symbols.
    ("to_sym", r##""s#{i}".to_sym"##),
    ("interpolated symbol", r##":"dyn #{i}""##),
    ("Symbol#name", r##""sn#{i}".to_sym.name"##),
    ("Symbol#to_proc", r##""tp#{i}".to_sym.to_proc"##),
    ("symbol of another encoding", r##""é#{i}".encode("ISO-8859-1").to_sym"##),
    ("symbol key", r##"{"h#{i}": 1}"##),
    ("JSON keys", r##"JSON.parse("{\"j#{i}\": {\"k#{i}\": 1}}", symbolize_names: true)"##),
    ("YAML symbols", r##"YAML.load(":y#{i}: :z#{i}\n", permitted_classes: [Symbol])"##),
    ("Marshal symbols", r##"Marshal.load("\x04\b:\x0F#{"m%09d" % i}")"##),
    ("format names", r##"format("%{a#{i}}", "a#{i}": 1)"##),
    ("send of a missing name", r##"begin; 1.send("nope#{i}"); rescue NoMethodError; end"##),
    ("respond_to?", r##"1.respond_to?("never#{i}")"##),
    ("method_missing", r##"Anything.public_send("any#{i}", 1)"##),
    ("catch tag", r##"catch("c#{i}".to_sym) { throw "c#{i}".to_sym }"##),
    ("instance_variable_get", r##"Object.new.instance_variable_get("@miss#{i}")"##),
    ("const_get", r##"begin; Object.const_get("Miss#{i}"); rescue NameError; end"##),
    ("const_set", r##"m = Module.new; m.const_set("C#{i}", i); m.const_get("C#{i}")"##),
    ("class variable", r##"m = Class.new; m.class_variable_set("@@c#{i}", i); m.class_variable_get("@@c#{i}")"##),
    ("symbol in a WeakMap", r##"ObjectSpace::WeakMap.new["w#{i}".to_sym] = 1"##),
    ("local of a binding", r##"binding.local_variable_set("bl#{i}", 1)"##),
    ("local of a thread", r##"Thread.new { Thread.current["tl#{i}"] = 1 }.join if i % 20 == 0"##),
    ("keyword", r##"Anything.keywords("kw#{i}": 1)"##),
    ("Set of symbols", r##"Set["set#{i}".to_sym, i]"##),
    // Methods and classes.
    ("singleton method", "o = Object.new; def o.foo = 1; o.foo"),
    ("define_singleton_method", r##"o = Object.new; o.define_singleton_method("ds#{i}") { i }; o.send("ds#{i}")"##),
    ("singleton class", "Object.new.singleton_class"),
    ("Class.new", "c = Class.new { define_method(:foo) { i }; def bar = 2; attr_accessor :x }; o = c.new; o.foo; o.bar; o.x = 1; o.x"),
    ("define_method", r##"c = Class.new; c.define_method("m#{i}") { i }; c.new.send("m#{i}")"##),
    ("attr_accessor", r##"c = Class.new { attr_accessor "at#{i}" }; c.new.send("at#{i}=", 1)"##),
    ("Struct.new", r##"Struct.new(:"a#{i}", :b).new(1, 2).b"##),
    ("Struct.new with keywords", r##"Struct.new(:"k#{i}", keyword_init: true).new("k#{i}": 1)"##),
    ("Data.define", r##"Data.define(:"a#{i}", :b).new(1, 2).b"##),
    ("alias", r##"Class.new { def a = 1; alias b a; alias_method "al#{i}", :a }.new.b"##),
    ("extend", "m = Module.new { def z = 1 }; o = Object.new; o.extend(m); o.z"),
    ("include", "m = Module.new { def z = 1 }; Class.new { include m; prepend Comparable }.new.z"),
    ("refinement", "Module.new { refine(String) { def q = 1 } }"),
    ("clone of a class", "Class.new { def a = 1 }.clone.new.a"),
    ("redefinition", r##"eval("class Redefined; def foo = #{i}; end"); Redefined.new.foo"##),
    ("visibility", "Redefined.class_eval { def vis = 1; private :vis; public :vis; undef_method :vis }"),
    ("Method objects", "Object.new.method(:to_s).unbind; Object.new.method(:to_s).to_proc"),
    ("temporary name", r##"Class.new.set_temporary_name("fake<#{i}>")"##),
    ("nested class", "Module.new { const_set(:Inner, Class.new { def a = 1 }) }::Inner.new.a"),
    // Code.
    ("eval", r##"eval("x#{i} = #{i}; [x#{i}, :y#{i}, 'lit', 1.5, /r#{i}/, (1..#{i})]")"##),
    ("eval of a def", r##"Object.new.instance_eval("def m#{i} = #{i}; m#{i}")"##),
    ("eval of a block", r##"eval("->(a#{i}) { a#{i} + #{i} }").call(2)"##),
    ("eval of a class", r##"Module.new.module_eval("class Foo#{i}; X = 1; def a = X; end; Foo#{i}.new.a")"##),
    ("eval with constants", r##"Class.new { class_eval("def k = String") }.new.k"##),
    ("eval that fails", r##"begin; eval("1 + #{i} +"); rescue SyntaxError; end"##),
    ("eval that raises", r##"begin; eval("raise 'x#{i}'"); rescue => e; e.backtrace; e.backtrace_locations; end"##),
    ("eval in a fiber", r##"f = Fiber.new { eval("Fiber.yield #{i}; 2") }; f.resume; f.resume if i.odd?"##),
    ("eval in a thread", r##"eval("Thread.new { #{i} }").join if i % 20 == 0"##),
    ("instance_eval of a block", "Object.new.instance_eval { Redefined }"),
    ("once", r##"eval("[1, 2].map { |x| /a\#{x}/o }")"##),
    // Instance variables.
    ("names of variables", r##"Object.new.instance_variable_set("@v#{i}", i)"##),
    ("orders of variables", r##"o = Object.new; [1, 2, 3, 4, 5, 6].shuffle.each { |k| o.instance_variable_set("@o#{k}", i) }"##),
    ("variables of a String", r##""str".dup.instance_variable_set("@q#{i}", 1)"##),
    ("variables of a class", r##"Class.new.instance_variable_set("@cv#{i}", 1)"##),
    // Others.
    ("frozen strings", r##"-"fs#{i}""##),
    ("Regexp.new", r##"Regexp.new("a#{i}") =~ "xa#{i}""##),
    ("object_id", "Object.new.object_id"),
    ("threads", "Thread.new { i }.join if i % 20 == 0"),
    ("fibers", "Fiber.new { i }.resume"),
    ("suspended fibers", "Fiber.new { Fiber.yield i }.resume"),
    ("enumerators", "[1, 2].each_with_index.next"),
    ("finalizers", "ObjectSpace.define_finalizer(Object.new, FINALIZER)"),
    ("queues", "q = Queue.new; q << i; q.pop; Mutex.new.synchronize { }; ConditionVariable.new.signal"),
    ("exceptions", r##"begin; raise Class.new(StandardError), "x#{i}"; rescue => e; e.full_message; end"##),
    ("pipes", r##"r, w = IO.pipe; w << "x"; w.close; r.read; r.close"##),
];

fn run(program: &str, limit_kb: Option<u64>) -> String {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    c.args(["-W0", "-rjson", "-ryaml", "-rset", "-e", program]).env_remove("RUBYOPT").env_remove("RUBYLIB");
    if let Some(kb) = limit_kb {
        use std::os::unix::process::CommandExt;
        let limit = libc::rlimit { rlim_cur: kb << 10, rlim_max: kb << 10 };
        // SAFETY: a system call that is allowed between fork and exec.
        unsafe {
            c.pre_exec(move || if libc::setrlimit(libc::RLIMIT_AS, &limit) == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) })
        };
    }
    let out = c.output().expect("kumi runs");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(out.status.success(), "{}\n{text}{}", out.status, String::from_utf8_lossy(&out.stderr));
    text
}

/// Rows that may be left behind: what the library compiles when it is first used; and shapes, with the symbols in them, of
/// which the first thousand are not looked at.
const SPARE: [usize; 2] = [60, 1100];

#[test]
fn rows_of_what_was_let_go_of_are_used_again() {
    let mut program = String::from(
        "module Anything; def self.method_missing(n, *a) = n; def self.respond_to_missing?(*) = true; def self.keywords(**k) = k; end
class Redefined; end
FINALIZER = proc { }
KEYS = [:symbols, :methods, :codes, :globals, :shapes, :sites, :heap_live_slots]
def round(from, to, f)
  i = from
  while i < to
    f.call(i)
    i += 1
  end
  2.times { GC.start }
  KEYS.map { GC.stat(_1) }
end
def check(name, f)
  round(0, 300, f)
  # Some rows are freed by the collection after the one that freed what named them.
  first = round(300, 800, f)
  second = round(800, 3800, f)
  KEYS.zip(first, second) do |key, was, is|
    spare = %i[symbols shapes heap_live_slots].include?(key) ? SPARE[1] : SPARE[0]
    puts \"#{name}: #{key} grew from #{was} to #{is}\" if is > was + spare
  end
end
",
    );
    program.push_str(&format!("SPARE = {SPARE:?}\n"));
    for (name, code) in FILLERS {
        program.push_str(&format!("check({name:?}, ->(i) {{ {code} }})\n"));
    }
    program.push_str("puts :done");
    assert_eq!(run(&program, None), "done\n");
}

/// The same things all at once, round by round: the process takes no more memory at the end than soon after the beginning.
#[test]
fn memory_levels_off() {
    let mut program = String::from(
        "module Anything; def self.method_missing(n, *a) = n; def self.respond_to_missing?(*) = true; def self.keywords(**k) = k; end
class Redefined; end
FINALIZER = proc { }
def rss = File.read('/proc/self/statm').split[1].to_i * 4
ALL = [\n",
    );
    for (_, code) in FILLERS {
        program.push_str(&format!("  ->(i) {{ {code} }},\n"));
    }
    program.push_str(
        "]
i = 0
sizes = Array.new(12) do
  200.times { i += 1; ALL.each { |f| f.call(i) } }
  GC.start
  rss
end
# The last third against the third before it.
early, late = sizes[4, 4].max, sizes[8, 4].max
puts(late < early + early / 8 ? :level : sizes.inspect)",
    );
    assert_eq!(run(&program, None), "level\n");
}

/// With little address space the tables are small, so that they can be filled.
#[test]
fn a_full_table_raises_and_has_room_again() {
    let program = r##"
held = []
begin
  loop { held << "s#{held.size}".to_sym }
rescue NoMemoryError => e
  p e.message, held.size > 10_000
end
held.clear
GC.start
p "again".to_sym, GC.stat(:symbols) < 10_000

c, i = Class.new, 0
begin
  loop { c.define_method("m#{i += 1}") { } }
rescue NoMemoryError => e
  p e.message, i > 1000
end
begin
  def c.more = 1
rescue NoMemoryError => e
  p e.message
end
c = nil
GC.start
c = Class.new { def more = 2 }
p c.new.more, GC.stat(:methods) < 20_000

begin
  loop { eval("$g#{i += 1} = 1") }
rescue NoMemoryError => e
  p e.message
end
p :here
"##;
    let expected = "\"too many symbols\"\ntrue\n:again\ntrue\n\"too many methods\"\ntrue\n\"too many methods\"\n2\ntrue\n\"too many global variables\"\n:here\n";
    assert_eq!(run(program, Some(600_000)), expected);
}
