# frozen_string_literal: true

require "securerandom"

module Kumihimo
  # Not in the class: its constants would stand before a program's own in subclasses.
  JobQueue = Struct.new(:name, :parallel, :limit, :tries)
  NO_QUEUE = JobQueue.new("default", 1, nil, 5).freeze
  # A day.
  LONGEST_RETRY = 86_400
  private_constant :JobQueue, :NO_QUEUE, :LONGEST_RETRY

  # A kind of job. Subclasses say what they do in `perform`.
  class Job
    class << self
      # Which queue its jobs stand in; parallel: how many of them a process does at a time; limit: how many all processes do, nil:
      # any number; tries: how often a job that raises is tried.
      def queue(name = NOT_GIVEN, parallel: 1, limit: nil, tries: 5)
        return @queue || (superclass <= Job ? superclass.queue : NO_QUEUE) if __same(name, NOT_GIVEN) && parallel == 1 && !limit && tries == 5
        raise ArgumentError, "a queue needs a name: queue \"mail\", tries: 3" if __same(name, NOT_GIVEN)
        [[:parallel, parallel], [:tries, tries], *(limit ? [[:limit, limit]] : [])].each do |what, value|
          raise ArgumentError, "#{what}: is a positive Integer, not #{value.inspect}" unless value.is_a?(Integer) && value.positive?
        end
        @queue = JobQueue.new(name.to_s.dup.freeze, parallel, limit, tries)
      end

      # Seconds until a job that has raised is tried again: a number, or a block that gets the count of tries and the error. By
      # default 15, 30, 60, .. seconds, and some at random so that those that failed together do not come together.
      def retry_in(seconds = nil, &block)
        raise ArgumentError, "retry_in takes a number or a block" unless __same(seconds, nil) ^ __same(block, nil)
        @retry_in = block || proc { seconds }
      end

      # Asks for a job. Arguments are values that travel. Gives the job's id.
      def later(*arguments, **options) = __ask(nil, arguments, options)

      # The same, in so many seconds; at a Time.
      def in(seconds, *arguments, **options) = __ask(seconds, arguments, options)
      def at(time, *arguments, **options) = __ask(time, arguments, options)

      def queue_name = queue.name

      def inherited(job)
        super
        Jobs.__add(job)
      end

      def __ask(not_before, arguments, options)
        entry = __entry(arguments, options)
        Jobs.store.put("jobs.#{queue_name}", entry, not_before:)
        entry[:id]
      end

      def __entry(arguments, options)
        raise ArgumentError, "a job's class needs a name, by which others find it" unless name
        Jobs.__add(self)
        { id: SecureRandom.hex(8), job: name, arguments:, options:, tries: 0, at: Time.now }
      end

      def __retry_in(tries, error)
        found = instance_variable_defined?(:@retry_in) ? @retry_in : (superclass <= Job && superclass != Job ? superclass.method(:__retry_in) : nil)
        seconds = found ? found.call(tries, error) : 15 * 2**(tries - 1) * (1 + rand * 0.2)
        seconds.is_a?(Numeric) && seconds.real? && seconds >= 0 ? [seconds, LONGEST_RETRY].min : 60
      rescue StandardError => e
        warn "jobs: retry_in of #{self}: #{e.class}: #{e.message}; tried again in a minute"
        60
      end
    end

    # What it does.
    def perform(*)
      raise NotImplementedError, "#{self.class} must define perform"
    end
  end
end
