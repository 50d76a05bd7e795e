# Lambdas with two parameters as blocks: who gives them a pair as two values, and who does not.
def t(label)
  r = begin; yield; rescue ArgumentError, TypeError => e; e.class; end
  puts "#{label}: #{r.inspect}"
end
lambdas = {
  none: -> { :none }, one: ->(a) { [a] }, two: ->(a, b) { [a, b] }, some: ->(a, b = 9) { [a, b] }, any: ->(*a) { a },
  three: ->(a, b, c) { [a, b, c] }, many: ->(a, b, *c) { [a, b, c] }, apart: ->((a, b)) { [a, b] }, method: [].method(:push)
}
lambdas.each do |name, l|
  %i[map collect flat_map each each_pair any? select reject filter_map count find].each do |m|
    t("Hash##{m} #{name}") { r = {1 => 2}.send(m, &l); name == :method ? r.class : r }
  end
  t("Array#zip #{name}") { r = []; [1].zip([2]) { |*x| r << x }; [1].zip([2], &l) }
  t("Array#map #{name}") { r = [[1, 2]].map(&l); name == :method ? r.class : r }
  t("Array#uniq #{name}") { [[1, 2]].uniq(&l) }
  t("Array#each_with_index #{name}") { [[1, 2]].each_with_index(&l) }
  t("Array#inject #{name}") { r = [1, 2].inject(&l); name == :method ? r.class : r }
  t("each_with_object #{name}") { [1].each_with_object([], &l) }
end
p({1 => 2}.map(&:first), {1 => 2}.map(&{[1, 2] => :x}), [1].zip([2], &:inspect))
