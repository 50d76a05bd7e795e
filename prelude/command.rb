# Commands: spawn, exec, system, backticks and popen. Options become the lists that one
# native takes; everything between fork and exec happens there.
module KumiSys
  # Arguments of spawn and exec: ([env,] command ..., options) as the native wants them.
  def self.command(args, opts)
    args = args.dup
    env = try_hash(args[0]) if __ary_len(args) != 0 && !__is_a(args[0], String)
    args.shift if env
    if __hash_len(opts) == 0 && __ary_len(args) > 1 && (last = __is_a(args[-1], String) ? nil : try_hash(args[-1]))
      opts = last
      args.pop
    end
    arity_error(0, 1, nil) if __ary_len(args) == 0 || __is_a(args[0], Hash)
    first = args[0]
    if !__is_a(first, String) && (pair = try_ary(first))
      raise ArgumentError, "wrong first argument" unless pair.size == 2
      list = [to_str(pair[0]), to_str(pair[1])]
    else
      first = to_str(first)
      list = __ary_len(args) == 1 ? [first] : [first, first]
    end
    args.drop(1).each { |a| list << to_str(a) }
    list.each { |s| raise ArgumentError, "string contains null byte" if s.include?("\0") }
    env_list = [opts[:unsetenv_others] ? true : false]
    env&.each do |k, v|
      k = to_str(k)
      v = to_str(v) unless __same(v, nil)
      raise ArgumentError, "string contains null byte" if k.include?("\0") || v && v.include?("\0")
      env_list << [k, v]
    end
    redirects = []
    chdir = pgroup = umask = nil
    limits = nil
    close_others = false
    opts.each do |k, v|
      case k
      when :unsetenv_others then boolean_option(k, v)
      when :new_pgroup, :exception then nil
      when :close_others
        boolean_option(k, v)
        close_others = v ? true : false
      when :chdir then chdir = to_path(v)
      when :umask then umask = to_long(v)
      when :pgroup
        pgroup = case v
                 when true then 0
                 when nil, false then nil
                 else
                   n = to_cint(v)
                   raise ArgumentError, "negative process group ID : #{n}" if n < 0
                   n
                 end
      when :in, :out, :err, Integer, IO, Array then redirect(redirects, k, v)
      else
        if __is_a(k, Symbol) && k.start_with?("rlimit_")
          res = resource(k.to_s.delete_prefix("rlimit_").upcase)
          v = try_ary(v) || [v, v]
          limits ||= []
          limits << [res, limit_value(v[0]), limit_value(v[1] || v[0])]
        elsif __is_a(k, Symbol)
          raise ArgumentError, "wrong exec option symbol: #{k}"
        elsif (io = try_io(k))
          redirect(redirects, io, v)
        else
          raise ArgumentError, "wrong exec redirect action"
        end
      end
    end
    [list, env_list, redirects, [chdir, pgroup, umask, limits, close_others]]
  end

  def self.boolean_option(name, v)
    return if __same(v, true) || __same(v, false) || __same(v, nil)
    raise ArgumentError, "expected true or false as #{name}: #{inspect(v)}"
  end

  # One file for several descriptors is opened once.
  def self.redirect_file(out, targets, file)
    out << targets[0] << 2 << file
    targets.drop(1).each { |t| out << t << 3 << targets[0] }
  end

  def self.redirect(out, keys, v)
    keys = __is_a(keys, Array) ? keys : [keys]
    targets = keys.map { |k| child_fd(k) }
    case v
    when :close
      targets.each { |t| out << t << 1 << nil }
    when IO
      __io_check_open(v)
      targets.each { |t| out << t << 0 << v }
    when Integer, :in, :out, :err
      fd = child_fd(v)
      raise ArgumentError, "negative file descriptor" if fd < 0
      targets.each { |t| out << t << 0 << fd }
    when String
      redirect_file(out, targets, [v, targets[0] == 0 ? File::RDONLY : File::WRONLY | File::CREAT | File::TRUNC, 420])
    when Array
      if __same(v[0], :child)
        fd = child_fd(v[1])
        targets.each { |t| out << t << 3 << fd }
      else
        mode = v[1]
        flags = __same(mode, nil) ? 0 : __is_a(mode, Integer) ? mode : io_mode(mode, nil)[0]
        perm = v[2] ? to_long(v[2]) : 420
        path = to_path(v[0])
        redirect_file(out, targets, [path, flags, perm])
      end
    else
      if (io = try_io(v))
        targets.each { |t| out << t << 0 << io }
      else
        path = to_path(v)
        redirect_file(out, targets, [path, targets[0] == 0 ? File::RDONLY : File::WRONLY | File::CREAT | File::TRUNC, 420])
      end
    end
  end

  def self.child_fd(x)
    case x
    when :in then 0
    when :out then 1
    when :err then 2
    when Integer
      raise ArgumentError, "negative file descriptor" if x < 0
      x
    when IO
      x.__send__(:fileno)
    else
      io = try_io(x)
      raise ArgumentError, "wrong exec redirect action" unless io
      io.fileno
    end
  end

  def self.spawn(args, opts)
    c = command(args, opts)
    files = []
    begin
      open_redirects(c[2], files)
      __spawn(c[0], c[1], c[2], c[3])
    rescue SystemCallError
      __set_last_status(__status_new(0, 127 << 8))
      raise
    ensure
      files.each { |f| f.close }
    end
  end

  def self.exec(args, opts)
    c = command(args, opts)
    files = []
    begin
      open_redirects(c[2], files)
      # A signal that came before is answered by this program. Where nobody answers (its main thread waits for ever in a
      # handler), it is lost.
      tries = 0
      while tries < 100
        __exec(c[0], c[1], c[2], c[3], false)
        Thread.pass
        tries += 1
      end
      __exec(c[0], c[1], c[2], c[3], true)
    ensure
      files.each { |f| f.close }
    end
  end

  # Files that a command is given by name are opened here: a fifo may make one wait, which a signal ends.
  def self.open_redirects(redirects, files)
    i = 0
    while i < redirects.size
      if redirects[i + 1] == 2
        path, flags, perm = redirects[i + 2]
        begin
          files << File.new(path, flags, perm)
        rescue SystemCallError => e
          raise e.class, path
        end
        # The other end of a fifo may not be there yet: the wait is here, for a command would read its end.
        IO.select([files.last]) if flags & 3 == 0 && files.last.stat.pipe?
        redirects[i + 1] = 0
        redirects[i + 2] = files.last
      end
      i += 3
    end
  end

  # system: true, false, or nil when the command could not be run.
  def self.system(args, opts, exception)
    begin
      pid = spawn(args, opts)
    rescue SystemCallError
      raise if exception
      return nil
    end
    s = __waitpid(pid, 0)
    return true if s.success?
    if exception
      name = args.find { |a| __is_a(a, String) } || args[0]
      raise RuntimeError, "Command failed with #{s.exited? ? "exit #{s.exitstatus}" : signal_text(s.termsig)}: #{name}"
    end
    false
  end

  def self.backtick(command)
    command = to_str(command)
    r, w = IO.pipe
    begin
      pid = spawn([command], { out: w })
      w.close
      text = r.read
      __waitpid(pid, 0)
    ensure
      w.close unless w.closed?
      r.close
    end
    text
  end
