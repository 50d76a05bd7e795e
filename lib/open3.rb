# frozen_string_literal: true

# Runs commands with pipes to their standard streams.
module Open3
  VERSION = "0.2.1"

  class << self
    private

    # The options behind the commands.
    def __options(cmds) = cmds.last.is_a?(Hash) ? cmds.pop.dup : {}

    # Makes pipes, notes the child's ends in the options: those ends, and the others. The child reads from :in.
    def __pipes(opts, streams)
      streams.map do |stream|
        r, w = IO.pipe
        w.sync = true if stream == :in
        child, parent = stream == :in ? [r, w] : [w, r]
        opts[stream] = child
        [child, parent]
      end.transpose.then { |ends| ends.empty? ? [[], []] : ends }
    end

    # What the command wrote to its streams, and its status.
    def __capture(popen, cmd)
      opts = __options(cmd)
      stdin_data = opts.delete(:stdin_data)
      binmode = opts.delete(:binmode)
      __send__(popen, *cmd, opts) do |i, *outs, t|
        [i, *outs].each(&:binmode) if binmode
        readers = outs.map { |o| Thread.new { o.read } }
        feed(i, stdin_data)
        [*readers.map(&:value), t.value]
      end
    end
  end

  def popen3(*cmd, &block) = popen_run(cmd, [:in, :out, :err], &block)
  def popen2(*cmd, &block) = popen_run(cmd, [:in, :out], &block)
  def popen2e(*cmd, &block) = popen_run(cmd, [:in, [:out, :err]], &block)
  module_function :popen3, :popen2, :popen2e

  # Runs a command with a pipe to each of the streams.
  def popen_run(cmd, streams)
    opts = Open3.__send__(:__options, cmd)
    child_io, parent_io = Open3.__send__(:__pipes, opts, streams)
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

  def capture3(*cmd) = Open3.__send__(:__capture, :popen3, cmd)
  def capture2(*cmd) = Open3.__send__(:__capture, :popen2, cmd)
  def capture2e(*cmd) = Open3.__send__(:__capture, :popen2e, cmd)
  module_function :capture3, :capture2, :capture2e

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

  # Runs commands one after the other's output; `streams` of the first and the last have pipes.
  def pipeline_run(cmds, streams)
    pipeline_opts = Open3.__send__(:__options, cmds)
    child_io, parent_io = Open3.__send__(:__pipes, pipeline_opts, streams)
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

  def pipeline(*cmds) = pipeline_run(cmds, []) { |ts| ts.map(&:value) }
  def pipeline_start(*cmds, &block) = block ? pipeline_run(cmds, [], &block) : pipeline_run(cmds, [])[0]
  def pipeline_r(*cmds, &block) = pipeline_run(cmds, [:out], &block)
  def pipeline_w(*cmds, &block) = pipeline_run(cmds, [:in], &block)
  def pipeline_rw(*cmds, &block) = pipeline_run(cmds, [:in, :out], &block)
  module_function :pipeline, :pipeline_start, :pipeline_r, :pipeline_w, :pipeline_rw

  class << self
    private :popen_run, :feed, :pipeline_run
  end
end
