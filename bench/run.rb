# Times programs on kumi and its peers, one after the other in each round, so that a
# machine whose speed drifts drifts for all of them. Prints medians of user CPU time and
# the ratio peer / kumi (above 1: kumi is faster), writes the same as JSON.
require "json"
require_relative "lib/against"
require_relative "lib/machine"

ROOT = File.dirname(__dir__)
AWFY = {
  "Bounce" => 1500, "List" => 1500, "Permute" => 1000, "Queens" => 1000, "Sieve" => 3000, "Storage" => 1000,
  "Towers" => 600, "Json" => 100, "Richards" => 10, "DeltaBlue" => 12_000, "CD" => 100, "Havlak" => 1,
  "Mandelbrot" => 500, "NBody" => 250_000
}.freeze

options = { reps: 3, kumi: "kumi", own: true, json: nil, awfy: nil, only: nil, against: nil }
args = ARGV.dup
while (a = args.shift)
  case a
  when "--kumi" then options[:kumi] = args.shift
  when "--reps", "--rounds" then options[:reps] = Integer(args.shift)
  when "--against" then options[:against] = File.expand_path(args.shift)
  when "--awfy" then options[:awfy] = args.shift
  when "--only" then options[:only] = args.shift
  when "--no-own" then options[:own] = false
  when "--json" then options[:json] = args.shift
  when "--help", "-h"
    puts "usage: bench/run [--reps N] [--against OTHER_KUMI] [--awfy CHECKOUT] [--no-own] [--only TEXT] [--json FILE]"
    exit
  else abort "bench/run: unknown argument #{a}; try --help"
  end
end

def installed?(name)
  ENV["PATH"].split(":").any? { |d| File.executable?(File.join(d, name)) }
end

PEERS = { "kumi" => [options[:kumi]] }
PEERS["ruby"] = ["ruby"] if installed?("ruby")
PEERS["ruby --yjit"] = ["ruby", "--yjit"] if installed?("ruby") && system("ruby", "--yjit", "-e", "1", out: File::NULL, err: File::NULL)
# Only for the programs of are-we-fast-yet, which run long enough for its compiler to matter.
PEERS["jruby"] = ["jruby"] if installed?("jruby")
PEERS["mruby"] = ["mruby"] if installed?("mruby")

Job = Struct.new(:name, :args, :dir)
jobs = []
if options[:own]
  Dir.glob("#{ROOT}/bench/programs/*.rb").sort.each { |f| jobs << Job.new(File.basename(f, ".rb"), [f], ROOT) }
end
if options[:awfy]
  dir = File.join(File.expand_path(options[:awfy]), "benchmarks/Ruby")
  abort "bench/run: no benchmarks/Ruby in #{options[:awfy]}" unless File.directory?(dir)
  AWFY.each { |name, n| jobs << Job.new("awfy #{name}", ["harness.rb", name, "1", n.to_s], dir) }
end
jobs.select! { |j| j.name.include?(options[:only]) } if options[:only]

# User CPU seconds of one run and what it printed; nil when it failed. What are-we-fast-yet prints tells its own time.
def once(command, job)
  r, w = IO.pipe
  before = Process.times.cutime
  pid = Process.spawn(*command, *job.args, chdir: job.dir, out: w, err: File::NULL)
  w.close
  out = r.read
  r.close
  Process.wait(pid)
  out = out.gsub(/\d+us/, "") if job.name.start_with?("awfy")
  [Process.times.cutime - before, $?.success? ? out : nil]
end

SETS = { "own" => ->(n) { !n.start_with?("awfy") }, "awfy" => ->(n) { n.start_with?("awfy") } }.freeze

if options[:against]
  abort "bench/run: cannot run #{options[:against]}" unless system(options[:against], "-e", "1", out: File::NULL, err: File::NULL)
  Bench::Against.head
  rows = Bench::Against.new(options[:kumi], options[:against], options[:reps]) { |command, job| once(command, job) }.run(jobs)
  summary = SETS.filter_map { |set, pick| (s = Bench::Against.summary(set, rows.select { |r| pick.(r.name) })) && [set, s] }.to_h
  File.write(options[:json], JSON.pretty_generate({ rows: rows.map(&:to_h), summary: summary })) if options[:json]
  exit(rows.all?(&:ok?))
end

def median(list)
  s = list.sort
  m = s.size / 2
  s.size.odd? ? s[m] : (s[m - 1] + s[m]) / 2
end

rows = jobs.map.with_index do |job, i|
  $stderr.print "\r\e[K#{i + 1}/#{jobs.size} #{job.name}" if $stderr.tty?
  times = PEERS.transform_values { [] }
  outputs = {}
  options[:reps].times do
    PEERS.each do |name, command|
      next if name == "jruby" && !job.name.start_with?("awfy")
      t, out = once(command, job)
      times[name] << t if out
      outputs[name] = out
    end
  end
  same = outputs["ruby"].nil? || outputs["kumi"] == outputs["ruby"]
  { name: job.name, times: times.transform_values { |l| l.empty? ? nil : median(l) }, same: same }
end
$stderr.print "\r\e[K" if $stderr.tty?

others = PEERS.keys - ["kumi"]
puts "| program | kumi s |#{others.map { |o| " #{o} s | ratio |" }.join}"
puts "|---|--:|#{others.map { "--:|--:|" }.join}"
rows.each do |r|
  k = r[:times]["kumi"]
  cells = others.map do |o|
    t = r[:times][o]
    t && k ? " #{format("%.2f", t)} | #{format("%.2f", t / [k, 0.001].max)} |" : " - | - |"
  end
  puts "| #{r[:name]} | #{k ? format("%.2f", k) : "failed"} |#{cells.join}#{" prints something else!" unless r[:same]}"
end

def geomean(list) = list.empty? ? nil : Math.exp(list.sum { |x| Math.log(x) } / list.size)

summary = {}
others.each do |o|
  SETS.each do |set, pick|
    ratios = rows.select { |r| pick.(r[:name]) && r[:same] }.filter_map do |r|
      r[:times][o] / [r[:times]["kumi"], 0.001].max if r[:times][o] && r[:times]["kumi"]
    end
    next if ratios.empty?
    summary["#{set} vs #{o}"] = { geomean: geomean(ratios).round(3), lowest: ratios.min.round(3), programs: ratios.size }
    puts "", "#{set} against #{o}: geometric mean #{format("%.2f", geomean(ratios))}, lowest #{format("%.2f", ratios.min)}, #{ratios.size} programs"
  end
end
if options[:json]
  File.write(options[:json], JSON.pretty_generate({ rows: rows, summary: summary, machine: Bench.machine, commit: Bench.commit,
                                                    date: Time.now.utc.strftime("%Y-%m-%d %H:%M UTC"), load: File.read("/proc/loadavg").split[0].to_f, rounds: options[:reps] }))
end
