# What examples use besides: numbers at the edges of their kinds, files and folders of their own, other processes.

module ScratchPad
  def self.clear
    @record = nil
  end

  def self.record(x)
    @record = x
  end

  def self.<<(x)
    @record << x
  end

  def self.recorded
    @record
  end

  def self.inspect
    "<ScratchPad @record=#{@record.inspect}>"
  end
end

# An expression that several examples share: `evaluate "a = 1" do a.should == 1 end`
class SpecEvaluate
  include MSpecMatchers

  class << self
    attr_writer :desc

    def desc
      @desc ||= "evaluates "
    end
  end
end

def evaluate(source, desc = nil, &block)
  evaluator = SpecEvaluate.new
  specify "#{desc || SpecEvaluate.desc} #{source.strip}" do
    evaluator.instance_eval(source)
    evaluator.instance_eval(&block)
  end
end

def fixture(file, *args)
  path = File.dirname(file)
  path = path[0..-8] if path.end_with?("/shared")
  path = File.realpath(path)
  path.end_with?("/fixtures") ? File.join(path, *args) : File.join(path, "fixtures", *args)
end

def nan_value
  0 / 0.0
end

def infinity_value
  1 / 0.0
end

def bignum_value(plus = 0)
  (2**64) + plus
end

def max_long
  2**63 - 1
end

def min_long
  -(2**63)
end

def fixnum_max
  2**62 - 1
end

def fixnum_min
  -(2**62)
end

# mspec runs with these on.
Warning[:deprecated] = true
Warning[:experimental] = false

def suppress_warning
  verbose = $VERBOSE
  $VERBOSE = nil
  yield
ensure
  $VERBOSE = verbose
end

def suppress_keyword_warning(&block)
  suppress_warning(&block)
end

def argv(args)
  if args == :restore
    ARGV.replace(@__saved_argv || [])
    return
  end
  @__saved_argv = ARGV.dup
  ARGV.replace(args)
  return unless block_given?
  begin
    yield
  ensure
    argv(:restore)
  end
end

def argf(args)
  @argf = ARGF.class.new(*args)
  first = @argf.file
  begin
    yield
  ensure
    last = @argf.file
    [first, last].each { |f| f.close unless f.closed? || f == STDIN }
    @argf = nil
  end
end

def new_datetime(opts = {})
  require "date"
  v = { year: -4712, month: 1, day: 1, hour: 0, minute: 0, second: 0, offset: 0, sg: Date::ITALY }.merge(opts)
  DateTime.new(v[:year], v[:month], v[:day], v[:hour], v[:minute], v[:second], v[:offset], v[:sg])
end

def with_timezone(name, offset = nil, daylight = "")
  zone = offset ? "#{name}#{-offset}:00:00" : name.dup
  zone += daylight
  old = ENV["TZ"]
  ENV["TZ"] = zone
  begin
    yield
  ensure
    ENV["TZ"] = old
  end
end

def cp(from, to)
  IO.copy_stream(from, to)
end

def mkdir_p(path)
  at = ""
  File.expand_path(path).split("/").each do |part|
    next if part.empty?
    at += "/#{part}"
    raise ArgumentError, "path component of #{path} is a file" if File.file?(at)
    begin
      Dir.mkdir(at) unless File.directory?(at)
    rescue Errno::EEXIST
      nil
    end
  end
end

def rm_r(*paths)
  paths.each do |path|
    path = File.expand_path(path)
    raise ArgumentError, "#{path} is not prefixed by #{SPEC_TEMP_DIR}" unless path.start_with?(SPEC_TEMP_DIR)
    if File.symlink?(path)
      File.unlink(path)
    elsif File.directory?(path)
      Dir.children(path).each { |x| rm_r("#{path}/#{x}") }
      Dir.rmdir(path)
    elsif File.exist?(path)
      File.delete(path)
    end
  end
end

def touch(name, mode = "w")
  mkdir_p(File.dirname(name))
  File.open(name, mode) { |f| yield f if block_given? }
end

def new_fd(name, mode = "w:utf-8")
  mode = mode[:mode] if mode.is_a?(Hash)
  IO.sysopen(name, mode)
end

def new_io(name, mode = "w:utf-8")
  mode.is_a?(Hash) ? File.new(name, **mode) : File.new(name, mode)
end

SPEC_TEMP_DIR = ENV["SPEC_TEMP_DIR"] || File.join(ENV.fetch("TMPDIR", "/tmp"), "rubyspec_temp.#{Process.pid}")
SPEC_TEMP_COUNT = [0]

def tmp(name, uniquify = true)
  mkdir_p(SPEC_TEMP_DIR) unless Dir.exist?(SPEC_TEMP_DIR)
  if uniquify && !name.empty?
    SPEC_TEMP_COUNT[0] += 1
    slash = name.rindex("/")
    at = slash ? slash + 1 : 0
    name = "#{name[0, at]}#{SPEC_TEMP_COUNT[0]}-#{name[at..]}"
  end
  File.join(SPEC_TEMP_DIR, name)
end

RUBY_EXE = ENV["RUBY_EXE"] || "ruby"

def ruby_cmd(code, opts = {})
  body = code
  body = "-e #{code.inspect}" if code && !File.exist?(code)
  [RUBY_EXE, opts[:options], body, opts[:args]].compact.join(" ")
end

# Runs code or a file in another process of the same runtime; what it printed.
def ruby_exe(code = :not_given, opts = {})
  return RUBY_EXE.split(" ") if code == :not_given
  env = opts[:env] || {}
  saved = {}
  env.each do |k, v|
    saved[k.to_s] = ENV[k.to_s]
    ENV[k.to_s] = v
  end
  escape = opts[:escape]
  file = nil
  if code && !File.exist?(code) && escape != false
    file = tmp("rubyexe.rb")
    File.open(file, "w") { |f| f.write(code) }
    code = file
  end
  begin
    output = `#{ruby_cmd(code, opts)}`
    status = $?
    got = status.signaled? ? :"SIG#{Signal.signame(status.termsig)}" : status.exitstatus
    wanted = opts.fetch(:exit_status, 0)
    if got != wanted
      raise SpecExpectationNotMetError, "Expected exit status is #{wanted.inspect} but actual is #{got.inspect}\nOutput:\n#{output}"
    end
    output
  ensure
    saved.each { |k, v| ENV[k] = v }
    File.delete(file) if file
  end
end
