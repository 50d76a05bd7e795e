# An axis of a chart: its ends, its ticks, where a value lies on it, and what its label must say of it.
module Bench
  Axis = Struct.new(:scale, :low, :high, :ticks) do
    # Where a value lies between the axis's ends, 0.0 to 1.0.
    def at(v)
      return (v - low).to_f / (high - low) if scale == :linear
      (Math.log(v) - Math.log(low)) / (Math.log(high) - Math.log(low))
    end

    def log? = scale != :linear

    # The label: what could be taken for an axis from zero, and is none, is said to be.
    def label(words)
      return "#{words} (logarithmic)" if log?
      low <= 0 && high >= 0 ? words : "#{words} (not from zero)"
    end

    # 1024 as 1K on an axis of powers of two.
    def number(v)
      return Style.number(v) unless scale == :log2
      v >= 1 << 20 ? "#{(v / (1 << 20)).to_i}M" : v >= 1024 ? "#{(v / 1024).to_i}K" : v.to_i.to_s
    end

    class << self
      # Scales: :linear, :log10 or :log2. Values that a logarithmic axis cannot have are left out of it.
      def over(values, scale)
        return new(scale, *linear_ticks(values.min, values.max)) if scale == :linear
        values = values.select { |v| v > 0 }
        values = [1] if values.empty?
        (scale == :log10 && fine(values)) || powers(values, scale)
      end

      private

      # Round steps of 1, 2 or 5 that cover both ends.
      def linear_ticks(low, high)
        high = low + 1 if high <= low
        raw = (high - low) / 6.0
        power = 10.0**Math.log10(raw).floor
        step = [1, 2, 5, 10].map { |m| m * power }.find { |s| s >= raw }
        from = (low / step).floor
        to = (high / step).ceil
        [from * step, to * step, (from..to).map { |i| i * step }]
      end

      def powers(values, scale)
        base = scale == :log2 ? 2.0 : 10.0
        from = (Math.log(values.min) / Math.log(base) + 1e-9).floor
        to = (Math.log(values.max) / Math.log(base) - 1e-9).ceil
        to = from + 1 if to <= from
        every = [((to - from) / 14.0).ceil, 1].max
        new(scale, base**from, base**to, (from..to).step(every).map { |e| base**e })
      end

      # Less than two decades: ticks at 1, 2 and 5 of each, and ends at ticks.
      def fine(values)
        return if values.max / values.min.to_f > 60
        all = (-3..12).flat_map { |e| [1, 2, 5].map { |m| m * 10.0**e } }
        low = all.rindex { |t| t <= values.min } or return
        high = all.index { |t| t >= values.max } or return
        high = low + 1 if high <= low
        new(:log10, all[low], all[high], all[low..high])
      end
    end
  end
end
