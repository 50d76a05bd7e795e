# A wholesaler after TPC-C: 1 to 16 warehouses, each with a thread of its own that serves its ten districts' customers with
# TPC-C's five transactions in TPC-C's mix. Items are the company's and shared by all; stock, customers and orders are a
# warehouse's own; a payment in seven is made at another warehouse. Orders, once delivered and old, are dropped, so that
# what is alive stays about the same (some 12 MB per warehouse at scale 1).
# With a fixed number of transactions the checksum is the same on every runtime and with any number of workers.
# usage: warehouse.rb [warehouses=2] [transactions=N per warehouse | seconds=S] [warmup=N or S] [scale=1.0]
require_relative "gcstat"

# A linear congruential generator and TPC-C's ways to draw from it.
class Dice
  SYLLABLES = %w[BAR OUGHT ABLE PRI PRES ESE ANTI CALLY ATION EING].freeze
  WORDS = %w[amber barley cedar drift ember fallow glint harbor indigo juniper kestrel lantern meadow nettle ochre pebble].freeze

  def initialize(seed)
    @state = (seed * 7919 + 17) & 0x7fffffff
    8.times { below(2) }
  end

  def below(n)
    @state = (@state * 1_103_515_245 + 12_345) & 0x7fffffff
    (@state >> 8) % n
  end

  def between(low, high) low + below(high - low + 1); end

  # Some come up far more often than others (NURand).
  def skewed(spread, n) (below(spread) | below(n)) % n; end

  def text(words)
    out = +""
    words.times do |i|
      out << " " if i > 0
      out << WORDS[below(16)]
    end
    out
  end

  def self.last_name(n); SYLLABLES[n / 100 % 10] + SYLLABLES[n / 10 % 10] + SYLLABLES[n % 10]; end
end

class Item
  attr_reader :id, :name, :price, :data

  def initialize(id, dice)
    @id = id
    @name = dice.text(3)
    @price = dice.between(100, 10_000)
    @data = dice.text(6)
  end
end

class Stock
  attr_reader :item, :quantity, :info

  def initialize(item, dice)
    @item = item
    @quantity = dice.between(10, 100)
    @ytd = 0
    @orders = 0
    @info = Array.new(2) { dice.text(3) }
    @data = dice.text(5)
  end

  # Takes `count` from the shelf, which is filled when it runs low.
  def take(count)
    @quantity = @quantity >= count + 10 ? @quantity - count : @quantity - count + 91
    @ytd += count
    @orders += 1
  end
end

class Address
  attr_reader :street, :city, :zip

  def initialize(dice)
    @street = dice.text(2)
    @city = dice.text(1)
    @zip = dice.between(10_000, 99_999)
  end

  def to_s; "#{@street}, #{@zip} #{@city}"; end
end

class Customer
  attr_reader :id, :first, :last, :address, :credit, :discount, :balance
  attr_accessor :last_order

  def initialize(id, dice)
    @id = id
    @first = dice.text(1)
    @last = Dice.last_name(id < 1000 ? id : dice.skewed(255, 1000))
    @address = Address.new(dice)
    @credit = dice.below(10).zero? ? "BC" : "GC"
    @discount = dice.below(50)
    @balance = -1000
    @paid = 1000
    @payments = 1
    @delivered = 0
    @data = dice.text(24)
  end

  def pay(amount, district)
    @balance -= amount
    @paid += amount
    @payments += 1
    @data = "#{@id} #{district} #{amount} #{@data}"[0, 200] if @credit == "BC"
  end

  def deliver(amount)
    @balance += amount
    @delivered += 1
  end
end

class OrderLine
  attr_reader :stock, :count, :amount, :info
  attr_accessor :delivered_at

  def initialize(stock, count, amount, info)
    @stock = stock
    @count = count
    @amount = amount
    @info = info
    @delivered_at = nil
  end
end

class Order
  attr_reader :id, :customer, :entered_at, :lines
  attr_accessor :carrier

  def initialize(id, customer, entered_at)
    @id = id
    @customer = customer
    @entered_at = entered_at
    @lines = []
    @carrier = nil
  end

  def add(line) @lines << line; end
  def total; @lines.sum(&:amount); end
end

History = Struct.new(:customer, :district, :amount, :at, :text)

class District
  attr_reader :id, :tax, :customers, :orders, :waiting, :address
  attr_accessor :ytd

  def initialize(id, dice, customers, keep)
    @id = id
    @keep = keep
    @tax = dice.below(20)
    @ytd = 0
    @address = Address.new(dice)
    @next_order = 1
    @oldest = 1
    @customers = Array.new(customers) { |i| Customer.new(i, dice) }
    @by_name = {}
    @customers.each { |c| (@by_name[c.last] ||= []) << c }
    @by_name.each_value { |list| list.sort_by! { |c| [c.first, c.id] } }
    @orders = {}
    @waiting = []
  end

  # The middle one of those of a name, as TPC-C asks; nil when there is none.
  def named(last)
    list = @by_name[last]
    list && list[list.size / 2]
  end

  def open_order(customer, now)
    order = Order.new(@next_order, customer, now)
    @next_order += 1
    order
  end

  def enter(order)
    @orders[order.id] = order
    @waiting << order
    order.customer.last_order = order
    @waiting.shift if @waiting.size > @keep
    return unless @orders.size > @keep
    @orders.delete(@oldest)
    @oldest += 1
  end

  # The last orders, newest first.
  def recent(count)
    id = @next_order
    found = []
    while found.size < count && id > @oldest
      id -= 1
      order = @orders[id]
      found << order if order
    end
    found
  end
