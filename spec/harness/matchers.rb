# Matchers: `matches?`, and what to say when the answer was not the wanted one. They are there in examples and in modules only.

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
