# frozen_string_literal: true

module Gem
  # The version of a gem: numbers and words, compared part by part. A word stands before every number, so that
  # "1.0.a" is older than "1.0". Immutable; one object per text.
  class Version
    include Comparable

    VERSION_PATTERN = '[0-9]+(?>\.[0-9a-zA-Z]+)*(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?'
    ANCHORED_VERSION_PATTERN = /\A\s*(#{VERSION_PATTERN})?\s*\z/

    KNOWN = {}
    private_constant :KNOWN

    def self.correct?(version) = version.nil? ? false : ANCHORED_VERSION_PATTERN.match?(version.to_s)

    def self.create(input)
      return input if input.is_a?(Version)
      input.nil? ? nil : new(input)
    end

    def self.new(version)
      return super unless equal?(Version)
      KNOWN[version.to_s.dup.freeze] ||= super
    end

    def initialize(version)
      raise ArgumentError, "Malformed version number string #{version}" unless self.class.correct?(version)
      text = version.to_s.strip
      text = "0" if text.empty?
      @version = text.gsub("-", ".pre.").freeze
    end

    def version = @version
    alias to_s version

    # Numbers and words in order.
    def segments = parts.dup

    # Without the zeros that say nothing: 1.0.0 is 1, 1.0.0.a is 1.a.
    def canonical_segments
      @canonical_segments ||= begin
        at = parts.index { |p| p.is_a?(String) } || parts.size
        [parts[0...at], parts[at..]].flat_map { |side| side.reverse.drop_while { |p| p == 0 }.reverse }.freeze
      end
    end

    def prerelease? = @version.match?(/[a-zA-Z]/)

    # The version that this one comes before: 1.2.0.a gives 1.2.0.
    def release
      return self unless prerelease?
      Version.new(parts.take_while { |p| p.is_a?(Integer) }.join("."))
    end

    # The next version that "~>" keeps out: 5.3.1 gives 5.4.
    def bump
      numbers = parts.take_while { |p| p.is_a?(Integer) }
      numbers.pop if numbers.size > 1
      numbers[-1] = numbers[-1].succ
      Version.new(numbers.join("."))
    end

    def approximate_recommendation
      numbers = parts.take_while { |p| p.is_a?(Integer) }.first(2)
      numbers << 0 while numbers.size < 2
      "~> #{numbers.join(".")}#{".a" if prerelease?}"
    end

    def <=>(other)
      return self <=> Version.new(other) if other.is_a?(String) && Version.correct?(other)
      return nil unless other.is_a?(Version)
      return 0 if @version == other.version
      a = canonical_segments
      b = other.canonical_segments
      [a.size, b.size].max.times do |i|
        x = a[i] || 0
        y = b[i] || 0
        next if x == y
        return x.is_a?(String) ? -1 : 1 if x.is_a?(String) != y.is_a?(String)
        return x <=> y
      end
      0
    end

    def eql?(other) = other.is_a?(Version) && @version == other.version
    def hash = canonical_segments.hash
    def inspect = "#<#{self.class} #{@version.inspect}>"
    def pretty_print(q) = q.text("Gem::Version.new(#{@version.inspect})")
    def encode_with(coder) = coder.add("version", @version)
    def marshal_dump = [@version]
    def marshal_load(array) = initialize(array[0])

    protected

    def parts
      @parts ||= @version.scan(/[0-9]+|[a-z]+/i).map { |s| s.match?(/\A\d/) ? s.to_i : s.freeze }.freeze
    end
  end
end
