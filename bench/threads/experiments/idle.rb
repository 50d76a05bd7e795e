# What a process that only waits costs in processor time.
module Bench
  experiment "idle", "processor time of a process with 10,000 sleeping threads" do |suite, report|
    seconds = suite.quick ? 2 : 10
    report.section("Idle", "`programs/sleepers.rb 10000`: milliseconds of processor time in #{seconds} s, from one second after all sleep; as a share of one core; OS threads of the process.")
    runtimes = suite.runtimes("sleepers")
    found = suite.rounds(runtimes, reps: 1) do |r, _|
      child = suite.start(r, "sleepers", 10_000)
      begin
        child.line(timeout: 120)
        sleep 1
        from, at = child.cpu, Bench.now
        sleep seconds
        [(child.cpu - from) * 1000, (child.cpu - from) / (Bench.now - at) * 100, child.os_threads]
      ensure
        child.kill
      end
    end
    found = found.transform_values { |l| suite.medians(l) }
    report.table(["idle process", "ms", "% of a core", "OS threads"], runtimes.map { |r| v = found[r]; v.is_a?(Array) ? [r.name, Bench.figure(v[0]), format("%.4f", v[1]), Bench.figure(v[2])] : [r.name, v] })
    v = found[suite.kumi]
    report.bound("processor use of an idle process", v.is_a?(Array) ? v[1] : nil, 1, "% of a core")
    report.data["idle"] = found.map { |r, x| { runtime: r.name, result: x } }
  end
end
