# A measuring command: reads the words of the command line, finds the runtimes, runs the experiments in order and leaves tables,
# charts and data.
require "json"
%w[stats child plot report suite].each { |f| require_relative f }

module Bench
  EXPERIMENTS = {}

  # An experiment: its name on the command line, and what it shows in one line. One that is `long` runs only when it is named.
  def self.experiment(name, about, long: false, &body) = EXPERIMENTS[name] = [about, body, long]

  class Command
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
      @flags = ["quick", *flags]
      @options = { kumi: ENV["KUMI"] || "kumi", rubies: [] }
    end

    def run(words)
      names = read(words)
      check_binaries
      @options[:scale] ||= @options[:quick] ? 0.3 : 1.0
      @options[:reps] ||= @options[:quick] ? 1 : 3
      FileUtils.mkdir_p(@options[:out]) if @options[:out]
      report = Report.new(@options[:out])
      suite = Suite.new(@options, report, programs: @programs, peers: @peers)
      head(suite, report)
      names.each { |name| measure(name, suite, report) }
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

    def head(suite, report)
      cpu = File.read("/proc/cpuinfo")[/^model name\s*:\s*(.*)/, 1] || "unknown processor"
      report.say "# #{@title}: measured", ""
      report.say "#{Time.now.utc.strftime("%Y-%m-%d %H:%M UTC")}, #{suite.cores} x #{cpu}, Linux #{File.read("/proc/sys/kernel/osrelease").strip}."
      report.say "Compared: #{[suite.kumi, suite.fixed, *suite.rubies, *suite.peers].compact.map(&:name).concat(suite.servers).join(", ")}."
      report.say "Absent: #{suite.absent.join(", ")}." unless suite.absent.empty?
      report.say format(@method, reps: @options[:reps])
      report.data["machine"] = { cpu: cpu, cores: suite.cores, quick: @options[:quick], reps: @options[:reps] }
    end

    def measure(name, suite, report)
      about, body = EXPERIMENTS[name]
      body.call(suite, report)
    rescue StandardError => e
      warn e.full_message unless e.is_a?(Child::Failed) || e.is_a?(SystemCallError)
      report.note("#{name} (#{about}) could not be measured: #{e.message}")
    end
  end
end
