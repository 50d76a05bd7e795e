# frozen_string_literal: true

require "uri/generic"

module URI
  # A resource on a web server.
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

  register_scheme :HTTP, HTTP
end
