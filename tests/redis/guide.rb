# The examples of docs/SEGMENTS.md about Redis give what stands beside them.
require "kumihimo/segments"
require_relative "../support/guide"
chapter = page("SEGMENTS")[/^### With Redis or Valkey$.*?(?=^##)/m]
puts "#{check_examples(chapter.gsub(%r{"redis://127\.0\.0\.1:6379"}, ARGV[0].inspect))} examples"
