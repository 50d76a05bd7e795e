# The REPL's evaluation and completion: called by `kumi irb`.
module KumiSys
  # Evaluates one input of the REPL and shows its value.
  def self.irb_eval(text, line, place = TOPLEVEL_BINDING)
    value = place.eval(text, "(irb)", line)
    place.local_variable_set(:_, value)
    $stdout.write("=> #{irb_show(value)}\n") unless text.rstrip.end_with?(";")
    $stdout.flush
  rescue SystemExit
    __raise($!)
  rescue Exception => e
    # Of signals Ctrl-C alone leads back to the prompt.
    __raise(e) if SignalException === e && !(Interrupt === e)
    $stderr.write(report(e))
  end

  # What `binding.irb` does. Without a terminal nothing is asked for in writing.
  def self.irb_session(place, show_code)
    terminal = $stdin.tty? && $stdout.tty?
    irb_excerpt(*place.source_location) if show_code
    line = 1
    kept = +""
    loop do
      begin
        if terminal
          $stdout.write(format(kept.empty? ? "kumi:%03d> " : "kumi:%03d* ", line))
          $stdout.flush
        end
        text = $stdin.gets
      rescue Interrupt
        $stdout.write("\n")
        kept.clear
        next
      end
      return if text.nil? && kept.strip.empty?
      kept << text if text
      next if text && __irb_open(kept)
      whole = kept
      kept = +""
      return if ["exit", "quit"].include?(whole.strip)
      irb_eval(whole, line, place) unless whole.strip.empty?
      line += whole.count("\n")
    end
  end

  # The lines around a place, which is marked.
  def self.irb_excerpt(path, at)
    lines = File.readlines(path)
    first = [at - 5, 1].max
    $stdout.write("\nFrom: #{path}:#{at}\n\n")
    lines[first - 1..at + 4].each_with_index do |text, i|
      $stdout.write("#{first + i == at ? " =>" : "   "} #{(first + i).to_s.rjust(4)}: #{text.chomp}\n")
    end
    $stdout.write("\n")
  rescue SystemCallError
    $stdout.write("\nFrom: #{path}:#{at}\n\n")
  end

  # Does nothing, so that a signal which waits is met before the next input.
  def self.irb_settle = nil

  def self.irb_show(value)
    text = value.inspect
    text.is_a?(String) ? text : value.class.name
  rescue StandardError => e
    "(inspect raised #{e.class})"
  end

  # What may stand for the beginning of a word: names that complete it.
  def self.irb_complete(word)
    dot = word.rindex(".")
    scope = word.rindex("::")
    if dot && dot > 0
      receiver = word[0...dot]
      return [] unless receiver.match?(/\A[@$\w.:]+\z/)
      object = TOPLEVEL_BINDING.eval(receiver)
      object.methods.map { |m| "#{receiver}.#{m}" }.select { |m| m.start_with?(word) }
    elsif scope && scope > 0
      mod = TOPLEVEL_BINDING.eval(word[0...scope])
      mod.constants.map { |c| "#{word[0...scope]}::#{c}" }.select { |c| c.start_with?(word) }
    else
      main = TOPLEVEL_BINDING.receiver
      names = TOPLEVEL_BINDING.local_variables + global_variables + Object.constants
      names += main.methods + main.private_methods
      names.map { |n| n.to_s }.select { |n| n.start_with?(word) }
    end
  rescue StandardError
    []
  end
end
