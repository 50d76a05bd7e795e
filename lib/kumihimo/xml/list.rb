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
      cursor = __cursor(false)
      found = __xcursor_peek(cursor)
      __xlist_cut(@__core) ? @__kept = cursor : __xcursor_close(cursor)
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

    def __cursor(remove)
      if (cursor = @__kept)
        @__kept = nil
        return cursor
      end
      __xcursor(@__core, remove, @__class)
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

      def initialize(cursor, texts, closing)
        @cursor = cursor
        @texts = texts
        @closing = closing
        @passed = 0
        @ahead = []
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
        element = @closed ? nil : __xcursor_next(@cursor)
        raise StopIteration, "iteration reached an end" if element.nil?
        @ahead << (@texts ? @texts.convert(element, @passed += 1, @cursor) : element)
        @ahead.first
      end

      # Elements that are there without waiting, at most so many; [] when none is there now, nil at the end.
      def take_batch(max)
        return @ahead.shift(max) unless @ahead.empty?
        return nil if @closed
        batch = __xcursor_batch(@cursor, max)
        if @texts && batch
          behind = batch.size
          batch.map! { |text| @texts.convert(text, @passed += 1, @cursor, behind -= 1) }
        end
        batch
      end

      # For Flow.wait.
      def wait_handle = @closed || !@ahead.empty? ? nil : @cursor

      def others_ended(count) = @closed ? nil : __xcursor_ended(@cursor, count)

      # The rest is not wanted.
      def close
        return if @closed
        @closed = true
        @ahead.clear
        __xcursor_close(@cursor)
        __xdoc_close(@cursor) if @closing
        nil
      end
      def closed? = @closed

      # For natives.
      def __core = @cursor

      def inspect = "#<#{self.class}#{' closed' if @closed}>"
    end
  end
end
