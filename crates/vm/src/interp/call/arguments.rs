//! The arguments of a call site, as they stand in its window.
//!
//! **Invariant.** What needs a conversion by Ruby code first (a block argument that is no Proc) is converted in its own
//! register, and the instruction is executed again: until then nothing of the call has happened.

use crate::doors::NO_METHOD;
use crate::doors::ResolvedCall;
use crate::doors::*;
use crate::tasks::frame::{Fp, literal_block};
use crate::tasks::outcome::Outcome;
use crate::{Cx, sym};
use kumi_bytecode::{CallSite, site};
use kumi_heap::*;

/// What a call site's window holds.
pub(super) struct Gathered {
    args: Args,
    kw: Value,
    kw_own: bool,
    pub(super) block: Value,
}

impl Gathered {
    pub(super) fn ready(self, recv: Value, dst: usize) -> ResolvedCall {
        let Gathered { args, kw, kw_own, block } = self;
        ResolvedCall { recv, args, kw, kw_own, block, own: Value::NIL, dst, flags: 0 }
    }
}

impl Cx {
    /// Arguments of a call site as they stand in the window at `b`.
    pub(super) fn gather(&mut self, fp: Fp, s: &CallSite, b: usize) -> Gathered {
        let mut at = b + 1;
        let mut args = Args::new();
        if s.flags & site::SPLAT != 0 {
            let list = fp.r(at);
            // One value of a rest parameter that is passed on stands for itself.
            match list.as_array() {
                Some(a) if s.flags & site::PASSED == 0 || a.is_list() => args.extend(a.seen()),
                _ if !list.is_undef() => args.push(list),
                _ => {}
            }
            at += 1;
        } else {
            args.extend_from_slice(fp.slice(at, s.argc as usize));
            at += s.argc as usize;
        }
        let (mut kw, mut kw_own) = (Value::UNDEF, true);
        if !s.kw.is_empty() {
            kw = self.hash();
            for (k, name) in s.kw.iter().enumerate() {
                self.hash_put_sym(kw, *name, fp.r(at + k));
            }
            at += s.kw.len();
        }
        if s.flags & site::KWSPLAT != 0 {
            kw = fp.r(at);
            kw_own = s.flags & site::KW_ANON == 0;
            at += 1;
        }
        // ruby2_keywords: a flagged hash at the end of a splat becomes keywords.
        if s.flags & site::SPLAT != 0 && kw.is_undef() {
            if let Some(h) = args.last().and_then(|v| v.as_hash()) {
                if h.is_keywords() {
                    args.pop();
                    kw = self.hash_dup(h);
                }
            }
        }
        let block = if s.flags & site::BLOCK_ARG != 0 {
            fp.r(at)
        } else if let Some(child) = s.block {
            literal_block(self.slot_of(fp), child)
        } else {
            Value::NIL
        };
        Gathered { args, kw, kw_own, block }
    }
    /// Is the block argument good as it is? Else the call that converts it (to_proc) in its register.
    pub(super) fn block_arg_ready(&mut self, fp: Fp, s: &CallSite, b: usize, insn_words: usize) -> Option<Outcome> {
        if s.flags & site::BLOCK_ARG == 0 {
            return None;
        }
        let at =
            b + 1 + if s.flags & site::SPLAT != 0 { 1 } else { s.argc as usize } + s.kw.len() + (s.flags & site::KWSPLAT != 0) as usize;
        let v = fp.r(at);
        if v.is_nil() || v.is_kind(Kind::Proc) || (v.is_fix() && s.flags & site::RAW_BLOCK != 0) {
            return None;
        }
        let list = fp.cref().cell::<CrefObj>().and_then(|c| c.refinements.as_array());
        if v.is_sym() {
            if list.is_some() {
                // The symbol keeps the place it was written in, for its refinements.
                let mut hdr = Header::new(self.k.proc_class.val(), Kind::Proc);
                hdr.x.put(ProcObj::LAMBDA | ProcObj::FROM_SYMBOL);
                let nil = Value::NIL;
                let p = self.heap.proc(ProcObj { hdr, iseq: 0, self_val: v, env: nil, cref: fp.cref(), block: nil, home: nil });
                fp.set_r(at, p.val());
            }
            return None;
        }
        if let Some(list) = list {
            let class = self.class_of(v);
            if let Some(m) = self.refined_method(list, class, sym::TO_PROC).filter(|m| *m != NO_METHOD) {
                // SAFETY: back to this very instruction.
                // SAFETY: the instruction that runs ends before pc and has so many words.
                self.pc = unsafe { self.pc.sub(insn_words) };
                return Some(self.dispatch(m, ResolvedCall::new(v, Args::new(), at, 0)));
            }
        }
        // Run the conversion with the register as its destination, then this instruction again.
        // SAFETY: the instruction that runs ends before pc and has so many words.
        self.pc = unsafe { self.pc.sub(insn_words) };
        let name = self.intern("block_arg");
        Some(self.do_call(Call::new(Target::Helper(name), self.k.helpers.val(), Args::from_slice(&[v])), at, 0))
    }
    /// ruby2_keywords: keywords arrive as a flagged hash in the rest array.
    pub(super) fn flag_keywords(&mut self, r: &mut ResolvedCall) {
        if let Some(h) = r.kw.as_hash() {
            if h.h.len() > 0 {
                let d = self.hash_dup(h);
                if let Some(h) = d.as_hash() {
                    h.set_keywords();
                }
                r.args.push(d);
                r.kw = Value::UNDEF;
            }
        }
    }
}
