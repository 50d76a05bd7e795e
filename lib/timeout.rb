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

  class << self
    def timeout(sec, klass = nil, message = nil, &block)
      return yield(sec) if sec.nil? || sec.zero?
      raise ArgumentError, "Timeout sec must be a non-negative number" if sec < 0
      message ||= "execution expired"
      if (scheduler = Fiber.current_scheduler) && scheduler.respond_to?(:timeout_after)
        return scheduler.timeout_after(sec, klass || Error, message, &block)
      end
      return limited(sec, [klass, message], &block) if klass
      Error.handle_timeout(message) { |exc| limited(sec, exc, &block) }
    end

    private

    # The limit is a timer of the scheduler: no thread waits for it. What it sends when the block is
    # just being left is taken back.
    def limited(sec, what)
      limit = __limit(__now_ns + (sec.to_f.clamp(0, 4e9) * 1_000_000_000).to_i, what)
      begin
        yield(sec)
      ensure
        __limit_over(limit, what)
      end
    end
  end

  def timeout(*args, &block) = Timeout.timeout(*args, &block)
  private :timeout
end
