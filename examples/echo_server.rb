# An echo server: what a client sends comes back, line by line. A thread serves each client;
# threads are cheap, so thousands of clients are no problem.
#
#   kumi examples/echo_server.rb [PORT]        and then, elsewhere:  nc localhost 7007
require "socket"

port = Integer(ARGV.shift || 7007, exception: false) || abort("usage: kumi examples/echo_server.rb [PORT]")
server = TCPServer.new("127.0.0.1", port)
puts "listening on #{server.local_address.inspect_sockaddr}; Ctrl-C ends"

# Closing the server ends the loop below with an IOError.
trap("INT") { Thread.new { server.close } }

begin
  # `accept` waits for the next client, while the threads of the others go on.
  while (client = server.accept)
    Thread.new(client) do |c|
      from = c.remote_address.inspect_sockaddr
      puts "#{from} is here"
      # gets gives nil when the client has closed its side.
      while (line = c.gets)
        c.write(line)
      end
      puts "#{from} has left"
    rescue SystemCallError => e
      # A client that vanishes is no trouble for anybody else.
      puts "#{from}: #{e.message}"
    ensure
      c.close
    end
  end
rescue IOError
  puts "bye"
end
