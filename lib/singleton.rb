# frozen_string_literal: true

# A class that includes Singleton has one instance, made when first asked for.
module Singleton
  VERSION = "0.3.0"

  module SingletonClassMethods
    def clone
      copy = Singleton.__init__(super)
      copy.extend(SingletonClassMethods) unless copy.singleton_class.include?(SingletonClassMethods)
      copy
    end

    def _load(_str) = instance

    def instance
      @singleton__instance__ || @singleton__mutex__.synchronize { @singleton__instance__ ||= new }
    end

    private

    def inherited(sub)
      super
      Singleton.__init__(sub)
    end
  end

  def self.module_with_class_methods = SingletonClassMethods

  def self.__init__(klass)
    klass.instance_eval do
      @singleton__instance__ = nil
      @singleton__mutex__ = Thread::Mutex.new
    end
    klass
  end

  def self.append_features(mod)
    unless mod.instance_of?(Class)
      raise TypeError, "Inclusion of the OO-Singleton module in module #{mod}"
    end
    super
  end

  def self.included(klass)
    super
    klass.private_class_method :new, :allocate
    klass.extend(module_with_class_methods)
    __init__(klass)
  end

  def clone
    raise TypeError, "can't clone instance of singleton #{self.class}"
  end

  def dup
    raise TypeError, "can't dup instance of singleton #{self.class}"
  end

  def _dump(_depth = -1) = ""
end
