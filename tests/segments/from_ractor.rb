# The first code segment is started by a Ractor; what runs later is everybody's.
require "kumihimo/segments"

LIST = []
class Adds < Kumihimo::CodeSegment
  def run = LIST << 1
end
Ractor.new { Kumihimo::Segments.when {}.join; nil }.value
Adds.start.join
Adds.start.join
p LIST
