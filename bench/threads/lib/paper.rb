# What the paper tells of its own implementations (Sugiyama, Sasada and Dürst, "Dynamic Extension of the Ruby Virtual Machine Stack", 2018): method
# 1 copies both stacks, method 2 links frames in a list, both are CRuby 2.5 with stacks that grow; the base is CRuby 2.5 itself, on a Core
# i7-6500U. What stands in its figures alone (8, 10 to 13) and in no text is not here.
module Bench
  module Paper
    METHODS = ["paper, method 1", "paper, method 2"].freeze

    # Table 1, section 6.3.1: highest resident memory in MB by the number of sleeping threads, begun with 1 KB: method 1, method 2, base.
    TABLE_1 = { 0 => [6.2, 6.1, 6.1], 2000 => [34.6, 34.9, 55.8], 4000 => [63.5, 64.1, 105.8], 6000 => [92.4, 93.4, 155.9],
                8000 => [121.2, 122.5, 206.1], 10_000 => [150.1, 152.0, 256.5] }.freeze

    # Section 6.3.1: KB per thread of method 1, method 2, base.
    PER_THREAD = [14.8, 15.0, 25.7].freeze

    # Table 2, section 6.4: highest resident memory of the whole process in MB: method 1, method 2, base.
    TABLE_2 = { "linear" => [375.5, 550.4, 348.0], "exponential" => [24.3, 24.6, 34.9] }.freeze

    # Section 6.5.1: time over the base's with 197 benchmarks, no stack growing: [mean, highest].
    SPEED = { "method 1" => [1.18, 1.63], "method 2" => [1.06, 1.35] }.freeze

    module_function

    # Each method's figure over the base's.
    def over_base(row) = row.first(2).map { |v| v / row[2] }

    # The same of what threads add to none, in table 1.
    def threads_over_base(count)
      row = TABLE_1[count] or return
      over_base(row.zip(TABLE_1[0]).map { |v, none| v - none })
    end
  end
end
