//! Relations on plain values: what `==`, `eql?`, `hash`, `<=>` and `inspect` answer
//! when no user code can have a say.
//!
//! Every function returns `None` when the answer needs Ruby: a user's method, a
//! conversion, nesting beyond [`DEPTH`] (which also catches recursive arrays), or somebody who waits for
//! the end of a long walk ([`Cx::walk`]).
//! The caller then misses, and the prelude asks the objects themselves.
//!
//! Invariant: two values that `plain_eql` calls equal have the same `plain_hash`,
//! and that is also what their Ruby method `hash` returns.

use crate::{Cx, sym};
use kumi_budget::Grow;
use kumi_heap::*;
use kumi_text::encoding::EncIndex;
use kumi_text::hash_bytes;
use std::cmp::Ordering;

/// How deep plain arrays may nest before Ruby code takes over.
pub const DEPTH: u32 = 100;
/// Elements of an array between two looks whether somebody waits.
pub const PIECE: usize = 64;

#[inline(always)]
fn mix(a: u64, b: u64) -> u64 {
    let p = ((a ^ 0x9e37_79b9_7f4a_7c15) as u128).wrapping_mul((b ^ 0xe703_7ed1_a0b4_28db) as u128);
    (p as u64) ^ ((p >> 64) as u64)
}

/// Cuts a hash to what a fixnum holds: the value that Ruby's `hash` shows.
#[inline(always)]
fn cut(h: u64) -> u64 {
    ((h as i64) >> 2) as u64
}

/// Hash of an object by identity, under a seed.
#[inline(always)]
pub(crate) fn hash_identity(seed: u64, v: Value) -> u64 {
    cut(mix(seed, v.bits()))
}

/// 0.0, which is no cell, and -0.0, which is one, are `eql?`.
fn zeros(a: Value, b: Value) -> bool {
    a.is_flo() && a.flo_val() == 0.0 && b.as_float() == Some(0.0)
}

impl Cx {
    /// Are these two strings equal: same bytes in encodings that can be compared?
    pub(crate) fn str_eq(&self, a: Gc<StrObj>, b: Gc<StrObj>) -> bool {
        let text = a.bytes();
        if text != b.bytes() {
            return false;
        }
        if a.enc() == b.enc() || text.is_empty() {
            return true;
        }
        let (x, y) = (EncIndex::from_u8(a.enc()), EncIndex::from_u8(b.enc()));
        x.is_ascii_compatible() && y.is_ascii_compatible() && text.is_ascii()
    }

    /// Is the method `mid` of `v` the one every object has (identity)?
    fn by_identity(&mut self, v: Value, mid: Sym) -> bool {
        let c = self.class_of(v);
        let m = self.find_method(c, mid);
        if m == crate::NO_METHOD {
            return false;
        }
        let m = self.method(m);
        m.builtin && (m.owner == self.k.kernel || m.owner == self.k.object || m.owner == self.k.basic_object)
    }

    /// `a.equal?(b) || a == b`, the equality that collections use.
    #[inline]
    pub fn plain_eq(&mut self, a: Value, b: Value) -> Option<bool> {
        if a == b {
            return Some(true);
        }
        if a.is_fix() && b.is_fix() {
            return Some(false);
        }
        self.plain_eq_deep(a, b, 0)
    }

