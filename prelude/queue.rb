# Queues: what takes keywords or converts, over the natives of crates/vm/src/queue.rs.
class Thread::Queue
  def initialize(items = nil)
    unless __same(items, nil) || __is_a(items, Array)
      raise TypeError, "can't convert #{__describe_type(items)} into Array" unless items.respond_to?(:to_a)
      list = items.to_a
      unless __is_a(list, Array)
        raise TypeError, "can't convert #{__describe_type(items)} into Array (#{__describe_type(items)}#to_a gives #{__describe_class(list)})"
      end
      items = list
    end
    __queue_fill(self, items)
  end

  def pop(non_block = false, timeout: nil)
    if non_block
      raise ArgumentError, "can't set a timeout if non_block is enabled" unless __same(timeout, nil)
      return __queue_pop(self, 0) unless empty?
      raise ThreadError, "queue empty"
    end
    __queue_pop(self, KumiSys.deadline(timeout))
  end
  alias shift pop
  alias deq pop

  def freeze
    raise TypeError, "cannot freeze #{inspect}"
  end

  def marshal_dump
    raise TypeError, "can't dump #{__class(self)}"
  end

  undef_method :initialize_copy
end

class Thread::SizedQueue
  def initialize(max)
    max = KumiSys.to_long(max)
    raise ArgumentError, "queue size must be positive" unless max > 0
    __queue_set_max(self, max)
  end

  def max=(max)
    max = KumiSys.to_long(max)
    raise ArgumentError, "queue size must be positive" unless max > 0
    __queue_set_max(self, max)
  end

  def push(value, non_block = false, timeout: nil)
    if non_block
      raise ArgumentError, "can't set a timeout if non_block is enabled" unless __same(timeout, nil)
      return __queue_push(self, value, 0) || raise(ThreadError, "queue full")
    end
    __queue_push(self, value, KumiSys.deadline(timeout))
  end
  alias << push
  alias enq push
end

Queue = Thread::Queue
SizedQueue = Thread::SizedQueue
