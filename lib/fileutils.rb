# frozen_string_literal: true

# File commands in the manner of the shell.
module FileUtils
  VERSION = "1.8.0"

  # Shared by all variants of the module; the options that a variant presets are merged in.
  module StreamUtils_
    private

    def fu_output_message(msg)
      out = @fileutils_output ||= nil
      out ||= $stdout
      label = @fileutils_label ||= ""
      out.puts label + msg
    end

    def fu_list(arg) = [arg].flatten.map { |p| p.respond_to?(:to_path) ? p.to_path : p }
    def fu_path(p) = p.respond_to?(:to_path) ? p.to_path : p

    def fu_each_src_dest(src, dest)
      fu_each_src_dest0(src, dest) do |s, d|
        raise ArgumentError, "same file: #{s} and #{d}" if fu_same?(s, d)
        yield s, d
      end
    end

    def fu_each_src_dest0(src, dest, target_directory = true)
      if (list = Array.try_convert(src))
        list.each do |s|
          s = fu_path(s)
          yield s, target_directory ? File.join(fu_path(dest), File.basename(s)) : fu_path(dest)
        end
      else
        src = fu_path(src)
        dest = fu_path(dest)
        if target_directory && File.directory?(dest)
          yield src, File.join(dest, File.basename(src))
        else
          yield src, dest
        end
      end
    end

    def fu_same?(a, b) = File.identical?(a, b)

    def fu_mkdir(path, mode)
      path = path.chomp("/") unless path == "/"
      if mode
        Dir.mkdir path, mode
        File.chmod mode, path
      else
        Dir.mkdir path
      end
    end

    def fu_mode(mode, path)
      mode.is_a?(String) ? symbolic_modes_to_i(mode, path) : mode
    end

    def symbolic_modes_to_i(mode_sym, path)
      path = File.stat(path) unless path.is_a?(File::Stat)
      mode = path.mode
      mode_sym.split(",").inject(mode & 07777) do |current, clause|
        target, *actions = clause.split(/([=+-])/)
        raise ArgumentError, "invalid file mode: #{mode_sym}" if actions.empty?
        target = "a" if target.empty?
        user_mask = user_mask(target)
        actions.each_slice(2) do |op, perm|
          need = op == "=" ? user_mask : 0
          bits = 0
          perm.to_s.each_char do |c|
            bits |= case c
                    when "r" then 0444
                    when "w" then 0222
                    when "x" then 0111
                    when "X" then path.directory? || mode & 0111 != 0 ? 0111 : 0
                    when "s" then 06000
                    when "t" then 01000
                    when "u" then mode >> 6 & 7 | (mode >> 6 & 7) << 3 | (mode >> 6 & 7) << 6
                    when "g" then mode >> 3 & 7 | (mode >> 3 & 7) << 3 | (mode >> 3 & 7) << 6
                    when "o" then mode & 7 | (mode & 7) << 3 | (mode & 7) << 6
                    else raise ArgumentError, "invalid symbolic file mode: #{mode_sym}"
                    end
          end
          bits &= user_mask
          current = case op
                    when "=" then current & ~need | bits
                    when "+" then current | bits
                    else current & ~bits
                    end
        end
        current
      end
    end

    def user_mask(target)
      target.each_char.inject(0) do |mask, c|
        mask | case c
               when "u" then 04700
               when "g" then 02070
               when "o" then 01007
               when "a" then 07777
               else raise ArgumentError, "invalid symbolic file mode: #{c}"
               end
      end
    end

    def fu_get_uid(user)
      return nil unless user
      user = user.to_s
      user.match?(/\A\d+\z/) ? user.to_i : (require "etc"; Etc.getpwnam(user)&.uid)
    end

    def fu_get_gid(group)
      return nil unless group
      group = group.to_s
      group.match?(/\A\d+\z/) ? group.to_i : (require "etc"; Etc.getgrnam(group)&.gid)
    end

    def mode_to_s(mode) = mode.is_a?(String) ? mode : "%o" % mode
  end
  include StreamUtils_
  extend StreamUtils_

  module_function

  def pwd = Dir.pwd
  alias getwd pwd
  module_function :getwd

  def cd(dir, verbose: nil, &block)
    fu_output_message "cd #{dir}" if verbose
    result = Dir.chdir(dir, &block)
    fu_output_message "cd -" if verbose && block
    result
  end
  alias chdir cd
  module_function :chdir

  def uptodate?(new, old_list)
    return false unless File.exist?(new)
    new_time = File.mtime(new)
    old_list.each { |old| return false if File.exist?(old) && !(new_time > File.mtime(old)) }
    true
  end

  def remove_trailing_slash(dir) = dir == "/" ? dir : dir.chomp("/")

  def mkdir(list, mode: nil, noop: nil, verbose: nil)
    list = fu_list(list)
    fu_output_message "mkdir #{mode ? "-m %03o " % mode : ""}#{list.join(" ")}" if verbose
    return if noop
    list.each { |dir| fu_mkdir dir, mode }
  end

  def mkdir_p(list, mode: nil, noop: nil, verbose: nil)
    list = fu_list(list)
    fu_output_message "mkdir -p #{mode ? "-m %03o " % mode : ""}#{list.join(" ")}" if verbose
    return *list if noop
    list.each do |item|
      path = remove_trailing_slash(item)
      stack = []
      until File.directory?(path) || File.dirname(path) == path
        stack.push path
        path = File.dirname(path)
      end
      stack.reverse_each do |dir|
        fu_mkdir dir, mode
      rescue SystemCallError
        raise unless File.directory?(dir)
      end
    end
    return *list
  end
  alias mkpath mkdir_p
  alias makedirs mkdir_p
  module_function :mkpath, :makedirs

  def rmdir(list, parents: nil, noop: nil, verbose: nil)
    list = fu_list(list)
    fu_output_message "rmdir #{parents ? "-p " : ""}#{list.join(" ")}" if verbose
    return if noop
    list.each do |dir|
      Dir.rmdir(dir = remove_trailing_slash(dir))
      next unless parents
      begin
        until (parent = File.dirname(dir)) == "." || parent == dir
          dir = parent
          Dir.rmdir(dir)
        end
      rescue Errno::ENOTEMPTY, Errno::EEXIST, Errno::ENOENT
      end
    end
  end

  def ln(src, dest, force: nil, noop: nil, verbose: nil)
    fu_output_message "ln#{force ? " -f" : ""} #{[src, dest].flatten.join(" ")}" if verbose
    return if noop
    fu_each_src_dest0(src, dest) do |s, d|
      remove_file d, true if force
      File.link s, d
    end
  end
  alias link ln
  module_function :link

  def ln_s(src, dest, force: nil, relative: false, target_directory: true, noop: nil, verbose: nil)
    return ln_sr(src, dest, force: force, target_directory: target_directory, noop: noop, verbose: verbose) if relative
    fu_output_message "ln -s#{force ? "f" : ""}#{target_directory ? "" : "T"} #{[src, dest].flatten.join(" ")}" if verbose
    return if noop
    fu_each_src_dest0(src, dest, target_directory) do |s, d|
      remove_file d, true if force
      File.symlink s, d
    end
  end
  alias symlink ln_s
  module_function :symlink

  def ln_sf(src, dest, noop: nil, verbose: nil)
    ln_s src, dest, force: true, noop: noop, verbose: verbose
  end

  def ln_sr(src, dest, target_directory: true, force: nil, noop: nil, verbose: nil)
    require "pathname"
    fu_output_message "ln -sr#{force ? "f" : ""} #{[src, dest].flatten.join(" ")}" if verbose
    return if noop
    fu_each_src_dest0(src, dest, target_directory) do |s, d|
      from = Pathname.new(File.expand_path(File.dirname(d)))
      link = Pathname.new(File.expand_path(s)).relative_path_from(from).to_s
      remove_file d, true if force
      File.symlink link, d
    end
  end

  def cp(src, dest, preserve: nil, noop: nil, verbose: nil)
    fu_output_message "cp#{preserve ? " -p" : ""} #{[src, dest].flatten.join(" ")}" if verbose
    return if noop
    fu_each_src_dest(src, dest) { |s, d| copy_file s, d, preserve }
  end
  alias copy cp
  module_function :copy

  def cp_r(src, dest, preserve: nil, noop: nil, verbose: nil, dereference_root: true, remove_destination: nil)
    fu_output_message "cp -r#{preserve ? "p" : ""}#{remove_destination ? " --remove-destination" : ""} #{[src, dest].flatten.join(" ")}" if verbose
    return if noop
    fu_each_src_dest(src, dest) { |s, d| copy_entry s, d, preserve, dereference_root, remove_destination }
  end

  def cp_lr(src, dest, noop: nil, verbose: nil, dereference_root: true, remove_destination: false)
    fu_output_message "cp -lr#{remove_destination ? " --remove-destination" : ""} #{[src, dest].flatten.join(" ")}" if verbose
    return if noop
    fu_each_src_dest(src, dest) { |s, d| link_entry s, d, dereference_root, remove_destination }
  end

  def link_entry(src, dest, dereference_root = false, remove_destination = false)
    src = File.realpath(src) if dereference_root && File.symlink?(src)
    if File.directory?(src) && !File.symlink?(src)
      Dir.mkdir(dest) unless File.directory?(dest)
      Dir.children(src).each { |n| link_entry(File.join(src, n), File.join(dest, n), false, remove_destination) }
    else
      File.unlink dest if remove_destination && File.file?(dest)
      File.link src, dest
    end
  end

  def copy_entry(src, dest, preserve = false, dereference_root = false, remove_destination = false)
    src = fu_path(src)
    dest = fu_path(dest)
    src = File.realpath(src) if dereference_root && File.symlink?(src)
    stat = File.lstat(src)
    if stat.directory?
      if descends?(src, dest)
        raise ArgumentError, "cannot copy directory %s to itself %s" % [src, dest]
      end
      begin
        Dir.mkdir(dest)
      rescue Errno::EEXIST
        raise unless File.directory?(dest)
      end
      Dir.children(src).each do |n|
        copy_entry(File.join(src, n), File.join(dest, n), preserve, false, remove_destination)
      end
      copy_metadata(src, dest) if preserve
    else
      File.unlink dest if remove_destination && (File.file?(dest) || File.symlink?(dest))
      if stat.symlink?
        File.unlink dest if File.symlink?(dest)
        File.symlink File.readlink(src), dest
      elsif stat.pipe?
        File.mkfifo dest, stat.mode & 07777
      else
        copy_file src, dest, preserve
      end
    end
  end

  def descends?(dir, path)
    dir = File.expand_path(dir)
    path = File.expand_path(path)
    path == dir || path.start_with?(dir.chomp("/") + "/")
  end

  def copy_file(src, dest, preserve = false, dereference = true)
    src = fu_path(src)
    dest = fu_path(dest)
    stat = dereference ? File.stat(src) : File.lstat(src)
    raise Errno::EISDIR, src if stat.directory?
    dest_new = !File.exist?(dest)
    File.open(src, "rb") do |s|
      File.open(dest, "wb", stat.mode & 0777) { |d| IO.copy_stream(s, d) }
    end
    File.chmod(stat.mode & 0777 & ~File.umask, dest) if dest_new
    copy_metadata(src, dest) if preserve
  end

  def copy_metadata(src, dest)
    st = File.lstat(src)
    File.utime st.atime, st.mtime, dest unless st.symlink?
    begin
      File.chown st.uid, st.gid, dest
    rescue Errno::EPERM
    end
    File.chmod st.mode & 07777, dest unless st.symlink?
  end

  def copy_stream(src, dest) = IO.copy_stream(src, dest)

  def mv(src, dest, force: nil, noop: nil, verbose: nil, secure: nil)
    fu_output_message "mv#{force ? " -f" : ""} #{[src, dest].flatten.join(" ")}" if verbose
    return if noop
    fu_each_src_dest(src, dest) do |s, d|
      begin
        if File.directory?(d) && !File.symlink?(d) && !(File.directory?(s) && Dir.empty?(d))
          raise Errno::EEXIST, d
        end
        begin
          File.rename s, d
        rescue Errno::EXDEV, Errno::EPERM
          copy_entry s, d, true
          secure ? remove_entry_secure(s, force) : remove_entry(s, force)
        end
      rescue SystemCallError
        raise unless force
      end
    end
  end
  alias move mv
  module_function :move

  def rm(list, force: nil, noop: nil, verbose: nil)
    list = fu_list(list)
    fu_output_message "rm#{force ? " -f" : ""} #{list.join(" ")}" if verbose
    return if noop
    list.each { |path| remove_file path, force }
  end
  alias remove rm
  module_function :remove

  def rm_f(list, noop: nil, verbose: nil)
    rm list, force: true, noop: noop, verbose: verbose
  end
  alias safe_unlink rm_f
  module_function :safe_unlink

  def rm_r(list, force: nil, noop: nil, verbose: nil, secure: nil)
    list = fu_list(list)
    fu_output_message "rm -r#{force ? "f" : ""} #{list.join(" ")}" if verbose
    return if noop
    list.each { |path| remove_entry path, force }
  end

  def rm_rf(list, noop: nil, verbose: nil, secure: nil)
    rm_r list, force: true, noop: noop, verbose: verbose, secure: secure
  end
  alias rmtree rm_rf
  module_function :rmtree

  def remove_entry(path, force = false)
    path = fu_path(path)
    stat = File.lstat(path)
    if stat.directory?
      Dir.children(path).each { |n| remove_entry(File.join(path, n), force) }
      Dir.rmdir path
    else
      File.unlink path
    end
  rescue SystemCallError
    raise unless force
  end

  def remove_entry_secure(path, force = false) = remove_entry(path, force)

  def remove_file(path, force = false)
    File.unlink(fu_path(path))
  rescue SystemCallError
    raise unless force
  end

  def remove_dir(path, force = false)
    raise Errno::ENOTDIR, path unless force || File.directory?(path)
    remove_entry path, force
  end

  def compare_file(a, b)
    return false unless File.size(a) == File.size(b)
    File.open(a, "rb") { |fa| File.open(b, "rb") { |fb| compare_stream(fa, fb) } }
  end
  alias identical? compare_file
  alias cmp compare_file
  module_function :identical?, :cmp

  def compare_stream(a, b)
    while true
      x = a.read(8192)
      y = b.read(8192)
      return false unless x == y
      return true if x.nil?
    end
  end

  def install(src, dest, mode: nil, owner: nil, group: nil, preserve: nil, noop: nil, verbose: nil)
    if verbose
      msg = +"install -c"
      msg << " -p" if preserve
      msg << " -m " << mode_to_s(mode) if mode
      msg << " " << [src, dest].flatten.join(" ")
      fu_output_message msg
    end
    return if noop
    uid = fu_get_uid(owner)
    gid = fu_get_gid(group)
    fu_each_src_dest(src, dest) do |s, d|
      st = File.stat(s)
      unless File.exist?(d) && compare_file(s, d)
        remove_file d, true
        copy_file s, d
        File.utime st.atime, st.mtime, d if preserve
        File.chmod fu_mode(mode, st), d if mode
        File.chown uid, gid, d if uid || gid
      end
    end
  end

  def chmod(mode, list, noop: nil, verbose: nil)
    list = fu_list(list)
    fu_output_message "chmod #{mode_to_s(mode)} #{list.join(" ")}" if verbose
    return if noop
    list.each { |path| File.chmod fu_mode(mode, path), path }
  end

  def chmod_R(mode, list, noop: nil, verbose: nil, force: nil)
    list = fu_list(list)
    fu_output_message "chmod -R#{force ? "f" : ""} #{mode_to_s(mode)} #{list.join(" ")}" if verbose
    return if noop
    list.each do |root|
      fu_each_entry(root) do |path|
        File.chmod fu_mode(mode, path), path unless File.symlink?(path)
      rescue SystemCallError
        raise unless force
      end
    end
  end

  def chown(user, group, list, noop: nil, verbose: nil)
    list = fu_list(list)
    fu_output_message "chown #{group ? "#{user}:#{group}" : user || ":"} #{list.join(" ")}" if verbose
    return if noop
    uid = fu_get_uid(user)
    gid = fu_get_gid(group)
    list.each { |path| File.chown uid, gid, path }
  end

  def chown_R(user, group, list, noop: nil, verbose: nil, force: nil)
    list = fu_list(list)
    fu_output_message "chown -R#{force ? "f" : ""} #{group ? "#{user}:#{group}" : user || ":"} #{list.join(" ")}" if verbose
    return if noop
    uid = fu_get_uid(user)
    gid = fu_get_gid(group)
    list.each do |root|
      fu_each_entry(root) do |path|
        File.lchown uid, gid, path
      rescue SystemCallError
        raise unless force
      end
    end
  end

  def fu_each_entry(path, &block)
    block.call(path)
    return unless File.directory?(path) && !File.symlink?(path)
    Dir.children(path).each { |n| fu_each_entry(File.join(path, n), &block) }
  end

  def touch(list, noop: nil, verbose: nil, mtime: nil, nocreate: nil)
    list = fu_list(list)
    t = mtime
    fu_output_message "touch #{nocreate ? "-c " : ""}#{t ? t.strftime("-t %Y%m%d%H%M.%S ") : ""}#{list.join(" ")}" if verbose
    return if noop
    list.each do |path|
      created = nocreate
      begin
        File.utime(t, t, path)
      rescue Errno::ENOENT
        raise if created
        File.open(path, "a") {}
        created = true
        retry if t
      end
    end
  end

  OPT_TABLE = singleton_methods(false).grep_v(/\Afu_/).each_with_object({}) do |name, h|
    h[name.to_s] = method(name).parameters.select { |k, _| k == :key }.map(&:last)
  end

  def self.commands = OPT_TABLE.keys
  def self.options = OPT_TABLE.values.flatten.uniq.map(&:to_s)
  def self.have_option?(mid, opt) = (OPT_TABLE[mid.to_s] || raise(ArgumentError, "no such method: #{mid}")).include?(opt)
  def self.options_of(mid) = OPT_TABLE[mid.to_s].map(&:to_s)
  def self.collect_method(opt) = OPT_TABLE.keys.select { |m| OPT_TABLE[m].include?(opt) }

  # The same commands with options preset.
  def self.__variant(mod, preset)
    OPT_TABLE.each do |name, opts|
      given = preset.slice(*opts)
      mod.define_method(name) do |*args, **kw, &block|
        FileUtils.__send__(name, *args, **given.merge(kw), &block)
      end
      mod.__send__(:module_function, name)
    end
  end

  module Verbose
    include FileUtils
  end
  __variant(Verbose, { verbose: true })

  module NoWrite
    include FileUtils
  end
  __variant(NoWrite, { noop: true })

  module DryRun
    include FileUtils
  end
  __variant(DryRun, { noop: true, verbose: true })
end
