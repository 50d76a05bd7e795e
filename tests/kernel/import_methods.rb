# What a refinement may import: methods that a module has by `def` alone; and Zlib's sums, which are none of them.
require "zlib"
module A; attr_reader :x; end
module B; define_method(:x) { }; end
module C; def y = 1; alias x y; end
module D; def x = 1; undef x; end
module E; def x = 1; def z = 2; private :z; end
module F; private def x = 1; end
module G; include F; public :x; end
[A, B, C, D, E, F, Kernel, Zlib].each do |m|
  Module.new { refine(String) { begin; import_methods m; p [m, :ok]; rescue => e; puts e.message[/.*: \w+/]; end } }
end
Module.new { refine(String) { begin; $VERBOSE = nil; import_methods G; rescue => e; puts e.message[/.*: \w+/]; end } }
$VERBOSE = false
p Zlib.crc32_combine(Zlib.crc32("a"), Zlib.crc32("bc"), 2) == Zlib.crc32("abc")
p Zlib.adler32_combine(Zlib.adler32("a"), Zlib.adler32("bc"), 2) == Zlib.adler32("abc")
p Zlib.adler32_combine(1, 2, 0), Zlib.crc32_combine(1, 2, 0), Zlib.crc32_combine(7, 9, 10**9), Zlib.crc32_combine(2**32 + 1, 2, 3)
p Zlib.adler32_combine(Zlib.adler32("\xff" * 9000), Zlib.adler32("z" * 70_000), 70_000) == Zlib.adler32("\xff" * 9000 + "z" * 70_000)
begin Zlib.crc32_combine("", 1, 1); rescue => e; p e.class; end
begin Zlib.crc32_combine(1, 1, nil); rescue => e; p e.class; end
class Sums; include Zlib; def of(s) = crc32(s); end
p Sums.new.of("abc"), (Sums.new.crc32("") rescue $!.class), Zlib.private_instance_methods(false).sort
