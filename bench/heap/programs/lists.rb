# Lists of objects that stay alive, for programs that measure how the collector goes about them.

class Entry
  attr_accessor :next_one, :extra
  attr_reader :key, :text

  def initialize(key, text, next_one)
    @key = key
    @text = text
    @next_one = next_one
    @extra = nil
  end
end

# The collector's own figure of what is alive, or nil where there is none (CRuby).
def live_bytes
  GC.start
  GC.stat[:live_bytes]
end

# Lists of 1,000 entries with strings and small arrays, until they come to `megabytes`.
def build(megabytes)
  lists = []
  per_list = nil
  until per_list && lists.size * per_list >= megabytes * 1_000_000
    before = lists.size == 20 ? live_bytes : nil
    count = lists.size == 20 ? 100 : 1
    count.times do
      head = nil
      1000.times { |i| head = Entry.new(i, "entry #{i} of list #{lists.size}, some more text", i % 4 == 0 ? [head, i] : head) }
      lists << head
    end
    per_list = (before ? (live_bytes - before) / 100 : 150_000) if lists.size >= 120 && per_list.nil?
  end
  lists
end
