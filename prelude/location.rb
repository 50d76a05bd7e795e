# Backtraces: where an exception was raised, as text and as Location objects.
# The loop's captured frames come as rows of [path, line, label, base label].
module KumiSys
  def self.location(row)
    l = __allocate(Thread::Backtrace::Location)
    __ivar_set(l, :@__path, row[0])
    __ivar_set(l, :@__line, row[1])
    __ivar_set(l, :@__label, row[2])
    __ivar_set(l, :@__base, row[3])
    l
  end

  # The program's file, as it was named and where it is; nil when the program came from no file.
  def self.__main_file = @__main_file

  def self.row_text(row)
    "#{row[0]}:#{row[1]}:in '#{row[2]}'"
  end
end

class Thread::Backtrace::Location
  def path
    @__path
  end

  def lineno
    @__line
  end

  def label
    @__label
  end

  def base_label
    @__base
  end

  def absolute_path
    return nil if @__path.nil? || @__path == "-e" || @__path.start_with?("(eval", "<internal:")
    main = KumiSys.__main_file
    return main[1] if main && main[0] == @__path
    File.exist?(@__path) ? File.realpath(@__path) : File.expand_path(@__path)
  end

  def to_s
    "#{@__path}:#{@__line}:in '#{@__label}'"
  end

  def inspect
    to_s.inspect
  end
end

class Thread::Backtrace
  def self.limit = __backtrace_limit
end

class Exception
  def backtrace
    b = @__backtrace
    return b unless __same(b, nil)
    rows = __exc_frames(self)
    return nil if __same(rows, nil)
    b = rows.map { |row| KumiSys.row_text(row) }
    __ivar_set(self, :@__backtrace, b) unless __frozen(self)
    b
  end

  def backtrace_locations
    return @__locations if __is_a(@__locations, Array)
    rows = __exc_frames(self)
    return nil if __same(rows, nil)
    list = @__places
    unless list
      list = rows.map { |row| KumiSys.location(row) }
      __ivar_set(self, :@__places, list) unless __frozen(self)
    end
    list
  end

  def set_backtrace(backtrace)
    backtrace = KumiSys.check_backtrace(backtrace)
    if __same(backtrace, nil)
      __ivar_remove(self, :@__backtrace)
      __ivar_remove(self, :@__locations)
      return nil
    end
    if !backtrace.empty? && __is_a(backtrace[0], Thread::Backtrace::Location)
      __ivar_set(self, :@__locations, backtrace)
      backtrace = backtrace.map { |l| l.to_s }
    else
      __ivar_set(self, :@__locations, nil)
    end
    __ivar_set(self, :@__backtrace, backtrace)
    backtrace
  end
end
