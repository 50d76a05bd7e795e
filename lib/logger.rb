# frozen_string_literal: true

require "monitor"

# Messages of graded severity to a device.
class Logger
  VERSION = "1.7.0"
  ProgName = "logger.rb/#{VERSION}"

  module Severity
    DEBUG = 0
    INFO = 1
    WARN = 2
    ERROR = 3
    FATAL = 4
    UNKNOWN = 5

    LEVELS = { "debug" => DEBUG, "info" => INFO, "warn" => WARN, "error" => ERROR, "fatal" => FATAL, "unknown" => UNKNOWN }.freeze
    private_constant :LEVELS

    def self.coerce(severity)
      return severity if severity.is_a?(Integer)
      LEVELS[severity.to_s.downcase] || raise(ArgumentError, "invalid log level: #{severity}")
    end
  end
  include Severity

  class Error < RuntimeError; end
  class ShiftingError < Error; end

  # One line a message.
  class Formatter
    Format = "%.1s, [%s #%d] %5s -- %s: %s\n"
    DatetimeFormat = "%Y-%m-%dT%H:%M:%S.%6N"

    attr_accessor :datetime_format

    def initialize
      @datetime_format = nil
    end

    def call(severity, time, progname, msg)
      sprintf(Format, severity, format_datetime(time), Process.pid, severity, progname, msg2str(msg))
    end

    private

    def format_datetime(time) = time.strftime(@datetime_format || DatetimeFormat)

    def msg2str(msg)
      case msg
      when ::String then msg
      when ::Exception then "#{msg.message} (#{msg.class})\n#{msg.backtrace.join("\n") if msg.backtrace}"
      else msg.inspect
      end
    end
  end

  # Turning points of log files by age.
  module Period
    module_function

    SiD = 24 * 60 * 60

    def next_rotate_time(now, shift_age)
      case shift_age
      when "daily", :daily then t = Time.mktime(now.year, now.month, now.mday) + SiD
      when "weekly", :weekly then t = Time.mktime(now.year, now.month, now.mday) + SiD * (7 - now.wday)
      when "monthly", :monthly
        t = Time.mktime(now.year, now.month, 1) + SiD * 32
        return Time.mktime(t.year, t.month, 1)
      when "now", "everytime", :now, :everytime then return now
      else raise ArgumentError, "invalid shift age: #{shift_age}"
      end
      # Days with a change of the clock are not 24 hours long.
      t = Time.mktime(t.year, t.month, t.mday) if t.hour.nonzero? || t.min.nonzero? || t.sec.nonzero?
      t
    end

    def previous_period_end(now, shift_age)
      case shift_age
      when "daily", :daily then t = Time.mktime(now.year, now.month, now.mday) - SiD / 2
      when "weekly", :weekly then t = Time.mktime(now.year, now.month, now.mday) - (SiD * now.wday + SiD / 2)
      when "monthly", :monthly then t = Time.mktime(now.year, now.month, 1) - SiD / 2
      when "now", "everytime", :now, :everytime then return now
      else raise ArgumentError, "invalid shift age: #{shift_age}"
      end
      Time.mktime(t.year, t.month, t.mday, 23, 59, 59)
    end
  end

  # Where the messages go.
  class LogDevice
    include Period
    include MonitorMixin

    attr_reader :dev, :filename

    def initialize(log = nil, shift_age: nil, shift_size: nil, shift_period_suffix: nil, binmode: false, reraise_write_errors: [], skip_header: false)
      @dev = @filename = @shift_age = @shift_size = @shift_period_suffix = nil
      @binmode = binmode
      @reraise_write_errors = reraise_write_errors
      @skip_header = skip_header
      mon_initialize
      return unless log
      if log.respond_to?(:write) && log.respond_to?(:close)
        @dev = log
        @filename = log.path if log.respond_to?(:path) && log.path.is_a?(String)
      else
        @filename = log.respond_to?(:to_path) ? log.to_path : log
        @dev = open_logfile(@filename)
        @shift_age = shift_age || 7
        @shift_size = shift_size || 1048576
        @shift_period_suffix = shift_period_suffix || "%Y%m%d"
        unless @shift_age.is_a?(Integer)
          base_time = File.size?(@filename) ? File.mtime(@filename) : Time.now
          @next_rotate_time = next_rotate_time(base_time, @shift_age)
        end
      end
    end

    def write(message)
      synchronize do
        if @shift_age && @dev.respond_to?(:stat)
          begin
            check_shift_log
          rescue *@reraise_write_errors
            raise
          rescue => e
            warn("log shifting failed. #{e}")
          end
        end
        begin
          @dev.write(message)
        rescue *@reraise_write_errors
          raise
        rescue => e
          warn("log writing failed. #{e}")
        end
      end
    rescue *@reraise_write_errors
      raise
    rescue => e
      warn("log writing failed. #{e}")
    end

    def close
      synchronize { @dev.close rescue nil }
    end

    def reopen(log = nil)
      synchronize do
        if log && log.respond_to?(:write)
          @dev = log
        elsif @filename
          @dev.close rescue nil
          @dev = open_logfile(log || @filename)
        end
      end
      self
    end

    private

    def open_logfile(filename)
      new = !File.exist?(filename)
      dev = File.open(filename, File::WRONLY | File::APPEND | File::CREAT)
      dev.sync = true
      dev.binmode if @binmode
      dev.write("# Logfile created on %s by %s\n" % [Time.now.to_s, Logger::ProgName]) if new && !@skip_header
      dev
    end

    def check_shift_log
      if @shift_age.is_a?(Integer)
        shift_log_age if @filename && @shift_age > 0 && @dev.stat.size > @shift_size
      else
        now = Time.now
        if now >= @next_rotate_time
          @next_rotate_time = next_rotate_time(now, @shift_age)
          shift_log_period(previous_period_end(now, @shift_age))
        end
      end
    end

    def shift_log_age
      (@shift_age - 3).downto(0) do |i|
        File.rename("#{@filename}.#{i}", "#{@filename}.#{i + 1}") if FileTest.exist?("#{@filename}.#{i}")
      end
      @dev.close rescue nil
      File.rename(@filename, "#{@filename}.0")
      @dev = open_logfile(@filename)
    end

    def shift_log_period(period_end)
      suffix = period_end.strftime(@shift_period_suffix)
      age_file = "#{@filename}.#{suffix}"
      idx = 0
      while FileTest.exist?(age_file)
        idx += 1
        age_file = "#{@filename}.#{suffix}.#{idx}"
      end
      @dev.close rescue nil
      File.rename(@filename, age_file)
      @dev = open_logfile(@filename)
    end
  end

  attr_accessor :progname, :formatter

  def initialize(logdev, shift_age = 0, shift_size = 1048576, level: DEBUG, progname: nil, formatter: nil, datetime_format: nil,
                 binmode: false, shift_period_suffix: "%Y%m%d", reraise_write_errors: [], skip_header: false)
    self.level = level
    self.progname = progname
    @default_formatter = Formatter.new
    self.datetime_format = datetime_format
    self.formatter = formatter
    @logdev = nil
    @level_override = {}
    if logdev && logdev != File::NULL
      @logdev = LogDevice.new(logdev, shift_age: shift_age, shift_size: shift_size, shift_period_suffix: shift_period_suffix,
                                      binmode: binmode, reraise_write_errors: reraise_write_errors, skip_header: skip_header)
    end
  end

  def level = @level_override&.[](Fiber.current) || @level

  def level=(severity)
    @level = Severity.coerce(severity)
  end

  def with_level(severity)
    before, @level_override[Fiber.current] = level, Severity.coerce(severity)
    yield
  ensure
    before ? @level_override[Fiber.current] = before : @level_override.delete(Fiber.current)
    @level_override.delete(Fiber.current) if before == @level
  end

  def datetime_format=(format)
    @default_formatter.datetime_format = format
  end

  def datetime_format = @default_formatter.datetime_format

  def debug? = level <= DEBUG
  def debug! = self.level = DEBUG
  def info? = level <= INFO
  def info! = self.level = INFO
  def warn? = level <= WARN
  def warn! = self.level = WARN
  def error? = level <= ERROR
  def error! = self.level = ERROR
  def fatal? = level <= FATAL
  def fatal! = self.level = FATAL

  def reopen(logdev = nil)
    @logdev&.reopen(logdev)
    self
  end

  def add(severity, message = nil, progname = nil)
    severity ||= UNKNOWN
    return true if @logdev.nil? || severity < level
    progname = @progname if progname.nil?
    if message.nil?
      if block_given?
        message = yield
      else
        message = progname
        progname = @progname
      end
    end
    @logdev.write(format_message(format_severity(severity), Time.now, progname, message))
    true
  end
  alias log add

  def <<(msg) = @logdev&.write(msg)

  def debug(progname = nil, &block) = add(DEBUG, nil, progname, &block)
  def info(progname = nil, &block) = add(INFO, nil, progname, &block)
  def warn(progname = nil, &block) = add(WARN, nil, progname, &block)
  def error(progname = nil, &block) = add(ERROR, nil, progname, &block)
  def fatal(progname = nil, &block) = add(FATAL, nil, progname, &block)
  def unknown(progname = nil, &block) = add(UNKNOWN, nil, progname, &block)

  def close = @logdev&.close

  private

  SEV_LABEL = %w[DEBUG INFO WARN ERROR FATAL ANY].freeze

  def format_severity(severity) = SEV_LABEL[severity] || "ANY"

  def format_message(severity, datetime, progname, msg)
    (@formatter || @default_formatter).call(severity, datetime, progname, msg)
  end
end
