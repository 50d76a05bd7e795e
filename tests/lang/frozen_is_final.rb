# What is frozen stays as it is: each method of the classes that hold things, called with arguments and blocks that freeze the receiver when they are asked for
# something. What it holds after the call is what it held when it was frozen.
require "set"
Pair = Struct.new(:a, :b)
MADE = {
  Array => -> { [3, 1, 2, 2, [5, [6]], nil, "x"] },
  Hash => -> { { 1 => 2, "k" => [3], nil => 4 } },
  String => -> { +"hello wOrld o" },
  Set => -> { Set[1, 2, "x"] },
  Pair => -> { Pair.new([1], "b") },
}
$receiver = $held = nil
def held(x)
  case x
  when Array then "A" + x.map { |v| v.class.to_s + (Asked === v ? "" : v.inspect) }.join(",")
  when Hash then "H" + x.to_a.flatten(1).map { |v| v.class.to_s + (Asked === v ? "" : v.inspect) }.join(",") + x.default.class.to_s + x.default_proc.class.to_s + x.compare_by_identity?.to_s
  when String then x.dump + x.encoding.to_s
  when Set then x.to_a.map { |v| v.class.to_s + (Asked === v ? "" : v.inspect) }.join(",")
  else x.to_a.map { |v| v.class.to_s + (Asked === v ? "" : v.inspect) }.join(",")
  end
end
def freezes
  return if $receiver.nil? || $held
  $receiver.freeze
  $held = held($receiver)
end
class Asked
  def initialize(n) = @n = n
  def asked(v) = (freezes; v)
  def to_int = asked(@n)
  def to_i = asked(@n)
  def to_str = asked("o")
  def to_s = asked("o")
  def to_ary = asked([7, 8])
  def to_a = asked([7, 8])
  def to_hash = asked({ 9 => 10 })
  def to_h = asked({ 9 => 10 })
  def to_proc = asked(proc { |*x| x.first })
  def to_sym = asked(:a)
  def to_f = asked(1.0)
  def to_path = asked("o")
  def each = (freezes; yield(11); self)
  def ==(o) = asked(true)
  def eql?(o) = asked(true)
  def hash = asked(2.hash)
  def <=>(o) = asked(1)
  def ===(o) = asked(true)
  def =~(o) = asked(1)
  def coerce(o) = asked([o, 1])
  def call(*) = asked(1)
  def rand(n = 1) = asked(0)
  def succ = asked(12)
  def begin = asked(0)
  def begin? = true
  def to_r = asked(1r)
  def inspect = "asked"
end
SKIP = %i[send __send__ public_send instance_eval instance_exec freeze exit abort fork binding cycle extend define_singleton_method singleton_class display itself instance_variable_set
          remove_instance_variable method public_method singleton_method object_id __id__ then yield_self tap clone dup to_enum enum_for pack unpack unpack1 crypt debug]
def arguments(full)
  base = [Asked.new(1), Asked.new(0), 1, "o", [4, Asked.new(1)], { Asked.new(1) => Asked.new(2) }, nil, (Asked.new(0)..Asked.new(2) rescue 0..1), Set[3]]
  one = base.map { |x| [x] }
  two = base.first(4).product([Asked.new(1), 2])
  three = [[Asked.new(0), Asked.new(1), Asked.new(1)], [1, Asked.new(1), "z"], ["o", Asked.new(1), Asked.new(2)], [0, 1, [Asked.new(1)]]]
  [[]] + one + two + three
end
wrong = Hash.new(0)
calls = 0
MADE.each do |kind, make|
  names = kind.instance_methods(true) - Object.instance_methods + %i[initialize initialize_copy ==]
  (names - SKIP).sort.each do |name|
    arguments(true).each_index do |at|
      [false, true].each do |block|
        args = arguments(true)[at]
        given = args.any? { |x| Array === x || Hash === x }
        $held = nil
        $receiver = make.()
        # An element of it asks as well.
        case $receiver
        when Array then $receiver << Asked.new(1) if at.odd?
        when Hash then $receiver[:asked] = Asked.new(1) if at.odd?
        when Pair then $receiver.b = Asked.new(1) if at.odd?
        end
        n = 0
        begin
          calls += 1
          r = if block
            $receiver.__send__(name, *args) { |*x| (n += 1) > 40 ? raise(StopIteration) : freezes; x.first }
          else
            $receiver.__send__(name, *args)
          end
          r.first(3) if Enumerator === r && !(Enumerator::Lazy === r) && false
        rescue StandardError, NoMatchingPatternError, NotImplementedError, SystemStackError
        end
        wrong["#{kind}##{name}"] += 1 if $held && held($receiver) != $held
        $receiver = nil
      end
    end
  end
end
puts "many calls: #{calls > 5_000}"
puts "changed when frozen: #{wrong.empty? ? "none" : wrong.inspect}"
