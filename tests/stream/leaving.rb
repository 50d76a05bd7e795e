# However a reading ends: no connection, no task is left, within a second and without GC.start.
require "socket"
require "timeout"
require_relative "../support/table"

# Serves rows for ever, and counts its connections.
SERVER = TCPServer.new("127.0.0.1", 0)
OPEN = Queue.new
SERVING = Thread.new do
  loop do
    c = SERVER.accept
    Thread.new(c) do |io|
      OPEN << 1
      nil until io.gets.to_s.strip.empty?
      io << "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n<t>"
      i = 0
      loop do
        io << "<r><k>#{i += 1}</k></r>" * 10
        io.flush
        sleep 0.005
      end
    rescue IOError, SystemCallError
    ensure
      OPEN.pop
      io.close
    end
  end
end
URL = "http://127.0.0.1:#{SERVER.addr[1]}/"

def sockets = Dir.children("/proc/self/fd").count { |fd| File.readlink("/proc/self/fd/#{fd}").start_with?("socket:") rescue false }
def quiet?(threads, fds) = OPEN.empty? && Thread.list.size == threads && sockets == fds && Kumihimo::XML.stat[:open] == 0

sleep 0.01 until SERVING.stop?
THREADS = Thread.list.size
FDS = sockets

def check(what)
  yield
  # Turns and no clock: a machine that stands still for seconds costs one of them.
  turns = ENV["KUMI_GC_STRESS"] || ENV["KUMI_SCHED_STRESS"] || ENV["KUMI_TLH_STRESS"] ? 3000 : 300
  turns.times { quiet?(THREADS, FDS) ? break : sleep(0.01) }
  puts "#{what}: #{quiet?(THREADS, FDS) ? 'nothing left' : [OPEN.size, Thread.list.size - THREADS, sockets - FDS, Kumihimo::XML.stat].inspect}"
end

def rows(&block) = Kumihimo::XML.each(URL, "/t/r", Row, proxy: false, &block)

check("break") { rows { |r| break if r.k > 3 } }
check("return") { ->() { rows { |r| return if r.k > 3 } }.call } rescue p $!
check("raise") do
  rows { |r| raise "enough" if r.k > 3 }
rescue RuntimeError
end
check("throw") { catch(:out) { rows { |r| throw :out if r.k > 3 } } }
check("first") { rows.first(3) }
check("reader") do
  reader = rows.reader
  3.times { reader.next }
  reader.close
end
check("kill") do
  got = Queue.new
  t = Thread.new { rows { |r| got << r.k } }
  got.pop
  t.kill
  t.join
end
check("timeout") do
  Timeout.timeout(0.1) { rows { |r| r.k } }
rescue Timeout::Error
end
check("thread raise") do
  got = Queue.new
  t = Thread.new { rows { |r| got << r.k } }
  t.report_on_exception = false
  got.pop
  t.raise("out")
  t.join rescue nil
end
def dropped_list
  info = Kumihimo::XML.open(URL, Table, proxy: false)
  info.houses rescue nil
  info.rows.first.k
  info.remove_rows.first(2)
  nil
end
check("dropped tree") { dropped_list }
def dropped_reader
  reader = Kumihimo::XML.list(URL, "/t/r", Row, proxy: false).reader
  reader.next.k
  nil
end
check("dropped reader") { dropped_reader }
def unread
  Kumihimo::XML.open(URL, Table, proxy: false)
  nil
end
check("unread") { unread }
def external
  e = Kumihimo::XML.list(URL, "/t/r", Row, proxy: false).each
  e.next
  nil
end
check("enumerator") { external }
SERVING.kill
