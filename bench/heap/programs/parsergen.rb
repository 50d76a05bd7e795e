# A parser generator, after jack: reads grammars as text, computes nullable symbols, first sets, canonical LR(1) item sets merged
# to LALR(1), resolves conflicts by precedence, writes action tables as text, and checks them by parsing sentences drawn from the
# grammar.
# usage: parsergen.rb [SIZE=20]
class Dice
  def initialize(seed) = @state = seed
  def below(n)
    @state = (@state * 1_103_515_245 + 12_345) & 0x7fffffff
    (@state >> 8) % n
  end
end

class Production
  attr_reader :number, :head, :body, :precedence

  def initialize(number, head, body, precedence)
    @number = number
    @head = head
    @body = body
    @precedence = precedence
  end

  def to_s = "#{@head} -> #{@body.empty? ? "empty" : @body.join(" ")}"
end

class Grammar
  attr_reader :name, :productions, :by_head, :terminals, :nonterminals, :start, :levels

  # Lines are `%left a b`, `%right c`, and `head: symbols | symbols ;` over several lines; the first head is the start.
  def initialize(text)
    @productions = []
    @levels = {}
    declared = 0
    @name = text[/\A# (.*)/, 1]
    text = text.gsub(/^#.*$/, "").gsub(/^%(left|right)\s+(.*)$/) do
      declared += 1
      side = $1.to_sym
      $2.split.each { |t| @levels[t] = [declared, side] }
      ""
    end
    rules = text.split(";").map(&:strip).reject(&:empty?).map { |r| r.split(":", 2).map(&:strip) }
    @start = rules[0][0]
    add("$start", [@start, "$end"])
    rules.each { |head, bodies| bodies.split("|", -1).each { |b| add(head, b.split) } }
    @by_head = @productions.group_by(&:head)
    @nonterminals = @by_head.keys
    @terminals = @productions.flat_map(&:body).uniq - @nonterminals
    find_nullable
    find_first
  end

  def terminal?(symbol) = !@by_head.key?(symbol)
  def nullable?(symbol) = @nullable[symbol]

  # What a sequence can begin with, when `after` follows it.
  def first_of(symbols, from, after)
    found = {}
    (from...symbols.size).each do |i|
      @first[symbols[i]].each_key { |t| found[t] = true }
      return found.keys unless nullable?(symbols[i])
    end
    found[after] = true
    found.keys
  end

  private

  def add(head, body)
    precedence = body.reverse.find { |s| @levels.key?(s) }
    @productions << Production.new(@productions.size, head, body, precedence && @levels[precedence])
  end

  def find_nullable
    @nullable = {}
    begin
      before = @nullable.size
      @productions.each { |p| @nullable[p.head] = true if p.body.all? { |s| @nullable[s] } }
    end while @nullable.size > before
  end

  def find_first
    @first = Hash.new { |h, k| h[k] = {} }
    @terminals.each { |t| @first[t][t] = true }
    begin
      changed = false
      @productions.each do |p|
        set = @first[p.head]
        before = set.size
        p.body.each do |s|
          set.merge!(@first[s])
          break unless @nullable[s]
        end
        changed ||= set.size > before
      end
    end while changed
  end
end

# A production with a point in its body, and what may follow it.
class Item
  attr_reader :production, :point, :ahead

  def initialize(production, point, ahead)
    @production = production
    @point = point
    @ahead = ahead
  end

  def next_symbol = @production.body[@point]
  def advanced = Item.new(@production, @point + 1, @ahead)
  def core = @production.number * 64 + @point
  def hash = core * 31 + @ahead.hash
  def eql?(other) = @production.equal?(other.production) && @point == other.point && @ahead == other.ahead
  def to_s = "#{@production.head} -> #{(@production.body.dup.insert(@point, ".")).join(" ")}, #{@ahead}"
end

class State
  attr_reader :number, :kernel, :items, :edges

  def initialize(number)
    @number = number
    @kernel = {}
    @items = []
    @edges = {}
  end

  # Takes in more kernel items; true when some were new.
  def merge(items)
    before = @kernel.size
    items.each { |i| @kernel[i] = true }
    @kernel.size > before
  end

  def close(grammar)
    seen = @kernel.dup
    todo = @kernel.keys
    until todo.empty?
      item = todo.pop
      symbol = item.next_symbol
      next if symbol.nil? || grammar.terminal?(symbol)
      follow = grammar.first_of(item.production.body, item.point + 1, item.ahead)
      grammar.by_head[symbol].each do |p|
        follow.each do |t|
          new = Item.new(p, 0, t)
          next if seen.key?(new)
          seen[new] = true
          todo << new
        end
      end
    end
    @items = seen.keys
  end
end

class Generator
  attr_reader :states, :conflicts

  def initialize(grammar)
    @grammar = grammar
    @states = []
    @by_core = {}
    @conflicts = 0
    build
    fill
  end

  # The next action for a terminal, or the next state for a nonterminal.
  def action(state, symbol) = @table[state][symbol]

  def to_s
    lines = ["# #{@grammar.name}: #{@states.size} states, #{@conflicts} conflicts"]
    @table.each_with_index do |row, n|
      lines << "#{n}: " + row.sort_by { |s, _| s }.map { |s, (what, to)| "#{s}=#{what}#{to}" }.join(" ")
    end
    lines.join("\n")
  end

  private

  def build
    first = state_for([Item.new(@grammar.productions[0], 0, "$end")])
    first.merge([Item.new(@grammar.productions[0], 0, "$end")])
    todo = [first]
    until todo.empty?
      state = todo.shift
      state.close(@grammar)
      state.items.group_by(&:next_symbol).each do |symbol, items|
        next if symbol.nil? || symbol == "$end"
        kernel = items.map(&:advanced)
        target = state_for(kernel)
        state.edges[symbol] = target
        todo << target if target.merge(kernel) && !todo.include?(target)
      end
    end
  end

  def state_for(kernel)
    core = kernel.map(&:core).uniq.sort
    @by_core[core] ||= begin
      state = State.new(@states.size)
      @states << state
      state
    end
  end

  def fill
    @table = @states.map do |state|
      row = {}
      state.edges.each { |symbol, target| row[symbol] = [@grammar.terminal?(symbol) ? "s" : "g", target.number] }
      state.items.each do |item|
        if item.next_symbol == "$end"
          row["$end"] = ["a", 0]
        elsif item.next_symbol.nil?
          reduce(row, item)
        end
      end
      row
    end
  end

  # Precedence decides between shifting and reducing; else the shift, or the earlier production, and it counts as a conflict.
  def reduce(row, item)
    production = item.production
    known = row[item.ahead]
    return row[item.ahead] = ["r", production.number] if known.nil? || known == ["r", production.number]
    ours = production.precedence
    theirs = @grammar.levels[item.ahead]
    if known[0] == "s" && ours && theirs
      row[item.ahead] = ["r", production.number] if ours[0] > theirs[0] || (ours[0] == theirs[0] && ours[1] == :left)
    else
      @conflicts += 1
      row[item.ahead] = ["r", production.number] if known[0] == "r" && known[1] > production.number
    end
  end
end

Tree = Struct.new(:symbol, :children) do
  def size = 1 + children.sum { |c| c.is_a?(Tree) ? c.size : 1 }
end

# Runs a generated table over a sentence; nil when it does not belong to the language.
class Machine
  def initialize(grammar, table)
    @grammar = grammar
    @table = table
  end

  def parse(words)
    states = [0]
    values = []
    at = 0
    loop do
      word = words[at] || "$end"
      what, to = @table.action(states.last, word)
      case what
      when "s"
        states.push(to)
        values.push(word)
        at += 1
      when "r"
        production = @grammar.productions[to]
        count = production.body.size
        children = count.zero? ? [] : values.pop(count)
        states.pop(count)
        values.push(Tree.new(production.head, children))
        states.push(@table.action(states.last, production.head)[1])
      when "a" then return values.last
      else return nil
      end
    end
  end
end

# Sentences of a grammar: bodies are drawn until the depth is used up, then the shortest.
class Speaker
  def initialize(grammar, dice)
    @grammar = grammar
    @dice = dice
    @least = Hash.new(1_000)
    @grammar.terminals.each { |t| @least[t] = 0 }
    8.times { @grammar.productions.each { |p| @least[p.head] = [@least[p.head], 1 + (p.body.map { |s| @least[s] }.max || 0)].min } }
  end

  def say(symbol, depth)
    return [symbol] if @grammar.terminal?(symbol)
    choices = @grammar.by_head[symbol]
    choices = [choices.min_by { |p| p.body.map { |s| @least[s] }.max || 0 }] if depth <= 0
    choices[@dice.below(choices.size)].body.flat_map { |s| say(s, depth - 1) }
  end
end

GRAMMARS = [<<~EXPRESSIONS, <<~JSON, <<~LANGUAGE, <<~QUERIES].freeze
  # expressions
  %right =
  %left or and
  %left < > ==
  %left + -
  %left * /
  %right ^
  list: expr | list , expr ;
  expr: expr + expr | expr - expr | expr * expr | expr / expr | expr ^ expr | expr < expr | expr > expr | expr == expr
      | expr and expr | expr or expr | name = expr | ( expr ) | number | name | name ( args ) | name [ expr ] ;
  args: | list ;
EXPRESSIONS
  # json
  value: object | array | string | number | true | false | null ;
  object: { } | { members } ;
  members: pair | members , pair ;
  pair: string ~ value ;
  array: [ ] | [ elements ] ;
  elements: value | elements , value ;
JSON
  # language
  %left or
  %left and
  %left == <
  %left + -
  %left * /
  program: units ;
  units: | units unit ;
  unit: def name ( params ) block | class name parent { units } | statement ;
  parent: | < name ;
  params: | names ;
  names: name | names , name ;
  block: { statements } ;
  statements: | statements statement ;
  statement: target = expr . | call . | if expr block otherwise | while expr block | return expr . | for name in expr block | break . ;
  otherwise: | else block | elsif expr block otherwise ;
  target: name | target [ expr ] | target -> name ;
  call: target ( args ) ;
  args: | exprs ;
  exprs: expr | exprs , expr ;
  expr: expr + expr | expr - expr | expr * expr | expr / expr | expr == expr | expr < expr | expr and expr | expr or expr
      | not primary | primary ;
  primary: number | string | target | call | ( expr ) | [ args ] | fn ( params ) block ;
LANGUAGE
  # queries
  %left union
  %left or
  %left and
  %left = < >
  query: select | query union select ;
  select: pick distinct columns from tables where group order ;
  distinct: | unique ;
  columns: * | fields ;
  fields: field | fields , field ;
  field: term alias ;
  alias: | as name ;
  tables: table | tables , table | tables join table on cond ;
  table: name alias | ( query ) as name ;
  where: | when cond ;
  cond: cond and cond | cond or cond | not ( cond ) | term = term | term < term | term > term | term in ( query ) | exists ( query ) ;
  group: | group by terms having ;
  having: | having cond ;
  order: | order by terms ;
  terms: term | terms , term ;
  term: name | name . name | number | string | name ( terms ) ;
QUERIES

size = Integer(ARGV[0] || 20)
dice = Dice.new(99)
sum = 0
(size / 3 + 1).times do
  GRAMMARS.each do |text|
    grammar = Grammar.new(text)
    table = Generator.new(grammar)
    written = table.to_s
    sum = (sum * 31 + written.bytesize + written.sum + table.conflicts) % 1_000_003
    machine = Machine.new(grammar, table)
    speaker = Speaker.new(grammar, dice)
    60.times do
      words = speaker.say(grammar.start, 7)
      next if words.size > 4000
      tree = machine.parse(words)
      sum = (sum * 31 + words.size + (tree ? tree.size : 0)) % 1_000_003
    end
  end
end
puts "checksum #{sum}"
