//! Whatever is deep, in a program's data, in its text or in its tasks, ends in an answer or an exception: nothing recurses
//! natively by what a program chooses, so no process dies of its native stack.
//!
//! Structures of every class meet the methods that walk them; texts of every construct are nested beyond and just below the
//! limit; tasks, fibers, natives that call natives stand in long rows. Each runs in the main thread and in a thread of a
//! worker, whose native stack is small.

#[allow(dead_code)]
mod common;
use std::time::Duration;

/// What a program prints at its end; it must come to it, in a time that only tells an answer from a hang.
fn kumi(program: &str) -> String {
    let mut c = common::kumi(&["-W0", "-"]);
    c.env("RUBY_THREAD_VM_STACK_SIZE", "262144");
    let shown = &program[..program.len().min(2000)];
    let end = common::finish(&mut c, program.as_bytes(), Duration::from_secs(240)).unwrap_or_else(|| panic!("still running: {shown}"));
    assert!(end.status.success(), "{}: {shown}\n{}", end.status, end.err);
    assert!(!end.err.contains("internal error"), "{}", end.err);
    String::from_utf8_lossy(&end.out).into_owned()
}

/// Runs it in a thread, whose worker has a small native stack. The stacks of Ruby frames are smaller still, so that what
/// recurses in Ruby is over soon, and what recurses natively is not.
fn in_a_thread(program: &str) {
    let text = format!("body = lambda do\n{program}\nend\nThread.report_on_exception = false\nThread.new(&body).join\nputs 'end'");
    assert_eq!(kumi(&text), "end\n");
}

/// How a value is put into another of its class.
const STRUCTURES: &[&str] = &[
    "[a]",
    "[1, a, 2]",
    "{ a: a }",
    "{ [a] => 1 }",
    "S.new(a)",
    "D.new(a)",
    "O.new(a)",
    "Hash.new(a)",
    "proc { a }",
    "(a ? a >> :itself.to_proc : :itself.to_proc)",
    "(a || 1).method(:itself)",
    "(a ? a.method(:call) : 1.method(:itself))",
    "(a ? a.method(:call).to_proc : :itself.to_proc)",
    "Fiber.new { a&.resume }",
    "(a ? a + [1] : [1].each + [2])",
    "Queue.new.push(a)",
    "ObjectSpace::WeakMap.new.tap { |w| w[w] = a }",
];

/// What looks through a structure `a`, or two of them that are alike.
const WALKS: &[&str] = &[
    "a.inspect",
    "a.to_s",
    "\"#{a}\"",
    "a.hash",
    "a == b",
    "a.eql?(b)",
    "a === b",
    "a <=> b",
    "{ a => 1 }[b]",
    "[a, b].uniq",
    "[a] - [b]",
    "[a] & [b]",
    "[a].include?(b)",
    "[a].index(b)",
    "[a, b].sort",
    "[a, b].max",
    "[a].flatten",
    "[a].join",
    "[a].to_h { |x| [x, x] }",
    "Array(a)",
    "String(a)",
    "'%s %p' % [a, a]",
    "a.to_a",
    "a.to_h",
    "a.dup == b",
    "a.clone.frozen?",
    "a.call(1)",
    "a.resume",
    "a.size",
    "a.first",
    "a.each { }",
    "a.to_set",
    "Marshal.load(Marshal.dump(a))",
    "JSON.generate(a, max_nesting: 0)",
    "Ractor.make_shareable(a)",
    "Ractor.shareable?(a)",
    "Thread.new(a) { |x| x }.value",
    "$kept = a",
    "ObjectSpace.memsize_of(a)",
    "ObjectSpace.reachable_objects_from(a)",
    "case a; in b then 1; end",
    "a.dig(*[0] * 3000)",
    "[a].transpose",
    "$null.puts(a)",
    "raise a",
    "1 + a",
    "'' + a",
    "(a = b = nil; 2.times { GC.start })",
];

const CLASSES: &str = "require 'json'; require 'objspace'; require 'set'
  { S: Struct.new(:a), D: Data.define(:a), O: Class.new { def initialize(a) = @a = a } }.each { |k, c| Object.const_set(k, c) }
  $null = File.open('/dev/null', 'w')
";

#[test]
fn deep_structures_end_in_an_answer_or_an_exception() {
    for s in STRUCTURES {
        println!("{s}");
        let mut program = CLASSES.to_string();
        for w in WALKS {
            program += &format!(
                "a, b = 2.times.map {{ 100_000.times.inject(nil) {{ |a, _| {s} }} }} unless a
                 begin; {w}; rescue Exception => e; e.message; end\n"
            );
        }
        in_a_thread(&program);
    }
}

