# Calls by DRb. Obeys lines on standard input as client.rb does: call N; threads N T. usage: drb_client.rb URI
require "drb"
require_relative "../../lib/obey"

DRb.start_service("druby://127.0.0.1:0")
FRONT = DRbObject.new_with_uri(ARGV[0])

def call(n) = timed(n) { |i| FRONT.next(i) }

def threads(n, count)
  each = n / count
  whole(each * count) { Array.new(count) { Thread.new { each.times { |i| FRONT.next(i) } } }.each(&:join) }
end

obey { |word, *rest| __send__(word, *rest.map { |w| Integer(w) }) }
