# frozen_string_literal: true

module Kumihimo
  module Segments
    class << self
      # The bytes in which a value travels to another node, as a binary String. A part that can't travel raises NotTransferable.
      #
      # nil, booleans, numbers, strings, symbols, times, arrays, hashes, ranges and sets travel; instances of Struct and Data classes that
      # have a name; records of streams. Nothing else does.
      def encode(value) = __seg_encode(value)

      # The value of such bytes; with `freeze` deeply frozen. They may come from anywhere: bytes that are no value, or that name
      # more than `symbols` symbols which are new here, raise Malformed. An instance of a class that is not known here is a Record.
      def decode(bytes, freeze: false, symbols: nil)
        symbols ? __seg_decode(bytes, freeze, symbols) : __seg_decode(bytes, freeze)
      end

      # Called by `__seg_encode` and `__seg_rehearse`.
      def __encode_read(value, records)
        __read_records(records)
        __seg_encode(value)
      end

      def __rehearse_read(value, records)
        __read_records(records)
        __seg_rehearse(value)
      end

      # Reads fields of records of streams that only Ruby can read.
      def __read_records(records)
        records.each do |record|
          record.class.fields.each do |field|
            record.__send__(field.name)
          rescue XTree::RemovedError
            # It stays behind.
          end
        end
      end

      # Called by natives whose result has hashes with keys that only Ruby can find, some of which are to be frozen.
      def __decode_rehash(result, open, frozen)
        open.each(&:rehash)
        frozen.each { |hash| hash.rehash.freeze }
        result
      end

      # The same of a run's inputs: who is to run it finds out what a key's `hash` raises.
      def __decode_rehash_inputs(segment, open, frozen)
        __decode_rehash(segment, open, frozen)
      rescue StandardError => error
        # It may be refused already.
        Array === segment ? segment : [segment, error]
      end

      # The same of inputs that a run holds.
      def __decode_rehash_held(inputs, open, frozen)
        __decode_rehash(inputs, open, frozen)
      rescue StandardError => error
        # Whose key it was is not known. One that can't be used is enough.
        inputs[0][7] ||= error
        inputs
      end
    end
  end
end