    /// As [`Cx::plain_eq`], inside `depth` levels of collections.
    pub fn plain_eq_deep(&mut self, a: Value, b: Value, depth: u32) -> Option<bool> {
        if a == b {
            return Some(true);
        }
        if depth > DEPTH {
            return None;
        }
        if a.is_fix() {
            return match b.kind() {
                None if b.is_flo() => Some(num_cmp(a, b) == Some(Ordering::Equal)),
                None | Some(Kind::Str | Kind::Array | Kind::Hash | Kind::Range | Kind::Big) => Some(false),
                Some(Kind::Float) => Some(num_cmp(a, b) == Some(Ordering::Equal)),
                _ => None,
            };
        }
        if a.is_flo() {
            return match b.kind() {
                None => Some((b.is_fix() || b.is_flo()) && num_cmp(a, b) == Some(Ordering::Equal)),
                Some(Kind::Big | Kind::Float) => Some(num_cmp(a, b) == Some(Ordering::Equal)),
                Some(Kind::Str | Kind::Array | Kind::Hash | Kind::Range) => Some(false),
                _ => None,
            };
        }
        let Some(kind) = a.kind() else {
            // nil, true, false and symbols are equal to themselves only.
            return if self.builtin(a, sym::EQ) { Some(false) } else { None };
        };
        if kind == Kind::Object {
            return if self.by_identity(a, sym::EQ) { Some(false) } else { None };
        }
        if !self.builtin(a, sym::EQ) {
            return None;
        }
        match kind {
            Kind::Str => match b.as_str() {
                Some(y) => Some(self.str_eq(a.as_str()?, y)),
                None => not_convertible(b),
            },
            Kind::Array => match b.as_array() {
                Some(y) => {
                    let x = a.as_array()?;
                    let (x, y) = (x.seen(), y.seen());
                    if x.len() != y.len() {
                        return Some(false);
                    }
                    let mut from = 0;
                    while from < x.len() {
                        let (p, q) = (x.part(from..from + PIECE), y.part(from..from + PIECE));
                        self.walk_by(p.len())?;
                        for (x, y) in p.iter().zip(q) {
                            if !self.plain_eq_deep(x, y, depth + 1)? {
                                return Some(false);
                            }
                        }
                        from += PIECE;
                    }
                    Some(true)
                }
                None => not_convertible(b),
            },
            Kind::Hash => match b.as_hash() {
                Some(y) => self.plain_hash_eq(a.as_hash()?, y, depth, false),
                None => not_convertible(b),
            },
            Kind::Range => match b.as_range() {
                Some(y) => {
                    let x = a.as_range()?;
                    if x.exclusive() != y.exclusive() {
                        return Some(false);
                    }
                    Some(self.plain_eq_deep(x.lo, y.lo, depth + 1)? && self.plain_eq_deep(x.hi, y.hi, depth + 1)?)
                }
                None => Some(false),
            },
            Kind::Struct => match b.cell::<StructObj>() {
                Some(y) if self.real_class(a) == self.real_class(b) => {
                    let x = a.cell::<StructObj>()?;
                    for (x, y) in x.slots().iter().zip(y.slots()) {
                        if !self.plain_eq_deep(x, y, depth + 1)? {
                            return Some(false);
                        }
                    }
                    Some(x.slots().len() == y.slots().len())
                }
                _ => Some(false),
            },
            Kind::Float | Kind::Big => match b.kind() {
                None => Some((b.is_fix() || b.is_flo()) && num_cmp(a, b) == Some(Ordering::Equal)),
                Some(Kind::Float | Kind::Big) => Some(num_cmp(a, b) == Some(Ordering::Equal)),
                Some(Kind::Str | Kind::Array | Kind::Hash | Kind::Range) => Some(false),
                _ => None,
            },
            _ => {
                if self.by_identity(a, sym::EQ) {
                    Some(false)
                } else {
                    None
                }
            }
        }
    }

    fn plain_hash_eq(&mut self, x: Gc<HashObj>, y: Gc<HashObj>, depth: u32, eql: bool) -> Option<bool> {
        if x.h.len() != y.h.len() {
            return Some(false);
        }
        if x.h.len() == 0 {
            return Some(true);
        }
        if x.h.by_identity() || y.h.by_identity() {
            return None;
        }
        let mut i = 0;
        while let Some(p) = x.h.next_live(i) {
            let e = x.h.at(p)?;
            i = p + 1;
            self.walk()?;
            let mut at = None;
            let found = loop {
                match y.h.candidate(e.hash, at) {
                    None => break None,
                    Some(q) => {
                        let f = y.h.at(q)?;
                        if self.plain_eql_deep(e.key, f.key, depth + 1)? {
                            break Some(f);
                        }
                        at = Some(q);
                    }
                }
            };
            let Some(f) = found else { return Some(false) };
            let same = if eql { self.plain_eql_deep(e.val, f.val, depth + 1)? } else { self.plain_eq_deep(e.val, f.val, depth + 1)? };
            if !same {
                return Some(false);
            }
        }
        Some(true)
    }

    /// `a.equal?(b) || a.eql?(b)`, the equality of hash keys.
    #[inline]
    pub fn plain_eql(&mut self, a: Value, b: Value) -> Option<bool> {
        if a == b {
            return Some(true);
        }
        if !a.is_heap() {
            return Some(zeros(a, b));
        }
        self.plain_eql_deep(a, b, 0)
    }

