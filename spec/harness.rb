# A small host for ruby/spec: the vocabulary of its files (describe, it, should,
# guards, mocks, helpers), in few and plain files that a young runtime can load.
#
# `kumi-spec` starts one process per spec file:  kumi spec/harness.rb FILE...
# What happens is told on standard output in lines that begin with \x01:
#   B file | S example | P | F message | E message | K reason | L message | D count
# (begin file, start example, passed, failed, error, skipped, load error, done).
# With KUMI_SPEC_DRY=1 examples are counted, not run.

ENV["MSPEC_RUNNER"] = "1"

require_relative "harness/report"
require_relative "harness/examples"
require_relative "harness/vocabulary"
require_relative "harness/output"
require_relative "harness/matchers"
require_relative "harness/mocks"
require_relative "harness/guards"
require_relative "harness/helpers"

MSpec.enable_feature(:fork)
MSpec.enable_feature(:encoding)
MSpec.enable_feature(:fiber)
MSpec.enable_feature(:fiber_library)

files = ARGV.dup
ARGV.clear
files.each do |f|
  MSpec.load_file(f)
  SpecReport.line("D", SpecReport.count)
  SpecReport.count = 0
end
