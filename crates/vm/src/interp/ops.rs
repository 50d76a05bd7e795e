//! Instructions that make or convert values: literals, splats, interpolation, matches.

use super::Outcome;
use crate::doors::NO_METHOD;
use crate::doors::*;
use crate::tasks::frame::Fp;
use crate::{Cx, EncIndex, sym};
use kumi_bytecode::{ISeq, Lit, MatchSlot};
use kumi_heap::*;
use kumi_num::BigInt;
use std::sync::atomic::AtomicU64;

impl Cx {
    /// The value of literal `k`, made once for each piece of code.
    #[inline(never)]
    pub(crate) fn make_literal(&mut self, q: &'static ISeq, k: usize) -> R {
        let v = self.literal(&q.lits[k])?;
        self.heap.publish(v);
        Ok(q.set_value(k, v))
    }
    fn literal(&mut self, l: &Lit) -> R {
        Ok(match l {
            Lit::Int(i) => self.int(*i),
            Lit::Big(n) => self.big(n.clone()),
            Lit::Float(f) => self.float(*f),
            Lit::Rational(a, b) => self.rational_literal(a, b),
            Lit::Imaginary(x) => {
                let v = self.literal(x)?;
                self.heap.pair(self.k.complex.val(), Value::fix(0), v)
            }
            Lit::Str(b, e) => self.str_enc(b, *e),
            Lit::FrozenStr(b, e) => self.fstring(b, *e),
            Lit::Sym(s) => Value::sym(*s),
            Lit::Regex(b, o, e) => {
                let s = self.str_enc(b, *e);
                return self.regexp(s, *o);
            }
            Lit::Range(a, b, x) => {
                let (a, b) = (self.literal(a)?, self.literal(b)?);
                self.range(a, b, *x)
            }
            Lit::Nil => Value::NIL,
            Lit::True => Value::TRUE,
            Lit::False => Value::FALSE,
        })
    }
    /// A reduced Rational of two Integers, denominator positive.
    fn rational_literal(&mut self, x: &BigInt, y: &BigInt) -> Value {
        let g = x.gcd(y);
        let (n, d) = match (x.div_floor(&g), y.div_floor(&g)) {
            (Some(n), Some(d)) => (n, d),
            _ => (x.clone(), y.clone()),
        };
        let (n, d) = (self.big(n), self.big(d));
        self.heap.pair(self.k.rational.val(), n, d)
    }
    /// A fresh mutable string of literal `k`.
    #[inline]
    pub(crate) fn fresh_string(&mut self, q: &'static ISeq, k: usize) -> Value {
        match &q.lits[k] {
            Lit::Str(b, e) | Lit::FrozenStr(b, e) => self.str_enc(b, *e),
            _ => Value::NIL,
        }
    }
    /// A Regexp, by the string floor's constructor.
    pub fn regexp(&mut self, source: Value, options: u8) -> R {
        match self.intrinsic_fn("__regexp_new") {
            Some((f, g)) => self.run_native(f, g, Value::NIL, &[source, Value::fix(options as i64)]),
            None => Err(self.runtime_error("regular expressions are not part of this build")),
        }
    }
    /// The native behind an intrinsic, for the loop's own use.
    pub(crate) fn intrinsic_fn(&self, name: &str) -> Option<(NativeFn, Guard)> {
        self.intrinsic_ids.get(name).map(|i| (self.intrinsics[*i as usize].1, self.intrinsics[*i as usize].2))
    }
    #[inline(never)]
    pub(crate) fn regex_literal(&mut self, parts: &[Value], options: u8) -> R {
        if parts.len() == 1 && parts[0].as_str().is_some() {
            return self.regexp(parts[0], options);
        }
        let s = self.concat_strings(parts, true)?;
        self.regexp(s, options)
    }

