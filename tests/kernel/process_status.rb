# What `$?` is after waits, of whatever kind.
spawn("exit 4")
p Process.waitall.map { |_, s| s.exitstatus }, $?.exitstatus
begin
  Process.wait
rescue Errno::ECHILD => e
  p e.class, $?.exitstatus
end
p Process.waitall, $?
system("exit 3")
p $?.exitstatus, Process.last_status.exitstatus
p Process::Status.wait(spawn("exit 5")).exitstatus, $?.exitstatus
begin
  Process.waitpid(1)
rescue SystemCallError => e
  p e.class, $?.exitstatus
end
p Thread.new { [$?, (system("exit 2"); $?.exitstatus)] }.value, $?.exitstatus
