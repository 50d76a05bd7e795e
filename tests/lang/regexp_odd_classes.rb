# Classes whose members look like something else.
$VERBOSE = nil
p(("a" =~ /[\W^_]/i), ("^" =~ /[\W^]/i), ("a" =~ /[\W^]/i), ("a" =~ /[&\W&a]/i), ("&" =~ /[&\W&a]/i))
p(("z" * 40_000 + ", ") =~ /[[:,]][[:space:]]/)
p(("é, " =~ /[[:,]\w][[:space:]]/), ("f" =~ /[\W[:,]] x [[:space:]]/i))
sjis = Regexp.new("[\\W\u30be]".encode("Windows-31J"), Regexp::IGNORECASE)
p sjis.match?("\u30be".encode("Windows-31J")), sjis.match?("a".encode("Windows-31J")), sjis.match?("-".encode("Windows-31J"))
require "strscan"
scanner = StringScanner.new("x, " * 2000)
count = 0
until scanner.eos?
  count += 1 if scanner.scan(/[[:,]][[:space:]]/)
  scanner.getch
end
p count
