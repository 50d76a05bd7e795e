# Bars of stacked parts, as the paper's figure 2 has them.
module Bench
  class Stack
    # Colours on a light and a dark ground; each part has a hatching of its own, too.
    PARTS = { "active" => %w[#2f6fb0 #6aa8e8], "idle" => %w[#a9afb8 #5a6270], "collection" => %w[#c2410c #f59e5b], "overhead" => %w[#7a5195 #b794d6] }.freeze
    BAR, GAP, HEIGHT, TOP, LEFT = 22, 14, 220, 66, 66

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
          body << Style.text(x + BAR / 2, TOP + HEIGHT + 14, name, "middle", ' font-size="9"')
          x += BAR + 2
        end
        body << Style.text((from + x) / 2, TOP + HEIGHT + 30, label, "middle")
        x += GAP
      end
      ticks = (0..@most.floor).map { |n| Style.text(LEFT - 8, (TOP + HEIGHT - n / @most * HEIGHT + 4).round(1), n.to_s, "end", ' font-size="11"') }.join
      axis = Style.text(16, TOP + HEIGHT / 2, "time by FS's", "middle", %( transform="rotate(-90 16 #{TOP + HEIGHT / 2})"))
      legend = PARTS.keys.each_with_index.map { |k, i| Style.hatched(k, %(x="#{LEFT + i * 100}" y="38" width="18" height="12"), i) + Style.text(LEFT + 24 + i * 100, 48, k) }.join
      width = [x + 20, 480].max
      Style.document(width, TOP + HEIGHT + 62, @title, legend + ticks + axis + body + Style.text(width / 2, TOP + HEIGHT + 52, "nodes", "middle"), colours: PARTS)
    end
  end
end
