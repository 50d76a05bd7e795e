# frozen_string_literal: true

# `y`, which psych brings along.
require "psych"
