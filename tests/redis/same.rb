# The same calls at this program's manager and at a store come to the same.
require "kumihimo/segments"
require_relative "../support/same"
same({ "a store" => S.connect(ARGV[0]) }, 24)
