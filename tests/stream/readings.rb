# What a reading opens is closed, also when the reading cannot begin.
require "kumihimo/flow"

class Opens < Kumihimo::Flow::Operator
  def initialize(input, name)
    super(input)
    @name = name
  end

  def start = puts("#{@name} opened")
  def stop = puts("#{@name} closed")
end

class Pairs < Kumihimo::Flow::Join
  def key_left(left) = left
  def key_right(right) = right
  def start = puts("join opened")
  def stop = puts("join closed")
end

# It cannot be read.
class Broken
  include Kumihimo::Flow
  def flow_reader = raise(IOError, "no reader")
  def each = raise(IOError, "no elements")
end

def told(what)
  puts "-- #{what}"
  p yield
rescue StandardError => error
  puts "#{error.class}: #{error.message}"
end

open = ->(input, name) { Opens.new(input, name) }
told("operator") { open.([1, 2], "it").to_a }
told("left early") { open.(1.., "it").first }
told("over what is broken") { open.(Broken.new, "it").to_a }
told("over what is broken, beside another") { open.(Broken.new, "it").union([1]).to_a }
told("beside what is broken") { open.([1], "it").union(Broken.new).to_a }
told("two operators deep") { open.(open.(Broken.new, "inner"), "outer").union([1]).to_a }
told("thrown") { catch(:out) { open.(Class.new(Broken) { def flow_reader = throw(:out, :thrown) }.new, "it").union([1]).to_a } }
told("join") { Pairs.new([1, 2], [2]).to_a }
told("join of what is broken") { Pairs.new(open.([1], "left"), Broken.new).to_a }
told("join within another") { Pairs.new([1], Pairs.new([1], Broken.new)).to_a }
told("join that cannot be") { Kumihimo.flow([1]).join([2], on: :itself, unique: :left, range: nil, band: 0..1).union([2]).to_a }
