# A chart of bars in groups, with intervals, or stacked. Nothing is drawn that is not in the rows.
module Bench
  class Bars
    LEFT, RIGHT, TOP = 78, 24, 48
    WIDTH, TALL = 760, 380
    # How far a letter of a slanted label reaches, down and to the left.
    LETTER = 4.1

    # Rows are [label, [value or [value, low, high] or nil, ...]], names say what each bar of a group is. Bars stand on `base`; stacked, a
    # group's values stand on each other. `bounds` are [name, value]: lines across. On a logarithmic axis a base of 0 is its lowest tick.
    def initialize(title, y:, names:, rows:, base: 0.0, bounds: [], stacked: false, scale: :linear)
      @title, @y, @names, @rows, @base, @bounds, @stacked, @scale = title, y, names, rows, base, bounds, stacked, scale
    end

    def empty? = @rows.all? { |_, values| values.compact.empty? }

    def to_s
      each = @stacked ? 24 : [[18 * @names.size, 26].max, 60].min
      @left = [LEFT, *@rows.each_with_index.map { |(label, _), i| LETTER * label.to_s.size + 8 - each * (i + 0.55) }].max.ceil
      @width = [@left + RIGHT + each * @rows.size, WIDTH].max
      @bottom = TALL
      @height = TALL + 44 + (LETTER * @rows.map { |label, _| label.to_s.size }.max).ceil
      values = @rows.flat_map { |_, vs| @stacked ? [vs.compact.sum] : vs.flatten.compact } + @bounds.map(&:last)
      # Where bars of a logarithmic axis stand on its lowest tick, the smallest is to be seen, too.
      lowest = @scale == :linear || @base.positive? ? @base : values.select(&:positive?).min.to_f * 0.7
      @axis = Axis.over(values + [lowest], @scale)
      @foot = @axis.log? && !@base.positive? ? @axis.low : @base
      body = ticks + groups + bounds + frame
      names, below = Style.legend(@names, @left, @width - @left - RIGHT, @height + 4) { |i, name, x, y| Style.box(x, y - 6, 18, 11, i, name) }
      Style.document(@width, @height + below, @title, body + names)
    end

    private

    def up(v) = (@bottom - @axis.at(v) * (@bottom - TOP)).round(1)

    def ticks
      @axis.ticks.map do |t|
        %(<line class="grid" x1="#{@left}" x2="#{@width - RIGHT}" y1="#{up(t)}" y2="#{up(t)}"/>) + Style.text(@left - 8, up(t) + 4, @axis.number(t), "end")
      end.join
    end

    def groups
      step = (@width - @left - RIGHT) / @rows.size.to_f
      @rows.each_with_index.map do |(label, values), i|
        x = (@left + step * (i + 0.55)).round(1)
        bars(values, @left + step * (i + 0.1), step * 0.8 / (@stacked ? 1 : @names.size)) +
          Style.text(x, @bottom + 14, label, "end", %( font-size="11" transform="rotate(-45 #{x} #{@bottom + 14})"))
      end.join
    end

    def bars(values, from, width)
      foot = @foot
      values.each_with_index.map do |v, k|
        next "" unless v
        value, low, high = v
        next "" if @axis.log? && value <= 0
        x = from + (@stacked ? 0 : width * k)
        top, bottom = [up(foot), up(@stacked ? foot + value : value)].minmax
        foot += value if @stacked
        bar = Style.box(x, top, width * 0.9, bottom - top, k, @names[k])
        middle = (x + width * 0.45).round(1)
        low && high ? bar + %(<line class="axis" x1="#{middle}" x2="#{middle}" y1="#{up(low)}" y2="#{up(high)}"/>) : bar
      end.join
    end

    def bounds
      @bounds.each_with_index.map { |(name, v), i| Style.across(name, up(v), @left, @width - RIGHT, i) }.join
    end

    def frame
      middle = (TOP + @bottom) / 2
      %(<line class="axis" x1="#{@left}" x2="#{@width - RIGHT}" y1="#{up(@foot)}" y2="#{up(@foot)}"/>) +
        Style.text(@left - 60, middle, @axis.label(@y), "middle", %( transform="rotate(-90 #{@left - 60} #{middle})"))
    end
  end
end
