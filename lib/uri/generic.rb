# frozen_string_literal: true

require "uri/common"

module URI
  # A URI of any scheme. Either it has an opaque part or it is hierarchical (authority, path, query), never both; what is set by
  # name is checked, what the parser found is not checked again.
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
end
