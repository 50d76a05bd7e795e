# What is said with $VERBOSE true of regular expressions that mean something else than they seem to: by the compiler of literals, by
# Regexp.new of the rest. All lines are CRuby's.
module Warning
  def self.warn(text, category: nil) = puts(text.chomp.sub(/\A.*?(?=\d+: )/m, ""))
end
$VERBOSE = true
[
  "[aa]", "[aa][bb]", "[a-cb-d]", "[\\w_]", "[\\w\\d]", "[[:alpha:]a]", "[a\\-a]", "[--a]", "[+--]", "[a-c-e]", "[-a-]", "[a&&bb]", "[\\n\\n]",
  "[\\x41A]", "[\\101A]", "[éé]", "[//]", "[\\/\\/]", "[]a]", "[^]]", "a]", "a]b]", "(])", "(?<a>[bb])", "[[a]a]", "[^aa]",
  "[a-a]", "[aA]", "[a&&a]", "[a-c[b]]", "[^\\W\\d]", "[a-]", "[-a]", "[\\]]", "[\\s\\S]", "\\[aa\\]", "(?#[aa])", "]", "[a-c-]", "(?x)# [aa]\na"
].each { |s| Regexp.new(s) }
Regexp.new("[aa]", Regexp::EXTENDED)
Regexp.new("a # [aa]", Regexp::EXTENDED)
Regexp.new(/[a]/)
["[b-a]", "[aa"].each { |s| Regexp.new(s) rescue puts("refused") }
eval("p(/[bb]/)\np(/[cc]/x)", nil, "(x)", 7)
x = "q"
p(/[#{x}]/)
$VERBOSE = false
p eval("/[aa]/"), Regexp.new("[aa]")
