# frozen_string_literal: true

require "uri/generic"

module URI
  # Addresses of mail and the fields of its head (RFC 6068), all of them in the opaque part.
  class MailTo < Generic
    DEFAULT_PORT = nil
    COMPONENT = [:scheme, :to, :headers].freeze
    EMAIL_REGEXP = /\A(?!\.)[a-zA-Z0-9.!\#$%&'*+\/=?^_`{|}~-]*(?<!\.)@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*\z/
    HEADER_REGEXP = /\A(?<hfield>(?:%\h\h|[!$'-.0-;@-Z_a-z~])*=(?:%\h\h|[!$'-.0-;@-Z_a-z~])*)(?:&\g<hfield>)*\z/

    attr_reader :to, :headers

    def self.build(args)
      tmp = Util.make_components_hash(self, args)
      case tmp[:to]
      when Array then tmp[:opaque] = tmp[:to].join(",")
      when String then tmp[:opaque] = tmp[:to].dup
      else tmp[:opaque] = ""
      end
      if tmp[:headers]
        query = case tmp[:headers]
                when Array then tmp[:headers].map { |x| x.is_a?(Array) ? "#{x[0]}=#{x[1..].join}" : x.to_s }.join("&")
                when Hash then tmp[:headers].map { |h, v| "#{h}=#{v}" }.join("&")
                else tmp[:headers].to_s
                end
        tmp[:opaque] += "?#{query}" unless query.empty?
      end
      super(tmp)
    end

    def initialize(*arg)
      super(*arg)
      @to = nil
      @headers = []
      # The mailto scheme has no authority: what stands before ? are addresses.
      to, header = (@opaque || "").split("?", 2)
      unless to.nil?
        self.to = to
      end
      self.headers = header if header
      raise InvalidComponentError, "unrecognised opaque part for mailtoURL: #{@opaque}" if @opaque && !HEADER_REGEXP.match?(header || "a=b")
    end

    def to=(v)
      v.to_s.split(",").each do |addr|
        addr = URI.decode_www_form_component(addr) rescue addr
        unless EMAIL_REGEXP.match?(addr)
          raise InvalidComponentError, "bad component(expected opaque component): #{v}"
        end
      end if v && !v.empty?
      @to = v || ""
    end

    def headers=(v)
      unless v.nil? || v.empty? || HEADER_REGEXP.match?(v)
        raise InvalidComponentError, "bad component(expected opaque component): #{v}"
      end
      @headers = (v || "").split("&").map { |x| x.split("=", 2) }
    end

    def to_s
      query = @headers.map { |x| x.join("=") }.join("&")
      "#{@scheme}:#{@to}#{query.empty? ? "" : "?#{query}"}#{@fragment ? "##{@fragment}" : ""}"
    end

    def to_mailtext
      to = URI.decode_www_form_component(@to)
      head = +""
      body = +""
      @headers.each do |x|
        case x[0]
        when "body" then body = URI.decode_www_form_component(x[1])
        when "to" then to << ", " + URI.decode_www_form_component(x[1])
        else head << "#{URI.decode_www_form_component(x[0]).capitalize}: #{URI.decode_www_form_component(x[1])}\n"
        end
      end
      "To: #{to}\n#{head}\n#{body}\n"
    end
    alias to_rfc822text to_mailtext
  end

  register_scheme :MAILTO, MailTo
end
