# Blocks that freeze or change what is being walked over or rewritten.
def t(l, r)
  x = begin; v = yield(r); v.equal?(r) ? :self : v; rescue Exception => e; "#{e.class}: #{e.message}"; end
  puts "#{l}: #{x.inspect} | #{r.inspect}"
end
ARR = %i[delete_if reject! select! keep_if filter! map! collect! sort! sort_by! uniq! each each_index each_with_index reverse_each cycle map reject find_index index rindex count any? all? none? one? sum min_by max_by group_by partition flat_map each_slice each_cons each_with_object inject take_while drop_while product combination permutation repeated_combination fill delete fetch zip uniq to_h sort sort_by min max minmax bsearch bsearch_index transpose times each_entry filter_map each_entry tally_by step collect_concat find detect rotate! shuffle! compact! flatten!]
ACTS = {freeze: ->(a) { a.freeze }, clear: ->(a) { a.clear }, pop: ->(a) { a.pop }, push: ->(a) { a.push(9) if a.size < 8 }, shift: ->(a) { a.shift }, replace: ->(a) { a.replace([7]) }}
(ARR.uniq - %i[shuffle! select fill minmax sum]).each do |m|
  next unless [].respond_to?(m)
  ACTS.each do |an, act|
    args = {each_slice: [2], each_cons: [2], each_with_object: [0], inject: [0], product: [[1]], combination: [2], permutation: [2], repeated_combination: [2], delete: [99], fetch: [99], zip: [[1]], cycle: [1]}[m] || []
    t("A.#{m} #{an}", [3, 1, 2, 1]) { |a| n = 0; a.send(m, *args) { |x, y| n += 1; raise StopIteration, "many" if n > 40; act.(a); case m when :sort!, :sort, :min, :max, :minmax then x <=> y when :to_h then [x, 1] when :bsearch, :bsearch_index then false when :each_with_object, :inject then 1 when :sort_by!, :sort_by, :min_by, :max_by then x else n.odd? end } }
  end
end
HM = %i[each each_pair each_key each_value delete_if reject! select! keep_if filter! map select reject transform_values transform_keys any? all? count find min_by group_by partition to_h filter_map each_with_index merge fetch delete sort_by flat_map compare_by_identity rehash store default_proc dig]
HA = {freeze: ->(h) { h.freeze }, clear: ->(h) { h.clear }, add: ->(h) { h[:zz] = 1 }, delete: ->(h) { h.delete(:b) }, set: ->(h) { h[:a] = 5 }, replace: ->(h) { h.replace({q: 1}) }, rehash: ->(h) { h.rehash }, shift: ->(h) { h.shift }}
HM.each do |m|
  HA.each do |an, act|
    args = {merge!: [{a: 3, z: 1}], update: [{a: 3, z: 1}], merge: [{a: 3}], fetch: [:nope], delete: [:nope], store: [1, 2], dig: [:a]}[m] || []
    t("H.#{m} #{an}", {a: 1, b: 2, c: 3}) { |h| n = 0; h.send(m, *args) { |x, y| n += 1; raise StopIteration, "many" if n > 40; act.(h); case m when :to_h then [x, y] when :transform_keys!, :transform_keys then x.to_s when :sort_by, :min_by then n else n.odd? end } }
  end
end
SM = {gsub: [/./], gsub!: [/./], sub: [/b/], sub!: [/b/], scan: [/./], each_char: [], each_line: [], each_byte: [], each_grapheme_cluster: [], each_codepoint: [], upto: ["abz"], split: [""], chars: [], partition: ["b"], index: ["b"], tr: ["a", "b"], bytes: [], lines: [], codepoints: []}
SA = {freeze: ->(s) { s.freeze }, clear: ->(s) { s.clear }, append: ->(s) { s << "zz" if s.size < 20 }, replace: ->(s) { s.replace("Q") }, setc: ->(s) { s[0] = "é" }, enc: ->(s) { s.force_encoding("BINARY") }, shrink: ->(s) { s.slice!(1..) }}
SM.each do |m, args|
  SA.each do |an, act|
    t("S.#{m} #{an}", +"abc\ndef") { |s| n = 0; s.send(m, *args) { |x| n += 1; raise StopIteration, "many" if n > 40; act.(s); "X" } }
  end
