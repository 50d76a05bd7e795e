# What each method of Enumerable gives to lambdas, procs, symbols and methods, from every kind of `each`: one value, several, none.
class Multi; include Enumerable; def each; yield 1, 2; yield 3; yield; yield [4, 5]; yield 6, [7]; self; end; end
class Pairs; include Enumerable; def each; yield :a, 1; yield :b, 2; self; end; end
require "set"
def sh(v)
  case v
  when Array then "[" + v.map { |x| sh(x) }.join(", ") + "]"
  when Hash then "{" + v.to_a.map { |k, x| sh(k) + "=>" + sh(x) }.join(", ") + "}"
  when Set then "S" + sh(v.to_a)
  when Enumerator then "enum"
  else v.inspect
  end
end
def t(l)
  r = begin; yield; rescue ArgumentError, TypeError, NoMethodError, LocalJumpError, FrozenError, IndexError => e; e.class; end
  s = sh(r)
  $row << "#{l} #{s}"
end
def m2(a, b) = [a, b]
def mr(*a) = a
blocks = {
  l0: -> { :n }, l1: ->(a) { [a] }, l2: ->(a, b) { [a, b] }, lo: ->(a, b = 9) { [a, b] }, lr: ->(*a) { a }, lar: ->(a, *b) { [a, b] }, ld: ->((a, b)) { [a, b] },
  lk: ->(a, k: 1) { [a, k] }, p2: proc { |a, b| [a, b] }, pr: proc { |*a| a }, p1c: proc { |a,| [a] }, sy: :inspect.to_proc, me2: method(:m2), mer: method(:mr)
}
recv = { multi: -> { Multi.new }, pairs: -> { Pairs.new.to_enum }, hash: -> { {a: 1, b: 2} }, hash_each: -> { {a: 1}.each }, lists: -> { [[1, 2], [3, 4]] }, range: -> { 1..2 }, with_object: -> { [5].each_with_object([]) } }
meths = %i[all? any? none? one? chunk chunk_while collect collect_concat count cycle detect drop_while each_entry each_with_index filter filter_map find find_all find_index flat_map group_by inject map max max_by min min_by minmax_by partition reduce reject reverse_each select slice_after slice_before slice_when sort sort_by sum take_while tally_by to_h to_set uniq zip each_with_object each_cons each_slice lazy_map lazy_select lazy_filter_map lazy_flat_map lazy_take_while lazy_reject lazy_zip lazy_uniq lazy_tally lazy_with_index each with_index map_with_index]
recv.each do |rn, mk|
  meths.each do |m|
    $row = []
    blocks.each do |bn, b|
      args = case m when :each_cons, :each_slice then [2] when :each_with_object then [[]] when :zip then [[8, 9]] when :cycle then [1] when :map_with_index, :with_index then [1] else [] end
      t(bn) do
        o = mk.call
        r = case m
        when :lazy_map then o.lazy.map(&b).to_a
        when :lazy_zip then o.lazy.zip([1,2]).map(&b).to_a
        when :lazy_tally then o.lazy.each_with_index.map(&b).to_a
        when :lazy_with_index then o.lazy.with_index(1, &b).to_a
        when /\Alazy_(.*)/ then o.lazy.send($1, &b).first(3)
        when :map_with_index then o.map.with_index(1, &b)
        when :with_index then o.each_entry.with_index(1, &b); 
        when :chunk, :chunk_while, :slice_after, :slice_before, :slice_when then o.send(m, &b).to_a
        when :tally_by then o.group_by(&b).transform_values(&:size)
        else o.send(m, *args, &b)
        end
        r = r.class if r.equal?(o)
        r = r.class if r.is_a?(Multi) || r.is_a?(Pairs) || r.class.superclass == Struct
        r
      end
    end
    puts "#{rn} #{m}: " + $row.group_by { |x| x.split(" ", 2)[1] }.map { |v, l| l.map { |x| x.split(" ", 2)[0] }.join(",") + " " + v }.join("; ")
  end
end
