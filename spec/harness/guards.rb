# Guards: which examples concern this runtime, its version and its platform. A guard without a block answers.

# A version whose missing parts are zeros.
class SpecVersion
  include Comparable

  def initialize(text, ceil = false)
    @text = text
    @ceil = ceil
  end

  def to_s
    @text
  end
  alias_method :to_str, :to_s

  def to_i
    major, minor, tiny = @text.split(".")
    tiny = 99 if @ceil && tiny.nil?
    major.to_i * 10_000 + minor.to_i * 100 + tiny.to_i
  end
  alias_method :to_int, :to_i

  def <=>(other)
    to_i <=> (other.is_a?(SpecVersion) ? other : SpecVersion.new(other.to_s)).to_i
  end
end

class SpecGuard
  def self.ruby_version(which = :minor)
    n = which == :major ? 1 : (which == :minor ? 2 : 3)
    (ENV["KUMI_SPEC_VERSION"] || RUBY_VERSION).split(".")[0, n].join(".")
  end
end

class VersionGuard < SpecGuard
  FULL_RUBY_VERSION = SpecVersion.new(SpecGuard.ruby_version(:full))

  # "3.4": from there on; "3.3"..."4.0": within.
  def self.match?(version, wanted)
    v = version.is_a?(SpecVersion) ? version : SpecVersion.new(version)
    return v >= SpecVersion.new(wanted) if wanted.is_a?(String)
    lowest = wanted.begin.empty? || v >= SpecVersion.new(wanted.begin)
    top = SpecVersion.new(wanted.end.to_s, !wanted.exclude_end?)
    highest = wanted.end.empty? || (wanted.exclude_end? ? v < top : v <= top)
    lowest && highest
  end
end

class PlatformGuard < SpecGuard
  C_LONG_SIZE = 64
  POINTER_SIZE = 64
  PLATFORM = RUBY_PLATFORM

  def self.standard?
    implementation?(:ruby)
  end

  def self.implementation?(*names)
    engine = ENV["KUMI_SPEC_VERSION"] ? "kumi" : RUBY_ENGINE
    names.any? { |n| engine.start_with?(n.to_s) }
  end

  def self.os?(*names)
    names.any? do |n|
      case n
      when :windows then PLATFORM.include?("mswin") || PLATFORM.include?("mingw")
      when :wsl then false
      else PLATFORM.include?(n.to_s)
      end
    end
  end

  def self.windows?
    os?(:windows)
  end

  def self.wasi?
    false
  end

  def self.match?(args)
    options = args.last.is_a?(Hash) ? args.last : {}
    names = args.last.is_a?(Hash) ? args[0...-1] : args
    ok = names.empty? || os?(*names)
    options.each do |k, v|
      case k
      when :os then ok &&= os?(*v)
      when :pointer_size then ok &&= v == POINTER_SIZE
      when :c_long_size, :wordsize then ok &&= v == C_LONG_SIZE
      end
    end
    ok
  end
end

class Object
  private

  def spec_guard(open, block)
    return open unless block
    block.call if open
    open
  end

  def version_is(version, wanted, &block)
    spec_guard(VersionGuard.match?(version, wanted), block)
  end

  def ruby_version_is(wanted, &block)
    spec_guard(VersionGuard.match?(VersionGuard::FULL_RUBY_VERSION, wanted), block)
  end

  def kernel_version_is(wanted, &block)
    spec_guard(VersionGuard.match?("6.0", wanted), block)
  end

  def platform_is(*args, &block)
    spec_guard(PlatformGuard.match?(args), block)
  end

  def platform_is_not(*args, &block)
    spec_guard(!PlatformGuard.match?(args), block)
  end

  # A bug of CRuby is none of ours: its examples run.
  def ruby_bug(bug, wanted, &block)
    spec_guard(true, block)
  end

  def not_supported_on(*names, &block)
    spec_guard(PlatformGuard.standard? || !PlatformGuard.implementation?(*names), block)
  end

  def conflicts_with(*names, &block)
    spec_guard((Object.constants & names).empty?, block)
  end

  def with_feature(*names, &block)
    spec_guard(names.all? { |n| MSpec.feature_enabled?(n) }, block)
  end

  def without_feature(*names, &block)
    spec_guard(names.none? { |n| MSpec.feature_enabled?(n) }, block)
  end

  def guard(condition, &block)
    spec_guard(condition.call, block)
  end

  def guard_not(condition, &block)
    spec_guard(!condition.call, block)
  end

  def quarantine!(&block)
    nil
  end

  def as_superuser(&block)
    spec_guard(Process.euid == 0, block)
  end

  def as_real_superuser(&block)
    spec_guard(Process.uid == 0, block)
  end

  def as_user(&block)
    spec_guard(Process.euid != 0, block)
  end

  def big_endian(&block)
    nil
  end

  def little_endian(&block)
    spec_guard(true, block)
  end

  def with_block_device(&block)
    found = Dir.exist?("/sys/block") && Dir.children("/sys/block").any? { |d| File.blockdev?("/dev/#{d}") }
    spec_guard(found, block)
  end
end
