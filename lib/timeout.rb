# frozen_string_literal: true

# Interrupts a block that runs too long.
#
# One thread watches over all limits: it sleeps until the nearest of them, and raises in the
# thread whose block is late. It starts with the first limit and is started anew in a forked child.
module Timeout
  VERSION = "0.4.4"

  # Passes through rescue clauses of the block unnoticed.
  class ExitException < Exception
    def exception(*) = self
  end

  class Error < RuntimeError
    def self.handle_timeout(message)
      exc = ExitException.new(message)
      begin
        yield exc
      rescue ExitException => e
        raise new(message) if exc.equal?(e)
        raise
      end
    end
  end

  # One running block: when it is late, and what is raised in its thread then.
  class Request
    attr_reader :deadline

    def initialize(thread, seconds, exception, message)
      @thread = thread
      @exception = exception
      @message = message
      @deadline = Request.now + seconds
      @lock = Thread::Mutex.new
      @done = false
    end

    def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    def done? = @done

    def finish
      @lock.synchronize { @done = true }
    end

    # The lock keeps the exception from coming when the block is already left.
    def expire
      @lock.synchronize do
        unless @done
          @exception.is_a?(Class) ? @thread.raise(@exception, @message) : @thread.raise(@exception)
          @done = true
        end
      end
    end
  end

  LOCK = Thread::Mutex.new
  CHANGED = Thread::ConditionVariable.new
  REQUESTS = []
  private_constant :Request, :LOCK, :CHANGED, :REQUESTS

  class << self
    def timeout(sec, klass = nil, message = nil, &block)
      return yield(sec) if sec.nil? || sec.zero?
      raise ArgumentError, "Timeout sec must be a non-negative number" if sec < 0
      message ||= "execution expired"
      return limited(sec, klass, message, &block) if klass
      Error.handle_timeout(message) { |exc| limited(sec, exc, message, &block) }
    end

    private

    def limited(sec, exception, message)
      request = Request.new(Thread.current, sec, exception, message)
      add(request)
      begin
        yield(sec)
      ensure
        request.finish
      end
    end

    # The nearest limit stands last. Finished ones go when the watcher meets them, or when they are many.
    def add(request)
      LOCK.synchronize do
        watch unless @watcher&.alive?
        REQUESTS.reject!(&:done?) if REQUESTS.size > 64 && REQUESTS.size > 2 * (@live || 0)
        @live = REQUESTS.size
        at = REQUESTS.bsearch_index { |r| r.deadline <= request.deadline } || REQUESTS.size
        REQUESTS.insert(at, request)
        CHANGED.signal if at == REQUESTS.size - 1 && request.deadline < (@next || Float::INFINITY)
      end
    end

    def watch
      REQUESTS.clear
      @watcher = Thread.new { LOCK.synchronize { loop { run } } }
      @watcher.name = "Timeout stdlib thread"
      @watcher.thread_variable_set(:"\0__detached_thread__", true)
      ThreadGroup::Default.add(@watcher) unless @watcher.group&.enclosed?
    end

    def run
      request = REQUESTS.last
      @next = request&.deadline
      if request.nil?
        CHANGED.wait(LOCK)
      elsif request.done?
        REQUESTS.pop
      elsif (left = request.deadline - Request.now) > 0
        CHANGED.wait(LOCK, left)
      else
        REQUESTS.pop
        request.expire
      end
    end
  end

  def timeout(*args, &block) = Timeout.timeout(*args, &block)
  private :timeout
end
