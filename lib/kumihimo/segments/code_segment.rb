# frozen_string_literal: true

module Kumihimo
  # A task that runs when all of its inputs are there (the paper's section 2.2). A class names its inputs and defines `run`:
  #
  #   class SortPart < Kumihimo::CodeSegment
  #     input :part, take: "part.1"
  #     def run
  #       part.sort!
  #       flip :part, to: "sorted.1"
  #     end
  #   end
  #   SortPart.start
  #
  # What `run` puts appears when it returns, together with the end of the segments that it took. A run that raises puts nothing,
  # and what it took comes back, or goes to the class's dead letters.
  class CodeSegment
    # An input as a class names it.
    Input = Struct.new(:name, :key, :take, :after, :as)
    private_constant :Input

    class << self
      # Names an input: `take:` or `peek:` says under which key (nil: `set_key` does so at run time); `as:` is a class whose
      # `from_segment` or `new` makes what the accessor gives of the value (the paper's asClass).
      def input(name, take: NOT_GIVEN, peek: NOT_GIVEN, after: nil, as: nil)
        if __same(take, NOT_GIVEN) == __same(peek, NOT_GIVEN)
          raise ArgumentError, "input :#{name} is either take: or peek:"
        end
        raise ArgumentError, "input :#{name} is named twice" if __inputs.any? { |i| i.name == name }
        takes = !__same(take, NOT_GIVEN)
        @inputs = [*(@inputs || []), Input.new(name, takes ? take : peek, takes, after, as)]
        @plan = nil
        variable = :"@#{name}"
        if as
          make = as.respond_to?(:from_segment) ? :from_segment : :new
          define_method(name) { @__views ||= {}; @__views.fetch(name) { @__views[name] = as.public_send(make, instance_variable_get(variable)) } }
        else
          attr_reader name
        end
      end

      # Where the inputs of a run go that has raised `tries` times: a Hash of the `error`, the `tries`, and the `inputs` by name.
      def dead_letters(key, tries: 1)
        raise ArgumentError, "tries: is a positive Integer" unless tries.is_a?(Integer) && tries.positive?
        @dead_letters = [key, tries]
      end

      # A new one, started. Arguments are those of `initialize`.
      def start(*arguments, **options, &block)
        new(*arguments, **options, &block).start
      end

      def __first_started(segment)
        Segments.__start_runner
        segment
      end

      # One after another, or `parallel` at a time: each time a run ends a new one is started, until the block, which gets the code
      # segment that has just ended, says true, or a run raises and there are no dead letters. Gives the Repetition.
      def repeat(*arguments, parallel: 1, **options, &enough)
        Segments::Repetition.new(parallel, enough) { new(*arguments, **options) }
      end

      def __inputs = superclass.respond_to?(:__inputs) ? [*superclass.__inputs, *@inputs] : (@inputs || [])
      def __dead_letters = @dead_letters || (superclass.respond_to?(:__dead_letters) ? superclass.__dead_letters : nil)

      # How objects are started whose keys the class names.
      def __plan
        @plan ||= __plan_of(__inputs, self)
      end

      def __plan_of(inputs, of = nil)
        missing = inputs.find { |i| __same(i.key, nil) }
        raise ArgumentError, "input :#{missing.name} has no key: give one by set_key" if missing
        __seg_plan(inputs.map { |i| :"@#{i.name}" }, inputs.map(&:key), inputs.map(&:take), inputs.map(&:after), of)
      end
    end

    NOT_GIVEN = Object.new.freeze
    private_constant :NOT_GIVEN

    # What it does; subclasses say so.
    def run
      raise NotImplementedError, "#{self.class} must define run"
    end

    # Gives an input its key, and the index after which to look, before the start.
    def set_key(name, key, index = nil, after: index)
      raise Segments::Error, "the code segment is started: its keys stand" if __seg_lives(self)
      inputs = (@__own_inputs ||= self.class.__inputs.map(&:dup))
      input = inputs.find { |i| i.name == name } || raise(ArgumentError, "#{self.class} has no input :#{name}")
      input.key = key
      input.after = after
      self
    end

    # From now on it waits for its inputs, and runs once they are there. Gives itself.
    def start
      @__ended = @__error = nil if @__ended
      plan = @__own_inputs ? self.class.__plan_of(@__own_inputs) : self.class.__plan
      Segments.__start_runner if __seg_start(self, plan)
      self
    end
    alias execute start

    # It waits no more. False when it runs already, or has ended.
    def cancel
      return false unless __seg_cancel(self)
      @__ended = :cancelled
      @__repetition&.__over(self)
      true
    end

    # Waits until its run has ended. Raises what the run has raised.
    def join(timeout: nil)
      unless __seg_join(self, KumiSys.deadline(timeout))
        raise Segments::TimeoutError, "the code segment has not ended within #{timeout} s"
      end
      raise @__error if @__error
      self
    end

    # Does it neither wait nor run?
    def ended? = !__seg_lives(self)

    # An input with its key, index and value.
    def input(name)
      at = self.class.__inputs.index { |i| i.name == name } || raise(ArgumentError, "#{self.class} has no input :#{name}")
      key, index, value, owned, changed, deliveries = __seg_input(self, at)
      Segments::Segment.new(key.name, index, value, owned, changed, deliveries)
    end

    # Outputs. They appear when `run` returns.
    def put(key, value, move: false, not_before: nil, ttl: nil) = __output(key, value, move, 0, not_before, ttl)
    def update(key, value, move: false, ttl: nil) = __output(key, value, move, 2, nil, ttl)

    # Hands an input's object on, under its own key or another: nothing is copied. What was owned can be used no more by this run.
    def flip(name, to: nil, update: false)
      at = self.class.__inputs.index { |i| i.name == name } || raise(ArgumentError, "#{self.class} has no input :#{name}")
      key, _, value, owned, _, _, taken = __seg_input(self, at)
      if owned && taken
        value = Segments::Value.owned(value)
        __seg_take_over(self, at, value)
        bits = 1
      else
        bits = 0
      end
      __seg_output(self, to || key, value, update ? bits | 2 : bits, nil, nil)
      nil
    end

    def inspect = "#<#{self.class}#{" #{@__ended}" if @__ended}>"

    # :done, :failed, :cancelled, :killed
    def __how = @__ended || :done
    def __error = @__error

    def __repeated(repetition)
      @__repetition = repetition
      @__quiet = true
    end

    def __perform
      begin
        run
        done = __seg_commit(self)
      rescue Exception => error
        __failed(error)
        # What is meant for the thread, ends the thread.
        raise error if error.is_a?(SystemExit) || error.is_a?(SignalException)
      ensure
        if !done && __seg_lives(self)
          # The thread is killed.
          @__ended = :killed
          __seg_give_up(self, nil)
        end
        @__repetition&.__over(self)
      end
    end

    private

    def __output(key, value, move, bits, not_before, ttl)
      if move
        value = Segments::Value.owned(value)
        bits |= 1 unless __shareable(value)
      else
        value = Segments::Value.shared(value)
      end
      delay = ttl_ns = nil
      unless __same(not_before, nil) && __same(ttl, nil)
        Segments::Clock.start
        delay = Segments::Calls.delay_of(not_before) unless __same(not_before, nil)
        ttl_ns = Segments::Calls.nanoseconds(ttl, "ttl")
      end
      __seg_output(self, key, value, bits, delay, ttl_ns)
      nil
    end

    def __failed(error)
      key, most = self.class.__dead_letters
      names = self.class.__inputs
      tries = names.each_index.filter_map { |i| (found = __seg_input(self, i)) && found[6] ? found[5] : nil }.max || 1
      @__error = error
      @__ended = :failed
      __report(error) unless @__quiet || key
      if key && tries >= most
        letter = Segments::Value.shared({ error: "#{error.class}: #{error.message}", tries: tries, inputs: __inputs_for_letter(names) })
        __seg_give_up(self, [key, letter])
      else
        __seg_give_up(self, nil)
      end
    end

    def __inputs_for_letter(names)
      names.each_with_index.to_h do |input, i|
        value = __seg_input(self, i)[2]
        [input.name, Ractor.make_shareable(value, copy: true)]
      rescue StandardError => e
        [input.name, "#{input.name} can not be kept: #{e.message}"]
      end
    end

    def __report(error)
      warn "#{self.class} terminated with exception:\n#{error.full_message(highlight: $stderr.tty?)}"
    end
  end

  module Segments
    def self.__start_runner = Runner.start

    # A block as a code segment.
    class BlockSegment < CodeSegment
      def initialize(takes, peeks, block)
        @__own_inputs = [*takes.map { |key| [key, true] }, *peeks.map { |key| [key, false] }].each_with_index.map do |(key, take), i|
          CodeSegment.const_get(:Input).new(:"i#{i}", key, take, nil, nil)
        end
        @__block = block
      end

      def run
        values = @__own_inputs.map { |input| instance_variable_get(:"@#{input.name}") }
        instance_exec(*values, &@__block)
      end
    end
    private_constant :BlockSegment
  end
end
