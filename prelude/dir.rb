# Dir: reading and changing directories.
class Dir
  include Enumerable

  def self.open(path, encoding: nil)
    dir = new(path, encoding: encoding)
    return dir unless block_given?
    begin
      yield dir
    ensure
      dir.close
    end
  end

  def self.for_fd(fd)
    dir = allocate
    __dir_for_fd(dir, KumiSys.to_cint(fd))
    dir
  end

  def self.fchdir(fd)
    fd = KumiSys.to_cint(fd)
    return __fchdir(fd) unless block_given?
    old = getwd
    __fchdir(fd)
    begin
      yield
    ensure
      __chdir(old)
    end
  end

  def self.new(path, encoding: nil)
    dir = allocate
    dir.__send__(:initialize, path, encoding: encoding)
    dir
  end

  def initialize(path, encoding: nil)
    __dir_open(self, KumiSys.to_path(path))
    @__encoding = KumiSys.io_encoding(encoding) if encoding
  end

  def self.chdir(path = __undef)
    if __undef?(path)
      path = ENV["HOME"] || ENV["LOGDIR"]
      raise ArgumentError, "HOME/LOGDIR not set" unless path
    else
      path = KumiSys.to_path(path)
    end
    unless block_given?
      KumiSys.warning "conflicting chdir during another chdir block" if KumiSys.chdir_depth > 0
      return __chdir(path)
    end
    old = getwd
    __chdir(path)
    KumiSys.chdir_depth += 1
    begin
      yield path
    ensure
      KumiSys.chdir_depth -= 1
      __chdir(old)
    end
  end

  def self.exist?(path)
    File.directory?(path)
  end

  def self.entries(path, encoding: nil)
    KumiSys.dir_names(path, encoding)
  end

  def self.children(path, encoding: nil)
    KumiSys.dir_names(path, encoding).reject { |n| n == "." || n == ".." }
  end

  def self.each_child(path, encoding: nil)
    return to_enum(:each_child, path, encoding: encoding) unless block_given?
    children(path, encoding: encoding).each { |n| yield n }
    nil
  end

  def self.foreach(path, encoding: nil)
    return to_enum(:foreach, path, encoding: encoding) unless block_given?
    KumiSys.dir_names(path, encoding).each { |n| yield n }
    nil
  end

  def self.glob(pattern, flags = 0, base: nil, sort: true, **rest)
    flags = rest.delete(:flags) if rest.key?(:flags)
    raise ArgumentError, "unknown keyword: #{rest.keys[0].inspect}" unless rest.empty?
    list = KumiSys.glob(pattern, flags, base, sort)
    return list unless block_given?
    list.each { |x| yield x }
    nil
  end

  def self.[](*patterns, base: nil, sort: true)
    KumiSys.glob(patterns, 0, base, sort)
  end

  class << self
    alias pwd getwd
    alias delete rmdir
    alias unlink rmdir
  end

  alias to_path path
  alias tell pos

  def read
    name = __dir_read(self)
    name && KumiSys.dir_name(name, @__encoding)
  end

  def each
    return to_enum(:each) unless block_given?
    rewind
    while (name = read)
      yield name
    end
    self
  end

  def each_child
    return to_enum(:each_child) unless block_given?
    children.each { |n| yield n }
    self
  end

  def children
    rewind
    out = []
    while (name = read)
      out << name unless name == "." || name == ".."
    end
    out
  end

  def chdir
    return __fchdir(self) unless block_given?
    old = Dir.getwd
    __fchdir(self)
    begin
      yield
    ensure
      begin
        __chdir(old)
      rescue Errno::ENOENT
        nil
      end
    end
  end

  def inspect
    p = path
    p ? "#<#{self.class}:#{p}>" : "#<#{self.class}:fd #{fileno}>"
  end
end

module KumiSys
  # How many chdir blocks are running.
  def self.chdir_depth = @__chdir_depth || 0

  def self.chdir_depth=(n)
    @__chdir_depth = n
  end

  def self.dir_names(path, encoding)
    names = __dir_list(to_path(path), "dir_initialize")
    enc = io_encoding(encoding)
    names.map! { |n| dir_name(n, enc) } if enc || Encoding.default_internal
    names
  end

  # A name read from a directory; one that does not convert stays as it is.
  def self.dir_name(name, enc)
    name.force_encoding(enc) if enc
    to = Encoding.default_internal
    return name unless to
    begin
      name.encode(to)
    rescue EncodingError
      name
    end
  end

  def self.glob(patterns, flags, base, sort)
    unless __same(sort, true) || __same(sort, false)
      raise ArgumentError, "expected true or false as sort: #{inspect(sort)}"
    end
    flags = to_cint(flags)
    case base
    when nil then base = nil
    when Dir then base = base.path
    else
      base = to_path(base)
      base = nil if base.empty?
    end
    list = try_ary(patterns) || [patterns]
    list.flat_map do |p|
      p = to_path(p)
      raise ArgumentError, "nul-separated glob pattern is deprecated" if p.include?("\0")
      __dir_glob(p, base, flags, sort)
    end
  end
end
