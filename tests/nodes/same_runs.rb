# nodes: 2
# The same code segments with inputs of this node, of another, of a file and of several of them come to the same.
require "tmpdir"
require_relative "../support/same_runs"
if S.node != "node1"
  S.local.take("end")
  exit
end
# What fails says so there.
$stderr = File.open(File::NULL, "w")
Dir.mktmpdir do |folder|
  store = S.open("#{folder}/runs.db")
  node = S["node2"]
  several = [[nil, node, store, nil], [store, nil, node, node], [node, nil, nil, store]]
  same_runs({ "a node" => node, "a file" => store, **several.each_with_index.to_h { |m, i| ["several, #{i}", m] } }, 31, 300)
  store.close
end
S["node2"].put("end", 1)
