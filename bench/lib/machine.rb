# What figures are of: the machine that they were measured on, and the commit of the tree that measured them.
module Bench
  module_function

  def cores = Integer(`nproc`.strip.empty? ? "1" : `nproc`)

  def machine
    "#{cores} x #{File.read("/proc/cpuinfo")[/^model name\s*:\s*(.*)/, 1] || "unknown processor"}, Linux #{File.read("/proc/sys/kernel/osrelease").strip}"
  end

  # A failure may name files of this tree: they are told by their place in it.
  ROOT = File.expand_path("../..", __dir__) + "/"

  # The tree's; with a + where it was changed since, but for results.
  def commit
    git = ->(*words) { IO.popen(["git", "-C", __dir__, *words], err: File::NULL, &:read).strip }
    id = git.("rev-parse", "--short", "HEAD")
    id.empty? ? "unknown" : "#{id}#{"+" unless git.("status", "--porcelain", "--untracked-files=no", "--", ":/", ":(top,exclude)bench/*/results/*").empty?}"
  rescue SystemCallError
    "unknown"
  end
end
