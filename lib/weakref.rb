# A reference that does not keep its object alive: a delegator to whatever is still there.
require "delegate"

class WeakRef < Delegator
  VERSION = "0.1.4"

  # The object is gone.
  class RefError < StandardError
  end

  @@refs = ObjectSpace::WeakMap.new

  def initialize(orig)
    super
  end

  def __getobj__
    @@refs[self] || Kernel.raise(RefError, "Invalid Reference - probably recycled", Kernel.caller(2))
  end

  def __setobj__(obj)
    @@refs[self] = obj
  end

  def weakref_alive?
    @@refs.key?(self)
  end
end
