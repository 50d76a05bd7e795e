# Threads that end while others kill, raise, look and wake.
Thread.report_on_exception = false
class Ping < StandardError; end
alive = []
done = false
begun = Queue.new
makers = 3.times.map do
  Thread.new do
    n = 0
    until done
      t = Thread.new { Thread.current.report_on_exception = false; [1].map { |x| x + 1 }; Thread.current[:a] = 1 }
      alive[n % 4] = t
      n += 1
      begun << 1 if n == 1
      begin
        t.join
      rescue Ping
      end
    end
    n
  end
end
3.times { begun.pop }
meddlers = 3.times.map do |k|
  Thread.new do
    500.times do |i|
      t = alive[(i + k) % 4] or next
      case (i + k) % 8
      when 0 then t.kill
      when 1 then t.raise(Ping)
      when 2 then t.backtrace
      when 3 then t.status; t.stop?; t.alive?
      when 4 then t[:a]; t.keys; t.thread_variable_get(:x)
      when 5 then begin; t.wakeup; rescue ThreadError; end
      when 6 then t.inspect; t.priority; t.name; t.group; Thread.list.each(&:status)
      else begin; t.join(0.001); t.pending_interrupt?; rescue Ping; end
      end
      Thread.pass
    end
    :ok
  end
end
p [:meddled, meddlers.map(&:value)]
done = true
p [:made, makers.map(&:value).all? { |n| n > 0 }]
