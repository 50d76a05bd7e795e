# Bars of stacked parts, as the paper's figure 2 has them.
module Bench
  class Stack
    # Colours on a light and a dark ground; each part has a hatching of its own, too.
    PARTS = { "active" => %w[#2f6fb0 #6aa8e8], "idle" => %w[#a9afb8 #5a6270], "collection" => %w[#c2410c #f59e5b], "overhead" => %w[#7a5195 #b794d6] }.freeze
    BAR, GAP, HEIGHT, TOP, LEFT, NAMES = 22, 14, 220, 66, 66, 62

    # `groups`: a label, and bars: a label and a number for each part. Numbers are shares of `full`, which is the height of 1.
    def initialize(title, groups)
      @title = title
      @groups = groups
      @most = [groups.flat_map { |_, bars| bars.map { |_, parts| parts.sum } }.max || 1, 1].max
    end

    # What is to be seen in it.
    def see = "A group is a number of nodes, a bar in it a policy. A bar's height is the time of all nodes by that of FS, which is 1: lower is better. Compare a bar's part \"collection\" with FS's, then its part \"idle\": the paper's claim is that the first stays and the second grows."

    def to_s
      x = LEFT
      body = +""
      @groups.each do |label, bars|
        from = x
        bars.each do |name, parts|
          y = TOP + HEIGHT
          parts.zip(PARTS.keys).each_with_index do |(part, kind), i|
            h = part / @most * HEIGHT
            y -= h
            body << Style.hatched(kind, %(x="#{x}" y="#{y.round(1)}" width="#{BAR}" height="#{h.round(1)}"), i) << "\n"
          end
          # Upright: a name is longer than a bar is wide.
          at = x + BAR / 2 + 4
          body << Style.text(at, TOP + HEIGHT + 6, name, "end", %( font-size="11" transform="rotate(-90 #{at} #{TOP + HEIGHT + 6})"))
          x += BAR + 2
        end
        body << Style.text((from + x) / 2, TOP + HEIGHT + NAMES + 16, label, "middle")
        x += GAP
      end
      width = [x + 20, 480].max
      step = @most < 2 ? 0.2 : 0.5
      ticks = (0..(@most / step).floor).map do |n|
        y = (TOP + HEIGHT - n * step / @most * HEIGHT).round(1)
        %(<line class="grid" x1="#{LEFT}" x2="#{x - GAP}" y1="#{y}" y2="#{y}"/>) + Style.text(LEFT - 8, y + 4, format("%.1f", n * step), "end", ' font-size="11"')
      end.join
      axis = Style.text(16, TOP + HEIGHT / 2, "time by FS's", "middle", %( transform="rotate(-90 16 #{TOP + HEIGHT / 2})"))
      legend = PARTS.keys.each_with_index.map { |k, i| Style.hatched(k, %(x="#{LEFT + i * 100}" y="38" width="18" height="12"), i) + Style.text(LEFT + 24 + i * 100, 48, k) }.join
      Style.document(width, TOP + HEIGHT + NAMES + 48, @title, legend + ticks + axis + body + Style.text(width / 2, TOP + HEIGHT + NAMES + 38, "nodes", "middle"), colours: PARTS)
    end
  end
end
