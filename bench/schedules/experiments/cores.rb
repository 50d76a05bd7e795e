# What the simulator predicts of real processes that share cores, and what they do.
module Bench
  experiment "cores", "four real one-worker processes that share this machine's cores, and what replays of their recordings say" do |suite, report|
    nodes = 4
    report.section("#{nodes} real processes on #{suite.cores} cores", <<~TEXT)
      #{nodes} nodes with one worker each, on whatever core the kernel gives them. In each round `ping` is recorded on two nodes, and the way of a message is set so
      that its replay lasts as long as it did. Then each program is run, and run and recorded, and the recording is replayed with the collections that there were,
      and with `--cores #{suite.cores}`. Nothing is fitted to the programs. Predicted, real: from the beginning of the program to its end, in the middle round.
      Own cores: a replay that gives each node a core of its own. Others: the most of all cores that processes not of the run had while one was recorded.
    TEXT
    together, recordings = Together.new(suite), Recordings.new(suite)
    seen = Hash.new { |all, program| all[program] = [] }
    trips = []
    suite.reps.times do |round|
      folder = ->(program) { File.join(suite.work, "together-#{program}-#{round}") }
      together.run(2, File.join(suite.programs, "ping.rb"), record: folder["ping"])
      trips << (trip = Predict.trip(recordings, folder["ping"], "--cores", suite.cores.to_s))
      PAPER.each do |program|
        file = recordings.example(program)
        plain = Predict.seconds(together.run(nodes, file, "--check", "0").out)
        run = together.run(nodes, file, "--check", "0", record: folder[program])
        predicted, real = Predict.ends(recordings, folder[program], trip, "--cores", suite.cores.to_s)
        own, = Predict.ends(recordings, folder[program], trip)
        seen[program] << { predicted:, real:, error: predicted / real - 1, own: own / real - 1, recorded: Predict.seconds(run.out) / plain, others: run.others }
      rescue Child::Failed => e
        report.note("#{program}, round #{round + 1}: #{e.message}")
      end
    end
    report.note("A round trip, as fitted: #{trips.map { |t| "#{(t * 1e6).round} µs" }.join(", ")}.")
    median = ->(rounds, key) { rounds.empty? ? nil : Stats.median(rounds.map { |r| r[key] }) }
    percent = ->(x) { x && format("%+.1f %%", x * 100) }
    rows = PAPER.map do |program|
      all = seen[program]
      error = median[all, :error]
      report.bound("error of #{program} on #{nodes} nodes that share #{suite.cores} cores", error && error.abs * 100, 20, "%")
      [program, Bench.figure(median[all, :predicted]), Bench.figure(median[all, :real]), percent[error], all.map { |r| format("%+.1f", r[:error] * 100) }.join(" "),
       percent[median[all, :own]], Bench.figure(median[all, :recorded]), all.map { |r| r[:others] }.max&.then { |o| format("%.0f %%", o * 100) }]
    end
    report.table(["program", "predicted s", "real s", "error", "rounds, %", "own cores", "recorded / not", "others"], rows)
    report.data["cores"] = { trips:, programs: seen }
  end
end
