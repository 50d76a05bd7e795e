# bench/heap's raytrace.rb at a small size: its checksum is the same under every rule and stress.
ARGV.replace(["3"])
load File.expand_path("../../bench/heap/programs/raytrace.rb", __dir__)
