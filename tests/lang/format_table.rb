# Flags, widths, precisions, directives and values of format, every fifth combination of them: a line each of answers told apart by "|".
FLAGS = ["", "-", "0", "+", " ", "#", "+0", "-#", " #0", "+-"]
SIZES = ["", "1", "8", ".0", ".3", "12.5", "3.8"]
VALUES = {
  "d" => [0, 7, -7, 123456, -2**64, 2.9, -0.5, 3r/2, "0x1f", nil], "i" => [12], "u" => [-3], "x" => [0, 255, -255, 2**70, -2**70], "X" => [-255, 171], "o" => [8, -8, 0], "b" => [5, -5, 0], "B" => [5, -1],
  "f" => [0.0, -0.0, 1.5, -2.675, 1e20, 0.015, 5, 1r/3, Float::INFINITY, -Float::INFINITY, Float::NAN, 2**70], "e" => [0.0, 12345.678, -1e-5, 1e300, Float::NAN], "E" => [1.5],
  "g" => [0.0001, 0.00001, 123456.0, 1234567.0, -0.0, 100.0, Float::INFINITY], "G" => [1e-10], "a" => [1.0, -0.5, 0.0, 3.14, Float::NAN], "A" => [10.0],
  "s" => ["abc", "", "äöü", :sym, nil, 12], "p" => ["a", nil, [1]], "c" => ["x", 97, 0x3042, nil],
}
count = 0
VALUES.each do |directive, values|
  values.each do |v|
    answers = []
    FLAGS.each do |flags|
      SIZES.each do |size|
        next unless ((count += 1) % 5).zero?
        answers << begin
          format("%#{flags}#{size}#{directive}", v)
        rescue => e
          "#{e.class}: #{e.message}"
        end
      end
    end
    puts "#{directive} #{v.inspect}: #{answers.join("|")}"
  end
end
[["%%"], ["%-%"], ["%5%"], ["%"], ["%d"], ["%d %d", 1], ["%1$s %1$s", 1], ["%2$s", 1], ["%1$s %s", 1], ["%s %1$s", 1], ["%<a>d %{b}", {a: 1, b: 2}], ["%<a>d %s", {a: 1}], ["%{a", {a: 1}], ["%<a", {a: 1}], ["%<z>d", {a: 1}],
 ["%-+5.2<a>f|", {a: 1.5}], ["%-5{a}|", {a: 1}], ["%*d|", 5, 1], ["%*d|", -5, 1], ["%-*d|", 5, 1], ["%.*f|", 2, 1.5], ["%.*f|", -2, 1.5], ["%1$*2$d|", 1, 5], ["%z", 1], ["%y"], ["%5", 1], ["%.", 1], ["%ld", 1], ["%hd", 1],
 ["%d", "1_0"], ["%d", "1__0"], ["%d", "z"], ["%f", "1.5"], ["%f", "x"], ["%d", Float::NAN], ["%d", Float::INFINITY], ["%x", "0b11"], ["%99999999999d", 1], ["%.99999999999f", 1], ["%s\n", "a"], ["%d%", 1], ["%..3f", 1], ["%1.2.3f", 1], ["%3 d", 5], ["%+ d", 5], ["%++d", 5]].each do |f|
  puts "#{f.first.inspect} #{f[1..].size}: #{(format(*f) rescue "#{$!.class}: #{$!.message}").inspect}"
end
