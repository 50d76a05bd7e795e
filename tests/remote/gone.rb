# nodes: 2
# A node that has ended is not waited for, whatever is asked of it, and by whom.
R = Kumihimo::Remote
S = Kumihimo::Segments

class Cart
  include R::Movable
  def initialize = @items = []
  def size = @items.size
end

def said
  yield
rescue StandardError => error
  "#{error.class}: #{error.message[/\A[^:;]*/]}"
end

def asked
  {
    "move_to" => -> { Cart.new.move_to("node2") },
    "move" => -> { R.move(Cart.new, to: "node2") },
    "with a time" => -> { R.within(60) { Cart.new.move_to("node2") } },
    "find" => -> { R.find("cart", on: "node2") },
    "put" => -> { S["node2"].put("cart", Cart.new) },
    "update" => -> { S["node2"].update("cart", Cart.new) },
    "from" => -> { S["node2"].key("cart").from([Cart.new]) },
    "take" => -> { S["node2"].take("cart") },
    "watch" => -> { S["node2"].watch("cart").next },
    "group" => -> { S.group("all", nodes: ["node2"]).put("cart", 1) }
  }
end


if S.node == "node1"
  gone = Thread::Queue.new
  S.on_leave { |node| gone << node }
  # It is asked while it goes: this one comes to be known, or it is gone.
  early = Thread.new { said { Cart.new.move_to("node2").node } }
  S["node2"].put("go", true)
  gone.pop
  puts early.value.start_with?("node2", "Kumihimo::NodeLostError: ")
  # Its connection may end a moment after that.
  sleep 0.01 until said { S["node2"].size("x") }.start_with?("Kumihimo::Segments::NotConnected")
  asked.each { |what, call| puts "#{what}: #{said(&call)}" }
  cart = Cart.new
  puts said { cart.move_to("node2") }, cart.size, cart.is_a?(Cart)
else
  S.local.take("go")
end
