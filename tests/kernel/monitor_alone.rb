# Without a require, as where rubygems has loaded it.
m = Monitor.new
c = m.new_cond
done = false
t = Thread.new { m.synchronize { c.wait_until { done } ; :woken } }
m.synchronize { done = true; c.broadcast }
p t.value
require "objspace"
require "tempfile"
f = Tempfile.create("dump")
ObjectSpace.dump_all(output: f)
before = File.foreach(f.path).count
f.close
p before == File.foreach(f.path).count
File.unlink(f.path)
p Gem.respond_to?(:use_gemdeps) && Gem.use_gemdeps
