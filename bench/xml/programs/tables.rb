# The two documents of the bench as classes, and what every program tells of itself.
require "kumihimo/xml"
require_relative "../peers/row"

# What the join wants of a row of lineitem, and of one of orders. Dates are read by Row, as in the peers.
class Line < Kumihimo::XTree
  field :orderkey, Integer, element: "L_ORDERKEY"
  field :linenumber, Integer, element: "L_LINENUMBER"
  field :quantity, Integer, element: "L_QUANTITY"
  field :price, Rational, element: "L_EXTENDEDPRICE"
  field :shipdate, element: "L_SHIPDATE"
  field :shipmode, element: "L_SHIPMODE"
end

class Order < Kumihimo::XTree
  field :orderkey, Integer, element: "O_ORDERKEY"
  field :custkey, Integer, element: "O_CUSTKEY"
  field :price, Rational, element: "O_TOTALPRICE"
  field :date, element: "O_ORDERDATE"
  field :priority, element: "O_ORDERPRIORITY"
end

class Lines < Kumihimo::XTree
  list :rows, Line, element: "T"
end

class Orders < Kumihimo::XTree
  list :rows, Order, element: "T"
end

# A price in hundredths.
def cents(price) = price.numerator * 100 / price.denominator

# All 16 columns of lineitem.
class Item < Kumihimo::XTree
  TYPES = { integer: Integer, decimal: Rational, date: String, words: String }.freeze
  Row::KINDS.each { |column, kind| field column.downcase.to_sym, TYPES.fetch(kind), element: column }
end

module Told
  KEYS = %i[young_count young_ns full_count full_ns window_count window_ns window_freed_bytes private_bytes shared_bytes published_bytes retired_bytes allocated_bytes].freeze

  module_function

  def ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

  # When the process began, by the same clock, to 10 ms: the collector's log counts from about there.
  def started = File.read("/proc/self/stat")[/\) (.*)/, 1].split[19].to_i * 10_000_000

  def gc
    stat = GC.stat
    KEYS.to_h { |k| [k, stat[k] || 0] }
  end

  # What a join came to: moments are nanoseconds of the clock that the server reads too.
  def join(begun, result, before)
    ended = ns
    Row.tell(started_ns: started, begun_ns: begun, first_ns: result.first, end_ns: ended, count: result.pairs, sum: result.sum.to_s, peak: Row.memory("VmHWM"),
             resident: Row.memory("VmRSS"), gc: gc.to_h { |k, v| [k, v - before[k]] }, stat: stat)
  end

  def stat
    Kumihimo::XML.stat
  rescue NoMethodError
    nil
  end
end

# Pairs found, and their checksum.
class Result
  attr_reader :first, :pairs, :sum

  def initialize
    @first = nil
    @pairs = @sum = 0
  end

  def take(l, o)
    @first ||= Told.ns
    @pairs += 1
    @sum += l.orderkey + 3 * l.linenumber + 5 * l.quantity + 7 * cents(l.price) + 11 * Row.days(l.shipdate) + 13 * l.shipmode.bytesize +
            17 * o.custkey + 19 * cents(o.price) + 23 * Row.days(o.date) + 29 * o.priority.bytesize
  end
end
