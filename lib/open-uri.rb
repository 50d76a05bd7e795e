# frozen_string_literal: true

require "uri"
require "net/http"
require "stringio"
require "time"

# URI.open and URI#open, #read: documents of the web as streams.
module URI
  def self.open(name, *rest, **options, &block)
    uri = String === name || name.respond_to?(:to_str) ? (URI.parse(name.to_str) rescue nil) : name
    return uri.open(*rest, **options, &block) if uri.respond_to?(:open) && !(IO === uri) && !uri.respond_to?(:to_path)
    super_open(name, *rest, **options, &block)
  end

  def self.super_open(...) = Kernel.open(...)
  private_class_method :super_open
end

module OpenURI
  VERSION = "0.5.0"

  # Keywords, and whether they are given on as strings of the request.
  OPTIONS = %i[
    proxy proxy_http_basic_authentication progress_proc content_length_proc http_basic_authentication read_timeout open_timeout
    redirect max_redirects encoding ssl_ca_cert ssl_verify_mode ssl_min_version ssl_max_version ftp_active_mode
    request_specific_fields
  ].freeze
  MAX_REDIRECTS = 64
  # Longer documents are kept in a file.
  IN_MEMORY = 10_240
  private_constant :OPTIONS, :IN_MEMORY

  class HTTPError < StandardError
    attr_reader :io

    def initialize(message, io)
      super(message)
      @io = io
    end
  end

  class HTTPRedirect < HTTPError
    attr_reader :uri

    def initialize(message, io, uri)
      super(message, io)
      @uri = uri
    end
  end

  class TooManyRedirects < HTTPError
  end

  # What the server said about a document.
  module Meta
    attr_accessor :base_uri, :status
    attr_reader :meta, :metas

    def meta_setup(res, uri)
      @base_uri = uri
      @status = [res.code, res.message]
      @metas = res.to_hash
      @meta = @metas.transform_values { |v| v.join(", ") }
    end

    def last_modified = (v = @meta["last-modified"]) && Time.httpdate(v)
    def content_type = @meta["content-type"]&.[](/\A\s*([^;\s]+)/, 1)&.downcase || "application/octet-stream"
    def content_encoding = (v = @meta["content-encoding"]) ? v.downcase.split(/\s*,\s*/) : []

    def charset
      found = @meta["content-type"]&.[](/;\s*charset\s*=\s*"?([^";\s]+)/i, 1)
      return found.downcase if found
      return yield if block_given?
      content_type.start_with?("text/") && /\Ahttp\z/i.match?(@base_uri&.scheme.to_s) ? "utf-8" : nil
    end
  end

  class << self
    def open_uri(uri, mode = "r", _perm = nil, **options, &block)
      unless String === mode && mode.match?(/\Arb?\z/) || Integer === mode && mode & File::ACCMODE == File::RDONLY
        raise ArgumentError, "invalid access mode #{mode} (#{uri.class} resource is read only.)"
      end
      fields = options.select { |k, _| String === k }
      options = options.reject { |k, _| String === k }
      options.each_key { |k| raise ArgumentError, "unrecognized option: #{k}" unless OPTIONS.include?(k) }
      io = fetch(uri, fields, options)
      encoding = options[:encoding] || io.charset
      io.set_encoding(encoding) if encoding && (Encoding.find(encoding) rescue nil)
      return io unless block
      begin
        yield io
      ensure
        io.respond_to?(:close!) ? io.close! : io.close
      end
    end

    private

    def fetch(uri, fields, options)
      seen = []
      limit = options.fetch(:max_redirects, MAX_REDIRECTS)
      while true
        res, io = request(uri, fields, options)
        io.extend(Meta)
        io.meta_setup(res, uri)
        message = "#{res.code} #{res.message}"
        case res
        when Net::HTTPSuccess
          return io
        when Net::HTTPMovedPermanently, Net::HTTPFound, Net::HTTPSeeOther, Net::HTTPTemporaryRedirect, Net::HTTPPermanentRedirect
          begin
            target = uri.merge(res["location"] || raise(URI::InvalidURIError))
          rescue URI::InvalidURIError
            raise HTTPError.new("#{message} (Invalid Location URI)", io)
          end
          raise HTTPRedirect.new(message, io, target) if options[:redirect] == false
          # What is asked for over a safe connection is not looked for over an unsafe one, nor on this machine.
          unless target.scheme == uri.scheme || uri.scheme == "http" && target.scheme == "https"
            raise "redirection forbidden: #{uri} -> #{target}"
          end
          seen << uri.to_s
          raise "HTTP redirection loop: #{target}" if seen.include?(target.to_s)
          raise TooManyRedirects.new("Too many redirects", io) if seen.size > limit
          # A password is for the server it was given for.
          options = options.reject { |k, _| k == :http_basic_authentication } if target.host != uri.host || target.port != uri.port
          uri = target
        else
          raise HTTPError.new(message, io)
        end
      end
    end

    def request(uri, fields, options)
      raise ArgumentError, "userinfo not supported.  [RFC3986]" if uri.userinfo
      get = Net::HTTP::Get.new(uri, fields)
      user, password = options[:http_basic_authentication]
      get.basic_auth(user, password) if user
      http = connection(uri, options[:proxy])
      http.use_ssl = uri.scheme == "https"
      http.read_timeout = options[:read_timeout] if options.key?(:read_timeout)
      http.open_timeout = options[:open_timeout] if options.key?(:open_timeout)
      sink = StringIO.new("".b)
      res = http.start do
        http.request(get) do |r|
          options[:content_length_proc]&.call(r.content_length) if Net::HTTPSuccess === r
          r.read_body do |part|
            sink << part
            sink = to_file(sink) if StringIO === sink && sink.size > IN_MEMORY
            options[:progress_proc]&.call(sink.size) if Net::HTTPSuccess === r
          end
        end
      end
      sink.rewind
      [res, sink]
    end

    def connection(uri, proxy)
      host = uri.hostname
      case proxy
      when nil, true then Net::HTTP.new(host, uri.port)
      when false then Net::HTTP.new(host, uri.port, nil)
      else
        proxy = URI.parse(proxy) if String === proxy
        Net::HTTP.new(host, uri.port, proxy.hostname, proxy.port, proxy.user, proxy.password)
      end
    end

    def to_file(memory)
      require "tempfile"
      file = Tempfile.new("open-uri")
      file.binmode
      file << memory.string
      file
    end
  end

  # What URIs can do with it.
  module OpenRead
    def open(*rest, **options, &block) = OpenURI.open_uri(self, *rest, **options, &block)

    def read(**options)
      self.open(**options) do |f|
        text = f.read
        text.extend(Meta)
        %i[@base_uri @status @meta @metas].each { |v| text.instance_variable_set(v, f.instance_variable_get(v)) }
        text
      end
    end
  end
end

module URI
  class HTTP
    include OpenURI::OpenRead
  end
end
