# A small host for ruby/spec: the vocabulary of its files (describe, it, should,
# guards, mocks, helpers) in one file that a young runtime can load.
#
# `kumi-spec` starts one process per spec file:  kumi spec/harness.rb FILE...
# What happens is told on standard output in lines that begin with \x01:
#   B file | S example | P | F message | E message | K reason | L message | D count
# (begin file, start example, passed, failed, error, skipped, load error, done).
# With KUMI_SPEC_DRY=1 examples are counted, not run.

ENV["MSPEC_RUNNER"] = "1"

# An expectation that does not hold.
class SpecExpectationNotMetError < StandardError
end

# An example without a single expectation.
class SpecExpectationNotFoundError < StandardError
  def message
    "No behavior expectation was found in the example"
  end
end

# Raised by `skip`.
class SkippedSpecError < StandardError
end

# Tells the runner what happens.
module SpecReport
  OUT = $stdout
  DRY = ENV["KUMI_SPEC_DRY"] == "1"
  FILTER = ENV["KUMI_SPEC_FILTER"]
  @count = 0

  class << self
    attr_accessor :count

    def line(kind, text = nil)
      t = text.nil? ? "" : clean(text)
      OUT.write("\n\x01#{kind} #{t}\n")
      OUT.flush
    end

    def clean(text)
      t = text.to_s
      t = t.dup.force_encoding("BINARY") if t.respond_to?(:force_encoding)
      t = t.gsub("\n", "\\n")
      t.size > 1500 ? t[0, 1500] : t
    rescue StandardError
      "(text cannot be shown)"
    end

    def error_text(e)
      message = begin
        e.message
      rescue StandardError
        "(message raised)"
      end
      where = begin
        (e.backtrace || []).reject { |l| l.to_s.include?("harness.rb") }.first(6).join("\n  ")
      rescue StandardError
        ""
      end
      "#{e.class}: #{message}\n  #{where}"
    end
  end
end

# Expectations fail through here.
module SpecExpectation
  def self.fail_with(expected, actual)
    raise SpecExpectationNotMetError, "#{expected} #{actual}"
  end

  def self.fail_predicate(receiver, name, args, result, wanted)
    shown = args.map { |a| MSpec.format(a) }.join(", ")
    raise SpecExpectationNotMetError, "Expected #{MSpec.format(receiver)} #{name} #{shown} #{wanted} but was #{MSpec.format(result)}"
  end
end

# The registry: what file and group are being read, which example runs.
module MSpec
  class Env
  end

  @shared = {}
  @features = {}
  @modes = []
  @expectations = 0
  @current = nil
  @state = nil
  @env = Env.new
  @failed = false
  @subprocesses = []

  class << self
    attr_accessor :current, :state, :env, :expectations, :file
    attr_reader :shared, :subprocesses

    def format(obj)
      obj.inspect
    rescue StandardError
      "an object whose inspect raises"
    end

    def expectation
      @expectations += 1
    end

    def enable_feature(name)
      @features[name] = true
    end

    def disable_feature(name)
      @features[name] = false
    end

    def feature_enabled?(name)
      @features[name] ? true : false
    end

    def mode?(name)
      @modes.include?(name)
    end

    def deprecate(*)
    end

    def load_file(path)
      @env = Env.new
      @file = path
      @current = nil
      SpecReport.line("B", path)
      begin
        load(path)
      rescue SystemExit => e
        SpecReport.line("L", "exit #{e.status} while the file was loaded")
      rescue SkippedSpecError
        nil
      rescue Exception => e
        raise if e.is_a?(SignalException)
        SpecReport.line("L", SpecReport.error_text(e))
      end
    end
  end
end

