//! Call sites: what an instruction that calls says of its arguments.

use kumi_heap::Sym;

/// Flags of a call site.
pub mod site {
    /// The receiver is an implicit self: private methods may be called.
    pub const FCALL: u16 = 1;
    /// A bare name (`foo`): NameError instead of NoMethodError when missing.
    pub const VCALL: u16 = 2;
    /// `self.foo`: private allowed (setters and others, since Ruby 2.7).
    pub const SELF: u16 = 4;
    /// One argument register follows the receiver: an Array that holds all positional arguments.
    pub const SPLAT: u16 = 8;
    /// After the positional arguments stands one Hash register: keywords made at run time (`**h` or mixed).
    pub const KWSPLAT: u16 = 16;
    /// After all that stands a register with a block value (`&blk`; nil, Proc, Symbol, Method, raw block word).
    pub const BLOCK_ARG: u16 = 32;
    /// Assignment form (`a.b = c`, `a[b] = c`): the method's value is dropped by the compiler.
    pub const ASSIGN: u16 = 64;
    /// super without parentheses (the compiler passes the arguments explicitly; error messages differ).
    pub const ZSUPER: u16 = 128;
    /// The Hash given by KWSPLAT may be somebody's (`**opts` alone): copied by callees that keep it.
    pub const KW_ANON: u16 = 256;
    /// `super` inside a method made by define_method is not allowed in implicit form; set with ZSUPER there.
    pub const IN_BLOCK: u16 = 512;
    /// The BLOCK_ARG may be a raw block word, which looks like an Integer: it came from the frame's own block.
    pub const RAW_BLOCK: u16 = 1024;
    /// The SPLAT register holds a rest parameter that is only passed on ([`Params::passes`](super::Params::passes)).
    pub const PASSED: u16 = 2048;
}

/// A call site. Argument registers from `R[b + 1]`: `argc` positional values (or one Array with SPLAT),
/// then one value for each of `kw`, or the KWSPLAT hash, then the BLOCK_ARG.
#[derive(Debug)]
pub struct CallSite {
    /// Name of the method that is called.
    pub mid: Sym,
    /// Number of positional arguments; with [`site::SPLAT`] they are in one Array.
    pub argc: u16,
    /// Bits of [`site`].
    pub flags: u16,
    /// Static keyword names.
    pub kw: Box<[Sym]>,
    /// A literal block: index into `children`.
    pub block: Option<u16>,
}
