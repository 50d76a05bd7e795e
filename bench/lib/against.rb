# Two builds of kumi on the same programs: in each round both take their turn, the one that begins changes, so that what the
# machine does in between falls on both alike. A program's ratio is the middle one of its rounds'.
require_relative "stats"

module Bench
  class Against
    Row = Struct.new(:name, :ours, :theirs, :ratios, :same, keyword_init: true) do
      def ok? = same && !ratios.empty?
      def ratio = Stats.median(ratios)
    end

    # `once` runs a command on a job: user seconds and what it printed (nil: it failed).
    def initialize(ours, theirs, rounds, &once)
      @ours = ours
      @theirs = theirs
      @rounds = rounds
      @once = once
    end

    def run(jobs)
      jobs.map do |job|
        $stderr.print "\r\e[K#{job.name}" if $stderr.tty?
        measure(job).tap { |row| print_row(row) }
      end
    ensure
      $stderr.print "\r\e[K" if $stderr.tty?
    end

    def self.head
      puts "| program | this s | other s | this / other | middle half of the rounds |", "|---|--:|--:|--:|--:|"
    end

    # The figures of a set of programs; nil without any.
    def self.summary(set, rows)
      good = rows.select(&:ok?)
      return if good.empty?
      worst = good.max_by(&:ratio)
      mean, low, high = Stats.mean_ratio(good.map(&:ratios))
      puts "", format("%s: geometric mean %.3f (95 %%: %.3f to %.3f) of the other's user time, highest %.2f (%s), %d programs",
                      set, Stats.geomean(good.map(&:ratio)), low, high, worst.ratio, worst.name, good.size)
      { geomean: Stats.geomean(good.map(&:ratio)).round(4), mean: mean.round(4), low: low.round(4), high: high.round(4),
        highest: worst.ratio.round(3), program: worst.name, programs: good.size }
    end

    private

    def measure(job)
      times = { @ours => [], @theirs => [] }
      outputs = {}
      @rounds.times do |n|
        (n.even? ? [@ours, @theirs] : [@theirs, @ours]).each do |kumi|
          seconds, outputs[kumi] = @once.call([kumi], job)
          times[kumi] << (outputs[kumi] && [seconds, 0.001].max)
        end
      end
      pairs = times[@ours].zip(times[@theirs]).select(&:all?)
      Row.new(name: job.name, ours: pairs.map(&:first), theirs: pairs.map(&:last), ratios: pairs.map { |a, b| a / b },
              same: outputs[@ours] && outputs[@ours] == outputs[@theirs])
    end

    def print_row(row)
      return puts("| #{row.name} | failed, or prints something else! | | | |") unless row.ok?
      low, high = [0.25, 0.75].map { |q| Stats.quantile(row.ratios, q) }
      puts format("| %s | %.3f | %.3f | %.3f | %.3f to %.3f |", row.name, Stats.median(row.ours), Stats.median(row.theirs),
                  row.ratio, low, high)
      $stdout.flush
    end
  end
end
