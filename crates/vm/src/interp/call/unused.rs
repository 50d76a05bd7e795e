//! Blocks given to methods that ignore them, said with `-w` or `-W:strict_unused_block`.
//!
//! **Invariant.** Asked only where a call site has not met the method before, so that calls that are cached pay nothing. What is told
//! is told before the call, once for each method's code; the instruction is then executed again.

use crate::Cx;
use crate::doors::*;
use crate::sym;
use crate::tasks::frame::{Fp, ff};
use crate::tasks::outcome::Outcome;
use crate::world::method::Body;
use std::sync::atomic::Ordering::Relaxed;

/// Words of a `Send`.
const WORDS: usize = 2;

impl Cx {
    /// A program's call gives a block to method `m`: tells when it is certain to be ignored.
    pub(super) fn tell_unused_block(&mut self, fp: Fp, m: u32) -> Option<Outcome> {
        let (verbose, strict) = (self.options.verbose.load(Relaxed), self.options.warn_unused_block.load(Relaxed));
        if verbose == 0 || verbose < 2 && !strict {
            return None;
        }
        let e = &self.methods[m as usize];
        let Body::Code(q) = &e.body else { return None };
        let ours = |q: &crate::ISeq| q.system || self.options.is_own(&q.path);
        if e.native.is_some() || q.uses_block || e.name == sym::INITIALIZE || q.told_unused.load(Relaxed) || ours(q) || ours(fp.iseq()) {
            return None;
        }
        // Who calls may not know which of the methods of one name it is.
        if !strict && self.syms.takes_block(e.name) || q.told_unused.swap(true, Relaxed) {
            return None;
        }
        let (at, owner, name) = (format!("{}:{}", q.path, q.line), e.owner, e.name);
        let name = self.sym_name(name);
        let method = self.method_label(owner, name);
        let text = format!("{}warning: the block passed to '{method}' defined at {at} may be ignored\n", self.place());
        let text = self.str(&text);
        // SAFETY: back to this very instruction.
        self.pc = unsafe { self.pc.sub(WORDS) };
        let helper = self.intern("unused_block");
        Some(self.do_call(Call::new(Target::Helper(helper), self.k.helpers.val(), Args::from_slice(&[text])), 0, ff::DISCARD))
    }
}
