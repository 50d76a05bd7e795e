# nodes: 2
# The same code segments with inputs of this node, of another and of a file come to the same.
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
  same_runs({ "a node" => S["node2"], "a file" => store }, 31, 300)
  store.close
end
S["node2"].put("end", 1)
