# frozen_string_literal: true

require "digest"

module Kumihimo
  module Jobs
    # The workers of one process.
    class Work
      def initialize(queues, drain)
        @names = queues && Array(queues).map(&:to_s)
        @drain = drain
        @stop = Thread::Queue.new
        @lock = Mutex.new
        @repetitions = []
      end

      def stop
        @stop.close
        self
      end

      def run
        settings = queues
        raise Error, "no class of jobs is there: define one before Kumihimo::Jobs.work" if settings.empty?
        before = trap
        threads = [*settings, *Jobs.schedules].map { |what| Thread.new { serve(what) } }
        # With a limit, so that a program whose workers all wait is not taken for deadlocked.
        @stop.pop(timeout: 60) until @stop.closed?
        finish(threads)
        self
      ensure
        before&.each { |signal, handler| Signal.trap(signal, handler || "DEFAULT") }
      end

      # What is due now, in this thread.
      def drain
        count = 0
        lines = queues.each(&:begin_if_new)
        loop do
          done = [*Jobs.schedules, *lines].count { |what| what.worker.drain_one }
          return count if done == 0
          count += done
        end
      end

      private

      # The settings of each queue: those of its classes that ask for most.
      def queues
        Jobs.classes.group_by(&:queue_name).filter_map do |name, classes|
          next if @names && !@names.include?(name)
          settings = classes.map(&:queue)
          Line.new(name, settings.map(&:parallel).max, settings.filter_map(&:limit).min)
        end
      end

      def trap
        return unless Thread.current == Thread.main
        # A handler takes no lock.
        %w[TERM INT].to_h { |signal| [signal, Signal.trap(signal) { Thread.new { stop } }] }
      end

      # Runs code segments until it is told to stop. A store that fails is asked again.
      def serve(what)
        what.begin_if_new
        pause = 0.1
        until @stop.closed?
          repetition = what.worker.repeat(parallel: what.parallel)
          @lock.synchronize { @repetitions << repetition }
          repetition.stop if @stop.closed?
          begin
            repetition.join
            pause = 0.1
          rescue StandardError, ScriptError => error
            warn "jobs: #{what}: #{error.message}; asked again in #{pause.round(1)} s"
            @stop.pop(timeout: pause)
            pause = [pause * 2, 10].min
          ensure
            @lock.synchronize { @repetitions.delete(repetition) }
          end
        end
      rescue StandardError, ScriptError => error
        warn "jobs: #{what}: #{error.message}; asked again in 1 s"
        @stop.pop(timeout: 1)
        retry unless @stop.closed?
      end

      def finish(threads)
        @lock.synchronize { @repetitions.dup }.each(&:stop)
        deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + @drain
        late = threads.reject { |thread| thread.join([deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC), 0].max) }
        return if late.empty?
        warn "jobs: some still ran after #{@drain} s: they come back"
        repetitions = @lock.synchronize { @repetitions.dup }
        late.each(&:kill)
        repetitions.each(&:__kill)
      end
    end

    # A queue of jobs as a process works on it.
    class Line
      attr_reader :name, :parallel, :limit

      def initialize(name, parallel, limit)
        @name = name
        @parallel = parallel
        @limit = limit
      end

      def key = QUEUE + @name
      # Of another limit there are others.
      def slots = "#{SLOTS}#{@limit}.#{@name}"

      # The slots are there once for all processes.
      def begin_if_new
        Plant.once(slots) { |plant| @limit.times { |i| plant.put(slots, i, on: Jobs.store) } } if @limit
      end

      def worker
        @worker ||= begin
          line = self
          Class.new(Run) do
            input :entry, take: line.key, from: Jobs.store
            input :slot, take: line.slots, from: Jobs.store if line.limit
            define_method(:line) { line }
          end
        end
      end

      def to_s = "queue #{@name}"
    end

    # What is to be made once by all processes together, in one step, under a key that is never empty from then on: segments stand
    # there, or are taken and come back. Whoever makes it holds a mark, and makes nothing where another does too.
    class Plant < CodeSegment
      input :mark, take: nil

      # Another has a mark.
      class Busy < Segments::Error; end

      def self.once(key, &block)
        patience = 0.2
        until planted?(key)
          mark = "#{key} mark"
          stat = Jobs.store.stat(mark)
          Jobs.store.put(mark, true) if stat[:segments] + stat[:leased] == 0
          segment = new(key, mark, block).set_key(:mark, mark, from: Jobs.store).start
          begin
            segment.join(timeout: patience)
          rescue Busy, Segments::TimeoutError
            segment.cancel
            # The store may take its time.
            patience = [patience * 2, 10].min
            sleep rand * 0.05
          end
        end
      end

      def self.planted?(key)
        stat = Jobs.store.stat(key)
        stat[:segments] + stat[:delayed] + stat[:leased] > 0
      end

      def initialize(key, mark, block)
        @key = key
        @under = mark
        @block = block
        # Nothing is said of a run that ends by Busy.
        @__quiet = true
      end

      # Of two that hold marks at a time one has looked after both had them.
      def run
        raise Busy, "another makes it" if Jobs.store.stat(@under)[:leased] > 1
        @block.call(self) unless Plant.planted?(@key)
      end
    end

    # Without waiting: was there something to do?
    module DrainOne
      # So often it is tried, for a second each time, where no thread has time to begin it.
      TRIES = 10
      private_constant :TRIES

      def drain_one
        return false if Jobs.store.size(__inputs[0].key) == 0
        TRIES.times do
          segment = new.start
          begin
            segment.join(timeout: 1)
            return true
          rescue Segments::TimeoutError
            unless segment.cancel
              # It takes its time.
              segment.join
              return true
            end
          end
          # Another may have taken what it waited for. Where all is there still, no thread had time to begin it.
          return false unless __inputs.all? { |input| Jobs.store.size(input.key) > 0 }
        end
        false
      end
    end
    private_constant :DrainOne

    # Does one job. It fails only where the store does: a job that raises is put back for later, in the step that ends it.
    class Run < CodeSegment
      extend DrainOne

      def run
        job = Jobs.class_of(entry[:job])
        job ? attempt(job) : bury("#{entry[:job]} is no class of jobs here", entry[:tries])
        flip :slot if line.limit
      end

      private

      def attempt(job)
        died = input(:entry).deliveries - 1
        return bury("its process ended #{died} times while it ran", entry[:tries]) if died >= job.queue.tries
        job.new.perform(*entry[:arguments], **entry[:options])
      rescue SystemExit, SignalException
        raise
      rescue Exception => error
        failed(job, error)
      end

      def failed(job, error)
        tries = entry[:tries] + 1
        told = __told(error).scrub[0, 2000]
        return bury(told, tries) if tries >= job.queue.tries
        put line.key, entry.merge(tries:, error: told), not_before: job.__retry_in(tries, error), on: Jobs.store
      end

      def bury(error, tries)
        put DEAD, entry.merge(error:, tries:, queue: line.name, at: Time.now), on: Jobs.store
      end
    end
    private_constant :Run

    # A line of a cron table. Its segment is due at its next time; whoever takes it puts the job and the next one in one step.
    class Schedule
      attr_reader :cron, :key, :job_name

      def initialize(cron, job, arguments, options)
        @cron = cron
        @job_name = job
        @arguments = arguments
        @options = options
        @key = short("#{CRON}#{job} #{cron} #{[arguments, options].inspect if arguments.any? || options.any?}".strip).freeze
      end

      # A key has a bound; what is cut off still tells two lines apart.
      def short(text) = text.size <= 500 ? text : "#{text[0, 460]} #{Digest::SHA256.hexdigest(text)[0, 32]}"
      private :short

      def parallel = 1
      def job = Jobs.class_of(@job_name) || raise(Error, "#{@job_name} is no class of jobs here")
      def entry = job.__entry(@arguments, @options)
      # The next time after that one, and after now: what was missed is made up for once. Clocks of processes differ.
      def next_after(time) = @cron.next_after([time, Time.now].max)

      def begin_if_new
        Plant.once(@key) do |plant|
          at = next_after(Time.now)
          plant.put(@key, at, not_before: at, on: Jobs.store)
        end
      end

      def worker
        @worker ||= begin
          schedule = self
          Class.new(Tick) do
            input :tick, take: schedule.key, from: Jobs.store
            define_method(:schedule) { schedule }
          end
        end
      end

      def to_s = "cron #{@cron} #{@job_name}"
    end

    # A line of a cron table is due.
    class Tick < CodeSegment
      extend DrainOne

      def run
        put QUEUE + schedule.job.queue_name, schedule.entry, on: Jobs.store
        # What an older version has put is no time.
        at = schedule.next_after(tick.is_a?(Time) ? tick : Time.now)
        put schedule.key, at, not_before: at, on: Jobs.store
      end
    end
    private_constant :Tick

    # A dead job is put back, or forgotten.
    class Letter < CodeSegment
      input :letter, take: nil

      def self.handle(id, again)
        dead = Jobs.dead(limit: Float::INFINITY).find { |job| job.id == id }
        return false unless dead
        segment = new(id, again)
        segment.set_key(:letter, DEAD, dead.index - 1, from: Jobs.store).start
        segment.join(timeout: 5)
        segment.handled?
      rescue Gone, Segments::TimeoutError
        # Another has it.
        segment.cancel
        false
      end

      # Another one was found in its place: it comes back there.
      class Gone < Segments::Error; end

      def initialize(id, again)
        @id = id
        @again = again
        # Nothing is said of a run that ends by Gone.
        @__quiet = true
      end

      def handled? = !!@handled

      def run
        raise Gone unless letter[:id] == @id
        put QUEUE + letter[:queue], letter.slice(:id, :job, :arguments, :options).merge(tries: 0, at: Time.now), on: Jobs.store if @again
        @handled = true
      end
    end
    private_constant :Letter, :Line, :Plant, :Schedule, :Work
  end
end
