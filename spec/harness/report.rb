# What the host tells the process that started it, and the errors by which examples fail. The lines are described in
# ../harness.rb; nothing else may begin with \x01.

# An expectation that does not hold.
class SpecExpectationNotMetError < StandardError
end

# An example without a single expectation.
class SpecExpectationNotFoundError < StandardError
  def message
    "No behavior expectation was found in the example"
  end
end

# Raised by `skip`.
class SkippedSpecError < StandardError
end

# Tells the runner what happens.
module SpecReport
  OUT = $stdout
  DRY = ENV["KUMI_SPEC_DRY"] == "1"
  FILTER = ENV["KUMI_SPEC_FILTER"]
  @count = 0

  class << self
    attr_accessor :count

    def line(kind, text = nil)
      t = text.nil? ? "" : clean(text)
      OUT.write("\n\x01#{kind} #{t}\n")
      OUT.flush
    end

    def clean(text)
      t = text.to_s
      t = t.dup.force_encoding("BINARY") if t.respond_to?(:force_encoding)
      t = t.gsub("\n", "\\n")
      t.size > 1500 ? t[0, 1500] : t
    rescue StandardError
      "(text cannot be shown)"
    end

    def error_text(e)
      message = begin
        e.message
      rescue StandardError
        "(message raised)"
      end
      where = begin
        (e.backtrace || []).reject { |l| l.to_s.match?(%r{spec/harness(\.rb|/)}) }.first(6).join("\n  ")
      rescue StandardError
        ""
      end
      "#{e.class}: #{message}\n  #{where}"
    end
  end
end

# Expectations fail through here.
module SpecExpectation
  def self.fail_with(expected, actual)
    raise SpecExpectationNotMetError, "#{expected} #{actual}"
  end

  def self.fail_predicate(receiver, name, args, result, wanted)
    shown = args.map { |a| MSpec.format(a) }.join(", ")
    raise SpecExpectationNotMetError, "Expected #{MSpec.format(receiver)} #{name} #{shown} #{wanted} but was #{MSpec.format(result)}"
  end
end
