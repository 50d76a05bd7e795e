# What the paper tells of its own implementation (Yamanaka and Kamada, "Adaptive Scheduling Mechanism and Memory Reduction Techniques for Efficient
# Demand-driven XML Processing", 2005): Nanafusi on a Pentium 4 Xeon with 2.4 GHz and JDK 1.5, a hash join of TPC-H's lineitem (30.6 MB) and
# orders (5.1 MB). What stands in its figures alone (3 to 5, 9, 10, 14) and in no text is not here.
module Bench
  module Paper
    # Sections 2.3 and 3.4 (figures 3 and 9): ms until the first result, by Mbps.
    FIRST = { "paper, adaptive" => { 21 => 12, 250 => 30 }, "paper, small" => { 250 => 120 } }.freeze

    # Tables 3 to 5: total, young and full collections in ms; the least memory that the program needs, in MB.
    Row = Struct.new(:total, :young, :full, :memory) do
      def collections = young + full
    end

    # Table 3, section 4.4, client compiler, 250 Mbps. DD kept is its DD[A-M], DD cut its DD[A+M]: both with adaptive scheduling.
    TABLE_3 = { "SQ" => Row.new(5126, 608, 267, 52.7), "ED" => Row.new(4371, 234, 75, 15.6), "DD kept" => Row.new(5207, 699, 313, 17.6), "DD cut" => Row.new(4476, 266, 121, 17.0) }.freeze

    # Table 4, section 4.4: the same with the server compiler: total, all collections.
    TABLE_4 = { "SQ" => [3648, 781], "ED" => [3077, 303], "DD kept" => [3946, 936], "DD cut" => [3211, 342], "DD large" => [4089, 1131] }.freeze

    # Table 5, section 4.4: by the young space in MB (table 2's options: the default's 1.4 as it settled, O2, O3). O1 changed survivors alone.
    TABLE_5 = {
      1.4 => { "DD cut" => Row.new(4476, 266, 121), "DD kept" => Row.new(5207, 699, 313) },
      64 => { "DD cut" => Row.new(4341, 155, 83), "DD kept" => Row.new(4769, 648, 185) },
      128 => { "DD cut" => Row.new(4141, 112, 0), "DD kept" => Row.new(4212, 114, 0) }
    }.freeze
    O1 = { "DD cut" => Row.new(5348, 879, 86), "DD kept" => Row.new(6035, 1452, 338) }.freeze

    # Section 4.4: % of what was allocated that a young collection freed, once one input had ended.
    FREED = { "DD kept" => 66.7, "DD cut" => 96.2 }.freeze

    # Section 2.3 (figures 4 and 5): at 250 Mbps, without adaptive scheduling and cutting: total over ED's.
    OLD = { "small" => 1.25, "large" => 1.20 }.freeze

    module_function

    # A figure of table 3's modes over that of ED.
    def over_ed(mode, figure) = TABLE_3[mode].public_send(figure) / TABLE_3["ED"].public_send(figure).to_f

    # Total of kept over that of cut, by young space.
    def kept_over_cut = TABLE_5.transform_values { |r| r["DD kept"].total / r["DD cut"].total.to_f }
  end
end
