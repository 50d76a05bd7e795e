# frozen_string_literal: true

# The fields of a request or response. Names are the same in any case.
module Net::HTTPHeader
  # Longest field taken from a server.
  MAX_KEY_LENGTH = 1024
  MAX_FIELD_LENGTH = 65_536

  def initialize_http_header(initheader)
    @header = {}
    return unless initheader
    initheader.each do |key, value|
      warn "net/http: duplicated HTTP header: #{key}", uplevel: 3 if key?(key) && $VERBOSE
      if value.nil?
        warn "net/http: nil HTTP header: #{key}", uplevel: 3 if $VERBOSE
      else
        @header[field(key)] = [checked(value.to_s.strip)]
      end
    end
  end

  def size = @header.size
  alias length size

  def [](key) = @header[field(key)]&.join(", ")

  def []=(key, value)
    key = field(key)
    return @header.delete(key) unless value
    @header[key] = []
    append(@header[key], value)
  end

  def add_field(key, value)
    append(@header[field(key)] ||= [], value)
  end

  def get_fields(key) = @header[field(key)]&.dup

  def fetch(key, *args, &block)
    values = @header.fetch(field(key), *args, &block)
    Array === values ? values.join(", ") : values
  end

  def each_header
    return to_enum(__method__) { @header.size } unless block_given?
    @header.each { |k, v| yield k, v.join(", ") }
  end
  alias each each_header

  def each_key(&block)
    return to_enum(__method__) { @header.size } unless block
    @header.each_key(&block)
  end
  alias each_name each_key

  def each_capitalized_name
    return to_enum(__method__) { @header.size } unless block_given?
    @header.each_key { |k| yield capitalize(k) }
  end

  def each_value
    return to_enum(__method__) { @header.size } unless block_given?
    @header.each_value { |v| yield v.join(", ") }
  end

  def each_capitalized
    return to_enum(__method__) { @header.size } unless block_given?
    @header.each { |k, v| yield capitalize(k), v.join(", ") }
  end
  alias canonical_each each_capitalized

  def delete(key) = @header.delete(field(key))
  def key?(key) = @header.key?(field(key))
  def to_hash = @header.dup

  # --- fields with a meaning ---

  # Ranges of bytes asked for.
  def range
    return nil unless (value = self["Range"])
    unless value.match?(/\Abytes=((?:,[ \t]*)*(?:\d+-\d*|-\d+)(?:[ \t]*,(?:[ \t]*\d+-\d*|-\d+)?)*)\z/)
      raise Net::HTTPHeaderSyntaxError, "invalid syntax for byte-ranges-specifier: '#{value}'"
    end
    value.delete_prefix("bytes=").split(",").filter_map do |part|
      m = part.strip.match(/\A(\d+)?-(\d+)?\z/) or next
      first = m[1]&.to_i
      last = m[2]&.to_i
      raise Net::HTTPHeaderSyntaxError, "invalid byte-range-spec: '#{part}'" if first && last && last < first
      first.nil? ? -last..-1 : first..(last || -1)
    end
  end

  def set_range(range, length = nil)
    unless range
      @header.delete("range")
      return range
    end
    range = range...(range + length) if length
    spec = case range
    when Numeric
      n = range.to_i
      n > 0 ? "0-#{n - 1}" : "-#{-n}"
    when Range
      first = range.first
      last = range.end || -1
      last -= 1 if range.exclude_end? && range.end
      if last == -1 && !(range.exclude_end? && range.end)
        first > 0 ? "#{first}-" : "-#{-first}"
      else
        raise Net::HTTPHeaderSyntaxError, "range.first is negative" if first < 0
        raise Net::HTTPHeaderSyntaxError, "range.last is negative" if last < 0
        raise Net::HTTPHeaderSyntaxError, "must be .first < .last" if first > last
        "#{first}-#{last}"
      end
    else
      raise TypeError, "Range/Integer is required"
    end
    @header["range"] = ["bytes=#{spec}"]
    range
  end
  alias range= set_range

  def content_length
    return nil unless (value = self["Content-Length"])
    digits = value[/\d+/] or raise Net::HTTPHeaderSyntaxError, "wrong Content-Length format"
    digits.to_i
  end

  def content_length=(length)
    return @header.delete("content-length") unless length
    @header["content-length"] = [length.to_i.to_s]
  end

  def chunked?
    value = self["Transfer-Encoding"]
    value ? value.match?(/(?:\A|[^\-\w])chunked(?![\-\w])/i) : false
  end

  def content_range
    return nil unless (value = self["Content-Range"])
    m = value.match(/\A\s*(\w+)\s+(\d+)-(\d+)\/(\d+|\*)/) or
      raise Net::HTTPHeaderSyntaxError, "wrong Content-Range format"
    m[2].to_i..m[3].to_i if m[1] == "bytes"
  end

  def range_length
    r = content_range
    r && r.end - r.begin + 1
  end

  def content_type
    return nil unless (main = main_type)
    (sub = sub_type) ? "#{main}/#{sub}" : main
  end

  def main_type = media_type&.[](0)&.strip
  def sub_type = media_type&.[](1)&.strip

  def type_params
    (self["Content-Type"] || "").split(";").drop(1).to_h do |param|
      k, v = param.split("=", 2)
      [k.strip, v.to_s.strip]
    end
  end

  def set_content_type(type, params = {})
    @header["content-type"] = [type + params.map { |k, v| "; #{k}=#{v}" }.join]
  end
  alias content_type= set_content_type

  # The body becomes a form.
  def set_form_data(params, separator = "&")
    query = URI.encode_www_form(params)
    query = query.gsub("&", separator) if separator != "&"
    self.body = query
    self.content_type = "application/x-www-form-urlencoded"
  end
  alias form_data= set_form_data

  # A form, by default urlencoded when it is sent; "multipart/form-data" can have files.
  def set_form(params, enctype = "application/x-www-form-urlencoded", formopt = {})
    @body_data = params
    @body = nil
    @body_stream = nil
    @form_option = formopt
    case enctype
    when /\Aapplication\/x-www-form-urlencoded\z/i, /\Amultipart\/form-data\z/i
      self.content_type = enctype
    else
      raise ArgumentError, "invalid enctype: #{enctype}"
    end
  end

  def basic_auth(account, password)
    @header["authorization"] = [basic_encode(account, password)]
  end

  def proxy_basic_auth(account, password)
    @header["proxy-authorization"] = [basic_encode(account, password)]
  end

  def connection_close? = token?("connection", "close") || token?("proxy-connection", "close")
  def connection_keep_alive? = token?("connection", "keep-alive") || token?("proxy-connection", "keep-alive")

  private

  def field(key) = key.to_s.downcase
  def capitalize(name) = name.to_s.split("-", -1).map(&:capitalize).join("-")
  def basic_encode(account, password) = "Basic " + ["#{account}:#{password}"].pack("m0")
  def token?(key, token) = @header[key]&.any? { |v| v.match?(/(?:\A|,)\s*#{token}\s*(?:\z|,)/i) } || false
  def media_type = self["Content-Type"]&.split(";")&.first&.split("/")

  def append(list, value)
    if !(String === value) && value.respond_to?(:each) && !(Hash === value)
      value.each { |v| append(list, v) }
    else
      list << checked(value.to_s)
    end
  end

  def checked(value)
    raise ArgumentError, "header field value cannot include CR/LF" if value.b.match?(/[\r\n]/n)
    value
  end
end
