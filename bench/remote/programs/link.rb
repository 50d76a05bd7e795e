# One of a row of nodes: each has an object that holds one of the next node's. Obeys lines on standard input: meet N: waits for so many
# nodes. hold NODE: makes such an object, which holds that node's newest, or nothing where that is "-". keep NODE, drop: holds that node's
# newest itself; does so no more. held: how many of its own others hold.
# usage: kumi node NAME --listen ADDR --join ADDR --await N link.rb
require "kumihimo/remote"
require_relative "../../lib/obey"

class Link
  include Kumihimo::Remote
  def initialize(rest) = @rest = rest
end

# Gives this node's newest object away.
class Desk
  include Kumihimo::Remote
  attr_accessor :newest
  def take = @newest.tap { @newest = nil }
end

DESK = Kumihimo::Remote.register("desk", Desk.new)
$held = nil

obey do |word, node|
  case word
  when "meet" then [Kumihimo::Segments.wait_for_nodes(Integer(node), timeout: 60).size]
  when "hold"
    rest = Kumihimo::Remote.find("desk", on: node).take if node != "-"
    DESK.newest = Link.new(rest)
    [1]
  when "keep" then [($held = Kumihimo::Remote.find("desk", on: node).take) ? 1 : 0]
  when "drop" then ($held = nil; GC.start; [1])
  when "held" then [ObjectSpace.exports.keys.count { |o| Link === o }]
  else raise "no #{word}"
  end
end
