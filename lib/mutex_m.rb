# frozen_string_literal: true

# Makes any object a lock: extend it with Mutex_m, or include that in a class.
module Mutex_m
  VERSION = "0.3.0"

  def self.define_aliases(cl)
    cl.class_eval do
      alias_method :locked?, :mu_locked?
      alias_method :lock, :mu_lock
      alias_method :unlock, :mu_unlock
      alias_method :try_lock, :mu_try_lock
      alias_method :synchronize, :mu_synchronize
    end
  end

  def self.append_features(cl)
    super
    define_aliases(cl) unless cl.instance_of?(Module)
  end

  def self.extend_object(obj)
    super
    obj.mu_extended
  end

  def mu_extended
    names = %i[locked? lock unlock try_lock synchronize]
    Mutex_m.define_aliases(singleton_class) unless names.all? { |n| respond_to?(n) }
    mu_initialize
  end

  # Runs the block while the lock is held.
  def mu_synchronize(&block)
    @_mutex.synchronize(&block)
  end

  def mu_locked?
    @_mutex.locked?
  end

  def mu_try_lock
    @_mutex.try_lock
  end

  def mu_lock
    @_mutex.lock
  end

  def mu_unlock
    @_mutex.unlock
  end

  def sleep(timeout = nil)
    @_mutex.sleep(timeout)
  end

  private

  def mu_initialize
    @_mutex = Thread::Mutex.new
  end

  def initialize(*args, **kw)
    mu_initialize
    super
  end
end
