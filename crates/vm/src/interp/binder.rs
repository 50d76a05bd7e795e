//! Arguments to parameters, in all their kinds.

use crate::Cx;
use crate::doors::{Args, Exit};
use crate::tasks::frame::Fp;
use kumi_bytecode::{ISeq, Params};
use kumi_heap::*;

/// Who is being called decides how strict the count is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strict {
    /// Methods and lambdas: the count must fit.
    Yes,
    /// Procs and blocks: missing are nil, extra are dropped, one array is taken apart.
    No,
}

impl Cx {
    /// "wrong number of arguments (given 1, expected 2)"
    pub(crate) fn arity_error(&mut self, given: usize, min: usize, max: Option<usize>) -> Exit {
        let want = match max {
            Some(m) if m == min => format!("{min}"),
            Some(m) => format!("{min}..{m}"),
            None => format!("{min}+"),
        };
        self.arg_error(&format!("wrong number of arguments (given {given}, expected {want})"))
    }
    /// The same for compiled code, which may also want keywords.
    fn code_arity_error(&mut self, q: &ISeq, given: usize, min: usize, max: Option<usize>) -> Exit {
        let x = self.arity_error(given, min, max);
        let names: Vec<String> = q.params.kw.iter().filter(|k| k.1).map(|k| self.sym_name(k.0)).collect();
        if !names.is_empty() {
            let s = if names.len() == 1 { "" } else { "s" };
            let old = self.ivar_get(self.pending.exc, crate::names::symbols::sym::IV_MESSAGE);
            let old = self.text(old);
            let new = self.str(&format!("{}; required keyword{s}: {})", old.trim_end_matches(')'), names.join(", ")));
            self.ivar_set(self.pending.exc, crate::names::symbols::sym::IV_MESSAGE, new);
        }
        x
    }

    /// Writes arguments into the parameter registers of `nf`; the pc to start at.
    /// Registers beyond the parameters are left to the caller.
    pub(crate) fn bind(&mut self, q: &ISeq, nf: Fp, mut args: Args, kw: Value, kw_own: bool, strict: Strict) -> Result<usize, Exit> {
        let p = &q.params;
        let mut kw = kw.as_hash().filter(|h| h.h.len() > 0);
        let takes_kw = !p.kw.is_empty() || p.kwrest;
        let (req, opt, post) = (p.req as usize, p.opt_count() as usize, p.post as usize);
        if let Some(h) = kw {
            if p.no_kw {
                return Err(self.arg_error("no keywords accepted"));
            }
            if !takes_kw {
                let own = if kw_own { h.val() } else { self.hash_dup(h) };
                args.push(own);
                kw = None;
            }
        }
        let min = req + post;
        let max = min + opt;
        if strict == Strict::No {
            // A lone optional parameter takes the array as it is.
            let several = p.excess_comma || (min > 0 && (max > 1 || p.rest)) || opt > 1;
            let whole = takes_kw && max == 1 && !p.rest && !p.excess_comma;
            if args.len() == 1 && several && kw.is_none() && !whole {
                if let Some(a) = args[0].as_array() {
                    args = a.seen().iter().collect();
                }
            }
            if args.len() < min {
                // Required come first, then post ones; optional stay unset.
                args.resize(min, Value::NIL);
            }
            if args.len() > max && !p.rest {
                args.truncate(max);
            }
        } else if args.len() < min || (args.len() > max && !p.rest) {
            let missing: Vec<Sym> = p.kw.iter().filter(|k| k.1).map(|k| k.0).collect();
            if !missing.is_empty() && kw.is_none() {
                let names: Vec<String> = missing.iter().map(|s| self.sym_name(*s)).collect();
                let want = if p.rest {
                    format!("{min}+")
                } else if max == min {
                    format!("{min}")
                } else {
                    format!("{min}..{max}")
                };
                let s = if names.len() > 1 { "s" } else { "" };
                let given = args.len();
                return Err(self.arg_error(&format!(
                    "wrong number of arguments (given {given}, expected {want}; required keyword{s}: {})",
                    names.join(", ")
                )));
            }
            return Err(self.code_arity_error(q, args.len(), min, (!p.rest).then_some(max)));
        }
        let n = args.len();
        let given_opt = (n - min).min(opt);
        let mut at = 1;
        for v in &args[..req] {
            nf.set_r(at, *v);
            at += 1;
        }
        for k in 0..opt {
            nf.set_r(at, if k < given_opt { args[req + k] } else { Value::NIL });
            at += 1;
        }
        if p.rest {
            let rest: &[Value] = &args[req + given_opt..n - post];
            let v = match rest {
                [] if p.passes => Value::UNDEF,
                [v] if p.passes && !v.as_array().is_some_and(|a| a.is_list()) => *v,
                _ if p.passes => self.heap.list(self.k.array.val(), rest).val(),
                _ => self.array(rest),
            };
            nf.set_r(at, v);
            at += 1;
        }
        for v in &args[n - post..] {
            nf.set_r(at, *v);
            at += 1;
        }
        if takes_kw {
            self.bind_kw(p, nf, at, kw, kw_own)?;
            at += p.kw.len() + p.kwrest as usize;
        }
        if p.block {
            nf.set_r(at, Value::NIL);
        }
        Ok(if p.opt.is_empty() { 0 } else { p.opt[given_opt] as usize })
    }

