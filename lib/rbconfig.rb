# frozen_string_literal: true

# Facts about this Ruby.
module RbConfig
  TOPDIR = File.expand_path("..", File.dirname(File.realpath("/proc/self/exe")))

  major, minor, teeny = RUBY_VERSION.split(".")
  CONFIG = {
    "MAJOR" => major, "MINOR" => minor, "TEENY" => teeny, "PATCHLEVEL" => RUBY_PATCHLEVEL.to_s,
    "ruby_version" => "#{major}.#{minor}.0", "RUBY_API_VERSION" => "#{major}.#{minor}",
    "RUBY_PROGRAM_VERSION" => RUBY_VERSION, "ruby_install_name" => File.basename(File.realpath("/proc/self/exe")),
    "RUBY_INSTALL_NAME" => File.basename(File.realpath("/proc/self/exe")), "RUBYW_INSTALL_NAME" => "", "RUBY_BASE_NAME" => "ruby",
    "bindir" => File.dirname(File.realpath("/proc/self/exe")), "prefix" => TOPDIR, "exec_prefix" => TOPDIR,
    "libdir" => "#{TOPDIR}/lib", "rubylibdir" => "#{TOPDIR}/lib", "rubyarchdir" => "#{TOPDIR}/lib", "archdir" => "#{TOPDIR}/lib",
    "sitedir" => "#{TOPDIR}/lib/site_ruby", "sitelibdir" => "#{TOPDIR}/lib/site_ruby/#{major}.#{minor}.0",
    "sitearchdir" => "#{TOPDIR}/lib/site_ruby/#{major}.#{minor}.0", "vendordir" => "#{TOPDIR}/lib/vendor_ruby",
    "vendorlibdir" => "#{TOPDIR}/lib/vendor_ruby/#{major}.#{minor}.0", "datadir" => "#{TOPDIR}/share", "mandir" => "#{TOPDIR}/share/man",
    "sysconfdir" => "/etc", "localstatedir" => "/var", "EXEEXT" => "", "OBJEXT" => "o", "DLEXT" => "so", "LIBEXT" => "a", "SOEXT" => "so",
    "arch" => RUBY_PLATFORM, "host" => RUBY_PLATFORM, "build" => RUBY_PLATFORM, "target" => RUBY_PLATFORM,
    "host_os" => RUBY_PLATFORM[/-(.*)/, 1], "host_cpu" => RUBY_PLATFORM[/\A[^-]+/], "build_os" => RUBY_PLATFORM[/-(.*)/, 1],
    "target_os" => RUBY_PLATFORM[/-(.*)/, 1], "target_cpu" => RUBY_PLATFORM[/\A[^-]+/], "platform" => RUBY_PLATFORM,
    "SHELL" => "/bin/sh", "PATH_SEPARATOR" => ":", "ENABLE_SHARED" => "no", "CC" => "cc", "CFLAGS" => "", "LDFLAGS" => "",
    "MAKEFILE_CONFIG" => ""
  }
  MAKEFILE_CONFIG = CONFIG.dup
  SIZEOF = { "int" => 4, "short" => 2, "long" => 8, "long long" => 8, "__int128" => 16, "off_t" => 8, "void*" => 8,
             "float" => 4, "double" => 8, "time_t" => 8, "clock_t" => 8, "size_t" => 8, "ptrdiff_t" => 8, "dev_t" => 8,
             "int8_t" => 1, "uint8_t" => 1, "int16_t" => 2, "uint16_t" => 2, "int32_t" => 4, "uint32_t" => 4,
             "int64_t" => 8, "uint64_t" => 8, "intptr_t" => 8, "uintptr_t" => 8, "ssize_t" => 8 }.freeze
  LIMITS = { "FIXNUM_MAX" => 4611686018427387903, "FIXNUM_MIN" => -4611686018427387904,
             "CHAR_MAX" => 127, "CHAR_MIN" => -128, "UCHAR_MAX" => 255, "SHRT_MAX" => 32767, "SHRT_MIN" => -32768, "USHRT_MAX" => 65535,
             "INT_MAX" => 2147483647, "INT_MIN" => -2147483648, "UINT_MAX" => 4294967295,
             "LONG_MAX" => 9223372036854775807, "LONG_MIN" => -9223372036854775808, "ULONG_MAX" => 18446744073709551615,
             "LLONG_MAX" => 9223372036854775807, "LLONG_MIN" => -9223372036854775808, "ULLONG_MAX" => 18446744073709551615,
             "INT8_MAX" => 127, "INT8_MIN" => -128, "INT16_MAX" => 32767, "INT16_MIN" => -32768,
             "INT32_MAX" => 2147483647, "INT32_MIN" => -2147483648, "UINT32_MAX" => 4294967295,
             "INT64_MAX" => 9223372036854775807, "INT64_MIN" => -9223372036854775808, "UINT64_MAX" => 18446744073709551615,
             "SIZE_MAX" => 18446744073709551615, "INTPTR_MAX" => 9223372036854775807, "INTPTR_MIN" => -9223372036854775808,
             "UINTPTR_MAX" => 18446744073709551615 }.freeze

  def self.ruby = File.realpath("/proc/self/exe")
  def self.expand(val, _config = CONFIG) = val
  def self.fire_update!(key, val, *) = CONFIG[key] = val
end
