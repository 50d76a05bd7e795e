# Calls that wait end in the same order at this program's manager and at a store.
require "kumihimo/segments"
require_relative "../support/same_waits"
store = S.connect(ARGV[0])
[3, 6].each { |seed| same_waits({ "a store" => store }, seed, 150, counts: false) }
