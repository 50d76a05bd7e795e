# frozen_string_literal: true

# Random numbers from the operating system.
require "random/formatter"

module SecureRandom
  VERSION = "0.4.1"

  extend Random::Formatter

  class << self
    def bytes(n) = Random.urandom(n)

    def gen_random(n) = Random.urandom(n)
    private :gen_random
  end
end
