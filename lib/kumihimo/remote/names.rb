# frozen_string_literal: true

require "timeout"

module Kumihimo
  module Remote
    # What a node itself is asked for: objects by names.
    module RemoteParts::Desk
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

        # The object of this name, once there is one; until `ends`, a time of the clock.
        def find(name, ends = Remote.__end)
          object = @lock.synchronize do
            until @names[name]
              left = ends && (ends - KumiSys.deadline(0)) / 1e9
              raise TimeoutError, "there was no object #{name} in time" if left && left <= 0
              @come.wait(@lock, left)
            end
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
          when [:take_in, 5] then RemoteParts::Arrival.take_in(*arguments)
          else raise Refused, "a node has no #{name}"
          end
        end
      end
    end

    class << self
      # Other nodes find the object by this name (a String or a Symbol), as long as the program runs; nil: not any more. Gives the object.
      def register(name, object)
        export(object) unless object.nil? || reference?(object)
        RemoteParts::Desk.register(name.to_s, object)
        object
      end

      # What that node has named so: waits until it has. This node's own is the object itself.
      def find(name, on:, timeout: nil)
        return within(timeout) { find(name, on:) } if timeout
        on = on.to_s
        on == Segments.node ? RemoteParts::Desk.find(name.to_s) : __call(on, :find, [name.to_s], nil, nil)
      end
    end
  end
end
