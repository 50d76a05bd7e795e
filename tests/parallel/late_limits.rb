# A time limit never interrupts what comes after its block, however close the block's end is to it.
require "timeout"
now = -> { Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond) }
late = Thread::Queue.new
threads = 4.times.map do |t|
  Thread.new do
    chance = Random.new(t)
    3000.times do
      stop = now.() + 30_000 + chance.rand(4000) - 2000
      begin
        begin
          Timeout.timeout(0.00003) { nil while now.() < stop }
        rescue Timeout::Error
          # The block took longer.
        end
        20.times { |i| i }
      rescue Exception => error
        late << error.class
      end
    end
  end
end
threads.each(&:join)
puts "late: #{late.size}"
