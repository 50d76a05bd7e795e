# An Array that its own block or conversion freezes, and what it is after that.
def t(name, a = [3, 1, 2, 2, [5, [6]]])
  a = a.dup
  begin
    r = yield a
    out = r.equal?(a) ? "itself" : r.inspect
  rescue => e
    out = e.class.to_s
  end
  puts "#{name}: #{out} #{a.inspect} #{a.frozen?}"
end
N = [3, 1, 2, 2]
conv = ->(a, n) { o = Object.new; o.define_singleton_method(:to_int) { a.freeze; n }; o }
ary = ->(a, v) { o = Object.new; o.define_singleton_method(:to_ary) { a.freeze; v }; o }
t("fill") { |a| a.fill(0, conv.(a, 1), 2) }
t("sort_by!", N) { |a| a.sort_by! { |x| a.freeze; x } }
t("sort! block", N) { |a| a.sort! { |x, y| a.freeze; x <=> y } }
t("map!") { |a| a.map! { |x| a.freeze; x } }
t("select!") { |a| a.select! { |x| a.freeze; x == 1 } }
t("reject!") { |a| a.reject! { |x| a.freeze; x == 1 } }
t("keep_if") { |a| a.keep_if { |x| a.freeze; x == 1 } }
t("delete_if") { |a| a.delete_if { |x| a.freeze; x == 1 } }
t("uniq! block") { |a| a.uniq! { |x| a.freeze; x } }
t("concat") { |a| a.concat(ary.(a, [9])) }
t("concat two") { |a| a.concat([8], ary.(a, [9])) }
t("flatten! depth") { |a| a.flatten!(conv.(a, 1)) }
t("insert") { |a| a.insert(conv.(a, 1), 7) }
t("slice!") { |a| a.slice!(conv.(a, 1), 2) }
t("delete_at") { |a| a.delete_at(conv.(a, 1)) }
t("[]=") { |a| a[conv.(a, 1)] = 7 }
t("[]= range") { |a| a[conv.(a, 1), 2] = 7 }
t("[]= ary") { |a| a[1, 2] = ary.(a, [9]) }
t("initialize") { |a| a.send(:initialize, conv.(a, 2), 0) }
t("initialize array") { |a| a.send(:initialize, ary.(a, [4])) }
t("rotate!") { |a| a.rotate!(conv.(a, 1)) }
t("shift") { |a| a.shift(conv.(a, 1)) }
t("delete") { |a| a.delete(Object.new.tap { |o| o.define_singleton_method(:==) { |x| a.freeze; true } }) }
t("delete block") { |a| a.delete(77) { a.freeze; 1 } }
t("compact!") { |a| a.compact! }
h = { 1 => 2, 3 => 4 }
tell = lambda do |name, it, &block|
  out = begin
    block.call(it)
    "changed"
  rescue => e
    e.class.to_s
  end
  puts "#{name}: #{out} #{(it.is_a?(Hash) ? it.to_a : it).inspect} #{it.frozen?}"
end
tell.("string", +"abc") { |s| s.freeze.send(:initialize, capacity: 100) }
tell.("delete_if", h.dup) { |x| x.delete_if { x.freeze; true } }
tell.("keep_if", h.dup) { |x| x.keep_if { x.freeze; false } }
tell.("transform_values!", h.dup) { |x| x.transform_values! { |v| x.freeze; v } }
tell.("merge!", h.dup) { |x| x.merge!({ 1 => 5, 6 => 7 }) { |_, v| x.freeze; v } }
tell.("default_proc", h.dup) { |x| x.freeze.default_proc = proc {} }
