# frozen_string_literal: true

# Whoever names Gem loads all of it: its version first.
require "rubygems"
