# Answers of servers: encodings, what breaks off, proxies, places that make no sense.
require "net/http/status"
require "net/http"
require "open-uri"
require "socket"
def serve(*answers)
  s = TCPServer.new("127.0.0.1", 0)
  t = Thread.new { answers.each { |a| c = s.accept; head = +""; head << c.gets until head.end_with?("\r\n\r\n"); ($heads ||= []) << head; c.write(a); c.close } }
  s.addr[1]
end
ok = ->(body, type = "text/plain") { "HTTP/1.1 200 OK\r\nContent-Type: #{type}\r\nContent-Length: #{body.bytesize}\r\nConnection: close\r\n\r\n#{body}" }
b = Net::HTTP.get(URI("http://127.0.0.1:#{serve(ok["hello"])}/"))
p b, b.encoding, b.unicode_normalize
b = Net::HTTP.get(URI("http://127.0.0.1:#{serve(ok["h\xC3\xA9llo"])}/"))
p b.encoding, b.bytes.size
# broken off
broken = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel"
p Net::HTTP.get(URI("http://127.0.0.1:#{serve(broken, ok["ok"])}/"))
h = Net::HTTP.new("127.0.0.1", serve(broken, ok["ok"])); got = []
p (h.get("/") { |part| got << part } rescue $!.class), got
# encodings
[["text/plain; charset=iso-8859-1", "caf\xE9"], ["text/html", "<html><meta charset='windows-1252'>\x80"], ["text/plain", "\xEF\xBB\xBFa\xC3\xA9"], ["text/plain; charset=nonsense", "a"]].each do |type, body|
  h = Net::HTTP.new("127.0.0.1", serve(ok[body.b, type])); h.response_body_encoding = true
  r = h.get("/").body
  p r.encoding, r.valid_encoding?
end
h = Net::HTTP.new("127.0.0.1", serve(ok["caf\xC3\xA9"])); h.response_body_encoding = "UTF-8"; p h.get("/").body
# proxies
port = serve(ok["x"])
ENV["http_proxy"] = "http://user:p%40ss@127.0.0.1:#{port}"
Net::HTTP.get(URI("http://example.org/x"))
p $heads.last[/Proxy-Authorization: (.*)\r/i, 1]
ENV.delete("http_proxy")
# locations
["Location: /caf\xC3\xA9>\r\n", ""].each do |l|
  port = serve("HTTP/1.1 302 Found\r\n#{l}Content-Length: 0\r\nConnection: close\r\n\r\n")
  URI.open("http://127.0.0.1:#{port}/") rescue p $!.class, $!.message
end
