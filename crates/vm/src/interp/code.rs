//! Code is registered before it runs, kept as long as something names it (see `tables`), and rewritten where it stands.
//!
//! **Invariant.** Code is registered before its first instruction runs. Rewriting is one atomic store of an instruction
//! word, whose general form is right for every state of the program; so it may happen while other workers run it.

use crate::Cx;
use crate::doors::Exit;
use crate::world::method::Body;
use kumi_bytecode::{ISeq, Op, site};
use kumi_heap::*;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

impl Cx {
    /// Compiles a lazy prelude body in place.
    pub(crate) fn force_lazy(&mut self, m: u32) -> Result<(), Exit> {
        if let (Body::Lazy(i), None) = (&self.methods[m as usize].body, self.methods[m as usize].forced.get()) {
            let i = *i;
            let q = self.compile_lazy(i)?;
            self.register_code(&q);
            // Its own place, inside the class body's: `super` finds the method there.
            let (owner, place) = (self.methods[m as usize].owner, self.methods[m as usize].cref);
            let parent = if place.is_nil() { self.top_cref } else { place };
            let c = self.new_cref(owner.val(), parent, m, 0);
            // A second worker may have been first: its code is as good.
            let _ = self.methods[m as usize].forced.set((q, c.val()));
        }
        Ok(())
    }
    /// Enters a piece of code (and its children) into the runtime's table and prepares its instructions.
    pub(crate) fn register_code(&mut self, q: &Arc<ISeq>) {
        let mut at = 0;
        while at < q.code.len() {
            let i = q.insn(at);
            if matches!(i.op(), Op::Send | Op::Yield) {
                let s = &q.sites[i.c()];
                let plain = s.flags & (site::SPLAT | site::KWSPLAT | site::BLOCK_ARG) == 0 && s.kw.is_empty() && s.argc < 0x7f;
                let x = if plain { s.argc as u8 | if s.block.is_some() { 0x80 } else { 0 } } else { 0xff };
                q.code[at].store((i.0 & !0xff00) | (x as u64) << 8, Relaxed);
            }
            at += if i.op().cached() { 2 } else { 1 };
        }
        let policy = self.heap.site_book().policy;
        if policy.mode != AllocSiteMode::None {
            q.place_births(policy.fields);
            if policy.stress != 0 {
                q.place_by_chance(policy.stress);
            }
        }
        if self.ops_redefined.load(Relaxed) {
            Self::dequicken(q);
        }
        for c in q.children.iter() {
            self.register_code(c);
        }
        self.enter_code(q);
    }
    /// Rewrites the operator instructions of a piece of code to their general form.
    pub(crate) fn dequicken(q: &ISeq) {
        let mut at = 0;
        while at < q.code.len() {
            let i = q.insn(at);
            let op = i.op();
            if op.is_quick() && !q.system {
                q.code[at].store(i.generic().0, Relaxed);
            }
            at += if op.cached() { 2 } else { 1 };
        }
    }
    /// Takes back all fast operator paths.
    pub(crate) fn dequicken_all(&mut self) {
        for q in crate::cx::runtime::lock(&self.codes).iter() {
            Self::dequicken(q);
        }
    }
}