# One `describe`.
class SpecContext
  attr_reader :name, :parent, :children, :examples, :before_each, :after_each, :before_all, :after_all

  def initialize(name, parent, shared)
    @name = name.to_s
    @parent = shared ? nil : parent
    @shared = shared
    @children = []
    @examples = []
    @before_each = []
    @after_each = []
    @before_all = []
    @after_all = []
    @broken = nil
  end

  def adopt_into(parent)
    copy = SpecContext.new(@name, parent, false)
    copy.take(self)
    parent.children << copy
  end

  def take(other)
    @before_all.concat(other.before_all)
    @before_each.concat(other.before_each)
    @after_all.concat(other.after_all)
    @after_each.concat(other.after_each)
    other.examples.each { |e| @examples << e }
    other.children.each { |c| c.adopt_into(self) }
  end

  def read(&block)
    outer = MSpec.current
    MSpec.current = self
    begin
      MSpec.env.instance_exec(&block)
    rescue SystemExit, SignalException
      raise
    rescue Exception => e
      @broken = e
      SpecReport.line("L", "#{title}: #{SpecReport.error_text(e)}")
    ensure
      MSpec.current = outer
    end
  end

  def title
    @title ||= (@parent ? "#{@parent.title} #{@name}" : @name)
  end

  def chain(kind)
    own = send(kind)
    inherited = @parent ? @parent.chain(kind) : []
    kind == :after_each || kind == :after_all ? own + inherited : inherited + own
  end

  def run
    outer = MSpec.current
    MSpec.current = self
    run_examples unless @examples.empty?
    MSpec.current = outer
    @children.each { |c| c.run }
  end

  private

  def run_examples
    if SpecReport::DRY
      SpecReport.count += @examples.size
      return
    end
    names = @examples.map { |e| "#{title} #{e[0]}" }
    filter = SpecReport::FILTER
    return if filter && names.none? { |n| n.include?(filter) }
    problem = nil
    chain(:before_all).each { |b| problem ||= guarded(&b) }
    @examples.each_with_index do |(_, block), i|
      next if filter && !names[i].include?(filter)
      SpecReport.count += 1
      SpecReport.line("S", names[i])
      if problem
        SpecReport.line("E", "before :all: #{problem}")
      else
        run_one(block)
      end
    end
    chain(:after_all).each { |b| guarded(&b) }
    SpecMock.cleanup
  end

  # Runs an example with its before and after blocks and tells the outcome.
  def run_one(block)
    MSpec.state = self
    MSpec.expectations = 0
    verdict = nil
    problem = nil
    chain(:before_each).each { |b| problem ||= guarded(&b) }
    if problem
      verdict = ["E", "before :each: #{problem}"]
    elsif block
      verdict = attempt(block)
    end
    chain(:after_each).each do |b|
      problem = guarded(&b)
      verdict ||= ["E", "after :each: #{problem}"] if problem
    end
    begin
      SpecMock.verify unless verdict
    rescue Exception => e
      verdict ||= ["F", SpecReport.error_text(e)]
    end
    begin
      SpecMock.cleanup
    rescue Exception => e
      verdict ||= ["E", SpecReport.error_text(e)]
    end
    MSpec.state = nil
    verdict ||= MSpec.expectations == 0 && block ? ["F", "no expectation was found in the example"] : ["P", ""]
    SpecReport.line(verdict[0], verdict[1])
  end

  def attempt(block)
    MSpec.env.instance_exec(&block)
    nil
  rescue SkippedSpecError => e
    ["K", e.message]
  rescue SpecExpectationNotMetError => e
    ["F", SpecReport.error_text(e)]
  rescue SystemExit => e
    ["E", "the example called exit (#{e.status})"]
  rescue Exception => e
    ["E", SpecReport.error_text(e)]
  end

  def guarded(&block)
    MSpec.env.instance_exec(&block)
    nil
  rescue SkippedSpecError
    nil
  rescue SystemExit => e
    "exit #{e.status}"
  rescue Exception => e
    SpecReport.error_text(e)
  end
end

# --- the vocabulary of spec files ----------------------------------------------

