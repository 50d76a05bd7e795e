# Ruby's parsers on the documents of the bench.
# usage: ruby.rb ox|nokogiri|reader|rexml T FILE | P LINEITEM | J LINEITEM ORDERS      (FILE: a path or an http URL)
require "socket"
require_relative "row"

# A document read in pieces of 64 KB; `pause` is called before each.
class Input
  attr_reader :bytes

  def initialize(place, &pause)
    @pause = pause
    @bytes = 0
    if place.start_with?("http://")
      host, port, path = place.match(%r{\Ahttp://([^:/]+):(\d+)(/.*)\z}).captures
      @io = TCPSocket.new(host, port.to_i)
      @io.write("GET #{path} HTTP/1.1\r\nHost: #{host}\r\nConnection: close\r\n\r\n")
      nil until @io.gets.chomp.empty?
    else
      @io = File.open(place, "rb")
    end
  end

  def readpartial(n, into = nil)
    @pause&.call
    piece = into ? @io.readpartial(n, into) : @io.readpartial(n)
    @bytes += piece.bytesize
    piece
  end

  def read(n = nil, into = nil)
    return super() unless n
    readpartial(n > 65_536 ? 65_536 : n, into)
  rescue EOFError
    n == 0 ? "" : nil
  end
end

# What a row's reading comes to, whichever parser calls it. Names come as the parser has them.
class Count
  attr_reader :count
  def initialize = @count = 0
  def begin(_) = @count += 1
  def text(_) = @count += 1
  def end(_) = @count += 1
end

# Collects the text of each column that is wanted; a subclass takes it at the column's end.
class Columns
  def initialize(key, columns)
    @columns = columns.to_h { |name, column| [key[name], column] }
    @row = key["T"]
    @column = @text = nil
  end

  def begin(name) = @column = @columns[name]

  def text(text)
    return unless @column
    @text = @text ? @text + text : text
  end
end

class Extract < Columns
  attr_reader :count, :sum

  def initialize(key)
    super(key, Row::KINDS)
    @count = @sum = 0
  end

  def end(name)
    if @column
      t = @text || ""
      @sum += case @column
              when :integer then t.to_i
              when :decimal then Row.cents(t)
              when :date then Row.days(t)
              else t.bytesize
              end
      @column = @text = nil
    elsif name == @row
      @count += 1
    end
  end
end

class Rows < Columns
  def initialize(key, columns, &done)
    super(key, columns)
    @done = done
    @values = Array.new(columns.size)
  end

  def end(name)
    if @column
      @values[@column] = @text || ""
      @column = @text = nil
    elsif name == @row
      @done.call(@values)
    end
  end
end

# Each gives the key under which a name comes, and parses an input with one of the above.
module Parsers
  module_function

  def ox
    require "ox"
    handler = Class.new(Ox::Sax) do
      def initialize(to) = @to = to
      def start_element(name) = @to.begin(name)
      def text(t) = @to.text(t)
      def end_element(name) = @to.end(name)
    end
    [:to_sym.to_proc, ->(input, to) { Ox.sax_parse(handler.new(to), input, convert_special: true, symbolize: true, skip: :skip_none) }]
  end

  def nokogiri
    require "nokogiri"
    handler = Class.new(Nokogiri::XML::SAX::Document) do
      def initialize(to) = @to = to
      def start_element_namespace(name, *) = @to.begin(name)
      def characters(t) = @to.text(t)
      def end_element_namespace(name, *) = @to.end(name)
    end
    parse = lambda do |input, to|
      push = Nokogiri::XML::SAX::PushParser.new(handler.new(to))
      begin
        loop { push << input.readpartial(65_536) }
      rescue EOFError
        push.finish
      end
    end
    [:itself.to_proc, parse]
  end

  def reader
    require "nokogiri"
    parse = lambda do |input, to|
      Nokogiri::XML::Reader(input).each do |node|
        case node.node_type
        when Nokogiri::XML::Reader::TYPE_ELEMENT then to.begin(node.name)
        when Nokogiri::XML::Reader::TYPE_TEXT, Nokogiri::XML::Reader::TYPE_SIGNIFICANT_WHITESPACE then to.text(node.value)
        when Nokogiri::XML::Reader::TYPE_END_ELEMENT then to.end(node.name)
        end
      end
    end
    [:itself.to_proc, parse]
  end

  def rexml
    require "rexml/document"
    require "rexml/streamlistener"
    handler = Class.new do
      include REXML::StreamListener
      def initialize(to) = @to = to
      def tag_start(name, _) = @to.begin(name)
      def text(t) = @to.text(t)
      def tag_end(name) = @to.end(name)
    end
    [:itself.to_proc, ->(input, to) { REXML::Document.parse_stream(input.instance_variable_get(:@io), handler.new(to)) }]
  end
end

parser, mode, *files = ARGV
unless %w[ox nokogiri reader rexml].include?(parser) && files.size == { "T" => 1, "P" => 1, "J" => 2 }[mode]
  abort "usage: ruby.rb ox|nokogiri|reader|rexml T FILE | P LINEITEM | J LINEITEM ORDERS"
end
key, parse = Parsers.public_send(parser)
begun = Row.now
if mode == "J"
  join = Row::Join.new
  line = Rows.new(key, Row::LINE) { |k, n, q, p, d, m| join.line(Row::Line.new(k.to_i, n.to_i, q.to_i, Row.cents(p), Row.days(d), m)) }
  order = Rows.new(key, Row::ORDER) { |k, c, p, d, r| join.order(Row::Order.new(k.to_i, c.to_i, Row.cents(p), Row.days(d), r)) }
  # One after the other parses a piece.
  inputs = files.map { |f| Input.new(f) { Fiber.yield } }
  fibers = inputs.zip([line, order]).map { |input, to| Fiber.new { parse.call(input, to) } }
  until fibers.empty?
    fibers.select! do |f|
      f.resume
      f.alive?
    end
  end
  bytes = inputs.sum(&:bytes)
  count, sum, first = join.pairs, join.sum.to_s, join.first
else
  to = mode == "T" ? Count.new : Extract.new(key)
  input = Input.new(files[0])
  parse.call(input, to)
  bytes = input.bytes.zero? ? File.size(files[0]) : input.bytes
  count, sum, first = to.count, mode == "T" ? "" : to.sum.to_s, nil
end
Row.tell(mode: mode, s: Row.now - begun, bytes: bytes, count: count, sum: sum, first_s: first, peak: Row.memory("VmHWM"))
