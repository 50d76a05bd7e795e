# frozen_string_literal: true

# Array#to_csv, which csv brings along.
require "csv"
