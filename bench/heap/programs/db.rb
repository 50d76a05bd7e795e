# An in-memory database: tables of records with hash and ordered indexes, queries that filter, join, group and order, updates
# and deletes in transactions that can be rolled back. The workload is an address book of people and their orders, driven by
# statements as text, as a client would send them.
# usage: db.rb [SIZE=20]
class Dice
  def initialize(seed) = @state = seed
  def below(n)
    @state = (@state * 1_103_515_245 + 12_345) & 0x7fffffff
    (@state >> 8) % n
  end
  def pick(list) = list[below(list.size)]
end

class Record
  attr_reader :id, :values

  def initialize(id, values)
    @id = id
    @values = values
  end

  def [](field) = @values[field]
  def with(changes) = Record.new(@id, @values.merge(changes))
  def to_s = "#{@id}: #{@values.map { |k, v| "#{k}=#{v}" }.join(" ")}"
end

# Records by the value of one field.
class HashIndex
  def initialize(field)
    @field = field
    @rows = {}
  end

  def add(record) = (@rows[record[@field]] ||= {})[record.id] = record
  def find(value) = (@rows[value] || {}).values

  def remove(record)
    rows = @rows[record[@field]]
    rows.delete(record.id)
    @rows.delete(record[@field]) if rows.empty?
  end
end

# Records in the order of one field, in a sorted array that is searched by halving.
class OrderedIndex
  def initialize(field)
    @field = field
    @rows = []
  end

  def add(record) = @rows.insert(position([record[@field], record.id]), record)
  def remove(record) = @rows.delete_at(position([record[@field], record.id]))

  def between(low, high)
    from = position([low, -1])
    found = []
    while from < @rows.size && (@rows[from][@field] <=> high) <= 0
      found << @rows[from]
      from += 1
    end
    found
  end

  private

  def position(key) = @rows.bsearch_index { |r| ([r[@field], r.id] <=> key) >= 0 } || @rows.size
end

class Table
  attr_reader :name, :records

  def initialize(name, hashed: [], ordered: [])
    @name = name
    @records = {}
    @next = 0
    @hashed = hashed.to_h { |f| [f, HashIndex.new(f)] }
    @ordered = ordered.to_h { |f| [f, OrderedIndex.new(f)] }
  end

  def insert(values) = put(Record.new(@next += 1, values))

  def put(record)
    @records[record.id] = record
    each_index { |i| i.add(record) }
    record
  end

  def delete(record)
    @records.delete(record.id)
    each_index { |i| i.remove(record) }
  end

  def update(record, changes)
    delete(record)
    put(record.with(changes))
  end

  # The records that can satisfy the conditions, by the best index there is.
  def candidates(conditions)
    conditions.each { |field, op, value| return @hashed[field].find(value) if op == "=" && @hashed[field] }
    conditions.each do |field, op, value|
      return @ordered[field].between(value[0], value[1]) if op == "between" && @ordered[field]
    end
    @records.values
  end

  private

  def each_index
    @hashed.each_value { |i| yield i }
    @ordered.each_value { |i| yield i }
  end
end

# A statement taken apart.
Statement = Struct.new(:verb, :table, :conditions, :order, :limit, :group, :changes, :join)

class Parser
  def initialize(text)
    @words = text.scan(/'[^']*'|[\w.]+|[=<>]+|,/)
    @at = 0
  end

  def statement
    verb = word
    statement = Statement.new(verb, nil, [], nil, nil, nil, {}, nil)
    case verb
    when "select", "delete"
      expect("from")
      statement.table = word.to_sym
      if accept("join")
        table = word.to_sym
        expect("on")
        statement.join = [table, word.to_sym]
      end
    when "update"
      statement.table = word.to_sym
      expect("set")
      begin
        field = word.to_sym
        expect("=")
        statement.changes[field] = literal
      end while accept(",")
    end
    conditions(statement)
    if accept("group")
      expect("by")
      statement.group = word.to_sym
    end
    if accept("order")
      expect("by")
      statement.order = [word.to_sym, accept("desc")]
    end
    statement.limit = literal if accept("limit")
    statement
  end

  private

  def conditions(statement)
    return unless accept("where")
    begin
      field = word.to_sym
      op = word
      value = literal
      if op == "between"
        expect("and")
        value = [value, literal]
      end
      statement.conditions << [field, op, value]
    end while accept("and")
  end

  def word
    @at += 1
    @words[@at - 1]
  end

  def accept(text) = @words[@at] == text && (@at += 1)
  def expect(text) = accept(text) || raise(ArgumentError, "#{text} expected, not #{@words[@at].inspect}")

  def literal
    text = word
    text.start_with?("'") ? text[1..-2] : Integer(text)
  end
end

