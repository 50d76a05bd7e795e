# frozen_string_literal: true

module Gem
  # What an installed gem says of itself. A gem is found by the file names in specifications/ and the second line of each
  # file, which names its folders; the file itself, which is Ruby, is run when the gem is activated.
  class Specification
    # A specification that was not read yet.
    class Stub
      attr_reader :name, :version, :platform, :require_paths, :base, :file

      def initialize(base, file)
        @base = base
        @file = file
        line = File.open(file, encoding: Encoding::UTF_8) { |f| f.gets; f.gets }.to_s.scrub
        if (m = /\A# stub: (\S+) (\S+) (\S+) (.*)/.match(line))
          @name, @version, @platform, paths = m.captures
          @require_paths = paths.split("\0")
        else
          spec = Specification.load(file) or return
          @name, @version, @platform, @require_paths = spec.name, spec.version.to_s, spec.platform.to_s, spec.require_paths
        end
        @version = Version.correct?(@version) ? Version.new(@version) : nil
      rescue SystemCallError
        # A link to nothing, a folder, a file that may not be read: no gem.
        @version = nil
      end

      def valid? = !@version.nil? && Platform.match(@platform)
      def full_name = @platform == Platform::RUBY ? "#{@name}-#{@version}" : "#{@name}-#{@version}-#{@platform}"
      def lib_dirs = @require_paths.map { |p| "#{@base}/gems/#{full_name}/#{p}" }
      def file?(names) = lib_dirs.any? { |d| names.any? { |n| File.file?("#{d}/#{n}") } }
      def to_spec = @spec ||= Specification.load(@file)
    end

    include Enumerable

    @active = {}
    @stubs = nil
    LOCK = Monitor.new
    private_constant :LOCK

    class << self
      include Enumerable

      # Of every gem that is installed where `Gem.path` says.
      def stubs
        LOCK.synchronize do
          @stubs ||= Gem.path.flat_map { |base| Dir["#{base}/specifications/*.gemspec"].sort.map { |f| Stub.new(base, f) } }.select(&:valid?)
        end
      end

      def stubs_for(name) = stubs.select { |s| name === s.name }.sort_by(&:version).reverse
      def reset = LOCK.synchronize { @stubs = nil }
      def each(&block) = block ? stubs.filter_map(&:to_spec).each(&block) : enum_for(:each)
      def all = to_a
      def all_names = stubs.map(&:full_name)
      def stub_specifications = stubs
      def active = @active

      def load(file)
        return nil unless File.file?(file)
        spec = eval(File.read(file, encoding: Encoding::UTF_8), TOPLEVEL_BINDING.dup, file)
        unless spec.is_a?(Specification)
          warn "[#{file}] isn't a Gem::Specification (#{spec.class} instead)."
          return nil
        end
        spec.loaded_from = File.expand_path(file)
        spec
      rescue SignalException, SystemExit
        raise
      rescue StandardError, ScriptError => e
        # One that is broken keeps nobody from the others.
        warn "Invalid gemspec in [#{file}]: #{e.message}"
        nil
      end

      def find_all_by_name(name, *requirements)
        req = Requirement.create(*requirements.flatten)
        stubs_for(name).select { |s| req.satisfied_by?(s.version) }.filter_map(&:to_spec)
      end

      def find_by_name(name, *requirements)
        req = Requirement.create(*requirements.flatten)
        found = @active[name]
        return found if found && req.satisfied_by?(found.version)
        named = stubs_for(name)
        fits = named.select { |s| req.satisfied_by?(s.version) }
        last, first = fits.partition { |s| s.version.prerelease? && !req.prerelease? }
        [*first, *last].each { |s| (spec = s.to_spec) and return spec }
        raise named.empty? ? MissingSpecError.new(name, req) : MissingSpecVersionError.new(name, req, named)
      end

      # The gem that has such a file to require.
      def find_by_path(path)
        names = path.end_with?(".rb") ? [path] : ["#{path}.rb"]
        stubs.select { |s| s.file?(names) }.sort_by(&:version).reverse_each { |s| (spec = s.to_spec) and return spec }
        nil
      end

      def latest_specs(_prerelease = false) = stubs.group_by(&:name).filter_map { |_, all| all.max_by(&:version).to_spec }

      # Puts the gem's folders, and those of what it needs, on the load path. False when that was done.
      def activate(name, requirement)
        LOCK.synchronize do
          if (there = @active[name])
            return false if requirement.satisfied_by?(there.version)
            find_by_name(name, requirement)
            raise ConflictError.new(name, there, requirement)
          end
          spec = find_by_name(name, requirement)
          @active[name] = spec
          begin
            spec.runtime_dependencies.each { |d| activate(d.name, d.requirement) unless Gem.built_in?(d.name) }
          rescue LoadError
            @active.delete(name)
            raise
          end
          spec.add_self_to_load_path
          true
        end
      end
    end

    ATTRIBUTES = %i[name summary description email homepage bindir post_install_message rubygems_version specification_version cert_chain
                    signing_key required_rubygems_version installed_by_version date original_platform autorequire default_executable].freeze
    LISTS = %i[authors licenses files test_files extensions executables extra_rdoc_files rdoc_options requirements require_paths].freeze
    attr_accessor(*ATTRIBUTES - %i[name])
    attr_accessor :loaded_from, :metadata
    attr_reader :name, :version, :dependencies, :platform, :required_ruby_version, *LISTS

    LISTS.each { |list| define_method(:"#{list}=") { |v| instance_variable_set(:"@#{list}", Array(v)) } }

    def initialize(name = nil, version = nil)
      LISTS.each { |l| instance_variable_set(:"@#{l}", []) }
      @require_paths = ["lib"]
      @metadata = {}
      @dependencies = []
      @platform = Platform::RUBY
      @bindir = "bin"
      @specification_version = 4
      @required_ruby_version = @required_rubygems_version = Requirement.default
      @name = name
      self.version = version if version
      yield self if block_given?
    end

    def name=(text)
      @name = text.nil? ? nil : -text.to_s
    end

    def version=(v)
      @version = v.nil? ? nil : Version.create(v)
    end

    def platform=(p)
      @original_platform = p
      @platform = Platform.new(p)
    end

    def required_ruby_version=(r)
      @required_ruby_version = Requirement.create(r)
    end

    def author = @authors.first
    def author=(a)
      @authors = [a]
    end
    def license = @licenses.first
    def license=(l)
      @licenses = [l]
    end
    def executable=(e)
      @executables = [e]
    end
    def executable = @executables.first
    def require_path = @require_paths.first
    def require_path=(p)
      @require_paths = Array(p)
    end

    def add_runtime_dependency(gem, *requirements) = @dependencies << Dependency.new(gem.to_s, requirements.flatten, :runtime)
    alias add_dependency add_runtime_dependency
    def add_development_dependency(gem, *requirements) = @dependencies << Dependency.new(gem.to_s, requirements.flatten, :development)
    def runtime_dependencies = @dependencies.select(&:runtime?)
    def development_dependencies = @dependencies.reject(&:runtime?)

    def full_name = @platform == Platform::RUBY ? "#{@name}-#{@version}" : "#{@name}-#{@version}-#{@platform}"
    def base_dir = loaded_from ? File.dirname(loaded_from, 2) : Gem.dir
    def gems_dir = "#{base_dir}/gems"
    def gem_dir = "#{gems_dir}/#{full_name}"
    alias full_gem_path gem_dir
    def bin_dir = "#{gem_dir}/#{bindir}"
    def bin_file(name) = "#{bin_dir}/#{name}"
    def spec_file = loaded_from
    def full_require_paths = @require_paths.map { |p| "#{gem_dir}/#{p}" }
    def lib_dirs_glob = "#{gem_dir}/#{@require_paths.size > 1 ? "{#{@require_paths.join(",")}}" : @require_paths.first}"
    def matches_for_glob(glob) = Dir[File.join(lib_dirs_glob, glob)]
    def activated? = Specification.active[@name].equal?(self)
    def activate = Specification.activate(@name, Requirement.new("= #{@version}"))
    def default_gem? = false
    def satisfies_requirement?(dep) = @name == dep.name && dep.requirement.satisfied_by?(@version)
    def to_spec = self
    def validate(*) = true
    def <=>(other) = other.respond_to?(:version) ? [@name, @version] <=> [other.name, other.version] : nil
    def ==(other) = other.is_a?(Specification) && full_name == other.full_name
    alias eql? ==
    def hash = full_name.hash
    def inspect = "#<Gem::Specification name=#{@name} version=#{@version}>"
    def to_s = inspect
    def respond_to_missing?(*) = false

    # Before the library's own files and after the program's own folders.
    def add_self_to_load_path
      at = $LOAD_PATH.index(LIBRARY) || $LOAD_PATH.size
      $LOAD_PATH.insert(at, *full_require_paths.reject { |d| $LOAD_PATH.include?(d) })
    end
  end
end
