# frozen_string_literal: true

require "io/wait"

class IO
  # Reads until what was read matches: [text, captures...], or nil when `timeout` seconds pass without
  # a character or the stream ends. What was read in vain is looked at first the next time.
  def expect(pattern, timeout = 9_999_999)
    pattern = case pattern
    when String then Regexp.new(Regexp.quote(pattern))
    when Regexp then pattern
    else raise TypeError, "unsupported pattern class: #{pattern.class}"
    end
    waiting = @__expected || +""
    @__expected = nil
    text = +""
    found = nil
    while true
      if !waiting.empty?
        c = waiting.slice!(0)
      elsif !wait_readable(timeout) || eof?
        @__expected = text
        break
      else
        c = getc
      end
      text << c
      if (m = pattern.match(text))
        found = [text, *m.captures]
        @__expected = waiting unless waiting.empty?
        break
      end
    end
    return found unless block_given?
    yield found
    nil
  end
end
