# File, FileTest, File::Stat: what calls back into Ruby around the natives.
class File < IO
  SEPARATOR = "/".freeze
  Separator = SEPARATOR
  ALT_SEPARATOR = nil
  PATH_SEPARATOR = ":".freeze

  module Constants
    RDONLY = 0
    WRONLY = 1
    RDWR = 2
    APPEND = 1024
    CREAT = 64
    EXCL = 128
    NONBLOCK = 2048
    TRUNC = 512
    NOCTTY = 256
    BINARY = 0
    SHARE_DELETE = 0
    SYNC = 1052672
    DSYNC = 4096
    RSYNC = 1052672
    DIRECT = 16384
    NOFOLLOW = 131072
    DIRECTORY = 65536
    NOATIME = 262144
    TMPFILE = 4259840
    LOCK_SH = 1
    LOCK_EX = 2
    LOCK_NB = 4
    LOCK_UN = 8
    NULL = "/dev/null".freeze
    FNM_NOESCAPE = 1
    FNM_PATHNAME = 2
    FNM_DOTMATCH = 4
    FNM_CASEFOLD = 8
    FNM_EXTGLOB = 16
    FNM_SYSCASE = 0
    FNM_SHORTNAME = 0
  end

  class Stat
    include Comparable

    def inspect
      return "#<#{self.class}: uninitialized>" if __stat_unset(self)
      parts = %i[dev ino mode nlink uid gid rdev size blksize blocks atime mtime ctime].map do |m|
        v = __send__(m)
        s = case m
            when :dev, :rdev then "0x#{v.to_s(16)}"
            when :mode then "0#{v.to_s(8)}"
            else v.inspect
            end
        "#{m}=#{s}"
      end
      "#<#{self.class} #{parts.join(", ")}>"
    end

    def birthtime
      raise NotImplementedError, "birthtime() function is unimplemented on this machine"
    end
  end

  def initialize(path, mode = nil, perm = nil, **opts)
    if __is_a(path, Integer)
      raise ArgumentError, "wrong number of arguments (given 3, expected 1..2)" unless __same(perm, nil)
      return super(path, mode, **opts)
    end
    if opts.key?(:perm)
      raise ArgumentError, "perm specified twice" unless __same(perm, nil)
      perm = opts.delete(:perm)
    end
    raise RuntimeError, "reinitializing File" if __io_initialized(self)
    path = KumiSys.to_path(path) unless __is_a(path, String)
    m = KumiSys.io_mode(mode, opts)
    fd = __io_sysopen(path, m[0], __same(perm, nil) ? 438 : KumiSys.to_long(perm))
    __io_init(self, fd, m[0], m[1])
    __io_set_path(self, path)
    KumiSys.io_finish(self, m, opts)
    self
  end
  private :initialize

  def self.delete(*paths)
    paths.each { |p| __file_unlink(KumiSys.to_path(p)) }
    paths.size
  end

  class << self
    alias unlink delete
  end

  def self.chmod(mode, *paths)
    mode = KumiSys.to_long(mode)
    paths.each { |p| __file_chmod(KumiSys.to_path(p), mode) }
    paths.size
  end

  def self.lchmod(mode, *paths)
    raise NotImplementedError, "lchmod() function is unimplemented on this machine"
  end

  def self.chown(user, group, *paths)
    user = KumiSys.to_long(user) unless __same(user, nil)
    group = KumiSys.to_long(group) unless __same(group, nil)
    paths.each { |p| __file_chown(KumiSys.to_path(p), user, group, true) }
    paths.size
  end

  def self.lchown(user, group, *paths)
    user = KumiSys.to_long(user) unless __same(user, nil)
    group = KumiSys.to_long(group) unless __same(group, nil)
    paths.each { |p| __file_chown(KumiSys.to_path(p), user, group, false) }
    paths.size
  end

  def self.utime(atime, mtime, *paths)
    KumiSys.set_times(atime, mtime, paths, true)
  end

  def self.lutime(atime, mtime, *paths)
    KumiSys.set_times(atime, mtime, paths, false)
  end

  def self.join(*parts)
    KumiSys.join_path(parts, [])
  end
end

module KumiSys
  # "a/b" of parts that may be nested arrays or convert to paths.
  def self.join_path(parts, outer)
    raise ArgumentError, "recursive array" if outer.any? { |o| __same(o, parts) }
    flat = parts.map do |x|
      next x if __is_a(x, String)
      list = __is_a(x, Array) ? x : nil
      next join_path(list, outer + [parts]) if list
      to_path(x)
    end
    File.join(*flat)
  end

  def self.set_times(atime, mtime, paths, follow)
    a = time_parts(atime)
    m = time_parts(mtime)
    paths.each { |p| __file_utime(to_path(p), a[0], a[1], m[0], m[1], follow) }
    paths.size
  end

  def self.time_parts(t)
    return [nil, nil] if __same(t, nil)
    t = Time.at(t) unless __is_a(t, Time)
    [t.to_i, t.nsec]
  end

  def self.path_or_io(x)
    return x if __is_a(x, String) || __is_a(x, IO)
    try_io(x) || to_path(x)
  end
