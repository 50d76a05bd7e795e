# How fast the machine is just now: the same work on all cores at once, by a program of the system that no build of ours changes.
module Bench
  class Calibration
    # Above the lowest by more than this the machine was busy with something else.
    LIMIT = 1.10
    BYTES = 200_000_000
    QUICK_BYTES = 40_000_000

    attr_reader :lowest

    # `lowest` is of the same work.
    def initialize(cores, quick, lowest = nil)
      @cores = cores
      @work = "head -c #{quick ? QUICK_BYTES : BYTES} /dev/zero | sha256sum"
      @lowest = lowest
    end

    # Milliseconds of the work; the middle of three.
    def measure
      took = Array.new(3) do
        from = Bench.now
        children = Array.new(@cores) { Process.spawn("sh", "-c", @work, out: File::NULL, err: File::NULL) }
        children.each { |c| Process.wait(c) }
        (Bench.now - from) * 1000
      end
      Stats.median(took).tap { |ms| @lowest = [@lowest, ms].compact.min }.round(1)
    end

    # By how much these are above the lowest.
    def excess(*measured) = measured.max / @lowest

    def busy?(*measured) = excess(*measured) > LIMIT
    def self.load = File.read("/proc/loadavg").split[0].to_f
  end
end
