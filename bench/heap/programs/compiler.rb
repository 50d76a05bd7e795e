# A compiler's front end, after javac: source text of a small typed language is generated, then scanned, parsed to a tree,
# resolved against nested symbol tables, type-checked, folded, and emitted as stack code with jumps patched and a peephole pass.
# usage: compiler.rb [SIZE=20]
class Dice
  def initialize(seed) = @state = seed
  def below(n)
    @state = (@state * 1_103_515_245 + 12_345) & 0x7fffffff
    (@state >> 8) % n
  end
  def pick(list) = list[below(list.size)]
end

# Writes units of source text that compile without an error.
class Writer
  def initialize(seed)
    @dice = Dice.new(seed)
    @functions = []
  end

  def unit(functions)
    out = +"record Point { x: int; y: int; weight: float; }\nrecord Node { at: Point; next: Node; name: string; }\n"
    functions.times { |i| out << function(i) }
    out
  end

  private

  def function(number)
    count = @dice.below(4)
    params = Array.new(count) { |i| ["a#{i}", "int"] }
    @names = params.map(&:first)
    @floats = []
    body = block(2 + @dice.below(5), 1)
    text = "// Function #{number} of this unit.\nfunc f#{number}(#{params.map { |n, t| "#{n}: #{t}" }.join(", ")}): int {\n#{body}  return #{expression(2)};\n}\n"
    @functions << ["f#{number}", count]
    text
  end

  def block(statements, depth)
    ints = @names.dup
    floats = @floats.dup
    out = +""
    statements.times { out << "#{"  " * depth}#{statement(depth)}\n" }
    @names = ints if depth > 1
    @floats = floats if depth > 1
    out
  end

  def statement(depth)
    case @dice.below(depth > 3 ? 5 : 8)
    when 0, 1
      name = "v#{@names.size}_#{depth}_#{@dice.below(1000)}"
      text = "let #{name}: int = #{expression(2)};"
      @names += [name]
      text
    when 2
      name = "w#{@floats.size}_#{depth}_#{@dice.below(1000)}"
      text = "let #{name}: float = #{@dice.below(90)}.#{@dice.below(10)} * #{@floats.empty? ? "2.5" : @dice.pick(@floats)};"
      @floats += [name]
      text
    when 3 then @names.empty? ? "print(\"nothing yet\");" : "#{@dice.pick(@names)} = #{expression(3)};"
    when 4 then "print(\"value \", #{expression(1)});"
    when 5 then "while (#{condition}) {\n#{block(1 + @dice.below(3), depth + 1)}#{"  " * depth}}"
    when 6 then "if (#{condition}) {\n#{block(1 + @dice.below(3), depth + 1)}#{"  " * depth}} else {\n#{block(1, depth + 1)}#{"  " * depth}}"
    else
      name = "p#{@names.size}_#{depth}_#{@dice.below(1000)}"
      @names += ["#{name}.x"]
      "let #{name}: Point = new Point; #{name}.x = #{expression(1)}; #{name}.weight = 1.5 + 2.0;"
    end
  end

  def condition = "#{expression(1)} #{@dice.pick(%w[< > <= >= == !=])} #{expression(1)}"

  def expression(depth)
    kind = depth <= 0 ? @dice.below(2) : @dice.below(6)
    case kind
    when 0 then @dice.below(1000).to_s
    when 1 then @names.empty? ? "7" : @dice.pick(@names)
    when 2, 3, 4 then "#{expression(depth - 1)} #{@dice.pick(%w[+ - *])} #{expression(depth - 1)}"
    else
      name, count = @functions.empty? ? nil : @dice.pick(@functions)
      name ? "#{name}(#{Array.new(count) { expression(depth - 1) }.join(", ")})" : "(#{expression(depth - 1)} - 1)"
    end
  end
end

class CompileError < StandardError; end

Token = Struct.new(:kind, :text, :line)

