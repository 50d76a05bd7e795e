# frozen_string_literal: true

# Date and DateTime as the types of an argument.
require "optparse"
require "date"

[DateTime, Date].each do |type|
  OptionParser.accept(type) do |text, *|
    type.parse(text) if text
  rescue ArgumentError
    raise OptionParser::InvalidArgument, text
  end
end
