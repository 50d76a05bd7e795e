# frozen_string_literal: true

module Gem
  # A gem that another one needs, with the versions that will do.
  class Dependency
    TYPES = %i[development runtime].freeze

    attr_accessor :name
    attr_reader :type
    attr_writer :prerelease

    def initialize(name, *requirements)
      raise ArgumentError, "dependency name must be a string, was #{name.inspect}" unless name.is_a?(String) || name.is_a?(Regexp)
      type = requirements.last.is_a?(Symbol) ? requirements.pop : :runtime
      raise ArgumentError, "Valid types are #{TYPES.inspect}, not #{type.inspect}" unless TYPES.include?(type)
      @name = name
      @type = type
      @prerelease = false
      @requirement = Requirement.create(*requirements.flatten)
    end

    def requirement = @requirement
    def requirements_list = @requirement.as_list
    def runtime? = @type == :runtime
    def prerelease? = @prerelease || @requirement.prerelease?
    def latest_version? = @requirement.none?
    def specific? = @requirement.specific?

    # Does that gem in that version do?
    def match?(obj, version = nil, allow_prerelease = false)
      name, version = obj.respond_to?(:version) && version.nil? ? [obj.name, obj.version] : [obj, version]
      return false unless @name === name
      version = Version.create(version)
      return true if @requirement.none? && !version.prerelease?
      return false if version.prerelease? && !(allow_prerelease || prerelease?)
      @requirement.satisfied_by?(version)
    end

    def =~(other)
      return match?(other) if other.respond_to?(:version)
      other.is_a?(Dependency) && @name === other.name && other.requirement.requirements.all? { |_, v| @requirement.satisfied_by?(v) }
    end
    alias === =~

    def matches_spec?(spec) = @name === spec.name && @requirement.satisfied_by?(spec.version)
    def matching_specs(_platform_only = false) = Specification.stubs_for(@name).filter_map(&:to_spec).select { |s| matches_spec?(s) }
    def to_spec = matching_specs.max_by(&:version) || raise(MissingSpecError.new(@name, @requirement))

    def merge(other)
      raise ArgumentError, "#{self} and #{other} have different names" unless @name == other.name
      Dependency.new(@name, (@requirement.as_list + other.requirement.as_list).uniq - [">= 0"])
    end

    def to_s = @type == :runtime ? "#{@name} (#{@requirement})" : "#{@name} (#{@requirement}, #{@type})"
    def inspect = "<Gem::Dependency type=#{@type.inspect} name=#{@name.inspect} requirements=#{@requirement.to_s.inspect}>"
    def ==(other) = other.is_a?(Dependency) && @name == other.name && @type == other.type && @requirement == other.requirement
    alias eql? ==
    def hash = @name.hash ^ @type.hash ^ @requirement.hash
    def <=>(other) = other.is_a?(Dependency) ? @name <=> other.name : nil
  end
end
