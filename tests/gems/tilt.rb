# Tilt over ERB, Erubi, string, and builder templates; layouts, locals, caching, mapping.
require "tilt"
require "tilt/erb"
require "tilt/erubi"
require "tilt/string"
require "tilt/builder"
require "tmpdir"

Scope = Struct.new(:title, :rows) do
  def helper(s) = "[#{s}]"
end
scope = Scope.new("T & T", [{n: "a", v: 1}, {n: "b<", v: 2.5}])
PAGE = <<'ERB'
<h1><%= title %></h1>
<%# comment %>
<% rows.each_with_index do |r, i| -%>
  <li class="<%= i.even? ? :even : :odd %>"><%= helper(r[:n]) %> <%= "%.1f" % r[:v] %></li>
<% end -%>
<% if defined?(extra) %><%= extra.upcase %><% else %>no extra<% end %>
100%% literal <%% erb
ERB
puts Tilt::ERBTemplate.new(trim: "-") { PAGE }.render(scope)
puts Tilt::ERBTemplate.new(trim: "-") { PAGE }.render(scope, extra: "given")
puts Tilt::ErubiTemplate.new(escape_html: true) { "<%= title %> <%== title %>\n<% 2.times do |i| %>\n<%= i %>\n<% end %>\n" }.render(scope)
puts Tilt::StringTemplate.new { "Hi \#{title} \#{x * 2} \"quoted\" `tick`\n" }.render(scope, x: 21)
puts Tilt::BuilderTemplate.new { "xml.root(a: 1) { xml.t title; rows.each { |r| xml.row r[:n], v: r[:v] } }" }.render(scope)

layout = Tilt::ERBTemplate.new { "<body><%= yield %>|<%= yield :side %></body>" }
puts layout.render(scope) { |name| name ? "side #{name}" : Tilt::ERBTemplate.new { "inner <%= title %>" }.render(scope) }

Dir.mktmpdir do |dir|
  file = File.join(dir, "page.html.erb")
  File.write(file, "line 1\n<% x = 1 %>\n<%= raise 'oops' if boom %>ok <%= x %>\n")
  t = Tilt.new(file)
  p t.class, File.basename(t.file), t.name, t.basename
  puts t.render(Object.new, boom: false)
  begin
    t.render(Object.new, boom: true)
  rescue => e
    puts e.message, e.backtrace.first[/page\.html\.erb:\d+/]
  end
  cache = Tilt::Cache.new
  a = cache.fetch(file) { Tilt.new(file) }
  p a.equal?(cache.fetch(file) { raise "not cached" })
end
p Tilt["x.erb"], Tilt["y.str"], Tilt["none.zzz"], Tilt.registered?("erb")
begin
  Tilt.new("x.unknown") { "" }
rescue RuntimeError => e
  puts e.message
end

class Shout < Tilt::Template
  self.default_mime_type = "text/plain"
  def prepare = @out = data.upcase
  def evaluate(scope, locals, &block) = @out + locals.keys.sort.join(",")
end
Tilt.register Shout, "shout"
puts Tilt["a.shout"].new { "loud " }.render(nil, b: 1, a: 2)
p Shout.default_mime_type