    /// `"#{a}b"`: strings joined; encodings must agree. It begins as UTF-8, or in the encoding of the first part. Integers,
    /// Symbols and nil stand for their `to_s` (see `to_s_op`).
    #[inline(never)]
    pub(crate) fn concat_strings(&mut self, parts: &[Value], mut as_first: bool) -> R {
        let mut digits = [0u8; 20];
        let mut n = 0;
        for p in parts {
            n += match (p.as_str(), p.as_fix(), p.as_sym()) {
                (Some(s), ..) => s.buf.len(),
                (_, Some(i), _) => decimal(i, &mut digits).len(),
                (.., Some(s)) => self.syms.name(s).len(),
                _ => 0,
            };
        }
        let mut buf = StrBuf::with_capacity(n);
        let mut enc = EncIndex::UTF_8;
        let mut ascii = true;
        for p in parts {
            let name;
            let (bytes, e, seven) = if let Some(s) = p.as_str() {
                name = s;
                let e = EncIndex::from_u8(name.enc());
                (name.bytes(), e, e.is_ascii_compatible() && name.buf.is_ascii())
            } else if let Some(i) = p.as_fix() {
                (decimal(i, &mut digits), EncIndex::US_ASCII, true)
            } else if let Some(s) = p.as_sym() {
                let name = self.syms.name(s);
                let seven = name.is_ascii();
                (name, if seven { EncIndex::US_ASCII } else { EncIndex::UTF_8 }, seven)
            } else {
                (&b""[..], EncIndex::US_ASCII, true)
            };
            if std::mem::take(&mut as_first) {
                enc = e;
            } else if e != enc && !bytes.is_empty() {
                // ASCII stands in any encoding that has it, an empty string in all.
                if buf.is_empty() || ascii && !seven && e.is_ascii_compatible() {
                    enc = if seven && enc.is_ascii_compatible() { enc } else { e };
                } else if !seven || !enc.is_ascii_compatible() {
                    return Err(self.incompatible(enc, e));
                }
            }
            if !bytes.is_empty() {
                ascii &= seven;
            }
            buf.extend_from_slice(bytes);
        }
        Ok(self.heap.str_buf(self.k.string.val(), buf, enc.as_u8()).val())
    }
    /// Encoding::CompatibilityError
    pub fn incompatible(&mut self, a: EncIndex, b: EncIndex) -> Exit {
        let show = |e: EncIndex| if e == EncIndex::BINARY { "BINARY (ASCII-8BIT)".to_string() } else { e.name().to_string() };
        let m = format!("incompatible character encodings: {} and {}", show(a), show(b));
        self.raise_msg(self.k.compatibility_error, &m)
    }

    #[inline(never)]
    pub(crate) fn intern_op(&mut self, v: Value) -> R {
        match v.as_str() {
            Some(s) => {
                if let Some((f, g)) = self.intrinsic_fn("__str_to_sym") {
                    return self.run_native(f, g, Value::NIL, &[v]);
                }
                self.sym_of(s.bytes()).map(Value::sym)
            }
            None => Err(self.type_error("can't make a symbol of this")),
        }
    }

    /// to_s of an interpolated value.
    #[inline(never)]
    pub(crate) fn to_s_op(&mut self, dst: usize, v: Value, _cache: &AtomicU64) -> Outcome {
        let fp = self.fp();
        if let Some(list) = fp.cref().cell::<CrefObj>().and_then(|c| c.refinements.as_array()) {
            let class = self.class_of(v);
            if let Some(m) = self.refined_method(list, class, sym::TO_S).filter(|m| *m != NO_METHOD) {
                let to_s = self.method_object(v, class, sym::TO_S, m);
                let x = self.call_helper("interpolate_by", &[v, to_s]);
                return self.leaf_exit(x, dst);
            }
        }
        if (v.is_fix() || v.is_sym() || v.is_nil()) && self.builtin(v, sym::TO_S) {
            // `Concat` writes these itself, but for names that may have another encoding.
            let Some(name) = v.as_sym().filter(|s| !self.syms.name(*s).is_ascii()) else {
                fp.set_r(dst, v);
                return Outcome::Go;
            };
            let class = self.class_of(v);
            let to_s = self.find_method(class, sym::TO_S);
            if let Some(f) = self.methods[to_s as usize].native {
                return match f(self, Value::sym(name), &[]) {
                    Ok(s) => {
                        fp.set_r(dst, s);
                        Outcome::Go
                    }
                    Err(x) => self.leaf_exit(x, dst),
                };
            }
        }
        let x = self.call_helper("interpolate", &[v]);
        self.leaf_exit(x, dst)
    }

