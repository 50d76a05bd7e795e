# frozen_string_literal: true

# Percent-encoding of single components, and of forms. Texts are encoded byte by byte.
module URI
  def self.encode_www_form_component(str, enc = nil)
    __encode(/[^*\-.0-9A-Z_a-z]/, str, enc) { |b| b == 32 ? "+" : format("%%%02X", b) }
  end

  def self.decode_www_form_component(str, enc = Encoding::UTF_8)
    __decode(/\+|%\h\h/, str, enc)
  end

  def self.encode_uri_component(str, enc = nil)
    __encode(/[^*\-.0-9A-Z_a-z]/, str, enc) { |b| format("%%%02X", b) }
  end

  def self.decode_uri_component(str, enc = Encoding::UTF_8)
    __decode(/%\h\h/, str, enc)
  end

  def self.__encode(unsafe, str, enc)
    str = str.to_s.dup
    if str.encoding != Encoding::BINARY
      if enc && enc != Encoding::BINARY
        str = str.encode(Encoding::UTF_8, invalid: :replace, undef: :replace)
        str = str.encode(enc, fallback: lambda { |x| "&##{x.ord};" })
      end
      str = str.b
    end
    str.force_encoding(Encoding::BINARY)
    str.gsub!(unsafe) { |c| yield c.getbyte(0) }
    str.force_encoding(Encoding::US_ASCII)
  end
  private_class_method :__encode

  def self.__decode(pattern, str, enc)
    raise ArgumentError, "invalid %-encoding (#{str})" if /%(?!\h\h)/.match?(str)
    str.b.gsub(pattern) { |m| m == "+" ? " " : m[1, 2].hex.chr }.force_encoding(enc)
  end
  private_class_method :__decode

  def self.encode_www_form(enum, enc = nil)
    enum.map do |k, v|
      if v.nil?
        encode_www_form_component(k, enc)
      elsif v.respond_to?(:to_ary)
        v.to_ary.map { |w| w.nil? ? encode_www_form_component(k, enc) : "#{encode_www_form_component(k, enc)}=#{encode_www_form_component(w, enc)}" }.join("&")
      else
        "#{encode_www_form_component(k, enc)}=#{encode_www_form_component(v, enc)}"
      end
    end.join("&")
  end

  def self.decode_www_form(str, enc = Encoding::UTF_8, separator: "&", use__charset_: false, isindex: false)
    raise ArgumentError, "the input of URI.#{__method__} must be ASCII only string" unless str.ascii_only?
    ary = []
    return ary if str.empty?
    str.b.each_line(separator) do |string|
      string.chomp!(separator)
      key, sep, val = string.partition("=")
      if isindex
        val, key = key, +"" if sep.empty?
        isindex = false
      end
      if use__charset_ && key == "_charset_" && (e = (Encoding.find(val) rescue nil))
        enc = e
        use__charset_ = false
      end
      ary << [decode_www_form_component(key, enc), decode_www_form_component(val || "", enc)]
    end
    ary
  end

  def self.get_encoding(label)
    Encoding.find(label.to_s)
  rescue ArgumentError
    nil
  end
end
