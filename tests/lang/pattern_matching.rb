def m(x)
  case x
  in Integer => n if n > 100 then "big #{n}"
  in 0 | 1 then "bit"
  in Integer | Float then "num"
  in [] then "empty"
  in [x] then "one #{x}"
  in [Integer => a, [b, *c]] then "nested #{a} #{b} #{c}"
  in [first, *, last] then "ends #{first} #{last}"
  in { type: :circle, r: } then "circle #{r}"
  in { name: String => name, age: 18.. => age } then "adult #{name} #{age}"
  in { name:, **rest } then "named #{name} #{rest.size}"
  in {} then "empty hash"
  in String => s unless s.empty? then "str #{s}"
  in nil then "nil"
  in ^$pinned then "pinned"
  else "other"
  end
end
$pinned = :pin
[500, 1, 7, 2.5, [], [1], [1, [2, 3, 4]], [1, 2, 3], { type: :circle, r: 3 }, { name: "A", age: 20 }, { name: 1, z: 2 }, {}, "s", "", nil, :pin, :q].each { |x| puts m(x) }
config = { db: { user: "admin", ports: [1, 2, 3] } }
config => { db: { user:, ports: [first, *] } }
p user, first
p((1 in Integer), ("x" in Integer), ({ a: 1 } in { a: Integer }))
begin
  5 => String
rescue NoMatchingPatternError => e
  puts e.class
end
begin
  case { a: 1 }
  in { b: } then 1
  end
rescue NoMatchingPatternKeyError => e
  p e.class, e.key
end
Point = Struct.new(:x, :y)
case Point.new(1, 2)
in [x, y] then p [:arr, x, y]
end
case Point.new(1, 2)
in { x:, y: } then p [:hash, x, y]
end
case Point.new(3, 4)
in Point(x:, y: 4) then p x
end
class Deco
  def deconstruct = [1, 2]
  def deconstruct_keys(keys) = { keys: keys }
end
case Deco.new
in [a, b] then p a + b
end
case Deco.new
in { keys: } then p keys
end
val = 5
case 5
in ^val then puts "pin ok"
end
case 6
in ^(val + 1) then puts "pin expr"
end
case [1, 42, "x", :y]
in [*, String => s, *post] then p s, post
end
case { a: 1, b: 2 }
in { a: 1, **nil } then p :exact
in { a: 1, **r } then p r.keys
end
in_check = { status: "ok", items: [{ id: 1 }, { id: 2 }] }
if in_check in { status: "ok", items: [{ id: Integer => id }, *] }
  p id
end
arr = [1, [2, [3, nil]]]
arr => [a, [b, [c, nil]]]
p a + b + c
case ["cmd", { verbose: true }]
in [String => c, { verbose: true | false => v }] then p c, v
end
case 1.5
in 1..2 then p :range
end
