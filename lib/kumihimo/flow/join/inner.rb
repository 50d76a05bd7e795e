# frozen_string_literal: true

module Kumihimo
  module Flow
    # The inner join by equal keys with both tables in memory: the loop that most joins are. A table maps a key to its element, or
    # to a Bucket of several. When an input has ended, the other's table is let go and nothing is put into it any more.
    class InnerJoin
      # Elements with the same key; and one that is nil or false, which a table cannot hold bare.
      class Bucket < Array; end

      def initialize(join, keys, maker)
        @left_key, @right_key = keys
        @maker = maker
        @left = {}
        @right = {}
        @over = [false, false]
        @nils = join.nils?
        @left_unique = %i[left both].include?(join.unique)
        @right_unique = %i[right both].include?(join.unique)
      end

      def left(batch, out)
        key = @left_key
        maker = @maker
        own = @over[1] ? nil : @left
        others = @right
        nils = @nils
        unique = @left_unique || @right_unique
        batch.each do |element|
          value = key.call(element)
          next if value.nil? && !nils
          match = others[value]
          if match
            if Bucket === match
              match.each { |other| out << (maker ? maker.call(element, other) : [element, other]) }
            else
              out << (maker ? maker.call(element, match) : [element, match])
            end
            if unique
              others.delete(value) if @left_unique
              next if @right_unique
            end
          end
          next unless own
          held = own[value]
          if held
            raise UniqueError, "unique: #{value.inspect} came twice in the left input" if @left_unique
            Bucket === held ? held << element : own[value] = Bucket[held, element]
          else
            own[value] = element || Bucket[element]
          end
        end
      end

      def right(batch, out)
        key = @right_key
        maker = @maker
        own = @over[0] ? nil : @right
        others = @left
        nils = @nils
        unique = @left_unique || @right_unique
        batch.each do |element|
          value = key.call(element)
          next if value.nil? && !nils
          match = others[value]
          if match
            if Bucket === match
              match.each { |other| out << (maker ? maker.call(other, element) : [other, element]) }
            else
              out << (maker ? maker.call(match, element) : [match, element])
            end
            if unique
              others.delete(value) if @right_unique
              next if @left_unique
            end
          end
          next unless own
          held = own[value]
          if held
            raise UniqueError, "unique: #{value.inspect} came twice in the right input" if @right_unique
            Bucket === held ? held << element : own[value] = Bucket[held, element]
          else
            own[value] = element || Bucket[element]
          end
        end
      end

      def ended(index, _out)
        @over[index] = true
        index.zero? ? @right = {} : @left = {}
      end

      # The table of an input that has ended is empty: whatever comes of the other meets nothing.
      def complete? = (@over[0] && @left.empty?) || (@over[1] && @right.empty?)

      def drain(_out, _max) = false
      def stop; end
    end
  end
end
