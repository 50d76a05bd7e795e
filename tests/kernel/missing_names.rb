# Names that libraries expect to be there: module functions, constants, implicit parameters, traced globals.
include Process
p clock_gettime(CLOCK_MONOTONIC).is_a?(Float), Process.private_method_defined?(:kill), pid == $$
p Signal.private_instance_methods(false).sort, Marshal.private_instance_methods(false).include?(:dump)
p Ruby::VERSION == RUBY_VERSION, Ruby::ENGINE, Errno::EDOOFUS
# Whole seconds, of what a sleep took; here that is none, unless the machine stood still.
def slept
  t = clock_gettime(CLOCK_MONOTONIC)
  n = yield
  n.between?(0, (clock_gettime(CLOCK_MONOTONIC) - t).round)
end
p slept { Kernel.sleep(0.001) }, slept { sleep(Rational(1, 1000)) }, slept { Kernel.sleep(Rational(1, 500)) }

p proc { _2; binding.implicit_parameters }.call(1, 2), proc { it; binding.implicit_parameter_get(:it) }.call(7)
p proc { _1; proc { [binding.implicit_parameters, binding.implicit_parameter_defined?(:_1)] }.call }.call(1)
begin
  binding.implicit_parameter_get(:a)
rescue NameError => e
  puts e.message
end
b = binding
b.instance_variable_set(:@mark, 1)
p b.dup.instance_variable_get(:@mark), b.freeze.clone.frozen?, b.clone(freeze: false).frozen?

seen = []
trace_var(:$traced) { |v| seen << [:block, v] }
trace_var :$traced, proc { |v| seen << [:proc, v]; $traced = v + 100 if v < 3 }
$traced = 1
p $traced, seen
p untrace_var(:$traced).size
$traced = 5
p seen.size
begin
  untrace_var(:$never_named_anywhere)
rescue NameError => e
  puts e.message
end

buffer = IO::Buffer.new(16)
buffer.set_value(:U16, 0, 0x1234)
buffer.set_values([:u32, :F64], 4, [7, 1.5])
p buffer.get_values([:U8, :U8, :u32], 0), buffer.get_value(:F64, 8) rescue p $!
p buffer.get_string(0, 2), buffer.size, buffer.each(:U8, 0, 3).to_a
slice = buffer.slice(0, 4)
slice.set_string("abcd")
p buffer.get_string(0, 4), slice.valid?, (buffer.resize(2); slice.valid?)
p IO::Buffer.for("hello") { |x| x.readonly? }, IO::Buffer.string(4) { |x| x.set_string("ok") }
p (IO::Buffer.for("abc") & IO::Buffer.for("\xF0\x0F".b)).get_string
begin
  IO::Buffer.for("abc").set_string("x")
rescue IO::Buffer::AccessError => e
  puts e.message
end
# Who has no such method of its own.
[nil, true, 1, :a, "a", String, Kernel].each do |x|
  x.singleton_method(:zork)
rescue NameError => e
  puts "#{e.class} #{e.message} #{e.name.inspect} #{e.receiver.equal?(x)}"
end
