# frozen_string_literal: true

# Interrupts a block that runs too long.
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

  def self.timeout(sec, klass = nil, message = nil, &block)
    return yield(sec) if sec.nil? || sec.zero?
    raise ArgumentError, "Timeout sec must be a non-negative number" if sec < 0
    message ||= "execution expired"
    perform = lambda do |exc|
      caller_thread = Thread.current
      finished = false
      lock = Thread::Mutex.new
      watcher = Thread.new do
        sleep sec
        lock.synchronize do
          unless finished
            exc.is_a?(Class) ? caller_thread.raise(exc, message) : caller_thread.raise(exc)
          end
        end
      end
      watcher.report_on_exception = false if watcher.respond_to?(:report_on_exception=)
      begin
        yield(sec)
      ensure
        lock.synchronize { finished = true }
        watcher.kill
      end
    end
    klass ? perform.call(klass) : Error.handle_timeout(message, &perform)
  end

  def timeout(*args, &block) = Timeout.timeout(*args, &block)
  private :timeout
end
