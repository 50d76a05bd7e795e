# Subclasses of what is written in C elsewhere have names of their own.
require "strscan"
require "date"
require "zlib"

class Lexer < StringScanner
  attr_reader :start, :match

  def initialize(text)
    super
    @string = @pos = @match = @regexp = @start = @fixed = :mine
  end

  def here = :mine
  def run = :mine
  def text = :mine
  def clear = :mine
  def group = :mine
  def offsets = :mine
  def named_group = :mine
end
s = Lexer.new("ab 12")
p s.scan(/(?<word>a)b/), s[:word], s[1], s.matched, s.pre_match, s.post_match, s.pos, s.start, s.instance_variables.sort
p s.skip(/ /), s.check_until(/2/), s.string, s.captures, s.unscan.pos, s.getch, s.peek(1)
p StringScanner.new("x").instance_variables

class Event < Date
  attr_accessor :start_at

  def initialize(*)
    super
    @jd = @start = @offset = @part = @civil = @start_at = :mine
  end

  def parts = :mine
  def number = :mine
  def word = :mine
  def fraction = :mine
  def directive = :mine
  def as = :mine
end
e = Event.new(2026, 11, 30)
p e.year, e.yday, (e + 1).to_s, e.strftime("%d %b %j"), e.jd, e.to_datetime.to_s, e.instance_variables.sort, e == Date.new(2026, 11, 30)
p Date.new(2026, 1, 1).instance_variables, DateTime.new(2026, 1, 1, 1, 2, 3).instance_variables
class Moment < DateTime
  def as = :mine
  def time_text = :mine
end
p Moment.new(2026, 1, 2, 3, 4, 5).iso8601(3), Moment.now.class

class Packs < Zlib::Deflate
  def initialize(*)
    super
    @out = @buf = @closed = @level = :mine
  end
end
z = Packs.new
text = z.deflate("a" * 100, Zlib::FINISH)
p Zlib.inflate(text).size, z.total_in, z.finished?

# `new` calls what a subclass has made of `initialize`; other ways to a date do not.
class Told < Date
  def initialize(*given)
    p given
    super
  end
end
p Told.new(2026, 1, 2) + 1, Told.civil(2026, 1, 2).class, Told.parse("2026-01-03").class, Told.new.to_s
p Date.new(2026, 1, 2.5), Date.civil(2026, 1, 2.5), (Date.new(2026, 2, 30) rescue $!.class), (Date.new("a") rescue $!.message)
