# Where an error is that was raised before the first instruction of what was called: at its definition.
def lines
  yield
rescue ArgumentError => e
  puts "#{e.message} #{e.backtrace.map { |l| l[/:(\d+)/, 1] }.first(2).inspect} #{e.backtrace_locations.map(&:lineno).first(2).inspect}"
end

def needs_one(a)
  # nothing

  x = a
  x
end
lines { needs_one }
lines { needs_one(1, 2) }
lines { method(:needs_one).call }
lines { send(:needs_one) }

def one_line(a) = a
lines { one_line }

l = lambda { |a,
               b|

  a
}
lines { l.() }
lines { l.call(1, 2, 3) }
lines { [1].each(&l) }

self.class.send(:define_method, :defined) do |a|

  a
end
lines { defined }

def keywords(a:,
             b: 2)

  a
end
lines { keywords }
lines { keywords(a: 1, c: 3) }
lines { keywords(1, a: 1) }

def rescues(a)

  a
rescue ArgumentError
  :own
end
lines { rescues }

def inner(a)
  needs_one
end
lines { inner(1) }

def default(a, b = needs_one,
            c = 1)
  a
end
lines { default(1) }
lines { default }

class Made
  def initialize(a)

    @a = a
  end

  def self.of(a)

    a
  end

  def method_missing(name, *) = needs(name)
  def respond_to_missing?(*) = true
  def needs(a, b)

    a
  end
end
lines { Made.of }
lines { Made.new(1).whatever }

# Not mistaken for that: what is raised in a first instruction, and by a block in the loop that a method begins with.
def first = raise(ArgumentError, "first")
lines { first }
def loops
  while true
    raise ArgumentError, "loop"
  end
end
lines { loops }
