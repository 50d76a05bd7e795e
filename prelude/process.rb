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
        __waitpid(KumiSys.to_cint(pid), KumiSys.to_cint(flags), true)
      rescue Errno::ECHILD
        __status_new(-1, 0)
      end
    end
  end

  Tms = Struct.new(:utime, :stime, :cutime, :cstime)

  def self.wait(pid = -1, flags = 0)
    s = __waitpid(KumiSys.to_cint(pid), __same(flags, nil) ? 0 : KumiSys.to_cint(flags))
    s && s.pid
  end


  def self.wait2(pid = -1, flags = 0)
    s = __waitpid(KumiSys.to_cint(pid), __same(flags, nil) ? 0 : KumiSys.to_cint(flags))
    s && [s.pid, s]
  end

  class << self
    alias waitpid wait
    alias waitpid2 wait2
  end

  def self.waitall
    __set_last_status(nil)
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
    pid = KumiSys.to_cint(pid)
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
    pids = pids.map { |p| KumiSys.to_cint(p) }
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
    __set_ids(2, KumiSys.user_number(id, false), -1)
    id
  end

  def self.gid=(id)
    __set_ids(3, KumiSys.user_number(id, true), -1)
    id
  end

  def self.euid=(id)
    __set_ids(2, -1, KumiSys.user_number(id, false))
    id
  end

  def self.egid=(id)
    __set_ids(3, -1, KumiSys.user_number(id, true))
    id
  end

  def self.groups=(list)
    __setgroups(list.map { |g| KumiSys.user_number(g, true) })
  end

  def self.initgroups(user, group)
    __initgroups(KumiSys.to_str(user), KumiSys.to_long(group))
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
      __set_ids(2, -1, KumiSys.user_number(id, false))
      nil
    end

    def self.setegid(id)
      __set_ids(3, -1, KumiSys.user_number(id, true))
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
    to_cint(x)
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
    to_long(x)
  end

  # fork; with a block the child runs it and ends.
  def self.fork(block)
    pid = Process._fork
    return pid if pid != 0
    return nil unless block
    finish_child(&block)
  end

  def self.end_forked(exc, ended)
    unless ended
      warning("unexpected jump out of the block of fork")
      exc = SystemExit.new(1)
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
