# A node that does what the lines of its input say, and prints what comes of each.
$stdout.sync = true
S = Kumihimo::Segments
puts "ready"
while (line = $stdin.gets)
  answer =
    begin
      eval(line, TOPLEVEL_BINDING).inspect
    rescue Exception => error
      "#{error.class.name.delete_prefix("Kumihimo::Segments::")}: #{error.message.tr("\n", " ")}"
    end
  puts "= #{answer}"
end
