# Bars of stacked parts, as the paper's figure 2 has them.
module Bench
  class Stack
    PARTS = { "active" => ["#2f6fb0", "#6aa8e8"], "idle" => ["#c9c9c9", "#4a4a4a"], "collection" => ["#c2410c", "#f59e5b"],
              "overhead" => ["#7a5195", "#b794d6"] }.freeze
    BAR, GAP, HEIGHT, TOP, LEFT = 22, 14, 220, 60, 50

    # `groups`: a label, and bars: a label and a number for each part. Numbers are shares of `full`, which is the height of 1.
    def initialize(title, groups)
      @title = title
      @groups = groups
      @most = [groups.flat_map { |_, bars| bars.map { |_, parts| parts.sum } }.max || 1, 1].max
    end

    def to_s
      x = LEFT
      body = +""
      @groups.each do |label, bars|
        from = x
        bars.each do |name, parts|
          y = TOP + HEIGHT
          parts.zip(PARTS.keys) do |part, kind|
            h = part / @most * HEIGHT
            y -= h
            body << %(<rect class="#{kind}" x="#{x}" y="#{y.round(1)}" width="#{BAR}" height="#{h.round(1)}"/>\n)
          end
          body << text(x + BAR / 2, TOP + HEIGHT + 14, name, "middle", 9)
          x += BAR + 2
        end
        body << text((from + x) / 2, TOP + HEIGHT + 30, label, "middle", 12)
        x += GAP
      end
      ticks = (0..@most.floor).map { |n| text(LEFT - 8, TOP + HEIGHT - n / @most * HEIGHT + 4, n.to_s, "end", 11) }.join
      legend = PARTS.keys.each_with_index.map { |k, i| %(<rect class="#{k}" x="#{LEFT + i * 100}" y="30" width="12" height="12"/>\n) + text(LEFT + 16 + i * 100, 40, k, "start", 12) }.join
      head(x + 20) + text(LEFT, 18, @title, "start", 13) + legend + ticks + body + "</svg>\n"
    end

    private

    def text(x, y, words, anchor, size) = %(<text x="#{x.round(1)}" y="#{y.round(1)}" text-anchor="#{anchor}" font-size="#{size}">#{words}</text>\n)

    def head(width)
      colours = ->(at) { PARTS.map { |kind, c| ".#{kind} { fill: #{c[at]} }" }.join(" ") }
      <<~SVG
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 #{width} #{TOP + HEIGHT + 44}" role="img">
        <style>svg { background: #ffffff; font-family: sans-serif } text { fill: #1c1c1c } #{colours[0]}
        @media (prefers-color-scheme: dark) { svg { background: #181818 } text { fill: #e8e8e8 } #{colours[1]} }</style>
      SVG
    end
  end
end
