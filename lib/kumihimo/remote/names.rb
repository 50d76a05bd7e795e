# frozen_string_literal: true

require "timeout"

module Kumihimo
  module Remote
    # What a node itself is asked for: objects by names.
    module Desk
      @names = {}
      @lock = Thread::Mutex.new
      @come = Thread::ConditionVariable.new

      class << self
        def register(name, object)
          @lock.synchronize do
            object.nil? ? @names.delete(name) : @names[name] = object
            @come.broadcast
          end
        end

        # The object of this name, once there is one.
        def find(name)
          object = @lock.synchronize do
            @come.wait(@lock) until @names[name]
            @names[name]
          end
          here = __rem_home(object) if Reference === object
          here.nil? ? object : here
        end

        def answer(name, arguments)
          case [name, arguments.size]
          when [:find, 1] then find(arguments[0])
          when [:held, 0] then Remote.__held
          when [:move, 2] then Remote.move(arguments[0], to: arguments[1])
          when [:take_in, 5] then Arrival.take_in(*arguments)
          else raise Refused, "a node has no #{name}"
          end
        end
      end
    end
    private_constant :Desk

    class << self
      # Other nodes find the object by this name (a String or a Symbol), as long as the program runs; nil: not any more. Gives the object.
      def register(name, object)
        export(object) unless object.nil? || reference?(object)
        Desk.register(name.to_s, object)
        object
      end

      # What that node has named so: waits until it has. This node's own is the object itself.
      def find(name, on:, timeout: nil)
        on = on.to_s
        return timeout ? Timeout.timeout(timeout, TimeoutError) { Desk.find(name.to_s) } : Desk.find(name.to_s) if on == Segments.node
        return __call(on, :find, [name.to_s], nil, nil) unless timeout
        within(timeout) { __call(on, :find, [name.to_s], nil, nil) }
      end
    end
  end
end
