# frozen_string_literal: true

class ERB
  # Escapes for HTML and URLs.
  module Util
    ESCAPES = { "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", '"' => "&quot;", "'" => "&#39;" }.freeze
    private_constant :ESCAPES

    def html_escape(s)
      s = s.to_s
      return s.gsub(/['&"<>]/, ESCAPES) if !s.encoding.ascii_compatible? || s.valid_encoding?
      s.b.gsub(/['&"<>]/n, ESCAPES).force_encoding(s.encoding)
    end
    alias h html_escape
    module_function :h, :html_escape

    def url_encode(s)
      s.to_s.b.gsub(/[^a-zA-Z0-9_\-.~]/n) { |m| format("%%%02X", m.unpack1("C")) }.force_encoding(Encoding::UTF_8)
    end
    alias u url_encode
    module_function :u, :url_encode
  end

  Escape = Util
end