class Lexer
  KEYWORDS = %w[record func let while if else return new print].to_h { |w| [w, w.to_sym] }.freeze
  PATTERN = %r{\G(?:(\s+)|(//[^\n]*)|([A-Za-z_]\w*)|(\d+\.\d+)|(\d+)|("(?:[^"\\]|\\.)*")|(<=|>=|==|!=|[-+*/<>={}();:,.]))}

  def initialize(text)
    @text = text
  end

  def tokens
    found = []
    at = 0
    line = 1
    while at < @text.size
      match = PATTERN.match(@text, at) or raise CompileError, "line #{line}: what is #{@text[at]}?"
      at = match.end(0)
      if match[1]
        line += match[1].count("\n")
      elsif match[3]
        found << Token.new(KEYWORDS[match[3]] || :name, match[3], line)
      elsif match[4]
        found << Token.new(:float, match[4], line)
      elsif match[5]
        found << Token.new(:int, match[5], line)
      elsif match[6]
        found << Token.new(:string, match[6][1..-2], line)
      elsif match[7]
        found << Token.new(match[7].to_sym, match[7], line)
      end
    end
    found << Token.new(:end, "", line)
  end
end

# The tree. Expressions get their type from the checker.
class Node
  attr_accessor :type
  attr_reader :line

  def initialize(line)
    @line = line
    @type = nil
  end

  def self.with(*fields)
    Class.new(self) do
      attr_accessor(*fields)
      define_method(:initialize) do |line, *values|
        super(line)
        fields.zip(values) { |f, v| instance_variable_set(:"@#{f}", v) }
      end
    end
  end
end

Record = Node.with(:name, :fields)
Function = Node.with(:name, :params, :result, :body)
Let = Node.with(:name, :declared, :value, :slot)
Assign = Node.with(:target, :value)
While = Node.with(:condition, :body)
If = Node.with(:condition, :then, :otherwise)
Return = Node.with(:value)
Print = Node.with(:args)
Block = Node.with(:statements)

class Literal < Node
  attr_reader :value
  def initialize(line, value, type)
    super(line)
    @value = value
    @type = type
  end
end

class Name < Node
  attr_reader :name
  attr_accessor :symbol
  def initialize(line, name)
    super(line)
    @name = name
  end
end

class Binary < Node
  attr_reader :op
  attr_accessor :left, :right
  def initialize(line, op, left, right)
    super(line)
    @op = op
    @left = left
    @right = right
  end
end

class Call < Node
  attr_reader :name, :args
  def initialize(line, name, args)
    super(line)
    @name = name
    @args = args
  end
end

class Field < Node
  attr_reader :object, :name
  def initialize(line, object, name)
    super(line)
    @object = object
    @name = name
  end
end

class New < Node
  attr_reader :name
  def initialize(line, name)
    super(line)
    @name = name
  end
end

class Parser
  LEVELS = [%i[== != < > <= >=], %i[+ -], %i[* /]].freeze

  def initialize(tokens)
    @tokens = tokens
    @at = 0
  end

  def unit
    found = []
    found << (peek == :record ? record : function) until peek == :end
    found
  end

  private

  def peek = @tokens[@at].kind
  def line = @tokens[@at].line

  def take(kind)
    token = @tokens[@at]
    raise CompileError, "line #{token.line}: #{kind} expected, not #{token.text}" unless token.kind == kind
    @at += 1
    token
  end

  def accept?(kind) = peek == kind && (@at += 1)

  def list(stop)
    found = []
    until accept?(stop)
      take(:",") unless found.empty?
      found << yield
    end
    found
  end

  def record
    at = take(:record).line
    name = take(:name).text
    take(:"{")
    fields = {}
    until accept?(:"}")
      field = take(:name).text
      take(:":")
      fields[field] = take(:name).text
      take(:";")
    end
    Record.new(at, name, fields)
  end

  def function
    at = take(:func).line
    name = take(:name).text
    take(:"(")
    params = list(:")") do
      param = take(:name).text
      take(:":")
      [param, take(:name).text]
    end
    take(:":")
    Function.new(at, name, params, take(:name).text, block)
  end

  def block
    at = take(:"{").line
    found = []
    found << statement until accept?(:"}")
    Block.new(at, found)
  end

  def statement
    at = line
    case peek
    when :let
      take(:let)
      name = take(:name).text
      take(:":")
      declared = take(:name).text
      take(:"=")
      finish Let.new(at, name, declared, expression, nil)
    when :while
      take(:while)
      While.new(at, parenthesised, block)
    when :if
      take(:if)
      If.new(at, parenthesised, block, accept?(:else) ? block : nil)
    when :return
      take(:return)
      finish Return.new(at, expression)
    when :print
      take(:print)
      take(:"(")
      finish Print.new(at, list(:")") { expression })
    else
      target = postfix
      take(:"=")
      finish Assign.new(at, target, expression)
    end
  end

  def finish(node)
    take(:";")
    node
  end

  def parenthesised
    take(:"(")
    found = expression
    take(:")")
    found
  end

  def expression(level = 0)
    return postfix if level == LEVELS.size
    left = expression(level + 1)
    while LEVELS[level].include?(peek)
      token = take(peek)
      left = Binary.new(token.line, token.kind, left, expression(level + 1))
    end
    left
  end

  def postfix
    found = primary
    found = Field.new(line, found, take(:name).text) while accept?(:".")
    found
  end

  def primary
    at = line
    case peek
    when :int then Literal.new(at, Integer(take(:int).text), "int")
    when :float then Literal.new(at, Float(take(:float).text), "float")
    when :string then Literal.new(at, take(:string).text, "string")
    when :"(" then parenthesised
    when :new
      take(:new)
      New.new(at, take(:name).text)
    else
      name = take(:name).text
      accept?(:"(") ? Call.new(at, name, list(:")") { expression }) : Name.new(at, name)
    end
  end
end

Variable = Struct.new(:name, :type, :slot)

# Names in one block; what it does not know, the block around it may.
class Scope
  def initialize(outer = nil)
    @outer = outer
    @names = {}
  end

  def find(name) = @names[name] || @outer&.find(name)
  def add(variable) = @names[variable.name] = variable
end

# Resolves names and types, and folds what is constant.
class Checker
  def initialize(unit)
    @records = unit.grep(Record).to_h { |r| [r.name, r] }
    @functions = unit.grep(Function).to_h { |f| [f.name, f] }
  end

  def check
    @functions.each_value do |function|
      @slots = 0
      @result = function.result
      scope = Scope.new
      function.params.each { |name, type| declare(scope, name, type) }
      statement(function.body, Scope.new(scope))
      function.type = @slots
    end
  end

  private

  def declare(scope, name, type)
    variable = scope.add(Variable.new(name, type, @slots))
    @slots += 1
    variable
  end

  def statement(node, scope)
    case node
    when Block
      inner = Scope.new(scope)
      node.statements.each { |s| statement(s, inner) }
    when Let
      node.value = want(node.value, node.declared, scope)
      node.slot = declare(scope, node.name, node.declared).slot
    when Assign
      node.target = value(node.target, scope)
      node.value = want(node.value, node.target.type, scope)
    when While
      node.condition = want(node.condition, "bool", scope)
      statement(node.body, scope)
    when If
      node.condition = want(node.condition, "bool", scope)
      statement(node.then, scope)
      statement(node.otherwise, scope) if node.otherwise
    when Return then node.value = want(node.value, @result, scope)
    when Print then node.args = node.args.map { |a| value(a, scope) }
    end
  end

  def want(node, type, scope)
    found = value(node, scope)
    raise CompileError, "line #{node.line}: #{type} wanted, #{found.type} found" unless found.type == type
    found
  end

  # The expression, typed; another node where it could be folded.
  def value(node, scope)
    case node
    when Name
      node.symbol = scope.find(node.name) or raise CompileError, "line #{node.line}: nothing is called #{node.name}"
      node.type = node.symbol.type
    when Binary
      node.left = value(node.left, scope)
      node.right = want(node.right, node.left.type, scope)
      return fold(node) if node.left.is_a?(Literal) && node.right.is_a?(Literal) && !Parser::LEVELS[0].include?(node.op)
      node.type = Parser::LEVELS[0].include?(node.op) ? "bool" : node.left.type
    when Call
      function = @functions[node.name] or raise CompileError, "line #{node.line}: no function #{node.name}"
      node.args.each_with_index { |a, i| node.args[i] = want(a, function.params[i][1], scope) }
      node.type = function.result
    when Field
      object = value(node.object, scope)
      node.type = @records.fetch(object.type).fields.fetch(node.name)
    when New then node.type = node.name
    end
    node
  end

  def fold(node)
    a = node.left.value
    b = node.right.value
    result = case node.op
             when :+ then a + b
             when :- then a - b
             when :* then a * b
             else return node
             end
    Literal.new(node.line, result, node.left.type)
  end
end

Instruction = Struct.new(:op, :arg)

class Emitter
  OPS = { :+ => :add, :- => :sub, :* => :mul, :/ => :div, :== => :eq, :!= => :ne, :< => :lt, :> => :gt, :<= => :le, :>= => :ge }.freeze

  def function(node)
    @code = []
    statement(node.body)
    peephole
    "#{node.name} #{node.type}\n" + @code.each_with_index.map { |i, n| "#{n.to_s.rjust(5)} #{i.op} #{i.arg}" }.join("\n")
  end

  private

  def emit(op, arg = nil)
    @code << Instruction.new(op, arg)
    @code.last
  end

  def statement(node)
    case node
    when Block then node.statements.each { |s| statement(s) }
    when Let
      value(node.value)
      emit(:store, node.slot)
    when Assign
      if node.target.is_a?(Field)
        value(node.target.object)
        value(node.value)
        emit(:put, node.target.name)
      else
        value(node.value)
        emit(:store, node.target.symbol.slot)
      end
    when While
      from = @code.size
      value(node.condition)
      exit = emit(:unless)
      statement(node.body)
      emit(:jump, from)
      exit.arg = @code.size
    when If
      value(node.condition)
      other = emit(:unless)
      statement(node.then)
      done = emit(:jump)
      other.arg = @code.size
      statement(node.otherwise) if node.otherwise
      done.arg = @code.size
    when Return
      value(node.value)
      emit(:return)
    when Print
      node.args.each { |a| value(a) }
      emit(:print, node.args.size)
    end
  end

  def value(node)
    case node
    when Literal then emit(:push, node.value)
    when Name then emit(:load, node.symbol.slot)
    when Binary
      value(node.left)
      value(node.right)
      emit(OPS.fetch(node.op))
    when Call
      node.args.each { |a| value(a) }
      emit(:call, node.name)
    when Field
      value(node.object)
      emit(:get, node.name)
    when New then emit(:new, node.name)
    end
  end

  # Jumps to jumps go where those go; a store and a load of the same slot become one instruction.
  def peephole
    @code.each do |i|
      next unless %i[jump unless].include?(i.op)
      i.arg = @code[i.arg].arg while @code[i.arg]&.op == :jump && @code[i.arg].arg != i.arg
    end
    targets = @code.select { |i| %i[jump unless].include?(i.op) }.to_h { |i| [i.arg, true] }
    @code.each_cons(2).with_index do |(a, b), n|
      next if targets[n + 1] || a.op != :store || b.op != :load || a.arg != b.arg
      a.op = :keep
      b.op = :nop
    end
  end
end

size = Integer(ARGV[0] || 20)
sum = 0
size.times do |n|
  text = Writer.new(n + 1).unit(40)
  unit = Parser.new(Lexer.new(text).tokens).unit
  Checker.new(unit).check
  code = unit.grep(Function).map { |f| Emitter.new.function(f) }.join("\n")
  sum = (sum * 31 + code.bytesize + code.sum) % 1_000_003
end
puts "checksum #{sum}"
