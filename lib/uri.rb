# frozen_string_literal: true

# Uniform resource identifiers (RFC 3986): parsing, building, joining, encoding. A class for each scheme that has parts of its
# own, URI::Generic for all others.
require "uri/rfc2396_regexp"
require "uri/common"
require "uri/generic"
require "uri/ftp"
require "uri/http"
require "uri/https"
require "uri/ldap"
require "uri/ldaps"
require "uri/mailto"
require "uri/file"
require "uri/ws"
require "uri/wss"