end
t("gsub block frozen then", +"abc") { |s| s.gsub!(/b/) { s.freeze; "x" } }
t("sub! clear", +"abc") { |s| s.sub!(/b/) { s.clear; "x" } }
t("gsub! hash", +"abc") { |s| s.gsub!(/b/, "b" => "q") }
t("fill clear", [1, 2, 3]) { |a| a.fill { |i| a.clear; i } }
t("Array.new", 1) { Array.new(3) { |i| i } }
t("flatten hook", [1]) { |a| o = Object.new; o.define_singleton_method(:to_ary) { a.clear; [9] }; a << o; a.flatten! }
t("concat self", [1, 2]) { |a| a.concat(a, a) }
t("hash key mutate", {}) { |h| k = [1]; h[k] = 1; k << 2; [h[k], h.rehash[k]] }
t("each add", {a: 1}) { |h| h.each { h[:a] = 2 } }
t("inspect mutate", [1, 2]) { |a| o = Object.new; o.define_singleton_method(:inspect) { a.clear; "o" }; a << o << 3; a.inspect }
t("join mutate", [1, 2]) { |a| o = Object.new; o.define_singleton_method(:to_s) { a.clear; "o" }; a << o << 3; a.join(",") }
t("== mutate", [1, 2]) { |a| o = Object.new; o.define_singleton_method(:==) { |x| a.clear; true }; a.unshift(o); a == [1, 1, 2] }
t("include? mutate", [1, 2]) { |a| o = Object.new; o.define_singleton_method(:==) { |x| a.clear; false }; a.include?(o) }
t("sort <=> mutate", [3, 1, 2]) { |a| a.sort! { |x, y| a << 1 if a.size < 9; x <=> y } }
t("delete ==", [1, 2, 1]) { |a| o = Object.new; o.define_singleton_method(:==) { |x| a.freeze; true }; a.delete(o) }
t("each freeze push", [1]) { |a| a.each { a.freeze; a << 1 } }
t("max", [1, 2, 3]) { |a| a.max { |x, y| a.clear; x <=> y } }
t("sprintf", +"%s %s") { |f| o = Object.new; o.define_singleton_method(:to_s) { f.replace("zzzzzzzzzzzzzzz"); "o" }; format(f, o, 2) }
t("sprintf clear", +"%s|%s|%d") { |f| o = Object.new; o.define_singleton_method(:to_s) { f.clear; "o" }; format(f, o, 2, 3) }
t("str%", +"%s-%s") { |f| o = Object.new; o.define_singleton_method(:to_s) { f << "%d%d"; "o" }; f % [o, 2] }
t("args mutate", [1, 2]) { |a| o = Object.new; o.define_singleton_method(:to_s) { a.clear; "o" }; a.unshift(o); "%s %s %s" % a }
t("enum next", [1, 2, 3]) { |a| e = a.each; r = [e.next]; a << 4; r << e.next; a.clear; (r << e.next) rescue r << $!.class; r }
t("enum peek", [1, 2]) { |a| e = a.each; r = [e.peek]; a[0] = 9; r << e.peek << e.next; a.clear; (r << e.peek) rescue r << $!.class; a.push(5, 6, 7); (r << e.next) rescue r << $!.class; r }
t("enum peek end", [1]) { |a| e = a.each; r = [e.next]; (r << e.peek) rescue r << $!.class; a << 2; (r << e.next) rescue r << $!.class; e.rewind; r << e.next << e.next }
t("enum shift", [1, 2, 3]) { |a| e = a.each; r = [e.next]; a.shift; r << e.next; (r << e.next) rescue r << $!.class; r }
t("enum map", [1, 2, 3]) { |a| e = a.map; r = [e.next]; a.pop; r << e.next; (r << e.next) rescue r << $!.result; r }
t("enum hash", {a: 1, b: 2}) { |h| e = h.each; r = [e.next]; (h[:c] = 3) rescue r << $!.class; r << e.next; r }
t("enum str", +"ab") { |s| e = s.each_char; r = [e.next]; s << "c"; r << e.next; (r << e.next) rescue r << $!.class; r }
t("enum size", [1]) { |a| e = a.each; a << 2; [e.size, e.to_a, e.with_index.to_a] }
t("ewi", [1, 2]) { |a| e = a.each_with_index; r = [e.next]; a << 3; r << e.next << e.next; r }
t("zip enum", [1, 2]) { |a| e = [3, 4].each; a.zip(e) }
