# frozen_string_literal: true

# Runs commands with pipes to their standard streams.
module Open3
  VERSION = "0.2.1"

  def popen3(*cmd, &block)
    opts = cmd.last.is_a?(Hash) ? cmd.pop.dup : {}
    in_r, in_w = IO.pipe
    opts[:in] = in_r
    in_w.sync = true
    out_r, out_w = IO.pipe
    opts[:out] = out_w
    err_r, err_w = IO.pipe
    opts[:err] = err_w
    popen_run(cmd, opts, [in_r, out_w, err_w], [in_w, out_r, err_r], &block)
  end
  module_function :popen3

  def popen2(*cmd, &block)
    opts = cmd.last.is_a?(Hash) ? cmd.pop.dup : {}
    in_r, in_w = IO.pipe
    opts[:in] = in_r
    in_w.sync = true
    out_r, out_w = IO.pipe
    opts[:out] = out_w
    popen_run(cmd, opts, [in_r, out_w], [in_w, out_r], &block)
  end
  module_function :popen2

  def popen2e(*cmd, &block)
    opts = cmd.last.is_a?(Hash) ? cmd.pop.dup : {}
    in_r, in_w = IO.pipe
    opts[:in] = in_r
    in_w.sync = true
    out_r, out_w = IO.pipe
    opts[[:out, :err]] = out_w
    popen_run(cmd, opts, [in_r, out_w], [in_w, out_r], &block)
  end
  module_function :popen2e

  def popen_run(cmd, opts, child_io, parent_io)
    pid = spawn(*cmd, opts)
    wait_thr = Process.detach(pid)
    child_io.each(&:close)
    result = [*parent_io, wait_thr]
    return result unless defined?(yield)
    begin
      yield(*result)
    ensure
      parent_io.each(&:close)
      wait_thr.join
    end
  end
  module_function :popen_run
  class << self
    private :popen_run
  end

  def capture3(*cmd)
    opts = cmd.last.is_a?(Hash) ? cmd.pop.dup : {}
    stdin_data = opts.delete(:stdin_data) || ""
    binmode = opts.delete(:binmode)
    popen3(*cmd, opts) do |i, o, e, t|
      [i, o, e].each(&:binmode) if binmode
      out_reader = Thread.new { o.read }
      err_reader = Thread.new { e.read }
      feed(i, stdin_data)
      [out_reader.value, err_reader.value, t.value]
    end
  end
  module_function :capture3

  def capture2(*cmd)
    opts = cmd.last.is_a?(Hash) ? cmd.pop.dup : {}
    stdin_data = opts.delete(:stdin_data)
    binmode = opts.delete(:binmode)
    popen2(*cmd, opts) do |i, o, t|
      [i, o].each(&:binmode) if binmode
      out_reader = Thread.new { o.read }
      feed(i, stdin_data)
      [out_reader.value, t.value]
    end
  end
  module_function :capture2

  def capture2e(*cmd)
    opts = cmd.last.is_a?(Hash) ? cmd.pop.dup : {}
    stdin_data = opts.delete(:stdin_data)
    binmode = opts.delete(:binmode)
    popen2e(*cmd, opts) do |i, o, t|
      [i, o].each(&:binmode) if binmode
      out_reader = Thread.new { o.read }
      feed(i, stdin_data)
      [out_reader.value, t.value]
    end
  end
  module_function :capture2e

  # Writes what the command should read; it may stop reading early.
  def feed(io, data)
    if data
      data.respond_to?(:readpartial) ? IO.copy_stream(data, io) : io.write(data)
    end
  rescue Errno::EPIPE
  ensure
    io.close
  end
  module_function :feed
  class << self
    private :feed
  end

  def pipeline_run(cmds, pipeline_opts, child_io, parent_io)
    threads = []
    input = nil
    last = cmds.size - 1
    cmds.each_with_index do |cmd, i|
      cmd = cmd.is_a?(Array) ? cmd.dup : [cmd]
      opts = pipeline_opts.dup
      opts.update(cmd.pop) if cmd.last.is_a?(Hash) && cmd.size > 1
      opts[:in] = input if i > 0
      if i != last
        r, w = IO.pipe
        opts[:out] = w
      end
      opts.delete(:in) if i > 0 && input.nil?
      opts[:in] = pipeline_opts[:in] if i == 0 && pipeline_opts.key?(:in)
      opts[:out] = pipeline_opts[:out] if i == last && pipeline_opts.key?(:out)
      threads << Process.detach(spawn(*cmd, opts))
      input.close if i > 0 && input
      if i != last
        w.close
        input = r
      end
    end
    child_io.each(&:close)
    result = parent_io + [threads]
    return result unless defined?(yield)
    begin
      yield(*result)
    ensure
      parent_io.each(&:close)
      threads.each(&:join)
    end
  end
  module_function :pipeline_run
  class << self
    private :pipeline_run
  end

  def pipeline(*cmds)
    opts = cmds.last.is_a?(Hash) ? cmds.pop.dup : {}
    pipeline_run(cmds, opts, [], []) { |ts| ts.map(&:value) }
  end
  module_function :pipeline

  def pipeline_start(*cmds, &block)
    opts = cmds.last.is_a?(Hash) ? cmds.pop.dup : {}
    block ? pipeline_run(cmds, opts, [], [], &block) : pipeline_run(cmds, opts, [], [])[0]
  end
  module_function :pipeline_start

  def pipeline_r(*cmds, &block)
    opts = cmds.last.is_a?(Hash) ? cmds.pop.dup : {}
    out_r, out_w = IO.pipe
    opts[:out] = out_w
    pipeline_run(cmds, opts, [out_w], [out_r], &block)
  end
  module_function :pipeline_r

  def pipeline_w(*cmds, &block)
    opts = cmds.last.is_a?(Hash) ? cmds.pop.dup : {}
    in_r, in_w = IO.pipe
    opts[:in] = in_r
    in_w.sync = true
    pipeline_run(cmds, opts, [in_r], [in_w], &block)
  end
  module_function :pipeline_w

  def pipeline_rw(*cmds, &block)
    opts = cmds.last.is_a?(Hash) ? cmds.pop.dup : {}
    in_r, in_w = IO.pipe
    opts[:in] = in_r
    in_w.sync = true
    out_r, out_w = IO.pipe
    opts[:out] = out_w
    pipeline_run(cmds, opts, [in_r, out_w], [in_w, out_r], &block)
  end
  module_function :pipeline_rw
end
