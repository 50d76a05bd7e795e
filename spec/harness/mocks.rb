# Mocks and stubs: methods of an object's singleton class that are there until the example ends, then checked and taken away.

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
