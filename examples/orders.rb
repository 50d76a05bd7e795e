# Two documents that arrive slowly, joined while they arrive.
#
# Two small web servers in threads of this program make and send orders.xml and items.xml at the pace of a slow line. The program
# below them joins the two by order number as if both were there already: its first result comes with the first bytes.
#
#   kumi examples/orders.rb [--rate MBPS] [--rows ORDERS] [--show N] [--stop-after N]
require "socket"
require "kumihimo/xml"

# ---- What is wanted of the documents. Whatever else stands in them is passed over.

class Order < Kumihimo::XTree
  field :number, Integer, attribute: "number"
  field :customer
  field :city
end

class Item < Kumihimo::XTree
  field :order, Integer, attribute: "order"
  field :article
  field :quantity, Integer
  field :price, Rational
end

class Orders < Kumihimo::XTree
  list :orders, Order, element: "order"
end

class Items < Kumihimo::XTree
  list :items, Item, element: "item"
end

# ---- The servers: documents made as they are sent, a packet at a time, no faster than the line.

class Document
  CUSTOMERS = %w[Aiko Botan Chiyo Daichi Emi Fumio Goro Hana Isamu Jun Kaede Mio Naoki Rin Sora].freeze
  FAMILIES = %w[Abe Endo Fujita Hara Ito Kato Mori Nakano Ono Sato Tanaka Ueda Wada Yamada].freeze
  CITIES = %w[Kobe Kyoto Nara Osaka Sendai Nagoya Fukuoka Sapporo].freeze
  ARTICLES = ["silk cord, 3 m", "braiding stand", "weighted bobbin", "counterweight", "cotton thread", "tassel", "pattern book", "obi cord", "bamboo hook"].freeze

  def initialize(kind, rows)
    @kind = kind
    @rows = rows
  end

  # Calls the block with pieces of the document.
  def each
    yield %(<?xml version="1.0" encoding="UTF-8"?>\n<#{@kind}>\n)
    (1..@rows).each { |number| yield @kind == "orders" ? order(number) : items(number) }
    yield "</#{@kind}>\n"
  end

  private

  # The same number for the same question, everywhere.
  def dice(number, salt, sides) = ((number * 2_654_435_761 + salt * 40_503) >> 7) % sides

  def order(n)
    name = "#{CUSTOMERS[dice(n, 1, CUSTOMERS.size)]} #{FAMILIES[dice(n, 2, FAMILIES.size)]}"
    %(  <order number="#{n}"><customer>#{name}</customer><city>#{CITIES[dice(n, 3, CITIES.size)]}</city>) +
      "<note>Please ring twice &amp; wait.</note></order>\n"
  end

  def items(n)
    (1..1 + dice(n, 4, 5)).map do |i|
      article = ARTICLES[dice(n, 10 + i, ARTICLES.size)]
      "  <item order=\"#{n}\"><article>#{article}</article><quantity>#{1 + dice(n, 20 + i, 4)}</quantity>" \
        "<price>#{2 + dice(n, 30 + i, 40)}.#{dice(n, 40 + i, 10)}0</price></item>\n"
    end.join
  end
end

class PacedServer
  PIECE = 1400
  attr_reader :bytes, :first, :last

  # `rate` in bits per second.
  def initialize(document, rate)
    @document = document
    @rate = rate
    @bytes = 0
    @server = TCPServer.new("127.0.0.1", 0)
    @thread = Thread.new { serve }
  end

  def url = "http://127.0.0.1:#{@server.addr[1]}/"

  # Seconds that the line needs for what was sent.
  def wire_time = @bytes * 8.0 / @rate

  # Whether the connection was over within a second.
  def stop
    @server.close
    return true if @thread.join(1)
    @thread.kill
    false
  end

  private

  def serve
    socket = @server.accept
    nil until socket.gets.to_s.chomp.empty?
    socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
    piece = +""
    @document.each do |text|
      piece << text
      next if piece.bytesize < PIECE
      send_piece(socket, piece)
      piece = +""
    end
    send_piece(socket, piece)
    socket.write("0\r\n\r\n")
  rescue IOError, SystemCallError
    nil # the reader has seen enough
  ensure
    socket&.close
  end

  # A piece has arrived when its last bit has passed the line.
  def send_piece(socket, piece)
    @began ||= clock
    late = @began + (@bytes + piece.bytesize) * 8.0 / @rate - clock
    sleep late if late > 0
    socket.write("#{piece.bytesize.to_s(16)}\r\n#{piece}\r\n")
    @first ||= clock
    @bytes += piece.bytesize
  end
end

# ---- What is shown.

class Display
  def initialize(rows, show)
    @rows = rows
    @show = show
    @terminal = $stdout.tty?
    @colour = @terminal && ENV["NO_COLOR"].to_s.empty? && ENV["TERM"] != "dumb"
    @told = 0.0
    @line = false
  end

  def paint(code, text) = @colour ? "\e[#{code}m#{text}\e[0m" : text
  def bold(text) = paint(1, text)
  def dim(text) = paint(2, text)
  def green(text) = paint(32, text)

  def say(text = "")
    print "\r\e[K" if @line
    @line = false
    puts text
  end

  def result(seconds, order, item)
    sum = (item.price * item.quantity).to_f
    say format("%s  order %-6d %-16s %-8s %2d x %-16s %8.2f", dim(format("%8.1f ms", seconds * 1e3)), order.number, order.customer, order.city, item.quantity, item.article, sum)
  end

  # Ten times a second on a terminal, else once.
  def progress(seconds, results, number)
    return if seconds - @told < (@terminal ? 0.1 : 1.0)
    @told = seconds
    share = number.to_f / @rows
    if @terminal
      bar = "=" * (share * 30).to_i
      print "\r\e[K#{format("%8.1f s ", seconds)} [#{green(bar)}#{" " * (30 - bar.size)}] #{format("%3d %%", share * 100)}  #{count(results)} results"
      @line = true
    else
      puts format("%8.1f s   %3d %%  %s results", seconds, share * 100, count(results))
    end
    $stdout.flush
  end

  def count(number) = number.to_s.reverse.scan(/\d{1,3}/).join(",").reverse
end

def clock = Process.clock_gettime(Process::CLOCK_MONOTONIC)
def peak_memory = File.read("/proc/self/status")[/^VmHWM:\s+(\d+)/, 1].to_i / 1024.0

# ---- The program.

USAGE = <<~TEXT
  usage: kumi examples/orders.rb [options]
    --rate MBPS      the line's rate in million bits a second (10)
    --rows N         orders; there are three items for each, on average (20000)
    --show N         how many results are printed (10)
    --stop-after N   leave the join after so many results, and see the connections end
TEXT
options = { "--rate" => 10.0, "--rows" => 20_000, "--show" => 10, "--stop-after" => nil }
until ARGV.empty?
  name, value = ARGV.shift.split("=", 2)
  if %w[-h --help].include?(name)
    puts USAGE
    exit
  end
  abort USAGE unless options.key?(name)
  value ||= ARGV.shift
  number = name == "--rate" ? Float(value, exception: false) : Integer(value, exception: false)
  abort "#{name} wants a number from 1, not #{value.inspect}\n#{USAGE}" unless number && number.positive?
  options[name] = number
end
rate, rows, show, stop_after = options.values_at("--rate", "--rows", "--show", "--stop-after")

display = Display.new(rows, show)
# The line is shared so that both documents end together: an item's text is as long as an order's, and there are three.
servers = [PacedServer.new(Document.new("orders", rows), rate * 1e6 * 0.288), PacedServer.new(Document.new("items", rows), rate * 1e6 * 0.712)]

display.say display.bold("#{display.count(rows)} orders and their items, two documents on a line of #{rate.to_i == rate ? rate.to_i : rate} Mbps, joined as they arrive")
display.say

began = clock
orders = Kumihimo::XML.open(servers[0].url, Orders)
items = Kumihimo::XML.open(servers[1].url, Items)

first = nil
results = 0
orders.remove_orders.join(items.remove_items, on: [:number, :order], unique: :left).each do |order, item|
  now = clock - began
  first ||= now
  results += 1
  if results <= show
    display.result(now, order, item)
    display.say display.dim("         ...") if results == show
  else
    display.progress(now, results, order.number)
  end
  break if results == stop_after
end
total = clock - began

left = servers.count { |server| !server.stop }
ended = clock - began - total
first_bytes = servers.filter_map(&:first).max.to_f - began
wire = servers.map(&:wire_time).max
bytes = servers.sum(&:bytes)
display.say
display.say "#{display.bold("first result")}      #{display.green(format("%.1f ms", first * 1e3))} after the request, #{format("%.1f ms", (first - first_bytes) * 1e3)} after the first bytes of both"
if results == stop_after
  display.say "#{display.bold("stopped")}           after #{display.green(format("%.2f s", total))}; the connections were over #{format("%.1f ms", ended * 1e3)} later"
else
  display.say "#{display.bold("all results")}       #{display.green(format("%.2f s", total))}, and the line alone needs #{format("%.2f s", wire)} (#{format("%+.1f %%", (total / wire - 1) * 100)})"
end
display.say "#{display.bold("results")}           #{display.count(results)}, of #{bytes < 1_000_000 ? format("%.0f KB", bytes / 1e3) : format("%.1f MB", bytes / 1e6)} of XML"
display.say "#{display.bold("highest memory")}    #{format("%.1f MB", peak_memory)}, the servers included"
display.say "#{display.bold("connections open")}  #{left}"
