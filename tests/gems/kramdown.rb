# kramdown: a document with most of its syntax to HTML, LaTeX, kramdown and a table of contents.
require "kramdown"

DOC = <<'MD'
---------------

Title of *it all*
=================
{: .big #top data-x="1"}

* toc
{:toc}

## Lists   {#lists}

1. one
2. two
   with more text

   and a paragraph
   * nested `code`
   * again
     - deeper
3. three

term
: definition one
: definition **two**

* [ ] not a task
+ other marker

## Spans

Some *emphasis*, **strong**, ***both***, `code with <b>`, "quotes", 'single',
dashes -- and --- , ellipsis..., <http://example.com/?a=1&b=2>, [link](http://x.org "Title"),
[ref][1], [1], ![img](a.png){: width="3"}, a footnote[^n], HTML &amp; &copy; entities,
an abbreviation: HTML. Escapes: \* \_ \` \\. Line  
break. Math: $$a_1 + \frac{b}{c}$$.

[1]: http://ref.example/ 'Ref title'
[^n]: The note, with *emphasis*.

    And a second paragraph.

*[HTML]: Hyper Text Markup Language

## Blocks

> A quote
> > nested
>
> * with list

    indented code <x>
    & more

~~~ ruby
def x
  "fenced"
end
~~~

| Head | Right | Centre |
|:-----|------:|:------:|
| a    | 1     | *x*    |
| b \| c | 2   | `y`    |
|------
| foot | 3     | z      |

<div markdown="1">
Inside *html*
</div>

<p class="raw">Raw <b>html</b> <br/> *not parsed*</p>

{::comment}
hidden
{:/comment}

{:.note}
A paragraph with an attribute list.

$$
x^2
$$

^
Last
* * *
MD

doc = Kramdown::Document.new(DOC, auto_ids: true, smart_quotes: "lsquo,rsquo,ldquo,rdquo", syntax_highlighter: nil)
puts doc.to_html
puts "== warnings", doc.warnings
puts "== latex", doc.to_latex
puts "== kramdown", doc.to_kramdown
puts "== no options", Kramdown::Document.new("# A b\n\na 'b' \"c\"\n", auto_ids: false, header_offset: 2).to_html
toc = Kramdown::Document.new(DOC).to_toc
walk = ->(e, d) { puts "#{'  ' * d}#{e.value.options[:raw_text]}" if e.value; e.children.each { |c| walk.(c, d + 1) } }
walk.(toc, 0)
puts Kramdown::Document.new("<h1 id=x>Hi <em>there</em></h1><ul><li>a<li>b</ul>", input: "html").to_kramdown
def show(el, d = 0)
  puts "#{'  ' * d}#{el.type} #{el.value.inspect if el.value.is_a?(String)} #{el.attr.inspect.delete(' ') unless el.attr.empty?}".rstrip if d < 4
  el.children.each { |c| show(c, d + 1) }
end
show(Kramdown::Document.new("a **b** `c`\n\n- x\n- y\n").root)
