# frozen_string_literal: true

# Base64 as in RFC 2045 and RFC 4648.
module Base64
  VERSION = "0.3.0"

  module_function

  def encode64(bin) = [bin].pack("m")
  def decode64(str) = str.unpack1("m")
  def strict_encode64(bin) = [bin].pack("m0")
  def strict_decode64(str) = str.unpack1("m0")

  def urlsafe_encode64(bin, padding: true)
    str = strict_encode64(bin)
    str.chomp!("==") or str.chomp!("=") unless padding
    str.tr!("+/", "-_")
    str
  end

  def urlsafe_decode64(str)
    if !str.end_with?("=") && str.length % 4 != 0
      str = str.ljust((str.length + 3) & ~3, "=")
      str.tr!("-_", "+/")
    else
      str = str.tr("-_", "+/")
    end
    strict_decode64(str)
  end
end
