# frozen_string_literal: true

# Escapes for URLs and HTML, as web programs use them.
class CGI
  module Util
    HTML_ = { "'" => "&#39;", "&" => "&amp;", '"' => "&quot;", "<" => "&lt;", ">" => "&gt;" }.freeze
    private_constant :HTML_

    def escape(s)
      e = s.encoding
      s.b.gsub(/([^ a-zA-Z0-9_.\-~*]+)/n) { |m| "%" + m.unpack("H2" * m.bytesize).join("%").upcase }.tr(" ", "+").force_encoding(e)
    end

    def unescape(s, encoding = Encoding::UTF_8)
      r = s.tr("+", " ").b.gsub(/((?:%[0-9a-fA-F]{2})+)/n) { |m| [m.delete("%")].pack("H*") }.force_encoding(encoding)
      r.valid_encoding? ? r : r.force_encoding(s.encoding)
    end

    def escapeURIComponent(s) = escape(s).gsub("+", "%20")
    alias escape_uri_component escapeURIComponent

    def unescapeURIComponent(s, encoding = Encoding::UTF_8) = unescape(s.gsub("+", "%2B"), encoding)
    alias unescape_uri_component unescapeURIComponent

    def escapeHTML(s)
      return s.gsub(/['&"<>]/, HTML_) if !s.encoding.ascii_compatible? || s.valid_encoding?
      s.b.gsub(/['&"<>]/n, HTML_).force_encoding(s.encoding)
    end
    alias escape_html escapeHTML
    alias h escapeHTML

    def unescapeHTML(s)
      s.gsub(/&(apos|amp|quot|gt|lt|\#[0-9]+|\#[xX][0-9A-Fa-f]+);/) do
        m = $1
        case m
        when "apos" then "'"
        when "amp" then "&"
        when "gt" then ">"
        when "lt" then "<"
        when "quot" then '"'
        else
          n = m.match?(/\A#x/i) ? m[2..].hex : m[1..].to_i
          n < 0x110000 && !n.between?(0xd800, 0xdfff) ? [n].pack("U") : "&#{m};"
        end
      end
    end
    alias unescape_html unescapeHTML
  end
  include Util
  extend Util
  Escape = Util
end
