# frozen_string_literal: true

# Words as the Bourne shell reads and writes them.
module Shellwords
  VERSION = "0.2.2"

  def shellsplit(line)
    words = []
    field = String.new
    line.scan(/\G\s*(?>([^\0\s\\\'\"]+)|'([^\0\']*)'|"((?:[^\0\"\\]|\\[^\0])*)"|(\\[^\0]?)|(\S))(\s|\z)?/m) do
      |word, sq, dq, esc, garbage, sep|
      if garbage
        b = $~.begin(0)
        line = $~[0]
        line = "..." + line if b > 0
        line += "..." if $~.end(0) < $~.string.length
        raise ArgumentError, "#{garbage == "\0" ? "Nul character" : "Unmatched quote"} at #{b}: #{line}"
      end
      # Inside double quotes a backslash is special only before $ ` " \ and newline.
      field << (word || sq || (dq && dq.gsub(/\\([$`"\\\n])/, '\\1')) || esc.gsub(/\\(.)/, '\\1'))
      if sep
        words << field
        field = String.new
      end
    end
    words
  end
  alias shellwords shellsplit
  module_function :shellsplit, :shellwords

  class << self
    alias split shellsplit
  end

  def shellescape(str)
    str = str.to_s
    return "''" if str.empty?
    raise ArgumentError, "NUL character" if str.index("\0")
    str = str.dup
    str.gsub!(/[^A-Za-z0-9_\-.,:+\/@\n]/, "\\\\\\&")
    # A newline cannot be escaped by a backslash.
    str.gsub!(/\n/, "'\n'")
    str
  end
  module_function :shellescape

  class << self
    alias escape shellescape
  end

  def shelljoin(array) = array.map { |arg| shellescape(arg) }.join(" ")
  module_function :shelljoin

  class << self
    alias join shelljoin
  end
end

class String
  def shellsplit = Shellwords.split(self)
  def shellescape = Shellwords.escape(self)
end

class Array
  def shelljoin = Shellwords.join(self)
end
