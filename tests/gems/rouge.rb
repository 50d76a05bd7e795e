# Rouge: Ruby, C, JSON and YAML texts as HTML and for a 256-colour terminal; guessing.
require "rouge"

RUBY = <<'SRC'
# frozen_string_literal: true
require "set"

module Shop
  class Basket < Struct.new(:owner, :items)
    RATE = 0.19
    attr_reader :total
    def initialize(owner, *items, currency: :eur, **rest, &blk)
      super(owner, items)
      @total = items.sum { |i| i.price * (1 + RATE) }
      @@count ||= 0; $last = self
      yield self if block_given?
    end

    def to_s = "#{owner}: #{items.map(&:name).join(', ')} <#{'%.2f' % @total}>"
    def <=>(other) ; total <=> other.total; end
    def match?(s) = s =~ /\A(?<n>[a-z]+)#{owner}\s*$/ix
  end
end
puts <<~TEXT, %w[a b], %q(single), ?x, 0x1f, 1_000, 1e-3, 3r, :"a b", `ls`
  Hello #{Shop::Basket.new("me")}
TEXT
case [1, [2, 3]]
in [Integer => a, [b, *]] if a < b then p a
else nil
end
__END__
data here
SRC

C = <<'SRC'
/* A ring buffer. */
#include <stdio.h>
#define SIZE (1u << 4)
typedef struct ring { unsigned head, tail; char *data[SIZE]; } ring_t;
static inline int push(ring_t *r, const char *s) {
  if (r->head - r->tail == SIZE) return -1; // full
  r->data[r->head++ % SIZE] = (char *)s;
  return 0;
}
int main(void) {
  ring_t r = {0};
  for (int i = 0; i < 3; i++) push(&r, "x\n\x41");
  printf("%u %c %f\n", r.head, 'c', 1.5e3f);
  goto end;
end:
  return 0xFFul != 0;
}
SRC

JSON = %({"a": [1, 2.5e3, true, null], "b\\n": {"c": "\\u00e9"}}\n)
YAML = "---\n# c\nkey: &x value\nlist:\n  - 1\n  - *x\n  - |\n    text\n    more\n"

html = Rouge::Formatters::HTML.new
{"ruby" => RUBY, "c" => C, "json" => JSON, "yaml" => YAML}.each do |name, text|
  lexer = Rouge::Lexer.find(name).new
  puts "== #{name} (#{lexer.class.title})"
  puts html.format(lexer.lex(text))
  puts Rouge::Formatters::Terminal256.new(Rouge::Themes::Github.new).format(lexer.lex(text))
end

puts Rouge::Formatters::HTMLInline.new(Rouge::Themes::ThankfulEyes.new).format(Rouge::Lexers::Ruby.new.lex("def a = :b\n"))
puts Rouge::Formatters::HTMLTable.new(html).format(Rouge::Lexers::C.new.lex("int x;\nint y;\n"))
puts Rouge::Formatters::HTMLLinewise.new(html, class: "line-%i").format(Rouge::Lexers::Python.new.lex("def f(x):\n    return x ** 2\n"))
puts Rouge::Theme.find("base16.dark").render(scope: ".hl").lines.first(12)
p Rouge::Lexer.guess(filename: "Rakefile", source: "task :x").tag
p Rouge::Lexer.guess(mimetype: "text/css", source: "a{}").tag
p Rouge::Lexer.guess_by_source("#!/usr/bin/env python\nprint 1").tag
p Rouge::Lexer.find_fancy("php?start_inline=true", "echo 1;").class
p Rouge::Lexers::Ruby.new.lex("x = 1").map { |t, v| [t.qualname, v] }
