# Larger clusters than are recorded, by a model of smaller ones.
module Bench
  experiment "extrapolate", "a model of 4 to 64 nodes that says what 256 and 4,096 take, and replays of 256", long: true, simulated: true do |suite, report|
    built, checked, largest = [4, 8, 16, 32, 64], suite.quick ? 128 : 256, 4096
    policies = %w[independent synchronised adaptive-synchronised adaptive-independent combined]
    report.section("#{Bench.figure(largest)} nodes, extrapolated", <<~TEXT)
      The patterns on the paper's machine, one seed. A node's active time, idle time, collections and overhead are each taken to grow by as much with each doubling of
      the nodes: a line by the logarithm of their number, through replays of #{built.join(", ")} nodes. Seconds. #{checked}: by the model, and replayed. #{Bench.figure(largest)} is
      extrapolated: nothing that large was replayed.
    TEXT
    recordings = Recordings.new(suite)
    rows = PAPER.flat_map do |pattern|
      seen = [*built, checked].to_h { |n| [n, recordings.replay("--pattern=#{pattern}", "--nodes", n.to_s, policies:)] }
      policies.map do |policy|
        parts = ->(n) { seen[n][policy]["all"].values_at("active", "idle", "collection", "overhead").map { |ns| ns / 1e9 / n } }
        by = ->(n) { built.map(&parts).transpose.sum { |part| Extrapolate.line(built.zip(part), n) } }
        real = seen[checked][policy]["end"] / 1e9
        report.bound("error of #{pattern} on #{checked} nodes, #{policy}", (by[checked] / real - 1).abs * 100, 20, "%")
        ["#{pattern} #{policy}", Bench.figure(by[checked]), Bench.figure(real), format("%+.1f %%", (by[checked] / real - 1) * 100), Bench.figure(by[largest])]
      end
    end
    report.table(["pattern, schedule", "#{checked} by the model", "replayed", "error", "#{largest}, extrapolated"], rows)
    report.data["extrapolate"] = rows
  end

  module Extrapolate
    # The nearest line through pairs of a number of nodes and a value, by the logarithm of the number, at `nodes`. Nothing is less than none.
    def self.line(pairs, nodes)
      points = pairs.map { |n, y| [Math.log2(n), y] }
      x, y = points.transpose.map { |values| values.sum / values.size }
      slope = points.sum { |a, b| (a - x) * (b - y) } / points.sum { |a, _| (a - x)**2 }
      [y + slope * (Math.log2(nodes) - x), 0.0].max
    end
  end
end
