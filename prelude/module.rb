# Module and Class: definitions by call, visibility, mixing in, constants by name.
module KumiSys
  PUBLIC = 1
  PRIVATE = 2
  PROTECTED = 4

  def self.method_added(mod, name)
    obj = __attached(mod)
    if __undef?(obj)
      mod.__send__(:method_added, name) unless __builtin(mod, :method_added)
    else
      obj.__send__(:singleton_method_added, name) unless __builtin(obj, :singleton_method_added) && !__is_a(obj, Numeric)
    end
    name
  end

  # What a definition discarded (see `__discards`), then its hook.
  def self.defined_over(told, mod, name)
    tell_discarded(told)
    method_added(mod, name)
  end

  # A call gives a block to a method that has no use for it.
  def self.unused_block(text)
    emit_warning(text, nil)
  end

  def self.tell_discarded(told)
    return unless told
    told[0].each_line { |line| emit_warning(line, nil) }
    emit_warning(told[1], :performance) unless told[1].empty?
  end

  def self.undefined_over(mod, name)
    warn_risk(name, "undefining")
    method_undefined(mod, name)
  end

  # Names that the runtime itself relies on, which its own library may handle.
  def self.warn_risk(name, doing)
    path = __frame_path
    return if path&.start_with?("<internal:", *ENV["KUMI_LIB"])
    case name
    when :initialize, :object_id, :__id__, :__send__ then warning("#{doing} '#{name}' may cause serious problems")
    end
  end

  # Tells who has the method that it is gone.
  def self.method_removed(mod, name) = tell_gone(mod, name, :method_removed, :singleton_method_removed)
  def self.method_undefined(mod, name) = tell_gone(mod, name, :method_undefined, :singleton_method_undefined)

  def self.tell_gone(mod, name, hook, singleton_hook)
    obj = __attached(mod)
    __undef?(obj) ? mod.__send__(hook, name) : obj.__send__(singleton_hook, name)
  end

  # public, private and protected: with names they change those methods, without
  # they set what the caller's later definitions get.
  def self.visibility(mod, names, vis)
    if names.empty?
      __set_visibility(vis == PRIVATE ? 1 : vis == PROTECTED ? 2 : 0, false)
      return nil
    end
    list = names.size == 1 && __is_a(names[0], Array) ? names[0] : names
    list.each do |name|
      name = to_name(name)
      method_added(mod, name) if __set_vis(mod, name, vis)
    end
    names.size == 1 ? names[0] : names
  end

  def self.define_attr(mod, name, reader, writer, vis)
    name = to_name(name)
    made = []
    if reader
      told = __discards(mod, name)
      __attr(mod, name, false, vis)
      defined_over(told, mod, name)
      made << name
    end
    if writer
      told = __discards(mod, :"#{name}=") if $VERBOSE
      w = __attr(mod, name, true, vis)
      defined_over(told, mod, w)
      made << w
    end
    made
  end

  def self.define_attrs(mod, names, reader, writer)
    vis = case __default_visibility(mod)
          when 0 then PUBLIC
          when 2 then PROTECTED
          when 3
            warning("attribute accessor as module_function") if $VERBOSE
            PRIVATE
          else PRIVATE
          end
    made = []
    names.each { |name| made.concat(define_attr(mod, name, reader, writer, vis)) }
    made
  end

  def self.check_mixins(modules, what)
    arity_error(0, 1, nil) if modules.empty?
    modules.each do |m|
      unless __module_p(m)
        raise TypeError, "wrong argument type #{__describe_class(m)} (expected Module)"
      end
      raise TypeError, "Cannot #{what} refinement" if __refined(m)
    end
  end

  # Value of the constant of mod, loading and warning as needed; const_missing when there is none.
  def self.const_value(mod, name, inherit, object, public_only)
    found = __const_find(mod, name, inherit, object)
    return mod.__send__(:const_missing, name) if __same(found, nil)
    owner = found[0]
    if public_only && found[2]
      raise NameError.new("private constant #{const_full_name(owner, name)} referenced", name, receiver: mod)
    end
    warn_deprecated_const(owner, name) if found[3]
    value = found[1]
    return value unless __undef?(value)
    autoload_const(owner, name, found[4])
  end

  # Goes along a path of constants. The block is given the module that a step begins in, its name, and whether it is the first or
  # the last; it gives the value, where the next step begins.
  def self.const_walk(mod, name)
    steps = __const_names(__is_a(name, Symbol) ? name : to_str_name(name), mod)
    i = from = __same(steps[0], nil) ? 1 : 0
    mod = Object if i == 1
    while i < steps.size
      raise TypeError, "#{steps.first(i + 1).join("::")} does not refer to class/module" unless __is_a(mod, Module)
      mod = yield mod, steps[i], i == from, i + 1 == steps.size
      i += 1
    end
    mod
  end

  def self.const_full_name(owner, name)
    return name.to_s if __same(owner, Object)
    "#{owner.name || inspect(owner)}::#{name}"
  end

  def self.warn_deprecated_const(owner, name)
    warning("constant #{__same(owner, Object) ? "::" : ""}#{const_full_name(owner, name)} is deprecated", :deprecated)
  end

  # A deprecated constant is read: its value.
  def self.const_deprecated(owner, name, value)
    warn_deprecated_const(owner, name)
    value
  end

  # A constant was set again: the warning, then the hook.
  def self.const_redefined(owner, name, file, line)
    warn_redefined(owner, name, file, line)
    owner.__send__(:const_added, name) unless __builtin(owner, :const_added)
  end

  # File and line of the previous definition are shown when known.
  def self.warn_redefined(owner, name, file = nil, line = 0)
    return if __same($VERBOSE, nil)
    warning("already initialized constant #{const_full_name(owner, name)}")
    emit_warning("#{file}:#{line}: warning: previous definition of #{name} was here\n", nil) if file
  end
