# Paragraphs in encodings whose newline has two or four bytes.
require "tempfile"

text = "\n\na\nb\n\n\n\nc\u0A12\u5500\u0A0A\n\n\nlast\n"
%w[UTF-8 UTF-16LE UTF-16BE UTF-32LE UTF-32BE].each do |name|
  wide = text.encode(name)
  utf8 = ->(list) { list.map { |x| raise name unless x.encoding.to_s == name && x.valid_encoding?; x.encode("UTF-8") } }
  Tempfile.create("wide") do |f|
    f.binmode
    f.write(wide)
    f.flush
    File.open(f.path, "rb:#{name}") do |io|
      p utf8[io.readlines("")]
      io.rewind
      p utf8[io.readlines("", chomp: true)]
      io.rewind
      p utf8[io.each_line("").to_a]
      io.rewind
      p utf8[[io.gets(""), io.gets(""), io.gets]], io.gets("")
      io.rewind
      p utf8[io.readlines], utf8[io.readlines]
    end
    File.open(f.path, "rb:#{name}:UTF-8") { |io| p io.readlines("") } unless name == "UTF-8"
  end
  p utf8[wide.each_line("").to_a]
  p utf8[wide.lines("", chomp: true)]
end
p "".encode("UTF-16LE").lines(""), "a\r\n\r\nb".lines("")
