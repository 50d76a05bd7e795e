# A DRb server with a method to call and Rinda's tuple space. Prints "ready URI".
require "drb"
require "rinda/tuplespace"

class Front
  attr_reader :space

  def initialize
    @space = Rinda::TupleSpace.new
  end

  def accept(_) = nil
end

DRb.start_service("druby://127.0.0.1:0", Front.new)
puts "ready #{DRb.uri}"
$stdout.flush
$stdin.read
exit!(0)