end

class Warehouse
  attr_reader :id, :tax, :districts, :stock, :company, :address, :served, :checksum
  attr_accessor :clock

  def initialize(id, company, scale)
    dice = Dice.new(id + 100)
    @id = id
    @company = company
    @tax = dice.below(20)
    @address = Address.new(dice)
    @stock = company.items.map { |item| Stock.new(item, dice) }
    keep = [(400 * scale).to_i, 5].max
    customers = [(400 * scale).to_i, 10].max
    @districts = Array.new(10) { |i| District.new(i, dice, customers, keep) }
    @history = Array.new([(2000 * scale).to_i, 10].max)
    @paid = 0
    @lock = Mutex.new
    @elsewhere = 0
    @clock = 0
    @served = 0
    @checksum = id
    @dice = Dice.new(id + 5000)
    keep.times { @districts.each { |d| NewOrder.new(self, @dice, d).perform } }
  end

  # Money that came in here; and what another warehouse's thread took for us.
  def take(amount) @paid += amount; end
  def take_elsewhere(amount) @lock.synchronize { @elsewhere += amount }; end

  def record(history)
    @history[@clock % @history.size] = history
  end

  # One transaction of TPC-C's mix, and the screen that shows it.
  def serve
    draw = @dice.below(100)
    kind = if draw < 45 then NewOrder
           elsif draw < 88 then Payment
           elsif draw < 92 then OrderStatus
           elsif draw < 96 then Delivery
           else StockLevel
           end
    @clock += 1
    transaction = kind.new(self, @dice)
    transaction.perform
    screen = transaction.screen
    @checksum = (@checksum * 31 + screen.bytesize + transaction.outcome) % 1_000_000_007
    @served += 1
  end

  def total; (@checksum + @paid + @elsewhere) % 1_000_000_007; end
end

# A transaction draws its input when it is made, is performed once, and shows its outcome.
class Transaction
  attr_reader :outcome

  def initialize(warehouse, dice, district = nil)
    @warehouse = warehouse
    @district = district || warehouse.districts[dice.below(10)]
    @outcome = 0
    draw(dice)
  end

  def draw_customer(dice, district)
    if dice.below(100) < 60
      found = district.named(Dice.last_name(dice.skewed(255, 1000)))
      return found if found
    end
    district.customers[dice.skewed(1023, district.customers.size)]
  end

  def self.money(cents); "#{cents / 100}.#{(cents % 100).to_s.rjust(2, "0")}"; end

  # The lines of a screen: a head, pairs of names and values, and what follows.
  def show(title, fields, rows = [])
    lines = [title.center(60)]
    fields.each { |name, value| lines << "#{name.ljust(20)}#{value}" }
    rows.each { |r| lines << r.map { |c| c.to_s.rjust(12) }.join(" ") }
    lines.join("\n")
  end
end

class NewOrder < Transaction
  def draw(dice)
    @customer = @district.customers[dice.skewed(1023, @district.customers.size)]
    stock = @warehouse.stock
    @wanted = Array.new(dice.between(5, 15)) { [dice.skewed(8191, stock.size), dice.between(1, 10)] }
    @wanted[-1] = [-1, 1] if dice.below(100).zero?
  end

  def perform
    order = @district.open_order(@customer, @warehouse.clock)
    @wanted.each do |number, count|
      return @order = nil if number < 0
      stock = @warehouse.stock[number]
      stock.take(count)
      order.add(OrderLine.new(stock, count, count * stock.item.price, stock.info[number % 2]))
    end
    @order = order
    @total = order.total * (100 - @customer.discount) / 100 * (100 + @warehouse.tax + @district.tax) / 100
    @outcome = @total
    @district.enter(order)
  end

  def screen
    return show("New Order", [["Customer", @customer.last], ["Status", "item number is not valid"]]) unless @order
    rows = @order.lines.map { |l| [l.stock.item.name[0, 12], l.count, l.stock.quantity, Transaction.money(l.amount)] }
    show("New Order", [["Warehouse", @warehouse.id], ["District", @district.id], ["Customer", "#{@customer.last}, #{@customer.first}"],
                       ["Credit", @customer.credit], ["Order", @order.id], ["Lines", @order.lines.size],
                       ["Total", Transaction.money(@total)]], rows)
  end
end

