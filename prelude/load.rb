# require, load and autoload.
module KumiSys
  # Files being loaded, by real path: a lock held meanwhile, and the thread that loads.
  LOADING = {}
  # Held for looking at that table and at $LOADED_FEATURES; no user code runs under it.
  LOAD_LOCK = Thread::Mutex.new
  EXTS = [".rb"].freeze

  def self.load_error(path, text = nil)
    e = LoadError.new(text || "cannot load such file -- #{path}")
    __ivar_set(e, :@path, path)
    raise e
  end

  def self.file_there?(path)
    __lib_file?(path) || File.file?(path)
  end

  def self.candidates(path)
    return [path] if path.end_with?(".rb")
    return [path.delete_suffix(".so") + ".rb"] if path.end_with?(".so")
    [path + ".rb"]
  end

  # Full path of a feature, or nil.
  # What `require` would load: its kind and place, or nil. `$LOAD_PATH` has it as a method of its own.
  def self.resolve_feature_path(path)
    f = KumiSys.find_feature(KumiSys.to_path(path))
    f && [f.end_with?(".so") ? :so : :rb, f]
  end

  def self.find_feature(path)
    path = File.expand_path(path) if path.start_with?("~")
    if path.start_with?("/", "./", "../")
      full = File.expand_path(path)
      return candidates(full).find { |f| file_there?(f) }
    end
    names = candidates(path)
    $LOAD_PATH.each do |dir|
      dir = to_path(dir)
      dir = File.expand_path(dir) unless dir.start_with?("<internal:")
      names.each do |n|
        f = "#{dir}/#{n}"
        return f if file_there?(f)
      end
    end
    nil
  end

  def self.feature_loaded?(path)
    names = candidates(path)
    $LOADED_FEATURES.any? { |f| names.include?(f) || names.any? { |n| f.end_with?("/" + n) && $LOAD_PATH.any? { |d| "#{d}/#{n}" == f } } }
  end

  # A shared object of that name: an error that says what it is.
  def self.extension?(path)
    return nil if path.end_with?(".rb")
    base = path.delete_suffix(".so")
    dirs = path.start_with?("/", "./", "../", "~") ? [nil] : $LOAD_PATH.map { |d| to_path(d) }
    dirs.each do |d|
      f = File.expand_path("#{base}.so", d)
      return f if File.file?(f)
    end
    nil
  end

  # Built-in features that need no file.
  BUILTIN = %w[enumerator rational complex thread fiber ruby2_keywords etc.so io/wait io/nonblock enumerator.so rational.so complex.so thread.rb fiber.so].each_with_object({}) { |n, h| h[n] = true }

  def self.require(path)
    path = to_path(path)
    return false if BUILTIN[path]
    full = find_feature(path)
    if full.nil?
      return false if feature_loaded?(path)
      if (so = extension?(path))
        load_error(path, "cannot load such file -- #{path} (#{so} is a C extension; kumi loads no C extensions: use a pure-Ruby library instead)")
      end
      full = in_gem(path)
    end
    real = full.start_with?("<internal:") ? full : File.realpath(full)
    load_once(full, real)
  end

  # The same after the gem that has such a file was put on the load path.
  def self.in_gem(path)
    load_error(path) unless gems? && Gem.try_activate(path)
    find_feature(path) || load_error(path)
  end

  # Were gems not switched off? The constant then stands for a file that is loaded when it is needed; a folder of KUMI_LIB
  # may lack it.
  def self.gems?
    !__same(__const_find(Object, :Gem, false, false), nil) && (find_feature("rubygems") || feature_loaded?("rubygems"))
  end

  # Loads a file unless that was done. A thread that wants what another one is loading waits for it, and loads it
  # itself when the other failed; a thread that comes back to a file it is loading goes on with what there is.
  def self.load_once(full, real)
    while true
      mine = nil
      entry = LOAD_LOCK.synchronize do
        return false if $LOADED_FEATURES.include?(full) || $LOADED_FEATURES.include?(real)
        LOADING[real] || begin
          mine = Thread::Mutex.new
          mine.lock
          LOADING[real] = [mine, Thread.current]
        end
      end
      break if mine
      if __same(entry[1], Thread.current)
        warning("loading in progress, circular require considered harmful - #{full}") if $VERBOSE
        return false
      end
      entry[0].lock
      entry[0].unlock
      # A thread that stayed in the process that this one was forked from is done with nothing.
      LOAD_LOCK.synchronize { LOADING.delete(real) if __same(LOADING[real], entry) && !entry[1].alive? }
    end
    begin
      __load_text(read_source(full), full, nil, nil)
      $LOADED_FEATURES << full
    ensure
      LOAD_LOCK.synchronize { LOADING.delete(real) }
      mine.unlock
    end
    true
  end

  # Does this thread load that file right now?
  def self.loading_here?(path)
    full = find_feature(path) or return false
    real = full.start_with?("<internal:") ? full : File.realpath(full)
    entry = LOAD_LOCK.synchronize { LOADING[real] }
    entry ? __same(entry[1], Thread.current) : false
  end

  def self.read_source(full)
    text = __lib_file(full)
    return text if text
    begin
      File.binread(full)
    rescue SystemCallError => e
      load_error(full, "cannot load such file -- #{full} (#{e.message})")
    end
  end

  # Where the definitions of a file go whose self is `main`.
  def self.top_module(main) = __same(main, __main_object) ? Object : __frame_nesting.last || Object

  def self.load(path, wrap)
    path = to_path(path)
    full = nil
    if path.start_with?("/", "./", "../", "~")
      full = File.expand_path(path)
    else
      $LOAD_PATH.each do |d|
        d = to_path(d)
        f = "#{d}/#{path}"
        if file_there?(f)
          full = f
          break
        end
      end
      full ||= File.expand_path(path)
    end
    load_error(path) unless file_there?(full)
    mod = main = nil
    if wrap
      mod = __is_a(wrap, Module) ? wrap : Module.new
      main = __main_object.clone(freeze: false)
      main.extend(mod)
    end
    __load_text(read_source(full), full, mod, main)
    true
  end
