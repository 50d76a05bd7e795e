# frozen_string_literal: true

require "net/protocol"
require "time"

module Net
  class FTPError < StandardError
  end

  # A reply that does not belong to the command; replies 4xx and 5xx; what is no reply; a lost connection.
  class FTPReplyError < FTPError
  end

  class FTPTempError < FTPError
  end

  class FTPPermError < FTPError
  end

  class FTPProtoError < FTPError
  end

  class FTPConnectionError < FTPError
  end

  # The FTP client (RFC 959, with EPRT and EPSV of RFC 2428).
  class FTP < Protocol
    VERSION = "0.3.9"
    FTP_PORT = 21
    CRLF = "\r\n"
    DEFAULT_BLOCKSIZE = BufferedIO::CHUNK
    @@default_passive = true

    class << self
      def default_passive = @@default_passive

      def default_passive=(on)
        @@default_passive = on
      end

      # A connection; with a block it is closed after it.
      def open(host, *args)
        return new(host, *args) unless block_given?
        ftp = new(host, *args)
        begin
          yield ftp
        ensure
          ftp.close
        end
      end
    end

    # The control connection before there is one.
    class NullSocket
      def closed? = true
      def read_timeout=(seconds)
      end

      def close = nil

      def method_missing(mid, *)
        raise FTPConnectionError, "not connected"
      end

      def respond_to_missing?(*) = false
    end

    # The control connection.
    class BufferedSocket < BufferedIO
      %i[local_address remote_address addr peeraddr send shutdown].each do |m|
        define_method(m) { |*args| @io.__send__(m, *args) }
      end

      def read(length = nil)
        return super(length, "".b, true) if length
        read_all("".b)
      end

      def gets
        line = readuntil("\n", true)
        line.empty? ? nil : line
      end

      def readline = gets || raise(EOFError, "end of file reached")
    end
    private_constant :NullSocket, :BufferedSocket

    attr_reader :binary, :read_timeout, :ssl_handshake_timeout, :welcome, :last_response, :last_response_code
    attr_accessor :passive, :use_pasv_ip, :debug_mode, :resume, :open_timeout
    alias lastresp last_response_code

    def initialize(host = nil, user_or_options = {}, passwd = nil, acct = nil)
      options = if user_or_options.respond_to?(:to_hash)
        user_or_options.to_hash
      else
        { username: user_or_options, password: passwd, account: acct }
      end
      raise LoadError, "FTP over TLS needs OpenSSL, which is not there" if options[:ssl]
      if options[:private_data_connection]
        raise ArgumentError, "private_data_connection can be set to true only when ssl is enabled"
      end
      @ssl_context = nil
      @private_data_connection = false
      @binary = true
      @passive = options.key?(:passive) ? options[:passive] : @@default_passive
      @debug_mode = options[:debug_mode] || false
      @resume = false
      @bare_sock = @sock = NullSocket.new
      @logged_in = false
      @open_timeout = options[:open_timeout]
      @ssl_handshake_timeout = options[:ssl_handshake_timeout]
      @read_timeout = options[:read_timeout] || 60
      @use_pasv_ip = options[:use_pasv_ip] || false
      return unless host
      connect(host, options[:port] || FTP_PORT)
      login(options[:username], options[:password], options[:account]) if options[:username]
    end
    private :initialize

    def binary=(on)
      return if @binary == on
      @binary = on
      send_type_command if @logged_in
    end

    def read_timeout=(seconds)
      @sock.read_timeout = seconds
      @read_timeout = seconds
    end

    def return_code
      warn "Net::FTP#return_code is obsolete and do nothing", uplevel: 0
      "\n"
    end

    def return_code=(_s)
      warn "Net::FTP#return_code= is obsolete and do nothing", uplevel: 0
    end

    # --- the connection ---

    def connect(host, port = FTP_PORT)
      debug("connect: #{host}:#{port}")
      @bare_sock = open_socket(host, port)
      @sock = BufferedSocket.new(@bare_sock, read_timeout: @read_timeout)
      voidresp
      nil
    end

    def set_socket(socket, get_greeting = true)
      @bare_sock = socket
      @sock = BufferedSocket.new(socket, read_timeout: @read_timeout)
      voidresp if get_greeting
    end

    def login(user = "anonymous", passwd = nil, acct = nil)
      passwd = "anonymous@" if user == "anonymous" && passwd.nil?
      reply = sendcmd("USER #{user}")
      if reply.start_with?("3")
        raise FTPReplyError, reply if passwd.nil?
        reply = sendcmd("PASS #{passwd}")
      end
      if reply.start_with?("3")
        raise FTPReplyError, reply if acct.nil?
        reply = sendcmd("ACCT #{acct}")
      end
      raise FTPReplyError, reply unless reply.start_with?("2")
      @welcome = reply
      send_type_command
      @logged_in = true
      nil
    end

    def close
      return nil if @sock.nil? || @sock.closed?
      begin
        @sock.shutdown(Socket::SHUT_WR) rescue nil
        before = @read_timeout
        self.read_timeout = 3
        @sock.read rescue nil
      ensure
        @sock.close
        @read_timeout = before
      end
      nil
    end

    def closed? = @sock.nil? || @sock.closed?
    def quit = voidcmd("QUIT")

    # --- commands and replies ---

    def sendcmd(cmd)
      putline(cmd)
      getresp
    end

    # A command that is answered by a success.
    def voidcmd(cmd)
      putline(cmd)
      voidresp
    end

    # --- transfers ---

    def retrbinary(cmd, blocksize, rest_offset = nil)
      with_type(true) do
        transfer(cmd, rest_offset) do |data|
          while (part = read_block(data, blocksize))
            yield part
          end
        end
      end
    end

    def retrlines(cmd)
      with_type(false) do
        transfer(cmd) do |data|
          while (line = data.gets)
            yield line.sub(/\r?\n\z/, ""), line.end_with?("\n")
          end
        end
      end
    end

    def storbinary(cmd, file, blocksize, rest_offset = nil)
      file.seek(rest_offset, IO::SEEK_SET) if rest_offset
      __store(cmd, true) do |data|
        while (part = file.read(blocksize))
          data.write(part)
          yield part if block_given?
        end
      end
    end

    def storlines(cmd, file)
      __store(cmd, false) do |data|
        while (line = file.gets)
          line = line.chomp + CRLF unless line.end_with?(CRLF)
          data.write(line)
          yield line if block_given?
        end
      end
    end

    def getbinaryfile(remotefile, localfile = File.basename(remotefile), blocksize = DEFAULT_BLOCKSIZE)
      offset = File.size?(localfile) if localfile && @resume
      file = File.open(localfile, offset ? "ab" : "wb") if localfile
      result = "".b unless localfile || block_given?
      retrbinary("RETR #{remotefile}", blocksize, offset) do |part|
        file&.write(part)
        yield part if block_given?
        result&.concat(part)
      end
      result
    ensure
      file&.close
    end

    def gettextfile(remotefile, localfile = File.basename(remotefile))
      file = File.open(localfile, "w") if localfile
      result = +"" unless localfile || block_given?
      retrlines("RETR #{remotefile}") do |line, newline|
        text = newline ? line + "\n" : line
        file&.print(text)
        yield line, newline if block_given?
        result&.concat(text)
      end
      result
    ensure
      file&.close
    end

    def get(remotefile, localfile = File.basename(remotefile), blocksize = DEFAULT_BLOCKSIZE, &block)
      @binary ? getbinaryfile(remotefile, localfile, blocksize, &block) : gettextfile(remotefile, localfile, &block)
    end

    def putbinaryfile(localfile, remotefile = File.basename(localfile), blocksize = DEFAULT_BLOCKSIZE, &block)
      if @resume
        begin
          offset = size(remotefile)
        rescue FTPPermError
          offset = nil
        end
      end
      File.open(localfile, "rb") do |f|
        storbinary("#{offset ? "APPE" : "STOR"} #{remotefile}", f, blocksize, offset, &block)
      end
      nil
    end

    def puttextfile(localfile, remotefile = File.basename(localfile), &block)
      File.open(localfile) { |f| storlines("STOR #{remotefile}", f, &block) }
      # Mainframes tell here what became of the file.
      @last_response
    end

    def put(localfile, remotefile = File.basename(localfile), blocksize = DEFAULT_BLOCKSIZE, &block)
      @binary ? putbinaryfile(localfile, remotefile, blocksize, &block) : puttextfile(localfile, remotefile, &block)
    end

    def nlst(dir = nil)
      lines = []
      retrlines(dir ? "NLST #{dir}" : "NLST") { |line| lines << line }
      lines
    end

    def list(*args)
      cmd = ["LIST", *args].join(" ")
      lines = []
      retrlines(cmd) { |line| lines << line }
      return lines unless block_given?
      lines.each { |line| yield line }
    end
    alias ls list
    alias dir list

    # --- files and folders ---

    def acct(account)
      voidcmd("ACCT #{account}")
    end

    def rename(from, to)
      reply = sendcmd("RNFR #{from}")
      raise FTPReplyError, reply unless reply.start_with?("3")
      voidcmd("RNTO #{to}")
    end

    def delete(filename)
      reply = sendcmd("DELE #{filename}")
      return nil if reply.start_with?("250")
      raise reply.start_with?("5") ? FTPPermError : FTPReplyError, reply
    end

    def chdir(dirname)
      if dirname == ".."
        begin
          return voidcmd("CDUP")
        rescue FTPPermError => e
          raise unless e.message.start_with?("500")
        end
      end
      voidcmd("CWD #{dirname}")
    end

    def size(filename)
      with_type(true) { body_of(sendcmd("SIZE #{filename}"), "213").to_i }
    end

    def mdtm(filename) = body_of(sendcmd("MDTM #{filename}"), "213")

    def mtime(filename, local = false)
      m = mdtm(filename).match(/\A(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\.\d+)?/) or
        raise FTPProtoError, "invalid time-val: #{@last_response}"
      fields = m.captures[0, 6].map(&:to_i)
      fields[5] += m[7].to_r if m[7]
      local ? Time.local(*fields) : Time.gm(*fields)
    end

    def mkdir(dirname) = quoted_path(sendcmd("MKD #{dirname}"))
    def rmdir(dirname) = voidcmd("RMD #{dirname}")
    def pwd = quoted_path(sendcmd("PWD"))
    alias getdir pwd

    def system = body_of(sendcmd("SYST"), "215")
    def status(pathname = nil) = sendcmd(pathname ? "STAT #{pathname}" : "STAT")
    def help(arg = nil) = sendcmd(arg ? "HELP #{arg}" : "HELP")
    def noop = voidcmd("NOOP")
    def site(arg) = voidcmd("SITE #{arg}")
    def features = sendcmd("FEAT").lines[1..-2].to_a.map(&:strip)
    def option(name, params = nil) = voidcmd(params ? "OPTS #{name} #{params}" : "OPTS #{name}")

    # Ends a transfer under way.
    def abort
      debug("put: ABOR")
      @sock.send("ABOR#{CRLF}", Socket::MSG_OOB)
      reply = getmultiline
      raise FTPProtoError, reply unless %w[426 226 225].include?(reply[0, 3])
      reply
    end

    private

    def debug(text)
      $stderr.puts(text) if @debug_mode
    end

    def open_socket(host, port)
      TCPSocket.open(host, port, open_timeout: @open_timeout)
    rescue IO::TimeoutError, Timeout::Error
      raise OpenTimeout, "Timeout to open TCP connection to #{host}:#{port} (exceeds #{@open_timeout} sec)"
    end

    def send_type_command
      voidcmd(@binary ? "TYPE I" : "TYPE A")
    end

    # Runs the block with transfers of that type.
    def with_type(binary)
      before = @binary
      self.binary = binary
      yield
    ensure
      self.binary = before if before != binary && !closed?
    end

    def putline(line)
      debug("put: #{line.start_with?("PASS ") ? "PASS ****" : line}")
      raise ArgumentError, "A line must not contain CR or LF" if line.match?(/[\r\n]/)
      @sock.write(line + CRLF)
    end

    def getline
      line = @sock.readline.sub(/\r?\n\z/, "")
      debug("get: #{line}")
      line
    end

    # A reply of one or more lines; the last one has the code of the first and no dash.
    def getmultiline
      line = getline
      lines = [line]
      if line[3] == "-"
        code = line[0, 3]
        begin
          line = getline
          lines << line
        end until line[0, 3] == code && line[3] != "-"
      end
      lines.join("\n") + "\n"
    end

    def getresp
      @last_response = getmultiline
      @last_response_code = @last_response[0, 3]
      case @last_response_code
      when /\A[123]/ then @last_response
      when /\A4/ then raise FTPTempError, @last_response
      when /\A5/ then raise FTPPermError, @last_response
      else raise FTPProtoError, @last_response
      end
    end

    def voidresp
      reply = getresp
      raise FTPReplyError, reply unless reply.start_with?("2")
    end

    def body_of(reply, code)
      raise FTPReplyError, reply unless reply.start_with?(code)
      reply[4..].to_s.strip
    end

    def quoted_path(reply)
      raise FTPReplyError, reply unless reply.start_with?("257")
      (reply[/"((?:[^"]|"")*)"/, 1] || "").gsub('""', '"')
    end

    # Sends what the block writes, in the type for binary data or for text.
    def __store(cmd, binary, &block)
      with_type(binary) { transfer(cmd, &block) }
    rescue Errno::EPIPE
      # The server has said why, unless it is a riddle.
      getresp
      raise
    end

    # Opens the data connection for a command, hands it to the block, and waits for the reply to the whole.
    def transfer(cmd, rest_offset = nil)
      data = @passive ? passive_data(cmd, rest_offset) : active_data(cmd, rest_offset)
      begin
        yield BufferedSocket.new(data, read_timeout: @read_timeout)
        data.shutdown(Socket::SHUT_WR) rescue nil
      ensure
        data.close
      end
      voidresp
    end

    def begin_transfer(cmd, rest_offset)
      if rest_offset
        reply = sendcmd("REST #{rest_offset}")
        raise FTPReplyError, reply unless reply.start_with?("3")
      end
      reply = sendcmd(cmd)
      # Some servers say that it is over when it begins.
      reply = getresp if reply.start_with?("2")
      raise FTPReplyError, reply unless reply.start_with?("1")
    end

    def passive_data(cmd, rest_offset)
      host, port = makepasv
      data = open_socket(host, port)
      begin_transfer(cmd, rest_offset)
      data
    rescue Exception
      data&.close
      raise
    end

    def active_data(cmd, rest_offset)
      server = makeport
      begin_transfer(cmd, rest_offset)
      server.timeout = @read_timeout
      server.accept
    ensure
      server&.close
    end

    def makeport
      server = TCPServer.new(@bare_sock.local_address.ip_address, 0)
      address = server.local_address
      if address.ipv4?
        host = address.ip_address.tr(".", ",")
        voidcmd("PORT #{host},#{address.ip_port >> 8},#{address.ip_port & 255}")
      else
        voidcmd("EPRT |2|#{address.ip_address}|#{address.ip_port}|")
      end
      server
    rescue Exception
      server&.close
      raise
    end

    # Where the server waits. An address that is not the server's own is not believed.
    def makepasv
      here = @bare_sock.remote_address
      unless here.ipv4?
        reply = sendcmd("EPSV")
        port = reply[/\((?<d>[!-~])\k<d>\k<d>(\d+)\k<d>\)/] && reply[/(\d+)[!-~]\)/, 1]
        raise FTPReplyError, reply unless reply.start_with?("229")
        raise FTPProtoError, reply unless port
        return [here.ip_address, port.to_i]
      end
      reply = sendcmd("PASV")
      raise FTPReplyError, reply unless reply.start_with?("227")
      m = reply.match(/(\d+),(\d+),(\d+),(\d+),(\d+),(\d+)/) or raise FTPProtoError, reply
      host = @use_pasv_ip ? m.captures[0, 4].join(".") : here.ip_address
      [host, m[5].to_i << 8 | m[6].to_i]
    end

    def read_block(data, size)
      part = data.read(size)
      part.empty? ? nil : part
    end
  end
end
