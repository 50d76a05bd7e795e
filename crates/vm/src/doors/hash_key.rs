//! Hash tables with plain keys.
//!
//! A key is *plain* when finding it runs no user code (see `plain`). Everything else is
//! the prelude's business, which probes candidates one by one. Invariant: a table stores
//! [`spread`] of what the key's `hash` method returns to Ruby, so that both ways meet in
//! one table.

use crate::Cx;
use crate::doors::Exit;
use kumi_heap::*;

/// The hash a table stores for a key whose `hash` is `h`.
#[inline(always)]
pub fn spread(h: u64) -> u64 {
    h.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Cx {
    /// Hash by identity: what `Kernel#hash` gives.
    #[inline]
    pub fn identity_hash(&self, v: Value) -> u64 {
        crate::doors::plain::hash_identity(self.hash_seed, v)
    }
    /// Table hash of `key` in `h`, or `Miss` when user code must compute it.
    #[inline]
    pub fn key_hash(&mut self, h: Gc<HashObj>, key: Value) -> Result<u64, Exit> {
        if h.h.by_identity() {
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
        if h.h.by_identity() {
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
        if self.is_contended(h.val()) {
            return self.hash_get_racing(h, key);
        }
        let i = self.hash_find(h, key).ok()??;
        h.h.at(i).map(|e| e.val)
    }
    /// As `hash_get_plain` beside other workers, without the object's lock. `None` also when the table is just changing:
    /// the general path waits for its lock.
    #[inline(never)]
    fn hash_get_racing(&mut self, h: Gc<HashObj>, key: Value) -> Option<Value> {
        let hv = self.key_hash(h, key).ok()?;
        let same = h.h.by_identity() || !key.is_heap() && !key.is_flo();
        h.h.find_racing(hv, |k| if same { k == key } else { self.plain_eql(key, k) == Some(true) }).ok()?.map(|e| e.val)
    }
    /// `h[key] = val` for a plain key. `Miss` when it is not plain; raises when a key is added during iteration.
    #[inline]
    pub fn hash_put(&mut self, h: Gc<HashObj>, key: Value, val: Value) -> Result<(), Exit> {
        if !key.is_heap() && !key.is_flo() {
            return self.hash_put_immediate(h, key, val);
        }
        let hv = self.key_hash(h, key)?;
        match self.hash_find_with(h, key, hv)? {
            Some(i) => {
                self.heap.before_store(h.val(), val);
                self.heap.edit(h).h.set_val(i, val);
                Ok(())
            }
            None if !h.h.by_identity() && self.may_change(key) => {
                // What is kept is a copy: its hash, not that of what the key was a moment ago.
                let key = self.frozen_key(key);
                self.hash_put(h, key, val)
            }
            None => self.hash_push(h, hv, key, val),
        }
    }
    /// The same for a Symbol, a small Integer, true, false or nil: its table hash and its equality are those of its bits, whether the
    /// Hash compares by identity or not, and there is nothing to copy.
    #[inline]
    fn hash_put_immediate(&mut self, h: Gc<HashObj>, key: Value, val: Value) -> Result<(), Exit> {
        let hv = spread(self.identity_hash(key));
        let at = h.h.find(hv, |k| k == key);
        if at.is_none() && h.h.iterating() > 0 {
            return Err(self.added_while_iterating());
        }
        self.heap.before_store(h.val(), val);
        match at {
            Some(i) => self.heap.edit(h).h.set_val(i, val),
            None => {
                self.heap.edit(h).h.push(hv, key, val);
                self.heap.charge(24);
            }
        }
        Ok(())
    }
    /// May another thread be changing this String, unless it is locked? Then what is known of its bytes may be known of others.
    #[inline(always)]
    pub fn may_change(&self, key: Value) -> bool {
        self.is_contended(key) && key.is_kind(Kind::Str)
    }
    /// A key to be looked for and then kept: a copy of a String that others may change.
    #[inline]
    pub fn still_key(&mut self, key: Value) -> Value {
        if self.may_change(key) { self.frozen_key(key) } else { key }
    }
    /// `h[key] = val` for a plain key outside any iteration; false when the key is not plain.
    pub fn hash_put_plain(&mut self, h: Gc<HashObj>, key: Value, val: Value) -> bool {
        self.hash_put(h, key, val).is_ok()
    }
    /// Adds a key known to be absent; `hv` is its table hash. Unfrozen strings are copied.
    pub fn hash_push(&mut self, h: Gc<HashObj>, hv: u64, key: Value, val: Value) -> Result<(), Exit> {
        if h.h.iterating() > 0 {
            return Err(self.added_while_iterating());
        }
        let key = if h.h.by_identity() { key } else { self.frozen_key(key) };
        self.heap.before_store(h.val(), key);
        self.heap.before_store(h.val(), val);
        self.heap.edit(h).h.push(hv, key, val);
        self.heap.charge(24);
        Ok(())
    }
    #[cold]
    #[inline(never)]
    fn added_while_iterating(&mut self) -> Exit {
        self.runtime_error("can't add a new key into hash during iteration")
    }
    /// A String key as a table keeps it: a frozen copy unless it is frozen already.
    pub(crate) fn frozen_key(&mut self, key: Value) -> Value {
        match key.as_str() {
            Some(s) if !key.frozen() => self.frozen_copy(s),
            _ => key,
        }
    }
    #[inline(never)]
    fn frozen_copy(&mut self, s: Gc<StrObj>) -> Value {
        let class = self.real_class(s.val()).val();
        let known = if self.may_change(s.val()) { 0 } else { s.range() };
        let c = self.heap.str(class, s.bytes(), s.enc());
        c.set_range(known);
        c.hdr.set(flag::FROZEN);
        c.val()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_keys_are_found_again() {
        let mut cx = Cx::new(Default::default());
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
