# Loops whose jump back compares values of every kind: each gives way to the other threads there, calls blocks, and all of them end.
# The other half of the kinds is in compare_loops_more.rb.
require_relative "../support/compare_loops"
compare_loops(OPERANDS.keys.first(9))