/// Texts of one construct in another: what is repeated before, what stands inside, what is repeated behind.
const TEXTS: &[(&str, &str, &str)] = &[
    ("[", "", "]"),
    ("(", "1", ")"),
    ("{a: ", "1", "}"),
    ("-> {", "", "}"),
    ("loop {", "", "}"),
    ("p(", "1", ")"),
    ("p ", "1", ""),
    ("!", "1", ""),
    ("-", "a", ""),
    ("not ", "1", ""),
    ("defined? ", "1", ""),
    ("a = ", "1", ""),
    ("a ||= ", "1", ""),
    ("1 ? 1 : ", "1", ""),
    ("1 ? (", "1", ") : 1"),
    ("if 1\n", "", "\nend"),
    ("while nil\n", "", "\nend"),
    ("begin\n", "", "\nend"),
    ("begin\nrescue\n", "", "\nend"),
    ("begin\nensure\n", "", "\nend"),
    ("case 1\nwhen 2\n", "", "\nend"),
    ("case 1\nin ", "a", "\nend"),
    ("def m\n", "", "\nend"),
    ("class << self\n", "", "\nend"),
    ("module M\n", "", "\nend"),
    ("\"#{", "1", "}\""),
    ("`#{", "1", "}`"),
    ("/#{", "1", "}/"),
    (":\"#{", "1", "}\""),
    ("", "a", ".b"),
    ("", "a", "&.b"),
    ("", "A", "::B"),
    ("", "a", "[0]"),
    ("", "1", " + 1"),
    ("", "a", " && a"),
    ("", "a", " || a"),
    ("", "1", " and 1"),
    ("", "1", " rescue 1"),
    ("", "1", " if 1"),
    ("", "1", " while nil"),
    ("", "1", "; 1"),
    ("", "'a'", " 'a'"),
    ("if nil\n", "elsif 1\n", "elsif 1\n"),
    ("(", "a", ",) = 1"),
    ("", "1", "..(1)"),
];
/// Constructs that need something around them.
const AROUND: &[(&str, &str, &str, &str, &str)] = &[
    ("case 1\nin ", "[", "1", "]", "\nend"),
    ("case 1\nin ", "{a: ", "1", "}", "\nend"),
    ("case 1\nin ", "^(", "1", ")", "\nend"),
    ("case 1\nin 1", " | 1", "", "", "\nend"),
    ("def m(", "(", "a", ")", "); end"),
    ("def m; ", "yield(", "1", ")", "; end"),
    ("if 1\n", "elsif 1\n", "", "", "\nend"),
    ("p(", "*[", "", "]", ")"),
    ("/", "(", "", ")", "/"),
    ("/", "[", "a", "]", "/"),
    ("a", ".b", "", "", " = 1"),
];

