# frozen_string_literal: true

# Users, groups and facts about the machine, read from where POSIX systems keep them.
module Etc
  VERSION = "1.4.6"

  Passwd = Struct.new(:name, :passwd, :uid, :gid, :gecos, :dir, :shell)
  Group = Struct.new(:name, :passwd, :gid, :mem)

  class << Passwd
    include Enumerable

    def each(&block)
      return to_enum(:each) unless block
      Etc.__users.each(&block)
      self
    end
  end

  class << Group
    include Enumerable

    def each(&block)
      return to_enum(:each) unless block
      Etc.__groups.each(&block)
      self
    end
  end

  @users_at = 0
  @groups_at = 0

  class << self
    def __users
      lines("/etc/passwd").map do |l|
        name, pw, uid, gid, gecos, dir, shell = l.chomp.split(":", -1)
        Passwd.new(name, pw, uid.to_i, gid.to_i, gecos, dir, shell)
      end
    end

    def __groups
      lines("/etc/group").map do |l|
        name, pw, gid, mem = l.chomp.split(":", -1)
        Group.new(name, pw, gid.to_i, mem.to_s.split(","))
      end
    end

    def getlogin = ENV["USER"] || ENV["LOGNAME"] || getpwuid&.name

    def getpwuid(uid = Process.uid)
      check(uid, Integer)
      __users.find { |u| u.uid == uid } or raise ArgumentError, "can't find user for #{uid}"
    end

    def getpwnam(name)
      check(name, String)
      __users.find { |u| u.name == name } or raise ArgumentError, "can't find user for #{name}"
    end

    def getgrgid(gid = Process.gid)
      check(gid, Integer)
      __groups.find { |g| g.gid == gid } or raise ArgumentError, "can't find group for #{gid}"
    end

    def getgrnam(name)
      check(name, String)
      __groups.find { |g| g.name == name } or raise ArgumentError, "can't find group for #{name}"
    end

    def passwd(&block)
      return getpwent unless block
      __users.each(&block)
      nil
    end

    def group(&block)
      return getgrent unless block
      __groups.each(&block)
      nil
    end

    def getpwent
      u = __users[@users_at]
      @users_at += 1 if u
      u
    end

    def setpwent
      @users_at = 0
      nil
    end
    alias endpwent setpwent

    def getgrent
      g = __groups[@groups_at]
      @groups_at += 1 if g
      g
    end

    def setgrent
      @groups_at = 0
      nil
    end
    alias endgrent setgrent

    def systmpdir = "/tmp"
    def sysconfdir = "/etc"

    def nprocessors
      allowed = File.read("/proc/self/status")[/^Cpus_allowed_list:\s*(\S+)/, 1]
      n = allowed.to_s.split(",").sum do |part|
        a, b = part.split("-").map(&:to_i)
        b ? b - a + 1 : 1
      end
      n > 0 ? n : 1
    rescue SystemCallError
      1
    end

    def uname
      read = lambda { |f| File.read("/proc/sys/kernel/#{f}").chomp }
      { sysname: read["ostype"], nodename: read["hostname"], release: read["osrelease"],
        version: read["version"], machine: RUBY_PLATFORM[/\A[^-]+/] }
    end

    private

    def check(x, type)
      return if x.is_a?(type)
      raise TypeError, "no implicit conversion of #{x.nil? ? "nil" : x.class} into #{type}"
    end

    def lines(path)
      File.readlines(path).reject { |l| l.strip.empty? || l.start_with?("#") }
    rescue SystemCallError
      []
    end
  end
end
