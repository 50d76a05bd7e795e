# frozen_string_literal: true

module Kumihimo
  module Segments
    # What is read until it is closed: a key, of this node or another.
    module ReadToEnd
      include Enumerable

      # No more segments will be put: whoever reads the key by `each` comes to its end.
      def close
        put(END_OF_KEY)
        self
      end

      # Takes each segment until the key is closed. Several may read one key; each segment goes to one of them, and all come to its
      # end, which stays where it is.
      def each
        return to_enum(:each) unless block_given?
        until EndOfKey === (value = __take_item)
          yield value
        end
        self
      end
    end

    # A key of a manager, looked up once: the manager's calls without the key's name.
    class Key
      include ReadToEnd

      class << self
        undef_method :new
      end

      def name = __seg_key_name(self)
      alias to_s name

      def put(value, move: false, timeout: nil, not_before: nil, ttl: nil)
        Calls.put(self, value, move, timeout, not_before, ttl)
      end

      def put?(value, move: false, not_before: nil, ttl: nil) = Calls.put(self, value, move, false, not_before, ttl)
      def update(value, move: false, ttl: nil) = Calls.update(self, value, move, ttl)

      def peek(after: nil, timeout: nil)
        found = __seg_get(self, false, after)
        return found unless __same(found, NOTHING)
        Calls.wait_for(self, false, after, timeout, false)
      end

      def take(after: nil, timeout: nil)
        found = __seg_get(self, true, after)
        return found unless __same(found, NOTHING)
        Calls.wait_for(self, true, after, timeout, false)
      end

      def peek?(default = nil, after: nil) = Segments.local.peek?(self, default, after:)
      def take?(default = nil, after: nil) = Segments.local.take?(self, default, after:)
      def peek_segment(after: nil, timeout: nil) = Segments.local.peek_segment(self, after:, timeout:)
      def take_segment(after: nil, timeout: nil) = Segments.local.take_segment(self, after:, timeout:)
      def size = __seg_stats(self)[0]
      def stat = Segments.local.stat(self)
      def watch(limit: 1000) = Watch.__open(self, limit)

      def limit(most)
        Segments.local.limit(self, most)
        self
      end

      # Puts each element of a list, in order, and waits for room where the queue is limited: a list that is read as it arrives is
      # read no faster than its elements are taken. Gives how many there were.
      def from(list)
        count = 0
        # Several values at a time are an Array, as everywhere.
        list.public_send(list.is_a?(Enumerator) ? :each_entry : :each) do |element|
          put(element)
          count += 1
        end
        count
      end

      # The next segment's value. The end of the key stays.
      def __take_item
        found = __seg_get_item(self)
        return found unless __same(found, NOTHING)
        begin
          request = __seg_ask_item(self)
          __seg_wait(request, nil)
        ensure
          __seg_leave(request)
        end
      end

      # There is one of each name.
      def dup = self
      def clone(freeze: nil) = self

      def inspect = "#<#{self.class} #{name.inspect}>"
      def ==(other) = other.is_a?(Key) && other.name == name
      alias eql? ==
      def hash = name.hash
    end
  end
end
