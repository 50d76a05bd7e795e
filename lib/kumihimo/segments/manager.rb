# frozen_string_literal: true

module Kumihimo
  module Segments
    # A node's data segment manager: a queue of segments under each key. Keys are Strings or Symbols, which are the same key where
    # they have the same letters, or what `key` makes of them. All calls may be made from any thread.
    class Manager
      private_class_method :new

      # The key itself, so that its name is looked up once.
      def key(name) = __seg_key(name)
      alias [] key

      # Appends a segment and gives its index. The value is deeply frozen; with `move: true` it is handed over instead, whoever
      # takes it may change it, and the caller's reference to it is of no use any more. Waits while the queue is full.
      #
      # timeout: seconds to wait for room; not_before: a Time, or seconds from now, when it enters its queue (then the result is
      # nil); ttl: seconds after which it ends.
      def put(key, value, move: false, timeout: nil, not_before: nil, ttl: nil)
        Calls.put(key, value, move, timeout, not_before, ttl)
      end

      # As put, but false where the queue is full.
      def put?(key, value, move: false, not_before: nil, ttl: nil)
        Calls.put(key, value, move, false, not_before, ttl)
      end

      # Replaces the head, which gets a fresh highest index, or appends where there is none. Gives the index.
      def update(key, value, move: false, ttl: nil) = Calls.update(key, value, move, ttl)

      # Puts each element of a list, in order, and gives how many there were.
      def put_all(key, values) = self.key(key).from(values)

      # Others may ask for the key: its segments are encoded when they are put. The first request from another node does this too.
      def export(key)
        __seg_export(key)
        self
      end

      # Waits for a segment and gives its value. after: the segment with the lowest index above that one; timeout: seconds.
      def peek(key, after: nil, timeout: nil)
        found = __seg_get(key, false, after)
        return found unless __same(found, NOTHING)
        Calls.wait_for(key, false, after, timeout, false)
      end

      # As peek, and removes it.
      def take(key, after: nil, timeout: nil)
        found = __seg_get(key, true, after)
        return found unless __same(found, NOTHING)
        Calls.wait_for(key, true, after, timeout, false)
      end

      # The value of a segment that is there now, else `default`.
      def peek?(key, default = nil, after: nil)
        found = __seg_get(key, false, after)
        __same(found, NOTHING) ? default : found
      end

      def take?(key, default = nil, after: nil)
        found = __seg_get(key, true, after)
        __same(found, NOTHING) ? default : found
      end

      # As peek and take, but the whole Segment, with its index.
      def peek_segment(key, after: nil, timeout: nil)
        name = Segments.name_of(key)
        found = __seg_segment(key, false, after)
        found = Calls.wait_for(key, false, after, timeout, true) if __same(found, NOTHING)
        __seg_made(Segment, name, found)
      end

      def take_segment(key, after: nil, timeout: nil)
        name = Segments.name_of(key)
        found = __seg_segment(key, true, after)
        found = Calls.wait_for(key, true, after, timeout, true) if __same(found, NOTHING)
        __seg_made(Segment, name, found)
      end

      # The names of keys that have segments, in order.
      def keys(prefix = "") = __seg_names(prefix.is_a?(Symbol) ? prefix.name : prefix)

      # How many segments stand under a key.
      def size(key) = __seg_stats(key)[0]

      # The most segments to which a put may bring the queue; nil: any number.
      def limit(key, most)
        raise ArgumentError, "a limit is a positive Integer or nil" unless most.nil? || (most.is_a?(Integer) && most.positive?)
        __seg_limit(key, most || 0)
        self
      end

      # What happens under the key from now on. See Watch.
      def watch(key, limit: 1000) = Watch.__open(key, limit)

      # Counts of a key: segments, delayed, leased, waiting, waiting_puts, last_index, limit.
      def stat(key)
        segments, delayed, leased, waiting, waiting_puts, last_index, limit = __seg_stats(key)
        { segments:, delayed:, leased:, waiting:, waiting_puts:, last_index:, limit: }
      end

      def inspect = "#<#{self.class} local>"
    end
  end
end
