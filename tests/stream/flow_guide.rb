# The examples of docs/FLOW.md give what stands beside them.
require "kumihimo/flow"
require_relative "../support/guide"
puts "#{check_examples(page("FLOW"))} examples"
