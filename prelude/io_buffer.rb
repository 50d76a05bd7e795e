# IO::Buffer: bytes outside the heap, from the allocator, of a file, or of a String.
#
# A buffer is a window (@__at, @__size) on @__memory: a region, or the String it stands for. A slice names the buffer it was
# cut from (@__source) and is valid as long as that one still shows the same memory.
class IO
  class Buffer
    include Comparable

    class LockedError < RuntimeError; end
    class AllocationError < RuntimeError; end
    class AccessError < RuntimeError; end
    class InvalidatedError < RuntimeError; end
    class MaskError < ArgumentError; end

    PAGE_SIZE = 4096
    DEFAULT_SIZE = 65536
    EXTERNAL = 1
    INTERNAL = 2
    MAPPED = 4
    SHARED = 8
    LOCKED = 32
    PRIVATE = 64
    READONLY = 128
    FILE = 256
    LITTLE_ENDIAN = 4
    BIG_ENDIAN = 8
    HOST_ENDIAN = [1].pack("S") == "\1\0" ? LITTLE_ENDIAN : BIG_ENDIAN
    NETWORK_ENDIAN = BIG_ENDIAN

    # Bytes and pack directive by name of a type; capitals are big-endian.
    TYPES__ = {
      U8: [1, "C"], S8: [1, "c"],
      u16: [2, "S<"], U16: [2, "S>"], s16: [2, "s<"], S16: [2, "s>"],
      u32: [4, "L<"], U32: [4, "L>"], s32: [4, "l<"], S32: [4, "l>"],
      u64: [8, "Q<"], U64: [8, "Q>"], s64: [8, "q<"], S64: [8, "q>"],
      f32: [4, "e"], F32: [4, "g"], f64: [8, "E"], F64: [8, "G"]
    }.freeze
    private_constant :TYPES__

    def self.for(string)
      string = KumiSys.to_str(string)
      unless block_given?
        copy = string.frozen? ? string : string.dup.freeze
        return allocate.__send__(:__show, copy, 0, copy.bytesize, EXTERNAL | READONLY, nil)
      end
      buffer = allocate.__send__(:__show, string, 0, string.bytesize, string.frozen? ? EXTERNAL | READONLY : EXTERNAL, nil)
      begin
        yield buffer
      ensure
        buffer.__send__(:__forget)
      end
    end

    def self.string(size)
      size = KumiSys.to_long(size)
      raise RangeError, "bignum too big to convert into 'long'" if size.bit_length > 63
      raise ArgumentError, "negative string size (or size too big)" if size < 0
      raise LocalJumpError, "no block given" unless block_given?
      text = ("\0" * size).b
      buffer = allocate.__send__(:__show, text, 0, size, EXTERNAL, nil)
      begin
        yield buffer
      ensure
        buffer.__send__(:__forget)
      end
      text
    end

    def self.map(file, size = nil, offset = 0, flags = 0)
      whole = file.size
      unless __same(size, nil)
        size = KumiSys.buffer_size(size)
        raise ArgumentError, "Size can't be zero!" if size == 0
      end
      offset = KumiSys.to_long(offset)
      raise ArgumentError, "Offset can't be negative!" if offset < 0
      raise ArgumentError, "Invalid negative or zero file size!" if whole <= 0
      if __same(size, nil)
        raise ArgumentError, "Offset too large!" if offset >= whole
        size = whole - offset
      else
        raise ArgumentError, "Size can't be larger than file size!" if size > whole
        raise ArgumentError, "Offset too large!" if offset > whole - size
      end
      memory = __region_map(KumiSys.to_io(file), size, offset, flags & READONLY != 0, flags & PRIVATE != 0)
      kind = MAPPED | FILE | (flags & (READONLY | PRIVATE))
      kind |= EXTERNAL | SHARED if flags & PRIVATE == 0
      allocate.__send__(:__show, memory, 0, size, kind, nil)
    end

    def self.size_of(type)
      return KumiSys.buffer_type(type)[0] unless __is_a(type, Array)
      type.sum { |t| KumiSys.buffer_type(t)[0] }
    end

    def initialize(size = DEFAULT_SIZE, flags = __undef)
      size = KumiSys.buffer_size(size)
      if __undef?(flags)
        flags = size >= PAGE_SIZE ? MAPPED : INTERNAL
      else
        raise TypeError, "not an Integer" unless __is_a(flags, Integer)
        raise ArgumentError, "Flags can't be negative!" if flags < 0
      end
      __make(size, flags)
    end

    def initialize_copy(other)
      other.__send__(:__readable)
      text = other.get_string
      __make(text.bytesize, text.bytesize >= PAGE_SIZE ? MAPPED : INTERNAL)
      __put(0, text)
    end

    def size = @__size
    def null? = __same(@__memory, nil)
    def empty? = @__size == 0
    def internal? = @__flags & INTERNAL != 0
    def mapped? = @__flags & MAPPED != 0
    def shared? = @__flags & SHARED != 0
    def private? = @__flags & PRIVATE != 0
    def locked? = @__locked
    def readonly? = @__flags & READONLY != 0
    def external? = @__flags & EXTERNAL != 0

    def valid?
      source = @__source
      return true unless source
      return true if __is_a(@__memory, String) && @__at + @__size <= @__memory.bytesize
      memory, at, size = source.__send__(:__window)
      __same(memory, @__memory) && @__at >= at && @__at + @__size <= at + size && source.valid?
    end

    def free
      raise LockedError, "Buffer is locked!" if @__locked
      __forget
      self
    end

    def transfer
      raise LockedError, "Cannot transfer ownership of locked buffer!" if @__locked
      other = self.class.allocate.__send__(:__show, @__memory, @__at, @__size, @__flags, @__source)
      __forget
      other
    end

    def resize(size)
      size = KumiSys.buffer_size(size)
      raise LockedError, "Cannot resize locked buffer!" if @__locked
      return __make(size, size >= PAGE_SIZE ? MAPPED : INTERNAL) && self if null?
      raise AccessError, "Cannot resize external buffer!" if external?
      if size == 0
        __forget
        return self
      end
      kept = get_string(0, size < @__size ? size : @__size)
      memory = __region_new(size, mapped?) or raise AllocationError, "Could not allocate buffer!"
      __region_set(memory, 0, kept.bytesize, kept)
      __show(memory, 0, size, @__flags & ~FILE, nil)
    end

    def locked
      raise LockedError, "Buffer already locked!" if @__locked
      @__locked = true
      begin
        yield
      ensure
        @__locked = false
      end
    end

    def slice(offset = 0, length = __undef)
      offset, length = __span(offset, length)
      return self.class.new(0) if null?
      __readable
      flags = @__flags & (READONLY | PRIVATE | SHARED)
      self.class.allocate.__send__(:__show, @__memory, @__at + offset, length, flags, self)
    end

    def <=>(other)
      KumiSys.buffer!(other)
      return @__size <=> other.size if @__size != other.size
      get_string <=> other.get_string
    end

    def hexdump(offset = 0, length = __undef, width = 16)
      offset, length = __span(offset, length)
      raise ArgumentError, "Width must be at least 8!" if width < 8
      bytes = get_string(offset, length)
      out = +""
      at = 0
      while at < bytes.bytesize
        row = bytes.byteslice(at, width)
        cells = row.bytes.map { |b| format(" %02x", b) }.join.ljust(width * 3)
        out << "\n" unless at == 0
        out << format("0x%08x ", offset + at) << cells << " " << row.bytes.map { |b| b.between?(32, 126) ? b.chr : "." }.join
        at += width
      end
      out
    end

    def to_s
      text = +"#<#{self.class} 0x#{format("%016x", __buffer_address)}+#{@__size}"
      text << " NULL" if null?
      text << " EXTERNAL" if external?
      text << " INTERNAL" if internal?
      text << " MAPPED" if mapped?
      text << " FILE" if @__flags & FILE != 0
      text << " SHARED" if shared?
      text << " LOCKED" if @__locked
      text << " PRIVATE" if private?
      text << " READONLY" if readonly?
      text << " SLICE" if @__source
      text << ">"
    end

    def inspect
      return to_s if null? || !valid?
      text = to_s
      text << "\n" << hexdump(0, @__size < 256 ? @__size : 256) if @__size > 0
      text << "\n(and #{@__size - 256} more bytes not printed)" if @__size > 256
      text
    end

    def get_string(offset = 0, length = __undef, encoding = nil)
      offset, length = __span(offset, length)
      __readable
      text = __take(offset, length)
      encoding ? text.force_encoding(encoding) : text
    end

    def set_string(string, offset = 0, length = __undef, source_offset = 0)
      __copy_in(KumiSys.to_str(string).b, offset, length, source_offset)
    end

    def copy(source, offset = 0, length = __undef, source_offset = 0)
      KumiSys.buffer!(source)
      __copy_in(source.get_string, offset, length, source_offset)
    end

    def clear(value = 0, offset = 0, length = __undef)
      offset, length = __span(offset, length)
      __writable
      if __is_a(@__memory, String)
        __put(offset, value.chr.b * length)
      else
        __region_clear(@__memory, @__at + offset, length, value & 255)
      end
      self
    end

    def get_value(type, offset)
      bytes, directive = KumiSys.buffer_type(type)
      offset = KumiSys.buffer_offset(offset)
      __fits(offset, bytes)
      __readable
      __take(offset, bytes).unpack1(directive)
    end

    def get_values(types, offset)
      raise ArgumentError, "Argument buffer_types should be an array!" unless __is_a(types, Array)
      offset = KumiSys.buffer_offset(offset)
      types.map do |type|
        v = get_value(type, offset)
        offset += KumiSys.buffer_type(type)[0]
        v
      end
    end

    def set_value(type, offset, value)
      bytes, directive = KumiSys.buffer_type(type)
      offset = KumiSys.buffer_offset(offset)
      __fits(offset, bytes)
      __writable
      __put(offset, [value].pack(directive))
      offset + bytes
    end

    def set_values(types, offset, values)
      raise ArgumentError, "Argument buffer_types should be an array!" unless __is_a(types, Array)
      raise ArgumentError, "Argument values should be an array!" unless __is_a(values, Array)
      raise ArgumentError, "Argument buffer_types and values should have equal length!" unless types.size == values.size
      offset = KumiSys.buffer_offset(offset)
      types.each_with_index { |type, i| offset = set_value(type, offset, values[i]) }
      offset
    end

    def each(type, offset = 0, count = __undef)
      return enum_for(:each, type, offset, __undef?(count) ? nil : count) unless block_given?
      __each_value(type, offset, count) { |at, value| yield at, value }
      self
    end

    def values(type, offset = 0, count = __undef)
      out = []
      __each_value(type, offset, count) { |_, value| out << value }
      out
    end

    def each_byte(offset = 0, count = __undef)
      return enum_for(:each_byte, offset, __undef?(count) ? nil : count) unless block_given?
      __each_value(:U8, offset, count) { |_, value| yield value }
      self
    end

    def &(mask) = __masked(mask, 0)
    def |(mask) = __masked(mask, 1)
    def ^(mask) = __masked(mask, 2)
    def ~ = self.class.new(@__size).tap { |b| b.set_string(__bytes_mask(get_string, "", 3)) unless empty? }

    def and!(mask) = __mask!(mask, 0)
    def or!(mask) = __mask!(mask, 1)
    def xor!(mask) = __mask!(mask, 2)

    def not!
      __writable
      __put(0, __bytes_mask(get_string, "", 3))
      self
    end

    def bit_count(offset = 0, length = __undef) = __bytes_ones(get_string(offset, length))

    def read(io, length = __undef, offset = 0)
      __transfer_in(length, offset) { |n| io.readpartial(n) }
    end

    def pread(io, from, length = __undef, offset = 0)
      __transfer_in(length, offset) { |n, done| io.pread(n, from + done) }
    end

    def write(io, length = __undef, offset = 0)
      __transfer_out(length, offset) { |text| io.syswrite(text) }
    end

    def pwrite(io, from, length = __undef, offset = 0)
      __transfer_out(length, offset) { |text, done| io.pwrite(text, from + done) }
    end

    private

    def __show(memory, at, size, flags, source)
      @__memory = memory
      @__at = at
      @__size = size
      @__flags = flags
      @__source = source
      @__locked = false
      self
    end

    def __window = [@__memory, @__at, @__size]
    def __forget = __show(nil, 0, 0, 0, nil)

    def __make(size, flags)
      return __forget if size == 0
      raise AllocationError, "Could not allocate buffer!" if flags & (MAPPED | INTERNAL) == 0
      memory = __region_new(size, flags & MAPPED != 0) or raise AllocationError, "Could not allocate buffer!"
      __show(memory, 0, size, flags & (INTERNAL | MAPPED | SHARED | PRIVATE | READONLY), nil)
    end

    def __buffer_address
      return 0 if null?
      (__is_a(@__memory, String) ? @__memory.__id__ * 8 : __region_address(@__memory)) + @__at
    end

    def __readable
      raise InvalidatedError, "Buffer has been invalidated!" unless valid?
      raise AllocationError, "The buffer is not allocated!" if null?
    end

    def __writable
      raise AccessError, "Buffer is not writable!" if readonly?
      __readable
      raise AccessError, "Buffer is not writable!" if __is_a(@__memory, String) && @__memory.frozen?
    end

    # Offset and length as given, or to the end.
    def __span(offset, length)
      offset = KumiSys.buffer_offset(offset)
      if __undef?(length) || __same(length, nil)
        raise ArgumentError, "The given offset is bigger than the buffer size!" if offset > @__size
        return [offset, @__size - offset]
      end
      raise TypeError, "not an Integer" unless __is_a(length, Integer)
      raise ArgumentError, "Length can't be negative!" if length < 0
      __fits(offset, length)
      [offset, length]
    end

    def __fits(offset, length)
      raise ArgumentError, "Specified offset+length is bigger than the buffer size!" if offset + length > @__size
    end

    def __take(offset, length)
      memory = @__memory
      return __region_get(memory, @__at + offset, length) unless __is_a(memory, String)
      memory.byteslice(@__at + offset, length).b
    end

    def __put(offset, text)
      memory = @__memory
      return __region_set(memory, @__at + offset, text.bytesize, text) unless __is_a(memory, String)
      memory.bytesplice(@__at + offset, text.bytesize, text.dup.force_encoding(memory.encoding)) if memory.valid_encoding? && memory.ascii_only? && text.ascii_only?
      __put_bytes(memory, @__at + offset, text) unless memory.byteslice(@__at + offset, text.bytesize).b == text
    end

    def __put_bytes(memory, at, text)
      i = 0
      while i < text.bytesize
        memory.setbyte(at + i, text.getbyte(i))
        i += 1
      end
    end

    def __copy_in(text, offset, length, source_offset)
      __writable
      offset = KumiSys.buffer_offset(offset)
      source_offset = KumiSys.buffer_offset(source_offset)
      raise ArgumentError, "The given source offset is bigger than the buffer size!" if source_offset > text.bytesize
      length = text.bytesize - source_offset if __undef?(length) || __same(length, nil)
      raise ArgumentError, "Length can't be negative!" if length < 0
      __fits(offset, length)
      __put(offset, text.byteslice(source_offset, length))
      length
    end

    def __each_value(type, offset, count)
      bytes, = KumiSys.buffer_type(type)
      offset = KumiSys.buffer_offset(offset)
      if __undef?(count) || __same(count, nil)
        raise ArgumentError, "The given offset is bigger than the buffer size!" if offset > @__size
        count = (@__size - offset) / bytes
      end
      raise ArgumentError, "Count can't be negative!" if count < 0
      while count > 0
        yield offset, get_value(type, offset)
        offset += bytes
        count -= 1
      end
    end

    def __masked(mask, operation)
      KumiSys.buffer!(mask)
      raise MaskError, "Zero-length mask given!" if mask.empty?
      text = __bytes_mask(get_string, mask.get_string, operation)
      result = self.class.new(@__size)
      result.set_string(text) unless text.empty?
      result
    end

    def __mask!(mask, operation)
      KumiSys.buffer!(mask)
      raise MaskError, "Zero-length mask given!" if mask.empty?
      __writable
      __put(0, __bytes_mask(get_string, mask.get_string, operation))
      self
    end

    # Reads at least `length` bytes (0: once) and as many as fit.
    def __transfer_in(length, offset)
      offset, room = __span(offset, __undef)
      length = room if __undef?(length) || __same(length, nil)
      raise ArgumentError, "Length can't be negative!" if length < 0
      __fits(offset, length)
      __writable
      done = 0
      begin
        text = yield (length == 0 ? room : length) - done, done
        __put(offset + done, text)
        done += text.bytesize
      end while done < length && !text.empty?
      done
    rescue EOFError
      done || 0
    end

    def __transfer_out(length, offset)
      offset, room = __span(offset, __undef)
      length = room if __undef?(length) || __same(length, nil)
      raise ArgumentError, "Length can't be negative!" if length < 0
      __fits(offset, length)
      text = get_string(offset, length)
      done = 0
      done += yield(text.byteslice(done, length - done), done) while done < length
      done
    end
  end
end

module KumiSys
  def self.buffer!(x)
    return if __is_a(x, IO::Buffer)
    type = x.nil? || __same(x, true) || __same(x, false) ? x.inspect : __describe_class(x)
    raise TypeError, "wrong argument type #{type} (expected IO::Buffer)"
  end

  def self.buffer_size(size)
    raise TypeError, "not an Integer" unless __is_a(size, Integer)
    raise ArgumentError, "Size can't be negative!" if size < 0
    size
  end

  def self.buffer_offset(offset)
    raise TypeError, "not an Integer" unless __is_a(offset, Integer)
    raise ArgumentError, "Offset can't be negative!" if offset < 0
    offset
  end

  def self.buffer_type(type)
    IO::Buffer.__send__(:const_get, :TYPES__)[type] or raise ArgumentError, "Invalid type name!"
  end
end
