//! The parameters of compiled code, in the order of their registers.

use kumi_heap::Sym;

/// Parameters in the order of their registers, from `R[1]`: required, optional, rest, post,
/// keywords, keyword rest, block. A parameter that blocks capture is copied into its environment
/// slot by the first instructions.
#[derive(Debug, Default, Clone)]
pub struct Params {
    /// Number of required parameters before the optional ones.
    pub req: u16,
    /// Entry points: `opt[k]` is the pc to start at when k optional arguments were given
    /// (length: optional parameters + 1; empty when there are none). The default of each
    /// unset parameter is computed from there on.
    pub opt: Box<[u32]>,
    /// `*rest` has a register.
    pub rest: bool,
    /// A trailing comma in block parameters (`|a,|`): takes apart one array without a rest register.
    pub excess_comma: bool,
    /// Number of required parameters behind the optional ones and the rest.
    pub post: u16,
    /// Keyword names; required ones raise when missing, optional ones are left undef and set by code (`JmpSet`).
    pub kw: Box<[(Sym, bool)]>,
    /// `**opts` has a register.
    pub kwrest: bool,
    /// `**` without a name: nil instead of an empty Hash, for it can only be passed on.
    pub kwrest_anonymous: bool,
    /// The library's rest parameter is only counted and passed on: its register is undef for no value, the value itself for
    /// one, else an Array with [`ArrayObj::is_list`](kumi_heap::ArrayObj::is_list). One value that is such an Array is put into another.
    pub passes: bool,
    /// `**nil`
    pub no_kw: bool,
    /// `&blk` has a register, filled by code with BlockProc (in a block called with a block the binder has put it
    /// there, and BlockProc gives that).
    pub block: bool,
    /// `...`: ruby2_keywords-like forwarding is done with rest, kwrest and block.
    pub forward: bool,
    /// Names for `Method#parameters`, in register order; `None` for destructuring and anonymous ones.
    pub names: Box<[Option<Sym>]>,
}

impl Params {
    /// Number of optional parameters.
    pub fn opt_count(&self) -> u16 {
        self.opt.len().saturating_sub(1) as u16
    }
    /// Register of `&blk` (when `block` is set).
    pub fn block_register(&self) -> usize {
        1 + (self.req + self.opt_count() + self.post) as usize + self.rest as usize + self.kw.len() + self.kwrest as usize
    }
    /// Only required parameters: arguments stay where the caller put them.
    pub fn is_simple(&self) -> bool {
        self.opt.is_empty() && !self.rest && self.post == 0 && self.kw.is_empty() && !self.kwrest && !self.no_kw && !self.excess_comma
    }
    /// Required parameters and then optional ones: those that are given stay where the caller put them.
    pub fn is_optional(&self) -> bool {
        !self.opt.is_empty() && !self.rest && self.post == 0 && self.kw.is_empty() && !self.kwrest && !self.no_kw && !self.excess_comma
    }
    /// `Proc#arity` / `Method#arity`.
    pub fn arity(&self, lambda: bool) -> i32 {
        let kwreq = self.kw.iter().any(|k| k.1);
        let min = (self.req + self.post) as i32 + kwreq as i32;
        let keywords = !self.kw.is_empty() || self.kwrest;
        let max = (self.req + self.post + self.opt_count()) as i32 + keywords as i32;
        // A proc is variadic only with a rest; a method or lambda whenever the count may vary.
        if self.rest || lambda && min != max { -min - 1 } else { min }
    }
}
