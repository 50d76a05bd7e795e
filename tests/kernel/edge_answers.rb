# Answers at the edge of a method's domain, as CRuby gives them.
rescue_message = lambda do |&b|
  p(b.call)
rescue => e
  puts "#{e.class}: #{e.message.dump}"
end
bad = "a\xFF"

# What does not spell a whole character.
p "a\xE3\x81".chop, "ab\x80".chop, "\x80".chop, "日本".chop
[:delete, :squeeze, :count].each { |m| rescue_message.() { "a\xE3\x81".public_send(m, "abc") } }
rescue_message.() { "a\xE3\x81".count("a") }
rescue_message.() { "a\xE3\x81".squeeze }
p "a\xFF".b.delete("a"), "a\xFF".dup.force_encoding("US-ASCII").squeeze

# A message quotes the bytes that it was given.
rescue_message.() { "a".match(/(?<n>.)/).offset(bad) }
rescue_message.() { "x".send(bad) }
rescue_message.() { 1.instance_variable_set("@" + bad, 2) }
rescue_message.() { Thread.current[bad] = 1 }

# Names of forms and options.
rescue_message.() { "a".unicode_normalize(1..2) }
rescue_message.() { "a".unicode_normalize("nfc") }
rescue_message.() { "a".unicode_normalized?(:nfx) }
rescue_message.() { "a".capitalize(1) }
rescue_message.() { "a".upcase(1, 2, 3) }
rescue_message.() { "a" =~ "b" }
rescue_message.() { "a".match(proc {}) }
rescue_message.() { "a".match?(1) }

# An exception's text is its message's to_str.
class Texty
  def to_str = "texty"
end
p StandardError.new(Texty.new), StandardError.new(Texty.new).message, StandardError.new(:sym).message, StandardError.new(nil).message

p %w[a b a].intersection, %w[a b a].intersection(%w[a])
p Complex(3, 0).abs, Complex(0, -4).abs, Complex(3.0, 0).abs, Complex(3, 4).abs, Complex(Rational(1, 2), 0).abs, Complex(3, 0.0).abs, Complex(3, 0).polar
p Time.at(0, in: 4), Time.at(0, in: -3723), Time.at(0, in: 3600), Time.at(0, in: 4).to_s
p Time.at(0).utc.round(nil), Time.at(1.5r).utc.floor(nil)
p Math.gamma(36), Math.gamma(65), Math.gamma(171), Math.gamma(23), Math.gamma(172)
p "a".upto("c"), "a".upto("c", true), "a\nb".each_line, "a\nb".each_line("b"), "a\nb".each_line(chomp: true)
p "a\nb".each_line.to_a, "a\nb".each_line(chomp: true).to_a, "a-b".each_line("-", chomp: true).to_a
