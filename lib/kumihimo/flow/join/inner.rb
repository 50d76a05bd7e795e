# frozen_string_literal: true

module Kumihimo
  module Operators
    # The inner join by equal keys with both tables in memory: the loop that most joins are. A table maps a key to its element, or
    # to a Bucket of several. When an input has ended, the other's table is let go and nothing is put into it any more.
    #
    # `__join_batch` does this for keys whose hash runs no Ruby; `one` is the same for one element with any key.
    class InnerJoin
      # Elements with the same key; and one that is nil or false, which a table cannot hold bare.
      class Bucket < Array; end

      # Flags of `__join_batch`.
      LEFT = 1
      OWN_UNIQUE = 2
      OTHER_UNIQUE = 4
      FLAT = 8
      NILS = 16

      # What is known of an input. `name` is the reader that gives the key, when it is given as one.
      Side = Struct.new(:key, :name, :table, :unique, :over, :flags)

      # `keys` are lambdas, `names` Symbols or nil; `maker` makes the result for a pair, nil: an Array. With a budget it is to
      # be asked after each batch whether it is `too_large?`; then a GeneralJoin goes on with what is held.
      def initialize(join, keys, names, maker, budget)
        @maker = maker
        @budget = budget
        @held = 0
        @nils = join.__nils?
        uniques = [%i[left both].include?(join.__unique), %i[right both].include?(join.__unique)]
        @sides = [0, 1].map do |index|
          flags = (index.zero? ? LEFT : 0) | (uniques[index] ? OWN_UNIQUE : 0) | (uniques[1 - index] ? OTHER_UNIQUE : 0)
          flags |= (maker ? FLAT : 0) | (@nils ? NILS : 0)
          Side.new(keys[index], names[index], {}, uniques[index], false, flags)
        end
      end

      def left(batch, out) = join(0, batch, out)
      def right(batch, out) = join(1, batch, out)

      def ended(index, _out)
        @sides[index].over = true
        @sides[1 - index].table = {}
      end

      # The table of an input that has ended is empty: whatever comes of the other meets nothing.
      def complete? = @sides.any? { |side| side.over && side.table.empty? }

      def drain(_out, _max) = false
      def stop; end

      def too_large?
        return false if @held <= @budget.limit
        @held = 0
        each_held { @held += 1 }
        @held > @budget.limit
      end

      # The elements in both tables: the input's number, the key, the element.
      def each_held
        @sides.each_with_index do |side, index|
          side.table.each do |key, held|
            Bucket === held ? held.each { |element| yield index, key, element } : yield(index, key, held)
          end
        end
      end

      private

      def join(index, batch, out)
        side = @sides[index]
        other = @sides[1 - index]
        own = other.over ? nil : side.table
        error = nil
        keys = side.name && __join_keys(batch, side.name)
        keys, error = keys_of(batch, side.key) unless keys
        results = @maker ? [] : out
        at = 0
        while at < keys.size
          at = __join_batch(batch, keys, at, own, other.table, Bucket, results, side.flags)
          make(results, out) if @maker
          next unless at.negative?
          at = -1 - at
          one(index, batch[at], keys[at], own, other.table, out)
          at += 1
        end
        if @budget && own
          @held += keys.size
          @budget.see_all(batch)
        end
        raise error if error
      end

      # The keys up to one that cannot be had, and why: what comes before it is joined before that is raised.
      def keys_of(batch, key)
        keys = []
        batch.each { |element| keys << key.call(element) }
        [keys, nil]
      rescue StandardError => error
        [keys, error]
      end

      def make(pairs, out)
        at = 0
        while at < pairs.size
          out << @maker.call(pairs[at], pairs[at + 1])
          at += 2
        end
        pairs.clear
      end

      def one(index, element, key, own, others, out)
        match = others[key]
        if match
          if Bucket === match
            match.each { |other| give(index, element, other, out) }
          else
            give(index, element, match, out)
          end
          others.delete(key) if @sides[index].unique
          return if @sides[1 - index].unique
        end
        return unless own
        held = own[key]
        if held
          raise Flow::UniqueError, "unique: #{key.inspect} came twice in the #{index.zero? ? "left" : "right"} input" if @sides[index].unique
          Bucket === held ? held << element : own[key] = Bucket[held, element]
        else
          own[key] = element || Bucket[element]
        end
      end

      def give(index, element, other, out)
        one, two = index.zero? ? [element, other] : [other, element]
        out << (@maker ? @maker.call(one, two) : [one, two])
      end
    end
  end
end
