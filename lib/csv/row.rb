# frozen_string_literal: true

class CSV
  # One row with headers: an ordered list of pairs, reachable by header or position.
  class Row
    include Enumerable

    attr_reader :row
    protected :row

    def initialize(headers, fields, header_row = false)
      @header_row = header_row
      headers = headers.map { |h| h.is_a?(String) && !h.frozen? ? h.dup.freeze : h }
      size = [headers.size, fields.size].max
      @row = Array.new(size) { |i| [headers[i], fields[i]] }
    end

    def initialize_copy(other)
      super
      @row = other.row.map(&:dup)
    end

    def header_row? = @header_row
    def field_row? = !@header_row
    def headers = @row.map(&:first)
    def size = @row.size
    alias length size
    def empty? = @row.empty?

    def field(header_or_index, minimum_index = 0)
      case header_or_index
      when Integer then (p = @row[header_or_index]) && p[1]
      when Range then @row[header_or_index]&.map(&:last)
      else
        (@row[minimum_index..] || []).each { |h, v| return v if h == header_or_index }
        nil
      end
    end
    alias [] field

    def fetch(header, *default)
      raise ArgumentError, "Too many arguments" if default.size > 1
      pair = @row.assoc(header)
      return pair[1] if pair
      return yield(header) if block_given?
      return default[0] unless default.empty?
      raise KeyError.new("key not found: #{header}", receiver: self, key: header)
    end

    def has_header?(header) = !!@row.assoc(header)
    alias header? has_header?
    alias include? has_header?
    alias key? has_header?
    alias member? has_header?

    def []=(*args)
      value = args.pop
      if args[0].is_a?(Integer)
        if @row[args[0]].nil?
          @row[args[0]] = [nil, value]
          @row.map! { |pair| pair.nil? ? [nil, nil] : pair }
        else
          @row[args[0]][1] = value
        end
      else
        i = index(*args)
        i.nil? ? self << [args[0], value] : @row[i][1] = value
      end
    end

    def <<(arg)
      @row << (arg.is_a?(Array) && arg.size == 2 ? arg : [nil, arg])
      self
    end

    def push(*args)
      args.each { |a| self << a }
      self
    end

    def delete(header_or_index, minimum_index = 0)
      if header_or_index.is_a?(Integer)
        @row.delete_at(header_or_index)
      elsif (i = index(header_or_index, minimum_index))
        @row.delete_at(i)
      else
        []
      end
    end

    def delete_if(&block)
      return enum_for(__method__) { size } unless block
      @row.delete_if(&block)
      self
    end

    def fields(*headers_and_or_indices)
      return @row.map(&:last) if headers_and_or_indices.empty?
      headers_and_or_indices.inject([]) do |all, h|
        all + if h.is_a?(Range)
                from = h.begin.is_a?(Integer) ? h.begin : index(h.begin)
                to = h.end.is_a?(Integer) ? h.end : index(h.end)
                (h.exclude_end? ? @row[from...to] : @row[from..to]).map(&:last)
              else
                [field(*Array(h))]
              end
      end
    end
    alias values_at fields

    def index(header, minimum_index = 0)
      i = headers[minimum_index..].index(header)
      i && i + minimum_index
    end

    def field?(data) = fields.include?(data)

    def each_pair(&block)
      return enum_for(:each) { size } unless block
      @row.each(&block)
      self
    end
    alias each each_pair

    def ==(other)
      return @row == other.row if other.is_a?(Row)
      @row == other
    end

    def to_h = @row.each_with_object({}) { |(k, v), h| h[k] = v unless h.key?(k) }
    alias to_hash to_h

    def deconstruct_keys(_keys) = to_h.transform_keys { |k| k.respond_to?(:to_sym) ? k.to_sym : k }
    def deconstruct = fields
    alias to_ary to_a

    def slice(*keys) = to_h.slice(*keys)
    def except(*keys) = to_h.except(*keys)

    def dig(index_or_header, *rest)
      v = field(index_or_header)
      rest.empty? || v.nil? ? v : v.dig(*rest)
    end

    def to_csv(**options) = fields.to_csv(**options)
    alias to_s to_csv

    def inspect
      "#<CSV::Row" + @row.map { |h, v| " #{h.is_a?(Symbol) ? h.to_s : h.inspect}:#{v.inspect}" }.join + ">"
    end
  end
end
