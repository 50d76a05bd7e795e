# What encoding a document is in: an option says it, or the String, or the document.
require "kumihimo/xml"

class Note < Kumihimo::XTree
  field :x
end
TEXT = "<a><x>né</x></a>"
SAID = %(<?xml version="1.0" encoding="ISO-8859-1"?>#{TEXT}).freeze

def told
  yield
rescue StandardError => error
  "#{error.class}: #{error.message}"
end

def parse(text, **how) = told { Kumihimo::XML.parse(text, Note, **how).x }
def as(name, text = TEXT) = text.encode(name)
def tagged(name, text) = text.dup.force_encoding(name)

# The String's.
%w[ISO-8859-1 Windows-1252 IBM437 UTF-16LE UTF-16BE UTF-32LE UTF-32BE UTF-16].each do |name|
  puts "#{name}: #{parse(as(name))}, #{told { Kumihimo::XML.open(as(name), Note).x }}, #{told { Kumihimo::XML.list(as(name), "/a", Note).map(&:x).to_a }}"
end
puts parse(as("Shift_JIS", "<a><x>日本</x></a>")), parse(as("UTF-16LE", "\uFEFF#{TEXT}"))
# ... whatever the document says.
puts parse(as("ISO-8859-1", SAID.sub("8859-1", "8859-5"))), parse(as("Shift_JIS", SAID.sub("é", "日")))
# One that says nothing of importance leaves it to the document.
puts parse(tagged("UTF-8", as("ISO-8859-1", SAID))), parse(as("ISO-8859-1", SAID).b), parse(tagged("US-ASCII", TEXT))
# The option's, before all.
puts parse(tagged("UTF-16LE", as("ISO-8859-1")), encoding: "ISO-8859-1"), parse(SAID, encoding: Encoding::UTF_8)
# What cannot be read.
puts parse(tagged("EUC-JP", "<a><x>\xFF</x></a>")), parse(tagged("UTF-7", TEXT)), parse(tagged("UTF-16LE", "<a/>\n"))
puts parse(TEXT, encoding: "no such")
