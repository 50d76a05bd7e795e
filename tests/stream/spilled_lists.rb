# Elements with lists on disk: what a bounded flow gives is what an unbounded one gives.
require "kumihimo/xml"
class Sub < Kumihimo::XTree
  field :n, Integer
end
class Group < Kumihimo::XTree
  field :name, attribute: true
  list :subs, Sub, element: "sub"
  list :tags, Integer, element: "tag"
end
class Deep < Kumihimo::XTree
  field :id, Integer
  field :color, optional: true
  field :key, attribute: "k"
  field :group, Group, optional: true
  list :groups, Group, element: "g"
end
class Doc < Kumihimo::XTree
  list :deeps, Deep, element: "deep"
end
X = "<d>" + (1..300).map { |i| "<deep k='k#{i}'><id>#{301-i}</id>#{"<color>c</color>" if i.even?}<g name='a&amp;#{i}'><sub><n>#{i}</n></sub><tag>1</tag><tag>2</tag></g><g name='b'/><group name='solo'><tag>#{i}</tag></group></deep>" }.join + "</d>"
show = ->(d) { [d.key, d.id, d.color, d.group.name, d.group.tags.to_a, d.groups.map { |g| [g.name, g.subs.map(&:n).to_a, g.tags.to_a] }.to_a, d.position] }
a = Kumihimo::XML.parse(X, Doc).deeps.sort_by(:id, rows: 20).map(&show).to_a
b = Kumihimo::XML.parse(X, Doc).deeps.sort_by(:id).map(&show).to_a
p a == b, a.size, a[3], b[3]
p a.zip(b).find { |x, y| x != y }
p Kumihimo::XML.parse(X, Doc).deeps.join(Kumihimo::XML.parse(X, Doc).deeps, on: :id, rows: 20).map { |x, y| [x.id == y.id, y.groups.count] }.tally
p Kumihimo::XML.stat[:opened]
begin
  Kumihimo::XML.parse(X, Doc).deeps.map { |d| d.remove_groups; d }.sort_by(:id, rows: 20).to_a
rescue => e
  puts e.message
end

# Dumps come from outside: what is no dump is refused.
schema = Deep.__schema
items = Kumihimo::XML::Parts.of(Kumihimo::XML.parse(X, Doc).deeps.first)
p Kumihimo::XTree.instance_method(:position).bind_call(Deep.__unpack_elements([items]).first)
rng = Random.new(7)
refused = 500.times.count do
  bad = items.map(&:dup)
  rng.rand(1..3).times do
    at = rng.rand(bad.size)
    case rng.rand(4)
    when 0 then bad.delete_at(at)
    when 1 then bad[at] = [nil, -1, 70_000, "", "\xFF", 2**70].sample(random: rng)
    when 2 then bad.insert(at, bad[rng.rand(bad.size)])
    else bad[at] = bad[at].is_a?(String) ? bad[at].byteslice(0, rng.rand(bad[at].bytesize + 1)) : rng.rand(5)
    end
  end
  begin
    Deep.__unpack_elements([bad]).each(&show)
    false
  rescue TypeError, Kumihimo::XML::Error, NoMethodError
    true
  end
end
p refused > 300
