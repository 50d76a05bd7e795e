# Rack: an application built of middleware, asked through MockRequest; utilities and parsers.
require "rack"
require "rack/mock"
require "stringio"

class Upcase
  def initialize(app, suffix: "") = (@app, @suffix = app, suffix)
  def call(env)
    status, headers, body = @app.call(env)
    parts = []
    body.each { |s| parts << s.upcase }
    [status, headers.merge("X-Up" => "1"), parts << @suffix]
  end
end

app = Rack::Builder.new do
  use Rack::ContentLength
  use Rack::Head
  use Rack::ETag
  use Rack::ConditionalGet
  map "/up" do
    use Upcase, suffix: "!"
    run ->(env) { [200, {"Content-Type" => "text/plain"}, ["path #{env["PATH_INFO"]} script #{env["SCRIPT_NAME"]}"]] }
  end
  map "/form" do
    run(lambda do |env|
      req = Rack::Request.new(env)
      res = Rack::Response.new
      res.write "#{req.request_method} #{req.params.sort.inspect.gsub(/ *=> */, " => ")} #{req.cookies.inspect.gsub(/ *=> */, " => ")} #{req.xhr?} #{req.url}"
      res.set_cookie("seen", value: "a b", path: "/", http_only: true)
      res["X-Count"] = "2"
      res.status = 201
      res.finish
    end)
  end
  map("/boom") { run ->(_) { raise "boom" } }
  map("/auth") do
    use(Rack::Auth::Basic, "Secret") { |u, pw| u == "me" && pw == "pw" }
    run ->(env) { [200, {}, ["hello #{env["REMOTE_USER"]}"]] }
  end
  run ->(env) { [404, {"Content-Type" => "text/html"}, ["nothing at #{Rack::Utils.escape_html(env["PATH_INFO"])}"]] }
end.to_app

mock = Rack::MockRequest.new(Rack::Lint.new(app))
show = ->(r) { puts r.status, r.headers.to_h.sort.map { |k, v| "#{k}: #{v}" }, r.body, "--" }
mock = Rack::MockRequest.new(app)
show.(mock.get("/up/a/b?x=1"))
show.(mock.get("/form?a=1&b[]=2&b[]=3&c[d][e]=%C3%A9+x", "HTTP_COOKIE" => "k=v; l=m%20n", "HTTP_X_REQUESTED_WITH" => "XMLHttpRequest"))
show.(mock.post("/form", params: {user: {name: "Ann", tags: %w[x y]}, n: "1"}))
show.(mock.head("/up"))
show.(mock.get("/%3Cnone%3E"))
show.(mock.get("/auth"))
show.(mock.get("/auth", "HTTP_AUTHORIZATION" => "Basic " + ["me:pw"].pack("m0")))
tag = mock.get("/up")["ETag"]
show.(mock.get("/up", "HTTP_IF_NONE_MATCH" => tag))
begin
  mock.get("/boom")
rescue => e
  puts "#{e.class}: #{e.message}"
end

file = "--B\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\ntext\r\n--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nline 1\nline 2\r\n--B--\r\n"
req = Rack::Request.new(Rack::MockRequest.env_for("/up", method: "POST", "CONTENT_TYPE" => "multipart/form-data; boundary=B", "CONTENT_LENGTH" => file.bytesize.to_s, input: file))
p req.params["t"], req.params["f"][:filename], req.params["f"][:type], req.params["f"][:tempfile].read

p Rack::Utils.escape("a b&c/é"), Rack::Utils.unescape("a+b%26"), Rack::Utils.build_query("a" => ["1", "2"], "b" => nil), Rack::Utils.build_nested_query("a" => {"b" => ["1", "2"]})
p Rack::Utils.status_code(:not_found), Rack::Utils.q_values("text/html;q=0.5, */*"), Rack::Utils.best_q_match("text/*;q=0.3, text/html;q=0.7", %w[text/html text/plain])
p Rack::Utils.get_byte_ranges("bytes=0-3,-2", 10), Rack::Utils.secure_compare("a", "a"), Rack::Mime.mime_type(".html"), Rack::Utils.clean_path_info("/a/../../b/./c")
p Rack::Utils.parse_nested_query("x[y][][z]=1&x[y][][z]=2").dig("x", "y").map(&:to_a)
begin
  Rack::Utils.parse_nested_query("a=1&a[b]=2")
rescue Rack::Utils::ParameterTypeError => e
  puts e.message
end
h = Rack::Utils::HeaderHash.new("Content-Type" => "a")
h["content-TYPE"] = "b"
p h.to_hash.to_a, h.key?("CONTENT-type")
cascade = Rack::Cascade.new([->(_) { [404, {}, []] }, ->(_) { [200, {}, ["found"]] }])
p Rack::MockRequest.new(cascade).get("/").body
log = StringIO.new
Rack::MockRequest.new(Rack::CommonLogger.new(app, log)).get("/up?q=1")
puts log.string.sub(/\[.*?\]/, "[time]").sub(/[\d.]+$/, "T")
show.(Rack::MockRequest.new(Rack::ShowStatus.new(->(_) { [404, {"Content-Type" => "text/plain", "Content-Length" => "0"}, []] })).get("/x").then { |r| r.define_singleton_method(:body) { super()[/<title>.*?<\/title>/] }; r })
gz = Rack::MockRequest.new(Rack::Deflater.new(->(_) { [200, {"Content-Type" => "text/plain"}, ["z" * 1000]] })).get("/", "HTTP_ACCEPT_ENCODING" => "gzip")
require "zlib"
p gz["Content-Encoding"], Zlib::GzipReader.new(StringIO.new(gz.body)).read.size
