# frozen_string_literal: true

# Names of hosts and services, packed addresses, interfaces.
class Socket
  class << self
    def sockaddr_in(port, host)
      __resolve(host, port, nil, SOCK_STREAM)[0][3]
    end
    alias pack_sockaddr_in sockaddr_in

    def sockaddr_un(path) = __sockaddr_un(KumiSys.to_str(path))
    alias pack_sockaddr_un sockaddr_un

    def unpack_sockaddr_in(address)
      parts = __sockaddr_parts(__sockaddr(address))
      raise ArgumentError, "not an AF_INET/AF_INET6 sockaddr" unless parts.size == 3
      [parts[2], parts[1]]
    end

    def unpack_sockaddr_un(address)
      parts = __sockaddr_parts(__sockaddr(address))
      raise ArgumentError, "not an AF_UNIX sockaddr" unless parts[0] == AF_UNIX
      parts[1]
    end

    def gethostname = __gethostname

    def getaddrinfo(host, service, family = nil, socktype = nil, protocol = nil, flags = nil, reverse_lookup = nil)
      numeric = __numeric?(reverse_lookup, BasicSocket.do_not_reverse_lookup)
      __resolve(host, service, family, socktype, protocol, flags).map do |pf, type, proto, address, _|
        name, port, shown, ip = __ip_array(address, numeric)
        [name, port, shown, ip, pf, type, proto]
      end
    end

    def getnameinfo(address, flags = 0)
      flags = Constants.__int(flags)
      if (list = Array.try_convert(address))
        unless list.size == 3 || list.size == 4
          raise ArgumentError, "array size should be 3 or 4, #{list.size} given"
        end
        family, port, host, numeric = list
        family = family.nil? ? AF_UNSPEC : Constants.__family(family)
        type = flags & NI_DGRAM != 0 ? SOCK_DGRAM : SOCK_STREAM
        address = __resolve(numeric || host, port, family, type, nil, nil)[0][3]
      else
        address = __sockaddr(address)
      end
      __name_info(address, flags)
    end

    def gethostbyname(name)
      warn("Socket.gethostbyname is deprecated; use Addrinfo.getaddrinfo instead.", uplevel: 0, category: :deprecated)
      list = __resolve(name, nil, nil, SOCK_STREAM, nil, AI_CANONNAME)
      family = list[0][0]
      packed = list.filter_map { |pf, _, _, address, _| __packed(address) if pf == family }
      [list[0][4] || __host(name), [], family, *packed]
    end

    def gethostbyaddr(packed, family = nil)
      warn("Socket.gethostbyaddr is deprecated; use Addrinfo#getnameinfo instead.", uplevel: 0, category: :deprecated)
      packed = KumiSys.to_str(packed)
      size = packed.bytesize
      family = family.nil? ? (size == 16 ? AF_INET6 : AF_INET) : Constants.__family(family)
      raise SocketError, "host not found" unless size == (family == AF_INET6 ? 16 : 4)
      r = __getnameinfo(__inet(packed, 0), NI_NAMEREQD)
      raise SocketError, "host not found" if Integer === r
      [r[0], [], family, packed]
    end

    def getservbyname(service, protocol = "tcp")
      service = KumiSys.to_str(service)
      protocol = KumiSys.to_str(protocol)
      port = __servbyname(service, protocol)
      port ||= Integer(service, exception: false) if service.match?(/\A\d+\z/)
      port or raise SocketError, "no such service #{service}/#{protocol}"
    end

    def getservbyport(port, protocol = "tcp")
      port = Constants.__int(port)
      raise SocketError, "invalid port number #{port}/#{protocol}" unless port.between?(0, 65535)
      __servbyport(port, KumiSys.to_str(protocol)) or raise SocketError, "no such service for port #{port}/#{protocol}"
    end

    def getifaddrs = __getifaddrs.map { |row| Ifaddr.__send__(:new, *row) }

    def ip_address_list
      getifaddrs.filter_map do |i|
        a = i.addr
        Addrinfo.__make(a.to_sockaddr, a.pfamily, 0, 0) if a&.ip?
      end
    end

    # --- for the other files of this library ---

    # The system's address of an Addrinfo or a String.
    def __sockaddr(x)
      return x.to_sockaddr if Addrinfo === x
      KumiSys.to_str(x)
    end

    # Addresses of a host and a service, each [family, socktype, protocol, address, canonical name].
    # `timeout` ends a lookup that takes longer, in seconds.
    def __resolve(host, service, family = nil, socktype = nil, protocol = nil, flags = nil, timeout = nil)
      host = __host(host)
      service = __service(service)
      family = family.nil? ? AF_UNSPEC : Constants.__family(family)
      socktype = socktype.nil? ? 0 : Constants.__socktype(socktype)
      protocol = protocol.nil? ? 0 : Constants.__int(protocol)
      flags = flags.nil? ? 0 : Constants.__int(flags)
      # The system knows no services of raw sockets, but has ports for them.
      if socktype == SOCK_RAW && service&.match?(/\A\d+\z/)
        port = service.to_i & 0xffff
        service = nil
        host ||= flags & AI_PASSIVE != 0 ? "0.0.0.0" : "127.0.0.1"
      end
      r = if timeout
        __within(timeout) { __getaddrinfo(host, service, family, socktype, protocol, flags) }
      else
        __getaddrinfo(host, service, family, socktype, protocol, flags)
      end
      r.each { |a| a[3] = __inet(__packed(a[3]), port) } if port && Array === r
      return r unless Integer === r
      raise ResolutionError.new("getaddrinfo(3): #{__gai_strerror(r)}", r)
    end

    def __name_info(address, flags)
      r = __getnameinfo(address, flags)
      return r unless Integer === r
      raise ResolutionError.new("getnameinfo: #{__gai_strerror(r)}", r)
    end

    # ["AF_INET", port, host, ip]
    def __ip_array(address, numeric)
      family, ip, port = __sockaddr_parts(address)
      name = Constants.__name("AF_", family) || "unknown:#{family}"
      return [name, port, nil, nil] unless ip
      shown = ip
      unless numeric
        r = __getnameinfo(address, NI_NUMERICSERV)
        shown = r[0] if Array === r
      end
      [name, port, shown.dup, ip]
    end

    # ["AF_UNIX", path]
    def __unix_array(address)
      parts = address ? __sockaddr_parts(address) : []
      ["AF_UNIX", parts[0] == AF_UNIX ? parts[1] : ""]
    end

    # Do addresses stay numbers? By an argument true, false, :hostname, :numeric, or by default.
    def __numeric?(flag, default)
      case flag
      when nil then default
      when true, :hostname then false
      when false, :numeric then true
      when Symbol then raise ArgumentError, "invalid reverse_lookup flag: #{flag.inspect}"
      else raise TypeError, "wrong argument type #{flag.class} (expected true, false, :hostname, or :numeric)"
      end
    end

    # A packed IPv4 or IPv6 address as an address of the system.
    def __inet(packed, port)
      return [AF_INET, port, packed].pack("Sna4x8") if packed.bytesize == 4
      [AF_INET6, port, 0, packed, 0].pack("SnNa16L")
    end

    def __packed(address)
      address.unpack1("S") == AF_INET6 ? address.byteslice(8, 16) : address.byteslice(4, 4)
    end

    def __not_ready(call, exception)
      unless exception == true || exception == false
        raise ArgumentError, "expected true or false as exception: #{exception.inspect}"
      end
      return :wait_readable unless exception
      raise IO::EAGAINWaitReadable, "#{call} would block"
    end

    private

    def __host(host)
      case host
      when nil then nil
      when Integer then [host & 0xffff_ffff].pack("N").unpack("C4").join(".")
      else
        host = KumiSys.to_str(host)
        case host
        when "", "<any>" then "0.0.0.0"
        when "<broadcast>" then "255.255.255.255"
        else host
        end
      end
    end

    def __service(service)
      case service
      when nil then nil
      when Integer then service.to_s
      else KumiSys.to_str(service)
      end
    end

    def __within(seconds)
      require "timeout"
      Timeout.timeout(seconds, IO::TimeoutError, "user specified timeout") { yield }
    end
  end

  # A network interface, or one of its addresses.
  class Ifaddr
    class << self
      def __name_of(index)
        row = __getifaddrs.find { |r| r[1] == index }
        row ? row[0] : "ifindex:#{index}"
      end

      private :new
    end

    attr_reader :name, :ifindex, :flags

    def initialize(name, index, flags, address, netmask, other)
      @name = name
      @ifindex = index
      @flags = flags
      @address = address
      @netmask = netmask
      @other = other
    end

    def addr = __addrinfo(@address)
    def netmask = __addrinfo(@netmask)
    def broadaddr = @flags & IFF_BROADCAST != 0 ? __addrinfo(@other) : nil
    def dstaddr = @flags & IFF_POINTOPOINT != 0 ? __addrinfo(@other) : nil

    def vhid
      raise NotImplementedError, "vhid() function is unimplemented on this machine"
    end

    def inspect
      s = +"#<Socket::Ifaddr #{@name}"
      rest = @flags
      names = Constants.constants.select { |c| c.start_with?("IFF_") }.sort_by { |c| Constants.const_get(c) }.filter_map do |c|
        bit = Constants.const_get(c)
        if rest & bit != 0
          rest &= ~bit
          c.name.delete_prefix("IFF_")
        end
      end
      names << format("%#x", rest) if rest != 0
      s << " " << names.join(",") unless names.empty?
      s << " " << addr.inspect_sockaddr if addr
      s << " netmask=" << netmask.inspect_sockaddr if netmask
      s << " broadcast=" << broadaddr.inspect_sockaddr if broadaddr
      s << " dstaddr=" << dstaddr.inspect_sockaddr if dstaddr
      s << ">"
    end

    private

    def __addrinfo(address) = address && Addrinfo.__make(address, address.unpack1("S"), 0, 0)
  end
end
