require "json"
doc = { "items" => Array.new(300) { |i| { "id" => i, "name" => "item #{i}", "tags" => %w[a b c], "price" => i * 1.5, "ok" => i.even? } } }
n = 0
1000.times { n += JSON.generate(JSON.parse(JSON.generate(doc))).size }
puts n
