# frozen_string_literal: true

require "uri/generic"

module URI
  # A WebSocket.
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

  register_scheme :WS, WS
end
