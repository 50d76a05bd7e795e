# Peers that do not behave. First it stands between two nodes as a proxy, so that it knows what a node says; then it makes connections of its own.
# listen PORT: prints the proxy's port; what connects there is joined to PORT and what it says is kept. attack PORT RATE: so many connections a second, of
# all kinds in turn, until the next line; prints how many there were. Kinds: noise (random bytes), half (what the node said, cut off somewhere; the
# connection stays), huge (what it said, then a frame of a length that never comes), mutes (not a word), deaf (all that it said; no answer is read).
require "socket"

KINDS = %w[noise half huge mute deaf].freeze
HELD = 200

said = +"".b
lock = Mutex.new

def relay(from, to, keep)
  loop do
    data = from.readpartial(65_536)
    keep&.call(data)
    to.write(data)
  end
rescue IOError, SystemCallError
  [from, to].each { |s| s.close rescue nil }
end

def attack(kind, port, said, random, held)
  socket = TCPSocket.new("127.0.0.1", port)
  case kind
  when "noise" then socket.write(random.bytes(1 + random.rand(65_536)))
  when "half" then socket.write(said[0, random.rand(said.size + 1)])
  when "huge" then socket.write(said[0, 64 + random.rand(512)] + "\xff".b * 16 + random.bytes(1024))
  when "deaf" then socket.write_nonblock(said)
  end
  return socket.close if kind == "noise"
  held << socket
  held.shift.close if held.size > HELD
rescue SystemCallError, IO::WaitWritable
  socket&.close
end

random = Random.new(17)
held = []
count = 0
puts "ready"
$stdout.flush
attacking = nil
while (line = $stdin.gets)
  if attacking
    attacking[:stop] = true
    attacking.join
    attacking = nil
  end
  word, port, rate = line.split
  answer =
    case word
    when "listen"
      server = TCPServer.new("127.0.0.1", 0)
      Thread.new do
        loop do
          guest = server.accept
          host = TCPSocket.new("127.0.0.1", Integer(port))
          Thread.new { relay(guest, host, ->(data) { lock.synchronize { said << data if said.size < 1 << 20 } }) }
          Thread.new { relay(host, guest, nil) }
        end
      end
      server.addr[1]
    when "attack"
      attacking = Thread.new do
        until Thread.current[:stop]
          attack(KINDS[count % KINDS.size], Integer(port), lock.synchronize { said.dup }, random, held)
          count += 1
          sleep 1.0 / Integer(rate)
        end
      end
      0
    when "rest"
      held.each { |s| s.close rescue nil }
      held.clear
      count
    end
  puts answer
  $stdout.flush
end
exit!(0)
