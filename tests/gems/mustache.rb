# Mustache: variables, escaping, sections, inverted sections, lambdas, partials, views.
require "mustache"

puts Mustache.render("Hello {{planet}}! {{{raw}}} {{&raw}} {{raw}}", planet: "World", raw: "<b>&\"'</b>")
puts Mustache.render("{{#items}}\n- {{name}}: {{price}}{{#tags}} [{{.}}]{{/tags}}{{^tags}} (none){{/tags}}\n{{/items}}\n{{^empty}}\nnothing\n{{/empty}}\n",
                     items: [{name: "a", price: 1.5, tags: %w[x y]}, {name: "b", price: 2, tags: []}], empty: [])
puts Mustache.render("{{a.b.c}} {{#a}}{{#b}}{{c}}{{top}}{{/b}}{{/a}}{{! a comment }}", a: {b: {c: "deep"}}, top: "T")
puts Mustache.render("{{=<% %>=}}<% x %> {{x}} <%={{ }}=%>{{x}}", x: 1)
puts Mustache.render("{{#wrap}}hi {{name}}{{/wrap}}", name: "Bob", wrap: ->(text) { "<b>#{text}</b>" })
puts Mustache.render("{{missing}}|{{#nil}}x{{/nil}}|{{#t}}yes{{/t}}|{{^f}}no{{/f}}", nil: nil, t: true, f: false)

class Simple < Mustache
  self.template = "Hi {{name}}\nYou won ${{value}}!\n{{#in_ca}}Well, ${{taxed_value}}, after taxes.\n{{/in_ca}}{{>footer}}\n{{#people}}\n  {{>person}}\n{{/people}}"
  def name = "Chris"
  def value = 10_000
  def taxed_value = value - (value * 0.4)
  def in_ca = true
  def people = [{first: "A", kids: [{first: "B", kids: []}]}, {first: "C", kids: []}]
  def partial(name)
    case name.to_s
    when "footer" then "-- {{name}} --"
    when "person" then "<{{first}}{{#kids}}{{>person}}{{/kids}}>\n"
    end
  end
end
puts Simple.render
view = Simple.new
view[:name] = "Other"
puts view.render
puts Simple.render(name: "Given", in_ca: false)

["{{#a}}x", "{{/a}}", "{{a", "{{#a}}{{/b}}{{/a}}", "{{=x}}"].each do |bad|
  Mustache.render(bad)
rescue Mustache::Parser::SyntaxError => e
  puts e.message
end
begin
  v = Mustache.new
  v.template = "{{nope}}"
  v.raise_on_context_miss = true
  v.render
rescue Mustache::ContextMiss => e
  puts e.message[0, 18]
end
p Mustache::Template.new("a {{b}} {{#c}}{{d}}{{>e}}{{/c}}").tokens
p Mustache::Template.new("a {{b}} {{#c}}{{d}}{{>e}}{{/c}}").tags, Mustache::Template.new("{{#c}}{{/c}}").sections, Mustache::Template.new("{{>p}}").partials
puts Mustache::Template.new("a {{b}}\n{{#c}}{{d}}{{/c}}").compile
