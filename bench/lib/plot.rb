# A small writer of SVG charts: lines over a linear or logarithmic axis, and bars with intervals.
# Data in, text out; nothing is drawn that is not in the series.
module Bench
  class Plot
    COLOURS = %w[#c8102e #2b6cb0 #2f855a #b7791f #6b46c1 #4a5568 #00838f #ad1457].freeze
    WIDTH = 760
    HEIGHT = 440
    LEFT = 78
    RIGHT = 24
    TOP = 44
    BOTTOM = 64

    # Scales: :linear, :log10 or :log2. A linear y axis begins at zero unless `zero` is false.
    def initialize(title, x:, y:, x_scale: :linear, y_scale: :linear, zero: true)
      @zero = zero
      @title = title
      @x = x
      @y = y
      @x_scale = x_scale
      @y_scale = y_scale
      @lines = []
      @marks = []
    end

    # Points are [x, y] or [x, y, low, high].
    def line(name, points)
      @lines << [name, points] unless points.empty?
      self
    end

    # A horizontal line at `y`, for a bound or a runtime that the axis does not concern.
    def mark(name, y)
      @marks << [name, y]
      self
    end

    def empty? = @lines.empty?

    def to_s
      xs = @lines.flat_map { |_, ps| ps.map { |p| p[0] } }
      ys = @lines.flat_map { |_, ps| ps.flat_map { |p| p[1..] } } + @marks.map { |m| m[1] }
      @xa = axis(xs, @x_scale)
      @ya = axis(@y_scale == :linear && @zero ? ys + [0] : ys, @y_scale)
      body = grid + marks + @lines.each_with_index.map { |l, i| curve(l[1], COLOURS[i % COLOURS.size]) }.join
      Plot.document(WIDTH, HEIGHT + legend_height, @title, body + legend)
    end

    # Bars in groups: rows are [label, [value or [value, low, high], ...]], names say what each bar of a group is. Stacked, a group's
    # values stand on each other.
    def self.bars(title, y:, names:, rows:, base: 0.0, bounds: [], stacked: false)
      step = stacked ? 24 : [[18 * names.size, 26].max, 60].min
      width = [LEFT + RIGHT + step * rows.size, WIDTH].max
      height = HEIGHT + 70
      all = rows.flat_map { |_, vs| stacked ? [vs.sum] : vs.flatten.compact } + bounds.map { |b| b[1] } + [base]
      low, high, ticks = linear_ticks(all.min, all.max)
      bottom = height - BOTTOM - 70
      up = ->(v) { (bottom - (v - low) * (bottom - TOP) / (high - low)).round(1) }
      out = +""
      ticks.each do |t|
        out << %(<line x1="#{LEFT}" x2="#{width - RIGHT}" y1="#{up.(t)}" y2="#{up.(t)}" stroke="#e2e8f0"/>)
        out << text(LEFT - 8, up.(t) + 4, number(t), "end")
      end
      step = (width - LEFT - RIGHT) / rows.size.to_f
      bar = step * 0.8 / (stacked ? 1 : names.size)
      rows.each_with_index do |(label, values), i|
        foot = base
        values.each_with_index do |v, k|
          next unless v
          value, from, to = v
          x = (LEFT + step * (i + 0.1) + (stacked ? 0 : bar * k)).round(1)
          y0, y1 = [up.(foot), up.(stacked ? foot + value : value)].minmax
          foot += value if stacked
          out << %(<rect x="#{x}" y="#{y0}" width="#{(bar * 0.9).round(1)}" height="#{[y1 - y0, 0.5].max.round(1)}" fill="#{COLOURS[k % COLOURS.size]}"/>)
          next unless from
          middle = (x + bar * 0.45).round(1)
          out << %(<line x1="#{middle}" x2="#{middle}" y1="#{up.(from)}" y2="#{up.(to)}" stroke="#1a202c"/>)
        end
        x = (LEFT + step * (i + 0.55)).round(1)
        out << %(<text x="#{x}" y="#{bottom + 12}" text-anchor="end" font-size="11" transform="rotate(-45 #{x} #{bottom + 12})">#{escape(label)}</text>)
      end
      bounds.each do |name, v|
        out << %(<line x1="#{LEFT}" x2="#{width - RIGHT}" y1="#{up.(v)}" y2="#{up.(v)}" stroke="#4a5568" stroke-dasharray="5 4"/>)
        out << text(width - RIGHT - 2, TOP - 8, "- - #{name}", "end")
      end
      out << %(<line x1="#{LEFT}" x2="#{width - RIGHT}" y1="#{up.(base)}" y2="#{up.(base)}" stroke="#1a202c"/>)
      out << %(<text x="18" y="#{(TOP + bottom) / 2}" text-anchor="middle" transform="rotate(-90 18 #{(TOP + bottom) / 2})">#{escape(y)}</text>)
      names.each_with_index do |name, k|
        x = LEFT + 170 * k
        out << %(<rect x="#{x}" y="#{height - 18}" width="10" height="10" fill="#{COLOURS[k % COLOURS.size]}"/>)
        out << text(x + 16, height - 9, name)
      end
      document(width, height, title, out)
    end

    def self.document(width, height, title, body)
      %(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 #{width} #{height}" width="#{width}" height="#{height}" ) +
        %(font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#1a202c">\n<rect width="100%" height="100%" fill="white"/>) +
        %(<text x="#{width / 2}" y="24" text-anchor="middle" font-size="15" font-weight="bold">#{escape(title)}</text>\n#{body}\n</svg>\n)
    end

    def self.text(x, y, words, anchor = "start")
      %(<text x="#{x}" y="#{y}" text-anchor="#{anchor}">#{escape(words)}</text>)
    end

    def self.escape(words) = words.to_s.gsub("&", "&amp;").gsub("<", "&lt;").gsub(">", "&gt;")

    # 1200000 as 1.2M; at most three digits before the letter.
    def self.number(v)
      return v.to_i.to_s if v.zero?
      size = v.abs
      scaled, letter = size >= 1e9 ? [v / 1e9, "G"] : size >= 1e6 ? [v / 1e6, "M"] : size >= 1e4 ? [v / 1e3, "k"] : [v, ""]
      digits = scaled.abs >= 100 ? 0 : scaled.abs >= 10 ? 1 : scaled.abs >= 0.1 ? 2 : 4
      words = format("%.#{digits}f", scaled)
      words = words.sub(/\.?0+\z/, "") if words.include?(".")
      words + letter
    end

    # Round steps of 1, 2 or 5 that cover both ends.
    def self.linear_ticks(low, high)
      high = low + 1 if high <= low
      raw = (high - low) / 6.0
      power = 10.0**Math.log10(raw).floor
      step = [1, 2, 5, 10].map { |m| m * power }.find { |s| s >= raw }
      from = (low / step).floor
      to = (high / step).ceil
      [from * step, to * step, (from..to).map { |i| i * step }]
    end

    private

    Axis = Struct.new(:scale, :low, :high, :ticks) do
      # Where a value lies between the axis's ends, 0.0 to 1.0.
      def at(v)
        return (v - low).to_f / (high - low) if scale == :linear
        (Math.log(v) - Math.log(low)) / (Math.log(high) - Math.log(low))
      end
    end

    def axis(values, scale)
      return Axis.new(scale, *Plot.linear_ticks(values.min, values.max)) if scale == :linear
      base = scale == :log2 ? 2.0 : 10.0
      values = values.select { |v| v > 0 }
      fine = scale == :log10 && fine_axis(values)
      return fine if fine
      from = (Math.log(values.min) / Math.log(base) + 1e-9).floor
      to = (Math.log(values.max) / Math.log(base) - 1e-9).ceil
      to = from + 1 if to <= from
      every = ((to - from) / 14.0).ceil
      Axis.new(scale, base**from, base**to, (from..to).step([every, 1].max).map { |e| base**e })
    end

    # Less than two decades: ticks at 1, 2 and 5 of each, and ends at ticks.
    def fine_axis(values)
      return if values.max / values.min.to_f > 60
      all = (-3..12).flat_map { |e| [1, 2, 5].map { |m| m * 10.0**e } }
      low = all.rindex { |t| t <= values.min } or return
      high = all.index { |t| t >= values.max } or return
      high = low + 1 if high <= low
      Axis.new(:log10, all[low], all[high], all[low..high])
    end

    def px(v) = (LEFT + @xa.at(v) * (WIDTH - LEFT - RIGHT)).round(1)
    def py(v) = (HEIGHT - BOTTOM - @ya.at(v) * (HEIGHT - BOTTOM - TOP)).round(1)

    def grid
      out = +""
      bottom = HEIGHT - BOTTOM
      @ya.ticks.each do |t|
        out << %(<line x1="#{LEFT}" x2="#{WIDTH - RIGHT}" y1="#{py(t)}" y2="#{py(t)}" stroke="#e2e8f0"/>)
        out << Plot.text(LEFT - 8, py(t) + 4, Plot.number(t), "end")
      end
      @xa.ticks.each do |t|
        out << %(<line x1="#{px(t)}" x2="#{px(t)}" y1="#{TOP}" y2="#{bottom}" stroke="#edf2f7"/>)
        out << Plot.text(px(t), bottom + 18, @x_scale == :log2 ? binary(t) : Plot.number(t), "middle")
      end
      out << %(<path d="M#{LEFT} #{TOP}V#{bottom}H#{WIDTH - RIGHT}" fill="none" stroke="#1a202c"/>)
      out << Plot.text((LEFT + WIDTH - RIGHT) / 2, bottom + 42, @x, "middle")
      out << %(<text x="18" y="#{(TOP + bottom) / 2}" text-anchor="middle" transform="rotate(-90 18 #{(TOP + bottom) / 2})">#{Plot.escape(@y)}</text>)
    end

    # 1024 as 1K.
    def binary(v)
      v >= 1 << 20 ? "#{(v / (1 << 20)).to_i}M" : v >= 1024 ? "#{(v / 1024).to_i}K" : v.to_i.to_s
    end

    def marks
      @marks.map do |name, v|
        %(<line x1="#{LEFT}" x2="#{WIDTH - RIGHT}" y1="#{py(v)}" y2="#{py(v)}" stroke="#4a5568" stroke-dasharray="6 4"/>) +
          Plot.text(WIDTH - RIGHT - 4, py(v) - 5, name, "end")
      end.join
    end

    def curve(points, colour)
      drawn = points.sort_by(&:first)
      drawn = drawn.select { |p| p[1] > 0 } unless @y_scale == :linear
      drawn = drawn.select { |p| p[0] > 0 } unless @x_scale == :linear
      path = drawn.map { |p| "#{px(p[0])},#{py(p[1])}" }.join(" ")
      out = %(<polyline points="#{path}" fill="none" stroke="#{colour}" stroke-width="2"/>)
      drawn.each do |p|
        out << %(<circle cx="#{px(p[0])}" cy="#{py(p[1])}" r="3.2" fill="#{colour}"/>)
        out << %(<line x1="#{px(p[0])}" x2="#{px(p[0])}" y1="#{py(p[2])}" y2="#{py(p[3])}" stroke="#{colour}"/>) if p[2]
      end
      out
    end

    def legend_height = 18 * ((@lines.size + 3) / 4)

    def legend
      @lines.each_with_index.map do |(name, _), i|
        x = LEFT + 168 * (i % 4)
        y = HEIGHT - 4 + 18 * (i / 4)
        %(<line x1="#{x}" x2="#{x + 18}" y1="#{y}" y2="#{y}" stroke="#{COLOURS[i % COLOURS.size]}" stroke-width="3"/>) +
          Plot.text(x + 24, y + 4, name)
      end.join
    end
  end
end
