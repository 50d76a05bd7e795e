# frozen_string_literal: true

module Psych
  # What `!!omap` makes: pairs in their order.
  class Omap < ::Hash; end

  # What `!!set` makes: keys with nothing behind them.
  class Set < ::Hash; end

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
      raise DisallowedClass.new("load", "Symbol") unless @symbols.empty? || @symbols.include?(name)
      permit("Symbol")
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
      moment(s)
    end

    private

    # A Time, of a text that may also look like one and be none.
    def moment(s)
      day, clock = s.split(/[Tt]|\s+/, 2)
      y, m, d = day.split(/(?<=\d)-/).map(&:to_i)
      clock = clock.strip
      frac = clock[/\.(\d+)/, 1]
      zone = clock[/(Z|[-+]\d{1,2}:?(?:\d\d)?)\z/, 1]
      h, mi, sec = clock.split(":").map(&:to_i)
      sec += Rational(frac.to_i, 10**frac.length) if frac
      return Time.utc(y, m, d, h, mi, sec) if zone == "Z"
      return Time.utc(y, m, d, h, mi, sec).localtime unless zone
      zh, zm = zone[1..].include?(":") ? zone[1..].split(":").map(&:to_i) : [zone[1, 2].to_i, zone[3, 2].to_i]
      offset = zh * 3600 + zm.to_i * 60
      Time.new(y, m, d, h, mi, sec, zone.start_with?("-") ? -offset : offset)
    rescue ArgumentError
      s
    end

    def permit(name)
      raise DisallowedClass.new("load", name) if @safe && !@classes.include?(name)
    end

    # The class that a tag names; `other` where it names none.
    def class_named(name, other = nil)
      name = other if name.nil? || name.empty?
      return unless name
      permit(name)
      begin
        name.split("::").inject(Object) { |m, n| m.const_get(n) }
      rescue NameError
        raise ArgumentError, "undefined class/module #{name}"
      end
    end

    def keep(node, x)
      @anchors[node.anchor] = x if node.anchor
      x
    end

    def build(node)
      x = case node
          when Nodes::Scalar then keep(node, node.tag ? tagged_scalar(node) : node.quoted ? node.value : Scalar.value(node.value, self))
          when Nodes::Mapping then node.tag ? tagged_mapping(node) : table(node, keep(node, {}))
          when Nodes::Sequence then node.tag ? tagged_sequence(node) : list(node, keep(node, []))
          else return aliased(node.anchor)
          end
      x = own_type(node, x) if node.tag && !Psych.domain_types.empty?
      return x unless @freeze
      x.instance_of?(String) ? -x : x.is_a?(Module) ? x : x.freeze
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
    def short(tag) = tag.start_with?("tag:yaml.org,2002:") ? "!#{tag[18..]}" : tag

    # A class that a tag was given to.
    def given(tag)
      name = Psych.load_tags[tag]
      name && class_named(name)
    end

    def tagged_scalar(node)
      s = node.value
      tag = node.tag
      if (klass = given(tag))
        return restore(klass.allocate, node, :scalar, s)
      end
      case short(tag)
      when /\A!(?:str|ruby\/string)(?::(.*))?\z/ then (klass = class_named($1)) ? klass.allocate.replace(s) : s
      when "!binary" then s.unpack1("m")
      when "!float" then Float(Scalar.value(s, self))
      when /\A!ruby\/sym(?:bol)?(?::|\z)/ then symbol(s)
      when "!ruby/regexp" then regexp(s)
      when "!ruby/class", "!ruby/module" then class_named(s)
      when "!ruby/encoding" then Encoding.find(s)
      when "!ruby/range"
        klass = class_named("Range")
        first, dots, last = s.partition(/\.\.\.?/)
        raise ArgumentError, "bad value for range" if dots.empty?
        klass.new(*[first, last].map { |part| end_of_range(part) }, dots == "...")
      when "!ruby/object:Complex"
        permit("Complex")
        Complex(s)
      when "!ruby/object:Rational"
        permit("Rational")
        Rational(s)
      when "!ruby/object:BigDecimal"
        require "bigdecimal"
        class_named("BigDecimal")._load(s)
      when "!ruby/object:DateTime"
        require "date"
        klass = class_named("DateTime")
        t = moment(s)
        klass.civil(*t.to_a[0, 6].reverse, Rational(t.utc_offset, 86_400)) + Rational(t.nsec, 86_400_000_000_000)
      else Scalar.value(s, self)
      end
    end

    # Either end may be quoted, and may be missing.
    def end_of_range(s)
      quoted = s[/\A(["'])(.*)\1\z/m, 2]
      quoted || Scalar.value(s, self)
    end

    def regexp(s)
      klass = class_named("Regexp")
      source, letters = s.match(%r{\A/(.*)/([mixn]*)\z}m)&.captures
      flags = { "i" => Regexp::IGNORECASE, "x" => Regexp::EXTENDED, "m" => Regexp::MULTILINE, "n" => Regexp::NOENCODING }
      klass.new(source, letters.to_s.each_char.sum { |c| flags[c] })
    end

    def list(node, a)
      node.children.each { |n| a << build(n) }
      a
    end

    def tagged_sequence(node)
      tag = node.tag
      if (klass = given(tag))
        return keep(node, restore(klass.allocate, node, :seq, list(node, [])))
      end
      case short(tag)
      when "!omap"
        pairs(node.children.map { |n| n.children || raise(ArgumentError, "an ordered map lists pairs") }.flatten(1), keep(node, Omap.new))
      when /\A!(?:seq|ruby\/array):(.+)\z/ then list(node, keep(node, class_named($1).allocate))
      else list(node, keep(node, []))
      end
    end

    def tagged_mapping(node)
      tag = node.tag
      if (klass = given(tag))
        return object(klass, node)
      end
      case short(tag)
      when /\A!ruby\/object:?(.*)\z/ then ruby_object($1, node)
      when /\A!ruby\/struct:?(.*)\z/ then struct(class_named($1), node)
      when /\A!ruby\/data:?(.*)\z/
        klass = class_named($1)
        keep(node, klass.new(**fields(node).transform_keys(&:to_sym)))
      when /\A!ruby\/exception:?(.*)\z/ then exception(class_named($1, "Exception"), node)
      when "!ruby/range"
        h = fields(node)
        keep(node, class_named("Range").new(h["begin"], h["end"], h["excl"] || false))
      when "!set"
        permit("Psych::Set")
        pairs(node.children, keep(node, Set.new))
      when "!omap"
        permit("Psych::Omap")
        pairs(node.children, keep(node, Omap.new))
      when /\A!(?:map|ruby\/hash):(.+)\z/ then table(node, keep(node, class_named($1).allocate))
      when /\A!ruby\/hash-with-ivars(?::(.*))?\z/ then hash_with_variables(class_named($1)&.allocate || {}, node)
      when /\A!ruby\/array:(.+)\z/
        a = keep(node, class_named($1).allocate)
        h = fields(node)
        variables(a.replace(h["internal"]), h["ivars"] || {})
      when /\A!(?:str|ruby\/string)(?::(.*))?\z/
        klass = class_named($1) || String
        h = fields(node)
        keep(node, variables(klass.allocate.replace(h.delete("str")), h))
      else table(node, keep(node, {}))
      end
    end

    def ruby_object(name, node)
      case name
      when "Hash" then table(node, keep(node, {}))
      when "Complex"
        h = fields(node)
        permit("Complex")
        keep(node, Complex(h["real"], h["image"]))
      when "Rational"
        h = fields(node)
        permit("Rational")
        keep(node, Rational(h["numerator"], h["denominator"]))
      when "Set"
        set = keep(node, class_named("Set").new)
        h = fields(node)
        set.merge((h["hash"].is_a?(Hash) ? h["hash"] : h).keys)
      else object(class_named(name, "Object"), node)
      end
    end

    def object(klass, node)
      x = keep(node, klass.allocate)
      restore(x, node, :map, fields(node))
    end

    # Members, and variables that are none.
    def struct(klass, node)
      unless klass
        permit("Struct")
        h = fields(node)
        return keep(node, Struct.new(*h.keys.map(&:to_sym)).new(*h.values))
      end
      x = keep(node, klass.allocate)
      fields(node).each { |k, v| x.members.include?(k.to_sym) ? x[k] = v : variables(x, k => v) }
      x
    end

    def exception(klass, node)
      x = klass.allocate
      h = fields(node)
      message = h.delete("message")
      x = x.exception(message) if message
      keep(node, x)
      backtrace = h.delete("backtrace")
      x.set_backtrace(backtrace) if backtrace
      restore(x, node, :map, h)
    end

    def hash_with_variables(h, node)
      keep(node, h)
      node.children.each_slice(2) do |k, v|
        case k.value
        when "elements" then table(v, h)
        when "ivars" then variables(h, fields(v))
        end
      end
      h
    end

    # An object of what was read, by `init_with` or its variables.
    def restore(x, node, type, content)
      if x.respond_to?(:init_with)
        x.init_with(Coder.new(node.tag, content, type))
      elsif type == :map
        content.each { |k, v| x.instance_variable_set("@#{k}", v) }
      end
      x
    end

    def variables(x, h)
      h.each { |k, v| x.instance_variable_set("@#{k.to_s.delete_prefix("@")}", v) }
      x
    end

    # What an object's mapping says: its keys are names, never symbols.
    def fields(node) = table(node, {}, false)

    def pairs(nodes, h)
      nodes.each_slice(2) { |k, v| h[build(k)] = build(v) }
      h
    end

    # Fills a hash; `<<` merges other mappings.
    def table(node, h, symbolize = @symbolize)
      children = node.children
      i = 0
      while i < children.size
        name = children[i]
        key = build(name)
        node = children[i + 1]
        x = build(node)
        if key == "<<" && name.tag != "tag:yaml.org,2002:str" && (merged = merged(node, x))
          h.merge!(*merged)
        else
          key = key.to_sym if symbolize && key.is_a?(String) && key != "<<"
          h[key] = x
        end
        i += 2
      end
      h
    end

    # The mappings that `<<` names, what counts more behind what counts less; nil where it names something else.
    def merged(node, x)
      case node
      when Nodes::Mapping, Nodes::Alias then [x] if x.is_a?(Hash)
      when Nodes::Sequence then x.reverse if x.is_a?(Array) && x.all?(Hash)
      end
    end
  end
end
