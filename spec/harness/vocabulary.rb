# The words of spec files: `describe` and `it` for the registry, `should` and `should_not` for every object. Whatever calls
# `should` has made an expectation, also when a matcher does the rest.

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
    return unless block # "needs to be reviewed": nothing to run, and mspec does not count it either
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
