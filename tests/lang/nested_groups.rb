# Groups that call themselves match as deep as the text nests.
brackets = /(?<p>\((?:[^()]|\g<p>)*\))/
[20, 21, 30, 500].each do |n|
  s = "(" * n + ")" * n
  p s[brackets].size == 2 * n, s.match?(/\A(?<p>\((?:[^()]|\g<p>)*\))\z/)
end
p "((a)".match?(/\A(?<p>\((?:[^()]|\g<p>)*\))\z/)
p ("[" * 100 + "1" + "]" * 100).match?(/\A(?<v>\d|\[\g<v>\])\z/)
