//! What native crates hand from one thread to another: roots that are moved in constant time, and graphs that are shared.
//! Natives made here stand for theirs.

use kumi_vm::share::Shared;
use kumi_vm::*;

/// `hand_over(x)`
fn hand_over(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    cx.move_root(a[0])
}
/// `share(x)`: true, what is for Ruby to make shareable, or what cannot be and where it is.
fn share(cx: &mut Cx, _: Value, a: &[Value]) -> R {
    Ok(match cx.make_shareable(a[0])? {
        Shared::Done => Value::TRUE,
        Shared::Own(list) => cx.array_vec(list),
        Shared::Refused(e) => {
            let text = cx.not_shareable(&e);
            cx.str(&text)
        }
    })
}

static TABLE: &[NativeDef] =
    &[private("Kernel", "hand_over", 1, 1, hand_over).guard(Guard::None), private("Kernel", "share", 1, 1, share).guard(Guard::None)];

/// Before all programs.
const GONE: &str = "def gone?(x)
  [-> { x.size }, -> { x << 1 }, -> { x[0] }, -> { x.frozen? }, -> { x.inspect }, -> { x == 1 }, -> { x.held = 1 }].all? { |f|
    begin; f.call; false; rescue Ractor::MovedError; true; end }
end
Point = Struct.new(:a, :b)
class Held; attr_accessor :held; def initialize(h) = @held = h; def later(n) = n.times { |i| instance_variable_set(\"@v#{i}\", [i]) }; end
";

/// Runs a program on a runtime of its own, collecting at every `stress`-th safepoint. What it gives, inspected.
fn run_stressed(stress: u32, src: &str) -> String {
    // Its workers go on: they are never dropped while their runtime lives.
    let cx = Box::leak(kumi::assemble(kumi_vm::Options::default()).unwrap());
    cx.natives(TABLE);
    cx.gc_stress = stress;
    let program = cx.str(&format!("{GONE}{src}"));
    cx.set_global("$program", program);
    match cx.eval_system(b"TOPLEVEL_BINDING.eval($program).inspect", "<internal:hand_over>", 1) {
        Ok(v) => cx.text(v),
        Err(_) => {
            let e = cx.pending.exc;
            cx.set_global("$program", e);
            let told = cx.eval_system(b"$program.full_message(highlight: false)", "<internal:hand_over>", 1).unwrap_or(Value::NIL);
            panic!("{src}: {}", cx.text(told))
        }
    }
}
#[track_caller]
fn check(src: &str, wanted: &str) {
    for stress in [0, 1] {
        assert_eq!(run_stressed(stress, src), wanted, "stress {stress}");
    }
}

#[test]
fn a_new_root_has_all_that_the_old_one_had() {
    check(
        "kinds = [[1], (1..100).map(&:to_s), +'short', +'long' * 100, {a: 1}, (1..100).to_h { |i| [i, i.to_s] }, Hash.new { |h, k| [k] }, Hash.new([1]),
           {}.compare_by_identity, Set[1, 2], Set.new(1..100), Point.new([1], 'b'), Held.new([2]), Held.new(3).tap { |h| h.later(30) },
           Class.new(Array) { def own = 1 }.new([4]), Class.new(String).new('sub'), 'bytes'.b, 'x'.encode('utf-16le')]
         kinds.map do |old|
           copy = old.dup
           inside = Array === old ? old.first : nil
           new = hand_over(old)
           state = ->(x) { [x.class, x.instance_variables.map { |n| x.instance_variable_get(n) }, (x.encoding if String === x), x.frozen?,
             (x.default_proc if Hash === x), (x.default if Hash === x), (x.compare_by_identity? if Hash === x)] }
           same = Held === new ? state[new] == state[copy] : new == copy && state[new] == state[copy]
           new << 5 if Array === new || Set === new
           new << 'more' if String === new && new.encoding == Encoding::UTF_8
           new[:more] = [6] if Hash === new
           new.held = 7 if Held === new
           same && gone?(old) && (inside.nil? || new.first.equal?(inside)) || copy
         end.uniq",
        "[true]",
    );
}

#[test]
fn variables_beside_a_cell_and_singleton_methods_go_along_and_the_rest_stays() {
    check(
        "a = [1]
         a.instance_variable_set(:@beside, [2])
         def a.single = [self, size]
         a.extend(Comparable)
         id = a.object_id
         single = a.singleton_class
         $ended = []
         ObjectSpace.define_finalizer(a, proc { |i| $ended << i })
         b = hand_over(a)
         c = hand_over(b)
         def c.more = 1
         said = [c.instance_variable_get(:@beside), c.single, Comparable === c, c.singleton_class.equal?(single), c.singleton_methods(false), c.object_id == id,
                 gone?(a), gone?(b), (a.single rescue $!.class), c.singleton_class.inspect[0, 16]]
         GC.start
         said",
        "[[2], [[1], 1], true, true, [:single, :more], false, true, true, Ractor::MovedError, \"#<Class:#<Array:\"]",
    );
}

#[test]
fn what_cannot_change_is_not_moved_and_what_threads_wait_in_is_refused() {
    check(
        "same = [nil, 1, :s, 1.5, 'f'.freeze, [1].freeze, Object, 2**80, 1r, (1..2), Ractor.current, Ractor.make_shareable([+'x']), /re/]
         no = [Thread.current, Mutex.new, Queue.new, proc { }, 1.method(:+), [1].each, binding, Fiber.new { }, ThreadGroup.new]
         t = Time.at(7)
         u = hand_over(t)
         moved = hand_over([1])
         old = [2]
         hand_over(old)
         r, w = IO.pipe
         w2 = hand_over(w)
         w2 << 'piped'
         w2.close
         [same.all? { |x| hand_over(x).equal?(x) }, no.map { |x| begin; hand_over(x); rescue Ractor::Error => e; e.message; end }.uniq.size,
          no.all? { |x| x.inspect }, [u.to_i, gone?(t)], [r.read, gone?(w)], begin; hand_over(old); rescue Ractor::MovedError => e; e.message; end,
          Ractor.shareable?(moved), begin; share([[hand_over([1]), old]]); rescue Ractor::MovedError => e; e.message; end,
          begin; Ractor.make_shareable([old]); rescue Ractor::MovedError, Ractor::Error => e; e.class; end]",
        "[true, 9, true, [7, true], [\"piped\", true], \"can not send any methods to a moved object\", false, \
         \"a Ractor::MovedObject: at [0][1]\", Ractor::MovedError]",
    );
}

#[test]
fn moved_again_and_again_nothing_is_lost_or_freed_twice() {
    check(
        "small = ->(i) { [i, [i]] }
         kept = []
         list, hash, text, object = (0...300).map(&small), (0...300).to_h(&small), +'t' * 300, Held.new(0).tap { |h| h.later(40) }
         (GC.stress ? 40 : 2000).times do |i|
           olds = [list, hash, text, object]
           list, hash, text, object = olds.map { |x| hand_over(x) }
           kept << olds if i % 50 == 0
           list << [i]; list.shift
           hash.delete(hash.first[0]); hash[-i - 1] = [i]
           text << 'u'; text[0] = ''
           object.held = [i]; object.instance_variable_set(\"@v#{i % 40}\", [i])
           (GC.start; kept.shift) if i % 400 == 0
         end
         [list.size, list.all? { |x| Array === x }, hash.size, hash.values.all? { |x| Array === x }, text.size, object.held.size, object.instance_variables.size,
          kept.flatten(1).all? { |x| gone?(x) }]",
        "[300, true, 300, true, 300, 1, 41, true]",
    );
}

/// Readers and writers of an old root, on other threads: they see all that it held, or that it is gone.
#[test]
fn others_may_be_at_the_old_root() {
    let src = "sizes = [2, 3, 200]
         odd = Queue.new
         60.times do |round|
           n = sizes[round % 3]
           roots = [(1..n).map { |i| [i] }, (1..n).to_h { |i| [i, [i]] }, +'x' * n, Held.new([n]).tap { |h| h.later(n % 50) }, Point.new([n], [n])]
           old = roots[round % 5]
           stop = false
           others = 3.times.map do |k|
             Thread.new do
               until stop
                 case old
                 when Array
                   k == 0 ? old << [0] : k == 1 ? old[1] = [1] : old.each { |x| odd << x unless Array === x }
                 when Hash
                   k == 0 ? old[rand(1000)] = [0] : k == 1 ? old.delete(rand(1000)) : old.to_a.each { |_, x| odd << x unless Array === x }
                 when String
                   k == 0 ? old << 'x' : k == 1 ? old[0] = 'x' : (odd << old.dup unless old.count('x') == old.size || k == 2)
                 when Point
                   k == 0 ? old.a = [0] : (odd << old.a unless Array === old.a)
                 when Held
                   k == 0 ? old.held = [0] : k == 1 ? old.v1 : (odd << old.held unless Array === old.held)
                 else break
                 end
               end
             rescue Ractor::MovedError, FrozenError, NoMethodError
               nil
             end
           end
           Thread.pass
           new = hand_over(old)
           200.times { |i| case new
             when Array then new << [i]; new.pop; new[0] = [i]
             when Hash then new[i] = [i]; new.delete(i - 1)
             when String then new << 'x'; new[0] = 'x'
             when Held then new.held = [i]
             when Point then new.a = [i]
             end }
           odd << round unless gone?(old)
           stop = true
           others.each(&:join)
           odd << [:lost, round] if Array === new && !new.all? { |x| Array === x } || Hash === new && !new.values.all? { |x| Array === x }
         end
         odd.size.times.map { odd.pop }";
    assert_eq!(run_stressed(0, src), "[]");
    assert_eq!(run_stressed(50, src), "[]");
}

#[test]
fn a_part_that_cannot_be_shared_is_named_with_the_way_to_it() {
    check(
        "t = Thread.current
         deep = inner = []
         30.times { inner << 0 << (inner = []) }
         inner << t
         a = [1]; a.instance_variable_set(:@beside, [t])
         [share([1, 2, 3, { name: t }]), share({ 'k' => [t] }), share({ t => 1 }), share(Hash.new($stdout)), share(Held.new([0, Mutex.new])), share(Point.new(1, t)),
          share(t), share(deep), share(a), share([[1], proc { }, [2]])[0].class, share([1, [2]]), share([RuntimeError.new('m')]),
          share([begin; raise 'x'; rescue => e; e; end])]",
        "[\"a Thread: at [3][:name]\", \"a Thread: at [\\\"k\\\"][0]\", \"a Thread: at .key(a Thread)\", \"an IO: at .default\", \
         \"a Thread::Mutex: at .@held[1]\", \"a Thread: at [1]\", \"a Thread\", \"a Thread: at [1][1][1][1][1][1]…[1][1][1][1][1][0]\", \
         \"a Thread: at .@beside[0]\", Proc, true, true, \"a RuntimeError: at [0]\"]",
    );
}