end

# Questions about a file by its path, its stream, or a thing that has a stream inside.
class File
  def self.exist?(file) = File.exist?(KumiSys.path_or_io(file))
  def self.file?(file) = File.file?(KumiSys.path_or_io(file))
  def self.directory?(file) = File.directory?(KumiSys.path_or_io(file))
  def self.pipe?(file) = File.pipe?(KumiSys.path_or_io(file))
  def self.socket?(file) = File.socket?(KumiSys.path_or_io(file))
  def self.blockdev?(file) = File.blockdev?(KumiSys.path_or_io(file))
  def self.chardev?(file) = File.chardev?(KumiSys.path_or_io(file))
  def self.setuid?(file) = File.setuid?(KumiSys.path_or_io(file))
  def self.setgid?(file) = File.setgid?(KumiSys.path_or_io(file))
  def self.sticky?(file) = File.sticky?(KumiSys.path_or_io(file))
  def self.empty?(file) = File.empty?(KumiSys.path_or_io(file))
  def self.owned?(file) = File.owned?(KumiSys.path_or_io(file))
  def self.grpowned?(file) = File.grpowned?(KumiSys.path_or_io(file))
  def self.readable?(file) = File.readable?(KumiSys.path_or_io(file))
  def self.writable?(file) = File.writable?(KumiSys.path_or_io(file))
  def self.executable?(file) = File.executable?(KumiSys.path_or_io(file))
  def self.readable_real?(file) = File.readable_real?(KumiSys.path_or_io(file))
  def self.writable_real?(file) = File.writable_real?(KumiSys.path_or_io(file))
  def self.executable_real?(file) = File.executable_real?(KumiSys.path_or_io(file))
  def self.world_readable?(file) = File.world_readable?(KumiSys.path_or_io(file))
  def self.world_writable?(file) = File.world_writable?(KumiSys.path_or_io(file))
  def self.size?(file) = File.size?(KumiSys.path_or_io(file))
  def self.size(file) = File.size(KumiSys.path_or_io(file))
  def self.stat(file) = File.stat(KumiSys.path_or_io(file))
  def self.lstat(file) = File.lstat(KumiSys.path_or_io(file))
  def self.atime(file) = File.atime(KumiSys.path_or_io(file))
  def self.mtime(file) = File.mtime(KumiSys.path_or_io(file))
  def self.ctime(file) = File.ctime(KumiSys.path_or_io(file))
  class << self
    alias zero? empty?
  end
  def self.identical?(a, b) = File.identical?(KumiSys.path_or_io(a), KumiSys.path_or_io(b))
end

# Questions about a file by its path, its stream, or a thing that has a stream inside.
module FileTest
  def self.exist?(file) = FileTest.exist?(KumiSys.path_or_io(file))
  def self.file?(file) = FileTest.file?(KumiSys.path_or_io(file))
  def self.directory?(file) = FileTest.directory?(KumiSys.path_or_io(file))
  def self.pipe?(file) = FileTest.pipe?(KumiSys.path_or_io(file))
  def self.socket?(file) = FileTest.socket?(KumiSys.path_or_io(file))
  def self.blockdev?(file) = FileTest.blockdev?(KumiSys.path_or_io(file))
  def self.chardev?(file) = FileTest.chardev?(KumiSys.path_or_io(file))
  def self.setuid?(file) = FileTest.setuid?(KumiSys.path_or_io(file))
  def self.setgid?(file) = FileTest.setgid?(KumiSys.path_or_io(file))
  def self.sticky?(file) = FileTest.sticky?(KumiSys.path_or_io(file))
  def self.empty?(file) = FileTest.empty?(KumiSys.path_or_io(file))
  def self.owned?(file) = FileTest.owned?(KumiSys.path_or_io(file))
  def self.grpowned?(file) = FileTest.grpowned?(KumiSys.path_or_io(file))
  def self.readable?(file) = FileTest.readable?(KumiSys.path_or_io(file))
  def self.writable?(file) = FileTest.writable?(KumiSys.path_or_io(file))
  def self.executable?(file) = FileTest.executable?(KumiSys.path_or_io(file))
  def self.readable_real?(file) = FileTest.readable_real?(KumiSys.path_or_io(file))
  def self.writable_real?(file) = FileTest.writable_real?(KumiSys.path_or_io(file))
  def self.executable_real?(file) = FileTest.executable_real?(KumiSys.path_or_io(file))
  def self.world_readable?(file) = FileTest.world_readable?(KumiSys.path_or_io(file))
  def self.world_writable?(file) = FileTest.world_writable?(KumiSys.path_or_io(file))
  def self.size?(file) = FileTest.size?(KumiSys.path_or_io(file))
  def self.size(file) = FileTest.size(KumiSys.path_or_io(file))
  class << self
    alias zero? empty?
  end
  def self.identical?(a, b) = FileTest.identical?(KumiSys.path_or_io(a), KumiSys.path_or_io(b))
end
