# nodes: 3
# The same calls at this node's manager, another's, a group and a file come to the same.
require "tmpdir"
require_relative "../support/same"
if S.node != "node1"
  S.local.take("end")
  exit
end
Dir.mktmpdir do |folder|
  store = S.open("#{folder}/same.db")
  same({ "a node" => S["node2"], "a group" => S.group("one", nodes: ["node3"]), "a file" => store }, 23)
  store.close
end
%w[node2 node3].each { |node| S[node].put("end", 1) }
