# frozen_string_literal: true

# Times of code, measured and reported.
module Benchmark
  VERSION = "0.4.1"
  BENCHMARK_VERSION = "2002-04-25"

  # User, system, children's and real time.
  class Tms
    CAPTION = "      user     system      total        real\n"
    FORMAT = "%10.6u %10.6y %10.6t %10.6r\n"

    attr_reader :utime, :stime, :cutime, :cstime, :real, :total, :label

    def initialize(utime = 0.0, stime = 0.0, cutime = 0.0, cstime = 0.0, real = 0.0, label = nil)
      @utime, @stime, @cutime, @cstime, @real, @label = utime, stime, cutime, cstime, real, label.to_s
      @total = utime + stime + cutime + cstime
    end

    def add(&blk) = self + Benchmark.measure(&blk)

    def add!(&blk)
      t = Benchmark.measure(&blk)
      @utime += t.utime
      @stime += t.stime
      @cutime += t.cutime
      @cstime += t.cstime
      @real += t.real
      self
    end

    def +(other) = memberwise(:+, other)
    def -(other) = memberwise(:-, other)
    def *(x) = memberwise(:*, x)
    def /(x) = memberwise(:/, x)

    def format(format = nil, *args)
      str = (format || FORMAT).dup
      str.gsub!(/(%[-+.\d]*)n/) { "#{$1}s" % label }
      str.gsub!(/(%[-+.\d]*)u/) { "#{$1}f" % utime }
      str.gsub!(/(%[-+.\d]*)y/) { "#{$1}f" % stime }
      str.gsub!(/(%[-+.\d]*)U/) { "#{$1}f" % cutime }
      str.gsub!(/(%[-+.\d]*)Y/) { "#{$1}f" % cstime }
      str.gsub!(/(%[-+.\d]*)t/) { "#{$1}f" % total }
      str.gsub!(/(%[-+.\d]*)r/) { "(#{$1}f)" % real }
      format ? str % args : str
    end

    def to_s = format
    def to_a = [label, utime, stime, cutime, cstime, real]
    def to_h = { label: label, utime: utime, stime: stime, cutime: cutime, cstime: cstime, real: real }

    protected

    def memberwise(op, x)
      if x.is_a?(Tms)
        Tms.new(utime.__send__(op, x.utime), stime.__send__(op, x.stime), cutime.__send__(op, x.cutime),
                cstime.__send__(op, x.cstime), real.__send__(op, x.real))
      else
        Tms.new(utime.__send__(op, x), stime.__send__(op, x), cutime.__send__(op, x),
                cstime.__send__(op, x), real.__send__(op, x))
      end
    end
  end

  CAPTION = Tms::CAPTION
  FORMAT = Tms::FORMAT

  # What the block of `bm` receives.
  class Report
    attr_reader :width, :format, :list

    def initialize(width = 0, format = nil)
      @width, @format, @list = width, format, []
    end

    def item(label = "", *format, &blk)
      print label.to_s.ljust(@width)
      @list << (res = Benchmark.measure(label, &blk))
      print res.format(@format, *format)
      res
    end
    alias report item
  end

  # What the block of `bmbm` receives: jobs to run twice.
  class Job
    attr_reader :list, :width

    def initialize(width)
      @width = width
      @list = []
    end

    def item(label = "", &blk)
      raise ArgumentError, "no block" unless block_given?
      label = label.to_s
      @width = label.length if @width < label.length
      @list << [label, blk]
      self
    end
    alias report item
  end

  module_function

  def benchmark(caption = "", label_width = nil, format = nil, *labels)
    label_width = (label_width || 0) + 1
    print " " * label_width + caption unless caption.empty?
    report = Report.new(label_width, format)
    results = yield(report)
    Array === results && results.grep(Tms).each do |t|
      print((labels.shift || t.label || "").ljust(label_width), t.format(format))
    end
    report.list
  end

  def bm(label_width = 0, *labels, &blk)
    benchmark(" " * 0 + CAPTION, label_width, FORMAT, *labels, &blk)
  end

  def bmbm(width = 0)
    job = Job.new(width)
    yield(job)
    width = job.width + 1
    puts "Rehearsal ".ljust(width + CAPTION.length, "-")
    ets = job.list.map do |label, item|
      print label.ljust(width)
      res = Benchmark.measure(&item)
      print res.format
      res
    end.inject(Tms.new) { |sum, t| sum + t }
    puts ets.format(" total: %tsec").rjust(width + CAPTION.length, "-")
    print "\n" + " " * width + CAPTION
    job.list.map do |label, item|
      GC.start
      print label.ljust(width)
      Benchmark.measure(label, &item).tap { |res| print res }
    end
  end

  def measure(label = "")
    t0, r0 = Process.times, Process.clock_gettime(Process::CLOCK_MONOTONIC)
    yield
    t1, r1 = Process.times, Process.clock_gettime(Process::CLOCK_MONOTONIC)
    Tms.new(t1.utime - t0.utime, t1.stime - t0.stime, t1.cutime - t0.cutime, t1.cstime - t0.cstime, r1 - r0, label)
  end

  def realtime
    r0 = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    yield
    Process.clock_gettime(Process::CLOCK_MONOTONIC) - r0
  end
end
