# Proc, Binding, and the Kernel methods that make them.
class Proc
  def self.new(*args, **opts, &blk)
    raise ArgumentError, "tried to create Proc object without a block" unless blk
    unless __same(self, __class(blk)) || __same(self, Proc)
      blk = __proc_dup(blk, self)
      blk.__send__(:initialize, *args, **opts)
    end
    blk
  end

  def to_proc = self

  def dup
    p = __proc_dup(self, __class(self))
    __copy_ivars(self, p)
    p.__send__(:initialize_dup, self)
    p
  end

  def clone(freeze: nil)
    p = __proc_dup(self, __class(self))
    __copy_ivars(self, p)
    __copy_singleton(self, p)
    p.__send__(:initialize_clone, self)
    p.freeze if freeze || (freeze.nil? && frozen?)
    p
  end

  def curry(arity = nil)
    lambda = lambda?
    own = self.arity
    if arity
      arity = KumiSys.to_cint(arity)
      if lambda
        least = own >= 0 ? own : -own - 1
        kinds = parameters.map { |kind, _| kind }
        most = kinds.include?(:rest) ? nil : kinds.count { |kind| kind == :req || kind == :opt }
        KumiSys.arity_error(arity, least, most) if arity < least || (most && arity > most)
      end
    else
      arity = own >= 0 ? own : -own - 1
    end
    KumiSys.curry(self, arity, [], lambda)
  end

  def >>(other)
    KumiSys.callable!(other)
    f = self
    return ->(*args, **opts, &blk) { other.call(f.call(*args, **opts, &blk)) } if lambda?
    proc { |*args, **opts, &blk| other.call(f.call(*args, **opts, &blk)) }
  end

  def <<(other)
    KumiSys.callable!(other)
    f = self
    if __is_a(other, Proc) && !other.lambda?
      return proc { |*args, **opts, &blk| f.call(other.call(*args, **opts, &blk)) }
    end
    ->(*args, **opts, &blk) { f.call(other.call(*args, **opts, &blk)) }
  end

  def parameters(lambda: nil)
    __proc_parameters(self, lambda)
  end

  def source_location
    kind, from = __proc_kind(self)
    kind == 2 ? from.source_location : __proc_source(self)
  end

  def binding = __proc_binding(self)

  def ruby2_keywords
    __check_frozen(self)
    kinds = parameters.map { |kind, _| kind }
    after = kinds.index(:rest)
    if after.nil? || kinds[after + 1] == :req || kinds.any? { |kind| kind == :key || kind == :keyreq || kind == :keyrest }
      KumiSys.warning("Skipping set of ruby2_keywords flag for proc (proc accepts keywords or post arguments or proc does not accept argument splat)")
      return self
    end
    __proc_ruby2(self)
  end

  def inspect
    s = "#<#{__class(self)}:#{__address(self)}"
    kind, from = __proc_kind(self)
    if kind == 1
      s << "(&#{from.inspect})"
    elsif kind == 2
      at = from.source_location
      s << " #{at[0]}:#{at[1]}" if at
    else
      at = __proc_source(self)
      s << " #{at[0]}:#{at[1]}" if at
    end
    s << " (lambda)" if lambda?
    (s << ">").force_encoding(Encoding::BINARY)
  end
  alias to_s inspect
end

module KumiSys
  def self.curry(f, arity, args, lambda)
    if lambda
      ->(*more) {
        all = args + more
        all.length >= arity ? f.call(*all) : curry(f, arity, all, lambda)
      }
    else
      proc { |*more|
        all = args + more
        all.length >= arity ? f.call(*all) : curry(f, arity, all, lambda)
      }
    end
  end

  def self.callable!(x)
    return if __is_a(x, Proc) || __is_a(x, Method) || __responds(x, :call)
    raise TypeError, "callable object is expected"
  end

  # Backtrace rows as text: "path:line:in 'label'".
end

class Binding
  def local_variables = __binding_locals(self)

  def local_variable_get(name)
    name = KumiSys.to_name(name)
    KumiSys.local_name!(name, self)
    v = __binding_get(self, name)
    if __undef?(v)
      raise NameError.new("local variable '#{name}' is not defined for #{inspect}", name, receiver: self)
    end
    v
  end

  def local_variable_set(name, value)
    name = KumiSys.to_name(name)
    KumiSys.local_name!(name, self)
    __binding_set(self, name, value)
  end

  def local_variable_defined?(name)
    name = KumiSys.to_name(name)
    KumiSys.local_name!(name, self)
    !__undef?(__binding_get(self, name))
  end

  def eval(text, path = nil, line = nil)
    at = source_location
    path = path ? KumiSys.to_str(path) : "(eval at #{at[0]}:#{at[1]})"
    __eval(KumiSys.to_str(text), self, path, line ? KumiSys.to_cint(line) : 1)
  end

  # A session in this place, until `exit` or the end of the input; then the program goes on.
  def irb(show_code: true)
    KumiSys.irb_session(self, show_code)
    nil
  end

  def dup = KumiSys.copy_binding(self)

  def clone(freeze: nil)
    copy = KumiSys.copy_binding(self)
    __same(freeze, nil) ? frozen? && copy.freeze : freeze && copy.freeze
    copy
  end

  # The block's own numbered parameters, or `it`, in force at the binding.
  def implicit_parameters = __binding_implicit(self)

  def implicit_parameter_get(name)
    KumiSys.implicit_name!(name, self)
    name = KumiSys.to_name(name)
    v = __binding_implicit_get(self, name)
    return v unless __undef?(v)
    raise NameError.new("implicit parameter '#{name}' is not defined for #{inspect}", name, receiver: self)
  end

  def implicit_parameter_defined?(name)
    KumiSys.implicit_name!(name, self)
    __binding_implicit(self).include?(KumiSys.to_name(name))
  end
