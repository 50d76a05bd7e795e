# As compare_loops.rb, for the other half of the kinds of values.
require_relative "../support/compare_loops"
compare_loops(OPERANDS.keys.drop(9))
