//! Hash keys whose `hash` and `eql?` are the runtime's own.
//!
//! A key is *plain* when finding it runs no user code: numbers, symbols, strings,
//! nil/true/false, objects compared by identity, and Arrays, Ranges, Hashes and
//! Structs of plain values. Everything else is the prelude's business, which probes
//! candidates one by one. Invariant: for a plain value [`Cx::plain_hash`] is what its
//! `hash` method returns to Ruby (as a non-negative fixnum), so that both ways of
//! hashing meet in one table; the table itself stores [`spread`] of it.
//!
//! Strings and integers are hashed with a seed of the process, so that hostile
//! input cannot choose keys that collide.

use crate::native::Exit;
use crate::{Cx, sym};
use kumi_heap::*;
use kumi_text::encoding::EncIndex;

/// Nesting beyond which a key is left to the prelude.
const DEPTH: u32 = 100;
/// Hash values seen by Ruby are fixnums.
const MASK: u64 = (1 << 61) - 1;

#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let p = (a as u128) * (b as u128);
    (p as u64) ^ ((p >> 64) as u64)
}

/// The hash a table stores for a key whose `hash` is `h`.
#[inline(always)]
pub fn spread(h: u64) -> u64 {
    h.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Mixes one more hash value into `acc` (for containers).
#[inline(always)]
pub fn mix(acc: u64, h: u64) -> u64 {
    fold(acc ^ h ^ 0x2d35_8dcc_aa6c_78a5, 0x8bb8_4b93_962e_acc9) & MASK
}

fn read(b: &[u8], i: usize) -> u64 {
    let mut w = [0u8; 8];
    let n = (b.len() - i).min(8);
    w[..n].copy_from_slice(&b[i..i + n]);
    u64::from_le_bytes(w)
}

/// Keyed hash of bytes.
pub fn bytes_hash(b: &[u8], seed: u64) -> u64 {
    let mut acc = seed ^ (b.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut i = 0;
    while i < b.len() {
        let (x, y) = (read(b, i), if i + 8 < b.len() { read(b, i + 8) } else { 0 });
        acc = fold(x ^ acc ^ 0xa076_1d64_78bd_642f, y ^ acc.rotate_left(29) ^ 0xe703_7ed1_a0b4_28db);
        i += 16;
    }
    fold(acc ^ 0x8ebc_6af0_9c88_c6e3, 0x5899_65cc_7537_4cc3) & MASK
}

/// Are two strings the same key: equal bytes in encodings that compare?
pub fn str_eql(a: Gc<StrObj>, b: Gc<StrObj>) -> bool {
    if a == b {
        return true;
    }
    if a.bytes() != b.bytes() {
        return false;
    }
    if a.enc() == b.enc() || a.bytes().is_empty() {
        return true;
    }
    let compat = |s: Gc<StrObj>| EncIndex::from_u8(s.enc()).is_ascii_compatible();
    a.bytes().is_ascii() && compat(a) && compat(b)
}

impl Cx {
    /// Hash by identity: what `Kernel#hash` gives.
    #[inline]
    pub fn identity_hash(&self, v: Value) -> u64 {
        fold(v.bits() ^ self.heap.hash_seed, 0x9e37_79b9_7f4a_7c15 ^ self.heap.hash_seed.rotate_left(17)) & MASK
    }
    /// Hash of a plain value, `None` when user code would have to run.
    #[inline]
    pub fn plain_hash(&mut self, v: Value) -> Option<u64> {
        if !v.is_heap() && !v.is_flo() {
            return Some(self.identity_hash(v));
        }
        self.heap_hash(v, DEPTH)
    }
    #[inline(never)]
    fn heap_hash(&mut self, v: Value, depth: u32) -> Option<u64> {
        if !v.is_heap() && !v.is_flo() {
            return Some(self.identity_hash(v));
        }
        if let Some(f) = v.as_float() {
            let bits = if f == 0.0 { 0 } else { f.to_bits() };
            return Some(fold(bits ^ self.heap.hash_seed, 0xd6e8_feb8_6659_fd93) & MASK);
        }
        if depth == 0 {
            return None;
        }
        let seed = self.heap.hash_seed;
        let class = v.header()?.class;
        match v.kind()? {
            Kind::Str => {
                if class != self.k.string.val() && !self.builtin_key(v) {
                    return None;
                }
                Some(bytes_hash(v.as_str()?.bytes(), seed))
            }
            Kind::Big => Some(v.as_big()?.n.hash_with(seed) & MASK),
            Kind::Array => {
                if !self.builtin_key(v) {
                    return None;
                }
                let a = v.as_array()?;
                let mut acc = mix(seed & MASK, a.len() as u64);
                for i in 0..a.len() {
                    acc = mix(acc, self.heap_hash(a.get(i)?, depth - 1)?);
                }
                Some(acc)
            }
            Kind::Range => {
                if !self.builtin_key(v) {
                    return None;
                }
                let r = v.as_range()?;
                let a = mix(seed & MASK, 7 + r.exclusive() as u64);
                let a = mix(a, self.heap_hash(r.lo, depth - 1)?);
                Some(mix(a, self.heap_hash(r.hi, depth - 1)?))
            }
            Kind::Pair => {
                if !self.builtin_key(v) {
                    return None;
                }
                let p = v.cell::<PairObj>()?;
                let a = mix(seed & MASK, self.identity_hash(class));
                let a = mix(a, self.heap_hash(p.a, depth - 1)?);
                Some(mix(a, self.heap_hash(p.b, depth - 1)?))
            }
            Kind::Struct => {
                if !self.builtin_key(v) {
                    return None;
                }
                let s = v.cell::<StructObj>()?;
                let c = self.real_class(v).val();
                let mut acc = mix(seed & MASK, self.identity_hash(c));
                for i in 0..s.slots().len() {
                    acc = mix(acc, self.heap_hash(s.slots()[i], depth - 1)?);
                }
                Some(acc)
            }
            Kind::Hash => {
                if !self.builtin_key(v) {
                    return None;
                }
                let h = v.as_hash()?;
                // Order does not matter: the pairs' hashes are added.
                let mut acc = mix(seed & MASK, h.h.len() as u64);
                for i in 0..h.h.slots() {
                    if let Some(e) = h.h.at(i) {
                        let k = self.heap_hash(e.key, depth - 1)?;
                        let p = mix(k, self.heap_hash(e.val, depth - 1)?);
                        acc = acc.wrapping_add(p) & MASK;
                    }
                }
                Some(acc)
            }
            _ => self.identity_key(v).then(|| self.identity_hash(v)),
        }
    }
    /// Are `hash` and `eql?` of `v` the runtime's own?
    #[inline]
    pub fn builtin_key(&mut self, v: Value) -> bool {
        self.builtin(v, sym::HASH) && self.builtin(v, sym::EQL)
    }
    /// Are `hash` and `eql?` of `v` those of Kernel, i.e. identity?
    fn identity_key(&mut self, v: Value) -> bool {
        let c = self.class_of(v);
        let (kernel, basic) = (self.k.kernel, self.k.basic_object);
        [sym::HASH, sym::EQL].into_iter().all(|m| {
            let i = self.find_method(c, m);
            i != crate::NO_METHOD && {
                let o = self.method(i).owner;
                self.method(i).builtin && (o == kernel || o == basic)
            }
        })
    }
    /// `a.eql?(b)` when no user code has to run for it.
    #[inline]
    pub fn plain_eql(&mut self, a: Value, b: Value) -> Option<bool> {
        if a == b {
            return Some(true);
        }
        if !a.is_heap() && !a.is_flo() {
            return Some(false);
        }
        self.heap_eql(a, b, DEPTH)
    }
    fn heap_eql(&mut self, a: Value, b: Value, depth: u32) -> Option<bool> {
        if a == b {
            return Some(true);
        }
        if let Some(x) = a.as_float() {
            return Some(b.as_float().is_some_and(|y| x == y));
        }
        if !a.is_heap() {
            return Some(false);
        }
        if depth == 0 {
            return None;
        }
        let kind = a.kind()?;
        match kind {
            Kind::Str => {
                if a.header()?.class != self.k.string.val() && !self.builtin(a, sym::EQL) {
                    return None;
                }
                Some(b.as_str().is_some_and(|t| a.as_str().is_some_and(|s| str_eql(s, t))))
            }
            Kind::Big => Some(b.as_big().is_some_and(|y| a.as_big().is_some_and(|x| x.n == y.n))),
            Kind::Array | Kind::Range | Kind::Pair | Kind::Struct | Kind::Hash => {
                if !self.builtin(a, sym::EQL) {
                    return None;
                }
                if b.kind() != Some(kind) {
                    return Some(false);
                }
                match kind {
                    Kind::Array => {
                        let (x, y) = (a.as_array()?, b.as_array()?);
                        if x.len() != y.len() {
                            return Some(false);
                        }
                        for i in 0..x.len() {
                            if !self.heap_eql(x.get(i)?, y.get(i)?, depth - 1)? {
                                return Some(false);
                            }
                        }
                        Some(true)
                    }
                    Kind::Range => {
                        let (x, y) = (a.as_range()?, b.as_range()?);
                        Some(
                            x.exclusive() == y.exclusive()
                                && self.heap_eql(x.lo, y.lo, depth - 1)?
                                && self.heap_eql(x.hi, y.hi, depth - 1)?,
                        )
                    }
                    Kind::Pair => {
                        let (x, y) = (a.cell::<PairObj>()?, b.cell::<PairObj>()?);
                        Some(
                            x.hdr.class == y.hdr.class
                                && self.heap_eql(x.a, y.a, depth - 1)?
                                && self.heap_eql(x.b, y.b, depth - 1)?,
                        )
                    }
                    Kind::Struct => {
                        let (x, y) = (a.cell::<StructObj>()?, b.cell::<StructObj>()?);
                        if self.real_class(a) != self.real_class(b) || x.slots().len() != y.slots().len() {
                            return Some(false);
                        }
                        for i in 0..x.slots().len() {
                            if !self.heap_eql(x.slots()[i], y.slots()[i], depth - 1)? {
                                return Some(false);
                            }
                        }
                        Some(true)
                    }
                    _ => {
                        let (x, y) = (a.as_hash()?, b.as_hash()?);
                        if x.h.len() != y.h.len() || x.h.by_identity != y.h.by_identity {
                            return Some(x.h.len() == 0 && y.h.len() == 0);
                        }
                        for i in 0..x.h.slots() {
                            let Some(e) = x.h.at(i) else { continue };
                            let Some(j) = self.hash_find(y, e.key).ok()? else { return Some(false) };
                            if !self.heap_eql(e.val, y.h.at(j)?.val, depth - 1)? {
                                return Some(false);
                            }
                        }
                        Some(true)
                    }
                }
            }
            // Identity was the first question; another object cannot be eql? to it.
            _ => self.identity_key(a).then_some(false),
        }
    }

    /// Table hash of `key` in `h`, or `Miss` when user code must compute it.
    #[inline]
    pub fn key_hash(&mut self, h: Gc<HashObj>, key: Value) -> Result<u64, Exit> {
        if h.h.by_identity {
            return Ok(spread(self.identity_hash(key)));
        }
        self.plain_hash(key).map(spread).ok_or(Exit::Miss)
    }
    /// Position of `key`; `Miss` when user code must look for it.
    #[inline]
    pub fn hash_find(&mut self, h: Gc<HashObj>, key: Value) -> Result<Option<usize>, Exit> {
        if h.h.len() == 0 {
            return Ok(None);
        }
        let hv = self.key_hash(h, key)?;
        self.hash_find_with(h, key, hv)
    }
    /// Position of `key`, whose table hash is `hv`.
    #[inline]
    pub fn hash_find_with(&mut self, h: Gc<HashObj>, key: Value, hv: u64) -> Result<Option<usize>, Exit> {
        if h.h.by_identity {
            return Ok(h.h.find(hv, |k| k == key));
        }
        if !key.is_heap() && !key.is_flo() {
            return Ok(h.h.find(hv, |k| k == key));
        }
        let mut open = false;
        let at = h.h.find(hv, |k| match self.plain_eql(key, k) {
            Some(b) => b,
            None => {
                open = true;
                false
            }
        });
        if at.is_none() && open { Err(Exit::Miss) } else { Ok(at) }
    }
    /// Value of a plain key; `None` when it is absent or not plain.
    #[inline]
    pub fn hash_get_plain(&mut self, h: Gc<HashObj>, key: Value) -> Option<Value> {
        let i = self.hash_find(h, key).ok()??;
        h.h.at(i).map(|e| e.val)
    }
    /// `h[key] = val` for a plain key. `Miss` when it is not plain; raises when a key is added during iteration.
    #[inline]
    pub fn hash_put(&mut self, h: Gc<HashObj>, key: Value, val: Value) -> Result<(), Exit> {
        let hv = self.key_hash(h, key)?;
        match self.hash_find_with(h, key, hv)? {
            Some(i) => {
                let mut h = h;
                h.h.set_val(i, val);
                self.heap.wrote(h.val(), val);
                Ok(())
            }
            None => self.hash_push(h, hv, key, val),
        }
    }
    /// `h[key] = val` for a plain key outside any iteration; false when the key is not plain.
    pub fn hash_put_plain(&mut self, h: Gc<HashObj>, key: Value, val: Value) -> bool {
        self.hash_put(h, key, val).is_ok()
    }
    /// Adds a key known to be absent; `hv` is its table hash. Unfrozen strings are copied.
    pub fn hash_push(&mut self, h: Gc<HashObj>, hv: u64, key: Value, val: Value) -> Result<(), Exit> {
        let mut h = h;
        if h.h.iterating > 0 {
            return Err(self.runtime_error("can't add a new key into hash during iteration"));
        }
        let key = if h.h.by_identity { key } else { self.frozen_key(key) };
        h.h.push(hv, key, val);
        self.heap.charge(24);
        self.heap.wrote(h.val(), key);
        self.heap.wrote(h.val(), val);
        Ok(())
    }
    /// A String key as a table keeps it: a frozen copy unless it is frozen already.
    pub fn frozen_key(&mut self, key: Value) -> Value {
        match key.as_str() {
            Some(s) if !key.frozen() => {
                let class = self.real_class(key).val();
                let c = self.heap.str(class, s.bytes(), s.enc());
                let v = c.val();
                if let Some(mut hd) = v.header_mut() {
                    hd.x = s.hdr.x;
                    hd.flags |= flag::FROZEN;
                }
                v
            }
            _ => key,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_hash_alike_and_others_rarely_do() {
        assert_eq!(bytes_hash(b"abc", 5), bytes_hash(b"abc", 5));
        assert_ne!(bytes_hash(b"abc", 5), bytes_hash(b"abc", 7));
        assert_ne!(bytes_hash(b"abc", 5), bytes_hash(b"abc\0", 5));
        assert_ne!(bytes_hash(&[0; 16], 5), bytes_hash(&[0; 32], 5));
    }

    #[test]
    fn plain_keys_are_found_again() {
        let mut cx = Cx::new();
        let h = cx.hash().as_hash().expect("hash");
        for i in 0..100 {
            let s = cx.str(&format!("k{i}"));
            assert!(cx.hash_put_plain(h, s, Value::fix(i)));
        }
        let s = cx.str("k42");
        assert_eq!(cx.hash_get_plain(h, s), Some(Value::fix(42)));
        assert_eq!(cx.hash_get_plain(h, Value::fix(1)), None);
    }
}
