# Programs over several nodes that share all cores of the machine.
module Bench
  # All processes of a run are in one session, to which the kernel gives nearly all of the processors; among themselves they share them as ever.
  class Together
    # `others`: the part of all cores that processes of nobody of this run had meanwhile.
    Run = Struct.new(:out, :others)

    SESSION = "echo -20 2>/dev/null > /proc/self/autogroup; exec \"$@\""
    # A moment is quiet when so much of the cores has been idle for so long.
    QUIET, MOMENT, PATIENCE = 0.9, 0.5, 5

    def initialize(suite)
      @suite = suite
    end

    # `record`: a folder.
    def run(nodes, file, *words, record: nil)
      wait_for_quiet
      # Where an experiment is repeated: a folder holds one run.
      FileUtils.rm_rf(record) if record
      command = [*@suite.kumi.command, "run", "--nodes", nodes.to_s, *(["--record", record] if record), file, *words]
      before = jiffies
      result = @suite.run_command(["setsid", "-w", "sh", "-c", SESSION, "sh", *command], env: { "KUMI_WORKERS" => "1", "KUMI_GC_THREADS" => "1" })
      raise Child::Failed, "#{File.basename(file)}: #{result.why}" unless result.ok?
      busy, = jiffies.zip(before).map { |a, b| a - b }
      Run.new(result.out.gsub(/^node\d+ \| /, ""), [(busy / 100.0 - result.cpu) / result.wall / @suite.cores, 0].max)
    end

    private

    # Others' processes lengthen runs: a node that wakes waits until the kernel lets go of one of theirs. So a quiet moment is waited for, for a while.
    def wait_for_quiet
      (PATIENCE / MOMENT).to_i.times do
        before = jiffies
        sleep MOMENT
        busy, idle = jiffies.zip(before).map { |a, b| a - b }
        return if idle > QUIET * (busy + idle)
      end
    end

    # Hundredths of seconds that all cores were busy, and idle.
    def jiffies
      user, nice, system, idle, waits, *rest = File.read("/proc/stat")[/^cpu +(.*)/, 1].split.map(&:to_i)
      [user + nice + system + rest[0, 3].sum, idle + waits]
    end
  end
end
