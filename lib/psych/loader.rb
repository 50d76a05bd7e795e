# frozen_string_literal: true

module Psych
  # What `!!omap` makes: pairs in their order.
  class Omap < ::Hash; end

  # Nodes to objects, within what is permitted.
  class Loader
    def initialize(safe:, classes: [], symbols: [], aliases: false, symbolize_names: false, freeze: false)
      @safe = safe
      @classes = classes.map(&:to_s)
      @symbols = symbols.map(&:to_s)
      @aliases = aliases
      @symbolize = symbolize_names
      @freeze = freeze
      @anchors = {}
    end

    # The object of a node; of a document's root, a list of them for a stream.
    def load(node)
      case node
      when Nodes::Document then node.root && build(node.root)
      when Nodes::Stream then node.children.map { |document| load(document) }
      else build(node)
      end
    end

    def symbol(name)
      permit("Symbol") unless @symbols.include?(name) && !@symbols.empty?
      raise DisallowedClass.new("load", "Symbol") if @safe && !@symbols.empty? && !@symbols.include?(name)
      name.to_sym
    end

    def date(s)
      require "date"
      permit("Date")
      Date.strptime(s, "%F", Date::GREGORIAN)
    rescue ArgumentError
      s
    end

    def time(s)
      permit("Time")
      day, clock = s.split(/[Tt]|\s+/, 2)
      y, m, d = day.split(/(?<=\d)-/).map(&:to_i)
      clock = clock.strip
      frac = clock[/\.(\d+)/, 1]
      zone = clock[/(Z|[-+]\d{1,2}:?(?:\d\d)?)\z/, 1]
      h, mi, sec = clock.split(":").map(&:to_i)
      sec += Rational(frac.to_i, 10**frac.length) if frac
      return Time.utc(y, m, d, h, mi, sec) if zone == "Z" || zone.nil?
      sign = zone.start_with?("-") ? -1 : 1
      zh, zm = zone[1..].include?(":") ? zone[1..].split(":").map(&:to_i) : [zone[1, 2].to_i, zone[3, 2].to_i]
      offset = sign * (zh * 3600 + zm.to_i * 60)
      Time.new(y, m, d, h, mi, sec, offset)
    end

    private

    def permit(name)
      raise DisallowedClass.new("load", name) if @safe && !@classes.include?(name)
    end

    def class_named(name)
      permit(name)
      name.split("::").inject(Object) { |m, n| m.const_get(n) }
    rescue NameError
      raise ArgumentError, "undefined class/module #{name}"
    end

    def keep(node, x)
      @anchors[node.anchor] = x if node.anchor
      x
    end

    def done(x)
      @freeze && !x.is_a?(Module) ? x.freeze : x
    end

    def build(node)
      x = case node
          when Nodes::Scalar then done(keep(node, scalar(node)))
          when Nodes::Sequence then done(sequence(node))
          when Nodes::Mapping then done(mapping(node))
          else return aliased(node.anchor)
          end
      node.tag && !Psych.domain_types.empty? ? own_type(node, x) : x
    end

    def aliased(anchor)
      raise AliasesNotEnabled unless @aliases
      raise AnchorNotDefined, anchor unless @anchors.key?(anchor)
      @anchors[anchor]
    end

    # What a block of `add_domain_type` or `add_builtin_type` makes of it.
    def own_type(node, x)
      name = node.tag.sub(%r{\A[!/]*}, "").sub(%r{(,\d+)/}, "\\1:")
      name = "tag:#{name}" unless name.start_with?("tag:", "x-private")
      type, block = Psych.domain_types[name]
      block ? keep(node, block.call(type, x)) : x
    end

    # A tag as documents write it.
    def short(tag) = tag.start_with?("tag:yaml.org,2002:") ? "!!#{tag[18..]}" : tag

    # A class that a tag was given to.
    def tagged(tag)
      name = Psych.load_tags[tag]
      name && class_named(name)
    end

    def scalar(node)
      s = node.value
      tag = node.tag or return node.quoted ? s : Scalar.value(s, self)
      if (klass = tagged(tag))
        return restore(klass, tag, :scalar, s)
      end
      case short(tag)
      when "!!str", "!str" then s
      when "!!float", "!float" then (v = Scalar.value(s, self)).is_a?(String) ? Float(v) : v.to_f
      when "!!binary", "!binary" then s.unpack1("m")
      when "!ruby/symbol", "!ruby/sym" then symbol(s)
      when %r{\A!(?:ruby/)?string} then s
      when "!ruby/regexp"
        permit("Regexp")
        m = s.match(%r{\A/(.*)/([mixn]*)\z}m)
        flags = 0
        flags |= Regexp::IGNORECASE if m[2].include?("i")
        flags |= Regexp::EXTENDED if m[2].include?("x")
        flags |= Regexp::MULTILINE if m[2].include?("m")
        Regexp.new(m[1], flags)
      when "!ruby/class", "!ruby/module"
        permit("Class")
        s.split("::").inject(Object) { |m, n| m.const_get(n) }
      when "!ruby/range"
        permit("Range")
        a, dots, b = s.partition(/\.\.\.?/)
        Range.new(Scalar.value(a, self), Scalar.value(b, self), dots == "...")
      when "!ruby/object:Complex"
        permit("Complex")
        Complex(s)
      when "!ruby/object:Rational"
        permit("Rational")
        Rational(s)
      when %r{\A!ruby/object:(.+)} then allocate(class_named($1))
      else Scalar.value(s, self)
      end
    end

    def allocate(klass) = klass.allocate

    def sequence(node)
      tag = node.tag
      if tag == "!ruby/object:Set" || tag == "!set"
        permit("Set")
        return keep(node, Set.new(node.children.map { |n| build(n) }))
      end
      if tag == "!omap" || tag == "tag:yaml.org,2002:omap"
        return node.children.each_with_object(keep(node, Omap.new)) { |n, map| table(n, map) }
      end
      a = keep(node, [])
      node.children.each { |n| a << build(n) }
      tag && (klass = tagged(tag)) ? keep(node, restore(klass, tag, :seq, a)) : a
    end

    # An object of what was read, by `init_with` or its variables.
    def restore(klass, tag, type, content, x = klass.allocate)
      if x.respond_to?(:init_with)
        x.init_with(Coder.new(tag, content, type))
      elsif type == :map
        content.each { |k, v| x.instance_variable_set("@#{k}", v) }
      end
      x
    end

    def mapping(node)
      tag = node.tag or return table(node, keep(node, {}))
      if (klass = tagged(tag))
        x = keep(node, klass.allocate)
        return restore(klass, tag, :map, table(node, {}), x)
      end
      case short(tag)
      when %r{\A!ruby/struct:?(.+)?}
        permit($1) if $1
        pairs = node.children.each_slice(2).map { |k, v| [k.value, v] }
        klass = $1 && class_named($1)
        klass ||= Struct.new(*pairs.map { |k, _| k.to_sym })
        x = keep(node, klass.allocate)
        pairs.each { |k, v| x[k.to_sym] = build(v) }
        return x
      when "!ruby/range"
        permit("Range")
        h = table(node, {})
        return keep(node, Range.new(h["begin"], h["end"], h["excl"]))
      when "!ruby/object:Set"
        permit("Set")
        h = table(node, {})
        list = h.key?("hash") && h["hash"].is_a?(Hash) ? h["hash"].keys : h.keys
        return keep(node, Set.new(list))
      when "!ruby/object:Rational"
        h = table(node, {})
        return keep(node, Rational(h["numerator"], h["denominator"]))
      when "!ruby/object:Complex"
        h = table(node, {})
        return keep(node, Complex(h["real"], h["image"]))
      when %r{\A!ruby/exception:(.+)}
        klass = class_named($1)
        h = table(node, {})
        x = klass.allocate
        x = x.exception(h["message"]) if h["message"]
        return keep(node, x)
      when %r{\A!ruby/data:?(.+)?}
        klass = class_named($1)
        h = table(node, {})
        return keep(node, klass.new(**h.transform_keys(&:to_sym)))
      when %r{\A!ruby/object:(.+)}
        klass = class_named($1)
        x = keep(node, allocate(klass))
        return restore(klass, tag, :map, table(node, {}), x)
      when %r{\A!(?:ruby/)?hash:(.+)}
        return table(node, keep(node, class_named($1).allocate))
      when "!omap", "!!omap"
        return table(node, keep(node, {}))
      end
      table(node, keep(node, {}))
    end

    # Fills a hash; `<<` merges other mappings.
    def table(node, h)
      children = node.children
      i = 0
      while i < children.size
        k, v = children[i], children[i + 1]
        i += 2
        if k.scalar? && k.plain && k.value == "<<" && !v.scalar?
          merged = build(v)
          (merged.is_a?(Array) ? merged.reverse : [merged]).each do |m|
            if m.is_a?(Hash)
              h.merge!(m)
            else
              h["<<"] = m
            end
          end
          next
        end
        key = build(k)
        key = key.to_sym if @symbolize && key.is_a?(String)
        h[key] = build(v)
      end
      h
    end
  end

  # What init_with and encode_with receive.
  class Coder
    attr_accessor :tag, :type, :map, :seq, :scalar

    def initialize(tag, content = {}, type = :map)
      @tag = tag
      @type = type
      @map = type == :map ? content : {}
      @seq = type == :seq ? content : []
      @scalar = type == :scalar ? content : nil
    end

    def [](k) = @map[k]
    def []=(k, v)
      @map[k.to_s] = v
    end
    alias add []=
  end
end
