# frozen_string_literal: true

module URI
  # The splitting of RFC 3986, and the patterns of its parts.
  class RFC3986_Parser
    SEG = %q([!$&-.0-9:;=@A-Z_a-z~]|%\h\h)
    UNRESERVED = "\\-_.!~*'()a-zA-Z\\d"
    HOST = %r{\A(?:\[(?:[0-9A-Fa-f:.]+|v\h+\.[!$&-.0-9:;=A-Z_a-z~]+)\]|(?:%\h\h|[!$&-.0-9;=A-Z_a-z~])*)\z}n
    RFC3986_URI = %r{\A(?<scheme>[A-Za-z][+\-.0-9A-Za-z]*):(?<hier>(?://(?<authority>(?:(?<userinfo>(?:%\h\h|[!$&-.0-9:;=A-Z_a-z~])*)@)?(?<host>\[[^\]]*\]|(?:%\h\h|[!$&-.0-9;=A-Z_a-z~])*)(?::(?<port>\d*))?)(?<path>(?:/(?:#{SEG})*)*))|(?<pathonly>/(?:(?:#{SEG})+(?:/(?:#{SEG})*)*)?|(?:#{SEG})+(?:/(?:#{SEG})*)*|))(?:\?(?<query>[^#\s]*))?(?:\#(?<fragment>(?:#{SEG}|[/?])*))?\z}
    RFC3986_RELATIVE_REF = %r{\A(?<hier>(?://(?<authority>(?:(?<userinfo>(?:%\h\h|[!$&-.0-9:;=A-Z_a-z~])*)@)?(?<host>\[[^\]]*\]|(?:%\h\h|[!$&-.0-9;=A-Z_a-z~])*)(?::(?<port>\d*))?)(?<path>(?:/(?:#{SEG})*)*))|(?<pathonly>/(?:(?:#{SEG})+(?:/(?:#{SEG})*)*)?|(?:(?!:)(?:#{SEG}))*(?:/(?:#{SEG})*)*|))(?:\?(?<query>[^#\s]*))?(?:\#(?<fragment>(?:#{SEG}|[/?])*))?\z}

    attr_reader :regexp

    def initialize
      @regexp = {
        SCHEME: /\A[A-Za-z][A-Za-z0-9+\-.]*\z/, USERINFO: /\A(?:%\h\h|[!$&-.0-9:;=A-Z_a-z~])*\z/, HOST: HOST,
        ABS_PATH: %r{\A/(?:%\h\h|[!$&-.0-9:;=@A-Z_a-z~/])*\z}, REL_PATH: %r{\A(?:%\h\h|[!$&-.0-9:;=@A-Z_a-z~])+(?:/(?:%\h\h|[!$&-.0-9:;=@A-Z_a-z~])*)*\z},
        QUERY: %r{\A(?:%\h\h|[!$&-.0-9:;=@A-Z_a-z~/?])*\z}, FRAGMENT: %r{\A(?:%\h\h|[!$&-.0-9:;=@A-Z_a-z~/?])*\z},
        OPAQUE: %r{\A(?:[^/].*)?\z}, PORT: /\A[\x09\x0a\x0c\x0d ]*+\d*[\x09\x0a\x0c\x0d ]*\z/, ABS_URI: RFC3986_URI, URI_REF: RFC3986_URI,
        UNSAFE: Regexp.new("[^#{UNRESERVED};/?:@&=+$,\\[\\]]"), ESCAPED: /%[a-fA-F\d]{2}/
      }.freeze
    end

    # [scheme, userinfo, host, port, registry, path, opaque, query, fragment]
    def split(uri)
      begin
        uri = uri.to_str
      rescue NoMethodError
        raise InvalidURIError, "bad URI (is not URI?): #{uri.inspect}"
      end
      uri.ascii_only? or raise InvalidURIError, "URI must be ascii only #{uri.dump}"
      if (m = RFC3986_URI.match(uri))
        scheme = m[:scheme]
        query = m[:query]
        if m[:authority]
          [scheme, m[:userinfo], m[:host], m[:port], nil, m[:path], nil, query, m[:fragment]]
        elsif m[:pathonly].start_with?("/")
          [scheme, nil, nil, nil, nil, m[:pathonly], nil, query, m[:fragment]]
        else
          opaque = m[:pathonly]
          if opaque.empty?
            [scheme, nil, nil, nil, nil, "", nil, query, m[:fragment]]
          else
            opaque += "?#{query}" if query
            [scheme, nil, nil, nil, nil, nil, opaque, nil, m[:fragment]]
          end
        end
      elsif (m = RFC3986_RELATIVE_REF.match(uri))
        path = m[:authority] ? m[:path] : m[:pathonly]
        [nil, m[:userinfo], m[:host], m[:port], nil, path, nil, m[:query], m[:fragment]]
      else
        raise InvalidURIError, "bad URI (is not URI?): #{uri.inspect}"
      end
    end

    def parse(uri) = URI.for(*split(uri), self)

    def join(*uris)
      uris[0] = convert_to_uri(uris[0])
      uris.inject(:merge)
    end

    def escape(str, unsafe = @regexp[:UNSAFE])
      unsafe = Regexp.new("[#{Regexp.quote(unsafe)}]") unless unsafe.is_a?(Regexp)
      str.gsub(unsafe) { |us| us.each_byte.map { |b| format("%%%02X", b) }.join }.force_encoding(Encoding::US_ASCII)
    end

    def unescape(str, escaped = @regexp[:ESCAPED])
      enc = str.encoding
      enc = Encoding::UTF_8 if enc == Encoding::US_ASCII
      str.dup.force_encoding(Encoding::BINARY).gsub(escaped) { |m| [m[1, 2]].pack("H2") }.force_encoding(enc)
    end

    def extract(str, schemes = nil, &block)
      urls = []
      str.scan(make_regexp(schemes)) do
        block ? yield($&) : urls << $&
      end
      block ? nil : urls
    end

    def make_regexp(schemes = nil)
      head = schemes ? "(?:#{Array(schemes).map { |s| Regexp.quote(s) }.join("|")})" : "[A-Za-z][A-Za-z\\d+\\-.]*"
      %r{#{head}:(?:[\-_.!~*'()a-zA-Z\d;/?:@&=+$,\[\]]|%[a-fA-F\d]{2})+(?:\#(?:[\-_.!~*'()a-zA-Z\d;/?:@&=+$,\[\]]|%[a-fA-F\d]{2})*)?}
    end

    def inspect = "#<#{self.class}>"

    private

    def convert_to_uri(uri)
      if uri.is_a?(URI::Generic)
        uri
      elsif (uri = String.try_convert(uri))
        parse(uri)
      else
        raise ArgumentError, "bad argument (expected URI object or URI string)"
      end
    end
  end

  RFC2396_Parser = RFC3986_Parser
  RFC3986_PARSER = RFC3986_Parser.new
  RFC2396_PARSER = RFC3986_PARSER
  DEFAULT_PARSER = RFC3986_PARSER
  Parser = RFC3986_Parser
end
