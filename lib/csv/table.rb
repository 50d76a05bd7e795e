# frozen_string_literal: true

class CSV
  # Rows that share headers, seen by row, by column, or by whatever the argument suggests.
  class Table
    include Enumerable

    attr_reader :mode, :table
    protected :table

    def initialize(rows, headers: nil)
      @table = rows.is_a?(Table) ? rows.table : rows
      @headers = headers || (@table.empty? ? [] : @table.first.is_a?(Row) ? @table.first.headers : [])
      @mode = :col_or_row
    end

    def by_col = self.class.new(@table.dup).by_col!
    def by_row = self.class.new(@table.dup).by_row!
    def by_col_or_row = self.class.new(@table.dup).by_col_or_row!

    def by_col!
      @mode = :col
      self
    end

    def by_row!
      @mode = :row
      self
    end

    def by_col_or_row!
      @mode = :col_or_row
      self
    end

    def headers = @table.empty? ? @headers.dup : @table.first.headers
    def size = @table.size
    alias length size

    def [](x)
      if row_access?(x)
        @table[x]
      elsif x.is_a?(Integer)
        @table.map { |row| row[x] }
      else
        @table.map { |row| row[x] }
      end
    end

    def []=(x, value)
      if row_access?(x)
        @table[x] = value.is_a?(Array) ? Row.new(headers, value) : value
      elsif value.is_a?(Array)
        @table.each_with_index { |row, i| row.header_row? ? row[x] = x : row[x] = value[i] }
      else
        @table.each { |row| row.header_row? ? row[x] = x : row[x] = value }
      end
    end

    def values_at(*list)
      if @mode == :row || @mode == :col_or_row && list.all? { |x| x.is_a?(Integer) || x.is_a?(Range) && x.begin.is_a?(Integer) }
        @table.values_at(*list)
      else
        @table.map { |row| row.values_at(*list) }
      end
    end

    def <<(row)
      @table << (row.is_a?(Array) ? Row.new(headers, row) : row)
      self
    end

    def push(*rows)
      rows.each { |r| self << r }
      self
    end

    def delete(*list)
      deleted = list.map do |x|
        if row_access?(x)
          @table.delete_at(x)
        elsif x.is_a?(Integer)
          @table.map { |row| row.delete(x)&.last }
        else
          @table.map { |row| row.delete(x).last }
        end
      end
      list.size == 1 ? deleted[0] : deleted
    end

    def delete_if(&block)
      return enum_for(__method__) { size } unless block
      if @mode == :col
        headers.each { |h| delete(h) if yield([h, self[h]]) }
      else
        @table.delete_if(&block)
      end
      self
    end

    def each(&block)
      return enum_for(__method__) { @mode == :col ? headers.size : size } unless block
      if @mode == :col
        headers.each_with_index { |h, i| yield([h, @table.map { |row| row[i] }]) }
      else
        @table.each(&block)
      end
      self
    end

    def ==(other)
      return @table == other.table if other.is_a?(Table)
      @table == other
    end

    def to_a
      [headers] + @table.map { |row| row.fields }
    end

    def to_csv(write_headers: true, limit: nil, **options)
      limit = limit.nil? ? @table.size : limit < 0 ? @table.size + 1 + limit : limit
      lines = write_headers ? [headers.to_csv(**options)] : []
      @table.first(limit).each { |row| lines << row.fields.to_csv(**options) unless row.header_row? }
      lines.join
    end
    alias to_s to_csv

    def dig(x, *rest)
      v = self[x]
      rest.empty? || v.nil? ? v : v.dig(*rest)
    end

    def inspect
      "#<CSV::Table mode:#{@mode} row_count:#{to_a.size}>"
    end

    private

    def row_access?(x)
      @mode == :row || @mode == :col_or_row && (x.is_a?(Integer) || x.is_a?(Range))
    end
  end
end
