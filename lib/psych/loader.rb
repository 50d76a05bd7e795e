# frozen_string_literal: true

module Psych
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

    def load(node) = build(node)

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
      case node.kind
      when :alias
        raise AliasesNotEnabled unless @aliases
        raise AnchorNotDefined, node.value unless @anchors.key?(node.value)
        @anchors[node.value]
      when :scalar then done(keep(node, scalar(node)))
      when :seq then done(sequence(node))
      else done(mapping(node))
      end
    end

    def scalar(node)
      s = node.value
      case node.tag
      when nil then node.plain ? Scalar.value(s, self) : s
      when "!", "!!str", "tag:yaml.org,2002:str", "!str" then s
      when "!!int", "!int" then s.delete("_,").to_i
      when "!!float", "!float" then (v = Scalar.value(s, self)).is_a?(String) ? Float(v) : v.to_f
      when "!!null" then nil
      when "!!bool" then Scalar.value(s)
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
      else node.plain ? Scalar.value(s, self) : s
      end
    end

    def allocate(klass) = klass.allocate

    def sequence(node)
      if node.tag == "!ruby/object:Set" || node.tag == "!set"
        permit("Set")
        return keep(node, Set.new(node.value.map { |n| build(n) }))
      end
      a = keep(node, [])
      node.value.each { |n| a << build(n) }
      a
    end

    def mapping(node)
      case node.tag
      when %r{\A!ruby/struct:?(.+)?}
        permit($1) if $1
        pairs = node.value.map { |k, v| [k.value, v] }
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
        h = table(node, {})
        if x.respond_to?(:init_with)
          x.init_with(Coder.new(node.tag, h))
        else
          h.each { |k, v| x.instance_variable_set("@#{k}", v) }
        end
        return x
      when %r{\A!(?:ruby/)?hash:(.+)}
        return table(node, keep(node, class_named($1).allocate))
      when "!omap", "!!omap"
        return table(node, keep(node, {}))
      end
      table(node, keep(node, {}))
    end

    # Fills a hash; `<<` merges other mappings.
    def table(node, h)
      node.value.each do |k, v|
        if k.kind == :scalar && k.plain && k.value == "<<" && [:alias, :map, :seq].include?(v.kind)
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
    attr_accessor :tag, :map

    def initialize(tag, map = {})
      @tag = tag
      @map = map
    end

    def [](k) = @map[k]
    def []=(k, v)
      @map[k.to_s] = v
    end
    alias add []=
    def type = :map
  end
end
