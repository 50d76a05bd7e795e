# frozen_string_literal: true

module Psych
  # Objects to a tree of nodes. What comes up twice gets an anchor and aliases.
  class Dumper
    # What `safe_dump` writes without being asked.
    PLAIN = [TrueClass, FalseClass, NilClass, Integer, Float, String, Array, Hash].freeze
    private_constant :PLAIN

    # `permitted`: nil where anything may be written, else the classes that may be.
    def initialize(options = {}, permitted: nil, symbols: [], aliases: true)
      @width = options[:line_width]
      @width = nil if @width && @width < 0
      @stringify = options[:stringify_names]
      @version = version(options)
      @permitted = permitted && (PLAIN + permitted).to_h { |c| [c, true] }.compare_by_identity
      @symbols = symbols
      @aliases = aliases
      @tree = Nodes::Stream.new
    end

    # The stream of all documents so far.
    attr_reader :tree

    # One document more.
    def <<(object)
      @seen = {}.compare_by_identity
      @anchors = 0
      document = Nodes::Document.new(@version, [], false)
      document.children << node(object)
      @tree.children << document
      self
    end

    private

    def version(options)
      case v = options[:version]
      when Array then v
      when String then v.split(".").map(&:to_i)
      else options[:header] || options.key?(:version) ? [1, 1] : []
      end
    end

    def node(x)
      if (first = @seen[x])
        raise BadAlias, "Tried to dump an aliased object" unless @aliases
        first.anchor ||= (@anchors += 1).to_s
        return Nodes::Alias.new(first.anchor)
      end
      permit(x) if @permitted
      case x
      when String then string(x)
      when Symbol then symbol(x)
      when nil then Nodes::Scalar.new("", nil, "tag:yaml.org,2002:null")
      when true, false, Integer then Nodes::Scalar.new(x.to_s)
      when Float then Nodes::Scalar.new(float(x))
      else
        return coded(x) if x.respond_to?(:encode_with)
        case x
        when Hash then hash(x)
        when Array then array(x)
        else other(x)
        end
      end
    end

    def permit(x)
      if x.is_a?(Symbol)
        return if @permitted[Symbol] && (@symbols.empty? || @symbols.include?(x)) || @symbols.include?(x)
        raise DisallowedClass.new("dump", "Symbol(#{x.inspect})") if @permitted[Symbol]
      end
      raise DisallowedClass.new("dump", x.class.name || x.class.inspect) unless @permitted[x.class]
    end

    def float(x)
      return x.to_s if x.finite?
      x.nan? ? ".nan" : x > 0 ? ".inf" : "-.inf"
    end

    def symbol(x)
      return Nodes::Scalar.new("", nil, "!ruby/symbol", false, false) if x.empty?
      Nodes::Scalar.new(":#{x.name}")
    end

    def string(s)
      value = s
      tag = nil
      if s.encoding == Encoding::BINARY && !s.ascii_only? || !s.valid_encoding?
        value = [s].pack("m0")
        tag = "!binary"
        style = Nodes::Scalar::LITERAL
      else
        value = s.encode(Encoding::UTF_8) unless s.encoding == Encoding::UTF_8 || s.ascii_only?
        style = style(value)
        tag = "tag:yaml.org,2002:str" if value == "<<"
      end
      return Nodes::Scalar.new(value, nil, tag, tag.nil?, tag.nil?, style) if s.instance_of?(String)
      names = s.instance_variables
      return Nodes::Scalar.new(value, nil, tag || "!ruby/string:#{s.class}", false, false, style) if names.empty?
      x = keep(s, mapping("!ruby/string:#{s.class}"))
      x.children << plain("str") << Nodes::Scalar.new(value, nil, tag, tag.nil?, tag.nil?, style)
      variables(x, s)
    end

    def style(s)
      if s.match?(/\n(?!\Z)/) then Nodes::Scalar::LITERAL
      elsif s == "<<" then Nodes::Scalar::SINGLE_QUOTED
      elsif s == "y" || s == "n" || s == "Y" || s == "N" then Nodes::Scalar::DOUBLE_QUOTED
      elsif @width && s.length > @width then Nodes::Scalar::FOLDED
      elsif s.match?(/^[^[:word:]][^"]*$/) then Nodes::Scalar::DOUBLE_QUOTED
      elsif !Scalar.value(s).is_a?(String) || s.match?(/\A0[0-7]*[89]/) then Nodes::Scalar::SINGLE_QUOTED
      else Nodes::Scalar::PLAIN
      end
    end

    def keep(x, node) = @seen[x] = node
    def mapping(tag) = Nodes::Mapping.new(nil, tag, tag.nil?)
    def plain(name) = Nodes::Scalar.new(name)

    def hash(h)
      return fill(keep(h, mapping(nil)), h) if h.instance_of?(Hash)
      case h
      when Omap
        x = keep(h, Nodes::Sequence.new(nil, "tag:yaml.org,2002:omap", false))
        h.each { |k, v| x.children << mapping(nil).tap { |pair| pair.children << node(k) << node(v) } }
        x
      when Psych::Set then fill(keep(h, mapping("!set")), h)
      else
        return fill(keep(h, mapping("!ruby/hash:#{h.class}")), h) if h.instance_variables.empty?
        x = keep(h, mapping("!ruby/hash-with-ivars:#{h.class}"))
        x.children << string("ivars") << variables_by_name(h) << string("elements") << fill(mapping(nil), h)
        x
      end
    end

    def fill(x, h)
      children = x.children
      h.each { |k, v| children << node(@stringify && k.is_a?(Symbol) ? k.name : k) << node(v) }
      x
    end

    def array(a)
      tag = "!ruby/array:#{a.class}" unless a.instance_of?(Array)
      return list(keep(a, Nodes::Sequence.new(nil, tag, tag.nil?)), a) if tag.nil? || a.instance_variables.empty?
      x = keep(a, mapping(tag))
      x.children << string("internal") << list(Nodes::Sequence.new, a) << string("ivars") << variables_by_name(a)
      x
    end

    def list(x, a)
      children = x.children
      a.each { |y| children << node(y) }
      x
    end

    def other(x)
      case x
      when Range then fields(keep(x, mapping("!ruby/range")), "begin" => x.begin, "end" => x.end, "excl" => x.exclude_end?)
      when Time then keep(x, plain(time(x, x.utc?)))
      when Regexp then keep(x, Nodes::Scalar.new(x.inspect, nil, "!ruby/regexp", false))
      when Module then keep(x, Nodes::Scalar.new(named(x), nil, x.is_a?(Class) ? "!ruby/class" : "!ruby/module", false, false, Nodes::Scalar::SINGLE_QUOTED))
      when Rational then members(keep(x, mapping("!ruby/object:Rational")), "denominator" => x.denominator, "numerator" => x.numerator)
      when Complex then members(keep(x, mapping("!ruby/object:Complex")), "real" => x.real, "image" => x.imaginary)
      when ::Set then members(keep(x, mapping("!ruby/object:#{x.class}")), "hash" => x.to_h { |y| [y, true] })
      when Struct then variables(members(keep(x, mapping(["!ruby/struct", x.class.name].compact.join(":"))), x.to_h), x)
      when Data then variables(members(keep(x, mapping(["!ruby/data", x.class.name].compact.join(":"))), x.to_h), x)
      when ::Exception
        variables(members(mapping("!ruby/exception:#{x.class.name}"), "message" => x.message.to_s, "backtrace" => x.backtrace), x)
      when Encoding then Nodes::Scalar.new(x.name, nil, "!ruby/encoding", false)
      when Enumerator then list(keep(x, Nodes::Sequence.new), x)
      else
        return date(x) if defined?(::Date) && x.is_a?(::Date)
        return Nodes::Scalar.new(x._dump, nil, "!ruby/object:BigDecimal", false) if defined?(::BigDecimal) && x.is_a?(::BigDecimal)
        variables(keep(x, mapping(tag_of(x))), x)
      end
    end

    def named(x) = x.name || raise(TypeError, "can't dump anonymous #{x.class.name.downcase}: #{x}")

    def tag_of(x) = Psych.dump_tags[x.class] || ["!ruby/object", (x.class.name unless x.instance_of?(Object))].compact.join(":")

    def time(t, utc) = t.strftime("%Y-%m-%d %H:%M:%S.%9N #{utc ? "Z" : "%:z"}")

    def date(d)
      return plain(d.strftime("%Y-%m-%d")) unless d.is_a?(::DateTime)
      keep(d, Nodes::Scalar.new(time(d, d.offset.zero?), nil, "!ruby/object:DateTime", false))
    end

    # An object that says by itself what is to be written.
    def coded(x)
      coder = Coder.new(tag_of(x))
      x.encode_with(coder)
      tag = coder.tag
      case coder.type
      when :scalar then keep(x, Nodes::Scalar.new(coder.scalar.to_s, nil, tag, tag.nil?))
      when :seq then list(keep(x, Nodes::Sequence.new(nil, tag, tag.nil?)), coder.seq)
      when :map then fill(keep(x, Nodes::Mapping.new(nil, tag, coder.implicit, coder.style)), coder.map)
      else node(coder.object)
      end
    end

    def fields(x, h)
      h.each { |k, v| x.children << string(k) << node(v) }
      x
    end

    def members(x, h)
      h.each { |k, v| x.children << plain(k.to_s) << node(v) }
      x
    end

    def variables(x, object)
      object.instance_variables.each { |v| x.children << plain(v.name.delete_prefix("@")) << node(object.instance_variable_get(v)) }
      x
    end

    def variables_by_name(object)
      x = mapping(nil)
      object.instance_variables.each { |v| x.children << symbol(v) << node(object.instance_variable_get(v)) }
      x
    end
  end
end
