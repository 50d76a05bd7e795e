data = [{ kind: :circle, r: 2 }, { kind: :rect, w: 3, h: 4 }, [1, [2, 3]], 42, "text"]
n = 0
2_000_000.times do |i|
  case data[i % 5]
  in { kind: :circle, r: } then n += r
  in { kind: :rect, w:, h: } then n += w * h
  in [a, [b, c]] then n += a + b + c
  in Integer => k if k > 40 then n += 1
  in String then n += 2
  end
end
puts n
