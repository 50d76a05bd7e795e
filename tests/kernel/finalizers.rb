# Finalizers run in whichever thread comes by. What befalls that thread in the meantime ends none of them, and loses none.
MAIN = Thread.current
RAN = Thread::Queue.new

# Objects that are forgotten when the last one is there.
def forgotten(count)
  objects = Array.new(count) { Object.new }
  objects.each_with_index { |object, n| ObjectSpace.define_finalizer(object, yield(n)) }
  nil
end

# Collects until so many finalizers have come to their end.
def collect(count)
  1000.times do
    break if RAN.size >= count
    GC.start
    sleep 0.001
  end
end

def ran = Array.new(RAN.size) { RAN.pop }.sort

puts "-- the thread is killed"
ends_its_thread = lambda do |n|
  lambda do |_id|
    here = Thread.current
    Thread.new { here.kill }.join unless here == MAIN
    RAN << n
  end
end
thread = Thread.new do
  forgotten(5, &ends_its_thread)
  collect(5)
end
p thread.join == thread
collect(5)
p ran

puts "-- something is raised there"
class Sent < StandardError; end
begin
  forgotten(1) do |n|
    lambda do |_id|
      here = Thread.current
      begin
        Thread.new { here.raise(Sent, "sent") }.join
        Thread.pass
        RAN << n
      rescue Sent
        puts "in the finalizer"
      end
    end
  end
  collect(2)
  puts "never"
rescue Sent => error
  puts error.message
end
collect(1)
p ran

puts "-- a finalizer leaves by itself"
catch(:out) do
  forgotten(5) do |n|
    lambda do |_id|
      RAN << n
      throw :out
    end
  end
  collect(5)
end
collect(5)
p ran
thread = Thread.new do
  forgotten(5) do |n|
    lambda do |_id|
      RAN << n
      Thread.exit unless Thread.current == MAIN
    end
  end
  collect(5)
end
thread.join
collect(5)
p ran

puts "-- a thread that a finalizer begins is like any other"
forgotten(1) { |_n| ->(_id) { RAN << Thread.new { sleep } } }
collect(1)
begun = RAN.pop
begun.kill
p begun.join == begun
