# nodes: 2
# Calls that wait end in the same order at this node, at another and at a file.
require "tmpdir"
require "kumihimo/segments"
require_relative "../support/same_waits"
if S.node != "node1"
  S.local.take("end")
  exit
end
Dir.mktmpdir do |folder|
  store = S.open("#{folder}/waits.db")
  [7, 8].each { |seed| same_waits({ "a node" => S["node2"], "a file" => store }, seed, 150) }
  store.close
end
S["node2"].put("end", 1)
