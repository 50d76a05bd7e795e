# frozen_string_literal: true

require "uri/version"
require "uri/coding"
require "uri/rfc3986_parser"

# What belongs to no scheme: errors, the table of schemes, and the module's own functions. Schemes enter themselves in the table.
module URI
  class Error < StandardError; end
  class InvalidURIError < Error; end
  class InvalidComponentError < Error; end
  class BadURIError < Error; end

  @@schemes = {}
  def self.register_scheme(scheme, klass) = @@schemes[scheme.to_s.upcase] = klass
  def self.scheme_list = @@schemes.dup

  def self.for(scheme, *arguments, default: Generic)
    const = scheme ? @@schemes[scheme.upcase] || default : default
    const.new(scheme, *arguments)
  end

  def self.split(uri) = DEFAULT_PARSER.split(uri)
  def self.parse(uri) = DEFAULT_PARSER.parse(uri)
  def self.join(*str) = DEFAULT_PARSER.join(*str)
  def self.extract(str, schemes = nil, &block) = DEFAULT_PARSER.extract(str, schemes, &block)
  def self.regexp(schemes = nil) = DEFAULT_PARSER.make_regexp(schemes)
  def self.escape(str, unsafe = nil) = unsafe ? DEFAULT_PARSER.escape(str, unsafe) : DEFAULT_PARSER.escape(str)
  def self.unescape(str) = DEFAULT_PARSER.unescape(str)
  def self.open(name, *rest, &block) = Kernel.open(name, *rest, &block)

  # Helpers of the builders.
  module Util
    module_function

    def make_components_hash(klass, array_hash)
      tmp = {}
      if array_hash.is_a?(Array) && array_hash.size == klass.component.size - 1
        klass.component[1..].each_index do |i|
          tmp[klass.component[i + 1]] = array_hash[i].clone
        rescue TypeError
          tmp[klass.component[i + 1]] = array_hash[i]
        end
      elsif array_hash.is_a?(Hash)
        array_hash.each do |key, value|
          tmp[key] = value.clone
        rescue TypeError
          tmp[key] = value
        end
      else
        raise ArgumentError, "expected Array of or Hash of components of #{klass} (#{klass.component[1..].join(", ")})"
      end
      tmp[:scheme] = klass.to_s.sub(/\A.*::/, "").downcase
      tmp
    end
  end
end

module Kernel
  def URI(uri)
    if uri.is_a?(URI::Generic)
      uri
    elsif (s = String.try_convert(uri))
      URI.parse(s)
    else
      raise ArgumentError, "bad argument (expected URI object or URI string)"
    end
  end
  module_function :URI
end