class Object
  private

  def describe(name, options = nil, &block)
    shared = options && options[:shared]
    context = SpecContext.new(name, MSpec.current, shared)
    outer = MSpec.current
    context.read(&block)
    if shared
      MSpec.shared[name.to_s] = context
    elsif outer
      outer.children << context
    else
      context.run
    end
  end

  alias_method :context, :describe

  def it(name, &block)
    raise "an example inside an example" if MSpec.state
    MSpec.current.examples << [name.to_s, block]
  end

  alias_method :specify, :it

  def before(at = :each, &block)
    (at == :all ? MSpec.current.before_all : MSpec.current.before_each) << block
  end

  def after(at = :each, &block)
    (at == :all ? MSpec.current.after_all : MSpec.current.after_each).unshift(block)
  end

  def it_should_behave_like(name)
    shared = MSpec.shared[name.to_s]
    raise "unable to find shared 'describe' for #{name}" unless shared
    MSpec.current.take(shared)
  end

  def it_behaves_like(name, meth, obj = nil)
    before(:all) do
      @method = meth
      @object = obj
    end
    after(:all) do
      @method = nil
      @object = nil
    end
    it_should_behave_like(name)
  end

  public

  NO_MATCHER_GIVEN = Object.new

  def should(matcher = NO_MATCHER_GIVEN, &block)
    MSpec.expectation
    return SpecPositive.new(self) if NO_MATCHER_GIVEN.equal?(matcher)
    matcher.block = block if block
    return if matcher.matches?(self)
    expected, actual = matcher.failure_message
    SpecExpectation.fail_with(expected, actual)
  end

  def should_not(matcher = NO_MATCHER_GIVEN, &block)
    MSpec.expectation
    return SpecNegative.new(self) if NO_MATCHER_GIVEN.equal?(matcher)
    matcher.block = block if block
    return unless matcher.matches?(self)
    expected, actual = matcher.negative_failure_message
    SpecExpectation.fail_with(expected, actual)
  end

  def should_receive(name)
    SpecMock.install(self, name, :mock)
  end

  def should_not_receive(name)
    SpecMock.install(self, name, :mock).exactly(0).times
  end

  def stub!(name)
    SpecMock.install(self, name, :stub)
  end
end

# `x.should == y`, `x.should.empty?`, `-> { }.should.raise(E)`
class SpecPositive < BasicObject
  def initialize(actual)
    @actual = actual
  end

  def ==(other)
    r = @actual == other
    ::SpecExpectation.fail_predicate(@actual, :==, [other], r, "to be truthy") unless r
  end

  def !=(other)
    r = @actual != other
    ::SpecExpectation.fail_predicate(@actual, :!=, [other], r, "to be truthy") unless r
  end

  def equal?(other)
    r = @actual.equal?(other)
    ::SpecExpectation.fail_predicate(@actual, :equal?, [other], r, "to be truthy") unless r
  end

  def raise(exception = ::Exception, message = nil, options = nil, &block)
    m = ::SpecRaise.new(exception, message, options)
    m.block = block if block
    return if m.matches?(@actual)
    expected, actual = m.failure_message
    ::SpecExpectation.fail_with(expected, actual)
  end

  def method_missing(name, *args, &block)
    r = @actual.__send__(name, *args, &block)
    ::SpecExpectation.fail_predicate(@actual, name, args, r, "to be truthy") unless r
  end
end

# `x.should_not == y`
class SpecNegative < BasicObject
  def initialize(actual)
    @actual = actual
  end

  def ==(other)
    r = @actual == other
    ::SpecExpectation.fail_predicate(@actual, :==, [other], r, "to be falsy") if r
  end

  def !=(other)
    r = @actual != other
    ::SpecExpectation.fail_predicate(@actual, :!=, [other], r, "to be falsy") if r
  end

  def equal?(other)
    r = @actual.equal?(other)
    ::SpecExpectation.fail_predicate(@actual, :equal?, [other], r, "to be falsy") if r
  end

  def raise(exception = ::Exception, message = nil, options = nil, &block)
    m = ::SpecRaise.new(exception, message, options)
    m.block = block if block
    return unless m.matches?(@actual)
    expected, actual = m.negative_failure_message
    ::SpecExpectation.fail_with(expected, actual)
  end

  def method_missing(name, *args, &block)
    r = @actual.__send__(name, *args, &block)
    ::SpecExpectation.fail_predicate(@actual, name, args, r, "to be falsy") if r
  end
