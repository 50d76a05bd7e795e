# frozen_string_literal: true

# The address of a socket, with what kind of socket it is for.
class Addrinfo
  class << self
    def tcp(host, port) = __first(host, port, Socket::SOCK_STREAM, Socket::IPPROTO_TCP)
    def udp(host, port) = __first(host, port, Socket::SOCK_DGRAM, Socket::IPPROTO_UDP)

    def ip(host)
      a = __first(host, nil, nil, nil)
      a.__send__(:__fill, a.to_sockaddr, a.pfamily, 0, 0, nil, a.__inspect_name)
      a
    end

    def unix(path, type = nil)
      type = type.nil? ? Socket::SOCK_STREAM : Socket::Constants.__socktype(type)
      __make(Socket.sockaddr_un(path), Socket::PF_UNIX, type, 0)
    end

    def getaddrinfo(host, port = nil, family = nil, socktype = nil, protocol = nil, flags = nil, timeout: nil)
      name = __name_given(host, port)
      Socket.__resolve(host, port, family, socktype, protocol, flags, timeout).map do |pf, type, proto, address, canonical|
        __make(address, pf, type, proto, canonical, name)
      end
    end

    def foreach(host, port = nil, family = nil, socktype = nil, protocol = nil, flags = nil, timeout: nil, &block)
      getaddrinfo(host, port, family, socktype, protocol, flags, timeout: timeout).each(&block)
    end

    # An Addrinfo of a system address.
    def __make(address, pfamily, socktype, protocol, canonical = nil, name = nil)
      a = allocate
      a.__send__(:__fill, address, pfamily, socktype, protocol, canonical, name)
      a
    end

    private

    def __first(host, port, socktype, protocol)
      getaddrinfo(host, port, nil, socktype, protocol)[0]
    end

    # What the address was looked up by, for inspect: [host, service], of each what says more than a number.
    def __name_given(host, port)
      host = nil unless String === host
      port = nil unless String === port && !port.match?(/\A\d*\z/)
      [host, port] if host || port
    end
  end

  def initialize(address, family = nil, socktype = nil, protocol = nil)
    kind = Socket::Constants
    socktype = socktype.nil? ? 0 : kind.__socktype(socktype)
    protocol = protocol.nil? ? 0 : kind.__int(protocol)
    pfamily = family.nil? ? nil : kind.__family(family)
    if (list = Array.try_convert(address))
      __from_list(list, pfamily, socktype, protocol)
    else
      __fill(KumiSys.to_str(address).b, pfamily || Socket::PF_UNSPEC, socktype, protocol)
    end
  end

  attr_reader :__inspect_name

  def pfamily = @__pfamily
  def socktype = @__socktype
  def protocol = @__protocol
  def canonname = @__canonname
  def afamily = __parts[0] || Socket::AF_UNSPEC

  def to_sockaddr = @__address.dup
  alias to_s to_sockaddr

  def ip? = ipv4? || ipv6?
  def ipv4? = afamily == Socket::AF_INET
  def ipv6? = afamily == Socket::AF_INET6
  def unix? = afamily == Socket::AF_UNIX

  def ip_address = __ip_parts[1].dup
  def ip_port = __ip_parts[2]

  def ip_unpack
    parts = __ip_parts
    [parts[1].dup, parts[2]]
  end

  def unix_path
    raise SocketError, "need AF_UNIX address" unless unix?
    __parts[1].dup
  end

  def ipv4_private?
    return false unless (n = __ipv4)
    n >> 24 == 10 || n >> 20 == 0xac1 || n >> 16 == 0xc0a8
  end

  def ipv4_loopback? = (n = __ipv4) ? n >> 24 == 127 : false
  def ipv4_multicast? = (n = __ipv4) ? n >> 28 == 0xe : false

  def ipv6_unspecified? = __ipv6 == 0
  def ipv6_loopback? = __ipv6 == 1
  def ipv6_multicast? = __ipv6_starts?(8, 0xff)
  def ipv6_linklocal? = __ipv6_starts?(10, 0x3fa)
  def ipv6_sitelocal? = __ipv6_starts?(10, 0x3fb)
  def ipv6_unique_local? = __ipv6_starts?(7, 0x7e)
  def ipv6_v4mapped? = __ipv6_starts?(96, 0xffff)
  def ipv6_v4compat? = __ipv6_starts?(96, 0) && __ipv6 > 1
  def ipv6_mc_nodelocal? = ipv6_multicast? && __ipv6_scope == 1
  def ipv6_mc_linklocal? = ipv6_multicast? && __ipv6_scope == 2
  def ipv6_mc_sitelocal? = ipv6_multicast? && __ipv6_scope == 5
  def ipv6_mc_orglocal? = ipv6_multicast? && __ipv6_scope == 8
  def ipv6_mc_global? = ipv6_multicast? && __ipv6_scope == 0xe

  def ipv6_to_ipv4
    return nil unless ipv6_v4mapped? || ipv6_v4compat?
    Addrinfo.__make(Socket.__inet(@__address.byteslice(20, 4), 0), Socket::PF_INET, @__socktype, @__protocol)
  end

  def getnameinfo(flags = 0)
    flags = Socket::Constants.__int(flags)
    flags |= Socket::NI_DGRAM if @__socktype == Socket::SOCK_DGRAM
    Socket.__name_info(@__address, flags)
  end

  # An address of the same kind: of a host and a port, or of a path.
  def family_addrinfo(*args)
    raise ArgumentError, "no address specified" if args.empty?
    if Addrinfo === args[0]
      raise ArgumentError, "too many arguments" if args.size != 1
      other = args[0]
      if other.pfamily != pfamily || other.socktype != socktype
        raise ArgumentError, "Addrinfo type mismatch"
      end
      other
    elsif ip?
      raise ArgumentError, "IP address needs host and port but #{args.size} arguments given" if args.size != 2
      host, port = args
      Addrinfo.getaddrinfo(host, port, pfamily, socktype, protocol)[0]
    elsif unix?
      raise ArgumentError, "UNIX socket needs single path argument but #{args.size} given" if args.size != 1
      Addrinfo.unix(args[0], socktype)
    else
      raise ArgumentError, "unexpected family"
    end
  end

  def connect(timeout: nil, &block) = __connect(nil, timeout, &block)

  def connect_from(*args, timeout: nil, &block) = __connect(family_addrinfo(*args), timeout, &block)

  def connect_to(*args, timeout: nil, &block)
    family_addrinfo(*args).__send__(:__connect, self, timeout, &block)
  end

  def bind(&block) = __with_socket(:bind, &block)

  def listen(backlog = Socket::SOMAXCONN, &block)
    __with_socket(:listen, backlog, &block)
  end

  def inspect_sockaddr
    parts = __parts
    case parts[0]
    when Socket::AF_INET
      return "too-short-AF_INET-sockaddr #{@__address.bytesize} bytes" unless parts[1]
      parts[2] == 0 ? parts[1].dup : "#{parts[1]}:#{parts[2]}"
    when Socket::AF_INET6
      return "too-short-AF_INET6-sockaddr #{@__address.bytesize} bytes" unless parts[1]
      parts[2] == 0 ? parts[1].dup : "[#{parts[1]}]:#{parts[2]}"
    when Socket::AF_UNIX
      path = parts[1]
      return "empty-path-AF_UNIX-sockaddr" if path.empty?
      printable = path.b.match?(/\A[!-~]+\z/n)
      return "UNIX #{path.b.gsub(/[^!-~]/n) { |c| format("\\x%02x", c.ord) }}" unless printable
      path.start_with?("/") ? path.dup : "UNIX #{path}"
    when nil
      @__address.empty? ? "empty-sockaddr" : "too-#{@__address.bytesize < 2 ? "short" : "long"}-sockaddr"
    else
      name = Socket::Constants.__name("AF_", parts[0])
      rest = @__address.byteslice(2..).unpack1("H*")
      "#{name ? name.delete_prefix("AF_") : "unknown address family #{parts[0]}"}#{"[#{rest}]" unless rest.empty?}"
    end
  end

  def inspect
    s = +"#<Addrinfo: #{inspect_sockaddr}"
    if @__pfamily != afamily && @__pfamily != Socket::PF_UNSPEC
      s << " " << (Socket::Constants.__name("PF_", @__pfamily) || "PF_#{@__pfamily}")
    end
    ip = Socket::Constants.__ip?(@__pfamily)
    if ip && @__socktype == Socket::SOCK_STREAM && [0, Socket::IPPROTO_TCP].include?(@__protocol)
      s << " TCP"
    elsif ip && @__socktype == Socket::SOCK_DGRAM && [0, Socket::IPPROTO_UDP].include?(@__protocol)
      s << " UDP"
    else
      if @__socktype != 0
        s << " " << (Socket::Constants.__name("SOCK_", @__socktype) || "unknown socktype (#{@__socktype})")
      end
      if @__protocol != 0
        name = Socket::Constants.__name("IPPROTO_", @__protocol) if ip
        s << " " << (name ? name.delete_prefix("IPPROTO_") : "unknown protocol (#{@__protocol})")
      end
    end
    s << " #{@__canonname}" if @__canonname
    if @__inspect_name
      host, port = @__inspect_name
      host = nil if ip? && host == ip_address
      s << " (#{host}#{":#{port}" if port})" if host || port
    end
    s << ">"
  end

  def marshal_dump
    kind = Socket::Constants
    family = kind.__name("AF_", afamily)
    body = if ip?
      [ip_address, ip_port.to_s]
    elsif unix?
      unix_path
    else
      to_sockaddr
    end
    protocol = kind.__name("IPPROTO_", @__protocol) if @__protocol != 0 && kind.__ip?(@__pfamily)
    [family || afamily, body, kind.__name("PF_", @__pfamily) || @__pfamily,
     @__socktype == 0 ? 0 : kind.__name("SOCK_", @__socktype) || @__socktype,
     protocol || @__protocol, @__canonname, @__inspect_name]
  end

  def marshal_load(fields)
    family, body, pfamily, socktype, protocol, canonical, name = fields
    kind = Socket::Constants
    address = if String === family && kind.__ip?(kind.__family(family))
      Socket.__resolve(body[0], body[1], family, Socket::SOCK_STREAM, nil, Socket::AI_NUMERICHOST)[0][3]
    elsif family == "AF_UNIX"
      Socket.sockaddr_un(body)
    else
      KumiSys.to_str(body)
    end
    protocol = kind.const_get(protocol) if String === protocol && protocol.start_with?("IPPROTO_")
    __fill(address, kind.__family(pfamily), kind.__socktype(socktype), kind.__int(protocol), canonical, name)
  end

  private

  def __fill(address, pfamily, socktype, protocol, canonical = nil, name = nil)
    @__address = address
    @__parts = nil
    @__pfamily = pfamily
    @__socktype = socktype
    @__protocol = protocol
    @__canonname = canonical
    @__inspect_name = name
  end

  # [family name, port, host, ip] or [family name, path], as IPSocket#addr and UNIXSocket#addr give them.
  def __from_list(list, pfamily, socktype, protocol)
    kind = Socket::Constants
    family = kind.__family(KumiSys.to_str(list[0]))
    case family
    when Socket::AF_UNIX
      __fill(Socket.sockaddr_un(list[1]), pfamily || Socket::PF_UNIX, socktype == 0 ? Socket::SOCK_STREAM : socktype, 0)
    when Socket::AF_INET, Socket::AF_INET6
      port = list[1].nil? ? nil : kind.__int(list[1]).to_s
      host = list[2].nil? ? nil : KumiSys.to_str(list[2])
      type = socktype == 0 ? Socket::SOCK_DGRAM : socktype
      found = Socket.__resolve(KumiSys.to_str(list[3]), port, family, type, protocol, Socket::AI_NUMERICHOST)[0]
      __fill(found[3], pfamily || family, socktype, protocol, nil, host && [host, nil])
    else
      raise ArgumentError, "unexpected address family"
    end
  end

  def __parts = @__parts ||= __sockaddr_parts(@__address)

  def __ip_parts
    parts = __parts
    raise SocketError, "need IPv4 or IPv6 address" unless parts.size == 3
    parts
  end

  # The IPv4 address as a number, or nil.
  def __ipv4 = ipv4? && @__address.bytesize >= 8 ? @__address.byteslice(4, 4).unpack1("N") : nil

  def __ipv6
    return nil unless ipv6? && @__address.bytesize >= 24
    high, low = @__address.byteslice(8, 16).unpack("Q>2")
    high << 64 | low
  end

  def __ipv6_starts?(bits, value) = (n = __ipv6) ? n >> (128 - bits) == value : false
  def __ipv6_scope = @__address.getbyte(9) & 15

  def __connect(from, timeout)
    s = Socket.new(pfamily, socktype, protocol)
    done = false
    begin
      s.ipv6only! if from && from.ipv6?
      s.bind(from) if from && !(from.ip? && from.ip_port == 0 && from.ipv4? && from.ip_address == "0.0.0.0")
      Socket.__reach(s, self, timeout)
      return done = s unless block_given?
      yield s
    ensure
      s.close unless done || s.closed?
    end
  end

  def __with_socket(what, *args)
    s = Socket.new(pfamily, socktype, protocol)
    done = false
    begin
      s.ipv6only! if ipv6?
      s.setsockopt(:SOCKET, :REUSEADDR, 1)
      s.bind(self)
      s.listen(*args) if what == :listen
      return done = s unless block_given?
      yield s
    ensure
      s.close unless done || s.closed?
    end
  end
end
