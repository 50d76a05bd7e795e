# One node calls another, one call after the other: what a message takes on its way is seen by how long that lasts.
require "kumihimo/cluster"

class Echo
  include Kumihimo::Remote
  remote_methods :say
  def say(n) = n
end

COUNT = Integer(ENV["COUNT"] || "2000")
cluster = Kumihimo::Cluster
echoes = cluster.reduce({ cluster.self => Echo.new }) { |a, b| a.merge(b) }
first, second = cluster.nodes
if cluster.self == first
  echo = echoes[second]
  from = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  COUNT.times { |n| echo.say(n) }
  puts "#{((Process.clock_gettime(Process::CLOCK_MONOTONIC) - from) / COUNT * 1e9).round} ns a call"
end
cluster.barrier
