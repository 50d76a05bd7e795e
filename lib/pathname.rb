# frozen_string_literal: true

# A path with methods: pure path arithmetic, and everything of File, Dir and FileUtils
# that takes one.
class Pathname
  VERSION = "0.4.0"
  SEPARATOR_LIST = "/"
  SEPARATOR_PAT = /\//
  ABSOLUTE_PATH = /\A\//
  SAME_PATHS = false
  TO_PATH = :to_path
  private_constant :ABSOLUTE_PATH

  def initialize(path)
    path = path.to_path if path.respond_to?(:to_path)
    s = String.try_convert(path)
    raise TypeError, "no implicit conversion of #{path.nil? ? "nil" : path.class} into String" if s.nil?
    raise ArgumentError, "pathname contains null byte" if s.include?("\0")
    @path = s.dup
  end

  def self.getwd = new(Dir.getwd)
  class << self
    alias pwd getwd
  end

  def self.glob(*args, **kw)
    return Dir.glob(*args, **kw) { |f| yield new(f) } if block_given?
    Dir.glob(*args, **kw).map { |f| new(f) }
  end

  def to_s = @path.dup
  alias to_path to_s

  def ==(other) = other.is_a?(Pathname) && @path == other.to_s
  alias === ==
  alias eql? ==

  def <=>(other)
    return nil unless other.is_a?(Pathname)
    @path.tr("/", "\0") <=> other.to_s.tr("/", "\0")
  end

  def hash = @path.hash
  def inspect = "#<#{self.class}:#{@path}>"

  def freeze
    super
    @path.freeze
    self
  end

  def sub(*args, &block)
    self.class.new(block ? @path.sub(*args, &block) : @path.sub(*args))
  end

  def sub_ext(repl)
    ext = File.extname(@path)
    self.class.new(@path.chomp(ext) + repl)
  end

  # --- path arithmetic ----------------------------------------------------------------

  def absolute? = ABSOLUTE_PATH.match?(@path)
  def relative? = !absolute?
  def root? = @path.match?(/\A\/+\z/)
  def mountpoint?
    a = lstat
    b = parent.lstat
    a.dev != b.dev || a.ino == b.ino
  rescue Errno::ENOENT
    false
  end

  def parent = self + ".."

  def cleanpath(consider_symlink = false)
    consider_symlink ? cleanpath_conservative : cleanpath_aggressive
  end

  def +(other)
    other = Pathname.new(other) unless other.is_a?(Pathname)
    Pathname.new(plus(@path, other.to_s))
  end
  alias / +

  def join(*args)
    return self if args.empty?
    result = args.pop
    result = Pathname.new(result) unless result.is_a?(Pathname)
    return result if result.absolute?
    args.reverse_each do |arg|
      arg = Pathname.new(arg) unless arg.is_a?(Pathname)
      result = arg + result
      return result if result.absolute?
    end
    self + result
  end

  def each_filename
    return to_enum(__method__) unless block_given?
    _, names = split_names(@path)
    names.each { |f| yield f }
    nil
  end

  def descend
    return to_enum(__method__) unless block_given?
    vs = []
    ascend { |v| vs.unshift v }
    vs.each { |v| yield v }
    nil
  end

  def ascend
    return to_enum(__method__) unless block_given?
    path = @path
    yield self
    while (r = chop_basename(path))
      path, = r
      break if path.empty?
      yield self.class.new(del_trailing_separator(path))
    end
  end

  def children(with_directory = true)
    with_directory = false if @path == "."
    Dir.children(@path).map { |e| with_directory ? self.class.new(File.join(@path, e)) : self.class.new(e) }
  end

  def each_child(with_directory = true, &block) = children(with_directory).each(&block)

  def relative_path_from(base)
    base = Pathname.new(base) unless base.is_a?(Pathname)
    dest_dir = cleanpath.to_s
    base_dir = base.cleanpath.to_s
    dest_names = []
    while (r = chop_basename(dest_dir))
      dest_dir, name = r
      dest_names.unshift name if name != "."
    end
    base_names = []
    while (r = chop_basename(base_dir))
      base_dir, name = r
      base_names.unshift name if name != "."
    end
    unless dest_dir == base_dir
      raise ArgumentError, "different prefix: #{dest_dir.inspect} and #{base_dir.inspect}"
    end
    while !dest_names.empty? && !base_names.empty? && dest_names.first == base_names.first
      dest_names.shift
      base_names.shift
    end
    if base_names.include?("..")
      raise ArgumentError, "base_directory has ..: #{base_dir.inspect}"
    end
    base_names.fill("..")
    names = base_names + dest_names
    Pathname.new(names.empty? ? "." : File.join(*names))
  end

  # --- the file system -------------------------------------------------------------------

  def each_line(...) = File.foreach(@path, ...)
  def read(...) = File.read(@path, ...)
  def binread(...) = File.binread(@path, ...)
  def readlines(...) = File.readlines(@path, ...)
  def write(...) = File.write(@path, ...)
  def binwrite(...) = File.binwrite(@path, ...)
  def sysopen(...) = IO.sysopen(@path, ...)
  def open(...) = File.open(@path, ...)

  def atime = File.atime(@path)
  def birthtime = File.birthtime(@path)
  def ctime = File.ctime(@path)
  def mtime = File.mtime(@path)
  def chmod(mode) = File.chmod(mode, @path)
  def lchmod(mode) = File.lchmod(mode, @path)
  def chown(owner, group) = File.chown(owner, group, @path)
  def lchown(owner, group) = File.lchown(owner, group, @path)
  def fnmatch(pattern, *args) = File.fnmatch(pattern, @path, *args)
  def fnmatch?(pattern, *args) = File.fnmatch?(pattern, @path, *args)
  def ftype = File.ftype(@path)
  def make_link(old) = File.link(old, @path)
  def make_symlink(old) = File.symlink(old, @path)
  def readlink = self.class.new(File.readlink(@path))
  def rename(to) = File.rename(@path, to)
  def stat = File.stat(@path)
  def lstat = File.lstat(@path)
  def truncate(length) = File.truncate(@path, length)
  def utime(atime, mtime) = File.utime(atime, mtime, @path)
  def basename(*args) = self.class.new(File.basename(@path, *args))
  def dirname = self.class.new(File.dirname(@path))
  def extname = File.extname(@path)
  def expand_path(*args) = self.class.new(File.expand_path(@path, *args))
  def realpath(*args) = self.class.new(File.realpath(@path, *args))
  def realdirpath(*args) = self.class.new(File.realdirpath(@path, *args))
  def split = File.split(@path).map { |f| self.class.new(f) }

  def blockdev? = FileTest.blockdev?(@path)
  def chardev? = FileTest.chardev?(@path)
  def executable? = FileTest.executable?(@path)
  def executable_real? = FileTest.executable_real?(@path)
  def exist? = FileTest.exist?(@path)
  def grpowned? = FileTest.grpowned?(@path)
  def directory? = FileTest.directory?(@path)
  def file? = FileTest.file?(@path)
  def pipe? = FileTest.pipe?(@path)
  def socket? = FileTest.socket?(@path)
  def owned? = FileTest.owned?(@path)
  def readable? = FileTest.readable?(@path)
  def world_readable? = File.world_readable?(@path)
  def readable_real? = FileTest.readable_real?(@path)
  def setuid? = FileTest.setuid?(@path)
  def setgid? = FileTest.setgid?(@path)
  def size = FileTest.size(@path)
  def size? = FileTest.size?(@path)
  def sticky? = FileTest.sticky?(@path)
  def symlink? = FileTest.symlink?(@path)
  def writable? = FileTest.writable?(@path)
  def world_writable? = File.world_writable?(@path)
  def writable_real? = FileTest.writable_real?(@path)
  def zero? = FileTest.zero?(@path)
  def empty? = FileTest.directory?(@path) ? Dir.empty?(@path) : FileTest.empty?(@path)

  def glob(pattern, flags = 0)
    list = Dir.glob(pattern, flags, base: @path).map { |f| self + f }
    return list unless block_given?
    list.each { |f| yield f }
    nil
  end

  def entries = Dir.entries(@path).map { |f| self.class.new(f) }
  def each_entry(&block) = Dir.foreach(@path) { |f| block.call(self.class.new(f)) }
  def mkdir(*args) = Dir.mkdir(@path, *args)
  def rmdir = Dir.rmdir(@path)
  def opendir(&block) = Dir.open(@path, &block)

  def unlink
    Dir.exist?(@path) && !File.symlink?(@path) ? Dir.unlink(@path) : File.unlink(@path)
  end
  alias delete unlink

  def mkpath(mode: nil)
    require "fileutils"
    FileUtils.mkdir_p(@path, mode: mode)
    nil
  end

  def rmtree(noop: nil, verbose: nil, secure: nil)
    require "fileutils"
    FileUtils.rm_rf(@path, noop: noop, verbose: verbose, secure: secure)
    self
  end

  def find(ignore_error: true)
    return to_enum(__method__, ignore_error: ignore_error) unless block_given?
    require "find"
    if @path == "."
      Find.find(@path, ignore_error: ignore_error) { |f| yield self.class.new(f.delete_prefix("./")) }
    else
      Find.find(@path, ignore_error: ignore_error) { |f| yield self.class.new(f) }
    end
  end

  private

  # [everything before the last name, last name], nil when there is none.
  def chop_basename(path)
    base = File.basename(path)
    return nil if base.match?(/\A\/?\z/)
    [path[0, path.rindex(base)], base]
  end

  def split_names(path)
    names = []
    while (r = chop_basename(path))
      path, name = r
      names.unshift name
    end
    [path, names]
  end

  def prepend_prefix(prefix, relpath)
    if relpath.empty?
      File.dirname(prefix)
    elsif prefix.include?("/")
      prefix = File.dirname(prefix)
      prefix = File.join(prefix, "") if File.basename(prefix + "a") != "a"
      prefix + relpath
    else
      prefix + relpath
    end
  end

  def cleanpath_aggressive
    path = @path
    names = []
    pre = path
    while (r = chop_basename(pre))
      pre, base = r
      case base
      when "."
      when ".." then names.unshift base
      else
        names[0] == ".." ? names.shift : names.unshift(base)
      end
    end
    names.shift while names[0] == ".." && pre.include?("/")
    self.class.new(prepend_prefix(pre, names.empty? ? "" : File.join(*names)))
  end

  def cleanpath_conservative
    path = @path
    names = []
    pre = path
    while (r = chop_basename(pre))
      pre, base = r
      names.unshift base if base != "."
    end
    names.shift while names[0] == ".." && pre.include?("/")
    if names.empty?
      self.class.new(File.dirname(pre))
    elsif names.last != ".." && File.basename(path) == "."
      self.class.new(prepend_prefix(pre, File.join(*names, ".")))
    else
      s = prepend_prefix(pre, File.join(*names))
      s += "/" if path.end_with?("/") && names.last != ".." && !s.end_with?("/")
      self.class.new(s)
    end
  end

  def del_trailing_separator(path)
    r = chop_basename(path)
    if r
      pre, base = r
      pre + base
    elsif path.match?(/\/+\z/)
      path[/\A\/?/] + "" == "/" ? "/" : File.dirname(path)
    else
      path
    end
  end

  def plus(path1, path2)
    prefix2 = path2
    index_list2 = []
    basename_list2 = []
    while (r2 = chop_basename(prefix2))
      prefix2, basename2 = r2
      index_list2.unshift prefix2.length
      basename_list2.unshift basename2
    end
    return path2 if prefix2 != ""
    prefix1 = path1
    while true
      while !basename_list2.empty? && basename_list2.first == "."
        index_list2.shift
        basename_list2.shift
      end
      break unless (r1 = chop_basename(prefix1))
      prefix1, basename1 = r1
      next if basename1 == "."
      if basename1 == ".." || basename_list2.empty? || basename_list2.first != ".."
        prefix1 += basename1
        break
      end
      index_list2.shift
      basename_list2.shift
    end
    r1 = chop_basename(prefix1)
    if !r1 && File.basename(prefix1).include?("/")
      while !basename_list2.empty? && basename_list2.first == ".."
        index_list2.shift
        basename_list2.shift
      end
    end
    if !basename_list2.empty?
      suffix2 = path2[index_list2.first..]
      r1 ? File.join(prefix1, suffix2) : prefix1 + suffix2
    else
      r1 ? prefix1 : File.dirname(prefix1)
    end
  end
end

module Kernel
  def Pathname(path)
    return path if path.instance_of?(Pathname)
    Pathname.new(path)
  end
end