end

# --- matchers --------------------------------------------------------------------

# `raise_error(Class, message, cause: c) { |e| }`
class SpecRaise
  NO_CAUSE = Object.new

  attr_writer :block

  def initialize(exception = Exception, message = nil, options = nil)
    if message.is_a?(Hash)
      options = message
      message = nil
    end
    @exception = exception
    @message = message
    @cause = options && options.key?(:cause) ? options[:cause] : NO_CAUSE
    @block = nil
    @actual = nil
  end

  def matches?(code)
    @actual = nil
    begin
      @result = code.call
      return false
    rescue Exception => e
      @actual = e
    end
    raise @actual if @actual.is_a?(SystemExit) && !(@exception === @actual)
    unless @exception === @actual && message?(@actual) && (@cause.equal?(NO_CAUSE) || @cause == @actual.cause)
      raise SpecExpectationNotMetError, "Expected #{wanted}, but got: #{SpecReport.error_text(@actual)}"
    end
    @block.call(@actual) if @block
    true
  end

  def message?(e)
    case @message
    when String then @message == e.message
    when Regexp then @message =~ e.message
    else true
    end
  end

  def wanted
    @message.nil? ? @exception.to_s : "#{@exception} (#{@message.inspect})"
  end

  def failure_message
    ["Expected #{wanted}", "but no exception was raised (#{MSpec.format(@result)} was returned)"]
  end

  def negative_failure_message
    ["Expected to not get #{wanted}", "but got #{@actual.class}"]
  end
end

# A matcher made of a block: most matchers need no more.
class SpecMatch
  attr_writer :block

  def initialize(what, &test)
    @what = what
    @test = test
  end

  def matches?(actual)
    @actual = actual
    @test.call(actual)
  end

  def failure_message
    ["Expected #{MSpec.format(@actual)}", "to #{@what}"]
  end

  def negative_failure_message
    ["Expected #{MSpec.format(@actual)}", "not to #{@what}"]
  end
end

# Collects what is written to `$stdout` and `$stderr`.
class IOStub
  def initialize
    @text = +""
  end

  def write(*parts)
    n = 0
    parts.each do |x|
      x = x.to_s
      n += x.size
      @text << x
    end
    n
  end

  def <<(x)
    @text << x.to_s
    self
  end

  def print(*parts)
    parts.each { |x| write(x) }
    @text << $\ if $\
    nil
  end

  def puts(*parts)
    return write("\n") if parts.empty?
    parts.flatten.each do |x|
      s = x.to_s
      write(s)
      write("\n") unless s.end_with?("\n")
    end
    nil
  end

  def printf(format, *args)
    write(sprintf(format, *args))
  end

  def flush
    self
  end

  def to_s
    @text
  end
  alias_method :to_str, :to_s

  def ==(other)
    @text == other
  end

  def =~(other)
    @text =~ other
  end

  def inspect
    @text.inspect
  end

  def method_missing(name, *args, &block)
    @text.send(name, *args, &block)
  end

  def respond_to_missing?(name, all = false)
    @text.respond_to?(name)
  end
end

