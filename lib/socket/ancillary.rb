# frozen_string_literal: true

class Socket
  # A control message, which travels beside the data: passed descriptors, times, packet information.
  class AncillaryData
    class << self
      def int(family, level, type, n) = new(family, level, type, [Constants.__int(n)].pack("i"))

      def unix_rights(*ios)
        ios.each { |io| raise TypeError, "IO expected" unless IO === io }
        a = new(AF_UNIX, SOL_SOCKET, SCM_RIGHTS, ios.map(&:fileno).pack("i*"))
        a.instance_variable_set(:@__ios, ios)
        a
      end

      def ip_pktinfo(address, index, destination = address)
        data = [Constants.__int(index)].pack("i") + __ipv4(destination) + __ipv4(address)
        new(AF_INET, IPPROTO_IP, IP_PKTINFO, data)
      end

      def ipv6_pktinfo(address, index)
        raise ArgumentError, "addr is not AF_INET6 address" unless address.ipv6?
        new(AF_INET6, IPPROTO_IPV6, IPV6_PKTINFO, address.to_sockaddr.byteslice(8, 16) + [Constants.__int(index)].pack("I"))
      end

      private

      def __ipv4(address)
        raise ArgumentError, "addr is not AF_INET address" unless address.ipv4?
        address.to_sockaddr.byteslice(4, 4)
      end
    end

    attr_reader :family, :level, :type, :data

    def initialize(family, level, type, data)
      @family = Constants.__family(family)
      @level = Constants.__level(@family, level)
      @type = Constants.__control(@family, @level, type)
      @data = KumiSys.to_str(data)
    end

    def cmsg_is?(level, type)
      level = Constants.__level(@family, level)
      type = Constants.__control(@family, level, type)
      level == @level && type == @type
    end

    def int
      raise TypeError, "size differ.  expected as sizeof(int)=4 but #{@data.bytesize}" if @data.bytesize != 4
      @data.unpack1("i")
    end

    def unix_rights
      unless @level == SOL_SOCKET && @type == SCM_RIGHTS
        raise TypeError, "SCM_RIGHTS ancillary data expected"
      end
      @__ios
    end

    def timestamp
      if @level == SOL_SOCKET && @data.bytesize == 16
        seconds, rest = @data.unpack("qq")
        return Time.at(seconds, rest) if @type == SCM_TIMESTAMP
        return Time.at(seconds, rest, :nsec) if @type == SCM_TIMESTAMPNS
      end
      raise TypeError, "timestamp ancillary data expected"
    end

    def ip_pktinfo
      unless @level == IPPROTO_IP && @type == IP_PKTINFO && @data.bytesize == 12
        raise TypeError, "IP_PKTINFO ancillary data expected"
      end
      index, destination, source = @data.unpack("ia4a4")
      [__ipv4_info(source), index, __ipv4_info(destination)]
    end

    def ipv6_pktinfo
      unless @level == IPPROTO_IPV6 && @type == IPV6_PKTINFO && @data.bytesize == 20
        raise TypeError, "IPV6_PKTINFO ancillary data expected"
      end
      ip, index = @data.unpack("a16I")
      [Addrinfo.__make(Socket.__inet(ip, 0), PF_INET6, 0, 0), index]
    end

    def ipv6_pktinfo_addr = ipv6_pktinfo[0]
    def ipv6_pktinfo_ifindex = ipv6_pktinfo[1]

    def inspect
      names = Constants
      level, type = if @level == SOL_SOCKET
        ["SOCKET", names.__name("SCM_", @type)&.delete_prefix("SCM_")]
      elsif names.__ip?(@family)
        prefix = names.__prefix(@level)
        [names.__name("IPPROTO_", @level)&.delete_prefix("IPPROTO_"),
         prefix && names.__name(prefix, @type)&.delete_prefix(prefix)]
      end
      family = names.__name("AF_", @family)&.delete_prefix("AF_") || "family:#{@family}"
      "#<#{self.class}: #{family} #{level || "cmsg_level:#{@level}"} #{type || "cmsg_type:#{@type}"} #{__shown}>"
    end

    # The descriptors that came with it become streams.
    def __open_rights
      @__ios = @data.unpack("i*").map { |fd| __socket_fd?(fd) ? Socket.for_fd(fd) : IO.for_fd(fd) }
    end

    private

    def __ipv4_info(ip) = Addrinfo.__make(Socket.__inet(ip, 0), PF_INET, 0, 0)

    def __socket_fd?(fd)
      s = IO.for_fd(fd, autoclose: false)
      s.stat.socket?
    end

    def __shown
      if @level == SOL_SOCKET && @type == SCM_RIGHTS
        @__ios ? @__ios.map(&:inspect).join(" ") : @data.unpack("i*").join(" ")
      elsif @level == SOL_SOCKET && (@type == SCM_TIMESTAMP || @type == SCM_TIMESTAMPNS) && @data.bytesize == 16
        timestamp.strftime(@type == SCM_TIMESTAMP ? "%F %T.%6N" : "%F %T.%9N")
      elsif @level == IPPROTO_IP && @type == IP_PKTINFO && @data.bytesize == 12
        address, index, destination = ip_pktinfo
        "#{address.ip_address} #{Ifaddr.__name_of(index)} spec_dst:#{destination.ip_address}"
      elsif @level == IPPROTO_IPV6 && @type == IPV6_PKTINFO && @data.bytesize == 20
        address, index = ipv6_pktinfo
        "#{address.ip_address} #{Ifaddr.__name_of(index)}"
      elsif @data.bytesize == 4
        int.to_s
      else
        @data.dump
      end
    end
  end
end
