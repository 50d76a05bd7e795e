# StringScanner in texts that are not ASCII, or not valid, and with patterns that are tried again and again.
require "strscan"

def t
  p yield
rescue => e
  puts "#{e.class}: #{e.message}"
end

broken = -> { StringScanner.new("ab\xff") }
%i[scan skip match? check scan_until skip_until exist? check_until].each { |m| t { broken.().send(m, /a/) } }
t { broken.().scan("a") }
t { broken.().getch }
t { s = broken.(); s.pos = 2; s.get_byte }
t { StringScanner.new("ab\xff".b).scan(/a/) }
t { StringScanner.new("é\xff".b).scan(/\xc3\xa9/n) }
t { StringScanner.new("あ").scan(/[あ-ん]/) }

# From within a character.
t { s = StringScanner.new("éa"); s.pos = 1; [s.scan(/a/), s.scan_until(/a/), s.pos] }
t { s = StringScanner.new("éa"); s.get_byte; [s.pos, s.check(/./)&.bytes] }

# Every pattern is tried more often than it takes to learn what it may begin with.
PATTERNS = [/\w+/, /\s+/, /[,.;]/, /é/, /(?<year>\d{4})-(\d\d)/, /(?i:k)elvin/, /"(?:\\.|[^"])*"/m, /(?=é)../, /x*/, /(?>ab|c)d/, /^z/, /\p{Hiragana}+/, /\d+|(?:)/]
text = %(ab, é 2024-05; "q \\" \n" Kelvin kelvin abd cd \u{212a}elvin z ひら 12 ) * 60
found = Hash.new { |h, k| h[k] = [] }
s = StringScanner.new(text)
until s.eos?
  PATTERNS.each_with_index { |re, i| found[i] << [s.pos, s.matched_size] if s.match?(re) }
  s.getch
end
found.sort.each { |i, l| puts "#{i}: #{l.size} #{l.sum { |a, b| a * 31 + b }} #{l.first(3).inspect}" }

# What stays of a match.
s = StringScanner.new("abc 12")
t { [s.scan(/\w+/), s.matched, s.matched_size, s.pre_match, s.post_match, s.size, s[0], s[-1], s[1], s[-2], s.captures, s.values_at(0, 1)] }
t { d = s.dup; s.scan(/\s/); [d.matched, s.matched] }
t { [s.scan(/(\d)(?<b>x)?/), s.size, s[0], s[1], s[-1], s["b"], s[:b]] }
t { s[:c] }
t { s[nil] }
t { s[1.9] }
t { s[Object.new] }
t { s.unscan.pos }
t { [s.scan(/x/), s.matched, s[0], s.size, s.matched?, s.pre_match] }
t { s.reset; [s.scan("abc"), s.matched, s.pre_match, s.post_match, s[0], s.size] }
t { s.scan(nil) }
t { s.scan(:a) }
t { s.terminate; [s.scan(/x*/), s.scan(/x/), s.scan(/\z/), s.pos] }
t { s.string.replace("ab"); [s.scan(/a/), s.pos, s.check("a")] }
# What raises leaves no match, and a frozen one tells of its match.
s = StringScanner.new("abc déf")
s.scan(/abc /)
t { s.scan(Regexp.new("\xE9".dup.force_encoding("ISO-8859-1"))) }
t { [s.matched?, s.matched, s.pre_match] }
t { begin; s.unscan; rescue => e; e.class; end }
t { s.scan(/\w+/); s.freeze; [s.matched, s.pre_match, s.post_match, s[0], s[-1], s[1], s.size, s.captures] }
