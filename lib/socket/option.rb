# frozen_string_literal: true

class Socket
  # An option of a socket: what setsockopt sets and getsockopt gives.
  class Option
    class << self
      def int(family, level, optname, n) = new(family, level, optname, [Constants.__int(n)].pack("i"))
      def bool(family, level, optname, on) = new(family, level, optname, [on ? 1 : 0].pack("i"))
      def byte(family, level, optname, n) = new(family, level, optname, [Constants.__int(n)].pack("C"))

      def linger(onoff, seconds)
        onoff = onoff ? 1 : 0 unless Integer === onoff
        new(:UNSPEC, :SOCKET, :LINGER, [onoff, Constants.__int(seconds)].pack("ii"))
      end

      def ipv4_multicast_ttl(n) = int(:INET, :IP, :MULTICAST_TTL, n)
      def ipv4_multicast_loop(n) = int(:INET, :IP, :MULTICAST_LOOP, n)
    end

    attr_reader :family, :level, :optname, :data
    alias to_s data

    def initialize(family, level, optname, data)
      @family = Constants.__family(family)
      @level = Constants.__level(@family, level)
      @optname = Constants.__option(@family, @level, optname)
      @data = KumiSys.to_str(data)
    end

    def int = __fixed("i", "sizeof(int)", 4)[0]
    def byte = __fixed("C", "sizeof(char)", 1)[0]

    def bool
      return @data.getbyte(0) != 0 if @data.bytesize == 1
      int != 0
    end

    def linger
      raise TypeError, "linger socket option expected" unless @level == SOL_SOCKET && @optname == SO_LINGER
      onoff, seconds = __fixed("ii", "sizeof(struct linger)", 8)
      [onoff == 0 ? false : onoff == 1 ? true : onoff, seconds]
    end

    def ipv4_multicast_ttl
      raise TypeError, "ipv4_multicast_ttl socket option expected" unless __ip_option?(IP_MULTICAST_TTL)
      @data.bytesize == 1 ? byte : int
    end

    def ipv4_multicast_loop
      raise TypeError, "ipv4_multicast_loop socket option expected" unless __ip_option?(IP_MULTICAST_LOOP)
      @data.bytesize == 1 ? byte : int
    end

    def unpack(template) = @data.unpack(template)

    def inspect
      names = Constants
      level, name = if @level == SOL_SOCKET
        ["SOCKET", names.__name("SO_", @optname)&.delete_prefix("SO_")]
      elsif names.__ip?(@family)
        prefix = names.__prefix(@level)
        [names.__name("IPPROTO_", @level)&.delete_prefix("IPPROTO_"),
         prefix && names.__name(prefix, @optname)&.delete_prefix(prefix)]
      end
      family = names.__name("AF_", @family)&.delete_prefix("AF_") || "family:#{@family}"
      "#<#{self.class}: #{family} #{level || "level:#{@level}"} #{name || "optname:#{@optname}"} #{__shown}>"
    end

    private

    def __ip_option?(name) = @family == AF_INET && @level == IPPROTO_IP && @optname == name

    def __fixed(template, what, size)
      if @data.bytesize != size
        raise TypeError, "size differ.  expected as #{what}=#{size} but #{@data.bytesize}"
      end
      @data.unpack(template)
    end

    def __shown
      size = @data.bytesize
      if @level == SOL_SOCKET
        case @optname
        when SO_LINGER
          if size == 8
            on, seconds = @data.unpack("ii")
            return "#{on == 0 ? "off" : on == 1 ? "on" : "on(#{on})"} #{seconds}sec"
          end
        when SO_RCVTIMEO, SO_SNDTIMEO
          return format("%d.%06dsec", *@data.unpack("qq")) if size == 16
        when SO_TYPE
          return Constants.__name("SOCK_", int) || int.to_s if size == 4
        when SO_ERROR
          return "#{SystemCallError.new(int).message} (#{int})" if size == 4
        when SO_PEERCRED
          return format("pid=%u euid=%u egid=%u", *@data.unpack("iii")) if size == 12
        end
      end
      size == 4 ? int.to_s : @data.dump
    end
  end
end