    fn bind_kw(&mut self, p: &Params, nf: Fp, at: usize, kw: Option<Gc<HashObj>>, kw_own: bool) -> Result<(), Exit> {
        let mut missing: Vec<Sym> = Vec::new();
        let mut used = 0;
        for (k, (name, required)) in p.kw.iter().enumerate() {
            let v = kw.and_then(|h| self.hash_get_sym(h, *name));
            match v {
                Some(v) => {
                    used += 1;
                    nf.set_r(at + k, v);
                }
                None => {
                    if *required {
                        missing.push(*name);
                    }
                    nf.set_r(at + k, Value::UNDEF);
                }
            }
        }
        if !missing.is_empty() {
            let names: Vec<String> = missing.iter().map(|s| format!(":{}", self.sym_name(*s))).collect();
            let s = if names.len() > 1 { "s" } else { "" };
            return Err(self.arg_error(&format!("missing keyword{s}: {}", names.join(", "))));
        }
        let total = kw.map_or(0, |h| h.h.len());
        if p.kwrest {
            let v = match kw {
                Some(h) if used == 0 => {
                    if kw_own {
                        h.val()
                    } else {
                        self.hash_dup(h)
                    }
                }
                Some(h) if kw_own => {
                    for (name, _) in p.kw.iter() {
                        if let Ok(Some(i)) = self.hash_find(h, Value::sym(*name)) {
                            self.heap.edit(h).h.remove_at(i);
                        }
                    }
                    h.val()
                }
                Some(h) => {
                    let v = self.hash();
                    for e in h.h.iter().collect::<Vec<_>>() {
                        if !e.key.as_sym().is_some_and(|s| p.kw.iter().any(|k| k.0 == s)) {
                            if let Some(n) = v.as_hash() {
                                self.heap.before_store(v, e.key);
                                self.heap.before_store(v, e.val);
                                self.heap.edit(n).h.push(e.hash, e.key, e.val);
                            }
                        }
                    }
                    v
                }
                None if p.kwrest_anonymous => Value::NIL,
                None => self.hash(),
            };
            nf.set_r(at + p.kw.len(), v);
        } else if total > used {
            let unknown: Vec<Value> = kw
                .into_iter()
                .flat_map(|h| h.h.iter().map(|e| e.key).collect::<Vec<_>>())
                .filter(|k| !k.as_sym().is_some_and(|s| p.kw.iter().any(|x| x.0 == s)))
                .collect();
            let plain = |s: &[u8]| !s.is_empty() && s.iter().all(|b| b.is_ascii_lowercase() || *b == b'_');
            if unknown.iter().all(|k| k.as_sym().is_some_and(|s| plain(self.syms.name(s)))) {
                // Raised here, the error is the callee's.
                let names: Vec<String> = unknown.iter().filter_map(|k| k.as_sym()).map(|k| format!(":{}", self.sym_name(k))).collect();
                let s = if names.len() > 1 { "s" } else { "" };
                return Err(self.arg_error(&format!("unknown keyword{s}: {}", names.join(", "))));
            }
            let a = self.array(&unknown);
            return Err(self.call_helper("raise_unknown_keywords", &[a]));
        }
        Ok(())
    }

    /// A Hash with the same entries (keyword hashes handed on are copies).
    pub(crate) fn hash_dup(&mut self, h: Gc<HashObj>) -> Value {
        let mut d = h.h.clone();
        d.set_missing(Missing::NIL);
        self.heap.hash(self.k.hash.val(), d).val()
    }
    /// Value of a symbol key.
    pub(crate) fn hash_get_sym(&mut self, h: Gc<HashObj>, name: Sym) -> Option<Value> {
        self.hash_get_plain(h, Value::sym(name))
    }
    /// Sets a symbol key of a hash of ours.
    pub(crate) fn hash_put_sym(&mut self, h: Value, name: Sym, v: Value) {
        if let Some(o) = h.as_hash() {
            self.hash_put_plain(o, Value::sym(name), v);
        }
    }
}
