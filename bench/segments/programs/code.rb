# N code segments, from the start of the first to the end of the last; prints nanoseconds each, for ROUNDS rounds the lowest.
# peek: each peeks at one segment; take: each takes one of N; flip, put: each hands the segment it took on, by flip or by put.
# staged: as the paper's table 2 with SEDA: three stages joined by queues, a thread each, then the run (in Ruby, here only).
# one-stage: the same Ruby without the queues and the threads.
# usage: code.rb MODE N ROUNDS
require "kumihimo/segments"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

DS = Kumihimo::Segments.local

class Peeks < Kumihimo::CodeSegment
  input :value, peek: "n"
  def run = nil
end

class Takes < Kumihimo::CodeSegment
  input :value, take: "t"
  def run = nil
end

class Flips < Kumihimo::CodeSegment
  input :value, take: "t"
  def run = flip(:value, to: "out")
end

class Puts < Kumihimo::CodeSegment
  input :value, take: "t"
  def run = put("out", value)
end

# A code segment of Ruby alone: a receiver, which a stage fills.
class Receives
  attr_accessor :value
  def run = nil
end

Command = Struct.new(:receiver, :key)
Reply = Struct.new(:receiver, :value)

# Three stages: the caller makes the command, the second does it, the third fills the receiver; then it runs in a thread of its own kind.
class Staged
  def initialize
    @commands, @replies, @active, @ended = Array.new(4) { Queue.new }
    stage(@commands) { |command| @replies << Reply.new(command.receiver, DS.peek(command.key)) }
    stage(@replies) { |reply| @active << reply.receiver.tap { |r| r.value = reply.value } }
    stage(@active) { |receiver| @ended << receiver.run }
  end

  def start(receiver) = @commands << Command.new(receiver, "n")
  def await(n) = n.times { @ended.pop }

  private

  def stage(queue, &work)
    Thread.new { loop { work.(queue.pop) } }
  end
end

class OneStage
  def start(receiver)
    command = Command.new(receiver, "n")
    reply = Reply.new(command.receiver, DS.peek(command.key))
    reply.receiver.value = reply.value
    reply.receiver.run
  end

  def await(_) = nil
end

def direct(kind, n)
  n.times { kind.start }
  Kumihimo::Segments.settle
end

def staged(way, n)
  n.times { way.start(Receives.new) }
  way.await(n)
end

mode = ARGV[0] || "peek"
n = Integer(ARGV[1] || 10_000)
DS.put("n", 1)
way = { "staged" => Staged, "one-stage" => OneStage }[mode]&.new
kind = { "peek" => Peeks, "take" => Takes, "flip" => Flips, "put" => Puts }[mode]
times = Array.new(Integer(ARGV[2] || 5)) do
  n.times { |i| DS.put("t", i) } if kind && kind != Peeks
  from = now
  way ? staged(way, n) : direct(kind, n)
  taken = now - from
  abort "#{DS.size("t")} segments were not taken" if kind && kind != Peeks && DS.size("t") > 0
  nil while !DS.take?("out").nil?
  taken
end
puts times.min / n.to_f
