# frozen_string_literal: true

# Command-line options: declared with `on`, parsed from an array of arguments.
class OptionParser
  VERSION = "0.8.1"
  Version = VERSION

  NoArgument = [NO_ARGUMENT = :NONE, nil].freeze
  RequiredArgument = [REQUIRED_ARGUMENT = :REQUIRED, true].freeze
  OptionalArgument = [OPTIONAL_ARGUMENT = :OPTIONAL, false].freeze

  # --- errors ------------------------------------------------------------------------

  class ParseError < RuntimeError
    Reason = "parse error"

    attr_reader :args
    attr_writer :reason
    attr_accessor :additional

    def initialize(*args, additional: nil)
      @additional = additional
      @arg0, = args
      @args = args
      @reason = nil
    end

    def recover(argv)
      argv[0, 0] = @args
      argv
    end

    def set_option(opt, eq)
      if eq
        @args[0] = opt
      else
        @args.unshift(opt)
      end
      self
    end

    def reason = @reason || self.class::Reason
    def inspect = "#<#{self.class}: #{args.join(" ")}>"

    def message
      "#{reason}: #{args.join(" ")}#{additional[@arg0] if additional}"
    end
    alias to_s message
  end

  class AmbiguousOption < ParseError
    const_set(:Reason, "ambiguous option")
  end

  class NeedlessArgument < ParseError
    const_set(:Reason, "needless argument")
  end

  class MissingArgument < ParseError
    const_set(:Reason, "missing argument")
  end

  class InvalidOption < ParseError
    const_set(:Reason, "invalid option")
  end

  class InvalidArgument < ParseError
    const_set(:Reason, "invalid argument")
  end

  class AmbiguousArgument < InvalidArgument
    const_set(:Reason, "ambiguous argument")
  end

  # --- conversions -----------------------------------------------------------------------

  # Patterns and conversions by acceptable class.
  ACCEPT = {}
  private_constant :ACCEPT

  def self.accept(type, pat = /.*/m, &block)
    if pat.respond_to?(:match)
    elsif pat.is_a?(Hash)
    else
      pat = pat.to_s
    end
    ACCEPT[type] = [pat, block || proc { |s, *| s }]
  end

  def self.reject(type) = ACCEPT.delete(type)
  def self.__acceptable(type) = ACCEPT[type]

  accept(Object) { |s, *| s || s.nil? }
  accept(NilClass) { |s, *| s }
  accept(String, /.+/m) { |s, *| s }
  decimal = '\d+(?:_\d+)*'
  binary = 'b[01]+(?:_[01]+)*'
  hex = 'x[\da-f]+(?:_[\da-f]+)*'
  octal = "0(?:[0-7]+(?:_[0-7]+)*|#{binary}|#{hex})?"
  integer = "#{octal}|#{decimal}"
  accept(Integer, /\A[-+]?(?:#{integer})\z/io) do |s, *|
    begin
      Integer(s)
    rescue ArgumentError
      raise OptionParser::InvalidArgument, s
    end if s
  end
  float = "(?:#{decimal}(?=(.)?)(?:\\.(?:#{decimal})?)?|\\.#{decimal})(?:E[-+]?#{decimal})?"
  accept(Float, /\A[-+]?#{float}\z/io) { |s, *| s.to_f if s }
  accept(Numeric, /\A[-+]?(?:#{octal}|#{float}(?:\/#{decimal})?)\z/io) do |s, *|
    next nil unless s
    if s.include?("/") then Rational(s)
    elsif s.match?(/[.eE]/) && !s.match?(/\A[-+]?0x/i) then s.to_f
    else Integer(s)
    end
  end
  accept(:DecimalInteger, /\A[-+]?#{decimal}\z/io) { |s, *| Integer(s, 10) if s }
  accept(:OctalInteger, /\A[-+]?(?:[0-7]+(?:_[0-7]+)*|0(?:#{binary}|#{hex}))\z/io) { |s, *| Integer(s, 8) if s }
  accept(:DecimalNumeric, /\A[-+]?#{float}\z/io) { |s, *| s && (s.match?(/[.eE]/) ? s.to_f : Integer(s, 10)) }
  yesno = {}
  %w[- no false].each { |w| yesno[w] = false }
  %w[+ yes true].each { |w| yesno[w] = true }
  yesno["nil"] = false
  accept(TrueClass, yesno) { |_s, v| v.nil? ? true : v }
  accept(FalseClass, yesno) { |_s, v| v.nil? ? false : v }
  accept(Array) { |s, *| s && s.split(",").map { |x| x unless x.empty? } }
  accept(Symbol, /.+/m) { |s, *| s&.to_sym }
  accept(Regexp, %r{\A/((?:\\.|[^\\])*)/([[:alpha:]]*)\z|.*}m) do |all, s, o|
    f = 0
    if o
      f |= Regexp::IGNORECASE if o.include?("i")
      f |= Regexp::MULTILINE if o.include?("m")
      f |= Regexp::EXTENDED if o.include?("x")
    end
    Regexp.new(s || all, f)
  end

  DecimalInteger = :DecimalInteger
  OctalInteger = :OctalInteger
  DecimalNumeric = :DecimalNumeric

  # --- one option ----------------------------------------------------------------------------

  # A declared switch: its names, argument style, pattern, conversion, block and help lines.
  class Switch
    attr_reader :pattern, :conv, :short, :long, :arg, :desc, :block, :style, :negations

    def initialize(style, pattern, conv, short, long, arg, desc, block, negations)
      @style, @pattern, @conv, @short, @long, @arg, @desc, @block = style, pattern, conv, short, long, arg, desc, block
      @negations = negations
    end

    def switch_name = (long.first || short.first).sub(/\A-+(?:\[no-\])?/, "")

    # [value to hand to the block]
    def convert(text)
      if @pattern.nil?
        return @conv ? @conv.call(text) : text
      end
      return @conv.call(text) if text.nil?
      case @pattern
      when Hash
        key = Completion.pick(@pattern.keys, text) { |kind| raise(kind == :ambiguous ? AmbiguousArgument : InvalidArgument, text) }
        value = @pattern[key]
        return @conv ? @conv.call(key, value) : value
      when Array
        key = Completion.pick(@pattern, text) { |kind| raise(kind == :ambiguous ? AmbiguousArgument : InvalidArgument, text) }
        return @conv ? @conv.call(key) : key
      end
      m = @pattern.match(text)
      raise InvalidArgument, text unless m && m.begin(0) == 0
      unless m.end(0) == text.length
        raise InvalidArgument, text
      end
      args = m.to_a
      @conv ? @conv.call(*args) : args.size > 1 ? args : text
    end

    def summarize(width, indent)
      sopts = short.map(&:dup)
      lopts = long.map(&:dup)
      left = [sopts.join(", ")]
      unless lopts.empty?
        lopts[0] = "#{lopts[0]}#{arg_text(true)}"
      end
      if lopts.empty? && !sopts.empty?
        left = [sopts[0...-1].push("#{sopts.last}#{arg_text(false)}").join(", ")]
      end
      line = left[0]
      lopts.each do |o|
        piece = line.empty? && sopts.empty? ? "    #{o}" : "#{line.empty? ? "" : ", "}#{o}"
        line = line + piece
      end
      lines = []
      right = desc.dup
      if line.length > width && !right.empty?
        yield indent + line
        line = ""
      end
      first = right.shift
      text = first.nil? || first.empty? ? line : line.ljust(width) + " " + first
      yield((indent + text).rstrip)
      right.each { |r| yield((indent + " " * (width + 1) + r).rstrip) }
      lines
    end

    def arg_text(long_form)
      return "" unless arg
      a = arg.sub(/\A=/, "")
      if style == :OPTIONAL
        a = a.sub(/\A\[=?(.*)\]\z/m, '\1')
        long_form ? (arg.start_with?("=") || arg.start_with?("[=") ? "[=#{a}]" : arg.start_with?(" ") ? arg : "[#{a}]") : arg
      else
        long_form && arg.start_with?("=") ? "=#{a}" : arg.start_with?(" ") ? arg : long_form ? "=#{a}" : " #{a}"
      end
    end
  end

  # Unique abbreviations.
  module Completion
    def self.pick(candidates, key)
      strings = candidates.map { |c| [c.to_s, c] }
      exact = strings.find { |s, _| s == key }
      return exact[1] if exact
      found = strings.select { |s, _| s.start_with?(key) }
      found = strings.select { |s, _| s.downcase.start_with?(key.downcase) } if found.empty?
      return found[0][1] if found.size == 1 || found.map { |_, c| c }.uniq.size == 1 && !found.empty?
      yield(found.empty? ? :none : :ambiguous)
    end
  end

  # Switches that every parser has unless it declares them itself, by long name: what to do for a parser.
  Officious = {
    "help" => lambda { |parser|
      puts parser.help
      exit
    },
    "version" => lambda { |parser|
      v = parser.ver or parser.abort("version unknown")
      puts v
      exit
    },
  }

  # --- the parser -------------------------------------------------------------------------------

  attr_accessor :summary_width, :summary_indent, :default_argv, :raise_unknown, :require_exact
  attr_writer :banner, :program_name, :version, :release

  def self.with(*args, &block)
    opts = new(*args)
    opts.instance_eval(&block)
    opts
  end

  def self.getopts(*args, **kw) = new.getopts(*args, **kw)
  def self.terminate(arg = nil) = throw(:terminate, arg)

  def initialize(banner = nil, width = 32, indent = " " * 4)
    @banner = banner
    @summary_width = width
    @summary_indent = indent
    @default_argv = ARGV
    @raise_unknown = true
    @require_exact = false
    @program_name = @version = @release = nil
    @accept = {}
    @list = []
    @tail = []
    @head = []
    yield self if block_given?
  end

  def accept(type, pat = /.*/m, &block)
    @accept[type] = [pat, block || proc { |s, *| s }]
  end

  def reject(type) = @accept.delete(type)
  def terminate(arg = nil) = throw(:terminate, arg)

  def program_name = @program_name || File.basename($0, ".*")
  def banner = @banner || "Usage: #{program_name} [options]"

  def version
    @version || (defined?(::Version) && ::Version)
  end

  def release
    @release || (defined?(::Release) && ::Release)
  end

  def ver
    return nil unless (v = version)
    v = v.join(".") if v.is_a?(Array)
    str = "#{program_name} #{v}"
    str += " (#{release})" if release
    str
  end

  def warn(mesg = $!) = super("#{program_name}: #{mesg}")
  def abort(mesg = $!) = super("#{program_name}: #{mesg}")

  def define(*opts, &block) = declare(@list, opts, block)
  alias def_option define

  def on(...)
    define(...)
    self
  end

  def define_head(*opts, &block) = declare(@head, opts, block)
  alias def_head_option define_head

  def on_head(...)
    define_head(...)
    self
  end

  def define_tail(*opts, &block) = declare(@tail, opts, block)
  alias def_tail_option define_tail

  def on_tail(...)
    define_tail(...)
    self
  end

  def separator(string) = @list << string

  # A switch; without its name nothing but lines of the help.
  def declare(list, opts, block)
    if block.nil? && opts.all?(String) && opts.none? { |o| o.start_with?("-") }
      list.concat(opts.empty? ? [""] : opts)
      return opts
    end
    list << (sw = make_switch(opts, block))
    sw
  end
  private :declare

  def make_switch(opts, block)
    short = []
    long = []
    desc = []
    arg = nil
    style = nil
    pattern = conv = nil
    negations = []
    typed = false
    opts.each do |o|
      case o
      when :NONE, :REQUIRED, :OPTIONAL then style = o
      when Proc, Method then block = o
      when Array, Hash
        if o.equal?(NoArgument) || o.equal?(RequiredArgument) || o.equal?(OptionalArgument)
          style = o[0]
        else
          pattern = o
          pattern = o.each_with_object({}) { |(k, v), h| h[k] = o.is_a?(Hash) ? v : k } if o.is_a?(Hash)
          conv = o.is_a?(Hash) ? proc { |_k, v| v } : proc { |v| v }
          if o.is_a?(Array) && o.any? { |x| x.is_a?(Array) }
            pattern = o.each_with_object({}) { |x, h| x.is_a?(Array) ? h[x[0]] = x.size > 1 ? x[1] : x[0] : h[x] = x }
            conv = proc { |_k, v| v }
          end
        end
      when Regexp
        pattern = o
        conv = proc { |*a| a.size > 1 ? a : a[0] }
        typed = true
      when Class, Module, Symbol
        found = @accept[o] || OptionParser.__acceptable(o)
        found ||= o.is_a?(Class) && o.ancestors.lazy.map { |c| @accept[c] || OptionParser.__acceptable(c) }.find(&:itself)
        raise ArgumentError, "unsupported argument type: #{o}" unless found
        pattern, conv = found
        typed = true
      when /\A--\[no-\]([^\[\]=\s]*)(.+)?/m
        name, a = $1, $2
        long << "--[no-]#{name}"
        negations << name
        arg, style = argument(a, arg, style)
      when /\A--no-([^\[\]=\s]*)(.+)?/m
        name, a = $1, $2
        long << "--no-#{name}"
        arg, style = argument(a, arg, style)
      when /\A--([^\[\]=\s]*)(.+)?/m
        name, a = $1, $2
        long << "--#{name}"
        arg, style = argument(a, arg, style)
      when /\A-(\[\^?\]?(?:[^\\\]]|\\.)*\])(.+)?/m
        set, a = $1, $2
        short << "-#{set}"
        arg, style = argument(a, arg, style)
      when /\A-(.)(.+)?/m
        name, a = $1, $2
        short << "-#{name}"
        arg, style = argument(a, arg, style)
      when /\A=/
        arg, style = argument(o, arg, style)
      when String then desc << o
      end
    end
    style ||= typed && arg && arg.start_with?("[") ? :OPTIONAL : arg ? :REQUIRED : :NONE
    raise ArgumentError, "no switch given" if short.empty? && long.empty?
    Switch.new(style, pattern, conv, short, long, arg, desc, block, negations)
  end

  def argument(text, arg, style)
    return [arg, style] if text.nil? || text.strip.empty?
    arg = text
    style ||= text.match?(/\A\s*=?\[/) || text.match?(/\A=\[/) ? :OPTIONAL : :REQUIRED
    [arg, style]
  end
  private :argument

  # --- parsing ---------------------------------------------------------------------------------

  def order(*argv, into: nil, **, &nonopt)
    argv = argv[0].dup if argv.size == 1 && argv[0].is_a?(Array)
    order!(argv, into: into, &nonopt)
  end

  def order!(argv = default_argv, into: nil, **, &nonopt)
    setter = into && lambda { |name, val| into[name.to_sym] = val }
    parse_in_order(argv, setter, &nonopt)
  end

  def permute(*argv, into: nil, **)
    argv = argv[0].dup if argv.size == 1 && argv[0].is_a?(Array)
    permute!(argv, into: into)
  end

  def permute!(argv = default_argv, into: nil, **)
    nonopts = []
    order!(argv, into: into) { |a| nonopts << a }
    argv[0, 0] = nonopts
    argv
  end

  def parse(*argv, into: nil, **)
    argv = argv[0].dup if argv.size == 1 && argv[0].is_a?(Array)
    parse!(argv, into: into)
  end

  def parse!(argv = default_argv, into: nil, **)
    if ENV.include?("POSIXLY_CORRECT")
      order!(argv, into: into)
    else
      permute!(argv, into: into)
    end
  end

  def getopts(*args, symbolize_names: false, **)
    argv = Array === args.first ? args.shift : default_argv
    single, *long = *args
    result = {}
    single&.scan(/(.)(:)?/) do |opt, val|
      if val
        result[opt] = nil
        define("-#{opt} VAL")
      else
        result[opt] = false
        define("-#{opt}")
      end
    end
    long.each do |arg|
      arg, desc = arg.split(";", 2)
      opt, val = arg.split(":", 2)
      if val
        result[opt] = val.empty? ? nil : val
        define("--#{opt}=#{result[opt] || "VAL"}", *[desc].compact)
      else
        result[opt] = false
        define("--#{opt}", *[desc].compact)
      end
    end
    setter = lambda { |name, v| result[name.to_s] = v }
    nonopts = []
    parse_in_order(argv, setter) { |a| nonopts << a }
    argv[0, 0] = nonopts
    symbolize_names ? result.transform_keys(&:to_sym) : result
  end

  def parse_in_order(argv, setter = nil, &nonopt)
    nonopt ||= proc { |a| throw :terminate, a }
    rest = catch(:terminate) do
      while (arg = argv.shift)
        case arg
        when "--" then throw :terminate, nil
        when /\A--([^=]*)(?:=(.*))?/m then parse_long($1, $2, argv, setter, arg)
        when /\A-(.)(.*)/m then parse_short($1, $2, argv, setter, arg)
        else
          catch(:prune) { nonopt.call(arg) }
        end
      end
      nil
    end
    argv.unshift(rest) if rest
    argv
  end
  private :parse_in_order

  def parse_long(name, value, argv, setter, arg)
    sw, negated = find_long(name, arg)
    begin
      run_switch(sw, negated, value, !value.nil?, argv, setter)
    rescue ParseError => e
      raise if e.args[0] == arg
      raise e.set_option(arg, !value.nil?)
    end
  end

  def parse_short(name, rest, argv, setter, arg)
    sw = find_short(name)
    if sw.nil?
      # A single dash before a long name.
      begin
        sw, negated = find_long(arg[/\A-([^=]*)/, 1], arg)
        value = arg[/=(.*)\z/m, 1]
        return run_switch(sw, negated, value, !value.nil?, argv, setter)
      rescue InvalidOption
        raise InvalidOption.new("-#{name}", additional: candidates_note)
      end
    end
    opt = "-#{name}"
    begin
      case sw.style
      when :NONE
        run_switch(sw, false, nil, false, argv, setter, short: true)
        argv.unshift("-#{rest}") unless rest.empty?
      when :REQUIRED
        value = rest.empty? ? nil : rest.delete_prefix("=")
        run_switch(sw, false, value, !rest.empty?, argv, setter, short: true)
      else
        value = rest.empty? ? nil : rest
        run_switch(sw, false, value, !rest.empty?, argv, setter, short: true)
      end
    rescue ParseError => e
      raise e.set_option(opt, false)
    end
  end
  private :parse_long, :parse_short

  def run_switch(sw, negated, value, given, argv, setter, short: false)
    case sw.style
    when :NONE
      raise NeedlessArgument, value if given && !short
      v = if sw.pattern && sw.conv && sw.pattern.is_a?(Hash)
            sw.conv.call(nil, nil)
          else
            true
          end
      v = !v if negated
      v = false if negated
    when :REQUIRED
      unless given
        raise MissingArgument if argv.empty?
        value = argv.shift
      end
      v = negated ? false : sw.convert(value)
    else
      if !given && !argv.empty? && !argv[0].start_with?("-") && !attached_only?(sw)
        value = argv.shift
      end
      if negated
        v = false
      elsif value.nil?
        v = nil
        v = sw.conv.call(nil, nil) if sw.pattern.is_a?(Hash) && sw.conv
      else
        v = sw.convert(value)
      end
    end
    result = sw.block ? sw.block.call(v) : nil
    setter&.call(sw.switch_name, sw.block ? result : v)
    nil
  end
  private :run_switch

  # `--opt[=X]` and `-o[X]` take an argument only when it is attached.
  def attached_only?(sw)
    sw.arg && sw.arg.match?(/\A(\[|=\[)/)
  end
  private :attached_only?

  def switches = (@head + @list + @tail).grep(Switch)

  def find_short(name)
    switches.reverse.find do |sw|
      sw.short.any? { |s| s == "-#{name}" || (s.start_with?("-[") && s.length > 2 && name.match?(/#{s[1..]}/)) }
    end || (name == "h" ? builtin("help") : name == "v" ? builtin("version") : nil)
  end
  private :find_short

  # [switch, negated?]
  def find_long(name, arg)
    table = {}
    switches.each do |sw|
      sw.long.each do |l|
        if l.start_with?("--[no-]")
          n = l.delete_prefix("--[no-]")
          table[n] = [sw, false]
          table["no-#{n}"] = [sw, true]
        elsif l.start_with?("--no-")
          n = l.delete_prefix("--no-")
          table["no-#{n}"] = [sw, true]
          table[n] ||= [sw, false]
        else
          table[l.delete_prefix("--")] = [sw, false]
        end
      end
    end
    return table[name] if table.key?(name)
    return [builtin(name), false] if Officious.key?(name)
    found = require_exact ? [] : table.keys.select { |k| k.start_with?(name) && !name.empty? }
    if found.map { |k| table[k] }.uniq.size == 1
      return table[found[0]]
    end
    if found.empty? && !require_exact
      dashed = table.keys.select { |k| k.tr("_", "-").start_with?(name.tr("_", "-")) && !name.empty? }
      return table[dashed[0]] if dashed.size == 1
      Officious.each_key { |b| return [builtin(b), false] if b.start_with?(name) && !name.empty? }
    end
    raise AmbiguousOption.new(arg) unless found.empty?
    raise InvalidOption.new(arg.sub(/=.*/m, ""), additional: candidates_note)
  end
  private :find_long

  def candidates_note
    lambda do |word|
      next nil unless defined?(DidYouMean::SpellChecker)
      nil
    end
  end
  private :candidates_note

  def builtin(name)
    return nil unless (act = Officious[name])
    Switch.new(:NONE, nil, nil, [], ["--#{name}"], nil, [], proc { act.call(self) }, [])
  end
  private :builtin

  # --- help -----------------------------------------------------------------------------------

  def summarize(to = [], width = @summary_width, max = width - 1, indent = @summary_indent, &blk)
    blk ||= proc { |l| to << (l.end_with?("\n") ? l : l + "\n") }
    (@head + @list + @tail).each do |sw|
      sw.is_a?(String) ? blk.call(sw) : sw.summarize(width, indent, &blk)
    end
    to
  end

  def help
    summarize(banner.to_s.sub(/\n?\z/, "\n").dup)
  end
  alias to_s help

  def to_a = summarize(banner.to_s.split(/^/))

  def environment(env = File.basename($0, ".*"), **)
    env = ENV[env] || ENV[env.upcase] or return
    require "shellwords"
    parse(*Shellwords.shellwords(env))
  end

  def load(filename = nil, **)
    filename ||= File.expand_path("~/.options/#{program_name}")
    begin
      parse(*File.readlines(filename, chomp: true))
      true
    rescue Errno::ENOENT, Errno::ENOTDIR
      false
    end
  end

  # For arrays of arguments: ARGV.options, ARGV.parse!
  module Arguable
    def options=(opt)
      unless (@optparse = opt)
        class << self
          undef_method(:options)
          undef_method(:options=)
        end
      end
    end

    def options
      @optparse ||= OptionParser.new
      @optparse.default_argv = self
      return @optparse unless block_given?
      begin
        yield @optparse
      rescue ParseError
        @optparse.warn $!
        nil
      end
    end

    def order!(**kw, &blk) = options.order!(self, **kw, &blk)
    def permute!(**kw) = options.permute!(self, **kw)
    def parse!(**kw) = options.parse!(self, **kw)
    def getopts(*args, **kw) = options.getopts(self, *args, **kw)

    def self.extend_object(obj)
      super
      obj.instance_eval { @optparse = nil }
    end
  end
end

ARGV.extend(OptionParser::Arguable)

OptParse = OptionParser