    /// As [`Cx::plain_eql`], inside `depth` levels of collections.
    pub fn plain_eql_deep(&mut self, a: Value, b: Value, depth: u32) -> Option<bool> {
        if a == b {
            return Some(true);
        }
        if depth > DEPTH {
            return None;
        }
        let Some(kind) = a.kind() else { return Some(zeros(a, b)) };
        if kind == Kind::Str && a.header()?.class() == self.k.string.val() {
            return Some(b.as_str().is_some_and(|y| a.as_str().is_some_and(|x| self.str_eq(x, y))));
        }
        if kind == Kind::Object {
            return if self.by_identity(a, sym::EQL) { Some(false) } else { None };
        }
        if !self.builtin(a, sym::EQL) {
            return None;
        }
        match kind {
            Kind::Str => Some(b.as_str().is_some_and(|y| a.as_str().is_some_and(|x| self.str_eq(x, y)))),
            Kind::Array => {
                let (x, Some(y)) = (a.as_array()?, b.as_array()) else { return Some(false) };
                let (x, y) = (x.seen(), y.seen());
                if x.len() != y.len() {
                    return Some(false);
                }
                for (x, y) in x.iter().zip(y) {
                    self.walk()?;
                    if !self.plain_eql_deep(x, y, depth + 1)? {
                        return Some(false);
                    }
                }
                Some(true)
            }
            Kind::Hash => match b.as_hash() {
                Some(y) => self.plain_hash_eq(a.as_hash()?, y, depth, true),
                None => Some(false),
            },
            Kind::Range => {
                let (x, Some(y)) = (a.as_range()?, b.as_range()) else { return Some(false) };
                if x.exclusive() != y.exclusive() {
                    return Some(false);
                }
                Some(self.plain_eql_deep(x.lo, y.lo, depth + 1)? && self.plain_eql_deep(x.hi, y.hi, depth + 1)?)
            }
            Kind::Float => Some(match (a.as_float(), b.as_float()) {
                (Some(x), Some(y)) => x == y,
                _ => false,
            }),
            Kind::Big => Some(match (a.as_big(), b.as_big()) {
                (Some(x), Some(y)) => x.n == y.n,
                _ => false,
            }),
            Kind::Pair => {
                let (x, Some(y)) = (a.cell::<PairObj>()?, b.cell::<PairObj>()) else { return Some(false) };
                if x.hdr.class() != y.hdr.class() {
                    return Some(false);
                }
                Some(self.plain_eql_deep(x.a, y.a, depth + 1)? && self.plain_eql_deep(x.b, y.b, depth + 1)?)
            }
            Kind::Struct => {
                let (x, Some(y)) = (a.cell::<StructObj>()?, b.cell::<StructObj>()) else { return Some(false) };
                if self.real_class(a) != self.real_class(b) || x.slots().len() != y.slots().len() {
                    return Some(false);
                }
                for (x, y) in x.slots().iter().zip(y.slots()) {
                    if !self.plain_eql_deep(x, y, depth + 1)? {
                        return Some(false);
                    }
                }
                Some(true)
            }
            _ => {
                if self.by_identity(a, sym::EQL) {
                    Some(false)
                } else {
                    None
                }
            }
        }
    }

    /// What `v.hash` returns, as the 64 bits of a fixnum's number.
    #[inline]
    pub fn plain_hash(&mut self, v: Value) -> Option<u64> {
        self.plain_hash_deep(v, 0)
    }

