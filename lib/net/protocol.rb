# frozen_string_literal: true

require "socket"
require "timeout"

# What the libraries of Internet protocols share: errors, limits of time, buffered connections.
module Net
  class ProtocolError < StandardError
  end

  class ProtoSyntaxError < ProtocolError
  end

  class ProtoFatalError < ProtocolError
  end

  class ProtoUnknownError < ProtocolError
  end

  class ProtoServerError < ProtocolError
  end

  class ProtoAuthError < ProtocolError
  end

  class ProtoCommandError < ProtocolError
  end

  class ProtoRetriableError < ProtocolError
  end
  ProtocRetryError = ProtoRetriableError

  # A connection did not open in time.
  class OpenTimeout < Timeout::Error
  end

  # Nothing came in time.
  class ReadTimeout < Timeout::Error
    attr_reader :io

    def initialize(io = nil)
      @io = io
    end

    def message = @io ? "#{super} with #{@io.inspect}" : super
  end

  # Nothing could be sent in time.
  class WriteTimeout < Timeout::Error
    attr_reader :io

    def initialize(io = nil)
      @io = io
    end

    def message = @io ? "#{super} with #{@io.inspect}" : super
  end

  class Protocol
    VERSION = "0.2.2"

    def self.protocol_param(name, value)
      define_method(name) { const_get(value) }
    end
    private_class_method :protocol_param

    def ssl_socket_connect(socket, timeout)
      socket.connect
    end
  end

  # A connection with a buffer for what was read, which waits no longer than it should.
  class BufferedIO
    CHUNK = 16 * 1024

    attr_reader :io
    attr_accessor :read_timeout, :write_timeout, :continue_timeout, :debug_output

    def initialize(io, read_timeout: 60, write_timeout: 60, continue_timeout: nil, debug_output: nil)
      @io = io
      @read_timeout = read_timeout
      @write_timeout = write_timeout
      @continue_timeout = continue_timeout
      @debug_output = debug_output
      @rbuf = String.new(encoding: Encoding::BINARY)
      @at = 0
    end

    def inspect = "#<#{self.class} io=#{@io}>"
    def closed? = @io.closed?
    def close = @io.close

    def eof?
      rest.empty? && @io.eof?
    end

    # `length` bytes appended to dest; EOFError when there are fewer, unless the end is to be ignored.
    def read(length, dest = "".b, ignore_eof = false)
      missing = length
      while missing > 0
        fill if rest_size == 0
        part = take([rest_size, missing].min)
        missing -= part.bytesize
        dest << part
      end
      dest
    rescue EOFError
      raise unless ignore_eof
      dest
    end

    def read_all(dest = "".b)
      while true
        dest << take(rest_size) if rest_size > 0
        fill
      end
    rescue EOFError
      dest
    end

    # What comes up to and with `terminator`; at most `limit` bytes.
    def readuntil(terminator, ignore_eof = false, limit: nil)
      from = @at
      until (found = @rbuf.byteindex(terminator, from))
        raise ProtocolError, "line too long" if limit && rest_size > limit
        seen = [rest_size - terminator.bytesize + 1, 0].max
        fill
        from = @at + seen
      end
      take(found + terminator.bytesize - @at)
    rescue EOFError
      raise unless ignore_eof
      take(rest_size)
    end

    def readline = readuntil("\n").chop

    def write(*strings)
      strings.sum { |s| write_all(s) }
    end
    alias << write

    def writeline(s) = write(s, "\r\n")

    private

    def rest_size = @rbuf.bytesize - @at
    def rest = @rbuf.byteslice(@at..)

    def take(n)
      s = @rbuf.byteslice(@at, n)
      @at += n
      if @at == @rbuf.bytesize
        @rbuf.clear
        @at = 0
      end
      @debug_output << "-> #{s.dump}\n" if @debug_output
      s
    end

    def fill
      if @at > 0
        @rbuf = @rbuf.byteslice(@at..)
        @at = 0
      end
      while true
        s = @io.read_nonblock(CHUNK, exception: false)
        case s
        when String
          return @rbuf << s
        when :wait_readable
          @io.to_io.wait_readable(@read_timeout) or raise ReadTimeout.new(@io)
        when :wait_writable
          @io.to_io.wait_writable(@read_timeout) or raise ReadTimeout.new(@io)
        else
          raise EOFError, "end of file reached"
        end
      end
    end

    def write_all(s)
      s = s.to_s
      @debug_output << "<- #{s.dump}\n" if @debug_output
      unless @io.respond_to?(:write_nonblock) && @io.respond_to?(:to_io)
        @io.write(s)
        return s.bytesize
      end
      left = s.b
      until left.empty?
        n = @io.write_nonblock(left, exception: false)
        case n
        when Integer
          left = left.byteslice(n..)
        when :wait_readable
          @io.to_io.wait_readable(@write_timeout) or raise WriteTimeout.new(@io)
        else
          @io.to_io.wait_writable(@write_timeout) or raise WriteTimeout.new(@io)
        end
      end
      s.bytesize
    end
  end

  # Messages as SMTP and POP send them (RFC 5321, 4.5.2): lines that end with CRLF, a further dot before each that begins with one, and a line
  # with a dot alone at the end.
  class InternetMessageIO < BufferedIO
    ENDS = ".\r\n"
    private_constant :ENDS

    # Lines of a message that comes, as they were.
    def each_message_chunk
      while (line = readuntil("\r\n")) != ENDS
        yield line.delete_prefix(".")
      end
    end

    # Lines of a list that comes, without their ends.
    def each_list_item
      while (line = readuntil("\r\n")) != ENDS
        yield line.delete_suffix("\r\n")
      end
    end

    # Writes a String, or what `each` of the source gives, without the end. The number of bytes.
    def write_message_0(source)
      write_lines { |out| source.respond_to?(:each) ? source.each { |part| out << part } : out << source }
    end

    # The same with the end.
    def write_message(source) = write_end(write_message_0(source))

    # The block is given something to write to.
    def write_message_by_block
      write_end(write_lines { |out| yield WriteAdapter.new(out.method(:<<)) })
    end

    private

    # A message has one line at least.
    def write_end(written) = written + (written.zero? ? write("\r\n", ENDS) : write(ENDS))

    def write_lines
      lines = Lines.new(self)
      yield lines
      lines.finish
    end

    # Pieces become lines.
    class Lines
      def initialize(io)
        @io = io
        @rest = "".b
        @written = 0
      end

      def <<(part)
        @rest << part.b
        # What ends with CR may go on with LF.
        while (found = @rest.match(/\r\n|\n|\r(?!\z)/n))
          line(found.pre_match)
          @rest = found.post_match
        end
        self
      end

      def finish
        line(@rest.delete_suffix("\r")) unless @rest.empty?
        @written
      end

      private

      def line(text) = @written += @io.write("#{"." if text.start_with?(".")}#{text}\r\n")
    end
    private_constant :Lines
  end

  # Something to write to that hands every piece to a method.
  class WriteAdapter
    def initialize(writer)
      @writer = writer
    end

    def write(s) = @writer.call(s)
    alias print write

    def <<(s)
      write(s)
      self
    end

    def puts(s = "") = write(s.chomp("\n") + "\n")
    def printf(*args) = write(format(*args))
    def inspect = "#<#{self.class} writer=#{@writer.inspect}>"
  end

  # Something to append to that hands every piece to a block.
  class ReadAdapter
    def initialize(block)
      @block = block
    end

    def <<(s)
      @block&.call(s)
      self
    end

    def inspect = "#<#{self.class}>"
  end
end
