# Segments in a file: how many operations a second are on the disk, and how often it was waited for.
module Bench
  experiment "store", "durable puts, takes and code segments on a file, by 1 to 64 threads; waits for the disk" do |suite, report|
    seconds = suite.quick ? 2 : 5
    report.section("Segments in a file", <<~TEXT)
      `programs/store.rb`: threads in a closed loop on a file in the working folder, values of 64 bytes, #{seconds} s. A put and a take have returned when they are on the disk; code: a job is put, a
      code segment takes it and puts its result, and is joined: three writes. A wait is an `fdatasync`; figures of it as counted by the store itself. Medians of #{suite.reps} interleaved rounds.
    TEXT
    items = [["put", 64, 64], ["put", 64, 1024], ["put", 8, 64], ["put", 1, 64], ["take", 64, 64], ["code", 64, 64], ["code", 1, 64]]
    path = File.join(suite.work, "store.db")
    found = suite.rounds(items) { |(mode, threads, bytes), _| suite.figures(suite.kumi, "store", path, mode, threads, bytes, seconds) }
    found = found.transform_values { |l| suite.medians(l) }
    rows = items.map do |item|
      v = found[item]
      next [*item.map(&:to_s), v] unless v.is_a?(Array)
      [*item.map(&:to_s), Bench.figure(v[0]), Bench.figure(v[1] / seconds), format("%.1f", v[2]), Bench.us(v[3]), Bench.us(v[4]), Bench.us(v[5])]
    end
    report.table(["operation", "threads", "bytes", "a second", "waits a second", "a wait", "us, 50 %", "99 %", "processor us"], rows)
    best = found[["put", 64, 64]]
    report.bound("durable puts a second by 64 threads", best.is_a?(Array) ? best[0] : nil, 20_000, "", least: true)
    report.data["store"] = found.map { |(mode, threads, bytes), v| { operation: mode, threads: threads, bytes: bytes, figures: v } }
  end
end
