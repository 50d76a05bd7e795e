# What a run found: printed as it comes, and kept as Markdown, charts and data for files.
# Bounds of the issue ("Done when") are recorded beside the figure that answers them.
module Bench
  class Report
    attr_reader :data, :bounds

    def initialize(out)
      @out = out
      @text = []
      @data = {}
      @bounds = []
      @files = []
    end

    def section(title, about)
      say "", "## #{title}", "", about.strip.gsub(/\n\s*/, "\n"), ""
    end

    # The first column is text, the others figures.
    def table(heads, rows)
      reasons = []
      rows = rows.map { |r| r + [nil] * (heads.size - r.size) }
      cells = rows.map { |r| r.each_with_index.map { |c, i| c.nil? ? "-" : i.zero? ? c.to_s : short(c.to_s, r[0], reasons) } }
      widths = heads.each_index.map { |i| [heads[i].size, 3, *cells.map { |r| r[i].to_s.size }].max }
      line = ->(r) { "| #{r.each_index.map { |i| i.zero? ? r[i].ljust(widths[i]) : r[i].rjust(widths[i]) }.join(" | ")} |" }
      say line.(heads), "|#{widths.each_index.map { |i| i.zero? ? "-" * (widths[i] + 2) : "#{"-" * (widths[i] + 1)}:" }.join("|")}|"
      cells.each { |r| say line.(r) }
      say ""
      reasons.each { |r| note(r) }
    end

    # What is too long for a cell is the reason of a failure: it goes below the table.
    def short(words, row, reasons)
      return words if words.size <= 40
      reasons << "Failed: #{row}: #{words}"
      "failed"
    end

    def note(text) = say(text, "")

    # `see` is a sentence below the chart: how it is read and what is to be compared, never a result, which may change. A chart that always
    # tells the same brings its own.
    def plot(file, title, svg, see = nil)
      see ||= svg.respond_to?(:see) ? svg.see : raise(ArgumentError, "#{file}: no sentence says what is to be seen in it")
      return unless @out
      File.write(File.join(@out, file), svg.to_s)
      @files << file
      say "![#{title}](#{file})", "", "*#{see}*", ""
    end

    # What the block says, bounds, tells and draws, which is then no part of this report: see `add`.
    def part
      kept = [@text, @bounds, @data, @files]
      @text, @bounds, @data, @files = [], [], {}, []
      yield
      { "text" => @text, "bounds" => @bounds, "data" => @data, "files" => @files }
    ensure
      @text, @bounds, @data, @files = kept
    end

    # Puts such a part into the report, with a line on where it comes from.
    def add(part, origin)
      @text.concat(part["text"], [origin, ""])
      @bounds.concat(part["bounds"])
      @data.merge!(part["data"])
    end

    # A bound the issue sets: `value` must be at most (or, with `least`, at least) `bound`.
    def bound(what, value, bound, unit, least: false)
      met = value && (least ? value >= bound : value <= bound)
      @bounds << [what, value ? "#{Bench.figure(value)} #{unit}".strip : "not measured",
                  "#{least ? ">=" : "<="} #{Bench.figure(bound)} #{unit}".strip, value.nil? ? "-" : met ? "yes" : "NO"]
    end

    def say(*lines)
      lines = lines.map { |l| l.to_s.gsub(Bench::ROOT, "") }
      lines.each { |l| puts l }
      $stdout.flush
      @text.concat(lines)
    end

    def finish
      unless @bounds.empty?
        section("Bounds", "What the issue asks for, answered by this run.")
        table(%w[what measured asked met], @bounds)
      end
      File.write(File.join(@out, "RESULTS.md"), @text.join("\n") + "\n") if @out
    end
  end

  # A figure with three digits that count.
  def self.figure(v)
    return "-" if v.nil?
    return v.to_s if v.is_a?(String)
    size = v.abs
    if size >= 100 || v.is_a?(Integer) then v.round.to_s.reverse.scan(/\d{1,3}-?/).join(",").reverse
    elsif size >= 10 then format("%.1f", v)
    elsif size >= 0.1 || size.zero? then format("%.2f", v)
    else format("%.4f", v)
    end
  end

  def self.mb(bytes) = bytes && format("%.1f", bytes / 1e6)
  def self.times(a, b) = a && b && b > 0 ? format("%.2fx", a / b.to_f) : "-"
end