end

module Kernel
  def require(path) = KumiSys.require(path)

  def require_relative(path)
    path = KumiSys.to_path(path)
    at = __frame_real_path || __frame_path
    base = at.nil? || at == "-e" || at.start_with?("(eval") ? Dir.pwd : File.dirname(at)
    if base.start_with?("<internal:")
      full = "#{base}/#{path}"
      full = KumiSys.clean_path(full)
      KumiSys.require_full(full)
    else
      KumiSys.require(File.expand_path(path, base))
    end
  end

  def load(path, wrap = false) = KumiSys.load(path, wrap)

  def autoload(name, path)
    m = __frame_nesting.first || Object
    m.autoload(name, path)
  end

  def autoload?(name, inherit = true)
    m = __frame_nesting.first || Object
    m.autoload?(name, inherit)
  end

  # Puts a gem, in a version that will do, on the load path. False when it was there.
  def gem(name, *requirements)
    Gem::Specification.activate(KumiSys.to_str(name), Gem::Requirement.create(requirements))
  end

  private :require, :require_relative, :load, :autoload, :autoload?, :gem

  class << self
    def require(path) = KumiSys.require(path)
    def load(path, wrap = false) = KumiSys.load(path, wrap)
    def autoload(name, path) = Object.autoload(name, path)
    def autoload?(name, inherit = true) = Object.autoload?(name, inherit)
  end
end

module KumiSys
  def self.clean_path(path)
    parts = []
    path.split("/").each do |x|
      next if x == "."
      x == ".." ? parts.pop : parts.push(x)
    end
    parts.join("/")
  end

  def self.require_full(full)
    f = candidates(full).find { |x| file_there?(x) }
    load_error(full) unless f
    load_once(f, f)
  end
end

class Module
  def autoload(name, path)
    name = KumiSys.to_name(name)
    raise NameError.new("autoload must be constant name: #{name}", name, receiver: self) unless name.match?(/\A[A-Z]/)
    path = KumiSys.to_path(path)
    raise ArgumentError, "empty file name" if path.empty?
    __check_frozen(self)
    fresh = __same(__const_find(self, name, false, false), nil)
    __set_autoload(self, name, path)
    if fresh
      __const_place(self, name, [__frame_path, __frame_line])
      __send__(:const_added, name)
    end
    nil
  end

  def autoload?(name, inherit = true)
    name = KumiSys.to_name(name)
    mods = inherit ? ancestors : [self]
    mods.each do |m|
      p = __autoload_path(m, name)
      return p if p
      return nil unless __undef?(__const_own(m, name))
    end
    nil
  end

  def self.nesting = __frame_nesting
end
