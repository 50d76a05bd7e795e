# A small writer of SVG charts: lines over linear or logarithmic axes, and bars (plot/bars.rb). Data in, text out; nothing is drawn that is
# not in the series. Looks, light and dark, are those of plot/style.rb.
%w[style axis bars].each { |f| require_relative "plot/#{f}" }

module Bench
  class Plot
    WIDTH, HEIGHT = 760, 440
    LEFT, RIGHT, TOP, BOTTOM = 78, 24, 44, 64

    # Scales: :linear, :log10 or :log2. A linear y axis begins at zero unless `zero` is false. Labels name what is told and its unit; that an
    # axis is logarithmic or not from zero is added.
    def initialize(title, x:, y:, x_scale: :linear, y_scale: :linear, zero: true)
      @title, @x, @y, @x_scale, @y_scale, @zero = title, x, y, x_scale, y_scale, zero
      @lines, @marks = [], []
    end

    # Bars instead of lines: see Bars.
    def self.bars(title, **words) = Bars.new(title, **words)

    # Points are [x, y] or [x, y, low, high]. What the paper has told has a name that begins with "paper".
    def line(name, points)
      @lines << [name, points] unless points.empty?
      self
    end

    # A horizontal line at `y`, for a bound or a runtime that the axis does not concern.
    def mark(name, y)
      @marks << [name, y]
      self
    end

    def empty? = @lines.all? { |name, _| Style.paper?(name) }

    def to_s
      xs = @lines.flat_map { |_, ps| ps.map(&:first) }
      ys = @lines.flat_map { |_, ps| ps.flat_map { |p| p[1..].compact } } + @marks.map(&:last)
      @xa = Axis.over(xs, @x_scale)
      @ya = Axis.over(@y_scale == :linear && @zero ? ys + [0] : ys, @y_scale)
      body = grid + marks + @lines.each_with_index.map { |(name, points), i| curve(name, points, i) }.join
      names, below = Style.legend(@lines.map(&:first), LEFT, WIDTH - LEFT - RIGHT, HEIGHT) { |i, name, x, y| Style.path("#{x},#{y} #{x + 22},#{y}", i, name) + Style.point(x + 11, y, i, name) }
      Style.document(WIDTH, HEIGHT + below, @title, body + names)
    end

    private

    def px(v) = (LEFT + @xa.at(v) * (WIDTH - LEFT - RIGHT)).round(1)
    def py(v) = (HEIGHT - BOTTOM - @ya.at(v) * (HEIGHT - BOTTOM - TOP)).round(1)

    def grid
      bottom, middle = HEIGHT - BOTTOM, (TOP + HEIGHT - BOTTOM) / 2
      rows = @ya.ticks.map { |t| %(<line class="grid" x1="#{LEFT}" x2="#{WIDTH - RIGHT}" y1="#{py(t)}" y2="#{py(t)}"/>) + Style.text(LEFT - 8, py(t) + 4, @ya.number(t), "end") }
      columns = @xa.ticks.map { |t| %(<line class="grid" x1="#{px(t)}" x2="#{px(t)}" y1="#{TOP}" y2="#{bottom}"/>) + Style.text(px(t), bottom + 18, @xa.number(t), "middle") }
      [*rows, *columns, %(<path class="axis edge" d="M#{LEFT} #{TOP}V#{bottom}H#{WIDTH - RIGHT}"/>), Style.text((LEFT + WIDTH - RIGHT) / 2, bottom + 40, @xa.label(@x), "middle"),
       Style.text(18, middle, @ya.label(@y), "middle", %( transform="rotate(-90 18 #{middle})"))].join
    end

    def marks
      @marks.each_with_index.map { |(name, v), i| Style.across(name, py(v), LEFT, WIDTH - RIGHT, i) }.join
    end

    def curve(name, points, index)
      drawn = points.sort_by(&:first)
      drawn = drawn.select { |p| p[1] > 0 } if @ya.log?
      drawn = drawn.select { |p| p[0] > 0 } if @xa.log?
      out = Style.path(drawn.map { |p| "#{px(p[0])},#{py(p[1])}" }.join(" "), index, name)
      # A point on each of many would be a blot.
      every = [drawn.size / 40, 1].max
      drawn.each_with_index do |p, k|
        x, y = px(p[0]), py(p[1])
        out << Style.point(x, y, index, name) if (k % every).zero?
        out << %(<line class="k#{index % Style::SERIES.size}" x1="#{x}" x2="#{x}" y1="#{py(p[2])}" y2="#{py(p[3])}"/>) if p[2] && p[3] && !Style.paper?(name)
      end
      out
    end
  end
end
