# The command behind bench/compare/run: writes docs/COMPARE.md and the picture at its top from kept results, and from nothing else.
# usage: bench/compare/run [--check] [FOLDER...]      (a folder with a folder for each command, looked through first; --check: is the page as it would be written?)
require_relative "../lib/plot"
require_relative "../lib/report"
require_relative "kept"
require_relative "rows"

module Compare
  PAGE, PICTURE = %w[COMPARE.md compare.svg].map { |f| File.join(Kept::ROOT, "docs", f) }

  class Page
    def initialize(kept)
      @kept = kept
      @rows = Rows.new(kept).all
    end

    def picture
      known = @rows.select { |r| r.best }
      columns = COLUMNS.drop(1).select { |c| known.any? { |r| r.gain(c) } }
      Bench::Plot.bars("kumi beside others", y: "times as good as the other", names: columns, rows: known.map { |r| [r.name, columns.map { |c| (g = r.gain(c)) && [g] }] }, base: 1.0, scale: :log10).to_s
    end

    def to_s
      <<~PAGE
        # Which one for what

        The same work on kumi, CRuby, CRuby with YJIT, JRuby, Go, Erlang, and a program or library in Rust or C, losses included. `bench/compare/run` writes this page and its picture from
        what the measuring commands have kept ([bench](../bench/README.md)); nobody types a figure into it. "Not measured" means that no result is kept yet; "-" that there is no such program.
        #{quick}
        ![kumi beside others](compare.svg)

        *A bar above the line: kumi is so many times as good (as quick, or as small) as the other; below the line it is worse by that factor. The axis is logarithmic: each tick is a multiple of the one before. Compare bars of one group; groups are different work.*

        #{tables.strip}

        ## Where kumi loses

        #{losses}
        ## What the figures leave out

        - JRuby: #{@rows.any? { |r| r.figures["JRuby"] } ? "measured where its column has a figure." : "it is not installed on the machine that measured, so its column is empty. The commands measure it where they find it."}
        - Go's and Erlang's programs are written anew. They do the same work in their own way and are statically compiled or run on another kind of machine.
        - A library in C or Rust that is called from a compiled program has no objects to make for Ruby. It shows what is left to gain, not what a Ruby program could have.
        - Warm-up: programs run for seconds. A just-in-time compiler gains where they run for minutes.
        - Gems that need CRuby's interface to C do not load in kumi; [COMPAT.md](COMPAT.md) says what else differs.

        ## Where the figures are from

        #{origins}
      PAGE
    end

    private

    def results = [@kept.programs, *@kept.used].compact

    def quick
      return "" unless results.any?(&:quick)
      "\n**Rows marked *quick* are of quick runs**: small sizes, one round, on a machine that others loaded. They show the order of a difference, not its size. A full run of the same command replaces them.\n"
    end

    def tables
      @rows.group_by(&:group).map do |group, rows|
        head = ["| work | #{COLUMNS.join(" | ")} |", "|---|#{"--:|" * COLUMNS.size}"]
        "## #{group}\n\n#{(head + rows.map { |r| line(r) }).join("\n")}\n\n#{notes(rows)}"
      end.join
    end

    def line(row)
      cells = COLUMNS.map do |c|
        next row.known? ? "-" : "not measured" unless row.figures[c]
        g = row.gain(c)
        figure = Bench.figure(row.figures[c])
        c == "kumi" || g.nil? ? figure : "#{figure} (#{factor(g)})"
      end
      "| #{row.name}, #{row.unit}#{" *(quick)*" if row.quick? && row.known?} | #{cells.join(" | ")} |"
    end

    # How many times as good kumi is: two digits that count.
    def factor(gain) = gain >= 100 ? "#{gain.round}×" : format(gain >= 10 ? "%.0f×" : "%.2g×", gain)

    def notes(rows)
      list = rows.filter_map { |r| r.note && "- *#{r.name}*: #{r.note}" }
      "In brackets: how many times as good kumi is; below 1 the other is better.#{" More is better for figures a second." if rows.any?(&:more)}\n\n#{"#{list.join("\n")}\n\n" unless list.empty?}"
    end

    def losses
      lost = @rows.flat_map { |r| COLUMNS.drop(1).filter_map { |c| (g = r.gain(c)) && g < 1 && [r, c, g] } }.sort_by(&:last)
      return "#{results.empty? ? "Nothing is measured yet." : "In none of the rows that are measured."}\n" if lost.empty?
      lost.map { |r, c, g| "- #{r.name}: #{c} is #{format(g > 0.1 ? "%.2f" : "%.0f", 1 / g)} times as good.\n" }.join
    end

    def origins
      return "No results are kept." if results.empty?
      machines = results.map(&:machine).uniq
      list = @kept.used.map { |r| "- #{r.origin}" }
      told = @kept.programs
      list.unshift("- `bench/run --json`: #{told.date}, commit #{told.commit}, load #{told.load}#{", quick" if told.quick}") if told
      versions = "CRuby: #{VERSIONS.join(", ")}. " unless VERSIONS.empty?
      "#{versions}#{machines.size == 1 ? "Machine: #{machines[0]}." : "Machines: #{machines.join("; ")}: figures of two machines stand on this page, each row is of one."} Commits are of the tree that measured.\n\n#{list.join("\n")}"
    end
  end

  def self.run(words)
    check = words.delete("--check")
    abort "usage: bench/compare/run [--check] [FOLDER...]" if words.any? { |w| w.start_with?("-") }
    page = Page.new(Kept.new(words.map { |w| File.expand_path(w) }))
    made = { PAGE => page.to_s, PICTURE => page.picture }
    if check
      wrong = made.reject { |file, text| File.exist?(file) && File.read(file) == text }.keys
      abort "bench/compare/run: #{wrong.map { |f| File.basename(f) }.join(" and ")} would be written differently; run it without --check" unless wrong.empty?
    else
      made.each { |file, text| File.write(file, text) }
    end
  end
end

Compare.run(ARGV)
