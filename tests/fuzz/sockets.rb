# Calls every method of the socket classes with random hostile arguments.
#
#   kumi sockets.rb SEED [ROUNDS]
#
# Whatever a method answers or raises is fine; dying by a signal, an internal error of the
# runtime or never coming back is not. KUMI_FUZZ_TRACE=file: each call, before it is made.
require "socket"
require "timeout"

SEED = Integer(ARGV[0] || 1)
ROUNDS = Integer(ARGV[1] || 20)
RNG = Random.new(SEED)
TRACE = ENV["KUMI_FUZZ_TRACE"] && File.open(ENV["KUMI_FUZZ_TRACE"], "w").tap { |f| f.sync = true }

# Names are not looked up on the network; nothing but this machine is connected to.
ADDRESSES = [
  Socket.sockaddr_in(0, "127.0.0.1"), Socket.sockaddr_in(1, "127.0.0.1"), Socket.sockaddr_in(0, "::1"),
  Socket.sockaddr_un("/nowhere/at/all"), Socket.sockaddr_un("\0kumi"), "", "\0", "\2\0", "\1\0", "\n\0\0\0", "\2\0" * 3, "\xff" * 16,
  "\0" * 128, "\0" * 129, "\x10\0" + "x" * 200, "\1\0" + "y" * 108, "\x11\0" + "z" * 18
].freeze
VALUES = [
  nil, true, false, 0, 1, -1, 2, 10, 255, 65_535, 65_536, 1 << 20, 1 << 31, -(1 << 31), 1 << 40, 1 << 63, 1 << 70, 0.5, Float::NAN,
  :INET, :INET6, :UNIX, :STREAM, :DGRAM, :RAW, :SOCKET, :IP, :IPV6, :TCP, :UDP, :REUSEADDR, :LINGER, :RIGHTS, :PKTINFO, :RDWR, :NOPE,
  "", "x", "127.0.0.1", "::1", "0", "INET", "AF_UNIX", "a\0b", "\xff\xfe", "y" * 300, "/nowhere/at/all",
  [], [1], ["AF_INET", 1, "x", "127.0.0.1"], ["AF_INET6", nil, nil, "::1"], ["AF_UNIX", "p"], [:SOCKET, :RIGHTS, ""], [nil] * 4, {}, Object.new
].freeze
SKIP = %i[
  exit exit! abort fork exec sleep kill stop irb system spawn daemon trap syscall display binding_irb instance_variable_get
  instance_variable_set remove_instance_variable __send__ send public_send instance_eval instance_exec define_singleton_method
  object_id __id__ ioctl fcntl reopen for_fd console new_ntoh autoclose= method public_method singleton_method sysopen popen read
  write binread binwrite readlines foreach copy_stream
].freeze

def value
  case RNG.rand(6)
  when 0, 1 then ADDRESSES.sample(random: RNG)
  when 2 then Addrinfo.new(ADDRESSES.sample(random: RNG))
  when 3 then Socket::Option.new(:INET, :SOCKET, :LINGER, ADDRESSES.sample(random: RNG))
  else VALUES.sample(random: RNG)
  end
end

def receivers
  a, b = UNIXSocket.pair
  c, d = Socket.pair(:UNIX, :DGRAM)
  open = [a, b, c, d, TCPServer.new("127.0.0.1", 0), UDPSocket.new, Socket.new(:INET, :STREAM), Socket.new(:INET6, :DGRAM)]
  b.write "data"
  others = [
    Socket, Addrinfo, BasicSocket, TCPSocket, TCPServer, UDPSocket, UNIXSocket, UNIXServer, IPSocket, Socket::Option, Socket::AncillaryData,
    Socket::UDPSource, Addrinfo.tcp("127.0.0.1", 1), Addrinfo.unix("/nowhere/at/all"), Addrinfo.new(ADDRESSES.sample(random: RNG)),
    Socket::Option.int(:INET, :IP, :TTL, 3), Socket::AncillaryData.int(:UNIX, :SOCKET, :RIGHTS, 1 << 20), Socket.getifaddrs[0]
  ]
  [open, open + others]
end

calls = 0
ROUNDS.times do
  open, all = receivers
  all.each do |r|
    own = Module === r ? r.singleton_methods + [:new] : r.class.ancestors.take_while { |c| c != Object && c != Comparable }.flat_map { |c| c.instance_methods(false) }
    own -= SKIP
    own << :send if BasicSocket === r
    own.uniq.sort.each do |m|
      args = Array.new(RNG.rand(5)) { value }
      TRACE&.puts("#{r.class} #{m} #{args.inspect[0, 300]}")
      calls += 1
      begin
        Timeout.timeout(0.02) do
          x = r.__send__(m, *args)
          open << x if BasicSocket === x
          open.concat(x.grep(BasicSocket)) if Array === x
        end
      rescue Exception => e
        raise if Interrupt === e || SystemExit === e
      end
    end
  end
  open.each { |s| s.close unless s.closed? rescue nil }
end
puts "#{calls} calls"
