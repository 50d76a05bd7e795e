# frozen_string_literal: true

require "optparse"
require "time"

OptionParser.accept(Time) do |s, *|
  begin
    (Time.httpdate(s) rescue Time.parse(s)) if s
  rescue ArgumentError
    raise OptionParser::InvalidArgument, s
  end
end
