# Locks: what takes a block or a time limit, over the natives of crates/vm/src/sync.rs.
class Thread::Mutex
  def synchronize
    raise ThreadError, "must be called with a block" unless block_given?
    __mutex_lock(self)
    begin
      yield
    ensure
      __mutex_unlock(self)
    end
  end

  def sleep(timeout = nil)
    deadline = KumiSys.sleep_deadline(timeout)
    __mutex_assert(self)
    t0 = __now_ns
    begin
      woken = __hooked ? KumiSys.hooked_release(nil, self, deadline) : __mutex_sleep(self, deadline)
    ensure
      __mutex_relock(self)
    end
    woken ? ((__now_ns - t0) / 1_000_000_000.0).round : nil
  end
end

class Thread::ConditionVariable
  def wait(mutex, timeout = nil)
    unless __is_a(mutex, Thread::Mutex) && __builtin(mutex, :sleep)
      # A lock of the user's own making sleeps in its own way.
      __cv_enter(self)
      begin
        return mutex.sleep(timeout)
      ensure
        __cv_leave(self)
      end
    end
    deadline = KumiSys.sleep_deadline(timeout)
    __mutex_assert(mutex)
    t0 = __now_ns
    begin
      woken = __hooked ? KumiSys.hooked_release(self, mutex, deadline) : __cv_wait(self, mutex, deadline)
    ensure
      __mutex_relock(mutex)
    end
    woken ? ((__now_ns - t0) / 1_000_000_000.0).round : nil
  end

  def marshal_dump
    raise TypeError, "can't dump #{__class(self)}"
  end

  undef_method :initialize_copy
end

# A lock that its owner may take again.
class Monitor
  def synchronize
    __mon_enter(self)
    begin
      yield
    ensure
      __mon_exit(self)
    end
  end
  alias mon_synchronize synchronize

  # The class of conditions comes with the library that also has the mixin.
  def new_cond
    require "monitor"
    MonitorMixin::ConditionVariable.new(self)
  end

  # Gives the lock up while waiting on `cond`, then takes it back as often as it was held.
  def wait_for_cond(cond, timeout)
    mon_check_owner
    count = __mon_count(self)
    deadline = KumiSys.sleep_deadline(timeout)
    begin
      woken = __hooked ? KumiSys.hooked_release(cond, self, deadline) : __cv_wait(cond, self, deadline)
    ensure
      __mutex_relock(self, count)
    end
    woken
  end
end

Mutex = Thread::Mutex
ConditionVariable = Thread::ConditionVariable
