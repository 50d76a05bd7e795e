# frozen_string_literal: true

require "erb/util"
require "strscan"

# Templates with embedded Ruby, compiled to the text of a Ruby program.
class ERB
  VERSION = "5.0.3"

  def self.version = VERSION

  # Template text to Ruby text.
  class Compiler
    attr_accessor :put_cmd, :insert_cmd, :pre_cmd, :post_cmd
    attr_reader :percent, :trim_mode

    def initialize(trim_mode)
      @percent, @trim = prepare(trim_mode)
      @trim_mode = trim_mode
      @put_cmd = "print"
      @insert_cmd = @put_cmd
      @pre_cmd = []
      @post_cmd = []
    end

    # [percent lines?, one of nil, ">", "<>", "-"]
    def prepare(mode)
      case mode
      when 1 then [false, ">"]
      when 2 then [false, "<>"]
      when 0, nil then [false, nil]
      when String
        rest = mode.delete("%")
        unless mode.match?(/\A(%|-|>|<>){1,2}\z/) && rest.match?(/\A(-|>|<>)?\z/)
          warn "Invalid ERB trim mode: #{mode.inspect}", uplevel: 3
        end
        rest = %w[- <> >].find { |t| rest.include?(t) }
        [mode.include?("%"), rest]
      else
        warn "Invalid ERB trim mode: #{mode.inspect}", uplevel: 3
        [false, nil]
      end
    end

    def compile(s)
      enc = s.encoding
      raise ArgumentError, "#{enc} is not ASCII compatible" if enc.dummy?
      s = s.b
      magic, frozen = detect_magic_comment(s, enc)
      out = +"#coding:#{magic}\n"
      out << "#frozen-string-literal:#{frozen}\n" unless frozen.nil?
      body = Output.new(self)
      body.code(@pre_cmd)
      translate(s.force_encoding(magic), body)
      body.finish(@post_cmd)
      text = out.force_encoding(magic) << body.text
      [text.force_encoding(magic), magic, frozen]
    end

    def detect_magic_comment(s, enc)
      frozen = nil
      s.scan(/<%#(.*?)%>/m) do
        comment = $1
        comment = $1 if comment[/-\*-\s*([^\s].*?)\s*-\*-$/]
        if comment =~ /coding\s*[=:]\s*([[:alnum:]\-_]+)/
          enc = Encoding.find($1.sub(/-(?:mac|dos|unix)/i, ""))
        end
        frozen = $1 if comment =~ /frozen[-_]string[-_]literal\s*:\s*([[:alnum:]]+)/
      end
      [enc, frozen]
    end

    # The program text: literal runs become calls of put_cmd.
    class Output
      attr_reader :text

      def initialize(compiler)
        @c = compiler
        @text = +""
        @line = []
        @content = +""
      end

      def literal(s)
        @content << s
      end

      def flush
        return if @content.empty?
        # One call a line, so that the program keeps the template's line numbers.
        @content.each_line do |l|
          @line << "#{@c.put_cmd} #{quoted(l)}.freeze"
          @line << :newline if l.end_with?("\n")
        end
        @content = +""
      end

      def quoted(s)
        '"' + s.gsub(/["\\#\n]/) { |c| c == "\n" ? "\\n" : "\\#{c}" } + '"'
      end

      # Takes blanks back that stand before the position on an otherwise empty line.
      def strip_indent
        @content.sub!(/^[ \t]*\z/, "")
      end

      def code(list) = @line.concat(list)

      def push(s)
        flush
        @line << s
      end

      def newline
        @line << :newline
      end

      def insert(s)
        flush
        @line << "#{@c.insert_cmd}((#{s}).to_s)"
      end

      def finish(list)
        flush
        @line.concat(list)
        @line.each_with_index do |x, i|
          if x == :newline
            @text << "\n"
          else
            @text << x
            @text << "; " unless x.end_with?("\n")
          end
        end
        @text.rstrip!
      end
    end

    def translate(s, out)
      pos = 0
      bol = true
      while pos < s.length
        if @percent && bol && s[pos] == "%"
          stop = s.index("\n", pos) || s.length
          line = s[pos + 1...stop]
          if line.start_with?("%")
            out.literal(line + (stop < s.length ? "\n" : ""))
          else
            out.push("#{line}\n")
          end
          pos = stop + 1
          next
        end
        at = s.index(/<%%?|\n/, pos)
        if at.nil?
          out.literal(unescape(s[pos..]))
          break
        end
        out.literal(unescape(s[pos...at])) if at > pos
        if s[at] == "\n"
          out.literal("\n")
          pos = at + 1
          bol = true
          next
        end
        if s[at, 3] == "<%%"
          out.literal("<%")
          pos = at + 3
          bol = false
          next
        end
        pos, bol = tag(s, at, pos == at && bol, out)
      end
    end

    def unescape(s) = s.gsub("%%>", "%>")

    # One <% ... %> at `at`; the position behind it and whether a line begins there.
    def tag(s, at, bol, out)
      dash_open = @trim == "-" && s[at + 2] == "-"
      from = at + (dash_open ? 3 : 2)
      if dash_open && !bol
        # Blanks before <%- on an otherwise empty line go away.
        out.strip_indent
      end
      stop = find_close(s, from)
      unless stop
        # Nobody closes it: the rest is text.
        out.literal(unescape(s[from..].sub(/\A[=#]/, "")))
        return [s.length, false]
      end
      body = s[from...stop].gsub("%%>", "%>")
      close = 2
      dash_close = false
      if @trim == "-" && body.end_with?("-")
        body = body[0...-1]
        dash_close = true
      end
      after = stop + close
      after = s.length if after > s.length
      case body[0]
      when "=" then out.insert(body[1..])
      when "#" then body.count("\n").times { out.flush; out.newline }
      else
        out.flush
        out.push(body)
      end
      swallow = case @trim
                when ">" then true
                when "<>" then bol
                when "-" then dash_close
                end
      if swallow && s[after] == "\n"
        out.flush
        out.newline
        return [after + 1, true]
      end
      if swallow && s[after, 2] == "\r\n"
        out.flush
        out.newline
        return [after + 2, true]
      end
      [after, false]
    end

    def find_close(s, from)
      i = from
      while (i = s.index("%>", i))
        return i unless i > 0 && s[i - 1] == "%" && i - 1 >= from
        i += 2
      end
    end
  end

  def initialize(str, safe_level = nil, legacy_trim = nil, legacy_out = nil, trim_mode: nil, eoutvar: "_erbout")
    # The positional forms are from old times; they still work, with a word about it.
    unless safe_level.nil?
      warn "Passing safe_level with the 2nd argument of ERB.new is deprecated. Do not use it, and specify other arguments as keyword arguments.", uplevel: 0
    end
    unless legacy_trim.nil?
      warn "Passing trim_mode with the 3rd argument of ERB.new is deprecated. Use keyword argument like ERB.new(str, trim_mode: #{legacy_trim.inspect}) instead.", uplevel: 0
      trim_mode = legacy_trim
    end
    unless legacy_out.nil?
      warn "Passing eoutvar with the 4th argument of ERB.new is deprecated. Use keyword argument like ERB.new(str, eoutvar: #{legacy_out.inspect}) instead.", uplevel: 0
      eoutvar = legacy_out
    end
    compiler = make_compiler(trim_mode)
    set_eoutvar(compiler, eoutvar)
    @src, @encoding, @frozen_string = *compiler.compile(str)
    @filename = nil
    @lineno = 0
    @_init = self.class.singleton_class
  end

  attr_reader :src, :encoding
  attr_accessor :filename, :lineno

  def make_compiler(trim_mode) = ERB::Compiler.new(trim_mode)

  def location=((filename, lineno))
    @filename = filename
    @lineno = lineno if lineno
  end

  def set_eoutvar(compiler, eoutvar = "_erbout")
    compiler.put_cmd = "#{eoutvar}.<<"
    compiler.insert_cmd = "#{eoutvar}.<<"
    compiler.pre_cmd = ["#{eoutvar} = +''"]
    compiler.post_cmd = [eoutvar]
  end

  def run(b = new_toplevel)
    print result(b)
  end

  def result(b = new_toplevel)
    unless @_init.equal?(self.class.singleton_class)
      raise ArgumentError, "not initialized"
    end
    eval(@src, b, @filename || "(erb)", @lineno)
  end

  def result_with_hash(hash)
    b = new_toplevel(hash.keys)
    hash.each_pair { |key, value| b.local_variable_set(key, value) }
    result(b)
  end

  def new_toplevel(vars = nil)
    b = TOPLEVEL_BINDING
    if vars
      vars = vars.select { |v| b.local_variable_defined?(v) }
      unless vars.empty?
        return b.eval("tap {|;#{vars * ","}| break binding}")
      end
    end
    b.dup
  end
  private :new_toplevel

  def def_method(mod, methodname, fname = "(ERB)")
    src = self.src.sub(/^(?!#|$)/) { "def #{methodname}\n" } << "\nend\n"
    mod.module_eval { eval(src, binding, fname, -1) }
  end

  def def_module(methodname = "erb")
    mod = Module.new
    def_method(mod, methodname, @filename || "(ERB)")
    mod
  end

  def def_class(superklass = Object, methodname = "result")
    cls = Class.new(superklass)
    def_method(cls, methodname, @filename || "(ERB)")
    cls
  end

  # Defines methods from template files.
  module DefMethod
    def def_erb_method(methodname, erb_or_fname)
      if erb_or_fname.is_a?(String)
        fname = erb_or_fname
        erb = ERB.new(File.read(fname))
        erb.def_method(self, methodname, fname)
      else
        erb_or_fname.def_method(self, methodname, erb_or_fname.filename || "(ERB)")
      end
    end
    module_function :def_erb_method
  end
end
