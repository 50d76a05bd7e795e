# frozen_string_literal: true

module Kumihimo
  module XML
    # A field or list that a class declares: what XTree.fields gives.
    class Field
      PLACES = %i[element attribute text content].freeze
      OPTIONS = { field: (PLACES + %i[of namespace optional required default]).freeze, list: %i[element namespace].freeze }.freeze
      # Methods that every object needs as they are.
      RESERVED = %i[
        class object_id __id__ __send__ send public_send hash == != eql? equal? inspect to_s to_h instance_of? is_a? kind_of? nil?
        frozen? freeze dup clone respond_to? respond_to_missing? method_missing deconstruct_keys initialize instance_variable_get
        instance_variable_set instance_variables instance_eval instance_exec singleton_class extend raise
      ].freeze
      private_constant :PLACES, :OPTIONS, :RESERVED

      # Its name; the type as declared; where it stands (:element, :attribute, :text, :content); the name of that element or
      # attribute, in James Clark's notation if a namespace is meant; the path of the enclosing element, if it stands there.
      attr_reader :name, :type, :place, :tag, :of

      def initialize(owner, name, type, list, options, block)
        @owner = owner
        @name = check_name(name)
        @list = list
        check_options(options)
        @optional = options.key?(:default) || options[:optional] || options[:required] == false
        @default = options[:default]
        Ractor.make_shareable(@default) if @default.is_a?(String) || @default.is_a?(Array) || @default.is_a?(Hash)
        find_place(options)
        @type = type
        @converter = nil
        find_type(type, block)
        fail_with("every object has a method #{@name}?: take another name and say element: #{@name.to_s.inspect}") if boolean? && RESERVED.include?(:"#{@name}?")
        freeze
      end

      def list? = @list
      def optional? = @optional ? true : false
      attr_reader :default

      def boolean? = !@list && @converter && @converter.type == TrueClass

      # The class of nested elements, nil for a text. One that was named by a String is looked up now.
      def nested
        return @nested unless @later
        found = Object.const_get(@later)
        fail_with("#{@later} is no class of trees") unless found.is_a?(Class) && found <= XTree
        found
      rescue NameError => e
        raise unless e.name && @later.to_s.include?(e.name.to_s)
        fail_with("there is no class #{@later}")
      end

      # The converter of its text.
      attr_reader :converter

      # Its value in a tree, whatever the class has made of the method of that name.
      def read(tree) = @owner.__accessors.instance_method(@name).bind_call(tree)

      # How natives read it.
      def kind
        return Types::LIST if @list
        return Types::CLASS if @nested || @later
        @default.nil? ? @converter.kind : Types::OTHER
      end

      def inspect
        where = @place == :element && @tag == @name.to_s ? "" : ", #{@place}: #{@tag.inspect}"
        "#<#{@list ? 'list' : 'field'} :#{@name}, #{@type.inspect}#{where}#{", of: #{@of.inspect}" if @of}#{', optional' if @optional}>"
      end

      # For the schema: name, place, test, index of the class, cardinality.
      def to_schema(classes)
        test = tag_in(@tag, @place == :element)
        place = PLACES.index(@place)
        if @of
          # A namespace's name may hold slashes.
          steps = @of.scan(/(?:\{[^}]*\}|[^\/{])+/).map { |step| tag_in(step, true) }
          place = 4
          test = [*steps, @place == :attribute ? "@#{test}" : test].join("/")
        end
        [@name.name, place, test, nested && classes.fetch(nested), @list ? 2 : @optional ? 1 : 0]
      end

      private

      def fail_with(why)
        raise ArgumentError, "#{@owner.name || 'XTree'}, #{@list ? 'list' : 'field'} :#{@name}: #{why}", caller_locations(4)
      end

      def check_name(name)
        raise TypeError, "#{name.inspect} is no field name: give a Symbol" unless name.is_a?(Symbol) || name.is_a?(String)
        @name = name.to_sym
        fail_with("the name must be one that can be called, such as :price; say element: or attribute: for what the document calls it") unless
          @name.match?(/\A[[:alpha:]_][[:alnum:]_]*\z/)
        fail_with("every object has a method of that name: take another and say element: #{name.to_s.inspect}") if RESERVED.include?(@name)
        @name
      end

      def check_options(options)
        known = OPTIONS[@list ? :list : :field]
        options.each_key do |key|
          fail_with("unknown option #{key}: #{known.join(', ')} are known") unless known.include?(key)
        end
        given = PLACES.select { |place| options[place] }
        fail_with("it stands in one place: give only one of #{given.join(', ')}") if given.size > 1
        fail_with("required: true contradicts optional: and default:") if options[:required] && (options[:optional] || options.key?(:default))
        fail_with("of: is for element: and attribute:") if options[:of] && (options[:text] || options[:content])
      end

      def find_place(options)
        @place = PLACES.find { |place| options[place] } || :element
        tag = options[@place]
        tag = @name.name if tag.nil? || tag == true
        fail_with("#{@place}: takes a name, not #{tag.inspect}") unless tag.is_a?(String) || tag.is_a?(Symbol)
        @tag = Build.utf8(tag) or fail_with("#{@place}: #{tag.inspect} cannot be a name, it is not valid UTF-8")
        @of = options[:of] && (Build.utf8(options[:of]) or fail_with("of: #{options[:of].inspect} names nothing, it is not valid UTF-8"))
        namespace = options[:namespace]
        return if namespace.nil?
        fail_with("namespace: takes the namespace's name") unless namespace.is_a?(String)
        namespace = Build.utf8(namespace) or fail_with("namespace: #{options[:namespace].inspect} is not valid UTF-8")
        @tag = -"{#{namespace}}#{@tag}"
      end

      def find_type(type, block)
        if type.is_a?(Class) && type <= XTree
          @nested = type
        elsif type.is_a?(String)
          @later = -type
        else
          @converter = Types.converter(type)
          fail_with("#{type.inspect} is no type: take String, Integer, Float, Rational, Symbol, Date, Time, :decimal, :date, :boolean, " \
                    "a subclass of XTree (or its name as a String), or an object with call or parse") unless @converter
        end
        nested = @nested || @later
        fail_with("a list needs elements: #{@place}: holds one text") if @list && @place != :element
        fail_with("an element of a class stands in no #{@place}") if nested && (@place != :element || @of)
        fail_with("default: is for texts") if nested && !@default.nil?
        return unless block
        fail_with("a block converts a text; #{type} is a class of elements") if nested
        @converter = Types::Then.new(@converter, block)
      end

      # A name with the namespace that the class gives to its elements, or its prefix.
      def tag_in(tag, element)
        return tag if tag.start_with?("{")
        if tag.include?(":")
          prefix, local = tag.split(":", 2)
          return tag if prefix == "xml"
          uri = @owner.__namespaces[prefix.to_sym] or fail_with("no namespace is given for the prefix '#{prefix}': say `namespace #{prefix}: \"...\"`")
          return "{#{uri}}#{local}"
        end
        uri = element ? @owner.__namespaces[nil] : nil
        uri ? "{#{uri}}#{tag}" : tag
      end
    end
  end
end
