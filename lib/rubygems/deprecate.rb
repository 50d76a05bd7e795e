# frozen_string_literal: true

module Gem
  # Marks methods that are to go: each call warns, unless warnings of this kind are skipped.
  module Deprecate
    module_function

    def skip = @skip ||= false

    def skip=(v)
      @skip = v
    end

    def skip_during
      before = skip
      Deprecate.skip = true
      yield
    ensure
      Deprecate.skip = before
    end

    def next_rubygems_major_version = Version.new(Gem.rubygems_version.segments.first).bump

    def deprecate(name, replacement, year, month)
      Deprecate.wrap(self, name, replacement, format("%4d-%02d", year, month))
    end

    def rubygems_deprecate(name, replacement = :none)
      Deprecate.wrap(self, name, replacement, "Rubygems #{Deprecate.next_rubygems_major_version}")
    end

    def self.wrap(owner, name, replacement, date)
      owner.class_eval do
        old = :"_deprecated_#{name}"
        alias_method old, name
        define_method(name) do |*args, **kw, &block|
          unless Deprecate.skip
            target = is_a?(Module) ? "#{self}." : "#{self.class}#"
            place = caller_locations(1, 1).first
            warn "NOTE: #{target}#{name} is deprecated#{replacement == :none ? " with no replacement" : "; use #{replacement} instead"}. " \
                 "It will be removed on or after #{date}.\n#{target}#{name} called from #{place.path}:#{place.lineno}."
          end
          __send__(old, *args, **kw, &block)
        end
      end
    end
  end
end
