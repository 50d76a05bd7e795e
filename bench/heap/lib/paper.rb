# What the paper tells of its own implementation (Nakamura, Maeda and Ozawa, "Speculative Allocation: Thread-independent Memory Management for
# Java", 2003): HotSpot 1.4.0 with thread-local heaps (TLH) of 32 KB against the same without, with per-thread buffers (TLAB) on both sides. What
# stands in its figures alone (6, 8, 14) and in no text is not here.
module Bench
  module Paper
    # Which of its programs ours stand for.
    PROGRAMS = { "expert" => "jess", "db" => "db", "raytrace" => "mtrt", "compiler" => "javac", "parsergen" => "jack" }.freeze

    # Table 1, section 4.2: % of allocated bytes in LOS and freed there, in LOS in vain, in the shared heap; history with 1/16 and 1/4.
    TABLE_1 = {
      "jess" => { "1/16" => [7.78, 0.03, 92.19], "1/4" => [26.98, 1.19, 71.83] },
      "db" => { "1/16" => [57.48, 0.06, 42.46], "1/4" => [57.28, 0.04, 42.68] },
      "mtrt" => { "1/16" => [65.59, 0.09, 34.32], "1/4" => [67.04, 0.09, 32.87] },
      "javac" => { "1/16" => [18.61, 0.50, 80.89], "1/4" => [19.83, 1.06, 79.11] },
      "jack" => { "1/16" => [44.92, 0.03, 55.05], "1/4" => [45.41, 1.33, 54.59] }
    }.freeze

    # Section 4.2: what its simulator, which foresees everything, has of the same: % that LOS could have had.
    IDEAL = { "mtrt" => 84, "javac" => 34 }.freeze

    # Table 2, section 4.3, SPECjbb2000: the same three shares.
    TABLE_2 = [21.94, 0.00, 78.06].freeze

    # Section 4.4, 16 processors: peak over the original's with and without TLAB; % lost after the peak with 11 warehouses, original and TLH.
    PEAK = { "with TLAB" => 1.028, "without" => 1.14 }.freeze
    DECLINE = { "off" => 29, "default" => 18 }.freeze

    # Section 4.5.1: throughput of collector-free time over the original's.
    CLIENT = { "1 Pentium 3; 2 UltraSPARC III" => 0.92, "2 Pentium 3" => 0.90 }.freeze

    # Table 3, section 4.5.1: % of client time: barrier, thread-local collections, free lists.
    TABLE_3 = { barrier: 4.6, collections: 2.6, free: 2.9 }.freeze

    # Table 4, section 4.5.2, two Pentium 3, by warehouses. Original: New GCs and their seconds, Full GCs and their seconds. TLH: the same, LOS
    # recovery GCs and their seconds.
    TABLE_4 = {
      1 => [[71, 3.76, 0, 0.0], [51, 2.69, 0, 0.0, 1, 0.093]], 2 => [[114, 10.74, 1, 1.08], [87, 9.44, 0, 0.0, 0, 0.0]],
      3 => [[111, 12.75, 1, 1.14], [83, 11.88, 1, 1.47, 0, 0.0]], 4 => [[104, 14.95, 3, 4.00], [79, 13.13, 2, 2.84, 0, 0.0]],
      5 => [[104, 16.08, 3, 3.64], [77, 14.27, 3, 4.31, 0, 0.0]], 6 => [[100, 16.60, 4, 5.31], [74, 15.57, 4, 5.40, 0, 0.0]],
      7 => [[94, 17.26, 6, 8.68], [72, 16.26, 5, 7.18, 0, 0.0]], 8 => [[93, 18.20, 6, 8.76], [69, 16.41, 6, 8.70, 0, 0.0]],
      9 => [[88, 18.16, 8, 12.01], [68, 17.33, 6, 8.91, 0, 0.0]], 10 => [[82, 17.62, 11, 16.75], [60, 16.65, 9, 14.86, 0, 0.0]],
      11 => [[75, 16.64, 13, 20.70], [56, 15.78, 11, 18.09, 0, 0.0]], 12 => [[63, 14.77, 18, 29.73], [48, 14.41, 12, 25.00, 0, 0.0]],
      13 => [[42, 9.53, 28, 46.76], [30, 8.81, 24, 40.99, 1, 0.500]], 14 => [[10, 2.25, 42, 70.83], [9, 2.65, 34, 59.75, 3, 1.085]],
      15 => [[0, 0.0, 45, 78.87], [0, 0.0, 39, 70.45, 0, 0.0]], 16 => [[0, 0.0, 27, 49.24], [0, 0.0, 19, 35.73, 1, 1.158]]
    }.freeze

    module_function

    # Rows of a table or a stacked chart: [label, [freed, misspeculated, shared]] of the program that ours stands for.
    def fates(program)
      name = PROGRAMS[program]
      TABLE_1[name].map { |ratio, shares| ["paper's #{name}, #{ratio}", shares] }
    end

    # TLH's number of node collections, and their time, in % of the original's.
    def collections(warehouses)
      row = TABLE_4[warehouses] or return
      counts, seconds = [0, 1].map { |from| row.map { |list| list.each_slice(2).sum { |x| x[from] } } }
      [counts, seconds].map { |before, after| after / before.to_f * 100 }
    end
  end
end
