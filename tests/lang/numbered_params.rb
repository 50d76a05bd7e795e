p [1, 2].map { _1 * 2 }, [[1, 2], [3, 4]].map { _1 + _2 }, [3, 1].sort { _2 <=> _1 }, [1].each_with_index.map { [_1, _2] }
p [[1, 2]].map { _1 }, { a: 1 }.map { [_1, _2] }, -> { _1 + 1 }.(2), -> { [_1, _2] }.arity, proc { _1 }.arity, proc { [_1, _2] }.parameters, [1, 2].inject { _1 + _2 }
