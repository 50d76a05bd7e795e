# frozen_string_literal: true

require "uri/generic"

module URI
  # A file of a host (RFC 8089). There is no user and no port.
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

  register_scheme :FILE, File
end
