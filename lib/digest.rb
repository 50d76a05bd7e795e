# frozen_string_literal: true

# Message digests. The computation is native; the interface is Ruby.
module Digest
  VERSION = "3.2.1"

  def self.hexencode(s)
    s = String.try_convert(s) or raise TypeError, "no implicit conversion into String"
    s.unpack1("H*")
  end

  # What every digest object does.
  module Instance
    def update(_s)
      raise RuntimeError, "#{self.class.name} does not implement update()"
    end
    alias << update

    def reset
      raise RuntimeError, "#{self.class.name} does not implement reset()"
    end

    def digest_length = digest.bytesize
    def length = digest_length
    alias size length

    def block_length
      raise RuntimeError, "#{self.class.name} does not implement block_length()"
    end

    def digest(s = nil)
      if s
        reset
        update(s)
        value = finish
        reset
        value
      else
        clone.__send__(:finish)
      end
    end

    def digest!
      value = finish
      reset
      value
    end

    def hexdigest(s = nil) = Digest.hexencode(s ? digest(s) : digest)
    def hexdigest! = Digest.hexencode(digest!)
    def base64digest(s = nil) = [s ? digest(s) : digest].pack("m0")
    def base64digest! = [digest!].pack("m0")
    def bubblebabble = Digest.bubblebabble(digest)
    def to_s = hexdigest
    def inspect = "#<#{self.class}: #{hexdigest}>"
    def new = clone.reset

    def ==(other)
      if other.is_a?(Digest::Instance)
        digest == other.digest
      else
        s = String.try_convert(other)
        return false if s.nil?
        hexdigest == s
      end
    end

    def file(name)
      File.open(name, "rb") do |f|
        while (chunk = f.read(16384))
          update(chunk)
        end
      end
      self
    end

    private

    def finish
      raise RuntimeError, "#{self.class.name} does not implement finish()"
    end
  end

  class Class
    include Instance

    def initialize; end

    def self.digest(s, *args)
      s = String.try_convert(s) or raise TypeError, "no implicit conversion into String"
      new(*args).digest(s)
    end

    def self.hexdigest(*args) = Digest.hexencode(digest(*args))
    def self.base64digest(str, *args) = [digest(str, *args)].pack("m0")
    def self.bubblebabble(str, *args) = Digest.bubblebabble(digest(str, *args))
    def self.file(name, *args) = new(*args).file(name)
  end

  # Digests of the native kind.
  class Base < Class
    def self.new(*args)
      raise NotImplementedError, "Digest::Base is an abstract class" if equal?(Base)
      super
    end

    def initialize
      @__state = __digest_new(algorithm)
    end

    def initialize_copy(other)
      super
      @__state = __digest_copy(other.instance_variable_get(:@__state))
      self
    end

    def update(s)
      unless s.is_a?(String)
        s = String.try_convert(s) or raise TypeError, "no implicit conversion into String"
      end
      from = 0
      from = __digest_update(@__state, s, from) while from
      self
    end
    alias << update

    def reset
      __digest_reset(@__state)
      self
    end

    def digest_length = self.class::LENGTH
    def block_length = self.class::BLOCK

    private

    def algorithm = self.class::ALGORITHM

    def finish
      __digest_value(@__state)
    end
  end

  class MD5 < Base
    ALGORITHM, LENGTH, BLOCK = "MD5", 16, 64
  end

  class SHA1 < Base
    ALGORITHM, LENGTH, BLOCK = "SHA1", 20, 64
  end

  class RMD160 < Base
    ALGORITHM, LENGTH, BLOCK = "RMD160", 20, 64
  end

  class SHA256 < Base
    ALGORITHM, LENGTH, BLOCK = "SHA256", 32, 64
  end

  class SHA384 < Base
    ALGORITHM, LENGTH, BLOCK = "SHA384", 48, 128
  end

  class SHA512 < Base
    ALGORITHM, LENGTH, BLOCK = "SHA512", 64, 128
  end

  # SHA-2 by its length in bits.
  class SHA2 < Class
    def initialize(bitlen = 256)
      @sha2 = case bitlen
              when 256 then SHA256.new
              when 384 then SHA384.new
              when 512 then SHA512.new
              else raise ArgumentError, "unsupported bit length: #{bitlen.inspect}"
              end
      @bitlen = bitlen
    end

    def initialize_copy(other)
      @sha2 = other.instance_variable_get(:@sha2).clone
    end

    def reset
      @sha2.reset
      self
    end

    def update(s)
      @sha2.update(s)
      self
    end
    alias << update

    def block_length = @sha2.block_length
    def digest_length = @sha2.digest_length
    def inspect = "#<Digest::SHA2:#{@bitlen} #{hexdigest}>"

    private

    def finish = @sha2.digest!
  end

  VOWELS = "aeiouy"
  CONSONANTS = "bcdfghklmnprstvzx"
  private_constant :VOWELS, :CONSONANTS

  # Pronounceable fingerprints.
  def self.bubblebabble(digest)
    d = String.try_convert(digest) or raise TypeError, "no implicit conversion into String"
    d = d.bytes
    seed = 1
    out = +"x"
    rounds = d.size / 2 + 1
    rounds.times do |i|
      if i < rounds - 1 || d.size.odd?
        a = d[2 * i]
        out << VOWELS[((a >> 6 & 3) + seed) % 6] << CONSONANTS[a >> 2 & 15] << VOWELS[((a & 3) + seed / 6) % 6]
        if i < rounds - 1
          b = d[2 * i + 1]
          out << CONSONANTS[b >> 4 & 15] << "-" << CONSONANTS[b & 15]
          seed = (seed * 5 + a * 7 + b) % 36
        end
      else
        out << VOWELS[seed % 6] << CONSONANTS[16] << VOWELS[seed / 6]
      end
    end
    out << "x"
  end
end

# Digest(:MD5) is the class.
def Digest(name) = Digest.const_get(name)
