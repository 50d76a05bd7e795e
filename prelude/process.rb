# Process: starting, waiting for and asking about processes.
module Process
  class Status
    def ==(other)
      __is_a(other, Process::Status) ? to_i == other.to_i : to_i == other
    end

    def to_s = KumiSys.status_text(self)

    def inspect
      "#<Process::Status: #{KumiSys.status_text(self)}>"
    end

    def self.wait(pid = -1, flags = 0)
      begin
        __waitpid(KumiSys.to_int(pid), KumiSys.to_int(flags), true)
      rescue Errno::ECHILD
        __status_new(-1, 0)
      end
    end
  end

  Tms = Struct.new(:utime, :stime, :cutime, :cstime)

  def self.wait(pid = -1, flags = 0)
    s = __waitpid(KumiSys.to_int(pid), __same(flags, nil) ? 0 : KumiSys.to_int(flags))
    s && s.pid
  end


  def self.wait2(pid = -1, flags = 0)
    s = __waitpid(KumiSys.to_int(pid), __same(flags, nil) ? 0 : KumiSys.to_int(flags))
    s && [s.pid, s]
  end

  class << self
    alias waitpid wait
    alias waitpid2 wait2
  end

  def self.waitall
    out = []
    begin
      while true
        s = __waitpid(-1, 0)
        out << [s.pid, s]
      end
    rescue Errno::ECHILD
      out
    end
  end

  class Waiter < Thread
    def pid
      self[:pid]
    end
  end

  def self.detach(pid)
    pid = KumiSys.to_int(pid)
    t = Waiter.new do
      begin
        __waitpid(pid, 0)
      rescue Errno::ECHILD
        nil
      end
    end
    t[:pid] = pid
    t
  end

  def self.last_status = __last_status

  def self.kill(signal, *pids)
    KumiSys.arity_error(1, 2, nil) if pids.empty?
    n = KumiSys.signal_number(signal)
    pids = pids.map { |p| KumiSys.to_int(p) }
    pids.each do |p|
      p = -p if n < 0
      __kill(p, n.abs)
    end
    __signal_poll
    pids.size
  end

  def self.times
    Tms.new(*__times)
  end

  def self.fork(&block) = KumiSys.fork(block)

  def self._fork
    __fork || 0
  end

  def self.exit(status = true) = Kernel.exit(status)

  def self.exit!(status = false) = Kernel.exit!(status)

  def self.abort(*message) = Kernel.abort(*message)

  def self.spawn(*args, **opts) = KumiSys.spawn(args, opts)

  def self.exec(*args, **opts) = KumiSys.exec(args, opts)

  def self.daemon(nochdir = nil, noclose = nil)
    KumiSys.boolean_option(:nochdir, nochdir)
    KumiSys.boolean_option(:noclose, noclose)
    exit!(0) if __fork
    setsid
    exit!(0) if __fork
    Dir.chdir("/") unless nochdir
    unless noclose
      null = File.open("/dev/null", "r+")
      [$stdin, $stdout, $stderr].each { |io| io.reopen(null) if __is_a(io, IO) }
      null.close
    end
    0
  end

  def self.getrlimit(resource)
    __getrlimit(KumiSys.resource(resource))
  end

  def self.setrlimit(resource, cur, max = cur)
    __setrlimit(KumiSys.resource(resource), KumiSys.limit_value(cur), KumiSys.limit_value(max))
  end

  def self.uid=(id)
    __set_id(0, KumiSys.user_number(id, false))
    id
  end

  def self.gid=(id)
    __set_id(1, KumiSys.user_number(id, true))
    id
  end

  def self.euid=(id)
    __set_id(2, KumiSys.user_number(id, false))
    id
  end

  def self.egid=(id)
    __set_id(3, KumiSys.user_number(id, true))
    id
  end

  def self.groups=(list)
    __setgroups(list.map { |g| KumiSys.user_number(g, true) })
  end

  def self.initgroups(user, group)
    __initgroups(KumiSys.to_str(user), KumiSys.to_int(group))
    groups
  end

  def self.maxgroups = @__maxgroups || 65536

  def self.maxgroups=(n)
    raise ArgumentError, "maxgroups #{n} should be positive" if n <= 0
    @__maxgroups = n > 65536 ? 65536 : n
  end

  def self.argv0
    @__argv0 ||= $0.dup.freeze
  end

  def self.setproctitle(title)
    KumiSys.to_str(title)
  end

  def self.warmup = true

  module UID
    def self.rid = Process.uid
    def self.eid = Process.euid
    def self.re_exchangeable? = true
    def self.sid_available? = true

    def self.change_privilege(id)
      __set_ids(4, KumiSys.user_number(id, false), KumiSys.user_number(id, false))
      id
    end

    def self.grant_privilege(id)
      Process.euid = id
    end

    def self.eid=(id)
      Process.euid = id
    end

    def self.from_name(name)
      __user_id(KumiSys.to_str(name), false) || raise(ArgumentError, "can't find user for #{name}")
    end
  end

  module GID
    def self.rid = Process.gid
    def self.eid = Process.egid
    def self.re_exchangeable? = true
    def self.sid_available? = true

    def self.change_privilege(id)
      __set_ids(5, KumiSys.user_number(id, true), KumiSys.user_number(id, true))
      id
    end

    def self.grant_privilege(id)
      Process.egid = id
    end

    def self.eid=(id)
      Process.egid = id
    end

    def self.from_name(name)
      __user_id(KumiSys.to_str(name), true) || raise(ArgumentError, "can't find group for #{name}")
    end
  end

  module Sys
    def self.getuid = Process.uid
    def self.geteuid = Process.euid
    def self.getgid = Process.gid
    def self.getegid = Process.egid
    def self.issetugid = false

    def self.setuid(id)
      __set_ids(0, KumiSys.user_number(id, false), 0)
      nil
    end

    def self.setgid(id)
      __set_ids(1, KumiSys.user_number(id, true), 0)
      nil
    end

    def self.seteuid(id)
      __set_id(2, KumiSys.user_number(id, false))
      nil
    end

    def self.setegid(id)
      __set_id(3, KumiSys.user_number(id, true))
      nil
    end

    def self.setreuid(r, e)
      __set_ids(2, KumiSys.user_number(r, false), KumiSys.user_number(e, false))
      nil
    end

    def self.setregid(r, e)
      __set_ids(3, KumiSys.user_number(r, true), KumiSys.user_number(e, true))
      nil
    end
  end
