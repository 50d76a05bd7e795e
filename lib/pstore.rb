# frozen_string_literal: true

# A table in a file, which is read and changed by transactions: all that a transaction did is there afterwards, or nothing. Other
# processes wait for it by a lock of the file.
class PStore
  VERSION = "0.1.4"

  class Error < StandardError
  end

  # Is the file written anew beside the old one, and put in its place? Then it is whole whenever the machine stops.
  attr_accessor :ultra_safe

  def initialize(file, thread_safe = false)
    dir = File.dirname(file)
    raise Error, "directory #{dir} does not exist" unless File.directory?(dir)
    raise Error, "file #{file} not readable" if File.exist?(file) && !File.readable?(file)
    @filename = file
    @ultra_safe = false
    @thread_safe = thread_safe
    @lock = Thread::Mutex.new
    # Whose transaction goes on, and since when it is held.
    @owner = Thread::Mutex.new
    @table = nil
    @read_only = false
  end

  def path = @filename

  def [](key)
    in_transaction
    @table[key]
  end

  def []=(key, value)
    in_transaction(true)
    @table[key] = value
  end

  def fetch(key, default = Error)
    in_transaction
    return @table[key] if @table.key?(key)
    raise Error, "undefined root name `#{key}'" if default.equal?(Error)
    default
  end

  def delete(key)
    in_transaction(true)
    @table.delete(key)
  end

  def keys
    in_transaction
    @table.keys
  end
  alias roots keys

  def key?(key)
    in_transaction
    @table.key?(key)
  end
  alias root? key?

  # Ends the transaction with what it did.
  def commit
    in_transaction
    throw @ends, :commit
  end

  # Ends the transaction as if it had not been.
  def abort
    in_transaction
    throw @ends, :abort
  end

  # Runs the block, which may read and change the table. Its value; nil after `commit` and `abort`. Whatever else leaves it changes nothing.
  def transaction(read_only = false)
    begin_transaction
    begin
      value = nil
      with_file(read_only) do |file|
        @table, before = read(file, read_only)
        @read_only = read_only
        @ends = Object.new
        how = catch(@ends) do
          value = yield(self)
          nil
        end
        write(file, before) unless read_only || how == :abort
      end
      value
    ensure
      @table = nil
      @owner.unlock
    end
  end

  private

  EMPTY = Marshal.dump({}).freeze
  private_constant :EMPTY

  # Of other threads too, unless they are to wait for each other.
  def begin_transaction
    raise Error, "nested transaction" if @owner.owned?
    return @owner.lock if @thread_safe
    raise Error, "nested transaction" unless @owner.try_lock
  end

  def in_transaction(changes = false)
    raise Error, "not in transaction" unless @table && @owner.owned?
    raise Error, "in read-only transaction" if changes && @read_only
  end

  # The file, locked: for others that read as well, or for nobody else. None where there is nothing to be read.
  def with_file(read_only)
    return yield(nil) if read_only && !File.exist?(@filename)
    loop do
      file = File.open(@filename, read_only ? File::RDONLY : File::RDWR | File::CREAT)
      file.binmode
      begin
        file.flock(read_only ? File::LOCK_SH : File::LOCK_EX)
        # Meanwhile another may have put a file in its place.
        next unless File.identical?(file, @filename)
        return yield(file)
      ensure
        file.close
      end
    end
  end

  # The table, and its text.
  def read(file, read_only)
    text = file ? file.read : ""
    return [{}, EMPTY] if text.empty?
    table = load(text)
    raise Error, "PStore file seems to be corrupted." unless table.is_a?(Hash)
    [table, text]
  end

  def write(file, before)
    text = dump(@table)
    return if text == before
    return write_beside(file, text) if @ultra_safe
    file.rewind
    file.write(text)
    file.truncate(text.bytesize)
    file.flush
  end

  def write_beside(file, text)
    beside = "#{@filename}.tmp.#{Process.pid}.#{rand(1 << 32).to_s(36)}"
    File.open(beside, File::WRONLY | File::CREAT | File::EXCL, file.stat.mode & 0o7777) do |f|
      f.binmode
      f.write(text)
      f.fsync
    end
    File.rename(beside, @filename)
  rescue SystemCallError
    File.unlink(beside) if File.exist?(beside)
    raise
  end

  def dump(table) = Marshal.dump(table)
  def load(text) = Marshal.load(text)
end
