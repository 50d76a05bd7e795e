# frozen_string_literal: true

# `y`: prints objects as YAML, for sessions.
require "psych"

module Kernel
  def y(*objects)
    puts Psych.dump_stream(*objects)
  end
  private :y
end