#[test]
fn deep_texts_compile_or_are_syntax_errors() {
    // Just below the limit of nesting in one construct or another, and far beyond it.
    for n in [900, 2400, 3300, 4900, 9900, 100_000] {
        let mut program = String::from("deep = [\n");
        let plain = TEXTS.iter().map(|(a, b, c)| ("", *a, *b, *c, ""));
        for (head, a, b, c, tail) in plain.chain(AROUND.iter().copied()) {
            program += &format!("[{}, {}, {}, {}, {}],\n", quoted(head), quoted(a), quoted(b), quoted(c), quoted(tail));
        }
        program += &format!(
            "]
             deep.each do |head, a, b, c, tail|
               text = \"raise 'compiled'\\n\" + head + a * {n} + b + c * {n} + tail
               begin
                 eval(text)
               rescue SyntaxError, RuntimeError, SystemStackError => e
                 e.message
               end
             end"
        );
        println!("{n}");
        in_a_thread(&program);
    }
}
fn quoted(t: &str) -> String {
    format!("'{}'", t.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Long rows of tasks, and of natives that call natives.
const ROWS: &[&str] = &[
    "t = (0...100_000).map { Thread.new { sleep } }; t.each(&:kill); t.each(&:join)",
    "t = (0...20_000).map { Thread.new { sleep } }; t.each { |x| x.raise('x') }; t.each { |x| x.join rescue 1 }",
    "t = (0...20_000).map { Thread.new { Thread.stop } }; Thread.pass until t.all?(&:stop?); t.each(&:wakeup); t.each(&:join)",
    "q = Queue.new; t = (0...20_000).map { Thread.new { q.pop } }; q.close; t.each(&:join)",
    "m = Mutex.new; m.lock; t = (0...20_000).map { Thread.new { m.synchronize { } } }; m.unlock; t.each(&:join)",
    "t = nil; 20_000.times { u = t; t = Thread.new { u&.value; 1 } }; t.value",
    "t = nil; 20_000.times { u = t; t = Thread.new { u ? u.value : raise('x') } }; begin; t.value; rescue; end",
    "def t(n) = n == 0 ? 1 : Thread.new { t(n - 1) }.value; t(10_000)",
    "f = Fiber.new { 1 }; 50_000.times { g = f; f = Fiber.new { g.resume } }; f.resume",
    "f = Fiber.new { raise 'x' }; 50_000.times { g = f; f = Fiber.new { g.resume } }; begin; f.resume; rescue; end",
    "f = Fiber.new { throw :x }; 50_000.times { g = f; f = Fiber.new { g.resume } }; begin; f.resume; rescue UncaughtThrowError; end",
    "f = Fiber.new { 1 }; 50_000.times { g = f; f = Fiber.new(&g.method(:resume)) }; f.resume",
    "f = nil; 50_000.times { g = f; f = Fiber.new { g ? g.transfer : 1 } }; f.transfer",
    "f = nil; 50_000.times { g = f; f = Fiber.new { Fiber.yield; g }; f.resume }; f = nil; GC.start",
    "send(*[:send] * 20_000, :itself)",
    "public_send(*[:public_send] * 20_000, :itself)",
    "__send__(*%i[send __send__ public_send] * 5000, :itself)",
    "m = 1.method(:itself); 100_000.times { m = m.method(:call) }; m.call",
    "m = 1.method(:itself); 100_000.times { m = m.method(:===) }; m.call rescue 1",
    "m = :itself.to_proc; 100_000.times { m = m.method(:call).to_proc }; m.call(1)",
    "m = :itself.to_proc; 100_000.times { m = m.method(:yield).to_proc }; [1].map(&m)",
    "c = Class.new; 100.times { |i| c.send(:alias_method, \"a#{i}\", i == 0 ? :itself : \"a#{i - 1}\") }; c.new.a99",
    "c = Class.new { define_method(:m, &:itself) }; c.new.m rescue 1",
    "o = Object.new; def o.method_missing(n, *a) = send(n, *a); begin; o.zork; rescue SystemStackError, NoMethodError; end",
    "e = nil; 5000.times { begin; raise 'x', cause: e; rescue => x; e = x; end }; e.full_message",
    "b = binding; 300.times { b = b.eval('x = 1; proc { binding }.call') }; b.local_variables",
    "c = Object; 2000.times { c = Class.new(c) }; [c.new.to_s, c.ancestors.size, c.instance_methods.size]",
    "Marshal.load(\"\\x04\\x08\" + '[' + \"\\x06\" * 100_000 + '0') rescue 1",
    "[\"[\\x06\", \"{\\x06\", 'I', \"e:\\x0fComparable\", \"C:\\x0bString\", \"o:\\x0bObject\\x06\"].each { |x| begin; Marshal.load(\"\\x04\\x08\" + x * 100_000 + '0'); rescue Exception; end }",
    "begin; JSON.parse('[' * 100_000 + ']' * 100_000, max_nesting: 0); rescue Exception; end",
    "begin; JSON.parse('{\"a\":' * 100_000 + '1' + '}' * 100_000, max_nesting: 0); rescue Exception; end",
    "%w~( (?: (?= [ (?<a> (?> a* {1} ? a|~.each { |x| begin; Regexp.new(x * 100_000).match('a' * 1000); rescue Exception; end }",
    "[['(', ')'], ['(?:a', ')*'], ['[', ']'], ['(?=', ')'], ['(a|', ')'], ['(?<a>', ')']].each { |x, y| begin; Regexp.new(x * 5000 + 'a' + y * 5000).match('a' * 100); rescue Exception; end }",
    "['{', '{a,', '[', '**/', '*'].each { |x| File.fnmatch(x * 10_000, 'a', File::FNM_EXTGLOB); Dir.glob(x * 1000) rescue 1 }",
    "['%', '%<', '%{', '%-'].each { |x| begin; (x * 100_000) % []; rescue Exception; end; Time.now.strftime(x * 10_000) }",
    "a = [1]; begin; a << a; a.flatten; rescue ArgumentError; end; a.inspect; a.hash; a == [a]",
];

#[test]
fn long_rows_of_tasks_and_calls_end() {
    for r in ROWS {
        println!("{r}");
        in_a_thread(&format!("require 'json'\n{r}"));
    }
    // At the end of the program they are still there.
    assert_eq!(kumi("(0...100_000).map { Thread.new { sleep } }; puts 'end'"), "end\n");
    assert_eq!(kumi("(0...20_000).map { Thread.new { begin; sleep; ensure; 1; end } }; puts 'end'"), "end\n");
    assert_eq!(kumi("x = ->(n) { at_exit { x.(n - 1) if n > 0 } }; x.(20_000); puts 'end'"), "end\n");
}
