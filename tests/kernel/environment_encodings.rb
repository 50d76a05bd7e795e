# Names and values of ENV are text of the locale, or of the internal encoding where there is one and the text has a form in it.
ENV["KUMI_PLAIN"] = "plain"
ENV["KUMI_E"] = "é"
ENV["KUMI_BAD"] = "\xff"
seen = -> { [ENV["KUMI_E"].encoding, ENV.fetch("KUMI_PLAIN").encoding, ENV.key("plain").encoding, ENV.to_h.values.map(&:encoding).uniq.size, ENV["KUMI_E"].encode("UTF-8"), ENV["KUMI_BAD"].encoding] }
p seen.call, ENV.to_a.flatten.all?(&:frozen?)
$VERBOSE = nil
%w[EUC-JP ISO-8859-1 UTF-16LE UTF-8].each do |name|
  Encoding.default_internal = name
  p seen.call
end
Encoding.default_internal = nil
p seen.call
# What is no text of names.
["é".encode("UTF-16LE"), "a\0b"].each do |bad|
  [[bad, "x"], ["x", bad]].each do |k, v|
    ENV[k] = v
  rescue ArgumentError => e
    puts e.message
  end
end
ENV["KUMI_E"] = "é".encode("ISO-8859-1")
p ENV["KUMI_E"].encoding, ENV["KUMI_E"].valid_encoding?, ENV["KUMI_E"].bytes
