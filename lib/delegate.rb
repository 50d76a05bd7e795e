# frozen_string_literal: true

# An object that passes on every method it does not define itself.
class Delegator < BasicObject
  VERSION = "0.4.0"

  kernel = ::Kernel.dup
  kernel.class_eval do
    alias_method :__raise__, :raise
    [:to_s, :=~, :!~, :===, :<=>, :hash].each { |m| undef_method m if method_defined?(m) }
    private_instance_methods.each do |m|
      next if /\Abind_call\z|\Ainstance_variable_|\Aobject_id\z|\A__raise__\z/.match?(m)
      next if [:initialize, :initialize_copy, :initialize_clone, :initialize_dup, :respond_to_missing?, :block_given?, :binding].include?(m)
      undef_method m
    end
  end
  include kernel

  def self.const_missing(name)
    ::Object.const_get(name)
  end

  def initialize(obj)
    __setobj__(obj)
  end

  def method_missing(m, *args, **opts, &block)
    has = true
    target = __getobj__ { has = false }
    if has && __kumi_target_responds?(target, m, false)
      target.__send__(m, *args, **opts, &block)
    elsif ::Kernel.method_defined?(m) || ::Kernel.private_method_defined?(m)
      ::Kernel.instance_method(m).bind_call(self, *args, **opts, &block)
    else
      super(m, *args, **opts, &block)
    end
  end

  def respond_to_missing?(m, include_private)
    has = true
    target = __getobj__ { has = false }
    return false unless has
    r = __kumi_target_responds?(target, m, include_private)
    if r && include_private && !__kumi_target_responds?(target, m, false)
      ::Kernel.warn("delegator does not forward private method ##{m}", uplevel: 3)
      return false
    end
    r
  end

  def __kumi_target_responds?(target, m, include_private)
    if ::Object === target
      target.respond_to?(m, include_private)
    else
      ::Kernel.instance_method(:respond_to?).bind_call(target, m, include_private)
    end
  end
  private :__kumi_target_responds?

  def methods(all = true) = __getobj__.methods(all) | super
  def public_methods(all = true) = __getobj__.public_methods(all) | super
  def protected_methods(all = true) = __getobj__.protected_methods(all) | super

  def ==(obj)
    return true if obj.equal?(self)
    __getobj__ == obj
  end

  def !=(obj)
    return false if obj.equal?(self)
    __getobj__ != obj
  end

  def eql?(obj)
    return true if obj.equal?(self)
    obj.eql?(__getobj__)
  end

  def !
    !__getobj__
  end

  def __getobj__
    __raise__ ::NotImplementedError, "need to define '__getobj__'"
  end

  def __setobj__(_obj)
    __raise__ ::NotImplementedError, "need to define '__setobj__'"
  end

  def marshal_dump
    ivars = instance_variables.reject { |v| /\A@delegate_/ =~ v }
    [:__v2__, ivars, ivars.map { |v| instance_variable_get(v) }, __getobj__]
  end

  def marshal_load(data)
    version, vars, values, obj = data
    if version == :__v2__
      vars.each_with_index { |v, i| instance_variable_set(v, values[i]) }
      __setobj__(obj)
    else
      __setobj__(data)
    end
  end

  def initialize_clone(obj, freeze: nil)
    __setobj__(obj.__getobj__.clone(freeze: freeze))
  end

  def initialize_dup(obj)
    __setobj__(obj.__getobj__.dup)
  end
  private :initialize_clone, :initialize_dup

  def freeze
    __getobj__
    super()
  end

  @delegator_api = public_instance_methods
  def self.public_api = @delegator_api
end

# A delegator to the object it is made with.
class SimpleDelegator < Delegator
  def __getobj__
    unless defined?(@delegate_sd_obj)
      return yield if block_given?
      __raise__ ::ArgumentError, "not delegated"
    end
    @delegate_sd_obj
  end

  def __setobj__(obj)
    __raise__ ::FrozenError, "can't modify frozen #{self.class}" if frozen?
    @delegate_sd_obj = obj
  end
end

# A class whose instances delegate the public methods of `superclass`.
def DelegateClass(superclass, &block)
  klass = Class.new(Delegator)
  ignores = [*Delegator.public_api, :to_s, :=~, :!~, :===]
  protected_methods = superclass.protected_instance_methods - ignores
  public_methods = superclass.public_instance_methods - ignores
  klass.class_eval do
    def __getobj__
      unless defined?(@delegate_dc_obj)
        return yield if block_given?
        __raise__ ::ArgumentError, "not delegated"
      end
      @delegate_dc_obj
    end

    def __setobj__(obj)
      __raise__ ::FrozenError, "can't modify frozen #{self.class}" if frozen?
      @delegate_dc_obj = obj
    end

    protected_methods.each do |m|
      define_method(m) { |*args, **opts, &blk| __getobj__.__send__(m, *args, **opts, &blk) }
      protected m
    end
    public_methods.each do |m|
      define_method(m) { |*args, **opts, &blk| __getobj__.__send__(m, *args, **opts, &blk) }
    end
  end
  klass.define_singleton_method(:public_instance_methods) do |all = true|
    super(all) | superclass.public_instance_methods
  end
  klass.define_singleton_method(:protected_instance_methods) do |all = true|
    super(all) | superclass.protected_instance_methods
  end
  klass.define_singleton_method(:instance_methods) do |all = true|
    super(all) | superclass.instance_methods
  end
  klass.define_singleton_method(:public_instance_method) do |name|
    super(name)
  rescue NameError
    raise unless public_instance_methods.include?(name)
    superclass.public_instance_method(name)
  end
  klass.module_eval(&block) if block
  klass
end
