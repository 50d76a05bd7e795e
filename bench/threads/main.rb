# The command behind bench/threads/run: reads the words of the command line, finds the runtimes, runs
# the experiments in order and leaves tables, charts and data. See bench/threads/README.md.
require "json"
%w[stats child plot report suite].each { |f| require_relative "lib/#{f}" }

module Bench
  EXPERIMENTS = {}

  # An experiment: its name on the command line, and what it shows in one line.
  def self.experiment(name, about, &body) = EXPERIMENTS[name] = [about, body]
end

%w[memory stacks speed switching parallel idle server].each { |f| require_relative "experiments/#{f}" }

options = { quick: false, reps: nil, out: nil, kumi: ENV["KUMI"] || "kumi", fixed: nil, linked: nil, rubies: [], json: nil, callgrind: false, scale: nil }
names = []
words = ARGV.flat_map { |a| a.start_with?("--") && a.include?("=") ? a.split("=", 2) : [a] }
while (a = words.shift)
  case a
  when "--quick" then options[:quick] = true
  when "--reps" then options[:reps] = Integer(words.shift)
  when "--out" then options[:out] = words.shift
  when "--kumi" then options[:kumi] = words.shift
  when "--fixed" then options[:fixed] = words.shift
  when "--linked" then options[:linked] = words.shift
  when "--ruby" then options[:rubies] << words.shift
  when "--json" then options[:json] = words.shift
  when "--scale" then options[:scale] = Float(words.shift)
  when "--callgrind" then options[:callgrind] = true
  when "--list", "--help", "-h"
    puts "usage: bench/threads/run [NAMES...] [--quick] [--reps N] [--out DIR] [--kumi BIN] [--fixed BIN] [--linked BIN] [--ruby BIN]... [--callgrind] [--scale X] [--json FILE]"
    puts "experiments (all without NAMES):"
    Bench::EXPERIMENTS.each { |name, (about, _)| puts "  #{name.ljust(14)} #{about}" }
    exit
  when /\A-/ then abort "bench/threads/run: unknown argument #{a}; try --help"
  else
    found = Bench::EXPERIMENTS.key?(a) ? [a] : Bench::EXPERIMENTS.keys.select { |n| n.include?(a) }
    abort "bench/threads/run: no experiment #{a}; try --list" if found.empty?
    names.concat(found)
  end
end
%i[kumi fixed linked].each do |k|
  next unless options[k]
  path = options[k].include?("/") ? File.expand_path(options[k]) : options[k]
  abort "bench/threads/run: cannot run #{options[k]}" unless system(path, "-e", "1", out: File::NULL, err: File::NULL)
  options[k] = path
end
names = Bench::EXPERIMENTS.keys if names.empty?
options[:scale] ||= options[:quick] ? 0.3 : 1.0
options[:reps] ||= options[:quick] ? 1 : 3
FileUtils.mkdir_p(options[:out]) if options[:out]

report = Bench::Report.new(options[:out])
suite = Bench::Suite.new(options, report)
begin
  cpu = File.read("/proc/cpuinfo")[/^model name\s*:\s*(.*)/, 1] || "unknown processor"
  report.say "# Threads, fibers and stacks: measured", ""
  report.say "#{Time.now.utc.strftime("%Y-%m-%d %H:%M UTC")}, #{suite.cores} x #{cpu}, Linux #{File.read("/proc/sys/kernel/osrelease").strip}."
  report.say "Compared: #{[suite.kumi, suite.linked, suite.fixed, *suite.rubies, *suite.peers].compact.map(&:name).join(", ")}."
  report.say "Absent: #{suite.absent.join(", ")}." unless suite.absent.empty?
  report.say "Each figure is the best of #{options[:reps]} interleaved rounds, as in the paper, unless its section says otherwise (shrinking, fairness, idle: medians)."
  report.data["machine"] = { cpu: cpu, cores: suite.cores, quick: options[:quick], reps: options[:reps] }
  names.uniq.each do |name|
    about, body = Bench::EXPERIMENTS[name]
    begin
      body.call(suite, report)
    rescue Bench::Child::Failed, SystemCallError => e
      report.note("#{name} (#{about}) could not be measured: #{e.message}")
    end
  end
  report.finish
  File.write(options[:json], JSON.pretty_generate(report.data)) if options[:json]
ensure
  suite.close
end
