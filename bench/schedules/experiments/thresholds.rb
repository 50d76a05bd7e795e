# How much the paper's numbers matter: each of them halved and doubled.
module Bench
  experiment "thresholds", "AS and AI where each threshold of the paper's is half as great, and twice", simulated: true do |suite, report|
    sizes = suite.options[:sizes]&.split(",")&.map { |n| Integer(n) } || [suite.quick ? 2 : 16]
    seeds = suite.quick ? [1] : [1, 2, 3, 4, 5]
    report.section("Thresholds, simulated", <<~TEXT)
      The paper's machine. Each number of section 3.3 is halved, and doubled, with all others as they are. The time of AS, and of AI, by that of the better of FS and
      FI; means over #{seeds.size == 1 ? "one seed" : "#{seeds.size} seeds"}. Where all in a row are alike, that number does not matter there.
    TEXT
    recordings = Recordings.new(suite)
    rows = PAPER.product(sizes).flat_map do |program, nodes|
      folder = recordings.of(program, nodes)
      time = ->(seed, policies, *words) { recordings.replay(folder, *AP1000, "--seed", seed.to_s, *words, policies:).transform_values { |o| o["end"].to_f } }
      fixed = seeds.to_h { |s| [s, time.(s, %w[FI FS]).values.min] }
      ways = [["as in the paper", nil], *Thresholds::ALL.flat_map { |name, v| [[name, v / 2], [name, [v * 2, Thresholds::MOST[name]].compact.min]] }]
      found = ways.map do |name, value|
        each = seeds.map { |s| time.(s, %w[AS AI], *(value ? ["--thresholds", "#{name}=#{value}"] : [])).values_at("adaptive-synchronised", "adaptive-independent").map { |t| t / fixed[s] } }
        [name, value, *each.transpose.map { |l| l.sum / l.size }]
      end
      report.data["thresholds #{program} #{nodes}"] = found
      usual, *others = found
      others.each_slice(2).map do |less, more|
        figures = [2, 3].map { |i| [less, usual, more].map { |f| format("%.3f", f[i]) }.join(" · ") }
        ["#{program}, #{nodes}", less[0], "#{less[1]} · #{Thresholds::ALL[less[0]]} · #{more[1]}", *figures]
      end
    rescue Child::Failed => e
      report.note("#{program}, #{nodes}: #{e.message}")
      [["#{program}, #{nodes}"]]
    end
    report.table(["program, nodes", "threshold", "half · paper's · double", "AS", "AI"], rows)
  end

  module Thresholds
    # Of section 3.3, by their names of `kumi simulate --thresholds`.
    ALL = { "harmed" => 0.3, "harmed-share" => 0.125, "idle" => 0.5, "idle-share" => 0.5, "notice-share" => 0.0625 }.freeze
    # A share is no greater.
    MOST = { "idle" => 1.0, "idle-share" => 1.0 }.freeze
  end
end
