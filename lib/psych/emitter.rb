# frozen_string_literal: true

module Psych
  # Objects to text in the block style of libyaml.
  class Emitter
    WIDTH = 80

    def self.check(o, permitted, _aliases)
      case o
      when nil, true, false, Integer, Float, String then nil
      when Array then o.each { |x| check(x, permitted, _aliases) }
      when Hash then o.each { |k, v| check(k, permitted, _aliases); check(v, permitted, _aliases) }
      else
        return if permitted.any? { |c| c.to_s == o.class.name }
        raise DisallowedClass.new("dump", o.class.name || o.class.inspect)
      end
    end

    def initialize(options = {})
      @step = options[:indentation] || 2
      @width = options[:line_width].to_i
      @width = @width == 0 ? WIDTH : @width < 0 ? 1 << 40 : @width
      @header = options[:header]
      @seen = {}.compare_by_identity
      @anchors = {}.compare_by_identity
    end

    def document(o)
      count(o)
      @named = {}.compare_by_identity
      body = node(o, 0, :top)
      body.end_with?("\n...\n") ? "---#{body}" : "---#{body}\n"
    end

    private

    # Finds objects that come up twice: they get an anchor.
    def count(o)
      return if o.nil? || o == true || o == false || o.is_a?(Integer) || o.is_a?(Float) || o.is_a?(Symbol) || o.is_a?(Module)
      return if o.is_a?(String) && o.empty?
      if @seen.key?(o)
        @anchors[o] = true
        return
      end
      @seen[o] = true
      case o
      when Array, Set then o.each { |x| count(x) }
      when Hash then o.each { |k, v| count(k); count(v) }
      when Struct then o.each { |x| count(x) }
      when String, Range, Regexp, Time then nil
      else o.instance_variables.each { |v| count(o.instance_variable_get(v)) }
      end
    end

    # Text of a node with what leads up to it: " scalar" or "\n" and lines.
    def node(o, indent, place)
      mark = ""
      if @anchors.key?(o)
        return " *#{@named[o]}" if @named.key?(o)
        @named[o] = @named.size + 1
        mark = " &#{@named[o]}"
      end
      case o
      when Array
        tag = o.instance_of?(Array) ? "" : " !ruby/array:#{o.class}"
        return "#{mark}#{tag} []" if o.empty?
        mark + tag + seq(o, indent, mark.empty? && tag.empty? ? place : place == :item ? :tagged_item : place)
      when Hash
        tag = o.instance_of?(Hash) ? "" : " !ruby/hash:#{o.class}"
        return "#{mark}#{tag} {}" if o.empty?
        mark + tag + map(o, indent, mark.empty? && tag.empty? ? place : place == :item ? :tagged_item : place)
      when String then mark + string(o, indent, place)
      when nil, true, false, Integer, Float, Symbol, Regexp, Module, Time then mark + plain_value(o, indent, place)
      when Range then tagged("#{mark} !ruby/range", { "begin" => o.begin, "end" => o.end, "excl" => o.exclude_end? }, indent, place)
      when Rational then tagged("#{mark} !ruby/object:Rational", { "denominator" => o.denominator, "numerator" => o.numerator }, indent, place)
      when Complex then tagged("#{mark} !ruby/object:Complex", { "real" => o.real, "image" => o.imaginary }, indent, place)
      when Set then tagged("#{mark} !ruby/object:Set", { "hash" => o.to_h { |x| [x, true] } }, indent, place)
      when Struct
        tagged("#{mark} !ruby/struct#{":#{o.class}" if o.class.name}", o.each_pair.to_h { |k, v| [k.to_s, v] }, indent, place)
      when Data
        tagged("#{mark} !ruby/data:#{o.class}", o.to_h.transform_keys(&:to_s), indent, place)
      when ::Exception
        tagged("#{mark} !ruby/exception:#{o.class}", { "message" => o.message, "backtrace" => o.backtrace }, indent, place)
      else
        return mark + " #{o.strftime("%Y-%m-%d")}" if defined?(::Date) && o.instance_of?(::Date)
        raise TypeError, "can't dump #{o.class.name}" if o.is_a?(Proc) || o.is_a?(IO) && !o.is_a?(File) || o.is_a?(Method)
        raise TypeError, "can't dump anonymous class: #{o.class}" if o.class.name.nil?
        tag = Psych.dump_tags[o.class] || "!ruby/object:#{o.class}"
        vars = if o.respond_to?(:encode_with)
                 c = Coder.new(tag)
                 o.encode_with(c)
                 tag = c.tag
                 c.map
               else
                 o.instance_variables.to_h { |v| [v.to_s.delete_prefix("@"), o.instance_variable_get(v)] }
               end
        tagged("#{mark} #{tag}", vars, indent, place)
      end
    end

    def tagged(tag, h, indent, place)
      return "#{tag} {}" if h.empty?
      # Behind a tag the mapping always begins a line of its own.
      tag + map(h, indent, place == :item ? :tagged_item : place)
    end

    def seq(list, indent, place)
      # Inside a mapping a sequence keeps the column of its key.
      at = place == :value ? indent - @step : indent
      inline = place == :item
      out = +""
      list.each_with_index do |x, i|
        out << (inline && i == 0 ? " " : "\n" + " " * at)
        out << "-" << node(x, at + @step, :item)
      end
      out
    end

    def map(h, indent, place)
      out = +""
      h.each_with_index do |(k, v), i|
        out << (place == :item && i == 0 ? " " : "\n" + " " * indent)
        if k.is_a?(Array) && !k.empty? || k.is_a?(Hash) && !k.empty? || k.is_a?(String) && k.include?("\n")
          out << "?" << node(k, indent + @step, :item)
          out << "\n" << " " * indent << ":" << node(v, indent + @step, :item)
        else
          key = k.nil? ? " ! ''" : node(k, indent, :key)
          out << key.delete_prefix(" ") << ":" << node(v, indent + @step, :value)
        end
      end
      out
    end

    def plain_value(o, indent, place)
      case o
      when nil then place == :key ? " ''" : ""
      when Float
        return " .nan" if o.nan?
        return o > 0 ? " .inf" : " -.inf" if o.infinite?
        " #{o}"
      when Symbol
        return " !ruby/symbol ''" if o.empty?
        s = o.name
        return " :#{s}" if s.match?(/\A[[:alnum:]_][[:alnum:]_ ?!=+*\/.-]*\z/) && !s.end_with?(" ")
        string(":#{s}", indent, place, symbol: true)
      when Regexp then " !ruby/regexp #{o.inspect}"
      when Class then " !ruby/class '#{o.name}'"
      when Module then " !ruby/module '#{o.name}'"
      when Time
        zone = o.utc? ? "Z" : o.strftime("%:z")
        " #{o.strftime("%Y-%m-%d %H:%M:%S.%9N")} #{zone}"
      else " #{o}"
      end
    end

    def string(s, indent, place, symbol: false)
      if s.encoding == Encoding::BINARY && !s.ascii_only? || !s.valid_encoding?
        lines = [s].pack("m").lines.map { |l| " " * [indent, @step].max + l.chomp }
        return " !binary |-\n" + lines.join("\n")
      end
      s = s.encode(Encoding::UTF_8) unless s.encoding == Encoding::UTF_8 || s.ascii_only?
      if s.match?(/\n(?!\z)/) && place != :key && block_allowed?(s)
        return literal(s, [indent, @step].max)
      end
      return " !!str '<<'" if s == "<<"
      return " #{double(s)}" if %w[y Y n N].include?(s)
      return " #{double(s)}" if special?(s)
      return " #{double(s)}" if !symbol && s.match?(/\A[^[:word:]][^"]*\z/)
      value = Scalar.value(s)
      unless symbol || value.is_a?(String) && !s.match?(/\A0[0-7]*\.[0-9]/)
        return " #{single(s, indent)}"
      end
      plain?(s) ? " #{fold(s, indent, place)}" : " #{single(s, indent)}"
    end

    def special?(s) = s.match?(/[^\n\u0020-\u007e\u0085\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|[\u2028\u2029\ufeff\u0085]/) || s.match?(/\A\n? +\n|\n +\z|\A +\n/)
    def block_allowed?(s) = !s.match?(/[^\n\u0009\u0020-\u007e\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|[\u2028\u2029\ufeff]|\n +\z| \z|\A +\n/)

    def plain?(s)
      return false if s.empty? || s.match?(/\A\s|\s\z/) || s.include?("\n")
      return false if s.match?(/\A[-?:](?:\s|\z)|\A[,\[\]{}#&*!|>'"%@`]/)
      !s.match?(/: |:\z| #/)
    end

    def literal(s, indent)
      hint = s.match?(/\A[ \n]/) ? @step.to_s : ""
      chomp = s.end_with?("\n\n") || s == "\n" ? "+" : s.end_with?("\n") ? "" : "-"
      body = s.chomp("\n").split("\n", -1).map { |l| l.empty? ? "" : " " * indent + l }.join("\n")
      out = " |#{hint}#{chomp}\n#{body}"
      # What keeps its last newlines must say where the document ends.
      chomp == "+" ? "#{out}\n..." .then { |t| indent == @step ? t + "\n" : out } : out
    end

    def single(s, indent)
      "'#{fold_quoted(s.gsub("'", "''"), indent)}'"
    end

    def fold_quoted(s, indent)
      s = s.gsub("\n") { "\n\n" + " " * [indent, @step].max } if s.include?("\n")
      s
    end

    ESCAPES = { "\0" => "\\0", "\a" => "\\a", "\b" => "\\b", "\t" => "\\t", "\n" => "\\n", "\v" => "\\v", "\f" => "\\f", "\r" => "\\r",
                "\e" => "\\e", '"' => '\\"', "\\" => "\\\\", "\u0085" => "\\N", "\u00a0" => "\\_", "\u2028" => "\\L", "\u2029" => "\\P" }.freeze

    def double(s)
      '"' + s.each_char.map { |c|
        ESCAPES[c] || (c.match?(/[\u0020-\u007e\u00a1-\ud7ff\ue000-\ufefe\uff00-\ufffd\u{10000}-\u{10ffff}]/) ? c : c.ord < 256 ? format("\\x%02X", c.ord) : c.ord < 65536 ? format("\\u%04X", c.ord) : format("\\U%08X", c.ord))
      }.join + '"'
    end

    # Long plain text is broken at blanks.
    def fold(s, indent, place)
      return s if place == :key || s.length <= @width || !s.include?(" ")
      column = indent + 4
      out = +""
      s.split(/( +)/).each do |part|
        if part.match?(/\A +\z/)
          if column > @width && part == " "
            out << "\n" << " " * [indent, @step].max
            column = [indent, @step].max
            next
          end
        end
        out << part
        column += part.length
      end
      out
    end
  end
end
