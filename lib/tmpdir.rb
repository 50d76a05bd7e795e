# frozen_string_literal: true

require "fileutils"

# Directories for temporary files.
class Dir
  @@systmpdir = "/tmp"

  def self.tmpdir
    ["TMPDIR", "TMP", "TEMP"].map { |n| ENV[n] }.push(@@systmpdir, "/tmp", ".").each do |dir|
      next if dir.nil? || dir.empty?
      dir = File.expand_path(dir)
      stat = File.stat(dir) rescue next
      return dir if stat.directory? && stat.writable?
    end
    raise ArgumentError, "could not find a temporary directory"
  end

  def self.mktmpdir(prefix_suffix = nil, *rest, **options)
    base = nil
    path = Tmpname.create(prefix_suffix || "d", *rest, **options) do |p, _, _, d|
      base = d
      mkdir(p, 0700)
    end
    return path unless block_given?
    begin
      yield path.dup
    ensure
      unless base
        base = File.dirname(path)
      end
      FileUtils.remove_entry path if File.exist?(path)
    end
  end

  # Names that nobody else has.
  module Tmpname
    UNUSABLE_CHARS = "^,-.0-9A-Z_a-z~"
    RANDOM = Object.new

    def RANDOM.next = rand(0x100000000).to_s(36)

    module_function

    def tmpdir = Dir.tmpdir

    def create(basename, tmpdir = nil, max_try: nil, **opts)
      tmpdir = tmpdir ? (tmpdir.respond_to?(:to_path) ? tmpdir.to_path : tmpdir) : Dir.tmpdir
      n = nil
      prefix, suffix = basename.is_a?(Array) ? basename : [basename, nil]
      unless (prefix = String.try_convert(prefix))
        raise ArgumentError, "unexpected prefix: #{basename.inspect}"
      end
      prefix = prefix.delete(UNUSABLE_CHARS)
      unless suffix.nil?
        s = String.try_convert(suffix) or raise ArgumentError, "unexpected suffix: #{suffix.inspect}"
        suffix = s.delete(UNUSABLE_CHARS)
      end
      begin
        t = Time.now.strftime("%Y%m%d")
        path = "#{prefix}#{t}-#{Process.pid}-#{RANDOM.next}#{n ? "-#{n}" : ""}#{suffix}"
        path = File.join(tmpdir, path)
        yield(path, n, opts, tmpdir)
      rescue Errno::EEXIST
        n ||= 0
        n += 1
        retry if !max_try || n < max_try
        raise "cannot generate temporary name using `#{basename}' under `#{tmpdir}'"
      end
      path
    end
  end
end
