# frozen_string_literal: true

module Gem
  class LoadError < ::LoadError
    attr_accessor :name, :requirement
  end

  # No version that is installed will do.
  class MissingSpecError < LoadError
    def initialize(name, requirement, extra = nil)
      @name = name
      @requirement = requirement
      @extra = extra
      super(message)
    end

    def message = "Could not find '#{@name}' (#{@requirement}) among #{Specification.all_names.size} total gem(s)#{@extra}\nChecked in 'GEM_PATH=#{Gem.path.join(":")}' , execute `gem env` for more information"
  end

  class MissingSpecVersionError < MissingSpecError
    def initialize(name, requirement, specs)
      @specs = specs
      super(name, requirement)
    end
    attr_reader :specs

    def message = "Could not find '#{@name}' (#{@requirement}) - did find: [#{@specs.map(&:full_name).join(", ")}]\nChecked in 'GEM_PATH=#{Gem.path.join(":")}' , execute `gem env` for more information"
  end

  # A gem that is active already stands in the way of the one that is asked for.
  class ConflictError < LoadError
    attr_reader :target

    def initialize(target, active, requirement)
      @target = target
      @name = target
      @requirement = requirement
      super("can't activate #{target} (#{requirement}), already activated #{active.full_name}. Make sure all dependencies are added to Gemfile.")
    end
  end

  class Exception < RuntimeError; end
  class InstallError < Exception; end
  class DependencyError < Exception; end
  class GemNotFoundException < Exception; end
  class InvalidSpecificationException < Exception; end
end
