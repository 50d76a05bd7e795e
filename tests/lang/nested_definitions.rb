# Where `def` in a method goes: to the class in whose text it stands, also from a method of the class itself.
class P; end
class Q
  P.define_method(:viaproc) { def vp = 1 }
  P.send(:define_method, :vl, &lambda { def vl2 = 1 })
  def self.sing = (def sd = 1)
  SM = method(:sing)
end
P.new.viaproc; P.new.vl
p P.instance_methods(false).sort, Q.instance_methods(false).sort
Q.sing
p Q.instance_methods(false).sort
o = Object.new
o.instance_eval { def ie; def ie2 = 1; end }
o.ie
p o.singleton_methods.sort, Object.method_defined?(:ie2)
o.instance_eval { @a = 1; define_singleton_method(:ds) { def ds2 = 1 } }
o.ds
p o.singleton_methods.sort, Object.method_defined?(:ds2)
P.class_eval { def ce; def ce2 = 1; end; def self.cs; def cs2 = 1; end }
P.new.ce; P.cs
p P.instance_methods(false).sort, P.singleton_methods.sort
P.class_eval "def se; def se2 = 1; end; def self.ss; def ss2 = 1; end"
P.new.se; P.ss
p P.instance_methods(false).sort, P.singleton_methods.sort
module Fn
  module_function
  def mf; def mf2 = 1; end
end
Fn.mf
p Fn.instance_methods.sort, Fn.private_instance_methods.sort, Fn.singleton_methods.sort
class R
  class << self
    def cm; def cm2 = 1; end
    define_method(:dm) { def dm2 = 1 }
  end
  def self.blk; yield; end
  def iblk; yield; end
end
R.cm; R.dm
R.blk { def b1 = 1 }
R.new.iblk { def b2 = 1 }
p R.instance_methods(false).sort, R.singleton_methods.sort, Object.private_method_defined?(:b1), Object.method_defined?(:b2)
R.instance_exec { def rie = 1 }
R.class_exec { def rce = 1 }
p R.instance_methods(false).sort, R.singleton_methods.sort
class S < R
  def self.inherited(c) = (def inh = 1)
  def self.ev = eval("def evd = 1")
  def self.bnd = binding
  def self.um = (undef_method :inh rescue 0; alias_m)
  def self.alias_m = (alias newname iblk)
  def self.und = (undef newname)
end
class T < S; end
S.ev; S.bnd.eval("def bndd = 1")
p S.instance_methods(false).sort, T.instance_methods(false).sort, S.singleton_methods(false).sort
S.alias_m rescue p $!.class
p S.instance_methods(false).sort
S.und rescue p $!.class
p S.instance_methods(false).sort
$x = Class.new { def self.k; def k2 = 1; end }
$x.k
p $x.instance_methods(false), $x.singleton_methods
class U; @@cv = 1; def self.cvr = @@cv; CONST = 2; def self.cr = CONST; def self.setc = eval("ZED = 3"); end
p U.cvr, U.cr

class H
  def self.within
    private
    def by = 4
  end
  def self.two
    private
    [1].each { def by2 = 4 }
  end
  def inst
    def by3 = 1
  end
end
H.within
p H.public_method_defined?(:by)
H.two
p H.public_method_defined?(:by2)
H.new.inst
p H.public_method_defined?(:by3)
class H
  private
  def self.w2
    def by4 = 4
  end
  w2
end
p H.public_method_defined?(:by4)
