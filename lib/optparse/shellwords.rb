# frozen_string_literal: true

# Shellwords as the type of an argument: its words, as a shell takes them apart.
require "optparse"
require "shellwords"

OptionParser.accept(Shellwords) { |text, *| Shellwords.shellwords(text) if text }
