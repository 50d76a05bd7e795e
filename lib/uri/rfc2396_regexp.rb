# frozen_string_literal: true

module URI
  # The grammar of RFC 2396, part by part: what older programs build their own patterns from.
  module RFC2396_REGEXP
    module PATTERN
      ALPHA = "a-zA-Z"
      ALNUM = "#{ALPHA}\\d"
      HEX = "a-fA-F\\d"
      ESCAPED = "%[#{HEX}]{2}"
      UNRESERVED = "\\-_.!~*'()#{ALNUM}"
      RESERVED = ";/?:@&=+$,\\[\\]"

      # Names and numbers of hosts.
      DOMLABEL = "(?:[#{ALNUM}](?:[-_#{ALNUM}]*[#{ALNUM}])?)"
      TOPLABEL = "(?:[#{ALPHA}](?:[-_#{ALNUM}]*[#{ALNUM}])?)"
      HOSTNAME = "(?:(?:[a-zA-Z0-9\\-.]|%\\h\\h)+)"
      IPV4ADDR = "\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}\\.\\d{1,3}"
      HEX4 = "[#{HEX}]{1,4}"
      private_constant :HEX4
      LASTPART = "(?:#{HEX4}|#{IPV4ADDR})"
      private_constant :LASTPART
      IPV6ADDR = "(?:(?:#{HEX4}:)*#{LASTPART}|(?:(?:#{HEX4}:)*#{HEX4})?::(?:(?:#{HEX4}:)*#{LASTPART})?)"
      IPV6REF = "\\[#{IPV6ADDR}\\]"
      HOST = "(?:#{HOSTNAME}|#{IPV4ADDR}|#{IPV6REF})"
      PORT = "\\d*"
      HOSTPORT = "#{HOST}(?::#{PORT})?"

      SCHEME = "[#{ALPHA}][\\-+.#{ALPHA}\\d]*"
      USERINFO = "(?:[#{UNRESERVED};:&=+$,]|#{ESCAPED})*"
      REG_NAME = "(?:[#{UNRESERVED}$,;:@&=+]|#{ESCAPED})+"
      URIC = "(?:[#{UNRESERVED}#{RESERVED}]|#{ESCAPED})"
      URIC_NO_SLASH = "(?:[#{UNRESERVED};?:@&=+$,]|#{ESCAPED})"
      QUERY = "#{URIC}*"
      FRAGMENT = "#{URIC}*"

      SEGMENT = "(?:[#{UNRESERVED}:@&=+$,]|#{ESCAPED})*(?:;(?:[#{UNRESERVED}:@&=+$,]|#{ESCAPED})*)*"
      private_constant :SEGMENT
      PATH_SEGMENTS = "#{SEGMENT}(?:/#{SEGMENT})*"
      ABS_PATH = "/#{PATH_SEGMENTS}"
      REL_SEGMENT = "(?:[#{UNRESERVED};@&=+$,]|#{ESCAPED})+"
      REL_PATH = "#{REL_SEGMENT}(?:#{ABS_PATH})?"
      NET_PATH = "//(?:(?:(?:#{USERINFO}@)?#{HOSTPORT})?|#{REG_NAME})(?:#{ABS_PATH})?"
      HIER_PART = "(?:#{NET_PATH}|#{ABS_PATH})(?:\\?(?:#{QUERY}))?"
      OPAQUE_PART = "#{URIC_NO_SLASH}#{URIC}*"
      ABS_URI = "#{SCHEME}:(?:#{HIER_PART}|#{OPAQUE_PART})"
      REL_URI = "(?:#{NET_PATH}|#{ABS_PATH}|#{REL_PATH})(?:\\?#{QUERY})?"
      URI_REF = "(?:#{ABS_URI}|#{REL_URI})?(?:##{FRAGMENT})?"
    end
  end
  REGEXP = RFC2396_REGEXP
end
