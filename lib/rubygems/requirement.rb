# frozen_string_literal: true

module Gem
  # Conditions on a version, all of which must hold: ">= 1.2", "~> 3.0".
  class Requirement
    OPS = {
      "=" => ->(v, r) { v == r },
      "!=" => ->(v, r) { v != r },
      ">" => ->(v, r) { v > r },
      "<" => ->(v, r) { v < r },
      ">=" => ->(v, r) { v >= r },
      "<=" => ->(v, r) { v <= r },
      "~>" => ->(v, r) { v >= r && v.release < r.bump },
    }.freeze
    PATTERN = /\A\s*(#{OPS.keys.map { |k| Regexp.escape(k) }.join("|")})?\s*(#{Version::VERSION_PATTERN})\s*\z/
    DefaultRequirement = [">=", Version.new(0)].freeze
    DefaultPrereleaseRequirement = [">=", Version.new("0.a")].freeze

    class BadRequirementError < ArgumentError; end

    def self.create(*inputs)
      return new(*inputs) if inputs.size != 1
      case (input = inputs[0])
      when Requirement then input
      when Version, Array then new(*input)
      when "!" then raise BadRequirementError, "Illformed requirement [\"!\"]"
      else input.respond_to?(:to_str) ? new(input.to_str) : default
      end
    end

    def self.default = new(">= 0")
    def self.default_prerelease = new(">= 0.a")

    # [operator, version] of a text or a version.
    def self.parse(obj)
      return ["=", obj] if obj.is_a?(Version)
      m = PATTERN.match(obj.to_s) or raise BadRequirementError, "Illformed requirement [#{obj.inspect}]"
      m[1] == ">=" && m[2] == "0" ? DefaultRequirement : [m[1] || "=", Version.new(m[2])]
    end

    attr_reader :requirements

    def initialize(*requirements)
      requirements = requirements.flatten.compact.uniq
      @requirements = requirements.empty? ? [DefaultRequirement] : requirements.map { |r| Requirement.parse(r) }
    end

    def concat(more) = @requirements.concat(more.flatten.compact.uniq.map { |r| Requirement.parse(r) })
    def none? = @requirements == [DefaultRequirement]
    def exact? = @requirements.size == 1 && @requirements[0][0] == "="
    def prerelease? = @requirements.any? { |_, v| v.prerelease? }
    def specific? = @requirements.size > 1 || !%w[> >=].include?(@requirements[0][0])

    def satisfied_by?(version)
      raise ArgumentError, "Need a Gem::Version: #{version.inspect}" unless version.is_a?(Version)
      @requirements.all? { |op, r| OPS[op].call(version, r) }
    end
    alias === satisfied_by?
    alias =~ satisfied_by?

    def as_list = @requirements.map { |op, v| "#{op} #{v}" }
    def to_s = as_list.join(", ")
    def for_lockfile = none? ? nil : " (#{as_list.sort.reverse.join(", ")})"
    def inspect = "#<#{self.class} #{as_list.map(&:inspect).join(", ")}>"
    def pretty_print(q) = q.text("Gem::Requirement.new(#{as_list.map(&:inspect).join(", ")})")
    def ==(other) = other.is_a?(Requirement) && sorted == other.sorted
    def hash = sorted.hash
    alias eql? ==
    def marshal_dump = [@requirements]
    def marshal_load(array) = @requirements = array[0]

    protected

    # "~> 1.0" and "~> 1.0.0" differ, though their versions are equal.
    def sorted = @requirements.map { |op, v| op == "~>" ? [op, v.to_s] : [op, v.canonical_segments] }.sort_by(&:inspect)
  end
end
