p :abc, :"with space", :"a-b", :a?, :b!, :c=, :[], :[]=, :+, :<=>, :"9a", :A
p :abc.to_s, "abc".to_sym, :abc.length, :abc <=> :abd, :abc.to_proc.call("x") rescue p $!.class
p %i[a b c], %w[x y z].map(&:to_sym), :a.equal?(:a), :abc[1], :Abc.swapcase, :a.succ
p [1, 2, 3].map(&:to_s), %w[a b].each_with_index.map { |x, i| x * (i + 1) }
p :"foo#{1 + 1}", :a.inspect, :"é", :"foo bar".inspect
