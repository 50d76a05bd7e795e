# frozen_string_literal: true

# Reaching the other end: one address, or the first that answers of several (RFC 8305, "Happy Eyeballs").
class Socket
  # Head start of one address over the next, in seconds.
  CONNECTION_ATTEMPT_DELAY = 0.25
  private_constant :CONNECTION_ATTEMPT_DELAY

  @__racing = true

  class << self
    # Do addresses race for a connection?
    def tcp_fast_fallback = Socket.instance_variable_get(:@__racing)

    def tcp_fast_fallback=(on)
      Socket.instance_variable_set(:@__racing, on)
    end

    # Connects a socket: 0, the number of an error, or nil when the deadline (monotonic ns) has passed.
    def __connect(socket, address, deadline = nil)
      while true
        e = __sock_connect(socket, address)
        case e
        when Errno::EINPROGRESS::Errno, Errno::EALREADY::Errno
          return nil unless __sock_wait(socket, false, true, deadline)
          return __sock_error(socket)
        when Errno::EAGAIN::Errno
          # A UNIX server whose queue is full: there is nothing to wait on.
          return nil if deadline && __now_ns >= deadline
          sleep 0.002
        else
          return e
        end
      end
    end

    # Connects to an Addrinfo, or raises.
    def __reach(socket, address, timeout)
      e = __connect(socket, address.to_sockaddr, __deadline(timeout))
      raise Errno::ETIMEDOUT, "user specified timeout" if e.nil?
      raise SystemCallError.new("connect(2) for #{address.inspect_sockaddr}", e) if e != 0
    end

    def __deadline(seconds)
      return nil if seconds.nil?
      raise ArgumentError, "time interval must not be negative" if seconds < 0
      __now_ns + (seconds * 1_000_000_000).to_i
    end

    # A connected socket of class `kind` to the first of `addresses` (as __resolve gives them) that answers.
    # `locals` are addresses to bind to first. `connect_timeout` counts for each attempt, `deadline` for all.
    # Yields the error number (nil: too late) and the address when none does; what the block raises is raised.
    def __first_of(kind, addresses, locals, connect_timeout, deadline, racing)
      waiting = racing ? __alternate(addresses) : addresses.dup
      attempts = {}
      error = address = nil
      next_start = 0
      winner = nil
      until winner || waiting.empty? && attempts.empty?
        now = __now_ns
        if !waiting.empty? && (attempts.empty? || now >= next_start)
          candidate = waiting.shift
          s, e = __start(kind, candidate, locals)
          if e == 0
            winner = s
          elsif e == Errno::EINPROGRESS::Errno
            attempts[s] = [candidate, [__deadline(connect_timeout), deadline].compact.min]
            next_start = racing ? now + (CONNECTION_ATTEMPT_DELAY * 1_000_000_000).to_i : __far
          else
            s&.close
            error = e
            address = candidate
          end
          next
        end
        ends = attempts.values.filter_map { |a| a[1] }
        ends << next_start unless waiting.empty? || next_start == __far
        s = __await(attempts, ends.min)
        if s
          candidate, = attempts.delete(s)
          e = __sock_error(s)
          if e == 0
            winner = s
          else
            s.close
            error = e
            address = candidate
            next_start = 0
          end
        else
          now = __now_ns
          attempts.select { |_, a| a[1] && a[1] <= now }.each do |late, a|
            attempts.delete(late)
            late.close
            error = nil
            address = a[0]
            next_start = 0
          end
          break if deadline && now >= deadline
        end
      end
      return winner if winner
      yield error, address
    ensure
      attempts&.each_key { |s| s.close unless s.equal?(winner) }
    end

    private

    def __far = 1 << 62

    # Families in turn, the first one first.
    def __alternate(addresses)
      first, others = addresses.partition { |a| a[0] == addresses[0][0] }
      first.zip(others).flatten(1).compact + (others[first.size..] || [])
    end

    # A socket that begins to connect, and the error number.
    def __start(kind, candidate, locals)
      family, type, protocol, address = candidate
      s = kind.allocate
      begin
        __sock_socket(s, family, type, protocol)
      rescue SystemCallError => e
        return nil, e.errno
      end
      s.__send__(:__made)
      if locals
        local = locals.find { |l| l[0] == family }
        unless local
          s.close
          return nil, Errno::EAFNOSUPPORT::Errno
        end
        s.setsockopt(SOL_SOCKET, SO_REUSEADDR, 1)
        e = __sock_bind(s, local[3])
        return s, e if e != 0
      end
      [s, __sock_connect(s, address)]
    end

    # The attempt that is decided first, or nil at the end of the time.
    def __await(attempts, deadline)
      if attempts.size == 1
        s = attempts.first[0]
        return __sock_wait(s, false, true, deadline) ? s : nil
      end
      seconds = deadline && [deadline - __now_ns, 0].max / 1e9
      ready = IO.select(nil, attempts.keys, nil, seconds)
      ready && ready[1][0]
    end
  end
end
