# The machine may have no time for a node: then it stands still as by a fault.

# Calls its block with the beginning and the end of each moment in which this node stood still, in nanoseconds of `now`.
def watch_for_stalls
  Thread.new do
    last = now
    loop do
      sleep 0.02
      late = now - last
      last += late
      yield last - late, last if late > 250_000_000
    end
  end
end
