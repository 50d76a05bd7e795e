# How many objects a form makes each time it is run.

# Prints for each text of `most` whether it makes no more objects than the number that stands beside it.
def report_allocations(most)
  most.each_key.with_index { |form, i| Object.class_eval "def f#{i} = (#{form})\ndef g#{i}; i = 0; while i < 50; f#{i}; i += 1; end; end" }
  most.each_with_index do |(form, limit), i|
    count = Array.new(3) { allocated { send(:"g#{i}") } }.min / 50
    puts "#{form}: #{count <= limit ? "no more than #{limit}" : "#{count}, not #{limit}"}"
  end
end

def allocated
  before = GC.stat(:total_allocated_objects)
  yield
  GC.stat(:total_allocated_objects) - before
end
