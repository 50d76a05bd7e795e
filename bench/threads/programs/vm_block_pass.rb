# A block handed on through &block to the method that yields.
times = (2_500_000 * (ARGV[0] || 1).to_f).ceil
def last = yield
def middle(&block) = last(&block)
i = 0
sum = 0
while i < times
  middle { sum += i }
  i += 1
end
puts sum
