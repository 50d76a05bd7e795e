# Parsers beside which kumi is measured: how each is started for a mode, or why it is absent.
module Bench
  module XML
    # `modes` are those it does; `slow`: gets a cut document in a quick run and only one round. `rounds`: it does so many within one process,
    # and the last counts.
    Peer = Struct.new(:name, :kind, :modes, :slow, :rounds, :argv)

    OWN = "kumi-xml (Rust)".freeze
    QUICK_XML = "quick-xml 0.42 (Rust)".freeze
    OX = "Ox SAX (CRuby)".freeze

    class << self
      def peers(suite)
        @peers ||= begin
          @missing = []
          list = []
          add = lambda do |name, kind, modes, slow: false, rounds: 1, &argv|
            made = argv.call
            list << Peer.new(name, kind, modes, slow, rounds, made)
          rescue Child::Failed => e
            @missing << "#{name} (#{e.message})"
          end
          add.(OWN, "native", %w[T E P J]) { bin = rust("peers/own", "peer-own"); ->(*w) { [bin, *w] } }
          add.(QUICK_XML, "native", %w[T E P J]) { bin = rust("peers/quick", "peer-quick"); ->(*w) { [bin, *w] } }
          add.("libxml2 SAX push (C)", "native", %w[T E P J]) { bin = c("libxml2", *xml2_flags(suite)); ->(*w) { [bin, *w] } }
          add.("expat (C)", "native", %w[T E P J]) { bin = c("expat", "-lexpat"); ->(*w) { [bin, *w] } }
          add.("StAX (JDK, fifth round)", "vm", %w[T E P J], rounds: 5) do
            raise Child::Failed, "no javac" unless suite.tool("javac") && suite.tool("java")
            folder = java("Stax")
            ->(*w) { ["java", "-cp", folder, "Stax", *w] }
          end
          ruby = suite.rubies.first
          { OX => ["ox", false], "Nokogiri SAX (CRuby)" => ["nokogiri", false], "Nokogiri Reader (CRuby)" => ["reader", false], "REXML stream (CRuby)" => ["rexml", true] }.each do |name, (word, slow)|
            add.(name, "ruby", word == "rexml" ? %w[T P] : %w[T P J], slow: slow) do
              raise Child::Failed, "no ruby" unless ruby
              library = { "reader" => "nokogiri", "rexml" => "rexml/document" }.fetch(word, word)
              raise Child::Failed, "no #{library}" unless system(*ruby.command, "-r", library, "-e", "1", out: File::NULL, err: File::NULL)
              ->(*w) { [*ruby.command, File.join(HERE, "peers", "ruby.rb"), word, *w] }
            end
          end
          add.("lxml iterparse (CPython)", "vm", %w[T P J]) do
            python = [suite.tool("python3"), "/usr/bin/python3"].compact.find { |x| system(x, "-c", "import lxml.etree", out: File::NULL, err: File::NULL) }
            raise Child::Failed, "no lxml" unless python
            ->(*w) { [python, File.join(HERE, "peers", "lxml_iterparse.py"), *w] }
          end
          list
        end
      end

      attr_reader :missing

      def xml2_flags(suite)
        config = suite.tool("xml2-config") or raise Child::Failed, "no libxml2 headers"
        IO.popen([config, "--cflags", "--libs"], &:read).split
      end

      # What a peer, or one of kumi's programs (words before the mode's files), prints for a mode.
      def parse(suite, argv, env: {}, timeout: 300)
        result = suite.run_command(argv, env: env, timeout: timeout)
        raise Child::Failed, result.why unless result.ok?
        JSON.parse(result.out.lines.last.to_s)
      rescue JSON::ParserError
        raise Child::Failed, "printed #{result.out.to_s[0, 80]}"
      end
    end
  end
end
