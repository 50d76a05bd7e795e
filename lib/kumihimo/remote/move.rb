# frozen_string_literal: true

module Kumihimo
  module Remote
    # Objects of a class that includes this module stay on their node as well, until they are moved to another one: by their own program, or
    # by whoever has a reference. Nodes take in objects of such classes, and no others.
    #
    # What moves are the instance variables, as arguments of a call do; where the class has `marshal_dump` and `marshal_load`, what these give
    # and take.
    module Movable
      include Remote

      def self.included(base)
        super
        base.extend(Methods)
      end

      # Moves this object. Gives what it is here from then on: a reference.
      def move_to(node) = Remote.move(self, to: node)
    end

    # The future of a call of an object that has come here.
    class RemoteParts::Here
      def initialize(name, over, &work)
        @name = name
        @over = over
        @thread = Thread.new do
          Thread.current.report_on_exception = false
          Thread.current[:__kumihimo_end] = over
          work.call.tap { @returned = true }
        end
      end

      def value(timeout: nil)
        raise RemoteError, "#{@name} was called off" if @called_off
        left = [timeout, @over && (@over - KumiSys.deadline(0)) / 1e9].compact.min
        raise TimeoutError, "#{@name} did not answer in time" unless @thread.join(left && [left, 0].max)
        value = @thread.value
        raise Refused, "the thread that did it was ended" unless @returned
        value
      end

      def done? = !@thread.alive?

      def cancel
        @called_off = @thread.alive?
        @thread.kill
        self
      end
    end

    # The part of the node that takes an object in.
    module RemoteParts::Arrival
      ALLOCATE = Class.instance_method(:allocate)
      SET = Kernel.instance_method(:instance_variable_set)
      HIDDEN = "@__"
      private_constant :ALLOCATE, :SET, :HIDDEN

      class << self
        # An object as it was on its node. Nobody knows it before that node says that it has moved.
        def take_in(reference, name, frozen, dumped, state)
          object = ALLOCATE.bind_call(type(name))
          if dumped
            object.__send__(:marshal_load, state)
          else
            variables(reference, object, state)
          end
          __rem_adopted(object, reference)
          object.freeze if frozen
          object
        end

        private

        def type(name)
          type = Remote.__class_named(name.to_s)
          return type if type && type < Movable
          raise Segments::NotTransferable, "node #{Segments.node} has no class #{name} whose objects move (Kumihimo::Remote::Movable)"
        end

        def variables(reference, object, state)
          state.each do |name, value|
            raise Refused, "#{name} is no instance variable" if name.start_with?(HIDDEN)
            SET.bind_call(object, name, reference.equal?(value) ? object : value)
          end
        end
      end
    end

    # So long calls that come wait for those that are under way.
    RemoteParts::HOLD = 0.1

    class << self
      # Moves an object to another node: calls that others make of it meanwhile wait, and are made there; those that are under way end
      # first. Gives what the object is here from then on: a reference. What can't be moved raises, and stays as it was.
      def move(object, to:)
        to = to.to_s
        return __move_reference(object, to) if reference?(object)
        raise Segments::NotTransferable, "#{object.class} does not include Kumihimo::Remote::Movable: its objects do not move" unless Movable === object
        return object if to == Segments.node
        __move(object, to)
      end

      # The same by a reference, from wherever it is. Gives the object where it has come here, else the reference.
      def __move_reference(reference, to)
        begin
          here = __rem_home(reference)
          return move(here, to: to) if Movable === here
          # It may have come just now.
          node = __rem_node(reference)
        end while node == Segments.node
        there = __call(node, :move, [reference, to], nil, nil)
        __rem_follow(reference, there)
        reference?(there) ? reference : there
      end

      # The class of that name, which nothing is loaded for.
      def __class_named(name)
        type = name.split("::").inject(Object) do |space, part|
          return nil unless Module === space && part.match?(/\A[A-Z]\w*\z/) && space.const_defined?(part, false) && !space.autoload?(part, false)
          space.const_get(part, false)
        end
        type if Class === type && type.name == name
      rescue NameError
        nil
      end

      private

      def __move(object, to)
        over = __end
        pause = 0.001
        begin
          move = __rem_move_begin(object)
          return __move_reference(object, to) unless move
          until (copy = __rem_move_seize(move, [over, KumiSys.deadline(RemoteParts::HOLD)].compact.min))
            raise TimeoutError, "calls of the object that is to move do not end" if over && over <= KumiSys.deadline(0)
            # Calls that came meanwhile may be what the others wait for.
            __rem_move_end(move)
            sleep pause
            pause = [pause * 2, RemoteParts::HOLD].min
            move = __rem_move_begin(object)
            return __move_reference(object, to) unless move
          end
          dumped = copy.respond_to?(:marshal_dump, true)
          state = dumped ? copy.__send__(:marshal_dump) : __rem_move_variables(copy).each_slice(2).to_h
          there = __call(to, :take_in, [object, __rem_move_class(move), copy.frozen?, dumped, state], nil, nil)
          __rem_become(move, there)
          object
        ensure
          if move
            __rem_move_stay(move)
            __rem_move_end(move)
          end
          __rem_move_leave(object)
        end
      end

      # A call by a reference whose object has come here: [what it returned], or its future.
      def __here(object, name, arguments, keywords, block, over, future)
        work = -> { Kernel.instance_method(:public_send).bind_call(object, name, *arguments, **(keywords || {}), &block) }
        return RemoteParts::Here.new(name, over, &work) if future
        return [work.call] unless over
        [Timeout.timeout([(over - KumiSys.deadline(0)) / 1e9, 1e-3].max, TimeoutError) { work.call }]
      end
    end
  end
end