    #[inline(never)]
    pub(crate) fn splat(&mut self, dst: usize, v: Value, copy: bool) -> Outcome {
        let fp = self.fp();
        if let Some(a) = v.as_array() {
            let c = if copy { self.array_seen(a.seen()) } else { v };
            fp.set_r(dst, c);
            return Outcome::Go;
        }
        if v.is_nil() {
            let e = self.array(&[]);
            fp.set_r(dst, e);
            return Outcome::Go;
        }
        if !v.is_heap() || matches!(v.kind(), Some(Kind::Str | Kind::Float | Kind::Big)) && !self.has_method(v, sym::TO_A) {
            let e = self.array(&[v]);
            fp.set_r(dst, e);
            return Outcome::Go;
        }
        let x = self.call_helper("splat", &[v]);
        self.leaf_exit(x, dst)
    }
    #[inline(never)]
    pub(crate) fn to_ary_op(&mut self, dst: usize, v: Value) -> Outcome {
        let fp = self.fp();
        if !v.is_heap() && !self.has_method(v, sym::TO_ARY) {
            let e = self.array(&[v]);
            fp.set_r(dst, e);
            return Outcome::Go;
        }
        let x = self.call_helper("masgn_ary", &[v]);
        self.leaf_exit(x, dst)
    }

    #[inline(never)]
    pub(crate) fn hash_literal(&mut self, pairs: &[Value]) -> R {
        let v = self.hash();
        let Some(h) = v.as_hash() else { return Ok(v) };
        let n = pairs.len() / 2;
        if n > 1 {
            // One alone is likely to get others.
            self.heap.edit(h).h.reserve(n);
        }
        for p in pairs.chunks_exact(2) {
            match self.hash_put(h, p[0], p[1]) {
                Ok(()) => {}
                Err(Exit::Miss) => {
                    // A key with user code: the prelude builds the whole hash.
                    let a = self.array(pairs);
                    return Err(self.call_helper("build_hash", &[a]));
                }
                Err(x) => return Err(x),
            }
        }
        Ok(v)
    }
    #[inline(never)]
    pub(crate) fn hash_put_op(&mut self, h: Value, k: Value, v: Value) -> Result<(), Exit> {
        let Some(o) = h.as_hash() else { return Ok(()) };
        match self.hash_put(o, k, v) {
            Err(Exit::Miss) => Err(self.call_helper("hash_store", &[h, k, v])),
            r => r,
        }
    }
    /// `f(**v)`: a Hash that nobody else can change meanwhile goes as it is, since who keeps it copies it; else a Hash to merge `v` into.
    pub(crate) fn splat_whole(&mut self, v: Value) -> (bool, Value) {
        match v.as_hash() {
            Some(_) if !self.is_contended(v) => (true, v),
            None if v.is_nil() => (true, v),
            _ => (false, self.hash()),
        }
    }
    #[inline(never)]
    pub(crate) fn hash_merge(&mut self, h: Value, other: Value) -> Result<(), Exit> {
        if other.is_nil() {
            return Ok(());
        }
        let (Some(o), Some(from)) = (h.as_hash(), other.as_hash()) else {
            return Err(self.call_helper("hash_splat", &[h, other]));
        };
        for e in from.h.iter().collect::<Vec<_>>() {
            match o.h.find(e.hash, |k| k == e.key) {
                Some(i) => {
                    self.heap.before_store(h, e.val);
                    self.heap.edit(o).h.set_val(i, e.val);
                }
                None => match self.hash_put(o, e.key, e.val) {
                    Ok(()) => {}
                    Err(Exit::Miss) => return Err(self.call_helper("hash_splat", &[h, other])),
                    Err(x) => return Err(x),
                },
            }
        }
        Ok(())
    }
    /// `h[k]` of a plain Hash with a plain key that is present.
    #[inline]
    pub(crate) fn hash_get_fast(&mut self, h: Gc<HashObj>, k: Value) -> Option<Value> {
        self.hash_get_plain(h, k)
    }

    #[inline(never)]
    pub(crate) fn range_literal(&mut self, lo: Value, hi: Value, x: bool) -> R {
        let plain = |v: Value| v.is_fix() || v.is_nil() || v.is_flo() || v.is_kind(Kind::Str) || v.as_big().is_some();
        let same = lo.is_nil() || hi.is_nil() || lo.is_kind(Kind::Str) == hi.is_kind(Kind::Str);
        if plain(lo) && plain(hi) && same {
            return Ok(self.range(lo, hi, x));
        }
        Err(self.call_helper("make_range", &[lo, hi, Value::bool(x)]))
    }

