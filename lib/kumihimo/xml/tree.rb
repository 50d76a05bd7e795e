# frozen_string_literal: true

module Kumihimo
  # An element of a document, with the fields that its class declares. Read-only.
  #
  #   class House < Kumihimo::XTree
  #     field :price, Integer
  #     field :addr
  #     field :id, attribute: "id"
  #     list  :rooms, Room, element: "room"
  #   end
  #
  # `price` reads a field, waiting for it if it has not arrived; `remove_price` gives the value and takes it out of the tree.
  # Instances come only from documents. A value is converted when it is first read.
  class XTree
    # A part that was removed from its tree is read again.
    class RemovedError < StandardError; end

    class << self
      # A field: the text of a child element of that name, or of what element:, attribute:, text: or content: say; of: names
      # an enclosing element that has it. It must be there, once, unless optional: or default: say otherwise. The block gets
      # the value (for a String the text) and gives another.
      def field(name, type = String, **options, &block) = __add(XML::Field.new(self, name, type, false, options, block))

      # A list of child elements: of a class, or of texts of a type.
      def list(name, type = String, **options, &block) = __add(XML::Field.new(self, name, type, true, options, block))

      # The namespace of this class's elements (not of its attributes), or namespaces with their prefixes. Without, names match in
      # any namespace.
      def namespace(uri = nil, **prefixes)
        raise ArgumentError, "namespace takes a namespace's name, or prefixes with theirs" unless (uri.nil? ? !prefixes.empty? : uri.is_a?(String)) && prefixes.each_value.all?(String)
        __open("namespace")
        uri &&= __name(uri, "namespace")
        prefixes = prefixes.transform_values { |given| __name(given, "namespace") }
        @__namespaces = __namespaces.merge(prefixes)
        @__namespaces = @__namespaces.merge(nil => uri) if uri
        @__namespaces.freeze
        nil
      end

      # What the element is called, where it is a document's root.
      def element(name = nil)
        return @__element || (superclass.element if superclass < XTree) if name.nil?
        raise TypeError, "element takes a name, not #{name.inspect}" unless name.is_a?(String) || name.is_a?(Symbol)
        __open("element")
        @__element = __name(name, "element")
      end

      # The fields and lists, those of superclasses first.
      def fields = @__fields ||= (self == XTree ? [].freeze : superclass.fields)

      def inherited(subclass)
        super
        subclass.__send__(:__inherit)
      end

      def __namespaces = @__namespaces || (self == XTree ? {}.freeze : superclass.__namespaces)

      # The schema of documents with this root, or of the elements that a path names.
      def __schema(path = nil)
        schemas = (@__schemas ||= {})
        schemas[path] || XML::Build.synchronize { schemas[path] ||= XML::Build.schema(self, path) }
      end

      # Whether elements have no lists, nested ones neither: then they are equal when their fields are. Asked of closed classes.
      def __value?
        return @__value unless @__value.nil?
        classes = [self]
        at = 0
        while (klass = classes[at])
          return @__value = false if klass.fields.any?(&:list?)
          classes |= klass.fields.filter_map(&:nested)
          at += 1
        end
        @__value = true
      end

      # No more fields: somebody reads with them.
      def __close = @__closed = true

      # The methods of the class's own, which can be redefined and called by super.
      def __accessors
        @__accessors ||= Module.new.tap { |accessors| include accessors }
      end

      def _load(dump) = XML::Build.load(self, dump)

      # Elements as Strings and back, for flows that put many on disk (see Operators::Spill). nil when one of them is of another
      # class, has lists, or lacks something that was removed.
      def __pack_elements(elements) = XML::Build.pack(self, elements)
      def __unpack_elements(rows) = XML::Build.unpack(self, rows)

      private

      def __inherit
        @__fields = superclass.fields
        superclass.__send__(:__subclassed)
      end

      def __subclassed = @__subclassed = true

      def __name(given, what)
        XML::Build.utf8(given) or raise ArgumentError, "#{self.name || 'XTree'}: #{what} #{given.inspect} cannot be a name, it is not valid UTF-8", caller_locations(2)
      end

      def __open(what)
        raise ArgumentError, "#{name || 'XTree'}: #{what} comes too late, documents are read with this class already: declare everything in its body" if @__closed
      end

      def __add(field)
        raise ArgumentError, "fields are declared in a subclass: class House < Kumihimo::XTree" if self == XTree
        __open("field :#{field.name}")
        raise ArgumentError, "#{name || 'XTree'}: field :#{field.name} comes too late, there are subclasses already" if @__subclassed
        fields = self.fields
        slot = fields.index { |other| other.name == field.name }
        inherited = superclass.fields
        if slot && !(slot < inherited.size && inherited[slot].equal?(fields[slot]))
          raise ArgumentError, "#{name || 'XTree'}, field :#{field.name}: it is declared already"
        end
        clash = fields.find { |other| other.name == :"remove_#{field.name}" || field.name == :"remove_#{other.name}" }
        raise ArgumentError, "#{name || 'XTree'}, field :#{field.name}: the field :#{clash.name} has a method of that name" if clash
        raise ArgumentError, "#{name || 'XTree'} has more than 4000 fields" if fields.size >= 4000
        slot ||= fields.size
        @__fields = [*fields.first(slot), field, *fields.drop(slot + 1)].freeze
        accessors = __accessors
        __xtree_accessor(accessors, field.name, slot, field.kind, false)
        __xtree_accessor(accessors, :"remove_#{field.name}", slot, field.kind, true)
        if field.boolean?
          accessors.alias_method :"#{field.name}?", field.name
        else
          accessors.remove_method :"#{field.name}?" if accessors.method_defined?(:"#{field.name}?", false)
        end
        field.name
      end

      # Called by natives: a value that they don't make.
      def __decode(tree, slot)
        field = fields[slot]
        text = __xtree_text(tree, slot)
        value = text.nil? ? field.default : XML::Build.convert(field, text, tree, slot)
        __xtree_fill(tree, slot, value)
        value
      end

      # As above, for remove_x: the value is read first, so that one that doesn't convert stays.
      def __decode_removed(tree, slot)
        value = __decode(tree, slot)
        __xtree_drop(tree, slot)
        value
      end

      def __list(core, slot, tree)
        field = fields[slot]
        XList.__wrap(core, field, false, field.nested ? nil : XML::Build.place(tree))
      end
    end
    undef_method :dup, :clone
    private_class_method :new, :allocate

    # Line and column of the element's start tag, from 1. Waits for it.
    def position = __xtree_where(self).first(2)

    # Where it stands: "/info/house[3]"; the number counts the elements of its list.
    def path = XML::Build.path(self)

    # The fields as a Hash; lists are XLists. Waits for all fields.
    def to_h
      hash = {}
      self.class.fields.each do |field|
        value = __send__(field.name)
        if block_given?
          pair = yield(field.name, value)
          raise TypeError, "wrong element type #{pair.class} (expected array)" unless pair.is_a?(Array)
          raise ArgumentError, "element has wrong array length (expected 2, was #{pair.size})" unless pair.size == 2
          hash[pair[0]] = pair[1]
        else
          hash[field.name] = value
        end
      end
      hash
    end

    # `in {price: Integer => price, addr:}` reads only those fields.
    def deconstruct_keys(keys)
      names = self.class.fields.map(&:name)
      raise TypeError, "wrong argument type #{keys.class} (expected Array or nil)" unless keys.nil? || keys.is_a?(Array)
      (keys ? keys & names : names).to_h { |name| [name, __send__(name)] }
    end

    # Two elements without lists are equal when they are of one class and all fields are, for which it waits; with lists, when
    # they are the same element of the same document.
    def ==(other)
      return true if equal?(other)
      return false unless other.is_a?(XTree) && other.class.equal?(self.class)
      return __xtree_same(self, other) unless self.class.__value?
      self.class.fields.all? { |field| __send__(field.name) == other.__send__(field.name) }
    end

    def eql?(other)
      return true if equal?(other)
      return false unless other.is_a?(XTree) && other.class.equal?(self.class)
      return __xtree_same(self, other) unless self.class.__value?
      self.class.fields.all? { |field| __send__(field.name).eql?(other.__send__(field.name)) }
    end

    def hash
      return __xtree_identity(self).hash unless self.class.__value?
      [self.class, *self.class.fields.map { |field| __send__(field.name) }].hash
    end

    # What has arrived; reads nothing.
    def inspect
      shown = self.class.fields.each_with_index.map { |field, slot| "#{field.name}=#{XML::Build.show(self, field, slot)}" }
      "#<#{[self.class.inspect, *shown].join(' ')}>"
    end
    alias to_s inspect

    def pretty_print(q)
      q.object_group(self) do
        q.seplist(self.class.fields.each_with_index, -> { q.text "," }) do |field, slot|
          q.breakable
          q.text "#{field.name}=#{XML::Build.show(self, field, slot)}"
        end
      end
    end

    # A whole element is dumped as it stood in the document. Flows write elements with lists too, wherever they stand in what is
    # put on disk.
    def _dump(_level)
      unless __xtree_whole(self) || (Operators::Spill.writing? && !self.class.__value?)
        raise TypeError, "can't dump #{self.class}: its parts are read on demand; dump what you need of it (to_h, with to_a for lists)"
      end
      XML::Build.dump(self)
    end
  end
end
