# An aquarium of several tanks (the paper's example). Each node has a tank, and shows it on a web page of its own. A fish is a data
# segment: a code segment moves it at each tick, and hands it to the neighbour's tank when it swims out of this one.
#
#   kumi run --nodes 3 examples/aquarium.rb [--fish N] [--seconds N]
#   kumi examples/aquarium.rb [--fish N] [--port N] [--seconds N]       one tank, whose page has the port
#
# or on two machines (`kumi node --help` tells of certificates):
#   kumi node east --listen east.lan:7000 --insecure examples/aquarium.rb
#   kumi node west --listen west.lan:7000 --insecure --join east.lan:7000 examples/aquarium.rb
require "json"
require "socket"
require "kumihimo/segments"

WIDTH, HEIGHT, TICK, MOST_FISH = 600, 300, 0.05, 100
DS = Kumihimo::Segments.local
NAME = Kumihimo::Segments.node || "alone"

# The name of the node on a side, nil where there is none. It changes when nodes join and leave.
def neighbour(side) = Kumihimo::Segments.cluster? ? Kumihimo.topology[side] : nil

Fish = Data.define(:id, :hue, :x, :y, :speed) do
  def self.hatch(id) = new(id:, hue: rand(360), x: rand(40..WIDTH - 40), y: rand(30..HEIGHT - 30), speed: rand(3..8) * [1, -1].sample)

  def moved = with(x: x + speed, y: (y + rand(-2..2)).clamp(20, HEIGHT - 20))
  def side = x < 0 ? :left : x > WIDTH ? :right : nil
  def turned = with(x: x.clamp(0, WIDTH), speed: -speed)
  def across = with(x: x % WIDTH)
end

# One stroke of a fish: at the first tick after that of its last stroke.
class Swim < Kumihimo::CodeSegment
  input :fish, take: nil
  input :tick, peek: nil
  dead_letters "stranded"

  def initialize(id, last = nil)
    set_key(:fish, "fish.#{id}")
    set_key(:tick, "tick", last)
  end

  def run
    here = fish.moved
    if here.side && (node = neighbour(here.side))
      put "arrivals", here.across, on: node
    else
      put "fish.#{here.id}", here.side ? here.turned : here
      Swim.start(here.id, input(:tick).index)
    end
  end
end

# A fish comes into this tank.
class Arrive < Kumihimo::CodeSegment
  input :fish, take: "arrivals"
  def run
    put "fish.#{fish.id}", fish
    Swim.start(fish.id)
  end
end

# A fish that can't be handed on, since the neighbour has just gone, turns round.
class TurnRound < Kumihimo::CodeSegment
  input :letter, take: "stranded"
  def run = put("arrivals", letter[:inputs][:fish].turned)
end

# This node's web page: the tank, and a stream of events with the fish in it.
class Page
  def initialize(port)
    @server = TCPServer.new("127.0.0.1", port)
    @hatched = 0
    Thread.new { loop { Thread.new(@server.accept) { |client| serve(client) } } }
  end

  def url = "http://127.0.0.1:#{@server.addr[1]}/"
  def hatch = DS.put("arrivals", Fish.hatch("#{NAME}-#{@hatched += 1}"))

  def serve(client)
    request = client.gets("\n", 2000).to_s
    nil until client.gets("\n", 2000).to_s.chomp.empty?
    case request
    when %r{\AGET / } then answer(client, "200 OK", "text/html; charset=utf-8", HTML)
    when %r{\AGET /events } then events(client)
    when %r{\APOST /fish } then answer(client, "200 OK", "text/plain", DS.keys("fish.").size < MOST_FISH ? hatch.to_s : "full")
    else answer(client, "404 Not Found", "text/plain", "The tank is at /.\n")
    end
  rescue SystemCallError, IOError # the browser has gone
  ensure
    client.close
  end

  def answer(client, status, type, body)
    client.write("HTTP/1.1 #{status}\r\nContent-Type: #{type}\r\nContent-Length: #{body.bytesize}\r\nConnection: close\r\n\r\n#{body}")
  end

  def events(client)
    client.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n")
    loop do
      sleep TICK
      # A fish in the middle of its stroke is not seen: the page waits for it.
      fish = DS.keys("fish.").filter_map { |key| DS.peek?(key)&.to_h }
      client.write("data: #{JSON.generate(node: NAME, left: neighbour(:left), right: neighbour(:right), fish:)}\n\n")
    end
  end
end

options = { "--fish" => 3, "--port" => 0, "--seconds" => nil }
ARGV.each_slice(2) do |name, value|
  number = Integer(value || "", 10, exception: false) if options.key?(name)
  number ? options[name] = number : abort("usage: kumi #{$0} [--fish N] [--port N] [--seconds N]")
end
fish, port, seconds = options.values
abort "--port is for one tank: each node's page has a port of its own, and tells which" if port != 0 && Kumihimo::Segments.cluster?
HTML = format(DATA.read, width: WIDTH, height: HEIGHT, tick: TICK)

begin
  page = Page.new(port)
  Arrive.repeat
  TurnRound.repeat
  Thread.new { 1.step { |n| sleep TICK; DS.update("tick", n) } }
  fish.times { page.hatch }
  puts "the tank of #{NAME} is at #{page.url}; Ctrl-C ends"
  $stdout.flush
  sleep(*seconds)
rescue Interrupt # Ctrl-C
rescue Errno::EADDRINUSE
  abort "port #{port} is another program's: say another by --port"
ensure
  Kumihimo::Segments.leave if Kumihimo::Segments.cluster?
end
__END__
<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Aquarium</title>
<style>body { font: 16px sans-serif; margin: 12px } header { display: flex; width: %<width>dpx; justify-content: space-between }
svg { background: linear-gradient(#bfe8f7, #2b7bab); border-radius: 8px } g { transition: transform %<tick>.2fs linear }</style>
<header><span>← <span id="left"></span></span><b id="node"></b><span><span id="right"></span> →</span></header>
<svg id="tank" width="%<width>d" height="%<height>d"><defs><g id="shape"><ellipse rx="20" ry="10"/><path d="M-16 0L-30-10L-30 10Z"/>
<circle cx="11" cy="-3" r="2" fill="white"/></g></defs></svg><p><button id="add">Another fish</button> <span id="count"></span></p>
<script>
const $ = id => document.getElementById(id)
function draw(fish) {
  const g = $(fish.id) || $("tank").appendChild($("shape").cloneNode(true))
  g.setAttribute("fill", `hsl(${fish.hue} 90%% 50%%)`)
  g.style.transform = `translate(${fish.x}px, ${fish.y}px) scale(${Math.sign(fish.speed)}, 1)`
  Object.assign(g, { id: fish.id, seen: Date.now() })
}
new EventSource("/events").onmessage = event => {
  const tank = JSON.parse(event.data)
  for (const id of ["node", "left", "right"]) $(id).textContent = tank[id] || "the wall"
  tank.fish.forEach(draw)
  for (const g of document.querySelectorAll("#tank > g")) if (Date.now() - g.seen > 300) g.remove()
  $("count").textContent = `${document.querySelectorAll("#tank > g").length} fish`
}
$("add").onclick = () => fetch("/fish", { method: "POST" })
</script>
