# frozen_string_literal: true

class Socket
  # The system's numbers, here and in Socket itself.
  module Constants
  end

  __sock_constants.each_slice(2) do |name, number|
    Constants.const_set(name, number)
    const_set(name, number)
  end

  # How arguments name a number: "INET", :AF_INET or 2 for a family, and so on.
  module Constants
    class << self
      def __family(x) = __number(x, "unknown socket domain", "AF_", "PF_")
      def __socktype(x) = __number(x, "unknown socket type", "SOCK_")
      def __how(x) = __number(x, "unknown shutdown argument", "SHUT_")

      def __level(family, x)
        return __number(x, "unknown protocol level", "SOL_", "IPPROTO_") if __ip?(family)
        level = __number(x, "unknown protocol level", "SOL_")
        raise SocketError, "unknown protocol level: #{x}" unless Integer === x || level == SOL_SOCKET
        level
      end

      def __option(family, level, x)
        return __number(x, "unknown socket level option name", "SO_") if level == SOL_SOCKET
        prefix = __prefix(level) if __ip?(family)
        prefix ? __number(x, "unknown #{prefix.chop} level option name", prefix) : __int(x)
      end

      def __control(family, level, x)
        return __number(x, "unknown UNIX control message", "SCM_") if level == SOL_SOCKET
        prefix = __prefix(level) if __ip?(family)
        prefix ? __number(x, "unknown #{prefix.chop} control message", prefix) : __int(x)
      end

      # "AF_INET" of 2: the name with that prefix, or nil.
      def __name(prefix, number)
        @names ||= {}
        names = @names[prefix] ||= begin
          found = {}
          constants.each do |c|
            s = c.name
            next if !s.start_with?(prefix) || s.start_with?("IP_PMTUDISC", "IP_DEFAULT", "IP_MAX")
            # Of two names the one that says more.
            found[const_get(c)] ||= s unless s.end_with?("_LOCAL", "_ROUTE", "_MAX", "_HOPOPTS")
          end
          found
        end
        names[number]
      end

      # The option prefix of a protocol level.
      def __prefix(level)
        case level
        when IPPROTO_IP then "IP_"
        when IPPROTO_IPV6 then "IPV6_"
        when IPPROTO_TCP then "TCP_"
        when IPPROTO_UDP then "UDP_"
        end
      end

      def __ip?(family) = family == AF_INET || family == AF_INET6

      def __int(x)
        return x if Integer === x
        KumiSys.to_int(x)
      end

      private

      def __number(x, complaint, *prefixes)
        case x
        when Integer then return x
        when Symbol then name = x.name
        else
          name = String.try_convert(x)
          return __int(x) unless name
        end
        prefixes.each do |p|
          full = name.start_with?(p) ? name : p + name
          return const_get(full) if full.match?(/\A[A-Z0-9_]+\z/) && const_defined?(full, false)
        end
        raise SocketError, "#{complaint}: #{name}"
      end
    end
  end
end
