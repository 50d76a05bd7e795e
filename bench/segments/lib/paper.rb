# What the paper tells of its own implementation (Sugimoto and Kono, on updates of Data Segments in the distributed framework Alice): Java on a Xeon
# X5650 with 12 cores. Its table 1 is that machine.
module Bench
  module Paper
    # Table 2, section 6.2.1: ms for 10,000 code segments with a local input, with SEDA's stages and without: ns each, and the ratio.
    TABLE_2 = { "staged" => 2772, "peek" => 753 }.freeze
    STAGED = 27.72 / 7.53

    # Table 3, section 6.2.2: ms for 10,000 segments added by flip and by put.
    TABLE_3 = { "flips" => 6112, "copies" => 6524 }.freeze
    PUT_OVER_FLIP = 65.24 / 61.12

    # Table 4, section 6.2.3: ms of the sort before (put) and after (flip, no stages).
    TABLE_4 = { "put" => 199.38, "flip" => 184.64 }.freeze
    BEFORE_OVER_AFTER = 199.38 / 184.64
  end
end
