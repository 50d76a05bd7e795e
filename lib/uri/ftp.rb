# frozen_string_literal: true

require "uri/generic"

module URI
  # A file on an FTP server (RFC 1738). The type code stands behind the path, and not in it once parsed.
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

  register_scheme :FTP, FTP
end
