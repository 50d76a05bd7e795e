# Figures from repeated measurements. Ratios are averaged as logarithms, so that twice as fast and
# half as fast cancel; intervals are bootstrapped with a fixed seed, so that the same times give the
# same interval.
module Bench
  module Stats
    module_function

    def median(list) = quantile(list, 0.5)

    # The value below which the share `q` of the list lies, between neighbours by interpolation.
    def quantile(list, q)
      sorted = list.sort
      at = q * (sorted.size - 1)
      low = at.floor
      high = at.ceil
      sorted[low] + (sorted[high] - sorted[low]) * (at - low)
    end

    def geomean(list) = Math.exp(list.sum { |x| Math.log(x) } / list.size)

    # The mean without the fifth at either end: near the mean's precision, and one disturbed run moves it little.
    def trimmed_mean(list)
      sorted = list.sort
      cut = sorted.size / 5
      kept = sorted[cut, sorted.size - 2 * cut]
      kept.sum / kept.size
    end

    # The ratio of a list of ratios taken in pairs, with the bounds of its 95 % confidence interval.
    def ratio(ratios, draws: 1000)
      interval(draws, [ratios.map { |r| Math.log(r) }])
    end

    # The geometric mean of several programs' ratios, each program's pairs drawn again by themselves.
    def mean_ratio(programs, draws: 400)
      interval(draws, programs.map { |ratios| ratios.map { |r| Math.log(r) } })
    end

    def interval(draws, lists)
      random = Random.new(20_180_512)
      means = Array.new(draws) do
        lists.sum { |logs| trimmed_mean(Array.new(logs.size) { logs[random.rand(logs.size)] }) } / lists.size
      end
      middle = lists.sum { |logs| trimmed_mean(logs) } / lists.size
      [middle, quantile(means, 0.025), quantile(means, 0.975)].map { |x| Math.exp(x) }
    end
  end
end