end

class Module
  def initialize(&block)
    module_exec(self, &block) if block
  end

  def initialize_copy(orig)
    return self if __same(self, orig)
    unless __same(__class(self), __class(orig))
      raise TypeError, "initialize_copy should take same class object"
    end
    __copy_module(self, orig)
    self
  end
  private :initialize_copy

  def initialize_clone(orig, freeze: nil)
    initialize_copy(orig)
  end
  private :initialize_clone

  # --- mixing in ---------------------------------------------------------------

  def include(*modules)
    KumiSys.check_mixins(modules, "include")
    raise TypeError, "Refinement#include has been removed" if __refined(self)
    modules.reverse_each do |m|
      m.__send__(:append_features, self)
      m.__send__(:included, self)
    end
    self
  end

  def prepend(*modules)
    KumiSys.check_mixins(modules, "prepend")
    raise TypeError, "Refinement#prepend has been removed" if __refined(self)
    modules.reverse_each do |m|
      m.__send__(:prepend_features, self)
      m.__send__(:prepended, self)
    end
    self
  end

  # --- method tables -----------------------------------------------------------

  def instance_methods(inherit = true)
    __method_list(self, 5, inherit ? 1 : 0)
  end

  def public_instance_methods(inherit = true)
    __method_list(self, 1, inherit ? 1 : 0)
  end

  def private_instance_methods(inherit = true)
    __method_list(self, 2, inherit ? 1 : 0)
  end

  def protected_instance_methods(inherit = true)
    __method_list(self, 4, inherit ? 1 : 0)
  end

  def undefined_instance_methods
    __undefined_list(self)
  end

  def method_defined?(name, inherit = true)
    v = __method_vis(self, KumiSys.to_name(name), inherit)
    v == 1 || v == 4
  end

  def public_method_defined?(name, inherit = true)
    __method_vis(self, KumiSys.to_name(name), inherit) == 1
  end

  def private_method_defined?(name, inherit = true)
    __method_vis(self, KumiSys.to_name(name), inherit) == 2
  end

  def protected_method_defined?(name, inherit = true)
    __method_vis(self, KumiSys.to_name(name), inherit) == 4
  end

  def alias_method(new, old)
    new = KumiSys.to_name(new)
    told = __discards(self, new)
    __alias(self, new, KumiSys.to_name(old))
    KumiSys.defined_over(told, self, new)
    new
  end

  def remove_method(*names)
    names.each do |name|
      name = KumiSys.to_name(name)
      __remove_method(self, name)
      KumiSys.warn_risk(name, "removing")
      KumiSys.method_removed(self, name)
    end
    self
  end

  def undef_method(*names)
    names.each do |name|
      name = KumiSys.to_name(name)
      __undef_method(self, name)
      KumiSys.warn_risk(name, "undefining")
      KumiSys.method_undefined(self, name)
    end
    self
  end

  def define_method(name, body = __undef, &block)
    name = KumiSys.to_name(name)
    if __undef?(body)
      raise ArgumentError, "tried to create Proc object without a block" unless block
      body = block
    elsif __is_a(body, Method) || __is_a(body, UnboundMethod)
      owner = body.owner
      unless __module_p(owner) || __same(self, owner) || self < owner
        if owner.singleton_class?
          raise TypeError, "can't bind singleton method to a different class"
        end
        raise TypeError, "bind argument must be a subclass of #{__class_name(owner)}"
      end
    elsif !__is_a(body, Proc)
      raise TypeError, "wrong argument type #{__describe_class(body)} (expected Proc/Method/UnboundMethod)"
    end
    __check_modifiable(self)
    told = __discards(self, name)
    __define_method(self, name, body, __frame_defines(self))
    KumiSys.defined_over(told, self, name)
    if __default_visibility(self) == 3
      __module_function(self, name)
      __send__(:singleton_method_added, name)
    end
    name
  end

  def attr_reader(*names)
    KumiSys.define_attrs(self, names, true, false)
  end

  def attr_writer(*names)
    KumiSys.define_attrs(self, names, false, true)
  end

  def attr_accessor(*names)
    KumiSys.define_attrs(self, names, true, true)
  end

  def attr(*names)
    if names.size == 2 && (__same(names[1], true) || __same(names[1], false))
      KumiSys.warning("optional boolean argument is obsoleted") if $VERBOSE
      return KumiSys.define_attrs(self, [names[0]], true, names[1])
    end
    KumiSys.define_attrs(self, names, true, false)
  end

  def public(*names)
    KumiSys.visibility(self, names, KumiSys::PUBLIC)
  end

  def private(*names)
    KumiSys.visibility(self, names, KumiSys::PRIVATE)
  end

  def protected(*names)
    KumiSys.visibility(self, names, KumiSys::PROTECTED)
  end

  def module_function(*names)
    raise TypeError, "module_function must be called for modules" unless __module_p(self)
    if names.empty?
      __set_visibility(1, true)
      return nil
    end
    list = names.size == 1 && __is_a(names[0], Array) ? names[0] : names
    list.each do |name|
      name = KumiSys.to_name(name)
      __module_function(self, name)
      __send__(:singleton_method_added, name)
    end
    names.size == 1 ? names[0] : names
  end

  def public_class_method(*names)
    KumiSys.visibility(singleton_class, names, KumiSys::PUBLIC) unless names.empty?
    self
  end

  def private_class_method(*names)
    KumiSys.visibility(singleton_class, names, KumiSys::PRIVATE) unless names.empty?
    self
  end

  def ruby2_keywords(*names)
    names.each do |name|
      name = KumiSys.to_name(name)
      why = __ruby2_keywords(self, name)
      KumiSys.warning("Skipping set of ruby2_keywords flag for #{name} (#{why})") if why
    end
    nil
  end

  private :public, :private, :protected, :module_function, :ruby2_keywords

  # --- constants ---------------------------------------------------------------

  def const_get(name, inherit = true)
    KumiSys.const_walk(self, name) { |mod, step, first| KumiSys.const_value(mod, step, inherit, first, !first) }
  end

  def const_defined?(name, inherit = true)
    KumiSys.const_walk(self, name) do |mod, step, first, last|
      return false if __same(__const_find(mod, step, inherit, first), nil)
      last || KumiSys.const_value(mod, step, inherit, first, false)
    end
    true
  end

  def const_set(name, value)
    name = KumiSys.to_str_name(name) unless __is_a(name, Symbol)
    steps = __const_names(name, self)
    if steps.size != 1 || __same(steps[0], nil)
      raise NameError.new("wrong constant name #{name}", name.to_sym, receiver: self)
    end
    name = steps[0]
    __check_frozen(self)
    old = __const_own(self, name)
    unless __undef?(old)
      place = __const_place(self, name, nil)
      KumiSys.warn_redefined(self, name, place && place[0], place && place[1])
    end
    __const_put(self, name, value)
    __const_place(self, name, [__frame_path, __frame_line])
    __send__(:const_added, name)
    value
  end

  def const_missing(name)
    raise NameError.new("uninitialized constant #{KumiSys.const_full_name(self, name)}", name, receiver: self)
  end

  def const_source_location(name, inherit = true)
    KumiSys.const_walk(self, name) do |mod, step, first, last|
      found = __const_find(mod, step, inherit, first)
      return nil if __same(found, nil)
      return __const_place(found[0], step, nil) if last
      KumiSys.const_value(mod, step, inherit, first, false)
    end
    nil
  end

  def remove_const(name)
    name = KumiSys.to_str_name(name) unless __is_a(name, Symbol)
    steps = __const_names(name, self)
    if steps.size != 1
      raise NameError.new("wrong constant name #{name}", name.to_sym, receiver: self)
    end
    found = __const_find(self, steps[0], false, true)
    KumiSys.warn_deprecated_const(self, steps[0]) if found && found[3]
    v = __const_remove(self, steps[0])
    if __undef?(v)
      raise NameError.new("constant #{KumiSys.const_full_name(self, name)} not defined", steps[0], receiver: self)
    end
    v
  end
  private :remove_const

  def deprecate_constant(*names)
    names.each { |name| __const_flag(self, KumiSys.to_name(name), :deprecated, true) }
    self
  end

  def private_constant(*names)
    names.each { |name| __const_flag(self, KumiSys.to_name(name), :private, true) }
    nil
  end

  def public_constant(*names)
    names.each { |name| __const_flag(self, KumiSys.to_name(name), :private, false) }
    nil
  end

  def self.constants(*args)
    return super unless __ary_len(args) == 0 && __same(self, Module)
    Object.constants
  end

  # --- names -------------------------------------------------------------------

  def set_temporary_name(name)
    raise RuntimeError, "can't change permanent name" if __name_permanent(self)
    unless __same(name, nil)
      name = KumiSys.to_str(name)
      raise ArgumentError, "empty class/module name" if name.empty?
      if name.split("::").any? { |part| part =~ /\A[A-Z]\w*\z/ } && name =~ /\A(::)?[A-Z]\w*(::[A-Z]\w*)*\z/
        raise ArgumentError, "the temporary name must not be a constant path to avoid confusion"
      end
    end
    __set_name(self, name)
    self
  end

  # --- refinements -------------------------------------------------------------

  def refine(klass, &block)
    raise ArgumentError, "no block given" unless block
    unless __is_a(klass, Module)
      raise TypeError, "wrong argument type #{__describe_class(klass)} (expected Class or Module)"
    end
    r = __refine(self, klass)
    r.module_exec(&block)
    r
  end
  private :refine

  def refinements
    __refinements(self)
  end

  def using(mod)
    KumiSys.using(mod, "Module#using is not permitted in methods")
    self
  end
  private :using

  def self.used_modules
    pairs = __used_refinements || []
    pairs.map { |pair| __refinement_owner(pair[1]) }.uniq
  end

  def self.used_refinements
    (__used_refinements || []).map { |pair| pair[1] }
  end
