# Refinements of classes that have prepended modules: the refinement comes before them, and its super goes on to them.
module First; def x = [:first, super]; def to_s = "first<#{super}>"; def ===(o) = [:first, super]; end
class Thing
  prepend First
  def x = :thing
  def to_s = "thing"
  def +(o) = [:plus, o]
  def later = :later
end
module Refined
  refine Thing do
    def x = [:refined, super]
    def to_s = "refined<#{super}>"
    def +(o) = [:refined, super]
    def ===(o) = o == 1
    def only = :only
  end
end
module Second; def x = [:second, super]; end
def plain(t) = [t.x, "#{t}", t + 1]
using Refined
t = Thing.new
p t.x, "#{t}", t + 1, t.only, [t].map(&:x), t.send(:x), t.method(:x).call
p((case 1 when t then :one else :other end), (case 2 when t then :one else :other end))
p plain(t)
class Thing; prepend Second; end
p t.x, plain(t)
class Sub < Thing; end
p Sub.new.x, "#{Sub.new}", Sub.new + 2
module Mixed; def mixed = :mixed; end
module PreMixed; def mixed = [:pre, super]; end
Mixed.prepend(PreMixed)
module RefinesModule
  refine(Mixed) { def mixed = [:refined, super] }
end
using RefinesModule
class User; include Mixed; end
p User.new.mixed