# `-> { }.should complain(/text/)`
class SpecComplain
  attr_writer :block

  def initialize(wanted, options)
    if wanted.is_a?(Hash)
      options = wanted
      wanted = nil
    end
    @wanted = wanted
    @options = options || {}
  end

  def matches?(code)
    err, verbose = $stderr, $VERBOSE
    stub = IOStub.new
    $stderr = stub
    $VERBOSE = @options.key?(:verbose) ? @options[:verbose] : false
    begin
      code.call
    ensure
      $VERBOSE = verbose
      $stderr = err
    end
    @warning = stub.to_s
    case @wanted
    when nil then !@warning.empty?
    when Regexp then (@warning =~ @wanted) ? true : false
    else @warning == @wanted
    end
  end

  def failure_message
    ["Expected a warning #{@wanted.inspect}", "but got #{@warning.inspect}"]
  end

  def negative_failure_message
    ["Expected no warning #{@wanted.inspect}", "but got #{@warning.inspect}"]
  end
end

# `-> { }.should output("out", "err")`
class SpecOutput
  attr_writer :block

  def initialize(out, err)
    @out = out
    @err = err
  end

  def matches?(code)
    saved_out, saved_err = $stdout, $stderr
    @got_out = $stdout = IOStub.new
    @got_err = $stderr = IOStub.new
    begin
      code.call
    ensure
      $stdout = saved_out
      $stderr = saved_err
    end
    same?(@out, @got_out.to_s) && same?(@err, @got_err.to_s)
  end

  def same?(wanted, got)
    wanted.nil? || (wanted.is_a?(Regexp) ? !(got =~ wanted).nil? : got == wanted)
  end

  def failure_message
    ["Expected output #{@out.inspect}, #{@err.inspect}", "got #{@got_out.to_s.inspect}, #{@got_err.to_s.inspect}"]
  end

  def negative_failure_message
    ["Expected output other than", "#{@got_out.to_s.inspect}, #{@got_err.to_s.inspect}"]
  end
end

# `-> { }.should output_to_fd("text", STDERR)`
class SpecOutputToFd
  attr_writer :block

  def initialize(wanted, to)
    @wanted = wanted
    @to = to
  end

  def matches?(code)
    path = tmp("output_to_fd")
    old = @to.dup
    File.open(path, "w+") do |f|
      @to.reopen(f)
      begin
        code.call
      ensure
        @to.flush
        @to.reopen(old)
        old.close
      end
      f.rewind
      @got = f.read
    end
    @wanted.is_a?(Regexp) ? !(@got =~ @wanted).nil? : @got == @wanted
  ensure
    File.delete(path) if path && File.exist?(path)
  end

  def failure_message
    ["Expected output #{@wanted.inspect}", "got #{@got.inspect}"]
  end

  def negative_failure_message
    ["Expected output other than", @got.inspect]
  end
end

TOLERANCE = 0.00003
TIME_TOLERANCE = 20.0

