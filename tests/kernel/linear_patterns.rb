# What a matcher that remembers can do: groups within look-ahead are not remembered, as in CRuby.
[/(?=(a))/, /(?<=(a))/, /(?=a)(b)/, /(?=(?:a|b)*)(c)/, /(?!(a))b/, /(?=(?<n>a))/, /(?=(?:x(a)))/, /(?=[(a)])(b)/, /(?=\(a\))(b)/, /(a)\1/, /(?<n>a)\g<n>/, /^(a*)*$/, /(?~a)/, /(?>a)b/].each do |r|
  p [r, Regexp.linear_time?(r)]
end