class Payment < Transaction
  def draw(dice)
    @amount = dice.between(100, 500_000)
    @customer = draw_customer(dice, @district)
    others = @warehouse.company.warehouses.size
    @at = dice.below(100) < 15 && others > 1 ? (@warehouse.id + 1 + dice.below(others - 1)) % others : @warehouse.id
  end

  def perform
    if @at == @warehouse.id
      @warehouse.take(@amount)
    else
      @warehouse.company.warehouses[@at].take_elsewhere(@amount)
    end
    @district.ytd += @amount
    @customer.pay(@amount, @district.id)
    @warehouse.record(History.new(@customer, @district, @amount, @warehouse.clock, "#{@warehouse.address.city}    #{@district.address.city}"))
    @outcome = @customer.balance % 9973
  end

  def screen
    show("Payment", [["Warehouse", @warehouse.address.to_s], ["District", @district.address.to_s], ["Paid at", @at],
                     ["Customer", "#{@customer.first} #{@customer.last}"], ["Address", @customer.address.to_s],
                     ["Amount", Transaction.money(@amount)], ["Balance", @customer.balance]])
  end
end

class OrderStatus < Transaction
  def draw(dice) @customer = draw_customer(dice, @district); end

  def perform
    @order = @customer.last_order
    @outcome = @order ? @order.total % 9973 : 1
  end

  def screen
    rows = @order ? @order.lines.map { |l| [l.stock.item.id, l.count, Transaction.money(l.amount), l.delivered_at || "waits"] } : []
    show("Order Status", [["Customer", @customer.last], ["Balance", @customer.balance], ["Order", @order ? @order.id : "none"],
                          ["Carrier", @order && @order.carrier ? @order.carrier : "none"]], rows)
  end
end

class Delivery < Transaction
  def draw(dice) @carrier = dice.between(1, 10); end

  def perform
    @done = @warehouse.districts.map do |district|
      order = district.waiting.shift
      next [district.id, "none"] unless order
      order.carrier = @carrier
      order.lines.each { |l| l.delivered_at = @warehouse.clock }
      sum = order.total
      order.customer.deliver(sum)
      @outcome += sum
      [district.id, order.id]
    end
  end

  def screen; show("Delivery", [["Warehouse", @warehouse.id], ["Carrier", @carrier]], @done); end
end

class StockLevel < Transaction
  def draw(dice) @threshold = dice.between(10, 20); end

  def perform
    items = @district.recent(20).flat_map { |o| o.lines.map(&:stock) }.uniq(&:item)
    @low = items.select { |s| s.quantity < @threshold }
    @outcome = @low.size
  end

  def screen
    show("Stock Level", [["District", @district.id], ["Threshold", @threshold], ["Low stock", @low.size]],
         @low.map { |s| [s.item.id, s.quantity] })
  end
end

class Company
  attr_reader :items, :warehouses

  def initialize(count, scale)
    dice = Dice.new(1)
    @items = Array.new([(10_000 * scale).to_i, 100].max) { |i| Item.new(i, dice) }
    @warehouses = []
    made = Array.new(count) { |i| Thread.new { Warehouse.new(i, self, scale) } }.map(&:value)
    @warehouses = made
  end

  # Serves `count` transactions at each warehouse, each in its own thread; returns the seconds.
  def serve(count)
    timed { @warehouses.map { |w| Thread.new { count.times { w.serve } } }.each(&:join) }
  end

  # Serves for some seconds; returns the seconds and how many were served in each second.
  def serve_for(seconds)
    stop = false
    per_second = []
    taken = timed do
      threads = @warehouses.map { |w| Thread.new { w.serve until stop } }
      from = now
      served = total_served
      (1..seconds.ceil).each do |i|
        sleep [from + [i, seconds].min - now, 0].max
        per_second << total_served - served
        served += per_second[-1]
      end
      stop = true
      threads.each(&:join)
    end
    [taken, per_second]
  end

  def total_served; @warehouses.sum(&:served); end
  def checksum; @warehouses.reduce(7) { |sum, w| (sum * 31 + w.total) % 1_000_000_007 }; end

  private

  def now; Process.clock_gettime(Process::CLOCK_MONOTONIC); end

  def timed
    from = now
    yield
    now - from
  end
end

words = ARGV.to_h { |a| a.split("=", 2) }
count = Integer(words["warehouses"] || 2)
scale = Float(words["scale"] || 1.0)
seconds = words["seconds"] && Float(words["seconds"])
number = Integer(words["transactions"] || 10_000)
warmup = Float(words["warmup"] || (seconds ? 1 : number / 4))
company = Company.new(count, scale)
if warmup > 0
  seconds ? company.serve_for(warmup) : company.serve(warmup.to_i)
end
before = GcStat.now
served = company.total_served
taken, per_second = seconds ? company.serve_for(seconds) : [company.serve(number), []]
after = GcStat.now
served = company.total_served - served
puts GcStat.json("warehouses" => count, "scale" => scale, "transactions" => served, "seconds" => taken.round(6), "tps" => (served / taken).round(1),
                 "per_second" => per_second, "checksum" => company.checksum, "memory" => GcStat.memory, "gc" => GcStat.between(before, after))
