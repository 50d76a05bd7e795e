# What mspec asks of an implementation that it does not know: the bounds of Integers that are no cells. Loaded before mspec's
# runner, after the helpers that it would define them with.
require "mspec/helpers/numeric"

def fixnum_max = 2**62 - 1
def fixnum_min = -(2**62)
