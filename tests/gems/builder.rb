# Builder: XML with attributes, namespaces, CDATA, comments, declarations, escaping; events.
require "builder"

x = Builder::XmlMarkup.new(indent: 2)
x.instruct!
x.declare! :DOCTYPE, :html, :PUBLIC, "-//W3C//DTD XHTML 1.0 Strict//EN", "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd"
x.comment! "a comment"
x.html("xml:lang" => "en", xmlns: "http://www.w3.org/1999/xhtml") do |h|
  h.head { h.title "Tom & Jerry <3" }
  h.body(class: :main) do
    (1..3).each { |i| h.p "number #{i}", id: "p#{i}", title: "\"q\" & 'a'" }
    h.br
    h.tag! "odd-name", {"data-x" => 1}, "text"
    h.soap :Envelope, "xmlns:soap" => "urn:x" do
      h.soap :Body
    end
    h.script { h.cdata! "if (a < b && c) {}" }
    h.p do
      h.text! "mixed & "
      h.em "content"
      h << "<raw/>"
    end
    h.p nil
    h.p ""
    h.send :class, "kernel name"
    h.id 5
    h.test :sym
  end
end
puts x.target!

puts Builder::XmlMarkup.new.note { |n| n.to "a"; n.from "b" }
puts Builder::XmlMarkup.new(quote: :single, margin: 1, indent: 4).a(b: 1) { |a| a.c }
puts Builder::XmlMarkup.new(target: +"<!-- start -->").x("é ü \u{1F600} \u0001 \u0000")
puts Builder::XmlMarkup.new(indent: 1).declare!(:DOCTYPE, :c) { |d| d.declare!(:ELEMENT, :c, :"(#PCDATA)"); d.declare!(:ATTLIST, :c, :a, :CDATA, :"#REQUIRED") }
p Builder::XChar.encode("a<b>&\"é")
begin
  Builder::XmlMarkup.new.p("text") { }
rescue ArgumentError => e
  puts e.message
end

class Events
  def start_tag(name, attrs) = puts("start #{name} #{attrs.to_a.inspect}")
  def end_tag(name) = puts("end #{name}")
  def text(t) = puts("text #{t}")
end
e = Builder::XmlEvents.new(target: Events.new)
e.root(a: 1) { |r| r.leaf "t"; r.text! "u" }
