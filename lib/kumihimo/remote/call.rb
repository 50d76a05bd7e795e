# frozen_string_literal: true

module Kumihimo
  module Remote
    # A line of a backtrace that names its node already; one of this library.
    RemoteParts::NODE = /\A[^:\/]+: /
    RemoteParts::OWN = %r{kumihimo/remote(/\w+)?\.rb:\d+:in }
    RemoteParts::EXCEPTION = Exception.instance_method(:exception)

    class << self
      # Calls a method there and waits. The target: a reference, the name of a node, or a run whose caller has a block.
      def __call(target, name, arguments, keywords, block)
        over = __end
        call = __rem_call(target, name, arguments, keywords, block, over, nil)
        begin
          __called_back(call, over) if block
          result = __rem_wait(call, over)
          __time_over(name) if __same(result, RemoteParts::NOTHING)
          result
        rescue Refused
          raise unless over && KumiSys.deadline(0) >= over
          __time_over(name)
        ensure
          __rem_leave(call)
        end
      end

      # The same without waiting.
      def __async(target, name, arguments, keywords, block, seconds)
        over = __end
        if seconds
          mine = KumiSys.deadline(seconds)
          over = over && over < mine ? over : mine
        end
        __rem_call(target, name, arguments, keywords, block, over, Future)
      end

      # While a call is on, its block is called by this thread.
      def __called_back(call, over)
        RemoteParts::Service.answer_back(call) while __rem_event(call, over)
      end

      def __time_over(name) = raise(TimeoutError, "#{name} did not answer in time")

      def __refuse(reference, name)
        raise NoMethodError.new("a reference to an object of another node has no #{name}: call a method of it that gives a copy", name, [], receiver: nil)
      end

      def __node_of(reference) = __rem_node(reference)
      def __same?(reference, other) = Reference === other && __rem_same(reference, other)
      def __hash(reference) = __rem_hash(reference)

      def __inspect(reference)
        number = __rem_number(reference)
        number ? "#<Kumihimo::Remote::Reference #{number} of node #{__rem_node(reference)}>" : "#<Kumihimo::Remote::Reference to nothing>"
      end

      private

      # What a method raised elsewhere: [class, message, backtrace, more].
      def __raised(parts)
        name, message, trace, node = Array(parts)
        name, message, node = [name, message, node].map { |part| String === part ? part : "" }
        type = known_error(name)
        error = type ? made(type, message) : RemoteError.new(message, name)
        there = Array(trace).grep(String).map { |line| line.start_with?(RemoteParts::NODE) ? line : "#{node}: #{line}" }
        error.set_backtrace((there + caller(1)).reject { |line| line.match?(RemoteParts::OWN) })
        raise error
      end

      # Its `initialize` is not called: nobody knows what it was given there.
      def made(type, message)
        error = RemoteParts::EXCEPTION.bind_call(type.allocate, message)
        error.define_singleton_method(:message) { message } unless (error.message rescue nil) == message
        error
      end

      # The class of that name, where it is one of those that may be raised for another node.
      def known_error(name)
        type = __class_named(name)
        type if type && (type <= StandardError || type <= ScriptError)
      end
    end
  end
end
