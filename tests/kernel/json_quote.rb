# Every character that JSON escapes, at the edges of texts whose lengths lie around words and vectors, as a plain reading of the rules
# has it; two of them at every place of texts of every length up to 20.
require "json"
NAMES = {"\b" => "\\b", "\f" => "\\f", "\n" => "\\n", "\r" => "\\r", "\t" => "\\t", "\"" => "\\\"", "\\" => "\\\\"}
plain = ->(s) { "\"" + s.each_char.map { |c| NAMES[c] || (c.ord < 0x20 ? format("\\u%04x", c.ord) : c) }.join + "\"" }
chars = (0..0x23).map(&:chr) + ["\\", "[", "]", "\x7f", "é", "\u2028", "\u{1F600}", "\u0080"].map { |c| c.encode("UTF-8") }
wrong = []
chars.each do |c|
  everywhere = ["\"", "\u2028"].include?(c)
  (everywhere ? 0..20 : [0, 1, 7, 8, 9, 15, 16, 17, 20]).each do |n|
    (everywhere ? 0..n : [0, n / 2, n - 1, n].uniq - [-1]).each do |at|
      s = "x" * n
      s[at, 0] = c
      s << c if at.odd?
      want = plain.(s)
      wrong << s unless JSON.generate(s) == want && JSON.generate({s => 1}) == "{#{want}:1}" && JSON.parse(want) == s
    end
  end
end
p wrong
