# frozen_string_literal: true

# Delegation of methods to an object that an expression names.
module Forwardable
  VERSION = "1.3.3"

  class << self
    attr_accessor :debug
  end

  def instance_delegate(hash)
    Forwardable.__each(hash) { |accessor, method| def_instance_delegator(accessor, method) }
  end

  def def_instance_delegators(accessor, *methods)
    methods.each { |method| def_instance_delegator(accessor, method) unless /\A__(?:send|id)__\z/ =~ method }
  end

  def def_instance_delegator(accessor, method, ali = method)
    ali = ali.to_sym
    body = Forwardable.__delegator(accessor, method, ali)
    target = is_a?(Module) ? self : singleton_class
    target.module_eval(body, __FILE__, __LINE__)
    ali
  end

  alias delegate instance_delegate
  alias def_delegators def_instance_delegators
  alias def_delegator def_instance_delegator

  def self.__each(hash)
    hash.each do |methods, accessor|
      methods = [methods] unless methods.respond_to?(:each)
      methods.each { |method| yield accessor, method }
    end
  end

  # Source of a method that passes everything on.
  def self.__delegator(accessor, method, ali)
    method = method.to_s
    call = if method.match?(/\A[_a-zA-Z]\w*[?!]?\z/)
             "#{accessor}.#{method}(*args, **opts, &block)"
           else
             "#{accessor}.__send__(#{method.to_sym.inspect}, *args, **opts, &block)"
           end
    if ali.to_s.match?(/\A[_[:alpha:]]\w*[?!=]?\z/)
      "def #{ali}(*args, **opts, &block) = (#{call})".sub(/\Adef (\w+=)\((.*)\) = \((.*)\)\z/m, "def \\1(\\2)\n\\3\nend")
    else
      "define_method(#{ali.inspect}) { |*args, **opts, &block| #{call} }"
    end
  end
end

# The same for single objects.
module SingleForwardable
  def single_delegate(hash)
    Forwardable.__each(hash) { |accessor, method| def_single_delegator(accessor, method) }
  end

  def def_single_delegators(accessor, *methods)
    methods.each { |method| def_single_delegator(accessor, method) unless /\A__(?:send|id)__\z/ =~ method }
  end

  def def_single_delegator(accessor, method, ali = method)
    ali = ali.to_sym
    # The accessor is an expression seen from the object itself.
    singleton_class.class_eval(Forwardable.__delegator(accessor, method, ali), __FILE__, __LINE__)
    ali
  end

  alias delegate single_delegate
  alias def_delegators def_single_delegators
  alias def_delegator def_single_delegator
end