    /// `pattern === value` without a call, where nobody redefined it.
    #[inline]
    pub(crate) fn case_eq_fast(&mut self, p: Value, v: Value) -> Option<bool> {
        if p.is_fix() && v.is_fix() || p.is_sym() && v.is_sym() {
            return Some(p == v);
        }
        if p.is_sym() || p.is_nil() || p == Value::TRUE || p == Value::FALSE {
            return (!v.is_heap()).then_some(p == v);
        }
        if let (Some(a), Some(b)) = (p.as_str(), v.as_str()) {
            return Some(self.str_eq(a, b));
        }
        None
    }

    // --- the last match ----------------------------------------------------------

    /// Where the scope of `f` keeps `$~`, and the cell that place is in (nil: the stack, or the thread's first task).
    fn match_place(&self, f: Fp) -> Option<(Value, *mut Value)> {
        match f.iseq().match_slot? {
            MatchSlot::Reg(r) => Some((Value::NIL, f.add(r as usize).0)),
            MatchSlot::Env { depth, slot } => {
                let mut e = f.env().cell::<EnvObj>()?;
                for _ in 0..depth {
                    e = e.parent.cell::<EnvObj>()?;
                }
                let mut root = self.root;
                if let Some(first) = root.first_mut()
                    && is_around(first.around, e)
                {
                    return Some((Value::NIL, &mut first.matched));
                }
                let cell = e.val();
                e.slot_at(slot as usize).map(|v| (cell, v))
            }
        }
    }
    /// `$~` of the nearest user frame.
    pub fn last_match(&self) -> Value {
        // SAFETY: the place lies in a live frame or environment.
        self.user_frame().and_then(|f| self.match_place(f)).map_or(Value::NIL, |p| unsafe { Value::load(p.1) })
    }
    /// Can the nearest user frame look at `$~`? When not, no MatchData need be made for it.
    pub fn keeps_last_match(&self) -> bool {
        self.user_frame().is_some_and(|f| self.match_place(f).is_some())
    }
    /// Sets `$~` for the nearest user frame; kept only where that scope can look at it.
    #[inline(never)]
    pub fn set_last_match(&mut self, m: Value) {
        let Some(f) = self.user_frame() else { return };
        if let Some((holder, p)) = self.match_place(f) {
            self.heap.before_store(holder, m);
            if self.task.marked && f != self.fp() {
                // The frame may lie where nothing private is.
                self.heap.publish(m);
            }
            // SAFETY: as in `last_match`.
            unsafe { Value::store(p, m) };
        }
    }
    #[inline(never)]
    pub(crate) fn nth_ref(&mut self, n: i32) -> R {
        let m = self.last_match();
        if m.is_nil() {
            return Ok(Value::NIL);
        }
        match self.intrinsic_fn("__nth_match") {
            Some((f, g)) => self.run_native(f, g, Value::NIL, &[m, Value::fix(n as i64)]),
            None => Ok(Value::NIL),
        }
    }
    #[inline(never)]
    pub(crate) fn back_ref(&mut self, x: u8) -> R {
        let m = self.last_match();
        if m.is_nil() || x == 0 {
            return Ok(m);
        }
        match self.intrinsic_fn("__back_ref") {
            Some((f, g)) => self.run_native(f, g, Value::NIL, &[m, Value::fix(b"~&`'+"[(x as usize).min(4)] as i64)]),
            None => Ok(Value::NIL),
        }
    }
}

/// A number in decimal digits.
fn decimal(n: i64, buf: &mut [u8; 20]) -> &[u8] {
    let mut at = buf.len();
    let mut m = n.unsigned_abs();
    loop {
        at -= 1;
        buf[at] = b'0' + (m % 10) as u8;
        m /= 10;
        if m == 0 {
            break;
        }
    }
    if n < 0 {
        at -= 1;
        buf[at] = b'-';
    }
    &buf[at..]
}

/// Is it one of the environments around a thread's block (nil: none)? What such a scope knows as `$~` each thread has for itself.
fn is_around(around: Value, e: Gc<EnvObj>) -> bool {
    let mut at = around.cell::<EnvObj>();
    while let Some(x) = at {
        if x == e {
            return true;
        }
        at = x.parent.cell::<EnvObj>();
    }
    false
}
