# frozen_string_literal: true

# Gems that are installed: found, chosen by version and put on the load path. What installs them is another tool
# (`gem` or `bundle` of any Ruby, or a package of the system); a gem that is nothing but Ruby runs as it is.
require "monitor"

module Gem
  VERSION = "4.0.0"
  LOADED_SPECS_MUTEX = Monitor.new
  # Where this Ruby's own library is on the load path.
  LIBRARY = File.dirname(__FILE__)

  class << self
    def ruby_version = @ruby_version ||= Version.new(RUBY_VERSION)
    def rubygems_version = @rubygems_version ||= Version.new(VERSION)
    def ruby_api_version = RUBY_VERSION[/\A\d+\.\d+/] + ".0"
    def ruby_engine = RUBY_ENGINE
    def ruby = RbConfig.ruby
    def platforms = [Platform::RUBY, Platform.local]
    def win_platform? = false
    def java_platform? = false
    def freebsd_platform? = RUBY_PLATFORM.include?("bsd")
    def solaris_platform? = false
    def loaded_specs = Specification.active
    def suffixes = ["", ".rb"]
    def extension_api_version = ruby_api_version

    # Where one user's own gems lie.
    def user_dir = "#{user_home}/.local/share/gem/ruby/#{ruby_api_version}"
    def user_home = @user_home ||= ENV["HOME"] || Dir.home
    def default_dir = user_dir
    def dir = ENV["GEM_HOME"] || default_dir
    def bindir(install_dir = dir) = "#{install_dir}/bin"
    def spec_cache_dir = "#{user_home}/.local/share/gem/specs"
    def default_path = [user_dir, *Dir["#{user_home}/.gem/ruby/*"], *SYSTEM].select { |d| File.directory?(d) }

    # All folders that are looked through, in order.
    def path
      @path ||= [ENV["GEM_HOME"], *(ENV["GEM_PATH"]&.split(File::PATH_SEPARATOR) || default_path)].compact.reject(&:empty?).uniq
    end

    def use_paths(home, *paths)
      @path = [home, *paths].flatten.compact.uniq
      Specification.reset
    end
    alias paths= use_paths

    def clear_paths
      @path = nil
      Specification.reset
    end

    def refresh = Specification.reset

    # Is it part of this Ruby, so that no gem is needed?
    def built_in?(name) = BUILT_IN.include?(name)

    def try_activate(path)
      return false if path.start_with?("/", "./", "../", "<internal:")
      spec = Specification.find_by_path(path) or return false
      spec.activate
    end

    def find_files(glob, _check_load_path = true)
      ($LOAD_PATH.flat_map { |d| Dir["#{d}/#{glob}#{"{,.rb}" unless glob.end_with?(".rb")}"] } +
        Specification.stubs.flat_map { |s| s.lib_dirs.flat_map { |d| Dir["#{d}/#{glob}{,.rb}"] } }).select { |f| File.file?(f) }.uniq
    end
    alias find_latest_files find_files

    def bin_path(name, exec_name = nil, *requirements)
      spec = Specification.find_by_name(name, *requirements)
      exec_name ||= spec.executable
      raise GemNotFoundException, "can't find executable #{exec_name} for gem #{name}" unless spec.executables.include?(exec_name)
      spec.activate
      spec.bin_file(exec_name)
    end
    alias activate_bin_path bin_path

    # What wrappers of executables call first: loads the file of dependencies that RUBYGEMS_GEMDEPS names, if it names one.
    def use_gemdeps(path = nil)
      path ||= ENV["RUBYGEMS_GEMDEPS"]
      return if path.nil? || path.empty?
      raise ArgumentError, "kumi reads no file of dependencies (RUBYGEMS_GEMDEPS=#{path}): name the gems' folders in GEM_PATH"
    end

    def sources = []
    def configuration = {}
    def install(*) = raise(InstallError, "kumi installs no gems: install them with `gem install` of any Ruby and name their folder in GEM_PATH")
  end

  # Folders of packages that belong to no version of Ruby.
  SYSTEM = ["/usr/share/rubygems-integration/all"].freeze
  # Gems whose work this Ruby does itself.
  BUILT_IN = %w[base64 benchmark bigdecimal cgi csv date delegate digest erb etc fcntl fileutils find forwardable io-console io-wait ipaddr json logger
                monitor mutex_m net-ftp net-http net-protocol observer open-uri open3 optparse ostruct pathname pp prettyprint psych
                securerandom set shellwords singleton stringio strscan tempfile time timeout tmpdir tsort uri weakref yaml zlib abbrev
                ruby2_keywords bundler].freeze
end

require "rubygems/errors"
require "rubygems/gem_version"
require "rubygems/requirement"
require "rubygems/dependency"
require "rubygems/platform"
require "rubygems/deprecate"
require "rubygems/specification"
