# What starting, switching and locking cost: nanoseconds of one step, beside the peers and the machine itself.
module Bench
  # The number of workers, in each runtime's own words; CRuby has none.
  def self.workers(n) = { "KUMI_WORKERS" => n.to_s, "GOMAXPROCS" => n.to_s, "ERL_FLAGS" => "+S #{n}:#{n}" }.freeze

  ONE = workers(1)
  TWO = workers(2)
  SLOW = ->(r) { r.system_threads? }

  experiment "spawn-join", "threads started and joined per second" do |suite, report|
    report.section("Start and join", "`programs/spawn_join.rb`: nanoseconds per thread, one after the other (single) and a thousand at a time (batch).")
    n = suite.quick ? 5000 : 20_000
    cases = [["single", ONE, ", 1 worker"], ["single", {}, ""], ["batch", ONE, ", 1 worker"], ["batch", {}, ""]].map do |mode, env, words|
      ["#{mode}#{words}", "spawn_join", [mode, n], env]
    end
    found = suite.compare(cases)
    suite.comparison("ns per thread", cases, found)
    report.data["spawn-join"] = found.map { |k, v| { case: k, ns: v } }
  end

  experiment "pingpong", "Queue ping-pong between threads, beside the machine's futex and spin hand-over" do |suite, report|
    report.section("Queue ping-pong", <<~TEXT)
      `programs/pingpong.rb MODE`: nanoseconds per round trip over two queues. block: both wait in `pop`; pairs: two such pairs at once;
      poll: both look until something is there, so both workers stay busy; burn: a blocking pair beside two threads that only compute.
      `programs/handover.c`: two OS threads by futex and by spinning on two CPUs, and by futex on one.
    TEXT
    size = suite.quick ? 20_000 : 200_000
    count = ->(r) { SLOW.(r) ? size / 20 : size }
    cases = [["block, 1 worker", "block", ONE], ["block, 2 workers", "block", TWO], ["pairs, 2 workers", "pairs", TWO],
             ["poll, 2 workers", "poll", TWO]].map { |name, mode, env| [name, "pingpong", ->(r) { [mode, mode == "poll" ? count.(r) / 4 : count.(r)] unless mode == "poll" && r.kind == "erl" }, env] }
    cases << ["burn, 1 worker", "pingpong", ->(r) { ["burn", SLOW.(r) ? 3 : 20] }, ONE]
    cases << ["burn, 2 workers", "pingpong", ->(r) { ["burn", SLOW.(r) ? 3 : 20] }, TWO]
    machine = suite.c_program("handover")
    hand = nil
    if machine
      runs = suite.rounds([["handover"]]) do
        r = suite.run_command([machine, suite.quick ? "5000" : "20000"])
        raise Child::Failed, r.why unless r.ok?
        r.numbers
      end
      hand = suite.best(runs.values[0])
    end
    found = suite.compare(cases)
    suite.comparison("ns per round trip", cases, found)
    if hand.is_a?(Array)
      report.table(["the machine, ns per round trip", "futex, two CPUs", "spin, two CPUs", "futex, one CPU"], [["handover.c", *hand.map { |h| Bench.figure(h) }]])
    end
    own = ->(name) { (v = found[[name, "kumi"]]).is_a?(Numeric) ? v : nil }
    report.bound("Queue ping-pong on one worker", own.("block, 1 worker"), 1000, "ns")
    best = ["block, 2 workers", "poll, 2 workers"].filter_map { |c| own.(c) }.min
    if hand.is_a?(Array)
      report.bound("Queue ping-pong, two workers, over the machine's futex hand-over", own.("block, 2 workers")&./(hand[0]), 1.5, "x")
      report.bound("polled ping-pong, two busy workers, over the machine's spin hand-over (futex or spin is asked)", own.("poll, 2 workers")&./(hand[1]), 1.5, "x")
    end
    names = found.keys.map(&:last).uniq
    rows = cases.first(4).map { |c| [c[0], names.map { |n| (v = found[[c[0], n]]).is_a?(Numeric) ? [v] : nil }] }
    report.plot("pingpong.svg", "Ping-pong", Plot.bars("Queue ping-pong", y: "ns per round trip", names: names, rows: rows, scale: :log10), "Lower is better, and each line across is a multiple of the one below. Compare within a group: one worker with one worker, two with two; a hand-over on one worker never leaves its core.") if best
    report.data["pingpong"] = { handover: hand, cases: found.map { |k, v| { case: k, ns: v } } }
  end

  experiment "fiber", "Fiber resume and yield; Enumerator#next" do |suite, report|
    report.section("Fibers and external enumerators", "`programs/fiber_switch.rb` (resume and yield together) and `programs/enumerator_next.rb`: nanoseconds each.")
    n = suite.quick ? 200_000 : 1_000_000
    # A fiber of JRuby is a thread of the system.
    count = ->(r) { [r.name == "JRuby" ? n / 20 : n] }
    cases = [["Fiber resume + yield", "fiber_switch", count, ONE], ["Enumerator#next, block", "enumerator_next", ->(r) { ["block", *count.(r)] }, ONE],
             ["Enumerator#next, array", "enumerator_next", ->(r) { ["array", *count.(r)] }, ONE]]
    found = suite.compare(cases)
    suite.comparison("ns", cases, found)
    v = found[["Fiber resume + yield", "kumi"]]
    report.bound("Fiber resume + yield", v.is_a?(Numeric) ? v : nil, 100, "ns")
    report.data["fiber"] = found.map { |k, x| { case: k, ns: x } }
  end

  experiment "mutex", "a mutex alone and wanted by several threads" do |suite, report|
    report.section("Mutex", "`programs/mutex.rb THREADS N`: nanoseconds per `synchronize { count += 1 }`, all threads' together. Each run checks the count.")
    n = suite.quick ? 200_000 : 1_000_000
    cases = [[1, ONE], [4, ONE], [2, TWO], [8, TWO]].map { |t, env| ["#{t} thread#{"s" if t > 1}, #{env == TWO ? "2 workers" : "1 worker"}", "mutex", [t, n], env] }
    found = suite.compare(cases)
    suite.comparison("ns per addition", cases, found)
    report.data["mutex"] = found.map { |k, v| { case: k, ns: v } }
  end
end
