# frozen_string_literal: true

# Terminal control by way of stty(1): sizes and modes.
class IO
  def self.console(*args)
    @__console = nil if @__console&.closed?
    @__console ||= File.open("/dev/tty", "r+")
    args.empty? ? @__console : @__console.__send__(*args)
  rescue SystemCallError
    nil
  end

  def self.console_size = console&.winsize || default_console_size
  def self.default_console_size = [ENV["LINES"].to_i.nonzero? || 25, ENV["COLUMNS"].to_i.nonzero? || 80]

  def winsize
    raise Errno::ENOTTY, "Inappropriate ioctl for device" unless tty?
    rows, cols = __stty("size").split.map(&:to_i)
    [rows, cols]
  end

  def winsize=(size)
    __stty("rows", size[0].to_s, "cols", size[1].to_s)
  end

  def raw(min: 1, time: 0, intr: false) = __with_mode("raw", "-echo") { yield self }

  def raw!(**)
    __stty("raw", "-echo")
    self
  end

  def cooked = __with_mode("-raw", "echo") { yield self }

  def cooked!
    __stty("-raw", "echo")
    self
  end

  def noecho = __with_mode("-echo") { yield self }
  def echo=(on)
    __stty(on ? "echo" : "-echo")
  end
  def echo? = __stty("-a").match?(/(?<!-)\becho\b/)

  def getch(**)
    return getc unless tty?
    raw { getc }
  end

  def getpass(prompt = nil)
    $stderr.print prompt if prompt
    line = tty? ? noecho { gets } : gets
    $stderr.puts
    line&.chomp
  end

  def iflush = self
  def oflush = self
  def ioflush = self
  def beep = (print "\a"; self)
  def cursor = nil

  private

  def __stty(*args)
    raise Errno::ENOTTY, "Inappropriate ioctl for device" unless tty?
    r, w = IO.pipe
    pid = spawn("stty", *args, in: self, out: w, err: File::NULL)
    w.close
    out = r.read
    Process.wait(pid)
    r.close
    out
  end

  def __with_mode(*mode)
    saved = __stty("-g").chomp
    begin
      __stty(*mode)
      yield
    ensure
      __stty(saved)
    end
  end
end

require "stringio"

class StringIO
  def getch(**) = getc
  def getpass(prompt = nil)
    $stderr.print prompt if prompt
    line = gets
    $stderr.puts
    line&.chomp
  end
end
