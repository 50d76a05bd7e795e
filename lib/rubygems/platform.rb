# frozen_string_literal: true

module Gem
  # What a gem was built for: "ruby" runs everywhere.
  class Platform
    RUBY = "ruby"
    CURRENT = "current"

    def self.new(arch)
      case arch
      when CURRENT then local
      when RUBY, nil, "" then RUBY
      else super
      end
    end

    def self.local = @local ||= new(RUBY_PLATFORM)
    def self.match(platform) = platform.nil? || platform == RUBY || new(platform.to_s) == local
    singleton_class.alias_method :match_platform?, :match
    singleton_class.alias_method :match_spec?, :match
    def self.installable?(spec) = match(spec.platform)

    attr_reader :cpu, :os, :version

    def initialize(arch)
      parts = arch.is_a?(Array) ? arch : arch.to_s.split("-", 3)
      parts = [nil, "java"] if parts == ["java"] || parts == ["jruby"]
      @cpu = parts[0]&.sub(/\Ai[3-6]86\z/, "x86")
      @os = (parts[1] || "unknown")[/\A[a-z]+/]
      @version = parts[2] || (parts[1] && parts[1][/\d.*\z/])
    end

    def to_a = [@cpu, @os, @version]
    def to_s = to_a.compact.join("-")
    def inspect = "#<#{self.class} @cpu=#{@cpu.inspect}, @os=#{@os.inspect}, @version=#{@version.inspect}>"
    def ==(other) = other.is_a?(Platform) && to_a == other.to_a
    alias eql? ==
    def hash = to_a.hash
    def ===(other) = other.is_a?(Platform) && (@cpu == "universal" || @cpu == other.cpu) && @os == other.os && (@version.nil? || other.version.nil? || @version == other.version)
    def =~(other) = self === (other.is_a?(Platform) ? other : Platform.new(other))
  end
end
