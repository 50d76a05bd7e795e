# The examples of docs/XML.md give what stands beside them.
require_relative "../support/guide"
puts "#{check_examples(page("XML"))} examples"