end

module KumiSys
  # Activates the refinements of mod, and of what it includes, in the caller's place.
  def self.using(mod, refusal)
    unless __is_a(mod, Module) && __module_p(mod)
      raise TypeError, "wrong argument type #{__describe_class(mod)} (expected Module)"
    end
    raise ArgumentError, "refinement module is not allowed" if __refined(mod)
    raise RuntimeError, refusal if __frame_method
    pairs = []
    mod.ancestors.each do |m|
      __refinements(m).each { |r| pairs << [__refined(r), r] }
    end
    __using(pairs) unless pairs.empty?
  end
end

class Refinement
  def import_methods(*modules)
    modules.each do |m|
      raise TypeError, "wrong argument type #{__describe_class(m)} (expected Module)" unless __module_p(m)
    end
    modules.each do |m|
      if m.ancestors.size > 1
        KumiSys.warning("#{m} has ancestors, but Refinement#import_methods doesn't import their methods")
      end
      __import_methods(self, m)
    end
    self
  end
  private :import_methods

  def target
    __refined(self)
  end
end

class Class
  def initialize(superclass = Object, &block)
    raise TypeError, "already initialized class" if __class_linked(self)
    __class_link(self, superclass)
    superclass.__send__(:inherited, self)
    class_exec(self, &block) if block
  end
end

module KumiSys
  # A name given as a String or by to_str; "::" may be in it.
  def self.to_str_name(x)
    return x if __is_a(x, String)
    s = try_str(x)
    raise TypeError, "#{inspect(x)} is not a symbol nor a string" if __same(s, nil)
    s
  end
end
