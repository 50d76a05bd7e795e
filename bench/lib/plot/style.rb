# How every chart looks: one sheet with colours for a light ground and for a dark one, of which the reader's system chooses. Nothing is told by
# colour alone: series differ by dashes and points, bars by hatching. What others have told (a series whose name begins with "paper") is
# drawn in outline, in the colour of the text.
module Bench
  module Style
    # Each colour on a light ground and on a dark one; on both the contrast with the ground is above 4.
    GROUND = %w[#ffffff #16181d].freeze
    TEXT = %w[#1a202c #e6e8eb].freeze
    GRID = %w[#e2e8f0 #30353d].freeze
    QUIET = %w[#4a5568 #a8b3c4].freeze
    SERIES = [%w[#c8102e #ff7b72], %w[#1f5fa8 #79b8ff], %w[#1b7a43 #56d364], %w[#8a5a00 #e3b341], %w[#6b46c1 #bc9cff], %w[#5b6472 #aab4c2],
              %w[#00707f #39c5cf], %w[#ad1457 #ff80bf]].freeze
    DASHES = ["", "8 4", "2 3", "10 3 2 3", "5 3", "1 4", "14 4", "6 2 2 2 2 2"].freeze
    # Hatching of bars in the ground's colour: a tile of 8, and what is drawn on it. The first series' bars are plain.
    HATCHES = [nil, "M0 8L8 0M-2 2L2 -2M6 10L10 6", "M0 4H8", "M0 0L8 8M-2 6L2 10M6 -2L10 2", "M4 0V8", "M0 4H8M4 0V8", "M0 8L8 0M0 0L8 8", "M2 4H6"].freeze

    module_function

    def paper?(name) = name.to_s.start_with?("paper")

    # A whole picture. `colours` are further classes: { "name" => [light, dark] }, for what is filled.
    def document(width, height, title, body, colours: {})
      <<~SVG
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 #{width} #{height}" width="#{width}" height="#{height}" role="img" font-family="Helvetica, Arial, sans-serif" font-size="12">
        <title>#{escape(title)}</title>
        <style>.line, .edge, .open { fill: none } .line { stroke-width: 2 } .told { fill: none; stroke-width: 1.5 } .gap { fill: none; stroke-width: 1.6 } .over { paint-order: stroke; stroke-width: 4 }
        #{sheet(0, colours)}
        @media (prefers-color-scheme: dark) {
        #{sheet(1, colours)}
        }</style>
        <defs>#{hatches}</defs>
        <rect class="ground" width="100%" height="100%"/>
        #{text(width / 2, 24, title, "middle", ' font-size="15" font-weight="bold"')}
        #{body}
        </svg>
      SVG
    end

    def sheet(ground, colours)
      series = SERIES.each_with_index.map { |c, i| ".f#{i} { fill: #{c[ground]} } .k#{i} { stroke: #{c[ground]} }" }
      own = colours.map { |name, c| ".#{name} { fill: #{c[ground]} }" }
      [".ground { fill: #{GROUND[ground]} } text { fill: #{TEXT[ground]} } .grid { stroke: #{GRID[ground]} } .axis, .told { stroke: #{TEXT[ground]} }",
       ".quiet { stroke: #{QUIET[ground]} } .gap, .over { stroke: #{GROUND[ground]} }", *series, *own].join(" ")
    end

    def hatches
      HATCHES.each_with_index.filter_map do |d, i|
        d && %(<pattern id="p#{i}" width="8" height="8" patternUnits="userSpaceOnUse"><path d="#{d}" class="gap"/></pattern>)
      end.join
    end

    # A filled box of a series: the colour, and the hatching on it. One that the paper has told is an outline.
    def box(x, y, width, height, index, name)
      at = %(x="#{x.round(1)}" y="#{y.round(1)}" width="#{width.round(1)}" height="#{[height, 0.5].max.round(1)}")
      return %(<rect class="told" stroke-dasharray="4 2" #{at}/>) if paper?(name)
      hatched("f#{index % SERIES.size}", at, index)
    end

    def hatched(name, at, index)
      hatch = HATCHES[index % HATCHES.size] ? %(<rect fill="url(#p#{index % HATCHES.size})" #{at}/>) : ""
      %(<rect class="#{name}" #{at}/>#{hatch})
    end

    # The line of a series through "x,y x,y".
    def path(points, index, name)
      dash = paper?(name) ? "4 3" : DASHES[index % DASHES.size]
      %(<polyline class="line #{paper?(name) ? "told" : "k#{index % SERIES.size}"}" points="#{points}"#{%( stroke-dasharray="#{dash}") unless dash.empty?}/>)
    end

    # A point of a series: its shape says which one.
    def point(x, y, index, name)
      r = 4
      shape = [%(<circle cx="#{x}" cy="#{y}" r="#{r - 0.4}" %s/>), %(<path d="M#{x - r} #{y - r}h#{2 * r}v#{2 * r}h-#{2 * r}z" %s/>), %(<path d="M#{x} #{y - r}l#{r} #{2 * r}h-#{2 * r}z" %s/>),
               %(<path d="M#{x} #{y - r - 1}l#{r + 1} #{r + 1}l-#{r + 1} #{r + 1}l-#{r + 1} -#{r + 1}z" %s/>), %(<path d="M#{x} #{y + r}l#{r} -#{2 * r}h-#{2 * r}z" %s/>)][index % 5]
      colour = index % SERIES.size
      return format(shape, 'class="told"') if paper?(name)
      # From the sixth series on the same shapes again, hollow.
      format(shape, index % SERIES.size < 5 ? %(class="f#{colour}") : %(class="open k#{colour}" stroke-width="1.6"))
    end

    # Names below a chart, each behind what `sample` draws for it at [x, y]; gives the text and its height.
    def legend(names, left, width, y)
      wide = 40 + 6.6 * names.map { |n| n.to_s.size }.max.to_i
      columns = [(width / wide).floor, 1].max
      body = names.each_with_index.map do |name, i|
        at = [(left + wide * (i % columns)).round, y + 18 * (i / columns)]
        yield(i, name, *at) + text(at[0] + 26, at[1] + 4, name)
      end.join
      [body, 18 * ((names.size + columns - 1) / columns)]
    end

    # A line across at the height `y`, for a bound: its name stands above it, those of neighbours at opposite ends.
    def across(name, y, left, right, index)
      at = index.even? ? [right - 4, "end"] : [left + 6, "start"]
      %(<line class="quiet" x1="#{left}" x2="#{right}" y1="#{y}" y2="#{y}" stroke-dasharray="#{DASHES[1 + index % 6]}"/>) +
        text(at[0], y - 5, name, at[1], ' class="over"')
    end

    def text(x, y, words, anchor = "start", more = "")
      %(<text x="#{x}" y="#{y}" text-anchor="#{anchor}"#{more}>#{escape(words)}</text>)
    end

    def escape(words) = words.to_s.gsub("&", "&amp;").gsub("<", "&lt;").gsub(">", "&gt;")

    # 1200000 as 1.2M; at most three digits before the letter.
    def number(v)
      return v.to_i.to_s if v.zero?
      size = v.abs
      scaled, letter = size >= 1e9 ? [v / 1e9, "G"] : size >= 1e6 ? [v / 1e6, "M"] : size >= 1e4 ? [v / 1e3, "k"] : [v, ""]
      digits = scaled.abs >= 100 ? 0 : scaled.abs >= 10 ? 1 : scaled.abs >= 0.1 ? 2 : 4
      words = format("%.#{digits}f", scaled)
      words = words.sub(/\.?0+\z/, "") if words.include?(".")
      words + letter
    end
  end
end