    /// As [`Cx::plain_hash`], inside `depth` levels of collections.
    pub(crate) fn plain_hash_deep(&mut self, v: Value, depth: u32) -> Option<u64> {
        let seed = self.hash_seed;
        if !v.is_heap() {
            if v.is_flo() && v.flo_val() == 0.0 {
                return Some(cut(mix(seed, 0x8000_0000_0000_0002)));
            }
            return Some(cut(mix(seed, v.bits())));
        }
        let kind = v.kind()?;
        if kind == Kind::Str && v.header()?.class() == self.k.string.val() {
            return Some(cut(hash_bytes(seed, v.as_str()?.bytes())));
        }
        if kind == Kind::Object {
            return if self.by_identity(v, sym::HASH) { Some(cut(mix(seed, v.bits()))) } else { None };
        }
        if depth > DEPTH || !self.builtin(v, sym::HASH) {
            return None;
        }
        match kind {
            Kind::Str => {
                let s = v.as_str()?;
                Some(cut(hash_bytes(seed, s.bytes())))
            }
            Kind::Array => {
                let a = v.as_array()?;
                let a = a.seen();
                let mut h = self.hash_start(1, a.len());
                let mut from = 0;
                while from < a.len() {
                    let piece = a.part(from..from + PIECE);
                    self.walk_by(piece.len())?;
                    for v in piece {
                        let e = self.plain_hash_deep(v, depth + 1)?;
                        h = self.hash_step(h, e);
                    }
                    from += PIECE;
                }
                Some(cut(h))
            }
            Kind::Hash => {
                let a = v.as_hash()?;
                if a.h.by_identity() {
                    return None;
                }
                // The order of entries does not matter: their hashes are added up.
                let mut sum = self.hash_start(2, a.h.len());
                let mut i = 0;
                while let Some(p) = a.h.next_live(i) {
                    let e = a.h.at(p)?;
                    i = p + 1;
                    self.walk()?;
                    let x = self.plain_hash_deep(e.val, depth + 1)?;
                    sum = sum.wrapping_add(mix(e.hash, x));
                }
                Some(cut(sum))
            }
            Kind::Range => {
                let r = v.as_range()?;
                let h = self.hash_start(3, r.exclusive() as usize);
                let x = self.plain_hash_deep(r.lo, depth + 1)?;
                let y = self.plain_hash_deep(r.hi, depth + 1)?;
                Some(cut(mix(mix(h, x), y)))
            }
            Kind::Pair => {
                let p = v.cell::<PairObj>()?;
                let x = self.plain_hash_deep(p.a, depth + 1)?;
                let y = self.plain_hash_deep(p.b, depth + 1)?;
                Some(cut(mix(mix(seed ^ 5, x), y)))
            }
            Kind::Struct => {
                let s = v.cell::<StructObj>()?;
                let class = self.real_class(v).val();
                let mut h = mix(seed ^ 6, class.bits());
                for v in s.slots() {
                    let e = self.plain_hash_deep(v, depth + 1)?;
                    h = self.hash_step(h, e);
                }
                Some(cut(h))
            }
            Kind::Float => {
                let f = v.as_float()?;
                let bits = if f == 0.0 { return Some(cut(mix(seed, 0x8000_0000_0000_0002))) } else { f.to_bits() };
                Some(cut(mix(seed ^ 7, bits)))
            }
            Kind::Big => Some(cut(v.as_big()?.n.hash_with(seed))),
            _ => {
                if self.by_identity(v, sym::HASH) {
                    Some(cut(mix(seed, v.bits())))
                } else {
                    None
                }
            }
        }
    }
    /// Start of a compound hash: what kind of thing, how many parts.
    pub fn hash_start(&self, what: u64, n: usize) -> u64 {
        mix(self.hash_seed ^ what, n as u64)
    }
    /// Adds the hash of one part.
    pub fn hash_step(&self, h: u64, part: u64) -> u64 {
        mix(h.rotate_left(5), part)
    }
    /// A compound hash as the Integer that `hash` returns.
    pub fn hash_end(&self, h: u64) -> Value {
        Value::fix(cut(h) as i64)
    }

    /// `a <=> b` for integers, floats, strings, symbols and arrays of such.
    #[inline]
    pub fn plain_cmp(&mut self, a: Value, b: Value) -> Option<Ordering> {
        if a.is_fix() && b.is_fix() {
            return Some(a.fix_val().cmp(&b.fix_val()));
        }
        self.plain_cmp_deep(a, b, 0)
    }
    fn plain_cmp_deep(&mut self, a: Value, b: Value, depth: u32) -> Option<Ordering> {
        if depth > DEPTH {
            return None;
        }
        if is_num(a) {
            return if is_num(b) { num_cmp(a, b) } else { None };
        }
        if let (Some(x), Some(y)) = (a.as_str(), b.as_str()) {
            if !self.builtin(a, sym::CMP) || x.enc() != y.enc() {
                return None;
            }
            return Some(x.bytes().cmp(y.bytes()));
        }
        if let (Some(x), Some(y)) = (a.as_sym(), b.as_sym()) {
            return Some(self.syms.name(x).cmp(self.syms.name(y)));
        }
        if let (Some(x), Some(y)) = (a.as_array(), b.as_array()) {
            if !self.builtin(a, sym::CMP) {
                return None;
            }
            let (x, y) = (x.seen(), y.seen());
            for (x, y) in x.iter().zip(y) {
                self.walk()?;
                match self.plain_cmp_deep(x, y, depth + 1)? {
                    Ordering::Equal => {}
                    o => return Some(o),
                }
            }
            return Some(x.len().cmp(&y.len()));
        }
        // What knows no order is still equal to itself: an Array of nils can be sorted.
        (a == b && self.builtin(a, sym::CMP)).then_some(Ordering::Equal)
    }

