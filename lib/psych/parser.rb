# frozen_string_literal: true

require "strscan"

module Psych
  # One node: kind is :scalar, :seq, :map or :alias. Scalars keep whether they were plain.
  Node = Struct.new(:kind, :value, :plain, :tag, :anchor)
  private_constant :Node

  # Text to nodes by indentation. Positions are lines and columns.
  class Parser
    Line = Struct.new(:indent, :text, :number)
    private_constant :Line

    def self.node(...) = Node.new(...)

    def initialize(text, filename = nil)
      @lines = text.split(/\r\n|\n|\r/, -1)
      @filename = filename
      @at = 0
    end

    # Root nodes of all documents.
    def documents
      docs = []
      while true
        skip_blank
        skip_directives
        break if @at >= @lines.size
        line = @lines[@at]
        explicit = line.match?(/\A---(?:\s|\z)/)
        if explicit
          rest = line[3..].lstrip
          if rest.empty? || rest.start_with?("#")
            @at += 1
            skip_blank
            if @at >= @lines.size || marker?
              docs << Node.new(:scalar, "", true)
            else
              docs << block(-1)
            end
          else
            # The content begins behind the marker.
            @lines[@at] = " " * (line.length - rest.length) + rest
            docs << block(-1)
          end
        elsif line.match?(/\A\.\.\.(?:\s|\z)/)
          @at += 1
          next
        else
          docs << block(-1)
        end
        skip_blank
        if @at < @lines.size && !marker?
          fail_here("did not find expected <document start>")
        end
        @at += 1 if @at < @lines.size && @lines[@at].match?(/\A\.\.\.(?:\s|\z)/)
      end
      docs
    end

    private

    def marker? = @lines[@at].match?(/\A(?:---|\.\.\.)(?:\s|\z)/)

    def skip_directives
      while @at < @lines.size && @lines[@at].start_with?("%")
        @at += 1
        skip_blank
      end
    end

    def skip_blank
      @at += 1 while @at < @lines.size && @lines[@at].match?(/\A\s*(?:#.*)?\z/)
    end

    def fail_here(problem, context = nil, line = @at, column = nil)
      column ||= @lines[line].to_s[/\A */].length
      raise SyntaxError.new(@filename, line + 1, column + 1, 0, problem, context)
    end

    def indent = @lines[@at][/\A */].length

    # The node that begins at the present line, indented more than `outer`.
    def block(outer)
      skip_blank
      return Node.new(:scalar, "", true) if @at >= @lines.size
      col = indent
      return Node.new(:scalar, "", true) if col <= outer || marker?
      if @lines[@at][col] == "\t"
        fail_here("found character that cannot start any token", "while scanning for the next token", @at, col)
      end
      text = @lines[@at][col..]
      tag, anchor, rest = properties(text)
      if (tag || anchor) && (rest.empty? || rest.start_with?("#"))
        @at += 1
        node = block_after_properties(outer)
        return decorate(node, tag, anchor)
      end
      if text.match?(/\A-(?:\s|\z)/)
        sequence(col)
      elsif text.match?(/\A\?(?:\s|\z)/) || mapping_line?(text)
        mapping(col)
      else
        inline(text, col, outer)
      end
    end

    def block_after_properties(outer)
      skip_blank
      return Node.new(:scalar, "", true) if @at >= @lines.size || marker?
      # A sequence may stand at the same column as its key.
      return sequence(indent) if indent == outer && @lines[@at][indent..].match?(/\A-(?:\s|\z)/)
      block(outer)
    end

    # [tag, anchor, rest of the text]
    def properties(text)
      tag = anchor = nil
      while true
        if tag.nil? && (m = text.match(/\A(!<[^>]*>|![^\s,\[\]{}]*)(?:\s+|\z)/))
          tag = m[1]
        elsif anchor.nil? && (m = text.match(/\A&([^\s,\[\]{}]+)(?:\s+|\z)/))
          anchor = m[1]
        else
          return [tag, anchor, text]
        end
        text = m.post_match
      end
    end

    def decorate(node, tag, anchor)
      node.tag = tag if tag
      node.anchor = anchor if anchor
      node
    end

    def sequence(col)
      items = []
      while true
        skip_blank
        break if @at >= @lines.size || marker? || indent != col
        text = @lines[@at][col..]
        break unless text.match?(/\A-(?:\s|\z)/)
        rest = text[1..]
        inner = rest.lstrip
        if inner.empty? || inner.start_with?("#")
          @at += 1
          items << block(col)
        else
          # The item continues at its own column.
          at = col + text.length - inner.length
          @lines[@at] = " " * at + inner
          items << block(col)
        end
      end
      if @at < @lines.size && !marker? && indent > col
        fail_here("did not find expected '-' indicator", "while parsing a block collection")
      end
      Node.new(:seq, items, false)
    end

    KEY = /\A(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|\[[^\[\]]*\]|\{[^{}]*\}|(?:(?![\[\]{},"'|>%@`#]|[-?:](?:\s|\z))(?:[^\s#:]|:(?=\S)|(?<=\S)#|\s(?!#))*?))\s*:(?=\s|\z)/
    private_constant :KEY

    # [key text, rest] when the line begins a mapping entry.
    def key_of(text)
      _tag, _anchor, bare = properties(text)
      m = KEY.match(bare) or return nil
      head = text[0, text.length - bare.length]
      key = m[0].sub(/\s*:\z/, "")
      [head + key, m.post_match]
    end

    def mapping_line?(text) = !key_of(text).nil?

    def mapping(col)
      pairs = []
      while true
        skip_blank
        break if @at >= @lines.size || marker? || indent != col
        text = @lines[@at][col..]
        if text.match?(/\A\?(?:\s|\z)/)
          inner = text[1..].lstrip
          if inner.empty?
            @at += 1
          else
            @lines[@at] = " " * (col + text.length - inner.length) + inner
          end
          key = block(col)
          skip_blank
          value = Node.new(:scalar, "", true)
          if @at < @lines.size && indent == col && (m = @lines[@at][col..].match(/\A:(?:\s+|\z)/))
            rest = m.post_match
            if rest.empty?
              @at += 1
              value = value_block(col)
            else
              @lines[@at] = " " * (col + m[0].length) + rest
              value = block(col)
            end
          end
          pairs << [key, value]
          next
        end
        found = key_of(text)
        fail_here("could not find expected ':'", "while scanning a simple key") unless found
        key_text, rest = found
        key = key_node(key_text)
        rest_at = col + text.length - rest.length
        pairs << [key, entry_value(rest, rest_at, col)]
      end
      if @at < @lines.size && !marker? && indent > col
        fail_here("did not find expected key", "while parsing a block mapping")
      end
      Node.new(:map, pairs, false)
    end

    def key_node(text)
      tag, anchor, bare = properties(text)
      node = if bare.start_with?("*") then Node.new(:alias, bare[1..].strip)
             elsif bare.match?(/\A[\["'{]/)
               Flow.new(bare, self).node
             else
               Node.new(:scalar, bare.strip, true)
             end
      decorate(node, tag, anchor)
    end

    def entry_value(rest, at, col)
      inner = rest.lstrip
      at += rest.length - inner.length
      if inner.empty? || inner.start_with?("#")
        @at += 1
        return value_block(col)
      end
      tag, anchor, bare = properties(inner)
      if bare.empty? || bare.start_with?("#")
        @at += 1
        return decorate(value_block(col), tag, anchor)
      end
      if bare.match?(/\A-(?:\s|\z)/)
        fail_here("block sequence entries are not allowed in this context", nil, @at, at)
      end
      if key_of(bare) && !bare.match?(/\A["'\[{]/)
        fail_here("mapping values are not allowed in this context", nil, @at, at)
      end
      node = inline(bare, at + inner.length - bare.length, col)
      decorate(node, tag, anchor)
    end

    # The value on the lines behind a key; a sequence may be as far left as the key.
    def value_block(col)
      skip_blank
      return Node.new(:scalar, "", true) if @at >= @lines.size || marker?
      return sequence(col) if indent == col && @lines[@at][col..].match?(/\A-(?:\s|\z)/)
      block(col)
    end

    # A scalar or flow collection that begins in the present line at column `col`.
    def inline(text, col, outer)
      tag, anchor, text = properties(text)
      node = case text[0]
             when "|", ">" then literal(text, outer)
             when "*"
               @at += 1
               Node.new(:alias, text[1..].sub(/\s+#.*\z/, "").strip)
             when "[", "{", '"', "'" then flow(text, outer)
             when "%", "@", "`"
               fail_here("found character that cannot start any token", "while scanning for the next token", @at, col)
             else plain(text, outer)
             end
      decorate(node, tag, anchor)
    end

    def flow(text, outer)
      start = @at
      f = Flow.new(text, self) do
        @at += 1
        fail_here("found unexpected end of stream", "while scanning a quoted scalar or flow collection", start) if @at >= @lines.size
        @lines[@at]
      end
      node = f.node
      @at += 1
      rest = f.rest
      unless rest.match?(/\A\s*(?:#.*)?\z/)
        @at -= 1
        fail_here("did not find expected key", "while parsing a block mapping")
      end
      node
    end

    def plain(text, outer)
      s = strip_comment(text)
      @at += 1
      return Node.new(:scalar, s, true) if s != text.rstrip
      parts = [s]
      blanks = 0
      while @at < @lines.size && !marker?
        line = @lines[@at]
        if line.strip.empty?
          blanks += 1
          @at += 1
          next
        end
        break if indent <= outer || line.lstrip.start_with?("#")
        t = line.strip
        fail_here("mapping values are not allowed in this context") if key_of(t)
        c = strip_comment(t)
        parts << (blanks > 0 ? "\n" * blanks : " ") << c
        blanks = 0
        @at += 1
        break if c != t
      end
      Node.new(:scalar, parts.join, true)
    end

    def strip_comment(s) = s.sub(/(?:\s+|\A)#.*\z/, "").rstrip

    # | and > scalars.
    def literal(text, outer)
      m = text.match(/\A([|>])([-+]?)(\d?)([-+]?)\s*(?:#.*)?\z/) or fail_here("did not find expected comment or line break", "while scanning a block scalar")
      folded = m[1] == ">"
      chomp = m[2].empty? ? m[4] : m[2]
      @at += 1
      base = m[3].empty? ? nil : [outer, 0].max + m[3].to_i
      lines = []
      while @at < @lines.size
        line = @lines[@at]
        if line.strip.empty? && (base.nil? || line.length <= base)
          lines << ""
          @at += 1
          next
        end
        ind = line[/\A */].length
        base ||= ind
        break if ind < base || ind <= outer && !(outer < 0) || base <= outer
        break if outer < 0 && marker?
        lines << line[base..]
        @at += 1
      end
      trailing = 0
      while !lines.empty? && lines.last.empty?
        lines.pop
        trailing += 1
      end
      # The last element of the text is no line of its own.
      trailing -= 1 if @at >= @lines.size && trailing > 0
      body = folded ? fold(lines) : lines.join("\n")
      body += case chomp
              when "-" then ""
              when "+" then lines.empty? ? "\n" * trailing : "\n" + "\n" * trailing
              else lines.empty? ? "" : "\n"
              end
      Node.new(:scalar, body, false)
    end

    def fold(lines)
      out = +""
      lines.each_with_index do |l, i|
        if i == 0
          out << l
          next
        end
        prev = lines[i - 1]
        if l.empty?
          out << "\n"
        elsif prev.empty?
          out << (l.match?(/\A\s/) ? "\n" : "") << l
        elsif l.match?(/\A\s/) || prev.match?(/\A\s/)
          out << "\n" << l
        else
          out << " " << l
        end
      end
      out
    end

    public

    def syntax(problem) = fail_here(problem, "while parsing a flow node")

    # Quoted scalars and [ ], { } collections, possibly over several lines.
    class Flow
      # The block gives the next line; without one the text is all there is.
      def initialize(text, parser, &more)
        @scan = StringScanner.new(+"" << text, fixed_anchor: true)
        @parser = parser
        @more = more
      end

      # What the text begins with. Every character is looked at once.
      def node = value(true)

      # The text behind the node.
      def rest = @scan.rest

      private

      # The text ends too early: it goes on in the next line.
      def more
        @parser.syntax("found unexpected end of stream") unless @more
        @scan << "\n" << @more.call
      end

      def space
        while true
          @scan.skip(/\s*/)
          break unless @scan.match?(/(?<![^\s])#/)
          @scan.skip(/[^\n]*/)
        end
      end

      def peek
        while @scan.eos?
          more
          space
        end
        @scan.peek(1)
      end

      def step = @scan.pos += 1

      def value(top = false)
        space unless top
        tag = anchor = nil
        while !top && @scan.skip(/(?:(!<[^>]*>|![^\s,\[\]{}]*)|&([^\s,\[\]{}]+))\s*/)
          tag ||= @scan[1]
          anchor ||= @scan[2]
        end
        node = case peek
               when "[" then list
               when "{" then table
               when '"' then double
               when "'" then single
               when "*"
                 @scan.skip(/\*([^\s,\[\]{}]+)/) or @parser.syntax("did not find expected alphabetic or numeric character")
                 Node.new(:alias, @scan[1])
               else plain
               end
        node.tag = tag if tag
        node.anchor = anchor if anchor
        node
      end

      def list
        step
        items = []
        while true
          space
          if peek == "]"
            step
            return Node.new(:seq, items, false)
          end
          item = value
          space
          if peek == ":"
            # A single pair: [a: 1]
            step
            space
            v = "]," .include?(peek) ? Node.new(:scalar, "", true) : value
            item = Node.new(:map, [[item, v]], false)
            space
          end
          items << item
          case peek
          when "," then step
          when "]"
          else @parser.syntax("did not find expected ',' or ']'")
          end
        end
      end

      def table
        step
        pairs = []
        while true
          space
          if peek == "}"
            step
            return Node.new(:map, pairs, false)
          end
          if peek == "?" && @scan.match?(/\?(?:\s|\z)/)
            step
            space
          end
          key = value
          space
          v = Node.new(:scalar, "", true)
          if peek == ":"
            step
            space
            v = value unless ",}".include?(peek)
            space
          end
          pairs << [key, v]
          case peek
          when "," then step
          when "}"
          else @parser.syntax("did not find expected ',' or '}'")
          end
        end
      end

      def plain
        from = @scan.pos
        @parser.syntax("did not find expected node content") if peek == "#"
        while @scan.skip(/(?:[^,\[\]{}:#\n]|:(?![\s,\[\]{}]|\z)|(?<=\S)#|\n)+/) && @scan.eos?
          more
        end
        @parser.syntax("did not find expected node content") if @scan.pos == from
        Node.new(:scalar, since(from).strip.gsub(/\s*\n\s*/, " "), true)
      end

      def single = Node.new(:scalar, lines(quoted(/(?:[^']|'')*/)).gsub("''", "'"), false)

      def double
        s = quoted(/(?:[^"\\]|\\.)*/m).gsub(/\\(?:\n\s*|.)/m) { $&[1] == "\n" ? "\u0000\u0000" : $& }
        s = lines(s).gsub("\u0000\u0000", "")
        Node.new(:scalar, unescape(s), false)
      end

      # What stands between this quote and the next one of its kind that is none of the `inner` text.
      def quoted(inner)
        quote = @scan.getch
        from = @scan.pos
        @scan.skip(inner)
        until @scan.peek(1) == quote
          more
          @scan.skip(inner)
        end
        s = since(from)
        step
        s
      end

      def since(from) = @scan.string.byteslice(from, @scan.pos - from)

      # Line breaks in quotes fold to blanks; empty lines are newlines.
      def lines(s)
        return s unless s.include?("\n")
        s.gsub(/[ \t]*\n((?:[ \t]*\n)*)[ \t]*/) { $1.empty? ? " " : "\n" * $1.count("\n") }
      end

      ESCAPES = { "0" => "\0", "a" => "\a", "b" => "\b", "t" => "\t", "\t" => "\t", "n" => "\n", "v" => "\v", "f" => "\f", "r" => "\r",
                  "e" => "\e", " " => " ", '"' => '"', "/" => "/", "\\" => "\\", "N" => "\u0085", "_" => "\u00a0",
                  "L" => "\u2028", "P" => "\u2029" }.freeze

      def unescape(s)
        s.gsub(/\\(?:x(\h{2})|u(\h{4})|U(\h{8})|(.))/m) do
          if (hex = $1 || $2 || $3)
            [hex.to_i(16)].pack("U")
          else
            ESCAPES[$4] || @parser.syntax("found unknown escape character")
          end
        end
      end
    end
  end
end
