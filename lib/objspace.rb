# frozen_string_literal: true

# How large objects are, what they refer to, and dumps of the heap as lines of JSON.
module ObjectSpace
  module_function

  # Bytes of the object's own memory; 0 for those that have none.
  def memsize_of(obj) = KumiSys.memsize_of(obj)

  # Bytes of all live objects of a class, or of the whole heap.
  def memsize_of_all(klass = nil)
    raise TypeError, "wrong argument type #{klass.class} (expected Class)" unless klass.nil? || Module === klass
    KumiSys.memsize_of_all(klass)
  end

  # Bytes by sort of object.
  def count_objects_size(result = {})
    raise TypeError, "non-hash given" unless Hash === result
    result.update(KumiSys.count_objects_size)
  end

  # Symbols; they are never freed.
  def count_symbols(result = {})
    raise TypeError, "non-hash given" unless Hash === result
    result.update(mortal_dynamic_symbol: 0, immortal_dynamic_symbol: 0, immortal_static_symbol: Symbol.all_symbols.size)
  end

  # Objects of classes implemented in the runtime, by class.
  def count_tdata_objects(result = {})
    raise TypeError, "non-hash given" unless Hash === result
    [Proc, Method, Thread, Thread::Mutex, Thread::Queue, Enumerator, Time, Dir, Random].each do |c|
      n = ObjectSpace.each_object(c) { nil }
      result[c] = n if n > 0
    end
    result
  end

  # The objects it refers to, its class first; nil for values that refer to nothing.
  def reachable_objects_from(obj) = KumiSys.reachable_from(obj)

  # While tracing is on, the place of each allocation is known for as long as the object lives. It makes allocation
  # several times slower.
  def trace_object_allocations
    trace_object_allocations_start
    begin
      yield
    ensure
      trace_object_allocations_stop
    end
  end

  def trace_object_allocations_start
    @tracing = (@tracing || 0) + 1
    KumiSys.trace_births(true) if @tracing == 1
    nil
  end

  def trace_object_allocations_stop
    @tracing = @tracing.to_i - 1
    @tracing = 0 if @tracing < 0
    KumiSys.trace_births(false) if @tracing == 0
    nil
  end

  def trace_object_allocations_clear
    KumiSys.forget_births
    nil
  end

  def allocation_sourcefile(obj) = KumiSys.birth(obj)&.at(0)
  def allocation_sourceline(obj) = KumiSys.birth(obj)&.at(1)
  def allocation_generation(obj) = KumiSys.birth(obj)&.at(3)
  def allocation_class_path(_obj) = nil

  def allocation_method_id(obj)
    label = KumiSys.birth(obj)&.at(2)
    name = label && label[/[^ ]+\z/]
    name.to_sym if name && !name.end_with?(">")
  end

  # One object as JSON: to a String, a temporary file, standard output or an IO.
  def dump(obj, output: :string)
    Dumper.to(output, :string) { |out| out << Dumper.line(obj) }
  end

  # All live objects, one a line.
  def dump_all(output: :file, full: false, since: nil, shapes: true)
    Dumper.to(output, :file) do |out|
      ObjectSpace.each_object { |o| out << Dumper.line(o) << "\n" unless Dumper.equal?(o) }
    end
  end

  module Dumper # :nodoc:
    TYPES = {
      String => "STRING", Array => "ARRAY", Hash => "HASH", Class => "CLASS", Module => "MODULE", Regexp => "REGEXP",
      Struct => "STRUCT", Float => "FLOAT", Integer => "BIGNUM", Range => "STRUCT", Rational => "RATIONAL",
      Complex => "COMPLEX", MatchData => "MATCH", IO => "FILE", Proc => "DATA"
    }.freeze

    def self.to(output, default)
      case output || (default == :string ? :file : default)
      when :string
        out = +""
        yield out
        out
      when :file
        require "tempfile"
        file = Tempfile.create("rubyobj")
        yield file
        file.flush
        file
      when :stdout
        yield $stdout
        $stdout.flush
      when IO
        yield output
        output.flush
      else
        raise ArgumentError, "wrong output option: #{output.inspect}"
      end
    end

    def self.address(obj) = "\"0x#{obj.__id__.to_s(16)}\""

    def self.quote(text)
      text = text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace)
      "\"#{text.gsub(/["\\\x00-\x1f\x7f]/) { |c| c == "\"" || c == "\\" ? "\\#{c}" : format("\\u%04x", c.ord) }}\""
    end

    def self.line(obj)
      case obj
      when nil then return "null"
      when true, false then return obj.to_s
      when Symbol then return quote(obj.name)
      when Integer, Float
        return obj.to_s if KumiSys.memsize_of(obj) == 0
      end
      type = TYPES.find { |k, _| k === obj }&.last || "OBJECT"
      s = +"{\"address\":#{address(obj)}, \"type\":\"#{type}\""
      klass = KumiSys.class_of(obj)
      s << ", \"class\":#{address(klass)}"
      s << ", \"frozen\":true" if Kernel.instance_method(:frozen?).bind_call(obj)
      case type
      when "STRING"
        s << ", \"bytesize\":#{obj.bytesize}, \"value\":#{quote(obj)}, \"encoding\":\"#{obj.encoding}\""
      when "ARRAY" then s << ", \"length\":#{obj.length}"
      when "HASH" then s << ", \"size\":#{obj.size}"
      when "CLASS", "MODULE"
        name = Module.instance_method(:name).bind_call(obj)
        s << ", \"name\":#{quote(name)}" if name
      end
      refs = KumiSys.reachable_from(obj) || []
      refs = refs.reject { |r| r.equal?(klass) }
      s << ", \"references\":[#{refs.map { |r| address(r) }.join(", ")}]" unless refs.empty?
      s << ", \"memsize\":#{KumiSys.memsize_of(obj)}}"
    end
  end
  private_constant :Dumper
end
