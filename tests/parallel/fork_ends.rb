# A child without a block goes on to the end of the program, with threads of its own, and ends with its own status.
reader, writer = IO.pipe
if fork
  Process.wait
  p $?.exitstatus
  writer.close
  p reader.read
else
  Thread.new { writer.write("from the child's thread") }.join
  writer.close
  exit 3
end
reader, writer = IO.pipe
if fork
  Process.wait
  p $?.exitstatus
else
  $stderr.reopen(writer)
  Thread.new { }.join
  raise "the child's"
end
