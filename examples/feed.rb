# A feed that arrives slowly, worked on by several code segments, and in one line again.
#
# A small web server in a thread of this program makes and sends trades as XML. The document is cut into records, which are put under a
# key with a limit. Three code segments at a time work on them, on each node. The results come out of order and are put in order again.
# When the work stands still, so does the server: nothing piles up between them but what the system's socket holds.
#
#   kumi examples/feed.rb [--trades N] [--rate MBPS]
#   kumi run --nodes 2 examples/feed.rb [--trades N] [--rate MBPS]
require "socket"
require "kumihimo/segments"
require "kumihimo/xml"

NODES = Kumihimo::Segments.cluster? ? Kumihimo::Segments.nodes.sort : [nil]
FIRST = NODES[0] # reads the feed and joins the results; nil: the program is on one node
AT_ONCE = 3 # code segments that work at a time, on each node

class Trade < Kumihimo::XTree
  field :number, Integer, attribute: true
  field :symbol
  field :price, Rational
  field :pieces, Integer
end

# Sends trades, no faster than the line.
class Server
  SYMBOLS = %w[CORD SILK BOBN TASL].freeze
  attr_reader :sent, :worth

  def initialize(trades, rate)
    @trades = trades
    @rate = rate * 1e6 / 8
    @sent = @worth = 0
    @server = TCPServer.new("127.0.0.1", 0)
    @thread = Thread.new { serve }
  end

  def url = "http://127.0.0.1:#{@server.addr[1]}/"
  def join = @thread.join

  private

  def serve
    socket = @server.accept
    nil until socket.gets.to_s.chomp.empty?
    socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nConnection: close\r\n\r\n<trades>")
    began = clock
    (1..@trades).each_slice(20) do |numbers|
      late = began + @sent / @rate - clock
      sleep late if late > 0
      text = numbers.map { |n| trade(n) }.join
      socket.write(text)
      @sent += text.bytesize
    end
    socket.write("</trades>")
  ensure
    socket&.close
  end

  def trade(n)
    price, pieces = "#{n % 90 + 10}.#{n % 10}0", n % 7 + 1
    @worth += price.to_r * pieces
    "<trade number=\"#{n}\"><symbol>#{SYMBOLS[n * 7 % 4]}</symbol><price>#{price}</price><pieces>#{pieces}</pieces>" \
      "<note>#{"nothing of note " * 20}</note></trade>\n"
  end
end

# One step of the work. Its inputs and its output are on the first node.
class Value < Kumihimo::CodeSegment
  input :trade, take: "trades", from: FIRST
  input :pause, peek: "go", from: FIRST # Without it all work stands still.

  def run
    sleep pause
    trade => { number:, symbol:, price:, pieces: }
    put "values", [number, symbol, price * pieces, Kumihimo::Segments.node], on: FIRST
  end
end

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)

options = { "--trades" => 4_000, "--rate" => 100 }
until ARGV.empty?
  name, value = ARGV.shift.split("=", 2)
  number = Integer(value || ARGV.shift, 10, exception: false) if options.key?(name)
  abort "usage: kumi examples/feed.rb [--trades N] [--rate MBPS]" unless number&.positive?
  options[name] = number
end
trades = options["--trades"]

ds = Kumihimo::Segments.local
work = Value.repeat(parallel: AT_ONCE)
if FIRST != Kumihimo::Segments.node
  Kumihimo::Segments[FIRST].peek("over")
  work.stop.join
  Kumihimo::Segments.leave
  exit
end

server = Server.new(trades, options["--rate"])
began = clock
queue = ds.key("trades").limit(100)
feeder = Thread.new { queue.from(Kumihimo::XML.each(server.url, "/trades/trade", Trade).lazy.map(&:to_h)) }

# In order again: what comes early waits.
results = Enumerator.new do |out|
  early = {}
  1.upto(trades) do |number|
    until early.key?(number)
      value = ds.take("values")
      early[value[0]] = value
    end
    out << early.delete(number)
  end
end

# The oldest request is served first. Once those of all nodes wait for "go", or still for a trade, each node has its part.
sleep 0.01 until %w[go trades].sum { |key| ds.stat(key)[:waiting] } >= AT_ONCE * NODES.size
ds.put("go", 0.0001)
totals = Hash.new(0)
nodes = Hash.new(0)
in_order = true
last = 0
results.each do |number, symbol, value, node|
  in_order &&= number == last + 1
  last = number
  totals[symbol] += value
  nodes[node] += 1
  if number == trades / 4
    ds.take("go")
    sleep 0.3
    sent = server.sent
    sleep 0.3
    puts "the work stands still: #{queue.size} trades wait, and the server has sent #{server.sent - sent} bytes in 0.3 s"
    ds.put("go", 0.0001)
  end
end
seconds = clock - began

puts "#{last} trades#{", in order" if in_order}; #{feeder.value} were read"
puts "their sum is #{totals.values.sum == server.worth ? "that of what was sent" : "WRONG"}"
totals.sort.each { |symbol, total| puts format("%s %12.2f", symbol, total) }
puts "worked on by #{nodes.sort.map { |node, count| "#{node}: #{count}" }.join(", ")}" if FIRST
# The others leave first.
ds.put("over", true)
sleep 0.02 until NODES.size == 1 || Kumihimo::Segments.nodes.size == 1
work.stop.join
server.join
puts format("%.2f s for %.1f MB", seconds, server.sent / 1e6)
