# A server with a thread for each connection that sends back every line. Prints its port; ends at the end of input.
# Where a thread is not to be had it ends at once, so that the client need not wait for an answer.
# usage: echo_server.rb
require "socket"
server = TCPServer.new("127.0.0.1", 0)
server.listen(1024)
Thread.report_on_exception = false
Thread.new do
  loop do
    connection = server.accept
    Thread.new do
      while (line = connection.gets)
        connection.write(line)
      end
      connection.close
    end
  end
rescue Exception => error
  warn "#{error.class}: #{error.message}"
ensure
  exit!(1)
end
puts server.addr[1]
$stdout.flush
$stdin.read
exit!(0)