end

module KumiSys
  def self.copy_binding(binding)
    copy = __binding_dup(binding)
    binding.instance_variables.each { |name| copy.instance_variable_set(name, binding.instance_variable_get(name)) }
    copy
  end

  def self.implicit_name!(name, binding)
    name = to_name(name)
    return if name.match?(/\A(?:it|_[1-9])\z/)
    raise NameError.new("'#{name}' is not an implicit parameter", name, receiver: binding)
  end

  def self.local_name!(name, binding)
    if name.match?(/\A_[1-9]\z/)
      raise NameError.new("numbered parameter '#{name}' is not a local variable", name, receiver: binding)
    end
    return if name.match?(/\A[a-z_\u0080-\u{10ffff}][A-Za-z0-9_\u0080-\u{10ffff}]*\z/)
    raise NameError.new("wrong local variable name '#{name}' for #{binding.inspect}", name, receiver: binding)
  end
end

module Kernel
  def proc(&blk)
    raise ArgumentError, "tried to create Proc object without a block" unless blk
    blk
  end

  def lambda
    literal = __block_literal
    blk = __block_proc
    raise ArgumentError, "tried to create Proc object without a block" unless blk
    return __make_lambda(blk) if literal
    raise ArgumentError, "the lambda method requires a literal block" unless blk.lambda?
    blk
  end

  def block_given? = __frame_block_given

  def binding = __binding

  def local_variables = __binding_locals(__binding)

  def eval(text, binding = nil, path = nil, line = nil)
    text = KumiSys.to_str(text)
    if binding.nil?
      at = "(eval at #{__frame_path}:#{__frame_line})"
      binding = __binding
    else
      raise TypeError, "wrong argument type #{__describe_type(binding)} (expected binding)" unless __is_a(binding, Binding)
      loc = binding.source_location
      at = "(eval at #{loc[0]}:#{loc[1]})"
    end
    __eval(text, binding, path ? KumiSys.to_str(path) : at, line ? KumiSys.to_cint(line) : 1)
  end

  def catch(tag = Object.new)
    __catch_begin(tag)
    begin
      yield tag
    ensure
      __catch_end
    end
  end

  def throw(tag, value = nil)
    __throw(tag, value)
    raise UncaughtThrowError.new(tag, value, "uncaught throw %p")
  end

  def __method__
    m = __frame_method
    m && m[0]
  end

  def __callee__
    m = __frame_method
    m && m[1]
  end

  def __dir__
    p = __frame_real_path || __frame_path
    return nil if p.nil? || p == "-e" || p.start_with?("(eval")
    File.dirname(p)
  end

  def caller(start = 1, length = nil)
    rows = KumiSys.caller_rows(start, length)
    rows && rows.map { |r| KumiSys.row_text(r) }
  end

  def caller_locations(start = 1, length = nil)
    rows = KumiSys.caller_rows(start, length)
    rows && rows.map { |r| KumiSys.location(r) }
  end

  private :lambda, :eval, :__method__, :__callee__, :__dir__
  module_function :proc, :block_given?, :binding, :local_variables, :catch, :throw, :caller, :caller_locations

  class << self
    def lambda
      literal = __block_literal
      blk = __block_proc
      raise ArgumentError, "tried to create Proc object without a block" unless blk
      literal ? __make_lambda(blk) : blk
    end

    def eval(text, binding = nil, path = nil, line = nil)
      binding ||= __binding
      __eval(KumiSys.to_str(text), binding, path ? KumiSys.to_str(path) : "(eval)", line ? KumiSys.to_cint(line) : 1)
    end
  end
end

module KumiSys
  # Frames above the caller of a prelude method. The prelude method itself shows as one row first.
  def self.caller_rows(start, length)
    rows = __caller(0, nil)
    rows.shift
    cut_rows(rows, start, length)
  end

  # The part of a backtrace that `start` and `length`, or a Range, name; nil beyond its end.
  def self.cut_rows(rows, start, length)
    if __is_a(start, Range)
      lo = start.begin || 0
      hi = start.end
      return rows[lo..(hi.nil? ? -1 : (start.exclude_end? ? hi - 1 : hi))]
    end
    start = to_long(start)
    raise ArgumentError, "negative level (#{start})" if start < 0
    return nil if start > rows.length
    rows = rows[start..]
    unless __same(length, nil)
      length = to_long(length)
      raise ArgumentError, "negative size (#{length})" if length < 0
      rows = rows.first(length)
    end
    rows
  end
end
