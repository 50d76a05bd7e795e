# frozen_string_literal: true

require "kumihimo/segments"
require "kumihimo/cron"
require "kumihimo/jobs/job"
require "kumihimo/jobs/work"

module Kumihimo
  # Background jobs: work that is asked for now and done later, here or on another node. A job is a segment; a worker is a code
  # segment. So what holds for segments holds for jobs: they last as long as their store, and each end of a job is one step.
  #
  #   Kumihimo::Jobs.store = Kumihimo::Segments.open("jobs.db")
  #   class Mail < Kumihimo::Job
  #     queue "mail", parallel: 4, tries: 5
  #     def perform(to) = send_mail(to)
  #   end
  #   Mail.later("ada@example.org")
  #   Kumihimo::Jobs.work
  module Jobs
    class Error < Segments::Error; end

    @classes = {}
    @cron = {}
    @lock = Mutex.new

    class << self
      # Where jobs are: a manager of segments. This node's own, unless another was given.
      def store = @store || Segments.local

      def store=(manager)
        unless manager.is_a?(Segments::Manager) || manager.is_a?(Segments::Proxy)
          raise TypeError, "a store is a manager of segments, not #{manager.inspect}"
        end
        if manager.is_a?(Segments::Proxy) && manager.where.include?("+cluster:")
          raise ArgumentError, "jobs need one server, or Sentinels: their keys are in several slots of a cluster"
        end
        @store = manager
      end

      # A job's class is made anew at each line of a cron table: `Kumihimo::Jobs.cron("0 3 * * *", Report, "daily")`. Whatever
      # the number of nodes, it is asked for once each time. Times that passed while nobody worked are made up for by one.
      def cron(line, job, *arguments, **options)
        raise TypeError, "#{job.inspect} is no class of jobs" unless job.is_a?(Class) && job < Job
        cron = Cron.new(line)
        entry = Schedule.new(cron, job.name || raise(ArgumentError, "a job's class needs a name"), arguments, options)
        @lock.synchronize { @cron[entry.key] = entry }
        entry.begin_if_new
        self
      end

      # Works until the program is told to end (SIGTERM, Ctrl-C), or `stop` is called. Jobs that run then have `drain:` seconds to
      # end; the rest comes back. queues: names; without them those of all classes.
      def work(queues: nil, drain: 25)
        work = Work.new(queues, drain)
        @lock.synchronize { @works = [*@works, work] }
        work.run
      ensure
        @lock.synchronize { @works = @works.to_a - [work] }
      end

      # Has `work` return, wherever it runs. Does not wait.
      def stop
        @works&.each(&:stop)
        self
      end

      # Does what is due now, without waiting, and returns how many jobs were done: for tests.
      def drain(queues: nil) = Work.new(queues, nil).drain

      # Names of queues and how they stand: { "mail" => { ready:, later:, running:, slots: } }.
      def queues
        names = [*classes.map(&:queue_name), *store.keys(QUEUE).map { |key| key.delete_prefix(QUEUE) }].uniq.sort
        names.to_h do |name|
          stat = store.stat(QUEUE + name)
          [name, { ready: stat[:segments], later: stat[:delayed], running: stat[:leased] }]
        end
      end

      # Jobs that have failed for good, the oldest first: Dead with id, job, arguments, error, tries, at.
      def dead(limit: 100)
        found = []
        index = 0
        while found.size < limit
          segment = store.peek_segment(DEAD, after: index, timeout: 0)
          index = segment.index
          found << Dead.new(index:, **segment.value.slice(:id, :job, :queue, :arguments, :options, :error, :tries, :at))
        end
        found
      rescue Segments::TimeoutError
        found
      end

      # Puts a dead job back into its queue, or forgets it. false where it is not there any more.
      def retry(id) = Letter.handle(id, true)
      def forget(id) = Letter.handle(id, false)

      # Serves a page with queues and dead jobs, on a thread: `Kumihimo::Jobs.page("127.0.0.1:9292")`. Gives its address.
      def page(address = "127.0.0.1:9292")
        require "kumihimo/jobs/page"
        Page.new(address).start
      end

      def classes
        named
        @lock.synchronize { @classes.values }
      end

      def class_of(name)
        @lock.synchronize { @classes[name] } || named.find { |job| job.name == name }
      end

      def schedules = @lock.synchronize { @cron.values }

      def __add(job)
        @lock.synchronize { @classes[job.name] = job } if job.name
      end

      private

      # Classes that got their names after they were made, as by `Mail = Class.new(Kumihimo::Job)`.
      def named
        found = Job.subclasses
        found.each { |job| found.concat(job.subclasses) }
        found.each { |job| @lock.synchronize { @classes[job.name] ||= job } if job.name }
      end
    end

    # Keys of segments.
    QUEUE = "jobs."
    DEAD = "dead jobs"
    CRON = "cron jobs."
    SLOTS = "job slots."
    private_constant :QUEUE, :CRON, :SLOTS

    # A job that has failed for good.
    Dead = Data.define(:index, :id, :job, :queue, :arguments, :options, :error, :tries, :at)
  end
end
