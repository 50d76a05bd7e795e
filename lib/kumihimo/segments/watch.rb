# frozen_string_literal: true

module Kumihimo
  module Segments
    # What happens under a key, from when the watch began, in order. An event has `what` (:put, :update, :take, :back, :end), the
    # segment's `index`, the `value` of a shared segment that was put, and how many events were `missed` before it: a watch keeps
    # so many as its limit says.
    #
    #   Kumihimo::Segments.local.watch("job").each { |event| puts event.index if event.what == :put }
    class Watch
      include Enumerable

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

      def each
        return to_enum(:each) unless block_given?
        while (event = self.next)
          yield event
        end
        self
      end

      def close
        @stored ? __seg_store_unwatch(@core) : __seg_unwatch(@core)
        nil
      end
    end
  end
end
