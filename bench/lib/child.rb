# A program under measurement: a child process with pipes to its standard input and output, looked at
# from outside through /proc. Every wait has a deadline; a child that misses it is killed.
module Bench
  # What a run came to: what it printed, how long it took, or why there is nothing.
  Result = Struct.new(:out, :why, :wall, :cpu) do
    def ok? = why.nil?
    # The floats of the first line.
    def numbers = out.to_s.lines.first.to_s.split.map(&:to_f)
  end

  class Child
    class Failed < StandardError; end

    PAGE = 4096

    attr_reader :pid

    def initialize(argv, env: {}, errors:)
      @errors = errors
      child_in, @in = IO.pipe
      @out, child_out = IO.pipe
      @pid = Process.spawn(env, *argv, in: child_in, out: child_out, err: [errors, "w"])
      @buffer = +""
      @status = nil
      child_in.close
      child_out.close
    end

    # The next line the child prints, without its end.
    def line(timeout: 60)
      deadline = Bench.now + timeout
      until (at = @buffer.index("\n"))
        raise Failed, why("ended early") unless fill(deadline)
      end
      @buffer.slice!(0..at).chomp
    end

    # Everything it prints until it closes its output.
    def rest(timeout: 120)
      deadline = Bench.now + timeout
      nil while fill(deadline)
      @buffer.slice!(0..)
    end

    def say(text)
      @in.write("#{text}\n")
      @in.flush
    rescue SystemCallError, IOError
      raise Failed, why("ended early")
    end

    # Bytes of a memory row of /proc/PID/status: VmRSS now, VmHWM at its highest.
    def memory(row) = memory_now(row) || raise(Failed, why("ended early"))

    # The same, for a thread that looks on while another one reads: nil once the child has ended.
    def memory_now(row)
      text = File.read("/proc/#{@pid}/status")[/^#{row}:\s+(\d+) kB/, 1]
      text && text.to_i * 1024
    rescue SystemCallError
      nil
    end

    # Seconds of processor time so far, of all its OS threads.
    def cpu
      ns = Dir.children("/proc/#{@pid}/task").sum do |t|
        File.read("/proc/#{@pid}/task/#{t}/schedstat").to_i
      rescue SystemCallError
        0
      end
      ns / 1e9
    end

    def os_threads = Dir.children("/proc/#{@pid}/task").size

    # Ends the input and waits; kills what does not end by itself.
    def finish(timeout: 10)
      @in.close unless @in.closed?
      deadline = Bench.now + timeout
      until reap
        if Bench.now > deadline
          kill
          break
        end
        sleep 0.005
      end
      @out.close unless @out.closed?
      @status
    end

    def kill
      Process.kill(:KILL, @pid) unless @status
      @status ||= Process.wait2(@pid)[1]
    rescue SystemCallError
      nil
    end

    # The reason to print for a child that went wrong: its last words, else how it ended.
    def why(what)
      finish(timeout: 2)
      said = (File.read(@errors).scrub("?").lines.map(&:strip).reject(&:empty?) rescue [])
      said = said.find { |l| l =~ /Error|error|panic|abort|killed|memory/ } || said.first
      ended = @status&.signaled? ? "signal #{@status.termsig}" : "status #{@status&.exitstatus}"
      "#{what} (#{said ? said[0, 120] : ended})"
    end

    private

    def reap
      return @status if @status
      pid, status = Process.wait2(@pid, Process::WNOHANG)
      @status = status if pid
    end

    # Reads what has come; false at the end of output.
    def fill(deadline)
      left = deadline - Bench.now
      unless left > 0 && IO.select([@out], nil, nil, left)
        kill
        raise Failed, "took longer than its time"
      end
      @buffer << @out.readpartial(65_536)
      true
    rescue EOFError
      false
    end
  end

  def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end
