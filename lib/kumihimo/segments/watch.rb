# frozen_string_literal: true

module Kumihimo
  module Segments
    # Events until a watch is closed.
    module EachEvent
      include Enumerable

      def each
        return to_enum(:each) unless block_given?
        while (event = self.next)
          yield event
        end
        self
      end
    end

    # What happens under a key, from when the watch began, in order. An event has `what` (:put, :update, :take, :back, :end), the
    # segment's `index`, the `value` of a shared segment that was put, and how many events were `missed` before it: a watch keeps
    # so many as its limit says.
    #
    #   Kumihimo::Segments.local.watch("job").each { |event| puts event.index if event.what == :put }
    class Watch
      include EachEvent

      Event = Data.define(:what, :index, :value, :missed)

      private_class_method :new

      def self.__open(key, limit)
        raise ArgumentError, "a watch's limit is a positive Integer" unless limit.is_a?(Integer) && limit.positive?
        new(__seg_watch(key, limit))
      end

      # Under a key of a store.
      def self.__open_store(store, key, limit)
        raise ArgumentError, "a watch's limit is a positive Integer" unless limit.is_a?(Integer) && limit.positive?
        new(__seg_store_watch(store, key, limit), true)
      end

      def initialize(core, stored = false)
        @core = core
        @stored = stored
      end

      # The next event; nil when the watch is closed.
      def next(timeout: nil)
        deadline = KumiSys.deadline(timeout)
        found = @stored ? __seg_store_watch_next(@core, deadline) : __seg_watch_next(@core, deadline)
        return nil if __same(found, nil)
        raise TimeoutError, "no event within #{timeout} s" if __same(found, NOTHING)
        Event.new(*found)
      end

      def close
        @stored ? __seg_store_unwatch(@core) : __seg_unwatch(@core)
        nil
      end
    end

    # The same of a key of another node. The node keeps events until they are asked for, up to the limit, which is 10,000 at most: who
    # reads too slowly misses some. NodeLost ends it.
    class RemoteWatch
      include EachEvent

      private_class_method :new

      def self.__open(manager, peer, key, limit)
        raise ArgumentError, "a watch's limit is a positive Integer" unless limit.is_a?(Integer) && limit.positive?
        core = __seg_watch_away(peer)
        hear(manager, key) unless __seg_watch_known(core)
        manager.__send__(:__ended, __seg_watch_begin(peer, core, key, [limit, 10_000].min), nil, false)
        new(peer, core)
      end

      # Any answer will do: what the node knows it has said before.
      def self.hear(manager, key)
        manager.size(key)
      rescue NotAllowed
        nil
      end
      private_class_method :hear

      def initialize(peer, core)
        @peer = peer
        @core = core
        @events = []
        # One thread at a time asks for events.
        @turn = Thread::Queue.new << true
      end

      # The next event; nil when the watch is closed.
      def next(timeout: nil)
        deadline = KumiSys.deadline(timeout)
        unless @turn.pop(timeout: timeout && [timeout, 0].max)
          return nil if @closed
          raise TimeoutError, "no event within #{timeout} s"
        end
        begin
          more(deadline, timeout) if @events.empty? && !@closed
          found = @events.shift
          found && Watch::Event.new(*found)
        ensure
          @turn << true
        end
      end

      def close
        @closed = true
        __seg_watch_end(@core)
        nil
      end

      private

      # The call goes on when nobody waits for it: what it comes to is for who waits next.
      def more(deadline, timeout)
        @asked ||= __seg_watch_events(@peer, @core)
        found = __seg_call_wait(@asked, deadline, true)
        raise TimeoutError, "no event within #{timeout} s" if __same(found, NOTHING)
        @asked = nil
        found.empty? ? @closed = true : @events.concat(found)
      rescue TimeoutError
        raise
      rescue Error
        @asked = nil
        raise unless @closed
      end
    end
  end
end
