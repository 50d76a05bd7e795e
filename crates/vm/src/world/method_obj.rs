//! Method and UnboundMethod objects, and what can be told of a method without calling it.
//!
//! Invariant: `method` is an entry of the method table (visibility-only entries are
//! followed), or [`NO_METHOD`](crate::NO_METHOD) for a method that only
//! `respond_to_missing?` promised: calling that one goes through `method_missing`.

use crate::Cx;
use crate::doors::Exit;
use crate::doors::NO_METHOD;
use crate::world::method::Body;
use kumi_bytecode::{ISeq, Params};
use kumi_heap::{ClassObj, Gc, Marker, Payload, Sym, Value};
use std::sync::Arc;

/// Payload of both classes. Never changes.
#[derive(Clone)]
pub struct MethodObj {
    /// Receiver; undef for an UnboundMethod.
    pub recv: Value,
    /// Index in the method table.
    pub method: u32,
    /// Name it was asked for by.
    pub name: Sym,
    /// Class or module the definition stands in.
    pub owner: Gc<ClassObj>,
    /// Class the search started at: where `super_method` goes on from.
    pub class: Gc<ClassObj>,
}

impl Payload for MethodObj {
    fn trace(&self, m: &mut Marker) {
        m.mark(self.recv);
        m.mark(self.owner.val());
        m.mark(self.class.val());
        m.method(self.method);
        m.sym(self.name);
    }
    fn shares(&self) -> bool {
        true
    }
    fn confined(&self) -> bool {
        true
    }
}

/// What kind of parameter, as `Method#parameters` names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Param {
    /// Required.
    Req,
    /// Optional.
    Opt,
    /// `*rest`
    Rest,
    /// `key:`
    KeyReq,
    /// `key: default`
    Key,
    /// `**opts`
    KeyRest,
    /// `**nil`
    NoKey,
    /// `&blk`
    Block,
}

impl Param {
    /// The symbol's text.
    pub fn name(self) -> &'static str {
        match self {
            Param::Req => "req",
            Param::Opt => "opt",
            Param::Rest => "rest",
            Param::KeyReq => "keyreq",
            Param::Key => "key",
            Param::KeyRest => "keyrest",
            Param::NoKey => "nokey",
            Param::Block => "block",
        }
    }
}

impl Cx {
    /// The Method (`recv` given) or UnboundMethod (`recv` undef) of entry `index`, found from `class`.
    pub fn method_object(&mut self, recv: Value, class: Gc<ClassObj>, name: Sym, index: u32) -> Value {
        let method = if index == NO_METHOD { index } else { self.real_method(class, index) };
        // The module that has the entry: an alias or a change of visibility counts as its definition.
        let holder = class.data.mro.iter().find(|m| m.data.methods.get(&name) == Some(&index)).copied();
        let owner = match holder {
            _ if method == NO_METHOD => class,
            Some(h) => h,
            None => self.method(method).owner,
        };
        let c = if recv.is_undef() { self.k.unbound_method } else { self.k.method };
        self.data(c, MethodObj { recv, method, name, owner, class })
    }

    /// The code of a method, when it has any (prelude bodies are compiled for the question).
    pub fn method_code(&mut self, index: u32) -> Result<Option<Arc<ISeq>>, Exit> {
        if index == NO_METHOD {
            return Ok(None);
        }
        match self.method(index).body.clone() {
            Body::Code(c) => Ok(Some(c)),
            Body::Lazy(i) => self.compile_lazy(i).map(Some),
            Body::Proc(p) => Ok(p.as_proc().and_then(|p| self.code_at(p.iseq))),
            _ => Ok(None),
        }
    }
    /// The registered code at an address.
    pub(crate) fn code_at(&self, iseq: u64) -> Option<Arc<ISeq>> {
        crate::cx::runtime::lock(&self.codes).iter().rev().find(|c| Arc::as_ptr(c) as u64 == iseq).cloned()
    }

    /// `Method#arity`.
    pub fn method_arity(&mut self, index: u32) -> Result<i32, Exit> {
        if index == NO_METHOD {
            return Ok(-1);
        }
        if let Some(c) = self.method_code(index)? {
            let n = c.params.arity(true);
            // Methods of the runtime tell as much as CRuby's own native ones do.
            return Ok(if c.system && n < 0 { -1 } else { n });
        }
        let m = self.method(index);
        Ok(match m.body {
            Body::AttrGet(_) | Body::MemberGet(_) | Body::Indexed(_) => 0,
            Body::AttrSet(_) | Body::MemberSet(_) => 1,
            _ if m.max == m.min as i8 => m.min as i32,
            _ => -1,
        })
    }

    /// `Method#parameters` as kinds and names.
    pub fn method_parameters(&mut self, index: u32) -> Result<Vec<(Param, Option<Sym>)>, Exit> {
        if index == NO_METHOD {
            return Ok(vec![(Param::Rest, None)]);
        }
        if let Some(c) = self.method_code(index)? {
            if !c.system {
                return Ok(self.parameters(&c.params, true));
            }
            let n = c.params.arity(true);
            return Ok(if n < 0 { vec![(Param::Rest, None)] } else { vec![(Param::Req, None); n as usize] });
        }
        let m = self.method(index);
        let (min, max) = match m.body {
            Body::AttrGet(_) | Body::MemberGet(_) | Body::Indexed(_) => (0, 0),
            Body::AttrSet(_) => return Ok(vec![(Param::Req, None)]),
            Body::MemberSet(_) => return Ok(vec![(Param::Req, Some(self.intern("_")))]),
            _ => (m.min as i32, m.max as i32),
        };
        if min != max {
            return Ok(vec![(Param::Rest, None)]);
        }
        Ok((0..min).map(|_| (Param::Req, None)).collect())
    }

    /// Parameters of code; required ones of a proc that is no lambda count as optional.
    pub fn parameters(&mut self, p: &Params, lambda: bool) -> Vec<(Param, Option<Sym>)> {
        let mut out = Vec::new();
        let mut at = 0usize;
        let mut name = |n: usize| {
            let v = p.names.get(at).copied().flatten();
            at += n;
            v
        };
        let req = if lambda { Param::Req } else { Param::Opt };
        for _ in 0..p.req {
            out.push((req, name(1)));
        }
        for _ in 0..p.opt_count() {
            out.push((Param::Opt, name(1)));
        }
        let (star, stars, amp) = (self.intern("*"), self.intern("**"), self.intern("&"));
        if p.rest {
            out.push((Param::Rest, name(1).or(Some(star))));
        }
        for _ in 0..p.post {
            out.push((req, name(1)));
        }
        for _ in 0..p.kw.len() {
            name(1);
        }
        out.extend(p.kw.iter().filter(|k| k.1).map(|k| (Param::KeyReq, Some(k.0))));
        out.extend(p.kw.iter().filter(|k| !k.1).map(|k| (Param::Key, Some(k.0))));
        if p.kwrest {
            out.push((Param::KeyRest, name(1).or(Some(stars))));
        }
        if p.no_kw {
            out.push((Param::NoKey, None));
        }
        if p.block {
            out.push((Param::Block, name(1).or(Some(amp))));
        }
        out
    }
}
