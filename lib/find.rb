# frozen_string_literal: true

# Walks directory trees from the top.
module Find
  VERSION = "0.2.0"

  def find(*paths, ignore_error: true)
    return enum_for(__method__, *paths, ignore_error: ignore_error) unless block_given?
    paths.collect! do |d|
      raise Errno::ENOENT, d.to_s unless File.exist?(d)
      d.dup
    end
    paths.each do |path|
      path = path.to_path if path.respond_to?(:to_path)
      enc = path.encoding == Encoding::US_ASCII ? Encoding.default_external : path.encoding
      stack = [path]
      while (file = stack.shift)
        catch(:prune) do
          yield file.dup
          begin
            next unless File.lstat(file).directory?
            names = Dir.children(file, encoding: enc)
          rescue Errno::ENOENT, Errno::EACCES, Errno::ENOTDIR, Errno::ELOOP, Errno::ENAMETOOLONG, Errno::EINVAL
            raise unless ignore_error
            next
          end
          names.sort!
          names.reverse_each { |f| stack.unshift File.join(file, f) }
        end
      end
    end
    nil
  end

  def prune
    throw :prune
  end

  module_function :find, :prune
end
