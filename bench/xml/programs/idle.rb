# What the runtime itself takes, before and after the libraries are loaded.
def memory = File.read("/proc/self/status")[/^VmHWM:\s+(\d+)/, 1].to_i * 1024

before = memory
require_relative "tables"
puts %({"peak":#{before},"loaded":#{memory}})