end

module KumiSys
  def self.status_text(s)
    t = "pid #{s.pid}"
    if s.stopped?
      n = s.stopsig
      t << " stopped #{signal_text(n)}"
    end
    if s.signaled?
      t << " #{signal_text(s.termsig)}"
    end
    t << " exit #{s.exitstatus}" if s.exited?
    t << " (core dumped)" if s.coredump?
    t
  end

  def self.signal_text(n)
    name = Signal.signame(n)
    name ? "SIG#{name} (signal #{n})" : "signal #{n}"
  end

  # Waits for the child behind a pipe that was closed.
  def self.reap(pid)
    __waitpid(pid, 0)
  rescue Errno::ECHILD
    nil
  end

  def self.resource(x)
    return x if __is_a(x, Integer)
    name = __is_a(x, Symbol) ? x.to_s : try_str(x)
    if name
      const = :"RLIMIT_#{name}"
      unless name =~ /\A[A-Z]+\z/ && Process.const_defined?(const)
        raise ArgumentError, "invalid resource name: #{name}"
      end
      return Process.const_get(const)
    end
    to_int(x)
  end

  def self.limit_value(x)
    return x if __is_a(x, Integer)
    name = __is_a(x, Symbol) ? x.to_s : try_str(x)
    if name
      return Process::RLIM_INFINITY if %w[INFINITY SAVED_MAX SAVED_CUR].include?(name)
      raise ArgumentError, "invalid resource value: #{name}"
    end
    to_int(x)
  end

  # A user or group by number or name.
  def self.user_number(x, group)
    return x if __is_a(x, Integer)
    if (s = try_str(x))
      return __user_id(s, group) || raise(ArgumentError, "can't find #{group ? "group" : "user"} for #{s}")
    end
    to_int(x)
  end

  # fork; with a block the child runs it and ends.
  def self.fork(block)
    pid = Process._fork
    return pid if pid != 0
    return nil unless block
    exc = nil
    begin
      block.call
    rescue Exception => e
      exc = e
    end
    status = finish(exc)
    __flush_all
    if status < 0
      begin
        Signal.trap(-status, "SYSTEM_DEFAULT")
      rescue ArgumentError
        nil
      end
      __kill($$, -status)
    end
    __exit_now(status)
  end

  # --- commands -------------------------------------------------------------------

  # Arguments of spawn and exec: ([env,] command ..., options) as the native wants them.
  def self.command(args, opts)
    args = args.dup
    env = try_hash(args[0]) if !args.empty? && !__is_a(args[0], String)
    args.shift if env
    if opts.empty? && args.size > 1 && (last = __is_a(args[-1], String) ? nil : try_hash(args[-1]))
      opts = last
      args.pop
    end
    arity_error(0, 1, nil) if args.empty? || __is_a(args[0], Hash)
    first = args[0]
    if !__is_a(first, String) && (pair = try_ary(first))
      raise ArgumentError, "wrong first argument" unless pair.size == 2
      list = [to_str(pair[0]), to_str(pair[1])]
    else
      first = to_str(first)
      list = args.size == 1 ? [first] : [first, first]
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
      when :umask then umask = to_int(v)
      when :pgroup
        pgroup = case v
                 when true then 0
                 when nil, false then nil
                 else
                   n = to_int(v)
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
    when Integer, IO, :in, :out, :err
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
        perm = v[2] ? to_int(v[2]) : 420
        path = to_path(v[0])
        redirect_file(out, targets, [path, flags, perm])
      end
    else
      if (io = try_io(v))
        targets.each { |t| out << t << 0 << io.fileno }
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
    begin
      __spawn(c[0], c[1], c[2], c[3])
    rescue SystemCallError
      __set_last_status(__status_new(0, 127 << 8))
      raise
    end
  end

  def self.exec(args, opts)
    c = command(args, opts)
    __exec(c[0], c[1], c[2], c[3])
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
    env = KumiSys.try_hash(args.shift) if !args.empty? && !__is_a(args[0], String) && !__is_a(args[0], Array)
    cmd = args.shift
    if !__is_a(args[-1], String) && (h = args.empty? ? nil : KumiSys.try_hash(args[-1]))
      opts = h
      args.pop
    end
    mode = args.shift
    KumiSys.arity_error(3, 1, 2) unless args.empty?
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
    begin
      yield
    rescue Exception => e
      exc = e
    end
    status = finish(exc)
    __flush_all
    __exit_now(status < 0 ? 128 - status : status)
  end
end

module Kernel
  def fork(&block) = KumiSys.fork(block)

  def spawn(*args, **opts) = KumiSys.spawn(args, opts)

  def exec(*args, **opts) = KumiSys.exec(args, opts)

  def system(*args, exception: false, **opts) = KumiSys.system(args, opts, exception)

  def `(command) = KumiSys.backtick(command)

  private :fork, :spawn, :exec, :system, :`

  def self.fork(&block) = KumiSys.fork(block)

  def self.spawn(*args, **opts) = KumiSys.spawn(args, opts)

  def self.exec(*args, **opts) = KumiSys.exec(args, opts)

  def self.system(*args, exception: false, **opts) = KumiSys.system(args, opts, exception)

  def self.`(command) = KumiSys.backtick(command)
end

# Built in for the user; loaded when first named.
autoload :RbConfig, "rbconfig"
autoload :Pathname, "pathname"

module Kernel
  def Pathname(path)
    __is_a(path, ::Pathname) ? path : ::Pathname.new(path)
  end
  private :Pathname
end
