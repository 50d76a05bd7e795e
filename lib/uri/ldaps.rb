# frozen_string_literal: true

require "uri/ldap"

module URI
  # The same, encrypted.
  class LDAPS < LDAP
    DEFAULT_PORT = 636
  end

  register_scheme :LDAPS, LDAPS
end
