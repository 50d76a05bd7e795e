# bench/heap's compiler.rb at a small size: its checksum is the same under every rule and stress.
ARGV.replace(["1"])
load File.expand_path("../../bench/heap/programs/compiler.rb", __dir__)
