# frozen_string_literal: true

require "psych"

YAML = Psych