end

class IO
  def self.popen(*args, **opts)
    env = nil
    env = KumiSys.try_hash(args.shift) if __ary_len(args) != 0 && !__is_a(args[0], String) && !__is_a(args[0], Array)
    cmd = args.shift
    if !__is_a(args[-1], String) && (h = __ary_len(args) == 0 ? nil : KumiSys.try_hash(args[-1]))
      opts = h
      args.pop
    end
    mode = args.shift
    KumiSys.arity_error(3, 1, 2) unless __ary_len(args) == 0
    io_opts = {}
    spawn_opts = {}
    opts.each do |k, v|
      case k
      when :mode, :flags, :external_encoding, :internal_encoding, :encoding, :textmode, :binmode, :autoclose,
           :invalid, :undef, :replace, :fallback, :xml, :universal_newline, :crlf_newline, :cr_newline, :newline
        io_opts[k] = v
      else
        spawn_opts[k] = v
      end
    end
    m = KumiSys.io_mode(mode, io_opts)
    access = m[0] & 3
    child_in, to_child = IO.pipe if access != 0
    from_child, child_out = IO.pipe if access != 1
    if cmd == "-"
      pid = Process.fork
      unless pid
        if child_in
          to_child.close
          $stdin.reopen(child_in)
        end
        if child_out
          from_child.close
          $stdout.reopen(child_out)
          $stdout.sync = true
        end
        return nil unless block_given?
        KumiSys.finish_child { yield nil }
      end
    else
      words = (list = KumiSys.try_ary(cmd)) ? list.dup : [KumiSys.to_str(cmd)]
      if list
        env = words.shift if !words.empty? && __is_a(words[0], Hash)
        spawn_opts = words.pop.merge(spawn_opts) if !words.empty? && __is_a(words[-1], Hash)
        words = [[words[0], words[0]]] if words.size == 1 && __is_a(words[0], String)
      end
      words.unshift(env) if env
      spawn_opts[:in] = child_in if child_in && !spawn_opts.key?(:in)
      spawn_opts[:out] = child_out if child_out && spawn_opts.keys.none? { |k| k == :out || k == 1 || __is_a(k, Array) && (k.include?(:out) || k.include?(1)) }
      begin
        pid = KumiSys.popen_spawn(words, spawn_opts, child_out)
      rescue SystemCallError
        [child_in, to_child, from_child, child_out].each { |x| x&.close }
        raise
      end
    end
    child_in&.close
    child_out&.close
    io = allocate
    first = from_child || to_child
    fd = first.fileno
    first.autoclose = false
    __io_init(io, fd, m[0], m[1])
    wfd = nil
    if from_child && to_child
      wfd = to_child.fileno
      to_child.autoclose = false
    end
    KumiSys.io_finish(io, m, io_opts)
    __io_set_pid(io, pid, wfd)
    return io unless block_given?
    begin
      yield io
    ensure
      io.close unless io.closed?
    end
  end
end

module KumiSys
  # `err: [:child, :out]` and `err: :out` of popen mean the pipe.
  def self.popen_spawn(words, opts, out)
    [2, :err].each { |k| opts[k] = out if out && (opts[k] == 1 || opts[k] == :out) } if out && !__same(out, $stdout)
    spawn(words, opts)
  end

  def self.finish_child
    exc = nil
    ended = false
    begin
      yield
      ended = true
    rescue Exception => e
      exc = e
      ended = true
    ensure
      # Here a child ends that leaves the block by break, return or throw, too: what lies beyond is the parent's.
      end_forked(exc, ended)
    end
  end
end

module Kernel
  def fork(&block) = KumiSys.fork(block)

  def spawn(*args, **opts) = KumiSys.spawn(args, opts)

  def exec(*args, **opts) = KumiSys.exec(args, opts)

  def system(*args, exception: false, **opts) = KumiSys.system(args, opts, exception)

  def `(command) = KumiSys.backtick(command)

  module_function :fork, :spawn, :exec, :system, :`
end