class Database
  attr_reader :tables

  def initialize
    @tables = {}
    @undo = nil
  end

  def create(name, **indexes) = @tables[name] = Table.new(name, **indexes)
  def insert(name, values)
    record = @tables[name].insert(values)
    @undo&.push([:delete, name, record])
    record
  end

  # Everything in the block, or nothing when it raises.
  def transaction
    @undo = []
    result = yield
    @undo = nil
    result
  rescue StandardError
    log = @undo
    @undo = nil
    log.reverse_each do |what, name, record, old|
      case what
      when :delete then @tables[name].delete(record)
      when :restore then @tables[name].put(record)
      when :revert
        @tables[name].delete(record)
        @tables[name].put(old)
      end
    end
    nil
  end

  def execute(text)
    statement = Parser.new(text).statement
    table = @tables.fetch(statement.table)
    rows = table.candidates(statement.conditions).select { |r| fits?(r, statement.conditions) }
    case statement
    in { verb: "select", join: nil, group: nil } then ordered(rows, statement)
    in { verb: "select", join: [other, field], group: nil }
      joined = ordered(rows, statement).flat_map do |r|
        @tables.fetch(other).candidates([[field, "=", r.id]]).map { |o| [r, o] }
      end
      joined
    in { verb: "select", group: Symbol => field } then grouped(rows, field)
    in { verb: "update", changes: }
      rows.each do |r|
        new = table.update(r, changes)
        @undo&.push([:revert, table.name, new, r])
      end
    in { verb: "delete" }
      rows.each do |r|
        table.delete(r)
        @undo&.push([:restore, table.name, r])
      end
    end
  end

  private

  def fits?(record, conditions)
    conditions.all? do |field, op, value|
      found = record[field]
      case op
      when "=" then found == value
      when "<" then found < value
      when ">" then found > value
      when "between" then found >= value[0] && found <= value[1]
      when "like" then found.include?(value)
      else raise ArgumentError, "no operator #{op}"
      end
    end
  end

  def ordered(rows, statement)
    field, down = statement.order
    if field
      rows = rows.sort { |a, b| (c = a[field] <=> b[field]) == 0 ? a.id <=> b.id : c }
      rows.reverse! if down
    end
    statement.limit ? rows.first(statement.limit) : rows
  end

  def grouped(rows, field)
    rows.group_by { |r| r[field] }.map { |k, list| [k, list.size, list.sum { |r| r[:amount] || r[:age] }] }.sort_by { |k, n, _| [-n, k.to_s] }
  end
end

FIRST = %w[Ada Ben Cleo Dan Eva Finn Gwen Hugo Iris Jon Kaya Leo Mia Noel Olga Pia Quin Rosa Sven Tara].freeze
LAST = %w[Abel Brandt Costa Duarte Egger Frei Gomez Huber Ito Jansen Keller Lang Meyer Novak Olsen Peters].freeze
CITIES = %w[Aarhus Bergen Cadiz Delft Essen Ferrara Ghent Halle].freeze

def person(dice)
  first = dice.pick(FIRST)
  last = dice.pick(LAST)
  { name: "#{first} #{last}", city: dice.pick(CITIES), age: 18 + dice.below(70), mail: "#{first}.#{last}#{dice.below(1000)}@example.com".downcase }
end

def client(database, dice, people)
  case dice.below(20)
  when 0..3 then database.execute("select from people where city = '#{dice.pick(CITIES)}' and age < #{20 + dice.below(30)} order by name limit 20")
  when 4..6 then database.execute("select from people where age between #{a = 18 + dice.below(60)} and #{a + 2} and name like '#{dice.pick(LAST)}' order by mail")
  when 7..9 then database.execute("select from people join orders on person where city = '#{dice.pick(CITIES)}' and age > 80 order by age desc limit 10")
  when 10, 11 then database.execute("select from orders where amount between #{a = dice.below(900)} and #{a + 20} group by state")
  when 12 then database.execute("select from people where age > #{40 + dice.below(40)} group by city")
  when 13..15
    database.transaction do
      order = database.insert(:orders, { person: 1 + dice.below(people), amount: dice.below(1000), state: "new", note: "order of #{dice.below(100)} things" })
      raise ArgumentError, "no credit" if order[:amount] % 10 == 0
      database.execute("update orders set state = 'paid', note = 'by card' where person = #{order[:person]} and state = 'new'")
    end
  when 16, 17 then database.execute("update people set city = '#{dice.pick(CITIES)}' where mail like '#{dice.below(1000)}@' and age < 40")
  when 18 then database.execute("delete from orders where person = #{1 + dice.below(people)} and state = 'paid'")
  else
    database.insert(:orders, { person: 1 + dice.below(people), amount: dice.below(1000), state: "new", note: "by telephone" })
    []
  end
end

size = Integer(ARGV[0] || 20)
dice = Dice.new(7)
database = Database.new
database.create(:people, hashed: %i[city], ordered: %i[age])
database.create(:orders, hashed: %i[person], ordered: %i[amount])
people = 1500
people.times { database.insert(:people, person(dice)) }
(people * 2).times { database.insert(:orders, { person: 1 + dice.below(people), amount: dice.below(1000), state: dice.pick(%w[new paid sent]), note: "" }) }
sum = 0
(size * 200).times do
  rows = client(database, dice, people)
  next unless rows
  shown = rows.first(5).flatten.map(&:to_s)
  sum = (sum * 31 + rows.size + shown.sum(&:bytesize)) % 1_000_003
end
all = database.execute("select from people order by name")
sum = all.reduce(sum) { |s, r| (s * 31 + r.id) % 1_000_003 }
puts "checksum #{sum}"
