# The HTTP client against a small server: bodies of every kind, kept and lost connections, errors.
require "net/http"
require "stringio"
require "zlib"

# Answers by path; counts connections.
class Server
  attr_reader :port, :connections

  def initialize
    @server = TCPServer.new("127.0.0.1", 0)
    @port = @server.addr[1]
    @connections = 0
    @thread = Thread.new do
      while (c = @server.accept)
        @connections += 1
        Thread.new(c) { |s| serve(s) }
      end
    rescue IOError
      nil
    end
  end

  def stop
    @server.close
    @thread.join
  end

  def serve(s)
    while (line = s.gets)
      method, path = line.split
      fields = {}
      while (l = s.gets.chomp) != ""
        k, v = l.split(": ", 2)
        fields[k.downcase] = v
      end
      body = s.read(fields["content-length"].to_i) if fields["content-length"]
      if fields["transfer-encoding"] == "chunked"
        body = +""
        while (n = s.gets.hex) > 0
          body << s.read(n)
          s.gets
        end
        s.gets
      end
      break if answer(s, method, path, fields, body) == :close
    end
  rescue SystemCallError
    nil
  ensure
    s.close
  end

  def answer(s, method, path, fields, body)
    case path
    when "/chunked"
      s.write "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: x\r\n\r\n"
    when "/gzip"
      z = StringIO.new
      w = Zlib::GzipWriter.new(z)
      w.write("zipped " * 1000)
      w.close
      s.write "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: #{z.string.bytesize}\r\n\r\n"
      s.write z.string
    when "/until-close"
      s.write "HTTP/1.0 200 OK\r\n\r\nto the end"
      :close
    when "/once"
      s.write "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nonce"
      :close
    when "/head-only"
      s.write "HTTP/1.1 204 No Content\r\n\r\n"
    when "/moved"
      s.write "HTTP/1.1 302 Found\r\nLocation: /here\r\nContent-Length: 0\r\n\r\n"
    when "/missing"
      s.write "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno"
    when "/early"
      s.write "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nlater"
    when "/many"
      s.write "HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Long: one\r\n  two\r\nContent-Length: 0\r\n\r\n"
    when "/garbage"
      s.write "what is this\r\n\r\n"
      :close
    when "/slow"
      s.gets
      :close
    when "/big"
      s.write "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + "x" * 1_000_000
    else
      text = "#{method} #{path} #{body&.b&.bytesize.inspect} #{fields.values_at("content-type", "authorization", "x-test").inspect}"
      text << " " << body if body && body.bytesize < 60
      s.write "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: #{text.bytesize}\r\n\r\n"
      s.write text unless method == "HEAD"
    end
  end
end

def shows
  p yield
rescue StandardError => e
  puts "#{e.class}: #{e.message.gsub(/\d{4,5}|fd \d+/, "N")}"
end

server = Server.new
base = "http://127.0.0.1:#{server.port}"
p Net::HTTP.get(URI("#{base}/a?b=c")), Net::HTTP.get_response("127.0.0.1", "/x", server.port).code
p Net::HTTP.post(URI("#{base}/post"), "data", "Content-Type" => "text/x", "X-Test" => "t").body
p Net::HTTP.post_form(URI("#{base}/form"), { "a" => "1 2", "b" => %w[x y] }).body
before = server.connections
Net::HTTP.start("127.0.0.1", server.port, read_timeout: 60, keep_alive_timeout: 60) do |http|
  p http.inspect.sub(/\d{4,5} /, "PORT "), http.get("/1").body, http.get("/2", "X-Test" => "y").body
  r = http.get("/chunked")
  p r.body, r.chunked?, r.content_length
  r = http.get("/gzip")
  p r.body.bytesize, r["content-encoding"]
  p http.get("/head-only").then { |x| [x.class, x.body] }, http.head("/h").then { |x| [x.body, x.content_length.positive?, x.content_type, x.type_params] }
  r = http.get("/moved")
  p r.class, r["Location"], (r.value rescue $!.class)
  r = http.get("/missing")
  p r, r.body, (r.error! rescue [$!.class, $!.message, $!.response.code])
  p http.get("/early").body
  r = http.get("/many")
  p r.get_fields("set-cookie"), r["x-long"], r.to_hash.keys
  pieces = []
  http.get("/big") { |part| pieces << part.bytesize }
  p pieces.sum, pieces.size > 1
  request = Net::HTTP::Put.new("/put")
  request.body_stream = StringIO.new("streamed " * 100)
  request["Transfer-Encoding"] = "chunked"
  request.basic_auth("me", "secret")
  p http.request(request).body
  request = Net::HTTP::Post.new("/multi")
  request.set_form([["a", "1"], ["f", StringIO.new("file text"), { filename: "f.txt", content_type: "text/plain" }]], "multipart/form-data")
  p http.request(request).body.sub(/boundary=[^"\\]+/, "boundary=B").sub(/\d{3}/, "N")
  p http.send_request("PATCH", "/any", "b").body, http.delete("/d").body, http.options("/o").body
  p server.connections - before
  p http.get("/once").body, http.get("/after").body, server.connections - before
  p http.get("/until-close").body
  p http.get("/back").body
end
shows { Net::HTTP.get(URI("#{base}/garbage")) }
shows { Net::HTTP.start("127.0.0.1", server.port, read_timeout: 0.05, max_retries: 0) { |h| h.get("/slow") } }
shows { Net::HTTP.get(URI("http://127.0.0.1:1/")) }
shows { Net::HTTP::Get.new("") }
shows { Net::HTTP::Get.new("/")["X"] = "a\r\nb" }
shows { Net::HTTP.new("127.0.0.1", 1).finish }
p 20.times.map { |i| Thread.new { Net::HTTP.get(URI("#{base}/t#{i}")) } }.map(&:value).map { |x| x[/t\d+/] }.uniq.size
proxy = Net::HTTP.new("example.invalid", 80, "127.0.0.1", server.port)
p proxy.proxy?, proxy.get("/through").body
server.stop
