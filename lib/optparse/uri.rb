# frozen_string_literal: true

# URI as the type of an argument.
require "optparse"
require "uri"

OptionParser.accept(URI) { |text, *| URI.parse(text) if text }
