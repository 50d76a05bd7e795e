//! No program gets hold of the runtime's own modules; and what natives of the prelude are given by mistake raises.
//!
//! The doors are those by which a program comes by an object it has not made: names, reflection, walks over the heap.

use std::process::Command;

fn kumi(program: &str) -> (String, String, Option<i32>) {
    let mut c = Command::new(env!("CARGO_BIN_EXE_kumi"));
    c.args(["-W0", "-e", program]).env_remove("RUBYOPT").env_remove("RUBYLIB");
    let out = c.output().unwrap();
    (String::from_utf8_lossy(&out.stdout).into_owned(), String::from_utf8_lossy(&out.stderr).into_owned(), out.status.code())
}

/// Each gives the internal module, or raises NameError, or nothing of the kind.
const DOORS: &[&str] = &[
    "KumiSys",
    "::KumiSys",
    "Object::KumiSys",
    "Object.const_get(:KumiSys)",
    "Object.const_get('KumiSys::Fatal')",
    "Object.const_get(:'<KumiSys>')",
    "Object.const_get('<KumiSys>')",
    "Kernel.const_get(:KumiSys)",
    "Object.send(:remove_const, :'<KumiSys>')",
    "Object.send(:remove_const, :KumiSys)",
    "Object.public_constant(:'<KumiSys>')",
    "Object.const_source_location('KumiSys')",
    "eval('KumiSys')",
    "eval('KumiSys', nil, '<internal:thread>')",
    "eval('KumiSys', nil, \"#{$LOADED_FEATURES.first}\")",
    "binding.eval('KumiSys')",
    "instance_eval('KumiSys')",
    "Object.class_eval('KumiSys')",
    "Marshal.load(\"\\x04\\x08m\\x0cKumiSys\")",
    "Marshal.load(\"\\x04\\x08m\\x0e<KumiSys>\")",
    "Object.constants.grep(/Kumi(?!himo)/).first",
    "Object.constants(false).map { |c| Object.const_get(c) }.find { |c| c.inspect == 'KumiSys' }",
    "ObjectSpace.each_object(Module).find { |m| m.inspect =~ /KumiSys>?\\z/ }",
    "ObjectSpace.each_object.find { |m| ::Module === m && m.inspect =~ /KumiSys>?\\z/ }",
    "ObjectSpace.each_object(Object.singleton_class).find { |m| m.inspect =~ /KumiSys>?\\z/ }",
    "require 'objspace'; ObjectSpace.reachable_objects_from(Object).find { |m| ::Module === m && m.inspect =~ /KumiSys>?\\z/ }",
    "[Kernel, Object, Class, Thread, singleton_class].flat_map(&:ancestors).find { |m| m.inspect =~ /KumiSys>?\\z/ }",
    "methods.map { |m| method(m).owner }.find { |m| m.inspect == 'KumiSys' }",
    "[1].each.size rescue 1; [proc { }, method(:p).to_proc, :a.to_proc, proc { |a, b| }.curry, (method(:p) >> method(:p)), {}.to_proc].map { |x| x.binding.receiver rescue nil }.find { |m| m.inspect == 'KumiSys' }",
];

#[test]
fn no_door_leads_to_the_helpers() {
    let mut program = String::from(
        "def door\n r = yield\n ::Module === r && r.inspect =~ /KumiSys/ ? 'open' : 'shut'\nrescue ::NameError, ::ArgumentError, ::TypeError\n 'shut'\nend\n",
    );
    for d in DOORS {
        program += &format!("$stdout.puts(door {{ {d} }} + {:?})\n", format!(" {}", d.replace('#', "")));
    }
    let (out, err, status) = kumi(&program);
    assert_eq!(status, Some(0), "{err}");
    assert_eq!(out.lines().count(), DOORS.len(), "{out}{err}");
    assert!(out.lines().all(|l| l.starts_with("shut")), "{out}");
}

#[test]
fn a_program_may_use_the_name() {
    let (out, err, _) =
        kumi("module KumiSys; X = 1; end; p KumiSys, KumiSys::X, defined?(KumiSys); p Integer('12'), [3, 1].sort_by { _1 }");
    assert_eq!(out, "KumiSys\n1\n\"expression\"\n12\n[1, 3]\n".replace("expression", "constant"), "{err}");
}

/// All that is left of the runtime's own in the reach of programs: constants below built-in classes, and methods whose names
/// say that they are internal. Each is called with what it does not expect; it may answer or raise.
#[test]
fn what_internals_are_in_reach_raise_when_misused() {
    let program = r#"
      hostile = [nil, 1, -1, 2**64, 1.5, '', "\xff", :a, [], [nil], {}, Object, Object.new, BasicObject.new, proc { }, 1..2, $stdout, Thread.current, Fiber.new { }]
      mods = ObjectSpace.each_object(Module).select { |m| Class === m || Module === m }
      n = 0
      seen = {}
      mods.each do |m|
        named = m.inspect
        [m.singleton_class.instance_methods(false) + m.singleton_class.private_instance_methods(false), m.instance_methods(false) + m.private_instance_methods(false)].each_with_index do |list, own|
          list.each do |name|
            next unless name.start_with?('__') && !%i[__send__ __id__ __method__ __dir__ __callee__ __abort=].include?(name) || named.start_with?('KumiSys')
            f = own == 0 ? m.method(name) : m.instance_method(name)
            next if seen[[named, name, own]]
            seen[[named, name, own]] = true
            recvs = own == 0 ? [m] : [nil, 1, '', [], m, Object.new]
            recvs.each do |r|
              g = own == 0 ? f : (f.bind(r) rescue next)
              (0..4).each do |argc|
                hostile.each_slice(argc == 0 ? 99 : 1) do |h|
                  begin
                    Thread.new { Thread.current.report_on_exception = false; g.call(*([h[0]] * argc)) }.join(0.5)
                  rescue Exception
                  end
                  n += 1
                end
              end
            end
          end
        end
      end
      $stdout.puts 'done'
      $stdout.flush
      exit!(0)
    "#;
    let (out, err, status) = kumi(program);
    assert_eq!((out.trim(), status), ("done", Some(0)), "{err}");
    assert!(!err.contains("internal error"), "{err}");
}
