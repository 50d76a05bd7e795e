# Programs over several nodes that are recorded, and replays of them.
require "digest"
require "fileutils"
require "json"

module Bench
  # The paper's four.
  PAPER = %w[bh cky rna ga].freeze
  # Its strategies, and ours.
  POLICIES = { "FS" => "synchronised", "FI" => "independent", "AS" => "adaptive-synchronised", "AI" => "adaptive-independent",
               "measured" => "measured", "combined" => "combined" }.freeze
  # The paper's machine: heaps begin with a quarter of its 16 MB, there are full collections only, and a message costs what the paper says, in place of what
  # it costs here (`--no-overhead`). CKY on one node holds more than 16 MB. Its processors are taken to be 20 times slower than today's
  # are in Ruby: a clock of 50 MHz is a seventieth, with a third or a quarter of the instructions a cycle, but ABCL/f was compiled,
  # which an interpreter takes 10 to 25 times as long for. That is 8 to 28 times.
  SLOWER = 20
  AP1000 = %W[--setting ap1000 --slower #{SLOWER} --no-overhead --no-nurseries --heap 4M --memory 64M].freeze
  # The same, where messages and switches cost what they do here, so many times slower, beside the machine's round trip.
  RECORDED = (AP1000 - ["--no-overhead"]).freeze
  # What programs are given from so many nodes on, so that a node has something to do and to keep.
  SIZES = {
    "bh" => { 1 => [], 32 => %w[--bodies 32000 --steps 6 --levels 3], 128 => %w[--bodies 32000 --steps 4 --levels 3] },
    "cky" => { 1 => [], 32 => %w[--sentences 1 --words 96 --symbols 16], 128 => %w[--sentences 1 --words 128 --symbols 16] },
    "rna" => { 1 => [], 32 => %w[--bases 130 --slack 10] },
    "ga" => { 1 => [], 16 => %w[--islands 256] },
  }.freeze

  # Recordings of a run of the suite, by program and number of nodes.
  class Recordings
    ROOT = File.expand_path("../../..", __dir__)

    # `keep`: a folder where they stay.
    def initialize(suite)
      @suite = suite
      @folder = File.expand_path(suite.options[:keep] || File.join(suite.work, "recordings"))
    end

    # What a program is given on so many nodes.
    def size(program, nodes) = SIZES[program].select { |least, _| least <= nodes }.max_by(&:first).last

    # The folder of a recording, which is made where it is not there, or is another program's by now. Raises Child::Failed.
    def of(program, nodes)
      folder = File.join(@folder, "#{program}-#{nodes}")
      made = File.join(folder, "made")
      words = ["run", "--nodes", nodes.to_s, "--record", folder, example(program), "--check", "0", *size(program, nodes)]
      what = "#{program} #{nodes} #{size(program, nodes).join(" ")}".strip + "\n#{Recordings.sources(program)}\n"
      return folder if File.exist?(made) && File.read(made) == what
      3.times do
        FileUtils.rm_rf(folder)
        result = @suite.run_command([*@suite.kumi.command, *words], timeout: 300 + 10 * nodes)
        next @why = result.why unless result.ok?
        File.write(made, what)
        return folder
      end
      FileUtils.rm_rf(folder)
      raise Child::Failed, "#{program} on #{nodes} nodes: #{@why}"
    end

    # What a recording is of, beside its options: the program, and how its nodes meet.
    def self.sources(program)
      files = ["examples/#{program}.rb", "examples/support/program.rb", "lib/kumihimo/cluster.rb", *Dir.glob("lib/kumihimo/cluster/*.rb", base: ROOT).sort]
      Digest::SHA256.hexdigest(files.map { |file| File.read(File.join(ROOT, file)) }.join("\0"))
    end

    def example(program) = File.join(ROOT, "examples", "#{program}.rb")

    # What replays of it came to, by policy: the hashes of `kumi simulate --json`.
    def replay(folder, *options, policies: POLICIES.values)
      out = simulate(folder, "--json", "--policy", policies.join(","), *options)
      JSON.parse(out)["policies"].to_h { |p| [p["policy"], p] }
    end

    def simulate(folder, *options)
      result = @suite.run_command([*@suite.kumi.command, "simulate", folder, *options], timeout: 1800)
      raise Child::Failed, result.why unless result.ok?
      result.out
    end
  end

  # Two nodes, each with one worker on a core of its own, before whatever else the machine does.
  class Pinned
    PATIENCE = 120

    def initialize(suite)
      @suite = suite
      raise Child::Failed, "two cores are needed" if suite.cores < 2
      raise Child::Failed, "taskset is not there" unless system("taskset", "-c", "0", "true", err: File::NULL)
    end

    # Runs a program, and gives what the first node printed. `record`: a folder.
    def run(file, *words, record: nil)
      folder = Dir.mktmpdir("kumi-pinned")
      nodes = [1, 2].map { |n| start(folder, n, file, words, record) }
      hurry(nodes.map(&:pid)) if @suite.options[:urgent]
      outs = nodes.map { |node| node.rest(timeout: PATIENCE) }
      failed = nodes.map { |node| node.finish }.find { |status| !status&.success? }
      raise Child::Failed, "#{File.basename(file)}: a node failed" if failed
      outs[0]
    ensure
      FileUtils.rm_rf(folder)
    end

    private

    # The kernel shares processors between sessions first, so a session of its own is made more urgent, where that is allowed.
    SESSION = "echo -20 2>/dev/null > /proc/self/autogroup; exec \"$@\""

    def start(folder, number, file, words, record)
      socket = ->(n) { "unix:#{folder}/#{n}.sock" }
      node = [*@suite.kumi.command, "node", "node#{number}", "--listen", socket[number], "--join", socket[3 - number], "--await", "2"]
      node.push("--record", record) if record
      env = { "KUMI_WORKERS" => "1", "KUMI_GC_THREADS" => "1", "KUMI_NODE_TOGETHER" => "1" }
      urgent = @suite.options[:urgent] ? %w[chrt -r 10] : []
      argv = [*urgent, "taskset", "-c", (number - 1).to_s, "setsid", "sh", "-c", SESSION, "sh", *node, file, *words]
      @suite.start_command(argv, env:)
    end

    # With real-time priorities: threads beside the worker, such as the link's, come before it, as they would where all are alike and sleep
    # most of the time.
    def hurry(pids)
      40.times do
        pids.each do |pid|
          Dir.children("/proc/#{pid}/task").each do |task|
            name = File.read("/proc/#{pid}/task/#{task}/comm").chomp
            next if name == "main" || task == pid.to_s || seen[task]
            seen[task] = system("chrt", "-r", "-p", "20", task, out: File::NULL, err: File::NULL)
          end
        rescue SystemCallError
          next
        end
        sleep 0.01
      end
    end

    def seen = @seen ||= {}
  end
end