    /// Appends `v.inspect` for numbers, nil, booleans, common symbols, ASCII strings and arrays of such.
    pub fn plain_inspect(&mut self, v: Value, out: &mut Vec<u8>, depth: u32) -> Option<()> {
        match v {
            Value::NIL => out.put_all(b"nil"),
            Value::TRUE => out.put_all(b"true"),
            Value::FALSE => out.put_all(b"false"),
            _ if !self.builtin(v, sym::INSPECT) || depth > DEPTH => return None,
            _ if v.is_fix() => out.put_all(v.fix_val().to_string().as_bytes()),
            _ if v.is_sym() => {
                let name = self.syms.name(v.as_sym()?);
                if !plain_symbol(name) {
                    return None;
                }
                out.put(b':');
                out.put_all(name);
            }
            _ => match v.kind() {
                None | Some(Kind::Float) => kumi_num::float::write_to_s(out, v.as_float()?),
                Some(Kind::Big) => out.put_all(v.as_big()?.n.to_string_radix(10).as_bytes()),
                Some(Kind::Str) => inspect_ascii(v.as_str()?.bytes(), EncIndex::from_u8(v.as_str()?.enc()), out)?,
                Some(Kind::Array) => {
                    let a = v.as_array()?;
                    out.put(b'[');
                    for (i, v) in a.seen().iter().enumerate() {
                        self.walk()?;
                        if i > 0 {
                            out.put_all(b", ");
                        }
                        self.plain_inspect(v, out, depth + 1)?;
                    }
                    out.put(b']');
                }
                _ => return None,
            },
        }
        Some(())
    }
}

/// A fixnum, bignum or float.
#[inline(always)]
pub fn is_num(v: Value) -> bool {
    v.is_fix() || v.is_flo() || matches!(v.kind(), Some(Kind::Float | Kind::Big))
}

/// Compares two of fixnum, bignum, float; `None` for NaN.
pub fn num_cmp(a: Value, b: Value) -> Option<Ordering> {
    if let (Some(x), Some(y)) = (a.as_fix(), b.as_fix()) {
        return Some(x.cmp(&y));
    }
    match (a.as_float(), b.as_float()) {
        (Some(x), Some(y)) => x.partial_cmp(&y),
        (Some(_), None) => num_cmp(b, a).map(Ordering::reverse),
        (None, Some(y)) => match a.as_fix() {
            Some(x) => kumi_num::int::cmp_f64(x, y),
            None => a.as_big()?.n.cmp_f64(y),
        },
        (None, None) => match (a.as_big(), b.as_big()) {
            (Some(x), Some(y)) => Some(x.n.cmp(&y.n)),
            (Some(x), None) => Some(if x.n.is_negative() { Ordering::Less } else { Ordering::Greater }),
            (None, Some(y)) => Some(if y.n.is_negative() { Ordering::Greater } else { Ordering::Less }),
            (None, None) => None,
        },
    }
}

/// A String or Array compared with `b` of another kind: false when `b` surely has no conversion.
fn not_convertible(b: Value) -> Option<bool> {
    match b.kind() {
        None | Some(Kind::Str | Kind::Array | Kind::Hash | Kind::Range | Kind::Float | Kind::Big | Kind::Pair | Kind::Class) => Some(false),
        _ => None,
    }
}

/// A symbol whose inspect is its name behind a colon, recognised quickly.
pub fn plain_symbol(name: &[u8]) -> bool {
    let body = match name.last() {
        Some(b'?' | b'!' | b'=') => &name[..name.len() - 1],
        _ => name,
    };
    match body.first() {
        Some(c) if c.is_ascii_alphabetic() || *c == b'_' => body.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_'),
        _ => false,
    }
}

/// Appends the inspection of an ASCII string; `None` for bytes that need their encoding.
pub(crate) fn inspect_ascii(s: &[u8], enc: EncIndex, out: &mut Vec<u8>) -> Option<()> {
    if !enc.is_ascii_compatible() || !s.is_ascii() {
        return None;
    }
    out.want(s.len() + 2);
    out.put(b'"');
    for (i, &c) in s.iter().enumerate() {
        match c {
            b'"' => out.put_all(b"\\\""),
            b'\\' => out.put_all(b"\\\\"),
            b'\n' => out.put_all(b"\\n"),
            b'\t' => out.put_all(b"\\t"),
            b'\r' => out.put_all(b"\\r"),
            0x1b => out.put_all(b"\\e"),
            b'#' => {
                if matches!(s.get(i + 1), Some(b'{' | b'$' | b'@')) {
                    out.put(b'\\');
                }
                out.put(b'#');
            }
            0x20..=0x7e => out.put(c),
            _ => return None,
        }
    }
    out.put(b'"');
    Some(())
}
