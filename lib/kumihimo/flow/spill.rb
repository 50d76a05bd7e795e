# frozen_string_literal: true

module Kumihimo
  module Operators
    # The temporary file of one reading of an operator: blocks of elements, appended, read by place. It has no name from the
    # moment it is open, so it is gone with the process or when it is closed or collected, whatever happens.
    #
    # Elements are written by the codec. Where that is Marshal a class may do better for elements of its own: `__pack_elements`
    # makes Strings of them (nil: not of these), `__unpack_elements` makes them of those.
    class Spill
      # Elements to a block.
      BLOCK = 128

      def initialize(codec)
        @codec = codec
        @classes = [] # whose elements were packed, by the number in their blocks
        @end = 0
      end

      # The place of a block of as many elements as numbers that go with them.
      def write(numbers, elements)
        bytes = encode(numbers, elements)
        begin
          open unless @file
          written = 0
          while written < bytes.bytesize
            written += @file.pwrite(written.zero? ? bytes : bytes.byteslice(written..), @end + written)
          end
        rescue SystemCallError => error
          raise Flow::SpillError, "cannot write #{bytes.bytesize} bytes to a temporary file in #{Spill.folder} (TMPDIR): #{error.message}"
        end
        place = [@end, bytes.bytesize, elements.size]
        @end += bytes.bytesize
        place
      end

      # [numbers, elements] of a place.
      def read(place)
        numbers, elements, packed = @codec.load(@file.pread(place[1], place[0]))
        elements = @classes[packed].__unpack_elements(elements) if packed
        return [numbers, elements] if [numbers, elements].all? { |part| part.is_a?(Array) && part.size == place[2] }
        raise TypeError, "the codec loads something else than it has dumped"
      rescue StandardError => error
        raise Flow::SpillError, "cannot read back what was written to a temporary file: #{error.message} (#{error.class})"
      end

      def close
        @file&.close
        @file = nil
      end

      # Whether what is being dumped is for such a file: then an element may write what it would not give to others.
      def self.writing? = Thread.current[:__kumihimo_spill]

      def self.writing
        before = Thread.current[:__kumihimo_spill]
        Thread.current[:__kumihimo_spill] = true
        yield
      ensure
        Thread.current[:__kumihimo_spill] = before
      end

      def self.folder = ENV["TMPDIR"].to_s.empty? ? "/tmp" : ENV["TMPDIR"]

      private

      def encode(numbers, elements)
        type = elements.first.class
        if @codec.equal?(Marshal) && type.respond_to?(:__pack_elements) && (rows = type.__pack_elements(elements))
          number = @classes.index(type) || (@classes << type).size - 1
          return Marshal.dump([numbers, rows, number])
        end
        bytes = Spill.writing { @codec.dump([numbers, elements]) }
        bytes.is_a?(String) ? bytes : raise(TypeError, "the codec dumps a #{bytes.class}, not a String")
      rescue StandardError => error
        raise Flow::SpillError, "cannot write #{elements.first.class} elements to a temporary file: #{error.message} " \
                          "(raise the memory bound, or give a codec: that dumps and loads them)"
      end

      def open
        path = File.join(Spill.folder, "kumihimo-#{Process.pid}-#{object_id}-#{rand(1 << 48).to_s(36)}")
        @file = File.open(path, File::RDWR | File::CREAT | File::EXCL | File::BINARY, 0o600)
        File.unlink(path)
      end
    end

    # A list of elements in a spill file, each with a number. Written at the end, read in order.
    class Shelf
      attr_reader :count

      def initialize(spill)
        @spill = spill
        @places = []
        @numbers = []
        @elements = []
        @count = 0
      end

      def add(number, element)
        @numbers << number
        @elements << element
        @count += 1
        flush if @elements.size >= Spill::BLOCK
      end

      # After a table has been written: a block that is not full is not kept in memory.
      def flush
        return if @elements.empty?
        @places << @spill.write(@numbers, @elements)
        @numbers = []
        @elements = []
      end

      def empty? = @count.zero?

      # Numbers and elements of the block with that index; nil after the last.
      def block(index)
        flush
        place = @places[index]
        place && @spill.read(place)
      end

      def each
        index = 0
        while (numbers, elements = block(index))
          elements.each_with_index { |element, at| yield numbers[at], element }
          index += 1
        end
      end

      def clear
        @places = []
        @numbers = []
        @elements = []
        @count = 0
      end
    end

    # Partitions by the hash of a key. `depth` tells partitions of a partition apart from those it was cut from.
    module Partition
      COUNT = 16
      # Beyond this many cuts a partition is one key, or nearly so.
      DEEPEST = 6

      def self.of(key, depth = 0)
        hash = depth.zero? ? key.hash : [key, depth].hash
        (hash ^ (hash >> 17)) & (COUNT - 1)
      end
    end
  end
end
