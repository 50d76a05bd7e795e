# Erubi: the source it generates, trimming, escaping, freezing, literal marks, capture blocks.
require "erubi"
require "erubi/capture_end"

T = "<table>\n <% rows.each do |r| %>\n  <tr><td><%= r %></td><td><%== r %></td></tr>\n <% end %>\n</table>\n<%# note %>\n<%% kept %%>\na 'quoted' \\ back\n<%- 1 -%>\n"
rows = ["<a>", "b & c", "'q'"]
[{}, {escape: true}, {trim: false}, {freeze: true}, {bufvar: "@out", ensure: true}, {literal_prefix: "{%", literal_postfix: "%}"}, {escapefunc: "h", escape: true}, {chain_appends: true}].each do |o|
  e = Erubi::Engine.new(T, **o)
  puts "== #{o.map { |k, v| "#{k} #{v}" }.join}", e.src
  def h(s) = "{#{s}}"
  puts eval(e.src)
end
p Erubi.h("<&>\"'")
@a = "x"
src = Erubi::CaptureEndEngine.new("<%|= up do %>in <%= 1 + 1 %> <%| end %>out\n", bufvar: "@b", escape_html: false).src
def up = yield.upcase
@b = nil
puts eval(src)
