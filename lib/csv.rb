# frozen_string_literal: true

require "forwardable"
require "stringio"
require "csv/row"
require "csv/table"
require "csv/parser"
require "csv/writer"

# Comma-separated values (RFC 4180), read and written.
class CSV
  include Enumerable
  extend Forwardable

  VERSION = "3.3.5"

  class MalformedCSVError < RuntimeError
    attr_reader :line_number
    alias lineno line_number

    def initialize(message, line_number)
      @line_number = line_number
      super("#{message} in line #{line_number}.")
    end
  end

  class InvalidEncodingError < MalformedCSVError
    attr_reader :encoding

    def initialize(encoding, line_number)
      @encoding = encoding
      super("Invalid byte sequence in #{encoding}", line_number)
    end
  end

  # What converters with two parameters learn of their field.
  FieldInfo = Struct.new(:index, :line, :header, :quoted?)

  ConverterEncoding = Encoding.find("UTF-8")
  DateMatcher = /\A(?:\w+,?\s+)?(?:\w+\s+\d{1,2},?\s+\d{2,4}|\d{2,4}-\d{2}-\d{2})\z/
  DateTimeMatcher = /\A(?:(?:\w+,?\s+)?\w+\s+\d{1,2}\s+\d{1,2}:\d{1,2}:\d{1,2},?\s+\d{2,4}|\d{4}-\d{2}-\d{2}(?:[T\s]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?(?:[+-]\d{2}(?::\d{2})|\s(?:UTC|[+-]\d{2}(?::?\d{2})?)|Z)?)?)?)\z/x

  Converters = {
    integer: lambda { |f| Integer(f.encode(ConverterEncoding)) rescue f },
    float: lambda { |f| Float(f.encode(ConverterEncoding)) rescue f },
    numeric: [:integer, :float],
    date: lambda do |f|
      e = f.encode(ConverterEncoding)
      e.match?(DateMatcher) ? (require "date"; Date.parse(e)) : f
    rescue StandardError
      f
    end,
    date_time: lambda do |f|
      e = f.encode(ConverterEncoding)
      e.match?(DateTimeMatcher) ? (require "date"; DateTime.parse(e)) : f
    rescue StandardError
      f
    end,
    time: lambda do |f|
      e = f.encode(ConverterEncoding)
      e.match?(DateTimeMatcher) ? (require "time"; Time.parse(e)) : f
    rescue StandardError
      f
    end,
    all: [:date_time, :numeric]
  }

  HeaderConverters = {
    downcase: lambda { |h| h.encode(ConverterEncoding).downcase },
    symbol: lambda { |h| h.encode(ConverterEncoding).downcase.strip.gsub(/[^\s\w]+/, "").gsub(/\s+/, "_").to_sym },
    symbol_raw: lambda { |h| h.encode(ConverterEncoding).strip.to_sym }
  }

  DEFAULT_OPTIONS = {
    col_sep: ",", row_sep: :auto, quote_char: '"', field_size_limit: nil, max_field_size: nil, converters: nil,
    unconverted_fields: nil, headers: false, return_headers: false, header_converters: nil, skip_blanks: false,
    force_quotes: false, skip_lines: nil, liberal_parsing: false, internal_field_separator: nil,
    internal_encoding: nil, external_encoding: nil, encoding: nil, nil_value: nil, empty_value: "",
    write_headers: nil, write_nil_value: nil, write_empty_value: "", write_converters: nil,
    quote_empty: true, strip: false
  }.freeze

  # --- shortcuts ---------------------------------------------------------------------

  def self.parse(str, **options, &block)
    csv = new(str, **options)
    return csv.each(&block) if block
    csv.read
  end

  def self.parse_line(line, **options) = new(line, **options).shift

  def self.generate(str = nil, **options)
    encoding = options.delete(:encoding)
    if str
      str = StringIO.new(str)
      str.seek(0, IO::SEEK_END)
      str.set_encoding(encoding) if encoding
    else
      str = +""
      str.force_encoding(encoding) if encoding
    end
    csv = new(str, **options)
    yield csv
    csv.string
  end

  def self.generate_line(row, **options)
    options = { row_sep: $/ || "\n" }.merge(options)
    str = +""
    (new(str, **options) << row).string
  end

  def self.generate_lines(rows, **options)
    generate(**options) { |csv| rows.each { |row| csv << row } }
  end

  def self.read(path, **options) = open(path, **options, &:read)
  def self.readlines(...) = read(...)

  def self.table(path, **options)
    read(path, **{ headers: true, converters: :numeric, header_converters: :symbol }.merge(options))
  end

  def self.foreach(path, mode = "r", **options, &block)
    return to_enum(__method__, path, mode, **options) unless block
    open(path, mode, **options) { |csv| csv.each(&block) }
  end

  def self.open(filename_or_io, mode = "r", **options)
    file_opts = options.slice(:encoding, :external_encoding, :internal_encoding, :perm, :newline, :universal_newline)
    options = options.reject { |k, _| file_opts.key?(k) }
    perm = file_opts.delete(:perm)
    file_opts[:universal_newline] = false unless file_opts.key?(:universal_newline) || file_opts.key?(:newline)
    if filename_or_io.respond_to?(:read) || filename_or_io.respond_to?(:write)
      io = filename_or_io
    else
      file_opts.delete(:universal_newline)
      io = perm ? File.open(filename_or_io, mode, perm, **file_opts) : File.open(filename_or_io, mode, **file_opts)
    end
    begin
      csv = new(io, **options)
    rescue StandardError
      io.close
      raise
    end
    return csv unless block_given?
    begin
      yield csv
    ensure
      csv.close
    end
  end

  def self.instance(data = $stdout, **options, &block)
    sig = [data.object_id, options.hash]
    @@instances ||= {}
    csv = (@@instances[sig] ||= new(data, **options))
    block ? block.call(csv) : csv
  end

  def self.filter(input = nil, output = nil, **options)
    in_options = {}
    out_options = {}
    options.each do |k, v|
      case k
      when /\Ain(?:put)?_(.+)\z/ then in_options[$1.to_sym] = v
      when /\Aout(?:put)?_(.+)\z/ then out_options[$1.to_sym] = v
      else in_options[k] = out_options[k] = v
      end
    end
    source = new(input || ARGF, **in_options)
    out = new(output || $stdout, **out_options)
    source.each do |row|
      yield row
      out << row
    end
  end

  # --- an instance --------------------------------------------------------------------

  attr_reader :encoding

  def initialize(data = "", **options)
    raise ArgumentError, "Cannot parse nil as CSV" if data.nil?
    unknown = options.keys - DEFAULT_OPTIONS.keys
    raise ArgumentError, "unknown keyword#{"s" if unknown.size > 1}: #{unknown.map(&:inspect).join(", ")}" unless unknown.empty?
    @options = DEFAULT_OPTIONS.merge(options)
    if data.is_a?(String)
      if (enc = options[:encoding])
        enc = enc.split(":").first if enc.is_a?(String)
        data = data.dup.force_encoding(enc)
      end
      @io = StringIO.new(data)
      @io.set_encoding(data.encoding)
      @string = data
    else
      @io = data
    end
    @encoding = if @io.respond_to?(:internal_encoding) && @io.internal_encoding then @io.internal_encoding
                elsif @io.respond_to?(:external_encoding) && @io.external_encoding then @io.external_encoding
                else Encoding.default_internal || Encoding.default_external
                end
    @converters = expand(@options[:converters], Converters)
    @header_converters = expand(@options[:header_converters], HeaderConverters)
    @parser = nil
    @writer = nil
  end

  %i[col_sep quote_char field_size_limit skip_lines].each do |name|
    define_method(name) { @options[name] }
  end
  def max_field_size = @options[:max_field_size]
  def row_sep = parser.row_sep
  def unconverted_fields? = @options[:unconverted_fields]
  def return_headers? = @options[:return_headers] ? true : false
  def write_headers? = @options[:write_headers] ? true : false
  def skip_blanks? = @options[:skip_blanks] ? true : false
  def force_quotes? = @options[:force_quotes] ? true : false
  def liberal_parsing? = @options[:liberal_parsing] ? true : false
  def converters = names(@options[:converters], Converters)
  def header_converters = names(@options[:header_converters], HeaderConverters)

  def headers
    if @writer&.headers
      @writer.headers
    elsif @options[:headers]
      parser.headers || true
    end
  end

  def line = parser.line
  def lineno = @parser ? @parser.lineno : @writer ? @writer.lineno : 0
  def header_row? = @options[:headers] && parser.headers.nil?

  def_delegators :@io, :binmode, :close, :close_read, :close_write, :closed?, :external_encoding, :fcntl, :fileno, :flush,
                 :fsync, :internal_encoding, :isatty, :path, :pid, :pos, :pos=, :reopen, :seek, :string, :sync, :sync=, :tell,
                 :truncate, :tty?, :stat, :to_i, :to_io

  def flock(*args) = @io.flock(*args)

  def eof?
    parser.peek.nil?
  end
  alias eof eof?

  def rewind
    @parser = nil
    @io.rewind
  end

  def <<(row)
    writer << row
    self
  end
  alias add_row <<
  alias puts <<

  def convert(name = nil, &block)
    @converters += expand(name.nil? ? [block] : [name], Converters)
  end

  def header_convert(name = nil, &block)
    @header_converters += expand(name.nil? ? [block] : [name], HeaderConverters)
  end

  def each
    return to_enum(__method__) unless block_given?
    while (row = shift)
      yield row
    end
    self
  end

  def read
    rows = to_a
    return rows unless @options[:headers]
    Table.new(rows, headers: parser.headers || [])
  end
  alias readlines read

  def shift
    fields = parser.shift
    return nil if fields.nil?
    fields
  end
  alias gets shift
  alias readline shift

  def inspect
    parts = ["#<#{self.class} io_type:"]
    parts << case @io
             when $stdout then "$stdout"
             when $stdin then "$stdin"
             when $stderr then "$stderr"
             else @io.class.to_s
             end
    parts << " io_path:#{@io.path.inspect}" if @io.respond_to?(:path) && @io.path
    parts << " encoding:#{@encoding} lineno:#{lineno} row_sep:#{(@options[:row_sep] == :auto ? row_sep : @options[:row_sep]).inspect}"
    parts << " col_sep:#{col_sep.inspect} quote_char:#{quote_char.inspect}"
    parts << " headers:#{headers.inspect}" if @options[:headers]
    parts.join + ">"
  end

  private

  def parser = @parser ||= Parser.new(@io, @options, @converters, @header_converters)
  def writer = @writer ||= Writer.new(@io, @options, @header_converters)

  def expand(list, table)
    return [] if list.nil?
    Array(list.is_a?(Proc) ? [list] : list).flat_map do |c|
      case c
      when Proc, Method then c
      when Symbol
        found = table[c]
        found.is_a?(Array) ? expand(found, table) : found || raise(NoMethodError, "undefined converter: #{c}")
      else
        c.respond_to?(:call) ? c : raise(ArgumentError, "bad converter: #{c.inspect}")
      end
    end
  end

  def names(list, table)
    Array(list.is_a?(Proc) ? [list] : list).map { |c| table.key(c) || c }
  end
end

class Array
  def to_csv(**options) = CSV.generate_line(self, **options)
end

class String
  def parse_csv(**options) = CSV.parse_line(self, **options)
end

def CSV(*args, **options, &block) = CSV.instance(*args, **options, &block)
