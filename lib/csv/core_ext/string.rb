# frozen_string_literal: true

# String#parse_csv, which csv brings along.
require "csv"
