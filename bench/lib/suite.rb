# One run of the suite: which runtimes there are, how a program is started on each, and rounds in
# which every runtime takes its turn, so that a machine whose speed drifts drifts for all of them.
require "tmpdir"
require "fileutils"

module Bench
  # `kind` is the programs' extension: "rb", "go", "erl" or "c".
  Runtime = Struct.new(:name, :kind, :command, :env) do
    def cruby? = name.start_with?("ruby")
    # Has a thread of the operating system for each of its own.
    def system_threads? = cruby? || name == "JRuby"
  end

  class Suite
    attr_reader :options, :programs, :report, :quick, :reps, :kumi, :fixed, :rubies, :peers, :absent, :callgrind, :scale, :cores, :redis, :servers, :work

    # `programs` is the folder of the programs; `peers` says what to look for beside CRuby: Go, BEAM, JRuby, cc (a C compiler), Redis (its server).
    def initialize(options, report, programs:, peers:)
      @options = options
      @programs = programs
      @report = report
      @quick = options[:quick]
      @reps = options[:reps]
      @callgrind = options[:callgrind]
      @scale = options[:scale]
      @work = Dir.mktmpdir("kumi-bench")
      @cores = Bench.cores
      @absent = []
      @kumi = Runtime.new("kumi", "rb", [options[:kumi]], {})
      @fixed = Runtime.new("kumi fixed", "rb", [options[:fixed]], {}) if options[:fixed]
      find_rubies(options[:rubies])
      find_peers(peers)
      @built = {}
    end

    # Where children are started and compiled programs lie; gone when the run ends.
    def close = FileUtils.rm_rf(@work)

    # kumi first, then every installed peer that has the program.
    def runtimes(program)
      [@kumi, *@rubies, *@peers].select { |r| source(r, program) }
    end

    def source(runtime, program)
      file = File.join(@programs, "#{program}.#{runtime.kind}")
      file if File.exist?(file)
    end

    # The words that run a program on a runtime; compiles it the first time.
    def argv(runtime, program, *args)
      file = source(runtime, program)
      args = args.map(&:to_s)
      case runtime.kind
      when "rb" then [*runtime.command, file, *args]
      when "go" then [build(program, file) { |bin| [*runtime.command, "build", "-o", bin, file] }, *args]
      when "erl"
        build(program, file) { |bin| [File.join(File.dirname(tool("erlc")), "erlc"), "-o", File.dirname(bin), file] }
        [*runtime.command, "-noshell", "+P", "2000000", "+Q", "65536", "-pa", @work, "-run", program, "main", *args]
      end
    end

    # A C program's path, or nil without a compiler.
    def c_program(name)
      return unless @cc
      file = File.join(@programs, "#{name}.c")
      build(name, file) { |bin| [@cc, "-O2", "-pthread", "-o", bin, file] }
    end

    def start(runtime, program, *args, env: {})
      Child.new(argv(runtime, program, *args), env: runtime.env.merge(env), errors: errors)
    end

    def start_command(argv, env: {}) = Child.new(argv, env: env, errors: errors)

    # Runs to the end. `cpu` is the child's own user and system time.
    def run(runtime, program, *args, env: {}, timeout: 120)
      run_command(argv(runtime, program, *args), env: runtime.env.merge(env), timeout: timeout)
    rescue Child::Failed => e
      Result.new(nil, e.message, nil, nil)
    end

    def run_command(argv, env: {}, timeout: 120)
      before = Process.times
      from = Bench.now
      child = Child.new(argv, env: env, errors: errors)
      out = child.rest(timeout: timeout)
      status = child.finish
      wall = Bench.now - from
      after = Process.times
      return Result.new(out, child.why("failed"), wall, nil) unless status&.success?
      Result.new(out, nil, wall, after.cutime + after.cstime - before.cutime - before.cstime)
    rescue Child::Failed => e
      child&.kill
      Result.new(nil, e.message, nil, nil)
    end

    # Instructions of one run of a program to its end, under callgrind.
    def instructions(runtime, program, *args, env: {}, timeout: 600)
      argv = [tool("valgrind"), "--tool=callgrind", "--callgrind-out-file=/dev/null", *argv(runtime, program, *args)]
      result = run_command(argv, env: runtime.env.merge(env), timeout: timeout)
      raise Child::Failed, result.why unless result.ok?
      File.read(last_errors).scrub("?")[/Collected : (\d+)/, 1].to_i
    end

    # Calls the block for each of `items` in each round; gives { item => [results] }. An item that
    # failed once is left out of later rounds. `reps` is the number of rounds.
    def rounds(items, reps: @reps)
      found = items.to_h { |i| [i, []] }
      reps.times do |k|
        (k.odd? ? items.reverse : items).each do |item|
          next if found[item].any? { |r| r.is_a?(String) }
          progress "#{label(item)} #{k + 1}/#{reps}"
          found[item] << begin
            yield(item, k)
          rescue Child::Failed, SystemCallError => e
            e.message
          end
        end
      end
      progress nil
      found
    end

    # Figures of several runtimes, each in its turn, `count` times, the order changing: [[figure, ...], ...], or why not.
    def turns(runtimes, count)
      Array.new(count) do |k|
        progress "#{runtimes.map(&:name).join(", ")} #{k + 1}/#{count}"
        order = runtimes.each_index.to_a.rotate(k)
        order.reverse! if k.odd?
        order.map { |i| [i, yield(runtimes[i])] }.sort.map(&:last)
      end
    rescue Child::Failed => e
      e.message
    ensure
      progress nil
    end

    # The lowest of each column of a list of arrays of figures, as the paper took the best of three runs; a String when
    # a run failed.
    def best(results) = columns(results, &:min)
    # The same with medians, where the lowest would tell of luck.
    def medians(results) = columns(results) { |list| Stats.median(list) }

    def columns(results)
      results.find { |r| r.is_a?(String) } || results.first.each_index.map { |i| yield results.map { |r| r[i] } }
    end

    # The first line's figures of a program that prints them, or its failure.
    def figures(runtime, program, *args, env: {}, timeout: 120)
      result = run(runtime, program, *args, env: env, timeout: timeout)
      raise Child::Failed, result.why unless result.ok?
      raise Child::Failed, "printed no figures" if result.numbers.empty?
      result.numbers
    end

    # Tables of a program that prints one figure (ns): one row for each case, a column for each runtime.
    # Cases are [label, program, args, env]; args may be a function of the runtime, nil where it takes no part. Gives { [case label, runtime name] => figure or String }.
    def compare(cases, timeout: 120)
      items = cases.flat_map { |c| runtimes(c[1]).map { |r| [c, r, c[2].respond_to?(:call) ? c[2].call(r) : c[2]] } }.select { |i| i[2] }
      found = rounds(items) { |(c, r, args), _| figures(r, c[1], *args, env: c[3] || {}, timeout: timeout) }
      found.to_h { |(c, r, _), list| [[c[0], r.name], (m = best(list)).is_a?(String) ? m : m[0]] }
    end

    # Prints what `compare` found.
    def comparison(unit, cases, found)
      names = [@kumi, *@rubies, *@peers].map(&:name).select { |n| found.any? { |k, _| k[1] == n } }
      heads = [unit, *names.flat_map { |n| n == "kumi" ? [n] : [n, "#{n} / kumi"] }]
      failures = []
      rows = cases.map do |c|
        own = found[[c[0], "kumi"]]
        [c[0], *names.flat_map do |n|
          v = found[[c[0], n]]
          failures << "#{n}, #{c[0]}: #{v}" if v.is_a?(String)
          v = nil if v.is_a?(String)
          n == "kumi" ? [Bench.figure(v)] : [Bench.figure(v), own.is_a?(Numeric) ? Bench.times(v, own) : "-"]
        end]
      end
      report.table(heads, rows)
      failures.each { |f| report.note("Failed: #{f}") }
    end

    def progress(text)
      return unless $stderr.tty?
      $stderr.print(text ? "\r\e[K#{text}" : "\r\e[K")
    end

    # The full path of an installed tool, or nil.
    def tool(*names)
      names.each do |n|
        return n if n.include?("/") && File.executable?(n)
        ENV["PATH"].split(":").each { |d| return File.join(d, n) if File.executable?(File.join(d, n)) }
      end
      nil
    end

    # Where the last child's standard error is.
    def last_errors = errors

    private

    def label(item)
      Array(item).flatten.filter_map { |i| i.is_a?(Runtime) ? i.name : i if i.is_a?(Runtime) || i.is_a?(String) || i.is_a?(Integer) }.first(4).join(" ")
    end

    def errors = File.join(@work, "stderr")

    def find_peers(wanted)
      @peers = []
      go = tool("go", "/usr/local/go/bin/go")
      erl = tool("erl")
      jruby = tool("jruby")
      @peers << Runtime.new("Go", "go", [go], {}) if go && wanted.include?("Go")
      @peers << Runtime.new("BEAM", "erl", [erl], {}) if erl && tool("erlc") && wanted.include?("BEAM")
      @peers << Runtime.new("JRuby", "rb", [jruby, "-r", File.join(__dir__, "jruby.rb")], {}) if jruby && wanted.include?("JRuby")
      @cc = tool("cc") if wanted.include?("cc")
      @redis = tool("redis-server") if wanted.include?("Redis")
      @servers = @redis ? ["Redis"] : []
      @absent << "cc (no programs in C)" if wanted.include?("cc") && !@cc
      @absent << "Redis" if wanted.include?("Redis") && !@redis
      @absent.concat(wanted - %w[cc Redis] - @peers.map(&:name))
    end

    def find_rubies(named)
      named = ["ruby"] if named.empty?
      @rubies = []
      named.each do |r|
        version = IO.popen([r, "-e", "print RUBY_ENGINE, ' ', RUBY_VERSION"], err: File::NULL, &:read) rescue next
        engine, number = version.split
        next unless engine == "ruby"
        @rubies << Runtime.new("ruby #{number}", "rb", [r], {})
        if system(r, "--yjit", "-e", "exit RubyVM::YJIT.enabled?", out: File::NULL, err: File::NULL)
          @rubies << Runtime.new("ruby #{number} YJIT", "rb", [r, "--yjit"], {})
        else
          @absent << "ruby #{number} with YJIT"
        end
        if (number.split(".").first(2).map(&:to_i) <=> [3, 3]) >= 0
          @rubies << Runtime.new("ruby #{number} M:N", "rb", [r], { "RUBY_MN_THREADS" => "1" })
        else
          @absent << "ruby #{number} with M:N threads (3.3 has them)"
        end
      end
      @absent << "CRuby" if @rubies.empty?
    end

    def build(program, file)
      @built[file] ||= begin
        bin = File.join(@work, program + (file.end_with?(".c") ? ".bin" : ""))
        words = yield(bin)
        env = file.end_with?(".go") ? { "GOCACHE" => ENV["GOCACHE"] || File.join(@work, "gocache"), "GO111MODULE" => "off" } : {}
        ok = system(env, *words, out: File::NULL, err: errors)
        raise Child::Failed, "does not compile: #{File.read(errors).lines.first(2).join(" ").strip}" unless ok
        bin
      end
    end
  end
end
