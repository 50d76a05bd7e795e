# frozen_string_literal: true

require "json/version"

# JSON: texts are parsed and written by natives of the runtime; what asks objects
# (to_json, object_class, json_create) is done here.
module JSON
  class JSONError < StandardError
    def self.wrap(exception)
      new("Wrapped(#{exception.class}): #{exception.message.inspect}")
    end
  end

  class ParserError < JSONError
    attr_reader :line, :column
  end

  class NestingError < ParserError; end

  class GeneratorError < JSONError
    attr_reader :invalid_object

    def initialize(message, invalid_object = nil)
      super(message)
      @invalid_object = invalid_object
    end
  end

  class MissingUnicodeSupport < JSONError; end

  NaN = Float::NAN
  Infinity = Float::INFINITY
  MinusInfinity = -Float::INFINITY

  # A piece of JSON text that is written as it is.
  Fragment = Struct.new(:json) do
    def initialize(json)
      unless (string = String.try_convert(json))
        raise TypeError, " no implicit conversion of #{json.class} into String"
      end
      super(string)
    end

    def to_json(_state = nil, *) = json
  end

  class << self
    attr_accessor :create_id, :load_default_options, :dump_default_options
    attr_reader :unsafe_load_default_options

    def create_id = @create_id || "json_class"

    def [](object, opts = {})
      if (s = String.try_convert(object))
        parse(s, opts)
      else
        generate(object, opts)
      end
    end

    def state = State
    def generator = Generator
    def parser = Parser
  end

  # Wraps the native parser.
  class Parser
    attr_reader :source

    def self.new(source, opts = nil)
      super(source, opts || {})
    end

    def self.parse(source, opts = nil) = new(source, opts).parse

    def initialize(source, opts)
      @source = convert(source)
      @opts = opts
    end

    def parse
      o = @opts
      nesting = o.key?(:max_nesting) ? o[:max_nesting] || 0 : 100
      create = o[:create_additions]
      if o[:symbolize_names] && create
        raise ArgumentError, "options :symbolize_names and :create_additions cannot be used in conjunction"
      end
      read = __json_read(@source, o[:symbolize_names], o[:allow_nan], nesting, o[:freeze],
                         o[:allow_trailing_comma], o[:allow_control_characters])
      # Built piece by piece, so that nobody waits long for this thread.
      work = [nil, []]
      until __json_build(read, work); end
      result = __ary_at(work, 0)
      if create || o[:object_class] || o[:array_class] || o[:decimal_class]
        result = Rebuild.new(o).call(result)
      end
      result
    end

    private

    def convert(source)
      unless source.is_a?(String)
        s = String.try_convert(source)
        raise TypeError, "no implicit conversion of #{source.nil? ? "nil" : source.class} into String" if s.nil?
        source = s
      end
      case source.encoding
      when Encoding::UTF_8 then source
      when Encoding::BINARY, Encoding::US_ASCII then source.dup.force_encoding(Encoding::UTF_8)
      else source.encode(Encoding::UTF_8)
      end
    end
  end

  # Makes a parsed tree anew of other classes, from the leaves up.
  class Rebuild
    def initialize(opts)
      @object_class = opts[:object_class]
      @array_class = opts[:array_class]
      @decimal_class = opts[:decimal_class]
      @create = opts[:create_additions]
      @create_id = opts[:create_id] || JSON.create_id
    end

    def call(x)
      case x
      when Hash
        h = (@object_class || Hash).new
        x.each { |k, v| h[k] = call(v) }
        if @create && (name = h[@create_id])
          klass = Object.const_get(name)
          return klass.json_create(h) if klass.respond_to?(:json_creatable?) ? klass.json_creatable? : klass.respond_to?(:json_create)
        end
        h
      when Array
        a = (@array_class || Array).new
        x.each { |v| a << call(v) }
        a
      when Float
        if @decimal_class
          @decimal_class.respond_to?(:try_convert) ? @decimal_class.try_convert(x.to_s) : Kernel.__send__(@decimal_class.name, x.to_s)
        else
          x
        end
      else
        x
      end
    end
  end

  # How a text is laid out, and where the writer is in it.
  class State
    attr_accessor :indent, :space, :space_before, :object_nl, :array_nl, :max_nesting, :depth, :buffer_initial_length, :as_json
    attr_writer :script_safe, :strict, :ascii_only, :allow_nan

    def self.from_state(opts)
      case opts
      when self then opts
      when Hash then new(opts)
      else new
      end
    end

    def self.generate(obj, opts, io = nil)
      s = new(opts).generate(obj)
      return s unless io
      io.write(s)
      io
    end

    def initialize(opts = nil)
      @indent = ""
      @space = ""
      @space_before = ""
      @object_nl = ""
      @array_nl = ""
      @max_nesting = 100
      @depth = 0
      @buffer_initial_length = 1024
      @allow_nan = false
      @ascii_only = false
      @script_safe = false
      @strict = false
      @as_json = nil
      configure(opts) if opts
    end

    def configure(opts)
      opts = opts.respond_to?(:to_hash) ? opts.to_hash : opts.to_h
      opts.each do |key, value|
        case key.to_sym
        when :indent then @indent = value.to_s
        when :space then @space = value.to_s
        when :space_before then @space_before = value.to_s
        when :object_nl then @object_nl = value.to_s
        when :array_nl then @array_nl = value.to_s
        when :max_nesting then @max_nesting = value || 0
        when :depth then @depth = value
        when :allow_nan then @allow_nan = !!value
        when :ascii_only then @ascii_only = !!value
        when :script_safe, :escape_slash then @script_safe = !!value
        when :strict then @strict = !!value
        when :as_json then @as_json = value && value.to_proc
        when :buffer_initial_length
          @buffer_initial_length = value if value.is_a?(Integer) && value > 0
        end
      end
      self
    end
    alias merge configure

    def allow_nan? = @allow_nan
    def ascii_only? = @ascii_only
    def script_safe? = @script_safe
    alias script_safe script_safe?
    def strict? = @strict
    alias strict strict?

    def check_circular? = @max_nesting != 0

    def to_h
      {
        indent: @indent, space: @space, space_before: @space_before, object_nl: @object_nl, array_nl: @array_nl,
        allow_nan: @allow_nan, ascii_only: @ascii_only, max_nesting: @max_nesting, script_safe: @script_safe,
        strict: @strict, depth: @depth, buffer_initial_length: @buffer_initial_length, as_json: @as_json
      }
    end
    alias to_hash to_h

    def [](name)
      respond_to?(name) ? __send__(name) : instance_variable_get("@#{name}")
    end

    def []=(name, value)
      respond_to?("#{name}=") ? __send__("#{name}=", value) : instance_variable_set("@#{name}", value)
    end

    def generate(obj, io = nil)
      s = fast(obj) || write(obj)
      return s unless io
      io.write(s)
      io
    end

    def generate_new(obj, io = nil) = dup.generate(obj, io)

    # The text of any object at the present depth.
    def write(obj)
      case obj
      when nil then "null"
      when true then "true"
      when false then "false"
      when Hash then obj.instance_of?(Hash) ? object(obj) : custom(obj)
      when Array then obj.instance_of?(Array) ? array(obj) : custom(obj)
      when String then obj.instance_of?(String) ? quote(obj) : custom(obj)
      when Integer then obj.to_s
      when Float then float(obj)
      when Symbol then @strict ? quote(obj.name) : custom(obj)
      when Fragment then obj.json
      else custom(obj)
      end
    end

    def object(hash)
      enter
      if hash.empty?
        leave
        return "{}"
      end
      nl = @object_nl + @indent * @depth
      parts = hash.map do |k, v|
        k = k.is_a?(String) ? k : k.is_a?(Symbol) ? k.name : k.to_s
        "#{nl}#{quote(k)}#{@space_before}:#{@space}#{fast(v) || write(v)}"
      end
      leave
      "{#{parts.join(",")}#{@object_nl}#{@indent * @depth unless @object_nl.empty?}}"
    end

    def array(list)
      enter
      if list.empty?
        leave
        return "[]"
      end
      nl = @array_nl.empty? ? "" : @array_nl + @indent * @depth
      parts = list.map { |v| "#{nl}#{fast(v) || write(v)}" }
      leave
      "[#{parts.join(",")}#{@array_nl}#{@indent * @depth unless @array_nl.empty?}]"
    end

    def quote(s)
      s = s.encode(Encoding::UTF_8) unless [Encoding::UTF_8, Encoding::BINARY, Encoding::US_ASCII].include?(s.encoding)
      __json_quote(s, @ascii_only, @script_safe)
    rescue EncodingError => e
      raise GeneratorError.new(e.message, s)
    end

    def float(f)
      if !f.finite? && !@allow_nan
        raise GeneratorError.new("#{f} not allowed in JSON", f)
      end
      f.to_s
    end

    private

    def enter
      @depth += 1
      if @max_nesting > 0 && @depth > @max_nesting
        d = @depth
        @depth = 0
        raise NestingError, "nesting of #{d} is too deep"
      end
    end

    def leave
      @depth -= 1
    end

    # Scalars and trees of core classes in one native call; nil for anything else.
    def fast(obj)
      return nil if @as_json
      __json_generate(obj, @indent, @space, @space_before, @object_nl, @array_nl, @max_nesting,
                           @allow_nan, @ascii_only, @script_safe, @strict, @depth) || nil
    end

    def custom(obj)
      if @strict
        if @as_json
          return write(@as_json.call(obj))
        end
        raise GeneratorError.new("#{obj.inspect} not allowed in JSON", obj)
      end
      if obj.respond_to?(:to_json)
        s = obj.to_json(self)
        raise TypeError, "no implicit conversion of #{s.class} into String" unless s.is_a?(String)
        s
      else
        quote(obj.to_s)
      end
    end
  end

  PRETTY_STATE = { indent: "  ", space: " ", object_nl: "\n", array_nl: "\n" }.freeze
  PRETTY_GENERATE_OPTIONS = PRETTY_STATE

  # to_json of the core classes.
  module Generator
    State = JSON::State

    module GeneratorMethods
      module Object
        def to_json(state = nil, *)
          if state.is_a?(State) && state.strict?
            raise GeneratorError.new("#{self} not allowed in JSON", self)
          end
          to_s.to_json
        end
      end

      module Hash
        def to_json(state = nil, *)
          State.from_state(state).then { |s| s.object(self) }
        end
      end

      module Array
        def to_json(state = nil, *)
          State.from_state(state).then { |s| s.array(self) }
        end
      end

      module Integer
        def to_json(_state = nil, *) = to_s
      end

      module Float
        def to_json(state = nil, *) = State.from_state(state).float(self)
      end

      module String
        def to_json(state = nil, *) = State.from_state(state).quote(self)
      end

      module Symbol
        def to_json(state = nil, *)
          s = State.from_state(state)
          s.strict? ? s.quote(name) : s.quote(to_s)
        end
      end

      module TrueClass
        def to_json(*) = "true"
      end

      module FalseClass
        def to_json(*) = "false"
      end

      module NilClass
        def to_json(*) = "null"
      end
    end
  end

  module Ext
    module Generator
      GeneratorMethods = JSON::Generator::GeneratorMethods
      State = JSON::State
    end
    Parser = JSON::Parser
  end

  self.load_default_options = { max_nesting: false, allow_nan: true, allow_blank: true, create_additions: false }
  @unsafe_load_default_options = { max_nesting: false, allow_nan: true, allow_blank: true, create_additions: true }
  self.dump_default_options = { max_nesting: false, allow_nan: true }

  module_function

  def parse(source, opts = nil) = Parser.new(source, opts).parse

  def parse!(source, opts = nil)
    Parser.new(source, { max_nesting: false, allow_nan: true }.merge(opts || {})).parse
  end

  def load_file(path, opts = nil) = parse(File.read(path, encoding: Encoding::UTF_8), opts)
  def load_file!(path, opts = nil) = parse!(File.read(path, encoding: Encoding::UTF_8), opts)

  def generate(obj, opts = nil)
    (opts.is_a?(State) ? opts : State.new(opts)).generate(obj)
  end

  def fast_generate(obj, opts = nil) = generate(obj, opts)

  def pretty_generate(obj, opts = nil)
    return opts.generate(obj) if opts.is_a?(State)
    if opts
      unless opts.respond_to?(:to_hash) || opts.respond_to?(:to_h)
        raise TypeError, "can't convert #{opts.class} into Hash"
      end
      opts = opts.respond_to?(:to_hash) ? opts.to_hash : opts.to_h
    end
    State.new(opts ? PRETTY_STATE.merge(opts) : PRETTY_STATE).generate(obj)
  end

  def load(source, proc = nil, options = nil)
    __kumi_load(source, proc, JSON.load_default_options.merge(options || {}))
  end

  def unsafe_load(source, proc = nil, options = nil)
    __kumi_load(source, proc, JSON.unsafe_load_default_options.merge(options || {}))
  end
  alias restore load
  module_function :restore

  def __kumi_load(source, proc, opts)
    if source.respond_to?(:to_str)
      source = source.to_str
    elsif source.respond_to?(:to_io)
      source = source.to_io.read
    elsif source.respond_to?(:read)
      source = source.read
    end
    source = "null" if opts[:allow_blank] && (source.nil? || source.empty?)
    result = parse(source, opts)
    __kumi_each(result, &proc) if proc
    result
  end

  # Every value of a tree, leaves first.
  def __kumi_each(result, &proc)
    case result
    when Array
      result.each { |x| __kumi_each(x, &proc) }
      proc.call(result)
    when Hash
      result.each do |x, y|
        __kumi_each(x, &proc)
        __kumi_each(y, &proc)
      end
      proc.call(result)
    else
      proc.call(result)
    end
  end

  def dump(obj, anIO = nil, limit = nil, kwargs = nil)
    io = anIO
    if kwargs.nil?
      if limit.nil?
        if io.is_a?(Hash)
          kwargs = io
          io = nil
        end
      elsif limit.is_a?(Hash)
        kwargs = limit
        limit = nil
      end
    end
    unless io.nil?
      if io.respond_to?(:to_io)
        io = io.to_io
      elsif limit.nil? && !io.respond_to?(:write)
        io, limit = nil, io
      end
    end
    opts = JSON.dump_default_options
    opts = opts.merge(max_nesting: limit) if limit
    opts = opts.merge(kwargs) if kwargs
    begin
      text = State.new(opts).generate(obj)
    rescue NestingError
      raise ArgumentError, "exceed depth limit"
    end
    return text unless io
    io.write(text)
    io
  end

  # Options bound once: JSON::Coder.new { |x| x.to_s }.dump(obj)
  class Coder
    def initialize(options = nil, &as_json)
      options = { strict: true, **(options || {}) }
      options[:as_json] = as_json if as_json
      @state = State.new(options).freeze
      @parse = options
    end

    def dump(obj, io = nil) = @state.generate_new(obj, io)
    alias generate dump
    def load(source) = JSON.parse(source, @parse)
    alias parse load
    def load_file(path) = load(File.read(path, encoding: Encoding::UTF_8))
  end
end

class Object
  include JSON::Generator::GeneratorMethods::Object
end

class Hash
  include JSON::Generator::GeneratorMethods::Hash
end

class Array
  include JSON::Generator::GeneratorMethods::Array
end

class String
  include JSON::Generator::GeneratorMethods::String
end

class Integer
  include JSON::Generator::GeneratorMethods::Integer
end

class Float
  include JSON::Generator::GeneratorMethods::Float
end

class Symbol
  include JSON::Generator::GeneratorMethods::Symbol
end

class TrueClass
  include JSON::Generator::GeneratorMethods::TrueClass
end

class FalseClass
  include JSON::Generator::GeneratorMethods::FalseClass
end

class NilClass
  include JSON::Generator::GeneratorMethods::NilClass
end

module Kernel
  private

  def j(*objs)
    objs.each { |obj| puts JSON.generate(obj, allow_nan: true, max_nesting: false) }
    nil
  end

  def jj(*objs)
    objs.each { |obj| puts JSON.pretty_generate(obj, allow_nan: true, max_nesting: false) }
    nil
  end

  def JSON(object, opts = nil)
    if (s = String.try_convert(object))
      JSON.parse(s, opts)
    else
      JSON.generate(object, opts)
    end
  end
end
