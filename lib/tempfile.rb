# frozen_string_literal: true

require "delegate"
require "tmpdir"

# A file that goes away with its object.
class Tempfile < DelegateClass(File)
  VERSION = "0.3.1"

  # Unlinks the file unless another process made it.
  class Remover
    def initialize(path)
      @pid = Process.pid
      @path = path
    end

    def call(*_args)
      return if @pid != Process.pid
      begin
        File.unlink(@path)
      rescue Errno::ENOENT
      end
    end
  end

  def initialize(basename = "", tmpdir = nil, mode: 0, anonymous: false, **options)
    warn "Tempfile.new doesn't call the given block.", uplevel: 1 if block_given?
    @unlinked = false
    @mode = mode | File::RDWR | File::CREAT | File::EXCL
    tmpfile = nil
    Dir::Tmpname.create(basename, tmpdir, **options) do |path, _n, opts|
      opts[:perm] = 0600
      perm = opts.delete(:perm)
      tmpfile = File.open(path, @mode, perm, **opts)
      @path = path
      @opts = opts
    end
    super(tmpfile)
    @remover = Remover.new(@path)
    ObjectSpace.define_finalizer(self, @remover)
    unlink if anonymous
  end

  def open
    _close
    mode = @mode & ~(File::CREAT | File::EXCL)
    __setobj__(File.open(@path, mode, **@opts))
    __getobj__
  end

  def _close = __getobj__.close
  protected :_close

  def close(unlink_now = false)
    _close
    unlink if unlink_now
    nil
  end

  def close! = close(true)

  def unlink
    return if @unlinked
    begin
      File.unlink path
    rescue Errno::ENOENT
    rescue Errno::EACCES
      return
    end
    ObjectSpace.undefine_finalizer(self)
    @unlinked = true
  end
  alias delete unlink

  def path = @unlinked ? nil : @path

  def size
    if __getobj__.closed?
      File.size(path)
    else
      __getobj__.flush
      __getobj__.size
    end
  end
  alias length size

  def inspect
    if __getobj__.closed?
      "#<#{self.class}:#{path} (closed)>"
    else
      "#<#{self.class}:#{path}>"
    end
  end

  def initialize_dup(other)
    super
    @unlinked = true
  end

  def initialize_clone(other, freeze: nil)
    super(other, freeze: freeze)
    @unlinked = true
  end

  class << self
    def open(*args, **kw)
      tempfile = new(*args, **kw)
      return tempfile unless block_given?
      begin
        yield tempfile
      ensure
        tempfile.close
      end
    end
  end

  # A plain File, removed after the block.
  def self.create(basename = "", tmpdir = nil, mode: 0, anonymous: false, **options, &block)
    tmpfile = nil
    path = Dir::Tmpname.create(basename, tmpdir, **options) do |p, _n, opts|
      mode |= File::RDWR | File::CREAT | File::EXCL
      opts.delete(:perm)
      tmpfile = File.open(p, mode, 0600, **opts)
    end
    File.unlink(path) if anonymous
    return tmpfile unless block
    begin
      yield tmpfile
    ensure
      unless tmpfile.closed?
        tmpfile.close
      end
      unless anonymous
        begin
          File.unlink(path)
        rescue Errno::ENOENT
        end
      end
    end
  end
end
