# The join as one writes it by hand with event handlers: a thread reads each input and pushes what it gets into a parser, whose handler looks
# into the other side's table and puts the row into its own, under a lock. Binding, rows and tables are those of dd.rb.
# usage: ed.rb LINEITEM_URL ORDERS_URL
require "socket"
require_relative "tables"

PIECE = 65_536

# Calls the block with the body's pieces as they come.
def fetch(url)
  host, port, path = url.match(%r{\Ahttp://([^:/]+):(\d+)(/.*)\z}).captures
  socket = TCPSocket.new(host, port.to_i)
  socket.write("GET #{path} HTTP/1.1\r\nHost: #{host}\r\nConnection: close\r\n\r\n")
  raise "the server answers with an error" unless socket.gets.include?(" 200 ")
  nil until socket.gets.chomp.empty?
  loop { yield socket.readpartial(PIECE) }
rescue EOFError
  socket.close
end

# Pushes what comes from there into a parser of such rows, which calls the block, then calls `ended`.
def feed(url, klass, ended, &row)
  Thread.new do
    push = Kumihimo::XML::Push.new("/table/T", klass, &row)
    fetch(url) { |bytes| push << bytes }
    push.finish
    ended.call
  end
end

class ByHand
  attr_reader :result

  def initialize
    @result = Result.new
    @lock = Mutex.new
    @lines = {}
    @orders = {}
    @lines_ended = @orders_ended = false
  end

  def line(line)
    key = line.orderkey
    @lock.synchronize do
      @orders[key]&.each { |order| @result.take(line, order) }
      (@lines[key] ||= []) << line unless @orders_ended
    end
  end

  def order(order)
    key = order.orderkey
    @lock.synchronize do
      @lines[key]&.each { |line| @result.take(line, order) }
      (@orders[key] ||= []) << order unless @lines_ended
    end
  end

  # An input has ended: nobody will look for the other side's rows any more.
  def lines_end
    @lock.synchronize do
      @lines_ended = true
      @orders = {}
    end
  end

  def orders_end
    @lock.synchronize do
      @orders_ended = true
      @lines = {}
    end
  end
end

lines_at, orders_at = ARGV
abort "usage: ed.rb LINEITEM_URL ORDERS_URL" unless orders_at
before = Told.gc
begun = Told.ns
join = ByHand.new
threads = [
  feed(lines_at, Line, -> { join.lines_end }) { |line| join.line(line) },
  feed(orders_at, Order, -> { join.orders_end }) { |order| join.order(order) }
]
threads.each(&:join)
Told.join(begun, join.result, before)
