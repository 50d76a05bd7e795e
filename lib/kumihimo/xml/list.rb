# frozen_string_literal: true

module Kumihimo
  # A list of a tree: its elements arrive while it is read, in the order of the document, and each reading begins at the first.
  #
  # A list that was got (`info.houses`) is kept by its tree and can be read again, by several readers at their own pace. One
  # that was removed (`info.remove_houses`), or is read by `remove_each`, lets go of the elements as they are passed: readings
  # that began before the first was passed get all, a later one raises XTree::RemovedError.
  class XList
    include Flow

    class << self
      undef_method :new

      # The list of a native one, of elements of the class `field` or as that field says; `closing`: who leaves a reading wants no more of
      # the document.
      def __wrap(core, field, closing = false, place = nil)
        list = allocate
        nested = field.is_a?(Class) ? field : field.nested
        texts = nested ? nil : XML::Build::Texts.new(field, __xlist_source(core), place)
        list.__send__(:__set, core, texts, nested, closing)
        list
      end
    end

    # Each element, waiting for it.
    def each(&block)
      return to_enum(:each) { size } unless block
      __each(__cursor(false), &block)
    end
    alias each_entry each

    # As each; cuts the list: what is passed is let go of (the paper's removeIterator).
    def remove_each(&block)
      return to_enum(:remove_each) unless block
      __each(__cursor(true), &block)
    end

    # A reader of its own, for `next` and `peek`; with `remove: true` it cuts the list.
    def reader(remove: false) = Reader.new(__cursor(remove), @__texts, @__closing)

    # What operators read by (see Flow::Reader).
    def flow_reader = reader

    # The number of elements once all have arrived; nil before, and for a list that was cut. `count` reads it all.
    def size = __xlist_size(@__core)

    # Waits for the first element, or the end.
    def empty?
      return !__xcursor_peek(__kept) if cut?
      cursor = __xcursor(@__core, false, @__class)
      found = __xcursor_peek(cursor)
      # It may have been cut meanwhile.
      __xcursor_close(cursor) unless cut? && XML::Build.synchronize { @__kept ? false : @__kept = cursor }
      !found
    end

    # Whether the list lets go of what is passed.
    def cut? = __xlist_cut(@__core)

    def ==(other) = equal?(other) || (other.is_a?(XList) && __xlist_same(@__core, other.__core))
    alias eql? ==
    def hash = __xlist_identity(@__core).hash

    def inspect = "#<#{self.class} of #{(@__texts ? @__texts.type : @__class).inspect}#{', cut' if cut?}>"
    alias to_s inspect

    def marshal_dump
      raise TypeError, "can't dump #{self.class}: its elements are read on demand; dump what you need of it (to_a)"
    end

    # For natives.
    def __core = @__core

    private

    def __set(core, texts, klass, closing)
      @__core = core
      @__texts = texts
      @__class = klass
      @__closing = closing
      @__kept = nil
    end

    # Of a list that was cut, a reading that has passed nothing: who asks whether it is empty looks at what comes first, and a
    # reading that began later would find that gone.
    def __kept = XML::Build.synchronize { @__kept ||= __xcursor(@__core, false, @__class) }

    # A reading of one's own: of two that begin at once one gets what was kept.
    def __cursor(remove)
      kept = @__kept && XML::Build.synchronize do
        cursor, @__kept = @__kept, nil
        cursor
      end
      kept || __xcursor(@__core, remove, @__class)
    end

    def __each(cursor)
      if @__texts
        at = 0
        while (element = __xcursor_next(cursor))
          yield @__texts.convert(element, at += 1, cursor)
        end
      else
        while (element = __xcursor_next(cursor))
          yield element
        end
      end
      self
    ensure
      __xcursor_close(cursor)
      __xdoc_close(@__core) if @__closing
    end

    # A reading from outside: `next` until StopIteration. Belongs to one task at a time. It does not hold the list: what it has
    # passed stays only for those who have the list or its tree.
    class Reader
      include Flow::Reader

      # The operation of `__xtry` that takes a batch.
      BATCH = 2
      private_constant :BATCH

      def initialize(cursor, texts, closing)
        @cursor = cursor
        @texts = texts
        @closing = closing
        @passed = 0     # texts converted, or tried
        @ahead = []     # elements not yet given
        @raw = []       # texts behind them that were taken and are not converted yet
        @failure = nil  # what the text between the two could not be
        @closed = false
      end

      # The next element.
      def next
        peek
        @ahead.shift
      end

      # The next element, which stays the next.
      def peek
        return @ahead.first unless @ahead.empty?
        fail_if_held
        element = @raw.empty? && !@closed ? __xcursor_next(@cursor) : @raw.shift
        raise StopIteration, "iteration reached an end" if element.nil?
        @ahead << (@texts ? convert(element) : element)
        @ahead.first
      end

      # Elements that are there without waiting, at most so many; [] when none is there now, nil at the end.
      def take_batch(max)
        if @ahead.empty?
          fail_if_held
          return nil if @closed
          if @raw.empty?
            batch = read(max)
            return batch if @texts.nil? || batch.nil? || batch.empty?
            @raw = batch
          end
          convert_ahead(max)
        end
        @ahead.shift(max)
      end

      # For Flow.wait.
      def wait_handle
        return nil if @closed || @failure || !@ahead.empty? || !@raw.empty?
        @demand ? @demand.bell : @cursor
      end

      def others_ended(count) = @closed ? nil : __xcursor_ended(@cursor, count)

      # The rest is not wanted.
      def close
        return if @closed
        @closed = true
        @ahead.clear
        @raw.clear
        @failure = nil
        @demand&.close
        __xcursor_close(@cursor)
        __xdoc_close(@cursor) if @closing
        nil
      end
      def closed? = @closed

      # For natives.
      def __core = @cursor

      def inspect = "#<#{self.class}#{' closed' if @closed}>"

      private

      # What is there. Undefined: an object of the program's must be asked for more, and it may wait.
      def read(max)
        batch = __xtry(BATCH, nil, @cursor, max)
        return batch unless __undef?(batch)
        unless @demand
          @demand = XML::Demand.new(@cursor)
          ObjectSpace.define_finalizer(self, XML::Demand.closer(@demand))
        end
        @demand.make
        []
      end

      def convert(text) = @texts.convert(text, @passed += 1, @cursor, @raw.size)

      # What stands before a text that is no value of the type comes before the error.
      def convert_ahead(max)
        @ahead << convert(@raw.shift) until @raw.empty? || @ahead.size >= max
      rescue StandardError => error
        raise if @ahead.empty?
        @failure = error
      end

      def fail_if_held
        return unless @failure
        failure, @failure = @failure, nil
        raise failure
      end
    end
  end
end
