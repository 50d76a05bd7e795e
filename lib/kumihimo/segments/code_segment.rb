# frozen_string_literal: true

module Kumihimo
  # Not in the class: its constants would stand before a program's own in subclasses.
  NOT_GIVEN = Object.new.freeze
  # An input as a class names it.
  SegmentInput = Struct.new(:name, :key, :take, :after, :as, :from)
  # Several threads of a run may put.
  AWAY_LOCK = Mutex.new
  private_constant :NOT_GIVEN, :SegmentInput, :AWAY_LOCK

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
    class << self
      # Names an input: `take:` or `peek:` says under which key (nil: `set_key` does so at run time); `as:` is a class whose
      # `from_segment` or `new` makes what the accessor gives of the value (the paper's asClass); `from:` is the node or the store that has
      # the key, where it is another.
      def input(name, take: NOT_GIVEN, peek: NOT_GIVEN, after: nil, as: nil, from: nil)
        raise TypeError, "an input's name is a Symbol, not #{name.inspect}" unless name.is_a?(Symbol) || name.is_a?(String)
        name = name.to_sym
        if __same(take, NOT_GIVEN) == __same(peek, NOT_GIVEN)
          raise ArgumentError, "input :#{name} is either take: or peek:"
        end
        raise ArgumentError, "input :#{name} is no name of a method" unless /\A[[:alpha:]_][[:alnum:]_]*\z/.match?(name)
        raise ArgumentError, "input :#{name} is named twice" if __inputs.any? { |i| i.name == name } || __named_below?(name)
        if CodeSegment.method_defined?(name) || CodeSegment.private_method_defined?(name, false) || name == :initialize || name == :raise
          raise ArgumentError, "input :#{name} would hide a method of #{CodeSegment}"
        end
        raise Segments::Error, "#{self} was started: its inputs stand" if __planned?
        Segments.check_after(after)
        takes = !__same(take, NOT_GIVEN)
        __forget_places
        @inputs = [*(@inputs || []), SegmentInput.new(name, takes ? take : peek, takes, after, as, Segments.owner_of(from))]
        variable = :"@#{name}"
        if as
          make = as.respond_to?(:from_segment) ? :from_segment : :new
          define_method(name) do
            views = @__views || __note(:@__views, {})
            views.fetch(name) { views[name] = as.public_send(make, instance_variable_get(variable)) }
          end
        else
          attr_reader name
        end
      end

      # Where the inputs of a run go that has raised `tries` times: a Hash of the `error`, the `tries`, and the `inputs` by name.
      def dead_letters(key, tries: 1)
        raise ArgumentError, "tries: is a positive Integer" unless tries.is_a?(Integer) && tries.positive?
        @dead_letters = [Segments.local.key(key), tries]
        Segments.const_get(:Look).dead_letter_key(Segments.name_of(@dead_letters[0]))
      end

      # A new one, started. Arguments are those of `initialize`.
      def start(*arguments, **options, &block)
        new(*arguments, **options, &block).start
      end

      def __first_started(segment)
        Segments.__start_runner
        segment
      end

      # Many brief runs are ready: here and now they are done sooner than elsewhere.
      def __many_started(segment)
        Thread.pass
        segment
      end

      # One after another, or `parallel` at a time: each time a run ends a new one is started, until the block, which gets the code
      # segment that has just ended, says true, or a run raises and there are no dead letters. Gives the Repetition.
      def repeat(*arguments, parallel: 1, **options, &enough)
        Segments::Repetition.new(parallel, enough) { new(*arguments, **options) }
      end

      def __inputs = superclass.respond_to?(:__inputs) ? [*superclass.__inputs, *@inputs] : (@inputs || [])

      # The number of an input; asked for while objects run, when inputs stand.
      def __place_of(name)
        places = (@places ||= __inputs.each_with_index.to_h { |input, at| [input.name, at] }.freeze)
        places[name] || raise(ArgumentError, "#{self} has no input :#{name}")
      end

      def __dead_letters = @dead_letters || (superclass.respond_to?(:__dead_letters) ? superclass.__dead_letters : nil)

      # Are some of its inputs on other nodes?
      def __away_inputs? = __inputs.any? { |input| Segments.away?(input.from) }

      # How objects are started whose keys the class names. Where inputs may be elsewhere each start looks.
      def __plan
        @plan ||= __plan_of(inputs = __inputs, inputs.any?(&:from) ? nil : self)
      end

      def __planned? = @started || subclasses.any?(&:__planned?)
      def __named_below?(name) = subclasses.any? { |c| c.__own_names.include?(name) || c.__named_below?(name) }
      def __own_names = (@inputs || []).map(&:name)

      def __forget_places
        @places = nil
        subclasses.each(&:__forget_places)
      end

      # Its inputs stand from now on.
      def __started
        @started ||= true
      end

      def __plan_of(inputs, of = nil)
        __started
        missing = inputs.find { |i| __same(i.key, nil) }
        raise ArgumentError, "input :#{missing.name} has no key: give one by set_key" if missing
        __seg_plan(inputs.map { |i| :"@#{i.name}" }, inputs.map(&:key), inputs.map(&:take), inputs.map(&:after), of)
      end
    end

    # What it does; subclasses say so.
    def run
      raise NotImplementedError, "#{self.class} must define run"
    end

    # Gives an input its key, and the index after which to look, before the start.
    def set_key(name, key, index = nil, after: index, from: NOT_GIVEN)
      raise Segments::Error, "the code segment is started: its keys stand" unless ended?
      Segments.check_after(after)
      name = name.to_sym if name.is_a?(String)
      inputs = @__own_inputs || __note(:@__own_inputs, __inputs_so_far)
      input = inputs.find { |i| i.name == name } || raise(ArgumentError, "#{self.class} has no input :#{name}")
      input.key = key
      input.after = after
      input.from = Segments.owner_of(from) unless __same(from, NOT_GIVEN)
      self
    end

    # From now on it waits for its inputs, and runs once they are there. Gives itself.
    def start
      if @__ended || @__views || @__given || @__away
        raise Segments::Error, "the code segment is started already" unless ended?
        __begin_anew
      end
      return __start_apart if __apart?
      __note(:@__apart, nil) if @__apart
      if @__own_inputs
        __note(:@__plan, self.class.__plan_of(@__own_inputs))
        # The plan has all that is needed: one that waits is small.
        __note(:@__own_inputs, nil)
      end
      plan = @__plan || self.class.__plan
      Segments.__start_runner if __seg_start(self, plan)
      self
    end
    alias execute start

    # It waits no more. False when it runs already, or has ended.
    def cancel
      return false unless @__apart ? @__apart.cancel : __seg_cancel(self)
      __note(:@__ended, :cancelled)
      @__repetition&.__over(self)
      true
    end

    # Waits until its run has ended. Raises what the run has raised.
    def join(timeout: nil)
      unless @__apart ? @__apart.join(timeout) : __seg_join(self, KumiSys.deadline(timeout))
        raise Segments::TimeoutError, "the code segment has not ended within #{timeout} s"
      end
      raise @__error if @__error
      self
    end

    # Does it neither wait nor run?
    def ended? = @__apart ? !@__apart.lives? : !__seg_lives(self)

    # An input with its key, index and value.
    def input(name)
      at = __place_of(name)
      if @__apart
        held = @__apart.held(at) || raise(Segments::NotRunning, "the code segment does not run")
        value = __given?(at) ? @__moved : held.value
        return Segments::Segment.new(held.key, held.index, value, held.owned, held.changed, held.deliveries, held.trace)
      end
      key, index, value, owned, changed, deliveries, _, trace = __seg_input(self, at)
      value = @__moved if __given?(at)
      Segments::Segment.new(key.name, index, value, owned, changed, deliveries, trace)
    end

    # Outputs. They appear when `run` returns.
    # `on:` is the node or the store to which it goes, where it is another.
    def put(key, value, move: false, not_before: nil, ttl: nil, on: nil) = __output(key, value, move, 0, not_before, ttl, on)
    def update(key, value, move: false, ttl: nil, on: nil) = __output(key, value, move, 2, nil, ttl, on)

    # Hands an input's object on, under its own key or another: nothing is copied. What was owned can be used no more by this run.
    def flip(name, to: nil, update: false, on: NOT_GIVEN)
      return __flip_apart(name, to, update, on) if @__apart || !__same(on, NOT_GIVEN)
      at = __place_of(name)
      key, _, value, owned, _, _, taken = __seg_input(self, at)
      if owned && taken
        __not_given(name, at)
        given = Segments::Value.owned(value)
        __seg_hand_on(self, value, given)
        __seg_output(self, to || key, given, Segments::Calls.how(update ? 3 : 1), nil, nil)
        __give(at, value)
      else
        __seg_forward(self, at, to || key, update ? 2 : 0)
      end
      nil
    rescue Segments::NotTransferable
      # See Segments::Calls.put.
      value = input(name).value
      __seg_rehearse(value)
      flip(name, to:, update:, on:)
    end

    def inspect = "#<#{self.class}#{" #{@__ended}" if @__ended}>"

    # The run of one with inputs on other nodes, on a thread of its own.
    def __perform_apart(apart)
      apart.acquire
      began = true
      self.class.__inputs.each_with_index { |input, at| instance_variable_set(:"@#{input.name}", apart.held(at).value) }
      (trace = apart.trace) ? Segments.with_trace(trace) { run } : run
      commits = true
      apart.commit
      done = true
    rescue Exception => error
      __failed_apart(apart, error, commits)
      raise error if error.is_a?(SystemExit) || error.is_a?(SignalException)
    ensure
      __note(:@__ended, :killed) if began && !done && !error
      @__repetition&.__over(self) if began || error
    end

    def __kill = @__apart&.kill

    # :done, :failed, :cancelled, :killed
    def __how = @__ended || :done
    def __error = @__error
    # Did it fail without a dead letter?
    def __failed? = __how == :failed && (@__unwritten || !self.class.__dead_letters)

    def __repeated(repetition)
      @__repetition = repetition
      @__quiet = true
    end

    # False: the run is not this process's, which is a fork's child.
    def __perform(runner, broken = nil)
      # Once this run is over the next one may set them.
      repetition = @__repetition
      __note(:@__trace, nil) if (trace = @__trace)
      begin
        raise __same(broken, true) ? Segments::NotShared.new("the segment is owned: it can be taken, not peeked at") : broken if broken
        trace ? Segments.with_trace(trace) { run } : run
        __put_away if @__away
        # A repetition goes on from here: the end is noted before.
        done = __seg_commit(self, runner, repetition)
      rescue Exception => error
        done = __failed(error)
        # What is meant for the thread, ends the thread.
        raise error if error.is_a?(SystemExit) || error.is_a?(SignalException)
        done
      ensure
        if !done && __seg_lives(self)
          # The thread is killed.
          __note(:@__ended, :killed)
          __seg_give_up(self, nil)
        end
        repetition&.__over(self)
      end
    end

    private

    # Sets what the library knows of the object, which may be frozen.
    def __note(name, value)
      __ivar_set(self, name, value)
      value
    end

    def __begin_anew
      %i[@__ended @__error @__unwritten @__views @__given @__moved @__away].each { |name| __note(name, nil) }
    end

    def __place_of(name)
      self.class.__place_of(name.is_a?(String) ? name.to_sym : name)
    end

    # Its keys stand in its plan once it was started.
    def __inputs_so_far
      inputs = self.class.__inputs.map(&:dup)
      __seg_plan_keys(@__plan).zip(inputs) { |(key, after), input| input.key, input.after = key, after if input } if @__plan
      inputs
    end

    def __apart?
      if (own = @__own_inputs)
        own.any? { |input| Segments.away?(input.from) }
      else
        self.class.__away_inputs?
      end
    end

    def __start_apart
      inputs = @__own_inputs || self.class.__inputs
      missing = inputs.find { |i| __same(i.key, nil) }
      raise ArgumentError, "input :#{missing.name} has no key: give one by set_key" if missing
      raise Segments::Error, "the code segment is started already" if @__apart&.lives?
      inputs = inputs.map { |i| i.dup.tap { |input| input.from = nil unless Segments.away?(input.from) } }
      self.class.__started
      @__apart = Segments.const_get(:Apart).new(self, inputs)
      @__apart.start
      self
    end

    def __flip_apart(name, to, update, on)
      at = __place_of(name)
      segment = input(name)
      node = __same(on, NOT_GIVEN) ? (@__apart && @__apart.held(at).node) : on
      given = value = segment.value
      bits = update ? 2 : 0
      if segment.owned?
        __not_given(name, at)
        given = Segments::Value.owned(value)
        __hand_on(value, given)
        bits |= 1
      end
      bits = Segments::Calls.how(bits)
      __away(node, to || segment.key, given, bits, nil, nil)
      __give(at, value) if segment.owned?
      nil
    end

    # An owned input is flipped once: it is somebody else's then.
    def __not_given(name, at)
      return unless __given?(at)
      raise Ractor::MovedError, "the input #{name.inspect} is owned and was flipped already"
    end

    # The owned input whose root was moved has this one now. Its place, if there is one.
    def __hand_on(moved, value) = @__apart ? @__apart.hand_on(moved, value) : __seg_hand_on(self, moved, value)

    # Whoever asks for its value has the root that was moved.
    def __give(at, moved)
      __note(:@__given, (@__given || 0) | (1 << at))
      __note(:@__moved, moved)
    end

    # A bit for each that was.
    def __given?(at) = (@__given || 0)[at] == 1

    # An output to another node, or of a run that has inputs there.
    def __away(node, key, value, bits, delay, ttl)
      node = Segments.owner_of(node)
      node = nil unless Segments.away?(node)
      if @__apart
        @__apart.output(node, Segments.name_of(key), value, bits, delay, ttl)
      elsif node
        raise Segments::NotRunning, "the code segment does not run" unless __seg_lives(self)
        AWAY_LOCK.synchronize { (@__away || __note(:@__away, [])) << [node, Segments.name_of(key), value, bits, delay, ttl] }
      else
        __seg_output(self, key, value, bits, delay, ttl)
      end
      nil
    end

    # What goes to other nodes goes before the inputs end.
    def __put_away
      away = @__away
      __note(:@__away, nil)
      puts = away.group_by(&:first).transform_values { |outputs| outputs.map { |_, *output| output } }
      puts = Segments.const_get(:Apart).ready(puts) if puts.size > 1
      puts.each { |node, outputs| Segments.manager_of(node).__commit([], outputs) }
    end

    def __output(key, value, move, update, not_before, ttl, on)
      bits = update
      at = given = nil
      delay, ttl_ns = Segments::Calls.times(not_before, ttl)
      if move
        given = value
        value = Segments::Value.owned(value)
        bits |= 1 unless __shareable(value)
        # What was taken comes back if the run fails, also where it is put by another name than flip.
        at = __hand_on(given, value) unless __same(given, value)
      elsif !on || !Segments.away?(Segments.owner_of(on)) || !__seg_refers(value)
        # Objects that stay go to other nodes as references, and are not frozen.
        value = Segments::Value.shared(value)
      end
      bits = Segments::Calls.how(bits)
      @__apart || on ? __away(on, key, value, bits, delay, ttl_ns) : __seg_output(self, key, value, bits, delay, ttl_ns)
      __give(at, given) if at
      nil
    rescue Segments::NotTransferable
      # See Segments::Calls.put.
      __seg_rehearse(value)
      __output(key, value, move, update, not_before, ttl, on)
    end

    def __failed(error)
      key, most = self.class.__dead_letters
      names = self.class.__inputs
      tries = names.each_index.filter_map { |i| names[i].take ? __deliveries(i) : nil }.max || 1
      __ends_by(error, key)
      if key && tries >= most
        given = __letter(error, tries, __inputs_for_letter(names), __keys_for_letter(names)) { |letter| __seg_give_up(self, [key, letter]) }
        __log_letter(key, tries, error) if given
        given
      else
        __seg_give_up(self, nil)
      end
    rescue Segments::NotRunning
      false
    end

    def __ends_by(error, key)
      __note(:@__error, error)
      __note(:@__ended, :failed)
      __report(error) unless @__quiet || key || error.is_a?(SystemExit) || error.is_a?(SignalException)
    end

    # How often an input was taken. What can not be read was.
    def __deliveries(at)
      __seg_input(self, at)[5]
    rescue Segments::NotRunning
      raise
    rescue StandardError
      1
    end

    def __failed_apart(apart, error, commits)
      key, most = self.class.__dead_letters
      key = nil if !apart.complete? || (commits && apart.late?(error))
      __ends_by(error, key)
      return apart.give_back unless key
      held = self.class.__inputs.each_index.map { |at| apart.held(at) }
      tries = held.filter_map { |h| h.deliveries if h.lease }.max || 1
      return apart.give_back if tries < most
      names = self.class.__inputs.map(&:name)
      keys = names.zip(held).filter_map { |name, h| [name, [h.key, *apart.name_of(h.node)]] if h.lease }.to_h
      inputs = names.zip(held).to_h { |name, h| [name, __kept { h.told }] }
      done = __letter(error, tries, inputs, keys) { |letter| apart.dead_letter(key, letter) }
      __log_letter(key, tries, error)
      done
    rescue Segments::StoreError => why
      __ends_unwritten(why)
    rescue Segments::Error
      # The leases are over, or the node is gone: there is nothing to give back. It was the run's own end that has ended them, where another
      # owner refused it.
      __ends_unwritten(error) if commits && key
    end

    # There can be no letter: it has failed as one without.
    def __ends_unwritten(error)
      __note(:@__unwritten, true)
      __ends_by(error, nil)
    end

    def __inputs_for_letter(names)
      names.each_with_index.to_h { |input, i| [input.name, __kept { __seg_input(self, i)[2] }] }
    end

    # Writes a dead letter by the block. Others may ask for its key: what can't travel stays behind.
    def __letter(error, tries, inputs, keys)
      letter = { error: __told(error), tries:, inputs:, keys: }
      yield __shared_letter(letter, inputs)
    rescue Segments::NotTransferable
      begin
        alone = inputs.transform_values do |value|
          __kept do
            # See Segments::Calls.put.
            __seg_rehearse(value)
            __seg_ready(nil, [["", value]], [])
            value
          end
        end
        yield __shared_letter(letter, alone)
      rescue Segments::NotTransferable => e
        # They do not together.
        yield __shared_letter(letter, inputs.transform_values { __unkept(e) })
      end
    end

    # Where something that was taken could not be kept it says so: it is not put back then.
    def __shared_letter(letter, inputs)
      lost = letter[:keys].keys.select { |name| @__unkept&.key?(inputs[name]) }
      letter = letter.merge(inputs:)
      letter[:lost] = lost unless lost.empty?
      Segments::Value.shared(letter)
    end

    # A copy for the letter.
    def __kept
      Ractor.make_shareable(yield, copy: true)
    rescue StandardError => e
      __unkept(e)
    end

    def __unkept(error)
      "it can not be kept: #{error.message}".tap { |text| (@__unkept ||= {}.compare_by_identity)[text] = true }
    end

    # Of what was taken: where it is put back to.
    def __keys_for_letter(inputs)
      inputs.each_with_index.filter_map { |input, i| [input.name, [__seg_input(self, i)[0].name]] if input.take }.to_h
    end

    def __log_letter(key, tries, error)
      log = Segments.const_get(:Log)
      log.warn("dead letter", key: key.name, code: self.class.name, tries:, error: __told(error)) if log.set?
    end

    def __told(error)
      "#{error.class}: #{error.message}"
    rescue StandardError
      "#{error.class}: its message can not be told"
    end

    # As of a thread: whatever `-W` says.
    def __report(error)
      $stderr.write("#{self.class} terminated with exception:\n#{error.full_message(highlight: $stderr.tty?)}")
    rescue StandardError
      # It can not be told.
    end
  end

  module Segments
    def self.__start_runner = Runner.start

    def self.check_after(index)
      return if __same(index, nil) || (index.is_a?(Integer) && index >= 0 && index < 1 << 61)
      raise TypeError, "after: is a segment's index, an Integer from 0 on, not #{index.inspect}"
    end

    # A block as a code segment.
    class BlockSegment < CodeSegment
      def initialize(takes, peeks, block)
        @__inputs = @__own_inputs = [*takes.map { |key| [key, true] }, *peeks.map { |key| [key, false] }].each_with_index.map do |(key, take), i|
          SegmentInput.new(:"i#{i}", key, take, nil, nil, nil)
        end
        @__block = block
      end

      def run
        values = @__inputs.map { |input| instance_variable_get(:"@#{input.name}") }
        instance_exec(*values, &@__block)
      end

      private

      # Inputs are called as their keys.
      def __place_of(name)
        called = Segments.name_of(name).to_s
        @__inputs.index { |i| Segments.name_of(i.key).to_s == called } || raise(ArgumentError, "the block has no input #{name.inspect}")
      end
    end
    private_constant :BlockSegment
  end
end