module MSpecMatchers
  private

  def raise_error(exception = Exception, message = nil, options = nil, &block)
    m = SpecRaise.new(exception, message, options)
    m.block = block if block
    m
  end
  alias_method :raise_consistent_error, :raise_error

  def complain(wanted = nil, options = nil)
    SpecComplain.new(wanted, options)
  end

  def output(out = nil, err = nil)
    SpecOutput.new(out, err)
  end

  def output_to_fd(wanted, to = STDOUT)
    SpecOutputToFd.new(wanted, to)
  end

  def be_close(expected, tolerance)
    SpecMatch.new("be within #{expected} +/- #{tolerance}") { |x| (x - expected).abs <= tolerance }
  end

  def be_true
    SpecMatch.new("be true") { |x| x == true }
  end

  def be_false
    SpecMatch.new("be false") { |x| x == false }
  end

  def be_nil
    SpecMatch.new("be nil") { |x| x.nil? }
  end

  def be_empty
    SpecMatch.new("be empty") { |x| x.empty? }
  end

  def be_nan
    SpecMatch.new("be NaN") { |x| x.kind_of?(Float) && x.nan? }
  end

  def be_kind_of(c)
    SpecMatch.new("be a #{c}") { |x| x.is_a?(c) }
  end

  def be_an_instance_of(c)
    SpecMatch.new("be an instance of #{c}") { |x| x.instance_of?(c) }
  end

  def be_positive_infinity
    SpecMatch.new("be Infinity") { |x| x.kind_of?(Float) && x.infinite? == 1 }
  end

  def be_negative_infinity
    SpecMatch.new("be -Infinity") { |x| x.kind_of?(Float) && x.infinite? == -1 }
  end

  def be_positive_zero
    SpecMatch.new("be 0.0") { |x| (1.0 / x).infinite? == 1 }
  end

  def be_negative_zero
    SpecMatch.new("be -0.0") { |x| (1.0 / x).infinite? == -1 }
  end

  def equal(other)
    SpecMatch.new("be the very object #{MSpec.format(other)}") { |x| x.equal?(other) }
  end

  def eql(other)
    SpecMatch.new("be eql? to #{MSpec.format(other)}") { |x| x.eql?(other) }
  end

  def include(*all)
    SpecMatch.new("include #{MSpec.format(all)}") { |x| all.all? { |e| x.include?(e) } }
  end

  def include_any_of(*all)
    SpecMatch.new("include one of #{MSpec.format(all)}") { |x| all.any? { |e| x.include?(e) } }
  end

  def respond_to(name)
    SpecMatch.new("respond to #{name}") { |x| x.respond_to?(name) }
  end

  def have_method(name)
    SpecMatch.new("have method #{name}") { |x| x.methods.include?(name.to_sym) }
  end

  def have_instance_method(name, inherit = true)
    SpecMatch.new("have instance method #{name}") { |x| x.instance_methods(inherit).include?(name.to_sym) }
  end

  def have_private_instance_method(name, inherit = true)
    SpecMatch.new("have private instance method #{name}") { |x| x.private_instance_methods(inherit).include?(name.to_sym) }
  end

  def have_public_instance_method(name, inherit = true)
    SpecMatch.new("have public instance method #{name}") { |x| x.public_instance_methods(inherit).include?(name.to_sym) }
  end

  def have_private_method(name)
    SpecMatch.new("have private method #{name}") { |x| x.private_methods.include?(name.to_sym) }
  end

  def have_singleton_method(name, inherit = true)
    SpecMatch.new("have singleton method #{name}") { |x| x.singleton_methods(inherit).include?(name.to_sym) }
  end

  def have_constant(name)
    SpecMatch.new("have constant #{name}") { |x| x.const_defined?(name, false) }
  end

  def have_instance_variable(name)
    SpecMatch.new("have instance variable #{name}") { |x| x.instance_variables.include?(name.to_sym) }
  end

  def have_class_variable(name)
    SpecMatch.new("have class variable #{name}") { |x| x.class_variables.include?(name.to_sym) }
  end

  # Rows of [receiver, arguments..., result].
  def be_computed_by(name, *more)
    SpecMatch.new("be computed by #{name}") do |rows|
      rows.all? do |row|
        row = row.dup
        receiver = row.shift
        value = row.pop
        got = receiver.send(name, *row, *more)
        got == value || raise(SpecExpectationNotMetError, "Expected #{value.inspect} from #{receiver.inspect}.#{name}(#{row.inspect}), got #{got.inspect}")
      end
    end
  end

  # Does the code wait for ever?
  def block_caller
    SpecMatch.new("block the caller") do |code|
      t = Thread.new { code.call }
      verdict = nil
      while verdict.nil?
        case t.status
        when "sleep"
          t.kill
          t.join
          verdict = true
        when false
          t.join
          verdict = false
        when nil
          t.value
          verdict = false
        else
          Thread.pass
        end
      end
      verdict
    end
  end

  # An HTML element (CGI specs).
  def equal_element(element, attributes = nil, content = nil, options = {})
    SpecMatch.new("be a #{element} element") do |x|
      ok = x.start_with?("<#{element}")
      if options[:not_closed]
        ok &&= x.end_with?(">#{content}")
      else
        ok &&= x.end_with?("</#{element}>")
        ok &&= x.include?(">#{content}</") if content
      end
      if attributes
        if attributes.empty?
          ok &&= x.scan(/\w+\=\"(.*)\"/).empty?
        else
          attributes.each do |k, v|
            found = v == true ? x.scan(/#{Regexp.quote(k)}(\s|>)/) : x.scan(" #{k}=\"#{v}\"")
            ok &&= found.size == 1
          end
        end
      end
      ok
    end
  end

  def match_yaml(expected)
    SpecMatch.new("match #{expected.inspect}") do |x|
      clean = ->(t) { t.gsub(/([^-]|^---)\s+\n/, "\\1\n").sub(/\n\.\.\.\n$/, "\n") }
      expected = expected.to_yaml unless expected.is_a?(String)
      clean.call(x) == clean.call(expected)
    end
  end

  def skip(reason = "no reason")
    raise SkippedSpecError, reason
  end
end

class Module
  include MSpecMatchers
end

class MSpec::Env
  include MSpecMatchers
end

# mspec's matchers are there in examples only, but helpers at the top level call `skip` too.
class Object
  private

  def skip(reason = "no reason")
    raise SkippedSpecError, reason
  end

  def flunk(message = "This example is a failure")
    raise SpecExpectationNotMetError, message
  end
end

# --- mocks -------------------------------------------------------------------------

# What a mocked method expects and answers.
class SpecProxy
  attr_reader :calls, :how, :times_wanted, :args, :yields

  def initialize(kind)
    @kind = kind
    @how = kind == :mock ? :exactly : :any
    @times_wanted = kind == :mock ? 1 : 0
    @args = :any_args
    @returns = [nil]
    @raises = nil
    @yields = []
    @calls = 0
    @explicit = false
  end

  def stub?
    @kind == :stub
  end

  def exactly(n)
    @how = :exactly
    @times_wanted = number(n)
    @explicit = true
    self
  end

  def at_least(n)
    @how = :at_least
    @times_wanted = number(n)
    @explicit = true
    self
  end

  def at_most(n)
    @how = :at_most
    @times_wanted = number(n)
    @explicit = true
    self
  end

  def number(n)
    case n
    when :once then 1
    when :twice then 2
    else Integer(n)
    end
  end

  def once
    exactly(1)
  end

  def twice
    exactly(2)
  end

  def times
    self
  end

  def any_number_of_times
    @how = :any
    self
  end

  def with(*args)
    @args = args.size == 1 ? args[0] : args
    self
  end

  def and_return(*values)
    @returns = values.empty? ? [nil] : values
    @times_wanted = values.size if values.size > 1 && @times_wanted < values.size
    self
  end

  def and_raise(exception)
    @raises = exception.is_a?(String) ? RuntimeError.new(exception) : exception
    self
  end

  def and_yield(*args)
    @yields << args
    self
  end

  def match?(args)
    case @args
    when :any_args then true
    when :no_args then args.empty?
    else @args == (args.size == 1 ? args[0] : args)
    end
  end

  def answer(block)
    @calls += 1
    @yields.each do |list|
      raise SpecExpectationNotMetError, "a mock was asked to yield, but got no block" unless block
      block.call(*list)
    end
    raise @raises if @raises
    @returns.size > 1 ? @returns.shift : @returns[0]
  end

  def satisfied?
    case @how
    when :exactly then @calls == @times_wanted
    when :at_least then @calls >= @times_wanted
    when :at_most then @calls <= @times_wanted
    else true
    end
  end
end

# Replaced methods, by object.
module SpecMock
  @entries = []

  class << self
    def install(obj, name, kind)
      name = name.to_sym
      MSpec.expectation if kind == :mock
      entry = @entries.find { |e| e[:obj].equal?(obj) && e[:name] == name }
      proxy = SpecProxy.new(kind)
      if entry
        mocked = entry[:proxies].any? { |p| !p.stub? }
        return proxy if kind == :stub && mocked
        entry[:proxies].reject! { |p| p.stub? } if kind == :mock
        kind == :stub ? entry[:proxies].unshift(proxy) : entry[:proxies].push(proxy)
      else
        @entries << { obj: obj, name: name, proxies: [proxy], saved: replace(obj, name) }
      end
      proxy
    end

    # Puts our method in the singleton class; true when the object had one of its own there.
    def replace(obj, name)
      meta = obj.singleton_class
      own = meta.method_defined?(name, false) || meta.private_method_defined?(name, false)
      saved = own ? meta.instance_method(name) : nil
      verbose, $VERBOSE = $VERBOSE, nil
      meta.__send__(:define_method, name) do |*args, &block|
        SpecMock.call(self, name, args, block)
      end
      meta.__send__(:public, name)
      $VERBOSE = verbose
      saved
    end

    def call(obj, name, args, block)
      entry = @entries.find { |e| e[:obj].equal?(obj) && e[:name] == name }
      raise SpecExpectationNotMetError, "a mock of #{name} outlived its example" unless entry
      proxy = entry[:proxies].find { |p| p.match?(args) }
      return proxy.answer(block) if proxy
      if name == :respond_to?
        original = obj.class.instance_method(:respond_to?)
        return original.bind_call(obj, *args)
      end
      raise SpecExpectationNotMetError, "mock #{label(obj)}: method #{name} called with unexpected arguments #{args.inspect}"
    end

    def label(obj)
      obj.instance_variable_get(:@name) || obj.inspect
    end

    def verify
      @entries.each do |e|
        e[:proxies].each do |p|
          next if p.satisfied?
          raise SpecExpectationNotMetError,
                "Mock '#{label(e[:obj])}' expected to receive #{e[:name]} #{p.how} #{p.times_wanted} times, but received it #{p.calls} times"
        end
      end
      MockIntObject.verify
    end

    def cleanup
      entries = @entries
      @entries = []
      MockIntObject.made.clear
      entries.each do |e|
        meta = e[:obj].singleton_class
        verbose, $VERBOSE = $VERBOSE, nil
        begin
          meta.__send__(:remove_method, e[:name])
          meta.__send__(:define_method, e[:name], e[:saved]) if e[:saved]
        ensure
          $VERBOSE = verbose
        end
      end
    end
  end
end

# An object that answers only what it was told to.
class MockObject
  def initialize(name, options = {})
    @name = name
    @null = options[:null_object]
  end

  def method_missing(name, *args, &block)
    @null ? self : super
  end
  private :method_missing
end

class NumericMockObject < Numeric
  def initialize(name, options = {})
    @name = name
    @null = options[:null_object]
  end

  def method_missing(name, *args, &block)
    @null ? self : super
  end

  def singleton_method_added(name)
  end
end

# Converts to an integer and must be asked to.
class MockIntObject
  @made = []

  class << self
    attr_reader :made

    def verify
      @made.each do |m|
        raise SpecExpectationNotMetError, "Mock int expected to receive to_int" if m.calls == 0
      end
    end
  end

  attr_reader :calls

  def initialize(value)
    @value = value
    @calls = 0
    MockIntObject.made << self
  end

  def to_int
    @calls += 1
    @value.to_int
  end
end

def mock(name, options = {})
  MockObject.new(name, options)
end

def mock_numeric(name, options = {})
  NumericMockObject.new(name, options)
end

def mock_int(value)
  MockIntObject.new(value)
end

def mock_to_path(path)
  obj = MockObject.new("path")
  obj.should_receive(:to_path).and_return(path)
  obj
end

# --- guards ------------------------------------------------------------------------

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

# --- helpers -----------------------------------------------------------------------

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

MSpec.enable_feature(:fork)
MSpec.enable_feature(:encoding)
MSpec.enable_feature(:fiber)
MSpec.enable_feature(:fiber_library)

files = ARGV.dup
ARGV.clear
files.each do |f|
  MSpec.load_file(f)
  SpecReport.line("D", SpecReport.count)
  SpecReport.count = 0
end
