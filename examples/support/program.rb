# What the programs over several nodes that docs/PROGRAMS.md shows have in common: options, the comparison with the sequential answer,
# and the figures.
require "digest"
require "optparse"
require "kumihimo/cluster"

module Program
  CLUSTER = Kumihimo::Cluster

  class << self
    # The numbers of the command line by name. `about` is the text of --help. Each default comes with what it means and the least that
    # is allowed, 1 if that is not said.
    def options(about, **defaults)
      start
      defaults[:check] = [1, "compare with the sequential program: 1, or 0 for no", 0]
      values = defaults.transform_values(&:first)
      parser = OptionParser.new("#{about}\n\nUsage: kumi run --nodes N #{$0} [options]")
      defaults.each do |name, (value, meaning, least)|
        parser.on("--#{name} N", Integer, "#{meaning} (#{value})") do |n|
          raise OptionParser::InvalidArgument, n.to_s if n < (least || 1)
          values[name] = n
        end
      end
      parser.on("--help", "this page") { quit(0, parser.help) }
      rest = parser.parse(ARGV)
      rest.empty? ? values : raise(OptionParser::InvalidArgument, rest[0])
    rescue OptionParser::ParseError => error
      quit(1, "#{error.message}\n#{parser.help}")
    end

    # Is this the first node?
    def first? = CLUSTER.self == CLUSTER.nodes[0]

    # All nodes run the block, the program; the first one prints its answer, after `title`, and the figures. Then it runs the sequential
    # program, and says whether that has the same answer. Ends with status 1 if not.
    def run(title, sequential:, show: ->(answer) { digest(answer) })
      CLUSTER.barrier
      before = Figures.now
      answer = yield
      spent = Figures.now.since(before)
      all = CLUSTER.reduce([[CLUSTER.self, spent.to_h]]) { |a, b| a + b }
      return unless first?
      puts "#{title} on #{all.size} #{all.size == 1 ? "node" : "nodes"}: #{show[answer]}"
      Figures.print(all)
      return unless sequential
      started = Figures.clock
      same = sequential.call == answer
      puts format("the sequential program has #{same ? "the same answer" : "ANOTHER ANSWER"} after %.2f s", Figures.clock - started)
      exit 1 unless same
    end

    # A few letters that differ wherever one bit of the answer does.
    def digest(answer) = Digest::SHA256.hexdigest(Marshal.dump(answer))[0, 16]

    private

    # A program that `kumi` runs alone is a node by itself.
    def start
      Kumihimo::Segments.listen("node1") unless Kumihimo::Segments.cluster?
    end

    # The first node says it.
    def quit(status, text)
      (status.zero? ? $stdout : $stderr).puts text if first?
      CLUSTER.barrier
      exit status
    end
  end

  # Counts the calls of other nodes' objects. One is a message there and a message back.
  module Calls
    @count = 0
    @lock = Mutex.new

    class << self
      def count = @lock.synchronize { @count }
      def add = @lock.synchronize { @count += 1 }
    end

    def __call(...) = Calls.add && super
    def __async(...) = Calls.add && super
  end
  Kumihimo::Remote.singleton_class.prepend(Calls)

  # What a node has spent: seconds, seconds of processors, calls of other nodes' objects, bytes of objects, and collections: of the young
  # objects, of all, and seconds for both.
  Figures = Struct.new(:seconds, :processor, :calls, :bytes, :young, :full, :collecting) do
    def self.clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    def self.now
      gc = GC.stat
      new(clock, Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID), Calls.count, gc[:allocated_bytes], gc[:young_count],
          gc[:full_count], (gc[:young_ns] + gc[:full_ns]) / 1e9)
    end

    def self.print(nodes)
      puts "         seconds  processor   calls  a second    MB  MB a second  young  full  collecting"
      nodes.each do |name, f|
        f => { seconds:, processor:, calls:, bytes:, young:, full:, collecting: }
        puts format("%-7s %8.2f %10.2f %7d %9d %5d %12d %6d %5d %10.2f%%", name, seconds, processor, calls, calls / processor, bytes / 1e6,
                    bytes / 1e6 / processor, young, full, collecting / seconds * 100)
      end
      puts "(a second: of a processor)"
    end

    def since(before) = self.class.new(*to_a.zip(before.to_a).map { |a, b| a - b })
  end
end
