# What every Ruby peer does with a row, and kumi's own programs too: decoding of the values, the plain checksum, and the symmetric hash
# join. The same as row.rs.
module Row
  LINEITEM = %w[L_ORDERKEY L_PARTKEY L_SUPPKEY L_LINENUMBER L_QUANTITY L_EXTENDEDPRICE L_DISCOUNT L_TAX L_RETURNFLAG L_LINESTATUS
                L_SHIPDATE L_COMMITDATE L_RECEIPTDATE L_SHIPINSTRUCT L_SHIPMODE L_COMMENT].freeze
  LINE = { "L_ORDERKEY" => 0, "L_LINENUMBER" => 1, "L_QUANTITY" => 2, "L_EXTENDEDPRICE" => 3, "L_SHIPDATE" => 4, "L_SHIPMODE" => 5 }.freeze
  ORDER = { "O_ORDERKEY" => 0, "O_CUSTKEY" => 1, "O_TOTALPRICE" => 2, "O_ORDERDATE" => 3, "O_ORDERPRIORITY" => 4 }.freeze
  KINDS = LINEITEM.to_h do |c|
    [c, case c
        when /KEY|NUMBER|QUANTITY/ then :integer
        when /PRICE|DISCOUNT|TAX/ then :decimal
        when /DATE/ then :date
        else :words
        end]
  end.freeze

  Line = Struct.new(:orderkey, :linenumber, :quantity, :price, :shipdate, :shipmode)
  Order = Struct.new(:orderkey, :custkey, :price, :date, :priority)

  BEFORE = [nil, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334].freeze

  module_function

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  # Times 100: there are always two digits behind the point.
  def cents(text) = text.delete(".").to_i

  # Days from 1970-01-01 to YYYY-MM-DD.
  def days(text)
    y = text.to_i
    m = text.getbyte(5) * 10 + text.getbyte(6) - 528
    a = m > 2 ? y : y - 1
    (y - 1970) * 365 + (a / 4 - a / 100 + a / 400) - 478 + BEFORE[m] + text.getbyte(8) * 10 + text.getbyte(9) - 528
  end

  # What a pair of the join adds to its checksum, which does not depend on the order.
  def pair(l, o)
    l.orderkey + 3 * l.linenumber + 5 * l.quantity + 7 * l.price + 11 * l.shipdate + 13 * l.shipmode.bytesize +
      17 * o.custkey + 19 * o.price + 23 * o.date + 29 * o.priority.bytesize
  end

  # VmRSS, VmHWM in bytes.
  def memory(row) = File.read("/proc/self/status")[/^#{row}:\s+(\d+)/, 1].to_i * 1024

  # The line that the driver reads.
  def tell(**figures)
    puts "{" + figures.map { |k, v| "#{k.to_s.inspect}:#{v.is_a?(String) ? v.inspect : v.nil? ? "null" : v.is_a?(Hash) || v.is_a?(Array) ? json(v) : v}" }.join(",") + "}"
  end

  def json(v)
    case v
    when Hash then "{" + v.map { |k, w| "#{k.to_s.inspect}:#{json(w)}" }.join(",") + "}"
    when Array then "[" + v.map { |w| json(w) }.join(",") + "]"
    when nil then "null"
    when Symbol then v.to_s.inspect
    else v.is_a?(String) ? v.inspect : v.to_s
    end
  end

  # Both sides kept to the end.
  class Join
    attr_reader :first, :pairs, :sum

    def initialize
      @begun = Row.now
      @lines = Hash.new { |h, k| h[k] = [] }
      @orders = Hash.new { |h, k| h[k] = [] }
      @pairs = @sum = 0
    end

    def line(l)
      @orders[l.orderkey].each { |o| emit(l, o) } if @orders.key?(l.orderkey)
      @lines[l.orderkey] << l
    end

    def order(o)
      @lines[o.orderkey].each { |l| emit(l, o) } if @lines.key?(o.orderkey)
      @orders[o.orderkey] << o
    end

    private

    def emit(l, o)
      @first ||= Row.now - @begun
      @pairs += 1
      @sum += Row.pair(l, o)
    end
  end
end
