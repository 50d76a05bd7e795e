# What the loop itself calls when an instruction meets a value that is not plain:
# the slow halves of interpolation, splats, literals, constants, class bodies.
module KumiSys
  # The fatal error of a deadlock: no program can rescue it by a class.
  class Fatal < Exception
    def self.name = "fatal"
    def self.inspect = "fatal"
    def self.to_s = "fatal"
  end

  # Protocols in the order of kumi_vm::Proto.
  def self.convert_arg(v, proto)
    case proto
    when 0 then to_int(v)
    when 1 then to_str(v)
    when 2 then to_ary(v)
    when 3 then to_hash(v)
    when 4 then to_path(v)
    when 5 then to_float(v)
    else to_name(v)
    end
  end

  # Converts argument i of a native and calls it again. The same object given twice is converted once for each place.
  def self.convert_retry(method, recv, args, i, proto)
    args[i] = convert_arg(args[i], proto)
    __call_native(method, recv, args, nil, __block_proc)
  end

  def self.send_retry(method, recv, args, kw)
    args[0] = to_name(args[0])
    __call_native(method, recv, args, kw, __block_proc)
  end

  # A block argument that is no Proc: to_proc.
  def self.block_arg(v)
    to_proc(v)
  end

  # "#{v}"
  def self.interpolate(v)
    s = v.__send__(:to_s)
    __is_a(s, String) ? s : any_to_s(v)
  end

  # "#{v}" where a refinement has a to_s for it.
  def self.interpolate_by(v, to_s)
    return v if __is_a(v, String)
    s = to_s.call
    __is_a(s, String) ? s : any_to_s(v)
  end

  def self.any_to_s(v)
    __any_to_s(v)
  end

  # *v
  def self.splat(v)
    r = check_call(v, :to_a)
    return [v] if __undef?(r) || __same(r, nil)
    return r.dup if __is_a(r, Array)
    raise TypeError, "can't convert #{__describe_type(v)} to Array (#{__describe_type(v)}#to_a gives #{__describe_class(r)})"
  end

  # a, b = v
  def self.masgn_ary(v)
    r = check_call(v, :to_ary)
    return [v] if __undef?(r) || __same(r, nil)
    return r if __is_a(r, Array)
    raise TypeError, "can't convert #{__describe_type(v)} to Array (#{__describe_type(v)}#to_ary gives #{__describe_class(r)})"
  end

  # A block with several parameters called with one object that may be an array.
  def self.splat_call(block, v)
    r = check_call(v, :to_ary)
    return __call_plain(block, v) if __undef?(r) || __same(r, nil)
    unless __is_a(r, Array)
      raise TypeError, "can't convert #{__describe_type(v)} to Array (#{__describe_type(v)}#to_ary gives #{__describe_class(r)})"
    end
    block.call(*r)
  end

  # {k => v, ...} with keys whose hash is user code.
  def self.build_hash(pairs)
    h = {}
    i = 0
    while i < pairs.length
      h.store(pairs[i], pairs[i + 1])
      i += 2
    end
    h
  end

  def self.hash_store(h, k, v)
    h.store(k, v)
  end

  # {**other}
  def self.hash_splat(h, other)
    to_hash(other).each_pair { |k, v| h.store(k, v) }
    h
  end

  def self.make_range(lo, hi, exclusive)
    check_ends(lo, hi)
    Range.new(lo, hi, exclusive)
  end

  def self.raise_unknown_keywords(keys)
    list = keys.map { |k| k.inspect }.join(", ")
    raise ArgumentError, "unknown keyword#{"s" if keys.length > 1}: #{list}"
  end

  def self.not_a_module(v)
    raise TypeError, "#{v.inspect} is not a class/module"
  end

  # A constant whose file is known: loads it and gives the value.
  def self.autoload_const(owner, name, path)
    autoload_run(owner, name, path)
    v = __const_own(owner, name)
    return v unless __undef?(v)
    __drop_autoload(owner, name)
    # The file may have defined it further out or further up.
    v = __frame_const(name)
    return v unless __undef?(v)
    found = __const_find(owner, name, true, true)
    return found[1] if found && !__undef?(found[1])
    owner.const_missing(name)
  end

  # Loads the file of a constant, or waits until the thread that does it is done. A thread that loads the file because
  # it was required is the one that defines the constant, whoever asked for the constant first.
  def self.autoload_run(owner, name, path)
    while true
      begun = __autoload_begin(owner, name)
      return if __same(begun, nil)
      return __autoload_take(owner, name) if !begun && loading_here?(path)
      begin
        # A file that this thread is loading comes to its own constant.
        require_by_main(path) unless begun && loading_here?(path)
      ensure
        __autoload_end(owner, name) if begun
      end
      return if begun
      Thread.pass
    end
  end

  # A program may have a require of its own.
  def self.require_by_main(path)
    main = __main_object
    __builtin(main, :require) ? require(path) : main.__send__(:require, path)
  end

  # `class A` where A is to be autoloaded: the file may define it, or leave that to this very definition.
  def self.autoload_open(owner, name, path)
    autoload_run(owner, name, path)
    __drop_autoload(owner, name)
    nil
  end

  # defined?(recv.mid) where respond_to_missing? may know more.
  def self.defined_method(recv, mid, private_too)
    return nil if __builtin(recv, :respond_to_missing?)
    recv.__send__(:respond_to_missing?, mid, private_too) ? "expression".replace("method") : nil
  end

  # A class body after the hooks of its making.
  def self.class_body(body, klass, superclass, owner, name)
    owner.__send__(:const_added, name) unless __same(owner, nil)
    superclass.__send__(:inherited, klass) unless __same(superclass, nil)
    body.call
  end

  # Class#new of a class with its own allocate.
  def self.allocate_new(klass, *args, **opts, &block)
    obj = __builtin(klass, :allocate) ? klass.allocate : __allocate(klass)
    obj.__send__(:initialize, *args, **opts, &block)
    obj
  end

  def self.instance_eval_string(recv, text, path = nil, line = 1)
    text = to_str(text)
    b = __binding
    __eval_self(text, b, path ? to_str(path) : "(eval at #{__frame_path}:#{__frame_line})", to_cint(line), recv, nil)
  end

  def self.class_eval_string(recv, text, path = nil, line = 1)
    text = to_str(text)
    b = __binding
    __eval_self(text, b, path ? to_str(path) : "(eval at #{__frame_path}:#{__frame_line})", to_cint(line), recv, recv)
  end

  # Text whose parser had something to say.
  def self.warn_and_call(lines, body)
    lines.each { |l| emit_warning(l, nil) }
    body.call
  end

  # The same with a file's code.
  def self.warn_and_load(lines, code)
    lines.each { |l| emit_warning(l, nil) }
    __run_top(code)
  end
end
