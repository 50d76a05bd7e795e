# A measuring command: reads the words of the command line, finds the runtimes, runs the experiments in order and leaves tables,
# charts and data.
#
# With a folder to leave them in each experiment's result is kept as soon as it is there (ledger.rb), and the report is put together from all that are
# kept. An experiment during which the machine was busy with something else (calibration.rb) is repeated.
require "json"
%w[machine stats child plot report suite ledger calibration].each { |f| require_relative f }

module Bench
  EXPERIMENTS = {}

  # An experiment: its name on the command line, and what it shows in one line.
  # long: it is run only when it is named. simulated: what else the machine does changes nothing of it. steady: its figures are of memory, or
  # counts, and hardly change with that; times beside them may.
  def self.experiment(name, about, long: false, simulated: false, steady: false, &body) = EXPERIMENTS[name] = [about, body, long, simulated, steady]

  class Command
    # An experiment is run so often at most, where the machine is busy.
    TRIES = 3
    # Options that change no figure.
    BESIDE = %i[out json resume kumi rubies].freeze
    VALUES = { "reps" => :Integer, "out" => nil, "kumi" => nil, "json" => nil, "scale" => :Float }.freeze

    # `path` is the command's name to its user, `programs` the folder of its programs, `peers` what it is compared with beside
    # CRuby (see Suite). `binaries` and `values` are further options with a value, `flags` those without.
    # `method` says in a sentence what a figure is.
    def initialize(path, title, method, programs:, peers:, binaries: [], values: {}, flags: [])
      @path = path
      @title = title
      @method = method
      @programs = programs
      @peers = peers
      @binaries = binaries
      @values = VALUES.merge(values, binaries.to_h { |b| [b, nil] })
      @flags = ["quick", "resume", *flags]
      @options = { kumi: ENV["KUMI"] || "kumi", rubies: [] }
    end

    def run(words)
      names = read(words)
      check_binaries
      @options[:scale] ||= @options[:quick] ? 0.3 : 1.0
      @options[:reps] ||= @options[:quick] ? 1 : 3
      abort "#{@path}: --resume wants --out DIR, where results are kept" if @options[:resume] && !@options[:out]
      FileUtils.mkdir_p(@options[:out]) if @options[:out]
      report = Report.new(@options[:out])
      suite = Suite.new(@options, report, programs: @programs, peers: @peers)
      machine = Bench.machine
      @ledgers = EXPERIMENTS.to_h { |name, _| [name, ledger(name, machine)] }
      other = @options[:out] && @ledgers.values.first.other_machine
      abort "#{@path}: #{@options[:out]} has figures of another machine (#{other}). Give another --out, or remove #{@options[:out]}/#{Ledger::FOLDER}" if other
      @calibration = Calibration.new(suite.cores, quick?, @ledgers.values.first.calibration(quick?))
      head(suite, report, machine)
      names.each { |name| measure(name, suite, report) }
      # What was kept before of others stays in the report.
      EXPERIMENTS.each_key { |name| (found = found_of(name)) && report.add(found, origin(found)) }
      report.finish
      File.write(@options[:json], JSON.pretty_generate(report.data)) if @options[:json]
    ensure
      suite&.close
    end

    private

    # The experiments asked for; the options go to @options.
    def read(words)
      names = []
      words = words.flat_map { |a| a.start_with?("--") && a.include?("=") ? a.split("=", 2) : [a] }
      while (a = words.shift)
        option = a.delete_prefix("--")
        if a == "-h" || (a.start_with?("--") && %w[list help].include?(option))
          usage
          exit
        elsif a == "--ruby" then @options[:rubies] << value(a, words)
        elsif a.start_with?("--") && @flags.include?(option) then @options[option.to_sym] = true
        elsif a.start_with?("--") && @values.key?(option)
          text = value(a, words)
          @options[option.to_sym] = @values[option] ? number(a, text, @values[option]) : text
        elsif a.start_with?("-") then abort "#{@path}: unknown argument #{a}; try --help"
        else
          found = EXPERIMENTS.key?(a) ? [a] : EXPERIMENTS.keys.select { |n| n.include?(a) }
          abort "#{@path}: no experiment #{a}; try --list" if found.empty?
          names.concat(found)
        end
      end
      names.empty? ? EXPERIMENTS.keys.reject { |n| EXPERIMENTS[n][2] } : names.uniq
    end

    def value(option, words) = words.shift || abort("#{@path}: #{option} wants a value")

    def number(option, text, kind)
      kind == :Integer ? Integer(text) : Float(text)
    rescue ArgumentError
      abort "#{@path}: #{option} wants a number, not #{text}"
    end

    def usage
      numbers = { nil => "FILE", :Integer => "N", :Float => "X" }
      words = { "out" => "DIR", "kumi" => "BIN" }.merge(@binaries.to_h { |b| [b, "BIN"] })
      options = @values.map { |name, kind| "[--#{name} #{words[name] || numbers[kind]}]" } + ["[--ruby BIN]..."]
      puts "usage: #{@path} [NAMES...] #{(@flags.map { |f| "[--#{f}]" } + options).join(" ")}"
      puts "experiments (all without NAMES#{", but the last is run only when it is named" if EXPERIMENTS.values.any? { |e| e[2] }}):"
      EXPERIMENTS.each { |name, (about, _)| puts "  #{name.ljust(14)} #{about}" }
    end

    def check_binaries
      [:kumi, *@binaries.map(&:to_sym)].each do |k|
        next unless @options[k]
        path = @options[k].include?("/") ? File.expand_path(@options[k]) : @options[k]
        abort "#{@path}: cannot run #{@options[k]}" unless system(path, "-e", "1", out: File::NULL, err: File::NULL)
        @options[k] = path
      end
    end

    def head(suite, report, machine)
      report.say "# #{@title}: measured", ""
      report.say "#{machine}."
      report.say "Compared: #{[suite.kumi, suite.fixed, *suite.rubies, *suite.peers].compact.map(&:name).concat(suite.servers).join(", ")}."
      report.say "Absent: #{suite.absent.join(", ")}." unless suite.absent.empty?
      report.say format(@method, reps: @options[:reps])
      report.data["machine"] = { machine: machine, cores: suite.cores, quick: @options[:quick], reps: @options[:reps] }
    end

    # What a result of an experiment depends on: its own file, the folder's programs and library, what starts and counts, the binaries, options.
    def ledger(name, machine)
      own = File.dirname(@programs)
      sources = [EXPERIMENTS[name][1].source_location[0], *Dir.glob(File.join(own, "{programs,lib}", "*")).select { |f| File.file?(f) },
                 *%w[child stats suite].map { |f| File.join(__dir__, "#{f}.rb") }]
      binaries = [:kumi, *@binaries.map(&:to_sym)].filter_map { |k| @options[k] }.select { |f| File.file?(f) }
      Ledger.new(@options[:out], machine: machine, words: @options.except(*BESIDE).sort_by { |k, _| k.to_s }, sources: sources, binaries: binaries)
    end

    def found_of(name)
      found = @now&.[](name) || @ledgers[name][name]
      found if found && found["files"].all? { |f| @options[:out] && File.exist?(File.join(@options[:out], f)) }
    end

    def origin(found)
      return "*#{found["date"]}, commit #{found["commit"]}, simulated.*" if found["simulated"]
      busy = found["steady"] ? " (the machine was busy, which changes times and hardly memory and counts)" : " (the machine was busy)"
      "*#{found["date"]}, commit #{found["commit"]}, load #{found["load"].join(" and ")}, calibration #{format("%.2f", found["calibration"].max / @calibration.lowest)}" \
        "#{busy if @calibration.busy?(*found["calibration"])}.*"
    end

    # Runs an experiment, unless a result is kept that still holds; again, where the machine was busy meanwhile.
    def measure(name, suite, report)
      if @options[:resume] && (found = found_of(name))
        return puts "", "#{name}: kept, of #{found["date"]}."
      end
      @now ||= {}
      simulated, steady = EXPERIMENTS[name].values_at(3, 4)
      once = simulated || steady
      tries = @options[:out] && !@options[:quick] && !once ? TRIES : 1
      tries.times do |k|
        before, load = @calibrated || @calibration.measure, Calibration.load
        found = try(name, suite, report)
        @calibrated = @calibration.measure
        found.merge!("date" => Time.now.utc.strftime("%Y-%m-%d %H:%M UTC"), "commit" => commit, "load" => [load, Calibration.load], "calibration" => [before, @calibrated],
                     "quick" => quick?, "rounds" => @options[:reps], "simulated" => simulated, "steady" => steady)
        least = @now[name] && @calibration.excess(*@now[name]["calibration"])
        @ledgers[name][name] = @now[name] = found if least.nil? || @calibration.excess(*found["calibration"]) < least
        break if found["failed"] || once || !@calibration.busy?(*found["calibration"])
        warn "#{@path}: the machine was busy during #{name}, #{format("%.2f", @calibration.excess(*found["calibration"]))} times as slow#{"; once more" if k + 1 < tries}"
      end
    end

    def try(name, suite, report)
      failed = nil
      found = report.part do
        about, body = EXPERIMENTS[name]
        body.call(suite, report)
      rescue StandardError => e
        warn e.full_message unless e.is_a?(Child::Failed) || e.is_a?(SystemCallError)
        failed = e.message
        report.note("#{name} (#{about}) could not be measured: #{e.message}")
      end
      found.merge!("failed" => failed)
    end

    def quick? = !!@options[:quick]

    # The tree's; with a + where it was changed since.
    def commit = @commit ||= Bench.commit
  end
end
