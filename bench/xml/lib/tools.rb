# What the experiments need beside kumi: documents, the server of wires, and the peers, built or made when first asked for. All of it lies
# in one folder outside the tree (--data DIR, else target/bench-xml).
require "fileutils"
require "socket"

module Bench
  module XML
    HERE = File.expand_path("..", __dir__)
    ROOT = File.expand_path("../..", HERE)

    class << self
      attr_reader :data

      # Must be called before anything else.
      def prepare(suite)
        @data ||= begin
          data = File.expand_path(suite.options[:data] || File.join(ROOT, "target", "bench-xml"))
          FileUtils.mkdir_p(File.join(data, "documents"))
          FileUtils.mkdir_p(File.join(data, "bin"))
          data
        end
      end

      # The path of a Rust program below bench/xml, built when it is first asked for.
      def rust(package, bin)
        @rust ||= {}
        @rust[bin] ||= begin
          target = File.join(data, "cargo")
          built(bin, { "CARGO_TARGET_DIR" => target }, "cargo", "build", "--release", "-q", "--manifest-path", File.join(HERE, package, "Cargo.toml"))
          File.join(target, "release", bin)
        end
      end

      # The path of a C peer.
      def c(name, *flags)
        @c ||= {}
        @c[name] ||= File.join(data, "bin", name).tap do |bin|
          built(name, {}, "cc", "-O2", "-o", bin, File.join(HERE, "peers", "#{name}.c"), *flags)
        end
      end

      # The folder of a Java peer's classes.
      def java(name)
        @java ||= {}
        @java[name] ||= File.join(data, "bin", "java").tap do |folder|
          built(name, {}, "javac", "-d", folder, File.join(HERE, "peers", "#{name}.java"))
        end
      end

      # The path of a table's document: lineitem or orders at a scale, or the lineitem of `bytes` bytes.
      def document(table, scale, bytes = nil)
        path = File.join(data, "documents", "#{table}-#{bytes ? "#{bytes / 1_000_000}mb" : scale}.xml")
        return path if File.exist?(path)
        part = "#{path}.part"
        words = [rust("gen", "xml-gen"), table, scale.to_s, *bytes&.to_s]
        raise Child::Failed, "could not write #{path}" unless system(*words, out: part)
        File.rename(part, path)
        path
      end

      def server = @server ||= Server.new(rust("server", "xml-server"), File.join(data, "documents"), File.join(data, "server.err"))

      # Ends the server.
      def close = @server&.close

      private

      def built(what, env, *words)
        errors = File.join(data, "build.err")
        return if system(env, *words, out: File::NULL, err: errors)
        said = File.exist?(errors) ? File.read(errors).scrub("?").lines.grep(/error|fatal|not found/).first.to_s.strip : "no #{words[0]}"
        raise Child::Failed, "#{what} does not build: #{said[0, 160]}"
      end
    end

    # The server of wires (bench/xml/server).
    class Server
      def initialize(bin, folder, errors)
        @child = Child.new([bin, folder], errors: errors)
        @port = Integer(@child.line(timeout: 10))
        @wires = 0
      end

      # A wire's name that was not used before.
      def wire = "w#{@wires += 1}"
      def url(document, query) = "http://127.0.0.1:#{@port}/#{File.basename(document)}?#{query}"

      # What a wire did: see bench/xml/server.
      def log(wire)
        socket = TCPSocket.new("127.0.0.1", @port)
        socket.write("GET /log?wire=#{wire} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        answer = socket.read
        raise Child::Failed, "the server knows no wire #{wire}" unless answer.start_with?("HTTP/1.1 200")
        JSON.parse(answer.split("\r\n\r\n", 2)[1])
      ensure
        socket&.close
      end

      def close = @child.finish(timeout: 2)
    end
  end
end
