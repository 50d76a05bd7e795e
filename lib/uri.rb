# frozen_string_literal: true

require "uri/rfc2396_regexp"

# Uniform resource identifiers (RFC 3986): parsing, building, joining, encoding.
module URI
  VERSION = "1.1.1"
  VERSION_CODE = "010101"

  class Error < StandardError; end
  class InvalidURIError < Error; end
  class InvalidComponentError < Error; end
  class BadURIError < Error; end

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

  # --- the objects --------------------------------------------------------------------------

  class Generic
    include URI

    DEFAULT_PORT = nil
    COMPONENT = [:scheme, :userinfo, :host, :port, :registry, :path, :opaque, :query, :fragment].freeze
    USE_REGISTRY = false

    def self.default_port = self::DEFAULT_PORT
    def self.component = self::COMPONENT
    def self.use_registry = self::USE_REGISTRY

    def self.build2(args)
      build(args)
    rescue InvalidComponentError
      if args.is_a?(Array)
        build(args.map { |x| x.is_a?(String) ? DEFAULT_PARSER.escape(x) : x })
      elsif args.is_a?(Hash)
        build(args.transform_values { |v| v ? DEFAULT_PARSER.escape(v) : v })
      end
    end

    def self.build(args)
      if args.is_a?(Array) && args.size == ::URI::Generic::COMPONENT.size
        tmp = args.dup
      elsif args.is_a?(Hash)
        tmp = ::URI::Generic::COMPONENT.map { |c| args[c] }
      else
        component = component rescue ::URI::Generic::COMPONENT
        raise ArgumentError, "expected Array of or Hash of components of #{self} (#{component.join(", ")})"
      end
      tmp << nil
      tmp << true
      new(*tmp)
    end

    attr_reader :scheme, :host, :port, :path, :query, :fragment, :opaque

    def initialize(scheme, userinfo, host, port, registry, path, opaque, query, fragment, parser = DEFAULT_PARSER, arg_check = false)
      @scheme = nil
      @user = @password = @host = @port = @path = @query = @opaque = @fragment = nil
      @parser = parser == DEFAULT_PARSER ? nil : parser
      if arg_check
        self.scheme = scheme
        self.userinfo = userinfo
        self.hostname = host
        self.port = port
        self.path = path
        self.query = query
        self.opaque = opaque
        self.fragment = fragment
      else
        set_scheme(scheme)
        set_userinfo(userinfo)
        set_host(host)
        set_port(port)
        set_path(path)
        self.query = query
        set_opaque(opaque)
        self.fragment = fragment
      end
      raise InvalidURIError, "the scheme #{@scheme} does not accept registry part: #{registry} (or bad hostname?)" if registry
      @scheme&.freeze
      set_path("") if !@path && !@opaque
      set_port(default_port) if default_port && !@port
    end

    def default_port = self.class.default_port
    def parser = @parser || DEFAULT_PARSER
    def component = self.class.component

    # --- checked setters

    def scheme=(v)
      check(v && !parser.regexp[:SCHEME].match?(v), "bad component(expected scheme component): #{v}")
      set_scheme(v)
    end

    def userinfo=(userinfo)
      return nil if userinfo.nil?
      no_registry_or_opaque(userinfo, "userinfo")
      user, pw = userinfo.is_a?(Array) ? userinfo : split_userinfo(userinfo)
      check_user(user)
      check_password(pw, user)
      set_userinfo(user, pw)
    end

    def user=(user)
      check_user(user)
      set_userinfo(user, @password)
    end

    def password=(password)
      check_password(password)
      @password = password
    end

    def host=(v)
      check_host(v)
      set_host(v)
      set_userinfo(nil)
      v
    end

    def hostname
      v = host
      v && v.start_with?("[") && v.end_with?("]") ? v[1..-2] : v
    end

    def hostname=(v)
      v = "[#{v}]" if v && !(v.start_with?("[") && v.end_with?("]")) && v.include?(":")
      check_host(v)
      set_host(v)
    end

    def port=(v)
      return if v.nil? && (set_port(nil); true)
      no_registry_or_opaque(v, "port")
      unless v.is_a?(Integer) || parser.regexp[:PORT].match?(v.to_s)
        raise InvalidComponentError, "bad component(expected port component): #{v.inspect}"
      end
      set_port(v)
      port
    end

    def path=(v)
      check_path(v)
      set_path(v)
    end

    def query=(v)
      return @query = nil unless v
      raise InvalidURIError, "query conflicts with opaque" if @opaque
      x = v.to_str
      v = x.dup if x.equal?(v)
      v = v.encode(Encoding::UTF_8) rescue v
      v = v.delete("\t\r\n").b
      v = v.gsub(/(?!%\h\h|[!$-&(-;=?-_a-~])./n) { format("%%%02X", $&.ord) }
      @query = v.force_encoding(Encoding::US_ASCII)
    end

    def opaque=(v)
      return set_opaque(v) if v.nil?
      if @host || @port || @user || @path && !@path.empty?
        raise InvalidURIError, "can not set opaque with host, port, userinfo or path"
      end
      check(!parser.regexp[:OPAQUE].match?(v), "bad component(expected opaque component): #{v}")
      set_opaque(v)
    end

    def fragment=(v)
      return @fragment = nil unless v
      x = v.to_str
      v = x.dup if x.equal?(v)
      v = v.encode(Encoding::UTF_8) rescue v
      v = v.delete("\t\r\n").b
      v = v.gsub(/(?!%\h\h|[!-~])./n) { format("%%%02X", $&.ord) }
      @fragment = v.force_encoding(Encoding::US_ASCII)
    end

    def userinfo
      if @user.nil?
        nil
      elsif @password.nil?
        @user
      else
        "#{@user}:#{@password}"
      end
    end

    def user = @user
    def password = @password
    def authority = @host ? "#{userinfo && "#{userinfo}@"}#{@host}#{@port && @port != default_port ? ":#{@port}" : ""}" : nil
    def decoded_user = @user && URI.decode_uri_component(@user)
    def decoded_password = @password && URI.decode_uri_component(@password)

    def hierarchical? = @opaque ? false : true
    def absolute? = @scheme ? true : false
    alias absolute absolute?
    def relative? = !absolute?

    # --- references ------------------------------------------------------------------------

    def merge(oth)
      rel = parser.send(:convert_to_uri, oth)
      return rel.dup if rel.absolute?
      raise BadURIError, "both URI are relative" unless absolute?
      base = dup
      authority = rel.host || rel.userinfo
      if (rel.path.nil? || rel.path.empty?) && !authority && !rel.query
        base.fragment = rel.fragment if rel.fragment
        return base
      end
      base.query = nil
      base.fragment = nil
      if authority
        base.send(:set_userinfo, *rel.send(:split_userinfo, rel.userinfo)) if rel.userinfo
        base.send(:set_userinfo, nil) unless rel.userinfo
        base.send(:set_host, rel.host)
        base.send(:set_port, rel.port || base.default_port)
        base.send(:set_path, rel.path)
      elsif rel.path && !rel.path.empty?
        base.send(:set_path, merge_path(base.path, rel.path))
      else
        base.send(:set_path, base.path)
      end
      base.query = rel.query if rel.query
      base.fragment = rel.fragment if rel.fragment
      base
    end
    alias + merge

    def merge!(oth)
      t = merge(oth)
      return nil if self == t
      replace!(t)
      self
    end

    def route_from(oth)
      base = parser.send(:convert_to_uri, oth)
      raise BadURIError, "relative URI: #{self}" if relative?
      raise BadURIError, "relative URI: #{base}" if base.relative?
      return dup if scheme != base.scheme
      rel = URI::Generic.new(nil, userinfo, host, port, nil, path, opaque, query, fragment, parser)
      if rel.userinfo != base.userinfo || rel.host.to_s.downcase != base.host.to_s.downcase || rel.port != base.port
        if userinfo.nil? && host.nil?
          return dup
        end
        rel.send(:set_port, nil) if rel.port == default_port
        return rel
      end
      rel.send(:set_userinfo, nil)
      rel.send(:set_host, nil)
      rel.send(:set_port, nil)
      if rel.path && rel.path == base.path
        rel.send(:set_path, "")
        rel.query = nil if rel.query == base.query
        return rel
      elsif rel.opaque && rel.opaque == base.opaque
        rel.send(:set_opaque, "")
        rel.query = nil if rel.query == base.query
        return rel
      end
      rel.send(:set_path, route_path(base.path, rel.path)) if rel.path
      rel
    end
    alias - route_from

    def route_to(oth) = parser.send(:convert_to_uri, oth).route_from(self)

    def normalize
      uri = dup
      uri.normalize!
      uri
    end

    def normalize!
      set_path("/") if path&.empty?
      set_scheme(scheme.downcase) if scheme && scheme != scheme.downcase
      set_host(host.downcase) if host && host != host.downcase
    end

    def request_uri = nil

    def to_s
      s = +""
      s << @scheme << ":" if @scheme
      if @opaque
        s << @opaque
      else
        s << "//" if @host || %w[file postgres].include?(@scheme)
        s << userinfo << "@" if userinfo
        s << @host if @host
        s << ":" << @port.to_s if @port && @port != default_port
        s << "/" if (@host || @port) && !@path.to_s.empty? && !@path.start_with?("/")
        s << @path.to_s
        s << "?" << @query if @query
      end
      s << "#" << @fragment if @fragment
      s
    end
    alias to_str to_s

    def ==(other) = self.class == other.class && normalize.component_ary == other.normalize.component_ary
    def hash = component_ary.hash
    def eql?(other) = self.class == other.class && parser == other.parser && component_ary.eql?(other.component_ary)
    def component_ary = component.map { |c| send(c) }
    protected :component_ary

    def select(*components)
      components.map do |c|
        raise ArgumentError, "expected of components of #{self.class} (#{self.class.component.join(", ")})" unless component.include?(c)
        send(c)
      end
    end

    def inspect = "#<#{self.class} #{self}>"
    def coerce(oth) = [oth.is_a?(String) ? parser.parse(oth) : super, self]
    def registry = nil

    def find_proxy(env = ENV)
      raise BadURIError, "relative URI: #{self}" if relative?
      name = scheme.downcase + "_proxy"
      url = env[name] || env[name.upcase]
      return nil if url.nil? || url.empty?
      if hostname
        no = env["no_proxy"] || env["NO_PROXY"]
        return nil if no && !URI::Generic.use_proxy?(hostname, hostname, port, no)
      end
      URI.parse(url)
    end

    def self.use_proxy?(hostname, addr, port, no_proxy)
      hostname = hostname.downcase
      dothostname = ".#{hostname}"
      no_proxy.scan(/([^:,\s]+)(?::(\d+))?/) do |p_host, p_port|
        if !p_port || port == p_port.to_i
          host = p_host.downcase.delete_prefix(".")
          return false if dothostname.end_with?(".#{host}") || addr == p_host
        end
      end
      true
    end

    private

    def check(bad, message)
      raise InvalidComponentError, message if bad
    end

    def no_registry_or_opaque(v, what)
      raise InvalidURIError, "can not set #{what} with registry or opaque" if v && @opaque
    end

    def check_user(v)
      no_registry_or_opaque(v, "user")
      check(v && !parser.regexp[:USERINFO].match?(v), "bad component(expected userinfo component or user component): #{v}")
    end

    def check_password(v, user = @user)
      no_registry_or_opaque(v, "password")
      check(v && user.nil?, "password component depends user component")
      check(v && !parser.regexp[:USERINFO].match?(v), "bad password component")
    end

    def check_host(v)
      return unless v
      no_registry_or_opaque(v, "host")
      check(!parser.regexp[:HOST].match?(v), "bad component(expected host component): #{v}")
    end

    def check_path(v)
      raise InvalidURIError, "path conflicts with opaque" if v && @opaque
      return if v.nil? || v.empty?
      if @scheme
        check(!parser.regexp[:ABS_PATH].match?(v), "bad component(expected path component): #{v}")
      else
        ok = parser.regexp[:ABS_PATH].match?(v) || parser.regexp[:REL_PATH].match?(v)
        check(!ok, "bad component(expected path component): #{v}")
      end
    end

    def set_scheme(v) = @scheme = v&.downcase

    def set_userinfo(user, password = nil)
      unless password
        user, password = split_userinfo(user)
      end
      @user = user
      @password = password
      [@user, @password]
    end

    def split_userinfo(ui)
      return nil, nil unless ui
      ui.split(":", 2)
    end

    def set_host(v) = @host = v

    def set_port(v)
      v = v.empty? ? nil : v.to_i unless v.nil? || v.is_a?(Integer)
      @port = v
    end

    def set_path(v) = @path = v
    def set_opaque(v) = @opaque = v

    def replace!(oth)
      component.each { |c| instance_variable_set("@#{c}", oth.__send__(c)) if instance_variable_defined?("@#{c}") }
      @user, @password = oth.user, oth.password
    end

    # RFC 3986, 5.2.4
    def merge_path(base, rel)
      path = if rel.start_with?("/")
               rel
             elsif base.empty?
               "/" + rel
             else
               base[0..(base.rindex("/") || -1)] + rel
             end
      out = []
      segments = path.split("/", -1)
      segments.each_with_index do |s, i|
        last = i == segments.size - 1
        case s
        when "." then out << "" if last
        when ".."
          out.pop if out.size > 1
          out << "" if last
        else out << s
        end
      end
      r = out.join("/")
      r.start_with?("/") ? r : "/" + r
    end

    def route_path(src, dst)
      return "" if src == dst
      s = src.split("/", -1)
      d = dst.split("/", -1)
      s.pop
      common = 0
      common += 1 while common < s.size && common < d.size - 1 && s[common] == d[common]
      up = s.size - common
      rest = d[common..].join("/")
      r = "../" * up + rest
      r = "./" + r if r.empty? || r.start_with?("/") || r.split("/").first.to_s.include?(":")
      r
    end
  end

  class HTTP < Generic
    DEFAULT_PORT = 80
    COMPONENT = %i[scheme userinfo host port path query fragment].freeze

    def self.build(args)
      tmp = Util.make_components_hash(self, args)
      super(tmp)
    end

    def request_uri
      return unless @path
      url = @query ? "#{@path}?#{@query}" : @path.dup
      url.start_with?("/") ? url : "/#{url}"
    end

    def authority
      port == default_port ? host : "#{host}:#{port}"
    end

    def origin = "#{scheme}://#{authority}"
  end

  class HTTPS < HTTP
    DEFAULT_PORT = 443
  end

  class WS < Generic
    DEFAULT_PORT = 80
    COMPONENT = %i[scheme userinfo host port path query].freeze

    def self.build(args) = super(Util.make_components_hash(self, args))

    def request_uri
      return unless @path
      url = @query ? "#{@path}?#{@query}" : @path.dup
      url.start_with?("/") ? url : "/#{url}"
    end
  end

  class WSS < WS
    DEFAULT_PORT = 443
  end

  class FTP < Generic
    DEFAULT_PORT = 21
    COMPONENT = [:scheme, :userinfo, :host, :port, :path, :typecode].freeze
    TYPECODE = %w[a i d].freeze
    TYPECODE_PREFIX = ";type="

    attr_reader :typecode

    def self.new2(user, password, host, port, path, typecode = nil, arg_check = true)
      typecode = nil if typecode && typecode.empty?
      path = path + TYPECODE_PREFIX + typecode if typecode
      new("ftp", [user, password], host, port, nil, path, nil, nil, nil, nil, arg_check)
    end

    def self.build(args)
      tmp = Util.make_components_hash(self, args)
      typecode = tmp[:typecode]
      if tmp[:path]
        tmp[:path] = "/" + tmp[:path].sub(/\A\//, "%2F").sub(/\A%2F%2F/, "%2F") unless tmp[:path].start_with?("/")
      end
      tmp[:path] = "#{tmp[:path]}#{TYPECODE_PREFIX}#{typecode}" if typecode && !typecode.empty?
      super(tmp)
    end

    def initialize(scheme, userinfo, host, port, registry, path, opaque, query, fragment, parser = nil, arg_check = false)
      raise InvalidURIError unless path
      super(scheme, userinfo, host, port, registry, path, opaque, query, fragment, parser || DEFAULT_PARSER, arg_check)
      @typecode = nil
      if (at = @path.index(TYPECODE_PREFIX))
        typecode = @path[at + TYPECODE_PREFIX.size..]
        @path = @path[0...at]
        arg_check ? self.typecode = typecode : @typecode = typecode
      end
    end

    def typecode=(t)
      unless TYPECODE.include?(t)
        raise InvalidComponentError, "bad typecode(expected #{TYPECODE.join(", ")}): #{t}"
      end
      @typecode = t
    end

    # The path behind the first slash.
    def path = @path.sub(/\A\//, "").sub(/\A%2F/i, "/")

    def merge(oth)
      tmp = super(oth)
      tmp.typecode = oth.typecode if oth.is_a?(FTP) && oth.typecode
      tmp
    end

    def to_s
      save = @path
      @path = save + TYPECODE_PREFIX + typecode if typecode
      super
    ensure
      @path = save
    end

    protected

    def set_path(v)
      super("/" + v.delete_prefix("/").sub(/\A\//, "%2F"))
    end
  end

  class File < Generic
    DEFAULT_PORT = nil
    COMPONENT = %i[scheme host path].freeze

    def self.build(args) = super(Util.make_components_hash(self, args))

    def set_host(v)
      @host = v.nil? || v == "localhost" ? "" : v
    end

    def set_port(_v); end

    def check_userinfo(_user)
      raise InvalidURIError, "can not set userinfo for file URI"
    end

    def check_user(_user)
      raise InvalidURIError, "can not set user for file URI"
    end

    def check_password(_user)
      raise InvalidURIError, "can not set password for file URI"
    end

    def set_userinfo(*_v); end
    def set_user(_v); end
    def set_password(_v); end
  end

  class LDAP < Generic
    DEFAULT_PORT = 389
    COMPONENT = %i[scheme host port dn attributes scope filter extensions].freeze
    SCOPE = [SCOPE_ONE = "one", SCOPE_SUB = "sub", SCOPE_BASE = "base"].freeze

    def self.build(args)
      tmp = Util.make_components_hash(self, args)
      tmp[:path] = "/#{tmp[:dn]}" if tmp[:dn]
      query = %i[extensions filter scope attributes].map { |x| tmp[x] }
      query = query.drop_while(&:nil?).reverse
      tmp[:query] = query.join("?") unless query.empty?
      super(tmp)
    end

    def initialize(*arg)
      super(*arg)
      raise InvalidURIError, "bad LDAP URL" if @fragment
      @dn = @path && @path.start_with?("/") ? @path[1..] : @path
      @attributes, @scope, @filter, @extensions = @query&.split("?")
    end

    attr_reader :dn, :attributes, :scope, :filter, :extensions

    %i[dn attributes scope filter extensions].each do |n|
      define_method(:"#{n}=") do |v|
        instance_variable_set("@#{n}", v)
        @path = "/" + @dn if @dn
        q = [@attributes, @scope, @filter, @extensions]
        q.pop while !q.empty? && q.last.nil?
        @query = q.empty? ? nil : q.join("?")
        v
      end
    end

    def hierarchical? = false
  end

  class LDAPS < LDAP
    DEFAULT_PORT = 636
  end

  class MailTo < Generic
    DEFAULT_PORT = nil
    COMPONENT = [:scheme, :to, :headers].freeze
    EMAIL_REGEXP = /\A(?!\.)[a-zA-Z0-9.!\#$%&'*+\/=?^_`{|}~-]*(?<!\.)@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*\z/
    HEADER_REGEXP = /\A(?<hfield>(?:%\h\h|[!$'-.0-;@-Z_a-z~])*=(?:%\h\h|[!$'-.0-;@-Z_a-z~])*)(?:&\g<hfield>)*\z/

    attr_reader :to, :headers

    def self.build(args)
      tmp = Util.make_components_hash(self, args)
      case tmp[:to]
      when Array then tmp[:opaque] = tmp[:to].join(",")
      when String then tmp[:opaque] = tmp[:to].dup
      else tmp[:opaque] = ""
      end
      if tmp[:headers]
        query = case tmp[:headers]
                when Array then tmp[:headers].map { |x| x.is_a?(Array) ? "#{x[0]}=#{x[1..].join}" : x.to_s }.join("&")
                when Hash then tmp[:headers].map { |h, v| "#{h}=#{v}" }.join("&")
                else tmp[:headers].to_s
                end
        tmp[:opaque] += "?#{query}" unless query.empty?
      end
      super(tmp)
    end

    def initialize(*arg)
      super(*arg)
      @to = nil
      @headers = []
      # The mailto scheme has no authority: what stands before ? are addresses.
      to, header = (@opaque || "").split("?", 2)
      unless to.nil?
        self.to = to
      end
      self.headers = header if header
      raise InvalidComponentError, "unrecognised opaque part for mailtoURL: #{@opaque}" if @opaque && !HEADER_REGEXP.match?(header || "a=b")
    end

    def to=(v)
      v.to_s.split(",").each do |addr|
        addr = URI.decode_www_form_component(addr) rescue addr
        unless EMAIL_REGEXP.match?(addr)
          raise InvalidComponentError, "bad component(expected opaque component): #{v}"
        end
      end if v && !v.empty?
      @to = v || ""
    end

    def headers=(v)
      unless v.nil? || v.empty? || HEADER_REGEXP.match?(v)
        raise InvalidComponentError, "bad component(expected opaque component): #{v}"
      end
      @headers = (v || "").split("&").map { |x| x.split("=", 2) }
    end

    def to_s
      query = @headers.map { |x| x.join("=") }.join("&")
      "#{@scheme}:#{@to}#{query.empty? ? "" : "?#{query}"}#{@fragment ? "##{@fragment}" : ""}"
    end

    def to_mailtext
      to = URI.decode_www_form_component(@to)
      head = +""
      body = +""
      @headers.each do |x|
        case x[0]
        when "body" then body = URI.decode_www_form_component(x[1])
        when "to" then to << ", " + URI.decode_www_form_component(x[1])
        else head << "#{URI.decode_www_form_component(x[0]).capitalize}: #{URI.decode_www_form_component(x[1])}\n"
        end
      end
      "To: #{to}\n#{head}\n#{body}\n"
    end
    alias to_rfc822text to_mailtext
  end

  # Helpers of the builders.
  module Util
    module_function

    def make_components_hash(klass, array_hash)
      tmp = {}
      if array_hash.is_a?(Array) && array_hash.size == klass.component.size - 1
        klass.component[1..].each_index do |i|
          tmp[klass.component[i + 1]] = array_hash[i].clone
        rescue TypeError
          tmp[klass.component[i + 1]] = array_hash[i]
        end
      elsif array_hash.is_a?(Hash)
        array_hash.each do |key, value|
          tmp[key] = value.clone
        rescue TypeError
          tmp[key] = value
        end
      else
        raise ArgumentError, "expected Array of or Hash of components of #{klass} (#{klass.component[1..].join(", ")})"
      end
      tmp[:scheme] = klass.to_s.sub(/\A.*::/, "").downcase
      tmp
    end
  end

  # --- the module's own functions -----------------------------------------------------------

  @@schemes = {}
  def self.register_scheme(scheme, klass) = @@schemes[scheme.to_s.upcase] = klass
  def self.scheme_list = @@schemes.dup
  { FTP: FTP, HTTP: HTTP, HTTPS: HTTPS, LDAP: LDAP, LDAPS: LDAPS, MAILTO: MailTo, FILE: File, WS: WS, WSS: WSS }.each do |n, c|
    register_scheme n, c
  end

  def self.for(scheme, *arguments, default: Generic)
    const = scheme ? @@schemes[scheme.upcase] || default : default
    const.new(scheme, *arguments)
  end

  def self.split(uri) = DEFAULT_PARSER.split(uri)
  def self.parse(uri) = DEFAULT_PARSER.parse(uri)
  def self.join(*str) = DEFAULT_PARSER.join(*str)
  def self.extract(str, schemes = nil, &block) = DEFAULT_PARSER.extract(str, schemes, &block)
  def self.regexp(schemes = nil) = DEFAULT_PARSER.make_regexp(schemes)
  def self.escape(str, unsafe = nil) = unsafe ? DEFAULT_PARSER.escape(str, unsafe) : DEFAULT_PARSER.escape(str)
  def self.unescape(str) = DEFAULT_PARSER.unescape(str)
  def self.open(name, *rest, &block) = Kernel.open(name, *rest, &block)

  def self.encode_www_form_component(str, enc = nil)
    __encode(/[^*\-.0-9A-Z_a-z]/, str, enc) { |b| b == 32 ? "+" : format("%%%02X", b) }
  end

  def self.decode_www_form_component(str, enc = Encoding::UTF_8)
    __decode(/\+|%\h\h/, str, enc)
  end

  def self.encode_uri_component(str, enc = nil)
    __encode(/[^*\-.0-9A-Z_a-z]/, str, enc) { |b| format("%%%02X", b) }
  end

  def self.decode_uri_component(str, enc = Encoding::UTF_8)
    __decode(/%\h\h/, str, enc)
  end

  def self.__encode(unsafe, str, enc)
    str = str.to_s.dup
    if str.encoding != Encoding::BINARY
      if enc && enc != Encoding::BINARY
        str = str.encode(Encoding::UTF_8, invalid: :replace, undef: :replace)
        str = str.encode(enc, fallback: lambda { |x| "&##{x.ord};" })
      end
      str = str.b
    end
    str.force_encoding(Encoding::BINARY)
    str.gsub!(unsafe) { |c| yield c.getbyte(0) }
    str.force_encoding(Encoding::US_ASCII)
  end
  private_class_method :__encode

  def self.__decode(pattern, str, enc)
    raise ArgumentError, "invalid %-encoding (#{str})" if /%(?!\h\h)/.match?(str)
    str.b.gsub(pattern) { |m| m == "+" ? " " : m[1, 2].hex.chr }.force_encoding(enc)
  end
  private_class_method :__decode

  def self.encode_www_form(enum, enc = nil)
    enum.map do |k, v|
      if v.nil?
        encode_www_form_component(k, enc)
      elsif v.respond_to?(:to_ary)
        v.to_ary.map { |w| w.nil? ? encode_www_form_component(k, enc) : "#{encode_www_form_component(k, enc)}=#{encode_www_form_component(w, enc)}" }.join("&")
      else
        "#{encode_www_form_component(k, enc)}=#{encode_www_form_component(v, enc)}"
      end
    end.join("&")
  end

  def self.decode_www_form(str, enc = Encoding::UTF_8, separator: "&", use__charset_: false, isindex: false)
    raise ArgumentError, "the input of URI.#{__method__} must be ASCII only string" unless str.ascii_only?
    ary = []
    return ary if str.empty?
    str.b.each_line(separator) do |string|
      string.chomp!(separator)
      key, sep, val = string.partition("=")
      if isindex
        val, key = key, +"" if sep.empty?
        isindex = false
      end
      if use__charset_ && key == "_charset_" && (e = (Encoding.find(val) rescue nil))
        enc = e
        use__charset_ = false
      end
      ary << [decode_www_form_component(key, enc), decode_www_form_component(val || "", enc)]
    end
    ary
  end

  def self.get_encoding(label)
    Encoding.find(label.to_s)
  rescue ArgumentError
    nil
  end
end

module Kernel
  def URI(uri)
    if uri.is_a?(URI::Generic)
      uri
    elsif (s = String.try_convert(uri))
      URI.parse(s)
    else
      raise ArgumentError, "bad argument (expected URI object or URI string)"
    end
  end
  module_function :URI
end
