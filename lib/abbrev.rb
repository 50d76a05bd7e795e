# frozen_string_literal: true

# Unambiguous abbreviations of a list of words.
module Abbrev
  VERSION = "0.1.2"

  def abbrev(words, pattern = nil)
    table = {}
    seen = Hash.new(0)
    pattern = /\A#{Regexp.quote(pattern)}/ if pattern.is_a?(String)
    words.each do |word|
      next if word.empty?
      word.size.downto(1) do |len|
        short = word[0...len]
        next if pattern && pattern !~ short
        case seen[short] += 1
        when 1 then table[short] = word
        when 2 then table.delete(short)
        else break
        end
      end
    end
    words.each do |word|
      next if pattern && pattern !~ word
      table[word] = word
    end
    table
  end
  module_function :abbrev
end

class Array
  def abbrev(pattern = nil) = Abbrev.abbrev(self, pattern)
end
