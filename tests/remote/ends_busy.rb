# nodes: 2
# A program that simply ends while its threads wait for others: it says nothing of them, and what runs for them elsewhere is called off.
R = Kumihimo::Remote
S = Kumihimo::Segments
class Box
  include R
  def initialize = (@begun = Thread::Queue.new; @ended = Thread::Queue.new)
  attr_reader :begun, :ended
  def wait = held { sleep }
  def each = held { loop { yield 1 } }
  def seen(count) = (count.times { @begun.pop }; nil)
  private def held
    Thread.handle_interrupt(R::CalledOff => :never) do
      @begun << 1
      Thread.handle_interrupt(R::CalledOff => :immediate) { yield }
    ensure
      @ended << 1
    end
  end
end
if S.node == "node2"
  box = R.register("box", Box.new)
  S.local.take("it ends")
  25.times { box.ended.pop(timeout: 30) || warn("a call goes on") }
  exit
end
box = R.find("box", on: "node2")
Thread.abort_on_exception = true
5.times { Thread.new { box.wait } }
5.times { Thread.new { box.each { } } }
5.times { Thread.new { R.within(100) { box.wait } } }
5.times { f = box.async.wait; 2.times { Thread.new { f.value } } }
5.times { Thread.new { box.async.each { }.value } }
box.seen(25)
3.times { Thread.new { S["node2"].take("nothing") } }
watch = S["node2"].watch("nothing")
2.times { Thread.new { watch.next } }
Thread.new { S.group("both", nodes: %w[node1 node2]).take("nothing") }
Thread.new { Kumihimo::Cluster.barrier }
Thread.new { R.find("nobody", on: "node2") }
at_exit { puts "the end" }
S["node2"].put("it ends", 1)
