# What the simulator predicts of two real processes, and what they do.
module Bench
  experiment "predict", "two real one-worker processes, pinned, and what replays of their recordings say" do |suite, report|
    report.section("Two real processes", <<~TEXT)
      Two nodes with one worker each, each on a core of its own. In each round `ping` is recorded: calls one after the other. The way of a message is
      set so that its replay lasts as long as it did; nothing else is fitted, and none of the programs is used for it. Then each program is run, and run
      and recorded; the recording is replayed with the collections that there were. Without ticks: a replay in which a task keeps its worker until it
      waits. Predicted, real: from the beginning of the program to its end, in
      the middle round. Error: the middle one of the rounds'. Recorded: the program's own time when it is recorded, by that when it is not.
    TEXT
    pinned, recordings = Pinned.new(suite), Recordings.new(suite)
    ping = File.join(suite.programs, "ping.rb")
    seen = Hash.new { |all, program| all[program] = [] }
    trips = []
    suite.reps.times do |round|
      folder = ->(program) { File.join(suite.work, "pinned-#{program}-#{round}") }
      pinned.run(ping, record: folder["ping"])
      trips << (trip = Predict.trip(recordings, folder["ping"]))
      PAPER.each do |program|
        file = recordings.example(program)
        plain = Predict.seconds(pinned.run(file, "--check", "0"))
        with = Predict.seconds(pinned.run(file, "--check", "0", record: folder[program]))
        predicted, real = Predict.ends(recordings, folder[program], trip)
        rough, = Predict.ends(recordings, folder[program], trip, "--tick", "0s")
        seen[program] << { predicted:, real:, error: predicted / real - 1, rough: rough / real - 1, recorded: with / plain }
      rescue Child::Failed => e
        report.note("#{program}, round #{round + 1}: #{e.message}")
      end
    end
    median = ->(rounds, key) { rounds.empty? ? nil : Stats.median(rounds.map { |r| r[key] }) }
    report.note("A round trip, as fitted: #{trips.map { |t| "#{(t * 1e6).round} µs" }.join(", ")}.")
    rows = PAPER.map do |program|
      all = seen[program]
      error = median[all, :error]
      report.bound("error of #{program} on 2 nodes", error && error.abs * 100, 10, "%")
      [program, Bench.figure(median[all, :predicted]), Bench.figure(median[all, :real]), error && format("%+.1f %%", error * 100),
       all.map { |r| format("%+.1f", r[:error] * 100) }.join(" "), error && format("%+.1f %%", median[all, :rough] * 100), Bench.figure(median[all, :recorded])]
    end
    report.table(["program", "predicted s", "real s", "error", "rounds, %", "without ticks", "recorded / not"], rows)
    report.data["predict"] = { trips:, programs: seen }
  end

  module Predict
    module_function

    # Seconds of a round trip with which the replay of `ping` lasts as long as it did: a line through two.
    def trip(recordings, folder, *options)
      few, many = 20e-6, 420e-6
      (low, real), (high,) = [few, many].map { |t| ends(recordings, folder, t, *options) }
      (few + (real - low) / (high - low) * (many - few)).clamp(1e-6, 10e-3)
    end

    # Seconds that a replay takes, and that the programs took.
    def ends(recordings, folder, trip, *options)
      text = recordings.simulate(folder, "--as-recorded", "--round-trip", "#{(trip * 1e9).round}ns", *options)
      [text[/^as recorded +([\d.]+)/, 1].to_f, text[/^recorded: ([\d.]+) s/, 1].to_f]
    end

    # What the first node says that the program took.
    def seconds(out) = out[/^node1 +([\d.]+)/, 1].to_f
  end
end
